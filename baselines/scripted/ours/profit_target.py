"""Offer every arm its worth minus a profit that is the same for all, and let the agent choose ("sell the firm").

That the agent should keep what it produces and pay a fixed price for it is folklore of contract theory. Learning the
price is ours. There is no paper behind it and no proof.

**Worth.** With S_a the sum of the rewards X of the N_a plays, an arm is worth g_a = (S_a + 1) / (N_a + 2) +
``bonus`` (1 - t/T)^``fade`` sqrt((1 + ``growth`` log(1 + t/1000)) / (N_a + 2)). The bonus does not lift it above
``ceiling``, the largest possible mean: an arm that is not worth a trial even then is not tried.

**Price.** Let a = argmax g + m, where m and v are the beliefs of :mod:`baselines.scripted.ours.gaussian_filter`. It
costs pi_a = max(0, max_b m_b - m_a + z s) with s^2 = v_a + v_b and z = sqrt(2 log(1 + ``caution`` D/s)), where
D = max(0, g_a + m_a - g_b - m_b) is the loss if b is played instead. The price that minimises z s + D Phi(-z),
overpayment plus risk of a refusal, has about this form.

**Offer.** The profit is c = g_a - pi_a, and every arm is offered max(0, g_b - c).

**Tests.** Exploration that favours an arm looks like a preference for it, and too high a price is never refused. So
after every second exploration (in sum of w), and after 1000 rounds and then whenever t has grown by 30 %, the price of
one round is cut by a quarter, an eighth or a half in turn, and the profit c rises by as much. The test is repeated as
long as the arm is played: by then the beliefs have been surprised often enough to follow.
"""

import math

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.ours.gaussian_filter import (
    FIRST_VARIANCE,
    LAYOUT,
    SMALLEST,
    GaussianBeliefs,
    GaussianEntry,
    gaussian_beliefs,
    update,
)
from pa_env.checks import at_least
from pa_env.kernel.compiling import inlined_part
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import compiled_when_used
from pa_env.rules import Rule

TEST_EVERY = 2.0  # explorations for each test of a lower price
TEST_FROM, TEST_AGAIN = 1000.0, 1.3  # round of the first test by the clock, and the factor to the next
SETTLED = 1000.0  # rounds after which the bonus begins to grow


class ProfitTarget(Principal):
    """Offer max(0, theta_hat_a + bonus_a - c) on all arms: the profit is c whichever of them is played.

    The agent maximises muhat + pi. It therefore plays the arm with the largest muhat_a + theta_hat_a + bonus_a by
    itself, as long as c is not too high, although muhat is never observed. Too high a c loses the round to the agent's
    favourite arm. Too low a c is overpayment by the difference.

    Guarantee: none.

    Where it fails:

    - Rare episodes in which a good arm's first rewards are bad, or a belief is wrong and certain, hold most of the mean
      regret. No bound on them is known.
    - The ceiling keeps R_T low, not utility high: an agent that is made to try more arms may earn more for both.
    - Where the agent's favourite is best for both from the start, as in most ``gap`` instances, every trial is a loss.
    - An agent whose exploration goes to the arm worst for the principal is taken, for a while, for one that prefers it.
    - Rewards noisier than a coin, such as unit Gaussians, need more ``bonus`` and ``drift``.
    - Rbar_T charges it for incentives that are not accepted.

    One set of defaults serves all K and T. Except for the ceiling they are, rounded, the result of
    ``pa-bench tune profit-target --task all --trials 60``.

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
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        memory = LAYOUT.zeros(self.n_arms, horizon=self.horizon, tested=NO_ARM, next_test=TEST_FROM, **self.parameters)
        LAYOUT.arrays(memory, self.n_arms).v[:] = FIRST_VARIANCE
        yield follow(self.rule(), memory, self.horizon)

    def rule(self) -> Rule:
        """The compiled rule that it follows."""
        return profit_target_rule()


@compiled_when_used
def profit_target_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule."""
    beliefs = gaussian_beliefs(memory, offer.size)
    if arm >= 0:
        update(memory, beliefs, plays, arm)
    a = write_worth(memory, beliefs, plays, sums, offer)
    amount = price(memory, beliefs, a, offer)
    profit = offer[a] - amount  # c
    cut = price_cut(memory, arm, a, amount)
    for b in range(offer.size):
        offer[b] = amount - cut if b == a else max(0.0, offer[b] - (profit + cut))
        beliefs.offered[b] = offer[b]
    return a


@inlined_part
def write_worth(memory: Floats, beliefs: GaussianBeliefs, plays: Integers, sums: Floats, worth: Floats) -> int:
    """Write g of every arm into ``worth`` (K,), and return the arm with the largest g + m."""
    t, best = memory[GaussianEntry.TIME], 0
    bonus = (
        memory[GaussianEntry.BONUS] * max(0.0, 1.0 - t / memory[GaussianEntry.HORIZON]) ** memory[GaussianEntry.FADE]
    )
    bonus *= math.sqrt(1.0 + memory[GaussianEntry.GROWTH] * math.log(1.0 + t / SETTLED))
    for a in range(worth.size):
        n = plays[a] + 2.0
        estimate = (sums[a] + 1.0) / n
        worth[a] = max(estimate, min(memory[GaussianEntry.CEILING], estimate + bonus / math.sqrt(n)))
        if worth[a] + beliefs.m[a] > worth[best] + beliefs.m[best]:
            best = a
    return best


@inlined_part
def price(memory: Floats, beliefs: GaussianBeliefs, a: int, worth: Floats) -> float:
    """The price of arm ``a``; ``worth`` (K,) holds g."""
    highest = 0.0
    for b in range(worth.size):
        both = beliefs.v[a] + beliefs.v[b] + SMALLEST
        gap = beliefs.m[b] - beliefs.m[a]
        risk = memory[GaussianEntry.CAUTION] * max(0.0, worth[a] - worth[b] - gap)
        short = (highest - gap) * (highest - gap)
        # z^2 <= 2 risk / s: most arms do not set the price, and neither root nor logarithm is taken for them.
        if b != a and (gap > highest or short * short < 4.0 * risk * risk * both):
            s = math.sqrt(both)
            highest = max(highest, gap + math.sqrt(2.0 * math.log(1.0 + risk / s)) * s)
    return highest


@inlined_part
def price_cut(memory: Floats, arm: int, a: int, amount: float) -> float:
    """Advance the clock by a round, and return what a test cuts off the price ``amount`` of arm ``a``, or 0.

    ``arm`` is the arm of the last round, or NO_ARM.
    """
    t = memory[GaussianEntry.TIME]
    memory[GaussianEntry.TIME] = t + 1.0
    again = arm >= 0 and arm == memory[GaussianEntry.TESTED]  # a test that was accepted is repeated
    due = t >= memory[GaussianEntry.NEXT_TEST]
    if due:
        memory[GaussianEntry.NEXT_TEST] = TEST_AGAIN * t
    memory[GaussianEntry.TESTED] = NO_ARM
    if not (again or due or memory[GaussianEntry.EXPLORED] >= TEST_EVERY * (memory[GaussianEntry.TESTS] + 1.0)):
        return 0.0
    memory[GaussianEntry.TESTS] += 0.0 if again else 1.0
    cut: float = amount * 0.5 ** (1.0 + memory[GaussianEntry.TESTS] % 3.0)
    memory[GaussianEntry.TESTED] = a if cut > 0.0 else NO_ARM
    return cut
