"""Phased elimination with one-hot incentives only (Liu & Ratliff, ICML 2025, Algorithm 4, appendix)."""

import math
from collections.abc import Generator

from baselines.principal import Hold, Outcome
from baselines.scripted.paper.elimination import Elimination


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
