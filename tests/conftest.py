"""What every test shares: Hypothesis runs the same examples each time, helper modules can be imported, and each
compiled function is compiled once, not once in every worker."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run on every core already: more threads only wait for each other
settings.register_profile("project", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("project")

sys.path.append(str(Path(__file__).parent / "pa_env"))


def _simulation(principal: str, instance: str = "uniform", agent: str = "empirical-mean") -> Callable[[], object]:
    def play() -> object:
        import baselines

        return baselines.simulate(principal, instance, agent, horizon=60)

    return play


# What takes long to compile, in parts of about the same time: the game, that with linear rewards, and compiled rules.
PARTS = {
    "iid": _simulation("oracle"),
    "linear": _simulation("c-ipa", "unit-ball", "ols"),
    "epsilon-greedy": _simulation("epsilon-greedy"),
    "robust-epsilon-greedy": _simulation("robust-epsilon-greedy"),
    "profit-target": _simulation("profit-target"),
}


@pytest.fixture(scope="session", autouse=True)
def compiled_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With several workers: each part is compiled by one of them, while the others compile another or wait."""
    if not hasattr(request.config, "workerinput"):
        return
    from filelock import FileLock, Timeout

    shared = tmp_path_factory.getbasetemp().parent
    waiting = list(PARTS)
    for blocking in (False, True):
        for part in list(waiting):
            try:
                with FileLock(shared / f"{part}.lock", blocking=blocking):
                    PARTS[part]()
                waiting.remove(part)
            except Timeout:  # another worker is at it
                continue
