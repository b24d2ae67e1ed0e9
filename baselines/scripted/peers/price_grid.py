"""Prices on a grid, chosen by Tsallis-INF, against smooth agents that arrive in adversarial order."""

import math
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.peers.epsilon_greedy import episode_key
from pa_env.checks import at_least
from pa_env.kernel.compiling import inlined
from pa_env.kernel.draws import uniform
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import Layout, compiled_when_used
from pa_env.rules import read_key, write_key


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

    Where it fails: against greedy types, whose responses are not Lipschitz. There the paper has a lower
    bound of order T for principals that do not know the types.

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
        actions = 1 + self.n_arms * math.ceil(1.0 / self.width)
        memory = LAYOUT.zeros(self.n_arms, actions=actions, width=self.width, normaliser=-np.inf)
        write_key(memory, GridEntry.KEY, episode_key(self.rng))
        yield follow(price_grid_rule(), memory, self.horizon)


class GridEntry(IntEnum):
    """Indices of the numbers in the rule's memory."""

    ROUND = 0  # rounds already played
    KEY = 1  # of the random numbers, its upper and its lower 32 bits
    KEY_LOW = 2
    ACTIONS = 3  # how many there are: nothing, then the prices of each arm
    WIDTH = 4  # of the grid
    NORMALISER = 5  # x
    ACTION = 6  # of the last round
    PROBABILITY = 7  # with which it was played


class GridArrays(NamedTuple):
    """The arrays in the rule's memory."""

    losses: Annotated[Floats, GridEntry.ACTIONS]  # Lhat


LAYOUT = Layout(GridEntry, GridArrays)
grid_arrays = LAYOUT.compiled


@inlined
def normalise(memory: Floats, losses: Floats, rate: float) -> None:
    """Find x such that the probabilities sum to 1.

    Their sum is convex and increases in x, so Newton's method falls to the root from any x with a sum above 1: the last
    round's x, or the one that gives the action with the lowest loss probability 1.
    """
    lowest = np.inf
    for k in range(losses.size):
        lowest = min(lowest, losses[k])
    x = memory[GridEntry.NORMALISER]
    fresh = not x < lowest
    if fresh or not np.isfinite(x):
        x, fresh = lowest - 2.0 / rate, True
    for _ in range(100):
        total = slope = 0.0
        for k in range(losses.size):
            root = 2.0 / (rate * (losses[k] - x))
            total += root * root
            slope += root * root * root
        if total < 1.0 and not fresh:
            x, fresh = lowest - 2.0 / rate, True
            continue
        step = (total - 1.0) / (rate * slope)
        x -= step
        if step <= 1e-12 * (lowest - x):
            break
    memory[GridEntry.NORMALISER] = x


@compiled_when_used
def price_grid_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule."""
    t, losses = memory[GridEntry.ROUND] + 1.0, grid_arrays(memory, offer.size).losses
    levels = (losses.size - 1) // offer.size
    if arm >= 0:
        last = int(memory[GridEntry.ACTION])
        price = 0.0
        if last > 0 and (last - 1) // levels == arm:
            price = min(1.0, ((last - 1) % levels + 1) * memory[GridEntry.WIDTH])
        losses[last] += 0.5 * (1.0 - reward + price) / memory[GridEntry.PROBABILITY]
    rate = 2.0 / math.sqrt(t)
    normalise(memory, losses, rate)
    left, action, probability = uniform(read_key(memory, GridEntry.KEY), int(t)), 0, 1.0
    for k in range(losses.size):
        root = 2.0 / (rate * (losses[k] - memory[GridEntry.NORMALISER]))
        action, probability = k, root * root
        left -= probability
        if left < 0.0:
            break
    memory[GridEntry.ROUND], memory[GridEntry.ACTION], memory[GridEntry.PROBABILITY] = t, action, probability
    target = NO_ARM
    for a in range(offer.size):
        offer[a] = 0.0
    if action > 0:
        target = (action - 1) // levels
        offer[target] = min(1.0, ((action - 1) % levels + 1) * memory[GridEntry.WIDTH])
    return target
