"""Particle filter of the agent: each particle is an agent that would have given the answers seen so far.

A particle holds the agent's means muhat (K,) and its kind. It is one of these:

- a learner: muhat starts at 0 and is the mean of rewards in {0, 1} that the principal does not see. Of an arm with N
  plays and mean m the next reward is 1 with probability (N m + 1) / (N + 2): a Polya urn, which is what a uniform prior
  on the arm's true mean gives. The urn needs N and m alone, so a round costs the same at any horizon.
- an agent that knows its means, which are uniform on [0, 1] and never move.

Both may explore: with probability p_t = min(1, c0 sqrt(log(2t) / t)) the agent plays one of the K - 1 arms that do not
maximise muhat + pi. c0 is one of ``C0``, whose probabilities are kept beside the particles (as if c0 and muhat were
independent), so particles need not be multiplied by the values of c0.

After each round (:func:`update`):

1. *Weigh.* The answer A multiplies a particle's weight by 1 - p_t if A maximises muhat + pi in it, else by
   p_t / (K - 1) + (1 - p_t) ``surprise`` / K, where p_t is its mean over c0. The last term says that the particle is
   wrong about an arm, for a reason outside the model (rewards that are not 0 or 1, initial means, too few particles).
   It is never 0, so an answer that no particle explains needs no exception: Bayes' rule then weighs explorations
   against errors.
2. *Resample* (systematically) once the effective number 1 / sum w^2 is below P / 2.
3. *Correct.* A particle that is weighed as wrong raises muhat_A, or lowers that of the arm it had expected, to where A
   wins, and beyond by a share u^4 of what is left of [0, 1]: an error of any order of magnitude.
4. *Move.* Copies, and every fourth particle in turn, are redrawn in one arm, since resampling alone would leave all
   particles with the same value of an arm that is not played. In an agent that knows its means the arm is drawn from
   its exact conditional law, uniform between the bounds that all answers so far set. In a learner the successes of an
   idle arm change by up to sqrt(N) / 2, if the mean stays between the bounds that its last play and the answers since
   have set. A uniform prior gives all numbers of successes the same probability, so this is a Metropolis step, but an
   approximate one: answers before the arm's last play are not looked at again.
5. *Learn.* Learners draw the unseen reward of A.

One memory vector holds everything; all draws follow from ``ParticleEntry.KEY`` and the round. A rule on these beliefs
keeps its own numbers in the same vector.
"""

import math
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from pa_env.kernel.agents import exploration_probability
from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import draw, uniform
from pa_env.kernel.layout import Floats, Integers
from pa_env.memory import N_ARMS, Layout, PerArm
from pa_env.rules import read_key, write_key

C0 = (0.0, 0.1, 0.3, 1.0)  # exploration constants thought possible
LEVELS = len(C0)
KNOWS, EXPLORES = 0.3, 0.1  # prior probabilities that the agent knows its means, that it explores
SURPRISE, TURN = 0.01, 4.0  # as entries of the memory
TIE = 1e-9  # means that differ by less are equal
MARGIN = 1e-7  # paid above what makes two arms equal


class ParticleEntry(IntEnum):
    """Indices of single numbers in the memory; those from ``HORIZON`` on belong to the rule."""

    TIME = 0  # rounds offered so far, so the number 1, 2, ... of the round whose answer comes next
    KEY = 1  # of the draws, its upper and its lower 32 bits
    KEY_LOW = 2
    PARTICLES = 3  # P
    SURPRISE = 4  # probability that a particle is wrong about an arm
    TURN = 5  # every how-many-th particle moves in a round; 0: none does, nor do copies
    HORIZON = 6
    BONUS = 7
    DECAY = 8
    FADE = 9
    CEILING = 10
    NEWNESS = 11
    TEACHING = 12
    PATIENCE = 13


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


PerParticle = Annotated[Floats, ParticleEntry.PARTICLES]
ArmsByParticles = Annotated[Floats, N_ARMS, ParticleEntry.PARTICLES]


