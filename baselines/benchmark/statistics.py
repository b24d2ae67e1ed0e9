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

from baselines.benchmark.intervals import FEWEST, LEVELS, MANY, Floats, against_best, shares
from baselines.benchmark.intervals import mean_interval as mean_interval
from baselines.registry import PRINCIPALS

SCORES = ("regret", "regret_oracle", "regret_bar", "utility")
COMPARED = ("regret", "utility")
SLOPE_DECADES = 2  # a slope is fitted to the checkpoints of the last two decades of a run
LINEAR_SHARE, LINEAR_SLOPE = 0.01, 0.9  # of a run that fails: regret per round, and growth at its end
LEAST_REGRET = 1.0  # a round's worth: with less in all there is no growth to speak of
NO_DIFFERENCES = {f"{score}_difference{end}": np.nan for score in COMPARED for end in ("", "_low", "_high")}


def privileged(label: str) -> bool:
    """Whether a principal is shown the agent's beliefs: it is listed, and never called the best.

    Only ours can be; a report runs no code of the authors of others.
    """
    name = label.split(",")[0]
    return name in PRINCIPALS and PRINCIPALS[name].privileged


def linear_at_the_end(cells: pd.DataFrame) -> float:
    """Share of one principal's runs that still lose a constant amount a round at their end.

    Such a run has R_T of at least ``LINEAR_SHARE`` a round, and over its last part, from the last checkpoint before 0.6
    T on, R_t grows like t^``LINEAR_SLOPE`` or faster. nan if there is no such checkpoint.
    """
    marks, regret = _by_seed(cells)
    earlier = np.flatnonzero(marks <= 0.6 * marks[-1])
    if not earlier.size:
        return np.nan
    before, end = regret[:, earlier[-1]], regret[:, -1]
    growth = end > np.maximum(before, 0.0) * (marks[-1] / marks[earlier[-1]]) ** LINEAR_SLOPE
    return float((growth & (end >= LINEAR_SHARE * marks[-1])).mean())


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
    if n < FEWEST:
        return slope, np.nan, np.nan
    if n > MANY:  # to first order, it is a mean of what each run adds to it
        ends = slope + LEVELS * ((regret / mean) @ fit).std(ddof=1) / n**0.5
    else:
        drawn = shares(n) @ regret
        slopes = np.log(np.where(drawn > 0, drawn, np.nan)) @ fit  # nan where a resample leaves it undefined
        ends = np.quantile(slopes, special.ndtr(LEVELS))
    return slope, *ends.tolist()


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each task and principal, at the horizon; tasks as they come, principals by mean R_T.

    Columns: task, horizon, principal, privileged, best (of those that are not privileged), seeds; each of ``SCORES``
    with ``_low`` and ``_high``; regret_median and regret_q90 (the 90% quantile of runs); linear, the share of runs that
    fail (:func:`linear_at_the_end`); paired_seeds, those that all principals of the task have; ``regret_difference``
    and ``utility_difference`` to the best on those seeds, with ``_low`` and ``_high`` corrected for having picked it
    (:func:`against_best`); slope (:func:`growth`) with its interval.
    """
    return pd.concat([_of_task(task, cells) for task, cells in rows.groupby("task", sort=False)], ignore_index=True)


def merit(summary: pd.DataFrame) -> list[str]:
    """All principals of a summary, those with the best mean place in the tasks they played first."""
    places = summary.groupby("task")["regret"].rank()
    return list(places.groupby(summary["principal"], sort=False).mean().sort_values(kind="stable").index)


def _of_task(task: str, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of one task."""
    final = cells[cells["rounds"] == cells["horizon"]]
    seeds = final.groupby("principal")["seed"].unique()
    shared = final[final["seed"].isin(functools.reduce(np.intersect1d, seeds))]
    paired = {score: shared.pivot(index="seed", columns="principal", values=score) for score in COMPARED}
    means = (final if shared.empty else shared).groupby("principal")["regret"].mean()
    contenders = means[[label for label in means.index if not privileged(label)]]
    best = None if contenders.empty else contenders.idxmin()
    differences = _differences(paired, best)
    records = []
    for principal, runs in cells.groupby("principal", sort=False):
        scores = final.loc[final["principal"] == principal, list(SCORES)].to_numpy(np.float64)
        record = {"task": task, "horizon": int(final["horizon"].iloc[0]), "principal": principal}
        record |= {"privileged": privileged(principal), "best": principal == best}
        record |= {"seeds": len(scores), **_with_interval(SCORES, scores), "paired_seeds": len(paired["regret"])}
        record |= zip(("regret_median", "regret_q90"), np.quantile(scores[:, 0], (0.5, 0.9)).tolist(), strict=True)
        record |= {"linear": linear_at_the_end(runs)} | differences.get(principal, NO_DIFFERENCES)
        record |= zip(("slope", "slope_low", "slope_high"), growth(runs), strict=True)
        records.append(record)
    return pd.DataFrame(records).sort_values("regret", ignore_index=True)


def _differences(paired: dict[str, pd.DataFrame], best: str | None) -> dict[str, dict[str, float]]:
    """For each principal, the columns of its differences to the best; empty without a best or common seeds."""
    if best is None or paired["regret"].empty:
        return {}
    found: dict[str, dict[str, float]] = {principal: {} for principal in paired["regret"].columns}
    for score, table in paired.items():
        values = table.to_numpy(np.float64)
        place = table.columns.get_loc(best)
        ends = ((values - values[:, [place]]).mean(axis=0), *against_best(values, place))
        for end, column in zip(("", "_low", "_high"), ends, strict=True):
            for principal, value in zip(table.columns, column.tolist(), strict=True):
                found[principal][f"{score}_difference{end}"] = value
    return found


def _with_interval(names: Sequence[str], samples: Floats) -> dict[str, float]:
    """Mean, low and high of each column of samples (n, len(names))."""
    ends = (samples.mean(axis=0), *mean_interval(samples))
    columns = zip(names, *(end.tolist() for end in ends), strict=True)
    return {
        name + end: value for name, *values in columns for end, value in zip(("", "_low", "_high"), values, strict=True)
    }
