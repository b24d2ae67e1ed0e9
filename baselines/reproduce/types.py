"""Types of agents: what can be learned against them, and what cannot (Liu et al., ICML 2025, arXiv 2505.23124).

Both tables are of the regret against the best fixed price on one arm in hindsight (``regret_fixed``).

- Greedy types: of two types one prefers a worthless arm and moves to arm 1 for 0.3; the other prefers the best arm and
  leaves it for arm 1 at 0.301. Prices between the two are worth 0.15 a round more than any other on one arm, and no
  principal finds them: its regret is linear in T.
- Logit types: responses are smooth, and the regret of ``price-grid`` grows no faster than T^(2/3).
"""

from collections.abc import Iterator

import numpy as np

from baselines.benchmark.formatting import bracketed, plus_minus
from baselines.benchmark.statistics import estimate, log_slope
from baselines.registry import PRINCIPALS, is_trained, make, parameters
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


def greedy_regrets(name: str, horizon: int, runs: int) -> Floats:
    """Regrets (runs,) of a principal against the two greedy types, in random order."""
    agent = make_agent("types", types=GREEDY_TYPES)
    principal = make(name, n_arms=GREEDY.n_arms, horizon=horizon)
    regrets: Floats = simulate(principal, GREEDY, agent, seeds=range(runs)).regret_fixed[:, -1]
    return regrets


def logit_regrets(runs: int) -> Floats:
    """Regrets (runs, horizons) of ``price-grid`` against three logit types that come in blocks."""
    agent = make_agent("types", types=3, order="blocks", temperature=TEMPERATURE)
    table = np.empty((runs, len(LOGIT_HORIZONS)))
    for column, horizon in enumerate(LOGIT_HORIZONS):
        principal = make("price-grid", n_arms=3, horizon=horizon, lipschitz=1.0 / TEMPERATURE)
        table[:, column] = simulate(principal, "uniform", agent, seeds=range(runs)).regret_fixed[:, -1]
    return table


def contenders() -> Iterator[str]:
    """Principals that can play: not told the types, the arms as vectors, or what to offer."""
    for name, kind in PRINCIPALS.items():
        needed = {parameter.name for parameter in parameters(name) if parameter.default is parameter.empty}
        if not (needed or kind.privileged or is_trained(name)):
            yield name


def show(runs: int) -> None:
    """Print both tables."""
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    console = Console()
    headings = [f"T = {horizon:.0e}" for horizon in GREEDY_HORIZONS]
    greedy = Table("principal", *headings, title=f"Greedy types: regret / T, mean ± half a 95% interval, {runs} runs")
    for name in track(list(contenders()), console=console, transient=True):
        cells = []
        for horizon in GREEDY_HORIZONS:
            if name in SLOW and horizon > 10**5:
                cells.append("-")
                continue
            values = greedy_regrets(name, horizon, runs) / horizon
            cells.append(plus_minus(estimate(values), digits=4))
        greedy.add_row(name, *cells)
    console.print(greedy, "- means not run (too slow).")
    table = logit_regrets(2 * runs)
    logit = Table("T", "regret", title=f"Logit types, temperature {TEMPERATURE}: price-grid, {2 * runs} runs")
    for horizon, values in zip(LOGIT_HORIZONS, table.T, strict=True):
        logit.add_row(f"{horizon}", plus_minus(estimate(values), digits=1))
    console.print(logit, f"slope {bracketed(log_slope(LOGIT_HORIZONS, table), digits=2)}; bound: 0.67")
