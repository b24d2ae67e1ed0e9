"""Statistics of runs: 95% intervals of means, differences and their p-values, slopes, and scores across tasks.

Regret is heavy-tailed. Of 95% intervals of lognormal means (sigma = 1.3), those of 10 samples cover 78%, of 30 samples
87%, of 100 samples 91% (``tests/baselines/test_statistics.py``); fewer than ``FEWEST`` samples get no interval.

Bootstraps of means, and of functions of means, are one product of a matrix of weights with the samples, a hundred times
as fast as ``scipy.stats.bootstrap`` for 1,000 samples; other statistics use ``scipy.stats.bootstrap``.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from pa_env.kernel.layout import Floats

FEWEST = 10  # samples behind an interval
MANY = 1000  # samples, above which a mean is normal enough
TOO_FEW = (
    f"Above {MANY:,} seeds intervals are normal approximations. None is shown where both ends round to one number, nor"
    f" for fewer than {FEWEST} seeds. Regret is heavy-tailed, and intervals are then too narrow: of 95% intervals of"
    " lognormal means, those of 10 runs cover the mean in 78% of cases, of 30 runs in 87%, of 100 runs in 91%."
)
FEW, RESAMPLES = 100, (10_000, 2_000)  # resamples of few samples, and of more
SLOW_RESAMPLES = 1000  # of statistics that are not functions of means
Row = Mapping[str, Any]  # values of a table by column
SAME = 1e-8  # share of the largest score: smaller differences count as 0
LEVEL = 0.05  # of a test, or of several together
ENDS = (0.025, 0.975)
NORMAL_ENDS = special.ndtri(np.array(ENDS))


class Estimate(NamedTuple):
    """A value with the ends of its 95% interval, nan if it has none."""

    value: float
    low: float = np.nan
    high: float = np.nan

    @property
    def half_width(self) -> float:
        """Half the width of the interval: what follows "±"."""
        return (self.high - self.low) / 2

    @classmethod
    def of(cls, row: Row, score: str) -> Self:
        """The estimate of a score in a row; its columns ``_low`` and ``_high`` may be missing."""
        return cls(row[score], row.get(f"{score}_low", np.nan), row.get(f"{score}_high", np.nan))

    def over(self, divisor: float) -> "Estimate":
        """The estimate divided by a positive number, such as the horizon."""
        return Estimate(*(float(end / divisor) for end in self))


def estimate(samples: Floats) -> Estimate:
    """The mean of samples (n,), with its interval; nan if there are none.

    >>> round(estimate(np.arange(2001.0) / 1000).half_width, 3)
    0.025
    """
    if not samples.size:
        return Estimate(np.nan)
    low, high = mean_interval(samples)
    return Estimate(float(samples.mean()), float(low), float(high))


def mean_interval(samples: Floats) -> tuple[Floats, Floats]:
    """The interval of the mean over the first axis of ``samples`` (n, ...): lower and upper ends (...).

    It is a bootstrap interval (BCa, Efron 1987); of more than ``MANY`` samples the normal one, nearly the same then.
    Samples that are all the same have the interval of that one point. Fewer than ``FEWEST`` have none (nan): see
    ``TOO_FEW``.
    """
    columns = samples.reshape(len(samples), -1)
    low, high = columns[0].copy(), columns[0].copy()
    varied = np.ptp(columns, axis=0) > 1e-12 * np.abs(columns).max(axis=0)  # by more than rounding
    if len(samples) < FEWEST:
        low[:] = high[:] = np.nan
    elif varied.any():
        low[varied], high[varied] = (_normal if len(samples) > MANY else _bca)(columns[:, varied])
    return low.reshape(samples.shape[1:]), high.reshape(samples.shape[1:])


def _normal(samples: Floats) -> Floats:
    """Ends (2, C) of the normal intervals of the means of the columns."""
    errors = samples.std(axis=0, ddof=1) / len(samples) ** 0.5
    ends: Floats = samples.mean(axis=0) + NORMAL_ENDS[:, None] * errors
    return ends


def _bca(samples: Floats) -> Floats:
    """Ends (2, C) of the BCa intervals of the means of the columns; nan where resamples are all on one side."""
    n, mean = len(samples), samples.mean(axis=0)
    means = np.sort((weights(n) @ samples).T)  # (C, resamples)
    tie = 1e-12 * np.abs(samples).max(axis=0)
    below = [np.searchsorted(column, (m - e, m + e)).mean() for column, m, e in zip(means, mean, tie, strict=True)]
    pull = (samples - mean) / (n - 1)  # the effect on the mean of leaving each sample out
    skew = (pull**3).sum(axis=0) / (6 * (pull**2).sum(axis=0) ** 1.5)
    with np.errstate(invalid="ignore"):  # nan says it
        centre = special.ndtri(np.array(below) / means.shape[1])
        shifted = centre + NORMAL_ENDS[:, None]
        levels = special.ndtr(centre + shifted / (1 - skew * shifted))
    ranks = np.linspace(0, 1, means.shape[1])
    return np.array(
        [[np.interp(level, ranks, column) for level, column in zip(end, means, strict=True)] for end in levels]
    )


@functools.lru_cache(maxsize=4)
def weights(n: int) -> Floats:
    """The share of each of ``n`` samples in each resample (resamples, n), the same each time."""
    shares: Floats = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), RESAMPLES[n > FEW]) / n
    return shares


def mean_ratio(ones: Floats, others: Floats) -> Estimate:
    """The ratio of the means of paired samples (n,), with a paired percentile bootstrap interval."""
    interval = stats.bootstrap(
        (ones, others),
        lambda a, b, axis: a.mean(axis=axis) / b.mean(axis=axis),
        paired=True,
        n_resamples=SLOW_RESAMPLES,
        batch=50,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return Estimate(float(ones.mean() / others.mean()), float(interval.low), float(interval.high))


def minus(scores: Floats, column: int) -> Floats:
    """Paired differences of scores (seeds, principals) to those of one column; 0 if all of a principal's are tiny."""
    differences: Floats = scores - scores[:, [column]]
    differences[:, np.abs(differences).max(axis=0) < SAME * max(1.0, float(np.abs(scores).max()))] = 0.0
    return differences


