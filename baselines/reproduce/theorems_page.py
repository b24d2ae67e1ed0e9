"""The page of the theorems, measured: tables of slopes, and a figure of regret against what varies."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.drawing import save, tidy
from baselines.benchmark.formatting import bracketed, number, p_value
from baselines.benchmark.results import read
from baselines.benchmark.statistics import TOO_FEW, mean_interval
from baselines.benchmark.store import write_generated
from baselines.reproduce.cells import Player, Table, opening, side_by_side
from baselines.reproduce.growth import Fit, fit
from baselines.reproduce.theorems import Curve, curves
from pa_env.kernel.layout import Floats

REGRETS = {"regret": "R_T", "regret_bar": "Rbar_T"}
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#7F7F7F",
    "#8C6D31",
    "#6B4C9A",
    "#B22222",
)
MARKERS = "osD^vPX*<>p"
ABOUT = (
    "Each theorem of Liu & Ratliff (ICML 2025) in the regret that it bounds: Rbar_T (every incentive offered is"
    " charged) for `exploratory-oracle`, R_T (against the best incentives for the agent's beliefs) for the others."
    " Every point is a game of its own, since the algorithms know T. `slope` is that of log mean regret against the"
    " log of what varies, with a 95% bootstrap interval over seeds; `theorem` is the power in the bound, log factors"
    " aside. `local slopes` are those from one power of ten to the next (or from point to point): the curve bends"
    " where they differ. `straight` is the p-value of the hypothesis that the points lie on a line; a small one says"
    " that one slope does not tell the whole story. `overpaid` is the share of the regret that was paid above the"
    " optimal incentive, at the last point; it can exceed 100%, since arms that are cheap for the agent's beliefs"
    " earn something back. " + TOO_FEW
)
THEOREMS = (
    "A bound holds for all instances, and up to a constant: a measured power below it is no contradiction, and one"
    " above it at horizons where the first phases still last is none either. In its first phase an algorithm pays"
    " the cap, and its regret is linear. With the paper's constants `linear` offers less than its cap only from T ="
    " 9e7 on at d = 2, so the row shows this first part alone. `minimax` instances have a gap of 4 sqrt(K/T), as"
    " lower bounds do: there no principal does better than sqrt(KT). A factor"
    " sqrt(log(KT)) adds 1 / (2 log(KT)), about 0.03, to a power."
)
PRACTICAL = (
    "No theorem covers these: the practical constants are heuristics that shorten the phases"
    " (`baselines.scripted.paper.phased.Phased`), and the other principals have no guarantee against these agents."
    " The column"
    " `theorem` is empty for that reason."
)


class Measured(NamedTuple):
    """A curve as it was played."""

    curve: Curve
    values: Floats  # (seeds, points)
    fit: Fit
    overpaid: float


def measure(curve: Curve, scores: Table) -> Measured:
    """The slopes of a curve, and the share of its regret that is overpayment."""
    cells = [(curve.task(value), curve.spec(value)) for value in curve.values]
    values = side_by_side(scores.score(*cell, curve.score)[: curve.seeds] for cell in cells)
    paid = scores.score(*cells[-1], "overpayment")[: curve.seeds].mean() / np.nanmean(values[:, -1])
    return Measured(curve, values, fit(curve.values, values), float(paid))


def table(measured: list[Measured]) -> str:
    """The slopes, a row for each curve."""
    rows = []
    for curve, values, found, overpaid in measured:
        rows.append(
            {
                "principal, agent, instances": curve.label,
                "regret": REGRETS[curve.score],
                "bound": curve.bound if curve.theorem else "–",
                "grows with": f"{curve.varies} = {curve.values[0]:.3g} to {curve.values[-1]:.3g}",
                "slope": bracketed(found.slope, digits=2),
                "theorem": "–" if curve.exponent is None else f"{curve.exponent:.2f}",
                "local slopes": found.bends(),
                "straight": p_value(found.straight),
                "overpaid": f"{overpaid:.0%}",
                "regret at the last": number(float(np.nanmean(values[:, -1]))),
                "seeds": str(len(values)),
            }
        )
    return tables.markdown(pd.DataFrame(rows))


def draw(measured: list[Measured], out: Path) -> None:
    """Mean regret against T with the paper's constants and with others, and against K, d and c0."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = {
        "The paper's constants": [each for each in measured if each.curve.varies == "T" and each.curve.theorem],
        "No theorem covers these": [each for each in measured if each.curve.varies == "T" and not each.curve.theorem],
        "In K, d and c0": [each for each in measured if each.curve.varies != "T"],
    }
    figure = Figure(figsize=(17, 9), layout="constrained")
    FigureCanvasAgg(figure)
    for place, (title, own) in enumerate(panels.items()):
        axes = figure.add_subplot(1, 3, place + 1)
        tidy(axes)
        for (curve, values, found, _), colour, marker in zip(own, COLOURS * 2, MARKERS * 2, strict=False):
            means, x = np.nanmean(values, axis=0), np.array(curve.values)
            x = x if curve.varies == "T" else x / x[0]
            power = "" if curve.exponent is None else f" (theorem: {curve.exponent:.2f})"
            label = f"{curve.label}\nin {curve.varies}: {found.slope.value:.2f}{power}"
            axes.plot(x, means, color=colour, marker=marker, markersize=5, label=label, linewidth=1.2)
            low, high = np.array([mean_interval(column[~np.isnan(column)]) for column in values.T]).T
            axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            if curve.exponent is not None:
                axes.plot(x, means[-1] * (x / x[-1]) ** curve.exponent, color=colour, linestyle="dotted", linewidth=1)
        axes.set(xscale="log", yscale="log", title=title)
        axes.set(
            xlabel="horizon T" if place < 2 else "K, d or c0, relative to the smallest",
            ylabel="regret (mean, 95% interval)",
        )
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), frameon=False, fontsize=7)
    figure.suptitle("Growth of regret; dotted lines have the slopes of the theorems", fontsize=12)
    save(figure, out)


def write(player: Player, page: Path) -> None:
    """Write the page, and its figure beside it."""
    results = read(player.out)
    scores = Table(results)
    measured = [measure(curve, scores) for curve in curves(player)]
    covered = [each for each in measured if each.curve.theorem]
    figure = page.with_suffix(".png")
    draw(measured, figure)
    parts = [
        *opening("The theorems, measured", results, player.command),
        ABOUT,
        f"![Regret against T, K, d and c0]({figure.name})",
        "## The paper's constants, in T",
        THEOREMS,
        table([each for each in covered if each.curve.varies == "T"]),
        "## The paper's constants, in K, d and c0",
        "The bound of `exploratory-oracle` has a second term, K^2 log^3(KT), which is the larger one at this"
        " horizon; the column has the power of K in the first. The theorems treat c0 as a constant; how regret grows"
        " with it is measured all the same.",
        table([each for each in covered if each.curve.varies != "T"]),
        "## Practical constants, and principals without a theorem",
        PRACTICAL,
        table([each for each in measured if not each.curve.theorem]),
    ]
    write_generated(page, "theorems", "\n\n".join(parts) + "\n")
