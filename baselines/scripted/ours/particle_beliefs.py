"""Beliefs about the agent as particles: each one is an agent that would have given the answers seen so far.

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

One memory vector holds everything (:mod:`baselines.scripted.ours.particle_memory`). All draws follow from
``Entry.KEY`` and the round.
"""

import math
from typing import Any

import numpy as np

from baselines.scripted.ours.particle_memory import C0, LEVELS, Beliefs, Draw, Entry
from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import draw, uniform
from pa_env.kernel.exploration import exploration_probability

TIE = 1e-9  # means that differ by less are equal
MARGIN = 1e-7  # paid above what makes two arms equal


@inlined
def round_key(memory: Any) -> Any:
    """The key of this round's draws."""
    return draw(np.uint64(memory[Entry.KEY]), np.int64(memory[Entry.TIME]))


@inlined
def number(key: Any, own: Beliefs, which: int, p: int) -> float:
    """A number of particle ``p`` in the round of this key, uniform in [0, 1)."""
    return uniform(key, which * own.weights.size + p + 1)


@compiled
def update(memory: Any, own: Beliefs, plays: Any, arm: int) -> None:
    """Take in the answer ``arm`` to the last offer; ``plays`` (K,) counts it already. Steps 1 to 5."""
    if own.means.shape[0] > 1:
        compare(own, arm)
        weigh(memory, own, arm)
        set_bounds(own, arm, plays[arm] - 1)
        move(memory, own, plays, arm)
    learn(memory, own, arm, plays[arm] - 1)


@compiled
def compare(own: Beliefs, arm: int) -> None:
    """By how much ``arm`` fell short of the best other arm in each particle, into ``short``."""
    K, P = own.means.shape
    for p in range(P):
        own.short[p] = -np.inf
    for b in range(K):
        if b != arm:
            for p in range(P):
                own.short[p] = max(own.short[p], own.means[b, p] + own.offered[b])
    for p in range(P):
        own.short[p] -= own.means[arm, p] + own.offered[arm]


@compiled
def weigh(memory: Any, own: Beliefs, arm: int) -> None:
    """Steps 1 to 3, and what the answer says of c0 and of an agent that knows its means."""
    K, P = own.means.shape
    key, expected = round_key(memory), 0.0
    for p in range(P):
        expected += own.weights[p] if own.short[p] <= TIE else 0.0
        own.order[p] = 1.0
    expected = min(1.0, expected)
    explored = 0.0  # p_t, on average over c0
    for c in range(LEVELS):
        explored += own.c0[c] * exploration_probability(C0[c], 0.5, memory[Entry.TIME])
    total = 0.0
    for c in range(LEVELS):
        p_t = exploration_probability(C0[c], 0.5, memory[Entry.TIME])
        other = p_t / (K - 1.0) + (1.0 - p_t) * memory[Entry.SURPRISE] / K
        own.c0[c] *= (1.0 - p_t) * expected + other * (1.0 - expected)
        total += own.c0[c]
    for c in range(LEVELS):
        own.c0[c] /= total
    if (1.0 - explored) * expected >= explored / (K - 1.0) * (1.0 - expected):  # it probably did not explore
        for b in range(K):
            own.ahead[arm, b] = max(own.ahead[arm, b], own.offered[b] - own.offered[arm])
    if expected > 1.0 - TIE:
        return
    wrong = (1.0 - explored) * memory[Entry.SURPRISE] / K
    other = explored / (K - 1.0) + wrong
    total = squares = 0.0
    for p in range(P):
        own.weights[p] *= 1.0 - explored if own.short[p] <= TIE else other
        total += own.weights[p]
        squares += own.weights[p] * own.weights[p]
    for p in range(P):
        own.weights[p] /= total
    if squares * P > 2.0 * total * total:
        resample(own, number(key, own, Draw.RESAMPLE, 0))
    for p in range(P):
        if own.short[p] > TIE and number(key, own, Draw.WRONG, p) * other < wrong:
            correct(key, own, arm, p)


@compiled
def resample(own: Beliefs, start: float) -> None:
    """As many copies of each particle as its weight says, up to rounding; ``order`` becomes 0 where a copy stands."""
    K, P = own.means.shape
    passed, taken = 0.0, 0
    for p in range(P):
        passed += own.weights[p] * P
        before = taken
        while taken < P and (start + taken < passed or p == P - 1):
            taken += 1
        own.order[p] = taken - before
    source = 0
    for p in range(P):
        own.weights[p] = 1.0 / P
        if own.order[p] == 0.0:
            while own.order[source] < 2.0:
                source += 1
            own.order[source] -= 1.0
            own.knows[p], own.short[p] = own.knows[source], own.short[source]
            for b in range(K):
                own.means[b, p] = own.means[b, source]
                own.low[b, p], own.high[b, p] = own.low[b, source], own.high[b, source]


