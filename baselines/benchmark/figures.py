"""Figures of a benchmark: regret over time, plays by arm, offers against what was needed, and a map of all tasks.

The first three take one task's part of a table: ``summary`` and ``curves`` as :mod:`baselines.benchmark.summaries`
makes them. Principals come in the order of ``summary``, best first. The task is named in the figure.
"""

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from baselines.benchmark.summaries import SLOPE_DECADES, merit
from baselines.pictures import INK, Styles, draw_lines, legend, new_figure, short_label, tidy

BOUNDS = {"1/2": 1 / 2, "2/3": 2 / 3, "1": 1.0}  # exponents of the bounds in the papers
LEAST, MOST = 1e-4, 1.0  # loss per round at the ends of the colours of the map
DARK = 0.55  # of the scale, from which on numbers are white
PANELS = 8  # principals whose offers are drawn
RANKS = 5  # arms with a colour of their own in the bars of plays
CAPTIONS = {
    "utility": "Utility per round so far against rounds played: means over seeds, with 95% intervals.",
    "regret": "Regret R_t against rounds played: means over seeds, with 95% intervals.",
    "plays": "Shares of all plays, means over seeds. Arms are ranked by what they are worth to both sides together"
    " (theta + mu): the best is the one to pay for.",
    "offers": f"Of the first {PANELS} principals of the table. Line: the incentive offered in the round of each"
    " checkpoint, mean over the seeds that offer one (a gap where none does)."
    " Circles: what its arm needed to be played, pi*. A line above its circles overpays, one below them is refused."
    " Of several arms with an incentive, the one with the most above its pi* is shown. What is far above the rest is"
    " drawn at the top, with a note how high it goes.",
    "map": "Left: utility lost to the best principal of the task that is not privileged, per round. Right: regret per"
    " round, R_T / T. Both on one logarithmic scale; dark is much, and a number below 0 has the colour of the least."
    " Principals with the best mean place in utility come first. – is not played. † marks R_T"
    " that does not rank principals, since the agent ignores its beliefs.",
}


def regret(summary: pd.DataFrame, curves: pd.DataFrame, styles: Styles) -> Figure:
    """R_t against t on logarithmic axes, with bands, fitted slopes and the slopes of the bounds."""
    figure, axes = new_figure(9, 6, _task(summary))
    axes.set(xscale="log", yscale="log", ylabel="regret $R_t$")
    axes.set_xlabel(f"rounds played $t$; in the legend: slopes over the last {SLOPE_DECADES} decades")
    horizon = curves["rounds"].max()
    t = np.array([max(horizon / 10**SLOPE_DECADES, 1.0), horizon])
    principals = summary.loc[~summary["privileged"] | summary["slope"].notna(), "principal"].tolist()
    curves = curves[(curves["mean"] > 0) & (curves["rounds"] > 1) & curves["principal"].isin(principals)]
    curves = curves.assign(low=curves["low"].clip(lower=curves["mean"].min()))  # log axes cannot show 0: clip the band
    slopes = {row.principal: f": {row.slope:.2f}" for row in summary.itertuples() if np.isfinite(row.slope)}
    draw_lines(axes, curves, principals, styles, slopes)
    lowest = axes.get_ylim()[0]
    for name, exponent in BOUNDS.items():
        line = lowest * (t / t[0]) ** exponent
        axes.plot(t, line, color=INK, linestyle=":", linewidth=1.2)
        axes.annotate(name, (t[1], line[1]), (4, -2), textcoords="offset points", color=INK, fontsize="small")
    axes.set_xlim(right=1.7 * horizon)  # room for the names of the bounds
    legend(figure)
    return figure


def utility(summary: pd.DataFrame, curves: pd.DataFrame, styles: Styles) -> Figure:
    """Utility per round so far against t, with bands; t on a logarithmic axis."""
    figure, axes = new_figure(9, 6, _task(summary))
    axes.set(xscale="log", xlabel="rounds played $t$", ylabel="utility per round")
    draw_lines(axes, curves, summary["principal"].tolist(), styles, {})
    legend(figure)
    return figure


def _task(summary: pd.DataFrame) -> str:
    return str(summary["task"].iloc[0])


def plays(summary: pd.DataFrame, shares: pd.DataFrame) -> Figure:
    """Bars of the shares of plays; ``shares`` has a row for each principal, a column for each rank of an arm."""
    figure, axes = new_figure(9, 1.9 + 0.34 * len(summary), _task(summary))
    ranked = shares.loc[summary["principal"]].to_numpy()
    names = ["best arm", "2nd", "3rd", *(f"{rank}th" for rank in range(4, RANKS + 1))][: ranked.shape[1]]
    if ranked.shape[1] > RANKS:
        ranked = np.column_stack([ranked[:, :RANKS], ranked[:, RANKS:].sum(axis=1)])
        names.append(f"{RANKS + 1}th and worse")
    colours = mpl.colormaps["cividis"](np.linspace(0, 1, ranked.shape[1]))
    places, left = np.arange(len(ranked)), np.zeros(len(ranked))
    for name, colour, width in zip(names, colours, ranked.T, strict=True):
        axes.barh(places, width, left=left, color=colour, label=name, height=0.7)
        left += width
    axes.set_yticks(places, [short_label(principal) for principal in summary["principal"]])
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of plays")
    axes.grid(visible=False)
    legend(figure, columns=RANKS + 1)
    return figure


