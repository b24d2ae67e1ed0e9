"""UCB on the principal's net reward at known prices: the second half of IPA and of BELGIC.

The rule follows the public code of IPA's authors (Scheid et al., ICML 2024). Statistics start empty. In each round the
arm with the largest mean(net reward) + sqrt(4 log T / n) is offered its incentive; arms not played yet come first, in
increasing order. The arm played is credited with X minus the incentive paid for it, 0 unless it was the target.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.principal import Follow, Principal, follow
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM, Floats
from pa_env.rules import compile_rule

# Memory of the rule: 4 log T and the target of the last round, then blocks of n_arms numbers.
BONUS, TARGET, BLOCKS = 0, 1, 2
INCENTIVES, COUNTS, NET_SUMS, INDICES = range(4)


def net_ucb(principal: Principal, incentives: Floats) -> Follow:
    """A request for the rest of the game: UCB that pays the chosen arm its entry of ``incentives`` (n_arms,)."""
    return follow(net_ucb_rule(), fresh_memory(principal.horizon, incentives), principal.horizon)


def fresh_memory(horizon: int, incentives: Floats) -> Floats:
    """The memory before the first round."""
    nothing, unknown = np.zeros(2 * incentives.size), np.full(incentives.size, np.inf)
    return np.concatenate([[4 * math.log(horizon), NO_ARM], incentives, nothing, unknown])


def incentives_of(memory: Floats, n_arms: int) -> Floats:
    """The incentives (n_arms,) in a memory."""
    return memory[BLOCKS + INCENTIVES * n_arms :][:n_arms].copy()


@inlined
def ucb_round(memory: Any, arm: int, reward: float, offer: Any) -> int:
    """Learn from the last round, if there was one, and make the next offer; returns its target."""
    n_arms = offer.size
    incentives, counts = memory[BLOCKS + INCENTIVES * n_arms :], memory[BLOCKS + COUNTS * n_arms :]
    net_sums, indices = memory[BLOCKS + NET_SUMS * n_arms :], memory[BLOCKS + INDICES * n_arms :]
    if arm >= 0:  # the index of no other arm has changed
        counts[arm] += 1.0
        net_sums[arm] += reward - (incentives[arm] if arm == memory[TARGET] else 0.0)
        indices[arm] = net_sums[arm] / counts[arm] + math.sqrt(memory[BONUS] / counts[arm])
    target = 0
    for b in range(n_arms):
        offer[b] = 0.0
        if indices[b] > indices[target]:
            target = b
    offer[target] = incentives[target]
    memory[TARGET] = target
    return target


@functools.cache
def net_ucb_rule() -> Callable[..., int]:
    """The compiled rule."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        return ucb_round(memory, arm, reward, offer)

    return compile_rule(rule, trusted=True)
