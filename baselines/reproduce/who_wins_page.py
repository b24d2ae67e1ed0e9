"""The page of who wins where: a heat map for each horizon, and a table for each task.

Tables have means, medians, quantiles, the share of runs that fail, and utility beside regret.
"""

import functools
import math
from pathlib import Path

import numpy as np
import pandas as pd

from baselines.benchmark import heat_map, statistics, summaries, tables
from baselines.benchmark.drawing import save
from baselines.benchmark.formatting import bracketed, number
from baselines.benchmark.results import Results, read
from baselines.benchmark.statistics import TOO_FEW, Estimate
from baselines.benchmark.store import write_generated
from baselines.reproduce.cells import Player, opening
from baselines.reproduce.who_wins import PHASED_RUNS, cells, losses

PROFILE = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])  # levels of regret per round
SHOWN = ("regret", "regret_difference", "utility")
PANELS = {"uniform": "uniform instances, K = 5", "unit-ball": "linear rewards, K = 5, d = 3"}
ABOUT = (
    "Every principal against every agent that it can meet. Scores are per round, over seeds that all principals"
    " share. Square brackets are 95% bootstrap intervals. The differences to the best are paired, and their"
    " intervals hold all at once and whichever had been picked as the best (max-T); a *tie* is one whose difference"
    " could be 0. A run fails if it still loses a constant amount a round at its end: R_T/T of at least"
    f" {summaries.LINEAR_SHARE:g}, and R_t growing like t^{summaries.LINEAR_SLOPE:g} or faster over its last part."
    f" `oracle` and `knows-beliefs` are privileged. {TOO_FEW} {tables.REGRETS}"
)
READING = (
    "Of those that play linear rewards only `linear` and `c-ipa` are told the arms. The others are not made for such"
    " rewards: most look for prices up to 1, and an arm may cost 2. – in a heat map is not played (more than 10"
    " microseconds a round). IQM is the interquartile mean over all runs of all agents; the columns after it are a"
    " performance profile, the share of runs with so little regret; P is the probability that a run of the best beats a"
    " run of this one (0.5: no difference). Intervals there are stratified paired bootstraps; only principals and seeds"
    " that every task of the horizon has are in that table."
)
LOST = (
    "Runs in which the arm with the largest theta + mu is no longer active in the last phase, `uniform` instances with"
    f" K = 5, seeds 0 to {PHASED_RUNS - 1}. An arm is dropped for good. Elimination takes an agent's exploration for an"
    " answer; the principals made for agents that explore ask again and again."
)


def ranking(part: pd.DataFrame, horizon: int) -> str:
    """The table of a task, of which ``part`` is the summary: per round, the best first."""
    lines = []
    for row in tables.records(part):
        shares = {score: bracketed(Estimate.of(row, score).over(horizon), digits=4) for score in SHOWN}
        tie = not row["best"] and not row["privileged"] and not row["regret_difference_low"] > 0
        lines.append(
            {
                "principal": tables.name(row) + (" (tie)" if tie else ""),
                "R_T/T": shares["regret"],
                "median": number(row["regret_median"] / horizon, digits=4),
                "90% of runs below": number(row["regret_q90"] / horizon, digits=4),
                "runs that fail": "–" if pd.isna(row["linear"]) else f"{row['linear']:.0%}",
                "R_T/T - best": shares["regret_difference"],
                "utility/T": shares["utility"],
                "seeds": str(row["seeds"]),
            }
        )
    return tables.markdown(pd.DataFrame(lines))


def verdict(summary: pd.DataFrame) -> str:
    """Three sentences that follow from the i.i.d. tasks of one horizon."""
    wins = summary[summary["best"]].groupby("principal")["agent"].agg(list)
    first = "; ".join(f"`{label}` against {', '.join(agents)}" for label, agents in wins.items())
    contenders = summary[~summary["privileged"]]
    shaky = contenders.pivot(index="principal", columns="agent", values="linear")
    steady = [f"`{label}`" for label in shaky.index[(shaky.fillna(1) <= 0.05).all(axis=1)]]
    never = "Every principal fails in more than 5% of its runs against some agent"
    if steady:
        never = (
            f"At most 5% of the runs of {', '.join(steady)} fail, whatever the agent; all others fail more somewhere"
        )
    apart = contenders.assign(ratio=contenders["regret"] / contenders["regret_median"].clip(lower=1.0))
    worst = apart.loc[apart["ratio"].idxmax()]
    return (
        f"The least mean R_T has {first}. {never}. Means and medians are furthest apart for"
        f" `{worst['principal']}` against {worst['agent']}: mean R_T {worst['regret']:,.0f}, median"
        f" {worst['regret_median']:,.0f}."
    )


def across(rows: pd.DataFrame) -> str:
    """Interquartile mean, performance profile and probability of improvement across the agents of one horizon."""
    scores, labels = summaries.cube(rows)
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


def planned(results: Results, player: Player, rewards: str) -> pd.DataFrame:
    """The rows of the cells that this command plays, on its seeds: a folder may have more, of an earlier command."""
    seeds = {(cell.task.name, results.labels[cell.principal]): cell.seeds for cell in cells(player, rewards)}
    rows = results.rows
    wanted = pd.Series(list(zip(rows["task"], rows["principal"], strict=True)), rows.index).map(seeds).fillna(0)
    return rows[rows["seed"] < wanted]


def write(player: Player, rewards: str, page: Path) -> None:
    """Write the page, and its heat maps beside it.

    Args:
        player: how it was played.
        rewards: as for :func:`baselines.reproduce.who_wins.cells`.
        page: the Markdown file.
    """
    results = read(player.out)
    rows = planned(results, player, rewards)
    summary = summaries.summarise(rows)
    summary = summary.join(rows.drop_duplicates("task").set_index("task")[["agent", "instance"]], on="task")
    parts = [*opening("Who wins where", results, player.command), ABOUT, READING]
    for horizon, part in summary.groupby("horizon"):
        kinds = dict(list(part.groupby("instance", sort=False)))
        panels = {PANELS[kind]: heat_map.panel(own, "agent") for kind, own in kinds.items()}
        figure = page.with_name(f"{page.stem}-t1e{round(math.log10(horizon))}.png")
        save(heat_map.draw(panels, f"Regret per round at T = {horizon:,}"), figure)
        parts += [f"## T = {horizon:,}", f"![Regret per round, principals by agents]({figure.name})"]
        for kind, own in kinds.items():
            parts += [f"On {PANELS[kind]}: {verdict(own)}"]
        for kind in kinds:
            final = rows[(rows["rounds"] == horizon) & (rows["horizon"] == horizon) & (rows["instance"] == kind)]
            parts += [f"### Across agents, {PANELS[kind]}, T = {horizon:,}", across(final)]
        for task, own in part.groupby("task", sort=False):
            parts += [f"### {task}", tables.about(task, rows[rows["task"] == task]), ranking(own, horizon)]
    parts += ["## The best arm lost", LOST, tables.markdown(losses(player.quick))]
    write_generated(page, "who-wins", "\n\n".join(parts) + "\n")
