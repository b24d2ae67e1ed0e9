"""What the best offer for an agent's true choice law would earn, and the sums of all scores.

R_T compares with the best offer for a greedy agent that has the same beliefs. Against an agent that does not maximise
it may be negative: the principal earns more from an agent that errs towards its favourite arms than from a greedy one.
The score ``regret_response`` compares with the best offer for the agent's own law in each round instead, so that its
expectation in a round, given the past, is never negative:

- greedy agents (also those of types, and UCB with its indices for means): max_a theta_a - pi*_a, as in R_T;
- exploring agents: max_a (1 - p_t)(theta_a - pi*_a) + p_t x (what exploration earns while a is the maximiser), over
  offers with one maximiser: an offer with exact ties would keep the agent from exploring the tied arms. From
  round 128 on p_t is interpolated, with a relative error below 1e-7;
- logit agents: max over pi of sum_a P(a | pi)(theta_a - pi_a), see :func:`logit_response`;
- NaN where the law, or its best response, is not known: Thompson sampling, EXP3, users' own agents, and exploration by
  a user's own function.
"""

import math

import numpy as np

from pa_env.kernel.agents import Kind
from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.exploration import exploration_probability
from pa_env.kernel.layout import NO_ARM, SUMS, ArmRow, Arrays, Exploration, Floats, Score, Scratch
from pa_env.kernel.low_regret import ucb_bonus
from pa_env.kernel.types import fixed_benchmark

LONGEST_PIECE = 256  # largest number of rounds over which p_t is interpolated


@inlined
def has_exploring_response(arrays: Arrays) -> bool:
    """Whether the agent explores in a way that is known."""
    return arrays.rules[0].c0 > 0.0 and arrays.rules[0].exploration != Exploration.FUNCTION


@compiled
def sum_scores(arrays: Arrays, i: int, sums: Floats) -> None:
    """Write every score of copy ``i`` so far; NaN where it is not defined."""
    kind, rules = arrays.rules[0].kind, arrays.rules[0]
    for k in range(SUMS):
        sums[k] = arrays.totals[i, 0, k] + arrays.totals[i, 1, k]
    if kind == Kind.PYTHON or kind == Kind.COMPILED or kind == Kind.THOMPSON or kind == Kind.EXP3 or rules.explore > 0:
        sums[Score.REGRET_RESPONSE] = np.nan
    elif rules.maximises and not has_exploring_response(arrays):
        sums[Score.REGRET_RESPONSE] = sums[Score.REGRET]
    sums[Score.REGRET_FIXED] = np.nan
    if kind == Kind.TYPES:
        sums[Score.REGRET_FIXED] = fixed_benchmark(arrays, i) - sums[Score.EXPECTED_UTILITY]


@compiled
def add_response(arrays: Arrays, i: int, net: float) -> None:
    """Add a round in which theta_A - pi_A was ``net``, before the agent learns from it."""
    if arrays.rules[0].temperature > 0.0:
        arrays.totals[i, 1, Score.REGRET_RESPONSE] += logit_response(arrays, i) - net
    elif arrays.rules[0].kind == Kind.UCB:
        arrays.totals[i, 1, Score.REGRET_RESPONSE] += ucb_response(arrays, i) - net


@compiled
def ucb_response(arrays: Arrays, i: int) -> float:
    """max_a theta_a - (the largest index - the index of a); an arm never played is played whatever is offered."""
    highest = joint = -np.inf
    for b in range(arrays.arms.shape[2]):
        index = arrays.arms[i, ArmRow.MEAN, b] + ucb_bonus(arrays.plays[i, b], arrays.state[i].t + 1)
        if index == np.inf:
            return arrays.arms[i, ArmRow.THETA, b]
        highest = max(highest, index)
        joint = max(joint, index + arrays.arms[i, ArmRow.THETA, b])
    return joint - highest


# ----------------------------------------------------------------------------------------- logit


