"""A heat map of regret per round: principals by agents or tasks, on a logarithmic scale."""

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from baselines.benchmark.drawing import shown
from baselines.benchmark.summaries import merit

LEAST, MOST = 1e-4, 1.0  # regret per round at the ends of the colours
DARK = 0.55  # of the scale, from which on numbers are white
CAPTION = (
    "Regret per round, R_T / T, on a logarithmic scale; dark is much. Principals with the best mean place come first."
    " – is not played."
)


def panel(summary: pd.DataFrame, columns: str = "task") -> pd.DataFrame:
    """What :func:`draw` takes: R_T / T, a row for each principal, in the order of merit.

    Args:
        summary: from :func:`baselines.benchmark.summaries.summarise`.
        columns: the column of the summary that has a column of its own for each value.
    """
    privileged = set(summary.loc[summary["privileged"], "principal"])
    share = summary.assign(share=summary["regret"] / summary["horizon"])
    wide = share.pivot(index="principal", columns=columns, values="share").reindex(
        index=merit(summary), columns=list(dict.fromkeys(summary[columns]))
    )
    return wide.rename(index=lambda label: f"{label} (privileged)" if label in privileged else label)


def draw(panels: dict[str, pd.DataFrame], title: str) -> Figure:
    """Draw panels side by side.

    Args:
        panels: for each title, regret per round: a row for each principal, a column for each agent or task; nan is not
            played.
        title: of the figure.
    """
    tallest, widest = (max(panel.shape[axis] for panel in panels.values()) for axis in (0, 1))
    size = ((3.6 + 0.52 * widest) * len(panels), 1.6 + 0.3 * tallest)
    figure = Figure(figsize=size, layout="constrained")
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
        axes.set_xticks(range(panel.shape[1]), map(shown, panel.columns), rotation=30, ha="right", fontsize=8)
        axes.set_yticks(range(len(panel)), map(shown, panel.index), fontsize=7.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(name, fontsize=9)
    figure.colorbar(image, ax=figure.axes, label="regret per round, $R_T / T$", shrink=0.7)
    figure.suptitle(title, fontsize=11)
    return figure
