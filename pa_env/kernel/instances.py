"""Instances drawn from a family, and how an episode begins."""

import math
from enum import IntEnum

import numpy as np

from pa_env.kernel.compiling import compiled, inlined_part, part
from pa_env.kernel.draws import draw, normals, place, uniform
from pa_env.kernel.layout import (
    BLOCKS,
    OVERALL,
    AgentArrays,
    ArmRow,
    Arrays,
    Exploring,
    Flags,
    Floats,
    LinearArrays,
    Records,
    Stream,
    SummaryBlock,
)
from pa_env.kernel.other_agents import begin_types

MINIMAX_C = 0.5  # the gap of the family minimax is so many sqrt(K/T)


class Family(IntEnum):
    """Families of instances; :mod:`pa_env.instances` says what each is."""

    GIVEN = 0  # the instance is in the arrays already
    UNIFORM = 1
    MISALIGNED = 2
    GAP = 3
    CLUSTERED = 4
    UNIT_BALL = 5
    MINIMAX = 6


@part
def draw_means(arrays: Arrays, i: int, family: int) -> None:
    """Draw theta and mu of copy ``i`` from an i.i.d. family."""
    arms, key, at = arrays.arms, arrays.state[i].episode_key, place(Stream.INSTANCE, 1)
    n_arms = arms.shape[2]
    for a in range(n_arms):
        u, v = uniform(key, at + 2 * a), uniform(key, at + 2 * a + 1)
        if family == Family.GAP:
            best = a == int(uniform(key, at + 2 * n_arms) * n_arms)
            u = 0.2 + 0.4 * u
            v = 0.8 - u + (0.1 if best else 0.0)
            u += 0.1 if best else 0.0
        elif family == Family.MINIMAX:
            best = a == int(uniform(key, at + 2 * n_arms) * n_arms)
            u = 0.25 + 0.5 * u
            v = 1.0 - u
            u += min(0.25, MINIMAX_C * math.sqrt(n_arms / arrays.rules[0].horizon)) if best else 0.0
        elif family == Family.CLUSTERED:
            centre = at + 2 * n_arms + 2 * int(uniform(key, at + 2 * n_arms + 6 + a) * 3)
            u = 0.05 + 0.9 * uniform(key, centre) + 0.1 * (u - 0.5)
            v = 0.05 + 0.9 * uniform(key, centre + 1) + 0.1 * (v - 0.5)
        arms[i, ArmRow.THETA, a], arms[i, ArmRow.MU, a] = u, v
    if family == Family.MISALIGNED:  # the arm with the r-th largest theta gets the r-th smallest mu
        for a in range(n_arms):
            rank = 0
            for b in range(n_arms):
                before = arms[i, ArmRow.MU, b] < arms[i, ArmRow.MU, a]
                rank += before or (arms[i, ArmRow.MU, b] == arms[i, ArmRow.MU, a] and b < a)
            arms[i, ArmRow.MEAN, rank] = arms[i, ArmRow.MU, a]  # sorted
        for a in range(n_arms):
            rank = 0
            for b in range(n_arms):
                before = arms[i, ArmRow.THETA, b] > arms[i, ArmRow.THETA, a]
                rank += before or (arms[i, ArmRow.THETA, b] == arms[i, ArmRow.THETA, a] and b < a)
            arms[i, ArmRow.MU, a] = arms[i, ArmRow.MEAN, rank]


@part
def draw_linear(arrays: Arrays, linear: LinearArrays, i: int) -> None:
    """Draw the arms, s and nu of copy ``i`` uniformly from the unit ball."""
    n_arms, dim = linear.vectors.shape[1:]
    key, at = arrays.state[i].episode_key, place(Stream.INSTANCE, 1)
    for a in range(n_arms + 2):
        vectors, row = (linear.vectors, a) if a < n_arms else (linear.parameters, a - n_arms)
        square = 0.0
        for k in range(dim):
            vectors[i, row, k] = normals(draw(key, at + a * (dim + 1) + k))[0]
            square += vectors[i, row, k] ** 2
        scale = uniform(key, at + a * (dim + 1) + dim) ** (1.0 / dim) / math.sqrt(square)
        for k in range(dim):
            vectors[i, row, k] *= scale


