"""Table 1 of Liu & Ratliff (ICML 2025) as a result: every row against the agents it is for, and those it is not for.

The regret is R_T^oracle, in which the paper compares all bounds (its appendix on notions of regret). Every horizon is a
game of its own, since the algorithms know T. The measured rate is the slope of log mean R_T^oracle against log T.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, estimate
from baselines.registry import label
from baselines.reproduce import phases
from baselines.reproduce.claim import (
    Cell,
    CellScores,
    Claim,
    Evidence,
    Measurement,
    Study,
    mean_text,
    side_by_side,
    told_c0,
)
from baselines.reproduce.growth import READING, fit
from baselines.tasks import Task, setting

SCORE = "regret_oracle"
C0 = 0.05  # of agents that explore a little: the paper's constants then leave phase 1 at horizons that can be played
HORIZONS = (10**4, 10**5, 10**6, 10**7)
# Seeds of all horizons of a row; those that make a new offer in every round, and linear rewards, have fewer, and
# against agents that the row is not for they do not play the longest horizon.
SEEDS, SLOW_SEEDS = 100, 30
LONG, LONGEST = {10**9: 3}, ("exploratory", "exploratory", C0)  # the algorithm whose first phase is the longest
POINT = 10**6  # the horizon of the sentence on the paper's point
QUICK = {300: 10, 1000: 10}
IID_AGENTS = (
    ("oracle", C0),  # c0: what principals that are told it are told
    ("empirical-mean", C0),
    ("exploratory-oracle", C0),
    ("exploratory", C0),
    ("exploratory", 1.0),
)
LINEAR_AGENTS = (("oracle", 1.0), ("ols", 1.0))


@dataclass(frozen=True)
class Bound:
    """A row of the paper's table: an algorithm, the agent that it is for, and how its regret is bounded."""

    algorithm: str
    principal: str
    agent: str  # that it is for
    rate: str  # the bound, log factors included
    exponent: float  # of T
    covered: tuple[str, ...] = ()  # special cases of that agent
    linear: bool = False
    slow: bool = False  # makes a new offer in every round
    note: str = ""  # beside its name


ALL = ("oracle", "empirical-mean", "exploratory-oracle")
ROWS = (
    Bound(
        "Dogan et al. 2023a",
        "epsilon-greedy",
        "oracle",
        "max{K, sqrt(log T)} sqrt(T)",
        1 / 2,
        slow=True,
        note=" (m = T/20)",
    ),
    Bound("IPA (Scheid et al. 2024)", "ipa", "oracle", "sqrt(K T log T)", 1 / 2, slow=True),
    Bound("Algorithm 1", "elimination", "empirical-mean", "sqrt(K T log T)", 1 / 2, ("oracle",)),
    Bound(
        "Dogan et al. 2023b",
        "robust-epsilon-greedy",
        "exploratory-oracle",
        "poly(K) T^(11/12) sqrt(log T)",
        11 / 12,
        ("oracle",),
        slow=True,
    ),
    Bound("Algorithm 6", "exploratory-oracle", "exploratory-oracle", "log^2(T) sqrt(K T)", 1 / 2, ("oracle",)),
    Bound("Algorithm 5", "exploratory", "exploratory", "K^(1/3) T^(2/3) log^(2/3) T", 2 / 3, ALL),
    Bound("C-IPA (Scheid et al. 2024)", "c-ipa", "oracle", "d sqrt(T) log T", 1 / 2, linear=True, slow=True),
    Bound("Algorithm 7", "linear", "ols", "d^(4/3) T^(2/3) log^(2/3) T", 2 / 3, ("oracle",), linear=True),
)
PRACTICAL = tuple(
    replace(row, principal=f"{row.principal},constants=practical") for row in ROWS if row.algorithm.startswith("Alg")
)


def agents(row: Bound) -> tuple[tuple[str, float], ...]:
    """The agents that a row is played against, each with its c0; practical constants only against those it is for."""
    known = LINEAR_AGENTS if row.linear else IID_AGENTS
    return tuple((name, c0) for name, c0 in known if row in ROWS or name == row.agent)


def game(row: Bound, agent: str, c0: float, horizon: int) -> Task:
    """K = 5 arms, uniform means; linear: K = 5, d = 2. Scored at the horizon alone."""
    instance, dim = ("unit-ball", 2) if row.linear else ("uniform", None)
    return replace(setting(agent, instance, 5, horizon, c0, dim), curve=False)


def horizons(row: Bound, agent: str, c0: float, study: Study) -> dict[int, int]:
    """The horizons, each with its number of seeds."""
    if study.quick:
        return QUICK
    slow = row.slow or row.linear
    short = slow and (agent != row.agent or row in PRACTICAL)
    chosen = dict.fromkeys(HORIZONS[:-1] if short else HORIZONS, study.seeds or (SLOW_SEEDS if slow else SEEDS))
    return chosen | LONG if (row.principal, agent, c0) == LONGEST else chosen


def plan(study: Study) -> Iterator[Cell | Measurement]:
    """The cells of all rows, and which of their games end in the first phase."""
    for row in (*ROWS, *PRACTICAL):
        for agent, c0 in agents(row):
            yield from phases.with_phases(
                Cell(game(row, agent, c0, horizon), told_c0(row.principal, c0), seeds)
                for horizon, seeds in horizons(row, agent, c0, study).items()
            )


