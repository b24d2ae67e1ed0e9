"""The results in a folder that ``pa-bench run`` wrote, as one table."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from baselines.benchmark import manifest
from baselines.benchmark.cells import file_name
from baselines.benchmark.specs import label
from baselines.benchmark.store import Store, read_cell
from baselines.files import StoreError


class Results(NamedTuple):
    """What a folder holds."""

    manifest: dict[str, Any]
    """benchmark.json."""
    rows: pd.DataFrame
    """A row for each cell and checkpoint (:func:`baselines.benchmark.cells.schema`), principals by their labels."""
    failures: Counter[tuple[str, str]]
    """How many cells of a task and a principal (its label) failed; they are not among the rows."""


def read(directory: Path) -> Results:
    """Everything in the folder; tasks and principals come in the order in which they were first asked for."""
    path = Store(directory).manifest
    try:
        noted = manifest.read(path)
    except FileNotFoundError:
        raise StoreError(
            f"{directory} has no results (no benchmark.json): name a folder that `pa-bench run` wrote"
        ) from None
    failures = _failures(directory, noted)
    files = sorted((directory / "cells").glob("[!.]*.parquet"))
    if not files:
        why = f"its cells failed ({listed(failures)}), see {directory / 'failures'}" if failures else "none was played"
        raise StoreError(f"{directory} has no results: {why}; `pa-bench run` plays what is missing")
    cells = [read_cell(file) for file in files]
    seen: dict[tuple[Any, ...], Path] = {}
    for file, cell in zip(files, cells, strict=True):
        key = tuple(cell[column][0].as_py() for column in ("task", "principal", "seed"))
        if key in seen:
            raise StoreError(f"{file} holds the same cell as {seen[key]}: delete the one that does not belong there")
        if key[0] not in noted["tasks"] or key[1] not in noted["principals"]:
            raise StoreError(f"{file} is not noted in {path}: delete it, if it does not belong there")
        seen[key] = file
    place = {name: i for part in ("tasks", "principals") for i, name in enumerate(noted[part])}
    cells.sort(key=lambda cell: [place[cell[column][0].as_py()] for column in ("task", "principal")])
    rows = pa.concat_tables(cells).to_pandas()
    rows["principal"] = rows["principal"].map({spec: label(spec) for spec in noted["principals"]})
    return Results(noted, rows, failures)


def listed(failures: Counter[tuple[str, str]]) -> str:
    """Who failed where, and how often."""
    return ", ".join(f"{principal} in {task}: {count}" for (task, principal), count in failures.items())


def _failures(directory: Path, noted: dict[str, Any]) -> Counter[tuple[str, str]]:
    """Counted by the names of their files; a cell that is there has not failed, whatever was left behind."""
    whose = {
        f"{task}--{file_name(spec)}": (task, label(spec)) for task in noted["tasks"] for spec in noted["principals"]
    }
    failed = sorted(path.stem for path in (directory / "failures").glob("[!.]*.txt"))
    there = {path.stem for path in (directory / "cells").glob("[!.]*.parquet")}
    named = [name.rpartition("--")[0] for name in failed if name not in there]
    return Counter(whose[name] for name in named if name in whose)
