"""What the benchmark costs beside the game itself: two numbers for ``python -m baselines speed``."""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from baselines.benchmark import sweep
from baselines.benchmark.cells import Cell, attempt
from baselines.benchmark.store import locked
from baselines.tasks import tasks
from pa_env.game import Game

PLAYING = ("advance", "follow", "play")  # the methods of a game that play rounds


def share_in_game() -> float:
    """The share of CPU time that the default suite spends playing rounds; the rest is making, writing, starting.

    One seed of everything is played, and counts as often as its task has seeds.
    """
    cells = sweep.plan(tasks("default"), (), 1)
    for cell in cells:  # compiles what is to be compiled
        attempt(Cell(replace(cell.task, horizon=100), cell.principal, 0))
    inside, depth = 0.0, 0

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal inside, depth
            start, depth = time.process_time(), depth + 1
            try:
                return method(*arguments, **named)
            finally:
                depth -= 1
                inside += (time.process_time() - start) * (depth == 0)  # `advance` may call `play`

        return call

    playing = total = 0.0
    with ExitStack() as patches:
        folder = Path(patches.enter_context(tempfile.TemporaryDirectory()))
        store = patches.enter_context(locked(folder / "out"))
        store.enter(cells, "speed")
        for name in PLAYING:
            patches.enter_context(patch.object(Game, name, timed(getattr(Game, name))))
        for cell in cells:
            start, inside = time.process_time(), 0.0
            store.keep(attempt(cell))
            total += cell.task.seeds * (time.process_time() - start)
            playing += cell.task.seeds * inside
    return playing / total


def two_workers_to_one() -> float:
    """The time that two processes take for a sweep, relative to that of one."""
    cells = sweep.plan(tasks("k5-t1e6-uniform"), ("profit-target", "bracket-ucb", "ipa"), 16)
    seconds = []
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            sweep.run(cells, Path(folder) / "out", "speed", workers=workers)
            seconds.append(time.perf_counter() - start)
    return seconds[1] / seconds[0]
