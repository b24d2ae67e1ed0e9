"""One HTML page of a benchmark that needs nothing but itself: sortable tables, curves to point at, figures.

Texts of users are escaped by the template, and labels once more for plotly, which reads tags and TeX in them.
"""

import base64
import gzip
import html
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from baselines.benchmark import figures, standings, tables
from baselines.benchmark.statistics import Row
from baselines.pictures import REST, Styles

DASHES = {"solid": "solid", "dashed": "dash", "dashdot": "dashdot", "dotted": "dot"}  # matplotlib's -> plotly's
CAPTIONS = {"overview": standings.OVERVIEW, "verdict": standings.VERDICT}


class Opening(NamedTuple):
    """The beginning of the page."""

    facts: Mapping[str, str]
    verdicts: pd.DataFrame
    heat_map: bytes
    """A PNG."""
    overview: standings.Overview


def page(
    opening: Opening,
    about: Mapping[str, str],
    summary: pd.DataFrame,
    lines: Mapping[str, Mapping[str, pd.DataFrame]],
    images: Mapping[str, Mapping[str, bytes]],
    styles: Styles,
) -> str:
    """The page.

    Args:
        opening: its beginning.
        about: a description of each task.
        summary: from :func:`baselines.benchmark.summaries.summarise`.
        lines: curves by task and score, "utility" per round and "regret".
        images: PNGs by task and name. Those of curves are shown until plotly has drawn them.
        styles: of the principals.
    """
    from jinja2 import Environment
    from plotly.offline import get_plotlyjs

    template = Environment(autoescape=True).from_string(Path(__file__).with_name("page.html").read_text("utf-8"))
    tasks = [
        {
            "name": task,
            "number": number,
            "about": about[task],
            "rows": [_row(row) for row in tables.records(part)],
            "curves": {
                "utility": json.dumps(utility_figure(part, lines[task]["utility"], styles)),
                "regret": json.dumps(regret_figure(part, lines[task]["regret"], styles)),
            },
            "images": {name: as_text(data) for name, data in images[task].items()},
        }
        for number, (task, part) in enumerate(summary.groupby("task", sort=False), start=1)
    ]
    return template.render(
        plotly=as_text(gzip.compress(get_plotlyjs().encode(), mtime=0)),  # a third of its size
        **opening._asdict() | {"heat_map": as_text(opening.heat_map), "verdicts": opening.verdicts.to_numpy().tolist()},
        verdict_headings=list(opening.verdicts.columns),
        regrets=tables.REGRETS,
        pairing=tables.PAIRING,
        headings=["principal", "seeds", *tables.HEADINGS.values()],
        captions=figures.CAPTIONS | CAPTIONS,
        only_privileged=standings.ONLY_PRIVILEGED,
        tasks=tasks,
    )


def as_text(data: bytes) -> str:
    """Base64."""
    return base64.b64encode(data).decode()


def _row(row: Row) -> dict[str, object]:
    """A row of a table: its kind, and for each cell the value to sort by (empty if unknown), its text, its interval."""
    cells = [(row["principal"], tables.name(row), ""), (row["seeds"], row["seeds"], "")]
    for score in tables.HEADINGS:
        text, _, interval = tables.with_interval(row, score).partition(" ")
        cells.append(("" if math.isnan(row[score]) else row[score], text, interval))
    best = row["utility_best"] or row["regret_best"]
    return {"kind": "privileged" if row["privileged"] else "best" if best else "", "cells": cells}


def utility_figure(summary: pd.DataFrame, curves: pd.DataFrame, styles: Styles) -> dict[str, object]:
    """Utility per round against t of one task as a plotly figure (data and layout)."""
    data, bands = _traces(summary, curves, styles)
    for i, ends in bands.items():
        data[i]["y"] = ends
    return {"data": data, "layout": _layout("utility per round", "linear")}


def _traces(
    summary: pd.DataFrame, curves: pd.DataFrame, styles: Styles
) -> tuple[list[dict[str, object]], dict[int, list[float]]]:
    """Lines, and bands for the best, without their heights: those come by their places among the traces."""
    data: list[dict[str, object]] = []
    bands: dict[int, list[float]] = {}
    for principal in summary["principal"]:
        line = curves[curves["principal"] == principal]
        t, mean, low, high = ([float(f"{x:.6g}") for x in line[c]] for c in ("rounds", "mean", "low", "high"))
        style, label = styles[principal], html.escape(principal).replace("$", "&#36;")
        shared = {"legendgroup": label, "name": label, "mode": "lines"}
        if style != REST and line["low"].notna().all():
            bands[len(data)] = high + low[::-1]
            band = {"x": t + t[::-1], "fill": "toself", "opacity": 0.15, "line": {"width": 0}}
            data.append(shared | band | {"fillcolor": style.color, "hoverinfo": "skip", "showlegend": False})
        look = {"color": style.color, "dash": DASHES[style.linestyle], "width": 1 if style == REST else 2}
        data.append(shared | {"x": t, "y": mean, "line": look, "hovertemplate": "t = %{x:,}: %{y:,.5g}"})
    return data, bands


def _layout(score: str, kind: str, span: list[float] | None = None) -> dict[str, object]:
    """The layout of curves against t, which has a logarithmic axis; that of the score is of a ``kind``, over a span."""
    return {
        "xaxis": {"type": "log", "title": {"text": "rounds played t"}},
        "yaxis": {"type": kind, "title": {"text": score}} | ({"range": span} if span else {}),
        "legend": {"tracegroupgap": 0, "orientation": "h", "y": -0.2},
        "hovermode": "closest",
        "hoverlabel": {"namelength": -1},
        "margin": {"t": 50, "r": 20, "l": 60},
    }


def regret_figure(summary: pd.DataFrame, curves: pd.DataFrame, styles: Styles) -> dict[str, object]:
    """R_t against t of one task as a plotly figure (data and layout), with buttons for its axes."""
    data, bands = _traces(summary, curves, styles)
    span = _logarithmic_span(summary, curves)
    # Plotly leaves out what is not positive there, and a band would become spikes: it ends below the view instead.
    floor = 10 ** (span[0] - 1) if span else 1.0
    raised = {i: [y if y > 0 else floor for y in band] for i, band in bands.items()}
    start = int(span is not None)
    views = (
        ("linear axes", bands, {"xaxis.type": "linear", "yaxis.type": "linear", "yaxis.autorange": True}),
        ("logarithmic axes", raised, {"xaxis.type": "log", "yaxis.type": "log", "yaxis.range": span}),
    )
    buttons = [
        {"label": label, "method": "update", "args": [{"y": list(ends.values())} if ends else {}, view, list(ends)]}
        for label, ends, view in views
    ]
    for i, ends in views[start][1].items():
        data[i]["y"] = ends
    layout = _layout("regret R_t", "log" if start else "linear", span)
    place = {"type": "buttons", "direction": "right", "x": 0, "y": 1.15, "xanchor": "left"}
    layout["updatemenus"] = [{"buttons": buttons, "active": start, **place}]
    return {"data": data, "layout": layout}


def _logarithmic_span(summary: pd.DataFrame, curves: pd.DataFrame) -> list[float] | None:
    """The range of logarithmic axes: the contenders, since a privileged one's regret can be 1e-9; None if nothing."""
    contenders = summary.loc[~summary["privileged"], "principal"]
    means = curves.loc[curves["principal"].isin(contenders) & (curves["mean"] > 0), "mean"]
    if means.empty:
        return None
    low, high = math.log10(means.min()), math.log10(means.max())
    margin = 0.05 * (high - low) + 0.05
    return [low - margin, high + margin]
