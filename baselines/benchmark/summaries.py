"""Summaries of a benchmark's rows: scores at the horizon with intervals and differences, curves, and behaviour.

``rows``: a table as :func:`baselines.benchmark.results.read` gives it: a row for each task, principal, seed and
checkpoint. Intervals are 95% bootstrap intervals over seeds (:mod:`baselines.benchmark.statistics`). All principals of
a task meet the same seeds, so the same instances and rewards. Differences are taken seed by seed, which removes the
variation that they share.
"""

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from baselines.benchmark.statistics import Estimate, Row, against_best, log_slope, mean_interval, minus
from baselines.registry import PRINCIPALS
from baselines.specs import is_policy
from baselines.tasks import SHORT
from pa_env.game import Game
from pa_env.kernel.layout import ArmRow, Floats, Integers
from pa_env.scripted_agents import AGENTS

SUMMARISED = ("regret", "regret_oracle", "regret_bar", "utility")
ORDERS = {"utility": -1, "regret": 1}  # scores that rank principals; times its sign, less is better
SLOPE_DECADES = 2  # a slope is fitted to the checkpoints of the last two decades of a run
LINEAR_SHARE, LINEAR_SLOPE = 0.01, 0.9  # of a run that fails: regret per round, and growth at its end
LEAST_REGRET = 1.0  # a round's worth: with less in all there is no growth to speak of
NO_DIFFERENCES = {f"{score}_difference{end}": np.nan for score in ORDERS for end in ("", "_low", "_high")}

Arms = Mapping[str, Floats | Integers]


def privileged(label: str) -> bool:
    """True for a principal that is shown the agent's beliefs: it is listed, and never called the best.

    Only a built-in one can be; a report runs no code of the authors of others.
    """
    name = label.split(",")[0]
    return name in PRINCIPALS and PRINCIPALS[name].privileged


def ignores_beliefs(agent: str) -> bool:
    """True for an agent (its label) that does not act on the beliefs which R_T is measured against.

    Such agents keep their own regret low by bonuses, samples or weights, or play before they see the offer. An oracle
    for the beliefs then overpays or is refused, and R_T says little: principals are ranked by utility alone. Trained
    agents (policy files) answer as their networks say.
    """
    name = agent.split(",")[0]
    return is_policy(agent) or (name in AGENTS and (AGENTS[name].low_regret or AGENTS[name].blind))


def ranking_score(agent: str, horizon: int) -> str:
    """The score that sorts a task: "utility" if it is short or its agent ignores its beliefs, else "regret"."""
    return "utility" if horizon <= SHORT or ignores_beliefs(agent) else "regret"


def linear_at_the_end(cells: pd.DataFrame) -> float:
    """Share of one principal's runs whose regret still grows linearly at the horizon.

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


def curves(rows: pd.DataFrame, score: str = "regret") -> pd.DataFrame:
    """Mean, low and high of a score at each checkpoint; columns: task, principal, rounds, mean, low, high."""
    parts = []
    for (task, principal), cells in rows.groupby(["task", "principal"], sort=False):
        parts.append(curve(*_by_seed(cells, score), task=task, principal=principal))
    return pd.concat(parts, ignore_index=True)


def curve(marks: Integers, sums: Floats, **labels: str) -> pd.DataFrame:
    """Mean, low and high of sums (seeds, C) at checkpoints (C,); columns: ``labels``, rounds, mean, low, high."""
    low, high = mean_interval(sums)
    return pd.DataFrame({**labels, "rounds": marks, "mean": sums.mean(axis=0), "low": low, "high": high})


def _by_seed(rows: pd.DataFrame, score: str = "regret") -> tuple[Integers, Floats]:
    """The checkpoints (C,) of one principal's runs in a task, and a score at each of them (seeds, C)."""
    marks, order = np.unique(rows["rounds"]), np.lexsort((rows["rounds"], rows["seed"]))
    return marks, rows[score].to_numpy(np.float64)[order].reshape(-1, marks.size)


