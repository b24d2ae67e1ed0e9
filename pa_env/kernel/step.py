"""One round of each copy: the agent answers, rewards are drawn, the round is scored, the agent learns.

The scores and what the agent learns are written here; :mod:`pa_env.kernel.hold` calls the same functions.
"""

from typing import NamedTuple

import numpy as np

from pa_env.kernel.agents import Answer, decide, first_bad, refusal
from pa_env.kernel.compiling import compiled, inlined_part
from pa_env.kernel.draws import draw_reward
from pa_env.kernel.layout import (
    FLUSH,
    NO_ARM,
    AgentArrays,
    ArmRow,
    Arrays,
    Exploring,
    Floats,
    Integers,
    LinearArrays,
    Records,
    RoundResult,
    Score,
)
from pa_env.kernel.least_squares import learn_linear
from pa_env.kernel.observations import update_summary
from pa_env.kernel.other_agents import Kind, exp3_learn, next_type, own_learn
from pa_env.kernel.responses import add_other_response, look_ahead, response_of


@compiled
def step(arrays: Arrays, offers: Floats, forced: Integers, playing: Integers, results: Floats) -> int:
    """Play one round of each copy.

    Args:
        arrays: the game.
        offers: (N, K) incentives.
        forced: (N,), the arms to play, or NO_ARM where the agent chooses; empty: all agents choose.
        playing: (N,), 1 for the copies that play; empty: all.
        results: (N, len(RoundResult) - 1 + K), output.

    Returns:
        -1, or the flat index of a bad offer, or offers.size + i for a forced arm i that does not exist, or
        offers.size + N + i if the answer of the user's own function in copy i is not an arm. Then nothing is played.
    """
    bad = refusal(arrays, offers, forced, playing)
    if bad >= 0:
        return bad
    for i in range(offers.shape[0]):
        if playing.size == 0 or playing[i] > 0:
            if not play_copy(arrays, offers, i, forced[i] if forced.size > 0 else NO_ARM, results):
                return offers.size + offers.shape[0] + i
    return -1


@inlined_part
def play_alone(arrays: Arrays, offers: Floats, results: Floats) -> int:
    """:func:`step` for compiled code and one copy: calling it would copy all of ``arrays`` to the stack each round."""
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    if bad < 0 and not play_copy(arrays, offers, int(np.int64(0)), NO_ARM, results):
        bad = offers.size + 1
    return bad


@inlined_part
def play_copy(arrays: Arrays, offers: Floats, i: int, forced: int, results: Floats) -> bool:
    """Play one round of copy ``i``; False if its answer is not an arm, and then nothing is played."""
    answer = decide(arrays, offers, i)
    arm = forced if forced >= 0 else answer.arm
    if not 0 <= arm < offers.shape[1]:
        return False
    outcome = score(arrays, offers, i, arm, answer)
    write_result(arrays, i, arm, outcome, results)
    learn(arrays, arrays.linear, arrays.agent, offers, i, arm, outcome.r)
    finish(arrays, arrays.agent, offers, i, arm, outcome.x)
    return True


# ----------------------------------------------------------------------------------------- scores


class Terms(NamedTuple):
    """Scores that are the same in every round in which one offer meets one arm."""

    theta: float
    paid: float  # pi_A
    net: float  # theta_A - pi_A
    oracle: float
    bar: float
    forgone: float  # by the agent


class Sums(NamedTuple):
    """Running sums of scores."""

    utility: float
    expected_utility: float
    regret: float
    oracle: float
    bar: float
    overpayment: float
    agent: float


class Outcome(NamedTuple):
    """What a round brought."""

    x: float  # rewards of the principal
    r: float  # and of the agent
    regret: float
    highest: float  # max_b muhat_b, before the agent learns
    terms: Terms


@inlined_part
def terms_of(arrays: Arrays, offers: Floats, i: int, arm: int, answer: Answer) -> Terms:
    """The scores that do not depend on rewards or beliefs."""
    theta, paid, benchmark = arrays.arms[i, ArmRow.THETA, arm], offers[i, arm], arrays.state[i].benchmark
    net, forgone = theta - paid, answer.deserved - (arrays.arms[i, ArmRow.MU, arm] + paid)
    return Terms(theta, paid, net, benchmark - net, benchmark - theta + answer.offered, forgone)


@inlined_part
def regret_of(terms: Terms, mean: float, highest: float, joint: float) -> float:
    """R_T's part of a round.

    Args:
        terms: of the round.
        mean: muhat of the arm played.
        highest: max_b muhat_b, over all arms.
        joint: max_b theta_b + muhat_b, over all arms or all others.
    """
    return max(joint, terms.theta + mean) - highest - terms.net


@inlined_part
def overpaid_of(terms: Terms, price: float) -> float:
    """What was paid in a round above ``price`` = pi*_A."""
    return max(0.0, terms.paid - price)


@inlined_part
def read_sums(arrays: Arrays, i: int) -> Sums:
    """The running sums of copy ``i``."""
    totals = arrays.totals
    return Sums(
        totals[i, 1, Score.UTILITY],
        totals[i, 1, Score.EXPECTED_UTILITY],
        totals[i, 1, Score.REGRET],
        totals[i, 1, Score.REGRET_ORACLE],
        totals[i, 1, Score.REGRET_BAR],
        totals[i, 1, Score.OVERPAYMENT],
        totals[i, 1, Score.AGENT_REGRET],
    )


