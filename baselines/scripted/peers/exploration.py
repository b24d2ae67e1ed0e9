"""What the compiled rules of the two epsilon-greedy principals share: random offers, and the price of the best arm."""

import math
from enum import IntEnum
from typing import Any

import numpy as np

from pa_env.kernel.compiling import inlined
from pa_env.kernel.draws import U64, uniform
from pa_env.kernel.layout import Floats


class Entry(IntEnum):
    """Indices in the memory of the numbers that both rules remember; a rule's own come after them."""

    ROUND = 0  # rounds already played
    KEY_HIGH = 1  # the upper and the lower 32 bits of the key of the random numbers
    KEY_LOW = 2
    M = 3  # the parameter m
    EXPLORING = 4  # 1 if the last offer was random
    EXPLORED = 5  # explorations so far, eta
    MARGIN = 6  # what is added to a price


def write_key(memory: Floats, rng: np.random.Generator) -> None:
    """Draw the key of an episode's random numbers."""
    memory[Entry.KEY_HIGH], memory[Entry.KEY_LOW] = rng.integers(2**32, size=2)


@inlined
def copy(source: Any, target: Any) -> None:
    """Copy a vector's entries; Numba's own assignment would allocate memory, which these rules must not."""
    for a in range(target.size):
        target[a] = source[a]


@inlined
def random_number(memory: Any, n_arms: int, which: int) -> float:
    """One of the n_arms + 1 numbers, uniform in [0, 1), that belong to the next round."""
    key = (U64(memory[Entry.KEY_HIGH]) << U64(32)) | U64(memory[Entry.KEY_LOW])
    return uniform(key, int(memory[Entry.ROUND]) * (n_arms + 1) + which + 1)


@inlined
def explores(memory: Any, n_arms: int, probability: float) -> bool:
    """Whether the next round explores."""
    return random_number(memory, n_arms, n_arms) < probability


@inlined
def offer_one(arm: int, offer: Any) -> int:
    """The warm-up: 1 on an arm, which is returned."""
    for a in range(offer.size):
        offer[a] = 0.0
    offer[arm] = 1.0
    return arm


@inlined
def offer_at_random(memory: Any, offer: Any) -> None:
    """An exploration: pi ~ U[0, 1]^K."""
    for a in range(offer.size):
        offer[a] = random_number(memory, offer.size, a)


@inlined
def offer_price(plays: Any, credits: Any, s_hat: Any, margin: float, offer: Any) -> int:
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
