"""What every test shares: Hypothesis runs the same examples each time, helper modules can be imported, and each
compiled function is compiled once, not once in every worker."""

import contextlib
import gc
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def _games(principal: str, instance: str, agent: str) -> Callable[[], None]:
    def play() -> None:
        import baselines
        from pa_env.game import Game

        baselines.simulate(principal, instance, agent, horizon=60)
        baselines.simulate(principal, instance, agent, horizon=60, seeds=range(2))
        game = Game(instance=instance, agent=agent)
        game.begin([1])
        game.hold([0.0] * game.n_arms, 1)
        game.play([0.0] * game.n_arms)

    return play


# What takes long to compile: the kernel is compiled for each kind of game.
PARTS: dict[str, Callable[[], None]] = {
    "i.i.d.": _games("profit-target", "uniform", "empirical-mean"),
    "linear": _games("c-ipa", "unit-ball", "ols"),
    "exploring": _games("profit-target", "uniform", "exploratory"),
    "linear, exploring": _games("c-ipa", "unit-ball", "exploratory"),
    "other agents": _games("profit-target", "uniform", "logit"),
    "linear, other agents": _games("c-ipa", "unit-ball", "logit"),
    "rules": _rules,
}


def _share_compilation(folder: Path) -> None:
    """Let one worker compile a function while others that want it wait, and then load it from the cache."""
    from filelock import FileLock, Timeout

    from pa_env.kernel.compiling import StampedCache

    load, save, compiling = StampedCache.load_overload, StampedCache.save_overload, dict[str, FileLock]()

    def name_of(cache: StampedCache, signature: Any) -> str:
        try:
            place = cache.cache_path
        except Exception:  # of a function that was not read from a file: it is not kept
            return ""
        function = f"{cache._function.__qualname__} {cache._function.__code__.co_firstlineno}"
        return hashlib.sha256(f"{place} {function} {signature}".encode()).hexdigest()

    def load_overload(cache: StampedCache, sig: Any, target_context: Any) -> Any:
        loaded, name = load(cache, sig, target_context), name_of(cache, sig)
        if loaded is None and name and name not in compiling:
            compiling[name] = FileLock(folder / name)
            with contextlib.suppress(Timeout):  # another could not compile it, and keeps the lock
                compiling[name].acquire(timeout=30)
            loaded = load(cache, sig, target_context)
            if loaded is not None:
                compiling.pop(name).release()
        return loaded

    def save_overload(cache: StampedCache, sig: Any, data: Any) -> None:
        save(cache, sig, data)
        if (lock := compiling.pop(name_of(cache, sig), None)) is not None:
            lock.release()

    StampedCache.load_overload, StampedCache.save_overload = load_overload, save_overload  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def compiled_once(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With several workers: each of them compiles the next part that nobody has begun, until all are begun."""
    if not hasattr(request.config, "workerinput"):
        return
    shared = tmp_path_factory.getbasetemp().parent
    _share_compilation(shared)
    for part, play in PARTS.items():
        try:
            (shared / part).touch(exist_ok=False)
        except FileExistsError:
            continue
        play()