def offers(summary: pd.DataFrame, paid: pd.DataFrame, styles: Styles) -> Figure:
    """A panel for each of the best principals: what it offered, and what that arm needed."""
    principals = summary["principal"].tolist()[:PANELS]
    paid = paid[paid["principal"].isin(principals)]
    columns = min(4, len(principals))
    depth = -(-len(principals) // columns)
    width, height = 2.6 * columns + 0.8, 2.0 * depth + 1.3
    figure = Figure(figsize=(width, height))  # laid out by hand: constraints take seconds for so many panels
    FigureCanvasAgg(figure)
    figure.subplots_adjust(0.8 / width, 0.6 / height, 1 - 0.1 / width, 1 - 0.8 / height, wspace=0.08, hspace=0.5)
    grid = figure.subplots(depth, columns, sharex=True, sharey=True, squeeze=False)
    top = _top(paid)
    for axes, principal in zip(grid.flat, principals, strict=False):
        payment = paid[paid["principal"] == principal]
        needed, offer = payment["needed"].clip(upper=top), payment["offer"].clip(upper=top)
        axes.plot(payment["rounds"], needed, "o", color="none", markeredgecolor=INK, markersize=3.5)
        axes.plot(payment["rounds"], offer, ".-", color=styles[principal].color, linewidth=1.8, markersize=3)
        axes.set_title(short_label(principal).replace(",", ",\n"), fontsize="small")
        if payment["offer"].isna().all():
            axes.text(0.5, 0.5, "offers nothing", ha="center", va="center", transform=axes.transAxes, color=INK)
        highest = payment[["needed", "offer"]].max(axis=None)
        if highest > top:
            text = f"up to {highest:.3g}"
            axes.text(1, 0.88, text, ha="right", va="top", transform=axes.transAxes, color=INK, fontsize="x-small")
        tidy(axes)
    for axes in grid.flat[len(principals) :]:
        axes.set_axis_off()
    for axes in grid.flat[len(principals) - columns : len(principals)]:  # the lowest panel of each column
        axes.tick_params(labelbottom=True)
    grid[0, 0].set_xscale("log")
    grid[0, 0].xaxis.set_minor_locator(NullLocator())  # they would take most of the time
    figure.suptitle(short_label(_task(summary)), fontsize="medium", y=1 - 0.1 / height)
    figure.supxlabel("rounds played $t$", fontsize="medium", y=0.08 / height)
    figure.supylabel("incentive", fontsize="medium", x=0.1 / width)
    return figure


def _top(paid: pd.DataFrame) -> float:
    """The top of the axes of offers: a few that are far higher must not flatten all the others."""
    incentives = paid[["offer", "needed"]].stack()
    usual = 1.25 * incentives.quantile(0.9)
    return float(usual if incentives.max() > 2 * usual > 0 else incentives.max())


def losses_per_round(summary: pd.DataFrame, score: str = "regret", columns: str = "task") -> pd.DataFrame:
    """Loss per round, as :func:`heat_map` draws it, a row for each principal, in the order of merit.

    The loss is R_T, or the utility that is missing to the best principal that is not privileged.

    Args:
        summary: from :func:`baselines.benchmark.summaries.summarise`.
        score: "regret" or "utility".
        columns: the column of the summary that has a column of its own for each value; those of agents that ignore
            their beliefs are marked in regret.
    """
    privileged = set(summary.loc[summary["privileged"], "principal"])
    loss = summary["regret"]
    if score == "utility":
        best = summary["utility"].where(~summary["privileged"]).groupby(summary["task"]).transform("max")
        loss = best - summary["utility"]
    share = summary.assign(share=loss / summary["horizon"])
    wide = share.pivot(index="principal", columns=columns, values="share").reindex(
        index=merit(summary), columns=list(dict.fromkeys(summary[columns]))
    )
    aside = set(summary.loc[summary["beliefs_ignored"], columns]) if score == "regret" else set()
    return wide.rename(
        index=lambda label: f"{label} (privileged)" if label in privileged else label,
        columns=lambda name: f"{name}†" if name in aside else name,
    )


def heat_map(
    panels: Mapping[str, pd.DataFrame],
    title: str,
    marks: Mapping[str, pd.DataFrame] | None = None,
    label: str = "loss per round",
) -> Figure:
    """Draw panels of loss per round side by side, on a logarithmic scale.

    Args:
        panels: by title; a row for each principal, the same in all panels or not, a column for each agent or task; nan
            is not played.
        title: of the figure.
        marks: by title, what is added to the numbers of its panel, of the same shape; None: nothing.
        label: of the scale.
    """
    tallest, widest = (max(panel.shape[axis] for panel in panels.values()) for axis in (0, 1))
    size = ((3.6 + 0.52 * widest) * len(panels), 1.6 + 0.3 * tallest)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    norm = LogNorm(LEAST, MOST, clip=True)
    for place, (name, panel) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), place + 1)
        values = panel.to_numpy(np.float64)
        colours = np.where(np.isnan(values), np.nan, np.maximum(values, LEAST))
        image = axes.imshow(colours, "viridis_r", norm, aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            text = "–" if np.isnan(value) else f"{value:z.4f}" if value < 0.01 else f"{value:.3f}"
            text += str(marks[name].to_numpy()[row, column]) if marks and not np.isnan(value) else ""
            dark = not np.isnan(value) and norm(max(value, LEAST)) > DARK
            axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color="white" if dark else "black")
        axes.set_xticks(range(panel.shape[1]), map(short_label, panel.columns), rotation=30, ha="right", fontsize=8)
        axes.set_yticks(range(len(panel)), map(short_label, panel.index), fontsize=7.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(name, fontsize=9)
    figure.colorbar(image, ax=figure.axes, label=label, shrink=0.7)
    figure.suptitle(title, fontsize=11)
    return figure
