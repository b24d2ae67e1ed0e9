"""Run a benchmark: each block of a plan is played once, in any order, by any engine, and kept in a folder."""

import importlib.util
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from baselines.benchmark import pool, ray
from baselines.benchmark.blocks import Block, BlockResult
from baselines.benchmark.isolation import check_can_isolate, check_isolated
from baselines.benchmark.plan import Plan
from baselines.benchmark.store import locked
from baselines.extras import how_to_install
from baselines.registry import Description
from baselines.tasks import NO_OBJECTS
from pa_env.checks import at_least, known, whole

TIMEOUT = 600.0  # seconds for a block, which should take about one
EVERY = 30.0  # seconds between two lines of progress
OVERHEAD = 2_000  # rounds that take as long as the beginning of an episode


class Engine(NamedTuple):
    """The player of blocks: ``local`` processes, or a Ray cluster. Both give the same bytes."""

    name: str = "local"
    workers: int | None = None
    """Processes on this machine; None: one for each core."""
    timeout: float = TIMEOUT
    """Seconds for each block."""
    address: str | None = None
    """Of a Ray cluster; None: one is started on this machine."""
    isolated: bool = False
    """True: users' principals are played again in processes that hold no game, and compared."""

    def check(self) -> None:
        """Raise if it can't play."""
        known("engine", self.name, ("local", "ray"))
        whole("workers", self.workers or 1, 1)
        at_least("timeout", self.timeout, 0, strictly=True)
        if self.address is not None and self.name != "ray":
            raise ValueError(f"address = {self.address!r} is for engine = 'ray', and this is engine = {self.name!r}")
        if self.name == "ray" and importlib.util.find_spec("ray") is None:
            raise ValueError(f"engine = 'ray' needs Ray, which is not installed. {how_to_install('ray')}")
        if self.address is not None:
            ray.reach(self.address)

    def play(self, blocks: Sequence[Block], described: dict[str, Description]) -> Iterator[BlockResult]:
        """The result of each block, in any order."""
        workers = self.workers or os.cpu_count() or 1
        if self.name == "local":
            return pool.play_in_processes(blocks, NO_OBJECTS, workers, self.timeout)
        return ray.play_on_ray(blocks, described, workers, self.timeout, self.address)


def run(
    planned: Plan,
    out: Path,
    command: str,
    engine: Engine = Engine(),
    overwrite: bool = False,
    quiet: bool = False,
    trace: bool = False,
) -> list[Path]:
    """Play the blocks that are missing in a folder; returns the files that say why blocks failed.

    Args:
        planned: the blocks.
        out: the folder.
        command: the command line, recorded in the folder.
        engine: their player.
        overwrite: replay results that were played by other code, instead of refusing.
        quiet: show no progress.
        trace: keep every round too, in ``traces``; for the local engine.
    """
    engine.check()
    if trace and engine.name != "local":
        raise ValueError(f"trace is for engine = 'local', and this is engine = {engine.name!r}")
    if engine.isolated:
        check_can_isolate(planned.blocks)
    failures: list[Path] = []
    with locked(out) as store:
        store.enter(planned.blocks, command, planned.described, overwrite)
        missing = [block for block in planned.blocks if not store.done(block)]
        if trace:
            absent = {*missing, *(block for block in planned.blocks if not store.trace(block).exists())}
            missing = [  # with all the seeds that are there already
                replace(block, trace=store.trace(block), seeds=max(block.seeds, store.kept(block), key=len))
                for block in planned.blocks
                if block in absent
            ]
        with show_progress(planned.blocks, missing, quiet) as advance:
            for played in engine.play(missing, planned.described):
                result = check_isolated(played, engine.timeout) if engine.isolated else played
                store.keep(result)
                advance(result.block)
                if result.data is None:
                    failures.append(store.failure(result.block))
    return failures


def work(block: Block) -> int:
    """The time that a block takes, in rounds."""
    return len(block.seeds) * (block.task.horizon + OVERHEAD)


def announcement(blocks: Sequence[Block], missing: Sequence[Block]) -> str:
    """The line that says what a sweep is about to play."""
    tasks, principals = ({getattr(block, name) for block in blocks} for name in ("task", "principal"))
    episodes, kept = (sum(len(block.seeds) for block in part) for part in (missing, blocks))
    rounds = sum(len(block.seeds) * block.task.horizon for block in missing)
    there = f"; {kept - episodes:,} are there already" if len(missing) < len(blocks) else ""
    return (
        f"To play: {episodes:,} episodes, {rounds:,} rounds, in {len(missing):,} blocks"
        f" ({len(principals)} principals, {len(tasks)} tasks){there}."
    )


class ProgressLines:
    """Lines of progress, for logs."""

    def __init__(self, total: int, blocks: int) -> None:
        self.total, self.blocks = total, blocks
        self.done = self.count = 0
        self.start = self.last = time.monotonic()

    def advance(self, block: Block) -> None:
        """Note that a block is done."""
        self.done, self.count = self.done + work(block), self.count + 1
        now = time.monotonic()
        if now - self.last >= EVERY and self.count < self.blocks:
            self.last = now
            left = (now - self.start) * (self.total - self.done) / self.done
            print(f"{self.count:,} of {self.blocks:,} blocks; about {left:,.0f} s left", file=sys.stderr, flush=True)


@contextmanager
def show_progress(blocks: Sequence[Block], missing: Sequence[Block], quiet: bool) -> Iterator[Callable[[Block], None]]:
    """Print what will be played, then the progress; yields a function to be called with each block that is done."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    if quiet:
        yield lambda block: None
        return
    print(announcement(blocks, missing), file=sys.stderr, flush=True)
    total, console = sum(map(work, missing)), Console(stderr=True)
    if not console.is_terminal:
        yield ProgressLines(total, len(missing)).advance
        return
    if missing:
        pool.announce_compilation(console)
    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[count]} of {task.fields[blocks]} blocks"))
    # Blocks differ in length, and come in an order: a speed over seconds would say nothing about the rest.
    with Progress(*columns, console=console, transient=True, speed_estimate_period=600) as progress:
        bar, done = progress.add_task("playing", total=total, count=0, blocks=len(missing)), itertools.count(1)
        yield lambda block: progress.update(bar, advance=work(block), count=next(done))
