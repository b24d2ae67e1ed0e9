"""Who wins where: every scripted principal against the agents of a suite, at three horizons.

It is the suite ``who-wins`` of :mod:`baselines.tasks`. The page has a heat map for each horizon, and a table for each
task: means, medians, quantiles, the share of runs that fail, and utility beside regret.
"""

import functools
import math
from collections.abc import Iterator, Mapping, Set
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from baselines.benchmark import standings, statistics, summaries, tables
from baselines.benchmark.formatting import NONE, bracketed, number
from baselines.benchmark.results import Results
from baselines.benchmark.statistics import TOO_FEW, Estimate
from baselines.registry import PRINCIPALS, is_trained
from baselines.reproduce import phases
from baselines.reproduce.claim import PRACTICAL, SHARES, Cell, Claim, Evidence, Measurement, Study
from baselines.reproduce.lemma_counts import Count, best_arm_lost
from baselines.tasks import Task, tasks

SUITE = "who-wins"
SEEDS = {10**3: 2000, 10**4: 100, 10**5: 100}  # by horizon, the same for all principals of a task
LINEAR_SEEDS = 100  # `linear` with practical constants takes half a second an episode
# Beside the principals of the suite, with the i.i.d. rewards that they are published for.
VARIANTS = ("epsilon-greedy,variant=gross", "epsilon-greedy,variant=every-round")
# More than 10 us a round, against some agents or all: not played at the longest horizon.
SLOW = ("price-grid", "particle", "knows-beliefs", "explore-then-commit", "linear,constants=practical")
SLOW_HORIZONS = (10**3, 10**4)
QUICK_AGENTS, QUICK_SEEDS = ("empirical-mean", "oracle"), 10

PHASED = ("elimination", "elimination-offline", "exploratory", "exploratory-oracle")
PHASED_AGENTS = ("empirical-mean", "exploratory", "exploratory-oracle")
PHASED_HORIZONS = (10**5, 10**6)
PHASED_RUNS = 100
QUICK_PHASED_HORIZONS, QUICK_PHASED_RUNS = (10**4,), 10
PROFILE = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])  # levels of regret per round
SHOWN = ("utility", "utility_difference", "regret", "regret_difference")
PANELS = {"uniform": "uniform instances, K = 5", "unit-ball": "linear rewards, K = 5, d = 3"}
ABOUT = (
    f"Every scripted principal in every task of the suite `{SUITE}` that it can play, but for slow ones:"
    f" {', '.join(f'`{name}`' for name in SLOW)} are not played at T = {max(SEEDS):,}. Names are explained on the pages"
    " of [principals](principals.md) and [agents](agents.md). Scores are per round, over seeds that all principals"
    " share. Square brackets are 95% bootstrap intervals."
    f" {tables.SEPARATION} {tables.IGNORED} {tables.ORDER} A run fails if its regret still grows linearly at the"
    " horizon: R_T/T of at least"
    f" {summaries.LINEAR_SHARE:g}, and R_t growing like t^{summaries.LINEAR_SLOPE:g} or faster over its last part."
    " Medians, quantiles and failures are of R_T. `oracle` and `knows-beliefs` are privileged: they are told what is"
    f" hidden from others, and do not rank. {tables.BEHIND_ZERO} {TOO_FEW} {tables.REGRET}"
)
MARKS = (
    "rows by mean place in utility; *: the least, or not separated from it, of those not privileged\n"
    "': the game ends in phase 1, or (linear) pays its cap throughout; †: R_T does not rank principals;"
    " above 1 the colour is that of 1"
)
READING = (
    "Of those that play linear rewards only `linear` and `c-ipa` are told the arms. The others are not made for such"
    " rewards: most look for prices up to 1, and an arm may cost 2. All principals of a task play the same seeds, and"
    " text, tables and figures are of these. A game marked `phase 1` ends in the principal's first phase, as those of"
    " `belgic` below T = 4e5 do; `linear` with the paper's constants is marked where it pays its cap in all phases. IQM"
    " is the interquartile mean of R_T/T over all runs of all agents that act on their beliefs; the columns after it"
    " are a performance profile, the share of runs with so little regret; P is the probability that a run of the one"
    " with the least IQM, of those that are not privileged, beats a run of this one (0.5: no difference). Intervals"
    " there are stratified paired bootstraps; only principals and seeds that all these tasks have are in that table."
    f" {SHARES} Firsts are not per round but of the whole game: {standings.VERDICT}"
)
LOST = (
    "Runs in which the arm with the largest theta + mu is no longer active in the last phase, `uniform` instances with"
    " K = 5. An arm is dropped for good. Elimination takes an agent's exploration for an answer; the principals made"
    " for agents that explore ask again and again. Losses happen without exploration too."
)