@compiled
def correct(key: Any, own: Beliefs, arm: int, p: int) -> None:
    """Change particle ``p`` in one arm so that ``arm`` wins, if that is possible: step 3."""
    expected = 0 if arm != 0 else 1
    for b in range(own.means.shape[0]):
        if b != arm and own.means[b, p] + own.offered[b] > own.means[expected, p] + own.offered[expected]:
            expected = b
    beyond = number(key, own, Draw.WRONG_BY, p) ** 4.0
    least, most = own.means[arm, p] + own.short[p], own.means[expected, p] - own.short[p]
    if number(key, own, Draw.WRONG_ARM, p) < 0.5:
        if least < 1.0:
            own.means[arm, p] = least + (1.0 - least) * beyond
            own.short[p] = 0.0
    elif most > 0.0:
        own.means[expected, p] = most * (1.0 - beyond)
        own.low[expected, p], own.high[expected, p] = 0.0, 1.0
        own.short[p] = 0.0


@compiled
def set_bounds(own: Beliefs, arm: int, n: int) -> None:
    """What the answer says of each arm in particles that expected it; ``arm`` had ``n`` plays before.

    Idle arms lost, so muhat_b <= muhat_A + pi_A - pi_b. The arm played won, and will keep n / (n + 1) of its mean.
    """
    K, P = own.means.shape
    for p in range(P):
        rival = own.means[arm, p] + own.short[p]
        own.low[arm, p] = max(0.0, rival) * n / (n + 1.0) if own.short[p] <= TIE else 0.0
        own.high[arm, p] = 1.0
    for b in range(K):
        if b != arm:
            for p in range(P):
                most = own.means[arm, p] + own.offered[arm] - own.offered[b]
                own.high[b, p] = min(own.high[b, p], most if own.short[p] <= TIE else 1.0)


@compiled
def move(memory: Any, own: Beliefs, plays: Any, arm: int) -> None:
    """Step 4."""
    K, P = own.means.shape
    turn, t, key = np.int64(memory[Entry.TURN]), np.int64(memory[Entry.TIME]), round_key(memory)
    if turn == 0:
        return
    for p in range(P):
        if own.order[p] > 0.0 and (p + t) % turn != 0:
            continue
        b, u = int(number(key, own, Draw.MOVED_ARM, p) * K), number(key, own, Draw.MOVED_TO, p)
        if own.knows[p] == 1.0:
            low, high = 0.0, 1.0
            for a in range(K):
                if a != b:
                    low = max(low, own.means[a, p] + own.ahead[b, a])
                    high = min(high, own.means[a, p] - own.ahead[a, b])
            if low < high:
                own.means[b, p] = low + (high - low) * u
        elif b != arm and plays[b] > 0:
            far = (u - 0.5) * math.sqrt(plays[b])
            successes = math.floor(far) if far < 0.0 else math.ceil(far)
            mean = own.means[b, p] + successes / plays[b]
            if own.low[b, p] - TIE <= mean <= own.high[b, p] + TIE:
                own.means[b, p] = mean


@compiled
def learn(memory: Any, own: Beliefs, arm: int, n: int) -> None:
    """Draw the unseen reward of ``arm``, played ``n`` times before, in every learner: step 5."""
    key = round_key(memory)
    for p in range(own.weights.size):
        successes = n * own.means[arm, p]
        reward = 1.0 if number(key, own, Draw.REWARD, p) * (n + 2.0) < successes + 1.0 else 0.0
        own.means[arm, p] = own.means[arm, p] if own.knows[p] == 1.0 else (successes + reward) / (n + 1.0)


@compiled
def favourites(own: Beliefs) -> None:
    """The arm that each particle plays without incentives, its mean, and the second highest mean."""
    K, P = own.means.shape
    for p in range(P):
        own.highest[p], own.second[p], own.favourite[p] = own.means[0, p], -np.inf, 0.0
    for b in range(1, K):
        for p in range(P):
            mean, highest = own.means[b, p], own.highest[p]
            own.second[p] = max(own.second[p], min(mean, highest))
            own.favourite[p] = b if mean > highest else own.favourite[p]
            own.highest[p] = max(mean, highest)


@inlined
def cost(own: Beliefs, a: int, p: int) -> Any:
    """What particle ``p`` must be paid to play arm ``a``, a little above pi*_a; 0 if it prefers the arm anyway."""
    rival = own.second[p] if own.favourite[p] == a else own.highest[p]
    return max(0.0, rival - own.means[a, p] + MARGIN)
