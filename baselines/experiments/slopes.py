"""The theorems as numbers: how R_T grows with T, as the slope of a line through log R_T against log T.

Every horizon is a game of its own, since the algorithms know T. Points are means over runs that share their luck across
horizons and principals; the interval of a slope is a percentile bootstrap over the runs.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.registry import make
from baselines.simulation import simulate
from pa_env.scripted_agents import make_agent

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A principal against an agent over several horizons, with the slope that its theorem gives (log factors aside)."""

    principal: str
    agent: str
    horizons: tuple[int, ...]
    theorem: float | None  # None: no guarantee
    parameters: dict[str, Any] = field(default_factory=dict)
    c0: float = 1.0  # how much an exploring agent explores
    times: int = 1  # as many runs as others: its regret is in few of them

    @property
    def label(self) -> str:
        """For the table and the figure."""
        constants = f" ({self.parameters.get('constants', 'paper')})" if self.theorem else ""
        explores = f", c0 = {self.c0:g}" if self.agent.startswith("exploratory") else ""
        return f"{self.principal}{constants} vs {self.agent}{explores}"

    @property
    def promise(self) -> str:
        """The slope of the theorem."""
        return "none" if self.theorem is None else f"{self.theorem:.2f}"


def decades(first: int, last: int) -> tuple[int, ...]:
    """Horizons 10^first to 10^last, two a decade."""
    return tuple(round(10 ** (e / 2)) for e in range(2 * first, 2 * last + 1))


PRACTICAL = {"constants": "practical"}
CURVES = (
    Curve("elimination", "empirical-mean", decades(5, 8), 1 / 2),
    Curve("elimination", "empirical-mean", decades(4, 8), 1 / 2, PRACTICAL),
    Curve("exploratory", "exploratory", decades(6, 9), 2 / 3, {"c0": 0.05}, c0=0.05),
    Curve("exploratory", "exploratory", decades(4, 8), 2 / 3, PRACTICAL),
    Curve("exploratory-oracle", "exploratory-oracle", decades(4, 8), 1 / 2, PRACTICAL),
    Curve("profit-target", "empirical-mean", decades(4, 6), None, times=10),
    Curve("bracket-ucb", "empirical-mean", decades(4, 6), None, times=10),
    Curve("ipa", "empirical-mean", decades(4, 7), None),
    Curve("zero", "empirical-mean", decades(4, 8), None),
)


def regrets(curve: Curve, runs: int, n_arms: int = 5, instance: str = "uniform") -> Floats:
    """R_T (runs, horizons)."""
    runs *= curve.times
    table = np.empty((runs, len(curve.horizons)))
    agent = make_agent(curve.agent, **({"c0": curve.c0} if curve.agent.startswith("exploratory") else {}))
    for column, horizon in enumerate(curve.horizons):
        principal = make(curve.principal, n_arms=n_arms, horizon=horizon, **curve.parameters)
        for seed in range(runs):
            run = simulate(principal, instance, agent, seed=seed, checkpoints=[horizon])
            table[seed, column] = run.regret[-1]
    return table


def slope(horizons: tuple[int, ...], table: Floats) -> float:
    """Least-squares slope of log mean R_T against log T."""
    return float(np.polyfit(np.log(horizons), np.log(table.mean(axis=0)), 1)[0])


def interval(horizons: tuple[int, ...], table: Floats, level: float = 0.95) -> tuple[float, float]:
    """Bootstrap interval of the slope, runs drawn with replacement."""
    from scipy.stats import bootstrap

    result = bootstrap(
        (np.arange(len(table)),),
        lambda rows: slope(horizons, table[rows]),
        vectorized=False,
        method="percentile",
        confidence_level=level,
        n_resamples=2000,
        rng=np.random.default_rng(0),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def show(runs: int, out: Path) -> None:
    """Run every curve, print the slopes, and draw them into ``out``."""
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    console = Console()
    table = Table(
        "principal (constants) vs agent",
        "T",
        "slope",
        "95% interval",
        "theorem",
        title=f"Growth of R_T, {runs} runs each",
    )
    results = []
    for curve in track(CURVES, console=console, transient=True):
        values = regrets(curve, runs)
        fitted, (low, high) = slope(curve.horizons, values), interval(curve.horizons, values)
        results.append((curve, values, fitted))
        span = f"{curve.horizons[0]:.0e} to {curve.horizons[-1]:.0e}"
        table.add_row(curve.label, span, f"{fitted:.2f}", f"{low:.2f} to {high:.2f}", curve.promise)
    console.print(table)
    draw(results, out)
    console.print(f"figure: {out}")


def draw(results: list[tuple[Curve, Floats, float]], out: Path) -> None:
    """Mean R_T against T with standard errors and fitted lines, on logarithmic axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colours = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#000000", "#7F7F7F")
    for (curve, values, fitted), colour, marker in zip(results, colours, "osDP^*pXv", strict=True):
        T, mean = np.array(curve.horizons), values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        label = f"{curve.label}\nslope {fitted:.2f} (theorem: {curve.promise})"
        axes.errorbar(T, mean, error, fmt=marker, color=colour, label=label, capsize=2)
        centre = np.exp(np.log(mean).mean())
        axes.plot(T, centre * (T / np.exp(np.log(T).mean())) ** fitted, color=colour, linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="regret $R_T$ (mean, standard error)")
    axes.grid(True, color="#DDDDDD")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(out, dpi=120)
