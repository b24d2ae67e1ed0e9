"""Compiled code is never stale, survives a bad cache, and each private part of Numba that it uses has a fallback."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import baselines
import pa_env
from pa_env import compiling
from pa_env.compiling import compiled, digest, machine_code, pointer
from pa_env.game import Game
from pa_env.rules import SIGNATURE, compile_rule

# Plays every kind of compiled function: the kernel by held offers and by a rule of another package, and an agent that
# explores. Prints the oracle's regret, which is 0 whatever the layout, and numbers that depend on constants.
PLAY = """
import json, numpy as np, baselines, pa_env
run = baselines.simulate("oracle", horizon=300, seed=2, checkpoints=[300])
explored = baselines.simulate("zero", agent="exploratory", horizon=300, seed=2, checkpoints=[300])
game = pa_env.game.Game(instance=pa_env.IID([0.3, 0.6], [0.5, 0.5], "beta"), horizon=50)
game.begin(seeds=[1])
game.hold([0.5, 0.0], 50)
print(json.dumps([run.regret[-1], explored.plays[-1].tolist(), game.totals()["utility"]]))
"""


def play(package: Path, cache: Path, **environment: str) -> Any:
    """What a fresh process prints that finds the packages in one folder, with its compile cache in another."""
    variables = os.environ | {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)} | environment
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PLAY],
        env=variables,
        cwd=package,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def edit(path: Path, old: str, new: str) -> None:
    """Change a source; its size and time stay as they were, so that nothing but its content tells."""
    text, times = path.read_text(), path.stat()
    assert text.count(old) == 1
    assert len(old) == len(new)
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of both packages."""
    folder = tmp_path_factory.mktemp("packages")
    for package in (pa_env, baselines):
        origin = Path(package.__file__).parent
        shutil.copytree(origin, folder / origin.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def warm(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A cache that holds the machine code of the packages as they are, and what they play."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, play(packages, cache)


def test_a_changed_constant_is_seen_with_a_warm_cache(packages: Path, warm: tuple[Path, Any]) -> None:
    """Rows that swap places leave every number as it was; another law of the rewards gives other numbers."""
    cache, before = warm
    assert before[0] < 1e-6
    layout, draws = packages / "pa_env/layout.py", packages / "pa_env/kernel/draws.py"
    originals = layout.read_text(), draws.read_text()
    try:
        edit(layout, "THETA = 1  # theta_a", "THETA = 2  # theta_a")
        edit(layout, "MEAN = 2  # muhat_a(t)", "MEAN = 1  # muhat_a(t)")
        edit(draws, "BETA_CONCENTRATION = 2.0", "BETA_CONCENTRATION = 7.0")
        after = play(packages, cache)
        assert after[:2] == before[:2]
        assert after[2] != before[2]
    finally:
        layout.write_text(originals[0])
        draws.write_text(originals[1])


def test_two_versions_share_a_cache_folder(packages: Path, warm: tuple[Path, Any]) -> None:
    """A rule of the other version stands in the same folder under the same name; each plays its own."""
    cache, before = warm
    oracle = packages / "baselines/scripted/simple.py"
    original = oracle.read_text()
    try:
        edit(oracle, "TIE_BREAK = 1e-9", "TIE_BREAK = 1e-2")
        assert play(packages, cache)[0] > 1e-3
    finally:
        oracle.write_text(original)
    assert play(packages, cache) == before


def test_a_damaged_cache_is_compiled_anew(packages: Path, warm: tuple[Path, Any], tmp_path: Path) -> None:
    damaged = tmp_path / "cache"
    shutil.copytree(warm[0], damaged)
    files = [path for path in damaged.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for i, path in enumerate(sorted(files)):
        path.write_bytes(b"" if i % 3 == 0 else path.read_bytes()[:100] if i % 3 == 1 else b"garbage")
    assert play(packages, damaged) == warm[1]


def test_a_full_disk_does_not_stop_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling.FunctionCache, "save_overload", full)
    monkeypatch.setattr(compiling.FunctionCache, "load_overload", full)
    assert compiled(lambda x: x + 1)(2) == 3


def test_the_digest_changes_with_every_source_that_may_be_compiled() -> None:
    """That of the kernel with its own files, that of another package with its files too."""
    assert digest("pa_env.kernel") != digest("baselines") != digest("json")
    own = {path.name for pattern in compiling.KERNEL for path in Path(pa_env.__file__).parent.glob(pattern)}
    assert own == {
        *("layout.py", "compiling.py", "__init__.py"),
        *("agents.py", "draws.py", "episodes.py", "instances.py", "least_squares.py", "observations.py", "play.py"),
    }


# ----------------------------------------------------------------------------------------- Numba's private parts


def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[1] = 0.5
    return 1


def test_canary_nrt_is_an_option() -> None:
    assert compiling._supported({"_nrt": False}) == {"_nrt": False}
    assert compiling.OPTIONS["_nrt"] is False


def test_canary_caches_are_replaced() -> None:
    assert type(compiled(lambda x: x)._cache).__name__ == "StampedCache"  # type: ignore[attr-defined]


def test_canary_overloads_are_called_directly() -> None:
    function = compiled(lambda x: x + 1.0)
    call = machine_code(function, (1.0,))
    assert call is not function
    assert call(2.0) == 3.0


def test_canary_addresses_are_told() -> None:
    assert isinstance(pointer(compile_rule(rule)), compiling.Pointer)


def held() -> list[int]:
    game = Game(n_arms=2, agent="oracle", horizon=10)
    game.begin([1])
    game.follow(compile_rule(rule), np.zeros(1), 5)
    return game.hold([0.9, 0.0], 5).plays.tolist()


@pytest.mark.parametrize("missing", ["machine_code", "Pointer", "FunctionCache"])
def test_without_a_private_part_the_same_is_played(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = held()
    if missing == "machine_code":
        monkeypatch.setattr(pa_env.game, "_PLAY", {})
        monkeypatch.setattr(pa_env.game, "machine_code", lambda function, _: function)
    elif missing == "Pointer":
        monkeypatch.setattr(compiling.Pointer, "__init__", _no_attribute)
        assert not isinstance(pointer(compile_rule(rule)), compiling.Pointer)
    else:
        monkeypatch.setattr(compiling, "FunctionCache", None)
    assert held() == expected


def _no_attribute(*_: Any) -> None:
    raise AttributeError("overloads")


def test_without_the_option_nrt_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    njit: Callable[..., Any] = numba.njit

    def other(*arguments: Any, **options: Any) -> Any:
        if "_nrt" in options:
            raise KeyError("Unrecognized options: {'_nrt'}")
        return njit(*arguments, **options)

    monkeypatch.setattr(numba, "njit", other)
    assert compiling._supported({"nogil": True, "_nrt": False}) == {"nogil": True}


def test_numba_is_bounded_above() -> None:
    """What is private may change with any version."""
    from importlib.metadata import requires

    (bound,) = (line for line in requires("principal-agent-env") or () if line.startswith("numba"))
    assert "<" in bound
    assert SIGNATURE.return_type == numba.int64
