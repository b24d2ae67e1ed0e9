"""A heat map of regret per round: principals by agents, on a logarithmic scale."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from baselines.benchmark.drawing import shown
from baselines.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST, MOST = 1e-4, 1.0  # regret per round at the ends of the colours
DARK = 0.55  # of the scale, from which on numbers are white


def draw(panels: dict[str, pd.DataFrame], title: str, out: Path) -> list[Path]:
    """Draw and save as PNG and SVG; returns the two files.

    Args:
        panels: for each title, regret per round: a row for each principal, best first, a column for each agent; nan is
            not played.
        title: of the figure.
        out: the PNG file; the SVG stands beside it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import LogNorm
    from matplotlib.figure import Figure

    tallest = max(len(panel) for panel in panels.values())
    figure = Figure(figsize=(7.2 * len(panels), 1.6 + 0.3 * tallest), layout="constrained")
    FigureCanvasAgg(figure)
    norm = LogNorm(LEAST, MOST, clip=True)
    for place, (name, panel) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), place + 1)
        values = panel.to_numpy(np.float64)
        # A negative regret (agents that explore allow it) has the colour of the least.
        image = axes.imshow(
            np.where(np.isnan(values), np.nan, np.maximum(values, LEAST)), "viridis_r", norm, aspect="auto"
        )
        for (row, column), value in np.ndenumerate(values):
            text = "–" if np.isnan(value) else f"{value:.4f}" if value < 0.01 else f"{value:.3f}"
            dark = not np.isnan(value) and norm(max(value, LEAST)) > DARK
            axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color="white" if dark else "black")
        axes.set_xticks(range(panel.shape[1]), panel.columns, rotation=30, ha="right", fontsize=8)
        axes.set_yticks(range(len(panel)), [shown(label) for label in panel.index], fontsize=7.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(name, fontsize=9)
    figure.colorbar(image, ax=figure.axes, label="regret per round, $R_T / T$", shrink=0.7)
    figure.suptitle(title, fontsize=11)
    return save(figure, out)


def save(figure: "Figure", out: Path) -> list[Path]:
    """Write a figure as PNG and, beside it, as SVG, the same bytes each time."""
    from matplotlib import rc_context

    out.parent.mkdir(parents=True, exist_ok=True)
    written = []
    with rc_context({"svg.hashsalt": "figure", "svg.fonttype": "none"}):
        for suffix, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
            data = io.BytesIO()
            figure.savefig(data, dpi=120, format=suffix[1:], metadata=metadata)
            write_whole(out.with_suffix(suffix), data.getvalue())
            written.append(out.with_suffix(suffix))
    return written
