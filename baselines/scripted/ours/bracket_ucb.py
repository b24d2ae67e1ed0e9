"""One paid arm at a time, chosen by brackets on prices. Ours, not from a paper, and without a proof."""

import math

import numpy as np

from baselines.scripted.ours.gaussian_filter import GaussianBeliefs, GaussianEntry, gaussian_beliefs, update
from baselines.scripted.ours.profit_target import ProfitTarget, price, price_cut, write_worth
from pa_env.checks import at_least
from pa_env.kernel.compiling import inlined_part
from pa_env.kernel.layout import Floats, Integers
from pa_env.memory import compiled_when_used
from pa_env.rules import Rule


class BracketUCB(ProfitTarget):
    """Pay one arm, the one with the largest upper bound on theta minus lower bound on its price pi*.

    The beliefs m and v are those of :mod:`baselines.scripted.ours.gaussian_filter`; the worth g, the prices and their
    tests those of :mod:`baselines.scripted.ours.profit_target`. m_b +- ``optimism`` sqrt(v_b) is a bracket on the
    agent's mean muhat_b. The choice is the arm with the largest

        g_a - max(0, max_b {lower end of b} - upper end of a),

    its worth minus its lowest possible price (of equals, the one with the largest m_a). If it is also the arm with the
    largest g + m, it is offered its price. Otherwise it is tried at the profit c that the latter would bring:
    max(0, min(g_a - c, its price)). A refusal lowers the upper end of the arm, an acceptance raises the lower end, so
    the trials end.

    It offers nothing on other arms, so Rbar_T is meaningful for it, unlike for the profit target. But a refused trial
    is a lost round, where the profit target has its other offers.

    Guarantee: none.

    Where it fails: as the profit target does, and more so with many arms, when exploration goes to one arm, or when an
    arm with bad first rewards would have to be paid for to be seen again.

    One set of defaults serves all K and T. They are, rounded, the result of
    ``pa-bench tune bracket-ucb --task all --trials 60``.

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
        optimism: Half-width of the brackets in standard deviations, at least 0.
    """

    name = "bracket-ucb"

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        bonus: float = 1.0,
        fade: float = 0.94,
        growth: float = 0.045,
        caution: float = 0.145,
        drift: float = 1.07,
        suspicion: float = 0.032,
        forgetting: float = 6.0,
        ceiling: float = 1.0,
        optimism: float = 2.05,
    ) -> None:
        super().__init__(n_arms, horizon, bonus, fade, growth, caution, drift, suspicion, forgetting, ceiling)
        self.parameters["optimism"] = at_least("optimism", optimism, 0.0)

    def rule(self) -> Rule:
        """The compiled rule that it follows."""
        return bracket_ucb_rule()


@compiled_when_used
def bracket_ucb_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule."""
    beliefs = gaussian_beliefs(memory, offer.size)
    if arm >= 0:
        update(memory, beliefs, plays, arm)
    a = write_worth(memory, beliefs, plays, sums, offer)
    amount = price(memory, beliefs, a, offer)
    choice = optimistic_choice(memory, beliefs, offer)
    if choice != a:  # worth a trial at the same profit
        profit = offer[a] - amount  # c
        a, amount = choice, max(0.0, min(offer[choice] - profit, price(memory, beliefs, choice, offer)))
    amount -= price_cut(memory, arm, a, amount)
    for b in range(offer.size):
        offer[b] = amount if b == a else 0.0
        beliefs.offered[b] = offer[b]
    return a


@inlined_part
def optimistic_choice(memory: Floats, beliefs: GaussianBeliefs, worth: Floats) -> int:
    """The arm with the largest g_a minus its lowest possible price, at the favourable ends of the brackets."""
    m, v, k = beliefs.m, beliefs.v, memory[GaussianEntry.OPTIMISM]
    first = second = -np.inf  # the two highest lower ends
    top = 0
    for b in range(worth.size):
        low = m[b] - k * math.sqrt(v[b])
        if low > first:
            first, second, top = low, first, b
        elif low > second:
            second = low
    choice, best = 0, -np.inf
    for b in range(worth.size):
        rival = second if b == top else first
        net = worth[b] - max(0.0, rival - m[b] - k * math.sqrt(v[b]))
        if net > best:
            choice, best = b, net
        elif net == best and m[b] > m[choice]:
            choice = b
    return choice
