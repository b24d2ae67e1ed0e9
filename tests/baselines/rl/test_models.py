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
from baselines.rl.models import Puppet
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
    for _ in range(2):
        principal = pickle.loads(pickle.dumps(principal.clone()))
        assert baselines.simulate(principal, seed=1).utility[-1] == first


def test_a_principal_of_a_model_that_learns_on_sees_what_the_model_sees(sb3: Any) -> None:
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    envs = VecNormalize(make_vec_env("PrincipalAgent-v0", 2, env_kwargs=GAME, wrapper_class=ForLearning))
    model = sb3.PPO("MlpPolicy", envs, n_steps=16, batch_size=32, seed=0, device="cpu").learn(32)
    before = baselines.from_sb3(model)
    model.learn(320)
    one, other = (baselines.simulate(each, seed=1).offers for each in (before, baselines.from_sb3(model)))
    np.testing.assert_array_equal(one, other)


def test_a_model_of_stacked_frames_plays_with_a_wrapper_that_stacks(sb3: Any) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack

    def stacked(env: Any) -> Any:
        frames = gym.wrappers.FrameStackObservation(RescaleIncentive(env), 2, padding_type="zero")
        return gym.wrappers.FlattenObservation(frames)

    def envs() -> Any:
        return VecFrameStack(DummyVecEnv([lambda: RescaleIncentive(gym.make("PrincipalAgent-v0", **GAME))]), 2)

    model = sb3.PPO("MlpPolicy", envs(), n_steps=60, batch_size=60, seed=0, device="cpu").learn(60)
    principal = baselines.from_sb3(model, stacked, deterministic=True)
    assert baselines.simulate(principal, seed=5).utility[-1] == pytest.approx(utility(model, envs(), 5), abs=1e-4)


def test_with_a_wrapper_too_the_environment_has_the_settings_of_training(sb3: Any) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv

    def space(**given: Any) -> Any:
        principal: Any = baselines.from_sb3(model, RescaleIncentive, **given)
        return principal._environment(Puppet()).observation_space

    settings: dict[str, Any] = {"observation": "learning", "max_incentive": 5.0}
    env = RescaleIncentive(gym.make("PrincipalAgent-v0", **settings, **GAME))
    model = sb3.PPO("MlpPolicy", env, n_steps=16, batch_size=16, device="cpu")
    assert space() == env.observation_space
    assert space(observation="summary") != env.observation_space
    for model.env in (None, DummyVecEnv([lambda: gym.make("CartPole-v1")])):
        assert space(**GAME) != env.observation_space
        assert space(**settings, **GAME) == env.observation_space
    with pytest.raises(ValueError, match="argument of from_sb3 = 'agent' is unknown; known: observation"):
        baselines.from_sb3(model, agent="ucb")


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


@pytest.mark.parametrize(
    ("name", "options"), [("PPO", {"n_steps": 16, "batch_size": 16}), ("A2C", {}), ("DQN", {"learning_starts": 8})]
)
def test_a_model_that_has_just_learned_is_compared(sb3: Any, name: str, options: dict[str, Any]) -> None:
    env = ForLearning(gym.make("PrincipalAgent-v0", **GAME))
    model = getattr(sb3, name)("MlpPolicy", env, device="cpu", seed=0, **options).learn(64)
    shown = baselines.compare([model, "zero"], seeds=4, workers=1, **GAME)
    assert shown.samples[name].shape == shown.samples["zero"].shape


def test_a_learner_of_several_sizes_is_compared_in_each_and_goes_on_after_it_was_saved(
    sb3: Any, tmp_path: Path
) -> None:
    learner = rl.learner(["k2-t20-uniform", "k3-t30-uniform"], copies=8, particles=4, width=4).learn(400)
    for task in ("k2-t20-uniform", "k3-t30-uniform"):
        assert len(baselines.compare([learner, "zero"], task, seeds=2, workers=1).samples) == 2
        assert baselines.simulate(learner, task=task, seed=0).plays.shape[-1] == int(task[1])
    learner.save(tmp_path / "learner.zip")
    assert type(learner).load(tmp_path / "learner.zip").learn(400).num_timesteps == 400


