"""The theorems of Liu & Ratliff (ICML 2025) as numbers: how regret grows with T, K, d and c0.

Each theorem is measured in the regret that it bounds: that of ``exploratory-oracle`` in Rbar_T, the others in R_T.
Every horizon is a game of its own, since the algorithms know T. The points of a curve share their seeds. Theorems are
for the paper's constants; other constants and principals are in a table of their own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed, number, p_value
from baselines.benchmark.statistics import TOO_FEW, Estimate, mean_interval
from baselines.reproduce import growth, phases
from baselines.reproduce.claim import (
    PRACTICAL,
    Cell,
    CellScores,
    Claim,
    Evidence,
    Measurement,
    Study,
    side_by_side,
    told_c0,
)
from baselines.reproduce.growth import Fit
from baselines.tasks import Task, setting
from pa_env.kernel.layout import Flags, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEEDS, QUICK_SEEDS = 30, 10
C0 = 0.05  # with the paper's constants larger ones leave phase 1 only at longer horizons


def half_decades(first: float, last: float) -> tuple[int, ...]:
    """Horizons 10^first to 10^last, two a decade."""
    return tuple(round(10 ** (e / 2)) for e in range(round(2 * first), round(2 * last) + 1))


@dataclass(frozen=True)
class Curve:
    """A principal against an agent at several values of one of T, K, d and c0."""

    principal: str
    agent: str
    values: tuple[float, ...]
    bound: str  # the theorem, log factors included; empty: none
    exponent: float | None = None  # of what varies, in the bound
    varies: str = "T"
    horizon: int = 10**6  # unless it varies
    n_arms: int = 5
    dim: int | None = None
    c0: float = 1.0
    instance: str = "uniform"
    score: str = "regret"
    seeds: int = SEEDS

    @property
    def theorem(self) -> bool:
        """True if a theorem covers it: the paper's constants."""
        return bool(self.bound) and PRACTICAL not in self.principal

    @property
    def label(self) -> str:
        """For the tables and the figure: what is fixed, and not what varies."""
        fixed = {"T": f"{self.horizon:.0e}", "K": self.n_arms}
        if self.dim:
            fixed["d"] = self.dim
        if self.agent.startswith("exploratory"):
            fixed["c0"] = f"{self.c0:g}"
        where = ", ".join(f"{name} = {value}" for name, value in fixed.items() if name != self.varies)
        return f"{self.principal} vs {self.agent}, {self.instance}, {where}"

    def spec(self, value: float) -> str:
        """The principal at one point, told c0 where it takes it."""
        return told_c0(self.principal, value if self.varies == "c0" else self.c0)

    def task(self, value: float) -> Task:
        """The game at one point."""
        at = {"T": self.horizon, "K": self.n_arms, "d": self.dim or 0, "c0": self.c0} | {self.varies: value}
        sizes = {"n_arms": int(at["K"]), "horizon": int(at["T"]), "dim": int(at["d"]) or None}
        return replace(setting(self.agent, self.instance, c0=float(at["c0"]), **sizes), curve=False)  # type: ignore[arg-type]