def table(
    rows: tuple[Bound, ...], scores: CellScores, study: Study, values: Mapping[str, bool] = MappingProxyType({})
) -> pd.DataFrame:
    """A line for each row of the paper's table and each agent; the agents that it is for come first.

    Args:
        rows: of the paper's table.
        scores: of the cells.
        study: that played them.
        values: of the measurements, which tell the games that end in the first phase.
    """
    lines = []
    for row in rows:
        for agent, c0 in sorted(agents(row), key=lambda each: each[0] != row.agent):
            points = tuple(QUICK) if study.quick else (*HORIZONS, *LONG)
            planned, spec = horizons(row, agent, c0, study), told_c0(row.principal, c0)
            games = {T: game(row, agent, c0, T) for T in planned}
            regrets = {T: scores.score(games[T], spec, SCORE)[:n] for T, n in planned.items()}
            regrets = {T: each for T, each in regrets.items() if each.size}
            first = {T for T in regrets if phases.is_first(values, spec, games[T])}
            later = {T: each for T, each in regrets.items() if T not in first and T not in LONG}
            growth = fit(list(later), side_by_side(later.values())) if len(later) > 1 else None
            explores = f", c0 = {c0:g}" if agent.startswith("exploratory") else ""
            lines.append(
                {
                    "algorithm": row.algorithm,
                    "principal": label(row.principal) + row.note,
                    "agent": f"{agent}{explores}",
                    "for it": "yes" if agent == row.agent else "covered" if agent in row.covered else "no",
                    "bound": row.rate,
                    "exponent": f"{row.exponent:.2f}",
                    "measured": bracketed(growth.slope, digits=2) if growth else "–",
                    "by decade": growth.bends() if growth else "–",
                    **{
                        f"T = {T:.0e}": (mean_text(regrets[T] / T) if T in regrets else "–") + phases.mark(T in first)
                        for T in points
                    },
                    "seeds": "/".join(str(each.size) for each in regrets.values()),
                }
            )
    return pd.DataFrame(lines).fillna("–")


def point(scores: CellScores, study: Study) -> str:
    """The paper's point in a sentence: who pays how much against the agent that learns, at one horizon."""
    horizon = max(QUICK) if study.quick else POINT
    rows = {row.principal: row for row in ROWS}
    cases = (("ipa", "oracle"), ("ipa", "empirical-mean"), ("elimination", "empirical-mean"))
    told, ipa, elimination = (
        scores.score(game(rows[name], agent, C0, horizon), name, SCORE) / horizon for name, agent in cases
    )
    common = min(ipa.size, elimination.size)
    difference = elimination[:common] - ipa[:common]
    sure = estimate(difference)
    return (
        f"The paper's point, R_T^oracle / T at T = {horizon:.0e}: against an agent that knows its means `ipa` has"
        f" {mean_text(told)}; against one that learns it has {mean_text(ipa)}, and `elimination`, made for that agent,"
        f" {mean_text(elimination)}. On the {common} seeds that both play, `elimination` less `ipa` is"
        f" {mean_text(difference)}{' (not separated)' if sure.low <= 0 <= sure.high else ''}."
    )


def page(evidence: Evidence, _: Path) -> list[str]:
    """The tables for the paper's constants and for practical ones."""
    scores, study = evidence.scores, evidence.study
    return [
        "Every row of Table 1 of Liu & Ratliff (ICML 2025), played against the agents that it is for and, but for"
        " Algorithms 5 and 7, others, in the regret in which the paper compares all of them: R_T^oracle, against the"
        " best incentives for the agent's true means. `for it`: *covered* agents are special cases of the one that the"
        " bound is for. Cells are R_T^oracle / T, means over seeds with 95% bootstrap intervals; `exponent` is the"
        " power of T in the bound, `measured` the slope of log mean R_T^oracle against log T over the horizons past"
        f" phase 1 that all seeds of the row played (not {' '.join(f'{T:.0e}' for T in LONG)}), and `by decade` the"
        " slopes between neighbouring ones. " + READING + " A slope is – where fewer than two horizons are past"
        " phase 1, or a mean is not positive: an agent that does not know its means can be cheaper than the yardstick."
        " A regret is – where it was not played. " + TOO_FEW,
        "Instances are `uniform` with K = 5 arms; linear ones `unit-ball` with K = 5 and d = 2. Agents that explore"
        f" have c0 = {C0:g}, since with the paper's constants a larger c0 leaves phase 1 only at longer horizons; c0"
        " = 1 is shown as well. `robust-epsilon-greedy` is a stand-in, since the rules of Dogan et al. 2023b are not"
        " public; `c-ipa` is a reconstruction; `epsilon-greedy` and `ipa` are as IPA's authors coded them."
        " `epsilon-greedy` explores with probability min(1, m/t); with m = T/20, the share of the authors' comparison,"
        " the share of rounds that explore does not fall with T, and the regret is near-linear by construction. The"
        " bounds of both rows of Dogan et al. are of their own policies.",
        point(scores, study),
        "## The paper's constants",
        tables.markdown(table(ROWS, scores, study, evidence.values), as_is=["for it"]),
        "## Practical constants",
        "No theorem covers these: shorter phases, see `baselines.scripted.paper.phased.Phased`. The exponents are"
        " those of the paper's constants, for comparison.",
        tables.markdown(table(PRACTICAL, scores, study, evidence.values), as_is=["for it"]),
    ]


CLAIM = Claim(
    "table1",
    "Table 1 of the paper, measured",
    "Every row of the paper's Table 1 against the agents that it is for and not for, measured rates beside theorems'.",
    plan,
    page,
)
