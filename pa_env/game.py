"""The game itself: the state of one or many copies, and the only calls into the kernel.

The doors (:mod:`pa_env.principal_agent_v0`, :mod:`pa_env.seats`, :mod:`pa_env.vector`) and long simulations all
hold a :class:`Game`. The last of the four doors is here: :meth:`Game.hold` advances a game by a whole held offer.

>>> from pa_env.game import Game
>>> game = Game(instance="ipa-k5", agent="oracle", horizon=10**9, observe=False)
>>> game.begin(seeds=[7])
>>> game.hold([0, 0, 0.5, 0, 0], rounds=10**6).plays.tolist()
[0, 0, 1000000, 0, 0]
"""

import copy
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypedDict

import numba
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from pa_env import kernel
from pa_env.agents import Agent, ScriptedAgent, resolve
from pa_env.checks import at_least, numbers, seed_of
from pa_env.compiling import Pointer, compiled, machine_code
from pa_env.instances import IID, REWARDS, Instance, InstanceLike, Linear, source

Floats = NDArray[np.float64]
FLOAT64 = np.dtype(np.float64)
LONGEST = 2**39 - 1
CHUNK = 10_000_000  # rounds between two looks at Ctrl-C, about 50 ms
UNBOUNDED = float(np.finfo(np.float64).max)


# The kernel's machine code, by what its types depend on: linear, observed, low-regret agent, exploring agent; for
# held offers also whether one may be withdrawn.
_PLAY: dict[tuple[bool, ...], Callable[..., int]] = {}
_HOLD: dict[tuple[bool, ...], Callable[..., int]] = {}


class Totals(NamedTuple):
    """Sums over the rounds played so far."""

    utility: float
    expected_utility: float
    regret: float
    regret_oracle: float
    regret_bar: float
    overpayment: float


class Held(NamedTuple):
    """What a held offer brought: the rounds really played, then plays and the sum of rewards X of each arm."""

    rounds: int
    plays: NDArray[np.int64]
    rewards: Floats


class Followed(NamedTuple):
    """What a rule's offers brought: as ``Held``, then misses of its targets, and of the last round arm, X and offer."""

    rounds: int
    plays: NDArray[np.int64]
    rewards: Floats
    misses: int
    last: tuple[int, float]
    offer: Floats


class Settings(TypedDict, total=False):
    """Keyword arguments of every door; :mod:`pa_env` says what they mean."""

    n_arms: int | None
    horizon: int
    agent: str | ScriptedAgent | Agent
    instance: InstanceLike
    max_incentive: float | None
    dim: int | None


def game_of(settings: Settings, copies: int = 1) -> "Game":
    """A game from the keyword arguments of a door; unknown ones are named."""
    for name in settings:
        if name not in Settings.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}; known: {', '.join(Settings.__annotations__)}")
    return Game(copies=copies, **settings)