ROOT = "K log^2 T + sqrt(K T log(KT))"
EXPLORING = "(K log^2 T)^(1/3) T^(2/3)"
ORACLE = "log^2(KT) sqrt(K T) + K^2 log^3(KT)"
LINEAR = "d^(4/3) T^(2/3) log^(2/3)(KT)"
EXPLORES: dict[str, Any] = {"agent": "exploratory", "c0": C0, "bound": EXPLORING}
KNOWS: dict[str, Any] = {"agent": "exploratory-oracle", "c0": C0, "bound": ORACLE, "score": "regret_bar"}
BALL: dict[str, Any] = {"agent": "ols", "instance": "unit-ball", "bound": LINEAR}
PLAIN: dict[str, Any] = {"agent": "empirical-mean", "bound": ROOT}
CURVES = (
    Curve("elimination", values=half_decades(5, 8), exponent=1 / 2, **PLAIN),
    Curve(
        "elimination", values=half_decades(5, 7.5), exponent=1 / 2, instance="minimax", **PLAIN | {"agent": "oracle"}
    ),
    Curve("elimination-offline", values=half_decades(5, 7.5), exponent=1 / 2, **PLAIN),
    Curve("exploratory", values=half_decades(6, 8), exponent=2 / 3, **EXPLORES),
    Curve("exploratory-oracle", values=half_decades(5, 7), exponent=1 / 2, **KNOWS),
    Curve("linear", values=half_decades(5, 6), exponent=2 / 3, dim=2, **BALL),
    Curve("elimination", values=(2, 4, 8, 16, 32), exponent=1 / 2, varies="K", horizon=10**7, **PLAIN),
    Curve("exploratory", values=(2, 4, 8, 16), exponent=1 / 3, varies="K", **EXPLORES),
    Curve("exploratory-oracle", values=(2, 4, 8, 16), exponent=1 / 2, varies="K", **KNOWS),
    Curve("linear", values=(2, 4, 8), exponent=4 / 3, varies="d", n_arms=8, horizon=10**5, **BALL),
    Curve("exploratory", values=(0.02, 0.05, 0.1, 0.2), varies="c0", **EXPLORES),
    Curve("exploratory-oracle", values=(0.02, 0.05, 0.1, 0.2), varies="c0", **KNOWS),
    Curve("elimination" + PRACTICAL, values=half_decades(4, 7.5), **PLAIN),
    Curve("elimination" + PRACTICAL, values=half_decades(4, 7.5), instance="minimax", **PLAIN | {"agent": "oracle"}),
    Curve("elimination-offline" + PRACTICAL, values=half_decades(4, 7), **PLAIN),
    Curve("exploratory" + PRACTICAL, values=half_decades(4, 7), **EXPLORES | {"c0": 1.0}),
    Curve("exploratory-oracle" + PRACTICAL, values=half_decades(4, 7), **KNOWS | {"c0": 1.0}),
    Curve("linear" + PRACTICAL, values=(10**4, 10**5, 10**6), dim=2, **BALL),
    Curve("linear" + PRACTICAL, values=(10**4, 10**5, 10**6), dim=3, **BALL),
    Curve("profit-target", "empirical-mean", half_decades(4, 6), ""),
    Curve("bracket-ucb", "empirical-mean", half_decades(4, 6), ""),
    Curve("ipa", "empirical-mean", half_decades(4, 6), ""),
    Curve("zero", "empirical-mean", half_decades(4, 7), ""),
)


def curves(study: Study) -> Iterator[Curve]:
    """The curves, with short horizons if it is to be quick."""
    for curve in CURVES:
        if not study.quick:
            yield replace(curve, seeds=study.seeds or curve.seeds)
        elif curve.principal != "linear" + PRACTICAL:  # the slowest at short horizons
            short = (500, 1000, 2000) if curve.varies == "T" else curve.values[:2]
            yield replace(curve, values=short, horizon=1000, seeds=QUICK_SEEDS)


def plan(study: Study) -> Iterator[Cell | Measurement]:
    """The points of all curves, and which of their games end in the first phase."""
    for curve in curves(study):
        yield from phases.with_phases(Cell(curve.task(value), curve.spec(value), curve.seeds) for value in curve.values)


ABOUT = (
    "Each theorem of Liu & Ratliff (ICML 2025) in the regret that it bounds: Rbar_T (every incentive offered is"
    " charged) for `exploratory-oracle`, R_T (against the best incentives for the agent's beliefs) for the others."
    " Every point is a game of its own, since the algorithms know T. `slope` is that of log mean regret against the log"
    " of what varies, with a 95% bootstrap interval over seeds; `theorem` is the power in the term of the bound that"
    " leads for large T, log factors aside. `local slopes` are those from one power of ten to the next (or from point"
    " to point): the curve bends where they differ. `straight` is the p-value of the hypothesis that the points lie on"
    " a line; a small one says that one slope does not tell the whole story. `overpaid` is the share of the regret that"
    " was paid above the optimal incentive, at the last point; it can exceed 100%, since an agent that explores plays"
    " arms that it was paid too little for. " + TOO_FEW
)
READING = (
    f"{growth.READING} `minimax` instances are those of the lower bound for the agent that knows its means ([its"
    " page](lower-bound.md)). A factor log(KT)^p adds p / log(KT) to a power: at these sizes about 0.03 for p = 1/2,"
    " 0.04 for 2/3 and 0.13 for 2."
)
OTHERS = (
    "No theorem covers these: the practical constants are heuristics that shorten the phases"
    " (`baselines.scripted.paper.phased.Phased`), and the other principals have no guarantee against these agents."
    " So the column `theorem` has –."
)


