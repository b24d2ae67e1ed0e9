"""Blocks played as Ray tasks. Results come back to the process that asks, so that nodes need no common disk.

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

from baselines.benchmark.blocks import Block, BlockResult, attempt, result_of
from baselines.benchmark.manifest import versions
from baselines.benchmark.pool import Backlog
from baselines.files import StoreError
from baselines.registry import Description
from baselines.specs import parse

SECONDS_TO_ANSWER = 5  # for a cluster at an address
START = 300.0  # seconds that a worker may take to start, beside the timeout of its block
LOOK = 1.0  # seconds between two looks for workers that do not answer
ROLES = ("principal", "agent", "instance")
# A block or why it failed; the versions of a node that has others; None: it took too long.
Answer = tuple[bytes | None, str | None] | dict[str, str] | None
Packed = dict[str, dict[str, bytes]]  # specs that name files: the names and contents of these


def play_on_ray(
    blocks: Sequence[Block], described: Mapping[str, Description], workers: int, timeout: float, address: str | None
) -> Iterator[BlockResult]:
    """Play blocks as Ray tasks; yields results in any order.

    As many tasks are begun as the cluster has cores, so that a worker that does not answer is noticed. Users' own code
    plays in workers that end with the task.

    Args:
        blocks: to be played.
        described: descriptions of what their specs name.
        workers: processes, if a cluster is started here.
        timeout: seconds for each block.
        address: of a cluster; None: one is started on this machine.
    """
    import ray
    from ray.exceptions import NodeDiedError, ObjectLostError, OutOfMemoryError, TaskCancelledError, WorkerCrashedError

    cpus, dashboard = (None, None) if address else (workers, False)
    ray.init(
        address or "local",
        num_cpus=cpus,
        include_dashboard=dashboard,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    try:
        named = {spec: facts.files for spec, facts in described.items() if parse(spec).file}
        packed = {spec: {name: path.read_bytes() for name, path in files.items()} for spec, files in named.items()}
        shared = ray.put(packed)
        play = {once: ray.remote(max_retries=0, max_calls=int(once))(_play) for once in (False, True)}
        backlog = Backlog(blocks)
        playing: dict[ray.ObjectRef[Answer], tuple[Block, float]] = {}
        while True:
            cores = max(1, ray.cluster_resources().get("CPU", 1))
            while len(playing) < cores and (block := backlog.next()) is not None:
                deadline = time.monotonic() + START + timeout
                playing[play[bool(block.user_specs)].remote(block, shared, versions(), timeout)] = block, deadline
            if not playing:
                return
            done, _ = ray.wait(list(playing), timeout=LOOK)
            for task in done:
                block, deadline = playing.pop(task)
                try:
                    answer = ray.get(task)
                except (NodeDiedError, ObjectLostError, OutOfMemoryError, TaskCancelledError, WorkerCrashedError):
                    late = time.monotonic() > deadline
                    yield from backlog.timed_out(block, timeout) if late else backlog.died(block)
                    continue
                if isinstance(answer, dict):
                    raise StoreError(f"a node has {answer}, and this is {versions()}: install the same on every node")
                yield from backlog.timed_out(block, timeout) if answer is None else (result_of(block, *answer),)
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


def _play(block: Block, files: Packed, wanted: dict[str, str], timeout: float) -> Answer:
    """Play a block within ``timeout`` seconds, in a thread."""
    if versions() != wanted:
        return versions()
    objects = {(role, spec): _unpack(spec, tuple(named.items())) for spec, named in files.items() for role in ROLES}
    results: list[BlockResult] = []
    playing = threading.Thread(target=lambda: results.append(attempt(block, objects)), daemon=True)
    playing.start()
    playing.join(timeout)
    return (results[0].data, results[0].why) if results else None


@functools.cache
def _unpack(spec: str, files: tuple[tuple[str, bytes], ...]) -> str:
    """Copy the files of a spec, the first of which it names, to this machine; returns the spec with the new path."""
    folder = Path(tempfile.mkdtemp(prefix="pa-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, data in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return f"{folder / files[0][0]}{spec.removeprefix(parse(spec).place)}"
