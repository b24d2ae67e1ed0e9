"""Networks that treat arms alike: any order gives the same, any number of arms is taken."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

import gymnasium as gym
import torch
from gymnasium.spaces import Box, Discrete, Space
from stable_baselines3 import PPO
from stable_baselines3.common.policies import ActorCriticPolicy

from baselines.rl.networks import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from pa_env import IID
from pa_env.wrappers import BracketIncentive, ForLearning, IncentiveGrid, RescaleIncentive

K = 4
ORDER = torch.tensor([2, 0, 3, 1])


def relabelled(observations: torch.Tensor, fields: int) -> torch.Tensor:
    """The same observations with arm ORDER[a] called a."""
    first, overall = observations.tensor_split((fields * K,), dim=1)
    return torch.cat([first.reshape(len(first), -1, K)[:, :, ORDER].flatten(1), overall], dim=1)


def policy(actions: Space, n_arms: int = K, **options: int) -> SetActorCritic:
    torch.manual_seed(0)
    space = Box(-9, 9, ((6 + options.get("privileged", 0)) * n_arms + 2,), np.float32)
    made = SetActorCritic(space, actions, lambda _: 1e-3, **(options | {"n_arms": n_arms}))
    for name, parameter in made.named_parameters():
        if name.startswith(("action_net", "log_std")):
            torch.nn.init.normal_(parameter, std=0.5)
    return made


def parameters_of(made: ActorCriticPolicy, observations: torch.Tensor) -> list[torch.Tensor]:
    """What its distribution of actions is made of: means and standard deviations, or logits."""
    inner = made.get_distribution(observations).distribution
    return [inner.logits] if isinstance(made.action_space, Discrete) else [inner.mean, inner.stddev]


@pytest.mark.parametrize(
    ("actions", "overall"),
    [(Box(-1, 1, (2 + K,)), 2), (Box(-1, 1, (1 + 2 * K,)), 1), (Box(-1, 1, (K,)), 0), (Discrete(4 * K), 0)],
)
def test_actions_and_their_noise_move_with_their_arms(actions: Space, overall: int) -> None:
    made = policy(actions, overall_actions=overall)
    seen = torch.randn(8, 6 * K + 2, generator=torch.Generator().manual_seed(0))
    moved = relabelled(seen, 6)
    for first, second in zip(parameters_of(made, seen), parameters_of(made, moved), strict=True):
        torch.testing.assert_close(second[:, :overall], first[:, :overall])
        arms = first[:, overall:].reshape(8, K, -1)[:, ORDER].flatten(1)
        torch.testing.assert_close(second[:, overall:], arms)
    means = parameters_of(made, seen)[0][:, overall:].reshape(8, K, -1)
    assert (means[:, 1:] - means[:, :1]).abs().min() > 1e-6  # arms differ, so that their order matters
    torch.testing.assert_close(made.predict_values(moved), made.predict_values(seen))


@pytest.mark.parametrize("n_arms", [1, 2, 5])
def test_overall_actions_are_told_from_those_of_arms(n_arms: int) -> None:
    made = policy(Box(-1, 1, (2 + n_arms,)), n_arms, overall_actions=2)
    assert [tuple(layer.shape) for layer in made.action_net.parameters()] == [(2, 16), (2,), (1, 32), (1,)]
    assert made.log_std.shape == (3,)
    action, _ = made.predict(np.zeros(6 * n_arms + 2, np.float32))
    assert action.shape == (2 + n_arms,)


@pytest.mark.parametrize(
    ("actions", "overall"), [(Box(-1, 1, (2 + K,)), 0), (Box(-1, 1, (2,)), 2), (Box(-1, 1, (2, K)), 0)]
)
def test_actions_that_do_not_split_by_arm_are_refused(actions: Space, overall: int) -> None:
    with pytest.raises(ValueError, match="action_space = Box"):
        policy(actions, overall_actions=overall)


def test_observations_that_do_not_split_by_arm_are_refused() -> None:
    with pytest.raises(ValueError, match=r"observation_space = Box.*set fields and overall"):
        SetActorCritic(Box(-9, 9, (6 * K + 3,), np.float32), Discrete(5 * K), lambda _: 1e-3)


def games(n_arms: int, wrapper: Callable[[Any], Any] = RescaleIncentive) -> GameVecEnv:
    return GameVecEnv(wrapper(gym.make_vec("PrincipalAgent-v0", 4, n_arms=n_arms, autoreset_mode="Disabled")))


def learner(envs: GameVecEnv, **options: object) -> PPO:
    return PPO(SetActorCritic, envs, n_steps=8, batch_size=32, policy_kwargs=options, seed=0, device="cpu")


@pytest.mark.parametrize("n_arms", [1, 2, 5])
def test_ppo_learns_with_any_number_of_arms(n_arms: int) -> None:
    model = learner(games(n_arms), n_arms=n_arms, overall_actions=0)
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    model.learn(64)
    after = model.policy.state_dict()
    assert all((after[name] != before[name]).any() for name in ("log_std", "action_net.arm.bias"))


@pytest.mark.parametrize("wrapper", [RescaleIncentive, BracketIncentive, ForLearning])
def test_a_policy_for_three_arms_plays_with_nine(wrapper: Callable[[Any], Any]) -> None:
    small, large = (learner(games(n, wrapper), n_arms=n) for n in (3, 9))
    small.learn(64)
    large.policy.load_state_dict(small.policy.state_dict())
    for value, loaded in zip(small.policy.parameters(), large.policy.parameters(), strict=True):
        torch.testing.assert_close(loaded, value)
    large.learn(64)


def test_a_model_comes_back_from_stable_baselines3s_file(tmp_path: Path) -> None:
    envs = games(K)
    model = learner(envs, n_arms=K)
    model.learn(64)
    model.save(tmp_path / "model.zip")
    model.policy.save(tmp_path / "policy.zip")
    seen = np.random.default_rng(0).random((4, *envs.observation_space.shape), np.float32)
    wanted = model.predict(seen, deterministic=True)[0]
    for again in (PPO.load(tmp_path / "model.zip", device="cpu"), SetActorCritic.load(tmp_path / "policy.zip", "cpu")):
        np.testing.assert_array_equal(again.predict(seen, deterministic=True)[0], wanted)


def shuffled(rng: np.random.Generator) -> IID:
    """One arm is worth 0.9 and asks for 0.4, the others are worth 0.1: which one it is changes with the episode."""
    order = rng.permutation(3)
    return IID(np.array([0.2, 0.6, 0.5])[order], np.array([0.9, 0.1, 0.1])[order], "constant")


def test_the_good_arm_is_found_wherever_it_stands() -> None:
    options = {"n_arms": 3, "horizon": 20, "instance": shuffled, "agent": "oracle", "autoreset_mode": "Disabled"}
    envs = GameVecEnv(IncentiveGrid(gym.make_vec("PrincipalAgent-v0", 64, **options), levels=3, top=0.9))
    model = PPO(SetActorCritic, envs, 3e-3, 20, 320, 4, gamma=1.0, seed=0, policy_kwargs={"n_arms": 3}, device="cpu")
    model.learn(20_000)
    envs.seed(10**6)
    observations, earned = envs.reset(), 0.0
    for _ in range(20):
        observations, rewards, *_ = envs.step(model.predict(observations, deterministic=True)[0])
        earned += rewards.mean()
    # Known at once it would bring 20 x 0.45; to pay nothing, the best for those who cannot tell arms apart, brings 2.
    assert earned >= 7.5


def test_the_actor_never_sees_what_the_critic_is_given() -> None:
    made = policy(Discrete(5 * K), privileged=2, deep=True)
    seen = torch.randn(8, 8 * K + 2, generator=torch.Generator().manual_seed(0))
    other = torch.cat([seen[:, : 6 * K + 2], seen[:, 6 * K + 2 :] + 1.0], dim=1)
    assert torch.equal(parameters_of(made, other)[0], parameters_of(made, seen)[0])
    assert (made.predict_values(other) - made.predict_values(seen)).abs().min() > 1e-6
