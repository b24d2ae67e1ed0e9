"""What the figures of a benchmark are drawn with: lines that can be told apart, names that don't collide."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from baselines.benchmark.styles import REST, Styles
from baselines.files import write_whole

UNDATED = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}  # the same bytes each time
INK = "#555555"
LONGEST = 42  # letters of a label: that of a class in a file begins with a long path


def as_files(figure: Figure, formats: Sequence[str] = ("png", "svg", "pdf")) -> dict[str, bytes]:
    """The figure as a file of each format, the same bytes each time. PNGs have 256 colours, a third of the size."""
    files = {}
    with rc_context({"svg.hashsalt": "figure", "svg.fonttype": "none", "pdf.fonttype": 42}):
        for name in formats:
            drawn = io.BytesIO()
            figure.savefig(drawn, dpi=110, format=name, metadata=UNDATED[name])
            files[name] = _fewer_colours(drawn) if name == "png" else drawn.getvalue()
    return files


def _fewer_colours(png: io.BytesIO) -> bytes:
    file = io.BytesIO()
    Image.open(png).convert("RGB").quantize(256).save(file, format="png", optimize=True)
    return file.getvalue()


def save(figure: Figure, out: Path) -> None:
    """Write a figure as PNG and, beside it, as SVG."""
    out.parent.mkdir(parents=True, exist_ok=True)
    for name, data in as_files(figure, ("png", "svg")).items():
        write_whole(out.with_suffix(f".{name}"), data)


def shown(principal: str) -> str:
    """A shortened label; escapes `$` and a leading `_`, which Matplotlib would interpret."""
    label = principal if len(principal) <= LONGEST else "…" + principal[1 - LONGEST :]
    return (" " if label.startswith("_") else "") + label.replace("$", r"\$")


def new_figure(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    """A figure (inches) with one set of axes and a title."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(shown(title), fontsize="medium")
    axes = figure.add_subplot()
    tidy(axes)
    return figure, axes


def tidy(axes: Axes) -> None:
    """A light grid, and no box."""
    axes.grid(visible=True, color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def legend(figure: Figure, columns: int = 2) -> None:
    """Below the axes, if there is anything to list."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize="small")


def lines(
    axes: Axes, curves: pd.DataFrame, principals: Sequence[str], styles: Styles, notes: Mapping[str, str], bands: bool
) -> None:
    """A line for each principal, ``notes`` added to its name: grey ones have it at their end, others in the legend."""
    ends = []
    for rank, principal in enumerate(principals):
        own = curves[curves["principal"] == principal]
        if own.empty:
            continue
        name = shown(principal) + notes.get(principal, "")
        colour, marker, dash = styles[principal]
        if styles[principal] != REST:
            axes.plot(
                "rounds",
                "mean",
                data=own,
                label=name,
                color=colour,
                marker=marker,
                linestyle=dash,
                markersize=5,
                markevery=(0.02 * rank, 0.16),
                zorder=3,
            )
            if bands:
                axes.fill_between(own["rounds"], own["low"], own["high"], color=colour, alpha=0.15, linewidth=0)
        else:
            axes.plot(own["rounds"], own["mean"], color=colour, linewidth=1)
            ends.append((own["rounds"].iloc[-1], own["mean"].iloc[-1], name))
    axes.margins(x=0.01)
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # names are placed, so nothing may move any more
    name_ends(axes, ends)


def name_ends(axes: Axes, ends: Sequence[tuple[float, float, str]], gap: float = 0.04) -> None:
    """Write the names of lines that end at (x, y, name) to the right of the axes, none over another."""
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = sorted(ends, key=lambda end: end[1])
    heights = [to_axes.transform(end[:2])[1] for end in ends]
    for i in range(1, len(ends)):
        heights[i] = max(heights[i], heights[i - 1] + gap)
    highest = 1.0
    for i in reversed(range(len(ends))):
        heights[i] = min(heights[i], highest)
        highest = heights[i] - gap
    for (x, y, name), height in zip(ends, heights, strict=True):
        across, up = to_axes.transform((x, y))
        axes.plot(
            [across, 1.03], [up, height], color=REST.colour, linewidth=0.6, transform=axes.transAxes, clip_on=False
        )
        axes.text(1.035, height, name, va="center", fontsize="x-small", color=INK, transform=axes.transAxes)