class Beliefs(NamedTuple):
    """The arrays in the memory; K arms, P particles."""

    c0: Annotated[Floats, LEVELS]  # probability of each of C0
    offered: PerArm  # the last offer
    worth: PerArm  # room for what a rule makes of the beliefs
    bound: PerArm  # likewise
    ahead: Annotated[Floats, N_ARMS, N_ARMS]  # [a, b]: what muhat_a - muhat_b is at least, if the agent knows its means
    means: ArmsByParticles  # muhat
    low: ArmsByParticles  # bounds on muhat since the arm's last play
    high: ArmsByParticles
    weights: PerParticle  # of sum 1
    knows: PerParticle  # 1 if this agent knows its means, 0 if it learns
    highest: PerParticle  # max muhat
    second: PerParticle  # the second highest
    favourite: PerParticle  # the arm with the highest
    short: PerParticle  # room: by how much the arm played fell short of the others; worth of the favourite
    costs: PerParticle  # room: pi* of an arm
    order: PerParticle  # room: copies made, order of the costs


LAYOUT = Layout(ParticleEntry, Beliefs)
particle_beliefs, particle_memory_size = LAYOUT.compiled, LAYOUT.compiled_size


def fresh_memory(
    n_arms: int, particles: int, rng: np.random.Generator, knows: float = KNOWS, **entries: float
) -> Floats:
    """The memory before the first round.

    All learners are then identical, so half of the particles are agents that know their means, unless ``knows`` is 0.

    Args:
        n_arms: K.
        particles: P.
        rng: gives the key of the draws, and the means of agents that know theirs.
        knows: prior probability that the agent knows its means.
        **entries: those of the rule, by their names in lower case.
    """
    memory = LAYOUT.zeros(n_arms, particles=particles, surprise=SURPRISE, turn=TURN, **entries)
    write_key(memory, ParticleEntry.KEY, int(rng.integers(2**53)))
    beliefs = LAYOUT.arrays(memory, n_arms)
    beliefs.c0[:] = EXPLORES / (LEVELS - 1)
    beliefs.c0[0] = 1.0 - EXPLORES
    beliefs.ahead[:] = -np.inf
    beliefs.high[:] = 1.0
    informed = particles // 2 if knows > 0.0 else 0
    beliefs.knows[:informed] = 1.0
    beliefs.means[:, :informed] = rng.random((n_arms, informed))
    beliefs.weights[:informed] = knows / max(1, informed)
    beliefs.weights[informed:] = (1.0 - beliefs.weights[:informed].sum()) / (particles - informed)
    return memory


@inlined
def round_key(memory: Floats) -> np.uint64:
    """The key of this round's draws."""
    key: np.uint64 = draw(read_key(memory, ParticleEntry.KEY), np.int64(memory[ParticleEntry.TIME]))
    return key


@inlined
def number(key: np.uint64, beliefs: Beliefs, which: int, p: int) -> float:
    """A number of particle ``p`` in the round of this key, uniform in [0, 1)."""
    return uniform(key, which * beliefs.weights.size + p + 1)


@compiled
def update(memory: Floats, beliefs: Beliefs, plays: Integers, arm: int) -> None:
    """Take in the answer ``arm`` to the last offer; ``plays`` (K,) counts it already. Steps 1 to 5."""
    if beliefs.means.shape[0] > 1:
        compare(beliefs, arm)
        weigh(memory, beliefs, arm)
        set_bounds(beliefs, arm, plays[arm] - 1)
        move(memory, beliefs, plays, arm)
    learn(memory, beliefs, arm, plays[arm] - 1)


@compiled
def compare(beliefs: Beliefs, arm: int) -> None:
    """Write into ``short`` by how much ``arm`` fell short of the best other arm in each particle."""
    K, P = beliefs.means.shape
    for p in range(P):
        beliefs.short[p] = -np.inf
    for b in range(K):
        if b != arm:
            for p in range(P):
                beliefs.short[p] = max(beliefs.short[p], beliefs.means[b, p] + beliefs.offered[b])
    for p in range(P):
        beliefs.short[p] -= beliefs.means[arm, p] + beliefs.offered[arm]


