"""Who answers: the agent that sees an offer, plays an arm, and learns from its own reward.

>>> import pa_env
>>> pa_env.agents()
('empirical-mean', 'exploratory', 'oracle', 'exploratory-oracle', 'ols', 'ucb', 'thompson', 'exp3')
>>> pa_env.make_agent("exploratory", c0=0.5, exploration="worst").c0
0.5

The scripted agents are those of Liu & Ratliff (ICML 2025), section 2. A greedy agent plays
argmax_a muhat_a(t) + pi_a(t). Its beliefs muhat are the empirical means
(initial_a + sum of rewards) / max(1, N_a) of the arms or, when rewards are linear, <shat, a> with the ordinary
least squares estimate shat; an oracle's are the true means. An exploratory agent leaves the maximisers in round
t with probability min(1, c0 sqrt(log(2t) / t)).

Three agents learn the same means, but choose so as to keep their own regret low, told the incentives, as in Scheid et
al. (2024, arXiv 2406.19824). ``ucb`` plays argmax muhat_a + pi_a + sqrt(2 log t / N_a), every arm once first;
``thompson`` plays argmax of muhat_a + pi_a + N(0, 1/(N_a + 1)), a variant of Gaussian Thompson sampling, which would
divide the sum behind muhat_a by N_a + 1 too; ``exp3`` draws from a softmax of G_a + t pi_a, where G_a sums its rewards
divided by the probability of playing the arm. The principal's regrets compare with the optimal incentives for their
means, as for the others.

Your own agent is any object with ``reset``, ``choose``, ``learn`` and ``means`` (:class:`Agent`). It works behind
every interface, at Python speed. With more than one copy of a game, each copy gets a deep copy of it.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pa_env.checks import at_least, known, numbers, whole
from pa_env.kernel.agents import Kind
from pa_env.layout import Exploration, Floats, Ties

TIES = {member.name.lower().replace("_", "-"): member for member in Ties}
EXPLORATIONS = {
    member.name.lower().replace("_", "-"): member for member in Exploration if member != Exploration.FIXED_ARM
}


class Agent(Protocol):
    """What a user's own agent must have."""

    @property
    def means(self) -> ArrayLike:
        """Its beliefs muhat (n_arms,) now, which the regret compares with; read before each round."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode; all randomness from ``rng``."""

    def choose(self, incentives: NDArray[np.float64]) -> int:
        """The arm to play on this offer."""

    def learn(self, arm: int, reward: float) -> None:
        """Take in the reward R of the arm just played (without the incentive)."""


@dataclass(frozen=True)
class Declaration:
    """What a scripted agent is."""

    kind: Kind
    about: str  # "the agent ..."
    parameters: dict[str, Any] = field(default_factory=dict)  # that it takes, with their defaults
    learns: bool = True  # whether its rewards move its means
    linear_only: bool = False  # whether rewards must be linear
    low_regret: bool = False  # whether its own regret is sublinear


GREEDY = {"ties": "lowest", "initial": 0.0}
EXPLORES = {"c0": 1.0, "exploration": "uniform"}
KNOWS = {"ties": "lowest"}
AGENTS = {
    "empirical-mean": Declaration(Kind.LEARNER, "learns and never explores", GREEDY),
    "exploratory": Declaration(Kind.LEARNER, "learns and explores", EXPLORES | GREEDY),
    "oracle": Declaration(Kind.ORACLE, "knows its means", KNOWS, learns=False),
    "exploratory-oracle": Declaration(Kind.ORACLE, "knows its means and explores", EXPLORES | KNOWS, learns=False),
    "ols": Declaration(Kind.LEARNER, "learns by least squares and never explores", GREEDY, linear_only=True),
    "ucb": Declaration(Kind.UCB, "keeps its own regret low by optimism", low_regret=True),
    "thompson": Declaration(Kind.THOMPSON, "keeps its own regret low by sampling", low_regret=True),
    "exp3": Declaration(Kind.EXP3, "keeps its own regret low whatever the rewards", low_regret=True),
}


