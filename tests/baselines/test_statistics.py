"""Means, intervals, paired differences and slopes, against plain references."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from baselines.benchmark import behaviour, statistics

from .helpers import Floats


def table(scores: dict[str, list[float]], seeds: dict[str, list[int]] | None = None) -> pd.DataFrame:
    """Rows of one task with one checkpoint, regret and utility = -regret."""
    return pd.DataFrame(
        [
            {"task": "one", "principal": principal, "seed": seed, "rounds": 10, "horizon": 10}
            | {"regret": value, "regret_oracle": value, "regret_bar": value, "utility": -value}
            for principal, values in scores.items()
            for seed, value in zip((seeds or {}).get(principal, range(len(values))), values, strict=True)
        ]
    )


def row(summary: pd.DataFrame, principal: str) -> pd.Series:
    return summary.set_index("principal").loc[principal]


def plain_bca(values: Floats) -> tuple[float, float]:
    """The interval of Efron (1987) for a mean, straight from its formulas."""
    rng = np.random.default_rng(1)
    means = np.array([rng.choice(values, len(values)).mean() for _ in range(20_000)])
    centre = norm.ppf(((means < values.mean()).mean() + (means <= values.mean()).mean()) / 2)
    left_out = np.array([np.delete(values, i).mean() for i in range(len(values))])
    pull = left_out.mean() - left_out
    skew = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    ends = [centre + (centre + z) / (1 - skew * (centre + z)) for z in norm.ppf([0.025, 0.975])]
    return tuple(np.quantile(means, norm.cdf(ends)))


# -------------------------------------------------------------------------------------- intervals


def test_interval_of_a_mean_is_bca() -> None:
    values = np.random.default_rng(4).lognormal(sigma=1.3, size=15)  # percentiles alone are 15% off
    low, high = statistics.mean_interval(values[:, None])
    expected = plain_bca(values)
    assert np.allclose([low[0], high[0]], expected, rtol=0.04)
    assert high[0] - values.mean() > values.mean() - low[0]  # skewed, as the values are


def test_constant_data_has_an_interval_of_one_point() -> None:
    low, high = statistics.mean_interval(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]]))
    assert low[0] == high[0] == 0.1
    assert low[1] < 7 / 3 < high[1]


def test_data_constant_up_to_rounding_is_constant() -> None:
    low, high = statistics.mean_interval(np.array([[14.640625], [14.640625], [14.640625000000004]]))
    assert low == high == 14.640625


@pytest.mark.parametrize("n", [2, 3, 7])
def test_every_interval_holds_the_mean(n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.column_stack(
        [rng.normal(size=(n, 20)), rng.integers(0, 2, (n, 20)), np.where(rng.random((n, 20)) < 0.2, 1e9, 1e-9)]
    )
    low, high = statistics.mean_interval(values)
    assert (low <= values.mean(axis=0) + 1e-6).all()
    assert (high >= values.mean(axis=0) - 1e-6).all()


def test_one_seed_has_no_interval() -> None:
    found = row(statistics.summary(table({"ipa": [3.0], "zero": [5.0]})), "zero")
    assert found["regret"] == 5
    assert np.isnan(found[["regret_low", "regret_high", "regret_difference_low"]].astype(float)).all()
    assert found["regret_difference"] == 2


@pytest.mark.parametrize("n", [statistics.MANY, statistics.MANY + 1])
def test_many_samples_have_the_interval_of_the_normal_law(n: int) -> None:
    values = np.random.default_rng(1).lognormal(sigma=0.5, size=n)
    ends = np.ravel(statistics.mean_interval(values[:, None]))
    assert ends == pytest.approx(values.mean() + norm.ppf([0.025, 0.975]) * values.std() / n**0.5, rel=4e-3)


# -------------------------------------------------------------------------------------- pairs


def test_differences_are_seed_by_seed() -> None:
    """Luck that is shared does not widen the interval of a difference."""
    rng = np.random.default_rng(0)
    luck, own = 100 * rng.random(20), rng.random(20)
    found = statistics.summary(table({"ipa": list(luck), "zero": list(luck + 1 + own)}))
    zero = row(found, "zero")
    assert zero["regret_difference"] == pytest.approx((1 + own).mean())
    assert zero["utility_difference"] == pytest.approx(-(1 + own).mean())
    assert (zero["regret_difference_low"], zero["regret_difference_high"]) == pytest.approx(
        plain_bca(1 + own), rel=0.02
    )
    assert zero["regret_high"] - zero["regret_low"] > 10
    best = row(found, "ipa")
    assert best["best"]
    assert best["regret_difference_low"] == best["regret_difference"] == best["regret_difference_high"] == 0


def test_pairs_are_the_seeds_that_all_principals_have() -> None:
    scores = {"ipa": [1.0, 2.0, 99.0], "zero": [5.0, 7.0, 0.0], "belgic": [9.0, 9.0]}
    found = statistics.summary(table(scores, {"ipa": [0, 1, 2], "zero": [1, 0, 3], "belgic": [0, 1]}))
    assert found["paired_seeds"].tolist() == [2, 2, 2]
    assert row(found, "zero")["seeds"] == 3
    assert row(found, "zero")["regret"] == 4
    assert row(found, "ipa")["best"]  # though its mean over all its seeds is the worst
    assert row(found, "zero")["regret_difference"] == ((7 - 1) + (5 - 2)) / 2


def test_without_common_seeds_there_are_no_differences() -> None:
    found = statistics.summary(table({"ipa": [1.0, 2.0], "zero": [0.0, 1.0]}, {"ipa": [0, 1], "zero": [2, 3]}))
    assert found["paired_seeds"].tolist() == [0, 0]
    assert found["regret_difference"].isna().all()
    assert row(found, "zero")["best"]


def test_the_privileged_are_shown_and_never_the_best() -> None:
    found = statistics.summary(table({"oracle": [0.0, 0.0], "ipa": [1.0, 3.0]}))
    assert found["principal"].tolist() == ["oracle", "ipa"]
    assert row(found, "oracle")["privileged"]
    assert row(found, "ipa")["best"]
    assert row(found, "oracle")["regret_difference"] == -2
    alone = statistics.summary(table({"oracle": [0.0, 0.0]}))
    assert not alone["best"].any()
    assert alone["regret_difference"].isna().all()


def test_tasks_keep_their_order_and_principals_are_ranked() -> None:
    first, second = table({"zero": [2.0], "ipa": [1.0]}).assign(task="b"), table({"zero": [1.0]}).assign(task="a")
    found = statistics.summary(pd.concat([first, second]))
    assert found[["task", "principal"]].to_numpy().tolist() == [["b", "ipa"], ["b", "zero"], ["a", "zero"]]


# -------------------------------------------------------------------------------------- growth and curves


def runs(exponents: list[float], offset: float = 0.0) -> pd.DataFrame:
    marks = [1, 10, 100, 300, 1000, 3000, 10_000]
    return pd.DataFrame(
        [
            {"task": "one", "principal": "ipa", "seed": seed, "rounds": t, "horizon": 10_000}
            | {"regret": 3 * t**exponent + offset}
            for (seed, exponent), t in itertools.product(enumerate(exponents), marks)
        ]
    )


def test_a_power_law_has_its_exponent_as_slope() -> None:
    assert statistics.growth(runs([0.5, 0.5, 0.5])) == pytest.approx((0.5, 0.5, 0.5))
    slope, low, high = statistics.growth(runs([0.4, 0.5, 0.6, 0.7]))
    assert 0.4 < low < slope < high < 0.7
    slope, *ends = statistics.growth(runs([2 / 3]))
    assert slope == pytest.approx(2 / 3)
    assert np.isnan(ends).all()


def test_the_slope_of_many_runs_has_the_same_interval_as_that_of_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = runs(np.random.default_rng(2).normal(0.5, 0.1, 400).tolist())
    resampled = statistics.growth(rows)
    monkeypatch.setattr(statistics, "MANY", 100)
    assert statistics.growth(rows) == pytest.approx(resampled, rel=0.02)


def test_where_there_is_nothing_to_fit_there_is_no_slope() -> None:
    for cells in (runs([0.5, 0.5], offset=-100), runs([-3.0, -3.0]), runs([0.5]).query("rounds > 2000")):
        assert np.isnan(statistics.growth(cells)).all()


def test_a_slope_whose_resamples_reach_zero_has_no_interval() -> None:
    cells = runs([0.5, 0.5])
    cells.loc[cells["seed"] == 1, "regret"] = 0.0
    slope, *ends = statistics.growth(cells)
    assert slope == pytest.approx(0.5)
    assert np.isnan(ends).all()


def test_curves_are_means_with_intervals_at_each_checkpoint() -> None:
    found = statistics.curves(runs([0.5, 0.5, 0.6]))
    assert found["rounds"].tolist() == [1, 10, 100, 300, 1000, 3000, 10_000]
    assert found["mean"].iloc[-1] == pytest.approx((300 + 300 + 3 * 10**2.4) / 3)
    assert (found["low"] <= found["mean"]).all()
    assert (found["mean"] <= found["high"] + 1e-9).all()


def test_the_arm_paid_for_is_the_one_most_above_its_need() -> None:
    rows = pd.DataFrame({"principal": "ipa", "rounds": [1, 1, 2]})
    offers = np.array([[0.5, 0.0, 0.9], [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])
    needed = np.array([[0.1, 0.0, 0.8], [0.7, 0.0, 0.2], [0.1, 0.0, 0.2]])
    found = behaviour.paid(rows, {"offers": offers, "optimal_incentives": needed})
    assert found["rounds"].tolist() == [1, 2]
    assert found.loc[0, ["offer", "needed"]].tolist() == pytest.approx([0.4, 0.4])
    assert found.loc[1, ["offer", "needed"]].isna().all()
