"""The state of one or many copies of a game: how episodes begin, and what can be read from them.

:class:`pa_env.game.Game` plays rounds on it.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Self, TypedDict, TypeVar, cast

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike

from pa_env import checks
from pa_env.buffers import Buffers
from pa_env.checks import BOOL, at_least, seed_of, short, whole
from pa_env.compiled_agents import CompiledAgent
from pa_env.instances import IID, Instance, InstanceLike, Linear, source
from pa_env.kernel import instances as kernel_instances
from pa_env.kernel.agents import find_bad
from pa_env.kernel.compiling import Direct, machine_code
from pa_env.kernel.layout import (
    AGENT_BLOCKS,
    MEAN,
    OPTIMAL,
    PRINCIPAL_SUM,
    SCORES,
    AgentArrays,
    ArmRow,
    Exploring,
    Flags,
    Floats,
    Floats32,
    Integers,
    Rewards,
    copy_of,
    kind_of,
    new_arrays,
    record_type,
)
from pa_env.kernel.observations import view_agents
from pa_env.kernel.other_agents import GREEDY, Kind
from pa_env.kernel.responses import sum_scores
from pa_env.python_agents import PythonAgents
from pa_env.scripted_agents import AgentLike, ScriptedAgent, resolve
from pa_env.seeding import generator_of, keys_of, principal_seed

LONGEST = 2**39 - 1  # rounds: each has draws of its own up to here
_FIND_BAD = Direct(find_bad)
Answer = TypeVar("Answer")
_CODE: dict[tuple[Callable[..., Any], int], Callable[..., Any]] = {}  # machine code by function and kind of arrays


class GameSettings(TypedDict, total=False):
    """Keyword arguments of every interface; :mod:`pa_env` says what they mean."""

    n_arms: int | None
    horizon: int
    agent: AgentLike
    instance: InstanceLike
    max_incentive: float | None
    dim: int | None


class GameState:
    """Copies of a game before and between rounds; :class:`pa_env.game.Game` lists the arguments."""

    def __init__(
        self,
        n_arms: int | None = None,
        horizon: int = 1000,
        agent: AgentLike = "empirical-mean",
        instance: InstanceLike = "uniform",
        max_incentive: float | None = None,
        dim: int | None = None,
        copies: int = 1,
        observe: bool = True,
    ) -> None:
        self.source = source(instance, n_arms, dim)
        self.n_arms, self.dim = self.source.n_arms, self.source.dim
        self.horizon = whole("horizon", horizon, 1, LONGEST)
        self.copies = whole("num_envs", copies, 1)
        self.agent = resolve(agent)
        if max_incentive is None:
            max_incentive = 2.0 * self.dim + 2.0 if self.dim else 4.0
        self.max_incentive = at_least("max_incentive", max_incentive, 0.0, strictly=True)
        if observe and self.max_incentive > float(np.finfo(np.float32).max):
            raise ValueError(
                f"max_incentive = {max_incentive} must be at most 3e38, which a float32 observation can hold"
            )
        self.arrays = new_arrays(self.copies, self.n_arms, self.dim, observe)
        self.arrays.rules["horizon"], self.arrays.rules["max_incentive"] = self.horizon, self.max_incentive
        self._python = PythonAgents(self.agent, self.copies, self.n_arms)
        self._initial, self._memory = np.zeros(self.dim or self.n_arms), np.zeros(0)
        self._add_agent()
        self._kind = kind_of(self.arrays)
        self._seeds: list[int | None] = [None] * self.copies
        self._offers_shape, self._results_shape = (self.copies, self.n_arms), (self.copies, OPTIMAL + self.n_arms)
        self._buffers = Buffers(self._results_shape) if self.copies > 1 else None

    def _add_agent(self) -> None:
        """Write the agent into the rules, with the arrays that it needs."""
        rules, agent = self.arrays.rules, self.agent
        rules["kind"], rules["maximises"] = Kind.PYTHON, True  # its arms are forced
        if isinstance(agent, ScriptedAgent | CompiledAgent):
            agent.write_rules(rules, self.n_arms, self.dim)
            self._initial = agent.initial_for(self.n_arms, self.dim)
            self._memory = agent.memory_for(self.n_arms, self.horizon)
        if rules["c0"][0] > 0.0:
            self.arrays = self.arrays._replace(exploring=np.zeros(self.copies, record_type(Exploring)))
        if rules["kind"][0] not in GREEDY:
            order = agent.order_given() if isinstance(agent, ScriptedAgent) else np.zeros(0, np.int64)
            memory = np.zeros((self.copies, self._memory.size))
            self.arrays = self.arrays._replace(agent=AgentArrays(memory, order, np.zeros(self._memory.size)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Compiled functions have other addresses in another process."""
        self.__dict__.update(state)
        if isinstance(self.agent, ScriptedAgent | CompiledAgent):
            self.agent.write_addresses(self.arrays.rules)

    # ------------------------------------------------------------------------------------- episodes

    def begin(
        self,
        seeds: Sequence[int | None] | None = None,
        which: Flags | None = None,
        instance: InstanceLike | None = None,
    ) -> None:
        """Begin the next episode of some copies.

        Args:
            seeds: one for each copy. A copy given a seed starts anew from it; without one it goes on to the next
                episode of its last seed.
            which: (N,), the copies that begin; None: all of them.
            instance: replaces the game's own for this episode.
        """
        origin = self.source
        if instance is not None:
            origin = source(instance, self.n_arms, self.dim or None)
            if origin.dim != self.dim:
                raise ValueError(
                    f"instance = {short(instance)} is linear, but this game is i.i.d.: pass dim={origin.dim}"
                )
        which = (
            np.ones(self.copies, np.bool_) if which is None else checks.vector("which", which, BOOL, self.copies).copy()
        )
        if seeds is not None and (not hasattr(seeds, "__len__") or len(seeds) != self.copies):
            raise ValueError(f"seeds = {short(seeds)} must be a list of {self.copies}, one for each copy")
        given = [None] * self.copies if seeds is None else [seed_of(seed) for seed in seeds]
        keys, episodes, kept = self.arrays.state["key"].copy(), self.arrays.state["episode"].copy(), self._seeds.copy()
        if seeds is not None or not episodes.all():
            begun, chosen = (episodes > 0).tolist(), which.tolist()
            anew = [i for i in range(self.copies) if chosen[i] and (given[i] is not None or not begun[i])]
            keys[anew], episodes[anew] = keys_of([given[i] for i in anew]), 0
            for i in anew:
                kept[i] = given[i]
        drawn: list[tuple[Any, Instance]] = []
        if origin.fixed is not None:
            drawn = [(which, origin.fixed)]
        elif origin.draw is not None:
            for i in np.flatnonzero(which).tolist():
                drawn.append((i, origin.check(origin.draw(generator_of(keys[i], episodes[i], "instance")))))

        self.arrays.state["key"], self.arrays.state["episode"], self._seeds = keys, episodes, kept
        self._place(which, drawn)
        self._call(kernel_instances.begin, which, int(origin.family), self._initial, self._memory)
        for i in np.flatnonzero(which).tolist() if self._python else ():
            self._python.reset(i, generator_of(keys[i], episodes[i], "agent"))

    def _place(self, which: Flags, drawn: list[tuple[Any, Instance]]) -> None:
        """Write the given instances into the arrays; the kernel draws the others."""
        state, arms = self.arrays.state, self.arrays.arms
        state["rewards"][which] = Rewards.GAUSSIAN if self.dim else Rewards.BERNOULLI
        state["noise"][which] = 1.0
        for where, instance in drawn:
            if isinstance(instance, Linear):
                assert self.arrays.linear is not None  # for the type checker: the source has checked the instance
                self.arrays.linear.vectors[where], state["noise"][where] = instance.arms, instance.noise
                self.arrays.linear.parameters[where] = np.stack([instance.s, instance.nu])
            else:
                arms[where, ArmRow.MU], arms[where, ArmRow.THETA] = instance.mu, instance.theta
                state["rewards"][where] = instance.code

    def one_copy(self, i: int) -> Self:
        """Copy ``i`` as a game of one copy that shares its state; not for users' own agents."""
        alone = object.__new__(type(self))
        alone.__dict__.update(self.__dict__)  # much faster than copy.copy
        alone.arrays, alone.copies = copy_of(self.arrays, i), 1
        alone._seeds, alone._buffers = self._seeds[i : i + 1], None
        alone._offers_shape, alone._results_shape = (1, self.n_arms), (1, OPTIMAL + self.n_arms)
        return alone

    def instance(self, i: int = 0) -> Instance:
        """The instance that copy ``i`` plays in this episode."""
        linear = self.arrays.linear
        if linear is not None:
            s, nu = linear.parameters[i]
            return Linear(linear.vectors[i], s, nu, float(self.arrays.state["noise"][i]))
        rewards = Rewards(int(self.arrays.state["rewards"][i])).name.lower()
        return IID(self.arrays.arms[i, ArmRow.MU], self.arrays.arms[i, ArmRow.THETA], rewards)

    def principal_seed(self, i: int = 0) -> int:
        """The seed of the principal in copy ``i``'s episode: in the first one, the seed that the game was given."""
        state = self.arrays.state
        return principal_seed(self._seeds[i], int(state["key"][i]), int(state["episode"][i]))

    # ------------------------------------------------------------------------------------- what can be read

    @property
    def rounds_played(self) -> int:
        """Rounds that the first copy has played."""
        return int(self.arrays.state["t"][0])

    @property
    def plays_python_agents(self) -> bool:
        """True if its agents are users' own Python objects."""
        return bool(self._python)

    @property
    def plays(self) -> Integers:
        """Plays of each arm, (N, K): a view."""
        return self.arrays.plays

    @property
    def sums(self) -> Floats:
        """Sums of the principal's rewards X of each arm, (N, K): a view."""
        return self.arrays.arms[:, PRINCIPAL_SUM]

    @property
    def means(self) -> Floats:
        """The agents' beliefs muhat (N, K): a view."""
        for i in self._python.all:
            self._python.read_means(i, self.arrays.arms[i, MEAN])
        return self.arrays.arms[:, MEAN]

    @property
    def summary(self) -> Floats32:
        """The observations of the principals (N, summary_size(K)): a view."""
        return self.arrays.summary

    @property
    def features(self) -> Floats:
        """The arms as vectors (N, K, d), when rewards are linear: a view."""
        linear = self.arrays.linear
        return np.zeros((self.copies, self.n_arms, 0)) if linear is None else linear.vectors

    def totals(self, i: int = 0) -> dict[str, float]:
        """Every score over the rounds of copy ``i`` so far; NaN where it is not defined
        (:mod:`pa_env.kernel.layout`).
        """
        values = self.score_sums(i).tolist()
        return {name: value if value == value else math.nan for name, value in zip(SCORES, values, strict=True)}

    def score_sums(self, i: int = 0) -> Floats:
        """The values of :meth:`totals`, in the order of :class:`pa_env.kernel.layout.Score`."""
        sums = np.empty(len(SCORES))
        self._call(sum_scores, i, sums)
        return sums

    @property
    def type_counts(self) -> Integers:
        """In how many rounds each type answered, (N, J); J = 0 unless the agent has types."""
        agent, n_types = self.arrays.agent, int(self.arrays.rules["n_types"][0])
        first = n_types * self.n_arms
        memory = np.zeros((self.copies, 0)) if agent is None else agent.memory
        return memory[:, first : first + n_types].astype(np.int64)

    def agent_view(self, offers: ArrayLike) -> Floats32:
        """The observations of the agents when these (N, K) are their offers."""
        _ = self.means  # updates the beliefs of users' own agents
        view = np.empty((self.copies, AGENT_BLOCKS * self.n_arms + 1), np.float32)
        offered = checks.offers("incentives", offers, self._offers_shape)
        bad = self._call(view_agents, offered, view)
        if bad >= 0:
            raise checks.bad_offer("incentives", offered, bad, self.max_incentive)
        return view

    def _call(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call a function of the kernel on the game's arrays; the arguments have the same types each time."""
        code = _CODE.get((function, self._kind))
        if code is None:
            code = _CODE[function, self._kind] = machine_code(function, (self.arrays, *arguments))
        return cast(Answer, code(self.arrays, *arguments))

    # ------------------------------------------------------------------------------------- checks

    def check_begun(self) -> None:
        """Raise unless an episode has begun."""
        if not self.arrays.state["episode"][0]:
            raise ResetNeeded("the game has not begun: call reset() first")

    def check_running(self) -> None:
        """Raise unless the first copy is in the middle of an episode."""
        self.check_begun()
        if self.rounds_played >= self.horizon:
            raise ResetNeeded(f"the game ended after horizon = {self.horizon} rounds: call reset() to play another")

    def check_offers(self, offers: Floats, what: str = "incentives") -> None:
        """Raise unless every entry of ``offers``, called ``what``, is a number from 0 to max_incentive."""
        bad = _FIND_BAD(offers, self.max_incentive)
        if bad >= 0:
            raise checks.bad_offer(what, offers, bad, self.max_incentive)

    def _check_single(self) -> None:
        if self.copies != 1:
            raise ValueError(f"copies = {self.copies} must be 1 to play many rounds in one call")
