"""Digests of the sources that may be compiled into a function: its file, and the files that it imports.

Found by reading import statements, so nothing is imported or listed by hand. The standard library is left out. Of
other installed packages the imported module alone counts; the versions of those that compile are in the digest.
"""

import ast
import functools
import hashlib
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np

OURS = ("pa_env", "baselines")  # installed packages whose own imports count too
INSTALLED = {"site-packages", "dist-packages"}
PLAIN = (bool, int, float, complex, str, bytes, np.generic)  # what a function may take from a name outside it


def digest(path: Path) -> str:
    """SHA-256 of the versions of what compiles, and of all sources that may be compiled into functions of a file."""
    found = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {np.__version__}".encode())
    for content in sorted(hashlib.sha256(source.read_bytes()).digest() for source in sources(path)):
        found.update(content)
    return found.hexdigest()


def outside(function: Any) -> str:
    """SHA-256 of the numbers, texts, arrays and compiled functions that names in a function stand for.

    It tells of what no import statement does: a value that was read from a file, or a module in a folder without an
    ``__init__.py``.
    """
    found, left, seen = hashlib.sha256(), [function], set()
    while left:
        value = left.pop()
        if isinstance(value, tuple):
            left += value
        elif isinstance(value, PLAIN):
            found.update(repr(value).encode())
        elif isinstance(value, np.ndarray):
            found.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
        elif value is function or hasattr(value, "py_func"):
            plain = getattr(value, "py_func", value)
            if plain not in seen:
                seen.add(plain)
                for code in codes(plain.__code__):
                    found.update(code.co_code)
                    left += code.co_consts
                left += _named(plain)
    return found.hexdigest()


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of functions inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


def _named(function: Any) -> list[Any]:
    """What a function's names stand for: globals, variables around it, and attributes of modules and classes."""
    names = sorted({name for code in codes(function.__code__) for name in code.co_names})
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    found += [cell.cell_contents for cell in function.__closure__ or ()]
    for value in found:  # which grows
        if isinstance(value, ModuleType | type):
            attributes = (vars(value).get(name) for name in names)
            found += [each for each in attributes if not any(each is other for other in found)]
    return found


def sources(path: Path) -> set[Path]:
    """A file and all that it imports, directly or not."""
    found, left = set(), [path]
    while left:
        at = left.pop()
        if at not in found:
            found.add(at)
            status = at.stat()
            left += _imports(at, status.st_mtime_ns, status.st_size)
    return found


@functools.cache
def _imports(path: Path, _time: int, _size: int) -> tuple[Path, ...]:
    """The source files of the modules that a file imports; none if it belongs to another installed package."""
    parts = path.parts
    installed = max((k for k, part in enumerate(parts) if part in INSTALLED), default=None)
    if installed is not None and parts[installed + 1] not in OURS:
        return ()
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        return ()
    found: set[Path] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.update(_files(path, alias.name, 0))
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found.update(_files(path, module, node.level))
            for alias in node.names:  # which may be modules too
                found.update(_files(path, f"{module}.{alias.name}".strip("."), node.level))
    return tuple(sorted(found))


def _files(path: Path, name: str, level: int) -> Iterator[Path]:
    """The source of a module that a file imports, if it has one.

    Args:
        path: of the file.
        name: of the module, with dots.
        level: how many dots stand before it.
    """
    first, *rest = name.split(".")
    if level:
        base = path.parents[level - 1].joinpath(*filter(None, (first, *rest)))
    else:
        origin = None if first in sys.stdlib_module_names else _origin(first, path)
        if origin is None:
            return
        if not rest:
            yield origin
            return
        base = origin.parent.joinpath(*rest)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            yield candidate


def _origin(name: str, path: Path) -> Path | None:
    """The source of a top-level module: of the one imported already, on the path, or beside the file."""
    spec = getattr(sys.modules.get(name), "__spec__", None) or PathFinder.find_spec(name)
    beside = (path.parent / f"{name}.py", path.parent / name / "__init__.py")
    known = getattr(sys.modules.get(name), "__file__", None) or getattr(spec, "origin", None)
    for candidate in (*([Path(known)] if known else ()), *beside):
        if candidate.suffix == ".py" and candidate.is_file():
            return candidate
    return None
