"""Explore-then-commit with incentives, a simple baseline.

Source of the idea: Lattimore & Szepesvari, "Bandit Algorithms", 2020, chapter 6.
"""

import math

import numpy as np

from baselines.principal import Principal, Rounds, hold
from baselines.scripted.paper.search import Search, binary_search
from pa_env.checks import at_least


class ExploreThenCommit(Principal):
    """Pay for plays of every arm, search every arm's incentive once, and hold the best one.

    - Explore: offer 1 + 1/T on the arms in turn, m = ceil(share T / K) times each. A greedy agent with means in [0, 1]
      accepts every offer, and learns.
    - Search an incentive for each arm by bisection on [0, 1], ceil(log2 T) rounds: b_a = upper end + 1/T.
    - Commit: hold b_a on argmax_a theta_hat_a - b_a until another arm is played; then search that b_a again, and
      choose again.

    Guarantee: with m of order (T/K)^(2/3), as by default, the regret of a bandit without an agent is
    O(K^(1/3) T^(2/3)). We know of none against an agent that learns.

    Where it fails: an agent's exploration looks like a refusal, so every one starts a new search.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        share: Share of the rounds that explore, in (0, 1]. Default: (K/T)^(1/3) / 8.
    """

    name = "explore-then-commit"

    def __init__(self, n_arms: int, horizon: int, share: float | None = None) -> None:
        super().__init__(n_arms, horizon)
        default = min(1.0, math.cbrt(self.n_arms / self.horizon) / 8)
        self.share = default if share is None else at_least("share", share, 0.0, strictly=True)
        if self.share > 1:
            raise ValueError(f"share = {share} must be a share of the rounds, above 0 and at most 1")
        self.times = math.ceil(self.share * self.horizon / self.n_arms)  # m

    def rounds(self) -> Rounds:
        """Explore, search, commit."""
        for _ in range(self.times):
            for a in range(self.n_arms):
                yield hold(a, 1 + 1 / self.horizon)
        incentives = np.zeros(self.n_arms)  # b
        for a in range(self.n_arms):
            incentives[a] = yield from self.search(a)
        while True:
            target = int((self.theta_hat - incentives).argmax())
            yield hold(target, incentives[target], rounds=self.horizon, stop=(0.0, 0.0))  # to the first miss
            incentives[target] = yield from self.search(target)

    def search(self, arm: int) -> Search:
        """A new search for b_a."""
        upper = yield from binary_search(arm, self.horizon)
        return upper + 1 / self.horizon
