"""Draw how each agent answers as the incentive on one arm grows.

    python examples/agents_picture.py docs/agents.png

Of three arms the agent likes the first least: its means are 0.3, 0.6 and 0.5, so a greedy agent that knows them plays
arm 0 from an incentive of 0.3 on. In the first 90 rounds the arms are played in turn, so that agents that learn have
beliefs. Each point is the share of arm 0 in the next 200 rounds, in which the offer is held, over 200 episodes. Agents
that know their means and do not err jump: they are drawn as steps. Linear rewards, for `ols`, have the unit vectors as
arms, and the same means.
"""

import argparse

import numpy as np
from matplotlib.figure import Figure

import pa_env
from pa_env.game import Game

MU, THETA = [0.3, 0.6, 0.5], [0.8, 0.2, 0.4]
INSTANCE = pa_env.IID(mu=MU, theta=THETA)
LINEAR = pa_env.Linear(arms=np.eye(3), s=MU, nu=THETA, noise=0.5)
EPISODES, WARM_UP, ROUNDS = 200, 90, 200
OFFERS = np.linspace(0.0, 0.9, 37)
PARAMETERS = {"types": {"types": [[0.3, 0.6, 0.5], [0.1, 0.2, 0.8]]}}
STEPS = ("oracle", "exploratory-oracle", "types")


def share_played(agent: pa_env.ScriptedAgent, amount: float) -> float:
    """How often arm 0 is played."""
    instance = LINEAR if agent == pa_env.make_agent("ols") else INSTANCE
    game = Game(agent=agent, instance=instance, horizon=WARM_UP + ROUNDS, copies=EPISODES, observe=False)
    game.begin(seeds=range(EPISODES))
    offers = np.tile([amount, 0.0, 0.0], (EPISODES, 1))
    for t in range(WARM_UP):
        game.play(np.zeros_like(offers), arms=np.full(EPISODES, t % 3))
    before = game.plays[:, 0].sum()
    for _ in range(ROUNDS):
        game.play(offers)
    return float(game.plays[:, 0].sum() - before) / (EPISODES * ROUNDS)


def title(name: str, agent: pa_env.ScriptedAgent) -> str:
    """Its name, with the parameter that shapes its answers."""
    if name == "types":
        return f"{name}, the other mu: {tuple(PARAMETERS[name]['types'][1])}"
    if agent.c0:
        return f"{name}, c0 = {agent.c0:g}"
    return f"{name}, temperature {agent.temperature:g}" if agent.temperature else name


def main(path: str) -> None:
    """A panel for each agent."""
    names = pa_env.agents()
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    panels = figure.subplots(-(-len(names) // 5), 5, sharex=True, sharey=True)
    for axes in panels.flat[len(names) :]:
        axes.set_visible(False)
    for name, axes in zip(names, panels.flat, strict=False):
        agent = pa_env.make_agent(name, **PARAMETERS.get(name, {}))
        axes.axvline(0.3, color="#BBBBBB", linestyle="--", linewidth=1)
        style = "steps-post" if name in STEPS else "default"
        axes.plot(OFFERS, [share_played(agent, amount) for amount in OFFERS], color="#0072B2", drawstyle=style)
        axes.set_title(title(name, agent), fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(-0.03, 1.03)
    figure.suptitle(
        f"K = 3, mu = {tuple(MU)}; after {WARM_UP} rounds in which arms are played in turn, {ROUNDS} rounds of the same"
        f" offer (T = {WARM_UP + ROUNDS}); {EPISODES} episodes",
        fontsize="medium",
    )
    figure.supxlabel("incentive on arm 0 (dashed: what a greedy agent with the true means asks for)")
    figure.supylabel("share of rounds in which arm 0 is played")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw how each agent answers.")
    parser.add_argument("path", nargs="?", default="agents.png", help="file to write")
    main(parser.parse_args().path)
