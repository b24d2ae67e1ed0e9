"""The compiled game, round by round, against the plain one."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import Replay, draw_instance, episode_key, random_offer

from pa_env import IID, Linear, ScriptedAgent, make_agent
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv
from pa_env.payoff_agents import FEEDBACKS

SEEDS = st.integers(0, 2**32)
TIES = st.sampled_from(["lowest", "highest", "random", "largest-incentive"])
GREEDY = ("empirical-mean", "empirical-mean", "exploratory")
OFFERS = ("zero", "one-hot", "random", "grid", "tie", "hair", "cap")


@st.composite
def agents(draw: st.DrawFn, names: list[str], k: int, initials: list[Any]) -> ScriptedAgent:
    """Any of the scripted agents, with any of its parameters."""
    others = ["exploratory", "oracle", "exploratory-oracle", "ucb", "thompson", "exp3", "logit", "hedge"]
    name = draw(st.sampled_from([*names, *others]))
    parameters: dict[str, Any] = {}
    if name not in ("ucb", "thompson", "exp3", "hedge", "follow-the-leader", "holdout"):
        parameters["ties"] = draw(TIES)
    if name.startswith("exploratory"):
        parameters["c0"] = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]))
        parameters["exploration"] = draw(
            st.sampled_from(["uniform", "worst", "round-robin", "target", draw(st.integers(0, k - 1))])
        )
        parameters["exponent"] = draw(st.sampled_from([0.5, 0.0, 0.3, 1.0]))
    if name in ("logit", "types"):
        parameters["temperature"] = draw(st.sampled_from([0.0, 0.01, 0.1, 1.0]))
    if name == "logit":
        parameters["knows_means"] = draw(st.booleans())
    if name == "hedge":
        parameters = {"rate": draw(st.sampled_from([0.1, 1.0, 5.0])), "feedback": draw(st.sampled_from(FEEDBACKS))}
    if name == "holdout":
        parameters = {"margin": draw(st.sampled_from([0.0, 0.25, 1.0])), "patience": draw(st.integers(0, 5))}
    if name == "types":
        n_types, rng = draw(st.integers(1, 4)), np.random.default_rng(draw(SEEDS))
        parameters["types"] = draw(
            st.sampled_from([n_types, rng.random((n_types, k)), rng.integers(0, 3, (n_types, k)) / 2])
        )
        parameters["order"] = draw(st.sampled_from(["random", "blocks", "cycle", rng.integers(0, n_types, 7)]))
    if name in ("empirical-mean", "exploratory", "ols", "logit"):
        parameters["initial"] = draw(st.sampled_from(initials))
    return make_agent(name, **parameters)


@st.composite
def iid_games(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of a game, with means that tie often when they are on a grid."""
    k = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(SEEDS))
    initials = [0.0, 0.5, 1.0, tuple(rng.integers(0, 3, k) / 2), tuple(rng.random(k))]
    agent = draw(agents([*GREEDY, "types", "types", "holdout", "follow-the-leader"], k, initials))
    instance: str | IID = draw(st.sampled_from(["uniform", "misaligned", "gap", "clustered", "minimax", "given"]))
    if instance == "given":
        means = rng.random((2, k)) if draw(st.booleans()) else rng.integers(0, 5, (2, k)) / 4
        instance = IID(*means, rewards=draw(st.sampled_from(["bernoulli", "beta", "gaussian", "constant"])))
    return {
        "n_arms": k,
        "horizon": draw(st.integers(1, 60)),
        "agent": agent,
        "instance": instance,
        "max_incentive": draw(st.sampled_from([None, 0.3, 1.0])),
    }


