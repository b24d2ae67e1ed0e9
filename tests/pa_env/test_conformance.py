"""The libraries' own checkers accept every environment, and find nothing to warn of that could be helped.

PettingZoo's ``test_save_obs`` is for images and its ``max_cycles_test`` for a ``max_cycles`` argument: not for us.
"""

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.env_registry import registration

import pa_env
from pa_env import principal_agent_v0
from pa_env.envs.batched import FollowerVectorEnv, PrincipalVectorEnv
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv
from pa_env.wrappers import ForLearning, RescaleIncentive

with warnings.catch_warnings():  # PettingZoo's tests import PettingZoo's games in a way that it deprecates
    warnings.filterwarnings("ignore", "The old environment creation API has been deprecated", DeprecationWarning)
    import pettingzoo.test as pettingzoo_test

GAMES: dict[str, dict[str, Any]] = {"i.i.d.": {}, "linear": {"instance": "unit-ball"}}
SEATS = {"PrincipalAgent-v0": 4.0, "PrincipalAgentLinear-v0": 8.0, "PrincipalAgentFollower-v0": 4.0}  # max_incentive
PRINCIPALS = [name for name in SEATS if "Follower" not in name]
MODES = ("ansi", "rgb_array", "human")

# The two players see different things, and incentives are amounts (RescaleIncentive is for who wants [-1, 1]).
PLAYERS = ("Agents have different observation space sizes", "Observations are different shapes")
WRAPPED = ("is different from the unwrapped version",)  # said of any wrapper
AMOUNTS = ("For Box action spaces, we recommend using a symmetric and normalized space",)

every_game = pytest.mark.parametrize("game", GAMES)
every_seat = pytest.mark.parametrize("name", SEATS)


def avoidable(check: Callable[[], Any], *unavoidable: str) -> list[str]:
    """The check's warnings but for the unavoidable ones."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check()
    texts = sorted({str(warning.message) for warning in caught})
    return [text for text in texts if not any(known in text for known in unavoidable)]


# ----------------------------------------------------------------------------------------- PettingZoo


@every_game
def test_pettingzoo_api(game: str) -> None:
    env = principal_agent_v0.env(horizon=30, **GAMES[game])
    assert avoidable(lambda: pettingzoo_test.api_test(env, num_cycles=100), *PLAYERS) == []


@every_game
def test_pettingzoo_parallel_api(game: str) -> None:
    env = principal_agent_v0.parallel_env(horizon=30, **GAMES[game])
    assert avoidable(lambda: pettingzoo_test.parallel_api_test(env, num_cycles=100)) == []


@every_game
def test_pettingzoo_seed(game: str) -> None:
    settings = {"horizon": 30, **GAMES[game]}
    for check, make in (
        (pettingzoo_test.seed_test, principal_agent_v0.env),
        (pettingzoo_test.parallel_seed_test, principal_agent_v0.parallel_env),
    ):
        assert avoidable(lambda check=check, make=make: check(lambda: make(**settings), num_cycles=100)) == []


@every_game
def test_pettingzoo_state(game: str) -> None:
    envs = [make(horizon=30, **GAMES[game]) for make in (principal_agent_v0.env, principal_agent_v0.parallel_env)]
    assert avoidable(lambda: pettingzoo_test.state_test(*envs)) == []


@every_game
def test_pettingzoo_render(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    def make(render_mode: str) -> Any:
        return principal_agent_v0.env(horizon=30, render_mode=render_mode, **GAMES[game])

    tests = {"ansi": lambda text: "round " in text, "rgb_array": lambda image: image.shape == (540, 960, 3)}
    assert avoidable(lambda: pettingzoo_test.render_test(make, tests)) == []
    assert "round 0 / 30" in capsys.readouterr().out, "human writes to stdout"


@pytest.mark.parametrize("kind", ["aec", "parallel"])
def test_pettingzoo_registry(kind: Any) -> None:
    env = registration.make(kind, "principal_agent_v0", n_arms=3, horizon=7)
    assert env.possible_agents == ["principal_0", "agent_0"]
    assert env.action_space("agent_0") == Discrete(3)
    env.reset(seed=1)
    assert env.agents == env.possible_agents


# ----------------------------------------------------------------------------------------- Gymnasium


@every_seat
def test_gymnasium_checker(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It renders in every mode."""
    env = gym.make(name, horizon=30)
    assert env.metadata["render_modes"] == list(MODES)
    assert avoidable(lambda: check_env(env.unwrapped), *AMOUNTS) == []
    assert "round 0 / 30" in capsys.readouterr().out, "human writes to stdout"


@pytest.mark.parametrize("name", PRINCIPALS)
@pytest.mark.parametrize("observation", ["last", "learning"])
def test_gymnasium_checker_with_other_observations(name: str, observation: str) -> None:
    env = gym.make(name, horizon=30, observation=observation)
    assert avoidable(lambda: check_env(env.unwrapped, skip_render_check=True), *AMOUNTS) == []


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("mode", MODES)
@every_seat
def test_render(name: str, mode: str, batch: bool, capsys: pytest.CaptureFixture[str]) -> None:
    env = gym.make_vec(name, num_envs=2, render_mode=mode) if batch else gym.make(name, render_mode=mode)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    frame = env.render()
    shown = capsys.readouterr().out
    if mode == "ansi":
        assert "round 1 / 1000" in frame
    elif mode == "rgb_array":
        assert (frame.shape, frame.dtype) == ((540, 960, 3), np.uint8)
    else:
        assert frame is None
    assert ("round 1 / 1000" in shown) == (mode == "human")


