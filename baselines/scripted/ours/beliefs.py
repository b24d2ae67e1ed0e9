"""Beliefs about the agent's means, from its answers to offers: a Gaussian for each arm, updated by compiled functions.

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
from typing import Any

from pa_env.kernel.compiling import inlined

# Memory of a rule with beliefs: its state, its parameters, then blocks of n_arms numbers.
T_, TIME, EXPLORED, RUN, TESTS, TESTED, NEXT_TEST = range(7)
BONUS, FADE, GROWTH, CAUTION, DRIFT, SUSPICION, FORGETTING, CEILING, OPTIMISM = range(7, 16)
BELIEFS = 16  # where the blocks begin
M, V, OFFER, LEADS, ODDS = range(5)  # m, v, the last offer, x and Phi(x) of the last answer

SURE = 4.0  # standard deviations beyond which an answer is not used
FIRST_VARIANCE = 1e-4  # of the agent's mean before the first play: about 0
SMALLEST = 1e-10  # variance of a difference, so that ties are broken and nothing is divided by 0
LARGEST = 0.25  # variance after surprises: that of a fair coin
WARM_UP = 20.0  # rounds added to t in the share of exploration
FORGETTING_FROM = 100.0  # rounds added to t in the forgetting


@inlined
def block(which: int, n_arms: int) -> Any:
    """Where a block of n_arms numbers begins in the memory."""
    return BELIEFS + which * n_arms


@inlined
def lead(memory: Any, n_arms: int, a: int, b: int) -> Any:
    """By how many standard deviations arm ``a`` was believed to beat arm ``b`` at the last offer; at most ``SURE``."""
    m, v, pi = block(M, n_arms), block(V, n_arms), block(OFFER, n_arms)
    gap = memory[m + a] + memory[pi + a] - memory[m + b] - memory[pi + b]
    both = memory[v + a] + memory[v + b] + SMALLEST
    if gap > 0.0 and gap * gap >= SURE * SURE * both:  # most arms of most rounds: no root is taken for them
        return SURE
    return gap / math.sqrt(both)


@inlined
def hear(memory: Any, plays: Any, n_arms: int, arm: int) -> None:
    """Update the beliefs by the agent's answer ``arm`` to the last offer: steps 1 to 3."""
    m, v, leads, odds = block(M, n_arms), block(V, n_arms), block(LEADS, n_arms), block(ODDS, n_arms)
    t = memory[TIME]
    share = (memory[EXPLORED] + memory[SUSPICION]) / (t + WARM_UP)
    if share * share * t > 0.25:  # it may be more than an agent with c0 = 1 explores
        share = min(share, 0.5, math.sqrt(math.log(2.0 * t) / t))
    likely = 1.0
    for b in range(n_arms):
        x = lead(memory, n_arms, arm, b) if b != arm else SURE
        memory[leads + b] = x
        if x < SURE:
            memory[odds + b] = 0.5 * math.erfc(-x / math.sqrt(2.0))
            likely *= memory[odds + b]
    explored = share / n_arms / ((1.0 - share) * likely + share / n_arms)
    memory[EXPLORED] += explored
    memory[RUN] = memory[RUN] + 1.0 if explored > 0.5 else 0.0
    weight, moved = 1.0 - explored, False
    for b in range(n_arms):
        x = lead(memory, n_arms, arm, b) if moved and b != arm else memory[leads + b]
        if x < SURE:
            if x < -1.0 and plays[b] == 0:  # the agent may know more about the arm than its plays have told it
                memory[v + b] = 2.0 * max(memory[v + arm], memory[v + b])
            va, vb = memory[v + arm], memory[v + b]
            both = va + vb + SMALLEST
            hazard = -x - 1.0 / x if x < -5.0 else 0.0  # phi/Phi, by its expansion in the tail
            if x >= -5.0:
                below = 0.5 * math.erfc(-x / math.sqrt(2.0)) if moved else memory[odds + b]
                hazard = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) / below
            shrink = min(0.95, hazard * (hazard + x)) / both
            up, down = va / math.sqrt(both) * hazard, vb / math.sqrt(both) * hazard
            memory[m + arm] += weight * up
            memory[m + b] -= weight * down
            memory[v + arm] = va * (1.0 - weight * va * shrink) + weight * explored * up * up
            memory[v + b] = vb * (1.0 - weight * vb * shrink) + weight * explored * down * down
            moved = True
    doubt = 1.0 + memory[FORGETTING] / (memory[TIME] + FORGETTING_FROM)
    if memory[RUN] >= 2.0:  # two surprises in a row
        doubt = 2.0
    for b in range(n_arms):
        memory[v + b] = min(LARGEST, doubt * memory[v + b] + SMALLEST)
        memory[m + b] = min(2.0, max(-1.0, memory[m + b]))


@inlined
def learn(memory: Any, n_arms: int, arm: int, n: int) -> None:
    """Move the belief of ``arm`` as the agent's mean moves with an unseen reward, after ``n`` plays before: step 4."""
    m, v = block(M, n_arms) + arm, block(V, n_arms) + arm
    p = min(1.0, max(0.0, (n * memory[m] + 1.0) / (n + 2.0)))
    memory[m] = (n * memory[m] + p) / (n + 1.0)
    keep = n * (n + 3.0) / ((n + 1.0) * (n + 2.0))
    memory[v] = keep * keep * memory[v] + memory[DRIFT] * max(0.05, p * (1.0 - p)) / ((n + 1.0) * (n + 1.0))
