"""Gaussian beliefs about the agent's means, from its answers to offers; shared by the profit target and bracket UCB.

The agent's mean muhat_a(t) of each arm is taken to be N(m_a, v_a), at first N(0, 1e-4). After round t:

1. *The answer A to the offer pi* says that muhat_A + pi_A >= muhat_b + pi_b for every b: a probit update, pair by pair
   in the order of b. With s^2 = v_A + v_b, x = (m_A + pi_A - m_b - pi_b) / s and h = phi(x) / Phi(x) (-x - 1/x below
   x = -5), m_A rises by h v_A / s, m_b falls by h v_b / s, and v_A, v_b lose the share h (h + x) v / s^2, where
   h (h + x) is at most .95. A pair with x >= 4 is skipped.
2. *Or the agent explored*, with prior probability e = (explorations so far + ``suspicion``) / (t + 20), at most 1/2 and
   at most sqrt(log(2t) / t). The posterior probability w is e/K : (1 - e) prod_b Phi(x_b), over the x_b < 4 before any
   pair has moved. Step 1 is taken for 1 - w of its length, and the variance of this mixture, w (1 - w) times the step
   squared, is added, so an answer that the beliefs rule out hardly moves them. An arm never played that is refused
   against expectation, x < -1, gets twice the larger of v_A and v_b in its pair, where x stays as it was: an agent that
   did not have to learn may know the arm.
3. Variances grow by the factor 1 + ``forgetting`` / (t + 100), so old evidence fades. They double instead if this was
   the second answer in a row with w > 1/2, since then the beliefs are probably wrong. Variances stay below 1/4, and m
   in [-1, 2], which contains every mean.
4. *The agent learns* from a reward that the principal does not see. The reward has mean p = (N m + 1) / (N + 2) in
   [0, 1], so m_A moves to (N m_A + p) / (N + 1), v_A shrinks as m_A does, by the square of
   N (N + 3) / ((N + 1) (N + 2)), and grows by ``drift`` max(.05, p (1 - p)) / (N + 1)^2; N counts the plays before.
"""

import math
from enum import IntEnum
from typing import NamedTuple

from pa_env.kernel.compiling import inlined_part
from pa_env.kernel.layout import Floats, Integers
from pa_env.memory import Layout, PerArm

SURE = 4.0  # standard deviations beyond which an answer is not used
FIRST_VARIANCE = 1e-4  # of the agent's mean before the first play: about 0
SMALLEST = 1e-10  # variance of a difference, so that ties are broken and nothing is divided by 0
LARGEST = 0.25  # variance after surprises: that of a fair coin
WARM_UP = 20.0  # rounds added to t in the share of exploration
FORGETTING_FROM = 100.0  # rounds added to t in the forgetting


class GaussianEntry(IntEnum):
    """Indices of the numbers in the memory; those from ``HORIZON`` on belong to the rules that use the beliefs."""

    TIME = 0  # t, rounds offered so far
    EXPLORED = 1  # sum of w
    RUN = 2  # answers in a row with w > 1/2
    DRIFT = 3
    SUSPICION = 4
    FORGETTING = 5
    HORIZON = 6
    TESTS = 7  # of a lower price, so far
    TESTED = 8  # arm of the last round, if that was a test, else NO_ARM
    NEXT_TEST = 9  # round
    BONUS = 10
    FADE = 11
    GROWTH = 12
    CAUTION = 13
    CEILING = 14
    OPTIMISM = 15  # of bracket UCB


class GaussianBeliefs(NamedTuple):
    """The arrays in the memory."""

    m: PerArm
    v: PerArm
    offered: PerArm  # the last offer
    leads: PerArm  # x of the last answer
    odds: PerArm  # Phi(x)


LAYOUT = Layout(GaussianEntry, GaussianBeliefs)
gaussian_beliefs = LAYOUT.compiled


@inlined_part
def update(memory: Floats, beliefs: GaussianBeliefs, plays: Integers, arm: int) -> None:
    """Update the beliefs by the agent's answer ``arm`` to the last offer; ``plays`` (K,) counts it already."""
    take_answer(memory, beliefs, plays, arm)
    learn(memory, beliefs, arm, plays[arm] - 1)


