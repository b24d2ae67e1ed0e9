"""The game itself: the state of one or many copies, and the only calls into the kernel.

The environments (:mod:`pa_env.principal_agent_v0`, :mod:`pa_env.envs.scalar`, :mod:`pa_env.envs.batched`) and long
simulations all hold a :class:`Game`. :meth:`Game.hold` plays a whole stretch of rounds with one offer.

>>> from pa_env.game import Game
>>> game = Game(instance="ipa-k5", agent="oracle", horizon=10**9, observe=False)
>>> game.begin(seeds=[7])
>>> game.hold([0, 0, 0.5, 0, 0], rounds=10**6).plays.tolist()
[0, 0, 1000000, 0, 0]

A game, and so an environment, is for one thread.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pa_env import checks
from pa_env.checks import BOOL, INT64, short, whole
from pa_env.game_state import _FIND_BAD, GameSettings, GameState
from pa_env.kernel.agents import ask, choice_laws
from pa_env.kernel.compiling import machine_code
from pa_env.kernel.episodes import TRACE, Recorded, Work, follow, play_episodes, record
from pa_env.kernel.hold import hold
from pa_env.kernel.layout import (
    AGENT_REWARD,
    ARM,
    MEAN,
    NO_ARM,
    OPTIMAL,
    REWARD,
    SCORES,
    Flags,
    Floats,
    Integers,
    RoundResult,
)
from pa_env.kernel.step import step
from pa_env.own_functions import NO_OFFER, OUT_OF_BOUNDS
from pa_env.payoff_agents import Functions
from pa_env.rules import Rule, StopRule, check_bounds, check_episodes, check_memory, rule_address
from pa_env.scripted_agents import ScriptedAgent
from pa_env.seeding import principal_seed

__all__ = ["Followed", "Game", "GameSettings", "Held", "game_of", "principal_seed"]

CHUNK = 10_000_000  # rounds between two checks for Ctrl-C, about 50 ms
DEFAULT = np.zeros(0, np.int64)  # one round of each copy; no arm is forced
NO_STOP, NO_RESULTS = np.zeros(0), np.zeros((0, 0))


_STEP: dict[int, Callable[..., int]] = {}  # machine code by kind of arrays: a look-up shorter than that of _call


class Held(NamedTuple):
    """What happened while an offer was held."""

    rounds: int  # that were played
    plays: Integers  # of each arm
    rewards: Floats  # sum of the rewards X of each arm


class Followed(NamedTuple):
    """What happened while a rule made the offers."""

    rounds: int  # that were played
    misses: int  # rounds in which another arm than the rule's target was played
    last: tuple[int, float]  # arm and reward X of the last round
    offer: Floats  # of the last round


def game_of(settings: GameSettings, copies: int = 1, known: Sequence[str] = ()) -> "Game":
    """A game from the keyword arguments of an interface; an unknown one is an error that lists all known ones.

    Args:
        settings: of the game.
        copies: number of copies.
        known: names of the interface's other arguments, for the error message.
    """
    for name in settings:
        if name not in GameSettings.__annotations__:
            names = ", ".join((*GameSettings.__annotations__, *known))
            raise TypeError(f"unexpected keyword argument {name!r}; known: {names}")
    return Game(copies=copies, **settings)


class Game(GameState):
    """Independent copies of one repeated game.

    Args:
        n_arms: number of arms K; None: the instance's own, or 5.
        horizon: rounds T in an episode.
        agent: the agent; see :mod:`pa_env.scripted_agents`.
        instance: the mean rewards; see :mod:`pa_env.instances`.
        max_incentive: the largest incentive; None: 4, or 2 dim + 2 when rewards are linear.
        dim: dimensions of the arms, when rewards are linear.
        copies: number of copies N.
        observe: whether the principal's summary is kept.
    """

    def play(self, offers: ArrayLike, arms: Integers | None = None, which: Flags | None = None) -> Floats:
        """One round of each copy.

        Args:
            offers: (N, K), or (K,) if there is one copy.
            arms: (N,), the arms to play; where one is NO_ARM, and if None, the agents choose.
            which: (N,), the copies that play; None: all.

        Returns:
            The results of the round, (N, len(RoundResult) - 1 + K) with the columns of
            :class:`pa_env.kernel.layout.RoundResult`; zero for copies that did not play.
        """
        offered = checks.offers("incentives", offers, self._offers_shape)
        forced = playing = DEFAULT
        results = np.empty(self._results_shape) if self._buffers is None else self._buffers.take()
        if arms is not None:
            forced = checks.vector("arms", arms, INT64, self.copies).copy()
        if which is not None:
            playing = checks.vector("which", which, BOOL, self.copies).astype(np.int64)
            results.fill(0.0)
        python = self._python if self._python.agents else None
        if python is not None:
            asked = python.all if which is None else np.flatnonzero(which).tolist()
            forced = self._ask(offered, forced, asked)
        code = _STEP.get(self._kind)
        if code is None:
            code = _STEP[self._kind] = machine_code(step, (self.arrays, offered, forced, playing, results))
        bad = code(self.arrays, offered, forced, playing, results)
        if bad >= 0:
            raise self._error(bad, offered, forced)
        if python is not None:
            python.learn(results, offered, asked)
        return results

    def _error(self, bad: int, offers: Floats, forced: Integers = DEFAULT) -> ValueError:
        """The error for what the kernel refused."""
        if bad < offers.size:
            return checks.bad_offer("incentives", offers, bad, self.max_incentive)
        if bad < offers.size + self.copies:
            arm = forced[bad - offers.size]
            return ValueError(f"arms = {arm} must be an integer from 0 to {self.n_arms - 1}, or NO_ARM = {NO_ARM}")
        return self._bad_answer(bad - offers.size - self.copies, offers)

    def _rule_error(self, bad: int, offers: Floats, memory: Floats) -> ValueError:
        """The error for what the kernel refused while a rule made the offers."""
        if offers[0, 0] == NO_OFFER:
            return ValueError(
                f"the rule left the bounds of its arrays, or raised (arms: {self.n_arms}, memory: {memory.size}); the"
                " round was not played"
            )
        return self._error(bad, offers)

    def _bad_answer(self, i: int, offers: Floats) -> ValueError:
        """The error for an agent's function whose answer is not an arm."""
        answers, t = np.empty(self.copies, np.int64), int(self.arrays.state["t"][i]) + 1
        self._call(ask, offers, answers)
        if not np.isfinite(self.arrays.arms[i, MEAN]).all():
            return ValueError(
                f"means = {short(self.arrays.arms[i, MEAN].tolist())} before round {t}: learn must keep them finite,"
                " and stay within the bounds of its arrays"
            )
        if answers[i] == OUT_OF_BOUNDS:
            return ValueError(
                f"the agent's function left the bounds of its arrays, or raised, in round {t} (arms: {self.n_arms},"
                f" memory: {self._memory.size}); the round was not played"
            )
        return ValueError(
            f"the agent's function answered {answers[i]} in round {t}: it must be an arm from 0 to {self.n_arms - 1};"
            " the round was not played"
        )

    def hold(self, offer: ArrayLike, rounds: int, stop: StopRule | None = None) -> Held:
        """Make the same offer for some rounds, or to the horizon, in constant memory (one copy only).

        Args:
            offer: (K,).
            rounds: at least 1.
            stop: when to withdraw it earlier.
        """
        self.check_running()
        plays, sums = self.plays[0].copy(), self.sums[0].copy()
        played = self.advance(offer, whole("rounds", rounds, 1), stop)
        return Held(played, self.plays[0] - plays, self.sums[0] - sums)

    def advance(self, offer: ArrayLike, rounds: int, stop: StopRule | None = None) -> int:
        """What :meth:`hold` does, without counting plays and rewards; returns the number of rounds played.

        Args:
            offer: (K,).
            rounds: at least 1.
            stop: when to withdraw it earlier.
        """
        self._check_single()
        offers = checks.offers("incentives", offer, self._offers_shape)
        if type(rounds) is not int or rounds < 1:  # most are, and the full check is slow
            rounds = whole("rounds", rounds, 1)
        if stop is not None:
            if type(stop) is not StopRule:
                raise TypeError(f"stop = {short(stop)} must be a pa_env.rules.StopRule")
            stop.check(self.n_arms)
        begun = self.rounds_played
        end = min(self.horizon, begun + rounds)
        if self._python:
            for _ in self._python_rounds(offers, end - begun, stop):
                pass
            return self.rounds_played - begun
        entries, t = NO_STOP if stop is None else stop.entries, begun
        while t < end and not (stop is not None and stop.withdrawn):
            bad = self._call(hold, offers, min(CHUNK, end - t), entries)  # because Ctrl-C does not interrupt it
            if bad >= 0:
                raise self._error(bad, offers)
            t += CHUNK
        return end - begun if stop is None else self.rounds_played - begun

    def _python_rounds(
        self, offers: Floats, rounds: int, stop: StopRule | None = None, results: Floats = NO_RESULTS, rule: Any = None
    ) -> Iterator[tuple[int, Floats, Floats]]:
        """Play rounds of one copy with a user's own agent; the target, beliefs (K,) and results (1, .) of each.

        Args:
            offers: (1, K), the offer, or where the rule writes it.
            rounds: how many.
            stop: when to end earlier.
            results: of the round before the first, which the rule is told.
            rule: makes the offers: ``rule(plays, sums, arm, reward, offer) -> target``; None: the offer is held.
        """
        target = NO_ARM
        for _ in range(rounds):
            if stop is not None and stop.withdrawn:
                return
            beliefs = self.means[0].copy()  # a privileged rule may look at the means
            if rule is not None:
                offers[...] = 0.0
                target = rule(self.plays[0], self.sums[0], int(results[0, ARM]), results[0, REWARD], offers[0])
            results = self.play(offers)
            if stop is not None:
                stop.count(int(results[0, ARM]))
            yield target, beliefs, results

    def follow(self, rule: Rule, memory: Floats, rounds: int, last: tuple[int, float] = (NO_ARM, 0.0)) -> Followed:
        """Let a compiled rule make the offers (one copy only); see :mod:`pa_env.rules`.

        Args:
            rule: from :func:`pa_env.rules.compile_rule`.
            memory: the rule's own, a vector of float64.
            rounds: at least 1; the horizon may come first.
            last: arm and reward X of the round before, as the rule is told them.
        """
        self._check_single()
        self.check_running()
        address = rule_address(rule)
        check_memory(memory)
        check_bounds(rule, self.n_arms, memory)
        begun, misses = self.rounds_played, 0
        end = min(self.horizon, begun + whole("rounds", rounds, 1))
        offers, results = np.zeros(self._offers_shape), np.zeros(self._results_shape)
        results[0, ARM] = whole("the arm of last", last[0], NO_ARM, self.n_arms - 1)
        results[0, REWARD] = checks.finite("the reward of last", last[1])
        if self._python:
            rounds, before, rule = end - begun, results, functools.partial(rule, memory)
            for target, _, results in self._python_rounds(offers, rounds, results=before, rule=rule):
                misses += target >= 0 and target != results[0, ARM]
        while (t := self.rounds_played) < end:
            missed = self._call(follow, address, memory, offers, results, min(CHUNK // 10, end - t))
            if missed < 0:
                raise self._rule_error(-1 - missed, offers, memory)
            misses += missed
        last = (int(results[0, ARM]), float(results[0, REWARD]))
        return Followed(self.rounds_played - begun, misses, last, offers[0])

    def record(
        self,
        rule: Rule,
        memory: Floats,
        offers: Floats,
        rows: Floats,
        last: tuple[int, float] = (NO_ARM, 0.0),
        stop: StopRule | None = None,
    ) -> int:
        """What :meth:`follow` and :meth:`hold` do, one round at a time, with a record of every round (one copy only).

        Args:
            rule: from :func:`pa_env.rules.compile_rule`.
            memory: the rule's own, a vector of float64.
            offers: (1, K), output: the last offer.
            rows: (rounds, len(Trace) + 3 K), output: a row for each round to play, with the columns of
                :class:`pa_env.kernel.episodes.TraceColumn`.
            last: arm and reward X of the round before, as the rule is told them.
            stop: when to end earlier.

        Returns:
            The rounds played.
        """
        self._check_single()
        address, entries = rule_address(rule), NO_STOP if stop is None else stop.entries
        check_memory(memory)
        check_bounds(rule, self.n_arms, memory)
        results = np.zeros(self._results_shape)
        results[0, ARM], results[0, REWARD] = last
        if not self._python:
            played = self._call(record, address, memory, offers, results, entries, rows)
            if played < 0:
                raise self._rule_error(-1 - played, offers, memory)
            return played
        played, before, rule = 0, results, functools.partial(rule, memory)
        for target, beliefs, results in self._python_rounds(offers, len(rows), stop, before, rule):
            row = rows[played]
            row[:TRACE] = self.rounds_played, target, *results[0, [ARM, REWARD, AGENT_REWARD, RoundResult.REGRET]]
            row[TRACE:] = np.concatenate([offers[0], beliefs, results[0, OPTIMAL:]])
            played += 1
        return played

    def play_episodes(self, rule: Rule, memories: Floats, marks: Integers) -> Recorded:
        """Let a compiled rule play all copies from the start of their episodes to the last checkpoint.

        Args:
            rule: from :func:`pa_env.rules.compile_rule`.
            memories: (N, M), the rule's memory at the beginning of each episode; or (1, M), the same for all.
            marks: (C,), checkpoints in increasing order, at most the horizon.
        """
        if self._python:
            raise ValueError(f"agent = {short(self.agent)} is a Python object: play its episodes one by one")
        address = rule_address(rule)
        check_episodes(memories, marks, self.copies, self.horizon)
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
        bad = self._call(play_episodes, address, memories, marks, recorded, work)
        if bad >= 0:
            if (wrong := _FIND_BAD(work.offers, self.max_incentive)) >= 0:
                raise self._rule_error(wrong, work.offers, memories[0])
            raise self._bad_answer(bad, np.tile(work.offers, (self.copies, 1)))
        return recorded

    def answer(self, offers: ArrayLike) -> Integers:
        """The arm (N,) that each agent will play, exploration draws included; the game does not move.

        Args:
            offers: (N, K), or (K,) if there is one copy.
        """
        offered = checks.offers("incentives", offers, self._offers_shape)
        if self._python:
            return self._ask(offered, DEFAULT, self._python.all)
        answers = np.empty(self.copies, np.int64)
        bad = self._call(ask, offered, answers)
        if bad >= 0:
            raise self._error(bad, offered)
        return answers

    def choice_probabilities(self, offers: ArrayLike) -> Floats:
        """How likely each agent is to play each arm, (N, K), before its draws; the game does not move.

        A user's own object needs a method ``choice_probabilities(incentives)`` for it. The probabilities of Thompson
        sampling and of users' compiled functions are not known.

        Args:
            offers: (N, K), or (K,) if there is one copy.
        """
        offered = checks.offers("incentives", offers, self._offers_shape)
        laws = np.empty(self._offers_shape)
        if self._python:
            self.check_offers(offered)
            return self._python.choice_probabilities(offered)
        agent = self.agent
        if not (isinstance(agent, ScriptedAgent) and agent.tells_law):
            name = getattr(agent, "name", "")
            raise ValueError(f"the choice probabilities of agent = {name!r} are not known: count its answers instead")
        if agent.declaration.functions is not None:
            return self._function_laws(agent.declaration.functions, offered)
        bad = self._call(choice_laws, offered, laws)
        if bad >= 0:
            raise checks.bad_offer("incentives", offered, bad, self.max_incentive)
        return laws

    def _function_laws(self, functions: Functions, offers: Floats) -> Floats:
        """The choice probabilities of an agent of functions that the kernel calls."""
        answers = self.answer(offers)  # which checks the offers
        agent, arms, state = self.arrays.agent, self.arrays.arms, self.arrays.state
        if functions.law is None or agent is None:
            return np.eye(self.n_arms)[answers]
        each = zip(agent.memory, arms[:, MEAN], state["t"].tolist(), strict=True)
        return np.array([functions.law(memory, means, t + 1) for memory, means, t in each])

    def _ask(self, offers: Floats, forced: Integers, playing: Sequence[int]) -> Integers:
        """The arms of users' own agents; their beliefs are read first."""
        self.check_offers(offers)
        for i in playing:
            self._python.read_means(i, self.arrays.arms[i, MEAN])
        return self._python.choose(offers, forced, playing)
