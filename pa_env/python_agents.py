"""Users' own agents, written in Python: the game asks them for arms and tells them their rewards."""

import copy

import numpy as np

from pa_env.checks import arm_index, numbers
from pa_env.layout import AGENT_REWARD, ARM, NO_ARM, Flags, Floats, Integers
from pa_env.scripted_agents import Agent


class PythonAgents:
    """One agent for each copy of a game.

    Args:
        agent: the user's object. A game of one copy plays the object itself, so that the user can look at it; with
            more copies, each gets a deep copy.
        copies: number of copies.
        n_arms: number of arms.
    """

    def __init__(self, agent: Agent, copies: int, n_arms: int) -> None:
        self.n_arms = n_arms
        self.agents = [agent] if copies == 1 else [copy.deepcopy(agent) for _ in range(copies)]

    def reset(self, i: int, rng: np.random.Generator) -> None:
        """Begin an episode of copy ``i``."""
        self.agents[i].reset(self.n_arms, rng)

    def read_means(self, i: int) -> Floats:
        """The beliefs (n_arms,) of copy ``i``'s agent."""
        agent = self.agents[i]
        if not hasattr(agent, "means"):
            raise TypeError(
                f"agent = {agent!r} has no means: reset() must set {self.n_arms} finite numbers, one belief an arm"
            )
        means = numbers("agent.means", agent.means)
        if means.shape != (self.n_arms,) or not np.isfinite(means).all():
            raise ValueError(
                f"agent.means = {means} must be {self.n_arms} finite numbers, the agent's belief on each arm"
            )
        return means

    def choose(self, offers: Floats, forced: Integers, playing: Flags) -> Integers:
        """The arms (copies,) of the copies that are playing: the forced one, or what the agent chooses."""
        arms = np.full(len(self.agents), NO_ARM) if not forced.size else forced.copy()
        for i in np.flatnonzero(playing & (arms < 0)).tolist():
            arms[i] = arm_index("agent.choose(incentives)", self.agents[i].choose(offers[i].copy()), self.n_arms)
        return arms

    def learn(self, results: Floats, playing: Flags) -> None:
        """Tell the agents of the copies that are playing what they got."""
        for i in np.flatnonzero(playing).tolist():
            self.agents[i].learn(int(results[i, ARM]), float(results[i, AGENT_REWARD]))

    def choice_probabilities(self, offers: Floats) -> Floats:
        """What the agents say of how likely each is to play each arm, (copies, n_arms)."""
        laws = np.empty(offers.shape)
        for i, agent in enumerate(self.agents):
            if not callable(getattr(agent, "choice_probabilities", None)):
                raise ValueError(f"agent = {agent!r} cannot tell: it has no choice_probabilities(incentives)")
            law = numbers("agent.choice_probabilities(incentives)", agent.choice_probabilities(offers[i].copy()))  # type: ignore[attr-defined]
            if law.shape != (self.n_arms,) or not (law >= 0.0).all() or abs(law.sum() - 1.0) > 1e-9:
                raise ValueError(
                    f"agent.choice_probabilities(incentives) = {law} must be {self.n_arms} probabilities that sum to 1"
                )
            laws[i] = law
        return laws
