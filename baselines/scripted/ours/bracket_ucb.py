"""One paid arm at a time, chosen by brackets on prices. Ours, not from a paper, and without a proof."""

from baselines.scripted.ours.profit_target import ProfitTarget
from pa_env.checks import at_least


class BracketUCB(ProfitTarget):
    """Pay one arm, the one with the largest upper bound on theta minus lower bound on its price pi*.

    Beliefs, g, prices and tests are those of :mod:`baselines.scripted.ours.beliefs` and
    :mod:`baselines.scripted.ours.profit_rule`; m_b +- ``optimism`` sqrt(v_b) is a bracket on the agent's mean muhat_b.
    The choice is the arm with the largest

        g_a - max(0, max_b {lower end of b} - upper end of a),

    its worth minus its lowest possible price (of equals, the one with the largest m_a). If it is also the arm with the
    largest g + m, it is offered its price. Otherwise it is tested at the profit c that the latter would bring:
    max(0, min(g_a - c, its price)). A refusal lowers the upper end of the arm, an acceptance raises the lower end, so
    the tests end.

    It offers nothing on other arms, so Rbar_T is meaningful for it, unlike for the profit target. But a refused test is
    a lost round, where the profit target has its other offers.

    Guarantee: none. R_T on uniform instances against the empirical-mean agent, K = 5: 2.5 at T = 200 (3000 seeds), 4.6
    at 10^3 (2000), 11 at 10^4 (300), 61 at 10^5 (100), 134 at 10^6 (50). Against the exploratory agent 186 at 10^4
    (100), and against the oracle agent 65 at 10^4 (300) and 332 at 10^6 (50). All are from commands such as

        pa-bench run --task k5-t1e4-uniform --principal bracket-ucb --seeds 300

    Where it fails: as the profit target does, with the same losses on ``gap`` instances, and more so at K = 20 (1978 on
    average of 15 seeds at T = 10^6, almost all of it in one of them), when exploration goes to one arm, or when an arm
    with bad first rewards would have to be paid for to be seen again. At T = 10^4 to 10^6 its mean regret and the
    profit target's grow alike (``python -m baselines theorems``).

    One set of defaults serves all K and T. They are, rounded, the result of
    ``python -m baselines tune bracket-ucb --task all --trials 60``.

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
        self.optimism = at_least("optimism", optimism, 0.0)
