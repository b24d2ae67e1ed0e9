"""Agents that remember offers: ``hedge``, ``follow-the-leader`` and ``holdout``, as functions that the kernel calls.

They are written as a user's :class:`pa_env.CompiledAgent` is; the kernel keeps their means.
:mod:`pa_env.scripted_agents` says what each of them is.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pa_env.kernel.layout import Floats, Integers

FEEDBACKS = ("offers", "bandit")
NEGLIGIBLE = -40.0  # exponent of a weight that rounding would lose beside that of the best arm, which is 1
SUMS = 2  # the first of the K sums in the memory of ``hedge``, and of the K counts in that of ``holdout``


class Functions(NamedTuple):
    """An agent's functions."""

    choose: Callable[..., int]
    learn: Callable[..., None] | None  # what it does beside keeping its means, if its feedback is "bandit"
    memory: Callable[[Any, int], Floats]  # of a scripted agent and the number of arms
    law: Callable[[Floats, Floats, int], Floats] | None = None  # of its choice; None: it does not draw


# ----------------------------------------------------------------------------------------- hedge


def hedge_memory(agent: Any, n_arms: int) -> Floats:
    """Its rate, whether its feedback is "bandit", then K sums of payoffs, and K weights of this round."""
    bandit = agent.feedback == "bandit"
    rate = agent.rate * math.sqrt(math.log(n_arms) / (n_arms if bandit else 1))
    return np.array([rate, bandit, *[0.0] * (2 * n_arms)])


def hedge_choose(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
    """Draw an arm by multiplicative weights on the payoffs before this round; then note the offer."""
    n_arms, bandit, highest, total = offer.size, memory[1] > 0.0, -np.inf, 0.0
    sums, weights = memory[SUMS : SUMS + n_arms], memory[SUMS + n_arms : SUMS + 2 * n_arms]
    rate, rounds = memory[0] / math.sqrt(t), 0.0 if bandit else t - 1.0
    for a in range(n_arms):
        weights[a] = sums[a] + rounds * means[a]
        highest = max(highest, weights[a])
    for a in range(n_arms):
        behind = weights[a] - highest
        exponent = rate * behind  # not a number for the best arm if the rate is endless
        weights[a] = 1.0 if behind == 0.0 else math.exp(exponent) if exponent > NEGLIGIBLE else 0.0
        total += weights[a]
    if bandit:  # probabilities, which `learn` needs
        mixed = min(1.0, n_arms * rate)
        for a in range(n_arms):
            weights[a] = (1.0 - mixed) * weights[a] / total + mixed / n_arms
        total = 1.0
    else:
        for a in range(n_arms):
            sums[a] += offer[a]
    left = u * total
    for a in range(n_arms - 1):
        left -= weights[a]
        if left < 0.0:
            return a
    return n_arms - 1


def hedge_learn(memory: Floats, means: Floats, counts: Integers, arm: int, reward: float, paid: float) -> None:
    """Add the payoff of an arm, divided by the probability with which it was played; of feedback "bandit" alone."""
    memory[SUMS + arm] += (reward + paid) / memory[SUMS + counts.size + arm]


def hedge_law(memory: Floats, means: Floats, t: int) -> Floats:
    """How likely it is to play each arm in round t, whatever is offered."""
    noted, offer, counts = memory.copy(), np.zeros(means.size), np.zeros(means.size, np.int64)
    with np.errstate(over="ignore", invalid="ignore"):  # of an endless rate
        hedge_choose(noted, means, counts, offer, t, 0.0)
    weights = noted[SUMS + means.size :]
    law: Floats = weights / weights.sum()
    return law


# ----------------------------------------------------------------------------------------- follow the leader


def leader_memory(agent: Any, n_arms: int) -> Floats:
    """The sums of past incentives."""
    return np.zeros(n_arms)


def leader_choose(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
    """The arm with the largest payoff before this round; then note the offer."""
    arm, best = 0, -np.inf
    for a in range(offer.size):
        payoff = memory[a] + (t - 1) * means[a]
        if payoff > best:
            arm, best = a, payoff
        memory[a] += offer[a]
    return arm


# ----------------------------------------------------------------------------------------- holdout


def holdout_memory(agent: Any, n_arms: int) -> Floats:
    """Its margin, its patience, and how often it has refused each arm."""
    return np.array([agent.margin, agent.patience, *[0.0] * n_arms])


def holdout_choose(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
    """The greedy arm, unless it is refused for its own favourite."""
    greedy, favourite, best, second = 0, 0, -np.inf, -np.inf
    for a in range(offer.size):
        favourite = a if means[a] > means[favourite] else favourite
        value = means[a] + offer[a]
        if value > best:
            greedy, best, second = a, value, best
        else:
            second = max(second, value)
    if greedy == favourite or best - second >= memory[0] or memory[SUMS + greedy] >= memory[1]:
        return greedy
    memory[SUMS + greedy] += 1.0
    return favourite


HEDGE = Functions(hedge_choose, hedge_learn, hedge_memory, hedge_law)
LEADER = Functions(leader_choose, None, leader_memory)
HOLDOUT = Functions(holdout_choose, None, holdout_memory)
