"""Stable-Baselines3's interface to the batched game: the same rounds, resets, cheap infos, spread beginnings."""

import pickle
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import BracketIncentive, ForLearning, ProfitLevel

GAME = {"n_arms": 3, "horizon": 7}


def test_it_plays_the_rounds_of_the_dummy_vec_env() -> None:
    ours, theirs = GameVecEnv.of("PrincipalAgent-v0", 4, **GAME), make_vec_env("PrincipalAgent-v0", 4, env_kwargs=GAME)
    assert isinstance(theirs, DummyVecEnv)
    ours.seed(5), theirs.seed(5)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    rng = np.random.default_rng(0)
    for _ in range(20):  # almost three episodes
        offers = rng.uniform(0, 1, (4, 3))
        for mine, its in zip(ours.step(offers)[:3], theirs.step(offers)[:3], strict=True):
            np.testing.assert_array_equal(mine, its)


def test_an_end_is_a_termination_with_its_last_observation() -> None:
    envs = GameVecEnv.of("PrincipalAgent-v0", 2, **GAME)
    envs.seed(0)
    envs.reset()
    offers, total = np.full((2, 3), 0.25), np.zeros(2)
    for t in range(7):
        observations, rewards, over, infos = envs.step(offers)
        total += rewards
        assert over.all() == over.any() == (t == 6)
        assert t == 6 or not any(infos)
    assert (observations[:, -1] == 0).all()
    for i in range(2):
        assert infos[i]["terminal_observation"][-1] == 1
        assert infos[i]["TimeLimit.truncated"] is False
        assert infos[i]["episode"] == {"r": pytest.approx(total[i], abs=1e-5), "l": 7}


def test_staggered_copies_are_spread_over_the_episode() -> None:
    envs = GameVecEnv.of("PrincipalAgent-v0", 14, staggered=True, **GAME)
    envs.seed(0)
    times = envs.reset()[:, -1] * 7
    assert sorted(times.round().astype(int)) == sorted([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])
    ends = [envs.step(np.zeros((14, 3)))[2].sum() for _ in range(14)]
    assert ends == [2] * 14


@pytest.mark.parametrize("objective", ["utility", "regret", None])
def test_objectives_sum_to_what_they_are_named_after(objective: str | None) -> None:
    envs = GameVecEnv(gym.make_vec("PrincipalAgent-v0", 5, autoreset_mode="Disabled", **GAME), objective, scale=2.0)
    envs.seed(3)
    envs.reset()
    game = envs.games[0].unwrapped.game
    benchmark = game.arrays.state["benchmark"].copy()
    total = np.zeros(5)
    for _ in range(6):
        total += envs.step(np.full((5, 3), 0.3))[1]
    for i in range(5):
        sums = game.totals(i)
        own = sums["expected_utility"] - 6 * benchmark[i]
        wanted = {"utility": own, "regret": -sums["regret"], None: sums["utility"]}
        assert total[i] == pytest.approx(2.0 * wanted[objective], abs=1e-5)


@pytest.mark.parametrize("wrapper", [BracketIncentive, ProfitLevel, ForLearning])
def test_wrapped_games_are_learned_from(wrapper: Callable[[Any], Any]) -> None:
    envs = GameVecEnv(wrapper(gym.make_vec("PrincipalAgent-v0", 4, autoreset_mode="Disabled", **GAME)))
    model = PPO("MlpPolicy", envs, n_steps=16, batch_size=64, seed=0, device="cpu").learn(128)
    assert model.ep_info_buffer[0]["l"] == 7
    assert envs.env_is_wrapped(Monitor) == [True] * 4
    assert envs.get_attr("num_envs") == [4] * 4


def test_a_pickled_game_goes_on_where_it_was() -> None:
    envs = GameVecEnv(ForLearning(gym.make_vec("PrincipalAgent-v0", 4, autoreset_mode="Disabled", **GAME)), "utility")
    envs.seed(1)
    envs.reset()
    actions = np.random.default_rng(0).integers(15, size=(20, 4))
    for action in actions[:10]:
        envs.step(action)
    again = pickle.loads(pickle.dumps(envs))
    for action in actions[10:]:
        for mine, its in zip(envs.step(action)[:3], again.step(action)[:3], strict=True):
            np.testing.assert_array_equal(mine, its)


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="autoreset_mode='Disabled'"):
        GameVecEnv(gym.make_vec("PrincipalAgent-v0", 2))
    with pytest.raises(ValueError, match="objective = 'profit' is unknown"):
        GameVecEnv(gym.make_vec("PrincipalAgent-v0", 2, autoreset_mode="Disabled"), "profit")
    with pytest.raises(ValueError, match="indices=None"):
        GameVecEnv.of("PrincipalAgent-v0", 2).env_method("render", indices=[0])