def line_up(quick: bool = False) -> Iterator[tuple[Task, str]]:
    """The tasks of the suite, each with one of the scripted principals that play it.

    Args:
        quick: only the shortest horizon and a few agents.
    """
    chosen = tasks(SUITE)
    if quick:
        shortest = min(task.horizon for task in chosen)
        chosen = tuple(task for task in chosen if task.horizon == shortest and task.agent in QUICK_AGENTS)
    for task in chosen:
        scripted = (spec for spec in task.principals if not is_trained(spec))
        for principal in (*scripted, *(VARIANTS if task.dim is None else ())):
            if principal not in SLOW or task.horizon in SLOW_HORIZONS:
                yield task, principal


def cells(study: Study) -> Iterator[Cell]:
    """The line-up, all principals of a task on the same seeds."""
    for task, principal in line_up(study.quick):
        usual = SEEDS[task.horizon] if task.dim is None else LINEAR_SEEDS
        yield Cell(task, principal, QUICK_SEEDS if study.quick else study.seeds or usual)


def losses(study: Study) -> Iterator[Measurement]:
    """Counts of runs in which each of ``PHASED`` loses the best arm."""
    horizons, runs = (QUICK_PHASED_HORIZONS, QUICK_PHASED_RUNS) if study.quick else (PHASED_HORIZONS, PHASED_RUNS)
    for agent, principal, horizon in product(PHASED_AGENTS, PHASED, horizons):
        name = f"best arms lost, {principal} vs {agent}, T = {horizon:.0e}, {runs} runs"
        yield Measurement(name, best_arm_lost, (PRINCIPALS[principal], runs, horizon, agent))


def plan(study: Study) -> Iterator[Cell | Measurement]:
    """The cells, which of their games end in the first phase, and the best arms lost."""
    yield from phases.with_phases(cells(study))
    yield from losses(study)


