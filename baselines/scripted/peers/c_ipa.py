"""C-IPA, the linear variant of IPA, for an agent that knows its parameter (Scheid et al., ICML 2024).

Source: "Incentivized Learning in Principal-Agent Bandit Games", arXiv 2403.03811. LinUCB is that of Abbasi-Yadkori,
Pal & Szepesvari, "Improved Algorithms for Linear Stochastic Bandits" (NeurIPS 2011), with ridge parameter 1.
"""

import math
from collections.abc import Generator
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from baselines.principal import Follow, Hold, Outcome, Principal, Rounds, follow, hold
from pa_env.checks import at_least, vectors
from pa_env.kernel.layout import Floats, Integers
from pa_env.memory import N_ARMS, Layout, PerArm, compiled_when_used


class CIPA(Principal):
    """Search the agent's parameter s until every arm can be priced, then run LinUCB on the net reward.

    S is a set that contains s, at first the unit ball, and z its centre. a2 = argmax <z, a>, and a1 is the arm with the
    widest S in the direction a2 - a1. While that width is above 1/T, <z, a2 - a1> is offered on a1. If a1 is played,
    <s, a2 - a1> is at most the offer; otherwise <s, A - a1> is at least the offer for the arm A played. S is cut
    accordingly. Then pihat_a = max_b <z, b> - <z, a> + 2/T, and LinUCB on y = X - pihat_A + max_b <z, b>, whose mean is
    <nu + z, A> - 2/T, offers pihat_a on its choice. Its radius after n rounds is
    2 + noise sqrt(2 log T + d log(1 + n/d)), where 2 bounds the length of nu + z.

    S is an ellipsoid here. A cut is replaced by the smallest ellipsoid around it, so s is never lost. The rule for the
    pair (a1, a2) is ours and valid; the paper's own rule is not known to us.

    Guarantee, the paper's: regret O(d sqrt(T) log T) against the oracle agent.

    Where it fails: against an agent that learns or explores. An answer that leaves S empty ends the search, and z may
    leave the unit ball, so that the radius of LinUCB has no guarantee.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        arms: The arms' vectors (n_arms, dim), which the principal knows: ``info["arms"]`` of a reset.
        noise: Standard deviation of X that LinUCB assumes, at least 0.
    """

    name = "c-ipa"

    def __init__(self, n_arms: int, horizon: int, arms: ArrayLike, noise: float = 1.0) -> None:
        super().__init__(n_arms, horizon)
        self.noise = at_least("noise", noise, 0.0)
        self.arms = vectors("arms", arms, self.n_arms)

    def rounds(self) -> Rounds:
        """Search s, then LinUCB."""
        centre = yield from self.search()  # z
        yield self.lin_ucb(self.arms @ centre)

    def search(self) -> Generator[Hold, Outcome, Floats]:
        """A point z with |<s - z, a2 - a>| <= 1/(2T) for all arms a."""
        self.knowledge = Ellipsoid(self.arms - self.arms[0])  # S
        while True:
            values = self.arms @ self.knowledge.centre
            best = int(values.argmax())  # a2
            widths = self.knowledge.widths(self.arms[best] - self.arms)
            asked = int(widths.argmax())  # a1
            if widths[asked] <= 1 / self.horizon:
                return self.knowledge.centre
            price = float(values[best] - values[asked])
            outcome = yield hold(asked, price)
            played = int(outcome.plays.argmax())
            if (self.arms[played] == self.arms[asked]).all():  # a1, or an arm equal to it
                done = self.knowledge.cut(self.arms[best] - self.arms[asked], price)
            else:
                done = self.knowledge.cut(self.arms[asked] - self.arms[played], -price)
            if not done:
                return self.knowledge.centre

    def lin_ucb(self, values: Floats) -> Follow:
        """A request for the rest of the game, LinUCB at the prices of an agent with the means ``values`` (n_arms,)."""
        dim, T = self.arms.shape[1], self.horizon
        log, largest = 2 * math.log(T), float(values.max())
        memory = LAYOUT.zeros(self.n_arms, dim=dim, noise=self.noise, log=log, largest=largest)
        state = LAYOUT.arrays(memory, self.n_arms)
        state.incentives[:] = values.max() - values + 2 / T  # pihat
        state.arms[:], state.inverse[:] = self.arms, np.eye(dim)
        return follow(lin_ucb_rule(), memory, T)


