"""What the best offer for an agent's true choice law would earn, and the sums of all scores.

R_T compares with the best offer for a greedy agent that has the same beliefs. Against an agent that does not maximise
it may be negative: the principal earns more from an agent that errs towards its favourite arms than from a greedy one.
The score ``regret_response`` compares with the best offer for the agent's own law in each round instead, so that its
expectation in a round, given the past, is at least 0, exact ties of exploring agents aside:

- greedy agents (also those of types, and UCB with its indices for means): max_a theta_a - pi*_a, as in R_T;
- exploring agents: max_a (1 - p_t)(theta_a - pi*_a) + p_t x (what exploration earns while a is the maximiser), over
  offers with one maximiser: an offer with exact ties would keep the agent from exploring the tied arms. From
  round 128 on p_t is interpolated, with a relative error below 1e-7;
- logit agents: max over pi of sum_a P(a | pi)(theta_a - pi_a), see :func:`logit_response`;
- NaN where the law, or its best response, is not known: Thompson sampling, EXP3, trained agents, users' own agents
  and those called like them (``hedge``, ``holdout``), and exploration by a user's own function.
"""

import math
from typing import NamedTuple

import numpy as np

from pa_env.kernel.agents import exploration_probability
from pa_env.kernel.compiling import compiled, inlined_part, part
from pa_env.kernel.layout import (
    NO_ARM,
    SUMS,
    AgentArrays,
    ArmRow,
    Arrays,
    Exploration,
    Exploring,
    Floats,
    Records,
    Score,
)
from pa_env.kernel.other_agents import Kind, ucb_bonus

LONGEST_PIECE = 256  # largest number of rounds over which p_t is interpolated
STEPS = 8  # of the search for a price, per temperature
MOST_STEPS = 4000
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@compiled
def sum_scores(arrays: Arrays, i: int, sums: Floats) -> None:
    """Write every score of copy ``i`` so far; NaN where it is not defined."""
    for k in range(SUMS):
        sums[k] = arrays.totals[i, 0, k] + arrays.totals[i, 1, k]
    sums[Score.REGRET_FIXED] = np.nan
    complete_scores(arrays, arrays.exploring, arrays.agent, i, sums)


@inlined_part
def complete_scores(
    arrays: Arrays, exploring: Records[Exploring] | None, agent: AgentArrays | None, i: int, sums: Floats
) -> None:
    """Write the scores that depend on the agent's law."""
    kind, rules = arrays.rules[0].kind, arrays.rules[0]
    if kind == Kind.PYTHON or rules.explore > 0:
        sums[Score.REGRET_RESPONSE] = np.nan
    elif exploring is None:
        if rules.maximises:
            sums[Score.REGRET_RESPONSE] = sums[Score.REGRET]
    if agent is not None:
        if rules.choose > 0 or kind == Kind.THOMPSON or kind == Kind.EXP3:
            sums[Score.REGRET_RESPONSE] = np.nan
        if kind == Kind.TYPES:
            sums[Score.REGRET_FIXED] = fixed_benchmark(arrays, agent, i) - sums[Score.EXPECTED_UTILITY]


@inlined_part
def add_other_response(arrays: Arrays, agent: AgentArrays | None, i: int, net: float) -> None:
    """Add a round of an agent that is not greedy in which theta_A - pi_A was ``net``, before it learns from it."""
    if agent is not None:
        if arrays.rules[0].temperature > 0.0:
            arrays.totals[i, 1, Score.REGRET_RESPONSE] += logit_response(arrays, i) - net
        elif arrays.rules[0].kind == Kind.UCB:
            arrays.totals[i, 1, Score.REGRET_RESPONSE] += ucb_response(arrays, i) - net


@part
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


@inlined_part
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


@part
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


class Ahead(NamedTuple):
    """What the best response to an exploring agent depends on while one arm keeps winning."""

    size: int  # for how many rounds it holds
    piece: int  # p_t = chance + x (slope + x curve), x = t - piece
    chance: float
    slope: float
    curve: float
    worth: float  # what exploration earns while the arm played is the maximiser
    joint: float  # muhat + theta of the best of the other arms
    other: float  # what exploration earns while that one is the maximiser