@inlined_part
def lead(beliefs: GaussianBeliefs, a: int, b: int) -> float:
    """Standard deviations by which arm ``a`` was believed to beat arm ``b`` at the last offer; at most ``SURE``."""
    gap = beliefs.m[a] + beliefs.offered[a] - beliefs.m[b] - beliefs.offered[b]
    both = beliefs.v[a] + beliefs.v[b] + SMALLEST
    if gap > 0.0 and gap * gap >= SURE * SURE * both:  # most arms of most rounds: no root is taken for them
        return SURE
    deviations: float = gap / math.sqrt(both)
    return deviations


@inlined_part
def take_answer(memory: Floats, beliefs: GaussianBeliefs, plays: Integers, arm: int) -> None:
    """Take in the agent's answer ``arm`` to the last offer: steps 1 to 3."""
    n_arms = beliefs.m.size
    t = memory[GaussianEntry.TIME]
    share = (memory[GaussianEntry.EXPLORED] + memory[GaussianEntry.SUSPICION]) / (t + WARM_UP)
    if share * share * t > 0.25:  # it may be more than an agent with c0 = 1 explores
        share = min(share, 0.5, math.sqrt(math.log(2.0 * t) / t))
    likely = 1.0
    for b in range(n_arms):
        x = lead(beliefs, arm, b) if b != arm else SURE
        beliefs.leads[b] = x
        if x < SURE:
            beliefs.odds[b] = 0.5 * math.erfc(-x / math.sqrt(2.0))
            likely *= beliefs.odds[b]
    explored = share / n_arms / ((1.0 - share) * likely + share / n_arms)
    memory[GaussianEntry.EXPLORED] += explored
    memory[GaussianEntry.RUN] = memory[GaussianEntry.RUN] + 1.0 if explored > 0.5 else 0.0
    weight, moved = 1.0 - explored, False
    for b in range(n_arms):
        x = lead(beliefs, arm, b) if moved and b != arm else beliefs.leads[b]
        if x < SURE:
            if x < -1.0 and plays[b] == 0:  # the agent may know the arm better than by its plays
                beliefs.v[b] = 2.0 * max(beliefs.v[arm], beliefs.v[b])
            va, vb = beliefs.v[arm], beliefs.v[b]
            both = va + vb + SMALLEST
            hazard = -x - 1.0 / x if x < -5.0 else 0.0  # phi/Phi, by its expansion in the tail
            if x >= -5.0:
                below = 0.5 * math.erfc(-x / math.sqrt(2.0)) if moved else beliefs.odds[b]
                hazard = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) / below
            shrink = min(0.95, hazard * (hazard + x)) / both
            up, down = va / math.sqrt(both) * hazard, vb / math.sqrt(both) * hazard
            beliefs.m[arm] += weight * up
            beliefs.m[b] -= weight * down
            beliefs.v[arm] = va * (1.0 - weight * va * shrink) + weight * explored * up * up
            beliefs.v[b] = vb * (1.0 - weight * vb * shrink) + weight * explored * down * down
            moved = True
    doubt = 1.0 + memory[GaussianEntry.FORGETTING] / (memory[GaussianEntry.TIME] + FORGETTING_FROM)
    if memory[GaussianEntry.RUN] >= 2.0:  # two surprises in a row
        doubt = 2.0
    for b in range(n_arms):
        beliefs.v[b] = min(LARGEST, doubt * beliefs.v[b] + SMALLEST)
        beliefs.m[b] = min(2.0, max(-1.0, beliefs.m[b]))


@inlined_part
def learn(memory: Floats, beliefs: GaussianBeliefs, arm: int, n: int) -> None:
    """Move the belief of ``arm`` as the agent's mean moves with an unseen reward, after ``n`` plays before: step 4."""
    m = beliefs.m[arm]
    p = min(1.0, max(0.0, (n * m + 1.0) / (n + 2.0)))
    beliefs.m[arm] = (n * m + p) / (n + 1.0)
    keep = n * (n + 3.0) / ((n + 1.0) * (n + 2.0))
    beliefs.v[arm] = keep * keep * beliefs.v[arm] + memory[GaussianEntry.DRIFT] * max(0.05, p * (1.0 - p)) / (
        (n + 1.0) * (n + 1.0)
    )
