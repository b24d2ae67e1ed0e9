"""The one list of principals' names."""

import importlib
import inspect
from typing import Any

from baselines.protocol import Principal
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
    """Names that :func:`make` takes."""
    return tuple(PRINCIPALS)


def factory(name: str) -> type[Principal]:
    """The class behind a name."""
    known("principal", name, PRINCIPALS)
    module, class_name = PRINCIPALS[name]
    made: type[Principal] = getattr(importlib.import_module(f"baselines.scripted.{module}"), class_name)
    return made


def parameters(name: str) -> list[str]:
    """What a principal takes besides ``n_arms`` and ``horizon``."""
    return [p for p in inspect.signature(factory(name)).parameters if p not in ("n_arms", "horizon")]


def make(name: str, *, n_arms: int, horizon: int, **given: Any) -> Principal:
    """A scripted principal by name for ``n_arms`` arms and ``horizon`` rounds; see its class for the parameters."""
    accepted = parameters(name)
    for parameter in given:
        known(f"parameter of principal {name!r}", parameter, accepted)
    return factory(name)(n_arms=n_arms, horizon=horizon, **given)
