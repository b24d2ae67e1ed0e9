"""The names of the principals, and specs: strings that give a name with parameters, ``elimination,delta=0.01``."""

import functools
import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.principal import Principal
from pa_env.checks import known

# Name -> module in baselines.scripted and class in it; imported when asked for.
PRINCIPALS = {
    "elimination": "paper.elimination:Elimination",
    "elimination-offline": "paper.elimination_offline:EliminationOffline",
    "exploratory": "paper.exploratory:Exploratory",
    "exploratory-oracle": "paper.exploratory_oracle:ExploratoryOracle",
    "linear": "paper.linear:LinearElimination",
    "ipa": "peers.ipa:IPA",
    "c-ipa": "peers.c_ipa:CIPA",
    "epsilon-greedy": "peers.epsilon_greedy:EpsilonGreedy",
    "robust-epsilon-greedy": "peers.robust_epsilon_greedy:RobustEpsilonGreedy",
    "belgic": "peers.belgic:Belgic",
    "price-grid": "peers.price_grid:PriceGrid",
    "explore-then-commit": "ours.explore_then_commit:ExploreThenCommit",
    "profit-target": "ours.profit_target:ProfitTarget",
    "bracket-ucb": "ours.bracket_ucb:BracketUCB",
    "particle": "ours.particle:Particle",
    "zero": "simple:Zero",
    "fixed": "simple:Fixed",
    "oracle": "simple:Oracle",
    "knows-beliefs": "ours.knows_beliefs:KnowsBeliefs",
}
WEIGHTS = Path(__file__).parent / "rl" / "weights"  # of the trained principals that come with the package
POLICY = ".npz"  # how the names of policy files end
FLAGS = {"true": True, "True": True, "false": False, "False": False}


class Spec(NamedTuple):
    """The parts of a spec."""

    where: str
    """A name, a file, or a module."""
    own: str
    """The name of a user's own class, object or function in that file or module; else empty."""
    parameters: dict[str, Any]

    @property
    def file(self) -> Path | None:
        """The file that it names, if any."""
        return Path(self.where) if self.where.endswith((".py", POLICY)) else None


def parse(spec: str, what: str = "principal") -> Spec:
    """Split a spec into its parts; nothing is imported.

    >>> parse("exploratory,c0=0.5").parameters
    {'c0': 0.5}

    Args:
        spec: ``name``, ``path/to/file.py:Name`` or ``module:Name``, and parameters, as in ``name,delta=0.01``.
        what: what the spec names, for messages.
    """
    head, *pairs = spec.split(",")
    where, _, own = head.partition(":")
    parameters: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier() or name in parameters:
            raise ValueError(
                f"{what} = {spec!r}: {pair!r} must be a parameter and its value, as in name=value, and given once"
            )
        parameters[name] = number = _value(value)
        if isinstance(number, int) and abs(number) > sys.float_info.max:
            raise ValueError(f"{what} = {head!r}: {name} = {value} must be a number that a float can hold")
    if where.endswith(".py") and not own:
        raise ValueError(f"{what} = {spec!r} must name something in the file, as in {where}:Name")
    if where.endswith(POLICY) and own:
        raise ValueError(f"{what} = {spec!r}: a trained policy has no class {own!r}")
    return Spec(where, own, parameters)


def _value(text: str) -> bool | int | float | str:
    if text in FLAGS:
        return FLAGS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def principals() -> tuple[str, ...]:
    """Names of the scripted principals; :func:`make` takes those of :func:`baselines.rl.shipped` too."""
    return tuple(PRINCIPALS)


@functools.cache
def policies() -> dict[str, tuple[str, ...]]:
    """The trained principals that come with the package, with the tasks that each was trained on."""
    found = {}
    for path in sorted(WEIGHTS.glob(f"*{POLICY}"), key=lambda path: path.stem):
        with np.load(path, allow_pickle=False) as arrays:
            found[path.stem] = tuple(json.loads(str(arrays["metadata"]))["tasks"])
    return found


def factory(name: str) -> type[Principal]:
    """The class behind a name."""
    known("principal", name, PRINCIPALS)
    module, class_name = PRINCIPALS[name].split(":")
    made: type[Principal] = getattr(importlib.import_module(f"baselines.scripted.{module}"), class_name)
    return made


def parameters(name: str) -> list[inspect.Parameter]:
    """The parameters of a principal besides ``n_arms`` and ``horizon``; a trained one has none."""
    if name in policies():
        return []
    taken = inspect.signature(factory(name)).parameters.values()
    return [parameter for parameter in taken if parameter.name not in ("n_arms", "horizon")]


def make(name: str, *, n_arms: int | None = None, horizon: int | None = None, **given: Any) -> Principal:
    """A principal by name.

    Args:
        name: one of :func:`principals`, or of the trained ones that come with the package
            (:func:`baselines.rl.shipped`).
        n_arms: number of arms; None, for a trained one only: that of the first task that it was trained on.
        horizon: rounds, likewise.
        **given: parameters of its class.
    """
    known("principal", name, (*PRINCIPALS, *policies()))
    accepted = [parameter.name for parameter in parameters(name)]
    for parameter in given:
        known(f"parameter of principal {name!r}", parameter, accepted)
    if name in policies():
        from_file: Principal = importlib.import_module("baselines.rl").load(
            WEIGHTS / f"{name}{POLICY}", n_arms=n_arms, horizon=horizon
        )
        return from_file
    if n_arms is None or horizon is None:
        raise TypeError(f"principal {name!r} needs n_arms and horizon: pass n_arms=..., horizon=...")
    return factory(name)(n_arms=n_arms, horizon=horizon, **given)
