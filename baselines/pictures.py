"""The look of figures: one palette, axes, lines with bands, and files that have the same bytes each time.

Figures are made without pyplot and its global state. Colours are those of Okabe and Ito that show on white, which the
colour-blind can tell apart, and a few more for figures with many lines.
"""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from baselines.files import write_whole

if TYPE_CHECKING:
    import pandas as pd


class Style(NamedTuple):
    """The look of a line; names as matplotlib has them."""

    color: str
    marker: str
    linestyle: str


COLOURS = (
    Style("#0072B2", "o", "solid"),
    Style("#D55E00", "s", "dashed"),
    Style("#009E73", "D", "dashdot"),
    Style("#CC79A7", "^", "solid"),
    Style("#E69F00", "v", "dashed"),
    Style("#56B4E9", "P", "dashdot"),
    Style("#000000", "X", "solid"),
    Style("#7F7F7F", "*", "dashed"),
    Style("#8C6D31", "<", "dashdot"),
    Style("#6B4C9A", ">", "solid"),
    Style("#B22222", "p", "dashed"),
)
COLOURED = 6  # principals of a report in colour
PRIVILEGED = Style("#000000", "", "dotted")
REST = Style("#9A9A9A", "", "solid")
INK, GRID = "#555555", "#E4E4E4"
Styles = dict[str, Style]

# Every score as papers write it, of the first t rounds.
AXIS = {
    "regret": "regret $R_t$",
    "regret_oracle": "regret $R_t^{oracle}$",
    "regret_bar": r"regret $\overline{R}_t$",
    "utility": "utility",
    "expected_utility": "expected utility",
    "overpayment": "overpayment",
    "agent_regret": "the agent's own regret",
    "regret_response": "regret to the best response",
    "regret_fixed": "regret to the best fixed price",
    "misses": "misses of the target arm",
    "payoff": "expected payoff of the agent",
}
UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same bytes each time
GAP = 0.04  # between names at the ends of lines, as a share of the axes's height
WIDTH = 5.5  # inches, of a figure for a paper
LONGEST = 42  # letters of a label: that of a class in a file begins with a long path


def styles(summary: "pd.DataFrame") -> Styles:
    """A style for every principal of a report, the same in all figures of all tasks.

    Winners of tasks come first, then those with the best mean place; the rest is grey.

    Args:
        summary: columns task, principal, privileged; the best of a task first.
    """
    chosen = dict.fromkeys(summary["principal"], REST)
    contenders = summary[~summary["privileged"]]
    places = contenders.groupby("task").cumcount().groupby(contenders["principal"]).agg(["min", "mean"])
    chosen.update(zip(places.sort_values(["min", "mean"], kind="stable").index, COLOURS[:COLOURED], strict=False))
    chosen.update(dict.fromkeys(summary.loc[summary["privileged"], "principal"], PRIVILEGED))
    return chosen


class Picture(Figure):
    """A figure that is shown where it is the last value of a notebook's cell."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, dpi=110, format="png")
        return file.getvalue()


def new_figure(width: float, height: float, title: str = "") -> tuple[Picture, Axes]:
    """A figure (inches) with one set of axes and a title."""
    figure = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(short_label(title), fontsize="medium")
    axes = figure.add_subplot()
    tidy(axes)
    return figure, axes


def against_rounds(score: str) -> tuple[Picture, Axes]:
    """A figure with axes for the sums of a score after t rounds."""
    figure, axes = new_figure(WIDTH, 3.6)
    label_axes(axes, score)
    return figure, axes


def score_axes(
    score: str,
    minus: str | None = None,
    *,
    log: bool | None = None,
    ax: Axes | None = None,
    height: float = 3.6,
    far_apart: bool = False,
) -> tuple[Figure | SubFigure, Axes]:
    """Axes of users, or of a new figure, for a score against the rounds played.

    Args:
        score: a key of AXIS.
        minus: a principal, if differences to it are drawn.
        log: logarithmic axes; the score's is linear between -1 and 1. None: only that of a score with values far apart.
        ax: axes of users; None: those of a new figure.
        height: of a new figure, in inches.
        far_apart: True if the score has values far apart.
    """
    figure, axes = new_figure(WIDTH, height) if ax is None else (ax.figure, ax)
    label_axes(axes, score, minus)
    if log or (log is None and far_apart):
        axes.set_yscale("symlog", linthresh=1.0)
    if log:
        axes.set_xscale("log")
    return figure, axes


def label_axes(axes: Axes, score: str, minus: str | None = None) -> None:
    """Name the axes of a score, or of its differences to a principal, against the rounds played."""
    less = "" if minus is None else f" minus that of {short_label(minus)}"
    axes.set(xlabel="rounds played $t$", ylabel=AXIS[score] + less)


def tidy(axes: Axes) -> None:
    """Draw a light grid, and no box."""
    axes.grid(visible=True, color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend(figure: Figure | SubFigure, columns: int = 2) -> None:
    """Draw the legend below the axes, if there is anything to list."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")


