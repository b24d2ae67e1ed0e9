"""Many rounds of one offer: while the same arm keeps winning, rewards are drawn ahead.

Only the mean of the arm that is played moves then, so what the other arms contribute is computed once for many rounds.
The answers, scores and beliefs are those of :mod:`pa_env.kernel.step`.
"""

import math
from typing import NamedTuple

import numpy as np

from pa_env.kernel.agents import Answer, decide, first_bad, rounds_before_exploring
from pa_env.kernel.compiling import compiled, inlined_part
from pa_env.kernel.draws import draw_rewards
from pa_env.kernel.layout import (
    BLOCK_SIZE,
    FLUSH,
    AgentArrays,
    ArmRow,
    Arrays,
    Exploring,
    Floats,
    LinearArrays,
    Records,
    Score,
    Scratch,
    Stop,
)
from pa_env.kernel.responses import Ahead, look_ahead, response_of
from pa_env.kernel.step import (
    Terms,
    add_round,
    end_rounds,
    finish,
    learn,
    overpaid_of,
    read_sums,
    regret_of,
    score,
    terms_of,
    write_sums,
)


@compiled
def hold(arrays: Arrays, offers: Floats, rounds: int, stop: Floats) -> int:
    """Play rounds of one copy with one offer.

    Args:
        arrays: the game.
        offers: (1, K) incentives.
        rounds: how many to play.
        stop: a stop rule, which may end them early; or empty.

    Returns:
        -1, or the index of a bad offer; then nothing is played. Or offers.size + 1 if the answer of the user's own
        function is not an arm; then the rounds before it are played.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    if bad >= 0:
        return bad
    end, size = arrays.state[0].t + rounds, 1
    while arrays.state[0].t < end and not (stop.size > 0 and stop[Stop.WITHDRAWN] > 0.0):
        answer = decide(arrays, offers, int(np.int64(0)))
        if not 0 <= answer.arm < offers.shape[1]:
            return offers.size + 1
        most = min(size, end - arrays.state[0].t)
        wins = play_some(arrays, arrays.linear, arrays.agent, offers, answer, most, stop)
        size = min(4 * size, BLOCK_SIZE) if wins else 1
    return -1


@inlined_part
def play_some(
    arrays: Arrays,
    linear: LinearArrays | None,
    agent: AgentArrays | None,
    offers: Floats,
    answer: Answer,
    most: int,
    stop: Floats,
) -> bool:
    """Play one round, or up to ``most`` if they can be drawn ahead; whether the arm still wins."""
    if linear is None:
        if agent is None:
            return play_ahead(arrays, offers, answer, most, stop)
    return play_one(arrays, offers, answer, stop)


@inlined_part
def play_one(arrays: Arrays, offers: Floats, answer: Answer, stop: Floats) -> bool:
    """Play one round."""
    i, arm = int(np.int64(0)), answer.arm
    outcome = score(arrays, offers, i, arm, answer)
    learn(arrays, arrays.linear, arrays.agent, offers, i, arm, outcome.r)
    finish(arrays, arrays.agent, offers, i, arm, outcome.x)
    if stop.size > 0:
        count_round(stop, arm)
    return False


class Others(NamedTuple):
    """What the arms that are not played contribute while one arm keeps winning."""

    rival: float  # max_b muhat_b + pi_b
    highest: float  # max_b muhat_b
    joint: float  # max_b muhat_b + theta_b


@inlined_part
def others(arrays: Arrays, offers: Floats, i: int, arm: int) -> Others:
    """The maxima over all arms but one."""
    rival = highest = joint = -np.inf
    for b in range(offers.shape[1]):
        if b != arm:
            mean = arrays.arms[i, ArmRow.MEAN, b]
            rival = max(rival, mean + offers[i, b])
            highest = max(highest, mean)
            joint = max(joint, mean + arrays.arms[i, ArmRow.THETA, b])
    return Others(rival, highest, joint)


@inlined_part
def play_ahead(arrays: Arrays, offers: Floats, answer: Answer, most: int, stop: Floats) -> bool:
    """Play up to ``most`` rounds, for as long as the arm wins; whether it still does.

    An arm that is explored is played once. What differs from round to round is computed first, in loops that the
    compiler can vectorise; then it is added up, in the order of the rounds.
    """
    i, arm, arms, exploring, rows = int(np.int64(0)), answer.arm, arrays.arms, arrays.exploring, arrays.scratch
    t, terms = arrays.state[i].t, terms_of(arrays, offers, i, arm, answer)
    explored = arms[i, ArmRow.MEAN, arm] + terms.paid < answer.best
    size = 1 if explored else rounds_ahead(arrays, exploring, i, min(most, FLUSH - t % FLUSH))
    ahead = look_ahead(arrays, exploring, i, arm, size)
    other = Others(-np.inf, answer.highest, answer.joint)
    if ahead.size > 1:
        other = others(arrays, offers, i, arm)
    draw_rewards(arrays, i, arm, arrays.plays[i, arm] + 1, ahead.size)
    learn_ahead(arrays, i, arm, ahead.size)
    size = rounds_won(arrays, terms.paid, other.rival, ahead.size)
    if stop.size > 0:
        size = count_rounds(stop, arm, size)
    score_ahead(arrays, exploring, terms, other, ahead, t, size)
    add_ahead(arrays, exploring, i, arm, terms, size)
    arrays.state[i].t += size
    arrays.plays[i, arm] += size
    arms[i, ArmRow.MEAN, arm] = rows[Scratch.MEAN, size]
    if arrays.rules[0].learns:
        arms[i, ArmRow.AGENT_SUM, arm] = rows[Scratch.R, size - 1]
    if explored:
        after_exploring(exploring, i, arm)
    end_rounds(arrays, offers, i, arm, rows[Scratch.X, size - 1])
    return bool(rows[Scratch.MEAN, size] + terms.paid > other.rival)


@inlined_part
def learn_ahead(arrays: Arrays, i: int, arm: int, size: int) -> None:
    """Write the agent's mean of the arm before each round and after the last; rewards R become their running sum."""
    rows, n, mean = arrays.scratch, arrays.plays[i, arm], arrays.arms[i, ArmRow.MEAN, arm]
    rows[Scratch.MEAN, 0] = mean
    if arrays.rules[0].learns:
        total = arrays.arms[i, ArmRow.AGENT_SUM, arm]
        for j in range(size):
            total += rows[Scratch.R, j]
            rows[Scratch.R, j] = total
        for j in range(size):
            rows[Scratch.MEAN, j + 1] = rows[Scratch.R, j] / (n + j + 1)
    else:
        for j in range(size):
            rows[Scratch.MEAN, j + 1] = mean