class CurveFit(NamedTuple):
    """A curve as it was played, and its slopes."""

    curve: Curve
    values: Floats  # (seeds, points)
    first: Flags  # (points,), those that end in phase 1
    fit: Fit | None  # through the others; None if there are fewer than two
    overpaid: float

    @property
    def slope(self) -> Estimate:
        """Slope of the fit, nan without one."""
        return self.fit.slope if self.fit else Estimate(np.nan)


def measure(curve: Curve, scores: CellScores, in_phase_1: Mapping[str, bool] = MappingProxyType({})) -> CurveFit:
    """The slopes of a curve, and the share of its regret that is overpayment.

    Args:
        curve: that was played.
        scores: of its cells.
        in_phase_1: values of measurements, which tell the games that end in the first phase.
    """
    cells = [(curve.task(value), curve.spec(value)) for value in curve.values]
    values = side_by_side(scores.score(*cell, curve.score)[: curve.seeds] for cell in cells)
    paid = scores.score(*cells[-1], "overpayment")[: curve.seeds].mean() / np.nanmean(values[:, -1])
    first = np.array([phases.is_first(in_phase_1, spec, task) for task, spec in cells])
    later = ~first
    slopes = growth.fit(np.array(curve.values)[later], values[:, later]) if later.sum() > 1 else None
    return CurveFit(curve, values, first, slopes, float(paid))


def table(measured: list[CurveFit]) -> str:
    """The slopes, a row for each curve."""
    rows = []
    for each in measured:
        curve, slopes = each.curve, each.fit
        marked = [f"{value:.3g}" for value, first in zip(curve.values, each.first, strict=True) if first]
        rows.append(
            {
                "principal, agent, instances": curve.label,
                "regret": tables.HEADINGS[curve.score],
                "bound": curve.bound if curve.theorem else "–",
                "grows with": f"{curve.varies} = {curve.values[0]:.3g} to {curve.values[-1]:.3g}",
                phases.MARK: ", ".join(marked) or "–",
                "slope": bracketed(each.slope, digits=2),
                "theorem": "–" if curve.exponent is None else f"{curve.exponent:.2f}",
                "local slopes": slopes.bends() if slopes else "–",
                "straight": p_value(slopes.straight) if slopes else "–",
                "overpaid": f"{each.overpaid:.0%}",
                "regret at the last": number(float(np.nanmean(each.values[:, -1]))),
                "seeds": str(len(each.values)),
            }
        )
    return tables.markdown(pd.DataFrame(rows))


FAMILIES = {  # the panels of the figure, by bound
    ROOT: "Algorithm 1",
    EXPLORING: "Algorithm 5",
    ORACLE: "Algorithm 6",
    LINEAR: "Algorithm 7",
    "": "No theorem",
}
AXES = {"T": "horizon T", "K": "number of arms K", "d": "dimensions d", "c0": "exploration c0"}


