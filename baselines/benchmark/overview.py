"""One table of all principals in all tasks: R_T and utility, a row for each principal, a column for each task."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd
from rich.table import Column, Table
from rich.text import Text

from baselines.benchmark import summaries, tables
from baselines.benchmark.formatting import number
from baselines.benchmark.results import Results

CAPTION = (
    "R_T of every principal in every task, with a 95% interval, and after the stroke its utility. The least R_T of a"
    " task is marked. Principals with the best mean place come first."
)
LONGEST_NAME = 40  # letters in a line, in the terminal


class Entry(NamedTuple):
    """A principal in a task."""

    regret: float = math.nan
    text: str = ""  # empty if it was not to play there
    interval: str = ""
    utility: str = ""
    best: bool = False


class Overview(NamedTuple):
    """The table."""

    agents: dict[str, str]
    """The agent of each task."""
    rows: dict[str, list[Entry]]
    """For each principal, marked if it is privileged, an entry for each task; in the order of merit."""


def overview(results: Results, summary: pd.DataFrame) -> Overview:
    """The table of the results, of which ``summary`` is from :func:`baselines.benchmark.summaries.summarise`."""
    entries = {key: Entry(text="failed") for key in results.failures}
    for row in tables.records(summary):
        text, _, interval = tables.with_interval(row, "regret").partition(" ")
        found = Entry(row["regret"], text, interval, number(row["utility"]), row["best"])
        entries[row["task"], row["principal"]] = found
    tasks = {task for task, _ in entries}
    known = results.rows.drop_duplicates("task").set_index("task")["agent"]
    agents = {task: known.get(task, "no results") for task in results.manifest["tasks"] if task in tasks}
    rows = {}
    for name in dict.fromkeys([*summaries.merit(summary), *(failed for _, failed in results.failures)]):
        marked = f"{name} (privileged)" if summaries.privileged(name) else name
        rows[marked] = [entries.get((task, name), Entry()) for task in agents]
    return Overview(agents, rows)


def markdown(made: Overview) -> str:
    """The table in Markdown, the best in bold."""
    rows = [[name, *map(_cell, row)] for name, row in made.rows.items()]
    heads = [f"{task}, {agent}" for task, agent in made.agents.items()]
    return tables.markdown(pd.DataFrame(rows, columns=["principal", *heads]))


def _cell(entry: Entry) -> str:
    mean = f"**{entry.text}**" if entry.best else entry.text
    return " ".join(filter(None, [mean, entry.interval, entry.utility and f"/ {entry.utility}"]))


def for_terminal(made: Overview, width: int) -> Iterator[Table]:
    """The table without intervals, the best with a star; cut into tables of as many tasks as fit the width."""
    free = width - min(max(map(len, made.rows)), LONGEST_NAME) - 4
    blocks: list[list[tuple[str, list[str]]]] = []
    used = width
    for place, (task, agent) in enumerate(made.agents.items()):
        head = [*task.split("-"), *(() if agent in task else agent.split("-"))]
        entries = [row[place] for row in made.rows.values()]
        cells = [f"{each.text}{' *'[each.best]}/ {each.utility}" if each.utility else each.text for each in entries]
        needed = max(map(len, [*head, *cells])) + 3
        if used + needed > free:
            blocks.append([])
            used = 0
        blocks[-1].append(("\n".join(head), cells))
        used += needed
    for block in blocks:
        columns = [Column(Text(head), justify="right") for head, _ in block]
        table = Table(
            Column("principal", max_width=LONGEST_NAME, overflow="fold"),
            *columns,
            title="R_T / utility, * the least R_T",
        )
        for name, *texts in zip(made.rows, *(cells for _, cells in block), strict=True):
            if any(texts):
                table.add_row(Text(name), *texts)
        yield table
