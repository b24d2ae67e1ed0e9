"""Traces: every round of some episodes in a Parquet file, written during play, so memory does not grow.

``simulate(..., trace="rounds.parquet")`` writes one. Each row is a round, with the columns

- ``seed`` of the episode, ``t`` = 1, 2, ...;
- ``offer`` (a list of K incentives), ``target`` (the arm that it is meant for, or -1), ``arm`` played, ``reward`` X;
- privileged, which a principal may not know: ``agent_reward`` R, ``regret`` of the round, ``beliefs`` (K) with which
  the agent answered, ``optimal_incentives`` (K) for them. Their fields have the metadata ``privileged = true``.

The same seeds give the same bytes. A file is written completely or not at all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from baselines.extras import extra_named
from baselines.files import whole_file
from pa_env.kernel.episodes import TRACE, VECTORS, TraceColumn
from pa_env.kernel.layout import Floats, Integers

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROW_GROUP = 2**16  # rounds that are kept in memory
PRIVILEGED = ("agent_reward", "regret", "beliefs", "optimal_incentives")
COLUMNS = ("seed", "t", "offer", "target", "arm", "reward", *PRIVILEGED)  # in the order of the file
INTEGERS = ("t", "target", "arm")


def schema(n_arms: int) -> "pa.Schema":
    """Columns and types of a trace; privileged columns are marked in their metadata."""
    import pyarrow as pa

    kinds = dict.fromkeys(COLUMNS, pa.float64()) | dict.fromkeys(("seed", *INTEGERS), pa.int64())
    kinds |= dict.fromkeys(VECTORS, pa.list_(pa.float64(), n_arms))
    marked = {name: {"privileged": "true"} if name in PRIVILEGED else None for name in COLUMNS}
    return pa.schema([pa.field(name, kinds[name], nullable=False, metadata=marked[name]) for name in COLUMNS])


class Trace:
    """A trace that is being written; :meth:`open` makes one.

    Args:
        writer: of the file.
        n_arms: K.
    """

    def __init__(self, writer: "pq.ParquetWriter", n_arms: int) -> None:
        self.writer, self.n_arms = writer, n_arms
        self.rows: Floats = np.empty((ROW_GROUP, TRACE + len(VECTORS) * n_arms))
        self.seeds = np.empty(ROW_GROUP, np.int64)
        self.filled = 0

    @classmethod
    @contextmanager
    def open(cls, path: Path, n_arms: int) -> Iterator["Trace"]:
        """A trace at a path, for games of ``n_arms`` arms; needs pyarrow, of the extra [bench]."""
        with extra_named():
            import pyarrow.parquet as pq

        with whole_file(path) as file, pq.ParquetWriter(file, schema(n_arms), compression="zstd") as writer:
            trace = cls(writer, n_arms)
            yield trace
            trace.flush()

    def room(self, rounds: int) -> Floats:
        """Rows for so many rounds, or for as many as fit into the row group."""
        if self.filled == ROW_GROUP:
            self.flush()
        return self.rows[self.filled : self.filled + rounds]

    def keep(self, seed: int, rounds: int) -> None:
        """Keep the first rows of the last :meth:`room`."""
        self.seeds[self.filled : self.filled + rounds] = seed
        self.filled += rounds

    def flush(self) -> None:
        """Write what is kept as a row group."""
        import pyarrow as pa

        rows, n_arms = self.rows[: self.filled], self.n_arms
        table: dict[str, Integers | Floats | pa.Array] = {"seed": self.seeds[: self.filled]}
        for column in TraceColumn:
            name, values = column.name.lower(), np.ascontiguousarray(rows[:, column])
            table[name] = values.astype(np.int64) if name in INTEGERS else values
        for k, name in enumerate(VECTORS):
            entries = rows[:, TRACE + k * n_arms : TRACE + (k + 1) * n_arms]
            table[name] = pa.FixedSizeListArray.from_arrays(pa.array(entries.ravel()), n_arms)
        if self.filled:
            self.writer.write_table(pa.table([table[name] for name in COLUMNS], schema=schema(n_arms)))
        self.filled = 0
