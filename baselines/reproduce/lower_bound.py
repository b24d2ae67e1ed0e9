"""The lower bound: what even a principal that is told everything but theta pays (the family ``minimax``).

Against an agent that knows its means, a principal that is told the prices has a bandit left to play. Its regret is of
order sqrt(KT) on instances whose gap is c sqrt(K/T) (Auer, Cesa-Bianchi, Freund & Schapire, 2002, section 5; Lattimore
& Szepesvari, 2020, chapter 15): an average over which arm is the best one, of R_T^oracle.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, estimate
from baselines.principal import Principal, Rounds, hold
from baselines.registry import PRIVILEGED, make
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study, mean_text, side_by_side
from baselines.reproduce.growth import fit
from baselines.reproduce.published import ToldUCB
from baselines.simulation import simulate
from pa_env.kernel.instances import MINIMAX_C
from pa_env.kernel.layout import ArmRow, Floats

N_ARMS = 5
HORIZONS, RUNS = (10**3, 10**4, 10**5, 10**6), 300
QUICK_HORIZONS, QUICK_RUNS = (10**3, 10**4), 20
DECISIONS = 250  # of the principal that is told the most


class ToldAllButOne(ToldUCB):
    """Privileged: told the prices, the family and its gap, it only has to find out which arm is the best.

    It plays the arm that is the best with the largest probability, given all rewards so far. It decides
    ``DECISIONS`` times a game.
    """

    name = "told-all-but-one"

    def rounds(self) -> Rounds:
        """The likeliest arm at its price, again and again."""
        mu = self.game.arrays.arms[0, ArmRow.MU]
        prices = mu.max() - mu + 1 / self.horizon
        worse = 1.0 - mu
        better = worse + gap(self.n_arms, self.horizon)
        won, lost = np.log(better / worse), np.log((1 - better) / (1 - worse))
        evidence = np.zeros(self.n_arms)
        while True:
            arm = int(evidence.argmax())
            outcome = yield hold(arm, prices[arm], max(1, self.horizon // DECISIONS))
            evidence += outcome.sums * won + (outcome.plays - outcome.sums) * lost


PRIVILEGED.add(ToldAllButOne)  # it is shown the game, as the yardsticks of this package are
PLAYED = {"told-all-but-one": ToldAllButOne, "ucb-told": ToldUCB, "ipa": None, "zero": None}
AGENTS = {"oracle": tuple(PLAYED), "empirical-mean": ("zero",)}


def gap(n_arms: int, horizon: int) -> float:
    """The gap of the family's best arm: c sqrt(K/T), at most 0.25."""
    return float(min(0.25, MINIMAX_C * np.sqrt(n_arms / horizon)))


def regrets(name: str, agent: str, horizon: int, runs: int) -> Floats:
    """R_T^oracle (runs,) of one of ``PLAYED`` on the family."""
    kind = PLAYED[name]
    principal: Principal = kind(N_ARMS, horizon) if kind else make(name, n_arms=N_ARMS, horizon=horizon)
    values: Floats = simulate(principal, "minimax", agent, seeds=range(runs), checkpoints=[horizon]).regret_oracle
    return values[:, -1]


def measurements(study: Study) -> dict[tuple[str, str, int], Measurement]:
    """All measurements, by agent, principal and horizon."""
    horizons, runs = (QUICK_HORIZONS, QUICK_RUNS) if study.quick else (HORIZONS, study.seeds or RUNS)
    counts = {T: runs if T < 10**6 else max(2, runs // 10) for T in horizons}
    return {
        (agent, name, T): Measurement(f"{name} vs {agent}, T = {T:.0e}, {n} runs", regrets, (name, agent, T, n))
        for agent, names in AGENTS.items()
        for name in names
        for T, n in counts.items()
    }


def plan(study: Study) -> Iterator[Measurement]:
    """Everybody at every horizon."""
    yield from measurements(study).values()


def page(evidence: Evidence, _: Path) -> list[str]:
    """One table."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    points: dict[tuple[str, str], dict[int, Floats]] = {}
    for (agent, name, T), each in measurements(evidence.study).items():
        values = np.array(evidence.values[each.name])
        points.setdefault((agent, name), {})[T] = values
        row = rows.setdefault((agent, name), {"agent": agent, "principal": name})
        row[f"T = {T:.0e}"] = mean_text(values / np.sqrt(N_ARMS * T))
    for which, row in rows.items():
        growth = fit(list(points[which]), side_by_side(points[which].values()))
        row["slope in T"] = bracketed(growth.slope, digits=2)
        row["runs"] = "/".join(str(values.size) for values in points[which].values())
    return [
        f"The family `minimax` with K = {N_ARMS}: one arm has a theta that is larger by the gap c sqrt(K/T) with c ="
        f" {MINIMAX_C:g}, and nothing else tells it apart. With an agent that knows its means, a principal that is told"
        " all prices still has a bandit to play, and its R_T^oracle is at least of order sqrt(KT) on average over which"
        ' arm is the best: Auer, Cesa-Bianchi, Freund & Schapire, "The Nonstochastic Multiarmed Bandit Problem" (2002),'
        ' section 5; Lattimore & Szepesvari, "Bandit Algorithms" (2020), chapter 15. Cells are R_T^oracle / sqrt(KT),'
        f" means over runs with 95% intervals; the slope is that of log R_T^oracle on log T. {TOO_FEW}",
        "`ucb-told` is told the prices, `told-all-but-one` also the family and its gap: it only has to find out which"
        " arm is the best, and plays the likeliest one. `ipa` has to find the prices too. The bound says nothing of an"
        " agent that learns (last row): where the mean is negative, `zero` earns more than the benchmark, since such an"
        " agent stays, unpaid, with arms that it would leave if it knew its means.",
        tables.markdown(pd.DataFrame(list(rows.values()))),
        sentence({name: cells for (agent, name), cells in points.items() if agent == "oracle"}),
    ]


def sentence(points: dict[str, dict[int, Floats]]) -> str:
    """The least regret of the table against the agent that knows its means, and what ``zero`` has in expectation."""
    shares = {
        (name, T): estimate(values / np.sqrt(N_ARMS * T))
        for name, cells in points.items()
        for T, values in cells.items()
    }
    (name, T), least = min(shares.items(), key=lambda item: item[1].value)
    return (
        f"Against the agent that knows its means the least of all cells is {bracketed(least, digits=2)} sqrt(KT), that"
        f" of `{name}` at T = {T:.0e}. In expectation `zero`, whose agent knows nothing of theta, has (1 - 1/K) c ="
        f" {(1 - 1 / N_ARMS) * MINIMAX_C:g}; it meets the same instances at every T, so that its cells share their"
        " luck. A cell whose interval lies above that has lost more by searching and learning than it gained. Intervals"
        " are of single cells."
    )


CLAIM = Claim(
    "lower-bound",
    "The lower bound, measured",
    "What principals that are told everything but theta pay on minimax instances.",
    plan,
    page,
)
