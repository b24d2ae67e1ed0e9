"""An agent's own regret: whom the assumption of no regret covers (Liu & Ratliff, ICML 2025, appendix B).

Scheid et al. (arXiv 2406.19824) assume that an agent's regret in any window of t rounds is at most C t^kappa with
kappa < 1, whatever is offered. The counterexample: mu = (0.1, 0.9), arm 0 is paid for in the first round, then arm 1 is
offered T^-10. With probability 0.1 the first reward is 1. Then a greedy agent that began with beliefs of 0 stays with
arm 0 for good, and its regret in the window of rounds 2 to T is 0.8 (T - 1).
"""

import numpy as np

from pa_env import IID
from pa_env.game import Game
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import AgentLike

INSTANCE = IID(mu=[0.1, 0.9], theta=[0.5, 0.5])
AGENTS = ("empirical-mean", "exploratory", "oracle", "ucb", "thompson", "exp3", "logit")


def window_regrets(agent: AgentLike, horizon: int, runs: int) -> Floats:
    """The agent's own regret (runs,) in rounds 2 to T of the counterexample.

    >>> regrets = window_regrets("empirical-mean", horizon=1000, runs=500)
    >>> sorted({round(float(regret), 6) for regret in regrets})  # it leaves arm 0 at once, or never
    [0.0, 799.2]
    """
    game = Game(agent=agent, instance=INSTANCE, horizon=horizon, observe=False)
    regrets = np.empty(runs)
    for seed in range(runs):
        game.begin(seeds=[seed])
        game.hold([1.0, 0.0], 1)
        before = game.totals()["agent_regret"]
        game.hold([0.0, float(horizon) ** -10], horizon - 1)
        regrets[seed] = game.totals()["agent_regret"] - before
    return regrets


def show(runs: int) -> None:
    """Print the table."""
    from rich.console import Console
    from rich.table import Table

    horizons = (10**3, 10**4, 10**5)
    table = Table(
        "agent",
        *(f"mean / T, T = {horizon:.0e}" for horizon in horizons),
        f"runs above T / 2 at {horizons[-1]:.0e}",
        title=f"An agent's own regret in rounds 2 to T of the counterexample, {runs} runs",
    )
    for agent in AGENTS:
        regrets = [window_regrets(agent, horizon, runs) for horizon in horizons]
        means = (f"{values.mean() / horizon:.4f}" for values, horizon in zip(regrets, horizons, strict=True))
        stuck = (regrets[-1] > horizons[-1] / 2).mean()
        table.add_row(agent, *means, f"{stuck:.1%}")
    Console().print(table)