@compiled
def weigh(memory: Floats, beliefs: Beliefs, arm: int) -> None:
    """Steps 1 to 3, and what the answer says of c0 and of an agent that knows its means."""
    K, P = beliefs.means.shape
    key, expected = round_key(memory), 0.0
    for p in range(P):
        expected += beliefs.weights[p] if beliefs.short[p] <= TIE else 0.0
        beliefs.order[p] = 1.0
    expected = min(1.0, expected)
    explored = 0.0  # p_t, on average over c0
    for c in range(LEVELS):
        explored += beliefs.c0[c] * exploration_probability(C0[c], 0.5, memory[ParticleEntry.TIME])
    total = 0.0
    for c in range(LEVELS):
        p_t = exploration_probability(C0[c], 0.5, memory[ParticleEntry.TIME])
        other = p_t / (K - 1.0) + (1.0 - p_t) * memory[ParticleEntry.SURPRISE] / K
        beliefs.c0[c] *= (1.0 - p_t) * expected + other * (1.0 - expected)
        total += beliefs.c0[c]
    for c in range(LEVELS):
        beliefs.c0[c] /= total
    if (1.0 - explored) * expected >= explored / (K - 1.0) * (1.0 - expected):  # it probably did not explore
        for b in range(K):
            beliefs.ahead[arm, b] = max(beliefs.ahead[arm, b], beliefs.offered[b] - beliefs.offered[arm])
    if expected > 1.0 - TIE:
        return
    wrong = (1.0 - explored) * memory[ParticleEntry.SURPRISE] / K
    other = explored / (K - 1.0) + wrong
    total = squares = 0.0
    for p in range(P):
        beliefs.weights[p] *= 1.0 - explored if beliefs.short[p] <= TIE else other
        total += beliefs.weights[p]
        squares += beliefs.weights[p] * beliefs.weights[p]
    for p in range(P):
        beliefs.weights[p] /= total
    if squares * P > 2.0 * total * total:
        resample(beliefs, number(key, beliefs, Draw.RESAMPLE, 0))
    for p in range(P):
        if beliefs.short[p] > TIE and number(key, beliefs, Draw.WRONG, p) * other < wrong:
            correct(key, beliefs, arm, p)


@compiled
def resample(beliefs: Beliefs, start: float) -> None:
    """As many copies of each particle as its weight says, up to rounding; ``order`` becomes 0 where a copy stands."""
    K, P = beliefs.means.shape
    passed, taken = 0.0, 0
    for p in range(P):
        passed += beliefs.weights[p] * P
        before = taken
        while taken < P and (start + taken < passed or p == P - 1):
            taken += 1
        beliefs.order[p] = taken - before
    source = 0
    for p in range(P):
        beliefs.weights[p] = 1.0 / P
        if beliefs.order[p] == 0.0:
            while beliefs.order[source] < 2.0:
                source += 1
            beliefs.order[source] -= 1.0
            beliefs.knows[p], beliefs.short[p] = beliefs.knows[source], beliefs.short[source]
            for b in range(K):
                beliefs.means[b, p] = beliefs.means[b, source]
                beliefs.low[b, p], beliefs.high[b, p] = beliefs.low[b, source], beliefs.high[b, source]


@compiled
def correct(key: np.uint64, beliefs: Beliefs, arm: int, p: int) -> None:
    """Change particle ``p`` in one arm so that ``arm`` wins, if that is possible: step 3."""
    expected = 0 if arm != 0 else 1
    for b in range(beliefs.means.shape[0]):
        if (
            b != arm
            and beliefs.means[b, p] + beliefs.offered[b] > beliefs.means[expected, p] + beliefs.offered[expected]
        ):
            expected = b
    beyond = number(key, beliefs, Draw.WRONG_BY, p) ** 4.0
    least, most = beliefs.means[arm, p] + beliefs.short[p], beliefs.means[expected, p] - beliefs.short[p]
    if number(key, beliefs, Draw.WRONG_ARM, p) < 0.5:
        if least < 1.0:
            beliefs.means[arm, p] = least + (1.0 - least) * beyond
            beliefs.short[p] = 0.0
    elif most > 0.0:
        beliefs.means[expected, p] = most * (1.0 - beyond)
        beliefs.low[expected, p], beliefs.high[expected, p] = 0.0, 1.0
        beliefs.short[p] = 0.0


