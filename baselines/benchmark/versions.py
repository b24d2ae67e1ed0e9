"""Versions of this package's code and of its libraries, on which the results of a block depend.

All results in a folder have the same versions.
"""

import ast
import functools
import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pa_env

LIBRARIES = ("numpy", "numba", "scipy")


def sources() -> dict[str, Path]:
    """The files that play a block, by their paths relative to the packages.

    They are the whole game, and what :mod:`baselines.benchmark.blocks` imports at its top, and so on. What is imported
    for type checkers or in a function does not play: figures, for instance. Tasks have versions of their own.
    """
    game, blocks = Path(pa_env.__file__).parent, Path(__file__).with_name("blocks.py")
    files, waiting = dict.fromkeys(game.rglob("*.py"), game.parent), [blocks]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files[path] = blocks.parents[2]
            waiting += _imports(path, blocks.parents[2])
    return dict(sorted((path.relative_to(root).as_posix(), path) for path, root in files.items()))


def _imports(path: Path, root: Path) -> Iterator[Path]:
    """The files of ``baselines`` that a file imports at its top."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "baselines":
            module = root.joinpath(*str(node.module).split("."))
            for inside in (module / alias.name for alias in node.names):
                either = (inside.with_suffix(".py"), inside / "__init__.py", module.with_suffix(".py"))
                yield next((file for file in either if file.is_file()), module / "__init__.py")


@functools.cache
def versions() -> dict[str, str]:
    """Name and version of everything that must be the same in a folder of results; that of our code is a SHA-256."""
    code = hashlib.sha256()
    for name, path in sources().items():
        code.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    libraries = {name: version(name) for name in LIBRARIES}
    return {"version": pa_env.__version__, "code": code.hexdigest(), **libraries}