@inlined_part
def rounds_won(arrays: Arrays, paid: float, rival: float, size: int) -> int:
    """The number of rounds, at most ``size``, that are played until another arm wins."""
    means, wins = arrays.scratch[Scratch.MEAN], True
    for j in range(size):
        wins &= means[j + 1] + paid > rival
    if not wins:
        for j in range(size):
            if not means[j + 1] + paid > rival:
                return j + 1
    return size


@inlined_part
def score_ahead(
    arrays: Arrays,
    exploring: Records[Exploring] | None,
    terms: Terms,
    other: Others,
    ahead: Ahead,
    t: int,
    size: int,
) -> None:
    """Write the scores of rounds t + 1, ..., t + size that depend on the agent's mean."""
    rows = arrays.scratch
    for j in range(size):
        mean = rows[Scratch.MEAN, j]
        highest = max(other.highest, mean)
        rows[Scratch.REGRET, j] = regret_of(terms, mean, highest, other.joint)
        rows[Scratch.OVERPAID, j] = overpaid_of(terms, highest - mean)
    if exploring is not None:
        for j in range(size):
            mean = rows[Scratch.MEAN, j]
            highest = max(other.highest, mean)
            rows[Scratch.RESPONSE, j] = response_of(ahead, t + j + 1, terms.theta + mean, highest, terms.net)


@inlined_part
def add_ahead(arrays: Arrays, exploring: Records[Exploring] | None, i: int, arm: int, terms: Terms, size: int) -> None:
    """Add up the scores of some rounds, and the principal's rewards."""
    rows, sums, rewards = arrays.scratch, read_sums(arrays, i), arrays.arms[i, ArmRow.PRINCIPAL_SUM, arm]
    response = arrays.totals[i, 1, Score.REGRET_RESPONSE]
    for j in range(size):
        x = rows[Scratch.X, j]
        sums = add_round(sums, terms, x, rows[Scratch.REGRET, j], rows[Scratch.OVERPAID, j])
        rewards += x
        if exploring is not None:
            response += rows[Scratch.RESPONSE, j]
    write_sums(arrays, i, sums)
    arrays.arms[i, ArmRow.PRINCIPAL_SUM, arm] = rewards
    arrays.totals[i, 1, Score.REGRET_RESPONSE] = response


@inlined_part
def rounds_ahead(arrays: Arrays, exploring: Records[Exploring] | None, i: int, most: int) -> int:
    """The number of rounds, at most ``most``, before the agent explores."""
    if exploring is None:
        return most
    return rounds_before_exploring(arrays, i, most) if most > 1 else most


@inlined_part
def after_exploring(exploring: Records[Exploring] | None, i: int, arm: int) -> None:
    """Round-robin goes on after the arm explored."""
    if exploring is not None:
        exploring[i].cursor = arm + 1


# ----------------------------------------------------------------------------------------- stop rules


@inlined_part
def count_round(stop: Floats, arm: int) -> bool:
    """Count a round in which an arm was played; whether the offer is withdrawn after it.

    It is once misses > alpha sqrt(Y) + beta / sqrt(Y), after Y rounds.
    """
    stop[Stop.HELD] += 1.0
    stop[Stop.MISSES] += 1.0 if arm != stop[Stop.TARGET] else 0.0
    width = math.sqrt(stop[Stop.HELD])
    if stop[Stop.MISSES] > stop[Stop.ALPHA] * width + stop[Stop.BETA] / width:
        stop[Stop.WITHDRAWN] = 1.0
    return bool(stop[Stop.WITHDRAWN] > 0.0)


@inlined_part
def count_rounds(stop: Floats, arm: int, size: int) -> int:
    """Count rounds of an arm, at most ``size``, until the offer is withdrawn; how many."""
    if may_fire(stop, arm):
        for j in range(size):
            if count_round(stop, arm):
                return j + 1
    else:
        stop[Stop.HELD] += size
    return size


@inlined_part
def may_fire(stop: Floats, arm: int) -> bool:
    """True if the rule may fire while an arm is played: beyond Y = 2 beta / alpha it takes a miss."""
    rises = stop[Stop.HELD] * stop[Stop.ALPHA] > 2.0 * stop[Stop.BETA]
    return arm != stop[Stop.TARGET] or (stop[Stop.MISSES] > 0.0 and not rises)
