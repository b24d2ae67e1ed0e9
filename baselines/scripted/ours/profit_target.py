"""Offer every arm its worth minus a fixed profit, and let the agent choose ("sell the firm").

That the agent should keep what it produces and pay a fixed price for it is folklore of contract theory. Learning the
price is ours. There is no paper behind it and no proof, only measurements. The formulas are in
:mod:`baselines.scripted.ours.beliefs` (what the agent believes) and :mod:`baselines.scripted.ours.profit_rule` (what
is offered).
"""

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.ours.beliefs import BELIEFS, BONUS, EXPLORED, FADE, GROWTH, RUN, T_, TIME, WARM_UP, hear, learn
from baselines.scripted.ours.profit_rule import (
    EVERY_ARM,
    PARAMETERS,
    SETTLED,
    TEST_EVERY,
    belief_rule,
    fresh_memory,
    price,
    value,
)
from pa_env.checks import at_least

# Trained principals use these names, too.
__all__ = [
    "BELIEFS",
    "BONUS",
    "EXPLORED",
    "FADE",
    "GROWTH",
    "PARAMETERS",
    "RUN",
    "SETTLED",
    "TEST_EVERY",
    "TIME",
    "T_",
    "WARM_UP",
    "ProfitTarget",
    "fresh_memory",
    "hear",
    "learn",
    "price",
    "value",
]


class ProfitTarget(Principal):
    """Offer max(0, theta_hat_a + bonus_a - c) on all arms: the profit is c whichever of them is played.

    The agent maximises muhat + pi. It therefore plays the arm with the largest muhat_a + theta_hat_a + bonus_a by
    itself, as long as c is not too high, although muhat is never observed. Too high a c loses the round to the agent's
    favourite arm. Too low a c is overpayment by the difference.

    Guarantee: none. R_T on uniform instances against the empirical-mean agent, K = 5: 2.4 at T = 200 (3000 seeds), 4.4
    at 10^3 (2000), 8.3 at 10^4 (300), 24 at 10^5 (100), 126 at 10^6 (50). The best of elimination with practical
    constants, IPA and no incentive has 1088, 4754 and 12080 at the last three. K = 20: 17 at 10^4 (60), 23 at 10^5
    (30), 57 at 10^6 (15) against 1289, 13098 and 29441. Against the exploratory agent 213 at 10^4 (100) and 3066 at
    10^6 (12), where no incentive has 1219 and exploratory, practical, 60337. Against the oracle agent 75 at 10^4 (300)
    and 402 at 10^6 (50), where IPA has 273 and 755. All are from commands such as

        pa-bench run --task k5-t1e4-uniform --principal profit-target --principal zero --seeds 300

    Where it fails:

    - Rare episodes in which a good arm's first rewards are bad, or a belief is wrong and certain, hold most of the mean
      regret: the median at T = 10^6 is below 1. No bound on them is known.
    - The ceiling keeps R_T low, not utility high: an agent that is made to try more arms may earn more for both.
    - Where the agent's favourite is best for both from the start, as in most ``gap`` instances, every trial is a loss
      (35 at T = 10^4, K = 5, and 276 at K = 20; no incentive has less than 1).
    - An agent whose exploration goes to the arm worst for the principal is taken, for a while, for one that prefers it.
    - Rewards noisier than a coin, such as unit Gaussians, need more ``bonus`` and ``drift``.
    - Rbar_T charges it for incentives that are not accepted.

    One set of defaults serves all K and T. Except for the ceiling they are, rounded, the result of
    ``python -m baselines tune profit-target --task all --trials 60``.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        bonus: Factor of the optimism about theta, at least 0.
        fade: Exponent with which the bonus fades towards the end of the game, at least 0.
        growth: Factor of the logarithmic growth of the bonus after 1000 rounds, at least 0.
        caution: Weight of the loss by a refusal in the price, at least 0.
        drift: Variance of the agent's rewards relative to a coin's, above 0.
        suspicion: Explorations expected before the first round, above 0.
        forgetting: Rate at which the variances of beliefs grow, at least 0.
        ceiling: Largest mean reward assumed possible, at least 0.

    """

    name = "profit-target"

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        bonus: float = 0.59,
        fade: float = 0.84,
        growth: float = 0.81,
        caution: float = 0.15,
        drift: float = 0.64,
        suspicion: float = 0.056,
        forgetting: float = 5.5,
        ceiling: float = 1.0,
    ) -> None:
        self.parameters = {
            "bonus": at_least("bonus", bonus, 0.0),
            "fade": at_least("fade", fade, 0.0),
            "growth": at_least("growth", growth, 0.0),
            "caution": at_least("caution", caution, 0.0),
            "drift": at_least("drift", drift, 0.0, strictly=True),
            "suspicion": at_least("suspicion", suspicion, 0.0, strictly=True),
            "forgetting": at_least("forgetting", forgetting, 0.0),
            "ceiling": at_least("ceiling", ceiling, 0.0),
        }
        self.optimism = EVERY_ARM
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        memory = fresh_memory(self.n_arms, self.horizon, self.parameters, self.optimism)
        yield follow(belief_rule(), memory, self.horizon)
