"""The results in a folder that ``pa-bench run`` wrote, as one table."""

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from baselines.benchmark import manifest
from baselines.benchmark.blocks import LABELS, OF_ARMS, file_name
from baselines.benchmark.store import Store, read_block
from baselines.files import StoreError
from baselines.text import plain
from pa_env.kernel.layout import Floats, Integers


class Results(NamedTuple):
    """The contents of a folder."""

    manifest: manifest.Notes
    """benchmark.json."""
    rows: pd.DataFrame
    """A row for each task, principal (its label), seed and checkpoint: :func:`baselines.benchmark.blocks.schema`."""
    arms: dict[str, dict[str, Floats | Integers]]
    """For each task, the columns with a number for each arm: (its rows, n_arms)."""
    failures: Counter[tuple[str, str]]
    """Number of failed blocks of a task and a principal (its label); they are not among the rows."""

    @property
    def labels(self) -> dict[str, str]:
        """The label of each principal, by its spec."""
        return {spec: entry["label"] for spec, entry in self.manifest["principals"].items()}


def read(directory: Path) -> Results:
    """Read everything in the folder, with texts as they may be shown (:func:`baselines.text.plain`).

    Tasks and principals come in the order in which they were first asked for.
    """
    path = Store(directory).manifest
    files = sorted((directory / "blocks").glob("[!.]*.parquet"))  # first: a run notes a block before it writes it
    try:
        notes = manifest.read(path)
    except FileNotFoundError:
        raise StoreError(
            f"{directory} has no results (no benchmark.json): name a folder that `pa-bench run` wrote"
        ) from None
    _check_names(path, notes)
    failures = _failures(directory, notes)
    if not files:
        why = f"its blocks failed ({listed(failures)}), see {directory / 'failures'}" if failures else "none was played"
        raise StoreError(f"{directory} has no results: {why}; `pa-bench run` plays what is missing")
    place = {name: i for part in ("tasks", "principals") for i, name in enumerate(notes[part])}
    blocks = []
    for file in files:
        table = read_block(file)
        task, principal, seed = (table[name][0].as_py() for name in ("task", "principal", "seed"))
        if file.stem != f"{file_name(task)}--{file_name(principal)}--{seed}":
            raise StoreError(f"{file} holds another block than its name says: delete it")
        if task not in notes["tasks"] or principal not in notes["principals"]:
            raise StoreError(f"{file} is not noted in {path}: delete it, if it does not belong there")
        blocks.append((place[task], place[principal], seed, table))
    blocks.sort(key=lambda block: block[:3])
    arms = {}
    for i, task in enumerate(notes["tasks"]):
        tables = [table for of, _, _, table in blocks if of == i]
        if tables:
            arms[plain(task)] = {name: _square(pa.concat_tables(tables)[name]) for name in OF_ARMS}
    rows = pa.concat_tables(table for *_, table in blocks).drop_columns(list(OF_ARMS)).to_pandas()
    named = [notes["principals"], *(task["own"] for task in notes["tasks"].values())]
    labels = {spec: entry["label"] for entries in named for spec, entry in entries.items()}
    for column in LABELS:
        rows[column] = rows[column].map({spec: plain(labels.get(spec, spec)) for spec in rows[column].unique()})
    return Results(_plain(notes), rows, arms, failures)


def _check_names(path: Path, notes: manifest.Notes) -> None:
    """Raise if two tasks, or two principals, would be shown under the same name."""
    labels = [entry["label"] for entry in notes["principals"].values()]
    for names in (list(notes["tasks"]), labels):
        alike = [name for name, count in Counter(map(plain, names)).items() if count > 1]
        if alike:
            raise StoreError(f"{path} is damaged: it has two tasks or two principals of the name {alike[0]}")


def _plain(notes: Any) -> Any:
    """Return the content of benchmark.json with all texts and names as they are shown."""
    if isinstance(notes, dict):
        return {plain(name): _plain(value) for name, value in notes.items()}
    if isinstance(notes, list):
        return [_plain(value) for value in notes]
    return plain(notes) if isinstance(notes, str) else notes


def _square(lists: pa.ChunkedArray) -> Floats | Integers:
    """Lists of the same length as rows."""
    flat: Floats | Integers = np.concatenate([chunk.flatten().to_numpy() for chunk in lists.chunks])
    return flat.reshape(len(lists), -1)


def listed(failures: Counter[tuple[str, str]]) -> str:
    """The principals and tasks of failures, and how many there were."""
    return ", ".join(f"{principal} in {task}: {count}" for (task, principal), count in failures.items())


def _failures(directory: Path, notes: manifest.Notes) -> Counter[tuple[str, str]]:
    """Count failures by the names of their files; a block that is there has not failed, whatever was left behind."""
    whose = {
        f"{file_name(task)}--{file_name(spec)}": (plain(task), plain(entry["label"]))
        for task in notes["tasks"]
        for spec, entry in notes["principals"].items()
    }
    failed = sorted(path.stem for path in (directory / "failures").glob("[!.]*.txt"))
    there = {path.stem for path in (directory / "blocks").glob("[!.]*.parquet")}
    named = [name.rpartition("--")[0] for name in failed if name not in there]
    return Counter(whose[name] for name in named if name in whose)
