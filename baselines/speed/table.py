"""How fast the game is, as ratios to yardsticks timed in the same run: machines differ, ratios less so.

Each row times ours and its yardstick in turn, several times, and compares the best of each. With another checkout of
the packages, that one is timed in turn as well, in a process of its own: a regression shows on a noisy machine too.
"""

import itertools
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from baselines.benchmark import sweep
from baselines.benchmark.blocks import attempt
from baselines.benchmark.plan import make_plan
from baselines.benchmark.store import locked
from baselines.speed import rows as speed_rows
from baselines.speed.rows import SpeedRow, rows, seconds_of
from baselines.tasks import tasks
from pa_env.game import Game

PLAYING = ("advance", "follow", "play_episodes")  # the methods of a game that play rounds


class Timed(NamedTuple):
    """The best seconds a round, nan where there are none."""

    ours: float
    yardstick: float
    there: float


class Quantity(NamedTuple):
    """A row that is not a timing of rounds."""

    name: str
    measure: Callable[..., float]
    unit: str
    bound: str  # at most or at least
    goal: float
    of_checkout: bool = False  # measured in a process, which takes the packages of any folder


class Checkout:
    """Another checkout of the packages, which times rows in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def seconds(self, row: SpeedRow) -> float:
        """Seconds of one call of a row; nan if it lacks it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(row.name, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline() or math.nan)


@contextmanager
def checkout(folder: Path | None) -> Iterator[Checkout | None]:
    """Start the process of another checkout; None: no other."""
    if folder is None:
        yield None
        return
    if not (folder / "pa_env" / "__init__.py").exists():
        raise ValueError(f"against = {str(folder)!r} has no folder pa_env: name a checkout of the package")
    command = [sys.executable, "-P", str(Path(speed_rows.__file__))]
    with subprocess.Popen(
        command, env=environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Checkout(process)
        finally:
            process.kill()


def environment(folder: Path | None) -> dict[str, str]:
    """The environment of a process that imports the packages of a folder; None: those that this one has imported."""
    folder = folder or Path(__file__).parents[2]
    return os.environ | {"PYTHONPATH": str(folder.absolute())}


def time_in_turn(row: SpeedRow, repeats: int, other: Checkout | None) -> Timed:
    """The best of interleaved timings.

    Short ones are timed many times over: the best of many is what an idle machine would give.
    """
    calls = {"ours": row.setup()} | ({"yardstick": row.yardstick()} if row.yardstick else {})
    warm = sum(min(seconds_of(call), seconds_of(call)) for call in calls.values())
    best = dict.fromkeys(("ours", "yardstick", "there"), math.inf)
    for _ in range(min(max(repeats, int(repeats / 9 / warm)), row.repeats)):
        for side, call in calls.items():
            best[side] = min(best[side], seconds_of(call))
        there = other.seconds(row) if other else math.nan
        best["there"] = min(there, best["there"])  # nan, which comes first, stays
    return Timed(best["ours"] / row.rounds, best["yardstick"] / row.yardstick_rounds, best["there"] / row.rounds)


def process_number(code: str, folder: Path | None, **variables: str) -> float:
    """What a program prints, in a fresh interpreter with the packages of a folder."""
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, env=environment(folder) | variables, capture_output=True, text=True, check=True)
    return float(done.stdout)


def import_seconds(folder: Path | None = None) -> float:
    """Seconds that ``import pa_env`` takes in a fresh interpreter, best of several."""
    code = "import time; t = time.perf_counter(); import pa_env; print(time.perf_counter() - t)"
    return min(process_number(code, folder) for _ in range(5))


def page_faults(folder: Path | None = None) -> float:
    """Page faults of a step of 4096 copies whose results are dropped, where freed memory goes back to the system.

    glibc decides from what was freed before whether it does: here it always does, which is the worst case. Fetching
    pages anew would take longer than the step itself.
    """
    code = (
        "import resource, gymnasium as gym, pa_env\n"
        "envs = gym.make_vec('PrincipalAgent-v0', num_envs=4096)\n"
        "envs.reset(seed=0)\n"
        "offers = envs.action_space.sample()\n"
        "for step in range(200):\n"
        "    if step == 100:\n"
        "        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    envs.step(offers)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100)"
    )
    return process_number(code, folder, MALLOC_MMAP_THRESHOLD_="131072", MALLOC_TRIM_THRESHOLD_="131072")


def peak_megabytes(folder: Path | None = None) -> float:
    """Peak memory of a process that simulates ``elimination`` for 1e8 rounds, all libraries included.

    As Linux tells it of the program: what `getrusage` says would begin with the memory of the process that started it.
    """
    code = (
        "import re, baselines; baselines.simulate('elimination', horizon=10**8);"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) / 1024)"
    )
    return process_number(code, folder)