def learning_curve(run: Mapping[str, Any], score: str) -> bytes:
    """Draw a score against rounds of training, beside that of scripts, as a PNG.

    Args:
        run: the record of a run, as :mod:`baselines.rl.training` keeps it in ``run.json``.
        score: in it.
    """
    figure, axes = against_rounds(score)
    if run["curve"]:
        axes.plot(*zip(*run["curve"], strict=True), color=REST.color, label="while training")
    for way in ("likeliest", "drawn"):
        laps = [[ways[way][score][0] for ways in lap.values()] for lap in run["laps"]]
        axes.plot(run["rounds"], [sum(each) / len(each) for each in laps], marker="o", label=f"evaluated, {way}")
    for (name, value), colour in zip(run["references"].items(), (INK, "#222222"), strict=True):
        axes.axhline(value, linestyle="--", linewidth=1, color=colour)
        below = value < max(run["references"].values())
        place: dict[str, Any] = {"xytext": (2, -2), "va": "top"} if below else {"xytext": (2, 2)}
        axes.annotate(name, (0.0, value), textcoords="offset points", fontsize="small", **place)
    axes.set(xlabel="rounds of training", xlim=(0, None))
    axes.legend(frameon=False)
    file = io.BytesIO()
    figure.savefig(file, dpi=150, format="png")
    return file.getvalue()


def short_label(label: str) -> str:
    """A shortened label; escapes `$` and a leading `_`, which Matplotlib would interpret."""
    end = label if len(label) <= LONGEST else "…" + label[1 - LONGEST :]
    return (" " if end.startswith("_") else "") + end.replace("$", r"\$")


def draw_lines(
    axes: Axes, curves: "pd.DataFrame", principals: Sequence[str], styles: Styles, notes: Mapping[str, str]
) -> None:
    """Draw a line with a band for each principal.

    Args:
        axes: where.
        curves: columns principal, rounds, mean, low, high.
        principals: those to draw, in the order of the legend.
        styles: grey lines have no band, and their names at their ends instead of the legend.
        notes: added to names.
    """
    ends = []
    for rank, principal in enumerate(principals):
        line = curves[curves["principal"] == principal]
        if line.empty:
            continue
        name = short_label(principal) + notes.get(principal, "")
        style = styles[principal]
        if style == REST:
            axes.plot(line["rounds"], line["mean"], color=style.color, linewidth=1)
            ends.append((line["rounds"].iloc[-1], line["mean"].iloc[-1], name))
            continue
        every, look = (0.02 * rank, 0.16), style._asdict()
        axes.plot("rounds", "mean", data=line, label=name, zorder=3, markersize=5, markevery=every, **look)
        axes.fill_between(line["rounds"], line["low"], line["high"], color=style.color, alpha=0.15, linewidth=0)
    axes.margins(x=0.01)
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # names are placed, so nothing may move any more
    name_ends(axes, ends)


def name_ends(axes: Axes, ends: Sequence[tuple[float, float, str]]) -> None:
    """Write the names of lines that end at (x, y, name) to the right of the axes, none over another."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = sorted(ends, key=lambda end: end[1])
    heights = [to_axes.transform(end[:2])[1] for end in ends]
    for i in range(1, len(ends)):
        heights[i] = max(heights[i], heights[i - 1] + GAP)
    highest = 1.0
    for i in reversed(range(len(ends))):
        heights[i] = min(heights[i], highest)
        highest = heights[i] - GAP
    for (x, y, name), height in zip(ends, heights, strict=True):
        across, up = to_axes.transform((x, y))
        axes.plot(
            [across, 1.03], [up, height], color=REST.color, linewidth=0.6, transform=axes.transAxes, clip_on=False
        )
        axes.text(1.035, height, name, va="center", fontsize="x-small", color=INK, transform=axes.transAxes)


def as_files(figure: Figure, formats: Sequence[str] = ("png", "svg", "pdf")) -> dict[str, bytes]:
    """The figure as a file of each format, the same bytes each time. PNGs have 256 colours, a third of the size."""
    files = {}
    with rc_context({"svg.hashsalt": "figure", "svg.fonttype": "none", "pdf.fonttype": 42}):
        for name in formats:
            file = io.BytesIO()
            figure.savefig(file, dpi=110, format=name, metadata=UNDATED[name])
            files[name] = _fewer_colours(file) if name == "png" else file.getvalue()
    return files


def _fewer_colours(png: io.BytesIO) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.open(png).convert("RGB").quantize(256).save(file, format="png", optimize=True)
    return file.getvalue()


def save(figure: Figure, out: Path) -> None:
    """Write a figure as PNG and, beside it, as SVG."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for name, data in as_files(figure, ("png", "svg")).items():
        write_whole(out.with_suffix(f".{name}"), data)
