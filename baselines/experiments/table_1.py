"""Table 1 of Liu & Ratliff (ICML 2025) as a result: every row against the agents it is for, and those it is not for.

The regret is R_T^oracle, in which the paper compares all bounds (its appendix on notions of regret). Every horizon is a
game of its own, since the algorithms know T. The measured rate is the slope of log mean R_T^oracle against log T.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.results import read
from baselines.benchmark.specs import describe
from baselines.benchmark.store import write_generated
from baselines.experiments.cells import Cell, Player, Table, opening, paired
from baselines.experiments.growth import fit
from baselines.tasks import Task, setting

SCORE = "regret_oracle"
C0 = 0.05  # of agents that explore a little: the paper's constants then leave phase 1 at horizons that can be played
SEEDS = {10**4: 100, 10**5: 100, 10**6: 100, 10**7: 30}  # by horizon
SLOW_SEEDS = {10**4: 100, 10**5: 100, 10**6: 30, 10**7: 10}  # of those that make a new offer in every round
LONG, LONG_SEEDS = 10**9, 10  # for the algorithm whose first phase is the longest
QUICK = {300: 10, 1000: 10}
IID_AGENTS = (("oracle", 1.0), ("empirical-mean", 1.0), ("exploratory-oracle", C0), ("exploratory", C0), ("exploratory", 1.0))
LINEAR_AGENTS = (("oracle", 1.0), ("ols", 1.0))


@dataclass(frozen=True)
class Row:
    """A row of the paper's table."""

    algorithm: str
    principal: str
    agent: str  # that it is for
    rate: str  # the bound, log factors included
    exponent: float  # of T
    linear: bool = False
    slow: bool = False  # makes a new offer in every round

    def spec(self, c0: float) -> str:
        """The principal that is told how much the agent explores."""
        tells = self.principal.startswith("exploratory") and c0 != 1.0
        return f"{self.principal},c0={c0:g}" if tells else self.principal


ROWS = (
    Row("Dogan et al. 2023a", "epsilon-greedy", "oracle", "max{K, sqrt(log T)} sqrt(T)", 1 / 2, slow=True),
    Row("IPA (Scheid et al. 2024)", "ipa", "oracle", "sqrt(K T log T)", 1 / 2, slow=True),
    Row("Algorithm 1", "elimination", "empirical-mean", "sqrt(K T log T)", 1 / 2),
    Row("Dogan et al. 2023b", "robust-epsilon-greedy", "exploratory-oracle", "poly(K) T^(11/12) sqrt(log T)", 11 / 12, slow=True),
    Row("Algorithm 6", "exploratory-oracle", "exploratory-oracle", "log^2(T) sqrt(K T)", 1 / 2),
    Row("Algorithm 5", "exploratory", "exploratory", "K^(1/3) T^(2/3) log^(2/3) T", 2 / 3),
    Row("C-IPA (Scheid et al. 2024)", "c-ipa", "oracle", "d sqrt(T) log T", 1 / 2, linear=True, slow=True),
    Row("Algorithm 7", "linear", "ols", "d^(4/3) T^(2/3) log^(2/3) T", 2 / 3, linear=True),
)
PRACTICAL = tuple(
    replace(row, principal=f"{row.principal},constants=practical") for row in ROWS if row.algorithm.startswith("Alg")
)


def agents(row: Row) -> tuple[tuple[str, float], ...]:
    """The agents that a row is played against, each with its c0."""
    return LINEAR_AGENTS if row.linear else IID_AGENTS


def game(row: Row, agent: str, c0: float, horizon: int) -> Task:
    """K = 5 arms, uniform means; linear: K = 5, d = 2. Scored at the horizon alone."""
    instance, dim = ("unit-ball", 2) if row.linear else ("uniform", None)
    return replace(setting(agent, instance, 5, horizon, c0, dim), curve=False)


def horizons(row: Row, player: Player) -> dict[int, int]:
    """The horizons, each with its number of seeds."""
    chosen = QUICK if player.quick else SLOW_SEEDS if row.slow else SEEDS
    return {horizon: player.seeds or seeds for horizon, seeds in chosen.items()}


def cells(player: Player) -> Iterator[Cell]:
    """What is played."""
    for row in (*ROWS, *PRACTICAL):
        for agent, c0 in agents(row):
            for horizon, seeds in horizons(row, player).items():
                if "epsilon" not in row.principal or horizon < max(SEEDS) or agent == row.agent:  # they are the slowest
                    yield Cell(game(row, agent, c0, horizon), row.spec(c0), seeds)
    if not player.quick:
        row = next(row for row in ROWS if row.principal == "exploratory")
        yield Cell(game(row, row.agent, C0, LONG), row.spec(C0), min(LONG_SEEDS, player.seeds or LONG_SEEDS))


def write(player: Player, page: Path) -> None:
    """Write the page."""
    results = read(player.out)