def against_best(scores: Floats, best: int) -> tuple[Floats, Floats]:
    """Intervals of the differences to the principal that was picked as the best on the same seeds.

    All of them, and those to any other principal that might have been picked, hold at once with 95%: the critical value
    is a quantile of the largest standardised deviation over all pairs of principals (max-T), in a bootstrap that draws
    whole seeds, so that pairs stay pairs. A difference whose interval excludes 0 is therefore real even though the best
    was picked.

    Args:
        scores: (seeds, principals).
        best: its column.

    Returns:
        Lower and upper ends (principals,); nan for fewer than ``FEWEST`` seeds; those of the best itself are 0.
    """
    n, count = scores.shape
    if n < FEWEST:
        return np.full(count, np.nan), np.full(count, np.nan)
    one, other = np.triu_indices(count, 1)
    pairs = scores[:, one] - scores[:, other]
    varied = np.ptp(pairs, axis=0) > 1e-12 * max(1.0, float(np.abs(scores).max()))
    critical = _max_t(pairs[:, varied]) if varied.any() else 0.0
    differences = minus(scores, best)
    mean, error = differences.mean(axis=0), differences.std(axis=0, ddof=1) / n**0.5
    return mean - critical * error, mean + critical * error


def _max_t(pairs: Floats) -> float:
    """The 95% quantile of the largest |t| over the columns, in resamples of the rows.

    Deviations are divided by the errors of the samples, not by those of each resample: of heavy-tailed data some
    resamples have hardly any spread, and would rule the maximum. For that, and for few samples, the quantile is widened
    as Student's law is.
    """
    n, mean = len(pairs), pairs.mean(axis=0)
    if n > MANY:  # the means are normal enough, with the samples' correlations
        correlation = np.atleast_2d(np.corrcoef(pairs.T))
        normal = np.random.default_rng(0).multivariate_normal(mean * 0, correlation, RESAMPLES[0], method="eigh")
        return float(np.quantile(np.abs(normal).max(axis=1), 0.95))
    error = pairs.std(axis=0, ddof=1) / n**0.5
    largest = np.abs(weights(n)[: RESAMPLES[1]] @ (pairs - mean) / error).max(axis=1)
    widening = (n / (n - 1)) ** 0.5 * special.stdtrit(n - 1, 0.975) / NORMAL_ENDS[1]
    return float(np.quantile(largest, 0.95) * widening)


