"""What the benchmark costs beside the game itself: two numbers for ``python -m baselines speed``."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines.benchmark import sweep
from baselines.benchmark.cells import Cell, attempt
from baselines.benchmark.store import locked
from baselines.protocol import Principal
from baselines.tasks import tasks
from pa_env.game import Game


class Timed(Cell):
    """A cell that sums up the CPU time spent in the methods of its game that play rounds."""

    playing = 0.0

    def begin(self, files: Mapping[str, Path] | None = None) -> tuple[Principal, Game]:
        """As any cell's; only this game is timed."""
        principal, game = super().begin(files)
        for name in ("advance", "follow"):
            setattr(game, name, self._timed(getattr(game, name)))
        return principal, game

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            played = method(*arguments, **named)
            Timed.playing += time.process_time() - start
            return played

        return call


def share_in_game() -> float:
    """The share of CPU time that the default suite spends playing rounds; the rest is deciding, making and writing.

    One seed of everything is played, and counts as often as its task has seeds.
    """
    cells = sweep.plan(tasks("default"), (), 1)
    for cell in cells:  # compiles what is to be compiled
        attempt(Cell(replace(cell.task, horizon=100), cell.principal, 0))
    playing = total = 0.0
    with tempfile.TemporaryDirectory() as folder, locked(Path(folder) / "out") as store:
        store.enter(cells, "speed")
        for cell in cells:
            start, Timed.playing = time.process_time(), 0.0
            store.keep(attempt(Timed(cell.task, cell.principal, cell.seed)))
            total += cell.task.seeds * (time.process_time() - start)
            playing += cell.task.seeds * Timed.playing
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