@dataclass(frozen=True, kw_only=True)
class ScriptedAgent:
    """An agent that the kernel plays; made by :func:`make_agent`.

    Args:
        name: one of :func:`agents`.
        c0: exploration constant, at least 0; 0: it never explores.
        exploration: which arm it explores among those that do not maximise: "uniform", "worst" for the principal
            (lowest theta_a - pi_a), "round-robin", or a fixed arm's index.
        ties: which maximiser it plays: the "lowest" index, the "highest", "random", or "largest-incentive".
        initial: empirical means before the first play, one number or one an arm; with linear rewards the first
            estimate of s (a vector, or 0).
    """

    name: str
    c0: float = 0.0
    exploration: str | int = "uniform"
    ties: str = "lowest"
    initial: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c0", at_least("c0", self.c0, 0.0))
        known("ties", self.ties, TIES)
        if isinstance(self.exploration, str):
            known("exploration", self.exploration, EXPLORATIONS)
        else:
            whole("exploration", self.exploration, 0)
        initial = numbers("initial", self.initial)
        if initial.ndim > 1 or not np.isfinite(initial).all():
            raise ValueError(f"initial = {self.initial!r} must be one finite number, or one for each arm")
        # A tuple of floats, so that the dataclass stays hashable and comparable.
        object.__setattr__(self, "initial", float(initial) if initial.ndim == 0 else tuple(initial.tolist()))

    @property
    def declaration(self) -> Declaration:
        """What it is."""
        return AGENTS[self.name]

    @property
    def is_oracle(self) -> bool:
        """Whether it knows the true means."""
        return self.declaration.kind == Kind.ORACLE

    def write_rules(self, rules: NDArray[Any], n_arms: int, dim: int) -> None:
        """Write it into a game's record of rules (:data:`pa_env.layout.RULES`)."""
        if self.declaration.linear_only and not dim:
            raise ValueError(
                f"agent = {self.name!r} needs linear rewards: use 'empirical-mean', or instance='unit-ball'"
            )
        if isinstance(self.exploration, str):
            exploration = int(EXPLORATIONS[self.exploration])
        elif self.exploration < n_arms:
            exploration = Exploration.FIXED_ARM + self.exploration
        else:
            raise ValueError(
                f"exploration = {self.exploration} must be an arm's index below n_arms = {n_arms}, or one of"
                f" {', '.join(EXPLORATIONS)}"
            )
        rules["kind"], rules["learns"], rules["c0"] = self.declaration.kind, self.declaration.learns, self.c0
        rules["ties"], rules["exploration"] = TIES[self.ties], exploration

    def initial_for(self, n_arms: int, dim: int) -> Floats:
        """Initial means (n_arms,), or the first estimate of s (dim,) when linear."""
        size, what = (dim, "dim") if dim else (n_arms, "n_arms")
        values = np.atleast_1d(np.asarray(self.initial, dtype=np.float64))
        if values.size not in (1, size):
            raise ValueError(
                f"initial has {values.size} numbers, the game has {what} = {size}: pass one number or {size}"
            )
        return np.ascontiguousarray(np.broadcast_to(values, (size,)))


def agents() -> tuple[str, ...]:
    """Names of the scripted agents, which ``agent=`` takes.

    - ``empirical-mean``: plays argmax of its empirical means plus incentives.
    - ``exploratory``: the same, and explores with probability min(1, c0 sqrt(log(2t) / t)).
    - ``oracle``, ``exploratory-oracle``: the same two with the true means for beliefs.
    - ``ols``: learns linear rewards by least squares.
    - ``ucb``, ``thompson``, ``exp3``: learn, and keep their own regret low.

    See :mod:`pa_env.scripted_agents` for their laws, and :func:`make_agent` for their parameters.
    """
    return tuple(AGENTS)


def make_agent(name: str, **parameters: Any) -> ScriptedAgent:
    """A scripted agent by name.

    Args:
        name: one of :func:`agents`.
        **parameters: see :class:`ScriptedAgent`; each agent takes its own.
    """
    known("agent", name, AGENTS)
    for parameter in parameters:
        known(f"parameter of agent {name!r}", parameter, AGENTS[name].parameters)
    return ScriptedAgent(name=name, **(AGENTS[name].parameters | parameters))


def resolve(agent: str | ScriptedAgent | Agent) -> ScriptedAgent | Agent:
    """Make sense of ``agent=``."""
    if isinstance(agent, str):
        return make_agent(agent)
    # `means` may well be set only by reset: the game looks for it then.
    missing = [name for name in ("reset", "choose", "learn") if not callable(getattr(agent, name, None))]
    if isinstance(agent, ScriptedAgent) or not missing:
        return agent
    raise TypeError(
        f"agent = {agent!r} must be a name ({', '.join(AGENTS)}), the result of pa_env.make_agent, or an object"
        f" with reset, choose, learn and means; it lacks {', '.join(missing)}"
    )
