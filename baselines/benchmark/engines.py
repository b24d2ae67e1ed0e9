"""Who plays the cells: processes on this machine, or a Ray cluster. Both give the same bytes.

An engine takes cells and a store, and yields every cell that is in the store or has failed, with whether it failed.
"""

import atexit
import contextlib
import functools
import itertools
import logging
import multiprocessing
import os
import shutil
import signal
import socket
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
from baselines.benchmark.store import Store
from baselines.benchmark.versions import versions
from baselines.files import StoreError

CHUNK_CELLS, CHUNK_ROUNDS = 16, 100_000  # at most, unless a cell alone has more rounds
PATIENCE = 3  # processes that die with a cell before it is kept as a failure
RETRIES = 5  # of a Ray task whose worker or node died
SECONDS_TO_ANSWER = 5  # for a cluster at an address

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
    """Processes that write their cells themselves; when one is killed, others go on with what is missing.

    A principal that crashes its process fails its own cells only.
    """
    missing = list(cells)
    while missing:
        finished: set[Cell] = set()
        try:
            for done in _pool(missing, store, workers):
                finished.add(done[0])
                yield done
        except BrokenProcessPool:
            for cell in missing:
                if cell not in finished and store.done(cell):  # written, but not reported any more
                    finished.add(cell)
                    yield cell, False
            if not finished:  # so every process was at the first cell of its chunk
                _start_one(store)
                for first, *_ in itertools.islice(chunks(missing), workers):
                    finished.add(first)
                    yield _alone(first, store)
        missing = [cell for cell in missing if cell not in finished]


def _start_one(store: Store) -> None:
    """Raise if processes die even without a cell: then no principal is to blame."""
    try:
        list(_pool((), store, 1))
    except BrokenProcessPool:
        raise StoreError(
            "processes that are to play cells die as soon as they start: is memory short, or is this a script without"
            ' if __name__ == "__main__"? What was done is kept, and the same command goes on from there'
        ) from None


def _alone(cell: Cell, store: Store) -> Done:
    """Play a cell in a process of its own, and in another if that dies."""
    for _ in range(PATIENCE):
        with contextlib.suppress(BrokenProcessPool):
            (done,) = _pool((cell,), store, 1)
            return done
    return _keep(_died(cell, PATIENCE), store)


def _died(cell: Cell, times: int) -> Result:
    text = f"its process died {times} times while it was played alone: does its principal crash, or is memory short?"
    return Result(cell, None, text + "\n")


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
    # The processes inherit this, so that Ctrl-C can't tear one that is being started; Windows has no such thing.
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    first = ()  # no cells: it shows that a process can start
    return [pool.submit(_play_and_keep, chunk, store) for chunk in (first, *chunks(cells))]


def _live_on(lifeline: Connection) -> None:
    """End this process as soon as the other end of the lifeline is closed, or its holder dies, and not by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that started it

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

    When a chunk's workers die again and again, its cells become tasks of their own: those that crash fail alone.
    The files that specs name travel with the tasks; the package itself must be installed on every node, the same.
    """
    import ray
    from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, WorkerCrashedError

    specs = [parse(principal) for principal in {cell.principal: None for cell in cells}]
    files = {spec.where: spec.file.read_bytes() for spec in specs if spec.file}
    cluster: dict[str, Any] = {} if address else {"num_cpus": workers, "include_dashboard": False}
    ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **cluster)
    try:
        shared = ray.put(files)
        play = ray.remote(max_retries=RETRIES)(_play_all)
        pending = {play.remote(chunk, shared, versions()): chunk for chunk in chunks(cells)}
        while pending:
            (done,), _ = ray.wait(list(pending))
            chunk = pending.pop(done)
            try:
                results = ray.get(done)
            except (NodeDiedError, ObjectLostError, OutOfMemoryError, WorkerCrashedError):
                if len(chunk) > 1:
                    pending |= {play.remote((cell,), shared, versions()): (cell,) for cell in chunk}
                    continue
                results = [_died(chunk[0], RETRIES + 1)]
            if isinstance(results, dict):
                raise StoreError(f"a node has {results}, and this is {versions()}: install the same on every node")
            for result in results:
                yield _keep(result, store)
    finally:
        ray.shutdown()


def reach(address: str) -> None:
    """Raise if nothing listens at an address that is a host and a port: Ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()
        except OSError as error:
            raise ValueError(f"address = {address!r} must be that of a Ray cluster: {error}") from error


def _play_all(cells: Sequence[Cell], files: dict[str, bytes], wanted: dict[str, str]) -> list[Result] | dict[str, str]:
    """What came of the cells; if other versions than those wanted are installed here, which."""
    if versions() != wanted:
        return versions()
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
