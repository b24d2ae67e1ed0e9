"""The compiled rule of the profit target and of bracket UCB: offers from beliefs about the agent's means.

**Worth.** With S_a the sum of the rewards X of the N_a plays, an arm is worth g_a = (S_a + 1) / (N_a + 2) +
``bonus`` (1 - t/T)^``fade`` sqrt((1 + ``growth`` log(1 + t/1000)) / (N_a + 2)). The bonus does not lift it above
``ceiling``, the largest possible mean: an arm that is not worth a trial even then is not tried.

**Price.** Let a = argmax g + m. It costs pi_a = max(0, max_b m_b - m_a + z s) with s^2 = v_a + v_b and
z = sqrt(2 log(1 + ``caution`` D/s)), where D = max(0, g_a + m_a - g_b - m_b) is the loss if b is played instead. The
price that minimises z s + D Phi(-z), overpayment plus risk of a refusal, has about this form.

**Offer.** The profit is c = g_a - pi_a, and every arm is offered max(0, g_b - c).

**Tests.** Exploration that favours an arm looks like a preference for it, and too high a price is never refused. So
after every second exploration (in sum of w), and after 1000 rounds and then whenever t has grown by 30 %, the price of
one round is cut by a quarter, an eighth or a half in turn, and the profit c rises by as much. The test is repeated as
long as the arm is played: by then the beliefs have been surprised often enough to follow.

The beliefs m, v and w are those of :mod:`baselines.scripted.ours.beliefs`.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.scripted.ours.beliefs import (
    BELIEFS,
    BONUS,
    CAUTION,
    CEILING,
    EXPLORED,
    FADE,
    FIRST_VARIANCE,
    GROWTH,
    NEXT_TEST,
    OFFER,
    OPTIMISM,
    SMALLEST,
    T_,
    TESTED,
    TESTS,
    TIME,
    M,
    V,
    block,
    hear,
    learn,
)
from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import Floats
from pa_env.rules import compile_rule

PARAMETERS = ("bonus", "fade", "growth", "caution", "drift", "suspicion", "forgetting", "ceiling")
NO_ARM = -2.0  # as the arm tested: neither an arm nor the -1 of the first round
EVERY_ARM = -1.0  # as optimism: pay all arms
TEST_EVERY = 2.0  # explorations for each test of a lower price
TEST_FROM, TEST_AGAIN = 1000.0, 1.3  # round of the first test by the clock, and the factor to the next
SETTLED = 1000.0  # rounds after which the bonus begins to grow


@inlined
def value(memory: Any, plays: Any, sums: Any, a: int, scale: float) -> Any:
    """g_a = (S_a + 1) / (N_a + 2) + bonus_a, where the bonus does not lift it above the ceiling."""
    n = plays[a] + 2.0
    estimate = (sums[a] + 1.0) / n
    return max(estimate, min(memory[CEILING], estimate + scale / math.sqrt(n)))


@inlined
def price(memory: Any, n_arms: int, a: int, worth: Any, highest: float) -> float:
    """The price of arm ``a``, or ``highest`` if that is more; ``worth`` holds g."""
    m, v = block(M, n_arms), block(V, n_arms)
    for b in range(n_arms):
        both = memory[v + a] + memory[v + b] + SMALLEST
        gap = memory[m + b] - memory[m + a]
        risk = memory[CAUTION] * max(0.0, worth[a] - worth[b] - gap)
        short = (highest - gap) * (highest - gap)
        # z^2 <= 2 risk / s: most arms do not set the price, and neither root nor logarithm is taken for them.
        if b != a and (gap > highest or short * short < 4.0 * risk * risk * both):
            s = math.sqrt(both)
            highest = max(highest, gap + math.sqrt(2.0 * math.log(1.0 + risk / s)) * s)
    return highest


@inlined
def optimistic_choice(memory: Any, n_arms: int, worth: Any) -> int:
    """The arm with the largest g_a minus its lowest possible price, at the favourable ends of the brackets."""
    m, v, k = block(M, n_arms), block(V, n_arms), memory[OPTIMISM]
    first = second = -np.inf  # the two highest lower ends
    top = 0
    for b in range(n_arms):
        low = memory[m + b] - k * math.sqrt(memory[v + b])
        if low > first:
            first, second, top = low, first, b
        elif low > second:
            second = low
    choice, best = 0, -np.inf
    for b in range(n_arms):
        rival = second if b == top else first
        net = worth[b] - max(0.0, rival - memory[m + b] - k * math.sqrt(memory[v + b]))
        if net > best:
            choice, best = b, net
        elif net == best and memory[m + b] > memory[m + choice]:
            choice = b
    return choice


@functools.cache
def belief_rule() -> Callable[..., int]:
    """The compiled rule; ``memory`` comes from :func:`fresh_memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        K, m, pi = offer.size, block(M, offer.size), block(OFFER, offer.size)
        if arm >= 0:
            hear(memory, plays, K, arm)
            learn(memory, K, arm, plays[arm] - 1)
        t = memory[TIME]
        scale = memory[BONUS] * max(0.0, 1.0 - t / memory[T_]) ** memory[FADE]
        scale *= math.sqrt(1.0 + memory[GROWTH] * math.log(1.0 + t / SETTLED))
        a = 0
        for b in range(K):
            offer[b] = value(memory, plays, sums, b, scale)
            if offer[b] + memory[m + b] > offer[a] + memory[m + a]:
                a = b
        amount = price(memory, K, a, offer, 0.0)
        c = offer[a] - amount  # the profit
        again = arm == memory[TESTED]  # a test that was accepted is repeated
        due = t >= memory[NEXT_TEST]
        testing = again or due or memory[EXPLORED] >= TEST_EVERY * (memory[TESTS] + 1.0)
        if memory[OPTIMISM] >= 0.0:
            choice = optimistic_choice(memory, K, offer)
            if choice != a:  # worth a test at the same profit
                a, amount = choice, max(0.0, min(offer[choice] - c, price(memory, K, choice, offer, 0.0)))
            c = np.inf
        if due:
            memory[NEXT_TEST] = TEST_AGAIN * t
        memory[TESTED] = NO_ARM
        if testing:
            memory[TESTS] += 0.0 if again else 1.0
            cut = amount * 0.5 ** (1.0 + memory[TESTS] % 3.0)
            memory[TESTED] = a if cut > 0.0 else NO_ARM
            amount -= cut
            c += cut
        for b in range(K):
            offer[b] = amount if b == a else max(0.0, offer[b] - c)
            memory[pi + b] = offer[b]
        memory[TIME] = t + 1.0
        return a

    return compile_rule(rule, trusted=True)


def fresh_memory(n_arms: int, horizon: int, parameters: dict[str, float], optimism: float) -> Floats:
    """The rule's memory before the first round."""
    memory = np.zeros(BELIEFS + 5 * n_arms)
    memory[T_] = horizon
    memory[TESTED], memory[NEXT_TEST] = NO_ARM, TEST_FROM
    memory[BONUS:BELIEFS] = *(parameters[name] for name in PARAMETERS), optimism
    memory[BELIEFS:].reshape(5, n_arms)[V] = FIRST_VARIANCE
    return memory
