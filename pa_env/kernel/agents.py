"""How the agents answer an offer: greedily on their means, exploring, or as :mod:`pa_env.kernel.other_agents` says.

:mod:`pa_env.scripted_agents` says what each of them is.
"""

import math
from typing import NamedTuple

from pa_env.kernel.compiling import compiled, inlined_part, part
from pa_env.kernel.draws import GAMMA, fraction, output, place, state_at, uniform
from pa_env.kernel.layout import (
    NO_ARM,
    AgentArrays,
    ArmRow,
    Arrays,
    Copy,
    Exploration,
    Exploring,
    Floats,
    Integers,
    Records,
    Rules,
    Scratch,
    Stream,
    Ties,
)
from pa_env.kernel.other_agents import (
    Kind,
    call_choose,
    exp3_probability,
    exp3_softmax,
    index_arm,
    other_arm,
    own_arm,
)


class Answer(NamedTuple):
    """An agent's answer to an offer, and what the scores need from the same loop over the arms."""

    arm: int
    best: float  # max_b muhat_b + pi_b
    highest: float  # max_b muhat_b
    joint: float  # max_b muhat_b + theta_b
    offered: float  # sum of pi_b
    deserved: float  # max_b mu_b + pi_b


@inlined_part
def decide(arrays: Arrays, offers: Floats, i: int) -> Answer:
    """The answer of copy ``i``'s agent to its offer in the next round; the game does not move.

    The answer of a user's own function may not be an arm, see :func:`bad_answer`.
    """
    answer = greedy(arrays, offers, i)
    arm = deviate(arrays, arrays.exploring, arrays.agent, offers, i, answer)
    return Answer(arm, answer.best, answer.highest, answer.joint, answer.offered, answer.deserved)


@inlined_part
def deviate(
    arrays: Arrays,
    exploring: Records[Exploring] | None,
    agent: AgentArrays | None,
    offers: Floats,
    i: int,
    answer: Answer,
) -> int:
    """The arm that is played: the greedy answer's, unless the agent explores or does not maximise."""
    arm = answer.arm
    if exploring is not None:
        if explores(arrays, i):
            explored = explored_arm(arrays, exploring, offers, i, answer.best)
            arm = explored if explored != NO_ARM else arm
    if agent is not None:
        if arrays.rules[0].choose > 0:
            arm = own_arm(arrays, agent, offers, i)
        elif not arrays.rules[0].maximises:
            arm = other_arm(arrays, agent, offers, i, answer.best)
    return arm


# ----------------------------------------------------------------------------------------- greedy


@inlined_part
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


@part
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


# ----------------------------------------------------------------------------------------- exploration


@inlined_part
def exploration_probability(c0: float, exponent: float, t: int) -> float:
    """p_t = min(1, c0 (log(2t) / t)^exponent), t = 1, 2, ...; it never rises."""
    rate = math.log(2.0 * t) / t
    return min(1.0, c0 * (math.sqrt(rate) if exponent == 0.5 else rate**exponent))


@inlined_part
def explores(arrays: Arrays, i: int) -> bool:
    """True if the agent of copy ``i`` explores in the next round."""
    t, rules = arrays.state[i].t + 1, arrays.rules[0]
    u = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, t))
    return u < exploration_probability(rules.c0, rules.exponent, t)


@part
def rounds_before_exploring(arrays: Arrays, i: int, most: int) -> int:
    """The number of rounds, at most ``most``, before the agent explores; it does not in the first of them.

    p_t falls with t, so a comparison with its value in the second of them is enough for nearly every round.
    """
    c0, exponent = arrays.rules[0].c0, arrays.rules[0].exponent
    key, t = arrays.state[i].episode_key, arrays.state[i].t + 2
    state = state_at(key, place(Stream.EXPLORE, t))
    bound, near = exploration_probability(c0, exponent, t) * (1.0 + 1e-12), False
    for j in range(most - 1):
        u = fraction(output(state))
        arrays.scratch[Scratch.EXPLORE, j] = u
        near |= u < bound
        state += GAMMA
    if near:
        for j in range(most - 1):
            u = arrays.scratch[Scratch.EXPLORE, j]
            if u < bound and u < exploration_probability(c0, exponent, t + j):
                return j + 1
    return most


@part
def explored_arm(arrays: Arrays, exploring: Records[Exploring], offers: Floats, i: int, best: float) -> int:
    """The arm of an agent that explores: one that does not maximise, or NO_ARM if all of them do.

    A user's function may return any arm; the caller checks that it is one.
    """
    arms, n_arms, exploration = arrays.arms, offers.shape[1], arrays.rules[0].exploration
    others = 0
    for b in range(n_arms):
        others += arms[i, ArmRow.MEAN, b] + offers[i, b] < best
    u = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE_ARM, arrays.state[i].t + 1))
    if exploration == Exploration.FUNCTION and others == 0:
        return NO_ARM
    if exploration == Exploration.FUNCTION:
        return call_choose(arrays, offers[i, :0], offers, i, arrays.rules[0].explore, u)  # its memory is empty
    nth = int(u * others)
    first = exploring[i].cursor if exploration == Exploration.ROUND_ROBIN else 0
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


# ----------------------------------------------------------------------------------------- questions from outside


@part
def chosen_arm(arrays: Arrays, offers: Floats, i: int) -> int:
    """The arm of :func:`decide`; the agent's memory stays as it is."""
    keep(arrays.agent, i)
    arm = decide(arrays, offers, i).arm
    restore(arrays.agent, i)
    return arm


