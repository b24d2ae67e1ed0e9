"""Rounds with offers made by a compiled rule, and whole episodes of many copies, one after another."""

from enum import IntEnum
from typing import Any, NamedTuple

import numba
import numpy as np

from pa_env.kernel.compiling import caller, compiled, inlined_part, part
from pa_env.kernel.hold import count_round
from pa_env.kernel.layout import (
    NO_ARM,
    AgentArrays,
    ArmRow,
    Arrays,
    Exploring,
    Floats,
    Integers,
    LinearArrays,
    Records,
    RoundResult,
    Stop,
)
from pa_env.kernel.responses import sum_scores
from pa_env.kernel.step import play_alone

_FLOATS, _INTEGERS = numba.float64[::1], numba.int64[::1]
# rule(memory, plays, sums, arm, reward, offer) -> target, see pa_env.rules
RULE = numba.int64(_FLOATS, _INTEGERS, _FLOATS, numba.int64, numba.float64, _FLOATS)
_rule = caller(RULE)  # by address, so that one compiled game serves every rule


class TraceColumn(IntEnum):
    """Columns of the trace of a game (rounds, len(TraceColumn) + 3 K); three vectors of K numbers follow them."""

    T = 0  # 1, 2, ...
    TARGET = 1  # the arm that the offer is meant for, or NO_ARM
    ARM = 2
    REWARD = 3  # X
    AGENT_REWARD = 4  # R
    REGRET = 5  # of the round, a part of R_T


TRACE = len(TraceColumn)
VECTORS = ("offer", "beliefs", "optimal_incentives")  # of a trace, after the columns of TraceColumn


class Recorded(NamedTuple):
    """What is recorded of N episodes at each of C checkpoints."""

    totals: Floats  # (N, C, len(Score))
    plays: Integers  # (N, C, K)
    misses: Integers  # (N, C)
    offers: Floats  # (N, C, K), of the last round before the checkpoint
    beliefs: Floats  # (N, C, K), with which the agent answered in that round


class Work(NamedTuple):
    """Arrays that an episode writes to."""

    memory: Floats  # (M,), the rule's
    offers: Floats  # (1, K)
    results: Floats  # (1, len(RoundResult) - 1 + K)


@inlined_part
def one_copy(arrays: Arrays, i: int) -> Arrays:
    """The arrays of copy ``i`` alone: views."""
    return Arrays(
        arrays.rules,
        arrays.state[i : i + 1],
        arrays.arms[i : i + 1],
        arrays.plays[i : i + 1],
        arrays.totals[i : i + 1],
        arrays.summary[i : i + 1],
        arrays.scratch,
        linear_copy(arrays.linear, i),
        exploring_copy(arrays.exploring, i),
        agent_copy(arrays.agent, i),
    )


@inlined_part
def linear_copy(linear: LinearArrays | None, i: int) -> LinearArrays | None:
    """The linear arrays of copy ``i`` alone: views."""
    if linear is None:
        return None
    return LinearArrays(
        linear.vectors[i : i + 1],
        linear.parameters[i : i + 1],
        linear.basis[i : i + 1],
        linear.coordinates[i : i + 1],
        linear.gram[i : i + 1],
        linear.factor[i : i + 1],
        linear.moment[i : i + 1],
        linear.estimate[i : i + 1],
    )


@inlined_part
def exploring_copy(exploring: Records[Exploring] | None, i: int) -> Records[Exploring] | None:
    """The state of copy ``i``'s exploring agent: a view."""
    if exploring is None:
        return None
    return exploring[i : i + 1]


@inlined_part
def agent_copy(agent: AgentArrays | None, i: int) -> AgentArrays | None:
    """The agent's arrays of copy ``i``: views."""
    if agent is None:
        return None
    return AgentArrays(agent.memory[i : i + 1], agent.order, agent.kept)


@inlined_part
def call_rule(arrays: Arrays, rule: Any, memory: Floats, offers: Floats, results: Floats) -> int:
    """Let the rule at the address ``rule`` write the next offer; the arm that it is meant for.

    Args:
        arrays: the game.
        rule: an address.
        memory: the rule's, updated.
        offers: (1, K), output.
        results: of the round before.
    """
    for b in range(offers.shape[1]):
        offers[0, b] = 0.0
    arm, reward = int(results[0, RoundResult.ARM]), results[0, RoundResult.REWARD]
    return _rule(rule, (memory, arrays.plays[0], arrays.arms[0, ArmRow.PRINCIPAL_SUM], arm, reward, offers[0]))


