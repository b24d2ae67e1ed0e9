"""Small results of a benchmark, played for real, in this process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from baselines import pictures
from baselines.benchmark.blocks import attempt
from baselines.benchmark.plan import make_plan
from baselines.benchmark.store import locked
from baselines.tasks import tasks

SMALL = ("k3-t100-uniform", "k5-t200-uniform-exploratory")
PRINCIPALS = ("profit-target", "zero", "oracle", "elimination,constants=practical")


def make_results(
    out: Path, names: Sequence[str] = SMALL, principals: Sequence[str] = PRINCIPALS, seeds: int = 4
) -> Path:
    """What ``pa-bench run`` leaves in a folder."""
    planned = make_plan(tasks(*names), principals, seeds)
    with locked(out) as store:
        store.enter(planned.blocks, "pa-bench run --task <small> & more", planned.described)
        for block in planned.blocks:
            store.keep(attempt(block))
    return out


@contextmanager
def drawn_as(*formats: str) -> Iterator[None]:
    """Reports have their figures in these formats alone: each takes long, and one report with all of them is tested."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pictures.as_files, "__defaults__", (formats,))
        yield
