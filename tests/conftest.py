"""What every test shares: Hypothesis runs the same examples each time, helper modules can be imported, and each
compiled function is compiled once, not once in every worker."""

import gc
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


def pytest_collection_finish() -> None:
    """Leave what is imported by now out of the garbage collector's rounds, and let it go round less often.

    It would take a fifth of the time that Numba needs to compile.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _rules() -> None:
    """The rules that take longest; none of them contains the game."""
    import baselines

    for name in ("particle", "ppo", "robust-epsilon-greedy", "profit-target", "epsilon-greedy"):
        principal = baselines.make(name, n_arms=3, horizon=100)
        principal.reset(seed=1)
        principal.request()


def _simulation(principal: str, instance: str = "uniform", agent: str = "empirical-mean") -> Callable[[], None]:
    def play() -> None:
        import baselines

        baselines.simulate(principal, instance, agent, horizon=60)
        baselines.simulate(principal, instance, agent, horizon=60, seeds=range(2))

    return play


# What takes long to compile: the kernel is compiled for each kind of game. The longest parts of a stage come first, and
# share no function that is not compiled in the stage before.
STAGES: tuple[dict[str, Callable[[], None]], ...] = (
    {"iid": _simulation("oracle"), "rules": _rules},
    {
        "linear": _simulation("c-ipa", "unit-ball", "ols"),
        "exploring": _simulation("profit-target", agent="exploratory"),
        "other agents": _simulation("profit-target", agent="logit"),
        "episodes": _simulation("profit-target"),
    },
)


@pytest.fixture(scope="session", autouse=True)
def compiled_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With several workers: each part is compiled by one of them, while the others compile another or wait."""
    if not hasattr(request.config, "workerinput"):
        return
    from filelock import FileLock, Timeout

    shared = tmp_path_factory.getbasetemp().parent
    for parts in STAGES:
        waiting = list(parts)
        for blocking in (False, True):
            for part in list(waiting):
                try:
                    with FileLock(shared / f"{part}.lock", blocking=blocking):
                        parts[part]()
                    waiting.remove(part)
                except Timeout:  # another worker is at it
                    continue
