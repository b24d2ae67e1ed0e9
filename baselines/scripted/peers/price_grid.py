"""Prices on a grid, chosen by Tsallis-INF, against smooth agents that arrive in adversarial order."""

import functools
import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from baselines.principal import Principal, Rounds, follow
from pa_env.checks import at_least
from pa_env.kernel.compiling import inlined
from pa_env.kernel.draws import U64, uniform
from pa_env.kernel.layout import NO_ARM
from pa_env.rules import compile_rule


class Entry(IntEnum):
    """Indices in the memory of the rule's numbers; after them come the estimated losses of the actions."""

    ROUND = 0  # rounds already played
    KEY_HIGH = 1  # the upper and the lower 32 bits of the key of the random numbers
    KEY_LOW = 2
    WIDTH = 3  # of the grid
    NORMALISER = 4  # x
    ACTION = 5  # of the last round
    PROBABILITY = 6  # with which it was played


LOSSES = len(Entry)  # where they begin


class PriceGrid(Principal):
    """Offer one arm a price from a grid, or nothing. An adversarial bandit algorithm chooses among these actions.

    Source: Liu, Maiti, Tajdini, Jamieson & Ratliff, "Learning to Incentivize in Repeated Principal-Agent Problems with
    Adversarial Agent Arrivals" (ICML 2025, arXiv 2505.23124), for agents whose choice law is L-Lipschitz:
    ``sum_i |P(i | pi) - P(i | pi')| <= L |pi - pi'|_inf``. From its abstract and public summaries come the setting, the
    reduction to single-arm prices on a grid of width N^(1/3) (2L+1)^(-2/3) T^(-1/3) for N arms, Tsallis-INF as the
    bandit, and the bound. The rest is our choice, since the full text was not available: prices up to 1, one action
    that offers nothing, and losses (1 - (X - pi_A)) / 2.

    The bandit is Tsallis-INF with alpha = 1/2 (Zimmert & Seldin, JMLR 2021): in round t, with the rate
    eta = 2 / sqrt(t), action i is played with probability w_i = 4 / (eta (Lhat_i - x))^2. x makes these sum to 1, and
    is found by Newton's method. The loss of the action played, divided by its probability, is added to Lhat_i.

    Guarantee, the paper's: regret O~((L N)^(1/3) T^(2/3)) against the best fixed single-arm price in hindsight
    (``regret_fixed``). A logit agent has L = 1 / temperature. ``pa-bench reproduce types`` shows the growth.

    Where it fails: against greedy types, whose responses are not Lipschitz. There no principal has sublinear regret
    without knowing the types.

    Args:
        n_arms: Number of arms N, at least 1.
        horizon: Number of rounds T, at least 2.
        lipschitz: L, at least 0; 10 suits a logit agent with temperature 0.1.

    """

    name = "price-grid"
    longest = 10**4

    def __init__(self, n_arms: int, horizon: int, lipschitz: float = 10.0) -> None:
        super().__init__(n_arms, horizon)
        self.lipschitz = at_least("lipschitz", lipschitz, 0.0)

    @property
    def width(self) -> float:
        """The distance between two neighbouring prices."""
        return min(1.0, math.cbrt(self.n_arms / (2.0 * self.lipschitz + 1.0) ** 2 / self.horizon))

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        levels = math.ceil(1.0 / self.width)
        memory = np.zeros(LOSSES + 1 + self.n_arms * levels)
        memory[Entry.KEY_HIGH], memory[Entry.KEY_LOW] = self.rng.integers(2**32, size=2)
        memory[Entry.WIDTH], memory[Entry.NORMALISER] = self.width, -np.inf
        yield follow(price_grid_rule(), memory, self.horizon)


@inlined
def normalise(memory: Any, rate: float) -> None:
    """Find x such that the probabilities sum to 1.

    Their sum is convex and increases in x, so Newton's method falls to the root from any x with a sum above 1: the last
    round's x, or the one that gives the action with the lowest loss probability 1.
    """
    lowest = np.inf
    for k in range(LOSSES, memory.size):
        lowest = min(lowest, memory[k])
    x = memory[Entry.NORMALISER]
    fresh = not x < lowest
    if fresh or not np.isfinite(x):
        x, fresh = lowest - 2.0 / rate, True
    for _ in range(100):
        total = slope = 0.0
        for k in range(LOSSES, memory.size):
            root = 2.0 / (rate * (memory[k] - x))
            total += root * root
            slope += root * root * root
        if total < 1.0 and not fresh:
            x, fresh = lowest - 2.0 / rate, True
            continue
        step = (total - 1.0) / (rate * slope)
        x -= step
        if step <= 1e-12 * (lowest - x):
            break
    memory[Entry.NORMALISER] = x


@functools.cache
def price_grid_rule() -> Callable[..., int]:
    """The compiled rule."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        t, first, n_actions = memory[Entry.ROUND] + 1.0, LOSSES, memory.size - LOSSES
        levels = (n_actions - 1) // offer.size
        if arm >= 0:
            last = int(memory[Entry.ACTION])
            price = 0.0
            if last > 0 and (last - 1) // levels == arm:
                price = min(1.0, ((last - 1) % levels + 1) * memory[Entry.WIDTH])
            memory[first + last] += 0.5 * (1.0 - reward + price) / memory[Entry.PROBABILITY]
        rate = 2.0 / math.sqrt(t)
        normalise(memory, rate)
        key = (U64(memory[Entry.KEY_HIGH]) << U64(32)) | U64(memory[Entry.KEY_LOW])
        left, action, probability = uniform(key, int(t)), 0, 1.0
        for k in range(n_actions):
            root = 2.0 / (rate * (memory[first + k] - memory[Entry.NORMALISER]))
            action, probability = k, root * root
            left -= probability
            if left < 0.0:
                break
        memory[Entry.ROUND], memory[Entry.ACTION], memory[Entry.PROBABILITY] = t, action, probability
        target = NO_ARM
        for a in range(offer.size):
            offer[a] = 0.0
        if action > 0:
            target = (action - 1) // levels
            offer[target] = min(1.0, ((action - 1) % levels + 1) * memory[Entry.WIDTH])
        return target

    return compile_rule(rule, trusted=True)
