"""When an exploring agent explores, and which arm it plays then."""

import math

from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import place, uniform
from pa_env.kernel.layout import NO_ARM, ArmRow, Arrays, Exploration, Floats, Scratch, Stream
from pa_env.kernel.own_functions import call_choose


@inlined
def exploration_probability(c0: float, exponent: float, t: int) -> float:
    """p_t = min(1, c0 (log(2t) / t)^exponent), t = 1, 2, ...; it never rises."""
    rate = math.log(2.0 * t) / t
    return min(1.0, c0 * (math.sqrt(rate) if exponent == 0.5 else rate**exponent))


@inlined
def explores(arrays: Arrays, i: int) -> bool:
    """Whether the agent of copy ``i`` explores in the next round."""
    t, rules = arrays.state[i].t + 1, arrays.rules[0]
    drawn = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, t))
    return drawn < exploration_probability(rules.c0, rules.exponent, t)


@inlined
def rounds_before_exploring(arrays: Arrays, i: int, most: int) -> int:
    """How many of the next ``most`` rounds pass before the agent explores; it does not in the first of them.

    p_t falls with t, so a comparison with its value in the second of them is enough for nearly every round.
    """
    c0, exponent = arrays.rules[0].c0, arrays.rules[0].exponent
    key, t = arrays.state[i].episode_key, arrays.state[i].t + 2
    at = place(Stream.EXPLORE, t)
    bound = exploration_probability(c0, exponent, t) * (1.0 + 1e-12)
    for j in range(most - 1):
        arrays.scratch[Scratch.EXPLORE, j] = uniform(key, at + j)
    passed = most
    for j in range(most - 1):
        drawn = arrays.scratch[Scratch.EXPLORE, j]
        if drawn < bound and drawn < exploration_probability(c0, exponent, t + j):
            passed = j + 1
            break
    return passed


@compiled
def explored_arm(arrays: Arrays, offers: Floats, i: int, best: float) -> int:
    """The arm of an agent that explores: one that does not maximise, or NO_ARM if all of them do.

    A user's function may return any arm; the caller checks that it is one.
    """
    arms, n_arms, exploration = arrays.arms, offers.shape[1], arrays.rules[0].exploration
    others = 0
    for b in range(n_arms):
        others += arms[i, ArmRow.MEAN, b] + offers[i, b] < best
    drawn = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE_ARM, arrays.state[i].t + 1))
    if exploration == Exploration.FUNCTION and others == 0:
        return NO_ARM
    if exploration == Exploration.FUNCTION:
        return call_choose(arrays, offers, i, arrays.rules[0].explore, drawn)
    nth = int(drawn * others)
    first = arrays.state[i].cursor if exploration == Exploration.ROUND_ROBIN else 0
    arm = NO_ARM
    for step in range(n_arms):
        b = (first + step) % n_arms
        if arms[i, ArmRow.MEAN, b] + offers[i, b] >= best:
            continue
        if exploration == Exploration.UNIFORM:
            if nth == 0:
                return b
            nth -= 1
        elif exploration == Exploration.WORST:
            if arm < 0 or arms[i, ArmRow.THETA, b] - offers[i, b] < arms[i, ArmRow.THETA, arm] - offers[i, arm]:
                arm = b
        elif exploration == Exploration.TARGET:
            if arm < 0 or offers[i, b] > offers[i, arm]:
                arm = b
        elif exploration == Exploration.ROUND_ROBIN or exploration == Exploration.FIXED_ARM + b:
            return b
    return arm
