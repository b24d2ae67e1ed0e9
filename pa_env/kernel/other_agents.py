"""Agents that are not greedy on their means: EXP3, UCB, Thompson sampling, logit, types, and users' own functions.

None of this is compiled for a game whose agent is greedy (``Arrays.agent`` is None). ``Kind`` names all agents.
"""

import math
from enum import IntEnum
from typing import Any

import numba
import numpy as np

from pa_env.kernel.compiling import caller, inlined_part, part
from pa_env.kernel.draws import draw, normals, place, uniform
from pa_env.kernel.layout import NO_ARM, AgentArrays, ArmRow, Arrays, Floats, Order, Stream


class Kind(IntEnum):
    """Kinds of agents. The first three are greedy on ``ArmRow.MEAN``: learned, the true means, or a Python object's."""

    LEARNER = 0
    ORACLE = 1
    PYTHON = 2  # its arms come from the user's object, as forced arms
    UCB = 3
    THOMPSON = 4
    EXP3 = 5
    LOGIT = 6
    TYPES = 7  # greedy, or logit with a temperature
    COMPILED = 8  # the user's own functions
    FUNCTIONS = 9  # functions of pa_env, called as the user's are; their answers are arms


GREEDY = (Kind.LEARNER, Kind.ORACLE, Kind.PYTHON)


@part
def other_arm(arrays: Arrays, agent: AgentArrays, offers: Floats, i: int, best: float) -> int:
    """The arm of an agent that does not maximise muhat_b + pi_b, whose maximum is ``best``."""
    arm, kind = NO_ARM, arrays.rules[0].kind
    if kind == Kind.EXP3:
        arm = exp3_arm(arrays, agent, offers, i)
    elif kind == Kind.UCB or kind == Kind.THOMPSON:
        arm = index_arm(arrays, offers, i, kind == Kind.THOMPSON)
    elif kind == Kind.LOGIT or kind == Kind.TYPES:
        arm = logit_arm(arrays, offers, i, best)
    return arm


# ----------------------------------------------------------------------------------------- users' own functions

_FLOATS = numba.float64[::1]
_READ_FLOATS = numba.types.Array(numba.float64, 1, "C", readonly=True)
_READ_INTEGERS = numba.types.Array(numba.int64, 1, "C", readonly=True)
# choose(memory, means, counts, offer, t, u) -> arm writes to memory; learn(memory, means, counts, arm, reward) and
# learn(memory, means, counts, arm, reward, paid) write to memory and means.
CHOOSE = numba.int64(_FLOATS, _READ_FLOATS, _READ_INTEGERS, _READ_FLOATS, numba.int64, numba.float64)
LEARN = numba.void(_FLOATS, _FLOATS, _READ_INTEGERS, numba.int64, numba.float64)
LEARN_PAID = numba.void(*LEARN.args, numba.float64)
BAD_MEANS = NO_ARM - 1  # in place of an arm: the agent's means are not finite
# By address, so that one compiled game serves every such agent.
_choose, _learn, _learn_paid = caller(CHOOSE), caller(LEARN), caller(LEARN_PAID)


@inlined_part
def call_choose(arrays: Arrays, memory: Floats, offers: Floats, i: int, address: Any, u: float) -> int:
    """The answer of the user's function in copy ``i``, or BAD_MEANS."""
    means, finite, answer = arrays.arms[i, ArmRow.MEAN], True, BAD_MEANS
    for b in range(offers.shape[1]):
        finite &= math.isfinite(means[b])
    if finite:
        answer = _choose(address, (memory, means, arrays.plays[i], offers[i], arrays.state[i].t + 1, u))
    return answer


@inlined_part
def own_arm(arrays: Arrays, agent: AgentArrays, offers: Floats, i: int) -> int:
    """The answer of the user's own agent, which may not be an arm."""
    u = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, arrays.state[i].t + 1))
    return call_choose(arrays, agent.memory[i], offers, i, arrays.rules[0].choose, u)


@inlined_part
def own_learn(arrays: Arrays, agent: AgentArrays, i: int, arm: int, reward: float, paid: float) -> None:
    """Tell the agent's function in copy ``i`` what its arm brought; the counts include this round."""
    rules, memory, means, counts = arrays.rules[0], agent.memory[i], arrays.arms[i, ArmRow.MEAN], arrays.plays[i]
    if rules.learn > 0:
        _learn(rules.learn, (memory, means, counts, arm, reward))
    elif rules.learn_paid > 0:
        _learn_paid(rules.learn_paid, (memory, means, counts, arm, reward, paid))


# ----------------------------------------------------------------------------------------- logit


@inlined_part
def logit_arm(arrays: Arrays, offers: Floats, i: int, best: float) -> int:
    """The arm of a logit agent: arm b with a probability proportional to exp((muhat_b + pi_b) / temperature)."""
    arms, scale, total = arrays.arms, 1.0 / arrays.rules[0].temperature, 0.0
    for b in range(offers.shape[1]):
        total += math.exp((arms[i, ArmRow.MEAN, b] + offers[i, b] - best) * scale)
    left = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, arrays.state[i].t + 1)) * total
    arm = NO_ARM
    for b in range(offers.shape[1]):
        weight = math.exp((arms[i, ArmRow.MEAN, b] + offers[i, b] - best) * scale)
        if weight > 0.0:
            arm = b
        left -= weight
        if left < 0.0:
            break
    return arm


# ----------------------------------------------------------------------------------------- agents without regret


