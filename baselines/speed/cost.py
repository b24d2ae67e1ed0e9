"""What the benchmark costs beside the game itself: two numbers for ``pa-bench speed``."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines.benchmark import sweep
from baselines.benchmark.blocks import attempt
from baselines.benchmark.plan import make_plan
from baselines.benchmark.store import locked
from baselines.tasks import tasks
from pa_env.game import Game

PLAYING = ("advance", "follow", "play_episodes")  # the methods of a game that play rounds


@contextmanager
def timed() -> Iterator[list[float]]:
    """Note the CPU time that is spent in the methods of games that play rounds."""
    spent: list[float] = []

    def timing(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            played = method(*arguments, **named)
            spent.append(time.process_time() - start)
            return played

        return call

    methods = {name: getattr(Game, name) for name in PLAYING}
    try:
        for name, method in methods.items():
            setattr(Game, name, timing(method))
        yield spent
    finally:
        for name, method in methods.items():
            setattr(Game, name, method)


def share_in_game() -> float:
    """The share of CPU time that the default suite spends playing rounds; the rest is deciding, making and writing.

    The first block of everything is played, and counts as often as its task has such blocks.
    """
    planned = make_plan(tasks("default"))
    first = [block for block in planned.blocks if block.seeds[0] == 0]
    for block in first:  # compiles what is to be compiled
        attempt(replace(block, task=replace(block.task, horizon=100), seeds=range(2)))
    playing = total = 0.0
    with tempfile.TemporaryDirectory() as folder, locked(Path(folder) / "out") as store, timed() as spent:
        store.enter(first, "speed", planned.described)
        for block in first:
            spent.clear()
            start = time.process_time()
            store.keep(attempt(block))
            weight = block.task.seeds / len(block.seeds)
            total += weight * (time.process_time() - start)
            playing += weight * sum(spent)
    return playing / total


def two_workers_to_one() -> float:
    """The time that two processes take for a sweep, relative to that of one."""
    planned = make_plan(tasks("k5-t1e6-uniform"), ("profit-target", "bracket-ucb", "ipa"), 16)
    seconds = []
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            sweep.run(planned, Path(folder) / "out", "speed", sweep.Engine(workers=workers), quiet=True)
            seconds.append(time.perf_counter() - start)
    return seconds[1] / seconds[0]
