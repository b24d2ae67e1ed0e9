"""A cell: one principal in one task on one seed, played once; its result is a small table, a row a checkpoint.

Every principal meets the same seeds, so the same instances and rewards.
"""

import functools
import hashlib
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baselines.benchmark.specs import make_principal
from baselines.protocol import Principal
from baselines.simulation import episode
from baselines.tasks import Task
from pa_env.checks import UNBOUNDED
from pa_env.game import Game
from pa_env.layout import SCORES

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_NAME = 80  # of a principal in a file's name


@dataclass(frozen=True)
class Cell:
    """A principal (its spec) in a task on a seed."""

    task: Task
    principal: str
    seed: int

    @property
    def id(self) -> str:
        """A name for files: readable, and no other cell's."""
        return f"{self.task.name}--{file_name(self.principal)}--{self.seed}"

    def begin(self, files: Mapping[str, Path] | None = None) -> tuple[Principal, Game]:
        """The game at its beginning and the principal made for it; ``files`` as in :func:`make_principal`."""
        task = self.task
        game = Game(task.n_arms, task.horizon, task.make_agent(), task.instance, UNBOUNDED, task.dim, observe=False)
        game.begin(seeds=[self.seed])
        arms = game.features[0] if task.dim else None
        return make_principal(self.principal, task.n_arms, task.horizon, arms, files), game

    def labels(self) -> dict[str, Any]:
        """The columns that are the same in every row."""
        task = self.task
        return {
            "task": task.name,
            "version": task.version,
            "principal": self.principal,
            "agent": task.agent,
            "c0": task.c0,
            "instance": task.instance,
            "n_arms": task.n_arms,
            "dim": task.dim or 0,
            "horizon": task.horizon,
            "seed": self.seed,
        }


def file_name(principal: str) -> str:
    """A spec as part of a file's name; told apart by a hash where it must be changed."""
    readable = re.sub(r"[^\w.,=+-]", "_", principal, flags=re.ASCII)[-LONGEST_NAME:]
    return readable if readable == principal else f"{readable}~{hashlib.sha256(principal.encode()).hexdigest()[:8]}"


class Result(NamedTuple):
    """What came of a cell: the bytes of its file, or the traceback of its failure."""

    cell: Cell
    data: bytes | None
    failure: str | None = None


def attempt(cell: Cell, files: Mapping[str, Path] | None = None) -> Result:
    """Play a cell; whatever its principal raises is its own failure."""
    try:
        return Result(cell, as_parquet(play(cell, files)))
    except BaseException:  # Ctrl-C does not come here: engines keep it from those who play
        return Result(cell, None, traceback.format_exc())


UNDEFINED = ("regret_response", "regret_fixed")  # scores that are NaN against some agents


def play(cell: Cell, files: Mapping[str, Path] | None = None) -> "pa.Table":
    """The run of a cell, a row for each checkpoint."""
    import pyarrow as pa

    principal, game = cell.begin(files)
    run = episode(principal, game, cell.task.checkpoints)
    for name, sums in run.scores.items():
        if not np.isfinite(sums).all() and name not in UNDEFINED:
            raise ValueError(f"{name} is not finite: the incentives that were offered are too large to be summed")
    rows = run.checkpoints.size
    columns = {name: pa.repeat(value, rows) for name, value in cell.labels().items()}
    columns["rounds"] = run.checkpoints
    columns |= run.scores | {"misses": run.misses}
    starts = pa.array(range(0, rows * game.n_arms + 1, game.n_arms), pa.int32())
    for name in ("plays", "offers", "optimal_incentives"):
        columns[name] = pa.ListArray.from_arrays(starts, getattr(run, name).ravel())
    return pa.table(columns, schema=schema())


@functools.cache
def schema() -> "pa.Schema":
    """Columns and types of a cell's table."""
    import pyarrow as pa

    text, integer, number = pa.string(), pa.int64(), pa.float64()
    return pa.schema(
        {
            **{"task": text, "version": integer, "principal": text, "agent": text, "c0": number, "instance": text},
            **dict.fromkeys(("n_arms", "dim", "horizon", "seed", "rounds"), integer),
            **dict.fromkeys(SCORES, number),
            "misses": integer,
            **{"plays": pa.list_(integer), "offers": pa.list_(number), "optimal_incentives": pa.list_(number)},
        }
    )


def as_parquet(table: "pa.Table") -> bytes:
    """The bytes of a table's file: the same for the same table; with checksums, so that damage shows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="none", write_statistics=False, write_page_checksum=True)
    data: bytes = sink.getvalue().to_pybytes()
    return data
