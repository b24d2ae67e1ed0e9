"""The means that an agent's answers contradict least, kept up to date answer by answer.

Rounds i have offers pi_i and answers A_i. If s were its means, the agent would have lost, in all,

    sum_i max_a (s_a + pi_ia) - (s_A_i + pi_iA_i).

**What is minimal.** Assign to each round an arm x_i, such that every arm has as many rounds as it was played. Then the
loss is at least sum_i pi_ix_i - pi_iA_i, whatever s is. The two are equal if each x_i is a best arm of its round under
s, that is, if s_a - s_k <= pi_ik - pi_ia wherever x_i = k: then s minimises the loss. (The second problem is the dual
of the first, a transportation problem.) These bounds are those of :mod:`baselines.scripted.peers.revealed` with x in
the
place of the answers; the two agree where answers do not contradict each other. Offers are in [0, 1], hence so is the
smallest such s.

**Adding an answer.** Its round is assigned to its best arm under s, say b. If b is not A, then b has one round too many
and A one too few. One round is moved from each arm to the next along the path from b to A that loses least, which
Dijkstra's algorithm finds (successive shortest paths). **Removing an answer.** If x_i is not A_i, a round is moved in
the same way from A_i to x_i. Both take O(K^2 + W K) for W rounds, and finding s after them at most O(K^3).
"""

from typing import Any, NamedTuple

import numpy as np

from baselines.scripted.peers.revealed import TOLERANCE, smallest_means, tighten
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM


class Answers(NamedTuple):
    """The last W answers, and the means that they contradict least."""

    s_hat: Any  # (K,)
    limits: Any  # (K, K), the bounds on s_a - s_k at [k, a], from rounds assigned to k
    offers: Any  # (W, K)
    played: Any  # (W,), A
    assigned: Any  # (W,), x, or NO_ARM where there is no answer yet
    loss: Any  # (K,), of the best path to each arm
    before: Any  # (K,), the arm before it on this path


@inlined
def collect_limits(answers: Answers, k: int) -> None:
    """Collect the bounds of an arm again, from the rounds that are assigned to it."""
    for a in range(answers.s_hat.size):
        answers.limits[k, a] = np.inf
    for i in range(answers.assigned.size):
        if answers.assigned[i] == k:
            tighten(answers.limits, answers.offers[i], k)


@inlined
def find_path(answers: Answers, source: int, sink: int) -> None:
    """The path from ``source`` to ``sink`` that loses least, as the arm ``before`` each of its arms (Dijkstra)."""
    s, loss, before = answers.s_hat, answers.loss, answers.before
    for a in range(s.size):
        loss[a], before[a] = np.inf, NO_ARM
    loss[source] = 0.0
    k = source
    while k != sink:
        reached = loss[k]
        loss[k] = -1.0  # done
        following = sink
        for a in range(s.size):
            if loss[a] >= 0.0:
                step = max(0.0, answers.limits[k, a] + TOLERANCE - (s[a] - s[k]))
                if reached + step < loss[a]:
                    loss[a], before[a] = reached + step, k
                if loss[a] < loss[following]:
                    following = a
        k = following


@inlined
def move_round(answers: Answers, source: int, target: int) -> None:
    """Assign to ``target`` the round of ``source`` that loses least by it."""
    moved, least = 0, np.inf
    for i in range(answers.assigned.size):
        if answers.assigned[i] == source:
            lost = answers.offers[i, source] - answers.offers[i, target]
            if lost < least:
                moved, least = i, lost
    answers.assigned[moved] = target


@inlined
def balance(answers: Answers, source: int, sink: int) -> None:
    """Move a round from ``source``, which has one too many, to ``sink``, and find s_hat again."""
    if source != sink:
        find_path(answers, source, sink)
        a = sink
        while a != source:  # from the end, so that no round moves twice
            k = int(answers.before[a])
            move_round(answers, k, a)
            a = k
        a = sink
        while a != NO_ARM:  # which is before the source
            collect_limits(answers, a)
            a = int(answers.before[a])
    smallest_means(answers.limits, answers.s_hat)  # there is always one


@inlined
def take_out(answers: Answers, i: int) -> tuple[int, int]:
    """Remove the answer of round i; returns the arms with a round too many and too few, equal if none has."""
    k = int(answers.assigned[i])
    if k == NO_ARM:
        return 0, 0
    answers.assigned[i] = NO_ARM
    collect_limits(answers, k)
    return int(answers.played[i]), k


@inlined
def put_in(answers: Answers, i: int, offer: Any, arm: int) -> tuple[int, int]:
    """Add the answer of round i; returns the arms with a round too many and too few, equal if none has."""
    best = 0
    for a in range(offer.size):
        answers.offers[i, a] = offer[a]
        if answers.s_hat[a] + offer[a] > answers.s_hat[best] + offer[best]:
            best = a
    answers.played[i], answers.assigned[i] = arm, best
    tighten(answers.limits, offer, best)
    return best, arm


@inlined
def learn(answers: Answers, i: int, offer: Any, arm: int) -> None:
    """Replace the answer of round i by the answer ``arm`` to an offer."""
    for step in range(2):  # a loop, so that the lines of `balance` are compiled once
        source, sink = take_out(answers, i) if step == 0 else put_in(answers, i, offer, arm)
        balance(answers, source, sink)
