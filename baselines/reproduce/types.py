"""Types of agents: what can be learned against them, and what cannot (Liu et al., ICML 2025, arXiv 2505.23124).

Both tables are of the regret against the best fixed price on one arm in hindsight (``regret_fixed``).

- Greedy types: of two types one prefers a worthless arm and moves to arm 1 for 0.3; the other prefers the best arm and
  leaves it for arm 1 at 0.301. Prices between the two are worth 0.15 a round more than any other on one arm, and no
  principal finds them: its regret is linear in T.
- Logit types: responses are smooth, and the regret of ``price-grid`` grows no faster than T^(2/3).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW
from baselines.registry import PRINCIPALS, is_trained, make, parameters
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study, mean_text, side_by_side
from baselines.reproduce.growth import fit
from baselines.simulation import simulate
from pa_env import IID
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import make_agent

GREEDY = IID(mu=[0.5, 0.5, 0.5], theta=[0.0, 0.6, 1.0])  # the types bring means of their own
GREEDY_TYPES = ((0.8, 0.5, 0.0), (0.0, 0.499, 0.8))
GREEDY_HORIZONS = (10**4, 10**5, 10**6)
SLOW = ("price-grid",)  # played up to 1e5 rounds
LOGIT_HORIZONS = (3162, 10_000, 31_623, 100_000, 316_228)
TEMPERATURE = 0.3
RUNS = 10  # twice as many for the slope
QUICK_HORIZONS, QUICK_RUNS = (1000, 3162), 3
ABOUT = (
    "Agents of several types that come in some order (Liu et al., ICML 2025, arXiv 2505.23124). Both tables are of the"
    " regret against the best fixed price on one arm in hindsight (`regret_fixed`), means over runs with 95% bootstrap"
    f" intervals. {TOO_FEW}"
)


def greedy_regrets(name: str, horizon: int, runs: int) -> Floats:
    """Regrets (runs,) of a principal against the two greedy types, in random order."""
    agent = make_agent("types", types=GREEDY_TYPES)
    principal = make(name, n_arms=GREEDY.n_arms, horizon=horizon)
    regrets: Floats = simulate(principal, GREEDY, agent, seeds=range(runs)).regret_fixed[:, -1]
    return regrets


def logit_regrets(horizon: int, runs: int) -> Floats:
    """Regrets (runs,) of ``price-grid`` against three logit types that come in blocks."""
    agent = make_agent("types", types=3, order="blocks", temperature=TEMPERATURE)
    principal = make("price-grid", n_arms=3, horizon=horizon, lipschitz=1.0 / TEMPERATURE)
    regrets: Floats = simulate(principal, "uniform", agent, seeds=range(runs)).regret_fixed[:, -1]
    return regrets


def contenders() -> Iterator[str]:
    """Principals that can play: not told the types, the arms as vectors, or what to offer."""
    for name, kind in PRINCIPALS.items():
        needed = {parameter.name for parameter in parameters(name) if parameter.default is parameter.empty}
        if not (needed or kind.privileged or is_trained(name)):
            yield name


def greedy(study: Study) -> dict[tuple[str, int], Measurement]:
    """By principal and horizon."""
    horizons, runs = (QUICK_HORIZONS[:1], QUICK_RUNS) if study.quick else (GREEDY_HORIZONS, study.seeds or RUNS)
    return {
        (name, T): Measurement(f"greedy, {name}, T = {T:.0e}, {runs} runs", greedy_regrets, (name, T, runs))
        for name in contenders()
        for T in horizons
        if name not in SLOW or T <= 10**5
    }


def logit(study: Study) -> dict[int, Measurement]:
    """By horizon."""
    horizons, runs = (QUICK_HORIZONS, QUICK_RUNS) if study.quick else (LOGIT_HORIZONS, 2 * (study.seeds or RUNS))
    return {T: Measurement(f"logit, T = {T}, {runs} runs", logit_regrets, (T, runs)) for T in horizons}


def plan(study: Study) -> Iterator[Measurement]:
    """Both kinds of types."""
    yield from greedy(study).values()
    yield from logit(study).values()


def page(evidence: Evidence, _: Path) -> list[str]:
    """A table for each kind of types."""
    rows: dict[str, dict[str, str]] = {}
    for (name, T), each in greedy(evidence.study).items():
        regrets = np.array(evidence.values[each.name])
        row = rows.setdefault(name, {"principal": name, "runs": str(regrets.size)})
        row[f"T = {T:.0e}"] = mean_text(regrets / T)
    points = {T: np.array(evidence.values[each.name]) for T, each in logit(evidence.study).items()}
    growth = fit(list(points), side_by_side(points.values()))
    smooth = [{"T": f"{T:,}", "regret": mean_text(own), "runs": str(own.size)} for T, own in points.items()]
    return [
        ABOUT,
        "## Greedy types",
        "Of two types one prefers a worthless arm and moves to arm 1 for 0.3; the other prefers the best arm and leaves"
        " it for arm 1 at 0.301. Prices between the two are worth 0.15 a round more than any other on one arm. The"
        " table has the regret divided by T. – is not played.",
        tables.markdown(pd.DataFrame(list(rows.values())).fillna("–")),
        "## Logit types",
        f"Three types with temperature {TEMPERATURE:g} that come in blocks, against `price-grid`. The slope of log"
        f" regret against log T is {bracketed(growth.slope, digits=2)}, from point to point {growth.bends()}; the bound"
        " has 0.67.",
        tables.markdown(pd.DataFrame(smooth)),
    ]


CLAIM = Claim(
    "types",
    "Types of agents",
    "Regret against types of agents: linear if they are greedy, at most about T^(2/3) if they are smooth.",
    plan,
    page,
)
