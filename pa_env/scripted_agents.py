"""Who answers: the agent that sees an offer, plays an arm, and learns from its own reward.

>>> import pa_env
>>> pa_env.agents()
('empirical-mean', 'exploratory', 'oracle', 'exploratory-oracle', 'ols', 'ucb', 'thompson', 'exp3', 'logit', 'types')
>>> pa_env.make_agent("exploratory", c0=0.5, exploration="worst").c0
0.5

One by one, with their parameters; muhat are an agent's beliefs, pi the offer, t = 1, 2, ... the round.
``examples/agents_picture.py`` draws how each answers as the incentive on one arm grows (docs/agents.png).

``empirical-mean`` (Liu & Ratliff, ICML 2025, section 2: the self-interested learning agent)
    plays argmax_a muhat_a + pi_a. muhat_a is the empirical mean (initial_a + sum of rewards) / max(1, N_a) or, when
    rewards are linear, <shat, a> with the least squares estimate shat. Parameters: ``ties``, ``initial``.
``exploratory`` (the same paper; after Dogan, Shen & Aswani, arXiv 2308.06717)
    as before, but in round t it plays an arm that does not maximise with probability
    p_t = min(1, c0 (log(2t) / t)^exponent). The paper has exponent = 1/2. Parameters: ``c0`` >= 0 (0: never),
    ``exponent`` >= 0 (0: always at the same rate), ``exploration``, ``ties``, ``initial``.
``oracle`` (Scheid et al., ICML 2024, arXiv 2403.03811)
    knows its means and plays argmax_a mu_a + pi_a. Parameter: ``ties``.
``exploratory-oracle`` (Liu & Ratliff)
    the oracle, exploring as ``exploratory`` does. Parameters: ``c0``, ``exponent``, ``exploration``, ``ties``.
``ols`` (Liu & Ratliff, section 5)
    ``empirical-mean`` under the name that it has when rewards are linear, and for these only.
``ucb``, ``thompson``, ``exp3`` (the agents without regret of Scheid et al., arXiv 2406.19824, told the incentives)
    ``ucb`` plays argmax muhat_a + pi_a + sqrt(2 log t / N_a), every arm once first. ``thompson`` plays argmax of
    muhat_a + pi_a + N(0, 1/(N_a + 1)), a variant of Gaussian Thompson sampling, which would divide the sum behind
    muhat_a by N_a + 1 too. ``exp3`` draws from a softmax of G_a + t pi_a, where G_a sums its rewards divided by the
    probability of playing the arm. No parameters.
``logit`` (quantal response: McKelvey & Palfrey, Games and Economic Behavior 1995; Luce 1959)
    plays arm a with a probability proportional to exp((muhat_a + pi_a) / temperature). Parameters: ``temperature`` >= 0
    (0: it maximises), ``knows_means`` (False: it learns them as ``empirical-mean`` does), ``ties``, ``initial``.
``types`` (Liu, Maiti, Tajdini, Jamieson & Ratliff, ICML 2025, arXiv 2505.23124)
    a population with means of its own for each type; one type answers in each round, greedily or by the logit law.
    It knows its means and learns nothing. The instance gives theta alone. Parameters: ``types`` (the number of types,
    whose means are drawn uniformly in each episode; or an array (J, n_arms) of means in [0, 1]), ``order`` ("random":
    drawn in each round; "blocks": one after the other, horizon / J rounds each; "cycle"; or an array of type indices,
    which is repeated), ``temperature`` >= 0, ``ties``.

The principal's regret R_T compares with the best offers for a greedy agent that has the same beliefs, whichever agent
answers; :mod:`pa_env.kernel.responses` says where it can be negative, and what ``regret_response`` compares with.

Your own agent is an object with ``reset``, ``choose``, ``learn`` and ``means`` (:class:`Agent`), at Python speed, or
two functions (:class:`pa_env.CompiledAgent`), at compiled speed. Both work behind every interface. With more than one
copy of a game, each copy gets an agent of its own.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pa_env.agent_parameters import AGENTS, ScriptedAgent
from pa_env.checks import known
from pa_env.compiled_agents import CompiledAgent

__all__ = ["AGENTS", "Agent", "AgentLike", "ScriptedAgent", "agents", "make_agent", "resolve"]


class Agent(Protocol):
    """What a user's own agent must have."""

    @property
    def means(self) -> ArrayLike:
        """Its beliefs muhat (n_arms,) now, which the regret compares with; read before each round."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode; all randomness must come from ``rng``."""

    def choose(self, incentives: NDArray[np.float64]) -> int:
        """The arm to play on this offer."""

    def learn(self, arm: int, reward: float) -> None:
        """Observe the reward R of the arm just played (without the incentive)."""


AgentLike = str | ScriptedAgent | CompiledAgent | Agent  # what ``agent=`` takes


def agents() -> tuple[str, ...]:
    """Names of the scripted agents, which ``agent=`` takes.

    - ``empirical-mean``: plays argmax of its empirical means plus incentives.
    - ``exploratory``: the same, and explores with probability min(1, c0 (log(2t) / t)^exponent).
    - ``oracle``, ``exploratory-oracle``: the same two with the true means for beliefs.
    - ``ols``: learns linear rewards by least squares.
    - ``ucb``, ``thompson``, ``exp3``: learn, and keep their own regret low.
    - ``logit``: plays arm a with a probability proportional to exp((muhat_a + pi_a) / temperature).
    - ``types``: a population of agents, one of which answers in each round.

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


def resolve(agent: AgentLike) -> ScriptedAgent | CompiledAgent | Agent:
    """The agent that ``agent=`` stands for."""
    if isinstance(agent, str):
        return make_agent(agent)
    # `means` may be set by reset only: the game looks for it then.
    missing = [name for name in ("reset", "choose", "learn") if not callable(getattr(agent, name, None))]
    if isinstance(agent, ScriptedAgent | CompiledAgent) or not missing:
        return agent
    raise TypeError(
        f"agent = {agent!r} must be a name ({', '.join(AGENTS)}), the result of pa_env.make_agent, a"
        f" pa_env.CompiledAgent, or an object with reset, choose, learn and means; it lacks {', '.join(missing)}"
    )
