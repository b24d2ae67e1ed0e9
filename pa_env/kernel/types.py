"""Types of agents: a population, one of which answers in each round, and the regret against a fixed price.

The setting of Liu, Maiti, Tajdini, Jamieson & Ratliff (ICML 2025, arXiv 2505.23124). The means of the type that answers
in the next round are the agent's means and beliefs, so the rest of the game does not depend on types.

With J types and K arms, a copy's memory holds the means (J, K), then for each type the number of rounds in which it
answered, what the best offer against it earns, and two numbers for :func:`fixed_benchmark`.
"""

import math

import numpy as np

from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import draw, place, uniform
from pa_env.kernel.layout import ArmRow, Arrays, Order, Stream

STEPS = 8  # of the price search per temperature
MOST_STEPS = 4000
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def types_memory(n_types: int, n_arms: int) -> int:
    """How many numbers a copy keeps."""
    return n_types * (n_arms + 4)


@compiled
def begin_types(arrays: Arrays, i: int) -> None:
    """Draw the means of the types if they are not given, and set the type of the first round."""
    memory, n_arms, n_types = arrays.memory, arrays.arms.shape[2], arrays.rules[0].n_types
    key = draw(arrays.state[i].episode_key, place(Stream.INSTANCE, 2**39))  # a family's own draws are far below
    for j in range(n_types):
        highest = joint = -np.inf
        for a in range(n_arms):
            if arrays.rules[0].draws_types:
                memory[i, j * n_arms + a] = uniform(key, 1 + j * n_arms + a)
            highest = max(highest, memory[i, j * n_arms + a])
            joint = max(joint, memory[i, j * n_arms + a] + arrays.arms[i, ArmRow.THETA, a])
        memory[i, n_types * (n_arms + 1) + j] = joint - highest
    arrays.state[i].type = -1
    next_type(arrays, i)


@inlined
def type_of_round(arrays: Arrays, i: int, t: int) -> int:
    """The type that answers in round t = 1, 2, ..."""
    n_types, order = arrays.rules[0].n_types, arrays.rules[0].order
    if order == Order.RANDOM:
        found = int(uniform(arrays.state[i].episode_key, place(Stream.EXPLORE_ARM, t)) * n_types)
    elif order == Order.BLOCKS:
        found = (t - 1) * n_types // arrays.rules[0].horizon
    else:
        found = arrays.order[(t - 1) % arrays.order.size]
    return found


@inlined
def next_type(arrays: Arrays, i: int) -> None:
    """Count the round just played, and write the means of the type that answers next."""
    n_arms, n_types, last = arrays.arms.shape[2], arrays.rules[0].n_types, arrays.state[i].type
    if last >= 0:
        arrays.memory[i, n_types * n_arms + last] += 1.0
    new = last
    if arrays.state[i].t < arrays.rules[0].horizon:
        new = type_of_round(arrays, i, arrays.state[i].t + 1)
    if new != last:
        for a in range(n_arms):
            arrays.arms[i, ArmRow.MU, a] = arrays.arms[i, ArmRow.MEAN, a] = arrays.memory[i, new * n_arms + a]
        arrays.state[i].benchmark = arrays.memory[i, n_types * (n_arms + 1) + new]
        arrays.state[i].type = new


# ----------------------------------------------------------------------------------------- in hindsight


@compiled
def fixed_benchmark(arrays: Arrays, i: int) -> float:
    """What the best fixed price on one arm would have earned in the rounds so far, in expectation.

    A greedy type plays the arm from its threshold on, so the best price is 0 or a threshold (at which it is taken to
    accept: the supremum). Against logit types the price is searched for, in steps of temperature / 8 (4000 at most)
    and then by golden section around the best step.
    """
    arms, memory, n_arms, n_types = arrays.arms, arrays.memory, arrays.arms.shape[2], arrays.rules[0].n_types
    temperature, room = arrays.rules[0].temperature, n_types * (n_arms + 2)
    best, lowest = -np.inf, np.inf
    for a in range(n_arms):
        lowest = min(lowest, arms[i, ArmRow.THETA, a])
    for a in range(n_arms):
        note_alternatives(arrays, i, a)
        best = max(best, fixed_value(arrays, i, a, 0.0))
        if temperature == 0.0:
            for j in range(n_types):
                best = max(best, fixed_value(arrays, i, a, max(0.0, memory[i, room + 2 * j])))
        else:  # a price above theta_a - min theta makes the arm worse than any other
            best = max(best, search_price(arrays, i, a, arms[i, ArmRow.THETA, a] - lowest))
    return best


@compiled
def note_alternatives(arrays: Arrays, i: int, arm: int) -> None:
    """Store for each type the price at which it is indifferent to an arm, and what the principal gets if it refuses."""
    arms, memory, n_arms, n_types = arrays.arms, arrays.memory, arrays.arms.shape[2], arrays.rules[0].n_types
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


@compiled
def fixed_value(arrays: Arrays, i: int, arm: int, price: float) -> float:
    """What a price on one arm would have earned in the rounds so far, in expectation."""
    memory, n_arms, n_types = arrays.memory, arrays.arms.shape[2], arrays.rules[0].n_types
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


@compiled
def search_price(arrays: Arrays, i: int, arm: int, most: float) -> float:
    """The largest :func:`fixed_value` of a price from 0 to ``most``."""
    steps = min(MOST_STEPS, 1 + int(STEPS * most / arrays.rules[0].temperature))
    step, best, at = most / steps, -np.inf, 0
    for k in range(steps + 1):
        value = fixed_value(arrays, i, arm, k * step)
        if value > best:
            best, at = value, k
    low, high = max(0.0, (at - 1) * step), min(most, (at + 1) * step)
    for _ in range(40):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if fixed_value(arrays, i, arm, left) > fixed_value(arrays, i, arm, right):
            high = right
        else:
            low = left
    return max(best, fixed_value(arrays, i, arm, 0.5 * (low + high)))