@inlined_part
def keep(agent: AgentArrays | None, i: int) -> None:
    """Note the memory of copy ``i``, to which its agent may write when it is asked."""
    if agent is not None:
        for k in range(agent.kept.size):
            agent.kept[k] = agent.memory[i, k]


@inlined_part
def restore(agent: AgentArrays | None, i: int) -> None:
    """Undo what the agent of copy ``i`` has written since :func:`keep`."""
    if agent is not None:
        for k in range(agent.kept.size):
            agent.memory[i, k] = agent.kept[k]


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


@inlined_part
def refusal(arrays: Arrays, offers: Floats, forced: Integers, playing: Integers) -> int:
    """-1, or what :func:`pa_env.kernel.step.step` returns for offers, arms or answers that cannot be played."""
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    for i in range(forced.size):
        if not NO_ARM <= forced[i] < offers.shape[1]:
            bad = offers.size + i
    if bad < 0 and offers.shape[0] > 1:
        wrong = bad_answer(arrays, arrays.exploring, arrays.agent, offers, forced, playing)
        bad = offers.size + offers.shape[0] + wrong if wrong >= 0 else -1
    return bad


@inlined_part
def bad_answer(
    arrays: Arrays,
    exploring: Records[Exploring] | None,
    agent: AgentArrays | None,
    offers: Floats,
    forced: Integers,
    playing: Integers,
) -> int:
    """The first copy in which the answer of the user's function in the next round is not an arm, or -1."""
    if agent is not None:
        if arrays.rules[0].kind == Kind.COMPILED:
            return first_bad_answer(arrays, offers, forced, playing)
    if exploring is not None:
        if arrays.rules[0].explore > 0:
            return first_bad_answer(arrays, offers, forced, playing)
    return -1


@part
def first_bad_answer(arrays: Arrays, offers: Floats, forced: Integers, playing: Integers) -> int:
    """The first copy in which the answer in the next round is not an arm, or -1."""
    for i in range(offers.shape[0]):
        if (playing.size == 0 or playing[i] > 0) and (forced.size == 0 or forced[i] < 0):
            if not 0 <= chosen_arm(arrays, offers, i) < offers.shape[1]:
                return i
    return -1


@inlined_part
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
def random_offers(rules: Records[Rules], state: Records[Copy], offers: Floats) -> None:
    """A random amount on a random arm, for each copy: the default principal of the agent's seat."""
    for i in range(offers.shape[0]):
        for b in range(offers.shape[1]):
            offers[i, b] = 0.0
        key, at = state[i].episode_key, place(Stream.OFFER, 2 * state[i].t + 1)
        arm = int(uniform(key, at) * offers.shape[1])
        offers[i, arm] = uniform(key, at + 1) * rules[0].max_incentive


# ----------------------------------------------------------------------------------------- laws of choices


@compiled
def choice_laws(arrays: Arrays, offers: Floats, laws: Floats) -> int:
    """Write into ``laws`` (N, K) how likely each arm is to be played on its copy's offer; the game does not move.

    Returns -1, or the flat index of a bad offer; then nothing is written.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    for i in range(offers.shape[0] if bad < 0 else 0):
        for b in range(offers.shape[1]):
            laws[i, b] = 0.0
        choice_law(arrays, arrays.exploring, arrays.agent, offers, i, laws)
    return bad


@part
def choice_law(
    arrays: Arrays,
    exploring: Records[Exploring] | None,
    agent: AgentArrays | None,
    offers: Floats,
    i: int,
    laws: Floats,
) -> None:
    """The law of copy ``i``, added to zeros."""
    if agent is None:
        greedy_law(arrays, exploring, offers, i, laws)
    else:
        if arrays.rules[0].kind == Kind.EXP3:
            softmax = exp3_softmax(arrays, agent, offers, i)
            for b in range(offers.shape[1]):
                laws[i, b] = exp3_probability(arrays, agent, offers, i, b, softmax)
        elif arrays.rules[0].kind == Kind.UCB:
            laws[i, index_arm(arrays, offers, i, False)] = 1.0
        elif arrays.rules[0].temperature > 0.0:
            logit_law(arrays, offers, i, laws)
        else:
            greedy_law(arrays, exploring, offers, i, laws)


@part
def logit_law(arrays: Arrays, offers: Floats, i: int, laws: Floats) -> None:
    """The law of a logit agent."""
    best, total = greedy(arrays, offers, i).best, 0.0
    for b in range(offers.shape[1]):
        laws[i, b] = math.exp((arrays.arms[i, ArmRow.MEAN, b] + offers[i, b] - best) / arrays.rules[0].temperature)
        total += laws[i, b]
    for b in range(offers.shape[1]):
        laws[i, b] /= total


@part
def greedy_law(arrays: Arrays, exploring: Records[Exploring] | None, offers: Floats, i: int, laws: Floats) -> None:
    """The law of an agent that maximises, up to exploration and random ties."""
    rules, answer, others, explored, p = arrays.rules[0], greedy(arrays, offers, i), 0, NO_ARM, 0.0
    for b in range(offers.shape[1]):
        others += arrays.arms[i, ArmRow.MEAN, b] + offers[i, b] < answer.best
    if exploring is not None:
        explored = explored_arm(arrays, exploring, offers, i, answer.best)
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