@part
def exp3_softmax(arrays: Arrays, agent: AgentArrays, offers: Floats, i: int) -> tuple[float, float, float]:
    """EXP3's softmax of the gains of t rounds at this offer: its rate, the largest gain, the sum of the weights."""
    gains, n_arms, t = agent.memory, offers.shape[1], arrays.state[i].t + 1
    rate = math.sqrt(math.log(n_arms) / (n_arms * t))
    highest, total = -np.inf, 0.0
    for b in range(n_arms):
        highest = max(highest, gains[i, b] + t * offers[i, b])
    for b in range(n_arms):
        total += math.exp(rate * (gains[i, b] + t * offers[i, b] - highest))
    return rate, highest, total


@part
def exp3_probability(
    arrays: Arrays, agent: AgentArrays, offers: Floats, i: int, arm: int, softmax: tuple[float, float, float]
) -> float:
    """The probability that EXP3 plays an arm now: its softmax, mixed with the uniform law."""
    n_arms, t = offers.shape[1], arrays.state[i].t + 1
    rate, highest, total = softmax
    mixed = min(1.0, n_arms * rate)
    weight = math.exp(rate * (agent.memory[i, arm] + t * offers[i, arm] - highest))
    return (1.0 - mixed) * weight / total + mixed / n_arms


@part
def exp3_learn(arrays: Arrays, agent: AgentArrays, offers: Floats, i: int, arm: int, reward: float) -> None:
    """Add a reward to the gains of its arm, divided by the probability with which the arm was played."""
    softmax = exp3_softmax(arrays, agent, offers, i)
    agent.memory[i, arm] += reward / exp3_probability(arrays, agent, offers, i, arm, softmax)


@part
def exp3_arm(arrays: Arrays, agent: AgentArrays, offers: Floats, i: int) -> int:
    """The arm that EXP3 plays."""
    left = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, arrays.state[i].t + 1))
    softmax = exp3_softmax(arrays, agent, offers, i)  # once: its sum is over all arms
    for b in range(offers.shape[1] - 1):
        left -= exp3_probability(arrays, agent, offers, i, b, softmax)
        if left < 0.0:
            return b
    return offers.shape[1] - 1


@inlined_part
def ucb_bonus(n: int, t: int) -> float:
    """What UCB adds to the mean of an arm played n times before round t."""
    return math.sqrt(2.0 * math.log(t) / n) if n > 0 else np.inf


@part
def index_arm(arrays: Arrays, offers: Floats, i: int, samples: bool) -> int:
    """The arm that Thompson sampling plays, or UCB if ``samples`` is False."""
    key, t = arrays.state[i].episode_key, arrays.state[i].t + 1
    arm, best = 0, -np.inf
    for b in range(offers.shape[1]):
        index, n = arrays.arms[i, ArmRow.MEAN, b] + offers[i, b], arrays.plays[i, b]
        if samples:
            round_key = draw(key, place(Stream.EXPLORE_ARM, t))
            index += normals(draw(round_key, b + 1))[0] / math.sqrt(n + 1.0)
        else:
            index += ucb_bonus(n, t)
        if index > best:
            arm, best = b, index
    return arm


# ----------------------------------------------------------------------------------------- types
# A population, one of which answers in each round: the setting of Liu, Maiti, Tajdini, Jamieson & Ratliff (ICML 2025,
# arXiv 2505.23124). The means of the type that answers in the next round are the agent's means and beliefs, so the rest
# of the game does not depend on types. With J types and K arms, a copy's memory holds the means (J, K), then for each
# type the number of rounds in which it answered, what the best offer against it earns, and two numbers for
# :func:`pa_env.kernel.responses.fixed_benchmark`.


def types_memory(n_types: int, n_arms: int) -> int:
    """The number of numbers that a copy keeps."""
    return n_types * (n_arms + 4)


@part
def begin_types(arrays: Arrays, agent: AgentArrays, i: int) -> None:
    """Draw the means of the types if they are not given, and set the type of the first round."""
    memory, n_arms, n_types = agent.memory, arrays.arms.shape[2], arrays.rules[0].n_types
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
    next_type(arrays, agent, i)


@inlined_part
def type_of_round(arrays: Arrays, agent: AgentArrays, i: int, t: int) -> int:
    """The type that answers in round t = 1, 2, ..."""
    n_types, order = arrays.rules[0].n_types, arrays.rules[0].order
    if order == Order.RANDOM:
        new = int(uniform(arrays.state[i].episode_key, place(Stream.EXPLORE_ARM, t)) * n_types)
    elif order == Order.BLOCKS:
        new = (t - 1) * n_types // arrays.rules[0].horizon
    else:
        new = agent.order[(t - 1) % agent.order.size]
    return new


@part
def next_type(arrays: Arrays, agent: AgentArrays, i: int) -> None:
    """Count the round just played, and write the means of the type that answers next."""
    n_arms, n_types, last = arrays.arms.shape[2], arrays.rules[0].n_types, arrays.state[i].type
    if last >= 0:
        agent.memory[i, n_types * n_arms + last] += 1.0
    new = last
    if arrays.state[i].t < arrays.rules[0].horizon:
        new = type_of_round(arrays, agent, i, arrays.state[i].t + 1)
    for a in range(n_arms):
        arrays.arms[i, ArmRow.MU, a] = arrays.arms[i, ArmRow.MEAN, a] = agent.memory[i, new * n_arms + a]
    arrays.state[i].benchmark = agent.memory[i, n_types * (n_arms + 1) + new]
    arrays.state[i].type = new
