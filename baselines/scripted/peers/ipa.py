"""IPA, Incentivized Principal-Agent learning, for an agent that knows its means (Scheid et al., ICML 2024).

Source: Scheid, Tiapkin, Boursier, Capitaine, El Mhamdi, Moulines, Jordan & Durmus, "Incentivized Learning in
Principal-Agent Bandit Games", arXiv 2403.03811, as in their public code. Its second half, UCB on the net reward at
known prices (:func:`net_ucb`), is that of BELGIC too.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from baselines.principal import Follow, Principal, Rounds, follow
from pa_env.checks import at_least
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import Layout, PerArm, compiled_when_used


class IPA(Principal):
    """Search each arm's incentive by bisection on [0, 1], then run UCB on the net reward.

    Search: K ceil(log2 T) rounds; round t = 0, 1, ... offers arm t mod K the middle of its interval. Then pihat_a is
    the upper end plus ``margin``, so that for an agent with fixed means in [0, 1] pihat_a - pi*_a is in
    (0, 1/T + margin]. The rest of the game is UCB with these prices (:func:`net_ucb`).

    Guarantee: regret O(sqrt(K T log T)) against the oracle agent.

    Where it fails: against an agent that learns. The agent's means move after the search, and a refused offer may be
    repeated to the end.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        margin: What is added to each incentive, at least 0. Default: 1/T^2, as in the authors' code; the paper
            has 1/T.
    """

    name = "ipa"

    def __init__(self, n_arms: int, horizon: int, margin: float | None = None) -> None:
        super().__init__(n_arms, horizon)
        self.margin = self.horizon**-2.0 if margin is None else at_least("margin", margin, 0.0)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield ipa_request(self, np.ones(self.n_arms), self.n_arms * math.ceil(math.log2(self.horizon)), self.margin)


def net_ucb(principal: Principal, incentives: Floats) -> Follow:
    """A request for the rest of the game: UCB that pays the chosen arm its entry of ``incentives`` (n_arms,).

    Statistics start empty. In each round the arm with the largest mean(net reward) + sqrt(4 log T / n) is offered its
    incentive; arms not played yet come first, in increasing order. The arm played is credited with X minus the
    incentive paid for it, 0 unless it was the target.
    """
    return ipa_request(principal, incentives, probes=0, margin=0.0)


def ipa_request(principal: Principal, high: Floats, probes: int, margin: float) -> Follow:
    """A request for the rest of the game: ``probes`` rounds of search below ``high`` (n_arms,), then UCB."""
    T = principal.horizon
    memory = LAYOUT.zeros(principal.n_arms, target=NO_ARM, probes=probes, margin=margin, bonus=4 * math.log(T))
    state = LAYOUT.arrays(memory, principal.n_arms)
    state.high[:], state.indices[:] = high, np.inf
    return follow(ipa_rule(), memory, T)


class IpaEntry(IntEnum):
    """Indices of the numbers in the rule's memory."""

    ROUND = 0  # rounds of the request already played
    PROBES = 1  # rounds of the search
    MARGIN = 2
    BONUS = 3  # 4 log T
    TARGET = 4  # of the last round


class IpaArrays(NamedTuple):
    """The arrays in the rule's memory."""

    low: PerArm  # ends of the intervals of the search
    high: PerArm
    incentives: PerArm  # pihat
    counts: PerArm  # n
    net_sums: PerArm  # of X minus what was paid
    indices: PerArm  # of UCB


LAYOUT = Layout(IpaEntry, IpaArrays)
ipa_arrays = LAYOUT.compiled


@compiled_when_used
def ipa_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The paper's Algorithm 1, with the probes of all arms interleaved, as a compiled rule."""
    state, K = ipa_arrays(memory, offer.size), offer.size
    t, probes = int(memory[IpaEntry.ROUND]), int(memory[IpaEntry.PROBES])
    memory[IpaEntry.ROUND] = t + 1
    if t > probes:
        return play_ucb(memory, state, arm, reward, offer)
    if t > 0:  # what the last probe showed
        a = (t - 1) % K
        middle = (state.low[a] + state.high[a]) / 2
        if arm == a:
            state.high[a] = middle
        else:
            state.low[a] = middle
    if t == probes:
        for b in range(K):
            state.incentives[b] = state.high[b] + memory[IpaEntry.MARGIN]
        return play_ucb(memory, state, NO_ARM, 0.0, offer)
    a = t % K
    for b in range(K):
        offer[b] = 0.0
    offer[a] = (state.low[a] + state.high[a]) / 2
    return int(a)


@inlined
def play_ucb(memory: Floats, state: IpaArrays, arm: int, reward: float, offer: Floats) -> int:
    """Learn from the last round, if there was one, and make the next offer; returns its target."""
    if arm >= 0:  # the index of no other arm has changed
        paid = state.incentives[arm] if arm == memory[IpaEntry.TARGET] else 0.0
        state.counts[arm] += 1.0
        state.net_sums[arm] += reward - paid
        state.indices[arm] = state.net_sums[arm] / state.counts[arm]
        state.indices[arm] += math.sqrt(memory[IpaEntry.BONUS] / state.counts[arm])
    target = 0
    for b in range(offer.size):
        offer[b] = 0.0
        if state.indices[b] > state.indices[target]:
            target = b
    offer[target] = state.incentives[target]
    memory[IpaEntry.TARGET] = target
    return target
