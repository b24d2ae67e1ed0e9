"""The results in a folder that ``pa-bench run`` wrote, as one table."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa

from baselines.benchmark.specs import label
from baselines.benchmark.store import FORMAT, Store, StoreError, read_cell


class Results(NamedTuple):
    """What a folder holds."""

    manifest: dict[str, Any]
    """benchmark.json."""
    rows: pd.DataFrame
    """A row for each cell and checkpoint (:func:`baselines.benchmark.cells.schema`), principals by their labels."""
    failures: int
    """Cells that failed; they are not among the rows."""


def read(directory: Path) -> Results:
    """Everything in the folder; tasks and principals come in the order in which they were first asked for."""
    files = sorted((directory / "cells").glob("[!.]*.parquet"))
    if not files:
        raise StoreError(f"{directory} has no results: name a folder that `pa-bench run` wrote")
    cells = [read_cell(file) for file in files]
    seen: dict[tuple[Any, ...], Path] = {}
    for file, cell in zip(files, cells, strict=True):
        key = tuple(cell[column][0].as_py() for column in ("task", "principal", "seed"))
        if key in seen:
            raise StoreError(f"{file} holds the same cell as {seen[key]}: delete the one that does not belong there")
        seen[key] = file
    path = Store(directory).manifest
    try:
        manifest = json.loads(path.read_text())
        if manifest["format"] != FORMAT:
            raise StoreError(f"{directory} has results of format {manifest['format']}, and this is {FORMAT}")  # noqa: TRY301
        missing = [name for name in ("version", "python", "numpy", "numba", "commands") if name not in manifest]
        if missing:
            raise KeyError(missing[0])  # noqa: TRY301
        place = {name: i for part in ("tasks", "principals") for i, name in enumerate(manifest[part])}
        cells.sort(key=lambda cell: [place[cell[column][0].as_py()] for column in ("task", "principal")])
    except StoreError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is damaged ({error!r}): run the benchmark into a new folder") from error
    failures = len(list((directory / "failures").glob("*.txt")))
    rows = pa.concat_tables(cells).to_pandas()
    rows["principal"] = rows["principal"].map({spec: label(spec) for spec in manifest["principals"]})
    return Results(manifest, rows, failures)