class Game:
    """Independent copies of one repeated game; :mod:`pa_env` says what the arguments mean."""

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
        self.horizon = int(at_least("horizon", horizon, 1, whole=True))
        if self.horizon > LONGEST:
            raise ValueError(
                f"horizon = {horizon} must be at most {LONGEST}, as many rounds as have draws of their own"
            )
        self.copies = int(at_least("num_envs", copies, 1, whole=True))
        self.agent = resolve(agent)
        if max_incentive is None:
            max_incentive = 2.0 * self.dim + 2.0 if self.dim else 4.0
        self.max_incentive = at_least("max_incentive", max_incentive, 0.0, strictly=True)
        if observe and self.max_incentive > float(np.finfo(np.float32).max):
            raise ValueError(
                f"max_incentive = {max_incentive} must be at most 3e38, which a float32 observation can hold"
            )

        rules = np.zeros(1, kernel.RULES)
        rules["horizon"], rules["max_incentive"] = self.horizon, self.max_incentive
        c0: float | None = None
        self._outsiders: list[Agent] = []
        self._initial = np.zeros(self.dim or self.n_arms)
        if isinstance(self.agent, ScriptedAgent):
            if self.agent.name == "ols" and not self.dim:
                raise ValueError("agent = 'ols' needs linear rewards: use 'empirical-mean', or instance='unit-ball'")
            rules["agent"] = self.agent.kind
            rules["how"], rules["tie"] = self.agent.how_for(self.n_arms), self.agent.tie
            self._initial = self.agent.initial_for(self.n_arms, self.dim)
            c0 = self.agent.c0 or None
        else:
            rules["agent"] = kernel.OUTSIDER
            # One copy plays the user's own object, so that the user can look at it.
            self._outsiders = [self.agent] if copies == 1 else [copy.deepcopy(self.agent) for _ in range(copies)]

        n, k, d = self.copies, self.n_arms, self.dim
        self.state = np.zeros(n, kernel.COPY)
        self.arms = np.zeros((n, kernel.COORDINATES + d, k))
        self.plays = np.zeros((n, k), np.int64)
        self._totals = np.zeros((n, 2, 6))
        self.linear = np.zeros((n, k + 3 * d + 4, d))
        self.summary = np.zeros((n, 6 * k + 2 if observe else 0), np.float32)
        self._room = (  # the kernel's first arguments; a deepcopy or pickle keeps them the same arrays
            *(rules, self.state, self.arms, self.plays, self._totals),
            *(self.linear if d else None, self.summary if observe else None, np.zeros((3, kernel.BLOCK))),
            *(np.zeros((n, k)) if rules["agent"][0] >= kernel.UCB else None, c0),
        )
        self._offers_shape, self._results_shape = (n, k), (n, kernel.OPTIMAL + k)
        self._one_offer = (k,) if n == 1 else None
        self._variant = (d > 0, observe, bool(rules["agent"][0] >= kernel.UCB), c0 is not None)
        self._all, self._chunk = np.ones(n, np.int64), np.ones(1, np.int64)
        self._nobody = np.full(n, kernel.NOBODY)

    # ------------------------------------------------------------------------------------- episodes

    def begin(
        self,
        seeds: Sequence[int | None] | None = None,
        which: NDArray[np.bool_] | None = None,
        instance: InstanceLike | None = None,
    ) -> None:
        """Begin the next episode of all copies, or of those marked in ``which``.

        A copy given a seed starts anew from it; without one it goes on to the next episode of its last seed.
        ``instance`` stands in for the game's own, for this episode.
        """
        origin = self.source
        if instance is not None:
            origin = source(instance, self.n_arms, self.dim or None)
            if origin.dim != self.dim:
                raise ValueError(f"instance = {instance!r} is linear, and this game is i.i.d.: pass dim={origin.dim}")
        which = np.ones(self.copies, np.bool_) if which is None else which
        seeds = None if seeds is None else [seed_of(seed) for seed in seeds]
        keys, episodes = self.state["key"].copy(), self.state["episode"].copy()
        for i in range(self.copies) if seeds is not None or not episodes.all() else ():
            seed = None if seeds is None else seeds[i]
            if which[i] and (seed is not None or not episodes[i]):
                keys[i] = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
                episodes[i] = 0
        given: list[tuple[Any, Instance]] = []
        if origin.fixed is not None:
            given = [(which, origin.fixed)]
        elif origin.draw is not None:
            for i in np.flatnonzero(which).tolist():
                given.append((i, origin.check(origin.draw(_generator(keys[i], episodes[i], "instance")))))

        self.state["key"], self.state["episode"] = keys, episodes
        self.state["rewards"][which] = kernel.GAUSSIAN if self.dim else kernel.BERNOULLI
        self.state["noise"][which] = 1.0
        for where, drawn in given:
            self.arms[where, kernel.MU], self.arms[where, kernel.THETA] = drawn.mu, drawn.theta
            if isinstance(drawn, Linear):
                self.linear[where, : self.n_arms] = drawn.arms
                self.linear[where, -2], self.linear[where, -1] = drawn.s, drawn.nu
                self.state["noise"][where] = drawn.noise
            else:
                self.state["rewards"][where] = REWARDS[drawn.rewards]
        kernel.begin(*self._room[:7], self._room[8], which, origin.family, self._initial)
        for i in np.flatnonzero(which).tolist() if self._outsiders else ():
            self._outsiders[i].reset(self.n_arms, _generator(keys[i], episodes[i], "agent"))

    def instance(self, i: int = 0) -> Instance:
        """The instance that copy ``i`` plays in this episode."""
        if self.dim:
            s, nu = self.linear[i, -2:]
            return Linear(self.linear[i, : self.n_arms], s, nu, float(self.state["noise"][i]))
        rewards = list(REWARDS)[int(self.state["rewards"][i])]
        return IID(self.arms[i, kernel.MU], self.arms[i, kernel.THETA], rewards)

    # ------------------------------------------------------------------------------------- rounds

    def play(
        self,
        offers: Floats,
        rounds: NDArray[np.int64] | None = None,
        forced: NDArray[np.int64] | None = None,
        stop: Floats | None = None,
    ) -> Floats:
        """One round of each copy, or of those with ``rounds`` 1; ``forced`` arms are played where they are >= 0.

        ``offers`` (copies, n_arms) float64. Returns the kernel's ``results`` (copies, 8 + n_arms), zero where nothing
        was played.
        """
        if self._outsiders:
            forced = self._ask(offers, rounds, forced)
        if forced is None:
            forced = self._nobody
        if rounds is None:
            rounds, results = self._all, np.empty(self._results_shape)
        else:
            results = np.zeros(self._results_shape)
        play = kernel.play if stop is not None else _PLAY.get(self._variant, kernel.play)
        bad = play(*self._room, offers, rounds, forced, stop, results)
        if bad >= 0:
            self._refuse(offers, bad)
        if play is kernel.play and stop is None:
            _PLAY[self._variant] = machine_code(play, (*self._room, offers, rounds, forced, stop, results))
        if self._outsiders:
            for i in np.flatnonzero(rounds):
                self._outsiders[i].learn(int(results[i, kernel.ARM]), float(results[i, kernel.REWARD_AGENT]))
        return results

    def hold(self, offer: ArrayLike, rounds: int, stop: Floats | None = None) -> Held:
        """Hold one offer for ``rounds`` rounds or to the horizon, in memory that does not grow (one copy only).

        ``stop``: a rule from :func:`stop_rule`; passed again with the same offer it goes on where it was.
        """
        self._check_single(stop)
        offers = self.as_offer(offer)
        plays, rewards, begun = self.plays[0].copy(), self.arms[0, kernel.PRINCIPAL_SUM].copy(), self.rounds_played
        end = min(self.horizon, begun + int(at_least("rounds", rounds, 1, whole=True)))
        self.advance(offers, end - begun, stop)
        gained = self.arms[0, kernel.PRINCIPAL_SUM] - rewards
        return Held(self.rounds_played - begun, self.plays[0] - plays, gained)

    def advance(self, offers: Floats, rounds: int, stop: Floats | None = None) -> None:
        """What :meth:`hold` does, for callers that check and count themselves: at most ``rounds`` rounds."""
        while rounds > 0 and not (stop is not None and stop[kernel.WITHDRAWN]):
            if self._outsiders:
                self.play(offers, stop=stop)
                rounds -= 1
                continue
            self._chunk[0] = chunk = min(CHUNK, rounds)  # because a compiled call does not hear Ctrl-C
            arguments = (*self._room, offers, self._chunk, self._nobody, stop, None)
            variant = (*self._variant, stop is not None)
            play: Callable[..., int] = _HOLD.get(variant, kernel.play)
            bad = play(*arguments)
            if bad >= 0:
                self._refuse(offers, bad)
            if play is kernel.play:
                _HOLD[variant] = machine_code(play, arguments)
            rounds -= chunk

    def follow(
        self, rule: Callable[..., int], memory: Floats, rounds: int, last: tuple[int, float] = (kernel.NOBODY, 0.0)
    ) -> Followed:
        """Let a compiled rule make the offers of ``rounds`` rounds; see :func:`pa_env.kernel.follow` (one copy only).

        ``rule``: a function compiled with :data:`RULE`. ``last``: what it is told of the round before the first.
        """
        self._check_single()
        pointer = _pointer(rule)
        if not (isinstance(memory, np.ndarray) and memory.ndim == 1 and memory.dtype == FLOAT64):
            raise TypeError(f"memory = {memory!r} must be a vector of float64")
        if not memory.flags.carray:
            raise ValueError("memory must be a contiguous and writeable array: pass a copy")
        plays, rewards, begun = self.plays[0].copy(), self.arms[0, kernel.PRINCIPAL_SUM].copy(), self.rounds_played
        end, misses = min(self.horizon, begun + int(at_least("rounds", rounds, 1, whole=True))), 0
        offers, results = np.zeros(self._offers_shape), np.zeros(self._results_shape)
        results[0, kernel.ARM], results[0, kernel.REWARD_PRINCIPAL] = last
        room = (*self._room[:6], *self._room[7:])
        while (t := self.rounds_played) < end:
            if self._outsiders:
                self._read_means(0, self._outsiders[0])  # a privileged rule may look
                arm, reward = int(results[0, kernel.ARM]), results[0, kernel.REWARD_PRINCIPAL]
                target = rule(memory, self.plays[0], self.arms[0, kernel.PRINCIPAL_SUM], arm, reward, offers[0])
                results = self.play(offers)
                misses += target >= 0 and target != results[0, kernel.ARM]
                continue
            missed = compiled_follow(self.dim > 0, *self._variant[2:])(
                *(*room, pointer, memory, offers, self._all, self._nobody, results, min(CHUNK // 10, end - t))
            )
            if missed < 0:
                self._refuse(offers, -1 - missed)
            misses += missed
        told = (int(results[0, kernel.ARM]), float(results[0, kernel.REWARD_PRINCIPAL]))
        gained = self.arms[0, kernel.PRINCIPAL_SUM] - rewards
        return Followed(self.rounds_played - begun, self.plays[0] - plays, gained, misses, told, offers[0])

    def answer(self, offers: Floats) -> NDArray[np.int64]:
        """The arm that each agent will play on its offer, exploration draws included; the game does not move."""
        if self._outsiders:
            return self._ask(offers, None, None)
        answers = np.empty(self.copies, np.int64)
        bad = kernel.answer(*self._room[:4], *self._room[8:], offers, answers)
        if bad >= 0:
            self._refuse(offers, bad)
        return answers

    # ------------------------------------------------------------------------------------- what there is to see

    @property
    def rounds_played(self) -> int:
        """Rounds that the first copy has played."""
        return int(self.state["t"][0])

    @property
    def means(self) -> Floats:
        """The agents' beliefs muhat (copies, n_arms): a view."""
        for i, outsider in enumerate(self._outsiders):
            self._read_means(i, outsider)
        return self.arms[:, kernel.MEAN]

    @property
    def features(self) -> Floats:
        """The arms as vectors (copies, n_arms, dim), when rewards are linear: a view."""
        return self.linear[:, : self.n_arms]

    def totals(self, i: int = 0) -> Totals:
        """Sums over the rounds of copy ``i`` so far."""
        return Totals(*self._totals[i].sum(axis=0).tolist())

    def agent_view(self, offers: Floats) -> NDArray[np.float32]:
        """What the agents see (copies, 3 n_arms + 1): the offer, their own means and play shares, the time."""
        k = self.n_arms
        view = np.empty((self.copies, 3 * k + 1), np.float32)
        view[:, :k], view[:, k : 2 * k] = offers, self.means
        view[:, 2 * k : 3 * k] = self.plays / self.horizon
        view[:, 3 * k] = self.state["t"] / self.horizon
        return view

    # ------------------------------------------------------------------------------------- checks

    def check_begun(self) -> None:
        """Raise unless an episode has begun."""
        if not self.state["episode"][0]:
            raise ResetNeeded("the game has not begun: call reset() first")

    def check_running(self) -> None:
        """Raise unless the first copy is in the middle of an episode."""
        self.check_begun()
        if self.rounds_played >= self.horizon:
            raise ResetNeeded(f"the game ended after horizon = {self.horizon} rounds: call reset() to play another")

    def _check_single(self, stop: Floats | None = None) -> None:
        if self.copies != 1:
            raise ValueError(f"copies = {self.copies}: a whole stretch is played in a game of one copy only")
        if stop is not None and not (isinstance(stop, np.ndarray) and stop.shape == (6,) and stop.dtype == FLOAT64):
            raise ValueError(f"stop = {stop!r} must come from pa_env.game.stop_rule(target, alpha, beta)")
        self.check_running()

    def as_offer(self, value: ArrayLike, name: str = "incentives") -> Floats:
        """Incentives (n_arms,) or (copies, n_arms) as the kernel takes them: a contiguous (copies, n_arms) float64."""
        if type(value) is not np.ndarray or value.dtype is not FLOAT64:
            value = numbers(name, value, f", one for each of {self.n_arms} arms")
        if value.shape == self._one_offer:
            value = value[None]
        elif value.shape != self._offers_shape:
            expected = self._one_offer or self._offers_shape
            raise ValueError(f"{name} has shape {value.shape}, and must have one number for each arm: {expected}")
        return value if value.flags.c_contiguous else np.ascontiguousarray(value)

    def as_arm(self, value: Any, name: str = "arm") -> int:
        """An arm's index as an int."""
        try:
            arm = operator.index(value.item() if isinstance(value, np.ndarray) else value)
        except (TypeError, ValueError):
            raise TypeError(f"{name} = {value!r} must be an integer from 0 to {self.n_arms - 1}") from None
        if not 0 <= arm < self.n_arms:
            raise ValueError(f"{name} = {arm} must be an integer from 0 to {self.n_arms - 1}")
        return arm

    def check_offers(self, offers: Floats) -> None:
        """Raise unless every offer is a number from 0 to max_incentive."""
        bad = np.flatnonzero(~((offers >= 0) & (offers <= self.max_incentive)))
        if bad.size:
            self._refuse(offers, int(bad[0]))

    def _refuse(self, offers: Floats, bad: int) -> None:
        i, arm = divmod(bad, self.n_arms)
        where = f"incentives[{arm}]" if self.copies == 1 else f"incentives[{i}, {arm}]"
        most = "" if self.max_incentive == UNBOUNDED else f" and at most max_incentive = {self.max_incentive:g}"
        raise ValueError(f"{where} = {offers[i, arm]} must be a finite number, at least 0{most}; nothing was played")

    # ------------------------------------------------------------------------------------- users' own agents

    def _ask(
        self, offers: Floats, rounds: NDArray[np.int64] | None, forced: NDArray[np.int64] | None
    ) -> NDArray[np.int64]:
        """The arms of users' own agents, where none is forced; their beliefs are read on the way."""
        self.check_offers(offers)
        arms = self._nobody.copy() if forced is None else forced.copy()
        for i, outsider in enumerate(self._outsiders):
            if rounds is None or rounds[i]:
                self._read_means(i, outsider)
                if arms[i] < 0:
                    arms[i] = self.as_arm(outsider.choose(offers[i].copy()), name="agent.choose(incentives)")
        return arms

    def _read_means(self, i: int, outsider: Agent) -> None:
        if not hasattr(outsider, "means"):
            raise TypeError(
                f"agent = {outsider!r} has no means: reset() must set {self.n_arms} finite numbers, one belief an arm"
            )
        means = numbers("agent.means", outsider.means)
        if means.shape != (self.n_arms,) or not np.isfinite(means).all():
            raise ValueError(
                f"agent.means = {means} must be {self.n_arms} finite numbers, the agent's belief on each arm"
            )
        self.arms[i, kernel.MEAN] = means


_FLOATS, _INTS = numba.float64[::1], numba.int64[::1]
RULE = numba.int64(_FLOATS, _INTS, _FLOATS, numba.int64, numba.float64, _FLOATS)
"""Signature of a rule: memory, plays, sums, last arm, last reward, offer (to be written); returns the target arm."""


@functools.cache
def compiled_follow(linear: bool, low_regret: bool, explores: bool) -> Callable[..., int]:
    """The kernel's ``follow``, its types spelled out: with a function among them Numba caches it no other way."""
    records = [numba.from_dtype(dtype)[::1] for dtype in (kernel.RULES, kernel.COPY)]
    cube, matrix, integers = numba.float64[:, :, ::1], numba.float64[:, ::1], numba.int64[:, ::1]
    signature = numba.int64(
        *(*records, cube, integers, cube, cube if linear else numba.none, matrix),
        *(matrix if low_regret else numba.none,),
        *(numba.float64 if explores else numba.none, numba.types.FunctionType(RULE)),
        *(_FLOATS, matrix, _INTS, _INTS, matrix, numba.int64),
    )
    made: Callable[..., int] = compiled(kernel.follow, signature).get_overload(signature.args)  # type: ignore[attr-defined]
    return made


@functools.cache
def _pointer(rule: Callable[..., int]) -> Pointer:
    if getattr(rule, "signatures", None) != [RULE.args]:
        raise TypeError(f"rule = {rule!r} must be compiled with pa_env.compiling.compiled(function, pa_env.game.RULE)")
    return Pointer(rule)


def stop_rule(target: int, alpha: float, beta: float) -> Floats:
    """Withdraw an offer held for Y rounds once misses of the target arm > alpha sqrt(Y) + beta / sqrt(Y)."""
    return np.array([target, alpha, beta, 0.0, 0.0, 0.0])


def _generator(key: int, episode: int, purpose: str) -> np.random.Generator:
    """A generator for Python code that draws in an episode; the kernel's own draws need none."""
    return np.random.default_rng([int(key), int(episode), ord(purpose[0])])
