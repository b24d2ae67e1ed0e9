"""Both seats, batched: copy i is the PettingZoo environment with its seed, move for move."""

import copy
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from helpers import OwnAgent
from numpy.testing import assert_array_equal

from pa_env import IID, Linear, principal_agent_v0

COPIES, HORIZON, FIRST_SEED = 4, 25, 11
PLAYERS = ["principal_0", "agent_0"]
LINEAR = Linear([[0.6, 0.0], [0.0, 0.8], [-0.5, 0.7]], s=[0.6, 0.8], nu=[1.0, 0.0], noise=0.3)


def moves(rng: np.random.Generator, n_arms: int) -> tuple[Any, Any]:
    """Offers and arms of a round of every copy; NO_ARM stands for the scripted arm."""
    return rng.uniform(0, 1.5, (COPIES, n_arms)), rng.integers(-1, n_arms, COPIES)


def same_infos(infos: dict[str, dict[str, Any]], single: list[Any]) -> None:
    """Both players are told what they are told in the environments of one copy, in arrays of their own."""
    assert list(infos) == PLAYERS
    for player, info in infos.items():
        assert info.keys() == single[0].infos[player].keys()
        for name, values in info.items():
            assert_array_equal(values, [env.infos[player][name] for env in single], err_msg=name)
    for name, values in infos["principal_0"].items():
        assert not np.shares_memory(values, infos["agent_0"][name])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"agent": "exploratory", "observation": "last"},
        {"agent": "thompson", "n_arms": 3},
        {"agent": "ols", "instance": "unit-ball", "dim": 2, "n_arms": 6},
        {"agent": "oracle", "instance": LINEAR},
        {"agent": OwnAgent(), "n_arms": 3},
        {"instance": IID(mu=[0.2, 0.6], theta=[0.9, 0.1], rewards="constant")},
    ],
    ids=["greedy", "exploring", "thompson", "linear family", "linear", "own", "constant"],
)
def test_each_copy_is_the_pettingzoo_environment_of_its_seed(settings: dict[str, Any]) -> None:
    envs = principal_agent_v0.vector_env(num_envs=COPIES, horizon=HORIZON, **settings)
    single = [principal_agent_v0.env(horizon=HORIZON, **copy.deepcopy(settings)) for _ in range(COPIES)]
    n_arms = envs.game.n_arms
    for episode in range(2):
        seen, infos = envs.reset(seed=FIRST_SEED if episode == 0 else None)
        for i, env in enumerate(single):
            env.reset(seed=FIRST_SEED + i if episode == 0 else None)
        same_infos(infos, single)
        rng = np.random.default_rng(episode)
        for t in range(HORIZON):
            offers, arms = moves(rng, n_arms)
            assert_array_equal(seen, [env.observe("principal_0") for env in single])
            seen_by_agents = envs.offer(offers)
            for env, offer in zip(single, offers, strict=True):
                env.step(offer)
            scripted = [env.infos["agent_0"]["scripted_arm"] for env in single]
            assert envs.scripted_arms().tolist() == scripted
            assert_array_equal(seen_by_agents, [env.observe("agent_0") for env in single])
            arms = np.where(arms < 0, scripted, arms)
            seen, rewards, terminations, truncations, infos = envs.answer(arms)
            for env, arm in zip(single, arms, strict=True):
                env.step(arm)
            for player in PLAYERS:
                assert_array_equal(rewards[player], [env.rewards[player] for env in single])
                assert terminations.tolist() == [env.terminations[player] for env in single]
                assert truncations.tolist() == [env.truncations[player] for env in single]
            assert terminations.all() == (t == HORIZON - 1)
            same_infos(infos, single)


def test_observations_are_in_their_spaces_and_fresh() -> None:
    envs = principal_agent_v0.vector_env(num_envs=3, n_arms=2, horizon=5)
    seen, _ = envs.reset(seed=0)
    kept = seen.copy()
    by_agents = envs.offer(np.ones((3, 2)))
    assert envs.observation_spaces["principal_0"].contains(seen)
    assert envs.observation_spaces["agent_0"].contains(by_agents)
    later, *_ = envs.answer([0, 1, 0])
    assert_array_equal(seen, kept)
    assert not np.shares_memory(seen, later)


def test_moves_out_of_turn_are_refused() -> None:
    envs = principal_agent_v0.vector_env(num_envs=2, n_arms=2, horizon=1)
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        envs.offer(np.zeros((2, 2)))
    envs.reset(seed=0)
    for early in (envs.scripted_arms, lambda: envs.answer([0, 0])):
        with pytest.raises(ResetNeeded, match=r"call offer\(incentives\) first"):
            early()
    envs.offer(np.zeros((2, 2)))
    with pytest.raises(ResetNeeded, match=r"call answer\(arms\) before"):
        envs.offer(np.zeros((2, 2)))
    envs.answer([0, 0])
    with pytest.raises(ResetNeeded, match="ended after horizon = 1"):
        envs.offer(np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("offers", "arms", "message"),
    [
        ([[0.1, np.nan], [0, 0]], None, r"incentives\[0, 1\] = nan"),
        ([[0.1, 5.0], [0, 0]], None, r"incentives\[0, 1\] = 5.0"),
        ([0.1, 0.2, 0.3], None, "incentives has shape"),
        (np.zeros((2, 2)), [0, 2], r"arms\[1\] = 2"),
        (np.zeros((2, 2)), [0.0, 1.0], "must be 2 integer"),
        (np.zeros((2, 2)), [0], "must be 2 integer"),
    ],
)
def test_a_bad_move_is_refused_and_moves_nothing(offers: Any, arms: Any, message: str) -> None:
    envs, twin = (principal_agent_v0.vector_env(num_envs=2, n_arms=2, horizon=9) for _ in range(2))
    for made in (envs, twin):
        made.reset(seed=3)
    with pytest.raises(ValueError, match=message):  # noqa: PT012 - either move may be the bad one
        envs.offer(offers)
        envs.answer(arms)
    for made in (envs, twin):
        if made is twin or arms is None:
            made.offer(np.full((2, 2), 0.3))
    if arms is None:
        assert_array_equal(envs.answer([1, 0])[0], twin.answer([1, 0])[0])
    else:
        assert envs.game.rounds_played == 0


def test_unknown_arguments_are_named() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'render_mode'; known: .*num_envs, observation"):
        principal_agent_v0.vector_env(num_envs=2, render_mode="ansi")


def test_the_arms_of_a_linear_game_are_those_of_this_episode() -> None:
    envs = principal_agent_v0.vector_env(num_envs=2, n_arms=4, dim=2, horizon=1, instance="unit-ball")
    _, infos = envs.reset(seed=0)
    assert_array_equal(infos["agent_0"]["arms"], envs.game.features)
    infos["agent_0"]["arms"][...] = 0.0
    assert envs.game.features.any()
    _, later = envs.reset()
    assert (later["principal_0"]["arms"] != infos["principal_0"]["arms"]).all()
