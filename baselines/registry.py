"""The one list of principals' names."""

import importlib
import inspect
from typing import Any

from baselines.protocol import Principal
from baselines.rl import load_shipped, shipped
from pa_env.checks import known

# Name -> module in baselines.scripted and class in it; imported when asked for.
PRINCIPALS = {
    "elimination": ("elimination", "Elimination"),
    "elimination-offline": ("elimination_offline", "EliminationOffline"),
    "exploratory": ("exploratory", "Exploratory"),
    "exploratory-oracle": ("exploratory_oracle", "ExploratoryOracle"),
    "linear": ("linear", "LinearElimination"),
    "ipa": ("ipa", "IPA"),
    "c-ipa": ("c_ipa", "CIPA"),
    "epsilon-greedy": ("epsilon_greedy", "EpsilonGreedy"),
    "robust-epsilon-greedy": ("robust_epsilon_greedy", "RobustEpsilonGreedy"),
    "belgic": ("belgic", "Belgic"),
    "explore-then-commit": ("explore_then_commit", "ExploreThenCommit"),
    "profit-target": ("profit_target", "ProfitTarget"),
    "bracket-ucb": ("bracket_ucb", "BracketUCB"),
    "zero": ("simple", "Zero"),
    "fixed": ("simple", "Fixed"),
    "oracle": ("simple", "Oracle"),
}


def principals() -> tuple[str, ...]:
    """Names of the scripted principals; :func:`make` takes those of :func:`baselines.rl.shipped` too."""
    return tuple(PRINCIPALS)


def factory(name: str) -> type[Principal]:
    """The class behind a name."""
    known("principal", name, PRINCIPALS)
    module, class_name = PRINCIPALS[name]
    made: type[Principal] = getattr(importlib.import_module(f"baselines.scripted.{module}"), class_name)
    return made


def parameters(name: str) -> list[str]:
    """What a principal takes besides ``n_arms`` and ``horizon``; a trained one takes nothing."""
    if name in shipped():
        return []
    return [p for p in inspect.signature(factory(name)).parameters if p not in ("n_arms", "horizon")]


def make(name: str, *, n_arms: int | None = None, horizon: int | None = None, **given: Any) -> Principal:
    """A principal by name for ``n_arms`` arms and ``horizon`` rounds; see its class for the parameters.

    Trained principals that come with the package (:func:`baselines.rl.shipped`) may be made without either: they are
    then for the game that they were trained on.
    """
    accepted = parameters(name)
    for parameter in given:
        known(f"parameter of principal {name!r}", parameter, accepted)
    if name in shipped():
        return load_shipped(name, n_arms=n_arms, horizon=horizon)
    if n_arms is None or horizon is None:
        raise TypeError(f"principal {name!r} must be told n_arms and horizon: pass n_arms = ..., horizon = ...")
    return factory(name)(n_arms=n_arms, horizon=horizon, **given)