@pytest.mark.parametrize("observation", ["summary", "last", "learning"])
@pytest.mark.parametrize("name", PRINCIPALS)
def test_stable_baselines3_checker(name: str, observation: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra [train]")
    env = RescaleIncentive(gym.make(name, horizon=30, observation=observation))
    assert avoidable(lambda: checker.check_env(env)) == []


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize("name", PRINCIPALS)
def test_both_checkers_find_nothing_to_say_of_the_learners_interface(name: str, continuous: bool) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra [train]")
    env = ForLearning(gym.make(name, horizon=30), continuous)
    assert avoidable(lambda: checker.check_env(env)) == []
    assert avoidable(lambda: check_env(env, skip_render_check=True), *WRAPPED) == []


def test_stable_baselines3_checker_in_the_followers_seat() -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra [train]")
    assert avoidable(lambda: checker.check_env(gym.make("PrincipalAgentFollower-v0", horizon=30))) == []


@pytest.mark.parametrize("mode", AutoresetMode)
@every_seat
def test_batched(name: str, mode: AutoresetMode) -> None:
    env = gym.make_vec(name, num_envs=3, horizon=2, autoreset_mode=mode)
    assert isinstance(env, FollowerVectorEnv if "Follower" in name else PrincipalVectorEnv)
    assert env.num_envs == 3
    assert env.metadata["autoreset_mode"] == mode
    env.reset(seed=1)
    for ends in (False, True):
        observations, rewards, terminated, truncated, info = env.step(env.action_space.sample())
        assert observations in env.observation_space
        assert (rewards.shape, rewards.dtype) == ((3,), np.float64)
        assert terminated.tolist() == [ends] * 3
        assert truncated.tolist() == [False] * 3
        assert ("final_obs" in info) == (ends and mode == AutoresetMode.SAME_STEP)


def test_registering_twice_is_harmless() -> None:
    registries = (gym.registry, registration.aec_registry, registration.parallel_registry)
    before = [dict(registry) for registry in registries]
    assert set(SEATS) <= set(gym.registry)
    assert avoidable(lambda: importlib.reload(pa_env)) == []
    assert [dict(registry) for registry in registries] == before


# ----------------------------------------------------------------------------------------- spaces


def bounds(space: Box, k: int) -> list[tuple[float, float]]:
    """Bounds of each block of ``k`` numbers, then of each number after them; far ones are infinite."""
    assert space.dtype == np.float32
    blocks = [*range(0, space.shape[0] // k * k, k), *range(space.shape[0] // k * k, space.shape[0])]
    assert len({*blocks}) == len(blocks)
    for block in blocks[: space.shape[0] // k]:
        assert len({*zip(space.low[block : block + k], space.high[block : block + k], strict=True)}) == 1
    pairs = [(float(space.low[block]), float(space.high[block])) for block in blocks]
    return [(-np.inf, np.inf) if high > 1e30 and low < -1e30 else (low, high) for low, high in pairs]


@every_seat
def test_documented_spaces(name: str) -> None:
    k, most = 7, SEATS[name]  # 7 divides neither of the numbers that follow the blocks
    env = gym.make(name, n_arms=k)
    anything, share, incentive = (-np.inf, np.inf), (0.0, 1.0), (0.0, most)
    if "Follower" in name:
        assert env.action_space == Discrete(k)
        assert bounds(env.observation_space, k) == [incentive, anything, share, share]
        return
    assert env.action_space == Box(0.0, most, (k,), np.float64)
    summary = [share, anything, share, incentive, incentive, incentive, anything, share]
    assert bounds(env.observation_space, k) == summary
    last = gym.make(name, n_arms=k, observation="last")
    assert bounds(last.observation_space, k) == [share, incentive, anything, share]
    summary[2] = (0.0, float(np.float32(np.log(1 + 1000) / 4)))
    assert bounds(gym.make(name, n_arms=k, observation="learning").observation_space, k) == summary


def test_documented_largest_incentives() -> None:
    for settings, most in (({}, 4.0), ({"instance": "unit-ball", "dim": 5}, 12.0), ({"max_incentive": 1.5}, 1.5)):
        assert PrincipalEnv(**settings).action_space.high.max() == most
        assert FollowerEnv(**settings).observation_space.high[0] == most
        aec = principal_agent_v0.env(**settings)
        assert aec.action_space("principal_0") == PrincipalEnv(**settings).action_space
        assert aec.observation_space("principal_0") == PrincipalEnv(**settings).observation_space
        assert aec.observation_space("agent_0") == FollowerEnv(**settings).observation_space


def test_a_max_incentive_beyond_float32_is_refused() -> None:
    with pytest.raises(ValueError, match=r"max_incentive = 1e\+300 must be at most"):
        PrincipalEnv(max_incentive=1e300)


@pytest.mark.parametrize("instance", pa_env.families())
def test_observations_stay_within_bounds(instance: str) -> None:
    env = principal_agent_v0.env(instance=instance, horizon=200)
    env.reset(seed=1)
    env.action_space("principal_0").seed(1)
    for player in env.agent_iter(400):
        assert env.observe(player) in env.observation_space(player)
        env.step(env.action_space(player).sample())
