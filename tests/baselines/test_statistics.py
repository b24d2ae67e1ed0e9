"""Means, intervals, paired differences and slopes, against plain references."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from baselines.benchmark import statistics, summaries

from .helpers import Floats


def table(
    scores: dict[str, list[float]],
    seeds: dict[str, list[int]] | None = None,
    agent: str = "empirical-mean",
    horizon: int = 10,
) -> pd.DataFrame:
    """Rows of one task with one checkpoint, regret and utility = -regret."""
    return pd.DataFrame(
        [
            {"task": "one", "agent": agent, "principal": principal, "seed": seed, "rounds": horizon, "horizon": horizon}
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
    low, high = statistics.mean_interval(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]] * 4))
    assert low[0] == high[0] == 0.1
    assert low[1] < 7 / 3 < high[1]


def test_data_constant_up_to_rounding_is_constant() -> None:
    low, high = statistics.mean_interval(np.array([[14.640625], [14.640625], [14.640625000000004]] * 4))
    assert low == high == 14.640625


@pytest.mark.parametrize("n", [10, 13])
def test_every_interval_holds_the_mean(n: int) -> None:
    rng = np.random.default_rng(n)
    values = np.column_stack(
        [rng.normal(size=(n, 20)), rng.integers(0, 2, (n, 20)), np.where(rng.random((n, 20)) < 0.2, 1e9, 1e-9)]
    )
    low, high = statistics.mean_interval(values)
    assert (low <= values.mean(axis=0) + 1e-6).all()
    assert (high >= values.mean(axis=0) - 1e-6).all()


@pytest.mark.parametrize("n", [1, 2, 9])
def test_few_seeds_have_no_interval(n: int) -> None:
    found = row(
        summaries.summarise(table({"ipa": [3.0 + i for i in range(n)], "zero": [5.0 + i for i in range(n)]})), "zero"
    )
    assert found["regret"] == 5 + (n - 1) / 2
    assert np.isnan(found[["regret_low", "regret_high", "regret_difference_low"]].astype(float)).all()
    assert found["regret_difference"] == 2


@pytest.mark.parametrize("n", [statistics.MANY, statistics.MANY + 1])
def test_many_samples_have_the_interval_of_the_normal_law(n: int) -> None:
    values = np.random.default_rng(1).lognormal(sigma=0.5, size=n)
    ends = np.ravel(statistics.mean_interval(values[:, None]))
    assert ends == pytest.approx(values.mean() + norm.ppf([0.025, 0.975]) * values.std() / n**0.5, rel=4e-3)


def heavy_tailed(law: str, n: int, count: int) -> tuple[Floats, float]:
    """Samples (n, count) of a law like that of regret, and its mean."""
    rng = np.random.default_rng(n)
    if law == "lognormal":
        return rng.lognormal(sigma=1.3, size=(n, count)), float(np.exp(1.3**2 / 2))
    return rng.pareto(2.5, size=(n, count)), 1 / 1.5


@pytest.mark.parametrize("law", ["lognormal", "pareto"])
def test_what_intervals_of_heavy_tailed_means_cover(law: str) -> None:
    """Nominal 95%: 10 samples are far from it, 30 are nearer, and 100 and more come within a few percent."""
    covered = {}
    for n in (10, 30, 100, 300):
        samples, mean = heavy_tailed(law, n, 800)
        low, high = statistics.mean_interval(samples)
        covered[n] = ((low <= mean) & (mean <= high)).mean()
    assert 0.7 < covered[10] < 0.85
    assert 0.8 < covered[30] < 0.92
    assert covered[100] > 0.86
    assert covered[300] > 0.89
    assert covered[10] < covered[30] < covered[300]


# -------------------------------------------------------------------------------------- the best of several


@pytest.mark.parametrize("count", [2, 10])
def test_of_equals_none_is_called_worse_than_the_one_that_was_picked(count: int) -> None:
    """About 5% of false claims; intervals of single differences would make many."""
    rng, games = np.random.default_rng(count), 150
    false = naive = 0
    for _ in range(games):
        scores = rng.lognormal(size=(30, count)) + rng.lognormal(size=(30, 1))
        best = int(scores.mean(axis=0).argmin())
        false += bool((statistics.against_best(scores, best)[0] > 0).any())
        others = np.delete(scores - scores[:, [best]], best, axis=1)
        naive += bool((statistics.mean_interval(others)[0] > 0).any())
    assert false <= 0.08 * games
    assert naive > (0.05 if count == 2 else 0.5) * games


@pytest.mark.parametrize("n", [100, statistics.MANY + 1])
def test_real_differences_to_the_best_are_found(n: int) -> None:
    rng = np.random.default_rng(0)
    luck = rng.lognormal(size=(n, 1))
    scores = luck + rng.normal(size=(n, 6)) + np.array([0, 0, 2, 2, 5, 5])
    low, high = statistics.against_best(scores, 0)
    assert low[0] == high[0] == 0
    assert low[1] < 0 < high[1]
    assert (low[2:] > 0).all()
    assert np.allclose((low + high) / 2, scores.mean(axis=0) - scores[:, 0].mean())


def test_tiny_differences_are_none() -> None:
    """An offer of next to nothing separates nobody."""
    zero = np.random.default_rng(0).normal(100.0, 30.0, 50)
    scores = np.stack([zero, zero - 2e-8, zero - 1e-3], axis=1)
    low, high = statistics.against_best(scores, 0)
    assert (low[1], high[1]) == (0.0, 0.0)
    assert high[2] < 0
    assert not statistics.minus(scores, 0)[:, 1].any()


def test_runs_that_lose_as_much_to_the_end_fail() -> None:
    assert summaries.linear_at_the_end(runs([1.0, 1.0, 0.5, 0.5])) == 0.5
    assert summaries.linear_at_the_end(runs([0.8])) == 0
    few = runs([1.0]).assign(regret=lambda rows: rows["regret"] / 1000)  # linear, but hardly any
    assert summaries.linear_at_the_end(few) == 0
    assert np.isnan(summaries.linear_at_the_end(runs([1.0]).query("rounds == 10_000")))


def test_medians_and_quantiles_stand_beside_means() -> None:
    found = row(summaries.summarise(table({"ipa": [float(i) for i in range(11)], "zero": [1.0] * 11})), "ipa")
    assert (found["regret_median"], found["regret_q90"]) == (5, 9)


# -------------------------------------------------------------------------------------- across tasks


def test_across_tasks_as_rliable_defines_it() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3, 2, 20)) + np.array([0.0, 1.0])[None, :, None]
    middle = np.sort(scores[:, 0].ravel())[15:45]
    assert statistics.interquartile_mean(scores)[0] == pytest.approx(middle.mean())
    pairs = scores[:, 0, :, None] - scores[:, 1, None]
    assert statistics.probability_of_improvement(scores, 0) == pytest.approx([0.5, (pairs < 0).mean()])
    profile = statistics.performance_profile(scores, np.array([-9.0, 0.0, 9.0]))
    assert profile[:, 0].tolist() == [0, 0]
    assert profile[:, 2].tolist() == [1, 1]
    assert profile[0, 1] == (scores[:, 0] <= 0).mean()


def test_intervals_across_tasks_are_paired_and_stratified() -> None:
    rng = np.random.default_rng(1)
    luck = 100 * rng.random((3, 1, 40))
    scores = luck + np.array([0.0, 1.0])[None, :, None] + rng.random((3, 2, 40)) / 10
    low, high = statistics.interval_across_tasks(
        scores, lambda part: np.diff(statistics.interquartile_mean(part), axis=0)
    )
    assert 0.5 < low < 1 < high < 1.5  # the luck, of a hundred, is shared

    def of_one_task(part: Floats) -> Floats:  # tasks are a million apart: a seed of another would show
        return np.abs(part.mean(axis=(1, -1)) - 1e6 * np.arange(3)[:, None]).max(axis=0)

    apart = scores + 1e6 * np.arange(3)[:, None, None]
    assert statistics.interval_across_tasks(apart, lambda part: of_one_task(part.reshape(3, 2, -1, 40)))[1] < 100
    few = statistics.interval_across_tasks(scores[..., :9], statistics.interquartile_mean)
    assert np.isnan(few).all()


def test_only_what_every_task_has_is_compared_across_tasks() -> None:
    first = table({"ipa": [1.0, 2.0, 3.0], "zero": [4.0, 5.0, 6.0], "belgic": [7.0, 8.0, 9.0]})
    second = table({"zero": [1.0, 2.0], "ipa": [3.0, 4.0]}).assign(task="two")
    scores, labels = summaries.cube(pd.concat([first, second]))
    assert labels == ["ipa", "zero"]
    assert scores.tolist() == [[[0.1, 0.2], [0.4, 0.5]], [[0.3, 0.4], [0.1, 0.2]]]


# -------------------------------------------------------------------------------------- pairs


def test_differences_are_seed_by_seed() -> None:
    """Luck that is shared does not widen the interval of a difference."""
    rng = np.random.default_rng(0)
    luck, own = 100 * rng.random(20), rng.random(20)
    found = summaries.summarise(table({"ipa": list(luck), "zero": list(luck + 1 + own)}))
    zero = row(found, "zero")
    assert zero["regret_difference"] == pytest.approx((1 + own).mean())
    assert zero["utility_difference"] == pytest.approx(-(1 + own).mean())
    assert 1 < zero["regret_difference_low"] < (1 + own).mean() < zero["regret_difference_high"] < 2
    assert zero["regret_difference_high"] - zero["regret_difference_low"] < 0.5
    assert zero["regret_high"] - zero["regret_low"] > 10
    best = row(found, "ipa")
    assert best["regret_best"]
    assert best["regret_difference_low"] == best["regret_difference"] == best["regret_difference_high"] == 0


def test_pairs_are_the_seeds_that_all_principals_have() -> None:
    scores = {"ipa": [1.0, 2.0, 99.0], "zero": [5.0, 7.0, 0.0], "belgic": [9.0, 9.0]}
    found = summaries.summarise(table(scores, {"ipa": [0, 1, 2], "zero": [1, 0, 3], "belgic": [0, 1]}))
    assert found["paired_seeds"].tolist() == [2, 2, 2]
    assert row(found, "zero")["seeds"] == 3
    assert row(found, "zero")["regret"] == 4
    assert row(found, "ipa")["regret_best"]  # though its mean over all its seeds is the worst
    assert row(found, "zero")["regret_difference"] == ((7 - 1) + (5 - 2)) / 2


def test_without_common_seeds_there_are_no_differences() -> None:
    found = summaries.summarise(table({"ipa": [1.0, 2.0], "zero": [0.0, 1.0]}, {"ipa": [0, 1], "zero": [2, 3]}))
    assert found["paired_seeds"].tolist() == [0, 0]
    assert found["regret_difference"].isna().all()
    assert row(found, "zero")["regret_best"]


def test_the_privileged_are_shown_and_never_the_best() -> None:
    found = summaries.summarise(table({"oracle": [0.0, 0.0], "ipa": [1.0, 3.0]}))
    assert found["principal"].tolist() == ["oracle", "ipa"]
    assert row(found, "oracle")["privileged"]
    assert row(found, "ipa")["regret_best"]
    assert row(found, "ipa")["utility_best"]
    assert row(found, "oracle")["regret_difference"] == -2
    assert row(found, "oracle")["utility_difference"] == 2
    alone = summaries.summarise(table({"oracle": [0.0, 0.0]}))
    assert not alone["regret_best"].any()
    assert alone["regret_difference"].isna().all()


def test_utility_and_regret_have_a_best_of_their_own() -> None:
    """What is best in one need not be in the other: both are marked, each with differences to it."""
    rows = table({"ipa": [1.0] * 12, "zero": [2.0] * 12})
    rows.loc[rows["principal"] == "zero", "utility"] = [5.0 + i % 2 for i in range(12)]
    found = summaries.summarise(rows)
    assert found["principal"].tolist() == ["zero", "ipa"]  # a short task: by utility
    assert found["utility_best"].tolist() == [True, False]
    assert found["regret_best"].tolist() == [False, True]
    assert found["utility_difference"].tolist() == [0, -6.5]
    assert found["regret_difference"].tolist() == [1, 0]
    assert summaries.is_separated(row(found, "ipa"), "utility")
    assert not summaries.is_separated(row(found, "zero"), "utility")
    assert summaries.is_separated(row(found, "zero"), "regret")


@pytest.mark.parametrize(
    ("agent", "horizon", "ranked_by"),
    [
        ("empirical-mean", 1000, "utility"),
        ("exploratory,c0=0.3", 1001, "regret"),
        ("exp3", 10**6, "utility"),
        ("ucb", 100, "utility"),
        ("Mine", 1001, "regret"),
    ],
)
def test_short_tasks_and_agents_that_ignore_their_beliefs_are_ranked_by_utility(
    agent: str, horizon: int, ranked_by: str
) -> None:
    rows = table({"ipa": [1.0] * 12, "zero": [2.0] * 12}, agent=agent, horizon=horizon)
    rows["utility"] *= -1
    found = summaries.summarise(rows)
    assert set(found["ranked_by"]) == {ranked_by}
    assert found["principal"].tolist() == (["zero", "ipa"] if ranked_by == "utility" else ["ipa", "zero"])
    ignored = agent in ("exp3", "ucb")
    assert set(found["beliefs_ignored"]) == {ignored}
    assert found["regret_best"].any() != ignored
    assert found["regret_difference"].isna().all() == ignored
    assert found["utility_best"].tolist() == [ranked_by == "utility", ranked_by == "regret"]


def test_tasks_keep_their_order_and_principals_are_ranked() -> None:
    first, second = table({"zero": [2.0], "ipa": [1.0]}).assign(task="b"), table({"zero": [1.0]}).assign(task="a")
    found = summaries.summarise(pd.concat([first, second]))
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
    assert summaries.growth(runs([0.5] * 10)) == pytest.approx((0.5, 0.5, 0.5))
    slope, low, high = summaries.growth(runs([0.4, 0.5, 0.6, 0.7] * 3))
    assert 0.4 < low < slope < high < 0.7
    slope, *ends = summaries.growth(runs([2 / 3] * 9))
    assert slope == pytest.approx(2 / 3)
    assert np.isnan(ends).all()


def test_the_slope_of_many_runs_has_the_same_interval_as_that_of_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = runs(np.random.default_rng(2).normal(0.5, 0.1, 400).tolist())
    resampled = summaries.growth(rows)
    monkeypatch.setattr(statistics, "MANY", 100)
    assert summaries.growth(rows) == pytest.approx(resampled, rel=0.02)


def test_where_there_is_nothing_to_fit_there_is_no_slope() -> None:
    for cells in (runs([0.5, 0.5], offset=-100), runs([-3.0, -3.0]), runs([0.5]).query("rounds > 2000")):
        assert np.isnan(summaries.growth(cells)).all()


def test_a_slope_whose_resamples_reach_zero_has_no_interval() -> None:
    cells = runs([0.5] * 10)
    cells.loc[cells["seed"] > 0, "regret"] = 0.0
    slope, *ends = summaries.growth(cells)
    assert slope == pytest.approx(0.5)
    assert np.isnan(ends).all()


def test_curves_are_means_with_intervals_at_each_checkpoint() -> None:
    found = summaries.curves(runs([0.5, 0.5, 0.6] * 4))
    assert found["rounds"].tolist() == [1, 10, 100, 300, 1000, 3000, 10_000]
    assert found["mean"].iloc[-1] == pytest.approx((300 + 300 + 3 * 10**2.4) / 3)
    assert (found["low"] <= found["mean"]).all()
    assert (found["mean"] <= found["high"] + 1e-9).all()


def test_the_arm_paid_for_is_the_one_most_above_its_need() -> None:
    rows = pd.DataFrame({"principal": "ipa", "rounds": [1, 1, 2]})
    offers = np.array([[0.5, 0.0, 0.9], [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])
    needed = np.array([[0.1, 0.0, 0.8], [0.7, 0.0, 0.2], [0.1, 0.0, 0.2]])
    found = summaries.payments(rows, {"offers": offers, "optimal_incentives": needed})
    assert found["rounds"].tolist() == [1, 2]
    assert found.loc[0, ["offer", "needed"]].tolist() == pytest.approx([0.4, 0.4])
    assert found.loc[1, ["offer", "needed"]].isna().all()


def test_p_values_are_corrected_for_their_number() -> None:
    assert statistics.holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist() == pytest.approx(
        [0.03, 0.06, np.nan, 0.06], nan_ok=True
    )
    rng = np.random.default_rng(0)
    luck = [min(statistics.holm(rng.uniform(size=13))) < statistics.LEVEL for _ in range(2000)]
    assert np.mean(luck) == pytest.approx(0.05, abs=0.02)
    assert np.isnan(statistics.paired_p_value(np.ones(9)))
    assert [statistics.paired_p_value(np.full(10, x)) for x in (0.0, 1.0)] == [1.0, 0.0]