@part
def begin_linear(arrays: Arrays, linear: LinearArrays, i: int, initial: Floats) -> None:
    """Forget what was learned, and compute the means and first beliefs of the arms.

    All are computed here, so that an instance taken from a game and given again has the same last digits.
    """
    arms, (n_arms, dim) = arrays.arms, linear.vectors.shape[1:]
    for j in range(dim):
        linear.moment[i, j] = linear.estimate[i, j] = 0.0
        for k in range(dim):
            linear.basis[i, j, k] = linear.gram[i, j, k] = linear.factor[i, j, k] = 0.0
    for a in range(n_arms):
        arms[i, ArmRow.MU, a] = arms[i, ArmRow.THETA, a] = arms[i, ArmRow.AGENT_SUM, a] = 0.0
        for k in range(dim):
            arms[i, ArmRow.MU, a] += linear.vectors[i, a, k] * linear.parameters[i, 0, k]
            arms[i, ArmRow.THETA, a] += linear.vectors[i, a, k] * linear.parameters[i, 1, k]
            arms[i, ArmRow.AGENT_SUM, a] += initial[k] * linear.vectors[i, a, k]


@compiled
def begin(arrays: Arrays, which: Flags, family: int, initial: Floats, memory: Floats) -> None:
    """Begin the next episode of some copies.

    Args:
        arrays: the game.
        which: (N,), the copies that begin.
        family: of their instances, a :class:`Family`.
        initial: the agent's means before the first play (K,), or its first estimate of s (d,) when rewards are linear.
        memory: (M,), the agent's before the first round.
    """
    for i in range(which.size):
        if which[i]:
            copy = arrays.state[i]
            copy.episode += 1
            copy.episode_key = draw(copy.key, copy.episode)
            copy.t = copy.arm = copy.rank = copy.type = 0
            copy.level = np.inf
            begin_instance(arrays, arrays.linear, i, family, initial)
            begin_copy(arrays, i)
            begin_agent(arrays, arrays.exploring, arrays.agent, i, memory)


@inlined_part
def begin_instance(arrays: Arrays, linear: LinearArrays | None, i: int, family: int, initial: Floats) -> None:
    """Draw an instance unless it is given, and write the agent's initial means."""
    if linear is None:
        if family != Family.GIVEN:
            draw_means(arrays, i, family)
        for a in range(initial.size):
            arrays.arms[i, ArmRow.AGENT_SUM, a] = initial[a]
    else:
        if family != Family.GIVEN:
            draw_linear(arrays, linear, i)
        begin_linear(arrays, linear, i, initial)


@inlined_part
def begin_agent(
    arrays: Arrays, exploring: Records[Exploring] | None, agent: AgentArrays | None, i: int, memory: Floats
) -> None:
    """Set what the agent of copy ``i`` remembers besides its means."""
    if exploring is not None:
        exploring[i].cursor = exploring[i].piece_end = 0
    if agent is not None:
        for k in range(memory.size):
            agent.memory[i, k] = memory[k]
        if arrays.rules[0].n_types > 0:
            begin_types(arrays, agent, i)


@part
def begin_copy(arrays: Arrays, i: int) -> None:
    """Set the beliefs, counts, sums and summary of copy ``i`` before the first round."""
    arms, n_arms = arrays.arms, arrays.arms.shape[2]
    highest = joint = -np.inf
    for a in range(n_arms):
        highest = max(highest, arms[i, ArmRow.MU, a])
        joint = max(joint, arms[i, ArmRow.MU, a] + arms[i, ArmRow.THETA, a])
        believed = ArmRow.MU if arrays.rules[0].knows else ArmRow.AGENT_SUM
        arms[i, ArmRow.MEAN, a] = arms[i, believed, a]
        arms[i, ArmRow.PRINCIPAL_SUM, a] = 0.0
        arrays.plays[i, a] = 0
    arrays.state[i].benchmark = joint - highest
    for k in range(arrays.totals.shape[2]):
        arrays.totals[i, 0, k] = arrays.totals[i, 1, k] = 0.0
    if arrays.summary.size > 0:
        for k in range(BLOCKS * n_arms + OVERALL):
            accepted = k // n_arms == SummaryBlock.ACCEPTED
            arrays.summary[i, k] = arrays.rules[0].max_incentive if accepted else 0.0
