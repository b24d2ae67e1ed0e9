"""The game itself: the state of one or many copies, and the only calls into the kernel.

The environments (:mod:`pa_env.principal_agent_v0`, :mod:`pa_env.gym_env`, :mod:`pa_env.vector_env`) and long
simulations all hold a :class:`Game`. :meth:`Game.hold` plays a whole stretch of rounds with one offer.

>>> from pa_env.game import Game
>>> game = Game(instance="ipa-k5", agent="oracle", horizon=10**9, observe=False)
>>> game.begin(seeds=[7])
>>> game.hold([0, 0, 0.5, 0, 0], rounds=10**6).plays.tolist()
[0, 0, 1000000, 0, 0]

A game, and so an environment, is for one thread.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypedDict

import numba
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from pa_env import checks
from pa_env.checks import at_least, seed_of, whole
from pa_env.compiling import Direct, machine_code
from pa_env.instances import IID, Instance, InstanceLike, Linear, source
from pa_env.kernel import instances as kernel_instances
from pa_env.kernel.agents import Kind, ask, show_offers
from pa_env.kernel.episodes import Recorded, Work, play_episodes
from pa_env.kernel.play import follow, play
from pa_env.layout import (
    AGENT_BLOCKS,
    ARM,
    MEAN,
    NO_ARM,
    OPTIMAL,
    PRINCIPAL_SUM,
    REWARD,
    SCORES,
    Flags,
    Floats,
    Floats32,
    Integers,
    Rewards,
    Row,
    new_arrays,
    new_linear_arrays,
)
from pa_env.python_agents import PythonAgents
from pa_env.rules import Rule, StopRule, check_bounds, check_memory, compiled_for, rule_pointer
from pa_env.scripted_agents import Agent, ScriptedAgent, resolve

LONGEST = 2**39 - 1
CHUNK = 10_000_000  # rounds between two looks at Ctrl-C, about 50 ms
DEFAULT = np.zeros(0, np.int64)  # one round of each copy; no arm is forced
NO_STOP, NO_RESULTS = np.zeros(0), np.zeros((0, 0))
INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


class Settings(TypedDict, total=False):
    """Keyword arguments of every interface; :mod:`pa_env` says what they mean."""

    n_arms: int | None
    horizon: int
    agent: str | ScriptedAgent | Agent
    instance: InstanceLike
    max_incentive: float | None
    dim: int | None


class Held(NamedTuple):
    """What a held offer brought."""

    rounds: int  # really played
    plays: Integers  # of each arm
    rewards: Floats  # sum of the rewards X of each arm


class Followed(NamedTuple):
    """What a rule's offers brought."""

    rounds: int  # really played
    misses: int  # rounds in which another arm than the rule's target was played
    last: tuple[int, float]  # arm and reward X of the last round
    offer: Floats  # of the last round


# The kernel's ``play`` without Numba's look-up of types, by whether rewards are linear.
_PLAY: dict[bool, Callable[..., int]] = {}
_WITH_RULE: dict[tuple[Callable[..., int], bool], Callable[..., int]] = {}  # likewise, those that take a rule
_ASK, _SHOW = Direct(ask), Direct(show_offers)


def game_of(settings: Settings, copies: int = 1, known: Sequence[str] = ()) -> "Game":
    """A game from the keyword arguments of an interface; an unknown one is an error that lists all known ones.

    Args:
        settings: of the game.
        copies: number of copies.
        known: what the interface takes beside them, for the message.
    """
    for name in settings:
        if name not in Settings.__annotations__:
            names = ", ".join((*Settings.__annotations__, *known))
            raise TypeError(f"unexpected keyword argument {name!r}; known: {names}")
    return Game(copies=copies, **settings)