@compiled
def follow(arrays: Arrays, rule: Any, memory: Floats, offers: Floats, results: Floats, rounds: int) -> int:
    """Play rounds of one copy with offers made by a compiled rule.

    Args:
        arrays: the game.
        rule: the address of a rule that makes the offers, see :mod:`pa_env.rules`.
        memory: the rule's, updated.
        offers: (1, K), output: the last offer.
        results: (1, len(RoundResult) - 1 + K): the round before the first, then the last round.
        rounds: how many to play.

    Returns:
        The misses of the targets, or -1 - (what :func:`pa_env.kernel.step.step` returns for a bad offer or answer),
        after which it stops.
    """
    return follow_some(arrays, rule, memory, offers, results, rounds)


@part
def follow_some(arrays: Arrays, rule: Any, memory: Floats, offers: Floats, results: Floats, rounds: int) -> int:
    """:func:`follow` for compiled code."""
    misses = 0
    for _ in range(rounds):
        target = call_rule(arrays, rule, memory, offers, results)
        bad = play_alone(arrays, offers, results)
        if bad >= 0:
            return -1 - bad
        if target >= 0 and target != results[0, RoundResult.ARM]:
            misses += 1
    return misses


@compiled
def play_episodes(arrays: Arrays, rule: Any, memories: Floats, marks: Integers, recorded: Recorded, work: Work) -> int:
    """Play every copy from its first round to the last checkpoint.

    Args:
        arrays: the game, whose copies have just begun.
        rule: the address of a rule that makes the offers, see :mod:`pa_env.rules`.
        memories: (N, M), the rule's memory at the beginning of each episode; or (1, M), the same for all.
        marks: (C,), checkpoints in increasing order.
        recorded: output.
        work: memory to work in.

    Returns:
        -1, or the index of the copy in which the rule made a bad offer or the agent gave a bad answer; the offer is in
        ``work.offers``.
    """
    n_arms, only = arrays.plays.shape[1], int(np.int64(0))  # not the literal 0, for which Numba would compile again
    for i in range(arrays.plays.shape[0]):
        game = one_copy(arrays, i)
        for k in range(work.memory.size):
            work.memory[k] = memories[i if memories.shape[0] > 1 else 0, k]
        work.results[0, RoundResult.ARM], work.results[0, RoundResult.REWARD] = NO_ARM, 0.0
        t, misses = 0, 0
        for c in range(marks.size):
            for end in range(marks[c] - 1, marks[c] + 1):  # beliefs are noted before the round of the checkpoint
                if end == marks[c]:
                    for a in range(n_arms):
                        recorded.beliefs[i, c, a] = game.arms[0, ArmRow.MEAN, a]
                if end > t:
                    missed = follow_some(game, rule, work.memory, work.offers, work.results, end - t)
                    if missed < 0:
                        return i
                    misses += missed
                    t = end
            sum_scores(game, only, recorded.totals[i, c])
            for a in range(n_arms):
                recorded.plays[i, c, a] = game.plays[0, a]
                recorded.offers[i, c, a] = work.offers[0, a]
            recorded.misses[i, c] = misses
    return -1


@compiled
def record(
    arrays: Arrays, rule: Any, memory: Floats, offers: Floats, results: Floats, stop: Floats, rows: Floats
) -> int:
    """Play rounds of one copy as :func:`follow` does, with a row of :class:`TraceColumn` for each.

    Args:
        arrays: the game.
        rule: the address of a rule that makes the offers, see :mod:`pa_env.rules`.
        memory: the rule's, updated.
        offers: (1, K), output: the last offer.
        results: (1, len(RoundResult) - 1 + K): the round before the first, then the last round.
        stop: a stop rule, which may end it early; or empty.
        rows: (rounds, len(TraceColumn) + 3 K), output.

    Returns:
        The number of rounds played, or -1 - (what :func:`pa_env.kernel.step.step` returns for a bad offer or answer),
        after which it stops.
    """
    n_arms = arrays.plays.shape[1]
    for j in range(rows.shape[0]):
        if stop.size > 0 and stop[Stop.WITHDRAWN] > 0.0:
            return j
        row = rows[j]
        row[TraceColumn.TARGET] = call_rule(arrays, rule, memory, offers, results)
        for a in range(n_arms):
            row[TRACE + a], row[TRACE + n_arms + a] = offers[0, a], arrays.arms[0, ArmRow.MEAN, a]
        bad = play_alone(arrays, offers, results)
        if bad >= 0:
            return -1 - bad
        row[TraceColumn.T], row[TraceColumn.ARM] = arrays.state[0].t, results[0, RoundResult.ARM]
        row[TraceColumn.REWARD] = results[0, RoundResult.REWARD]
        row[TraceColumn.AGENT_REWARD] = results[0, RoundResult.AGENT_REWARD]
        row[TraceColumn.REGRET] = results[0, RoundResult.REGRET]
        for a in range(n_arms):
            row[TRACE + 2 * n_arms + a] = results[0, RoundResult.OPTIMAL + a]
        if stop.size > 0:
            count_round(stop, int(results[0, RoundResult.ARM]))
    return rows.shape[0]