@inlined
def logit_value(arrays: Arrays, i: int, level: float) -> tuple[float, float]:
    """What the offer max(0, theta_b - level) earns against a logit agent, and how likely a paid arm is played."""
    arms, scale, best = arrays.arms, 1.0 / arrays.rules[0].temperature, -np.inf
    for b in range(arms.shape[2]):
        best = max(best, arms[i, ArmRow.MEAN, b] + max(0.0, arms[i, ArmRow.THETA, b] - level))
    total = worth = paid_for = 0.0
    for b in range(arms.shape[2]):
        theta = arms[i, ArmRow.THETA, b]
        paid = max(0.0, theta - level)
        weight = math.exp((arms[i, ArmRow.MEAN, b] + paid - best) * scale)
        total += weight
        worth += weight * (theta - paid)
        paid_for += weight if paid > 0.0 else 0.0
    return worth / total, paid_for / total


@compiled
def logit_response(arrays: Arrays, i: int) -> float:
    """The largest expected utility of an offer against a logit agent.

    The derivative of V(pi) = sum_a P(a | pi)(theta_a - pi_a) in pi_a is P(a)((theta_a - pi_a - V) / temperature - 1).
    So at the optimum every paid arm has the same profit, m = V + temperature, and pi_a = max(0, theta_a - m). Along
    this curve g(m) = V(m) + temperature - m has the slope P(paid) g(m) / temperature - 1 and one root, found by
    Newton's method within a bracket, starting at the root of the round before. V is flat there: an error of 1e-8
    temperatures in m is one of 1e-16 in V.
    """
    temperature, level, low, high = arrays.rules[0].temperature, arrays.state[i].level, -np.inf, -np.inf
    for b in range(arrays.arms.shape[2]):
        high = max(high, arrays.arms[i, ArmRow.THETA, b] + temperature)
    level = min(level, high)
    best = -np.inf
    for _ in range(100):
        value, paid_for = logit_value(arrays, i, level)
        best = max(best, value)
        gap = value + temperature - level
        if abs(gap) <= 1e-8 * temperature:
            break
        if gap < 0.0:
            high = level
        low = max(low, value + temperature)  # no offer earns more than the best
        slope = 1.0 - paid_for * gap / temperature
        level = level + gap / slope if slope > 0.0 else np.inf
        if not low <= level <= high:
            level = 0.5 * (low + high)
        if high - low <= 1e-9 * temperature:
            break
    arrays.state[i].level = level
    return best


# ----------------------------------------------------------------------------------------- exploration


@compiled
def explored_order(arrays: Arrays, i: int) -> tuple[int, int]:
    """The first and second choice of exploration at the best offers, or NO_ARM; not for uniform exploration."""
    arms, n_arms, exploration = arrays.arms, arrays.arms.shape[2], arrays.rules[0].exploration
    first = second = NO_ARM
    if exploration >= Exploration.FIXED_ARM:
        first = exploration - Exploration.FIXED_ARM
    elif exploration == Exploration.ROUND_ROBIN:
        first = arrays.state[i].cursor % n_arms
        second = (first + 1) % n_arms
    else:  # the principal's worst arm; or the best, to which a tiny incentive leads an agent that follows the target
        sign = 1.0 if exploration == Exploration.WORST else -1.0
        for b in range(n_arms):
            if first < 0 or sign * arms[i, ArmRow.THETA, b] < sign * arms[i, ArmRow.THETA, first]:
                first, second = b, first
            elif second < 0 or sign * arms[i, ArmRow.THETA, b] < sign * arms[i, ArmRow.THETA, second]:
                second = b
    return first, second


