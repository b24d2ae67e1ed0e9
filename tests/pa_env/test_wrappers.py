"""Other ways to act: each wrapper offers what it documents, the same for a copy of a batch, and any sample is taken."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, Tuple
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_equal

import pa_env
from pa_env import principal_agent_v0, wrappers
from pa_env.envs.batched import FollowerVectorEnv, PrincipalVectorEnv
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv

K, T, MOST = 3, 12, 4.0
WRAPPERS: dict[str, Callable[..., Any]] = {
    "RescaleIncentive": wrappers.RescaleIncentive,
    "TargetArm": wrappers.TargetArm,
    "IncentiveGrid": wrappers.IncentiveGrid,
    "BracketIncentive": wrappers.BracketIncentive,
    "ProfitLevel": wrappers.ProfitLevel,
    "ForLearning": wrappers.ForLearning,
    "ForLearning, continuous": partial(wrappers.ForLearning, continuous=True),
}
# An instance with constant rewards: arm 0 is the agent's, arm 2 the principal's, and an offer of 0.5 turns it.
CONSTANT = pa_env.IID(mu=[0.75, 0.5, 0.25], theta=[0.25, 0.5, 1.0], rewards="constant")
every_wrapper = pytest.mark.parametrize("name", WRAPPERS)


def wrapped(name: str, copies: int | None = None, seed: int = 1, **settings: Any) -> Any:
    """A wrapped environment at its first round, scalar where ``copies`` is None."""
    settings = {"n_arms": K, "horizon": T} | settings
    env = PrincipalEnv(**settings) if copies is None else PrincipalVectorEnv(copies, **settings)
    env = WRAPPERS[name](env)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    return env


def offered(env: Any, action: Any) -> Any:
    """The offer that an action makes: what the principal remembers of the round."""
    env.step(action)
    k = env.unwrapped.game.n_arms
    return env.unwrapped.game.summary[..., 5 * k : 6 * k].squeeze().astype(np.float64)


def one_hot(arm: int, amount: float) -> list[float]:
    return [amount if a == arm else 0.0 for a in range(K)]


# ----------------------------------------------------------------------------------------- what is offered


def test_spaces() -> None:
    expected = {
        "RescaleIncentive": Box(-1, 1, (K,), np.float32),
        "TargetArm": Tuple((Discrete(K), Box(0, MOST, (), np.float64))),
        "IncentiveGrid": Discrete(11 * K),
        "BracketIncentive": Discrete(4 * K),
        "ProfitLevel": Box(-1, 1, (1,), np.float32),
        "ForLearning": Discrete(5 * K),
        "ForLearning, continuous": Box(-1, 1, (1 + K,), np.float32),
    }
    assert {name: wrapped(name).action_space for name in WRAPPERS} == expected
    assert {name: wrapped(name, 2).single_action_space for name in WRAPPERS} == expected
    for name in WRAPPERS:
        env = wrapped(name, 2)
        assert env.action_space == gym.vector.utils.batch_space(expected[name], 2)
        seen = "learning" if "ForLearning" in name else "summary"
        assert env.observation_space == PrincipalVectorEnv(2, n_arms=K, horizon=T, observation=seen).observation_space


def test_rescale_offers_the_absolute_value() -> None:
    env = wrapped("RescaleIncentive")
    for action, offer in {0.0: 0.0, 1.0: MOST, -1.0: MOST, 0.5: 2.0, -0.25: 1.0}.items():
        assert_equal(offered(env, np.array([action, 0, 0], np.float32)), one_hot(0, offer))


def test_target_offers_on_one_arm() -> None:
    env = wrapped("TargetArm")
    for arm, amount in ((0, 0.0), (1, 0.5), (2, MOST)):
        assert_equal(offered(env, (arm, amount)), one_hot(arm, amount))
    assert_equal(offered(env, (np.int64(1), np.float32(0.5))), one_hot(1, 0.5))


@pytest.mark.parametrize("top", [None, 1.0])
def test_grid_offers_even_levels(top: float | None) -> None:
    env = wrappers.IncentiveGrid(PrincipalEnv(n_arms=K, horizon=5 * K), levels=5, top=top)
    env.reset(seed=1)
    for action in range(5 * K):
        arm, level = divmod(action, 5)
        assert_equal(offered(env, action), one_hot(arm, level * (top or MOST) / 4))


def test_bracket_offers_between_refused_and_accepted() -> None:
    env = wrapped("BracketIncentive", instance=CONSTANT, agent="oracle")
    never = 1 + 1 / T  # what counts as accepted by an arm that never was

    def check(place: int, offer: float) -> None:
        """Of arm 2."""
        assert offered(env, 4 * 2 + place) == pytest.approx(one_hot(2, offer), abs=1e-6)

    check(2, never)  # accepted
    check(1, never / 2)  # the middle: accepted
    check(0, 0.0)  # nothing was refused yet: refused
    check(1, never / 4)  # refused
    check(0, never / 4)  # refused
    check(2, never / 2)  # accepted
    check(3, never / 2 + 0.05)
    check(1, never * 3 / 8)


def test_bracket_options() -> None:
    env = wrappers.BracketIncentive(PrincipalEnv(n_arms=K, horizon=T), above=0.25, cap=2.0)
    env.reset(seed=1)
    assert_equal(offered(env, 3), one_hot(0, 2.25))
    assert_equal(offered(wrapped("BracketIncentive", instance="unit-ball", dim=2), 2), one_hot(0, 6.0))
    assert_equal(offered(wrapped("BracketIncentive", max_incentive=0.5), 3), one_hot(0, 0.5))


def test_bracket_smallest_accepted_above_the_cap() -> None:
    """Once an arm accepted, its smallest accepted offer counts, not what stands in for it before."""
    env = wrapped("BracketIncentive", instance=CONSTANT, agent="oracle")
    env.unwrapped.step([0.0, 0.0, 3.0])
    assert offered(env, 4 * 2 + 2) == pytest.approx(one_hot(2, 3.0), rel=1e-6)


def test_bracket_offers_again_what_was_accepted() -> None:
    """Float32 rounding must not turn an accepted offer into a refused one."""
    env = wrapped("BracketIncentive", instance=CONSTANT, agent="oracle", max_incentive=1.0)
    env.unwrapped.step([0.0, 0.0, (accepted := np.nextafter(0.5, 1.0))])  # 0.25 + accepted > 0.75
    *_, info = env.step(4 * 2 + 2)
    assert info["arm"] == 2
    assert info["utility"] == pytest.approx(1.0 - accepted, abs=1e-6)


def test_bracket_counts_on_more_than_1_however_long_the_game() -> None:
    env = wrapped("BracketIncentive", horizon=10**9, instance=CONSTANT)
    *_, info = env.step(4 * 2 + 2)
    assert info["utility"] == 1.0 - (1 + 1e-9)


def test_profit_offers_what_an_arm_is_worth_but_for_the_level() -> None:
    options = {"bonus": 0.5, "fading": 0.5, "ending": 2.0}
    env = wrappers.ProfitLevel(PrincipalEnv(n_arms=K, horizon=T, instance=CONSTANT), **options)
    env.reset(seed=1)
    plays, rewards = np.zeros(K), np.zeros(K)
    for t, level in enumerate([-1.0, 0.25, 0.5, 1.0, 0.0]):
        bonus = 0.5 * (1 - t / T) ** 2.0 * (plays + 2) ** -0.5
        expected = np.maximum(0, (rewards + 1) / (plays + 2) + bonus - level)
        assert offered(env, [level]) == pytest.approx(expected, abs=1e-6)
        arm = env.unwrapped.game.arrays.state["arm"][0]
        plays[arm] += 1
        rewards[arm] += CONSTANT.theta[arm]


@pytest.mark.parametrize(
    ("name", "nothing", "most"),
    [
        ("RescaleIncentive", np.zeros(K), np.ones(K)),
        ("TargetArm", (1, 0.0), (1, MOST)),
        ("IncentiveGrid", 11, 21),
        ("BracketIncentive", 4, 7),
        ("ProfitLevel", [1.0], [-1.0]),
    ],
)
def test_nothing_and_the_most_can_be_offered(name: str, nothing: Any, most: Any) -> None:
    env = wrapped(name, max_incentive=1.0 if name in ("BracketIncentive", "ProfitLevel") else MOST)
    assert offered(env, nothing).max() == 0.0
    assert offered(env, most).max() == env.unwrapped.game.max_incentive


def test_no_incentive_is_an_inner_point_of_rescale() -> None:
    env = wrapped("RescaleIncentive")
    assert_equal(offered(env, np.zeros(K)), np.zeros(K))
    assert (env.action_space.low < 0).all()
    assert (env.action_space.high > 0).all()


# ----------------------------------------------------------------------------------------- any sample, any interface

GAMES: dict[str, dict[str, Any]] = {
    "i.i.d.": {},
    "linear": {"instance": "unit-ball", "dim": 2},
    "last": {"observation": "last"},
    "an odd largest incentive": {"max_incentive": 0.1},
    "Gaussian": {"instance": pa_env.IID([5.0, -5.0, 0.0], [-3.0, 9.0, 0.0], "gaussian")},
    "one arm": {"n_arms": 1},
}
# ForLearning has an observation of its own.
MODES = list(AutoresetMode)
PLAYED = [(name, game) for name in WRAPPERS for game in GAMES if not ("ForLearning" in name and game == "last")]


@pytest.mark.parametrize(("name", "game", "mode"), [(*pair, MODES[i % 3]) for i, pair in enumerate(PLAYED)])
def test_copy_i_is_the_scalar_environment_with_seed_plus_i(name: str, game: str, mode: AutoresetMode) -> None:
    """Over two episodes of samples, and the offers are always taken."""
    batch = wrapped(name, 2, autoreset_mode=mode, **GAMES[game])
    alone = [wrapped(name, seed=1 + i, **GAMES[game]) for i in range(2)]
    for t in range(2 * T):
        actions = batch.action_space.sample()
        observations, rewards, terminated, _, info = batch.step(actions)
        each = list(gym.vector.utils.iterate(batch.action_space, actions))
        for i, env in enumerate(alone):
            observation, reward, over, _, told = env.step(each[i])
            if over:
                final = info["final_obs"][i] if mode == AutoresetMode.SAME_STEP else observations[i]
                assert_equal(observation, final)
                observation, _ = env.reset()
            else:
                assert_equal(observation, observations[i])
            assert (reward, over) == (rewards[i], terminated[i])
            assert_equal(told["optimal_incentives"], info["optimal_incentives"][i])
        assert terminated.all() == ((t + 1) % T == 0)
        if terminated.all() and mode == AutoresetMode.NEXT_STEP:
            *_, info = batch.step(batch.action_space.sample())
            assert not info["_arm"].any()
        elif terminated.all() and mode == AutoresetMode.DISABLED:
            batch.reset()


@every_wrapper
@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_arms=st.integers(1, 6),
    horizon=st.integers(1, 40),
    most=st.floats(1e-3, 1e3),
    agent=st.sampled_from(pa_env.agents()[:4]),
)
def test_every_sample_is_taken(name: str, seed: int, n_arms: int, horizon: int, most: float, agent: str) -> None:
    env = wrapped(name, seed=seed, n_arms=n_arms, horizon=horizon, max_incentive=most, agent=agent)
    for t in range(horizon):
        observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert np.isfinite(reward)
        assert (terminated, truncated) == (t == horizon - 1, False)


@pytest.mark.parametrize("copies", [None, 2])
@every_wrapper
def test_a_copy_plays_its_own_game(name: str, copies: int | None) -> None:
    env, twin = wrapped(name, copies), wrapped(name, copies)
    actions = [env.action_space.sample() for _ in range(6)]
    for action in actions[:3]:
        env.step(action)
        twin.step(action)
    other = copy.deepcopy(env)
    assert other.unwrapped.game is not env.unwrapped.game
    for action in actions[3:]:
        other.step(action)
    assert env.unwrapped.game.rounds_played == 3
    for action in actions[3:]:
        assert_equal(env.step(action), twin.step(action))


# ----------------------------------------------------------------------------------------- refusals


BAD_ACTIONS: dict[str, list[tuple[Any, tuple[str, ...]]]] = {
    "RescaleIncentive": [
        ([0.0, 0.0, 1.5], ("action", "1.5", "-1 to 1")),
        ([0.0, -1.5, 0.0], ("action", "-1.5", "-1 to 1")),
        ([0.0, np.nan, 0.0], ("action", "nan", "-1 to 1")),
        ([0.0, np.inf, 0.0], ("action", "inf", "-1 to 1")),
        ([0.0, 0.0], ("action", "0.", "-1 to 1", "shape", "3")),
        (0.5, ("action", "0.5", "-1 to 1", "shape", "3")),
        ("much", ("action", "'much'", "numbers")),
        (None, ("action", "None", "numbers")),
        ([0.5, [0.5, 0.5]], ("action", "[0.5, 0.5]", "numbers")),
    ],
    "TargetArm": [
        ((3, 0.5), ("arm", "3", "0 to 2")),
        ((-1, 0.5), ("arm", "-1", "0 to 2")),
        ((1.5, 0.5), ("arm", "1.5", "integer", "0 to 2")),
        ((1, -0.5), ("amount", "-0.5", "0 to 4")),
        ((1, 4.5), ("amount", "4.5", "0 to 4")),
        ((1, np.nan), ("amount", "nan", "0 to 4")),
        ((1, "much"), ("amount", "'much'", "numbers")),
        ((1, None), ("amount", "None", "numbers")),
        ((1, [0.5, 0.5]), ("amount", "0.5", "0 to 4")),
    ],
    "IncentiveGrid": [
        (33, ("action", "33", "0 to 32")),
        (-1, ("action", "-1", "0 to 32")),
        (1.0, ("action", "1.", "integer", "0 to 32")),
        ("1", ("action", "'1'", "integer", "0 to 32")),
        (None, ("action", "None", "integer", "0 to 32")),
        ([1, 2], ("action", "[1, 2]", "integer", "0 to 32")),
        ([1, [2, 3]], ("action", "[2, 3]", "integer", "0 to 32")),
    ],
    "BracketIncentive": [
        (12, ("action", "12", "0 to 11")),
        (-1, ("action", "-1", "0 to 11")),
        (np.nan, ("action", "nan", "integer", "0 to 11")),
    ],
    "ProfitLevel": [
        ([1.5], ("action", "1.5", "-1 to 1")),
        ([np.nan], ("action", "nan", "-1 to 1")),
        (0.5, ("action", "0.5", "-1 to 1", "shape", "1")),
        ("much", ("action", "'much'", "numbers")),
    ],
    "ForLearning": [
        (15, ("action", "15", "0 to 14")),
        (-1, ("action", "-1", "0 to 14")),
        (0.5, ("action", "0.5", "integer", "0 to 14")),
    ],
    "ForLearning, continuous": [
        ([0.0, 0.0, 1.5, 0.0], ("action", "1.5", "-1 to 1")),
        ([0.0, np.nan, 0.0, 0.0], ("action", "nan", "-1 to 1")),
        ([0.0, 0.0, 0.0], ("action", "0.", "-1 to 1", "shape", "4")),
    ],
}


def batched(action: Any) -> Any:
    """The same action for two copies, as Gymnasium batches it."""
    if isinstance(action, tuple):
        return tuple([part] * 2 for part in action)
    return [action] * 2


@pytest.mark.parametrize(
    ("name", "copies", "action", "words"),
    [
        pytest.param(name, (None, 2)[i % 2], action, words, id=f"{name}: {action!r}")
        for name, rows in BAD_ACTIONS.items()
        for i, (action, words) in enumerate(rows)
    ],
)
def test_bad_action(name: str, copies: int | None, action: Any, words: tuple[str, ...]) -> None:
    env, twin = wrapped(name, copies), wrapped(name, copies)
    with pytest.raises((ValueError, TypeError)) as caught:
        env.step(action if copies is None else batched(action))
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"
    good = env.action_space.sample()
    assert_equal(env.step(good), twin.step(good))


@pytest.mark.parametrize("copies", [None, 2])
@pytest.mark.parametrize("action", [1, None, (1, 0.5, 0.5), "arm"])
def test_target_takes_pairs(action: Any, copies: int | None) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        wrapped("TargetArm", copies).step(action)
    message = str(caught.value)
    assert f"action = {action!r} must be a pair (arm, amount)" in message


@pytest.mark.parametrize("name", ["RescaleIncentive", "ProfitLevel"])
def test_the_message_names_the_shape_that_one_environment_takes(name: str) -> None:
    env = wrapped(name)
    with pytest.raises(ValueError, match="shape") as caught:
        env.step([0.0] * 7)
    assert str(env.action_space.shape) in str(caught.value)


FOREIGN: dict[str, Callable[[], Any]] = {
    "the follower's seat": lambda: FollowerEnv(n_arms=K),
    "the follower's seat, batched": lambda: FollowerVectorEnv(2, n_arms=K),
    "another game": lambda: gym.make("CartPole-v1"),
    "another game, batched": lambda: gym.make_vec("CartPole-v1", num_envs=2),
    "the AEC interface": principal_agent_v0.env,
    "nothing": lambda: None,
    "a name": lambda: "PrincipalAgent-v0",
}


@pytest.mark.parametrize(("name", "what"), list(zip(WRAPPERS, FOREIGN, strict=True)))
def test_only_the_principals_seat_is_wrapped(name: str, what: str) -> None:
    env = FOREIGN[what]()
    with pytest.raises(TypeError, match=r"env = .*principal's seat: PrincipalAgent-v0"):
        WRAPPERS[name](env)


@every_wrapper
def test_one_wrapper_is_enough(name: str) -> None:
    """What one takes for an offer the other would take for an action."""
    env = wrapped("RescaleIncentive")
    with pytest.raises(TypeError, match=r"env = .*already"):
        WRAPPERS[name](env)


def test_other_wrappers_may_stand_between() -> None:
    plain, between = wrapped("TargetArm"), gym.wrappers.RecordEpisodeStatistics(PrincipalEnv(n_arms=K, horizon=T))
    env = wrappers.TargetArm(between)
    env.reset(seed=1)
    assert_equal(env.step((1, 0.5)), plain.step((1, 0.5)))


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("IncentiveGrid", {"levels": 1}, ("levels = 1", "integer at least 2")),
        ("IncentiveGrid", {"levels": 2.5}, ("levels = 2.5", "integer at least 2")),
        ("IncentiveGrid", {"top": 5}, ("top = 5", "at most max_incentive = 4")),
        ("IncentiveGrid", {"top": 0}, ("top = 0", "above 0")),
        ("IncentiveGrid", {"top": np.nan}, ("top = nan", "finite number above 0")),
        ("BracketIncentive", {"above": -0.1}, ("above = -0.1", "at least 0")),
        ("BracketIncentive", {"above": np.inf}, ("above = inf", "finite")),
        ("BracketIncentive", {"cap": 0}, ("cap = 0", "above 0")),
        ("BracketIncentive", {"cap": "x"}, ("cap = 'x'", "finite number above 0")),
        ("BracketIncentive", {"cap": 5}, ("cap = 5", "at most max_incentive = 4")),
        ("ProfitLevel", {"bonus": -1}, ("bonus = -1", "at least 0")),
        ("ProfitLevel", {"fading": np.nan}, ("fading = nan", "finite")),
        ("ProfitLevel", {"ending": None}, ("ending = None", "finite number at least 0")),
        ("ForLearning", {"cap": -1}, ("cap = -1", "above 0")),
        ("ForLearning", {"cap": 5}, ("cap = 5", "at most max_incentive = 4")),
    ],
)
def test_bad_options(name: str, options: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        WRAPPERS[name](PrincipalEnv(n_arms=K), **options)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"
