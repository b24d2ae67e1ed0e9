"""BELGIC, for an agent that learns with no regret of its own (Scheid et al., 2024, arXiv 2406.19824).

Source: "Learning to Mitigate Externalities: the Coase Theorem with Hindsight Rationality".
"""

import math

import numpy as np

from baselines.protocol import Principal, Rounds, hold
from baselines.scripted.ipa import net_ucb
from pa_env.checks import at_least


class Belgic(Principal):
    """Search each arm's incentive by bisection whose every probe is a batch of rounds, then run UCB on X - tau.

    An agent whose regret in n rounds is at most C n^kappa refuses a good offer only so often. For each arm,
    ceil(beta log2 T) batches of ceil(T^alpha) rounds hold the middle of [lo, hi]: refusals > C T^(alpha kappa + beta)
    raise lo to it, fewer lower hi to it. Then tau_a = hi + T^-beta + C T^((kappa - 1)/2), and UCB as in :class:`IPA`
    offers tau_a on argmax_a mean_a(X) - tau_a + sqrt(4 log T / n_a), means and counts since the search.

    The thresholds are our reconstruction. Guarantee, the paper's: sublinear regret if beta < alpha (1 - kappa), which
    lets a batch tell the two answers apart once T is large, against agents with such a regret in every stretch of
    rounds, which the empirical-mean agent has not (Liu & Ratliff, ICML 2025, appendix). At kappa = 1/2 the defaults
    balance the search with what tau overpays. The search alone takes K ceil(beta log2 T) ceil(T^alpha) rounds: all of
    the game below T = 4e5 with K = 5.

    ``alpha``, ``beta``, ``kappa``: the exponents above, in (0, 1), with beta < alpha (1 - kappa). ``C``: the factor in
    the agent's regret.
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
        self.refusals = self.C * T ** (alpha * kappa + beta)  # as many are put down to learning
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
