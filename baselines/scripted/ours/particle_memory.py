"""The memory vector of particle beliefs and of rules on them; see :mod:`baselines.scripted.ours.particle_beliefs`."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import Floats


class Entry(IntEnum):
    """Indices of single numbers in the memory; those from ``HORIZON`` on belong to the rule."""

    TIME = 0  # rounds offered so far, so the number 1, 2, ... of the round whose answer comes next
    KEY = 1  # of the draws, an integer below 2^53
    PARTICLES = 2  # P
    SURPRISE = 3  # probability that a particle is wrong about an arm
    TURN = 4  # every how-many-th particle moves in a round; 0: none does, nor do copies
    HORIZON = 5
    BONUS = 6
    DECAY = 7
    FADE = 8
    CEILING = 9
    NEWNESS = 10
    TEACHING = 11
    PATIENCE = 12


class Draw(IntEnum):
    """The purposes of the random numbers of a round; each purpose has one number for each particle."""

    REWARD = 0
    RESAMPLE = 1
    MOVED_ARM = 2
    MOVED_TO = 3
    WRONG = 4
    WRONG_ARM = 5
    WRONG_BY = 6
    ACTION = 7  # of a trained principal, one number


ARRAYS = len(Entry)  # where the arrays begin
C0 = (0.0, 0.1, 0.3, 1.0)  # exploration constants thought possible
LEVELS = len(C0)
OFFERED = ARRAYS + LEVELS  # where the last offer stands
KNOWS, EXPLORES = 0.3, 0.1  # prior probabilities that the agent knows its means, that it explores
SURPRISE, TURN = 0.01, 4.0  # as entries of the memory


class Beliefs(NamedTuple):
    """The arrays in the memory; K arms, P particles."""

    c0: Any  # (LEVELS,), probability of each of C0
    offered: Any  # (K,), the last offer
    worth: Any  # (K,), room for what a rule makes of the beliefs
    bound: Any  # (K,), likewise
    ahead: Any  # (K, K), [a, b]: what muhat_a - muhat_b is at least, if the agent knows its means
    means: Any  # (K, P), muhat
    low: Any  # (K, P), bounds on muhat since the arm's last play
    high: Any  # (K, P)
    weights: Any  # (P,), of sum 1
    knows: Any  # (P,), 1 if this agent knows its means, 0 if it learns
    highest: Any  # (P,), max muhat
    second: Any  # (P,), the second highest
    favourite: Any  # (P,), the arm with the highest
    short: Any  # (P,), room: by how much the arm played fell short of the others; worth of the favourite
    costs: Any  # (P,), room: pi* of an arm
    order: Any  # (P,), room: copies made, order of the costs


def memory_size(n_arms: int, particles: int) -> int:
    """How long the memory is."""
    return ARRAYS + LEVELS + 3 * n_arms + n_arms * n_arms + (3 * n_arms + 8) * particles


def beliefs_of(memory: Any, n_arms: int) -> Beliefs:
    """The arrays in a memory, not copied."""
    K, P = n_arms, int(memory[Entry.PARTICLES])
    arms = OFFERED
    square, tables = arms + 3 * K, arms + 3 * K + K * K
    rows = tables + 3 * K * P
    return Beliefs(
        memory[ARRAYS:arms],
        memory[arms : arms + K],
        memory[arms + K : arms + 2 * K],
        memory[arms + 2 * K : square],
        memory[square:tables].reshape(K, K),
        memory[tables : tables + K * P].reshape(K, P),
        memory[tables + K * P : tables + 2 * K * P].reshape(K, P),
        memory[tables + 2 * K * P : rows].reshape(K, P),
        memory[rows : rows + P],
        memory[rows + P : rows + 2 * P],
        memory[rows + 2 * P : rows + 3 * P],
        memory[rows + 3 * P : rows + 4 * P],
        memory[rows + 4 * P : rows + 5 * P],
        memory[rows + 5 * P : rows + 6 * P],
        memory[rows + 6 * P : rows + 7 * P],
        memory[rows + 7 * P : rows + 8 * P],
    )


inlined_beliefs_of, inlined_memory_size = inlined(beliefs_of), inlined(memory_size)


def fresh_memory(n_arms: int, particles: int, rng: np.random.Generator, knows: float = KNOWS) -> Floats:
    """The memory before the first round, without the entries of the rule.

    All learners are then identical, so half of the particles are agents that know their means, unless ``knows`` is 0.

    Args:
        n_arms: K.
        particles: P.
        rng: gives the key of the draws, and the means of agents that know theirs.
        knows: prior probability that the agent knows its means.
    """
    memory = np.zeros(memory_size(n_arms, particles))
    memory[Entry.PARTICLES], memory[Entry.KEY] = particles, rng.integers(2**53)
    memory[Entry.SURPRISE], memory[Entry.TURN] = SURPRISE, TURN
    own = beliefs_of(memory, n_arms)
    own.c0[:] = EXPLORES / (LEVELS - 1)
    own.c0[0] = 1.0 - EXPLORES
    own.ahead[:] = -np.inf
    own.high[:] = 1.0
    informed = particles // 2 if knows > 0.0 else 0
    own.knows[:informed] = 1.0
    own.means[:, :informed] = rng.random((n_arms, informed))
    own.weights[:informed] = knows / max(1, informed)
    own.weights[informed:] = (1.0 - own.weights[:informed].sum()) / (particles - informed)
    return memory
