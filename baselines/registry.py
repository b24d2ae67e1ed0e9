"""The one list of principals' names."""

import importlib
import inspect
from typing import Any

from baselines.protocol import Principal
from pa_env.checks import known

# Name -> module in baselines.principals and class in it; imported when asked for.
PRINCIPALS = {
    "elimination": ("elimination", "Elimination"),
    "elimination-offline": ("elimination_offline", "EliminationOffline"),
    "exploratory": ("exploratory", "Exploratory"),
    "exploratory-oracle": ("exploratory_oracle", "ExploratoryOracle"),
    "linear": ("linear", "LinearElimination"),
    "zero": ("simple", "Zero"),
    "fixed": ("simple", "Fixed"),
    "oracle": ("simple", "Oracle"),
}


def principals() -> tuple[str, ...]:
    """Names that :func:`make` takes."""
    return tuple(PRINCIPALS)


def make(name: str, *, n_arms: int, horizon: int, **parameters: Any) -> Principal:
    """A scripted principal by name for ``n_arms`` arms and ``horizon`` rounds; see its class for the parameters."""
    known("principal", name, PRINCIPALS)
    module, class_name = PRINCIPALS[name]
    factory = getattr(importlib.import_module(f"baselines.principals.{module}"), class_name)
    accepted = [
        parameter for parameter in inspect.signature(factory).parameters if parameter not in ("n_arms", "horizon")
    ]
    for parameter in parameters:
        known(f"parameter of principal {name!r}", parameter, accepted)
    principal: Principal = factory(n_arms=n_arms, horizon=horizon, **parameters)
    return principal
