"""A string names a principal: one of ours, a class of your own, or a trained policy on disk.

- ``elimination`` or ``elimination,constants=practical,delta=0.01``: a name of the registry, and parameters
  (numbers, words, true or false);
- ``my_package.haggling:Haggler`` or ``path/to/haggling.py:Haggler,patience=3``: your subclass of
  ``baselines.Principal`` in a module that Python finds (in the current folder last of all), or in a file;
- ``policies/k5.npz``: a trained policy.

>>> make_principal("exploratory,c0=0.5", n_arms=5, horizon=1000).c0
0.5
"""

import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from baselines import rl
from baselines.protocol import Floats, Principal
from baselines.registry import PRINCIPALS, factory, make
from pa_env.checks import known

POLICY = ".npz"
FLAGS = {"true": True, "True": True, "false": False, "False": False}


class Spec(NamedTuple):
    """A spec taken apart: where the principal is found, the class there (if of one's own), and its parameters."""

    where: str
    class_name: str
    parameters: dict[str, Any]

    @property
    def file(self) -> Path | None:
        """The file that it comes from, if it names one."""
        return Path(self.where) if self.where.endswith((".py", POLICY)) else None


def parse(spec: str) -> Spec:
    """Take a spec apart; nothing is imported."""
    head, *pairs = spec.split(",")
    where, _, class_name = head.partition(":")
    parameters = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier() or name in parameters:
            raise ValueError(
                f"principal = {spec!r}: {pair!r} must be a parameter and its value, as in name=value, once"
            )
        parameters[name] = number = _value(value)
        if isinstance(number, int) and abs(number) > sys.float_info.max:
            raise ValueError(f"principal = {head!r}: {name} = {value} must be a number that a float can hold")
    if where.endswith(".py") and not class_name:
        raise ValueError(f"principal = {spec!r} must say which class of the file, as in {where}:Haggler")
    if where.endswith(POLICY) and class_name:
        raise ValueError(f"principal = {spec!r}: a trained policy has no class {class_name!r}")
    return Spec(where, class_name, parameters)


def make_principal(
    spec: str, n_arms: int, horizon: int, arms: Floats | None = None, files: Mapping[str, Path] | None = None
) -> Principal:
    """The principal that a spec names, for ``n_arms`` arms and ``horizon`` rounds.

    ``arms`` (n_arms, dim), if rewards are linear: told to principals that have such a parameter. ``files``: where the
    files named in specs are on this machine, if elsewhere than they were named.
    """
    parsed = parse(spec)
    path = parsed.file and (files or {}).get(parsed.where, parsed.file)
    if path is not None and not path.is_file():
        raise ValueError(f"principal = {spec!r}: there is no file {path}")
    if path is not None and path.suffix == POLICY:
        if parsed.parameters:
            raise ValueError(f"principal = {spec!r}: a trained policy takes no parameters")
        return rl.load(path, n_arms=n_arms, horizon=horizon)
    if parsed.where in rl.shipped():
        return make(parsed.where, n_arms=n_arms, horizon=horizon, **parsed.parameters)
    made = _own_class(spec, parsed, path) if parsed.class_name else factory(parsed.where)
    accepted = {
        taken.name: taken.annotation in (bool, "bool") or isinstance(taken.default, bool)
        for taken in inspect.signature(made).parameters.values()
        if taken.name not in ("n_arms", "horizon") and taken.kind not in (taken.VAR_POSITIONAL, taken.VAR_KEYWORD)
    }
    for name, value in parsed.parameters.items():
        known(f"parameter of principal {spec.split(',')[0]!r}", name, accepted)
        if accepted[name] != isinstance(value, bool):  # else any word would be true, and True a 1
            kind = "true or false" if accepted[name] else "no truth value (or its class must say that it is a bool)"
            raise TypeError(f"principal = {spec!r}: {name} = {value!r} must be {kind}")
    told = {}
    if "arms" in accepted:
        if arms is None:
            raise ValueError(f"principal = {spec!r} must be told the arms, and these rewards are not linear")
        told["arms"] = arms
    return made(n_arms=n_arms, horizon=horizon, **told, **parsed.parameters)


def label(spec: str) -> str:
    """How a principal is called where results are shown: one that stands in for a published algorithm says so."""
    name = spec.split(",")[0]
    return f"{spec} (a stand-in)" if name in PRINCIPALS and factory(name).stand_in else spec


def fingerprint(spec: str) -> str | None:
    """SHA-256 of the file that a spec's principal comes from; None for the scripted ones (see versions)."""
    parsed = parse(spec)
    path = parsed.file
    if parsed.where in rl.shipped():
        path = rl.WEIGHTS / f"{parsed.where}{POLICY}"
    elif path is None and parsed.class_name:
        with _current_folder_last():
            found = importlib.util.find_spec(parsed.where)
        path = Path(found.origin) if found and found.origin else None
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def _own_class(spec: str, parsed: Spec, path: Path | None) -> type[Principal]:
    """A user's own subclass of ``Principal``."""
    try:
        with _current_folder_last():
            module = importlib.import_module(parsed.where) if path is None else _import_file(path)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"principal = {spec!r}: {error}; install it, or name its file, path/to/file.py:Class"
        ) from error
    except (Exception, SystemExit) as error:
        raise ValueError(f"principal = {spec!r} can't be imported: {type(error).__name__}: {error}") from error
    own = getattr(module, parsed.class_name, None)
    if own is None:
        raise ValueError(f"principal = {spec!r}: {parsed.where} has no class {parsed.class_name!r}")
    if not (isinstance(own, type) and issubclass(own, Principal)):
        raise TypeError(f"principal = {spec!r}: {parsed.class_name} must be a subclass of baselines.Principal")
    if own.privileged:
        raise ValueError(f"principal = {spec!r} is privileged: it is shown the game, and can't be compared with others")
    return own


@contextmanager
def _current_folder_last() -> Iterator[None]:
    """Let modules of the current folder be imported, but none that has the name of another."""
    added = {os.getcwd()} - set(sys.path)
    sys.path.extend(added)
    try:
        yield
    finally:
        for folder in added:
            sys.path.remove(folder)


@functools.cache
def _import_file(path: Path) -> ModuleType:
    """The module in a file, under a name that no other module has."""
    name = f"principals_of_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec(name, loader, origin=str(path)))
    sys.modules[name] = module  # dataclasses and others look their module up
    loader.exec_module(module)
    return module


def _value(text: str) -> bool | int | float | str:
    if text in FLAGS:
        return FLAGS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