@inlined_part
def add_round(sums: Sums, terms: Terms, x: float, regret: float, overpaid: float) -> Sums:
    """The sums after one more round."""
    return Sums(
        sums.utility + (x - terms.paid),
        sums.expected_utility + terms.net,
        sums.regret + regret,
        sums.oracle + terms.oracle,
        sums.bar + terms.bar,
        sums.overpayment + overpaid,
        sums.agent + terms.forgone,
    )


@inlined_part
def write_sums(arrays: Arrays, i: int, sums: Sums) -> None:
    """Store the running sums of copy ``i``."""
    totals = arrays.totals
    totals[i, 1, Score.UTILITY], totals[i, 1, Score.EXPECTED_UTILITY] = sums.utility, sums.expected_utility
    totals[i, 1, Score.REGRET], totals[i, 1, Score.REGRET_ORACLE] = sums.regret, sums.oracle
    totals[i, 1, Score.REGRET_BAR], totals[i, 1, Score.OVERPAYMENT] = sums.bar, sums.overpayment
    totals[i, 1, Score.AGENT_REGRET] = sums.agent


@inlined_part
def score(arrays: Arrays, offers: Floats, i: int, arm: int, answer: Answer) -> Outcome:
    """Draw the rewards of a round in which ``arm`` is played, and add its scores."""
    mean, terms = arrays.arms[i, ArmRow.MEAN, arm], terms_of(arrays, offers, i, arm, answer)
    x, r = draw_reward(arrays, i, arm, arrays.plays[i, arm] + 1)
    regret = regret_of(terms, mean, answer.highest, answer.joint)
    overpaid = overpaid_of(terms, answer.highest - mean)
    write_sums(arrays, i, add_round(read_sums(arrays, i), terms, x, regret, overpaid))
    add_other_response(arrays, arrays.agent, i, terms.net)
    explored_response(arrays, arrays.exploring, i, arm, terms, mean, answer)
    return Outcome(x, r, regret, answer.highest, terms)


@inlined_part
def explored_response(
    arrays: Arrays,
    exploring: Records[Exploring] | None,
    i: int,
    arm: int,
    terms: Terms,
    mean: float,
    answer: Answer,
) -> None:
    """Add a round to the score against the best response to an exploring agent; then round-robin goes on."""
    if exploring is not None:
        ahead = look_ahead(arrays, exploring, i, arm, 1)
        arrays.totals[i, 1, Score.REGRET_RESPONSE] += response_of(
            ahead, arrays.state[i].t + 1, terms.theta + mean, answer.highest, terms.net
        )
        if mean + terms.paid < answer.best:
            exploring[i].cursor = arm + 1


@inlined_part
def write_result(arrays: Arrays, i: int, arm: int, outcome: Outcome, results: Floats) -> None:
    """Write what a round brought, before the agent learns from it."""
    terms = outcome.terms
    results[i, RoundResult.UTILITY], results[i, RoundResult.EXPECTED_UTILITY] = outcome.x - terms.paid, terms.net
    results[i, RoundResult.REGRET], results[i, RoundResult.REGRET_ORACLE] = outcome.regret, terms.oracle
    results[i, RoundResult.REGRET_BAR], results[i, RoundResult.REWARD] = terms.bar, outcome.x
    results[i, RoundResult.ARM], results[i, RoundResult.AGENT_REWARD] = arm, outcome.r
    for b in range(arrays.arms.shape[2]):
        results[i, RoundResult.OPTIMAL + b] = outcome.highest - arrays.arms[i, ArmRow.MEAN, b]


# ----------------------------------------------------------------------------------------- what changes


@inlined_part
def learn(
    arrays: Arrays, linear: LinearArrays | None, agent: AgentArrays | None, offers: Floats, i: int, arm: int, r: float
) -> None:
    """Count the play of an arm, and let the agent of copy ``i`` learn from its reward."""
    arms = arrays.arms
    if agent is not None:
        if arrays.rules[0].kind == Kind.EXP3:
            exp3_learn(arrays, agent, offers, i, arm, r)
    arrays.plays[i, arm] += 1
    if arrays.rules[0].learns:
        if linear is None:
            arms[i, ArmRow.AGENT_SUM, arm] += r
            arms[i, ArmRow.MEAN, arm] = arms[i, ArmRow.AGENT_SUM, arm] / arrays.plays[i, arm]
        else:
            learn_linear(arrays, linear, i, arm, r)
    if agent is not None:
        own_learn(arrays, agent, i, arm, r, offers[i, arm])


@inlined_part
def finish(arrays: Arrays, agent: AgentArrays | None, offers: Floats, i: int, arm: int, x: float) -> None:
    """End a round of copy ``i``: the principal's sums, the clock, the summary, and the type that answers next."""
    arrays.arms[i, ArmRow.PRINCIPAL_SUM, arm] += x
    arrays.state[i].t += 1
    end_rounds(arrays, offers, i, arm, x)
    if agent is not None:
        if arrays.rules[0].n_types > 0:
            next_type(arrays, agent, i)


@inlined_part
def end_rounds(arrays: Arrays, offers: Floats, i: int, arm: int, x: float) -> None:
    """End some rounds of one arm: flush the running sums when it is time, and show the last round."""
    if arrays.state[i].t % FLUSH == 0:
        for k in range(arrays.totals.shape[2]):
            arrays.totals[i, 0, k] += arrays.totals[i, 1, k]
            arrays.totals[i, 1, k] = 0.0
    if arrays.summary.size > 0:
        update_summary(arrays, offers, i, arm, x)
    arrays.state[i].arm = arm
