"""Specs: strings that name a principal, an agent or an instance, built in, your own, or a trained policy on disk.

- ``elimination`` or ``elimination,constants=practical,delta=0.01``: a built-in name, and parameters (numbers, words,
  true or false); likewise the agent ``exploratory,c0=0.3`` and the family of instances ``misaligned``;
- ``path/to/own.py:Haggler,patience=3`` or ``my_package.own:Haggler``: your own code, in a file or in a module that
  Python can import (the current folder is searched last). A principal is a subclass of ``baselines.Principal``. An
  agent is a class or an object with ``reset``, ``choose``, ``learn`` and ``means``. An instance is a ``pa_env.IID``, a
  ``pa_env.Linear``, a function ``rng -> instance``, or a class that makes one of these;
- ``policies/k5.npz``: a trained policy, which is a principal.

>>> make_principal("exploratory,c0=0.5", n_arms=5, horizon=1000).c0
0.5
>>> make_agent("exploratory,c0=0.5").c0
0.5
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pa_env
from baselines import rl
from baselines.benchmark import own
from baselines.principal import Principal
from baselines.registry import POLICY, PRINCIPALS, WEIGHTS, Spec, factory, make
from baselines.registry import parse as parse
from pa_env.checks import known
from pa_env.instances import FAMILIES, InstanceLike
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import AgentLike, resolve

Files = Mapping[str, Path]  # where the files named in specs are on this machine, if elsewhere than they were named


def make_principal(
    spec: str, n_arms: int, horizon: int, arms: Floats | None = None, files: Files | None = None
) -> Principal:
    """The principal that a spec names.

    Args:
        spec: see above.
        n_arms: number of arms.
        horizon: rounds.
        arms: (n_arms, dim), if rewards are linear; passed to principals with a parameter ``arms``.
        files: see ``Files``.
    """
    parsed = parse(spec)
    path = _path("principal", spec, parsed, files)
    if path is not None and path.suffix == POLICY:
        if parsed.parameters:
            raise ValueError(f"principal = {spec!r}: a trained policy takes no parameters")
        return rl.load(path, n_arms=n_arms, horizon=horizon)
    if parsed.where in rl.shipped():
        return make(parsed.where, n_arms=n_arms, horizon=horizon, **parsed.parameters)
    made = _own_principal(spec, parsed, path) if parsed.own else factory(parsed.where)
    accepted = _check_parameters("principal", spec, made, ("n_arms", "horizon"))
    told = {}
    if "arms" in accepted:
        if arms is None:
            raise ValueError(f"principal = {spec!r} must be told the arms, and these rewards are not linear")
        told["arms"] = arms
    return made(n_arms=n_arms, horizon=horizon, **told, **parsed.parameters)


def make_agent(spec: str, files: Files | None = None) -> AgentLike:
    """The agent that a spec names."""
    parsed = parse(spec, "agent")
    if not parsed.own:
        return pa_env.make_agent(parsed.where, **parsed.parameters)
    made = _called("agent", spec, parsed, files)
    try:
        return resolve(made)
    except TypeError as error:
        raise TypeError(f"agent = {spec!r}: {error}") from None


def make_instance(spec: str, files: Files | None = None) -> InstanceLike:
    """The value of ``instance=`` that a spec names: a family's name, an instance, or a function ``rng -> instance``."""
    parsed = parse(spec, "instance")
    if not parsed.own:
        known("instance", spec, FAMILIES)
        return spec
    made = _called("instance", spec, parsed, files)
    if not (isinstance(made, pa_env.IID | pa_env.Linear) or callable(made)):
        raise TypeError(f"instance = {spec!r} must be a pa_env.IID, a pa_env.Linear, or a function rng -> instance")
    return made  # type: ignore[no-any-return]


def is_own(spec: str) -> bool:
    """Whether a spec names users' own code, which runs in separate processes."""
    return ":" in spec.split(",")[0]


