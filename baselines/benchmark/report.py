"""A report of a benchmark's results: tables, figures, and one page, in ``DIR/report``.

``load`` sums the results up, ``build`` writes all of it, ``show`` prints the tables to the terminal, ``render`` gives
one of them as text.
"""

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from baselines.benchmark import standings, summaries, tables
from baselines.benchmark.blocks import file_name
from baselines.benchmark.results import Results, listed, read
from baselines.files import refuse_links, write_whole
from pa_env.checks import known
from pa_env.instances import FAMILIES

if TYPE_CHECKING:
    from baselines.pictures import Styles

    Job = tuple[pd.DataFrame, dict[str, pd.DataFrame], pd.DataFrame | None, pd.DataFrame, Styles]

FEW_TASKS = 4
MAPS = {"utility lost to the best": "utility", "$R_T$": "regret"}  # panels of the heat map, by title
FORMATS = ("csv", "json", "markdown", "latex")


class Report(NamedTuple):
    """Results, and their summary."""

    directory: Path
    results: Results
    summary: pd.DataFrame


def load(directory: Path) -> Report:
    """Read and sum up the results in a folder."""
    results = read(directory)
    return Report(directory, results, summaries.summarise(results.rows))


def render(directory: Path, format: str) -> str:
    """The table as text: all columns and digits in "csv" and "json", readable in "markdown" and "latex"."""
    known("format", format, FORMATS)
    return as_text(load(directory).summary, format)


def as_text(summary: pd.DataFrame, format: str) -> str:
    """The text that :func:`render` returns, of a summary."""
    if format == "csv":
        return str(summary.to_csv(index=False))
    if format == "json":
        return f"{summary.to_json(orient='records', indent=2)}\n"
    return tables.latex(summary) if format == "latex" else f"{tables.markdown(tables.readable(summary))}\n"


def build(report: Report) -> Path:
    """Write ``report/`` in its folder and return the path of its page.

    It has table.csv, table.md, table.tex, index.html, and each figure as PNG, SVG and PDF.
    """
    from baselines.benchmark.figures import heat_map, losses_per_round
    from baselines.benchmark.page import Opening, page
    from baselines.pictures import as_files, styles

    directory, results, summary = report
    folder = directory / "report"
    refuse_links(folder, folder / "figures")
    curves, earned = summaries.curves(results.rows), summaries.curves(results.rows, "utility")
    ends = ["mean", "low", "high"]
    earned[ends] = earned[ends].div(earned["rounds"], axis=0)  # per round: sums would be straight lines
    chosen = styles(summary)
    about, jobs = {}, {}
    for task, rows in results.rows.groupby("task", sort=False):
        arms, part = results.arms[task], summary[summary["task"] == task]
        lines = {name: of[of["task"] == task] for name, of in {"utility": earned, "regret": curves}.items()}
        about[task] = tables.about(task, rows)
        built_in = results.manifest["tasks"][task]["instance"] in FAMILIES  # a report runs no code of users
        plays = summaries.plays_by_rank(rows, arms) if built_in else None
        jobs[task] = part, lines, plays, summaries.payments(rows, arms), chosen
    pictures = dict(zip(jobs, _draw_all(list(jobs.values())), strict=True))
    panels = {title: losses_per_round(summary, score) for title, score in MAPS.items()}
    whole = as_files(heat_map(panels, "Principals by tasks"))
    named = {"heat-map": whole} | {
        f"{file_name(task)}-{name}": pictures[task][name] for task in pictures for name in pictures[task]
    }
    files = {f"figures/{name}.{suffix}": named[name][suffix] for name in named for suffix in named[name]}
    overview, verdicts = standings.overview(results, summary), standings.verdict_table(summary)
    text = [standings.VERDICT, tables.markdown(verdicts), standings.OVERVIEW, standings.overview_markdown(overview)]
    files["table.csv"] = as_text(summary, "csv").encode()
    files["table.md"] = "\n\n".join([*text, tables.PAIRING, as_text(summary, "markdown")]).encode()
    files["table.tex"] = as_text(summary, "latex").encode()
    opening = Opening(tables.facts(results), verdicts, whole["png"], overview)
    images = {task: {name: files["png"] for name, files in of_task.items()} for task, of_task in pictures.items()}
    lines = {task: job[1] for task, job in jobs.items()}
    files["index.html"] = page(opening, about, summary, lines, images, chosen).encode()
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        write_whole(folder / name, data)
    return folder / "index.html"


def _draw_all(jobs: "list[Job]") -> Iterator[dict[str, dict[str, bytes]]]:
    """The figures of each task as files, by name and format; those of many are drawn by a process for each core."""
    from rich.progress import track

    with ExitStack() as stack:
        pictures: Iterator[dict[str, dict[str, bytes]]] = (_draw(*job) for job in jobs)
        if len(jobs) > FEW_TASKS:
            pool = ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))
            pictures = stack.enter_context(pool).map(_draw, *zip(*jobs, strict=True))
        yield from track(pictures, "figures", len(jobs), transient=True)


def _draw(
    part: pd.DataFrame,
    lines: dict[str, pd.DataFrame],
    shares: pd.DataFrame | None,
    paid: pd.DataFrame,
    chosen: "Styles",
) -> dict[str, dict[str, bytes]]:
    """The figures of a task as files, by name and format."""
    from baselines.benchmark import figures
    from baselines.pictures import as_files

    pictures = {}
    if lines["regret"]["rounds"].nunique() > 1:
        pictures["utility"] = figures.utility(part, lines["utility"], chosen)
        pictures["regret"] = figures.regret(part, lines["regret"], chosen)
    if shares is not None:
        pictures["plays"] = figures.plays(part, shares)
    pictures["offers"] = figures.offers(part, paid, chosen)
    return {name: as_files(figure) for name, figure in pictures.items()}


def show(report: Report) -> None:
    """Print a table for each task and one of all of them to the terminal; the other regrets are in the report."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # plain: labels are not markup

    directory, results, summary = report
    console = Console()
    of_task = dict(list(results.rows.groupby("task", sort=False)))
    for task, part in summary.groupby("task", sort=False):
        table = Table(title=Text(task), caption=Text(tables.about(task, of_task[task])))
        table.add_column("principal", overflow="fold")
        for score in tables.COMPARED:
            table.add_column(tables.HEADINGS[score], justify="right", overflow="fold")
        for row in tables.records(part):
            table.add_row(Text(tables.name(row)), *(tables.with_interval(row, score) for score in tables.COMPARED))
        console.print(table)
    console.print(Text(tables.PAIRING))
    for table in standings.for_terminal(standings.overview(results, summary), console.width):
        console.print(table)
    for task, text in standings.verdicts(summary).items():
        console.print(Text(f"{task}: {text}"))
    if results.failures:
        console.print(Text(f"Failed blocks: {listed(results.failures)}. Why is in {directory / 'failures'}."))
