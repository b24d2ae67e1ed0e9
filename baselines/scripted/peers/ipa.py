"""IPA, Incentivized Principal-Agent learning, for an agent that knows its means (Scheid et al., ICML 2024).

Source: Scheid, Tiapkin, Boursier, Capitaine, El Mhamdi, Moulines, Jordan & Durmus, "Incentivized Learning in
Principal-Agent Bandit Games", arXiv 2403.03811, as in their public code.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.peers.net_ucb import BLOCKS, INCENTIVES, fresh_memory, ucb_round
from pa_env.checks import at_least
from pa_env.kernel.layout import NO_ARM
from pa_env.rules import compile_rule

# Memory of the rule: that of UCB; then the lower and upper ends of the intervals, and the last three numbers.
UCB_SIZE = 4  # numbers per arm in the memory of UCB, after its first BLOCKS
ROUND, PROBES, MARGIN = -3, -2, -1


@functools.cache
def ipa_rule() -> Callable[..., int]:
    """The paper's Algorithm 1, with the probes of all arms interleaved, as a compiled rule."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        K, t, probes = offer.size, int(memory[ROUND]), int(memory[PROBES])
        low = memory[BLOCKS + UCB_SIZE * K :]
        high = low[K:]
        memory[ROUND] = t + 1
        if t > probes:
            return ucb_round(memory, arm, reward, offer)
        if t > 0:  # what the last probe showed
            a = (t - 1) % K
            middle = (low[a] + high[a]) / 2
            if arm == a:
                high[a] = middle
            else:
                low[a] = middle
        if t == probes:
            for b in range(K):
                memory[BLOCKS + INCENTIVES * K + b] = high[b] + memory[MARGIN]
            return ucb_round(memory, NO_ARM, 0.0, offer)
        a = t % K
        for b in range(K):
            offer[b] = 0.0
        offer[a] = (low[a] + high[a]) / 2
        return int(a)

    return compile_rule(rule, trusted=True)


class IPA(Principal):
    """Search each arm's incentive by bisection on [0, 1], then run UCB on the net reward.

    Search: K ceil(log2 T) rounds; round t = 0, 1, ... offers arm t mod K the middle of its interval. Then pihat_a is
    the upper end plus ``margin``, so that for an agent with fixed means in [0, 1] pihat_a - pi*_a is in
    (0, 1/T + margin]. The rest of the game is UCB with these prices (:mod:`baselines.scripted.peers.net_ucb`).

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
        """One request for the whole game."""
        K, probes = self.n_arms, self.n_arms * math.ceil(math.log2(self.horizon))
        parts = (fresh_memory(self.horizon, np.zeros(K)), np.zeros(K), np.ones(K), [0, probes, self.margin])
        yield follow(ipa_rule(), np.concatenate(parts), self.horizon)
