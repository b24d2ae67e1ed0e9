"""A stand-in for robust epsilon-greedy, for an agent that learns and explores (after Dogan et al., arXiv 2308.06717).

Source of the idea: Dogan, Shen & Aswani, "Estimating and Incentivizing Imperfect-Knowledge Agents with Hidden
Rewards". Their schedule, padding and loss are not known to us. This is not their algorithm, and its results say nothing
about theirs.
"""

import functools
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.peers.exploration import (
    Entry,
    copy,
    explores,
    offer_at_random,
    offer_one,
    offer_price,
    padding,
    write_key,
)
from baselines.scripted.peers.least_violation import Answers, learn
from pa_env.checks import at_least, whole
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM, Floats
from pa_env.rules import compile_rule


class RobustEpsilonGreedy(Principal):
    """A stand-in. As :class:`EpsilonGreedy`, but answers may contradict each other: s_hat violates them least.

    1. Offer 1 on each arm once.
    2. In round t explore with probability min(1, m t^-q): offer pi ~ U[0, 1]^K and record pi and the arm A played.
    3. Otherwise k = argmax theta_hat + s_hat is offered max s_hat - s_hat_k + 2 sqrt(log eta / eta) after eta
       explorations. s_hat is the smallest point of [0, 1]^K that minimises the sum over explorations of
       max(0, max_a (s_a + pi_a) - (s_A + pi_A)), the agent's loss if s were its means; see
       :mod:`baselines.scripted.peers.least_violation`.

    Guarantee: none for the stand-in. The paper's algorithm has regret O(poly(K) T^(11/12) sqrt(log T)).

    Where it fails: random answers bias s_hat towards equal means (with 15 % of them, a difference of .7 was estimated
    as .5), so it pays too little for arms that a strongly exploring agent dislikes.

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
        write_key(memory, self.rng)
        memory[Entry.M], memory[Own.Q] = self.m, self.q
        yield follow(robust_rule(), memory, self.horizon)


class Own(IntEnum):
    """Indices in the memory of the rule's own numbers, after those of :class:`Entry`."""

    Q = len(Entry)  # the parameter q
    WINDOW = len(Entry) + 1  # W


ARRAYS = len(Entry) + len(Own)  # where the arrays begin: the last offer, then those of the answers


def answers_of(memory: Any, n_arms: int) -> Answers:
    """The answers in a memory, not copied."""
    K, W = n_arms, int(memory[Own.WINDOW])
    square = ARRAYS + 4 * K
    offers = square + K * K
    rounds = offers + W * K
    return Answers(
        s_hat=memory[ARRAYS + K : ARRAYS + 2 * K],
        loss=memory[ARRAYS + 2 * K : ARRAYS + 3 * K],
        before=memory[ARRAYS + 3 * K : square],
        limits=memory[square:offers].reshape(K, K),
        offers=memory[offers:rounds].reshape(W, K),
        played=memory[rounds : rounds + W],
        assigned=memory[rounds + W : rounds + 2 * W],
    )


_answers_of = inlined(answers_of)


def fresh_memory(n_arms: int, window: int) -> Floats:
    """The memory before the first round, without the parameters m and q and the key: no answers, s_hat = 0."""
    memory = np.zeros(ARRAYS + n_arms * (4 + n_arms) + window * (n_arms + 2))
    memory[Own.WINDOW] = window
    answers = answers_of(memory, n_arms)
    answers.limits[:], answers.assigned[:] = np.inf, NO_ARM
    return memory


@functools.cache
def robust_rule() -> Callable[..., int]:
    """The compiled rule; its memory comes from :func:`fresh_memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        n_arms, t, offered = offer.size, memory[Entry.ROUND], memory[ARRAYS : ARRAYS + offer.size]
        answers = _answers_of(memory, offer.size)
        if arm >= 0 and memory[Entry.EXPLORING] == 1.0:
            slot = int((memory[Entry.EXPLORED] - 1.0) % memory[Own.WINDOW])
            learn(answers, slot, offered, arm)
        target, exploring = NO_ARM, False
        if t < n_arms:
            target = offer_one(int(t), offer)
        elif explores(memory, n_arms, memory[Entry.M] * (t + 1.0) ** -memory[Own.Q]):
            exploring = True
            offer_at_random(memory, offer)
            memory[Entry.EXPLORED] += 1.0
            memory[Entry.MARGIN] = 2.0 * padding(memory[Entry.EXPLORED])
            copy(offer, offered)
        else:
            target = offer_price(plays, sums, answers.s_hat, memory[Entry.MARGIN], offer)
        memory[Entry.EXPLORING] = exploring
        memory[Entry.ROUND] = t + 1.0
        return target

    return compile_rule(rule, trusted=True)
