"""IPA, Incentivized Principal-Agent learning, for an agent that knows its means (Scheid et al., ICML 2024).

Source: Scheid, Tiapkin, Boursier, Capitaine, El Mhamdi, Moulines, Jordan & Durmus, "Incentivized Learning in
Principal-Agent Bandit Games", arXiv 2403.03811, as in their public code.
"""

import math

import numpy as np

from baselines.protocol import Principal, Rounds, hold
from baselines.scripted.net_ucb import net_ucb
from pa_env.checks import at_least


class IPA(Principal):
    """Search each arm's incentive by bisection on [0, 1], then run UCB on the net reward.

    Search: K ceil(log2 T) rounds; round t = 0, 1, ... offers arm t mod K the middle of its interval. Then pihat_a is
    the upper end plus ``margin``, so that for an agent with fixed means in [0, 1] pihat_a - pi*_a is in
    (0, 1/T + margin]. The rest of the game is UCB with these prices (:mod:`baselines.scripted.net_ucb`).

    Guarantee: regret O(sqrt(K T log T)) against the oracle agent.

    Where it fails: against an agent that learns. Its means move after the search, refused offers are repeated, and the
    regret is linear in T.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        margin: What is added to each incentive found, at least 0. Default: 1/T^2, as in the authors' code; the paper
            has 1/T.

    """

    name = "ipa"

    def __init__(self, n_arms: int, horizon: int, margin: float | None = None) -> None:
        super().__init__(n_arms, horizon)
        self.margin = self.horizon**-2.0 if margin is None else at_least("margin", margin, 0.0)

    def rounds(self) -> Rounds:
        """The paper's Algorithm 1, with the probes of all arms interleaved."""
        low, high = np.zeros(self.n_arms), np.ones(self.n_arms)
        for _ in range(math.ceil(math.log2(self.horizon))):
            for a in range(self.n_arms):
                middle = float(low[a] + high[a]) / 2
                outcome = yield hold(a, middle)
                if outcome.plays[a]:
                    high[a] = middle
                else:
                    low[a] = middle
        yield net_ucb(self, high + self.margin)
