"""A block: one principal in one task on a range of seeds. Its table has a row for each seed and checkpoint.

All principals play the same seeds, and so the same instances and rewards. The blocks of a task have the same seeds for
every principal. At any horizon a block has about as many rounds, which take about a second.
"""

import functools
import hashlib
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.registry import resolve, resolve_agent, resolve_instance
from baselines.simulation import Episodes
from baselines.specs import Files, is_user_code
from baselines.tasks import Task
from pa_env.game import Game
from pa_env.kernel.layout import NOT_ALWAYS, SCORES

if TYPE_CHECKING:
    import pyarrow as pa

ROUNDS = 2**18  # of a block, at most, unless one episode alone has more
LONGEST_NAME = 80  # of a task or a principal in a file's name
LABELS = ("task", "principal", "agent", "instance")
OF_ARMS = ("plays", "offers", "optimal_incentives")  # columns with a list of n_arms


@dataclass(frozen=True)
class Block:
    """A principal (its spec) in a task on the seeds ``first``, ..., ``first + count - 1``."""

    task: Task
    principal: str
    first: int
    count: int
    trace: Path | None = None  # file for a trace of every round; None: no trace

    @property
    def id(self) -> str:
        """A readable name for its files; it does not depend on how many of its seeds are played."""
        return f"{file_name(self.task.name)}--{file_name(self.principal)}--{self.first}"

    @property
    def seeds(self) -> range:
        """The seeds."""
        return range(self.first, self.first + self.count)

    @property
    def own(self) -> tuple[str, ...]:
        """If it runs users' own code: the specs of the principal and of users' own agent and instance; else empty."""
        others = [spec for spec in (self.task.agent, self.task.instance) if is_user_code(spec)]
        return (self.principal, *others) if others or is_user_code(self.principal) else ()

    def labels(self) -> dict[str, Any]:
        """The columns that are the same in every row."""
        task = self.task
        named = (task.name, self.principal, task.agent, task.instance)
        sizes = {"n_arms": task.n_arms, "dim": task.dim or 0, "horizon": task.horizon}
        return dict(zip(LABELS, named, strict=True)) | sizes


def blocks_of(task: Task, principal: str, seeds: int) -> Iterator[Block]:
    """The seeds 0, 1, ..., ``seeds - 1`` in blocks; the last may be a part of one."""
    size = 2 ** max(0, (ROUNDS // task.horizon).bit_length() - 1)
    for first in range(0, seeds, size):
        yield Block(task, principal, first, min(size, seeds - first))


def file_name(name: str) -> str:
    """A name as part of a file name; a hash is appended if characters had to be replaced."""
    readable = re.sub(r"[^\w.,=+-]", "_", name, flags=re.ASCII)[-LONGEST_NAME:]
    return readable if readable == name else f"{readable}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class Result(NamedTuple):
    """The result of a block: the bytes of its file, or why it failed."""

    block: Block
    data: bytes | None
    failure: str | None = None


def attempt(block: Block, files: Files | None = None) -> Result:
    """Play a block; an exception becomes a failure of the block."""
    try:
        return Result(block, as_parquet(play(block, files)))
    except BaseException:  # not Ctrl-C: engines block it in the processes that play
        return failed(block, traceback.format_exc())


def failed(block: Block, why: str) -> Result:
    """A failure, which names the principal."""
    seeds = f"seeds {block.first} to {block.seeds[-1]}"
    return Result(block, None, f"{block.principal} in task {block.task.name}, {seeds}:\n{why}")


def settings(task: Task, files: Files | None = None) -> dict[str, Any]:
    """Keyword arguments of a task's game."""
    agent, instance = resolve_agent(task.agent, files), resolve_instance(task.instance, files)
    return {"n_arms": task.n_arms, "horizon": task.horizon, "agent": agent, "instance": instance, "dim": task.dim}


def check(block: Block, files: Files | None = None) -> None:
    """Raise if the principal can't play the task."""
    game = Game(**settings(block.task, files), observe=False)
    game.begin(seeds=[block.first])
    resolve(block.principal, game, files)


def play(block: Block, files: Files | None = None) -> "pa.Table":
    """The runs of a block, a row for each seed and checkpoint."""
    import pyarrow as pa

    episodes = Episodes(functools.partial(resolve, block.principal, files=files), settings(block.task, files))
    columns = episodes.play(list(block.seeds), block.task.checkpoints, block.trace).columns()
    for name in SCORES:
        if not np.isfinite(columns[name]).all() and not (name in NOT_ALWAYS and np.isnan(columns[name]).all()):
            raise ValueError(f"{name} is not finite: the incentives that were offered are too large to be summed")
    rows = columns["rounds"].size
    starts = _column(np.arange(rows + 1, dtype=np.int32) * block.task.n_arms)
    arrays = {name: _column(values.ravel()) for name, values in columns.items()}
    arrays |= {name: pa.ListArray.from_arrays(starts, arrays[name]) for name in OF_ARMS}
    arrays |= {name: _repeated(value, rows) for name, value in block.labels().items()}
    return pa.table(arrays).select(schema().names).cast(schema())


def _column(values: NDArray[Any]) -> "pa.Array":
    """A vector for a table. PyArrow's own conversions import pandas, which takes a fourth of a process's start."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, pa.py_buffer(values)])


def _repeated(value: str | int, rows: int) -> "pa.Array":
    """The same value in every row, also without pandas."""
    import pyarrow as pa

    if not isinstance(value, str):
        return _column(np.full(rows, value))
    text = value.encode()
    ends = np.arange(rows + 1, dtype=np.int32) * len(text)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(text * rows))


@functools.cache
def schema() -> "pa.Schema":
    """Columns and types of a block's table."""
    import pyarrow as pa

    text, integer, number = pa.string(), pa.int64(), pa.float64()
    return pa.schema(
        {
            **dict.fromkeys(LABELS, text),
            **dict.fromkeys(("n_arms", "dim", "horizon", "seed", "rounds"), integer),
            **dict.fromkeys(SCORES, number),
            "misses": integer,
            **{"plays": pa.list_(integer), "offers": pa.list_(number), "optimal_incentives": pa.list_(number)},
        }
    )


def as_parquet(table: "pa.Table") -> bytes:
    """The bytes of a table's file: the same for the same table, with checksums to detect damage."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    constant = [*LABELS, "n_arms", "dim", "horizon", "rounds"]  # a dictionary makes them a few bytes
    pq.write_table(
        table, sink, compression="none", use_dictionary=constant, write_statistics=False, write_page_checksum=True
    )
    data: bytes = sink.getvalue().to_pybytes()
    return data
