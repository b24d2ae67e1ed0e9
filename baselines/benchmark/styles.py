"""How principals look in the figures of a task: the best few in colour, with markers and dashes of their own.

Colours are those of Okabe and Ito that show on white, which the colour-blind can tell apart.
"""

from typing import NamedTuple

import pandas as pd


class Style(NamedTuple):
    """Names as matplotlib has them."""

    colour: str
    marker: str
    dash: str


COLOURS = (
    Style("#0072B2", "o", "solid"),
    Style("#D55E00", "s", "dashed"),
    Style("#009E73", "D", "dashdot"),
    Style("#CC79A7", "^", "solid"),
    Style("#E69F00", "v", "dashed"),
    Style("#56B4E9", "P", "dashdot"),
)
PRIVILEGED = Style("#000000", "", "dotted")
REST = Style("#9A9A9A", "", "solid")
Styles = dict[str, Style]


def styles(summary: pd.DataFrame) -> dict[str, Styles]:
    """For each task a style for every principal in it; one that is often among the best looks the same in all tasks."""
    contenders = summary[~summary["privileged"]]
    places = contenders.groupby("task").cumcount().groupby(contenders["principal"]).mean()
    usual = dict(zip(places.sort_values(kind="stable").index, COLOURS, strict=False))
    chosen = {}
    for task, part in summary.groupby("task", sort=False):
        best = part.loc[~part["privileged"], "principal"].head(len(COLOURS))
        kept = {label: usual[label] for label in best if label in usual}
        free = iter([style for style in COLOURS if style not in kept.values()])
        others = dict.fromkeys(part["principal"], REST) | dict.fromkeys(
            part.loc[part["privileged"], "principal"], PRIVILEGED
        )
        chosen[task] = others | {label: kept.get(label) or next(free) for label in best}
    return chosen
