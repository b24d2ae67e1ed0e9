"""Rows of the speed table for agents: users' own beside the built-in ones of the same kind, and both seats."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

import pa_env  # noqa: F401 - registers the environments
from baselines.speed.row import DRAWS, ROUNDS, Row, batched, held, numpy_draws
from pa_env import CompiledAgent, principal_agent_v0
from pa_env.compiled_agents import further_normal
from pa_env.envs.both_seats import TwoPlayerVectorEnv
from pa_env.game import Game
from pa_env.kernel.layout import Floats
from pa_env.rules import compile_rule
from pa_env.scripted_agents import AgentLike


def turn_about(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    """A rule that pays each arm in turn, so that every round has another offer."""
    paid = int(memory[0]) % offer.size
    for a in range(offer.size):
        offer[a] = 0.3 if a == paid else 0.0
    memory[0] += 1.0
    return int(paid)


def greedy_choice(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    """``empirical-mean`` as a user would write it."""
    best = 0
    for a in range(offer.size):
        if means[a] + offer[a] > means[best] + offer[best]:
            best = a
    return best


def sampling_choice(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    """``thompson`` as a user would write it."""
    best, highest = 0, -np.inf
    for a in range(offer.size):
        index = means[a] + offer[a] + further_normal(u, a) / np.sqrt(counts[a] + 1.0)
        if index > highest:
            best, highest = a, index
    return best


def average(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    """Empirical means."""
    memory[arm] += reward
    means[arm] = memory[arm] / counts[arm]


class PythonAgent:
    """An agent of one's own, written in Python, that does next to nothing."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self.means = np.zeros(n_arms)

    def choose(self, incentives: Floats) -> int:
        """Always the same arm."""
        return 1

    def learn(self, arm: int, reward: float) -> None:
        """Learn nothing."""


def answered(agent: AgentLike, rounds: int = 2000) -> Callable[[], object]:
    """``rounds`` rounds against an agent, with another offer each round."""
    game, rule, memory = Game(agent=agent, horizon=10**11, observe=False), compile_rule(turn_about), np.zeros(1)
    game.begin(seeds=[0])
    return lambda: game.follow(rule, memory, rounds)


def agents() -> Iterator[Row]:
    """Agents against each other, in rounds with an offer each; and both seats against one."""
    averaging = CompiledAgent(greedy_choice, average, np.zeros)
    sampling = CompiledAgent(sampling_choice, average, np.zeros)
    for label, agent, yardstick, most in (
        ("empirical-mean, compiled by a user", averaging, "empirical-mean", 4.0),
        ("thompson, compiled by a user", sampling, "thompson", 4.0),
        ("logit", "logit", "thompson", 1.5),
        ("types", "types", "oracle", 1.2),
    ):
        yield Row(f"agent: {label}", answered(agent), 2000, answered(yardstick), 2000, f"of {yardstick}", most)
    game, offer = Game(agent=PythonAgent(), horizon=10**11, observe=False), np.zeros((1, 5))
    game.begin(seeds=[0])
    draws = numpy_draws()
    yield Row("agent: in Python", lambda: game.play(offer), 1, draws, DRAWS, "draws a round", 2300.0)
    own, built_in = held(5, averaging), held(5, "empirical-mean")
    yield Row("agent: compiled by a user, held", own, ROUNDS, built_in, ROUNDS, "of empirical-mean", 4.0)
    copies = 1024
    settings: Any = {"horizon": 200, "agent": "oracle"}
    both = both_seats(principal_agent_v0.vector_env(copies, **settings), 8)
    one = batched(gym.make_vec("PrincipalAgent-v0", num_envs=copies, **settings), 8)
    yield Row("both seats, 1024 copies", both, 8 * copies, one, 8 * copies, "of one seat", 2.0)


def both_seats(envs: TwoPlayerVectorEnv, rounds: int) -> Callable[[], object]:
    """``rounds`` rounds of both seats, with moves drawn beforehand."""
    rng, most = np.random.default_rng(0), envs.game.max_incentive
    offers = [rng.random((envs.num_envs, envs.game.n_arms)) * most for _ in range(8)]
    arms = [rng.integers(0, envs.game.n_arms, envs.num_envs) for _ in range(8)]
    envs.reset(seed=0)

    def run() -> None:
        for i in range(rounds):
            envs.offer(offers[i % 8])
            if envs.answer(arms[i % 8])[2][0]:
                envs.reset()

    return run
