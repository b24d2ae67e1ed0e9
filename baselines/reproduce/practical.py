"""Where practical constants lower the regret: the paper's constants beside them on a grid of K, T and families.

Each principal plays the agent that it is for, in the regret that its theorem bounds. No theorem covers the practical
constants (:class:`baselines.scripted.paper.phased.Phased`).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, Estimate, estimate
from baselines.reproduce.claim import Cell, CellScores, Claim, Evidence, Study, mean_text
from baselines.tasks import Task, setting

AGENTS = {  # of each principal, with the score that its theorem bounds
    "elimination": ("empirical-mean", "regret"),
    "elimination-offline": ("empirical-mean", "regret"),
    "exploratory": ("exploratory", "regret"),
    "exploratory-oracle": ("exploratory-oracle", "regret_bar"),
}
REGRETS = {"regret": "R_T", "regret_bar": "Rbar_T"}
SIZES, HORIZONS, FAMILIES = (5, 20, 50), (10**4, 10**5), ("uniform", "misaligned", "gap")
LINEAR_HORIZONS = (10**4,)  # K = 5, d = 2
SEEDS, LINEAR_SEEDS, QUICK_SEEDS = 30, 10, 10
PRACTICAL = ",constants=practical"


class Pair(NamedTuple):
    """A principal with the paper's constants and with practical ones, in one task."""

    principal: str
    task: Task
    score: str
    seeds: int


def pairs(study: Study) -> Iterator[Pair]:
    """The grid."""
    seeds = QUICK_SEEDS if study.quick else study.seeds or SEEDS
    grid = product((5, 50), (10**4,), ("uniform", "gap")) if study.quick else product(SIZES, HORIZONS, FAMILIES)
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


class Measured(NamedTuple):
    """A pair, and by how much practical constants raise its regret a round."""

    pair: Pair
    paper: str
    practical: str
    raised: Estimate

    @property
    def verdict(self) -> str:
        """Lower, higher, or neither."""
        if self.raised.high < 0:
            return "lower"
        return "higher" if self.raised.low > 0 else "not separated"


def measure(pair: Pair, scores: CellScores) -> Measured:
    """Regret a round with both constants, and the paired difference."""
    specs = (pair.principal, pair.principal + PRACTICAL)
    both = [scores.score(pair.task, spec, pair.score)[: pair.seeds] / pair.task.horizon for spec in specs]
    paper, practical = (values[: min(map(len, both))] for values in both)
    return Measured(pair, mean_text(paper), mean_text(practical), estimate(practical - paper))


def sentences(measured: list[Measured]) -> str:
    """For each principal: where practical constants lower its regret, and every setting where they do not."""
    parts = []
    for principal in dict.fromkeys(each.pair.principal for each in measured):
        mine = [each for each in measured if each.pair.principal == principal]
        others = [each for each in mine if each.verdict != "lower"]
        text = f"They lower the regret of `{principal}` in {len(mine) - len(others)} of {len(mine)} settings"
        named = ", ".join(f"{each.pair.task.name} ({each.verdict})" for each in others)
        parts.append(f"{text}; not in {named}." if others else f"{text}.")
    return " ".join(parts)


def page(evidence: Evidence, _: Path) -> list[str]:
    """The sentences, and the table that they are read from."""
    measured = [measure(pair, evidence.scores) for pair in pairs(evidence.study)]
    rows = [
        {
            "principal": each.pair.principal,
            "task": each.pair.task.name,
            "regret": REGRETS[each.pair.score],
            "paper": each.paper,
            "practical": each.practical,
            "difference": bracketed(each.raised, "+", digits=4),
            "practical is": each.verdict,
            "seeds": str(each.pair.seeds),
        }
        for each in measured
    ]
    return [
        "Practical constants shorten the phases of the paper's algorithms. No theorem covers them. Regret per round in"
        " the regret that each theorem bounds, against the agent that it is for; agents that explore have c0 = 1. Means"
        f" over seeds with 95% bootstrap intervals; differences are paired. {TOO_FEW}",
        sentences(measured),
        "Beyond these numbers of arms, horizons and families nothing was measured.",
        tables.markdown(pd.DataFrame(rows)),
    ]


CLAIM = Claim(
    "practical",
    "Where practical constants help",
    "Practical constants beside the paper's, on a grid of K, T and families.",
    plan,
    page,
)
