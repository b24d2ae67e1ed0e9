"""Specs: strings that name a principal, an agent or an instance; and the import of users' code that they name.

- ``elimination`` or ``elimination,constants=practical,delta=0.01``: a built-in name, and parameters (numbers, words,
  true or false); likewise the agent ``exploratory,c0=0.3`` and the family of instances ``misaligned``;
- ``path/to/mine.py:Haggler,patience=3`` or ``my_package.mine:Haggler``: users' code, in a file or in a module that
  Python can import (the current folder is searched last). A principal is a subclass of ``baselines.Principal``. An
  agent is a class or an object with ``reset``, ``choose``, ``learn`` and ``means``. An instance is a ``pa_env.IID``, a
  ``pa_env.Linear``, a function ``rng -> instance``, or a class that makes one of these;
- ``policies/k5.npz``: a trained policy, which is a principal or an agent.

A benchmark imports users' code only in separate processes. The folder of a file, or the current one for a module, can
be imported from, but no file there hides a library of the same name. :mod:`baselines.registry` makes what specs name.
"""

import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from pa_env.checks import short
from pa_env.trained_agents import POLICY

FLAGS = {"true": True, "True": True, "false": False, "False": False}
INSTALLED = "site-packages"
PACKAGES = ("pa_env", "baselines")  # of which results hold the digest anyway


class Spec(NamedTuple):
    """The parts of a spec; as text, the beginning of an error message about it."""

    text: str
    what: str
    """The kind of thing that it names: principal, agent or instance."""
    place: str
    """A built-in name, a file, or a module."""
    member: str
    """The class, object or function in users' code; empty for a built-in name and for a policy file."""
    parameters: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.what} = {short(self.text)}"

    @property
    def file(self) -> Path | None:
        """The file that it names, if any."""
        return Path(self.place) if self.place.endswith((".py", POLICY)) else None

    def existing_file(self) -> Path | None:
        """Return the file that it names, if any; raise if there is none."""
        if self.file is not None and not self.file.is_file():
            raise ValueError(f"{self}: there is no file {self.file}")
        return self.file


def parse(text: str, what: str = "principal") -> Spec:
    """Split a spec into its parts; nothing is imported.

    >>> parse("exploratory,c0=0.5").parameters
    {'c0': 0.5}

    Args:
        text: ``name``, ``path/to/file.py:Name`` or ``module:Name``, and parameters, as in ``name,delta=0.01``.
        what: the kind of thing that the spec names, for messages.
    """
    head, *pairs = text.split(",")
    place, _, member = head.partition(":")
    parameters: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier() or name in parameters:
            raise ValueError(
                f"{what} = {short(text)}: {short(pair)} must be a parameter and its value, as in name=value, and given"
                " once"
            )
        parameters[name] = number = _value(value)
        if isinstance(number, int) and abs(number) > sys.float_info.max:
            raise ValueError(f"{what} = {short(head)}: {name} = {short(number)} must be a number that a float can hold")
    if place.endswith(".py") and not member:
        raise ValueError(f"{what} = {short(text)} must name something in the file, as in {place}:Name")
    if place.endswith(POLICY) and member:
        raise ValueError(f"{what} = {short(text)}: a trained policy has no class {member!r}")
    return Spec(text, what, place, member, parameters)


def _value(text: str) -> bool | int | float | str:
    if text in FLAGS:
        return FLAGS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def is_user_code(spec: str) -> bool:
    """Return whether a spec names users' code, which runs in separate processes."""
    return ":" in spec.split(",")[0]


def is_policy(spec: str) -> bool:
    """Return whether a spec names the file of a trained policy."""
    return spec.split(",")[0].endswith(POLICY)


def import_member(spec: Spec) -> object:
    """Import users' code, and return the class, object or function that the spec names in it."""
    path = spec.existing_file()
    try:
        module = _module(spec.place, path)
    except ModuleNotFoundError as error:
        raise ValueError(f"{spec}: {error}; install it, or name its file, path/to/file.py:Name") from error
    except (Exception, SystemExit) as error:
        raise ValueError(f"{spec} can't be imported: {type(error).__name__}: {error}") from error
    if not hasattr(module, spec.member):
        raise ValueError(f"{spec}: {spec.place} has no class {spec.member!r}")
    member: object = getattr(module, spec.member)
    return member


def source_files(spec: Spec) -> dict[str, Path]:
    """Return the files of users' code that has been imported: the one named, and those imported from its folder.

    They are keyed by their paths relative to that folder; the file named comes first. Changes elsewhere are not
    noticed: in data that it reads, in installed libraries, and in what it imports only while it plays.
    """
    main = _source_file(_module(spec.place, spec.file))
    if main is None:
        return {}
    files = {main.name: main}
    if main.parent.name != INSTALLED:
        modules = [module for name, module in sys.modules.items() if name.partition(".")[0] not in PACKAGES]
        for path in sorted(filter(None, map(_source_file, modules))):
            relative = path.relative_to(main.parent).as_posix() if path.is_relative_to(main.parent) else INSTALLED
            if INSTALLED not in relative:
                files.setdefault(relative, path)
    return files


def digest(files: Mapping[str, Path]) -> str:
    """Return the SHA-256 of the files' names and contents."""
    code = hashlib.sha256()
    for name, path in files.items():
        code.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return code.hexdigest()


def _module(place: str, path: Path | None) -> ModuleType:
    """Import the module in a file, or the one of this name."""
    if path is not None:
        return _import_file(path.absolute())
    with _importable(Path.cwd()):
        return importlib.import_module(place)


def _source_file(module: ModuleType) -> Path | None:
    """Return the source of a module, if it has one: ``torch.classes`` claims to be ``_classes.py``, wherever one is."""
    name = getattr(module, "__file__", None)
    return Path(name) if isinstance(name, str) and name.endswith(".py") and os.path.isabs(name) else None


@contextmanager
def _importable(*folders: Path) -> Iterator[None]:
    """Append folders to sys.path, where they hide no installed package; restore it and the current folder on exit."""
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
    """Import a file under a name that no other module has."""
    name = f"own_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses and others look their module up
    with _importable(path.parent, Path.cwd()):
        loader.exec_module(module)
    return module
