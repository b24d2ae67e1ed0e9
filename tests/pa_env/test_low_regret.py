"""Agents that learn without regret, and the example of one that does not (Liu & Ratliff, ICML 2025, appendix)."""

import copy

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pa_env import IID
from pa_env.envs.scalar import PrincipalEnv
from pa_env.game import Game

AGENTS = ("ucb", "thompson", "exp3")
INSTANCE = IID(mu=[0.1, 0.9, 0.5], theta=[0.9, 0.2, 0.4])
OFFER = np.array([0.3, 0.0, 0.1])


def own_regret(agent: str, rounds: int, seed: int) -> float:
    """Of the agent, with the incentive held."""
    game = Game(agent=agent, instance=INSTANCE, horizon=rounds, observe=False)
    game.begin([seed])
    game.hold(OFFER, rounds)
    worth = INSTANCE.mu + OFFER
    return float((worth.max() - worth) @ game.plays[0])


@pytest.mark.parametrize("agent", AGENTS)
def test_own_regret_grows_more_slowly_than_the_rounds(agent: str) -> None:
    short, long = (np.mean([own_regret(agent, rounds, seed) for seed in range(5)]) for rounds in (10**4, 10**6))
    assert long < 20 * short  # sqrt(100) = 10; linear would be 100
    assert long < 0.01 * 10**6


def test_a_greedy_learner_may_be_stuck_with_probability_a_tenth() -> None:
    """mu = (.1, .9): a first reward of 1 on arm 0, and a tiny incentive on arm 1 never moves it again."""
    rounds, stuck = 1000, 0
    for seed in range(1000):
        game = Game(instance=IID(mu=[0.1, 0.9], theta=[0.5, 0.5]), horizon=rounds, observe=False)
        game.begin([seed])
        game.hold([1.0, 0.0], 1)
        rest = game.hold([0.0, 1e-30], rounds - 1)
        assert rest.plays[0] in (0, rounds - 1)
        stuck += rest.plays[0] > 0
    assert 70 <= stuck <= 130  # three standard deviations of a binomial (1000, .1)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_without_regret_is_not_stuck(agent: str) -> None:
    for seed in range(20):
        game = Game(agent=agent, instance=IID(mu=[0.1, 0.9], theta=[0.5, 0.5]), horizon=20_001, observe=False)
        game.begin([seed])
        game.hold([1.0, 0.0], 1)
        assert game.hold([0.0, 1e-30], 20_000).plays[0] < 3_000


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("instance", ["uniform", "unit-ball"])
def test_every_interface_gives_the_same_rounds(agent: str, instance: str) -> None:
    settings = {"agent": agent, "instance": instance, "horizon": 60}
    env = PrincipalEnv(**settings)
    held = Game(observe=False, max_incentive=env.game.max_incentive, **settings)
    envs = gym.make_vec("PrincipalAgent-v0", num_envs=2, **settings)
    env.reset(seed=4)
    held.begin([4])
    envs.reset(seed=3)
    offer = np.full(env.game.n_arms, 0.2)
    for t in range(60):
        if t == 30:
            env = copy.deepcopy(env)
        predicted = env.game.answer(offer[None])[0]
        *_, info = env.step(offer)
        *_, infos = envs.step(np.tile(offer, (2, 1)))
        assert info["arm"] == predicted == infos["arm"][1]
        assert info["regret"] == infos["regret"][1]
    held.hold(offer, 60)
    assert_array_equal(held.plays[0], env.game.plays[0])
    assert held.totals() == env.game.totals()
