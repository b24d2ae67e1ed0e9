"""Phased elimination with one-hot incentives only (Liu & Ratliff, ICML 2025, Algorithm 4, appendix)."""

import math
from itertools import count

from baselines.protocol import Rounds
from baselines.scripted.elimination import Elimination
from baselines.scripted.phased import without
from baselines.scripted.search import asymmetric_search


class EliminationOffline(Elimination):
    """As :class:`Elimination`, but arms are compared by their estimated net values theta_hat - b'.

    The same guarantee. Two passes over the active arms: search all of them again, noting the estimates after each
    arm's own search, then compare. With unknown initial means the threshold grows by the mismatch of both arms.
    """

    name = "elimination-offline"

    def rounds(self) -> Rounds:
        """The pseudocode, line by line."""
        active = list(range(self.n_arms))  # A_1
        previous = 1  # T_0
        for m in count(1):
            length = self.phase_length(m, active)  # T_m
            self.begin_phase(m, active, length)
            yield from self.sample(active, previous, length)

            incentive, estimates = {}, {}  # b'_{m,a}, theta_hat(t_{m,a})
            for a in active:
                incentive[a] = yield from asymmetric_search(self, a)
                estimates[a] = self.theta_hat
            threshold = 3 / 2 * 2.0**-m + self.error(active, previous, length)
            failed = []
            for a in active:
                net = {z: estimates[a][z] - incentive[z] for z in active}
                best = max(active, key=lambda z: float(net[z]))
                if net[best] - net[a] > threshold + self.mismatch(a) + self.mismatch(best):
                    failed.append(a)
            active, previous = without(active, failed), length

    def error(self, active: list[int], previous: int, length: int) -> float:
        """epsilon_m = 4/T + (2 + L)/T_m + 2 sqrt(|B_m| / (|A_m| T_{m-1}))."""
        n_bad = self.n_arms - len(active)
        searches = (2 + math.ceil(math.log2(self.horizon))) / length
        return 4 / self.horizon + searches + 2 * math.sqrt(n_bad / (len(active) * previous))