STEP = "import gymnasium as gym, pa_env; env = gym.make('PrincipalAgent-v0'); env.reset(seed=0); env.step([0.5] * 5)"
SIMULATION = "import baselines; baselines.simulate('profit-target', horizon=200)"
CPU = "import time; t = time.process_time(); {}; print(time.process_time() - t)"


def first_step_seconds(folder: Path | None = None) -> float:
    """CPU seconds of the imports, the first reset and the first step, with nothing compiled before."""
    with tempfile.TemporaryDirectory() as cache:
        return process_number(CPU.format(STEP), folder, NUMBA_CACHE_DIR=cache)


def first_simulation_seconds(folder: Path | None = None) -> float:
    """CPU seconds that the first simulation of a compiled principal takes after a first step."""
    with tempfile.TemporaryDirectory() as cache:
        process_number(CPU.format(STEP), folder, NUMBA_CACHE_DIR=cache)
        return process_number(CPU.format(SIMULATION), folder, NUMBA_CACHE_DIR=cache)


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


QUANTITIES = (
    Quantity("import pa_env", import_seconds, "s", "at most", 0.7, True),
    Quantity("first reset and step, nothing compiled", first_step_seconds, "s of CPU", "at most", 8.0, True),
    Quantity("first simulation after that", first_simulation_seconds, "s of CPU", "at most", 4.0, True),
    Quantity("batched, 4096 copies, memory", page_faults, "page faults a step", "at most", 1.0, True),
    Quantity("peak memory, elimination, T = 1e+08", peak_megabytes, "MB", "at most", 300.0, True),
    Quantity("default benchmark, CPU time in the game", share_in_game, "of all", "at least", 0.5),
    Quantity("benchmark, 2 processes to 1", two_workers_to_one, "of the time", "at most", 0.55),
)


class Line(NamedTuple):
    """What is printed of a row."""

    name: str
    rounds: str  # millions a second
    value: str
    goal: str
    reached: bool
    there: str = ""  # the same of the other checkout
    here_to_there: str = ""

    def cells(self) -> tuple[str, ...]:
        """As text."""
        return (*self[:4], "yes" if self.reached else "MISSED", *self[5:])


def timing(row: SpeedRow, repeats: int, other: Checkout | None) -> Line:
    """Time a row."""
    times = time_in_turn(row, repeats, other)
    value = row.value(times.ours, times.yardstick)
    reached = value >= row.goal if row.faster else value <= row.goal
    there = ("", "")
    if not math.isnan(times.there):
        there = (f"{1e-6 / times.there:.3g}", f"{times.there / times.ours:.2f} x as fast")
    goal = f"{'at least' if row.faster else 'at most'} {row.goal:g}"
    return Line(row.name, f"{1e-6 / times.ours:.3g}", f"{value:.2f} {row.unit}", goal, reached, *there)


def quantity(row: Quantity, folder: Path | None) -> Line:
    """Measure a row that is not a timing."""
    value = row.measure()
    reached = value <= row.goal if row.bound == "at most" else value >= row.goal
    there = f"{row.measure(folder):.2f} {row.unit}" if folder and row.of_checkout else ""
    return Line(row.name, "", f"{value:.2f} {row.unit}", f"{row.bound} {row.goal:g}", reached, there)


def lines(only: str, repeats: int, against: Path | None) -> Iterator[Line]:
    """The rows whose name contains ``only``, each as soon as it is measured."""
    with checkout(against) as other:
        for row in rows():
            if only in row.name:
                yield timing(row, repeats, other)
    for each in QUANTITIES:
        if only in each.name:
            yield quantity(each, against)


def show(only: str, repeats: int, against: Path | None = None) -> None:
    """Print the table; elsewhere than on a terminal, also a line for each row while it is being made.

    Args:
        only: show the rows whose name contains this.
        repeats: timings of each side.
        against: folder of another checkout of the packages, timed in turn; None: no other.
    """
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    measured = lines(only, repeats, against)
    first = next(measured, None)
    if first is None:
        raise ValueError(f"only = {only!r} matches no row: without it, all are shown")
    headings = ["what", "million rounds/s", "ratio", "goal", "reached"]
    headings += [] if against is None else [f"{against}, million rounds/s", "here"]
    console = Console()
    table = Table(*headings, title="Speed, best of interleaved timings")
    with Live(table, console=console):
        for line in itertools.chain([first], measured):
            cells = line.cells()[: len(headings)]
            table.add_row(*cells, style=None if line.reached else "bold red")
            if not console.is_terminal:
                print(*filter(None, cells), sep=", ", file=sys.stderr, flush=True)
