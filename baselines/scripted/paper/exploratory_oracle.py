"""Phased elimination against an agent that knows its means and explores (Liu & Ratliff, ICML 2025, Algorithm 6)."""

from collections.abc import Generator

from baselines.principal import Hold, Outcome
from baselines.scripted.paper.exploratory import Exploratory
from baselines.scripted.paper.phased import Constants
from baselines.scripted.paper.search import Search, binary_search


class ExploratoryOracle(Exploratory):
    """As :class:`Exploratory` for fixed means: plain binary searches, no enlargement, no plays of bad arms.

    Guarantee: E[Rbar_T] = O(log^2(KT) sqrt(KT) + K^2 log^3(KT)) with the paper's constants and delta = 1/T, against the
    exploratory oracle agent. The bound is on Rbar_T, which charges every incentive offered.

    Where it departs from the paper: as :class:`Exploratory` with unknown initial means, searches of [0, 2] and offers
    that contain 2; the tests' advantage, 3 sqrt(log(8KT/delta) / (2 T_m)), stays.

    Where it fails: against an agent whose means move, and where :class:`Exploratory` fails.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        c0: Bound on the agent's exploration, at least 0.
        delta: Probability of failure, in (0, 1). Default: 1/T.
        constants: "paper" or "practical"; see :class:`~baselines.scripted.paper.phased.Phased`.
        unknown_initial_means: Whether the agent's means may be as large as 2 instead of 1.

    """

    name = "exploratory-oracle"
    practical = Constants(confidence=1 / 64, repeats=1 / 8)
    test_factor = 8
    test_width = 3

    @property
    def limit(self) -> float:
        """No cap: b + 1/T may slightly exceed it."""
        return float("inf")

    def search(self, arm: int) -> Search:
        """One search for b_{m,a}."""
        return binary_search(arm, self.horizon, self.ceiling)

    def stabilise(self, active: list[int], previous: int) -> Generator[Hold, Outcome, None]:
        """Nothing: bad arms are not played."""
        yield from ()

    def margin(self, active: list[int], previous: int) -> float:
        """1/T."""
        return 1 / self.horizon