@inlined_part
def look_ahead(arrays: Arrays, exploring: Records[Exploring] | None, i: int, arm: int, size: int) -> Ahead:
    """What :func:`response_of` needs for the next rounds, at most ``size``, in which ``arm`` is played.

    Only the mean of the arm played moves. While the best of the other arms is the same at both ends of some rounds, it
    is the best between them too, because what an arm earns is linear in p.
    """
    if exploring is None:
        return Ahead(size, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    t = arrays.state[i].t + 1
    if not exploring[i].piece <= t < exploring[i].piece_end:
        find_chance(arrays, exploring, i, t)
    return rivals_ahead(arrays, exploring, i, arm, size)


@inlined_part
def response_of(ahead: Ahead, t: int, joint: float, highest: float, net: float) -> float:
    """A round's part of regret_response, if the agent explores.

    Args:
        ahead: from :func:`look_ahead`.
        t: the round.
        joint: theta + muhat of the arm played, before the agent learns.
        highest: max_b muhat_b.
        net: theta_A - pi_A.
    """
    since = float(t - ahead.piece)
    p = ahead.chance + since * (ahead.slope + since * ahead.curve)
    here, there = (1.0 - p) * joint + p * ahead.worth, (1.0 - p) * ahead.joint + p * ahead.other
    return max(here, there) - (1.0 - p) * highest - net


@part
def find_chance(arrays: Arrays, exploring: Records[Exploring], i: int, t: int) -> None:
    """Store p_t on the piece of rounds around round t: a parabola through its ends and its middle.

    Pieces are 1/64 of their first round long or shorter, and begin at a multiple of their length.
    """
    length = 1
    while length < LONGEST_PIECE and t >= 128 * length:
        length *= 2
    copy, c0, exponent = exploring[i], arrays.rules[0].c0, arrays.rules[0].exponent
    first = t - t % length
    copy.piece, copy.piece_end = first, first + length
    copy.chance, copy.slope, copy.curve = exploration_probability(c0, exponent, first), 0.0, 0.0
    if length > 1:
        middle = exploration_probability(c0, exponent, first + length // 2) - copy.chance
        end = exploration_probability(c0, exponent, first + length) - copy.chance
        copy.slope, copy.curve = (4.0 * middle - end) / length, (2.0 * end - 4.0 * middle) / length**2


@part
def rivals_ahead(arrays: Arrays, exploring: Records[Exploring], i: int, arm: int, size: int) -> Ahead:
    """The arms that compete for the best response with ``arm`` in the next rounds, at most ``size``."""
    copy, arms, n_arms, t = exploring[i], arrays.arms, arrays.arms.shape[2], arrays.state[i].t + 1
    uniform = arrays.rules[0].exploration == Exploration.UNIFORM and n_arms > 1
    stops = arrays.rules[0].exploration >= Exploration.FIXED_ARM or n_arms == 1  # exploration stops at one of the arms
    size = 1 if stops else min(size, copy.piece_end - t)
    order = (NO_ARM, NO_ARM) if uniform else explored_order(arrays, exploring, i)
    x, y, theta_sum, highest = t - copy.piece, t - copy.piece + size - 1, 0.0, -np.inf
    p, q = copy.chance + x * (copy.slope + x * copy.curve), copy.chance + y * (copy.slope + y * copy.curve)
    for b in range(n_arms):
        theta_sum += arms[i, ArmRow.THETA, b]
        highest = max(highest, arms[i, ArmRow.MEAN, b])
    best = best_last = joint = other = worth = -np.inf
    first = last = NO_ARM
    for b in range(n_arms):
        both = arms[i, ArmRow.THETA, b] + arms[i, ArmRow.MEAN, b]
        explored = both - highest  # if there is nothing to explore, it plays b at the price pi*_b
        if uniform:
            explored = (theta_sum - arms[i, ArmRow.THETA, b]) * (1.0 / (n_arms - 1))
        elif (order[0] if order[0] != b else order[1]) >= 0 and n_arms > 1:
            explored = arms[i, ArmRow.THETA, order[0] if order[0] != b else order[1]]
        if b == arm:
            worth = explored
            continue
        if (1.0 - p) * both + p * explored > best:
            best, first, joint, other = (1.0 - p) * both + p * explored, b, both, explored
        if (1.0 - q) * both + q * explored > best_last:
            best_last, last = (1.0 - q) * both + q * explored, b
    size = size if first == last else 1
    return Ahead(size, copy.piece, copy.chance, copy.slope, copy.curve, worth, joint, other)


@part
def explored_order(arrays: Arrays, exploring: Records[Exploring], i: int) -> tuple[int, int]:
    """The first and second choice of exploration at the best offers, or NO_ARM; not for uniform exploration."""
    arms, n_arms, exploration = arrays.arms, arrays.arms.shape[2], arrays.rules[0].exploration
    first = second = NO_ARM
    if exploration >= Exploration.FIXED_ARM:
        first = exploration - Exploration.FIXED_ARM
    elif exploration == Exploration.ROUND_ROBIN:
        first = exploring[i].cursor % n_arms
        second = (first + 1) % n_arms
    else:  # the principal's worst arm; or the best, to which a tiny incentive leads an agent that follows the target
        sign = 1.0 if exploration == Exploration.WORST else -1.0
        for b in range(n_arms):
            if first < 0 or sign * arms[i, ArmRow.THETA, b] < sign * arms[i, ArmRow.THETA, first]:
                first, second = b, first
            elif second < 0 or sign * arms[i, ArmRow.THETA, b] < sign * arms[i, ArmRow.THETA, second]:
                second = b
    return first, second


# ----------------------------------------------------------------------------------------- a fixed price in hindsight


@part
def fixed_benchmark(arrays: Arrays, agent: AgentArrays, i: int) -> float:
    """What the best fixed price on one arm would have earned in the rounds so far, in expectation.

    A greedy type plays the arm from its threshold on, so the best price is 0 or a threshold (at which it is taken to
    accept: the supremum). Against logit types the price is searched for, in steps of temperature / 8 (4000 at most)
    and then by golden section around the best step.
    """
    arms, memory, n_arms, n_types = arrays.arms, agent.memory, arrays.arms.shape[2], arrays.rules[0].n_types
    temperature, room = arrays.rules[0].temperature, n_types * (n_arms + 2)
    best, lowest = -np.inf, np.inf
    for a in range(n_arms):
        lowest = min(lowest, arms[i, ArmRow.THETA, a])
    for a in range(n_arms):
        note_alternatives(arrays, agent, i, a)
        best = max(best, fixed_value(arrays, agent, i, a, 0.0))
        if temperature == 0.0:
            for j in range(n_types):
                best = max(best, fixed_value(arrays, agent, i, a, max(0.0, memory[i, room + 2 * j])))
        else:  # a price above theta_a - min theta makes the arm worse than any other
            best = max(best, search_price(arrays, agent, i, a, arms[i, ArmRow.THETA, a] - lowest))
    return best


@part
def note_alternatives(arrays: Arrays, agent: AgentArrays, i: int, arm: int) -> None:
    """Store for each type the price at which it is indifferent to an arm, and what the principal gets if it refuses."""
    arms, memory, n_arms, n_types = arrays.arms, agent.memory, arrays.arms.shape[2], arrays.rules[0].n_types
    temperature, room = arrays.rules[0].temperature, n_types * (n_arms + 2)
    for j in range(n_types):
        best, favourite = -np.inf, -1
        for b in range(n_arms):
            if b != arm and memory[i, j * n_arms + b] > best:
                best, favourite = memory[i, j * n_arms + b], b
        worth = arms[i, ArmRow.THETA, favourite] if favourite >= 0 else 0.0
        if temperature > 0.0 and favourite >= 0:
            total = worth = 0.0
            for b in range(n_arms):
                if b != arm:
                    weight = math.exp((memory[i, j * n_arms + b] - best) / temperature)
                    total += weight
                    worth += weight * arms[i, ArmRow.THETA, b]
            best, worth = best + temperature * math.log(total), worth / total
        memory[i, room + 2 * j], memory[i, room + 2 * j + 1] = best - memory[i, j * n_arms + arm], worth


@part
def fixed_value(arrays: Arrays, agent: AgentArrays, i: int, arm: int, price: float) -> float:
    """What a price on one arm would have earned in the rounds so far, in expectation."""
    memory, n_arms, n_types = agent.memory, arrays.arms.shape[2], arrays.rules[0].n_types
    temperature, room = arrays.rules[0].temperature, n_types * (n_arms + 2)
    net, value = arrays.arms[i, ArmRow.THETA, arm] - price, 0.0
    for j in range(n_types):
        threshold, otherwise = memory[i, room + 2 * j], memory[i, room + 2 * j + 1]
        if temperature > 0.0:
            accepts = 1.0 / (1.0 + math.exp((threshold - price) / temperature))
        else:
            accepts = 1.0 if price >= threshold else 0.0
        value += memory[i, n_types * n_arms + j] * (otherwise + accepts * (net - otherwise))
    return value


@part
def search_price(arrays: Arrays, agent: AgentArrays, i: int, arm: int, most: float) -> float:
    """The largest :func:`fixed_value` of a price from 0 to ``most``."""
    steps = min(MOST_STEPS, 1 + int(STEPS * most / arrays.rules[0].temperature))
    step, best, at = most / steps, -np.inf, 0
    for k in range(steps + 1):
        value = fixed_value(arrays, agent, i, arm, k * step)
        if value > best:
            best, at = value, k
    low, high = max(0.0, (at - 1) * step), min(most, (at + 1) * step)
    for _ in range(40):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if fixed_value(arrays, agent, i, arm, left) > fixed_value(arrays, agent, i, arm, right):
            high = right
        else:
            low = left
    return max(best, fixed_value(arrays, agent, i, arm, 0.5 * (low + high)))
