"""A stand-in for robust epsilon-greedy, for an agent that learns and explores (after Dogan et al., arXiv 2308.06717).

Source of the idea: Dogan, Shen & Aswani, "Estimating and Incentivizing Imperfect-Knowledge Agents with Hidden
Rewards". Their schedule, padding and loss are not known to us. This is not their algorithm, and its results say nothing
about theirs.

**The least violation.** Rounds i have offers pi_i and answers A_i. If s were its means, the agent would have lost

    sum_i max_a (s_a + pi_ia) - (s_A_i + pi_iA_i).

**What is minimal.** Assign to each round an arm x_i, such that every arm has as many rounds as it was played. Then the
loss is at least sum_i pi_ix_i - pi_iA_i, whatever s is. The two are equal if each x_i is a best arm of its round under
s, that is, if s_a - s_k <= pi_ik - pi_ia wherever x_i = k: then s minimises the loss. (The second problem is the dual
of the first, a transportation problem.) These bounds are those of :mod:`baselines.scripted.peers.revealed_preferences`
with x in the place of the answers; the two agree where answers do not contradict each other. Offers are in [0, 1],
hence so is the smallest such s.

**Adding an answer.** Its round is assigned to its best arm under s, say b. If b is not A, then b has one round too many
and A one too few. One round is moved from each arm to the next along the path from b to A that loses least, which
Dijkstra's algorithm finds (successive shortest paths). **Removing an answer.** If x_i is not A_i, a round is moved in
the same way from A_i to x_i. Both take O(K^2 + W K) for W rounds, and finding s after them at most O(K^3).
"""

from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.peers.epsilon_greedy import (
    copy,
    episode_key,
    explores,
    offer_at_random,
    offer_one,
    offer_price,
    padding,
)
from baselines.scripted.peers.revealed_preferences import TOLERANCE, smallest_means, tighten
from pa_env.checks import at_least, whole
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import N_ARMS, Layout, PerArm, compiled_when_used
from pa_env.rules import read_key, write_key


class RobustEpsilonGreedy(Principal):
    """A stand-in. As :class:`EpsilonGreedy`, but answers may contradict each other: s_hat violates them least.

    1. Offer 1 on each arm once.
    2. In round t explore with probability min(1, m t^-q): offer pi ~ U[0, 1]^K and record pi and the arm A played.
    3. Otherwise k = argmax theta_hat + s_hat is offered max s_hat - s_hat_k + 2 sqrt(log eta / eta) after eta
       explorations. s_hat is the smallest point of [0, 1]^K that minimises the sum over explorations of
       max(0, max_a (s_a + pi_a) - (s_A + pi_A)), the agent's loss if s were its means.

    Guarantee: none for the stand-in. The paper's algorithm has regret O(poly(K) T^(11/12) sqrt(log T)).

    Where it fails: random answers bias s_hat towards equal means, so it pays too little for arms that a
    strongly exploring agent dislikes.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        m: Factor of the exploration probability, at least 0.
        q: Exponent of the exploration probability, in (0, 1).
        window: Number of last explorations that count, at least 1. It bounds the work of an exploration and forgets
            old answers.
    """

    name = "robust-epsilon-greedy"
    stand_in = True

    def __init__(self, n_arms: int, horizon: int, m: float = 1.0, q: float = 1 / 3, window: int = 1000) -> None:
        super().__init__(n_arms, horizon)
        self.m = at_least("m", m, 0.0)
        self.q = at_least("q", q, 0.0, strictly=True)
        if self.q >= 1:
            raise ValueError(f"q = {q} must be an exponent between 0 and 1, both excluded")
        self.window = whole("window", window, 1)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        memory = fresh_memory(self.n_arms, min(self.window, self.horizon))
        memory[RobustEntry.M], memory[RobustEntry.Q] = self.m, self.q
        write_key(memory, RobustEntry.KEY, episode_key(self.rng))
        yield follow(robust_rule(), memory, self.horizon)


class RobustEntry(IntEnum):
    """Indices of the numbers in the rule's memory."""

    ROUND = 0  # rounds already played
    KEY = 1  # of the random numbers, its upper and its lower 32 bits
    KEY_LOW = 2
    M = 3  # the parameter m
    Q = 4  # the parameter q
    WINDOW = 5  # W
    EXPLORING = 6  # 1 if the last offer was random
    EXPLORED = 7  # explorations so far, eta
    MARGIN = 8  # what is added to a price


class Answers(NamedTuple):
    """The arrays in the rule's memory: the last W answers, and the means that they contradict least."""

    offered: PerArm  # the last random offer
    s_hat: PerArm
    loss: PerArm  # of the best path to each arm
    before: PerArm  # the arm before it on this path
    limits: Annotated[Floats, N_ARMS, N_ARMS]  # the bounds on s_a - s_k at [k, a], from rounds assigned to k
    offers: Annotated[Floats, RobustEntry.WINDOW, N_ARMS]
    played: Annotated[Floats, RobustEntry.WINDOW]  # A
    assigned: Annotated[Floats, RobustEntry.WINDOW]  # x, or NO_ARM where there is no answer yet


LAYOUT = Layout(RobustEntry, Answers)
answers_of = LAYOUT.compiled


def fresh_memory(n_arms: int, window: int) -> Floats:
    """The memory before the first round, without the parameters m and q and the key: no answers, s_hat = 0."""
    memory = LAYOUT.zeros(n_arms, window=window)
    answers = LAYOUT.arrays(memory, n_arms)
    answers.limits[:], answers.assigned[:] = np.inf, NO_ARM
    return memory


@compiled_when_used
def robust_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule."""
    n_arms, t, answers = offer.size, memory[RobustEntry.ROUND], answers_of(memory, offer.size)
    if arm >= 0 and memory[RobustEntry.EXPLORING] == 1.0:
        slot = int((memory[RobustEntry.EXPLORED] - 1.0) % memory[RobustEntry.WINDOW])
        learn(answers, slot, answers.offered, arm)
    target, exploring, key = NO_ARM, False, read_key(memory, RobustEntry.KEY)
    if t < n_arms:
        target = offer_one(int(t), offer)
    elif explores(key, t, n_arms, memory[RobustEntry.M] * (t + 1.0) ** -memory[RobustEntry.Q]):
        exploring = True
        offer_at_random(key, t, offer)
        memory[RobustEntry.EXPLORED] += 1.0
        memory[RobustEntry.MARGIN] = 2.0 * padding(memory[RobustEntry.EXPLORED])
        copy(offer, answers.offered)
    else:
        target = offer_price(plays, sums, answers.s_hat, memory[RobustEntry.MARGIN], offer)
    memory[RobustEntry.EXPLORING] = exploring
    memory[RobustEntry.ROUND] = t + 1.0
    return target


@inlined
def learn(answers: Answers, i: int, offer: Floats, arm: int) -> None:
    """Replace the answer of round i by the answer ``arm`` to an offer."""
    for step in range(2):  # a loop, so that the lines of `balance` are compiled once
        source, sink = take_out(answers, i) if step == 0 else put_in(answers, i, offer, arm)
        balance(answers, source, sink)


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
def put_in(answers: Answers, i: int, offer: Floats, arm: int) -> tuple[int, int]:
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
def collect_limits(answers: Answers, k: int) -> None:
    """Collect the bounds of an arm again, from the rounds that are assigned to it."""
    for a in range(answers.s_hat.size):
        answers.limits[k, a] = np.inf
    for i in range(answers.assigned.size):
        if answers.assigned[i] == k:
            tighten(answers.limits, answers.offers[i], k)