@st.composite
def linear_games(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of a linear game; fixed arms stand on a grid, so that they repeat, vanish and fail to span early."""
    dim = draw(st.integers(1, 4))
    k = draw(st.integers(dim, 6))
    rng = np.random.default_rng(draw(SEEDS))
    agent = draw(agents(["ols", "empirical-mean"], k, [0.0, tuple(rng.random(dim) / dim)]))
    instance: str | Linear = "unit-ball"
    if draw(st.booleans()):
        arms = np.concatenate([np.eye(dim), rng.integers(-2, 3, (k - dim, dim)) / 4])
        s, nu = rng.random((2, dim)) / dim
        instance = Linear(rng.permutation(arms), s, nu, noise=draw(st.sampled_from([0.0, 0.1, 1.0])))
    return {"n_arms": k, "dim": dim, "horizon": draw(st.integers(1, 40)), "agent": agent, "instance": instance}


def begin(env: Any, game: dict[str, Any], seed: int, episode: int) -> tuple[Replay, Any]:
    """Both games at the start of the same episode, and the environment's first observation.

    The environment comes from rounds of earlier episodes, which must leave no trace.
    """
    observation, _ = env.reset(seed=seed)
    env.action_space.seed(seed % 2**32)
    for _ in range(episode - 1):
        for _ in range(min(game["horizon"], 7)):
            env.step(env.action_space.sample())
        observation, _ = env.reset()
    key, instance = episode_key(seed, episode), game["instance"]
    if isinstance(instance, str):
        instance = draw_instance(instance, key, game["n_arms"], game["horizon"], game.get("dim", 0))
        played = env.game.instance()
        means = ("theta",) if game["agent"].n_types else ("mu", "theta")
        for name in ("arms", "s", "nu") if "dim" in game else means:
            assert_allclose(getattr(played, name), getattr(instance, name), rtol=1e-14, atol=1e-15)
        instance = played
    replay = Replay(key, instance, game["agent"], game["horizon"], env.game.max_incentive)
    assert_allclose(env.game.arrays.arms[0, :2], [replay.true_means(), replay.theta], rtol=0, atol=1e-15)
    replay.mu, replay.theta = env.game.arrays.arms[0, :2].tolist()  # to the last digit, on which ties depend
    return replay, observation


def make_offer(kind: str, replay: Replay, rng: np.random.Generator) -> np.ndarray:
    """An offer; "tie" and "hair" meet the agent's indifference to the last digit, and miss it by one."""
    k, most, arm = replay.k, replay.max_incentive, rng.integers(replay.k)
    offer = np.zeros(k)
    match kind:
        case "one-hot":
            offer[arm] = rng.random() * most
        case "random":
            offer = rng.random(k) * most
        case "grid":
            offer = rng.integers(0, 5, k) / 4 * most
        case "cap":
            offer[arm] = most
        case "tie" | "hair":
            means = replay.means()
            offer[arm] = min(max(means) - means[arm], most)
            if kind == "hair":
                offer[arm] = np.nextafter(offer[arm], rng.choice([0.0, most]))
    return offer


def check_totals(totals: dict[str, float], replay: Replay, tolerance: float) -> None:
    expected = {"agent_regret": replay.own_regret, "regret_response": replay.response_regret, "regret_fixed": math.nan}
    if replay.type_means:
        expected["regret_fixed"] = replay.fixed_regret()
    for name, value in expected.items():
        rounds = len(replay.history)
        # The plain game searches prices on a grid: it may find a little less.
        allowed = max(tolerance, 1e-4) if replay.agent.temperature and name == "regret_fixed" else tolerance
        assert_allclose(totals[name], value, rtol=1e-9, atol=allowed * rounds, err_msg=name)


def check_info(info: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    assert info.keys() == expected.keys()
    assert info["arm"] == expected["arm"]
    assert info["utility"] == expected["utility"]
    shapes = [{name: np.shape(value) for name, value in values.items()} for values in (info, expected)]
    assert shapes[0] == shapes[1]
    found, wanted = (np.concatenate([np.ravel(values[name]) for name in expected]) for values in (info, expected))
    assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=f"{shapes[0]}")  # at once: a call is slow


@settings(max_examples=300)
@given(game=iid_games(), seed=SEEDS, episode=st.integers(1, 3))
def test_iid_rounds_are_those_of_the_plain_game(game: dict[str, Any], seed: int, episode: int) -> None:
    env, rng = PrincipalEnv(**game), np.random.default_rng(seed)
    replay, observation = begin(env, game, seed, episode)
    assert_array_equal(observation, replay.summary())
    for t in range(1, game["horizon"] + 1):
        offer = make_offer(rng.choice(OFFERS), replay, rng)
        assert_array_equal(env.game.means[0], replay.means())
        expected = replay.play(offer)
        observation, reward, terminated, truncated, info = env.step(offer)
        check_info(info, expected, 1e-12)
        assert reward == expected["utility"]
        assert (terminated, truncated) == (t == game["horizon"], False)
        assert_array_equal(observation, replay.summary())
    check_totals(env.game.totals(), replay, 1e-9)


@settings(max_examples=150)
@given(game=linear_games(), seed=SEEDS, episode=st.integers(1, 3))
def test_linear_rounds_are_those_of_the_plain_game(game: dict[str, Any], seed: int, episode: int) -> None:
    env, rng = PrincipalEnv(**game), np.random.default_rng(seed)
    replay, observation = begin(env, game, seed, episode)
    assert_array_equal(observation, replay.summary())
    for t in range(1, game["horizon"] + 1):
        means = np.array(replay.means())
        offer = make_offer(rng.choice(OFFERS[:4]), replay, rng)
        # Two ways to solve least squares differ in the last digits, so only equal arms may tie.
        while _nearly_tied(means + offer, replay):
            offer = make_offer("random", replay, rng)
        assert_allclose(env.game.means[0], means, rtol=1e-9, atol=1e-9)
        expected = replay.play(offer)
        observation, reward, terminated, _, info = env.step(offer)
        check_info(info, expected, 1e-9)
        assert reward == expected["utility"]
        assert terminated == (t == game["horizon"])
        assert_array_equal(observation, replay.summary())
    check_totals(env.game.totals(), replay, 1e-8)


def _nearly_tied(values: np.ndarray, replay: Replay) -> bool:
    if replay.agent.is_oracle or replay.agent.temperature or not replay.history:
        return False
    return bool(np.sum(values > values.max() - 1e-7) > 1)


@given(game=st.one_of(iid_games(), linear_games()), seed=SEEDS)
def test_follower_sees_random_offers_and_its_own_beliefs(game: dict[str, Any], seed: int) -> None:
    env, rng = FollowerEnv(**game), np.random.default_rng(seed)
    replay, observation = begin(env, game, seed, 1)
    linear = "dim" in game
    for t in range(1, game["horizon"] + 1):
        offer = random_offer(replay.key, t, replay.k, replay.max_incentive)
        tolerance = 1e-6 if linear else 0.0
        assert_allclose(observation, replay.agent_view(offer), rtol=tolerance, atol=tolerance)
        arm = int(rng.integers(replay.k))
        expected = replay.play(offer, arm)
        observation, reward, terminated, _, info = env.step(arm)
        check_info(info, expected, 1e-9 if linear else 1e-12)
        assert reward == replay.history[-1][3] + offer[arm]
        assert terminated == (t == game["horizon"])
    assert_array_equal(observation[: replay.k], 0)  # the game is over: nothing is offered


@pytest.mark.parametrize("family", ["uniform", "misaligned", "gap", "clustered", "minimax"])
def test_last_observation_is_the_last_round_of_the_summary(family: str) -> None:
    env = PrincipalEnv(n_arms=3, horizon=5, instance=family, observation="last")
    replay, _ = begin(env, {"n_arms": 3, "horizon": 5, "instance": family, "agent": make_agent("empirical-mean")}, 4, 1)
    replay.play(np.array([0.1, 0.2, 0.3]))
    observation, *_ = env.step([0.1, 0.2, 0.3])
    summary = replay.summary()
    assert_array_equal(observation, np.concatenate([summary[:3], summary[15:]]))
