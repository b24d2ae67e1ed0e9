"""IPA, Incentivized Principal-Agent learning, for an agent that knows its means (Scheid et al., ICML 2024).

Source: Scheid, Tiapkin, Boursier, Capitaine, El Mhamdi, Moulines, Jordan & Durmus, "Incentivized Learning in
Principal-Agent Bandit Games", arXiv 2403.03811.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.protocol import Floats, Follow, Principal, Rounds, follow
from baselines.scripted.search import binary_search
from pa_env.checks import at_least
from pa_env.compiling import compiled
from pa_env.game import RULE


class IPA(Principal):
    """Search each arm's incentive by bisection on [0, 1], then run UCB on what is left of X after paying it.

    Search: L = ceil(log2 T) one-hot probes for each arm; pihat_a = upper end + ``margin``, so that for an agent with
    fixed means in [0, 1] pihat_a - pi*_a is in (0, 2/T]. Then a UCB that starts afresh offers pihat_a on
    argmax_a mean_a(X) - pihat_a + sqrt(4 log T / n_a), means and counts n_a since the search.

    Guarantee: regret O(sqrt(K T log T)) against the oracle agent. There is none against an agent that
    learns: its means move on after the search, what is refused is offered again, and the regret is linear.

    ``margin``: what is added to a found incentive, by default 1/T; the authors' code adds 1/T^2.
    """

    name = "ipa"
    ceiling = 1.0  # where the search begins: the largest difference of the agent's means

    def __init__(self, n_arms: int, horizon: int, margin: float | None = None) -> None:
        super().__init__(n_arms, horizon)
        self.margin = 1 / self.horizon if margin is None else at_least("margin", margin, 0.0)

    def rounds(self) -> Rounds:
        """The paper's Algorithm 1."""
        incentives = np.zeros(self.n_arms)  # pihat
        for a in range(self.n_arms):
            upper = yield from binary_search(self, a)  # type: ignore[arg-type] # it has a horizon and a ceiling
            incentives[a] = upper + self.margin
        yield net_ucb(self, incentives)


def net_ucb(principal: Principal, incentives: Floats) -> Follow:
    """To the end of the game, a fresh UCB on X - incentive that offers the chosen arm its incentive (n_arms,)."""
    bonus, indices = [4 * math.log(principal.horizon)], np.full(principal.n_arms, np.inf)
    memory = np.concatenate([bonus, incentives, principal.plays, principal.sums, indices])
    return follow(net_ucb_rule(), memory, principal.horizon)


@functools.cache
def net_ucb_rule() -> Callable[..., int]:
    """UCB; memory: 4 log T, then by arm the incentives, the plays and the sums of X when it started, the indices."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        n_arms = plays.size
        index = memory[1 + 3 * n_arms :]
        if arm >= 0:  # the index of no other arm has changed
            count = plays[arm] - memory[1 + n_arms + arm]
            mean = (sums[arm] - memory[1 + 2 * n_arms + arm]) / count
            index[arm] = mean - memory[1 + arm] + math.sqrt(memory[0] / count)
        target = 0
        for b in range(n_arms):
            offer[b] = 0.0
            if index[b] > index[target]:
                target = b
        offer[target] = memory[1 + target]
        return target

    return compiled(rule, RULE)
