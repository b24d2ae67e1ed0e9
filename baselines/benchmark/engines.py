"""Who plays the cells: processes on this machine, or a Ray cluster. Both give the same bytes.

An engine takes cells and a store, and yields every cell that is in the store or has failed, with whether it failed.
"""

import atexit
import functools
import logging
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from baselines.benchmark.cells import Cell, Result, attempt
from baselines.benchmark.specs import parse
from baselines.benchmark.store import Store, StoreError

CHUNK_CELLS, CHUNK_ROUNDS = 16, 100_000  # at most, unless a cell alone has more rounds
PATIENCE = 3  # pools in a row that break before anything is done

Done = tuple[Cell, bool]


def chunks(cells: Sequence[Cell]) -> Iterator[tuple[Cell, ...]]:
    """Cells in their order, short ones together, so that handing them out costs little."""
    chunk: list[Cell] = []
    rounds = 0
    for cell in cells:
        if chunk and (len(chunk) == CHUNK_CELLS or rounds + cell.task.horizon > CHUNK_ROUNDS):
            yield tuple(chunk)
            chunk, rounds = [], 0
        chunk.append(cell)
        rounds += cell.task.horizon
    if chunk:
        yield tuple(chunk)


# ----------------------------------------------------------------------------------------- processes on this machine


def local(cells: Sequence[Cell], store: Store, workers: int) -> Iterator[Done]:
    """Processes that write their cells themselves; when one is killed, others go on with what is missing."""
    missing, broken = list(cells), 0
    while missing:
        finished: set[Cell] = set()
        try:
            for done in _pool(missing, store, workers):
                finished.add(done[0])
                yield done
        except BrokenProcessPool:
            for cell in missing:
                if cell not in finished and store.has(cell):  # written, but not reported any more
                    finished.add(cell)
                    yield cell, False
            broken = 0 if finished else broken + 1
            if broken == PATIENCE:
                raise StoreError(
                    f"processes that play cells were killed {PATIENCE} times before any was done: is memory short, or"
                    f" does a principal crash? One of the next cells is {missing[0].id}; the same command goes on"
                ) from None
        missing = [cell for cell in missing if cell not in finished]


def _pool(cells: Sequence[Cell], store: Store, workers: int) -> Iterator[Done]:
    """Every chunk's cells as it is done; however this ends, the processes end with it."""
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    with reader, ProcessPoolExecutor(workers, context, _live_on, (reader,)) as pool, writer:
        with ThreadPoolExecutor(1) as aside:  # where Ctrl-C does not tear a process that is being started
            futures = aside.submit(_hand_out, cells, store, pool).result()
        for future in as_completed(futures):
            yield from future.result()


def _hand_out(cells: Sequence[Cell], store: Store, pool: ProcessPoolExecutor) -> list["Future[list[Done]]"]:
    # The processes inherit this: Ctrl-C is for the one that started them, which then ends them.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return [pool.submit(_play_and_keep, chunk, store) for chunk in chunks(cells)]


def _live_on(lifeline: Connection) -> None:
    """End this process as soon as the other end of the lifeline is closed, or its holder dies."""

    def watch() -> None:
        lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _play_and_keep(cells: Sequence[Cell], store: Store) -> list[Done]:
    return [_keep(attempt(cell), store) for cell in cells]


def _keep(result: Result, store: Store) -> Done:
    store.keep(result)
    return result.cell, result.data is None


# ----------------------------------------------------------------------------------------- a Ray cluster


def ray(cells: Sequence[Cell], store: Store, workers: int, address: str | None) -> Iterator[Done]:
    """Ray tasks, begun again when their node dies; results come back here, so that nodes need no common disk.

    The files that specs name travel with the tasks; the package itself must be installed on every node.
    """
    import ray

    specs = [parse(principal) for principal in {cell.principal: None for cell in cells}]
    files = {spec.where: spec.file.read_bytes() for spec in specs if spec.file}
    cluster: dict[str, Any] = {} if address else {"num_cpus": workers, "include_dashboard": False}
    ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **cluster)
    try:
        shared = ray.put(files)
        play = ray.remote(max_retries=-1)(_play_all)
        pending = [play.remote(chunk, shared) for chunk in chunks(cells)]
        while pending:
            done, pending = ray.wait(pending)
            for result in ray.get(done[0]):
                yield _keep(result, store)
    finally:
        ray.shutdown()


def _play_all(cells: Sequence[Cell], files: dict[str, bytes]) -> list[Result]:
    here = {name: _unpack(name, data) for name, data in files.items()}
    return [attempt(cell, here) for cell in cells]


@functools.cache
def _unpack(name: str, data: bytes) -> Path:
    """A copy of a file that came with the tasks, on this machine."""
    folder = Path(tempfile.mkdtemp(prefix="pa-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / Path(name).name
    path.write_bytes(data)
    return path
