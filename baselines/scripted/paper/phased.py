"""The common part of the phased eliminations of Liu & Ratliff (ICML 2025)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from baselines.principal import Phase, Principal
from pa_env.checks import at_least, known, short


@dataclass(frozen=True)
class Constants:
    """Factors on the constants of the paper; all 1: the paper. See :class:`Phased` for what each changes."""

    confidence: float = 1.0  # s
    enlargement: float = 1.0
    repeats: float = 1.0


class Phased(Principal):
    """A principal that plays in phases with a shrinking set of active arms.

    With the paper's constants most games end in the first phase, which pays the cap. The practical constants shorten
    the phases. They are a heuristic: no theorem covers them. At s = 1/64 a confidence width is about one standard
    deviation, and Hoeffding's bound on the probability of failure exceeds 1. What they change:

    - ``elimination``, ``elimination-offline``: s = 1/64 multiplies log(4KT/delta) in T_m and C_m. The enlargement
      4 C_m + 1/Z_m is halved. The thresholds of the tests stay.
    - ``exploratory``: s = 1/64 multiplies log(16KT/delta) in T_m, Z_m, the enlargement and the tests. T_m loses its
      factor c0^3 K log^2(iota). A quarter of the enlargement and an eighth of the repeated searches and tests are left.
      log(iota) in the stop rule stays.
    - ``exploratory-oracle``: as ``exploratory``, with log(8KT/delta) in the tests. It has no enlargement.
    - ``linear``: s = 1/64 multiplies log(4KT/delta). epsilon_m is divided by 64 in addition, from m = 1 on.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        delta: Probability of failure that the algorithm allows, in (0, 1). Default: 1/T.
        constants: "paper", or "practical" as listed above.
        unknown_initial_means: Whether the agent's empirical means may start anywhere in [0, 1] instead of at 0 (the
            paper's appendix "Modifications for General Initial Empirical Means"). A mean may then reach 2, so searches
            and caps do too.
    """

    practical: ClassVar[Constants]

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        delta: float | None = None,
        constants: str = "paper",
        unknown_initial_means: bool = False,
    ) -> None:
        known("constants", constants, ("paper", "practical"))
        super().__init__(n_arms, horizon)
        self.delta = 1.0 / self.horizon if delta is None else at_least("delta", delta, 0.0, strictly=True)
        if self.delta >= 1.0:
            raise ValueError(f"delta = {delta} must be a probability between 0 and 1, both excluded")
        self.constants = constants
        self.factors = Constants() if constants == "paper" else self.practical
        if not isinstance(unknown_initial_means, bool | np.bool_):
            raise TypeError(f"unknown_initial_means = {short(unknown_initial_means)} must be True or False")
        self.unknown_initial_means = bool(unknown_initial_means)
        self.ceiling = 2.0 if unknown_initial_means else 1.0  # the largest empirical mean of the agent
        self.cap = self.ceiling + 1.0 / self.horizon  # an incentive that is always accepted

    def confidence(self, factor: float) -> float:
        """The confidence logarithm, s log(factor K T / delta)."""
        return self.factors.confidence * math.log(factor * self.n_arms * self.horizon / self.delta)

    def mismatch(self, arm: int) -> float:
        """1 / N_a, the largest effect of an unknown initial mean on the agent's mean; 0 if initial means are known."""
        return 1.0 / max(1, int(self.plays[arm])) if self.unknown_initial_means else 0.0

    def joint_test(self, tested: int, active: Sequence[int], advantage: float) -> dict[int, float]:
        """Incentives under which the agent compares theta_hat + muhat of the active arms, the tested one favoured.

        They contain the ceiling of the means, so that no other arm can win. Negative ones, which Gaussian rewards may
        cause, become 0.
        """
        theta_hat = self.theta_hat
        amounts = {b: self.ceiling + float(theta_hat[b]) - self.mismatch(b) for b in active}
        amounts[tested] = self.ceiling + float(theta_hat[tested]) + self.mismatch(tested) + advantage
        return {b: max(0.0, amount) for b, amount in amounts.items()}

    def bad(self, active: Sequence[int]) -> list[int]:
        """B_m, the arms that are not active."""
        return [arm for arm in range(self.n_arms) if arm not in active]

    def begin_phase(self, number: int, active: Sequence[int], length: int) -> None:
        """Record a phase."""
        self.phases.append(Phase(number, self.t, tuple(active), length))


def without(active: Sequence[int], failed: Sequence[int]) -> list[int]:
    """A_{m+1}: the active arms that did not fail; all of them if every one did."""
    return [arm for arm in active if arm not in failed] or list(active)
