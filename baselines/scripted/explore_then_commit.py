"""Explore, then commit: the plain answer that every bandit algorithm is compared with, with incentives on top.

For the idea see Lattimore & Szepesvari, "Bandit Algorithms", 2020, chapter 6.
"""

import math

import numpy as np

from baselines.protocol import Principal, Rounds, hold
from baselines.scripted.search import Search, binary_search
from pa_env.checks import at_least


class ExploreThenCommit(Principal):
    """Pay for plays of every arm, search every arm's incentive once, and hold the best arm's.

    - Explore: 1 + 1/T on one arm after the other, m = ceil(share T / K) times round; a greedy agent with means in
      [0, 1] accepts each, and learns.
    - Search an incentive for each arm by bisection on [0, 1], ceil(log2 T) rounds: b_a = upper end + 1/T.
    - Commit: hold b_a on argmax_a theta_hat_a - b_a until another arm is played; then search that b_a again, and
      choose again.

    With m of order (T/K)^(2/3) the regret of a bandit without an agent is O(K^(1/3) T^(2/3)), which is what the
    default is made for; no guarantee is known to us against an agent that learns. One that explores is taken for one
    that refuses.

    ``share``: of the rounds, how many explore, in (0, 1]; by default (K/T)^(1/3) / 8.
    """

    name = "explore-then-commit"
    ceiling = 1.0  # where the search begins: the largest difference of the agent's means

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
        """b_a."""
        upper = yield from binary_search(self, arm)  # type: ignore[arg-type] # it has a horizon and a ceiling
        return upper + 1 / self.horizon
