"""The agents: an agent sees an offer, plays an arm, and learns from its own reward.

>>> import pa_env
>>> pa_env.agents()  # doctest: +NORMALIZE_WHITESPACE
('empirical-mean', 'exploratory', 'oracle', 'exploratory-oracle', 'ols', 'ucb', 'thompson', 'exp3', 'logit', 'types',
'hedge', 'follow-the-leader', 'holdout')
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
``hedge`` (mean-based learning: Guruganesh et al., arXiv 2401.16198; Freund & Schapire, JCSS 1997)
    does not look at the offer before it plays: it draws arm a with a probability proportional to exp(eta_t S_a), where
    S_a is its total payoff from arm a in the t - 1 rounds before. With ``feedback`` "offers" it is told whole offers
    after their rounds, S_a = (t - 1) muhat_a + sum of pi_a, and eta_t = rate sqrt(log K / t). With "bandit" it is told
    R + pi_A alone: S_a sums payoffs divided by the probability of playing the arm, eta_t = rate sqrt(log K / (K t)),
    and arms are drawn uniformly with probability min(1, K eta_t). Parameters: ``rate`` > 0, ``feedback``.
``follow-the-leader`` (Hannan 1957; Kalai & Vempala, JCSS 2005)
    plays argmax_a S_a, with S_a of ``hedge`` and whole offers; ties go to the lowest index. No parameters.
``holdout``
    plays as ``empirical-mean`` does, but refuses. If the arm that a greedy agent would take is not its favourite
    argmax_a muhat_a, and its muhat_a + pi_a is less than ``margin`` above that of every other arm, it plays its
    favourite, at most ``patience`` times for each arm. Parameters: ``margin`` >= 0, ``patience`` >= 0.

The principal's regret R_T compares with the best offers for a greedy agent that has the same beliefs, whichever agent
answers; :mod:`pa_env.kernel.responses` says where it can be negative, and what ``regret_response`` compares with.

Your own agent is an object with ``reset``, ``choose``, ``learn`` and ``means`` (:class:`Agent`), at Python speed, or
two functions (:class:`pa_env.CompiledAgent`), at compiled speed. Both work behind every interface. With more than one
copy of a game, each copy gets an agent of its own.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pa_env.checks import at_least, integers, known, numbers, short, whole
from pa_env.compiled_agents import CompiledAgent, check_own_bounds, kept, write_functions
from pa_env.kernel.compiling import address
from pa_env.kernel.layout import Exploration, Floats, Integers, Order, Records, Rules, Ties
from pa_env.kernel.other_agents import Kind, types_memory
from pa_env.payoff_agents import FEEDBACKS, HEDGE, HOLDOUT, LEADER, Functions
from pa_env.trained_agents import POLICY, load_agent

TIES = {member.name.lower().replace("_", "-"): member for member in Ties}
EXPLORATIONS = {
    member.name.lower().replace("_", "-"): member
    for member in Exploration
    if member not in (Exploration.FIXED_ARM, Exploration.FUNCTION)
}
ORDERS = {"random": Order.RANDOM, "blocks": Order.BLOCKS, "cycle": Order.GIVEN}


@dataclass(frozen=True)
class AgentDeclaration:
    """A scripted agent: how the kernel plays it, and its parameters."""

    kind: Kind
    about: str  # completes the sentence "The agent ..."
    parameters: dict[str, Any] = field(default_factory=dict)  # its parameters and their defaults
    learns: bool = True  # whether its rewards move its means
    linear_only: bool = False  # whether rewards must be linear
    iid_only: bool = False  # whether they must not be
    low_regret: bool = False  # whether its own regret is sublinear
    blind: bool = False  # whether it plays before it sees the offer
    functions: Functions | None = None  # that the kernel calls (Kind.FUNCTIONS)


GREEDY = {"ties": "lowest", "initial": 0.0}
EXPLORES = {"c0": 1.0, "exponent": 0.5, "exploration": "uniform"}
KNOWS = {"ties": "lowest"}
AGENTS = {
    "empirical-mean": AgentDeclaration(Kind.LEARNER, "learns and never explores", GREEDY),
    "exploratory": AgentDeclaration(Kind.LEARNER, "learns and explores", EXPLORES | GREEDY),
    "oracle": AgentDeclaration(Kind.ORACLE, "knows its means", KNOWS, learns=False),
    "exploratory-oracle": AgentDeclaration(Kind.ORACLE, "knows its means and explores", EXPLORES | KNOWS, learns=False),
    "ols": AgentDeclaration(Kind.LEARNER, "learns by least squares and never explores", GREEDY, linear_only=True),
    "ucb": AgentDeclaration(Kind.UCB, "keeps its own regret low by optimism", low_regret=True),
    "thompson": AgentDeclaration(Kind.THOMPSON, "keeps its own regret low by sampling", low_regret=True),
    "exp3": AgentDeclaration(Kind.EXP3, "keeps its own regret low whatever the rewards", low_regret=True),
    "logit": AgentDeclaration(
        Kind.LOGIT, "learns and errs at random", {"temperature": 0.1, "knows_means": False} | GREEDY
    ),
    "types": AgentDeclaration(
        Kind.TYPES,
        "is a population of types, one of which answers in each round",
        {"types": 2, "order": "random", "temperature": 0.0} | KNOWS,
        learns=False,
        iid_only=True,
    ),
    "hedge": AgentDeclaration(
        Kind.FUNCTIONS,
        "learns from what it was paid before, by multiplicative weights",
        {"rate": 1.0, "feedback": "offers"},
        blind=True,
        functions=HEDGE,
    ),
    "follow-the-leader": AgentDeclaration(
        Kind.FUNCTIONS, "plays the arm that would have paid it most before", blind=True, functions=LEADER
    ),
    "holdout": AgentDeclaration(
        Kind.FUNCTIONS,
        "learns, and refuses offers in order to get better ones",
        {"margin": 0.1, "patience": 10},
        functions=HOLDOUT,
    ),
}


@dataclass(frozen=True, kw_only=True)
class ScriptedAgent:
    """An agent that the kernel plays; made by :func:`pa_env.make_agent`.

    Args:
        name: one of :func:`pa_env.agents`.
        c0: exploration constant, at least 0; 0: it never explores.
        exponent: of the exploration rate, at least 0.
        exploration: which arm it explores among those that do not maximise: "uniform", "worst" for the principal
            (lowest theta_a - pi_a), "round-robin", "target" (the largest incentive), the index of an arm, or a function
            with the arguments of ``choose`` of :class:`pa_env.CompiledAgent`, whose memory is empty; it may return any
            arm, or -1 not to explore in this round.
        ties: which maximiser it plays: the "lowest" index, the "highest", "random", or "largest-incentive".
        initial: empirical means before the first play, one number or one per arm; with linear rewards the first
            estimate of s (a vector, or 0).
        temperature: of a logit choice, at least 0; 0: it maximises.
        knows_means: whether a logit agent knows its means.
        types: the number of types, or their means (J, n_arms).
        order: which type answers: "random", "blocks", "cycle", or a list of the types of the rounds.
        rate: of learning by multiplicative weights, above 0.
        feedback: what it is told of incentives after a round: whole "offers", or as in a "bandit" its own payoff.
        margin: what it wants above what a greedy agent would take, at least 0.
        patience: how often it refuses an arm, at least 0.
    """

    name: str
    c0: float = 0.0
    exponent: float = 0.5
    exploration: str | int | Callable[..., int] = "uniform"
    ties: str = "lowest"
    initial: float | tuple[float, ...] = 0.0
    temperature: float = 0.0
    knows_means: bool = False
    types: int | tuple[tuple[float, ...], ...] = 0
    order: str | tuple[int, ...] = "random"
    rate: float = 1.0
    feedback: str = "offers"
    margin: float = 0.0
    patience: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c0", at_least("c0", self.c0, 0.0))
        object.__setattr__(self, "exponent", at_least("exponent", self.exponent, 0.0))
        object.__setattr__(self, "temperature", at_least("temperature", self.temperature, 0.0))
        object.__setattr__(self, "rate", at_least("rate", self.rate, 0.0, strictly=True))
        object.__setattr__(self, "margin", at_least("margin", self.margin, 0.0))
        object.__setattr__(self, "patience", whole("patience", self.patience, 0))
        known("feedback", self.feedback, FEEDBACKS)
        known("ties", self.ties, TIES)
        if isinstance(self.exploration, str):
            known("exploration", self.exploration, EXPLORATIONS)
        elif callable(self.exploration):
            kept("exploration", self.exploration)
        else:
            whole("exploration", self.exploration, 0)
        if not isinstance(self.knows_means, bool | np.bool_):
            raise TypeError(f"knows_means = {short(self.knows_means)} must be True or False")
        initial = numbers("initial", self.initial)
        if initial.ndim > 1 or not np.isfinite(initial).all():
            raise ValueError(f"initial = {short(self.initial)} must be one finite number, or one for each arm")
        # Tuples, so that the dataclass stays hashable and comparable.
        object.__setattr__(self, "initial", float(initial) if initial.ndim == 0 else tuple(initial.tolist()))
        if self.name == "types":
            self._check_types()

    def _check_types(self) -> None:
        """Raise unless the types and their order go together."""
        if isinstance(self.types, list | tuple | np.ndarray):
            means = numbers("types", self.types)
            if means.ndim != 2 or not means.size or not ((means >= 0.0) & (means <= 1.0)).all():
                raise ValueError(
                    f"types of shape {means.shape} must be a number of types, or means in [0, 1], an array (n_types,"
                    " n_arms)"
                )
            object.__setattr__(self, "types", tuple(tuple(row) for row in means.tolist()))
        else:
            object.__setattr__(self, "types", whole("types", self.types, 1))
        if isinstance(self.order, list | tuple | np.ndarray) and len(self.order):
            order = integers("order", self.order, len(self.order), self.n_types)
            object.__setattr__(self, "order", tuple(order.tolist()))
        elif not isinstance(self.order, str):
            raise ValueError(
                f"order = {short(self.order)} must be one of {', '.join(ORDERS)}, or the types of the rounds as a list"
            )
        else:
            known("order", self.order, ORDERS)

    @property
    def declaration(self) -> AgentDeclaration:
        """Its entry in ``AGENTS``."""
        return AGENTS[self.name]

    @property
    def is_oracle(self) -> bool:
        """True if it knows its means."""
        return self.knows_means or not self.declaration.learns

    @property
    def n_types(self) -> int:
        """The number of types, 0 unless it is a population."""
        return self.types if isinstance(self.types, int) else len(self.types)

    @property
    def kind(self) -> Kind:
        """The code by which the kernel plays it; a logit agent at temperature 0 is greedy."""
        if self.declaration.kind == Kind.LOGIT and self.temperature == 0.0:
            return Kind.ORACLE if self.knows_means else Kind.LEARNER
        return self.declaration.kind

    @property
    def tells_law(self) -> bool:
        """True if the probabilities of its choices are known."""
        return self.kind != Kind.THOMPSON and not callable(self.exploration)

    def write_rules(self, rules: Records[Rules], n_arms: int, dim: int) -> None:
        """Write it into a game's rules."""
        if self.declaration.linear_only and not dim:
            raise ValueError(
                f"agent = {self.name!r} needs linear rewards: use 'empirical-mean', or instance='unit-ball'"
            )
        if self.declaration.iid_only and dim:
            raise ValueError(f"agent = {self.name!r} has means of its own, and rewards here are linear: use 'oracle'")
        rules["kind"], rules["knows"], rules["learns"] = self.kind, self.is_oracle, not self.is_oracle
        rules["maximises"] = self.kind in (Kind.LEARNER, Kind.ORACLE, Kind.TYPES) and self.temperature == 0.0
        rules["c0"], rules["exponent"], rules["temperature"] = self.c0, self.exponent, self.temperature
        rules["ties"], rules["exploration"] = TIES[self.ties], self._exploration(n_arms)
        rules["n_types"], rules["draws_types"] = self.n_types, isinstance(self.types, int)
        rules["order"] = ORDERS[self.order] if isinstance(self.order, str) else Order.GIVEN
        self.write_addresses(rules)

    def write_addresses(self, rules: Records[Rules]) -> None:
        """Write the addresses of its functions, and of the user's exploration function, in this process."""
        functions = self.declaration.functions
        if functions is not None:
            told = functions.learn is not None and self.feedback == "bandit"  # whole offers are noted by `choose`
            learn = kept("learn", functions.learn, trusted=True) if told else None
            write_functions(rules, kept("choose", functions.choose, trusted=True), learn)
        rules["explore"] = address(kept("exploration", self.exploration)) if callable(self.exploration) else 0

    def _exploration(self, n_arms: int) -> int:
        """Return the code of its exploration in a game."""
        if callable(self.exploration):
            check_own_bounds(kept("exploration", self.exploration), None, n_arms, np.zeros(0))
            return Exploration.FUNCTION
        if isinstance(self.exploration, str):
            return EXPLORATIONS[self.exploration]
        if self.exploration >= n_arms:
            raise ValueError(
                f"exploration = {short(self.exploration)} must be an arm's index below n_arms = {n_arms}, a function,"
                f" or one of {', '.join(EXPLORATIONS)}"
            )
        return Exploration.FIXED_ARM + self.exploration

    def initial_for(self, n_arms: int, dim: int) -> Floats:
        """Return its initial means (n_arms,), or the first estimate of s (dim,) when linear."""
        size, what = (dim, "dim") if dim else (n_arms, "n_arms")
        values = np.atleast_1d(np.asarray(self.initial, dtype=np.float64))
        if values.size not in (1, size):
            raise ValueError(
                f"initial has {values.size} numbers, the game has {what} = {size}: pass one number or {size}"
            )
        return np.broadcast_to(values, (size,)).copy()  # writeable, so that compiled code is the same for all

    def memory_for(self, n_arms: int, horizon: int) -> Floats:
        """Return its memory (M,) in the kernel at the beginning of an episode."""
        if self.declaration.functions is not None:
            return self.declaration.functions.memory(self, n_arms)
        if self.declaration.kind == Kind.EXP3:
            return np.zeros(n_arms)
        memory = np.zeros(types_memory(self.n_types, n_arms))
        if not isinstance(self.types, int):
            means = np.array(self.types)
            if means.shape[1] != n_arms:
                raise ValueError(
                    f"types of shape {means.shape} must have a mean for each arm: shape ({self.n_types}, {n_arms})"
                )
            memory[: means.size] = means.ravel()
        return memory

    def order_given(self) -> Integers:
        """Return the types of the rounds, if they are given; empty if not."""
        if self.order == "cycle":
            return np.arange(self.n_types)
        return np.array([] if isinstance(self.order, str) else self.order, np.int64)


