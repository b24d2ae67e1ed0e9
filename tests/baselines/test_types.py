"""Types of agents: the principal for smooth responses against a plain copy, and what the experiments claim."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import baselines
from baselines.benchmark.statistics import Estimate
from baselines.reproduce import own_regret, types
from baselines.reproduce.growth import Fit
from baselines.scripted.peers.price_grid import LAYOUT, GridEntry, PriceGrid, price_grid_rule
from pa_env import make_agent
from pa_env.kernel.draws import U64, uniform
from pa_env.rules import read_key

K, T = 3, 300


def plain_price_grid(lipschitz: float, key: int, answers: list[tuple[int, float]]) -> list[np.ndarray]:
    """The offers of Tsallis-INF over single-arm prices, told these arms and rewards, from the papers' formulas."""
    width = K ** (1 / 3) * (2 * lipschitz + 1) ** (-2 / 3) * T ** (-1 / 3)
    prices = [min(1.0, width * (level + 1)) for level in range(math.ceil(1 / width))]
    actions = [np.zeros(K), *(price * np.eye(K)[arm] for arm in range(K) for price in prices)]
    losses, offers = np.zeros(len(actions)), []
    for t, (arm, reward) in enumerate(answers, start=1):
        rate = 2 / math.sqrt(t)

        def excess(x: float, rate: float = rate) -> float:
            return float((4 / (rate * (losses - x)) ** 2).sum()) - 1

        low = losses.min() - 2 * math.sqrt(len(actions)) / rate - 1e-6
        x = brentq(excess, low, losses.min() - 2 / rate, xtol=1e-13)
        law = 4 / (rate * (losses - x)) ** 2
        left = uniform(U64(key), U64(t))
        chosen = int(np.argmax(np.cumsum(law) > left))
        offers.append(actions[chosen])
        losses[chosen] += (1 - (reward - actions[chosen][arm])) / 2 / law[chosen]
    return offers


@pytest.mark.parametrize("lipschitz", [0.0, 3.0, 10.0])
def test_price_grid_is_tsallis_inf_over_single_arm_prices(lipschitz: float) -> None:
    rng = np.random.default_rng(0)
    answers = [(int(rng.integers(K)), float(rng.integers(2))) for _ in range(T)]
    principal = PriceGrid(K, T, lipschitz)
    principal.reset(seed=4)
    memory = principal.request().memory  # type: ignore[union-attr]
    key = int(read_key(memory, GridEntry.KEY))
    for (arm, reward), expected in zip(answers, plain_price_grid(lipschitz, key, answers), strict=True):
        np.testing.assert_allclose(principal.offer(), expected, rtol=0, atol=1e-12)
        principal.observe(arm, reward)


def test_its_probabilities_sum_to_one() -> None:
    principal = PriceGrid(K, 5000, 5.0)
    run = baselines.simulate(principal, agent=make_agent("types", temperature=0.2), seed=1)
    assert np.isfinite(run.regret_fixed).all()
    memory = LAYOUT.zeros(K, actions=1 + K * 20, width=0.05, normaliser=-np.inf)
    plays, sums, offer, rng = np.zeros(K, np.int64), np.zeros(K), np.zeros(K), np.random.default_rng(2)
    for t in range(1, 400):
        price_grid_rule()(memory, plays, sums, t % K if t > 1 else -1, float(rng.integers(2)), offer)
        law = (2 / (2 / math.sqrt(t) * (LAYOUT.arrays(memory, K).losses - memory[GridEntry.NORMALISER]))) ** 2
        assert law.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", ["zero", "ipa", "profit-target", "bracket-ucb", "price-grid"])
def test_registered_principals_miss_a_fixed_window_of_greedy_types(name: str) -> None:
    for horizon in (2000, 20_000):
        assert types.greedy_regrets(name, horizon, 3).mean() > 0.14 * horizon


def test_a_fixed_window_is_no_lower_bound() -> None:
    """A principal that bisects finds it: its regret a round vanishes."""
    shares = [types.greedy_regrets("bisect", horizon, 3).mean() / horizon for horizon in (10**4, 10**5, 10**6)]
    assert shares[0] < 0.06
    assert shares[2] < 0.1 * shares[0]


@pytest.mark.parametrize("name", ["bisect-fast", "zero"])
def test_a_window_as_narrow_as_the_game_is_long_is_not_found(name: str) -> None:
    for horizon in (10, 40):
        assert types.window_regrets(name, horizon, 40).mean() > 0.1 * horizon


def test_the_slope_is_set_beside_the_bound_by_its_interval() -> None:
    fits = {
        "above it": Fit(Estimate(0.747, 0.741, 0.753), (0.8, 0.7), 0.1),
        "below it": Fit(Estimate(0.6, 0.5, 0.65), (0.6, 0.6), 0.1),
        "not separated from it": Fit(Estimate(0.66, 0.6, 0.7), (0.6, 0.7), 0.1),
        "with too few runs for an interval": Fit(Estimate(0.66), (0.66,), np.nan),
    }
    for place, fit in fits.items():
        assert f"0.667: {place}" in types.growth_sentence(fit)
    assert "falling from point to point (0.80, 0.70)" in types.growth_sentence(fits["above it"])
    assert "not falling" in types.growth_sentence(fits["below it"])


def test_the_growth_against_logit_types() -> None:
    """Regret a round shrinks by much; the slope itself takes `pa-bench reproduce types`."""
    short, long = (types.logit_regrets(horizon, 5).mean() / horizon for horizon in (1000, 30_000))
    assert long < 0.6 * short  # linear growth would leave it as it is


def test_the_counterexample_to_no_regret() -> None:
    horizon, runs = 2000, 600
    greedy = own_regret.window_regrets("empirical-mean", horizon, runs)
    stuck = greedy > horizon / 2
    np.testing.assert_allclose(greedy[stuck], 0.8 * (horizon - 1), rtol=1e-9)
    assert greedy[~stuck].max() < 5
    assert 0.06 < stuck.mean() < 0.14  # a tenth, three standard deviations of 1.2 %
    assert own_regret.window_regrets("ucb", horizon, 50).max() < 0.2 * horizon
