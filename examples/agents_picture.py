"""Draw how each agent answers as the incentive on one arm grows.

    python examples/agents_picture.py docs/agents.png

Of three arms the agent likes the first least: its means are 0.3, 0.6 and 0.5, so a greedy agent that knows them plays
arm 0 from an incentive of 0.3 on. In the first 90 rounds the arms are played in turn, so that agents that learn have
beliefs. Each point is the share of arm 0 in the next 200 rounds, in which the offer is held, over 200 episodes.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import pa_env
from pa_env.game import Game

INSTANCE = pa_env.IID(mu=[0.3, 0.6, 0.5], theta=[0.9, 0.2, 0.4])
EPISODES, WARM_UP, ROUNDS = 200, 90, 200
OFFERS = np.linspace(0.0, 0.9, 37)
PARAMETERS = {"types": {"types": [[0.3, 0.6, 0.5], [0.1, 0.2, 0.8]]}}


def share_played(agent: pa_env.ScriptedAgent, amount: float) -> float:
    """How often arm 0 is played."""
    game = Game(agent=agent, instance=INSTANCE, horizon=WARM_UP + ROUNDS, copies=EPISODES, observe=False)
    game.begin(seeds=range(EPISODES))
    offers = np.tile([amount, 0.0, 0.0], (EPISODES, 1))
    for t in range(WARM_UP):
        game.play(np.zeros_like(offers), arms=np.full(EPISODES, t % 3))
    before = game.plays[:, 0].sum()
    for _ in range(ROUNDS):
        game.play(offers)
    return float(game.plays[:, 0].sum() - before) / (EPISODES * ROUNDS)


def main(path: str) -> None:
    """A panel for each agent; `ols` is `empirical-mean` with linear rewards."""
    names = [name for name in pa_env.agents() if name != "ols"]
    figure = Figure(figsize=(10, 9), layout="constrained")
    panels = figure.subplots(3, 3, sharex=True, sharey=True)
    for name, axes in zip(names, panels.flat, strict=True):
        agent = pa_env.make_agent(name, **PARAMETERS.get(name, {}))
        axes.axvline(0.3, color="#BBBBBB", linestyle="--", linewidth=1)
        axes.plot(OFFERS, [share_played(agent, amount) for amount in OFFERS], color="#0072B2")
        axes.set_title(name, fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(-0.03, 1.03)
    figure.supxlabel("incentive on arm 0 (dashed: what a greedy agent with the true means asks for)")
    figure.supylabel("share of rounds in which arm 0 is played")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "agents.png")
