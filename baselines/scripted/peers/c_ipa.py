"""C-IPA, the linear variant of IPA, for an agent that knows its parameter (Scheid et al., ICML 2024).

Source: "Incentivized Learning in Principal-Agent Bandit Games", arXiv 2403.03811.
"""

import math
from collections.abc import Generator

import numpy as np
from numpy.typing import ArrayLike

from baselines.principal import Hold, Outcome, Principal, Rounds, hold
from baselines.scripted.peers.lin_ucb import lin_ucb
from pa_env.checks import at_least, vectors
from pa_env.kernel.layout import Floats


class CIPA(Principal):
    """Search the agent's parameter s until every arm can be priced, then run LinUCB on the net reward.

    S is a set that contains s, at first the unit ball, and z its centre. a2 = argmax <z, a>, and a1 is the arm with the
    widest S in the direction a2 - a1. While that width is above 1/T, <z, a2 - a1> is offered on a1. If a1 is played,
    <s, a2 - a1> is at most the offer; otherwise <s, A - a1> is at least the offer for the arm A played. S is cut
    accordingly. Then pihat_a = max_b <z, b> - <z, a> + 2/T, and LinUCB (:mod:`baselines.scripted.peers.lin_ucb`) on
    y = X - pihat_A + max_b <z, b>, whose mean is <nu + z, A> - 2/T, offers pihat_a on its choice.

    S is an ellipsoid here. A cut is replaced by the smallest ellipsoid around it, so s is never lost. The rule for the
    pair (a1, a2) is ours and valid; the paper's own rule is not known to us.

    Guarantee, the paper's: regret O(d sqrt(T) log T) against the oracle agent. The search takes about 80, 500 and 2000
    rounds for d = 2, 5, 10 at T = 1e4.

    Where it fails: against an agent that learns or explores. An answer that leaves S empty ends the search, and z may
    leave the unit ball (norms above 2 were seen), so that the radius of LinUCB has no guarantee.

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
        yield lin_ucb(self, self.arms, self.arms @ centre, self.noise)

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
        """Whether the point's projection on the span is inside."""
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
