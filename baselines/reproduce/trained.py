"""Trained principals beside every scripted one of their task: many episodes, paired by common random numbers.

``knows-beliefs``, which is told what the agent believes, plays too, tuned for each objective: the gap between the best
scripted principal and it is what better play against unknown beliefs could gain, and the tables say how much of it is
closed.

Runs are scored at the horizon alone. The best scripted principal is picked on the same episodes, which flatters it a
little.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from baselines.benchmark.formatting import bracketed, plus_minus
from baselines.benchmark.statistics import estimate, mean_ratio
from baselines.benchmark.summaries import privileged
from baselines.benchmark.tables import REGRETS
from baselines.registry import is_trained, label
from baselines.reproduce.claim import Cell, CellScores, Claim, Evidence, Study
from baselines.rl.evaluate import PLAYED_SCORES
from baselines.tasks import tasks
from pa_env.kernel.layout import Floats

Scores = dict[str, Floats]
Tables = dict[str, dict[str, Scores]]  # by task and principal
SUITE, EPISODES, QUICK_EPISODES = "short", 10_000, 100
# What is told the agent's beliefs, tuned for each score; the first is a principal of every task.
YARDSTICKS = {"regret": "knows-beliefs", "expected_utility": "knows-beliefs,objective=utility"}


def plan(study: Study) -> Iterator[Cell]:
    """The principals of each task and the yardsticks."""
    episodes = QUICK_EPISODES if study.quick else study.seeds or EPISODES
    for task in tasks(SUITE)[: 1 if study.quick else None]:
        for spec in dict.fromkeys((*task.principals, *YARDSTICKS.values())):
            yield Cell(replace(task, curve=False), spec, episodes)


def score_tables(cells: Iterator[Cell], scores: CellScores) -> Tables:
    """All scores of the cells that were played."""
    tables: Tables = {}
    for task, spec, episodes in cells:
        values = {name: scores.score(task, spec, name)[:episodes] for name in PLAYED_SCORES}
        if values["regret"].size:
            tables.setdefault(task.name, {})[spec] = values
    return tables


def page(evidence: Evidence, _: Path) -> list[str]:
    """A table for each task, by utility; and one of what the trained principals gain on the best scripted one."""
    tables = score_tables(plan(evidence.study), evidence.scores)
    parts = [
        "Means over episodes, ± half the width of a 95% interval. Differences are of paired episodes, on the same"
        " instances and rewards, in expected utility: theta_A - pi_A, which has the same mean and less noise."
        " `oracle` and `knows-beliefs` are privileged. The share is how much of the way from the best script to"
        f" `knows-beliefs`, which is told what the agent believes, the trained principal has come. {REGRETS}",
        gains(tables),
        "## Across tasks\n\nUtility divided by that of the best script of the task: mean over tasks, and the lowest"
        " with its task.",
        across(tables),
    ]
    for name, scores in tables.items():
        lines = ["| principal | episodes | utility | R_T | R_T^oracle |", "|---|---|---|---|---|"]
        for principal in sorted(scores, key=lambda spec: -scores[spec]["expected_utility"].mean()):
            values = scores[principal]
            means = [plus_minus(estimate(values[score])) for score in ("utility", "regret", "regret_oracle")]
            lines.append(f"| {label(principal)} | {values['regret'].size:,} | {' | '.join(means)} |")
        parts += [f"## {name}", "\n".join(lines)]
    return parts


def gains(tables: Tables) -> str:
    """For each trained principal: utility gained on the best scripted one, and R_T relative to the best one's."""
    heads = "task | trained principal | utility gained on | | share | R_T relative to | | share"
    lines = [f"| {heads} |", "|---" * 8 + "|"]
    for name, scores in tables.items():
        ours = list(filter(is_trained, scores))
        rivals = [spec for spec in scores if not (privileged(spec) or spec in ours)]
        richest = max(rivals, key=lambda spec: scores[spec]["expected_utility"].mean())
        least = min(rivals, key=lambda spec: scores[spec]["regret"].mean())
        for spec in ours:
            values = scores[spec]
            earned = gain(values, scores[richest]), share(scores, spec, richest, "expected_utility")
            ratio = ratio_interval(values["regret"], scores[least]["regret"]), share(scores, spec, least, "regret")
            lines.append(f"| {' | '.join((name, spec, label(richest), *earned, label(least), *ratio))} |")
    return "\n".join(lines)


def across(tables: Tables) -> str:
    """A row for each principal that plays every task and is not privileged, by its mean."""
    ratios: dict[str, dict[str, float]] = {}
    for name, scores in tables.items():
        means = {spec: values["expected_utility"].mean() for spec, values in scores.items() if not privileged(spec)}
        best = max(mean for spec, mean in means.items() if not is_trained(spec))
        for spec, mean in means.items():
            ratios.setdefault(spec, {})[name] = mean / best
    everywhere = {spec: values for spec, values in ratios.items() if len(values) == len(tables)}
    lines = ["| principal | mean | lowest | where |", "|---|---|---|---|"]
    for spec, values in sorted(everywhere.items(), key=lambda item: -np.mean(list(item[1].values()))):
        worst = min(values, key=lambda name: values[name])
        lines.append(f"| {label(spec)} | {np.mean(list(values.values())):.3f} | {values[worst]:.3f} | {worst} |")
    return "\n".join(lines)


def share(scores: dict[str, Scores], ours: str, script: str, score: str) -> str:
    """How much of the way from a script to the yardstick a principal has come, or - if that is not measurably ahead."""
    values, theirs, yardstick = (scores[spec][score] for spec in (ours, script, YARDSTICKS[score]))
    both = min(theirs.size, yardstick.size)
    way = estimate(yardstick[:both] - theirs[:both])
    ahead = way.low > 0 if score == "expected_utility" else way.high < 0
    return f"{(values.mean() - theirs.mean()) / (yardstick.mean() - theirs.mean()):.0%}" if ahead else "-"


def gain(ours: Scores, theirs: Scores) -> str:
    """Mean difference in utility over the episodes that both have, with its interval."""
    both = min(ours["regret"].size, theirs["regret"].size)
    return plus_minus(estimate(ours["expected_utility"][:both] - theirs["expected_utility"][:both]), "+")


def ratio_interval(ours: Floats, theirs: Floats) -> str:
    """Ratio of the means over the episodes that both have, with a paired bootstrap interval."""
    both = min(ours.size, theirs.size)
    return bracketed(mean_ratio(ours[:both], theirs[:both]), digits=3)


CLAIM = Claim(
    "trained",
    "Trained principals beside scripted ones",
    "Trained principals and every scripted one of their tasks, on paired episodes.",
    plan,
    page,
)
