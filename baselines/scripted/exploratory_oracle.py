"""Phased elimination against an agent that knows its means and explores (Liu & Ratliff, ICML 2025, Algorithm 6)."""

from collections.abc import Generator

from baselines.protocol import Hold, Outcome
from baselines.scripted.exploratory import Exploratory
from baselines.scripted.phased import Constants
from baselines.scripted.search import Search, binary_search


class ExploratoryOracle(Exploratory):
    """As :class:`Exploratory` with plain binary searches, no enlargement and no plays of bad arms: beliefs do not move.

    Guarantee: E[Rbar_T] = O(log^2(KT) sqrt(KT) + K^2 log^3(KT)) with delta = 1/T, against the exploratory oracle agent.
    The bound is on Rbar_T, which charges every incentive offered.

    ``constants="practical"``: as :class:`Exploratory`'s.
    """

    name = "exploratory-oracle"
    practical = Constants(confidence=1 / 64, repeats=1 / 8)
    test_factor = 8
    test_width = 3

    @property
    def limit(self) -> float:
        """No cap: b + 1/T may just exceed it."""
        return float("inf")

    def search(self, arm: int) -> Search:
        """One search for b_{m,a}."""
        return binary_search(self, arm)

    def stabilise(self, active: list[int], previous: int) -> Generator[Hold, Outcome, None]:
        """Bad arms are left alone."""
        yield from ()

    def margin(self, active: list[int], previous: int) -> float:
        """1/T."""
        return 1 / self.horizon
