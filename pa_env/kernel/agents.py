"""How the built-in agents answer an offer; :mod:`pa_env.scripted_agents` says what each of them is."""

import math
from enum import IntEnum
from typing import NamedTuple

from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import place, uniform
from pa_env.kernel.exploration import explored_arm, explores
from pa_env.kernel.layout import NO_ARM, ArmRow, Arrays, Floats, Integers, Stream, Ties
from pa_env.kernel.low_regret import exp3_arm, index_arm
from pa_env.kernel.own_functions import call_choose


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


class Answer(NamedTuple):
    """An agent's answer to an offer, and what the scores need from the same loop over the arms."""

    arm: int
    best: float  # max_b muhat_b + pi_b
    highest: float  # max_b muhat_b
    joint: float  # max_b muhat_b + theta_b
    offered: float  # sum of pi_b
    deserved: float  # max_b mu_b + pi_b


@compiled
def break_tie(arrays: Arrays, offers: Floats, i: int, best: float) -> int:
    """The maximiser that the tie rule picks."""
    arms, rule, n_ties = arrays.arms, arrays.rules[0].ties, 0
    for b in range(offers.shape[1]):
        n_ties += arms[i, ArmRow.MEAN, b] + offers[i, b] == best
    nth = int(uniform(arrays.state[i].episode_key, place(Stream.TIE, arrays.state[i].t + 1)) * n_ties)
    arm = NO_ARM
    for b in range(offers.shape[1]):
        if arms[i, ArmRow.MEAN, b] + offers[i, b] == best:
            if rule == Ties.RANDOM:
                if nth == 0:
                    return b
                nth -= 1
            elif arm < 0 or rule == Ties.HIGHEST:
                arm = b
            elif rule == Ties.LARGEST_INCENTIVE and offers[i, b] > offers[i, arm]:
                arm = b
    return arm


@inlined
def greedy(arrays: Arrays, offers: Floats, i: int) -> Answer:
    """The maximiser of muhat_b + pi_b."""
    arms = arrays.arms
    highest, offered = arms[i, ArmRow.MEAN, 0], offers[i, 0]
    best, joint, arm = highest + offered, highest + arms[i, ArmRow.THETA, 0], 0
    deserved = arms[i, ArmRow.MU, 0] + offered
    for b in range(1, offers.shape[1]):
        mean = arms[i, ArmRow.MEAN, b]
        value = mean + offers[i, b]
        offered += offers[i, b]
        highest = max(highest, mean)
        joint = max(joint, mean + arms[i, ArmRow.THETA, b])
        deserved = max(deserved, arms[i, ArmRow.MU, b] + offers[i, b])
        if value > best:
            best = value
            arm = b
    if arrays.rules[0].ties != Ties.LOWEST:
        arm = break_tie(arrays, offers, i, best)
    return Answer(arm, best, highest, joint, offered, deserved)


@inlined
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


@inlined
def repeats(arrays: Arrays) -> bool:
    """Whether the agent repeats a winning arm for as long as it wins, so that many rounds can be drawn ahead."""
    kind = arrays.rules[0].kind
    return kind == Kind.LEARNER or kind == Kind.ORACLE


@compiled
def other_arm(arrays: Arrays, offers: Floats, i: int, best: float) -> int:
    """The arm of an agent that does not maximise muhat_b + pi_b, whose maximum is ``best``."""
    arm, kind = NO_ARM, arrays.rules[0].kind
    if kind == Kind.EXP3:
        arm = exp3_arm(arrays, offers, i)
    elif kind == Kind.UCB or kind == Kind.THOMPSON:
        arm = index_arm(arrays, offers, i, kind == Kind.THOMPSON)
    elif kind == Kind.COMPILED:
        drawn = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, arrays.state[i].t + 1))
        arm = call_choose(arrays, offers, i, arrays.rules[0].choose, drawn)
    else:
        arm = logit_arm(arrays, offers, i, best)
    return arm


@inlined
def decide(arrays: Arrays, offers: Floats, i: int) -> Answer:
    """The answer of copy ``i``'s agent to its offer in the next round; the game does not move.

    The answer of a user's own function may not be an arm, see :func:`bad_answer`.
    """
    answer = greedy(arrays, offers, i)
    arm = answer.arm
    if not arrays.rules[0].maximises:
        arm = other_arm(arrays, offers, i, answer.best)
    elif arrays.rules[0].c0 > 0.0 and explores(arrays, i):
        explored = explored_arm(arrays, offers, i, answer.best)
        arm = explored if explored != NO_ARM else arm
    return Answer(arm, answer.best, answer.highest, answer.joint, answer.offered, answer.deserved)


@compiled
def chosen_arm(arrays: Arrays, offers: Floats, i: int) -> int:
    """The arm of :func:`decide`."""
    return decide(arrays, offers, i).arm


@inlined
def uses_own_functions(arrays: Arrays) -> bool:
    """Whether the agent's answers come from a user's functions, which may be wrong."""
    return arrays.rules[0].choose > 0 or arrays.rules[0].explore > 0


@compiled
def bad_answer(arrays: Arrays, offers: Floats, rounds: Integers, forced: Integers) -> int:
    """The first copy in which the answer of the user's function in the next round is not an arm, or -1.

    Args:
        arrays: the game.
        offers: (N, K).
        rounds: (N,), how many rounds each copy plays; empty: one.
        forced: (N,), the arms to play, or NO_ARM where the agent chooses; empty: all agents choose.
    """
    for i in range(offers.shape[0]):
        if (rounds.size == 0 or rounds[i] > 0) and (forced.size == 0 or forced[i] < 0):
            arm = chosen_arm(arrays, offers, i)
            if arm < 0 or arm >= offers.shape[1]:
                return i
    return -1


@compiled
def ask(arrays: Arrays, offers: Floats, answers: Integers) -> int:
    """Write into ``answers`` (N,) the arm that each agent will play on its offer; the game does not move.

    Returns -1, or the flat index of a bad offer, and then nothing is written; or offers.size + N + i if the answer of
    the user's own function in copy i is not an arm.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    if bad < 0:
        for i in range(offers.shape[0]):
            answers[i] = chosen_arm(arrays, offers, i)
            if bad < 0 and not 0 <= answers[i] < offers.shape[1]:
                bad = offers.size + offers.shape[0] + i
    return bad


@inlined
def first_bad(offers: Floats, most: float) -> int:
    """Flat index of the first entry that is not a number in [0, most], or -1."""
    flat = offers.reshape(offers.size)
    fine = True
    for j in range(flat.size):
        fine &= (flat[j] >= 0.0) & (flat[j] <= most)
    bad = -1
    if not fine:
        for j in range(flat.size):
            if not (flat[j] >= 0.0 and flat[j] <= most):
                bad = j
                break
    return bad


@compiled
def find_bad(offers: Floats, most: float) -> int:
    """:func:`first_bad` for Python."""
    return first_bad(offers, most)


@compiled
def random_offers(arrays: Arrays, offers: Floats) -> None:
    """A random amount on a random arm, for each copy: the default principal of the agent's seat."""
    for i in range(offers.shape[0]):
        for b in range(offers.shape[1]):
            offers[i, b] = 0.0
        key, at = arrays.state[i].episode_key, place(Stream.OFFER, 2 * arrays.state[i].t + 1)
        arm = int(uniform(key, at) * offers.shape[1])
        offers[i, arm] = uniform(key, at + 1) * arrays.rules[0].max_incentive
