"""One arm at a time, chosen by brackets on what each of them costs. Ours, not from a paper, and without a proof."""

from baselines.scripted.profit_target import ProfitTarget
from pa_env.checks import at_least


class BracketUCB(ProfitTarget):
    """Pay only the arm that may be worth most: upper bounds on theta, lower bounds on its price pi*.

    Beliefs, g and prices are those of :mod:`baselines.scripted.profit_target`; m_b +- ``optimism`` sqrt(v_b) is a
    bracket on the agent's mean muhat_b. The choice is the arm with the largest

        g_a - max(0, max_b {lower end of b} - upper end of a),

    what it brings at the least that it may cost. If it is also the arm with the largest g + m, it is offered its
    price; if not, it is a test, at the profit c that the latter would bring: max(0, min(g_a - c, its price)). A
    refusal lowers the upper end of the arm, an acceptance raises the lower, so tests end.

    Unlike the profit target it offers nothing that is not meant, so Rbar_T makes sense for it; but a refused test is a
    lost round, where the profit target has its other offers to fall back on. The other parameters mean the same. One
    set of defaults serves all K and T. They were found by hand; no other set of a short search beat them:

        python -m baselines tune bracket-ucb --task all --trials 7

    Where it fails: as the profit target does, and more so against agents that do not learn: a wrong belief that is
    sure of itself can last for long (oracle agent, K = 5, T = 10^5: R_T / T 0.01 in the mean, 0.00003 in the median).
    """

    name = "bracket-ucb"

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        bonus: float = 0.72,
        fade: float = 0.95,
        growth: float = 0.99,
        caution: float = 0.18,
        drift: float = 0.78,
        suspicion: float = 0.026,
        forgetting: float = 3.3,
        optimism: float = 2.06,
    ) -> None:
        super().__init__(n_arms, horizon, bonus, fade, growth, caution, drift, suspicion, forgetting)
        self.optimism = at_least("optimism", optimism, 0.0)
