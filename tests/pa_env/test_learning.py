"""The plain learner's interface: the observation "learning", and the ladder of prices, against plain computations."""

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_equal

import pa_env
from pa_env import principal_agent_v0
from pa_env.envs.batched import PrincipalVectorEnv
from pa_env.envs.scalar import PrincipalEnv
from pa_env.wrappers import ForLearning

K, T = 3, 40
GAMES: dict[str, dict[str, Any]] = {
    "i.i.d.": {},
    "linear": {"instance": "unit-ball", "dim": 2},
    "small max_incentive": {"max_incentive": 0.2},
    "exploring": {"agent": "exploratory"},
    "Gaussian": {"instance": pa_env.IID([5.0, -5.0, 0.0], [-3.0, 9.0, 0.0], "gaussian")},
}
every_game = pytest.mark.parametrize("game", GAMES)


def brackets(offers: list[Any], arms: list[int]) -> tuple[list[float], list[float | None]]:
    """Largest refused and smallest accepted incentive of each arm, None before the first, from a whole history."""
    low: list[float] = [0.0] * K
    high: list[float | None] = [None] * K
    for offer, arm in zip(offers, arms, strict=True):
        for a in range(K):
            price = float(np.float32(offer[a]))
            if a == arm:
                low[a] = min(low[a], price)
                high[a] = price if high[a] is None else min(high[a], price)
            else:
                low[a] = max(low[a], price)
                high[a] = None if high[a] is None else max(high[a], price)
    return low, high


def ladder(low: float, high: float | None, cap: float) -> list[float]:
    """The five prices of an arm."""
    high = low + 0.3 if high is None else max(low, high)
    rungs = [low + 0.001, low + 0.001 + (high - low) / 10, (low + high) / 2, high, high + 0.05]
    return [min(rung, cap) for rung in rungs]


def episode(**settings: Any) -> Any:
    """A random episode on the ladder: before each round, the environment, its history and the observation."""
    env = ForLearning(gym.make("PrincipalAgent-v0", n_arms=K, horizon=T, **settings))
    env.action_space.seed(1)
    observation, _ = env.reset(seed=1)
    offers, arms, rewards = [], [], []
    for t in range(T + 1):
        yield env, observation, offers, arms, rewards
        if t < T:
            action = int(env.action_space.sample())
            observation, *_, info = env.step(action)
            offers.append(env.unwrapped.game.summary[0, 5 * K : 6 * K].astype(np.float64))
            arms.append(info["arm"])
            rewards.append(info["reward"])


@every_game
def test_the_observation_is_what_the_principal_may_work_out_itself(game: str) -> None:
    for env, observation, offers, arms, rewards in episode(**GAMES[game]):
        most = env.unwrapped.game.max_incentive
        low, high = brackets(offers, arms)
        plays = [arms.count(a) for a in range(K)]
        sums = [sum(x for x, arm in zip(rewards, arms, strict=True) if arm == a) for a in range(K)]
        last = arms[-1] if arms else None
        expected = [
            *(float(a == last) for a in range(K)),
            *(sums[a] / max(1, plays[a]) for a in range(K)),
            *(math.log(1 + n) / 4 for n in plays),
            *low,
            *(min(low[a] + 0.3, most) if high[a] is None else high[a] for a in range(K)),
            *(offers[-1] if offers else [0.0] * K),
            *(rewards[-1:] or [0.0]),
            len(arms) / T,
        ]
        assert_allclose(observation, expected, rtol=1e-6, atol=1e-6)
        assert observation.dtype == np.float32
        assert observation in env.observation_space


@every_game
@pytest.mark.parametrize("cap", [None, 0.15])
def test_every_rung_is_the_documented_price(game: str, cap: float | None) -> None:
    for env, _, offers, arms, _ in episode(**GAMES[game]):
        seat = env.unwrapped.game
        low, high = brackets(offers, arms)
        top = cap or (seat.max_incentive if seat.dim else min(1 + 1 / T, seat.max_incentive))
        discrete, continuous = (ForLearning(env.unwrapped, option, cap) for option in (False, True))
        for a in range(K):
            prices = ladder(low[a], high[a], top)
            for rung, price in enumerate(prices):
                one_hot = np.where(np.arange(K) == a, price, 0.0)
                assert_allclose(discrete.action(5 * a + rung), one_hot, rtol=1e-6, atol=1e-9)
                preferences = np.where(np.arange(K) == a, -0.5, -0.75)
                assert_allclose(continuous.action([rung / 2 - 1, *preferences]), one_hot, rtol=1e-6, atol=1e-9)
            between = continuous.action([-0.25, *preferences])[a]  # halfway between the second rung and the third
            assert_allclose(between, (prices[1] + prices[2]) / 2, rtol=1e-6, atol=1e-9)


def test_the_first_trial_of_an_arm_is_nearly_free() -> None:
    env = ForLearning(gym.make("PrincipalAgent-v0", n_arms=K, horizon=T, agent="empirical-mean"))
    env.reset(seed=1)
    *_, info = env.step(5 * 2)
    assert info["arm"] == 2
    assert info["reward"] - info["utility"] == pytest.approx(0.001)


def test_an_arm_that_was_played_for_nothing_is_offered_nothing_again() -> None:
    env = ForLearning(PrincipalEnv(n_arms=K, horizon=T, agent="oracle"))
    env.reset(seed=1)
    *_, info = env.unwrapped.step([0.0] * K)
    for rung in (2, 3):
        *_, told = env.step(5 * info["arm"] + rung)
        assert (told["arm"], told["utility"]) == (info["arm"], told["reward"])


@pytest.mark.parametrize("observation", ["summary", "learning"])
@pytest.mark.parametrize("make", [PrincipalEnv, lambda **settings: PrincipalVectorEnv(2, **settings)])
def test_it_does_not_matter_which_observation_is_wrapped(make: Any, observation: str) -> None:
    wrapped, plain = ForLearning(make(observation=observation, horizon=3)), make(observation="learning", horizon=3)
    assert_equal(wrapped.reset(seed=1), plain.reset(seed=1))
    for _ in range(3):
        offers = plain.action_space.sample()
        assert_equal(wrapped.env.step(offers), plain.step(offers))


def test_the_last_observations_alone_are_refused() -> None:
    with pytest.raises(TypeError, match="observation='learning'"):
        ForLearning(PrincipalEnv(observation="last"))


def test_both_seats_see_it_in_pettingzoo() -> None:
    env, scalar = (make(observation="learning", horizon=9) for make in (principal_agent_v0.env, PrincipalEnv))
    env.reset(seed=1)
    assert_equal(env.observe("principal_0"), scalar.reset(seed=1)[0])
    for _ in range(9):
        offer = scalar.action_space.sample()
        env.step(offer)
        env.step(env.infos["agent_0"]["scripted_arm"])
        assert_equal(env.observe("principal_0"), scalar.step(offer)[0])
