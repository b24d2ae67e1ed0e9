"""Epsilon-greedy that learns the agent's means from its choices (Dogan, Shen & Aswani, arXiv 2304.07407).

Source: "Repeated Principal-Agent Games with Unobserved Agent Rewards and Perfect-Knowledge Agents", in the form in
which the authors of IPA (Scheid et al., ICML 2024, arXiv 2403.03811) coded it for their comparison. The functions
for random offers and prices, at the end, serve the robust stand-in too.
"""

import math
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.peers.revealed_preferences import smallest_means, tighten
from pa_env.checks import at_least, known
from pa_env.kernel.compiling import inlined
from pa_env.kernel.draws import uniform
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import N_ARMS, Layout, PerArm, compiled_when_used
from pa_env.rules import read_key, write_key


class EpsilonGreedy(Principal):
    """Explore with random offers, infer the agent's means s from its choices, and pay the best arm its price.

    1. Offer 1 on each arm once.
    2. Then explore with probability min(1, m/t), t being the number of rounds already played: offer pi ~ U[0, 1]^K. The
       arm A played shows that s_a - s_A <= pi_A - pi_a for every a; B[a, A] keeps the smallest such bound.
    3. Otherwise exploit: s_hat is a point of [0, 1]^K with s_a - s_k <= B[a, k] for all a and k, and
       k = argmax theta_hat + s_hat is offered max s_hat - s_hat_k + 2 beta. After eta explorations,
       beta = sqrt(log(max(eta - 1, 1)) / max(1, eta - 1)).

    The point: their code takes the one that the solver HiGHS returns for a linear program without an objective. Ours
    takes the smallest, which is smallest in every component at once.

    Guarantee: the policy of the paper has regret O(max{K, sqrt(log T)} sqrt(T)) against the oracle agent. We know of
    none for this form.

    Where it fails: two properties of that code, kept by the variant "as-published", raise its regret. theta_hat is the
    mean of X minus what was paid, so the price counts twice; and B learns from explorations only, so a refused offer is
    repeated. Answers of a learning agent may contradict each other; s_hat then stays as it was, for good, since bounds
    are never loosened.

    Their code also keeps B from one run to the next, and updates it in step 1, where an accepted 1 says nothing about
    means in [0, 1]. Here every episode starts without bounds, and only "every-round" learns from step 1.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        m: Amount of exploration, at least 0. Default: T/20 (500 of 10,000 rounds with 5 arms in the comparison).
        variant: "as-published"; "gross", where theta_hat is the mean of X; or "every-round", which is "gross" with B
            updated after every round.
    """

    name = "epsilon-greedy"

    def __init__(self, n_arms: int, horizon: int, m: float | None = None, variant: str = "as-published") -> None:
        known("variant", variant, ("as-published", "gross", "every-round"))
        super().__init__(n_arms, horizon)
        self.m = self.horizon / 20 if m is None else at_least("m", m, 0.0)
        self.variant = variant

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        charged, every_round = self.variant == "as-published", self.variant == "every-round"
        memory = LAYOUT.zeros(self.n_arms, m=self.m, charged=charged, every_round=every_round)
        LAYOUT.arrays(memory, self.n_arms).limits[:] = np.inf
        write_key(memory, GreedyEntry.KEY, episode_key(self.rng))
        yield follow(epsilon_greedy_rule(), memory, self.horizon)


class GreedyEntry(IntEnum):
    """Indices of the numbers in the rule's memory."""

    ROUND = 0  # rounds already played
    KEY = 1  # of the random numbers, its upper and its lower 32 bits
    KEY_LOW = 2
    M = 3  # the parameter m
    EXPLORING = 4  # 1 if the last offer was random
    EXPLORED = 5  # explorations so far, eta
    MARGIN = 6  # what is added to a price, 2 beta
    CHARGED = 7  # 1 if what is paid for an arm is subtracted from its rewards
    EVERY_ROUND = 8  # 1 if bounds are learnt from every round, not from explorations alone
    CHANGED = 9  # 1 if a bound has changed since s_hat was estimated
    CONTRADICTED = 10  # 1 once no point is within the bounds


class GreedyArrays(NamedTuple):
    """The arrays in the rule's memory."""

    s_hat: PerArm
    trial: PerArm  # room for the next s_hat
    credits: PerArm  # rewards X of each arm, minus what was paid if that is charged
    offered: PerArm  # the last offer
    limits: Annotated[Floats, N_ARMS, N_ARMS]  # [k, a] is the paper's B[a, k]


