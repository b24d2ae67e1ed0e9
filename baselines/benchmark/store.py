"""Where results are kept: a folder to which cells are added, each whole or not at all.

- ``benchmark.json``: the format, the versions of code and libraries, the commands, tasks, principals and seeds;
- ``cells/*.parquet``: a file a cell (``pandas.read_parquet(folder / "cells")`` opens them all);
- ``failures/*.txt``: the traceback of each cell that failed; such a cell is played again by the next command;
- ``lock``: held by the one command that may write; it is let go when that command ends, however it ends.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from baselines.benchmark import manifest
from baselines.benchmark.cells import Cell, Result, file_name, schema
from baselines.benchmark.specs import fingerprint
from baselines.files import HALF_WRITTEN, StoreError, only_writer, remove_half_written, write_whole

if TYPE_CHECKING:
    import pyarrow as pa


class Store:
    """The results in a folder. Only the holder of :func:`locked` may write to it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.manifest = directory / "benchmark.json"

    def cell(self, cell: Cell) -> Path:
        """The file of a cell."""
        return self.directory / "cells" / f"{cell.id}.parquet"

    def failure(self, cell: Cell) -> Path:
        """The file of its traceback, if it failed."""
        return self.directory / "failures" / f"{cell.id}.txt"

    def keep(self, result: Result) -> None:
        """Write what came of a cell."""
        failure = self.failure(result.cell)
        if result.data is None:
            write_whole(failure, str(result.failure).encode(errors="backslashreplace"))
        else:
            write_whole(self.cell(result.cell), result.data)
            failure.unlink(missing_ok=True)

    def has(self, cell: Cell) -> bool:
        """Whether the cell is there; raises if its file is not what was written."""
        path = self.cell(cell)
        if not path.exists():
            return False
        table = read_cell(path)
        if table["rounds"].to_pylist() != cell.task.checkpoints.tolist():
            raise _damaged(path, "its rows are not the checkpoints of its task")
        for name, value in cell.labels().items():
            if table[name].unique().to_pylist() != [value]:
                raise _damaged(path, f"its {name} is not {value!r}")
        return True

    def done(self, cell: Cell) -> bool:
        """Whether the cell is there; if so, nothing is left of an earlier failure, though ``keep`` was killed."""
        there = self.has(cell)
        if there:
            self.failure(cell).unlink(missing_ok=True)
        return there

    def enter(self, cells: Iterable[Cell], command: str) -> None:
        """Note what is about to be played; refuse if results of other versions are there."""
        noted = manifest.to_add_to(self.manifest)
        known = json.dumps(noted)
        if command not in noted["commands"]:
            noted["commands"].append(command)
        for cell in cells:
            task = noted["tasks"].setdefault(cell.task.name, {"version": cell.task.version, "seeds": 0})
            if task["version"] != cell.task.version:
                raise manifest.other(
                    self.manifest, f"version {task['version']} of task {cell.task.name}", cell.task.version
                )
            task["seeds"] = max(task["seeds"], cell.seed + 1)
        for spec in {cell.principal: None for cell in cells}:
            now = fingerprint(spec)
            if noted["principals"].setdefault(spec, now) != now:
                kept = next(self.directory.glob(f"cells/*--{file_name(spec)}--*.parquet"), None)
                if kept is not None:
                    raise StoreError(
                        f"{kept} was played before the file of {spec} was changed:"
                        " name a new folder by --out, or delete the cells of this principal"
                    )
                noted["principals"][spec] = now
        if json.dumps(noted) != known:
            write_whole(self.manifest, (json.dumps(noted, indent=2) + "\n").encode())
        for folder in ("cells", "failures"):
            (self.directory / folder).mkdir(exist_ok=True)


def read_cell(path: Path) -> "pa.Table":
    """The table in a cell's file; raises if it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError, ValueError) as error:  # a name of a column may not be UTF-8
        raise _damaged(path, str(error)) from error
    if not table.num_rows or not table.schema.equals(schema()):
        raise _damaged(path, "it has other columns than a cell, or no rows")
    return table


@contextmanager
def locked(directory: Path) -> Iterator[Store]:
    """The store in a folder, made if need be, for this command alone."""
    store = Store(directory)
    if directory.is_dir() and not store.manifest.exists():
        for path in set(directory.iterdir()) - {directory / "lock", *directory.glob(HALF_WRITTEN)}:
            raise StoreError(
                f"{directory} has other things in it ({path.name}, ...) and no benchmark.json:"
                " name a new or empty folder by --out"
            )
    with only_writer(directory, directory / "lock"):
        remove_half_written(directory, directory / "cells", directory / "failures")
        yield store


MARK = "<!-- Generated by `pa-bench {}`: edits will be lost. -->"


def write_generated(path: Path, command: str, text: str) -> None:
    """Write a Markdown file whole; one that is there and was not generated by this command is left alone."""
    mark = MARK.format(command)
    if path.exists() and not path.read_text("utf-8", errors="replace").startswith(mark):
        raise FileExistsError(f"{str(path)!r} is there, and was not generated: name another file, or delete it")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f"{mark}\n\n{text}".encode())


def _damaged(path: Path, how: str) -> StoreError:
    return StoreError(f"{path} is damaged ({how}): delete this file and run the same command again")