class Ellipsoid:
    """{v: (v - centre)' shape^-1 (v - centre) <= 1} in the span of some vectors (n, d), at first the unit ball there.

    No question concerns directions outside the span, and an ellipsoid would grow there without bound.
    """

    def __init__(self, vectors: Floats) -> None:
        _, stretch, axes = np.linalg.svd(vectors, full_matrices=False)
        self.axes: Floats = axes[stretch > 1e-9 * max(1.0, stretch[0])]  # orthonormal, (rank, d)
        self._centre, self.shape = np.zeros(len(self.axes)), np.eye(len(self.axes))

    @property
    def centre(self) -> Floats:
        """Its middle, (d,)."""
        middle: Floats = self._centre @ self.axes
        return middle

    def contains(self, point: Floats, tolerance: float = 1e-6) -> bool:
        """Return whether the point's projection on the span is inside."""
        offset = self.axes @ point - self._centre
        return bool(offset @ np.linalg.solve(self.shape, offset) <= 1 + tolerance)

    def widths(self, directions: Floats) -> Floats:
        """The maxima of <direction, v - w> over v and w inside, for each of the directions (n, d)."""
        within = directions @ self.axes.T
        return np.asarray(2 * np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", within, self.shape, within), 0.0)))

    def cut(self, normal: Floats, bound: float) -> bool:
        """Shrink to the smallest ellipsoid around the part with <normal, v> <= bound, the centre being outside it.

        Returns False if nothing would be left; then nothing changes.
        """
        within, d = self.axes @ normal, len(self.axes)
        half_width = math.sqrt(max(0.0, float(within @ self.shape @ within)))
        beyond = max(0.0, float(within @ self._centre) - bound)
        if beyond >= half_width:
            return False
        depth = beyond / half_width
        step = self.shape @ within / half_width
        self._centre = self._centre - (1 + d * depth) / (d + 1) * step
        if d == 1:
            self.shape = self.shape * ((1 - depth) / 2) ** 2
            return True
        flattened = self.shape - 2 * (1 + d * depth) / ((d + 1) * (1 + depth)) * np.outer(step, step)
        self.shape = d**2 / (d**2 - 1) * (1 - depth**2) * (flattened + flattened.T) / 2
        return True


class LinUcbEntry(IntEnum):
    """Indices of the numbers in the memory of LinUCB."""

    DIM = 0  # d
    NOISE = 1
    LOG = 2  # 2 log T
    ROUND = 3  # rounds learnt from, n
    LARGEST = 4  # max_b <z, b>


class LinUcbArrays(NamedTuple):
    """The arrays in the memory of LinUCB."""

    incentives: PerArm  # pihat
    arms: Annotated[Floats, N_ARMS, LinUcbEntry.DIM]
    inverse: Annotated[Floats, LinUcbEntry.DIM, LinUcbEntry.DIM]  # V^-1, where V = I + sum of A A'
    moments: Annotated[Floats, LinUcbEntry.DIM]  # sum of y A
    product: Annotated[Floats, LinUcbEntry.DIM]  # room: V^-1 A


LAYOUT = Layout(LinUcbEntry, LinUcbArrays)
lin_ucb_arrays = LAYOUT.compiled


@compiled_when_used
def lin_ucb_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule; V^-1 follows V by the Sherman-Morrison formula."""
    state, d = lin_ucb_arrays(memory, offer.size), int(memory[LinUcbEntry.DIM])
    arms, inverse, product = state.arms, state.inverse, state.product
    if arm >= 0:
        memory[LinUcbEntry.ROUND] += 1
        y = reward - state.incentives[arm] + memory[LinUcbEntry.LARGEST]
        scale = 1.0
        for i in range(d):
            product[i] = 0.0
            state.moments[i] += y * arms[arm, i]
            for j in range(d):
                product[i] += inverse[i, j] * arms[arm, j]
            scale += product[i] * arms[arm, i]
        for i in range(d):
            for j in range(d):
                inverse[i, j] -= product[i] * product[j] / scale
    growth = d * math.log(1 + memory[LinUcbEntry.ROUND] / d)
    radius = 2 + memory[LinUcbEntry.NOISE] * math.sqrt(memory[LinUcbEntry.LOG] + growth)
    target, best = 0, -np.inf
    for b in range(offer.size):
        offer[b] = 0.0
        mean, variance = 0.0, 0.0
        for i in range(d):
            along = 0.0
            for j in range(d):
                along += inverse[i, j] * arms[b, j]
            mean += along * state.moments[i]
            variance += along * arms[b, i]
        index = mean + radius * math.sqrt(max(0.0, variance))
        if index > best:
            target, best = b, index
    offer[target] = state.incentives[target]
    return target
