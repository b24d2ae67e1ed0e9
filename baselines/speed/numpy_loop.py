"""The yardstick of simulations: one principal written three times, which makes a new offer every round.

It is UCB on its own rewards, and pays the arm it picks 1 + 1/T: as a plain NumPy loop, such as one copies from a
notebook; as a coroutine for :func:`baselines.simulate`; and as a compiled rule. All of them score the game: three
regrets, utility, plays.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.principal import Principal, Rounds, follow, hold
from pa_env.rules import compile_rule


def play(n_arms: int, horizon: int, seed: int = 0) -> dict[str, float]:
    """The plain loop, against the empirical-mean agent with Bernoulli rewards."""
    rng = np.random.default_rng(seed)
    theta, mu = rng.random(n_arms), rng.random(n_arms)
    benchmark = (theta - (mu.max() - mu)).max()
    plays, rewards, agent_rewards = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    total = {"utility": 0.0, "regret": 0.0, "regret_oracle": 0.0, "regret_bar": 0.0}
    for _ in range(horizon):
        counts = np.maximum(plays, 1)
        target = np.argmax(rewards / counts + np.sqrt(2 * np.log(horizon) / counts))
        incentives = np.zeros(n_arms)
        incentives[target] = 1 + 1 / horizon
        means = agent_rewards / counts
        arm = np.argmax(means + incentives)
        x, r = float(rng.random() < theta[arm]), float(rng.random() < mu[arm])
        expected = theta[arm] - incentives[arm]
        total["utility"] += x - incentives[arm]
        optimal = means.max() - means
        total["regret"] += (theta - optimal).max() - expected
        total["regret_oracle"] += benchmark - expected
        total["regret_bar"] += benchmark - theta[arm] + incentives.sum()
        plays[arm] += 1
        rewards[arm] += x
        agent_rewards[arm] += r
    return total


class Stepwise(Principal):
    """The same as a coroutine."""

    name = "ucb, round by round"

    def rounds(self) -> Rounds:
        """A request a round."""
        while True:
            counts = np.maximum(self.plays, 1)
            index = self.sums / counts + np.sqrt(2 * math.log(self.horizon) / counts)
            yield hold(int(index.argmax()), 1 + 1 / self.horizon)


class Compiled(Principal):
    """The same as a compiled rule."""

    name = "ucb, compiled"

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(ucb_rule(), np.array([2 * math.log(self.horizon), 1 + 1 / self.horizon]), self.horizon)


@functools.cache
def ucb_rule() -> Callable[..., int]:
    """UCB; memory: 2 log T, and the amount."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        target, best = 0, -np.inf
        for b in range(plays.size):
            offer[b] = 0.0
            count = max(plays[b], 1)
            index = sums[b] / count + math.sqrt(memory[0] / count)
            if index > best:
                target, best = b, index
        offer[target] = memory[1]
        return target

    return compile_rule(rule, trusted=True)
