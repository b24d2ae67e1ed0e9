"""Progress of a sweep: a bar on a terminal, elsewhere a line now and then."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from baselines.benchmark.blocks import Block

EVERY = 30.0  # seconds between two lines
OVERHEAD = 2_000  # rounds that take as long as what an episode needs beside them


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


class ProgressBar:
    """A bar."""

    def __init__(self, progress: Any, total: int, blocks: int) -> None:
        self.progress, self.count = progress, 0
        self.bar = progress.add_task("playing", total=total, count=0, blocks=blocks)

    def advance(self, block: Block) -> None:
        """Note that a block is done."""
        self.count += 1
        self.progress.update(self.bar, advance=work(block), count=self.count)


@contextmanager
def show_progress(blocks: Sequence[Block], missing: Sequence[Block], quiet: bool) -> Iterator[Any]:
    """Say what will be played, then show how far it is: call ``advance`` on what is yielded with each block done."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    total, console = sum(map(work, missing)), Console(stderr=True, quiet=quiet)
    if not quiet:
        print(announcement(blocks, missing), file=sys.stderr, flush=True)
    if quiet or not console.is_terminal:
        lines = ProgressLines(total, len(missing))
        lines.last = float("inf") if quiet else lines.last
        yield lines
        return
    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[count]} of {task.fields[blocks]} blocks"))
    # Blocks differ in length, and come in an order: a speed over seconds would say nothing about the rest.
    with Progress(*columns, console=console, transient=True, speed_estimate_period=600) as progress:
        yield ProgressBar(progress, total, len(missing))
