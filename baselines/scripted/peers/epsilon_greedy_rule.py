"""The compiled rule of epsilon-greedy: what it remembers, and a round of it; see :class:`EpsilonGreedy`."""

import functools
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from baselines.scripted.peers.exploration import Entry, copy, explores, offer_at_random, offer_one, offer_price, padding
from baselines.scripted.peers.revealed import smallest_means, tighten
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM, Floats
from pa_env.rules import compile_rule


class Own(IntEnum):
    """Indices in the memory of the rule's own numbers, after those of :class:`Entry`."""

    CHARGED = len(Entry)  # 1 if what is paid for an arm is subtracted from its rewards
    EVERY_ROUND = len(Entry) + 1  # 1 if bounds are learnt from every round, not from explorations alone
    CHANGED = len(Entry) + 2  # 1 if a bound has changed since s_hat was found
    CONTRADICTED = len(Entry) + 3  # 1 once no point is within the bounds


ARRAYS = len(Entry) + len(Own)  # where the arrays begin


class Arrays(NamedTuple):
    """The arrays in the rule's memory."""

    s_hat: Any  # (K,)
    trial: Any  # (K,), room for the next s_hat
    credits: Any  # (K,), rewards X of each arm, minus what was paid if that is charged
    offered: Any  # (K,), the last offer
    limits: Any  # (K, K); [k, a] is the paper's B[a, k]


def arrays_of(memory: Any, n_arms: int) -> Arrays:
    """The arrays in a memory, not copied."""
    K, square = n_arms, ARRAYS + 4 * n_arms
    return Arrays(
        memory[ARRAYS : ARRAYS + K],
        memory[ARRAYS + K : ARRAYS + 2 * K],
        memory[ARRAYS + 2 * K : ARRAYS + 3 * K],
        memory[ARRAYS + 3 * K : square],
        memory[square : square + K * K].reshape(K, K),
    )


_arrays_of = inlined(arrays_of)


def fresh_memory(n_arms: int) -> Floats:
    """The memory before the first round, without the parameters and the key: no bounds, s_hat = 0."""
    memory = np.zeros(ARRAYS + n_arms * (4 + n_arms))
    arrays_of(memory, n_arms).limits[:] = np.inf
    return memory


@inlined
def estimate(memory: Any, own: Arrays) -> None:
    """Find s_hat, if bounds have changed; if no point is within them it stays as it was."""
    if memory[Own.CHANGED] == 1.0 and memory[Own.CONTRADICTED] == 0.0:
        if smallest_means(own.limits, own.trial):
            copy(own.trial, own.s_hat)
        else:
            memory[Own.CONTRADICTED] = 1.0  # for good: bounds are never loosened
    memory[Own.CHANGED] = 0.0


@functools.cache
def epsilon_greedy_rule() -> Callable[..., int]:
    """The compiled rule; its memory comes from :func:`fresh_memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        n_arms, t, own = offer.size, memory[Entry.ROUND], _arrays_of(memory, offer.size)
        if arm >= 0:
            own.credits[arm] += reward - memory[Own.CHARGED] * own.offered[arm]
            learns = memory[Entry.EXPLORING] == 1.0 or memory[Own.EVERY_ROUND] == 1.0
            if learns and tighten(own.limits, own.offered, arm):
                memory[Own.CHANGED] = 1.0
        target, exploring = NO_ARM, False
        if t < n_arms:
            target = offer_one(int(t), offer)
        elif explores(memory, n_arms, memory[Entry.M] / t):
            exploring = True
            offer_at_random(memory, offer)
            memory[Entry.EXPLORED] += 1.0
            memory[Entry.MARGIN] = 2.0 * padding(memory[Entry.EXPLORED] - 1.0)  # 2 beta
        else:
            estimate(memory, own)
            target = offer_price(plays, own.credits, own.s_hat, memory[Entry.MARGIN], offer)
        copy(offer, own.offered)
        memory[Entry.EXPLORING] = exploring
        memory[Entry.ROUND] = t + 1.0
        return target

    return compile_rule(rule, trusted=True)
