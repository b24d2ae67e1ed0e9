"""What the runs of a benchmark say: means with intervals, differences on the same luck, growth.

``rows``: a table as :func:`baselines.benchmark.results.read` gives it: a row for each cell (task, principal, seed) and
checkpoint. Intervals are 95% bootstrap intervals over seeds. All principals of a task meet the same seeds, so the same
instances and rewards: a difference is taken seed by seed, which leaves out the luck that they share.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from baselines.registry import PRINCIPALS, factory

Floats = NDArray[np.float64]

SCORES = ("regret", "regret_oracle", "regret_bar", "utility")
COMPARED = ("regret", "utility")
SLOPE_DECADES = 2  # a slope is fitted to the checkpoints of the last two decades of a run
LEAST_REGRET = 1.0  # a round's worth: with less in all there is no growth to speak of


def privileged(label: str) -> bool:
    """Whether a principal is shown the agent's beliefs: it is listed, and never called the best.

    Only ours can be; a report runs no code of the authors of others.
    """
    name = label.split(",")[0]
    return name in PRINCIPALS and factory(name).privileged


def mean_interval(samples: Floats) -> tuple[Floats, Floats]:
    """Bootstrap (BCa) interval of the mean of each column of ``samples`` (n, C): lower and upper ends (C,).

    A column that is the same throughout has the interval of that one point; a single sample has none (nan).
    """
    low, high = samples[0].copy(), samples[0].copy()
    if len(samples) < 2:
        return low * np.nan, high * np.nan
    varied = np.ptp(samples, axis=0) > 1e-12 * np.abs(samples).max(axis=0)  # by more than rounding
    if varied.any():
        low[varied], high[varied] = _bootstrap(samples[:, varied], np.mean, axis=0, method="BCa")
    return low, high


def _bootstrap(samples: NDArray[Any], statistic: Callable[..., Floats], axis: int, method: str) -> tuple[Any, Any]:
    """Ends of the 95% interval; nan where a resample leaves the statistic undefined."""
    rng = np.random.default_rng(0)  # the same draws for every principal, and the same bytes each time
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # nan says it
        found = stats.bootstrap(
            (samples,), statistic, axis=axis, method=method, n_resamples=2000, batch=200, vectorized=True, rng=rng
        )
    return found.confidence_interval.low, found.confidence_interval.high


def curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean, low and high of R_t at each checkpoint; columns: task, principal, rounds, mean, low, high."""
    parts = []
    for (task, principal), cells in rows.groupby(["task", "principal"], sort=False):
        table = cells.pivot(index="seed", columns="rounds", values="regret")
        low, high = mean_interval(table.to_numpy(np.float64))
        values = {"rounds": table.columns, "mean": table.mean().to_numpy(), "low": low, "high": high}
        parts.append(pd.DataFrame({"task": task, "principal": principal, **values}))
    return pd.concat(parts, ignore_index=True)


def growth(cells: pd.DataFrame) -> tuple[float, float, float]:
    """Slope of log mean R_t against log t over the last decades of one principal's runs, and its interval's ends.

    It tells how regret grows within a run whose length the principal knows, not how R_T grows with T (for that see
    ``python -m baselines slopes``). nan where there is nothing to fit: hardly any regret, a mean that is not positive
    (agents that explore can make it so), or fewer than three checkpoints.
    """
    late = cells[cells["rounds"] >= cells["horizon"] / 10**SLOPE_DECADES]
    table = late.pivot(index="seed", columns="rounds", values="regret")
    regret, mean = table.to_numpy(np.float64), table.mean().to_numpy()
    if len(mean) < 3 or mean.min() <= 0 or mean[-1] < LEAST_REGRET:
        return np.nan, np.nan, np.nan
    centred = np.log(table.columns.to_numpy(np.float64))
    centred -= centred.mean()

    def slope(drawn: NDArray[np.intp], axis: int = -1) -> Floats:
        mean = regret[drawn].mean(axis=axis - 1)
        fitted: Floats = np.log(np.where(mean > 0, mean, np.nan)) @ centred / (centred @ centred)
        return fitted

    runs = np.arange(len(regret))
    low, high = _bootstrap(runs, slope, axis=-1, method="percentile") if len(runs) > 1 else (np.nan, np.nan)
    return float(slope(runs)), float(low), float(high)


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
    seeds = final.groupby("principal")["seed"].agg(set)
    shared = final[final["seed"].isin(set.intersection(*seeds))]
    paired = {score: shared.pivot(index="seed", columns="principal", values=score) for score in COMPARED}
    means = (final if shared.empty else shared).groupby("principal")["regret"].mean()
    contenders = means[[label for label in means.index if not privileged(label)]]
    best = None if contenders.empty else contenders.idxmin()
    records = []
    for principal, runs in cells.groupby("principal", sort=False):
        scores = final.loc[final["principal"] == principal, list(SCORES)].to_numpy(np.float64)
        record = {"task": task, "principal": principal, "privileged": privileged(principal), "best": principal == best}
        record |= {"seeds": len(scores), **_with_interval(SCORES, scores), "paired_seeds": len(paired["regret"])}
        for score, table in paired.items():
            comparable = best is not None and len(table)
            difference = (table[principal] - table[best]).to_numpy(np.float64) if comparable else np.array([np.nan])
            record |= _with_interval([f"{score}_difference"], difference[:, None])
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
