"""C-IPA, the linear variant of IPA, for an agent that knows its parameter (Scheid et al., ICML 2024).

Source: "Incentivized Learning in Principal-Agent Bandit Games", arXiv 2403.03811.
"""

import functools
import math
from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baselines.protocol import Floats, Follow, Hold, Outcome, Principal, Rounds, follow, hold
from pa_env.checks import at_least, numbers
from pa_env.compiling import compiled
from pa_env.game import RULE


class CIPA(Principal):
    """Ask the agent until its parameter s is known well enough to price every arm, then run LinUCB on what is left.

    S is a set that contains s, at first the unit ball, z its centre, a2 = argmax <z, a>, and a1 the arm with the
    widest S in the direction a2 - a1. While that width is above 1/T, <z, a2 - a1> is offered on a1. If a1 is played
    then <s, a2 - a1> is at most that, else for the arm A played <s, A - a1> is at least that; S keeps what agrees.
    Then pihat_a = max_b <z, b> - <z, a> + 2/T, and LinUCB (Abbasi-Yadkori, Pal & Szepesvari, 2011) on
    y = X - pihat_A + max_b <z, b>, whose mean is <nu + z, A> - 2/T, offers pihat_a on its choice.

    S is an ellipsoid here, and a cut is replaced by the smallest ellipsoid around it, so s is never lost. The pairs
    (a1, a2) are a rule of ours that is valid; the paper's own choice is not known to us. Guarantee, the paper's:
    regret O(d sqrt(T) log T) against the oracle agent; here after about 80, 500, 2000 questions for d = 2, 5, 10 at
    T = 1e4. An answer that leaves S empty, which only an agent that learns or explores can give, ends the search.
    Against such an agent z may also leave the unit ball (norms above 2 were seen): LinUCB's radius then has no
    guarantee.

    ``arms`` (n_arms, dim): the arms' vectors, which the principal knows (``info["arms"]`` of a reset). ``noise``: the
    standard deviation of X that LinUCB reckons with.
    """

    name = "c-ipa"

    def __init__(self, n_arms: int, horizon: int, arms: ArrayLike, noise: float = 1.0) -> None:
        super().__init__(n_arms, horizon)
        self.noise = at_least("noise", noise, 0.0)
        self.arms = numbers("arms", arms)
        vectors = self.arms.ndim == 2 and self.arms.shape[1] > 0
        if not vectors or len(self.arms) != self.n_arms or not np.isfinite(self.arms).all():
            raise ValueError(
                f"arms of shape {self.arms.shape} must be finite vectors, one for each of n_arms = {self.n_arms}: "
                f"an array of shape ({self.n_arms}, dim)"
            )

    def rounds(self) -> Rounds:
        """Search s, then LinUCB."""
        centre = yield from self.search()  # z
        yield lin_ucb(self, self.arms @ centre)

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
            if (self.arms[played] == self.arms[asked]).all():  # or an arm just like it
                done = self.knowledge.cut(self.arms[best] - self.arms[asked], price)
            else:
                done = self.knowledge.cut(self.arms[asked] - self.arms[played], -price)
            if not done:
                return self.knowledge.centre


class Ellipsoid:
    """{v: (v - centre)' shape^-1 (v - centre) <= 1} in the span of some vectors (n, d), at first the unit ball there.

    Outside the span nothing is ever asked, and an ellipsoid would grow without end.
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
        """Whether the point's projection on the span is inside."""
        offset = self.axes @ point - self._centre
        return bool(offset @ np.linalg.solve(self.shape, offset) <= 1 + tolerance)

    def widths(self, directions: Floats) -> Floats:
        """The maxima of <direction, v - w> over v and w inside, for each of the directions (n, d)."""
        within = directions @ self.axes.T
        return np.asarray(2 * np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", within, self.shape, within), 0.0)))

    def cut(self, normal: Floats, bound: float) -> bool:
        """Shrink to the smallest ellipsoid around what has <normal, v> <= bound, where the centre is not inside it.

        :return: False if that is nothing; then all stays as it was.
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


def lin_ucb(principal: CIPA, values: Floats) -> Follow:
    """To the end of the game, LinUCB with ridge parameter 1, for an agent whose means are ``values`` (n_arms,).

    Radius: 2 + noise sqrt(2 log T + d log(1 + n/d)) after n rounds, 2 being a bound of |nu + z|.
    """
    dim = principal.arms.shape[1]
    incentives = values.max() - values + 2 / principal.horizon  # pihat
    scalars = [dim, principal.noise, 2 * math.log(principal.horizon), 0.0, values.max()]
    rest = (incentives, principal.arms.ravel(), np.eye(dim).ravel(), np.zeros(2 * dim))
    return follow(lin_ucb_rule(), np.concatenate([scalars, *rest]), principal.horizon)


@functools.cache
def lin_ucb_rule() -> Callable[..., int]:
    """LinUCB; memory: d, noise, 2 log T, n, max_b <z, b>; pihat (K), arms (K d), V^-1 (d d), sum of y A (d), room (d).

    V^-1 follows V = I + sum of A A' by the Sherman-Morrison formula.
    """

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        n_arms, d = plays.size, int(memory[0])
        incentives = memory[5 : 5 + n_arms]
        arms = memory[5 + n_arms :]
        inverse = arms[n_arms * d :]
        moments = inverse[d * d :]
        room = moments[d:]
        if arm >= 0:
            memory[3] += 1
            y = reward - incentives[arm] + memory[4]
            scale = 1.0
            for i in range(d):
                room[i] = 0.0
                moments[i] += y * arms[arm * d + i]
                for j in range(d):
                    room[i] += inverse[i * d + j] * arms[arm * d + j]
                scale += room[i] * arms[arm * d + i]
            for i in range(d):
                for j in range(d):
                    inverse[i * d + j] -= room[i] * room[j] / scale
        radius = 2 + memory[1] * math.sqrt(memory[2] + d * math.log(1 + memory[3] / d))
        target, best = 0, -np.inf
        for b in range(n_arms):
            offer[b] = 0.0
            mean, variance = 0.0, 0.0
            for i in range(d):
                product = 0.0
                for j in range(d):
                    product += inverse[i * d + j] * arms[b * d + j]
                mean += product * moments[i]
                variance += product * arms[b * d + i]
            index = mean + radius * math.sqrt(max(0.0, variance))
            if index > best:
                target, best = b, index
        offer[target] = incentives[target]
        return target

    return compiled(rule, RULE)