class Agent(Protocol):
    """A user's own agent."""

    @property
    def means(self) -> ArrayLike:
        """Its beliefs muhat (n_arms,) now, which the regret compares with; read before each round."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode; all randomness must come from ``rng``."""

    def choose(self, incentives: NDArray[np.float64]) -> int:
        """The arm to play on this offer."""

    @property  # so that both forms are of this type
    def learn(self) -> Callable[..., object]:
        """``learn(arm, reward)`` observes the reward R of the arm just played, without the incentive;
        ``learn(arm, reward, paid)`` observes the incentive too.
        """


SPECS: list[Callable[[str], "AgentLike"]] = []  # what makes an agent of a spec, from packages that add it
AgentLike = str | os.PathLike[str] | ScriptedAgent | CompiledAgent | Agent | type[Agent]  # what ``agent=`` takes


def agents() -> tuple[str, ...]:
    """Names of the scripted agents, which ``agent=`` takes.

    - ``empirical-mean``: plays argmax of its empirical means plus incentives.
    - ``exploratory``: the same, and explores with probability min(1, c0 (log(2t) / t)^exponent).
    - ``oracle``, ``exploratory-oracle``: the same two with the true means for beliefs.
    - ``ols``: learns linear rewards by least squares.
    - ``ucb``, ``thompson``, ``exp3``: learn, and keep their own regret low.
    - ``logit``: plays arm a with a probability proportional to exp((muhat_a + pi_a) / temperature).
    - ``types``: a population of agents, one of which answers in each round.
    - ``hedge``, ``follow-the-leader``: learn from what they were paid, and do not look at the offer before they play.
    - ``holdout``: refuses offers in order to get better ones.

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
    if isinstance(agent, os.PathLike):
        agent = os.fspath(agent)
    if isinstance(agent, str):
        if agent.endswith(POLICY):
            return load_agent(agent)
        if not ("," in agent or ":" in agent):
            return make_agent(agent)
        if not SPECS:
            raise ValueError(f"agent = {short(agent)} is a spec: import baselines, which makes an agent of it")
        return resolve(SPECS[0](agent))
    # `means` may be set by reset only: the game looks for it then.
    missing = [name for name in ("reset", "choose", "learn") if not callable(getattr(agent, name, None))]
    if isinstance(agent, ScriptedAgent | CompiledAgent) or not missing:
        return agent() if isinstance(agent, type) else agent
    raise TypeError(
        f"agent = {short(agent)} must be a name ({', '.join(AGENTS)}), a policy file, the result of"
        " pa_env.make_agent, a pa_env.CompiledAgent, or an object or a class with reset, choose, learn and means; it"
        f" lacks {', '.join(missing)}"
    )
