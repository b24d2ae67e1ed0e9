"""One table of all principals in all tasks: a row for each principal, a column for each task with its agent, R_T."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
from rich.table import Column, Table
from rich.text import Text

from baselines.benchmark import statistics, tables
from baselines.benchmark.results import Results

CAPTION = "R_T of every principal in every task, ± half the width of a 95% interval; the best of a task is marked."
LONGEST_NAME = 40  # letters in a line, in the terminal


class Entry(NamedTuple):
    """A principal in a task."""

    regret: float = math.nan
    text: str = ""  # empty if it was not to play there
    half_width: str = ""
    best: bool = False


class Overview(NamedTuple):
    """The table."""

    agents: dict[str, str]
    """The agent of each task."""
    rows: dict[str, list[Entry]]
    """For each principal, marked if it is privileged, an entry for each task; in the order they were asked for."""


def overview(results: Results, summary: pd.DataFrame) -> Overview:
    """The table of the results, of which ``summary`` is from :func:`baselines.benchmark.statistics.summary`."""
    entries = {key: Entry(text="failed") for key in results.failures}
    for row in tables.records(summary):
        text, _, half = tables.with_half_width(row, "regret").partition(" ")
        entries[row["task"], row["principal"]] = Entry(row["regret"], text, half, row["best"])
    tasks, principals = ({key[i] for key in entries} for i in range(2))
    known = results.rows.drop_duplicates("task").set_index("task")["agent"]
    agents = {task: known.get(task, "no results") for task in results.manifest["tasks"] if task in tasks}
    rows = {}
    for name in filter(principals.__contains__, results.labels.values()):
        marked = f"{name} (privileged)" if statistics.privileged(name) else name
        rows[marked] = [entries.get((task, name), Entry()) for task in agents]
    return Overview(agents, rows)


def markdown(made: Overview) -> str:
    """The table in Markdown, the best in bold."""
    rows = []
    for name, row in made.rows.items():
        means = [f"**{entry.text}**" if entry.best else entry.text for entry in row]
        rows.append([name, *(f"{mean} {entry.half_width}".strip() for mean, entry in zip(means, row, strict=True))])
    heads = [f"{task}, {agent}" for task, agent in made.agents.items()]
    return tables.markdown(pd.DataFrame(rows, columns=["principal", *heads]))


def for_terminal(made: Overview, width: int) -> Iterator[Table]:
    """The table without the half-widths, the best with a star; cut into tables of as many tasks as fit the width."""
    free = width - min(max(map(len, made.rows)), LONGEST_NAME) - 4
    blocks: list[list[tuple[str, list[str]]]] = []
    used = width
    for place, (task, agent) in enumerate(made.agents.items()):
        head = [*task.split("-"), *(() if agent in task else agent.split("-"))]
        cells = [row[place].text and row[place].text + " *"[row[place].best] for row in made.rows.values()]
        needed = max(map(len, [*head, *cells])) + 3
        if used + needed > free:
            blocks.append([])
            used = 0
        blocks[-1].append(("\n".join(head), cells))
        used += needed
    for block in blocks:
        columns = [Column(Text(head), justify="right") for head, _ in block]
        table = Table(Column("principal", max_width=LONGEST_NAME, overflow="fold"), *columns, title="R_T, * the best")
        for name, *texts in zip(made.rows, *(cells for _, cells in block), strict=True):
            if any(texts):
                table.add_row(Text(name), *texts)
        yield table
