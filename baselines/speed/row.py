"""A row of the speed table: ours and a yardstick, timed in turn; and what several rows time."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from pa_env.game import Game
from pa_env.scripted_agents import AgentLike

ROUNDS = DRAWS = 100_000


@dataclass(frozen=True)
class Row:
    """One comparison. ``ours`` and ``yardstick`` do ``work`` and ``yardstick_work`` units a call."""

    name: str
    ours: Callable[[], object]
    work: float
    yardstick: Callable[[], object]
    yardstick_work: float
    unit: str  # of the ratio: "draws a round" (small is good) or "x faster"
    target: float
    repeats: int = 500  # at most so many timings

    @property
    def faster(self) -> bool:
        """Whether a large ratio is good."""
        return self.unit.startswith("x")


def best_of(row: Row, repeats: int) -> tuple[float, float]:
    """Seconds per unit of work of ours and of the yardstick, best of interleaved timings.

    Short ones are timed many times over: the best of many is what an idle machine would give.
    """
    start = time.perf_counter()
    row.ours(), row.yardstick()  # warms caches and compilers
    repeats = max(repeats, int(repeats / 9 / (time.perf_counter() - start)))
    ours: list[float] = []
    yardstick: list[float] = []
    for _ in range(min(repeats, row.repeats)):
        for call, seconds in ((row.ours, ours), (row.yardstick, yardstick)):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
    return min(ours) / row.work, min(yardstick) / row.yardstick_work


def numpy_draws() -> Callable[[], object]:
    """The yardstick of held offers: ``DRAWS`` uniform numbers."""
    rng, buffer = np.random.default_rng(0), np.empty(DRAWS)
    return lambda: rng.random(out=buffer)


def held(n_arms: int, agent: AgentLike) -> Callable[[], object]:
    """``ROUNDS`` rounds of one held offer that is always accepted."""
    game = Game(n_arms=n_arms, agent=agent, horizon=10**11, observe=False)
    game.begin(seeds=[0])
    offer = np.zeros(n_arms)
    offer[n_arms // 2] = 1.1
    return lambda: game.hold(offer, ROUNDS)


def batched(env: gym.vector.VectorEnv[Any, Any, Any], steps: int) -> Callable[[], object]:
    """``steps`` steps of a vector environment with actions drawn beforehand."""
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(8)]

    def run() -> None:
        for i in range(steps):
            env.step(actions[i % 8])

    return run
