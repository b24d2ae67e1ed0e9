"""What the phased eliminations of Liu & Ratliff (ICML 2025) have in common."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from baselines.protocol import Phase, Principal
from pa_env.checks import at_least, known


@dataclass(frozen=True)
class Constants:
    """Factors on the paper's constants; all 1 is the paper."""

    confidence: float = 1.0  # s: multiplies every confidence logarithm, in lengths and widths alike
    enlargement: float = 1.0  # multiplies what is added to a found incentive
    repeats: float = 1.0  # multiplies the numbers of repeated searches and tests (exploring agents)


class Phased(Principal):
    """A principal that goes through phases with a shrinking set of active arms.

    ``delta``: confidence in (0, 1), by default 1/T. ``constants``: "paper" (exact) or "practical": the same algorithm
    with one factor s on every confidence logarithm, so that all thresholds keep their meaning, and smaller margins;
    each class says which. ``unknown_initial_means``: the agent's empirical means start anywhere in [0, 1], unknown to
    the principal, instead of at 0 (the paper's appendix "Modifications for General Initial Empirical Means"); a mean
    may then reach 2, so searches and caps do too.
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
            raise ValueError(f"delta = {delta} must be a confidence between 0 and 1, both excluded")
        self.factors = Constants() if constants == "paper" else self.practical
        self.unknown_initial_means = bool(unknown_initial_means)
        self.ceiling = 2.0 if unknown_initial_means else 1.0  # the largest empirical mean of the agent
        self.cap = self.ceiling + 1.0 / self.horizon  # an incentive that is always accepted

    def confidence(self, factor: float) -> float:
        """S log(factor K T / delta)."""
        return self.factors.confidence * math.log(factor * self.n_arms * self.horizon / self.delta)

    def mismatch(self, arm: int) -> float:
        """1 / N_a, by which an unknown initial mean may shift the agent's mean; 0 where it is known."""
        return 1.0 / max(1, int(self.plays[arm])) if self.unknown_initial_means else 0.0

    def joint_test(self, tested: int, active: Sequence[int], advantage: float) -> dict[int, float]:
        """Incentives under which the agent compares theta_hat + muhat of the active arms, the tested one favoured.

        Raised by the ceiling of the means for all active arms, so that no other arm can win; never negative, though
        theta_hat may be (Gaussian rewards).
        """
        theta_hat = self.theta_hat
        amounts = {b: self.ceiling + float(theta_hat[b]) - self.mismatch(b) for b in active}
        amounts[tested] = self.ceiling + float(theta_hat[tested]) + self.mismatch(tested) + advantage
        return {b: max(0.0, amount) for b, amount in amounts.items()}

    def bad(self, active: Sequence[int]) -> list[int]:
        """B_m, the arms that are not active."""
        return [arm for arm in range(self.n_arms) if arm not in active]

    def begin_phase(self, number: int, active: Sequence[int], length: int) -> None:
        """Note a phase for the record."""
        self.phases.append(Phase(number, self.t, tuple(active), length))


def without(active: Sequence[int], failed: Sequence[int]) -> list[int]:
    """A_{m+1}: the active arms that did not fail; all of them if every one did."""
    return [arm for arm in active if arm not in failed] or list(active)