def holm(p_values: Floats) -> Floats:
    """p-values (n,) corrected by Holm's method for asking n questions at once; nan stays nan.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(p_values.shape, np.nan)
    order = [i for i in p_values.argsort() if not np.isnan(p_values[i])]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p_values[order] * factors))
    return adjusted


def paired_p_value(difference: Floats) -> float:
    """Two-sided p-value of Student's test that the mean of paired differences (n,) is 0; nan for too few."""
    if difference.size < FEWEST:
        return np.nan
    return float(stats.ttest_1samp(difference, 0).pvalue) if np.ptp(difference) else float(difference[0] == 0)


def log_slope(x: ArrayLike, values: Floats) -> Estimate:
    """The least-squares slope of log mean against log x, with its percentile bootstrap interval over runs.

    It is nan where a mean is not positive; the interval is nan for fewer than ``FEWEST`` runs of a point, and where a
    resample has no slope.

    Args:
        x: (points,).
        values: (runs, points); nan where a run has no such point.
    """
    log_x = np.log(np.asarray(x, np.float64))
    centred = log_x - log_x.mean()
    fit = centred / (centred @ centred)
    played = ~np.isnan(values)
    means: Floats = np.nanmean(values, axis=0)
    slope = float(_log(means) @ fit)
    if played.sum(axis=0).min() < FEWEST or np.isnan(slope):
        return Estimate(slope)
    n = len(values)
    if n > MANY:  # to first order, it is a mean of what each run adds to it
        added = np.where(played, values / means - 1, 0.0) / played.mean(axis=0) @ fit
        ends = slope + NORMAL_ENDS * added.std(ddof=1) / n**0.5
    else:
        with np.errstate(invalid="ignore"):  # nan where a resample has no run of a point
            resampled = (weights(n) @ np.where(played, values, 0.0)) / (weights(n) @ played)
        ends = np.quantile(_log(resampled) @ fit, ENDS)
    return Estimate(slope, *ends.tolist())


def _log(means: Floats) -> Floats:
    """Logarithms, nan of what is not positive."""
    return np.log(np.where(means > 0, means, np.nan))


# Scores across tasks: the definitions of Agarwal et al. (NeurIPS 2021, "Deep Reinforcement Learning at the Edge of the
# Statistical Precipice"; their library is rliable). Scores are (tasks, principals, ..., seeds), normalised so that they
# can be compared across tasks; less is better.


def interquartile_mean(scores: Floats) -> Floats:
    """Mean of the middle half of all runs of all tasks, for each principal (principals, ...).

    >>> interquartile_mean(np.array([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 9.0]]])).round(2).tolist()
    [0.25, 0.65]
    """
    runs = np.moveaxis(scores, 0, -2)
    middle: Floats = stats.trim_mean(runs.reshape(*runs.shape[:-2], -1), 0.25, axis=-1)
    return middle


def performance_profile(scores: Floats, thresholds: Floats) -> Floats:
    """Share of runs, averaged over tasks, with a score of at most each threshold: (principals, thresholds)."""
    shares: Floats = (scores[..., None] <= thresholds).mean(axis=(0, 2))
    return shares


def probability_of_improvement(scores: Floats, one: int) -> Floats:
    """Probability that a run of ``one`` scores less than a run of each principal in the same task; a tie counts half.

    >>> probability_of_improvement(np.array([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 9.0]]]), 0).tolist()
    [0.5, 1.0]
    """
    n = scores.shape[-1]
    both = np.concatenate([scores, np.broadcast_to(scores[:, [one]], scores.shape)], axis=-1)
    ranks = stats.rankdata(both, axis=-1)[..., :n].sum(axis=-1)
    probabilities: Floats = ((ranks - n * (n + 1) / 2) / n**2).mean(axis=0)  # Mann-Whitney
    return probabilities


def interval_across_tasks(scores: Floats, statistic: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Ends of the stratified paired percentile bootstrap interval of a statistic; nan for fewer than ``FEWEST`` seeds.

    Seeds are drawn with replacement within each task, the same ones for all principals, since they met the same
    rewards.

    Args:
        scores: (tasks, principals, seeds).
        statistic: of scores (tasks, principals, ..., seeds); returns (..., resamples) for the axes that it keeps.
    """
    if scores.shape[-1] < FEWEST:
        missing = np.full_like(statistic(scores), np.nan)
        return missing, missing
    interval = stats.bootstrap(
        tuple(scores),
        lambda *tasks, axis: statistic(np.stack(tasks)),
        axis=-1,
        n_resamples=SLOW_RESAMPLES,
        batch=50,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return interval.low, interval.high