@compiled
def find_chance(arrays: Arrays, i: int, t: int) -> None:
    """Store p_t on the piece of rounds around round t: a parabola through its ends and its middle.

    Pieces are 1/64 of their first round long or shorter, and begin at a multiple of their length.
    """
    length = 1
    while length < LONGEST_PIECE and t >= 128 * length:
        length *= 2
    copy, c0, exponent = arrays.state[i], arrays.rules[0].c0, arrays.rules[0].exponent
    first = t - t % length
    copy.piece, copy.piece_end = first, first + length
    copy.chance, copy.slope, copy.curve = exploration_probability(c0, exponent, first), 0.0, 0.0
    if length > 1:
        middle = exploration_probability(c0, exponent, first + length // 2) - copy.chance
        end = exploration_probability(c0, exponent, first + length) - copy.chance
        copy.slope, copy.curve = (4.0 * middle - end) / length, (2.0 * end - 4.0 * middle) / length**2


@compiled
def add_exploring(arrays: Arrays, i: int, arm: int, rounds: int, net: float) -> None:
    """Add rounds in which an exploring agent played ``arm``, before it learns from them.

    Only the mean of the arm played moves. While the best of the other arms is the same at both ends of some rounds, it
    is the best between them too, because what an arm earns is linear in p.

    Args:
        arrays: the game, as it was before these rounds; its scratch holds the means that they began with.
        i: the copy.
        arm: that was played.
        rounds: how many.
        net: theta_A - pi_A of each.
    """
    copy, arms, n_arms = arrays.state[i], arrays.arms, arrays.arms.shape[2]
    uniform = arrays.rules[0].exploration == Exploration.UNIFORM and n_arms > 1
    stops = arrays.rules[0].exploration >= Exploration.FIXED_ARM or n_arms == 1  # exploration stops at one of the arms
    order = (NO_ARM, NO_ARM) if uniform else explored_order(arrays, i)
    theta_sum, rival, share = 0.0, -np.inf, 1.0 / max(1, n_arms - 1)
    for b in range(n_arms):
        theta_sum += arms[i, ArmRow.THETA, b]
        rival = max(rival, arms[i, ArmRow.MEAN, b] if b != arm else -np.inf)
    theta, total, done = arms[i, ArmRow.THETA, arm], arrays.totals[i, 1, Score.REGRET_RESPONSE], 0
    while done < rounds:
        t = copy.t + 1 + done
        if not copy.piece <= t < copy.piece_end:
            find_chance(arrays, i, t)
        size = 1 if stops else min(rounds - done, copy.piece_end - t)
        chance, slope, curve, x = copy.chance, copy.slope, copy.curve, t - copy.piece
        y, mean = x + size - 1, arrays.scratch[Scratch.MEAN, done]
        p, q, top = chance + x * (slope + x * curve), chance + y * (slope + y * curve), max(rival, mean)
        best = best_last = joint = other = own = -np.inf
        found = last = NO_ARM
        for b in range(n_arms):
            both = arms[i, ArmRow.THETA, b] + (mean if b == arm else arms[i, ArmRow.MEAN, b])
            explored = both - top  # if there is nothing to explore, it plays b at the price pi*_b
            if uniform:
                explored = (theta_sum - arms[i, ArmRow.THETA, b]) * share
            elif (order[0] if order[0] != b else order[1]) >= 0 and n_arms > 1:
                explored = arms[i, ArmRow.THETA, order[0] if order[0] != b else order[1]]
            if b == arm:
                own = explored
                continue
            if (1.0 - p) * both + p * explored > best:
                best, found, joint, other = (1.0 - p) * both + p * explored, b, both, explored
            if (1.0 - q) * both + q * explored > best_last:
                best_last, last = (1.0 - q) * both + q * explored, b
        size = size if found == last else 1
        for j in range(size):
            since, mean = float(x + j), arrays.scratch[Scratch.MEAN, done + j]
            p, top = chance + since * (slope + since * curve), max(rival, mean)
            here, there = (1.0 - p) * (theta + mean) + p * own, (1.0 - p) * joint + p * other
            total += max(here, there) - (1.0 - p) * top - net
        done += size
    arrays.totals[i, 1, Score.REGRET_RESPONSE] = total
