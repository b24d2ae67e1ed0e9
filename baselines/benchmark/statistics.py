"""Statistics of a benchmark: means with intervals, paired differences, growth.

``rows``: a table as :func:`baselines.benchmark.results.read` gives it: a row for each task, principal, seed and
checkpoint. Intervals are 95% bootstrap intervals over seeds. All principals of a task meet the same seeds, so the same
instances and rewards. Differences are taken seed by seed, which removes the variation that they share.
"""

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from baselines.registry import PRINCIPALS, factory

Floats = NDArray[np.float64]

SCORES = ("regret", "regret_oracle", "regret_bar", "utility")
COMPARED = ("regret", "utility")
SLOPE_DECADES = 2  # a slope is fitted to the checkpoints of the last two decades of a run
FEWEST = 10  # samples behind an interval
FEW, RESAMPLES = 100, (10_000, 2_000)  # resamples of few samples, and of more
MANY = 1000  # samples, above which a mean is normal enough
LEVELS = special.ndtri(np.array([0.025, 0.975]))
LEAST_REGRET = 1.0  # a round's worth: with less in all there is no growth to speak of


def privileged(label: str) -> bool:
    """Whether a principal is shown the agent's beliefs: it is listed, and never called the best.

    Only ours can be; a report runs no code of the authors of others.
    """
    name = label.split(",")[0]
    return name in PRINCIPALS and factory(name).privileged


def mean_interval(samples: Floats) -> tuple[Floats, Floats]:
    """Interval of the mean of each column of ``samples`` (n, C): lower and upper ends (C,).

    It is a bootstrap interval (BCa, Efron 1987); of more than ``MANY`` samples the normal one, which is then the same.
    A column that is the same throughout has the interval of that one point; a single sample has none (nan).
    """
    low, high = samples[0].copy(), samples[0].copy()
    if len(samples) < 2:
        return low * np.nan, high * np.nan
    varied = np.ptp(samples, axis=0) > 1e-12 * np.abs(samples).max(axis=0)  # by more than rounding
    if not varied.any():
        return low, high
    some = samples[:, varied]
    if len(samples) > MANY:
        low[varied], high[varied] = some.mean(axis=0) + LEVELS[:, None] * some.std(axis=0, ddof=1) / len(some) ** 0.5
    else:
        low[varied], high[varied] = _bca(some)
    return low, high


@functools.lru_cache(maxsize=4)
def _shares(n: int) -> Floats:
    """How often each of ``n`` samples is drawn in each resample, divided by n: (resamples, n), the same each time."""
    drawn: Floats = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), RESAMPLES[n > FEW]) / n
    return drawn


def _bca(samples: Floats) -> Floats:
    """Ends (2, C) of the BCa intervals of the means of the columns; nan where resamples are all on one side."""
    n, mean = len(samples), samples.mean(axis=0)
    drawn = np.sort((_shares(n) @ samples).T)  # (C, resamples)
    tie = 1e-12 * np.abs(samples).max(axis=0)
    below = [np.searchsorted(means, (m - e, m + e)).mean() for means, m, e in zip(drawn, mean, tie, strict=True)]
    pull = (samples - mean) / (n - 1)  # what leaving each one out does to the mean
    skew = (pull**3).sum(axis=0) / (6 * (pull**2).sum(axis=0) ** 1.5)
    with np.errstate(invalid="ignore"):  # nan says it
        centre = special.ndtri(np.array(below) / drawn.shape[1])
        shifted = centre + LEVELS[:, None]
        levels = special.ndtr(centre + shifted / (1 - skew * shifted))
    ranks = np.linspace(0, 1, drawn.shape[1])
    return np.array(
        [[np.interp(level, ranks, means) for level, means in zip(end, drawn, strict=True)] for end in levels]
    )


def curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean, low and high of R_t at each checkpoint; columns: task, principal, rounds, mean, low, high."""
    parts = []
    for (task, principal), cells in rows.groupby(["task", "principal"], sort=False):
        marks, regret = _by_seed(cells)
        low, high = mean_interval(regret)
        values = {"rounds": marks, "mean": regret.mean(axis=0), "low": low, "high": high}
        parts.append(pd.DataFrame({"task": task, "principal": principal, **values}))
    return pd.concat(parts, ignore_index=True)


def _by_seed(rows: pd.DataFrame) -> tuple[NDArray[np.int64], Floats]:
    """The checkpoints (C,) of one principal's runs in a task, and R_t at each of them (seeds, C)."""
    marks, order = np.unique(rows["rounds"]), np.lexsort((rows["rounds"], rows["seed"]))
    return marks, rows["regret"].to_numpy(np.float64)[order].reshape(-1, marks.size)


def growth(cells: pd.DataFrame) -> tuple[float, float, float]:
    """Slope of log mean R_t against log t over the last decades of one principal's runs, and its interval's ends.

    It tells how regret grows within a run whose length the principal knows, not how R_T grows with T (for that see
    ``python -m baselines theorems``). nan where there is nothing to fit: hardly any regret, a mean that is not positive
    (agents that explore can make it so), or fewer than three checkpoints.
    """
    marks, regret = _by_seed(cells[cells["rounds"] >= cells["horizon"] / 10**SLOPE_DECADES])
    mean = regret.mean(axis=0)
    if len(mean) < 3 or mean.min() <= 0 or mean[-1] < LEAST_REGRET:
        return np.nan, np.nan, np.nan
    centred = np.log(marks) - np.log(marks).mean()
    fit = centred / (centred @ centred)
    slope, n = float(np.log(mean) @ fit), len(regret)
    if n < 2:
        return slope, np.nan, np.nan
    if n > MANY:  # to first order, it is a mean of what each run adds to it
        ends = slope + LEVELS * ((regret / mean) @ fit).std(ddof=1) / n**0.5
    else:
        drawn = _shares(n) @ regret
        slopes = np.log(np.where(drawn > 0, drawn, np.nan)) @ fit  # nan where a resample leaves it undefined
        ends = np.quantile(slopes, special.ndtr(LEVELS))
    return slope, *ends.tolist()


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each task and principal, at the horizon; tasks as they come, principals by mean R_T.

    Columns: task, principal, privileged, best (of those that are not privileged), seeds; each of ``SCORES`` with
    ``_low`` and ``_high``; paired_seeds, those that all principals of the task have; ``regret_difference`` and
    ``utility_difference`` to the best on those seeds, with ``_low`` and ``_high``; slope (:func:`growth`) likewise.
    """
    return pd.concat([_of_task(task, cells) for task, cells in rows.groupby("task", sort=False)], ignore_index=True)


def _of_task(task: str, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of one task."""
    final = cells[cells["rounds"] == cells["horizon"]]
    seeds = final.groupby("principal")["seed"].unique()
    shared = final[final["seed"].isin(functools.reduce(np.intersect1d, seeds))]
    paired = {score: shared.pivot(index="seed", columns="principal", values=score) for score in COMPARED}
    means = (final if shared.empty else shared).groupby("principal")["regret"].mean()
    contenders = means[[label for label in means.index if not privileged(label)]]
    best = None if contenders.empty else contenders.idxmin()
    records = []
    for principal, runs in cells.groupby("principal", sort=False):
        scores = final.loc[final["principal"] == principal, list(SCORES)].to_numpy(np.float64)
        record = {"task": task, "principal": principal, "privileged": privileged(principal), "best": principal == best}
        record |= {"seeds": len(scores), **_with_interval(SCORES, scores), "paired_seeds": len(paired["regret"])}
        differences = np.full((1, len(COMPARED)), np.nan)
        if best is not None and len(shared):
            differences = np.column_stack([table[principal] - table[best] for table in paired.values()])
        record |= _with_interval([f"{score}_difference" for score in COMPARED], differences)
        record |= zip(("slope", "slope_low", "slope_high"), growth(runs), strict=True)
        records.append(record)
    return pd.DataFrame(records).sort_values("regret", ignore_index=True)


def _with_interval(names: Sequence[str], samples: Floats) -> dict[str, float]:
    """Mean, low and high of each column of samples (n, len(names))."""
    ends = (samples.mean(axis=0), *mean_interval(samples))
    columns = zip(names, *(end.tolist() for end in ends), strict=True)
    return {
        name + end: value for name, *values in columns for end, value in zip(("", "_low", "_high"), values, strict=True)
    }
