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

from baselines.benchmark.formatting import NONE, bracketed, plus_minus
from baselines.benchmark.statistics import Estimate, estimate, mean_ratio
from baselines.benchmark.summaries import ignores_beliefs, privileged
from baselines.benchmark.tables import IGNORED, REGRETS
from baselines.registry import is_trained, label, make, principals
from baselines.reproduce.claim import Cell, CellScores, Claim, Evidence, Study
from baselines.rl.evaluate import PLAYED_SCORES
from baselines.tasks import Task, task, tasks
from pa_env.kernel.layout import Floats

Scores = dict[str, Floats]
Tables = dict[str, dict[str, Scores]]  # by task and principal
SUITE, QUICK_EPISODES = "short", 100
EPISODES = {200: 10_000, 2000: 2_000}  # by the longest horizon that they are for
# Games that no shipped policy was trained on: other numbers of arms, horizons, agents, and both together.
UNSEEN = (
    *("k2-t10-uniform", "k2-t200-misaligned", "k3-t500-uniform", "k8-t300-misaligned", "k10-t1000-uniform"),
    *("k20-t500-clustered", "k5-t500-gap", "k5-t200-uniform-thompson", "k5-t200-clustered-exploratory"),
    *("k5-t500-misaligned-oracle", "k5-t500-uniform-logit"),
)
# What is told the agent's beliefs, tuned for each score; the first is a principal of every task.
YARDSTICKS = {"regret": "knows-beliefs", "expected_utility": "knows-beliefs,objective=utility"}


def trained_on() -> tuple[str, ...]:
    """The tasks that shipped policies were trained on, as their files say."""
    shipped = (make(name, n_arms=2, horizon=2) for name in principals() if is_trained(name))
    return tuple(dict.fromkeys(name for policy in shipped for name in policy.metadata["tasks"]))  # type: ignore[attr-defined]


def played(quick: bool) -> tuple[Task, ...]:
    """The short suite, every task of training, and some that no policy was trained on."""
    return tasks(tasks(SUITE)[0].name, trained_on()[0]) if quick else tasks(SUITE, *trained_on(), *UNSEEN)


def plan(study: Study) -> Iterator[Cell]:
    """The principals of each task and the yardsticks."""
    for game in played(study.quick):
        usual = next(episodes for longest, episodes in EPISODES.items() if game.horizon <= longest)
        episodes = QUICK_EPISODES if study.quick else study.seeds or usual
        for spec in dict.fromkeys((*game.principals, *YARDSTICKS.values())):
            yield Cell(replace(game, curve=False), spec, episodes)


def score_tables(cells: Iterator[Cell], scores: CellScores) -> Tables:
    """All scores of the cells that were played."""
    tables: Tables = {}
    for game, spec, episodes in cells:
        values = {name: scores.score(game, spec, name)[:episodes] for name in PLAYED_SCORES}
        if values["regret"].size:
            tables.setdefault(game.name, {})[spec] = values
    return tables


def page(evidence: Evidence, _: Path) -> list[str]:
    """A table for each task, by utility; and one of what the trained principals gain on the best scripted one."""
    tables = score_tables(plan(evidence.study), evidence.scores)
    parts = [
        "Means over episodes, ± half the width of a 95% interval. Differences are of paired episodes, on the same"
        " instances and rewards, in expected utility: theta_A - pi_A, which has the same mean and less noise. `oracle`"
        " and `knows-beliefs` are privileged. The share is how much of the way from the best script to a yardstick that"
        " is told what the agent believes (`knows-beliefs,objective=utility`; for R_T `knows-beliefs`) the trained"
        " principal has come: below 0% it is further away than the script, and – stands where the yardstick is not"
        " surely ahead of the script, or R_T does not rank. With two arms and up to ten rounds the best script may be"
        " `bayes-optimal`, which earns the most that is possible in expectation. The tables of tasks are sorted by"
        " expected utility. The best script is picked on the same episodes, which flatters it a little; intervals are"
        f" of single tasks, not corrected for their number. {IGNORED} {REGRETS} [The exact optimum](exact.md) has the"
        " share of what can be gained with two arms and few rounds.",
        " ".join(sentences(tables)),
        gains(tables),
        "## Across tasks\n\nExpected utility divided by that of the best script of the task: mean over tasks, and the"
        " lowest with its task, of the principals that are not privileged and play every task.",
        across(tables),
    ]
    for name, scores in tables.items():
        mark = "†" if ignores_beliefs(task(name).agent) else ""
        lines = [f"| principal | episodes | utility | R_T{mark} | R_T^oracle |", "|---|---|---|---|---|"]
        for principal in sorted(scores, key=lambda spec: -scores[spec]["expected_utility"].mean()):
            values = scores[principal]
            means = [plus_minus(estimate(values[score])) for score in ("utility", "regret", "regret_oracle")]
            lines.append(f"| {label(principal)} | {values['regret'].size:,} | {' | '.join(means)} |")
        parts += [f"## {name}", "\n".join(lines)]
    return parts


