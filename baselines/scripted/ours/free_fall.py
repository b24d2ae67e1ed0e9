"""Pay first, and stop paying later: the "free fall" against agents that learn from what they were paid.

Source of the idea: Guruganesh et al., "Contracting with a Learning Agent" (arXiv 2401.16198). Against a mean-based
learner some of their best contracts pay for a share of the rounds and then nothing: the agent remembers what an arm has
paid, and falls to arms that it likes better only slowly. Their principal knows the game; here it has to find the arm.
"""

import math

import numpy as np

from baselines.principal import Principal, Rounds, follow
from pa_env.checks import at_least
from pa_env.kernel.layout import Floats, Integers
from pa_env.memory import compiled_when_used


class FreeFall(Principal):
    """Pay for the arm that it wants until a share of the horizon, then nothing.

    The arm that it wants has the largest theta_hat_a + ``bonus`` sqrt(log T / N_a); arms that were never played come
    first. The incentive is always the same.

    Guarantee: none.

    Where it fails: an agent that sees the offer before it plays takes the money, and leaves when it is no longer paid.
    An agent that likes the arm anyway is paid for nothing. ``pa-bench reproduce free-fall`` measures both.

    The defaults are, rounded, the result of ``pa-bench tune free-fall --task paid --trials 60``.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        share: Share of the rounds in which it pays, from 0 to 1.
        amount: The incentive, at least 0.
        bonus: Factor of the optimism about theta, at least 0.
    """

    name = "free-fall"

    def __init__(self, n_arms: int, horizon: int, share: float = 0.12, amount: float = 1.4, bonus: float = 0.3) -> None:
        self.share = at_least("share", share, 0.0)
        if self.share > 1:
            raise ValueError(f"share = {share} must be a share of the rounds, from 0 to 1")
        self.amount, self.bonus = at_least("amount", amount, 0.0), at_least("bonus", bonus, 0.0)
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """Pay, and then fall."""
        paid = round(self.share * self.horizon)
        if paid:
            width = self.bonus * math.sqrt(math.log(self.horizon))
            yield follow(pay_for_the_best(), np.array([self.amount, width]), paid)


@compiled_when_used
def pay_for_the_best(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The rule of the rounds that are paid; its memory is the incentive and the bonus after one play."""
    best, highest = 0, -np.inf
    for a in range(offer.size):
        offer[a] = 0.0
        index = sums[a] / plays[a] + memory[1] / math.sqrt(plays[a]) if plays[a] else np.inf
        if index > highest:
            best, highest = a, index
    offer[best] = memory[0]
    return best
