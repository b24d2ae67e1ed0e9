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
SUMS = 2  # the first of the K sums in the memory of ``hedge``, and of the K counts in that of ``holdout``


class Functions(NamedTuple):
    """An agent's functions."""

    choose: Callable[..., int]
    learn: Callable[..., None] | None  # what it does beside keeping its means
    memory: Callable[[Any, int], Floats]  # of a scripted agent and the number of arms


# ----------------------------------------------------------------------------------------- hedge


def hedge_memory(agent: Any, n_arms: int) -> Floats:
    """Its rate, whether its feedback is "bandit", then K sums of payoffs, and K probabilities of this round."""
    return np.array([agent.rate, agent.feedback == "bandit", *[0.0] * (2 * n_arms)])


def hedge_choose(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
    """Draw an arm by multiplicative weights on the payoffs before this round; then note the offer."""
    n_arms, bandit, highest, total = offer.size, memory[1] > 0.0, -np.inf, 0.0
    rate = memory[0] * math.sqrt(math.log(n_arms) / (n_arms * t if bandit else t))
    mixed = min(1.0, n_arms * rate) if bandit else 0.0
    law = SUMS + n_arms
    for a in range(n_arms):
        memory[law + a] = memory[SUMS + a] + (0.0 if bandit else (t - 1) * means[a])
        highest = max(highest, memory[law + a])
    for a in range(n_arms):
        memory[law + a] = math.exp(rate * (memory[law + a] - highest))
        total += memory[law + a]
    arm, left = n_arms, u
    for a in range(n_arms):
        memory[law + a] = (1.0 - mixed) * memory[law + a] / total + mixed / n_arms
        left -= memory[law + a]
        if left < 0.0 and arm == n_arms:
            arm = a
        if not bandit:
            memory[SUMS + a] += offer[a]
    return min(arm, n_arms - 1)


def hedge_learn(memory: Floats, means: Floats, counts: Integers, arm: int, reward: float, paid: float) -> None:
    """Add the payoff of an arm, divided by the probability with which it was played, if the feedback is "bandit"."""
    if memory[1] > 0.0:
        memory[SUMS + arm] += (reward + paid) / memory[SUMS + counts.size + arm]


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
    greedy = favourite = 0
    for a in range(1, offer.size):
        greedy = a if means[a] + offer[a] > means[greedy] + offer[greedy] else greedy
        favourite = a if means[a] > means[favourite] else favourite
    rival = -np.inf
    for a in range(offer.size):
        if a != greedy:
            rival = max(rival, means[a] + offer[a])
    paid_enough = means[greedy] + offer[greedy] - rival >= memory[0]
    if greedy != favourite and not paid_enough and memory[SUMS + greedy] < memory[1]:
        memory[SUMS + greedy] += 1.0
        return favourite
    return greedy


HEDGE = Functions(hedge_choose, hedge_learn, hedge_memory)
LEADER = Functions(leader_choose, None, leader_memory)
HOLDOUT = Functions(holdout_choose, None, holdout_memory)
