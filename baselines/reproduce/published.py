"""The published curves of Scheid et al. (ICML 2024, arXiv 2403.03811), run again with our principals.

Setting: the authors' instances, Gaussian rewards with variance 1, the oracle agent. Each published number is a mean
over 30 runs. Their regret counts gaps only: the sum over rounds of max_a (theta_a + mu_a) - (theta_A + mu_A), so
overpayment costs nothing. It is none of the three regrets of :class:`baselines.Run`, and is computed here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import NORMAL_ENDS, Estimate, estimate
from baselines.principal import Principal, Rounds
from baselines.scripted.peers.epsilon_greedy import EpsilonGreedy
from baselines.scripted.peers.ipa import IPA
from baselines.scripted.peers.net_ucb import net_ucb
from baselines.scripted.simple import Oracle
from baselines.simulation import simulate
from pa_env.instances import IPA_K5, IPA_K50
from pa_env.kernel.layout import ArmRow, Floats

PUBLISHED_RUNS = 30  # behind every published number


class ToldUCB(Oracle):
    """Privileged: the UCB of IPA at the prices pi*_a + 1/T of an agent that knows its means, without a search."""

    name = "ucb-told"

    def rounds(self) -> Rounds:
        """UCB from the first round on."""
        means = self.game.arrays.arms[0, ArmRow.MU]  # type: ignore[union-attr] # `request` has checked it
        yield net_ucb(self, means.max() - means + 1 / self.horizon)


@dataclass(frozen=True)
class Cell:
    """One published number, and what is run for it."""

    principal: str
    n_arms: int
    horizon: int
    published: float
    error: float | None  # standard error, where one is published
    runs: int  # ours
    make: Callable[[int, int], Principal]

    @property
    def label(self) -> str:
        """For the table."""
        return f"{self.principal}, K = {self.n_arms}, T = {self.horizon}"


class Result(NamedTuple):
    """Mean and standard error of our runs, and the distance to the published number in combined standard errors."""

    mean: float
    error: float
    distance: float


def epsilon_greedy(m: int) -> Callable[[int, int], Principal]:
    """As published, with the m of the cell."""
    return lambda n_arms, horizon: EpsilonGreedy(n_arms, horizon, m, "as-published")


CELLS = (
    Cell("IPA", 5, 10_000, 257.0, None, 600, IPA),
    Cell("IPA", 5, 40_000, 316.4, 9.6, 600, IPA),
    Cell("IPA", 50, 40_000, 2969.0, 28.0, 600, IPA),
    Cell("UCB told the incentives", 5, 10_000, 219.5, None, 600, ToldUCB),
    Cell("UCB told the incentives", 5, 40_000, 296.5, 7.4, 600, ToldUCB),
    Cell("UCB told the incentives", 50, 40_000, 2582.0, 21.0, 600, ToldUCB),
    Cell("epsilon-greedy, m = 500", 5, 10_000, 777.0, None, 600, epsilon_greedy(500)),
    Cell("epsilon-greedy, m = 100", 5, 40_000, 2264.0, 927.0, 600, epsilon_greedy(100)),
    Cell("epsilon-greedy, m = 2000", 50, 40_000, 5723.0, 231.0, 600, epsilon_greedy(2000)),
)


def pseudo_regrets(cell: Cell, runs: int) -> Floats:
    """The sum of the gaps of all rounds, for each run (runs,)."""
    instance = {5: IPA_K5, 50: IPA_K50}[cell.n_arms]
    joint = instance.theta + instance.mu
    principal = cell.make(cell.n_arms, cell.horizon)
    regrets = np.empty(runs)
    for seed in range(runs):
        run = simulate(principal, instance, "oracle", seed=seed, checkpoints=[cell.horizon])
        regrets[seed] = run.plays[-1] @ (joint.max() - joint)
    return regrets


def compare(cell: Cell, regrets: Floats) -> Result:
    """Our runs against the published number; an error that is not published is taken to be that of 30 of our runs."""
    mean, spread = float(regrets.mean()), float(regrets.std(ddof=1))
    error = spread / np.sqrt(len(regrets))
    published_error = spread / np.sqrt(PUBLISHED_RUNS) if cell.error is None else cell.error
    return Result(mean, float(error), (mean - cell.published) / float(np.hypot(error, published_error)))


def show(runs: int | None = None) -> None:
    """Run every cell and print ours beside the published number; takes about two minutes.

    Args:
        runs: Runs of every cell. Default: each cell's own number.

    """
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    console = Console()
    table = Table("cell", "published", "ours", "runs", "distance", title="Pseudo-regret, means ± half a 95% interval")
    for cell in track(CELLS, console=console, transient=True):
        played = cell.runs if runs is None else runs
        regrets = pseudo_regrets(cell, played)
        distance = compare(cell, regrets).distance
        ends = cell.published + NORMAL_ENDS * (np.nan if cell.error is None else cell.error)
        theirs = plus_minus(Estimate(cell.published, *ends), digits=1)
        table.add_row(cell.label, theirs, plus_minus(estimate(regrets), digits=1), str(played), f"{distance:+.1f}")
    console.print(table)
    console.print("distance: in combined standard errors; one that is not published is that of 30 of our runs")
