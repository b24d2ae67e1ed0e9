"""Clones of scripts: labels are the nearest actions, clones earn what the script earns, and keep it in training."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

import gymnasium as gym
from stable_baselines3 import PPO

import baselines
from baselines.rl.cloning import QUIET, clone, demonstrations
from baselines.rl.features import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import BracketIncentive, IncentiveGrid, RescaleIncentive

K, HORIZON = 3, 100
GAME = {"instance": "misaligned", "agent": "oracle", "max_incentive": 1.1, "autoreset_mode": "Disabled"}


def games(copies: int, horizon: int = HORIZON) -> Any:
    return gym.make_vec("PrincipalAgent-v0", copies, n_arms=K, horizon=horizon, **GAME)


def fixed(*incentives: float) -> Any:
    return baselines.make("fixed", n_arms=K, horizon=10, incentives=incentives)


def test_grid_actions_are_nearest_on_the_arm_that_is_paid_most() -> None:
    _, actions = demonstrations(fixed(0.2, 0.33, 0.1), IncentiveGrid(games(4, 10), levels=11, top=1.0), seed=0)
    assert (actions == 1 * 11 + 3).all()


def test_bracket_actions_follow_what_was_refused_and_accepted() -> None:
    observations, actions = demonstrations(fixed(0.0, 0.31, 0.0), BracketIncentive(games(64, 10)), seed=0)
    arms, places = np.divmod(actions.reshape(10, 64), 4)
    assert (arms == 1).all()
    assert (places[0] == 1).all()  # of 0, 0.55, 1.1 and 1.1
    # 0.55 was played: where it was accepted the middle is 0.275 now, where it was refused it is itself the nearest.
    accepted = observations.reshape(10, 64, -1)[1, :, K * 4 + 1] < 1.0
    assert 0 < accepted.mean() < 1
    np.testing.assert_array_equal(places[1], np.where(accepted, 1, 0))


def test_without_an_offer_the_action_is_about_the_arm_played_last() -> None:
    observations, actions = demonstrations(fixed(0.0, 0.0, 0.0), BracketIncentive(games(64, 10)), seed=0)
    arms, places = np.divmod(actions, 4)
    np.testing.assert_array_equal(arms, observations[:, :K].argmax(axis=1))
    assert len(set(arms)) == K
    assert (places == 0).all()


def test_a_constant_offer_is_imitated() -> None:
    script = baselines.make("fixed", n_arms=K, horizon=20, incentives=(0.0, 0.8, 0.2))
    observations, offers = demonstrations(script, games(16, 20), seed=0)
    assert (offers == [0.0, 0.8, 0.2]).all()
    made = PPO("MlpPolicy", GameVecEnv(RescaleIncentive(games(16, 20))), seed=0, device="cpu").policy
    losses = clone(made, observations, offers / 1.1, epochs=100, batch_size=64)
    assert losses[-1] < losses[0]
    action, _ = made.predict(observations, deterministic=True)
    assert np.abs(1.1 * action - [0.0, 0.8, 0.2]).mean() < 0.03
    assert (made.log_std == QUIET).all()


def utility(player: Any, envs: Any) -> float:
    """Mean of an episode of each copy, with actions drawn as in training."""
    observations, _ = envs.reset(seed=10**6)
    state, earned = None, 0.0
    for _ in range(HORIZON):
        actions, state = player.predict(observations, state, deterministic=False)
        observations, rewards, *_ = envs.step(actions)
        earned += float(rewards.mean())
    return earned


@pytest.mark.parametrize(("name", "wrapper"), [("bracket-ucb", BracketIncentive), ("profit-target", RescaleIncentive)])
def test_a_clone_earns_what_the_script_earns_and_keeps_it_in_training(name: str, wrapper: Any) -> None:
    script = baselines.make(name, n_arms=K, horizon=HORIZON)
    envs = GameVecEnv(wrapper(games(64)), objective="utility", staggered=True)
    model = PPO(SetActorCritic, envs, 3e-4, 100, 1600, 4, seed=0, policy_kwargs={"n_arms": K}, device="cpu")
    if wrapper is BracketIncentive:
        observations, actions = demonstrations(script, wrapper(games(256)), seed=0)
    else:
        observations, offers = demonstrations(script, games(256), seed=0)
        actions = offers / GAME["max_incentive"]
    clone(model.policy, observations, actions)
    enough = 0.9 * utility(script, games(500))
    assert utility(baselines.make("zero", n_arms=K, horizon=HORIZON), games(500)) < 0.9 * enough  # it takes some skill
    assert utility(model, wrapper(games(500))) >= enough
    model.policy.learn_actions(False)
    model.learn(32_000)
    model.policy.learn_actions(True)
    model.learn(64_000)
    assert utility(model, wrapper(games(500))) >= enough
