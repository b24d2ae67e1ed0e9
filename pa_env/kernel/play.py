"""The compiled game step: the only place where rounds are played and scored.

One call plays one round, one round of each of many copies, or many rounds of one offer. While the same arm keeps
winning, only that arm's mean moves, so the contribution of the other arms is computed once for many rounds.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pa_env.kernel.agents import Kind, bad_answer, decide, first_bad, repeats, uses_own_functions
from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import draw_rewards
from pa_env.kernel.exploration import rounds_before_exploring
from pa_env.kernel.layout import (
    BLOCK_SIZE,
    FLUSH,
    NO_ARM,
    ArmRow,
    Arrays,
    Floats,
    Integers,
    LinearArrays,
    RoundResult,
    Score,
    Scratch,
    Stop,
)
from pa_env.kernel.least_squares import learn_linear
from pa_env.kernel.low_regret import exp3_learn
from pa_env.kernel.observations import update_summary
from pa_env.kernel.own_functions import call_learn
from pa_env.kernel.responses import add_exploring, add_response, has_exploring_response
from pa_env.kernel.types import next_type


class Others(NamedTuple):
    """What the arms that are not played contribute while one arm keeps winning."""

    rival: float  # max_b muhat_b + pi_b
    highest: float  # max_b muhat_b
    joint: float  # max_b muhat_b + theta_b


@inlined
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


@inlined
def too_many(misses: int, held: int, alpha: float, beta: float) -> bool:
    """Whether an offer held for this many rounds is withdrawn: misses > alpha sqrt(held) + beta / sqrt(held)."""
    width = math.sqrt(held)
    return misses > alpha * width + beta / width


@inlined
def stretch_size(arrays: Arrays, i: int, most: int, block: int) -> int:
    """How many rounds of copy ``i`` are drawn ahead: at most ``most``, and up to the next flush."""
    size = min(block, most, FLUSH - arrays.state[i].t % FLUSH)
    if arrays.rules[0].c0 > 0.0 and size > 1:
        size = rounds_before_exploring(arrays, i, size)
    return size


@compiled
def play(
    arrays: Arrays,
    linear: LinearArrays | None,
    offers: Floats,
    rounds: Integers,
    forced: Integers,
    stop: Floats,
    results: Floats,
) -> int:
    """Play rounds of every copy with its offer held.

    Args:
        arrays: the game.
        linear: additional arrays if rewards are linear; None: code for them is not compiled.
        offers: (N, K), one offer for each copy.
        rounds: (N,), how many rounds each copy plays; empty: one.
        forced: (N,), the arm to play, or NO_ARM if the agent chooses; empty: all agents choose.
        stop: a stop rule (:class:`pa_env.kernel.layout.Stop`) for one copy, whose counts are updated; or empty.
        results: (N, len(RoundResult) - 1 + K), output: the last round of each copy; or empty.

    Returns:
        -1, or the flat index of a bad offer, or offers.size + i for a forced arm i that does not exist; then nothing
        is played. Or offers.size + N + i if the answer of the user's own function in copy i is not an arm: then nothing
        is played if there are many copies, and a single copy plays up to that round.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    for i in range(forced.size):
        if not NO_ARM <= forced[i] < offers.shape[1]:
            bad = offers.size + i
    if bad < 0 and offers.shape[0] > 1 and uses_own_functions(arrays):
        wrong = bad_answer(arrays, offers, rounds, forced)
        bad = offers.size + offers.shape[0] + wrong if wrong >= 0 else bad
    if bad >= 0:
        return bad
    arms, totals, n_arms, learns = arrays.arms, arrays.totals, offers.shape[1], arrays.rules[0].learns
    ahead, watches = linear is None and repeats(arrays), stop.size > 0
    explores, maximises, has_types = (
        has_exploring_response(arrays),
        arrays.rules[0].maximises,
        arrays.rules[0].n_types > 0,
    )
    begun, block, misses, held = arrays.state[0].t, 1, 0, 0
    i = int(np.int64(0))  # not the literal 0, for which Numba would compile every function that takes it again
    if watches:
        held, misses = int(stop[Stop.HELD]), int(stop[Stop.MISSES])
    while i < offers.shape[0]:  # a stretch of one arm at a time; flat, because nested loops spill registers
        if i < 0:  # never true: it tells the compiler that no index is negative
            break
        t = arrays.state[i].t
        end = begun + (rounds[i] if rounds.size > 0 else 1)
        if t < end:
            answer = decide(arrays, offers, i)
            wanted = forced[i] if forced.size > 0 else NO_ARM
            arm = answer.arm if wanted < 0 else wanted
            if arm < 0 or arm >= n_arms:
                bad = offers.size + offers.shape[0] + i
                break
            deviates = arms[i, ArmRow.MEAN, arm] + offers[i, arm] < answer.best
            if deviates:
                arrays.state[i].cursor = arm + 1

            size, other = 1, Others(-np.inf, answer.highest, answer.joint)
            if ahead and end - t > 1 and not deviates and wanted < 0:
                size = stretch_size(arrays, i, end - t, block)
                block = min(4 * block, BLOCK_SIZE)
                if size > 1:
                    other = others(arrays, offers, i, arm)

            theta, mean, n = arms[i, ArmRow.THETA, arm], arms[i, ArmRow.MEAN, arm], arrays.plays[i, arm]
            agent_sum, principal_sum = arms[i, ArmRow.AGENT_SUM, arm], arms[i, ArmRow.PRINCIPAL_SUM, arm]
            utility_sum, expected_sum = totals[i, 1, Score.UTILITY], totals[i, 1, Score.EXPECTED_UTILITY]
            regret_sum, overpayment_sum = totals[i, 1, Score.REGRET], totals[i, 1, Score.OVERPAYMENT]
            oracle_sum, bar_sum = totals[i, 1, Score.REGRET_ORACLE], totals[i, 1, Score.REGRET_BAR]
            own_sum = totals[i, 1, Score.AGENT_REGRET]
            paid = offers[i, arm]
            net = theta - paid
            oracle = arrays.state[i].benchmark - net
            bar = arrays.state[i].benchmark - theta + answer.offered
            own = answer.deserved - (arms[i, ArmRow.MU, arm] + paid)
            watched = False
            if watches:  # beyond Y = 2 beta / alpha the threshold only rises: only a miss can cross it
                rises = (held + t - begun) * stop[Stop.ALPHA] > 2.0 * stop[Stop.BETA]
                watched = arm != stop[Stop.TARGET] or (misses > 0 and not rises)
            draw_rewards(arrays, i, arm, n + 1, size)
            x = r = regret = highest = 0.0
            for j in range(size):
                arrays.scratch[Scratch.MEAN, j] = mean
                highest = max(other.highest, mean)
                regret = max(other.joint, theta + mean) - highest - net
                x, r = arrays.scratch[Scratch.X, j], arrays.scratch[Scratch.R, j]
                n += 1
                t += 1
                principal_sum += x
                utility_sum += x - paid
                expected_sum += net
                regret_sum += regret
                oracle_sum += oracle
                bar_sum += bar
                own_sum += own
                overpayment_sum += max(0.0, paid - (highest - mean))
                if learns:
                    agent_sum += r
                    mean = agent_sum / n
                if watched:
                    misses += arm != stop[Stop.TARGET]
                    if too_many(misses, held + t - begun, stop[Stop.ALPHA], stop[Stop.BETA]):
                        stop[Stop.WITHDRAWN] = 1.0
                        end = t
                        break
                if not mean + paid > other.rival:
                    block = 1
                    break

            if results.size > 0:
                results[i, RoundResult.UTILITY], results[i, RoundResult.EXPECTED_UTILITY] = x - paid, net
                results[i, RoundResult.REGRET], results[i, RoundResult.REGRET_ORACLE] = regret, oracle
                results[i, RoundResult.REGRET_BAR], results[i, RoundResult.REWARD] = bar, x
                results[i, RoundResult.ARM], results[i, RoundResult.AGENT_REWARD] = arm, r
                for b in range(n_arms):
                    results[i, RoundResult.OPTIMAL + b] = highest - arms[i, ArmRow.MEAN, b]
            if explores:
                add_exploring(arrays, i, arm, t - arrays.state[i].t, net)
            if not maximises:
                add_response(arrays, i, net)
                if arrays.rules[0].kind == Kind.EXP3:
                    exp3_learn(arrays, offers, i, arm, r)
            arrays.plays[i, arm], arms[i, ArmRow.PRINCIPAL_SUM, arm], arrays.state[i].t = n, principal_sum, t
            if linear is None:
                arms[i, ArmRow.MEAN, arm], arms[i, ArmRow.AGENT_SUM, arm] = mean, agent_sum
            elif learns:
                learn_linear(arrays, linear, i, arm, r)
            if not maximises and arrays.rules[0].learn > 0:
                call_learn(arrays, i, arm, r)
            totals[i, 1, Score.UTILITY], totals[i, 1, Score.EXPECTED_UTILITY] = utility_sum, expected_sum
            totals[i, 1, Score.REGRET], totals[i, 1, Score.OVERPAYMENT] = regret_sum, overpayment_sum
            totals[i, 1, Score.REGRET_ORACLE], totals[i, 1, Score.REGRET_BAR] = oracle_sum, bar_sum
            totals[i, 1, Score.AGENT_REGRET] = own_sum
            if t % FLUSH == 0:
                for k in range(totals.shape[2]):
                    totals[i, 0, k] += totals[i, 1, k]
                    totals[i, 1, k] = 0.0
            if arrays.summary.size > 0:
                update_summary(arrays, offers, i, arm, x)
            arrays.state[i].arm = arm
            if has_types:
                next_type(arrays, i)
        if t >= end:
            if watches:
                stop[Stop.HELD], stop[Stop.MISSES] = held + t - begun, misses
            i += 1
            if i < offers.shape[0]:
                begun, block = arrays.state[i].t, 1
    if watches and bad >= 0:
        stop[Stop.HELD], stop[Stop.MISSES] = held + arrays.state[0].t - begun, misses
    return bad