def growth(cells: pd.DataFrame) -> Estimate:
    """The slope of log mean R_t against log t over the last decades of one principal's runs.

    It tells how regret grows within a run whose length the principal knows, not how R_T grows with T (for that see
    ``pa-bench reproduce theorems``). nan where there is nothing to fit: hardly any regret, a mean that is not positive
    (agents that explore can make it so), or fewer than three checkpoints.
    """
    marks, regret = _by_seed(cells[cells["rounds"] >= cells["horizon"] / 10**SLOPE_DECADES])
    if marks.size < 3 or regret[:, -1].mean() < LEAST_REGRET:
        return Estimate(np.nan)
    return log_slope(marks, regret)


def summarise(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each task and principal, at the horizon; tasks as they come, principals by the score that ranks them.

    Columns: task, agent, horizon, ranked_by ("utility" for tasks of at most ``SHORT`` rounds and for agents that ignore
    their beliefs, else "regret"), beliefs_ignored, principal, privileged, seeds; each of ``SUMMARISED`` with ``_low``
    and ``_high``; regret_median and regret_q90 (the 90% quantile of runs); linear, the share of runs that fail
    (:func:`linear_at_the_end`); paired_seeds, those that all principals of the task have; slope (:func:`growth`) with
    its interval. For utility and for regret, on the paired seeds: ``_best``, true for the best that is not privileged,
    and ``_difference`` to it, with ``_low`` and ``_high`` corrected for having picked it
    (:func:`baselines.benchmark.statistics.against_best`); none in regret where beliefs are ignored. below_zero: true if
    the interval of the paired difference in utility to the principal ``zero`` is below 0.
    """
    return pd.concat([_of_task(task, cells) for task, cells in rows.groupby("task", sort=False)], ignore_index=True)


def merit(summary: pd.DataFrame) -> list[str]:
    """All principals of a summary, those with the best mean place in utility in the tasks they played first."""
    places = summary.groupby("task")["utility"].rank(ascending=False)
    return list(places.groupby(summary["principal"], sort=False).mean().sort_values(kind="stable").index)


def is_separated(row: Row, score: str) -> bool:
    """True if a principal is surely behind the best of its task in "utility" or "regret"."""
    behind = -row["utility_difference_high"] if score == "utility" else row["regret_difference_low"]
    return bool(behind > 0)


def _of_task(task: str, cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of one task."""
    final = cells[cells["rounds"] == cells["horizon"]]
    agent, horizon = final["agent"].iloc[0], int(final["horizon"].iloc[0])
    ignored = ignores_beliefs(agent)
    ranked_by = ranking_score(agent, horizon)
    seeds = final.groupby("principal")["seed"].unique()
    shared = final[final["seed"].isin(functools.reduce(np.intersect1d, seeds))]
    poor = _below_zero(shared)
    comparisons = {score: _compare(final, shared, score) for score in ORDERS if score == "utility" or not ignored}
    records = []
    for principal, runs in cells.groupby("principal", sort=False):
        scores = final.loc[final["principal"] == principal, list(SUMMARISED)].to_numpy(np.float64)
        record = {"task": task, "agent": agent, "horizon": horizon, "ranked_by": ranked_by, "beliefs_ignored": ignored}
        record |= {"principal": principal, "privileged": privileged(principal), "seeds": len(scores)}
        record |= {**_with_interval(SUMMARISED, scores), "paired_seeds": shared["seed"].nunique()}
        record |= zip(("regret_median", "regret_q90"), np.quantile(scores[:, 0], (0.5, 0.9)).tolist(), strict=True)
        record |= {"linear": linear_at_the_end(runs), "below_zero": principal in poor}
        record |= {"utility_best": False, "regret_best": False, **NO_DIFFERENCES}
        for columns in comparisons.values():
            record |= columns.get(principal, {})
        record |= zip(("slope", "slope_low", "slope_high"), growth(runs), strict=True)
        records.append(record)
    return pd.DataFrame(records).sort_values(ranked_by, ascending=ranked_by == "regret", ignore_index=True)


def _below_zero(shared: pd.DataFrame) -> set[str]:
    """Return the principals with surely less utility than ``zero`` on common seeds."""
    table = shared.pivot(index="seed", columns="principal", values="utility")
    if table.empty or "zero" not in table:
        return set()
    _, high = mean_interval(minus(table.to_numpy(np.float64), table.columns.get_loc("zero")))
    return set(table.columns[high < 0])


def _compare(final: pd.DataFrame, shared: pd.DataFrame, score: str) -> dict[str, dict[str, bool | float]]:
    """The columns ``_best`` and ``_difference`` of a score by principal; without common seeds the first alone."""
    means = ORDERS[score] * (final if shared.empty else shared).groupby("principal")[score].mean()
    contenders = means[[label for label in means.index if not privileged(label)]]
    if contenders.empty:
        return {}
    best = contenders.idxmin()
    columns: dict[str, dict[str, bool | float]] = {
        principal: {f"{score}_best": principal == best} for principal in means.index
    }
    if not shared.empty:
        table = shared.pivot(index="seed", columns="principal", values=score)
        values, place = table.to_numpy(np.float64), table.columns.get_loc(best)
        ends = (minus(values, place).mean(axis=0), *against_best(values, place))
        for end, column in zip(("", "_low", "_high"), ends, strict=True):
            for principal, value in zip(table.columns, column.tolist(), strict=True):
                columns[principal][f"{score}_difference{end}"] = value
    return columns


def _with_interval(names: Sequence[str], samples: Floats) -> dict[str, float]:
    """Mean, low and high of each column of samples (n, len(names))."""
    ends = (samples.mean(axis=0), *mean_interval(samples))
    columns = zip(names, *(end.tolist() for end in ends), strict=True)
    return {
        name + end: value for name, *values in columns for end, value in zip(("", "_low", "_high"), values, strict=True)
    }


def cube(rows: pd.DataFrame) -> tuple[Floats, list[str]]:
    """R_T / T as (tasks, principals, seeds), and the principals, from rows at the horizon.

    Only principals that play every task, and seeds that all of them have everywhere, are kept.
    """
    wide = rows.assign(share=rows["regret"] / rows["horizon"]).pivot(
        index="principal", columns=["task", "seed"], values="share"
    )
    tasks = rows["task"].unique()
    everywhere = wide.notna().T.groupby(level="task").any().all()
    wide = wide[everywhere]
    seeds = [set(wide[task].columns[wide[task].notna().all()]) for task in tasks]
    common = sorted(set.intersection(*seeds))
    return np.stack([wide[task][common].to_numpy(np.float64) for task in tasks]), wide.index.tolist()


def payments(rows: pd.DataFrame, arms: Arms) -> pd.DataFrame:
    """The incentive offered in the round of each checkpoint of a task, and pi* of its arm: means over seeds.

    Of several arms with an incentive it is the one with the most above pi*, which a greedy agent likes best. Runs that
    offer nothing then are left out; nan where all do. Columns: principal, rounds, offer, needed.
    """
    offers, needed = arms["offers"], arms["optimal_incentives"]
    places, paid = np.arange(len(rows)), np.where(offers > 0, offers - needed, -np.inf).argmax(axis=1)
    some = offers.any(axis=1)
    table = rows[["principal", "rounds"]].assign(
        offer=np.where(some, offers[places, paid], np.nan), needed=np.where(some, needed[places, paid], np.nan)
    )
    return table.groupby(["principal", "rounds"]).mean().reset_index()


def plays_by_rank(rows: pd.DataFrame, arms: Arms) -> pd.DataFrame:
    """Shares of all plays of a task, means over seeds: a row for each principal, a column for each rank of an arm.

    Arms are ranked in each run by theta + mu, best first, of the instance that its seed gives, which must be of a
    built-in family.
    """
    last = (rows["rounds"] == rows["horizon"]).to_numpy()
    final, first = rows[last], rows.iloc[0]
    seeds, place = np.unique(final["seed"], return_inverse=True)
    n_arms, dim = int(first["n_arms"]), int(first["dim"]) or None
    game = Game(n_arms, instance=first["instance"], dim=dim, copies=seeds.size, observe=False)
    game.begin(seeds=seeds.tolist())
    ranked = np.argsort(-(game.arrays.arms[:, ArmRow.THETA] + game.arrays.arms[:, ArmRow.MU]), axis=1, kind="stable")
    plays = np.take_along_axis(arms["plays"][last], ranked[place], axis=1) / final["horizon"].to_numpy()[:, None]
    return pd.DataFrame(plays, index=final["principal"]).groupby(level=0, sort=False).mean()
