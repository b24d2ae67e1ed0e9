"""A benchmark is tasks x principals x seeds: cells that are played once and kept, in any order, by any engine."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from baselines.benchmark import engines
from baselines.benchmark.cells import Cell
from baselines.benchmark.store import locked
from baselines.tasks import Task
from pa_env.checks import known, whole

ENGINES = ("local", "ray")
OVERHEAD = 100_000  # rounds that take as long as what a cell needs beside them


def plan(tasks: Sequence[Task], principals: Sequence[str], seeds: int | None) -> list[Cell]:
    """The cells of a benchmark; raises if a principal can't be made for one of its tasks.

    ``principals``: specs for every task, or none for each task's own; ``seeds``: how many, or None for each task's own.
    The first seed of everything comes first: results are useful, and the time left is known, long before the end.
    """
    if seeds is not None:
        whole("seeds", seeds, 1)
    first = [Cell(task, spec, 0) for task in tasks for spec in dict.fromkeys(principals or task.principals)]
    for cell in first:
        try:
            cell.begin()
        except Exception as error:
            why = str(error) if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{cell.principal} can't play task {cell.task.name}: {why}") from error
    most = max(seeds or cell.task.seeds for cell in first)
    return [
        Cell(cell.task, cell.principal, seed)
        for seed in range(most)
        for cell in first
        if seed < (seeds or cell.task.seeds)
    ]


def run(
    cells: Sequence[Cell],
    out: Path,
    command: str,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
) -> list[Path]:
    """Play the cells that are missing in the folder ``out``, in which ``command`` is noted.

    Returns the files with the tracebacks of the cells that failed.
    """
    from rich.progress import Progress, TextColumn

    known("engine", engine, ENGINES)
    if address is not None and engine != "ray":
        raise ValueError(f"address = {address!r} is for engine = 'ray', and this is engine = {engine!r}")
    if engine == "ray" and importlib.util.find_spec("ray") is None:
        raise ValueError("engine = 'ray' needs Ray, which is not installed: pip install 'principal-agent-env[ray]'")
    if address is not None:
        engines.reach(address)
    workers = whole("workers", workers or os.cpu_count() or 1, 1)
    failures: list[Path] = []
    with locked(out) as store:
        store.enter(cells, command)
        missing = [cell for cell in cells if not store.done(cell)]
        work = {cell: cell.task.horizon + OVERHEAD for cell in cells}
        columns = (*Progress.get_default_columns(), TextColumn("{task.fields[count]} of {task.fields[cells]}"))
        # Cells differ in length, and come in an order: a speed over seconds would say nothing about the rest.
        with Progress(*columns, transient=True, speed_estimate_period=600) as progress:
            count = len(cells) - len(missing)
            done = sum(work.values()) - sum(work[cell] for cell in missing)
            bar = progress.add_task("cells", total=sum(work.values()), completed=done, count=count, cells=len(cells))
            if engine == "ray":
                played = engines.ray(missing, store, workers, address)
            else:
                played = engines.local(missing, store, workers)
            for cell, failed in played:
                count += 1
                progress.update(bar, advance=work[cell], count=count)
                if failed:
                    failures.append(store.failure(cell))
    return failures
