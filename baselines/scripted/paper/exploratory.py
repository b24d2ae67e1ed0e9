"""Phased elimination against an agent that explores (Liu & Ratliff, ICML 2025).

Algorithm 5 against one that learns, and Algorithm 6 against one that knows its means.
"""

import math
import warnings
from collections.abc import Generator
from itertools import count
from typing import ClassVar

from baselines.principal import Hold, Outcome, Rounds, hold, offer
from baselines.scripted.paper.phased import Constants, Phased, without
from baselines.scripted.paper.search import Search, asymmetric_search, binary_search
from pa_env.checks import at_least

LARGEST_PRACTICAL_C0 = 2.0  # above it the practical constants drop the best arm in some games


class Exploratory(Phased):
    """Elimination that repeats every search and every test, so that exploration does not mislead it.

    The agent leaves its maximisers in round t with probability at most c0 sqrt(log(2t)/t).

    Guarantee: E[R_T] = O((K log^2 T)^(1/3) T^(2/3)) with the paper's constants, delta = 1/T and T = Omega(K).

    Where it departs from the paper: with unknown initial means a mean of the agent may reach 2. The paper's appendix
    raises the offers of the tests for that; here the searches also bisect [0, 2] instead of [0, 1], in
    ceil(log2 2T) tries, and the cap is 2 + 1/T. The advantage of an arm in the modified tests, which the appendix
    leaves open, stays 5 sqrt(log(16KT/delta) / (2 T_m)), as in the algorithm without the modification.

    Where it fails: with the paper's constants the first phase lasts until T about 1.7e9 (K = 5, c0 = 1). The practical
    ones may drop the best arm above c0 = 2; the constructor then warns.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        c0: Bound on the agent's exploration, at least 0.
        delta: Probability of failure, in (0, 1). Default: 1/T.
        constants: "paper" or "practical"; see :class:`~baselines.scripted.paper.phased.Phased`.
        unknown_initial_means: Whether the agent's means may start anywhere in [0, 1] instead of at 0.
    """

    name = "exploratory"
    practical = Constants(confidence=1 / 64, enlargement=1 / 4, repeats=1 / 8)
    test_factor = 16  # of the tests: advantage = test_width sqrt(log(test_factor K T / delta) / (2 T_m))
    test_width = 5
    repeats_searches: ClassVar[bool] = True  # ablations search and test once
    repeats_tests: ClassVar[bool] = True

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        c0: float = 1.0,
        delta: float | None = None,
        constants: str = "paper",
        unknown_initial_means: bool = False,
    ) -> None:
        super().__init__(n_arms, horizon, delta, constants, unknown_initial_means)
        self.c0 = at_least("c0", c0, 0.0)
        if constants == "practical" and self.c0 > LARGEST_PRACTICAL_C0:
            warnings.warn(
                f"c0 = {c0} with constants = 'practical' may eliminate the best arm, since the practical phases do not "
                f"grow with c0: use constants = 'paper', or c0 of at most {LARGEST_PRACTICAL_C0:g}",
                stacklevel=2,
            )
        K, T, log2_T = self.n_arms, self.horizon, math.log2(self.horizon)
        amplification = math.log(4 * log2_T / self.delta)
        self.log_iota = math.log(16 * K * T**2 * log2_T * amplification / self.delta)
        searches = max(1, math.ceil(self.factors.repeats * 2 * amplification))
        tests = math.floor(self.factors.repeats * 8 * math.log(8 * K * log2_T / self.delta)) + 1
        self.searches, self.tests = searches if self.repeats_searches else 1, tests if self.repeats_tests else 1

    def rounds(self) -> Rounds:
        """Algorithm 5, line by line."""
        active = list(range(self.n_arms))  # A_1
        previous = 1  # T_0
        for m in count(1):
            length = self.phase_length(m)  # T_m
            self.begin_phase(m, active, length)
            yield from self.stabilise(active, previous)

            incentives = {}
            for a in active:  # repeated searches
                results = [0.0] * self.searches
                for i in range(self.searches):
                    results[i] = yield from self.search(a)
                margin = self.margin(active, previous) + self.mismatch(a)
                incentives[a] = [min(self.limit, b + margin) for b in sorted(results)]

            for a in active:
                yield from self.test_incentives(a, incentives[a], length)

            failed = []
            for a in active:  # trustworthy online elimination
                advantage = self.test_width * math.sqrt(self.confidence(self.test_factor) / (2 * length))
                outcome = yield offer(self.joint_test(a, active, advantage), rounds=self.tests, target=a)
                if outcome.rounds > 2 * outcome.plays[a]:  # the median of L_{m,a} is 0; a tie keeps the arm
                    failed.append(a)
            active, previous = without(active, failed), length

    @property
    def limit(self) -> float:
        """The largest incentive that is held."""
        return self.cap

    def search(self, arm: int) -> Search:
        """One search for b_{m,a}."""
        return asymmetric_search(self, arm)

    def phase_length(self, m: int) -> int:
        """T_m = 32 c0^3 2^(2m) K log(16TK/delta) log^2(iota), rounded up and at least 1."""
        shared = 32 * 4.0**m * self.confidence(16)
        if self.factors != Constants():
            return math.ceil(shared)
        return max(1, math.ceil(self.c0**3 * shared * self.n_arms * self.log_iota**2))

    def stabilise(self, active: list[int], previous: int) -> Generator[Hold, Outcome, None]:
        """Play each bad arm Z_m = 2 log^(1/3)(16KT/delta) (|A_m| T_{m-1} / max{1, |B_m|})^(2/3) times."""
        bad = self.bad(active)
        ratio = len(active) / max(1, len(bad)) * previous
        for a in bad:
            yield hold(a, self.cap, rounds=math.ceil(2 * self.confidence(16) ** (1 / 3) * ratio ** (2 / 3)))

    def margin(self, active: list[int], previous: int) -> float:
        """Enlargement of a found incentive: (|B_m|/(T_{m-1}|A_m|))^(2/3) + 1/T_{m-1} + 4 epsilon_m."""
        share = max(1, self.n_arms - len(active)) / (previous * len(active))
        log = self.confidence(16)
        epsilon = math.cbrt(log * share) + math.sqrt(log / previous)
        return self.factors.enlargement * (math.cbrt(share) ** 2 + 1 / previous + 4 * epsilon)

    def test_incentives(self, arm: int, incentives: list[float], length: int) -> Generator[Hold, Outcome, None]:
        """Hold each incentive, from the smallest, until too many misses or 2 T_m rounds; stop after T_m plays."""
        stop = (2 * self.c0 * math.sqrt(math.log(2 * self.horizon)), math.sqrt(8 * self.log_iota))
        plays = 0
        for incentive in incentives:
            outcome = yield hold(arm, incentive, rounds=2 * length, stop=stop)
            plays += int(outcome.plays[arm])  # Y - c
            if plays >= length:
                break


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
