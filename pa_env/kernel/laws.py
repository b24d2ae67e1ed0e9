"""How likely each arm is to be played on an offer, where an agent's law is known."""

import math

from pa_env.kernel.agents import Kind, first_bad, greedy
from pa_env.kernel.compiling import compiled
from pa_env.kernel.exploration import exploration_probability, explored_arm
from pa_env.kernel.layout import ArmRow, Arrays, Exploration, Floats, Ties
from pa_env.kernel.low_regret import exp3_probability, exp3_softmax, index_arm


@compiled
def choice_laws(arrays: Arrays, offers: Floats, laws: Floats) -> int:
    """Write into ``laws`` (N, K) how likely each arm is to be played on its copy's offer; the game does not move.

    Returns -1, or the flat index of a bad offer; then nothing is written.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    for i in range(offers.shape[0] if bad < 0 else 0):
        for b in range(offers.shape[1]):
            laws[i, b] = 0.0
        if arrays.rules[0].kind == Kind.EXP3:
            softmax = exp3_softmax(arrays, offers, i)
            for b in range(offers.shape[1]):
                laws[i, b] = exp3_probability(arrays, offers, i, b, softmax)
        elif arrays.rules[0].kind == Kind.UCB:
            laws[i, index_arm(arrays, offers, i, False)] = 1.0
        elif arrays.rules[0].temperature > 0.0:
            logit_law(arrays, offers, i, laws)
        else:
            greedy_law(arrays, offers, i, laws)
    return bad


@compiled
def logit_law(arrays: Arrays, offers: Floats, i: int, laws: Floats) -> None:
    """The law of a logit agent."""
    best, total = greedy(arrays, offers, i).best, 0.0
    for b in range(offers.shape[1]):
        laws[i, b] = math.exp((arrays.arms[i, ArmRow.MEAN, b] + offers[i, b] - best) / arrays.rules[0].temperature)
        total += laws[i, b]
    for b in range(offers.shape[1]):
        laws[i, b] /= total


@compiled
def greedy_law(arrays: Arrays, offers: Floats, i: int, laws: Floats) -> None:
    """The law of an agent that maximises, up to exploration and random ties."""
    rules, answer, others, p = arrays.rules[0], greedy(arrays, offers, i), 0, 0.0
    for b in range(offers.shape[1]):
        others += arrays.arms[i, ArmRow.MEAN, b] + offers[i, b] < answer.best
    explored = explored_arm(arrays, offers, i, answer.best) if rules.c0 > 0.0 else -1
    if explored >= 0:
        p = exploration_probability(rules.c0, rules.exponent, arrays.state[i].t + 1)
    for b in range(offers.shape[1]):
        maximises = arrays.arms[i, ArmRow.MEAN, b] + offers[i, b] == answer.best
        if maximises and rules.ties == Ties.RANDOM:
            laws[i, b] += (1.0 - p) / (offers.shape[1] - others)
        elif b == answer.arm and rules.ties != Ties.RANDOM:
            laws[i, b] += 1.0 - p
        if rules.exploration == Exploration.UNIFORM and not maximises:
            laws[i, b] += p / others
        elif rules.exploration != Exploration.UNIFORM and b == explored:
            laws[i, b] += p
