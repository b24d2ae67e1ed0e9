"""How principals look in the figures of a report: the best few in colour, with markers and dashes of their own.

A principal has one style in all figures of all tasks. Colours are those of Okabe and Ito that show on white, which the
colour-blind can tell apart.
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


def styles(summary: pd.DataFrame) -> Styles:
    """A style for every principal of a report: winners of tasks first, then those with the best mean place."""
    chosen = dict.fromkeys(summary["principal"], REST)
    contenders = summary[~summary["privileged"]]
    places = contenders.groupby("task").cumcount().groupby(contenders["principal"]).agg(["min", "mean"])
    chosen.update(zip(places.sort_values(["min", "mean"], kind="stable").index, COLOURS, strict=False))
    chosen.update(dict.fromkeys(summary.loc[summary["privileged"], "principal"], PRIVILEGED))
    return chosen
