"""How the built-in agents answer an offer; :mod:`pa_env.agents` says what each of them is."""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from pa_env.compiling import compiled, inlined
from pa_env.kernel.draws import draw, normals, place, uniform
from pa_env.layout import (
    NO_ARM,
    Arrays,
    Exploration,
    Floats,
    Integers,
    Row,
    Scratch,
    Stream,
    Ties,
)


class Kind(IntEnum):
    """Kinds of agents. The first three are greedy on ``Row.MEAN``: learned, the true means, or a Python object's."""

    LEARNER = 0
    ORACLE = 1
    PYTHON = 2  # its arms come from the user's object, as forced arms
    UCB = 3
    THOMPSON = 4
    EXP3 = 5


class Answer(NamedTuple):
    """An agent's answer to an offer, and what the scores need of the same loop over the arms."""

    arm: int
    best: float  # max_b muhat_b + pi_b
    highest: float  # max_b muhat_b
    joint: float  # max_b muhat_b + theta_b
    offered: float  # sum of pi_b


# ----------------------------------------------------------------------------------------- exploration


@inlined
def exploration_probability(c0: float, t: int) -> float:
    """p_t = min(1, c0 sqrt(log(2t) / t)), t = 1, 2, ..."""
    return min(1.0, c0 * math.sqrt(math.log(2.0 * t) / t))


@inlined
def explores(arrays: Arrays, i: int) -> bool:
    """Whether the agent of copy ``i`` explores in the round to come."""
    t = arrays.state[i].t + 1
    drawn = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, t))
    return drawn < exploration_probability(arrays.rules[0].c0, t)


@inlined
def rounds_before_exploring(arrays: Arrays, i: int, most: int) -> int:
    """How many of the next ``most`` rounds, the first taken as settled, pass before the agent explores.

    p_t falls with t, so one comparison with its value at the second of them settles nearly every round.
    """
    c0, key, t = arrays.rules[0].c0, arrays.state[i].episode_key, arrays.state[i].t + 2
    at = place(Stream.EXPLORE, t)
    bound = exploration_probability(c0, t) * (1.0 + 1e-12)
    for j in range(most - 1):
        arrays.scratch[Scratch.EXPLORE, j] = uniform(key, at + j)
    passed = most
    for j in range(most - 1):
        drawn = arrays.scratch[Scratch.EXPLORE, j]
        if drawn < bound and drawn < exploration_probability(c0, t + j):
            passed = j + 1
            break
    return passed


@compiled
def explored_arm(arrays: Arrays, offers: Floats, i: int, best: float) -> int:
    """The arm of an agent that explores: one that does not maximise, or NO_ARM where all of them do."""
    arms, n_arms, exploration = arrays.arms, offers.shape[1], arrays.rules[0].exploration
    others = 0
    for b in range(n_arms):
        others += arms[i, Row.MEAN, b] + offers[i, b] < best
    nth = int(uniform(arrays.state[i].episode_key, place(Stream.EXPLORE_ARM, arrays.state[i].t + 1)) * others)
    first = arrays.state[i].cursor if exploration == Exploration.ROUND_ROBIN else 0
    arm = NO_ARM
    for step in range(n_arms):
        b = (first + step) % n_arms
        if arms[i, Row.MEAN, b] + offers[i, b] >= best:
            continue
        if exploration == Exploration.UNIFORM:
            if nth == 0:
                return b
            nth -= 1
        elif exploration == Exploration.WORST:
            if arm < 0 or arms[i, Row.THETA, b] - offers[i, b] < arms[i, Row.THETA, arm] - offers[i, arm]:
                arm = b
        elif exploration == Exploration.ROUND_ROBIN or exploration == Exploration.FIXED_ARM + b:
            return b
    return arm


# ----------------------------------------------------------------------------------------- greedy agents


@compiled
def break_tie(arrays: Arrays, offers: Floats, i: int, best: float) -> int:
    """The maximiser that the tie rule picks."""
    arms, rule, n_ties = arrays.arms, arrays.rules[0].ties, 0
    for b in range(offers.shape[1]):
        n_ties += arms[i, Row.MEAN, b] + offers[i, b] == best
    nth = int(uniform(arrays.state[i].episode_key, place(Stream.TIE, arrays.state[i].t + 1)) * n_ties)
    arm = NO_ARM
    for b in range(offers.shape[1]):
        if arms[i, Row.MEAN, b] + offers[i, b] == best:
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
    highest, offered = arms[i, Row.MEAN, 0], offers[i, 0]
    best, joint, arm = highest + offered, highest + arms[i, Row.THETA, 0], 0
    for b in range(1, offers.shape[1]):
        mean = arms[i, Row.MEAN, b]
        value = mean + offers[i, b]
        offered += offers[i, b]
        highest = max(highest, mean)
        joint = max(joint, mean + arms[i, Row.THETA, b])
        if value > best:
            best = value
            arm = b
    if arrays.rules[0].ties != Ties.LOWEST:
        arm = break_tie(arrays, offers, i, best)
    return Answer(arm, best, highest, joint, offered)


