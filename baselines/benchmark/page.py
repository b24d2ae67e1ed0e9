"""One HTML page of a benchmark that needs nothing but itself: sortable tables, curves to point at, figures.

What comes from users is escaped: by the template, and labels once more for plotly, which reads tags and TeX in them.
"""

import base64
import html
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from baselines.benchmark import figures, tables
from baselines.benchmark.styles import REST, Styles

DASHES = {"solid": "solid", "dashed": "dash", "dashdot": "dashdot", "dotted": "dot"}  # matplotlib's -> plotly's


def page(
    facts: Mapping[str, str],
    about: Mapping[str, str],
    summary: pd.DataFrame,
    curves: pd.DataFrame,
    images: Mapping[str, Mapping[str, bytes]],
    styles: Mapping[str, Styles],
) -> str:
    """The page. ``facts``: listed at its head; ``about``: what each task is; ``images``: PNG files by task and name.

    The figure of regret is left out: its curves are drawn by plotly.
    """
    from jinja2 import Environment
    from plotly.offline import get_plotlyjs

    template = Environment(autoescape=True).from_string(Path(__file__).with_name("page.html").read_text("utf-8"))
    tasks = [
        {
            "name": task,
            "about": about[task],
            "rows": [_row(row) for row in tables.records(part)],
            "curves": json.dumps(curves_figure(part, curves[curves["task"] == task], styles[task])),
            "images": {
                name: base64.b64encode(data).decode() for name, data in images[task].items() if name != "regret"
            },
        }
        for task, part in summary.groupby("task", sort=False)
    ]
    return template.render(
        plotly_js=get_plotlyjs(),
        facts=facts,
        regrets=tables.REGRETS,
        pairing=tables.PAIRING,
        headings=["principal", "seeds", *tables.HEADINGS.values()],
        captions=figures.CAPTIONS,
        tasks=tasks,
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table: its kind, and for each cell the value to sort by (empty if unknown), its text, its interval."""
    cells = [(row["principal"], tables.name(row), ""), (row["seeds"], row["seeds"], "")]
    for score in tables.HEADINGS:
        text, _, interval = tables.with_interval(row, score).partition(" ")
        cells.append(("" if math.isnan(row[score]) else row[score], text, interval))
    return {"kind": "privileged" if row["privileged"] else "best" if row["best"] else "", "cells": cells}


def curves_figure(summary: pd.DataFrame, curves: pd.DataFrame, styles: Styles) -> dict[str, Any]:
    """R_t against t of one task as a plotly figure (data and layout): means, and bands for the best."""
    data: list[dict[str, Any]] = []
    for principal in summary["principal"]:
        own = curves[curves["principal"] == principal]
        t, mean, low, high = ([float(f"{x:.6g}") for x in own[c]] for c in ("rounds", "mean", "low", "high"))
        style, label = styles[principal], html.escape(principal).replace("$", "&#36;")
        shared = {"legendgroup": label, "name": label, "mode": "lines"}
        if style != REST and own["low"].notna().all():
            band = {"x": t + t[::-1], "y": high + low[::-1], "fill": "toself", "opacity": 0.15, "line": {"width": 0}}
            data.append(shared | band | {"fillcolor": style.colour, "hoverinfo": "skip", "showlegend": False})
        line = {"color": style.colour, "dash": DASHES[style.dash], "width": 1 if style == REST else 2}
        data.append(shared | {"x": t, "y": mean, "line": line, "hovertemplate": "t = %{x:,}: %{y:,.5g}"})
    # On logarithmic axes the view is that of the contenders: a privileged principal's regret can be 1e-9.
    contenders = curves[
        curves["principal"].isin(summary.loc[~summary["privileged"], "principal"]) & (curves["mean"] > 0)
    ]
    span = [math.log10(end) for end in contenders["mean"].agg(["min", "max"])] if len(contenders) else None
    views = {
        "linear axes": {"xaxis.type": "linear", "yaxis.type": "linear", "yaxis.autorange": True},
        "logarithmic axes": {"xaxis.type": "log", "yaxis.type": "log", "yaxis.range": span},
    }
    buttons = [{"label": label, "method": "relayout", "args": [view]} for label, view in views.items()]
    layout = {
        "xaxis": {"title": {"text": "rounds played t"}},
        "yaxis": {"title": {"text": "regret R_t"}},
        "updatemenus": [
            {"buttons": buttons, "type": "buttons", "direction": "right", "x": 0, "y": 1.15, "xanchor": "left"}
        ],
        "hovermode": "closest",
        "hoverlabel": {"namelength": -1},
        "margin": {"t": 50, "r": 20},
    }
    return {"data": data, "layout": layout}
