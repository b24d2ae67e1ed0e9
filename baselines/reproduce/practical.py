"""Where practical constants lower the regret: the paper's constants beside them on a grid of K, T and families.

Each principal plays the agent that it is for, in the regret that its theorem bounds. No theorem covers the practical
constants (:class:`baselines.scripted.paper.phased.Phased`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, estimate
from baselines.reproduce.claim import PRACTICAL, TESTED, Cell, Claim, Evidence, Study, mean_text, verdicts
from baselines.tasks import Task, setting

AGENTS = {  # of each principal, with the score that its theorem bounds
    "elimination": ("empirical-mean", "regret"),
    "elimination-offline": ("empirical-mean", "regret"),
    "exploratory": ("exploratory", "regret"),
    "exploratory-oracle": ("exploratory-oracle", "regret_bar"),
}
SIZES, HORIZONS, FAMILIES = (5, 20, 50), (10**4, 10**5), ("uniform", "misaligned", "gap")
LINEAR_HORIZONS = (10**4,)  # K = 5, d = 2
SEEDS, LINEAR_SEEDS, QUICK_SEEDS = 30, 10, 10


class Pair(NamedTuple):
    """A principal with the paper's constants and with practical ones, in one task."""

    principal: str
    task: Task
    score: str
    seeds: int


def pairs(study: Study) -> Iterator[Pair]:
    """The pairs of the grid."""
    seeds = QUICK_SEEDS if study.quick else study.seeds or SEEDS
    grid = product((5, 50), (2000,), ("uniform", "gap")) if study.quick else product(SIZES, HORIZONS, FAMILIES)
    for (n_arms, horizon, family), (principal, (agent, score)) in product(list(grid), AGENTS.items()):
        yield Pair(principal, replace(setting(agent, family, n_arms, horizon), curve=False), score, seeds)
    for horizon in () if study.quick else LINEAR_HORIZONS:
        task = replace(setting("ols", "unit-ball", 5, horizon, dim=2), curve=False)
        yield Pair("linear", task, "regret", study.seeds or LINEAR_SEEDS)


def plan(study: Study) -> Iterator[Cell]:
    """Both constants of each pair."""
    for principal, task, _, seeds in pairs(study):
        yield Cell(task, principal, seeds)
        yield Cell(task, principal + PRACTICAL, seeds)


def sentences(found: Sequence[tuple[Pair, str]]) -> str:
    """For each principal: where practical constants lower its regret, and every setting where they do not.

    Args:
        found: pairs with their verdicts.
    """
    parts = []
    for principal in dict.fromkeys(pair.principal for pair, _ in found):
        mine = {pair.task.name: verdict for pair, verdict in found if pair.principal == principal}
        others = [f"{name} ({text.split(' (')[0]})" for name, text in mine.items() if not text.startswith("lower")]
        lower = len(mine) - len(others)
        text = f"Practical constants lower the regret of `{principal}` in {lower} of {len(mine)} settings"
        parts.append(f"{text}; not in {', '.join(others)}." if others else f"{text}.")
    return " ".join(parts)


def measured(grid: Sequence[Pair]) -> str:
    """The numbers of arms, horizons and families of a grid, those of linear rewards apart."""
    parts = []
    for dim in dict.fromkeys(pair.task.dim for pair in grid):
        games = [pair.task for pair in grid if pair.task.dim == dim]
        arms, horizons = ({getattr(game, name): None for game in games} for name in ("n_arms", "horizon"))
        sizes = f"K = {', '.join(map(str, arms))}; T = {', '.join(f'{T:,}' for T in horizons)}"
        families = ", ".join(f"`{name}`" for name in dict.fromkeys(game.instance for game in games))
        parts.append(f"{families} with {sizes}{f'; d = {dim}' if dim else ''}")
    return "; and ".join(parts)


def page(evidence: Evidence, _: Path) -> list[str]:
    """The sentences, and the table that they are read from."""
    grid, rows, differences = list(pairs(evidence.study)), [], []
    for pair in grid:
        specs = (pair.principal, pair.principal + PRACTICAL)
        paper, practical = evidence.scores.per_round(pair.task, specs, pair.seeds, pair.score)
        differences.append(practical - paper)
        rows.append(
            {
                "principal": pair.principal,
                "task": pair.task.name,
                "regret": tables.HEADINGS[pair.score],
                "paper": mean_text(paper),
                "practical": mean_text(practical),
                "difference": bracketed(estimate(differences[-1]), "+", digits=4),
                "seeds": str(paper.size),
            }
        )
    found = verdicts(differences, "lower", "higher")
    return [
        "Practical constants shorten the phases of the paper's algorithms. No theorem covers them. Regret per round in"
        " the regret that each theorem bounds, against the agent that it is for; agents that explore have c0 = 1. Means"
        f" over seeds with 95% bootstrap intervals; differences are paired. {TESTED} {TOO_FEW}",
        f"Measured: {measured(grid)}. Nothing was measured beyond that.",
        sentences(list(zip(grid, found, strict=True))),
        tables.markdown(pd.DataFrame(rows).assign(**{"practical is": found})),
    ]


CLAIM = Claim(
    "practical",
    "Where practical constants help",
    "Practical constants beside the paper's, on a grid of K, T and families.",
    plan,
    page,
)