LAYOUT = Layout(GreedyEntry, GreedyArrays)
greedy_arrays = LAYOUT.compiled


@compiled_when_used
def epsilon_greedy_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule."""
    n_arms, t, state = offer.size, memory[GreedyEntry.ROUND], greedy_arrays(memory, offer.size)
    if arm >= 0:
        state.credits[arm] += reward - memory[GreedyEntry.CHARGED] * state.offered[arm]
        learns = memory[GreedyEntry.EXPLORING] == 1.0 or memory[GreedyEntry.EVERY_ROUND] == 1.0
        if learns and tighten(state.limits, state.offered, arm):
            memory[GreedyEntry.CHANGED] = 1.0
    target, exploring, key = NO_ARM, False, read_key(memory, GreedyEntry.KEY)
    if t < n_arms:
        target = offer_one(int(t), offer)
    elif explores(key, t, n_arms, memory[GreedyEntry.M] / t):
        exploring = True
        offer_at_random(key, t, offer)
        memory[GreedyEntry.EXPLORED] += 1.0
        memory[GreedyEntry.MARGIN] = 2.0 * padding(memory[GreedyEntry.EXPLORED] - 1.0)
    else:
        estimate(memory, state)
        target = offer_price(plays, state.credits, state.s_hat, memory[GreedyEntry.MARGIN], offer)
    copy(offer, state.offered)
    memory[GreedyEntry.EXPLORING] = exploring
    memory[GreedyEntry.ROUND] = t + 1.0
    return target


@inlined
def estimate(memory: Floats, state: GreedyArrays) -> None:
    """Estimate s_hat again, if bounds have changed; if no point is within them it stays as it was."""
    if memory[GreedyEntry.CHANGED] == 1.0 and memory[GreedyEntry.CONTRADICTED] == 0.0:
        if smallest_means(state.limits, state.trial):
            copy(state.trial, state.s_hat)
        else:
            memory[GreedyEntry.CONTRADICTED] = 1.0  # for good: bounds are never loosened
    memory[GreedyEntry.CHANGED] = 0.0


def episode_key(rng: np.random.Generator) -> int:
    """Draw the 64-bit key of an episode's random numbers."""
    high, low = rng.integers(2**32, size=2).tolist()
    return int((high << 32) | low)


@inlined
def copy(source: Floats, target: Floats) -> None:
    """Copy a vector's entries; Numba's own assignment would allocate memory, which these rules must not."""
    for a in range(target.size):
        target[a] = source[a]


@inlined
def random_number(key: np.uint64, t: float, n_arms: int, which: int) -> float:
    """One of the n_arms + 1 numbers, uniform in [0, 1), that belong to the round after t rounds."""
    return uniform(key, int(t) * (n_arms + 1) + which + 1)


@inlined
def explores(key: np.uint64, t: float, n_arms: int, probability: float) -> bool:
    """Draw whether the round after t rounds explores."""
    return random_number(key, t, n_arms, n_arms) < probability


@inlined
def offer_one(arm: int, offer: Floats) -> int:
    """The warm-up: 1 on an arm, which is returned."""
    for a in range(offer.size):
        offer[a] = 0.0
    offer[arm] = 1.0
    return arm


@inlined
def offer_at_random(key: np.uint64, t: float, offer: Floats) -> None:
    """An exploration: pi ~ U[0, 1]^K."""
    for a in range(offer.size):
        offer[a] = random_number(key, t, offer.size, a)


@inlined
def offer_price(plays: Integers, credits: Floats, s_hat: Floats, margin: float, offer: Floats) -> int:
    """Offer k = argmax theta_hat + s_hat its price, max s_hat - s_hat_k + margin, and return k.

    Args:
        plays: Plays of each arm.
        credits: Their sums of rewards; theta_hat is the quotient, 0 for an arm never played.
        s_hat: Estimates of the agent's means.
        margin: What is added to the price.
        offer: Output: the incentives.
    """
    k, best, highest = 0, -np.inf, s_hat[0]
    for a in range(offer.size):
        offer[a] = 0.0
        index = credits[a] / max(plays[a], 1) + s_hat[a]
        if index > best:
            k, best = a, index
        highest = max(highest, s_hat[a])
    offer[k] = highest - s_hat[k] + margin
    return k


@inlined
def padding(explorations: float) -> float:
    """Half of what is added to a price after eta explorations: sqrt(log eta / eta), 0 for eta < 1."""
    eta = max(1.0, explorations)
    return math.sqrt(math.log(eta) / eta)