# ----------------------------------------------------------------------------------------- agents with low regret


@compiled
def exp3_softmax(arrays: Arrays, offers: Floats, i: int) -> tuple[float, float, float]:
    """EXP3's softmax of what t rounds at this offer would bring: its rate, the highest of these, the sum of weights."""
    gains, n_arms, t = arrays.gains, offers.shape[1], arrays.state[i].t + 1
    rate = math.sqrt(math.log(n_arms) / (n_arms * t))
    highest, total = -np.inf, 0.0
    for b in range(n_arms):
        highest = max(highest, gains[i, b] + t * offers[i, b])
    for b in range(n_arms):
        total += math.exp(rate * (gains[i, b] + t * offers[i, b] - highest))
    return rate, highest, total


@compiled
def exp3_probability(arrays: Arrays, offers: Floats, i: int, arm: int, softmax: tuple[float, float, float]) -> float:
    """The probability that EXP3 plays an arm now: that of its softmax, mixed with the uniform one."""
    n_arms, t = offers.shape[1], arrays.state[i].t + 1
    rate, highest, total = softmax
    mixed = min(1.0, n_arms * rate)
    own = math.exp(rate * (arrays.gains[i, arm] + t * offers[i, arm] - highest))
    return (1.0 - mixed) * own / total + mixed / n_arms


@compiled
def exp3_learn(arrays: Arrays, offers: Floats, i: int, arm: int, reward: float) -> None:
    """Add a reward to the gains of its arm, divided by the probability with which the arm was played."""
    softmax = exp3_softmax(arrays, offers, i)
    arrays.gains[i, arm] += reward / exp3_probability(arrays, offers, i, arm, softmax)


@compiled
def exp3_arm(arrays: Arrays, offers: Floats, i: int) -> int:
    """What EXP3 plays."""
    left = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, arrays.state[i].t + 1))
    softmax = exp3_softmax(arrays, offers, i)  # once: its sum is over all arms
    for b in range(offers.shape[1] - 1):
        left -= exp3_probability(arrays, offers, i, b, softmax)
        if left < 0.0:
            return b
    return offers.shape[1] - 1


@compiled
def index_arm(arrays: Arrays, offers: Floats, i: int) -> int:
    """What UCB or Thompson sampling plays."""
    key, t = arrays.state[i].episode_key, arrays.state[i].t + 1
    arm, best = 0, -np.inf
    for b in range(offers.shape[1]):
        index, n = arrays.arms[i, Row.MEAN, b] + offers[i, b], arrays.plays[i, b]
        if arrays.rules[0].kind == Kind.THOMPSON:
            round_key = draw(key, place(Stream.EXPLORE_ARM, t))
            index += normals(draw(round_key, b + 1))[0] / math.sqrt(n + 1.0)
        elif n == 0:
            index = np.inf
        else:
            index += math.sqrt(2.0 * math.log(t) / n)
        if index > best:
            arm, best = b, index
    return arm


# ----------------------------------------------------------------------------------------- the decision


@inlined
def repeats(arrays: Arrays) -> bool:
    """Whether the agent repeats a winning arm for as long as it wins, so that many rounds can be drawn ahead."""
    kind = arrays.rules[0].kind
    return kind == Kind.LEARNER or kind == Kind.ORACLE


@inlined
def decide(arrays: Arrays, offers: Floats, i: int) -> Answer:
    """The answer of copy ``i``'s agent to its offer in the round to come; nothing moves."""
    answer = greedy(arrays, offers, i)
    arm, kind = answer.arm, arrays.rules[0].kind
    if kind == Kind.EXP3:
        arm = exp3_arm(arrays, offers, i)
    elif kind == Kind.UCB or kind == Kind.THOMPSON:
        arm = index_arm(arrays, offers, i)
    elif arrays.rules[0].c0 > 0.0 and explores(arrays, i):
        explored = explored_arm(arrays, offers, i, answer.best)
        arm = explored if explored >= 0 else arm
    return Answer(arm, answer.best, answer.highest, answer.joint, answer.offered)


@compiled
def ask(arrays: Arrays, offers: Floats, answers: Integers) -> int:
    """Put into ``answers`` (N,) the arm that each agent will play on its offer; the game does not move.

    Returns the flat index of a bad offer, and answers nothing, or -1.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    if bad < 0:
        for i in range(offers.shape[0]):
            answers[i] = decide(arrays, offers, i).arm
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
def random_offers(arrays: Arrays, offers: Floats) -> None:
    """A random amount on a random arm, for each copy: the default principal of the agent's seat."""
    for i in range(offers.shape[0]):
        for b in range(offers.shape[1]):
            offers[i, b] = 0.0
        key, at = arrays.state[i].episode_key, place(Stream.OFFER, 2 * arrays.state[i].t + 1)
        arm = int(uniform(key, at) * offers.shape[1])
        offers[i, arm] = uniform(key, at + 1) * arrays.rules[0].max_incentive