class Blank(gym.ObservationWrapper[Any, Any, Any]):
    """Shows nothing."""

    def observation(self, observation: Any) -> Any:
        return np.zeros_like(observation)


def test_the_environment_of_a_model_is_made_again_or_refused(sb3: Any) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack

    def model(env: Any) -> Any:
        return sb3.PPO("MlpPolicy", env, n_steps=40, batch_size=40, device="cpu")

    env = gym.make("PrincipalAgent-v0", max_incentive=1.0, **GAME)
    again = baselines.from_sb3(model(RescaleIncentive(Blank(env))))._environment(Puppet())  # type: ignore[attr-defined]
    assert again.unwrapped.game.max_incentive == 1.0
    assert not again.reset(seed=0)[0].any()
    with pytest.raises(ValueError, match="NormalizeObservation keeps statistics of its own: pass wrapper="):
        baselines.from_sb3(model(gym.wrappers.NormalizeObservation(RescaleIncentive(env))))
    stacked = VecFrameStack(DummyVecEnv([lambda: RescaleIncentive(env)]), 2)
    with pytest.raises(ValueError, match="VecFrameStack may change what the model sees or plays: pass wrapper="):
        baselines.from_sb3(model(stacked))


@pytest.mark.parametrize("given", ["ppo", "learner"])
def test_policies_play_games_of_any_size_and_others_those_of_their_own(given: str, sb3: Any) -> None:
    settings: dict[str, Any] = {"n_arms": 4, "horizon": 20}
    policy: Any = rl.learner("k3-t30-uniform", copies=8, particles=4, width=4) if given == "learner" else "ppo"
    principal = baselines.make(policy, **GAME)
    one, other = (baselines.simulate(each, seed=0, **settings).offers for each in (principal, policy))
    np.testing.assert_array_equal(one, other)
    again = baselines.make(principal, **settings)
    assert (type(again), again.n_arms, again.horizon) == (type(principal), 4, 20)
    assert len(baselines.compare([principal, "zero"], seeds=2, workers=1, **settings).samples) == 2
    gym.make("PrincipalAgentFollower-v0", principal=policy, **settings).reset(seed=0)


def test_a_model_of_another_size_is_refused_in_the_same_words_everywhere(sb3: Any) -> None:
    model = sb3.PPO("MlpPolicy", games(ForLearning), n_steps=16, batch_size=64, device="cpu")
    settings: dict[str, Any] = {"n_arms": 4, "horizon": 30}
    for play in (
        lambda: baselines.simulate(model, seed=0, **settings),
        lambda: baselines.compare([model, "zero"], seeds=2, workers=1, **settings),
        lambda: gym.make("PrincipalAgentFollower-v0", principal=model, **settings),
    ):
        with pytest.raises(ValueError, match="PolicyPrincipal has n_arms = 3, but the game has 4"):
            play()


def test_a_function_that_cannot_play_is_refused() -> None:
    with pytest.raises(TypeError, match="function = 3 must be a function"):
        baselines.from_policy(3, **GAME)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="argument of from_policy = 'agent' is unknown; known: observation"):
        baselines.from_policy(lambda _: 0, ForLearning, agent="ucb", **GAME)


def test_what_cannot_be_played_is_refused_with_a_remedy(sb3: Any, tmp_path: Path) -> None:
    model = sb3.PPO("MlpPolicy", games(ForLearning), n_steps=16, batch_size=64, device="cpu")
    with pytest.raises(ValueError, match=r"which a policy file holds: keep it with model.save"):
        rl.save(model, tmp_path / "policy.npz")
    with pytest.raises(ValueError, match=r"runs code that its author put into it.*PPO\.load"):
        baselines.compare(["model.zip", "zero"], "k3-t30-uniform", seeds=2)
    model.env = None
    with pytest.raises(ValueError, match=r"has no environment.*: load it with env=, or .* by baselines.from_sb3"):
        baselines.from_sb3(model)
    for use in (lambda: rl.save("x", tmp_path / "y.npz"), lambda: baselines.from_sb3("x")):
        with pytest.raises(TypeError, match=r"model = 'x' must be a model of Stable-Baselines3, or a baselines.rl.le"):
            use()
