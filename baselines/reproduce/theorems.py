"""The theorems of Liu & Ratliff (ICML 2025) as numbers: how regret grows with T, K, d and c0.

Each theorem is measured in the regret that it bounds: that of ``exploratory-oracle`` in Rbar_T, the others in R_T.
Every horizon is a game of its own, since the algorithms know T. The points of a curve share their seeds. Theorems are
for the paper's constants; other constants and principals are in a table of their own
(:mod:`baselines.reproduce.theorems_page`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from baselines.reproduce.cells import Cell, Player
from baselines.tasks import Task, setting

SEEDS, QUICK_SEEDS = 30, 10
C0 = 0.05  # with the paper's constants larger ones leave phase 1 only at longer horizons


def half_decades(first: float, last: float) -> tuple[int, ...]:
    """Horizons 10^first to 10^last, two a decade."""
    return tuple(round(10 ** (e / 2)) for e in range(round(2 * first), round(2 * last) + 1))


@dataclass(frozen=True)
class Curve:
    """A principal against an agent at several values of one of T, K, d and c0."""

    principal: str
    agent: str
    values: tuple[float, ...]
    bound: str  # the theorem, log factors included; empty: none
    exponent: float | None = None  # of what varies, in the bound
    varies: str = "T"
    horizon: int = 10**6  # unless it varies
    n_arms: int = 5
    dim: int | None = None
    c0: float = 1.0
    instance: str = "uniform"
    score: str = "regret"
    seeds: int = SEEDS

    @property
    def theorem(self) -> bool:
        """Whether a theorem covers it: the paper's constants."""
        return bool(self.bound) and "practical" not in self.principal

    @property
    def label(self) -> str:
        """For the tables and the figure: what is fixed, and not what varies."""
        fixed = {"T": f"{self.horizon:.0e}", "K": self.n_arms}
        if self.dim:
            fixed["d"] = self.dim
        if self.agent.startswith("exploratory"):
            fixed["c0"] = f"{self.c0:g}"
        where = ", ".join(f"{name} = {value}" for name, value in fixed.items() if name != self.varies)
        return f"{self.principal} vs {self.agent}, {self.instance}, {where}"

    def spec(self, value: float) -> str:
        """The principal's, told c0 where it takes it."""
        c0 = value if self.varies == "c0" else self.c0
        return f"{self.principal},c0={c0:g}" if self.principal.startswith("exploratory") and c0 != 1 else self.principal

    def task(self, value: float) -> Task:
        """The game at one point."""
        at = {"T": self.horizon, "K": self.n_arms, "d": self.dim or 0, "c0": self.c0} | {self.varies: value}
        sizes = {"n_arms": int(at["K"]), "horizon": int(at["T"]), "dim": int(at["d"]) or None}
        return replace(setting(self.agent, self.instance, c0=float(at["c0"]), **sizes), curve=False)  # type: ignore[arg-type]


ROOT = "K log^2 T + sqrt(K T log(KT))"
EXPLORING = "(K log^2 T)^(1/3) T^(2/3)"
ORACLE = "log^2(KT) sqrt(K T) + K^2 log^3(KT)"
LINEAR = "d^(4/3) T^(2/3) log^(2/3)(KT)"
EXPLORES: dict[str, Any] = {"agent": "exploratory", "c0": C0, "bound": EXPLORING}
KNOWS: dict[str, Any] = {"agent": "exploratory-oracle", "c0": C0, "bound": ORACLE, "score": "regret_bar"}
BALL: dict[str, Any] = {"agent": "ols", "instance": "unit-ball", "bound": LINEAR}
PLAIN: dict[str, Any] = {"agent": "empirical-mean", "bound": ROOT}
SCALED = ",constants=practical"
CURVES = (
    Curve("elimination", values=half_decades(5, 8), exponent=1 / 2, **PLAIN),
    Curve("elimination", values=half_decades(5, 7.5), exponent=1 / 2, instance="minimax", **PLAIN),
    Curve("elimination-offline", values=half_decades(5, 7.5), exponent=1 / 2, **PLAIN),
    Curve("exploratory", values=half_decades(6, 8), exponent=2 / 3, **EXPLORES),
    Curve("exploratory-oracle", values=half_decades(5, 7), exponent=1 / 2, **KNOWS),
    Curve("linear", values=half_decades(5, 6), exponent=2 / 3, dim=2, **BALL),
    Curve("elimination", values=(2, 4, 8, 16, 32), exponent=1 / 2, varies="K", horizon=10**7, **PLAIN),
    Curve("exploratory", values=(2, 4, 8, 16), exponent=1 / 3, varies="K", **EXPLORES),
    Curve("exploratory-oracle", values=(2, 4, 8, 16), exponent=1 / 2, varies="K", **KNOWS),
    Curve("linear", values=(2, 4, 8), exponent=4 / 3, varies="d", n_arms=8, horizon=10**5, **BALL),
    Curve("exploratory", values=(0.02, 0.05, 0.1, 0.2), varies="c0", **EXPLORES),
    Curve("exploratory-oracle", values=(0.02, 0.05, 0.1, 0.2), varies="c0", **KNOWS),
    Curve("elimination" + SCALED, values=half_decades(4, 7.5), **PLAIN),
    Curve("elimination" + SCALED, values=half_decades(4, 7.5), instance="minimax", **PLAIN),
    Curve("elimination-offline" + SCALED, values=half_decades(4, 7), **PLAIN),
    Curve("exploratory" + SCALED, values=half_decades(4, 7), **EXPLORES | {"c0": 1.0}),
    Curve("exploratory-oracle" + SCALED, values=half_decades(4, 7), **KNOWS | {"c0": 1.0}),
    Curve("linear" + SCALED, values=(10**4, 10**5, 10**6), dim=2, **BALL),
    Curve("linear" + SCALED, values=(10**4, 10**5, 10**6), dim=3, **BALL),
    Curve("profit-target", "empirical-mean", half_decades(4, 6), ""),
    Curve("bracket-ucb", "empirical-mean", half_decades(4, 6), ""),
    Curve("ipa", "empirical-mean", half_decades(4, 6), ""),
    Curve("zero", "empirical-mean", half_decades(4, 7), ""),
)


def curves(player: Player) -> Iterator[Curve]:
    """What is played, shortened if it is to be quick."""
    for curve in CURVES:
        if not player.quick:
            yield replace(curve, seeds=player.seeds or curve.seeds)
        elif curve.principal != "linear" + SCALED:  # the slowest at short horizons
            short = (500, 1000, 2000) if curve.varies == "T" else curve.values[:2]
            yield replace(curve, values=short, horizon=1000, seeds=QUICK_SEEDS)


def cells(player: Player) -> Iterator[Cell]:
    """The points of all curves."""
    for curve in curves(player):
        for value in curve.values:
            yield Cell(curve.task(value), curve.spec(value), curve.seeds)
