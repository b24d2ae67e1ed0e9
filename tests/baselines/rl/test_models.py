"""Models of Stable-Baselines3, and functions, as principals: they play what they would play in their environments."""

import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import baselines
from baselines import rl
from pa_env.wrappers import ForLearning, RescaleIncentive

GAME: dict[str, Any] = {"n_arms": 3, "horizon": 30}


def test_a_function_plays_as_in_its_environment() -> None:
    def ladder(observation: Any) -> int:
        return int(observation.sum() * 1000) % 15

    principal = baselines.from_policy(ladder, ForLearning, **GAME)
    run = baselines.simulate(principal, "misaligned", agent="exploratory", seed=4)
    env = ForLearning(gym.make("PrincipalAgent-v0", instance="misaligned", agent="exploratory", **GAME))
    observation, _ = env.reset(seed=4)
    utility, over = 0.0, False
    while not over:
        observation, reward, over, _, _ = env.step(ladder(observation))
        utility += float(reward)
    assert utility == pytest.approx(run.utility[-1], abs=1e-9)


def test_a_function_of_raw_observations_offers_incentives() -> None:
    principal = baselines.from_policy(lambda last: np.full(3, 0.25 * last[-1]), observation="last", **GAME)
    offers = baselines.simulate(principal, seed=0, checkpoints=[1, 16]).offers
    np.testing.assert_allclose(offers, [[0.0] * 3, [0.125] * 3])


def test_the_agents_seat_takes_one() -> None:
    env = gym.make(
        "PrincipalAgentFollower-v0", principal=baselines.from_policy(lambda _: [0.1, 0.2, 0.3], **GAME), **GAME
    )
    observation, _ = env.reset(seed=0)
    np.testing.assert_allclose(observation[:3], [0.1, 0.2, 0.3])
    np.testing.assert_allclose(env.step(1)[0][:3], [0.1, 0.2, 0.3])


@pytest.fixture(scope="module")
def sb3() -> Any:
    return pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")


def games(wrapper: Callable[[Any], Any], copies: int = 4) -> Any:
    from baselines.rl.vec_env import GameVecEnv

    return GameVecEnv(wrapper(gym.make_vec("PrincipalAgent-v0", copies, autoreset_mode="Disabled", **GAME)))


def utility(model: Any, envs: Any, seed: int) -> float:
    """What the likeliest actions of a model earn in one copy of its environment."""
    envs.seed(seed)
    observations, total = envs.reset(), 0.0
    for _ in range(GAME["horizon"]):
        observations, rewards, _, _ = envs.step(model.predict(observations, deterministic=True)[0])
        total += float(rewards[0])
    return total


@pytest.mark.parametrize("wrapper", [ForLearning, partial(ForLearning, continuous=True), RescaleIncentive])
def test_a_model_plays_as_in_its_environment(sb3: Any, wrapper: Callable[[Any], Any]) -> None:
    model = sb3.PPO("MlpPolicy", games(wrapper), n_steps=16, batch_size=64, seed=0, device="cpu").learn(64)
    principal = baselines.from_sb3(model, deterministic=True)
    assert baselines.simulate(principal, seed=5).utility[-1] == pytest.approx(
        utility(model, games(wrapper, 1), 5), abs=1e-4
    )
    given = baselines.from_sb3(model, wrapper, deterministic=True)
    assert baselines.simulate(given, seed=5).utility[-1] == baselines.simulate(principal, seed=5).utility[-1]


def test_scalar_environments_and_normalised_observations_are_played_too(sb3: Any) -> None:
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    envs = VecNormalize(make_vec_env("PrincipalAgent-v0", 2, env_kwargs=GAME, wrapper_class=ForLearning))
    model = sb3.DQN("MlpPolicy", envs, learning_starts=8, seed=0, device="cpu").learn(64)
    principal = baselines.from_sb3(model)
    first, again = (baselines.simulate(principal, seed=1).utility[-1] for _ in range(2))
    assert first == again
    assert baselines.simulate(pickle.loads(pickle.dumps(principal.clone())), seed=1).utility[-1] == first


def test_a_learner_is_a_principal_everywhere(sb3: Any, tmp_path: Path) -> None:
    learner = rl.learner("k3-t30-uniform", copies=8, particles=4, width=8)
    learner.learn(400)
    rl.save(learner, tmp_path / "policy.npz")
    loaded = rl.load(tmp_path / "policy.npz", **GAME)
    one, other = (baselines.simulate(each, seeds=range(4)).utility for each in (learner, loaded))
    assert (one == other).all()
    shown = baselines.compare([learner, "zero"], "k3-t30-uniform", seeds=12, workers=1)
    assert sorted(shown.table.index) == ["Learner", "zero"]
    seats = [gym.make("PrincipalAgentFollower-v0", principal=each, **GAME) for each in (learner, loaded)]
    first, second = (seat.reset(seed=3)[0] for seat in seats)
    assert (first == second).all()
    from stable_baselines3.common.evaluation import evaluate_policy

    assert np.isfinite(evaluate_policy(baselines.from_sb3(learner), games(lambda env: env, 2), 2)[0])


def test_what_cannot_be_played_is_refused_with_a_remedy(sb3: Any, tmp_path: Path) -> None:
    model = sb3.PPO("MlpPolicy", games(ForLearning), n_steps=16, batch_size=64, device="cpu")
    with pytest.raises(ValueError, match=r"which a policy file holds: keep it with model.save"):
        rl.save(model, tmp_path / "policy.npz")
    with pytest.raises(ValueError, match=r"runs code that its author put into it.*PPO\.load"):
        baselines.compare(["model.zip", "zero"], "k3-t30-uniform", seeds=2)
    model.env = None
    with pytest.raises(ValueError, match="has no environment: pass wrapper="):
        baselines.from_sb3(model)