class Game:
    """Independent copies of one repeated game.

    Args:
        n_arms: number of arms K; None: the instance's own, or 5.
        horizon: rounds T in an episode.
        agent: who answers; see :mod:`pa_env.agents`.
        instance: what is unknown; see :mod:`pa_env.instances`.
        max_incentive: the largest incentive; None: 4, or 2 dim + 2 when rewards are linear.
        dim: dimensions of the arms, when rewards are linear.
        copies: number of copies N.
        observe: whether the principal's summary is kept.
    """

    def __init__(
        self,
        n_arms: int | None = None,
        horizon: int = 1000,
        agent: str | ScriptedAgent | Agent = "empirical-mean",
        instance: InstanceLike = "uniform",
        max_incentive: float | None = None,
        dim: int | None = None,
        copies: int = 1,
        observe: bool = True,
    ) -> None:
        self.source = source(instance, n_arms, dim)
        self.n_arms, self.dim = self.source.n_arms, self.source.dim
        self.horizon = whole("horizon", horizon, 1, LONGEST)  # as many rounds as have draws of their own
        self.copies = whole("num_envs", copies, 1)
        self.agent = resolve(agent)
        if max_incentive is None:
            max_incentive = 2.0 * self.dim + 2.0 if self.dim else 4.0
        self.max_incentive = at_least("max_incentive", max_incentive, 0.0, strictly=True)
        if observe and self.max_incentive > float(np.finfo(np.float32).max):
            raise ValueError(
                f"max_incentive = {max_incentive} must be at most 3e38, which a float32 observation can hold"
            )
        scripted = self.agent if isinstance(self.agent, ScriptedAgent) else None
        self.arrays = new_arrays(
            self.copies, self.n_arms, observe, exp3=scripted is not None and scripted.declaration.kind == Kind.EXP3
        )
        self.linear = new_linear_arrays(self.copies, self.n_arms, self.dim) if self.dim else None
        self._python = None if scripted else PythonAgents(self.agent, self.copies, self.n_arms)  # type: ignore[arg-type]
        self._initial = np.zeros(self.dim or self.n_arms)
        rules = self.arrays.rules
        rules["horizon"], rules["max_incentive"], rules["kind"] = self.horizon, self.max_incentive, Kind.PYTHON
        if scripted is not None:
            scripted.write_rules(rules, self.n_arms, self.dim)
            self._initial = scripted.initial_for(self.n_arms, self.dim)
        self._seeds: list[int | None] = [None] * self.copies
        self._is_linear = self.dim > 0
        self._offers_shape, self._results_shape = (self.copies, self.n_arms), (self.copies, OPTIMAL + self.n_arms)

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
            instance: stands in for the game's own, for this episode.
        """
        origin = self.source
        if instance is not None:
            origin = source(instance, self.n_arms, self.dim or None)
            if origin.dim != self.dim:
                raise ValueError(f"instance = {instance!r} is linear, and this game is i.i.d.: pass dim={origin.dim}")
        which = np.ones(self.copies, np.bool_) if which is None else which
        given = [None] * self.copies if seeds is None else [seed_of(seed) for seed in seeds]
        keys, episodes, kept = self.arrays.state["key"].copy(), self.arrays.state["episode"].copy(), self._seeds.copy()
        for i in range(self.copies) if seeds is not None or not episodes.all() else ():
            if which[i] and (given[i] is not None or not episodes[i]):
                keys[i], episodes[i], kept[i] = _key(given[i]), 0, given[i]
        drawn: list[tuple[Any, Instance]] = []
        if origin.fixed is not None:
            drawn = [(which, origin.fixed)]
        elif origin.draw is not None:
            for i in np.flatnonzero(which).tolist():
                drawn.append((i, origin.check(origin.draw(_generator(keys[i], episodes[i], "instance")))))

        self.arrays.state["key"], self.arrays.state["episode"], self._seeds = keys, episodes, kept
        self._place(which, drawn)
        kernel_instances.begin(self.arrays, self.linear, which, origin.family, self._initial)
        for i in np.flatnonzero(which).tolist() if self._python else ():
            self._python.reset(i, _generator(keys[i], episodes[i], "agent"))  # type: ignore[union-attr]

    def _place(self, which: Flags, drawn: list[tuple[Any, Instance]]) -> None:
        """Put given instances in place; others are drawn by the kernel."""
        state, arms = self.arrays.state, self.arrays.arms
        state["rewards"][which] = Rewards.GAUSSIAN if self.dim else Rewards.BERNOULLI
        state["noise"][which] = 1.0
        for where, instance in drawn:
            if isinstance(instance, Linear):
                linear = self.linear
                linear.vectors[where], state["noise"][where] = instance.arms, instance.noise  # type: ignore[union-attr]
                linear.parameters[where] = np.stack([instance.s, instance.nu])  # type: ignore[union-attr]
            else:
                arms[where, Row.MU], arms[where, Row.THETA] = instance.mu, instance.theta
                state["rewards"][where] = instance.code

    def instance(self, i: int = 0) -> Instance:
        """The instance that copy ``i`` plays in this episode."""
        if self.linear is not None:
            s, nu = self.linear.parameters[i]
            return Linear(self.linear.vectors[i], s, nu, float(self.arrays.state["noise"][i]))
        rewards = Rewards(int(self.arrays.state["rewards"][i])).name.lower()
        return IID(self.arrays.arms[i, Row.MU], self.arrays.arms[i, Row.THETA], rewards)

    def principal_seed(self, i: int = 0) -> int:
        """The seed of the principal in copy ``i``'s episode: in the first one, the seed that the game was given."""
        seed, state = self._seeds[i], self.arrays.state[i]
        return principal_seed(seed, int(state["key"]), int(state["episode"]))

    # ------------------------------------------------------------------------------------- rounds

    def play(self, offers: ArrayLike, arms: Integers | None = None, which: Flags | None = None) -> Floats:
        """One round of each copy.

        Args:
            offers: (N, K), or (K,) if there is one copy.
            arms: (N,), played whatever the agents would do, where they are not NO_ARM; None: the agents choose.
            which: (N,), the copies that play; None: all.

        Returns:
            What the round was, (N, len(Result) - 1 + K) with the columns of :class:`pa_env.layout.Result`; zero where
            nothing was played.
        """
        offered = checks.offers("incentives", offers, self._offers_shape)
        forced = rounds = DEFAULT
        if arms is not None:
            forced = self._as_vector("arms", arms, INT64, "integers").astype(np.int64)
        if which is None:
            results = np.empty(self._results_shape)
        else:
            rounds = self._as_vector("which", which, BOOL, "booleans").astype(np.int64)
            results = np.zeros(self._results_shape)
        if self._python is not None:
            playing = np.ones(self.copies, np.bool_) if which is None else which
            forced = self._ask(offered, forced, playing)
            self._call(offered, rounds, forced, NO_STOP, results)
            self._python.learn(results, playing)
        else:
            self._call(offered, rounds, forced, NO_STOP, results)
        return results

    def _call(self, offers: Floats, rounds: Integers, forced: Integers, stop: Floats, results: Floats) -> None:
        """The kernel's ``play``; arguments of exactly these types."""
        call = _PLAY.get(self._is_linear)
        if call is None:
            arguments = (self.arrays, self.linear, offers, rounds, forced, stop, results)
            call = _PLAY[self._is_linear] = machine_code(play, arguments)
        bad = call(self.arrays, self.linear, offers, rounds, forced, stop, results)
        if bad >= offers.size:
            arm = forced[bad - offers.size]
            raise ValueError(f"arms = {arm} must be an integer from 0 to {self.n_arms - 1}, or NO_ARM = {NO_ARM}")
        if bad >= 0:
            raise checks.bad_offer("incentives", offers, bad, self.max_incentive)

    def _as_vector(self, argument: str, value: Any, dtype: np.dtype[Any], what: str) -> NDArray[Any]:
        """``value``, if it is an array of this type with one entry for each copy."""
        if type(value) is not np.ndarray or value.dtype != dtype or value.shape != (self.copies,):
            raise ValueError(f"{argument} = {value!r} must be an array of {self.copies} {what}, one for each copy")
        return value

    def hold(self, offer: ArrayLike, rounds: int, stop: StopRule | None = None) -> Held:
        """Hold one offer for some rounds or to the horizon, in memory that does not grow (one copy only).

        Args:
            offer: (K,).
            rounds: at least 1.
            stop: when to withdraw it before.
        """
        self.check_running()
        plays, sums = self.plays[0].copy(), self.sums[0].copy()
        played = self.advance(offer, whole("rounds", rounds, 1), stop)
        return Held(played, self.plays[0] - plays, self.sums[0] - sums)

    def advance(self, offer: ArrayLike, rounds: int, stop: StopRule | None = None) -> int:
        """What :meth:`hold` does, for callers that count themselves; returns the rounds really played."""
        self._check_single()
        offers = checks.offers("incentives", offer, self._offers_shape)
        if stop is not None and type(stop) is not StopRule:
            raise TypeError(f"stop = {stop!r} must be a pa_env.rules.StopRule")
        entries, begun = NO_STOP if stop is None else stop.entries, self.rounds_played
        wanted = left = min(rounds, self.horizon - begun)
        while left > 0 and not (stop is not None and stop.withdrawn):
            if self._python is None:
                part = min(CHUNK, left)  # because a compiled call does not hear Ctrl-C
                self._call(offers, np.array([part]), DEFAULT, entries, NO_RESULTS)
            else:
                part, playing, results = 1, np.ones(1, np.bool_), np.zeros(self._results_shape)
                self._call(offers, DEFAULT, self._ask(offers, DEFAULT, playing), entries, results)
                self._python.learn(results, playing)
            left -= part
        return wanted if stop is None else self.rounds_played - begun

    def follow(self, rule: Rule, memory: Floats, rounds: int, last: tuple[int, float] = (NO_ARM, 0.0)) -> Followed:
        """Let a compiled rule make the offers (one copy only); see :mod:`pa_env.rules`.

        Args:
            rule: from :func:`pa_env.rules.compile_rule`.
            memory: the rule's own, a vector of float64.
            rounds: at least 1; the horizon may end it before.
            last: arm and reward that the rule is told of the round before the first.
        """
        self._check_single()
        self.check_running()
        address = rule_pointer(rule)
        check_memory(memory)
        check_bounds(rule, self.n_arms, memory)
        begun, misses = self.rounds_played, 0
        end = min(self.horizon, begun + whole("rounds", rounds, 1))
        offers, results = np.zeros(self._offers_shape), np.zeros(self._results_shape)
        results[0, ARM], results[0, REWARD] = last
        while (t := self.rounds_played) < end:
            if self._python is not None:
                _ = self.means  # a privileged rule may look
                arm, reward = int(results[0, ARM]), results[0, REWARD]
                target = rule(memory, self.plays[0], self.sums[0], arm, reward, offers[0])
                results = self.play(offers)
                misses += target >= 0 and target != results[0, ARM]
                continue
            missed = self._call_with(follow, address, memory, offers, results, min(CHUNK // 10, end - t))
            if missed < 0:
                raise checks.bad_offer("incentives", offers, -1 - missed, self.max_incentive)
            misses += missed
        told = (int(results[0, ARM]), float(results[0, REWARD]))
        return Followed(self.rounds_played - begun, misses, told, offers[0])

    def play_episodes(self, rule: Rule, memories: Floats, marks: Integers) -> Recorded:
        """Let a compiled rule play all copies, which have just begun, up to the last checkpoint.

        Args:
            rule: from :func:`pa_env.rules.compile_rule`.
            memories: (N, M), the rule's memory at the beginning of each episode; or (1, M), the same for all.
            marks: (C,), checkpoints in increasing order, at most the horizon.
        """
        if self._python is not None:
            raise ValueError(f"agent = {self.agent!r} is played from Python: its episodes are played one by one")
        address = rule_pointer(rule)
        check_bounds(rule, self.n_arms, memories[0])
        shape = (self.copies, marks.size)
        recorded = Recorded(
            np.empty((*shape, len(SCORES))),
            np.empty((*shape, self.n_arms), np.int64),
            np.empty(shape, np.int64),
            np.empty((*shape, self.n_arms)),
            np.empty((*shape, self.n_arms)),
        )
        work = Work(np.empty(memories.shape[1]), np.zeros((1, self.n_arms)), np.zeros((1, OPTIMAL + self.n_arms)))
        bad = self._call_with(play_episodes, address, memories, marks, recorded, work)
        if bad >= 0:
            self.check_offers(work.offers)
        return recorded

    def _call_with(self, function: Callable[..., int], rule: Any, *arguments: Any) -> int:
        """Call a function of the kernel that takes a rule, with arguments of the same types each time."""
        call = _WITH_RULE.get((function, self._is_linear))
        if call is None:
            types = (numba.typeof(argument) for argument in (self.arrays, self.linear, *arguments))  # type: ignore[no-untyped-call]
            call = _WITH_RULE[function, self._is_linear] = compiled_for(function, *types)
        return call(self.arrays, self.linear, rule, *arguments)

    def answer(self, offers: ArrayLike) -> Integers:
        """The arm (N,) that each agent will play on its offer, exploration draws included; the game does not move."""
        offered = checks.offers("incentives", offers, self._offers_shape)
        if self._python is not None:
            return self._ask(offered, DEFAULT, np.ones(self.copies, np.bool_))
        answers = np.empty(self.copies, np.int64)
        bad = _ASK(self.arrays, offered, answers)
        if bad >= 0:
            raise checks.bad_offer("incentives", offered, bad, self.max_incentive)
        return answers

    def _ask(self, offers: Floats, forced: Integers, playing: Flags) -> Integers:
        """The arms of users' own agents; their beliefs are read before."""
        self.check_offers(offers)
        for i in np.flatnonzero(playing).tolist():
            self.arrays.arms[i, Row.MEAN] = self._python.read_means(i)  # type: ignore[union-attr]
        return self._python.choose(offers, forced, playing)  # type: ignore[union-attr]

    # ------------------------------------------------------------------------------------- what there is to see

    @property
    def rounds_played(self) -> int:
        """Rounds that the first copy has played."""
        return int(self.arrays.state["t"][0])

    @property
    def plays_python_agents(self) -> bool:
        """Whether its agents are users' own Python objects."""
        return self._python is not None

    @property
    def plays(self) -> Integers:
        """How often each arm was played, (N, K): a view."""
        return self.arrays.plays

    @property
    def sums(self) -> Floats:
        """Sums of the principal's rewards X of each arm, (N, K): a view."""
        return self.arrays.arms[:, PRINCIPAL_SUM]

    @property
    def means(self) -> Floats:
        """The agents' beliefs muhat (N, K): a view."""
        for i in range(self.copies) if self._python else ():
            self.arrays.arms[i, Row.MEAN] = self._python.read_means(i)  # type: ignore[union-attr]
        return self.arrays.arms[:, MEAN]

    @property
    def summary(self) -> Floats32:
        """What the principals observe (N, summary_size(K)): a view."""
        return self.arrays.summary

    @property
    def features(self) -> Floats:
        """The arms as vectors (N, K, d), when rewards are linear: a view."""
        return np.zeros((self.copies, self.n_arms, 0)) if self.linear is None else self.linear.vectors

    def totals(self, i: int = 0) -> dict[str, float]:
        """Sums of every score over the rounds of copy ``i`` so far."""
        return dict(zip(SCORES, self.arrays.totals[i].sum(axis=0).tolist(), strict=True))

    def agent_view(self, offers: Floats) -> Floats32:
        """What the agents observe when these are their offers."""
        _ = self.means  # users' own agents bring theirs up to date
        view = np.empty((self.copies, AGENT_BLOCKS * self.n_arms + 1), np.float32)
        bad = _SHOW(self.arrays, offers, view)
        if bad >= 0:
            raise checks.bad_offer("incentives", offers, bad, self.max_incentive)
        return view

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

    def check_offers(self, offers: Floats) -> None:
        """Raise unless every entry of ``offers`` is a number from 0 to max_incentive."""
        bad = np.flatnonzero(~((offers >= 0) & (offers <= self.max_incentive)))
        if bad.size:
            raise checks.bad_offer("incentives", offers, int(bad[0]), self.max_incentive)

    def _check_single(self) -> None:
        if self.copies != 1:
            raise ValueError(f"copies = {self.copies}: a whole stretch is played in a game of one copy only")


def _key(seed: int | None) -> int:
    """Of a seed's draws."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def _generator(key: int, episode: int, purpose: str) -> np.random.Generator:
    """A generator for Python code that draws in an episode; the kernel's own draws need none."""
    return np.random.default_rng([int(key), int(episode), ord(purpose[0])])


def principal_seed(seed: int | None, key: int | None = None, episode: int = 1) -> int:
    """The seed of a principal in an episode of a game, the same whichever interface is used.

    Args:
        seed: that the game was given, or None.
        key: of that seed's draws; None: worked out.
        episode: 1, 2, ... since the seed was given.
    """
    if seed is not None and episode == 1:
        return seed
    return int(np.random.SeedSequence([_key(seed) if key is None else key, episode]).generate_state(1)[0])
