"""A block: one principal in one task on some seeds. Its table has a row for each seed and checkpoint.

All principals play the same seeds, and so the same instances and rewards. The blocks of a task have the same seeds for
every principal. At any horizon a block has about as many rounds, which take about a second.
"""

import functools
import hashlib
import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.episodes import Episodes
from baselines.registry import resolve
from baselines.specs import is_user_code
from baselines.tasks import NO_OBJECTS, Objects, Task, settings
from pa_env.checks import short
from pa_env.kernel.layout import NOT_ALWAYS, SCORES

if TYPE_CHECKING:
    import pyarrow as pa


ROUNDS = 2**18  # of a block, at most, unless one episode alone has more
LONGEST_NAME = 80  # of a task or a principal in a file's name
LABELS = ("task", "principal", "agent", "instance")
OF_ARMS = ("plays", "offers", "optimal_incentives")  # columns with a list of n_arms


@dataclass(frozen=True)
class Block:
    """A principal in a task on some seeds.

    Args:
        task: the setting.
        principal: its spec.
        seeds: of the episodes; consecutive, if they are stored.
        trace: file for a trace of every round; None: no trace.
    """

    task: Task
    principal: str
    seeds: Sequence[int]
    trace: Path | None = None

    @property
    def id(self) -> str:
        """A readable name for its files; it does not depend on how many of its seeds are played."""
        return f"{file_name(self.task.name)}--{file_name(self.principal)}--{self.seeds[0]}"

    @property
    def user_specs(self) -> tuple[str, ...]:
        """Specs of the principal and of users' agent and instance, if any of the three is users' code; else empty."""
        others = [spec for spec in (self.task.agent, self.task.instance) if is_user_code(spec)]
        return (self.principal, *others) if others or is_user_code(self.principal) else ()

    def labels(self) -> dict[str, str | int]:
        """The columns that are the same in every row."""
        task = self.task
        named = (task.name, self.principal, task.agent, task.instance)
        sizes = {"n_arms": task.n_arms, "dim": task.dim or 0, "horizon": task.horizon}
        return dict(zip(LABELS, named, strict=True)) | sizes


def blocks_of(task: Task, principal: str, seeds: Sequence[int]) -> Iterator[Block]:
    """Yield blocks of these seeds, the last of which may be shorter."""
    size = 2 ** max(0, (ROUNDS // task.horizon).bit_length() - 1)
    for first in range(0, len(seeds), size):
        yield Block(task, principal, seeds[first : first + size])


def file_name(name: str) -> str:
    """A name as part of a file name, different for names that differ only in case.

    A hash is appended if characters had to be replaced, or are capitals.
    """
    readable = re.sub(r"[^\w.,=+-]", "_", name, flags=re.ASCII)[-LONGEST_NAME:]
    code = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:8]
    return readable if readable == name.lower() else f"{readable}~{code}"


class BlockResult(NamedTuple):
    """The result of a block: the bytes of its file, or why it failed."""

    block: Block
    data: bytes | None
    why: str | None = None

    @property
    def failure(self) -> str:
        """Why it failed, with the principal, the task and the seeds."""
        seeds = f"seeds {self.block.seeds[0]} to {self.block.seeds[-1]}"
        return f"{self.block.principal} in task {self.block.task.name}, {seeds}:\n{self.why}"


def episodes_of(block: Block, objects: Objects = NO_OBJECTS) -> Episodes:
    """The game of a block and its principal, which is made when an episode begins."""
    principal = objects.get(("principal", block.principal), block.principal)
    return Episodes(functools.partial(resolve, principal), settings(block.task, objects))


def play(block: Block, objects: Objects = NO_OBJECTS) -> "pa.Table":
    """The runs of a block, a row for each seed and checkpoint.

    Args:
        block: to be played.
        objects: in the place of specs.
    """
    import pyarrow as pa

    columns = episodes_of(block, objects).play(list(block.seeds), block.task.checkpoints, block.trace).columns()
    for name in SCORES:
        if not np.isfinite(columns[name]).all() and not (name in NOT_ALWAYS and np.isnan(columns[name]).all()):
            raise ValueError(f"{name} is not finite: the incentives that were offered are too large to be summed")
    rows = columns["rounds"].size
    starts = _column(np.arange(rows + 1, dtype=np.int32) * block.task.n_arms)
    arrays = {name: _column(values.ravel()) for name, values in columns.items()}
    arrays |= {name: pa.ListArray.from_arrays(starts, arrays[name]) for name in OF_ARMS}
    arrays |= {name: _repeated(value, rows) for name, value in block.labels().items()}
    return pa.table(arrays).select(schema().names).cast(schema())


def play_bytes(block: Block, objects: Objects = NO_OBJECTS) -> bytes:
    """The bytes of a block's file."""
    return as_parquet(play(block, objects))


def _column(values: NDArray[np.generic]) -> "pa.Array":
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


def attempt(block: Block, objects: Objects = NO_OBJECTS) -> BlockResult:
    """Play a block in this process; an exception becomes a failure of the block."""
    try:
        return BlockResult(block, play_bytes(block, objects))
    except BaseException:  # also what users' own code raises to end its process
        return BlockResult(block, None, traceback.format_exc())


def result_of(block: Block, data: bytes | None, why: str | None) -> BlockResult:
    """The result of a block from what another process sent; whatever is not the block's table is a failure."""
    if data is not None:
        try:
            check_table(read_table(data), block)
        except ValueError as error:
            return BlockResult(block, None, f"its process sent no table of this block: {error}\n")
    return BlockResult(block, data, why)


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


def read_table(source: Path | bytes) -> "pa.Table":
    """Read the table in a block's file, or in its bytes; raise ValueError if it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pa.BufferReader(source) if isinstance(source, bytes) else source
        table = pq.ParquetFile(file, page_checksum_verification=True).read()
    except (pa.ArrowException, OSError, ValueError) as error:  # a name of a column may not be UTF-8
        raise ValueError(" ".join(str(error).split())) from error
    if not table.num_rows or not table.schema.equals(schema()):
        raise ValueError("it has other columns than a block, or no rows")
    return table


def check_table(table: "pa.Table", block: Block) -> None:
    """Raise ValueError unless a table is that of a block."""
    marks = block.task.checkpoints
    for name, values in (("seed", np.repeat(block.seeds, marks.size)), ("rounds", np.tile(marks, len(block.seeds)))):
        if not np.array_equal(table[name].to_numpy(), values):
            raise ValueError(f"its {name} are not those of its task")
    for name, value in block.labels().items():
        if table[name].unique().to_pylist() != [value]:
            raise ValueError(f"its {name} is not {short(value)}")
