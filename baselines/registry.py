"""The one list of principals' names."""

import functools
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np

from baselines.protocol import Principal
from pa_env.checks import known

# Name -> module in baselines.scripted and class in it; imported when asked for.
PRINCIPALS = {
    "elimination": "elimination:Elimination",
    "elimination-offline": "elimination_offline:EliminationOffline",
    "exploratory": "exploratory:Exploratory",
    "exploratory-oracle": "exploratory_oracle:ExploratoryOracle",
    "linear": "linear:LinearElimination",
    "ipa": "ipa:IPA",
    "c-ipa": "c_ipa:CIPA",
    "epsilon-greedy": "epsilon_greedy:EpsilonGreedy",
    "robust-epsilon-greedy": "robust_epsilon_greedy:RobustEpsilonGreedy",
    "belgic": "belgic:Belgic",
    "price-grid": "price_grid:PriceGrid",
    "explore-then-commit": "explore_then_commit:ExploreThenCommit",
    "profit-target": "profit_target:ProfitTarget",
    "bracket-ucb": "bracket_ucb:BracketUCB",
    "zero": "simple:Zero",
    "fixed": "simple:Fixed",
    "oracle": "simple:Oracle",
}
WEIGHTS = Path(__file__).parent / "rl" / "weights"  # of the trained principals that come with the package


def principals() -> tuple[str, ...]:
    """Names of the scripted principals; :func:`make` takes those of :func:`baselines.rl.shipped` too."""
    return tuple(PRINCIPALS)


@functools.cache
def policies() -> dict[str, str]:
    """The trained principals that come with the package, with the task that each was trained for."""
    found = {}
    for path in sorted(WEIGHTS.glob("*.npz"), key=lambda path: path.stem):
        with np.load(path, allow_pickle=False) as arrays:
            found[path.stem] = json.loads(str(arrays["metadata"]))["task"]
    return found


def factory(name: str) -> type[Principal]:
    """The class behind a name."""
    known("principal", name, PRINCIPALS)
    module, class_name = PRINCIPALS[name].split(":")
    made: type[Principal] = getattr(importlib.import_module(f"baselines.scripted.{module}"), class_name)
    return made


def parameters(name: str) -> list[inspect.Parameter]:
    """What a principal takes besides ``n_arms`` and ``horizon``; a trained one takes nothing."""
    if name in policies():
        return []
    taken = inspect.signature(factory(name)).parameters.values()
    return [parameter for parameter in taken if parameter.name not in ("n_arms", "horizon")]


def make(name: str, *, n_arms: int | None = None, horizon: int | None = None, **given: Any) -> Principal:
    """A principal by name.

    Args:
        name: one of :func:`principals`, or of the trained ones that come with the package
            (:func:`baselines.rl.shipped`).
        n_arms: number of arms; a trained one is by default made for the game that it was trained on.
        horizon: rounds, likewise.
        **given: parameters of its class.
    """
    known("principal", name, (*PRINCIPALS, *policies()))
    accepted = [parameter.name for parameter in parameters(name)]
    for parameter in given:
        known(f"parameter of principal {name!r}", parameter, accepted)
    if name in policies():
        from_file: Principal = importlib.import_module("baselines.rl").load(
            WEIGHTS / f"{name}.npz", n_arms=n_arms, horizon=horizon
        )
        return from_file
    if n_arms is None or horizon is None:
        raise TypeError(f"principal {name!r} must be told n_arms and horizon: pass n_arms = ..., horizon = ...")
    return factory(name)(n_arms=n_arms, horizon=horizon, **given)
