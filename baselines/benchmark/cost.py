"""What the benchmark costs beside the game itself: two numbers for ``python -m baselines speed``."""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from baselines.benchmark import sweep
from baselines.benchmark.cells import attempt
from baselines.tasks import tasks
from pa_env.game import Game

PLAYING = ("advance", "follow", "play")  # the methods of a game that play rounds


def share_in_game() -> float:
    """The share of CPU time that the default suite, one seed of everything, spends playing rounds."""
    cells = sweep.plan(tasks("default"), (), 1)
    for cell in sweep.plan(tasks("short"), (), 1):  # compiles what is to be compiled
        attempt(cell)
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

    with ExitStack() as patches:
        for name in PLAYING:
            patches.enter_context(patch.object(Game, name, timed(getattr(Game, name))))
        start = time.process_time()
        for cell in cells:
            attempt(cell)
        return inside / (time.process_time() - start)


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
