"""Blocks played as Ray tasks. Results come back to the one that asks, so that nodes need no common disk.

The files that specs name travel with the tasks, with what they import from beside them; modules, and this package
itself, must be installed on every node, the same.
"""

import atexit
import functools
import logging
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from baselines.benchmark.blocks import Block, Result, attempt
from baselines.benchmark.versions import versions
from baselines.benchmark.waiting import Queue
from baselines.files import StoreError

SECONDS_TO_ANSWER = 5  # for a cluster at an address
START = 300.0  # seconds that a worker may take to start, beside the timeout of its block
LOOK = 1.0  # seconds between two looks for workers that do not answer
Packed = dict[str, dict[str, bytes]]  # the files of specs, by where they are said to be: names and contents


def on_ray(
    blocks: Sequence[Block],
    workers: int,
    timeout: float,
    address: str | None,
    files: Mapping[str, Mapping[str, Path]],
) -> Iterator[Result]:
    """Play blocks as Ray tasks; yields what came of each, in any order.

    As many tasks are begun as the cluster has cores, so that a worker that does not answer is noticed. Users' own code
    plays in workers that end with the task.

    Args:
        blocks: to be played.
        workers: processes, if a cluster is started here.
        timeout: seconds for each block.
        address: of a cluster; None: one is started on this machine.
        files: of specs that name files, by their names from the folder of the first one on.
    """
    import ray
    from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, TaskCancelledError, WorkerCrashedError

    started: dict[str, Any] = {} if address else {"num_cpus": workers, "include_dashboard": False}
    ray.init(address or "local", log_to_driver=False, logging_level=logging.ERROR, **started)
    try:
        packed = {where: {name: path.read_bytes() for name, path in named.items()} for where, named in files.items()}
        shared = ray.put(packed)
        play = {own: ray.remote(max_retries=0, max_calls=int(own))(_play) for own in (False, True)}
        waiting = Queue(blocks)
        playing: dict[Any, tuple[Block, float]] = {}
        while True:
            cores = max(1, ray.cluster_resources().get("CPU", 1))  # type: ignore[no-untyped-call]
            while len(playing) < cores and (block := waiting.next()) is not None:
                playing[play[bool(block.own)].remote(block, shared, versions(), timeout)] = (
                    block,
                    time.monotonic() + START + timeout,
                )
            if not playing:
                return
            done, _ = ray.wait(list(playing), timeout=LOOK)
            for task in done:
                block, deadline = playing.pop(task)
                try:
                    result = ray.get(task)
                except (NodeDiedError, ObjectLostError, OutOfMemoryError, TaskCancelledError, WorkerCrashedError):
                    late = time.monotonic() > deadline
                    yield from waiting.timed_out(block, timeout) if late else waiting.died(block)
                    continue
                if isinstance(result, dict):
                    raise StoreError(f"a node has {result}, and this is {versions()}: install the same on every node")
                yield from waiting.timed_out(block, timeout) if result is None else (result,)
            for task, (_, deadline) in playing.items():
                if time.monotonic() > deadline:
                    ray.cancel(task, force=True)  # it is then among those that are done
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


def _play(block: Block, files: Packed, wanted: dict[str, str], timeout: float) -> Result | dict[str, str] | None:
    """What came of the block, None if it takes too long; if other versions than those wanted are here, which."""
    if versions() != wanted:
        return versions()
    here = {where: _unpack(tuple(named.items())) for where, named in files.items()}
    results: list[Result] = []
    playing = threading.Thread(target=lambda: results.append(attempt(block, here)), daemon=True)
    playing.start()
    playing.join(timeout)
    return results[0] if results else None


@functools.cache
def _unpack(files: tuple[tuple[str, bytes], ...]) -> Path:
    """A copy of files that came with the tasks, on this machine; the path of the first."""
    folder = Path(tempfile.mkdtemp(prefix="pa-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, data in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder / files[0][0]
