"""What the players observe, written by compiled code."""

import numpy as np

from pa_env.kernel.agents import first_bad
from pa_env.kernel.compiling import compiled, inlined_part
from pa_env.kernel.layout import (
    AGENT_BLOCKS,
    BLOCKS,
    AgentBlock,
    ArmRow,
    Arrays,
    Floats,
    Floats32,
    SummaryBlock,
    SummaryNumber,
)


@inlined_part
def update_summary(arrays: Arrays, offers: Floats, i: int, arm: int, x: float) -> None:
    """Update the principal's summary after a round; only what the round changes is written."""
    summary, n_arms, horizon = arrays.summary, offers.shape[1], arrays.rules[0].horizon
    refused, accepted, last = SummaryBlock.REFUSED * n_arms, SummaryBlock.ACCEPTED * n_arms, SummaryBlock.OFFER * n_arms
    summary[i, SummaryBlock.PLAYED * n_arms + arrays.state[i].arm] = 0.0
    summary[i, SummaryBlock.PLAYED * n_arms + arm] = 1.0
    summary[i, SummaryBlock.THETA_HAT * n_arms + arm] = arrays.arms[i, ArmRow.PRINCIPAL_SUM, arm] / arrays.plays[i, arm]
    summary[i, SummaryBlock.PLAY_SHARE * n_arms + arm] = arrays.plays[i, arm] / horizon
    paid = np.float32(offers[i, arm])
    low, high = min(summary[i, refused + arm], paid), min(summary[i, accepted + arm], paid)
    for b in range(n_arms):
        offered = np.float32(offers[i, b])
        summary[i, refused + b] = max(summary[i, refused + b], offered)
        summary[i, accepted + b] = max(summary[i, accepted + b], offered)
        summary[i, last + b] = offered
    summary[i, refused + arm], summary[i, accepted + arm] = low, high
    summary[i, BLOCKS * n_arms + SummaryNumber.REWARD] = x
    summary[i, BLOCKS * n_arms + SummaryNumber.TIME] = arrays.state[i].t / horizon


@compiled
def view_agents(arrays: Arrays, offers: Floats, view: Floats32) -> int:
    """Write what the agents observe when these (N, K) are their offers, (N, AGENT_BLOCKS * K + 1).

    Returns -1, or the flat index of a bad offer; then nothing is written.
    """
    bad = first_bad(offers, arrays.rules[0].max_incentive)
    n_arms, horizon = offers.shape[1], arrays.rules[0].horizon
    for i in range(offers.shape[0] if bad < 0 else 0):
        for a in range(n_arms):
            view[i, AgentBlock.OFFER * n_arms + a] = offers[i, a]
            view[i, AgentBlock.MEAN * n_arms + a] = arrays.arms[i, ArmRow.MEAN, a]
            view[i, AgentBlock.PLAY_SHARE * n_arms + a] = arrays.plays[i, a] / horizon
        view[i, AGENT_BLOCKS * n_arms] = arrays.state[i].t / horizon
    return bad