@compiled
def set_bounds(beliefs: Beliefs, arm: int, n: int) -> None:
    """Set the bounds of each arm by the answer, in particles that expected it; ``arm`` had ``n`` plays before.

    Idle arms lost, so muhat_b <= muhat_A + pi_A - pi_b. The arm played won, and will keep n / (n + 1) of its mean.
    """
    K, P = beliefs.means.shape
    for p in range(P):
        rival = beliefs.means[arm, p] + beliefs.short[p]
        beliefs.low[arm, p] = max(0.0, rival) * n / (n + 1.0) if beliefs.short[p] <= TIE else 0.0
        beliefs.high[arm, p] = 1.0
    for b in range(K):
        if b != arm:
            for p in range(P):
                most = beliefs.means[arm, p] + beliefs.offered[arm] - beliefs.offered[b]
                beliefs.high[b, p] = min(beliefs.high[b, p], most if beliefs.short[p] <= TIE else 1.0)


@compiled
def move(memory: Floats, beliefs: Beliefs, plays: Integers, arm: int) -> None:
    """Step 4."""
    K, P = beliefs.means.shape
    turn, t, key = np.int64(memory[ParticleEntry.TURN]), np.int64(memory[ParticleEntry.TIME]), round_key(memory)
    if turn == 0:
        return
    for p in range(P):
        if beliefs.order[p] > 0.0 and (p + t) % turn != 0:
            continue
        b, u = int(number(key, beliefs, Draw.MOVED_ARM, p) * K), number(key, beliefs, Draw.MOVED_TO, p)
        if beliefs.knows[p] == 1.0:
            low, high = 0.0, 1.0
            for a in range(K):
                if a != b:
                    low = max(low, beliefs.means[a, p] + beliefs.ahead[b, a])
                    high = min(high, beliefs.means[a, p] - beliefs.ahead[a, b])
            if low < high:
                beliefs.means[b, p] = low + (high - low) * u
        elif b != arm and plays[b] > 0:
            far = (u - 0.5) * math.sqrt(plays[b])
            successes = math.floor(far) if far < 0.0 else math.ceil(far)
            mean = beliefs.means[b, p] + successes / plays[b]
            if beliefs.low[b, p] - TIE <= mean <= beliefs.high[b, p] + TIE:
                beliefs.means[b, p] = mean


@compiled
def learn(memory: Floats, beliefs: Beliefs, arm: int, n: int) -> None:
    """Draw the unseen reward of ``arm``, played ``n`` times before, in every learner: step 5."""
    key = round_key(memory)
    for p in range(beliefs.weights.size):
        successes = n * beliefs.means[arm, p]
        reward = 1.0 if number(key, beliefs, Draw.REWARD, p) * (n + 2.0) < successes + 1.0 else 0.0
        beliefs.means[arm, p] = beliefs.means[arm, p] if beliefs.knows[p] == 1.0 else (successes + reward) / (n + 1.0)


@compiled
def favourites(beliefs: Beliefs) -> None:
    """The arm that each particle plays without incentives, its mean, and the second highest mean."""
    K, P = beliefs.means.shape
    for p in range(P):
        beliefs.highest[p], beliefs.second[p], beliefs.favourite[p] = beliefs.means[0, p], -np.inf, 0.0
    for b in range(1, K):
        for p in range(P):
            mean, highest = beliefs.means[b, p], beliefs.highest[p]
            beliefs.second[p] = max(beliefs.second[p], min(mean, highest))
            beliefs.favourite[p] = b if mean > highest else beliefs.favourite[p]
            beliefs.highest[p] = max(mean, highest)


@inlined
def cost(beliefs: Beliefs, a: int, p: int) -> float:
    """The incentive for particle ``p`` to play arm ``a``, a little above pi*_a; 0 if it prefers the arm anyway."""
    rival = beliefs.second[p] if beliefs.favourite[p] == a else beliefs.highest[p]
    price: float = max(0.0, rival - beliefs.means[a, p] + MARGIN)
    return price
