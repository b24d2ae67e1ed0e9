"""Ablations: each part of the paper's principals is left out, and regret and broken lemmas are counted.

The variants are in :mod:`baselines.scripted.paper.ablations`, the counts in :mod:`baselines.reproduce.lemma_counts`.
All play with practical constants, since with the paper's the first phases hide most of what a part does.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.statistics import TOO_FEW
from baselines.registry import PRINCIPALS
from baselines.reproduce import lemma_counts
from baselines.reproduce.claim import (
    PRACTICAL,
    SHARES,
    TESTED,
    Cell,
    CellScores,
    Claim,
    Evidence,
    Measurement,
    Study,
    mean_text,
    verdicts,
)
from baselines.reproduce.lemma_counts import C0, Count
from baselines.scripted.paper import ablations as variants
from baselines.tasks import Task, setting

MODULE = "baselines.scripted.paper.ablations"
SEEDS, QUICK_SEEDS, QUICK_HORIZON = 30, 10, 2000
COUNTED, QUICK_COUNTED = 50, 5
TARGETING = f"exploratory,c0={C0:g},exploration=target"


@dataclass(frozen=True)
class Ablation:
    """A part that is left out."""

    part: str
    base: str  # the principal
    variant: str  # its class without the part
    lemma: str
    breaks: str  # what is counted
    count: Callable[..., Count]  # of a class, on so many runs at a horizon
    horizons: tuple[int, ...]
    counted_at: int  # the horizon of the count
    agent: str = "empirical-mean"
    dim: int | None = None
    given: str = ""  # parameters of both

    def specs(self) -> tuple[str, str]:
        """The principal, and the one without the part."""
        return f"{self.base}{PRACTICAL}{self.given}", f"{MODULE}:{self.variant}{PRACTICAL}{self.given}"

    def task(self, horizon: int) -> Task:
        """K = 5 uniform arms, or in the unit ball."""
        instance = "uniform" if self.dim is None else "unit-ball"
        return replace(setting(self.agent, instance, 5, horizon, dim=self.dim), curve=False)

    def counts(self, study: Study) -> dict[str, list[Measurement]]:
        """Counts of the broken lemma with the part and without it, by agent; the usual agent that explores too."""
        runs, horizon = (QUICK_COUNTED, QUICK_HORIZON) if study.quick else (COUNTED, self.counted_at)
        agents = {self.agent: ()} | ({"exploratory": (lemma_counts.MILD,)} if self.agent == TARGETING else {})
        return {
            agent: [
                Measurement(
                    f"{self.part}, {principal.name} vs {agent}, T = {horizon:.0e}, {runs} runs",
                    self.count,
                    (principal, runs, horizon, *others),
                )
                for principal in (PRINCIPALS[self.base], getattr(variants, self.variant))
            ]
            for agent, others in agents.items()
        }


ABLATIONS = (
    Ablation(
        "plays of bad arms",
        "elimination",
        "BadArmsUnplayed",
        "lem:UB_bar_bma",
        "held incentives above the lemma's bound",
        lemma_counts.too_large,
        (10**6, 10**7, 10**8),
        10**7,
    ),
    Ablation(
        "asymmetric check",
        "elimination",
        "NoAsymmetricCheck",
        "lem:search_end_bma_diff",
        "searches that end at or below the optimal incentive",
        lemma_counts.too_small,
        (10**5, 10**6, 10**7),
        10**5,
    ),
    Ablation(
        "incentive testing",
        "exploratory",
        "NoIncentiveTesting",
        "lem:sufficient_plays_active_arms",
        "active arms played fewer than T_m times in a phase",
        lemma_counts.too_few_plays,
        (10**5, 10**6, 10**7),
        10**5,
        TARGETING,
        given=f",c0={C0:g}",
    ),
    Ablation(
        "median of the tests",
        "exploratory",
        "NoMedian",
        "lem:optarm_always_active_explore",
        "runs that drop the best arm",
        lemma_counts.best_arm_lost,
        (10**5, 10**6, 10**7),
        10**5,
        TARGETING,
        given=f",c0={C0:g}",
    ),
    Ablation(
        "conservative cut",
        "linear",
        "NoConservativeCut",
        "lem:St_nonempty",
        "searches that cut off the agent's parameter",
        lemma_counts.parameter_lost,
        (10**4,),
        10**4,
        "ols",
        dim=2,
    ),
)


def horizons(ablation: Ablation, study: Study) -> tuple[int, ...]:
    """Horizons of an ablation."""
    return (QUICK_HORIZON,) if study.quick else ablation.horizons


def seeds(study: Study) -> int:
    """Seeds of each cell."""
    return QUICK_SEEDS if study.quick else study.seeds or SEEDS


def plan(study: Study) -> Iterator[Cell | Measurement]:
    """Both principals of each ablation in its tasks, and how often they break the lemma."""
    for ablation in ABLATIONS:
        for horizon in horizons(ablation, study):
            for spec in ablation.specs():
                yield Cell(ablation.task(horizon), spec, seeds(study))
        for pair in ablation.counts(study).values():
            yield from pair


def regrets(scores: CellScores, study: Study) -> pd.DataFrame:
    """R_T/T with and without each part, the paired difference, and a verdict."""
    rows, differences = [], []
    for ablation in ABLATIONS:
        for horizon in horizons(ablation, study):
            with_part, without = scores.per_round(ablation.task(horizon), ablation.specs(), seeds(study))
            differences.append(without - with_part)
            rows.append(
                {
                    "left out": ablation.part,
                    "principal": ablation.base,
                    "agent": ablation.agent,
                    "T": f"{horizon:.0e}",
                    "R_T/T with it": mean_text(with_part),
                    "without it": mean_text(without),
                    "difference": mean_text(differences[-1]),
                    "seeds": str(with_part.size),
                }
            )
    return pd.DataFrame(rows).assign(verdict=verdicts(differences, "better without", "worse without"))


def broken(evidence: Evidence) -> pd.DataFrame:
    """Counts of broken lemmas, with and without each part."""
    rows = []
    for ablation in ABLATIONS:
        for agent, pair in ablation.counts(evidence.study).items():
            with_part, without = (str(Count(*evidence.values[each.name])) for each in pair)
            rows.append(
                {
                    "left out": ablation.part,
                    "agent": agent,
                    "at T": f"{QUICK_HORIZON if evidence.study.quick else ablation.counted_at:.0e}",
                    "lemma": f"`{ablation.lemma}`",
                    "counted": ablation.breaks,
                    "with it": with_part,
                    "without it": without,
                }
            )
    return pd.DataFrame(rows)


def page(evidence: Evidence, _: Path) -> list[str]:
    """The lemmas broken, and what each part costs."""
    study = evidence.study
    return [
        "What the paper argues is needed, left out one at a time (Liu & Ratliff, ICML 2025). Games have practical"
        " constants, which no lemma covers, so the paper's probabilities do not bound the counts. Agents that explore"
        f" have c0 = {C0:g} and explore the arm that is paid for, which misleads searches. K = 5 arms, `uniform`;"
        " linear rewards `unit-ball` with d = 2.",
        "## The lemmas broken",
        f"{QUICK_COUNTED if study.quick else COUNTED} games or searches of each, seeds 0, 1, ..., as in"
        " `baselines.reproduce.lemma_counts`. The lemmas have their names in the paper's source; the confidence"
        " logarithm of a bound is scaled as the principal's is. The usual agent that explores (`exploratory`, c0 = 1)"
        " is counted beside the one that explores the arm that is paid for. The searches of the conservative cut are"
        " asked alone, outside of games, with noisy answers of an agent with linear rewards that keep the premise of"
        f" the lemma. {SHARES}",
        tables.markdown(broken(evidence), as_is=["lemma"]),
        "## What it costs",
        f"R_T/T, means over seeds with 95% bootstrap intervals; differences are paired. {TESTED} A broken lemma need"
        f" not cost regret at these horizons. {TOO_FEW}",
        "The mean of the answers 0 and 1 of a test, compared with 1/2, is their median; what the median replaces is a"
        " single test.",
        tables.markdown(regrets(evidence.scores, study)),
    ]


CLAIM = Claim(
    "ablations",
    "Ablations",
    "One part of the paper's principals left out at a time: what it costs, and which lemma it breaks how often.",
    plan,
    page,
)