def draw(measured: list[CurveFit], out: Path) -> None:
    """A row of panels for each theorem, one for each of T, K, d and c0; the last row is for what has no theorem."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from baselines.pictures import COLOURS, save

    panels: dict[str, dict[str, list[CurveFit]]] = {bound: {} for bound in FAMILIES}
    for each in measured:
        panels[each.curve.bound].setdefault(each.curve.varies, []).append(each)
    names = dict.fromkeys(each.curve.principal.split(",")[0] for each in measured)
    colours = {name: style.color for name, style in zip(names, COLOURS, strict=False)}
    columns = max(map(len, panels.values()))
    figure = Figure(figsize=(5.2 * columns, 3.9 * len(panels)), layout="constrained")
    FigureCanvasAgg(figure)
    places = [(row, bound, *each) for row, bound in enumerate(panels) for each in enumerate(panels[bound].items())]
    for row, bound, column, (varies, group) in places:
        axes = figure.add_subplot(len(panels), columns, row * columns + column + 1)
        title = f"{FAMILIES[bound]}: {bound}" if bound else FAMILIES[bound]
        axes.set(
            xscale="log", yscale="log", xlabel=AXES[varies], ylabel=f"{tables.HEADINGS[group[0].curve.score]}, mean"
        )
        axes.set_title(title, fontsize=9)
        for each in group:
            draw_curve(axes, each, colours[each.curve.principal.split(",")[0]])
        draw_bound(axes, group)
        if varies != "T":  # not powers of ten
            points = sorted({value for each in group for value in each.curve.values})
            axes.set_xticks(points, [f"{value:g}" for value in points])
            axes.set_xticks([], minor=True)
        axes.legend(frameon=False, fontsize=6.5)
    figure.suptitle(
        "Growth of regret, with 95% intervals. Dashed: practical constants, which no theorem covers. Hollow: the game"
        " ends in phase 1, or (linear) pays its cap throughout",
        fontsize=11,
    )
    save(figure, out)


def draw_curve(axes: "Axes", each: CurveFit, colour: str) -> None:
    """A curve with its band; hollow points end in phase 1."""
    from baselines.pictures import tidy

    tidy(axes)
    x, means = np.array(each.curve.values), np.nanmean(each.values, axis=0)
    low, high = np.array([mean_interval(column[~np.isnan(column)]) for column in each.values.T]).T
    other = each.curve.instance if each.curve.instance == "minimax" else ""
    size = f", d = {each.curve.dim}" if each.curve.dim and each.curve.varies != "d" else ""
    size += f", c0 = {each.curve.c0:g}" if each.curve.agent.startswith("explor") and each.curve.varies != "c0" else ""
    slope = "" if np.isnan(each.slope.value) else f" (slope {each.slope.value:.2f})"
    name = f"{each.curve.principal.replace(PRACTICAL, ', practical')}{size}{', ' + other if other else ''}{slope}"
    marker = "s" if other or each.curve.dim == 3 else "o"
    style = "dashed" if PRACTICAL in each.curve.principal else "solid"
    axes.plot(x, means, color=colour, linestyle=style, linewidth=1.2, marker=marker, markersize=5, label=name)
    axes.plot(x[each.first], means[each.first], marker, color="white", markeredgecolor=colour, markersize=5)
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def draw_bound(axes: "Axes", group: list[CurveFit]) -> None:
    """A labelled line with the slope of the bound, below the curves with a theorem."""
    exponents = [each for each in group if each.curve.exponent is not None]
    if not exponents:
        return
    curve, power = exponents[0].curve, exponents[0].curve.exponent or 0.0
    x = np.array(curve.values)
    start = 0.6 * min(float(np.nanmean(each.values[:, 0])) for each in exponents)
    axes.plot(
        x,
        start * (x / x[0]) ** power,
        color="black",
        linestyle="dotted",
        linewidth=1.2,
        label=f"slope of the bound's leading term, {power:.2f}",
    )


def page(evidence: Evidence, path: Path) -> list[str]:
    """The tables, and the figure beside the page."""
    scores = evidence.scores
    measured = [measure(curve, scores, evidence.values) for curve in curves(evidence.study)]
    covered = [each for each in measured if each.curve.theorem]
    figure = path.with_suffix(".png")
    draw(measured, figure)
    return [
        ABOUT,
        f"![Regret against T, K, d and c0]({figure.name})",
        "## The paper's constants, in T",
        READING,
        table([each for each in covered if each.curve.varies == "T"]),
        "## The paper's constants, in K, d and c0",
        "The bound of `exploratory-oracle` has a second term, K^2 log^3(KT); the column has the power of K in the"
        " first. Constants aside, the second is the larger one where K^(3/2) log(KT) exceeds sqrt(T): at T = 1e6 from K"
        " = 16 on. The theorems treat c0 as a constant; how regret grows with it is measured all the same.",
        table([each for each in covered if each.curve.varies != "T"]),
        "## Practical constants, and principals without a theorem",
        OTHERS,
        table([each for each in measured if not each.curve.theorem]),
    ]


CLAIM = Claim(
    "theorems",
    "The theorems, measured",
    "How regret grows with T, K, d and c0, each theorem in the regret that it bounds.",
    plan,
    page,
)
