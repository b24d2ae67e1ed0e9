"""Phased elimination against a greedy agent that learns (Liu & Ratliff, ICML 2025).

Algorithm 1, and Algorithm 4 of the appendix, which needs one-hot incentives only.
"""

import math
from collections.abc import Generator
from itertools import count

from baselines.principal import Hold, Outcome, Rounds, hold, offer
from baselines.scripted.paper.phased import Constants, Phased, without
from baselines.scripted.paper.search import Search, asymmetric_search


class Elimination(Phased):
    """Search and hold an incentive for each active arm, then drop arms by the agent's own comparison of joint values.

    Guarantee: E[R_T] = O(K log^2 T + sqrt(K T log(K T))) with the paper's constants and delta = 1/T, for i.i.d. rewards
    in [0, 1] and the empirical-mean agent. Incentives reach 1 + 1 + 3/4.

    Where it departs from the paper: with unknown initial means a mean of the agent may reach 2. The paper's appendix
    raises the offers of the tests for that; here the searches also bisect [0, 2] instead of [0, 1], in
    ceil(log2 2T) tries, and the cap is 2 + 1/T. The modified tests favour an arm by beta 2^-m, where the appendix
    leaves the constant beta open; here it stays at 3/2, as in the algorithm without the modification.

    Where it fails: with the paper's constants the first phase, which pays the cap, lasts until T about 1.5e4 (K = 5).
    Against an agent that explores it may drop the best arm.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        delta: Probability of failure, in (0, 1). Default: 1/T.
        constants: "paper" or "practical"; see :class:`~baselines.scripted.paper.phased.Phased`.
        unknown_initial_means: Whether the agent's means may start anywhere in [0, 1] instead of at 0.
    """

    name = "elimination"
    practical = Constants(confidence=1 / 64, enlargement=1 / 2)

    def rounds(self) -> Rounds:
        """Algorithm 1, line by line."""
        active = list(range(self.n_arms))  # A_1
        previous = 1  # T_0
        for m in count(1):
            length = self.phase_length(m, active)  # T_m
            self.begin_phase(m, active, length)
            yield from self.sample(active, previous, length)
            failed = yield from self.compare(m, active, previous, length)
            active, previous = without(active, failed), length

    def phase_length(self, m: int, active: list[int]) -> int:
        """T_m = max{2^(2m+5) log(4TK/delta), |A_m| log T}, rounded up."""
        return math.ceil(max(2.0 ** (2 * m + 5) * self.confidence(4), len(active) * math.log(self.horizon)))

    def sample(self, active: list[int], previous: int, length: int) -> Generator[Hold, Outcome, None]:
        """Play bad arms to stabilise their estimates; search each active arm's incentive and hold it T_m rounds."""
        bad = self.bad(active)  # B_m
        stabilising = math.sqrt(len(active) / max(1, len(bad)) * previous)  # Z_m
        width = math.sqrt(self.confidence(4) / (2 * previous))  # C_m
        yield from self.stabilise(bad, math.ceil(stabilising))
        for a in active:
            incentive = yield from self.search(a)  # b_{m,a}
            margin = self.factors.enlargement * (4 * width + 1 / stabilising) + self.mismatch(a)
            yield hold(a, min(self.cap, incentive + margin), rounds=length)

    def stabilise(self, bad: list[int], rounds: int) -> Generator[Hold, Outcome, None]:
        """Play each bad arm for some rounds."""
        for a in bad:
            yield hold(a, self.cap, rounds=rounds)

    def search(self, arm: int) -> Search:
        """One search for b_{m,a}."""
        return asymmetric_search(self, arm)

    def compare(self, m: int, active: list[int], previous: int, length: int) -> Generator[Hold, Outcome, list[int]]:
        """Online elimination: returns the active arms that the agent does not play in their tests."""
        failed = []
        for a in active:
            outcome = yield offer(self.joint_test(a, active, 3 / 2 * 2.0**-m), target=a)
            if not outcome.plays[a]:
                failed.append(a)
        return failed


class EliminationOffline(Elimination):
    """As :class:`Elimination`, but arms are compared by their estimated net values theta_hat - b'.

    The comparison takes two passes over the active arms: search every incentive again and note the estimates after each
    arm's own search, then compare.

    Where it departs from the paper: as :class:`Elimination`. With unknown initial means the threshold grows by 1/N of
    both arms that are compared; the appendix says that it must grow, not by how much.

    Guarantee and failures: those of :class:`Elimination`.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        delta: Probability of failure, in (0, 1). Default: 1/T.
        constants: "paper" or "practical"; see :class:`~baselines.scripted.paper.phased.Phased`.
        unknown_initial_means: Whether the agent's means may start anywhere in [0, 1] instead of at 0.
    """

    name = "elimination-offline"

    def compare(self, m: int, active: list[int], previous: int, length: int) -> Generator[Hold, Outcome, list[int]]:
        """Offline elimination: returns the active arms whose net value is below the best by more than the threshold."""
        incentive, estimates = {}, {}  # b'_{m,a}, theta_hat(t_{m,a})
        for a in active:
            incentive[a] = yield from self.search(a)
            estimates[a] = self.theta_hat
        threshold = 3 / 2 * 2.0**-m + self.error(active, previous, length)
        failed = []
        for a in active:
            net = {z: estimates[a][z] - incentive[z] for z in active}
            best = max(active, key=lambda z: float(net[z]))
            if net[best] - net[a] > threshold + self.mismatch(a) + self.mismatch(best):
                failed.append(a)
        return failed

    def error(self, active: list[int], previous: int, length: int) -> float:
        """epsilon_m = 4/T + (2 + L)/T_m + 2 sqrt(|B_m| / (|A_m| T_{m-1}))."""
        n_bad = self.n_arms - len(active)
        searches = (2 + math.ceil(math.log2(self.horizon))) / length
        return 4 / self.horizon + searches + 2 * math.sqrt(n_bad / (len(active) * previous))
