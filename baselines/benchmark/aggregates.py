"""Scores of principals across tasks: interquartile mean, performance profiles, probability of improvement.

The definitions are those of Agarwal et al. (NeurIPS 2021, "Deep Reinforcement Learning at the Edge of the Statistical
Precipice"; their library is rliable). Intervals are stratified bootstraps: seeds are drawn with replacement within each
task. They are paired: all principals of a task are drawn on the same seeds, since they met the same rewards.

Scores are (tasks, principals, seeds), normalised so that they can be compared across tasks; here regret per round, of
which less is better.

>>> scores = np.array([[[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 9.0]]])  # one task, two principals, four seeds
>>> interquartile_mean(scores).round(2).tolist()
[0.25, 0.65]
>>> probability_of_improvement(scores, 0, 1)
1.0
"""

from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy import stats

from baselines.benchmark.intervals import FEWEST
from pa_env.kernel.layout import Floats

RESAMPLES = 1000
LEVELS = (0.025, 0.975)


def cube(rows: pd.DataFrame, score: str = "regret") -> tuple[Floats, list[str]]:
    """A score per round as (tasks, principals, seeds), and the principals, from rows at the horizon.

    Only principals that play every task, and seeds that all of them have everywhere, are kept.
    """
    wide = rows.assign(share=rows[score] / rows["horizon"]).pivot(
        index="principal", columns=["task", "seed"], values="share"
    )
    tasks = rows["task"].unique()
    everywhere = wide.notna().T.groupby(level="task").any().all()
    wide = wide[everywhere]
    seeds = [set(wide[task].columns[wide[task].notna().all()]) for task in tasks]
    common = sorted(set.intersection(*seeds))
    return np.stack([wide[task][common].to_numpy(np.float64) for task in tasks]), wide.index.tolist()


def interquartile_mean(scores: Floats) -> Floats:
    """Mean of the middle half of all runs of all tasks, for each principal (principals,)."""
    runs = np.moveaxis(scores, -2, 0).reshape(scores.shape[-2], -1)
    found: Floats = stats.trim_mean(runs, 0.25, axis=1)
    return found


def performance_profile(scores: Floats, thresholds: Floats) -> Floats:
    """Share of runs, averaged over tasks, with a score of at most each threshold: (principals, thresholds)."""
    found: Floats = (scores[..., None] <= thresholds).mean(axis=(0, 2))
    return found


def probability_of_improvement(scores: Floats, one: int, other: int) -> float:
    """Probability that a run of ``one`` scores less than a run of ``other`` in the same task; a tie counts half."""
    n = scores.shape[-1]
    shares = []
    for task in scores:
        ranks = stats.rankdata(np.concatenate([task[other], task[one]]))
        shares.append((ranks[:n].sum() - n * (n + 1) / 2) / n**2)  # Mann-Whitney
    return float(np.mean(shares))


def resampled(scores: Floats, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """Stratified paired resamples: the seeds of each task drawn anew, the same ones for all principals."""
    rng = np.random.default_rng(0)
    tasks, _, n = scores.shape
    for _ in range(resamples):
        drawn = rng.integers(n, size=(tasks, 1, n))
        yield np.take_along_axis(scores, drawn, axis=2)


def interval(scores: Floats, statistic: Callable[[Floats], Floats | float]) -> tuple[Floats, Floats]:
    """Ends of the 95% percentile interval of a statistic; nan for fewer than ``FEWEST`` seeds."""
    if scores.shape[-1] < FEWEST:
        missing = np.full_like(np.asarray(statistic(scores), np.float64), np.nan)
        return missing, missing
    drawn = np.array([statistic(part) for part in resampled(scores)])
    low, high = np.quantile(drawn, LEVELS, axis=0)
    return low, high
