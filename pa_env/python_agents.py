"""Users' own agents, written in Python: the game asks them for arms and tells them their rewards."""

import copy
import inspect
from collections.abc import Sequence
from math import isfinite

import numpy as np

from pa_env.checks import FLOAT64, arm_index, numbers, short
from pa_env.compiled_agents import CompiledAgent
from pa_env.kernel.layout import AGENT_REWARD, ARM, NO_ARM, Floats, Integers
from pa_env.scripted_agents import Agent, ScriptedAgent

MISSING = object()


def takes_paid(agent: Agent) -> bool:
    """True if an agent's ``learn`` is told the incentive: it has a parameter ``paid``, or cannot do without a third."""
    try:
        signature = inspect.signature(agent.learn)
    except (TypeError, ValueError):  # not written in Python
        return False
    told = "paid" in signature.parameters or not _binds(signature, 2)
    if not _binds(signature, 3 if told else 2):
        raise TypeError(
            f"{type(agent).__name__} has learn{signature}, but must have learn(arm, reward) or learn(arm, reward, paid)"
        )
    return told


def _binds(signature: inspect.Signature, arguments: int) -> bool:
    """True if a function can be called with so many arguments, by position."""
    try:
        signature.bind(*range(arguments))
    except TypeError:
        return False
    return True


class PythonAgents:
    """One agent for each copy of a game; none, and false, if the kernel plays the agent.

    Args:
        agent: the user's object, or an agent of the kernel. A game of one copy plays the object itself, so that the
            user can look at it; with more copies, each gets a deep copy.
        copies: number of copies.
        n_arms: number of arms.
    """

    def __init__(self, agent: Agent | ScriptedAgent | CompiledAgent, copies: int, n_arms: int) -> None:
        self.n_arms = n_arms
        self.agents: list[Agent] = []
        if not isinstance(agent, ScriptedAgent | CompiledAgent):
            self.agents = [agent] if copies == 1 else [copy.deepcopy(agent) for _ in range(copies)]
        self.all = range(len(self.agents))
        self.tell_paid = bool(self.agents) and takes_paid(self.agents[0])

    def __len__(self) -> int:
        """How many they are."""
        return len(self.agents)

    def reset(self, i: int, rng: np.random.Generator) -> None:
        """Begin an episode of copy ``i``."""
        self.agents[i].reset(self.n_arms, rng)

    def read_means(self, i: int, into: Floats) -> None:
        """Write the beliefs (n_arms,) of copy ``i``'s agent."""
        agent = self.agents[i]
        means = getattr(agent, "means", MISSING)
        # Nearly every agent has a float64 array; its square is finite only if its entries are.
        if type(means) is np.ndarray and means.dtype is FLOAT64 and means.shape == into.shape:
            if isfinite(means.dot(means)):
                into[:] = means
                return
        elif means is MISSING:
            raise TypeError(
                f"{type(agent).__name__} has no means: reset() must set {self.n_arms} finite numbers, its beliefs"
            )
        what = f"{type(agent).__name__}.means"
        means = numbers(what, means)
        if means.shape != into.shape or not np.isfinite(means).all():
            raise ValueError(f"{what} = {short(means)} must be {self.n_arms} finite numbers, a belief about each arm")
        into[:] = means

    def choose(self, offers: Floats, forced: Integers, playing: Sequence[int]) -> Integers:
        """The arms (copies,) of the copies that are playing: the forced one, or what the agent chooses."""
        arms = np.full(len(self.agents), NO_ARM) if not forced.size else forced.copy()
        for i in playing:
            if arms[i] < 0:
                arm = self.agents[i].choose(offers[i].copy())
                if type(arm) is not int or not 0 <= arm < self.n_arms:
                    arm = arm_index(f"{type(self.agents[i]).__name__}.choose(incentives)", arm, self.n_arms)
                arms[i] = arm
        return arms

    def learn(self, results: Floats, offers: Floats, playing: Sequence[int]) -> None:
        """Tell the agents of the copies that are playing what they got, and what they were paid if they ask for it."""
        for i in playing:
            arm = int(results.item(i, ARM))
            paid = (offers.item(i, arm),) if self.tell_paid else ()
            self.agents[i].learn(arm, results.item(i, AGENT_REWARD), *paid)

    def choice_probabilities(self, offers: Floats) -> Floats:
        """How likely each agent says that it is to play each arm, (copies, n_arms)."""
        laws = np.empty(offers.shape)
        for i, agent in enumerate(self.agents):
            tell = getattr(agent, "choice_probabilities", None)
            if tell is None:
                raise ValueError(f"{type(agent).__name__} has no method choice_probabilities(incentives): add one")
            what = f"{type(agent).__name__}.choice_probabilities(incentives)"
            law = numbers(what, tell(offers[i].copy()))
            if law.shape != (self.n_arms,) or not (law >= 0.0).all() or abs(law.sum() - 1.0) > 1e-9:
                raise ValueError(f"{what} = {short(law)} must be {self.n_arms} probabilities that sum to 1")
            laws[i] = law
        return laws
