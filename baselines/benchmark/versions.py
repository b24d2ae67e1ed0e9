"""Versions of this package's code and of its libraries, on which the results of a block depend.

All results in a folder have the same versions.
"""

import functools
import hashlib
from importlib.metadata import version
from pathlib import Path

import pa_env

LIBRARIES = ("numpy", "numba", "scipy")
# Of this package, beside baselines/scripted. Tasks have versions of their own.
PLAYING = (
    "principal.py",
    "registry.py",
    "simulation.py",
    "specs.py",
    "trace.py",
    "benchmark/blocks.py",
    "rl/__init__.py",
    "rl/policy_file.py",
    "rl/trained.py",
    "rl/view.py",
)


def sources() -> dict[str, Path]:
    """The files that play a block, by their paths relative to the packages."""
    game, players = Path(pa_env.__file__).parent, Path(__file__).parents[1]
    found = {path.relative_to(game.parent).as_posix(): path for path in game.rglob("*.py")}
    for path in (*players.glob("scripted/**/*.py"), *(players / name for name in PLAYING)):
        found[path.relative_to(players.parent).as_posix()] = path
    return dict(sorted(found.items()))


@functools.cache
def versions() -> dict[str, str]:
    """Name and version of everything that must be the same in a folder of results; that of our code is a SHA-256."""
    code = hashlib.sha256()
    for name, path in sources().items():
        code.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    libraries = {name: version(name) for name in LIBRARIES}
    return {"version": pa_env.__version__, "code": code.hexdigest(), **libraries}
