"""Whole episodes of many copies, one after another, with offers made by a compiled rule."""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM, ArmRow, Arrays, Floats, Integers, LinearArrays, RoundResult, Stop
from pa_env.kernel.play import follow, play
from pa_env.kernel.responses import sum_scores


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


@inlined
def one_copy(arrays: Arrays, i: int) -> Arrays:
    """The arrays of copy ``i`` alone: views."""
    return Arrays(
        arrays.rules,
        arrays.state[i : i + 1],
        arrays.arms[i : i + 1],
        arrays.plays[i : i + 1],
        arrays.totals[i : i + 1],
        arrays.summary[i : i + 1],
        arrays.memory[i : i + 1],
        arrays.order,
        arrays.scratch,
    )


@inlined
def one_linear_copy(linear: LinearArrays, i: int) -> LinearArrays:
    """The linear arrays of copy ``i`` alone: views."""
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


def play_episodes(
    arrays: Arrays,
    linear: LinearArrays | None,
    rule: Callable[..., int],
    memories: Floats,
    marks: Integers,
    recorded: Recorded,
    work: Work,
) -> int:
    """Play every copy from its first round to the last checkpoint; compiled by :mod:`pa_env.rules`.

    Args:
        arrays: the game, whose copies have just begun.
        linear: additional arrays if rewards are linear.
        rule: makes the offers, see :func:`pa_env.kernel.play.follow`.
        memories: (N, M), the rule's memory at the beginning of each episode; or (1, M), the same for all.
        marks: (C,), checkpoints in increasing order.
        recorded: output.
        work: memory to work in.

    Returns:
        -1, or the index of the copy in which the rule made a bad offer or the agent gave a bad answer; the offer is in
        ``work.offers``.
    """
    n_arms, only = arrays.plays.shape[1], int(np.int64(0))  # not the literal 0, see play
    for i in range(arrays.plays.shape[0]):
        game = one_copy(arrays, i)
        own = None if linear is None else one_linear_copy(linear, i)
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
                    missed = follow(game, own, rule, work.memory, work.offers, work.results, end - t)
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


def record(
    arrays: Arrays,
    linear: LinearArrays | None,
    rule: Callable[..., int],
    memory: Floats,
    offers: Floats,
    results: Floats,
    stop: Floats,
    rows: Floats,
) -> int:
    """Play rounds of one copy one by one, with a row of :class:`TraceColumn` for each; compiled by :mod:`pa_env.rules`.

    Args:
        arrays: the game.
        linear: additional arrays if rewards are linear.
        rule: makes the offers, see :func:`pa_env.kernel.play.follow`.
        memory: the rule's, updated.
        offers: (1, K), output: the last offer.
        results: (1, len(RoundResult) - 1 + K): the round before the first, then the last round.
        stop: a stop rule, which may end it early; or empty.
        rows: (rounds, len(TraceColumn) + 3 K), output.

    Returns:
        The number of rounds played, or -1 - (flat index of a bad offer), after which it stops.
    """
    n_arms, default = arrays.plays.shape[1], arrays.plays[0, :0]
    for j in range(rows.shape[0]):
        if stop.size > 0 and stop[Stop.WITHDRAWN] > 0.0:
            return j
        arm, reward = int(results[0, RoundResult.ARM]), results[0, RoundResult.REWARD]
        row = rows[j]
        for a in range(n_arms):
            offers[0, a] = 0.0
        row[TraceColumn.TARGET] = rule(
            memory, arrays.plays[0], arrays.arms[0, ArmRow.PRINCIPAL_SUM], arm, reward, offers[0]
        )
        for a in range(n_arms):
            row[TRACE + a] = offers[0, a]
            row[TRACE + n_arms + a] = arrays.arms[0, ArmRow.MEAN, a]
        bad = play(arrays, linear, offers, default, default, stop, results)
        if bad >= 0:
            return -1 - bad
        row[TraceColumn.T], row[TraceColumn.ARM] = arrays.state[0].t, results[0, RoundResult.ARM]
        row[TraceColumn.REWARD], row[TraceColumn.AGENT_REWARD] = (
            results[0, RoundResult.REWARD],
            results[0, RoundResult.AGENT_REWARD],
        )
        row[TraceColumn.REGRET] = results[0, RoundResult.REGRET]
        for a in range(n_arms):
            row[TRACE + 2 * n_arms + a] = results[0, RoundResult.OPTIMAL + a]
    return rows.shape[0]
