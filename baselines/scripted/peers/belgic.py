"""BELGIC, for an agent that learns with no regret of its own (Scheid et al., 2024, arXiv 2406.19824).

Source: "Learning to Mitigate Externalities: the Coase Theorem with Hindsight Rationality".
"""

import math

import numpy as np

from baselines.principal import Principal, Rounds, hold
from baselines.scripted.peers.ipa import net_ucb
from pa_env.checks import at_least


class Belgic(Principal):
    """Search each arm's incentive by bisection in batches of rounds, then run UCB on X - tau.

    An agent whose regret in n rounds is at most C n^kappa refuses a good offer a limited number of times. For each arm,
    ceil(beta log2 T) batches of ceil(T^alpha) rounds offer the middle of [lo, hi]; more than C T^(alpha kappa + beta)
    refusals raise lo to the middle, fewer lower hi to it. Then tau_a = hi + T^-beta + C T^((kappa - 1)/2), and UCB with
    these prices plays the rest of the game (:func:`baselines.scripted.peers.ipa.net_ucb`). The thresholds are our
    reconstruction. So is the credit of a refused round: as in IPA's code, the arm played gets X, since nothing was paid
    for it.

    Guarantee, the paper's: sublinear regret if beta < alpha (1 - kappa), against agents with such a regret in every
    interval of rounds.

    Where it fails: the empirical-mean agent has no such regret (Liu & Ratliff, ICML 2025, appendix). The search takes
    K ceil(beta log2 T) ceil(T^alpha) rounds, which is the whole game below T = 4e5 with K = 5.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        alpha: Exponent of the length of a batch, in (0, 1).
        beta: Exponent of the accuracy of the search, in (0, alpha (1 - kappa)). The defaults of alpha and beta balance
            the length of the search with the overpayment at kappa = 1/2.
        kappa: Exponent of the agent's regret, in (0, 1).
        C: Factor of the agent's regret, at least 0.
    """

    name = "belgic"

    def __init__(
        self, n_arms: int, horizon: int, alpha: float = 3 / 4, beta: float = 1 / 4, kappa: float = 1 / 2, C: float = 1.0
    ) -> None:
        super().__init__(n_arms, horizon)
        for name, value in (("alpha", alpha), ("beta", beta), ("kappa", kappa)):
            if at_least(name, value, 0.0, strictly=True) >= 1:
                raise ValueError(f"{name} = {value} must be an exponent between 0 and 1, both excluded")
        if beta >= alpha * (1 - kappa):
            raise ValueError(
                f"beta = {beta} must be below alpha (1 - kappa) = {alpha * (1 - kappa):g}: lower beta or raise alpha"
            )
        self.alpha, self.beta, self.kappa = float(alpha), float(beta), float(kappa)
        self.C = at_least("C", C, 0.0)
        T = float(self.horizon)
        self.batches = math.ceil(beta * math.log2(T))
        self.batch = math.ceil(T**alpha)
        self.refusals = self.C * T ** (alpha * kappa + beta)  # tolerated in a batch
        self.margin = T**-beta + self.C * T ** ((kappa - 1) / 2)

    def rounds(self) -> Rounds:
        """Search in batches, then UCB."""
        self.transfers = np.zeros(self.n_arms)  # tau
        for a in range(self.n_arms):
            low, high = 0.0, 1.0
            for _ in range(self.batches):
                middle = (low + high) / 2
                outcome = yield hold(a, middle, rounds=self.batch)
                refused = outcome.rounds - int(outcome.plays[a])
                low, high = (middle, high) if refused > self.refusals else (low, middle)
            self.transfers[a] = high + self.margin
        yield net_ucb(self, self.transfers)