class Described(NamedTuple):
    """Facts about the object that a spec names, known without running it."""

    label: str
    """Its name in tables and figures."""
    digest: str | None
    """SHA-256 of its files; None for built-in code, which :mod:`baselines.benchmark.versions` covers."""
    files: dict[str, Path]
    """Its files, by their paths relative to its folder; the file that defines it comes first."""


def describe(spec: str, what: str = "principal") -> Described:
    """Describe what a spec names; users' own code is imported."""
    parsed = parse(spec, what)
    if parsed.own:
        named = own.find(what, spec, parsed, _path(what, spec, parsed, None))
        names = (vars(named).get("name"), getattr(named, "__name__", ""), type(named).__name__)  # none of a base class
        name = next(name for name in names if isinstance(name, str) and name)
        shown = spec if name in (*PRINCIPALS, *rl.shipped()) else ",".join([name, *spec.split(",")[1:]])
        files = own.sources(parsed)
        return Described(shown, own.digest(files), files)
    path = WEIGHTS / f"{parsed.where}{POLICY}" if parsed.where in rl.shipped() else parsed.file
    if path is not None:
        return Described(spec, own.digest({path.name: path}), {path.name: path})
    stand_in = parsed.where in PRINCIPALS and what == "principal" and factory(parsed.where).stand_in
    return Described(f"{spec} (a stand-in)" if stand_in else spec, None, {})


def label(spec: str) -> str:
    """The name of a principal in tables and figures; a stand-in for a published algorithm is marked."""
    return spec if parse(spec).own else describe(spec).label


def _path(what: str, spec: str, parsed: Spec, files: Files | None) -> Path | None:
    """The file that a spec names, on this machine."""
    path = parsed.file and (files or {}).get(parsed.where, parsed.file)
    if path is not None and not path.is_file():
        raise ValueError(f"{what} = {spec!r}: there is no file {path}")
    return path


def _own_principal(spec: str, parsed: Spec, path: Path | None) -> type[Principal]:
    """A user's own subclass of ``Principal``."""
    named = own.find("principal", spec, parsed, path)
    if not (isinstance(named, type) and issubclass(named, Principal)):
        raise TypeError(f"principal = {spec!r}: {parsed.own} must be a subclass of baselines.Principal")
    if named.privileged:
        raise ValueError(f"principal = {spec!r} is privileged: it is shown the game, and can't be compared with others")
    return named


def _called(what: str, spec: str, parsed: Spec, files: Files | None) -> Any:
    """A user's own object; a class is called with the parameters, and a function gets them when it is called."""
    named = own.find(what, spec, parsed, _path(what, spec, parsed, files))
    if isinstance(named, type):
        _check_parameters(what, spec, named)
        return named(**parsed.parameters)
    if not parsed.parameters:
        return named
    if not inspect.isfunction(named):
        raise TypeError(f"{what} = {spec!r}: {parsed.own} is an object, and takes no parameters")
    _check_parameters(what, spec, named)
    return functools.partial(named, **parsed.parameters)


def _check_parameters(what: str, spec: str, made: Callable[..., Any], given: tuple[str, ...] = ()) -> dict[str, bool]:
    """Raise unless ``made`` takes a spec's parameters; returns those besides ``given``, and whether each is a bool."""
    accepted = {
        taken.name: taken.annotation in (bool, "bool") or isinstance(taken.default, bool)
        for taken in inspect.signature(made).parameters.values()
        if taken.name not in given and taken.kind not in (taken.VAR_POSITIONAL, taken.VAR_KEYWORD)
    }
    for name, value in parse(spec, what).parameters.items():
        known(f"parameter of {what} {spec.split(',')[0]!r}", name, accepted)
        if accepted[name] != isinstance(value, bool):  # else any word would be true, and True a 1
            kind = "true or false" if accepted[name] else "no truth value (or its class must say that it is a bool)"
            raise TypeError(f"{what} = {spec!r}: {name} = {value!r} must be {kind}")
    return accepted