def losses_table(evidence: Evidence) -> str:
    """A row for each agent and principal, a column for each horizon."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for each in losses(evidence.study):
        kind, _, horizon, agent = each.arguments
        row = rows.setdefault((agent, kind.name), {"agent": agent, "principal": kind.name + PRACTICAL})
        row[f"T = {horizon:.0e}"] = str(Count(*evidence.values[each.name]))
    return tables.markdown(pd.DataFrame(list(rows.values())))


def in_phase_1(evidence: Evidence) -> set[tuple[str, str]]:
    """The cells whose games end in the first phase, by the names of the task and of the principal."""
    labels, values = evidence.cells.labels, evidence.values
    first = (cell for cell in cells(evidence.study) if phases.is_first(values, cell.principal, cell.task))
    return {(cell.task.name, labels[cell.principal]) for cell in first}


def ranking(part: pd.DataFrame, horizon: int, first: Set[tuple[str, str]] = frozenset()) -> str:
    """The table of a task, per round, the best first.

    Args:
        part: its summary.
        horizon: its rounds.
        first: tasks and principals whose games end in the first phase, which are marked.
    """
    lines = []
    for row in tables.records(part):
        shares = {score: bracketed(Estimate.of(row, score).over(horizon), digits=4) for score in SHOWN}
        lines.append(
            {
                "principal": tables.name(row) + phases.mark((row["task"], row["principal"]) in first),
                "utility/T": shares["utility"],
                "utility/T - best": _difference(row, "utility", shares),
                "R_T/T": shares["regret"] + ("†" if row["beliefs_ignored"] else ""),
                "R_T/T - least": _difference(row, "regret", shares),
                "median": number(row["regret_median"] / horizon, digits=4),
                "90% of runs below": number(row["regret_q90"] / horizon, digits=4),
                "runs that fail": "–" if pd.isna(row["linear"]) else f"{row['linear']:.0%}",
                "seeds": str(row["seeds"]),
            }
        )
    return tables.markdown(pd.DataFrame(lines))


def _difference(row: Mapping[str, Any], score: str, shares: Mapping[str, str]) -> str:
    """The difference to the best in a score, marked if it is not separated from 0."""
    text = shares[f"{score}_difference"]
    apart = row[f"{score}_best"] or row["privileged"] or text == NONE or summaries.is_separated(row, score)
    return text if apart else f"{text} (not separated)"


def verdict(summary: pd.DataFrame) -> str:
    """Sentences on the tasks of one horizon, without agents that ignore their beliefs and privileged principals."""
    contenders = summary[~summary["beliefs_ignored"] & ~summary["privileged"]]
    shaky = contenders.groupby("principal")["linear"].max()
    steady = [f"`{label}`" for label in shaky.index[shaky <= 0.05]]
    fails = "each fails in more than 5% of its runs against some agent"
    if steady:
        fails = (
            f"at most 5% of the runs of {', '.join(steady)} fail against each agent, and more of the others' against"
            " one or several. A run that does not fail may have much regret, if it grows no more"
        )
    apart = contenders.assign(ratio=contenders["regret"] / contenders["regret_median"].clip(lower=1.0))
    worst = apart.loc[apart["ratio"].idxmax()]
    return (
        f"Of principals that are not privileged, against agents that act on their beliefs, {fails}. The ratio of mean"
        f" to median R_T (taken as at least 1) is largest for `{worst['principal']}` against {worst['agent']}: mean"
        f" {tables.with_interval(worst, 'regret')}, median {worst['regret_median']:,.0f}."
    )


def across(rows: pd.DataFrame) -> str:
    """Interquartile mean, performance profile and probability of improvement across the agents of one horizon.

    Agents that ignore the beliefs that R_T is measured against are left out.
    """
    scores, labels = summaries.cube(rows[~rows["agent"].map(summaries.ignores_beliefs)])
    means = statistics.interquartile_mean(scores)
    ends = statistics.interval_across_tasks(scores, statistics.interquartile_mean)
    profile = statistics.performance_profile(scores, PROFILE)
    open_to = [i for i, label in enumerate(labels) if not summaries.privileged(label)]
    best = min(open_to, key=lambda i: means[i])
    improves = functools.partial(statistics.probability_of_improvement, one=best)
    better, sure = improves(scores), statistics.interval_across_tasks(scores, improves)
    lines = []
    for i in means.argsort(kind="stable"):
        ahead = Estimate(better[i], sure[0][i], sure[1][i])
        lines.append(
            {
                "principal": labels[i],
                "IQM of R_T/T": bracketed(Estimate(means[i], ends[0][i], ends[1][i]), digits=4),
                **{f"R_T/T ≤ {level:g}": f"{share:.0%}" for level, share in zip(PROFILE, profile[i], strict=True)},
                f"P({labels[best]} is better)": "–" if i == best else bracketed(ahead, digits=2),
            }
        )
    return tables.markdown(pd.DataFrame(lines))


def marks(group: pd.DataFrame, first: Set[tuple[str, str]], panel: pd.DataFrame) -> pd.DataFrame:
    """Marks behind the numbers of a heat map: * for the best and what is not separated from it, ' for phase 1.

    Args:
        group: summary of the tasks of the panel.
        first: tasks and principals whose games end in the first phase.
        panel: the numbers, in whose order the marks are.
    """
    signs = [
        ("*" if _level(row) else "") + ("'" if (row["task"], row["principal"]) in first else "")
        for row in tables.records(group)
    ]
    wide = group.assign(sign=signs).pivot(index="principal", columns="agent", values="sign").fillna("")
    plain = [[name.removesuffix(" (privileged)") for name in panel.index], [name.removesuffix("†") for name in panel]]
    return wide.reindex(index=plain[0], columns=plain[1])


def _level(row: Mapping[str, Any]) -> bool:
    """True for the least R_T of a task and for what is not separated from it."""
    if row["privileged"] or row["beliefs_ignored"] or pd.isna(row["regret_difference"]):
        return False
    return bool(row["regret_best"] or not summaries.is_separated(row, "regret"))


def planned(results: Results, study: Study) -> pd.DataFrame:
    """The rows of the cells that this command plays, on its seeds: a folder may have more, of an earlier command."""
    seeds = {(cell.task.name, results.labels[cell.principal]): cell.seeds for cell in cells(study)}
    rows = results.rows
    wanted = pd.Series(list(zip(rows["task"], rows["principal"], strict=True)), rows.index).map(seeds).fillna(0)
    return rows[rows["seed"] < wanted]


def page(evidence: Evidence, path: Path) -> list[str]:
    """A section for each horizon, and the heat maps beside the page."""
    from baselines.benchmark.figures import heat_map, losses_per_round
    from baselines.pictures import save

    rows, first = planned(evidence.cells, evidence.study), in_phase_1(evidence)
    summary = summaries.summarise(rows)
    summary = summary.join(rows.drop_duplicates("task").set_index("task")["instance"], on="task")
    parts = [ABOUT, READING]
    for horizon, part in summary.groupby("horizon"):
        kinds = dict(list(part.groupby("instance", sort=False)))
        titles = {kind: f"{PANELS[kind]}, {group['seeds'].min()} seeds" for kind, group in kinds.items()}
        panels = {titles[kind]: losses_per_round(group, columns="agent") for kind, group in kinds.items()}
        figure = path.with_name(f"{path.stem}-t1e{round(math.log10(horizon))}.png")
        signs = {titles[kind]: marks(group, first, panels[titles[kind]]) for kind, group in kinds.items()}
        save(heat_map(panels, f"R_T/T at T = {horizon:,}\n{MARKS}", signs, label="R_T/T"), figure)
        parts += [f"## T = {horizon:,}", f"![Regret per round, principals by agents]({figure.name})"]
        for kind, group in kinds.items():
            parts += [f"### Firsts, {PANELS[kind]}, T = {horizon:,}", tables.markdown(standings.verdict_table(group))]
            parts += [verdict(group)]
        for kind in kinds:
            final = rows[(rows["rounds"] == horizon) & (rows["horizon"] == horizon) & (rows["instance"] == kind)]
            parts += [f"### Across agents, {PANELS[kind]}, T = {horizon:,}", across(final)]
        for task, group in part.groupby("task", sort=False):
            parts += [f"### {task}", tables.about(task, rows[rows["task"] == task]), ranking(group, horizon, first)]
    return [*parts, "## The best arm lost", LOST, losses_table(evidence)]


CLAIM = Claim(
    "who-wins",
    "Who wins where",
    "Every scripted principal against the agents of a suite, at three horizons.",
    plan,
    page,
)
