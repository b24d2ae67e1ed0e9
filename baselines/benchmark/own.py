"""Users' own code: a class, an object or a function in a file or a module, and a digest of what it consists of.

A benchmark imports it only in processes of its own (:mod:`baselines.benchmark.processes`). Its folder, or the current
one for a module, can be imported from, but no file there hides a library of the same name.
"""

import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from baselines.registry import Spec

INSTALLED = "site-packages"
OURS = ("pa_env", "baselines")  # see versions


def find(what: str, spec: str, parsed: Spec, path: Path | None) -> Any:
    """What a spec names in a file (``path``) or, without one, in a module; ``what`` it is said to be in messages."""
    try:
        module = _module(parsed.where, path)
    except ModuleNotFoundError as error:
        raise ValueError(f"{what} = {spec!r}: {error}; install it, or name its file, path/to/file.py:Name") from error
    except (Exception, SystemExit) as error:
        raise ValueError(f"{what} = {spec!r} can't be imported: {type(error).__name__}: {error}") from error
    if not hasattr(module, parsed.own):
        raise ValueError(f"{what} = {spec!r}: {parsed.where} has no class {parsed.own!r}")
    return getattr(module, parsed.own)


def sources(parsed: Spec) -> dict[str, Path]:
    """The files of users' own code, which has been imported: its own, and those imported from beside it or below.

    By their paths from the folder of the code's own file on, which comes first. Changes elsewhere are not noticed: in
    data that it reads, in installed libraries, and in what it imports only while it plays.
    """
    main = _file(_module(parsed.where, parsed.file))
    if main is None:
        return {}
    found = {main.name: main}
    if main.parent.name != INSTALLED:
        modules = [module for name, module in sys.modules.items() if name.partition(".")[0] not in OURS]
        for path in sorted(filter(None, map(_file, modules))):
            beside = path.relative_to(main.parent).as_posix() if path.is_relative_to(main.parent) else INSTALLED
            if INSTALLED not in beside:
                found.setdefault(beside, path)
    return found


def digest(files: dict[str, Path]) -> str:
    """SHA-256 of the files' names and contents."""
    code = hashlib.sha256()
    for name, path in files.items():
        code.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return code.hexdigest()


def _module(where: str, path: Path | None) -> ModuleType:
    """The module in a file, or by its name."""
    if path is not None:
        return _import_file(path.absolute())
    with _importable(Path.cwd()):
        return importlib.import_module(where)


def _file(module: ModuleType) -> Path | None:
    """The source of a module, if it has one.

    Not all have: ``torch.classes`` says that its file is ``_classes.py``, wherever one is.
    """
    name = getattr(module, "__file__", None)
    return Path(name) if isinstance(name, str) and name.endswith(".py") and os.path.isabs(name) else None


@contextmanager
def _importable(*folders: Path) -> Iterator[None]:
    """Let modules of some folders be imported, but none that has the name of another; what is done here stays here."""
    here, added = Path.cwd(), [str(folder) for folder in folders if str(folder) not in sys.path]
    sys.path.extend(added)
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)
        os.chdir(here)


@functools.cache
def _import_file(path: Path) -> ModuleType:
    """The module in a file, under a name that no other module has."""
    name = f"own_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and others look their module up
    with _importable(path.parent, Path.cwd()):
        loader.exec_module(module)
    return module