def scripts(scores: dict[str, Scores]) -> list[str]:
    """The principals of a task that are neither privileged nor trained."""
    return [spec for spec in scores if not (privileged(spec) or is_trained(spec))]


def richest_script(scores: dict[str, Scores]) -> str:
    """The script with the most utility."""
    return max(scripts(scores), key=lambda spec: scores[spec]["expected_utility"].mean())


def sentences(tables: Tables) -> Iterator[str]:
    """For each trained principal: the tasks in which it earns more than the best script, less, or neither for sure.

    The tasks that it was trained on come first, then the others.
    """
    seen = trained_on()
    for spec in dict.fromkeys(spec for scores in tables.values() for spec in scores if is_trained(spec)):
        for place, chosen in (("that it was trained on", True), ("that it was not trained on", False)):
            sides: dict[str, list[str]] = {"more": [], "less": [], "neither": []}
            for name, scores in tables.items():
                if spec in scores and (name in seen) == chosen:
                    gained = gain(scores[spec], scores[richest_script(scores)])
                    side = "more" if gained.low > 0 else "less" if gained.high < 0 else "neither"
                    sides[side].append(f"{name} ({plus_minus(gained, '+')})")
            if not any(sides.values()):
                continue
            more, less, neither = (
                f"{len(names)} ({', '.join(names)})" if names else "none" for names in sides.values()
            )
            yield (
                f"Of the {sum(map(len, sides.values()))} tasks {place} `{spec}` earns more than the best script in"
                f" {more}; less in {less}; not separated in {neither}."
            )


def gains(tables: Tables) -> str:
    """For each trained principal: utility gained on the best scripted one, and R_T relative to the best one's."""
    heads = "task | trained on it | trained principal | utility gained on | gain | share"
    heads += " | R_T divided by that of | ratio | share"
    lines = [f"| {heads} |", "|---" * 9 + "|"]
    seen = trained_on()
    for name, scores in tables.items():
        richest = richest_script(scores)
        least = min(scripts(scores), key=lambda spec: scores[spec]["regret"].mean())
        for spec in filter(is_trained, scores):
            values = scores[spec]
            earned = (
                plus_minus(gain(values, scores[richest]), "+"),
                share(scores, spec, richest, "expected_utility"),
            )
            ratio = ratio_interval(values["regret"], scores[least]["regret"]), share(scores, spec, least, "regret")
            compared = (NONE,) * 3 if ignores_beliefs(task(name).agent) else (label(least), *ratio)
            cells = (name, "yes" if name in seen else "no", spec, label(richest), *earned, *compared)
            lines.append(f"| {' | '.join(cells)} |")
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
    """Share of the script-to-yardstick gap that is closed; "–" if that gap is not significant."""
    values, theirs, yardstick = (scores[spec][score] for spec in (ours, script, YARDSTICKS[score]))
    both = min(theirs.size, yardstick.size)
    way = estimate(yardstick[:both] - theirs[:both])
    ahead = way.low > 0 if score == "expected_utility" else way.high < 0
    return f"{(values.mean() - theirs.mean()) / (yardstick.mean() - theirs.mean()):.0%}" if ahead else NONE


def gain(ours: Scores, theirs: Scores) -> Estimate:
    """Mean difference in utility over the episodes that both have, with its interval."""
    both = min(ours["expected_utility"].size, theirs["expected_utility"].size)
    return estimate(ours["expected_utility"][:both] - theirs["expected_utility"][:both])


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