@compiled
def follow(
    arrays: Arrays,
    linear: LinearArrays | None,
    rule: Callable[..., int],
    memory: Floats,
    offers: Floats,
    results: Floats,
    rounds: int,
) -> int:
    """Play rounds of one copy with offers made by a compiled rule; compiled by :mod:`pa_env.rules`.

    Args:
        arrays: the game.
        linear: additional arrays if rewards are linear.
        rule: makes the offers, see :mod:`pa_env.rules`.
        memory: the rule's, updated.
        offers: (1, K), output: the last offer.
        results: (1, len(RoundResult) - 1 + K): the round before the first, then the last round.
        rounds: how many to play.

    Returns:
        The misses of the targets, or -1 - (what :func:`play` returns for a bad offer or answer), after which it stops.
    """
    misses, default, no_stop = 0, arrays.plays[0, :0], memory[:0]
    for _ in range(rounds):
        arm, reward = int(results[0, RoundResult.ARM]), results[0, RoundResult.REWARD]
        for b in range(offers.shape[1]):
            offers[0, b] = 0.0
        target = rule(memory, arrays.plays[0], arrays.arms[0, ArmRow.PRINCIPAL_SUM], arm, reward, offers[0])
        bad = play(arrays, linear, offers, default, default, no_stop, results)
        if bad >= 0:
            return -1 - bad
        if target >= 0 and target != results[0, RoundResult.ARM]:
            misses += 1
    return misses
