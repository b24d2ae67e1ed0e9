"""An agent's own regret: whom the assumption of no regret covers (Liu & Ratliff, ICML 2025, appendix B).

Scheid et al. (arXiv 2406.19824) assume that an agent's regret in any window of t rounds is at most C t^kappa with
kappa < 1, whatever is offered. The counterexample: mu = (0.1, 0.9), arm 0 is paid for in the first round, then arm 1 is
offered T^-10. With probability 0.1 the first reward is 1. Then a greedy agent that began with beliefs of 0 stays with
arm 0 for good, and its regret in the window of rounds 2 to T is 0.8 (T - 1).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.statistics import TOO_FEW
from baselines.reproduce.claim import SHARES, Claim, Evidence, Measurement, Study, mean_text
from pa_env import IID
from pa_env.game import Game
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import AgentLike

INSTANCE = IID(mu=[0.1, 0.9], theta=[0.5, 0.5])
AGENTS = ("empirical-mean", "exploratory", "oracle", "ucb", "thompson", "exp3", "logit")
HORIZONS, RUNS = (10**3, 10**4, 10**5), 500
QUICK_HORIZONS, QUICK_RUNS = (10**3,), 20
ABOUT = (
    "Scheid et al. (arXiv 2406.19824) assume that an agent's own regret in any window of t rounds is at most C t^kappa"
    " with kappa < 1, whatever is offered. The counterexample of Liu & Ratliff (ICML 2025, appendix B): mu = (0.1,"
    " 0.9); arm 0 is paid for in the first round, then arm 1 is offered T^-10. The table has the agent's regret in"
    " rounds 2 to T divided by T, means over runs with 95% bootstrap intervals, and the share of runs in which it is"
    " above T / 2. This is one window of one instance: a small number is no evidence that the assumption holds."
    f" {TOO_FEW} {SHARES}"
)


def window_regrets(agent: AgentLike, horizon: int, runs: int) -> Floats:
    """The agent's own regret (runs,) in rounds 2 to T of the counterexample.

    >>> regrets = window_regrets("empirical-mean", horizon=1000, runs=500)
    >>> sorted({round(float(regret), 6) for regret in regrets})  # it leaves arm 0 at once, or never
    [0.0, 799.2]
    """
    game = Game(agent=agent, instance=INSTANCE, horizon=horizon, observe=False)
    regrets = np.empty(runs)
    for seed in range(runs):
        game.begin(seeds=[seed])
        game.hold([1.0, 0.0], 1)
        before = game.totals()["agent_regret"]
        game.hold([0.0, float(horizon) ** -10], horizon - 1)
        regrets[seed] = game.totals()["agent_regret"] - before
    return regrets


def measurements(study: Study) -> dict[tuple[str, int], Measurement]:
    """All measurements, by agent and horizon."""
    horizons, runs = (QUICK_HORIZONS, QUICK_RUNS) if study.quick else (HORIZONS, study.seeds or RUNS)
    return {
        (agent, T): Measurement(f"{agent}, T = {T:.0e}, {runs} runs", window_regrets, (agent, T, runs))
        for agent in AGENTS
        for T in horizons
    }


def plan(study: Study) -> Iterator[Measurement]:
    """Every agent at every horizon."""
    yield from measurements(study).values()


def page(evidence: Evidence, _: Path) -> list[str]:
    """One table."""
    rows: dict[str, dict[str, str]] = {}
    for (agent, T), measurement in measurements(evidence.study).items():
        regrets = np.array(evidence.values[measurement.name])
        row = rows.setdefault(agent, {"agent": agent})
        row[f"T = {T:.0e}"] = mean_text(regrets / T)
        row["runs above T / 2 at the last"] = f"{(regrets > T / 2).mean():.1%}"
        row["runs"] = str(regrets.size)
    table = pd.DataFrame(list(rows.values()))
    last = ["runs above T / 2 at the last", "runs"]
    return [ABOUT, tables.markdown(table[[*table.columns.drop(last), *last]])]


CLAIM = Claim(
    "own-regret",
    "An agent's own regret",
    "The counterexample to the assumption that agents have no regret of their own.",
    plan,
    page,
)
