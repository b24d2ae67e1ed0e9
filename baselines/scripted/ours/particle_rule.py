"""The compiled rule of the particle principal: the worth of an arm, and the best offer on average over the particles.

**Worth.** With S_a the sum of the rewards X of the N_a plays, theta_a is estimated by e_a = (S_a + 1) / (N_a + 2). With
r = 1 - t/T, the share of rounds left, an arm is worth

    g_a = max(e_a, min(``ceiling``, e_a + ``bonus`` r^``fade`` (N_a + 2)^-``decay``))
          - r (``newness`` [N_a = 0] + ``teaching`` E[rise_a]),

where rise_a is the rise of the agent's highest mean if it plays the arm and learns. A higher mean makes other arms more
expensive.

**Offer.** The price x for arm a is accepted by the particles whose cost is at most x; the others play their favourite.
With F the weight of those that accept, and V the best value of an offer if only this round counted,

    F (g_a - x) + (1 - F) (E[g of the favourite | refused] + L V) / (1 + L)

is maximised over all arms and all costs in the particles, and compared with offering nothing. L = ``patience``
min(T - t, N_a) is the number of rounds for which the answer is useful: an accepted price need not be raised again, and
after a refused one the value V is still available. With L = 0 the rule never tries a lower price where a refusal costs
more than the saving of one round.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.scripted.ours.particle_beliefs import TIE, cost, favourites, update
from baselines.scripted.ours.particle_memory import Beliefs, Entry, inlined_beliefs_of
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import NO_ARM
from pa_env.rules import compile_rule

SMALLEST_GAIN = 1e-12  # by which an offer must be better than another


@compiled
def expected_rise(own: Beliefs, a: int, n: int) -> float:
    """By how much max muhat is expected to rise if arm ``a``, with ``n`` plays so far, is played."""
    total = 0.0
    for p in range(own.weights.size):
        mean = own.means[a, p]
        rival = own.second[p] if own.favourite[p] == a else own.highest[p]
        chance = (n * mean + 1.0) / (n + 2.0)
        up, down = max(rival, (n * mean + 1.0) / (n + 1.0)), max(rival, n * mean / (n + 1.0))
        total += own.weights[p] * (1.0 - own.knows[p]) * (chance * up + (1.0 - chance) * down - own.highest[p])
    return total


@compiled
def set_worth(memory: Any, own: Beliefs, plays: Any, sums: Any) -> None:
    """Put g of every arm into ``own.worth``."""
    left = max(0.0, 1.0 - memory[Entry.TIME] / memory[Entry.HORIZON])
    bonus = memory[Entry.BONUS] * left ** memory[Entry.FADE]
    for a in range(plays.size):
        n = plays[a] + 2.0
        estimate = (sums[a] + 1.0) / n
        own.worth[a] = max(estimate, min(memory[Entry.CEILING], estimate + bonus * n ** -memory[Entry.DECAY]))
        if plays[a] == 0:
            own.worth[a] -= left * memory[Entry.NEWNESS]
        if memory[Entry.TEACHING] != 0.0:
            own.worth[a] -= left * memory[Entry.TEACHING] * expected_rise(own, a, plays[a])


@compiled
def sort(order: Any, costs: Any) -> None:
    """The indices of ``costs`` in increasing order, into ``order`` (Shell, 1959, with gaps 1, 4, 13, ...)."""
    size, gap = costs.size, 1
    for i in range(size):
        order[i] = i
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            held, j = order[i], i
            while j >= gap and costs[int(order[j - gap])] > costs[int(held)]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = held
        gap //= 3


@compiled
def best_price(own: Beliefs, a: int, later: float, status: float) -> tuple[float, float]:
    """The value of the best price for arm ``a`` with L = ``later`` and V = ``status``, and the price.

    ``short`` holds the weighted worth of each particle's favourite.
    """
    accepted, refused, best, price = 0.0, 0.0, -np.inf, 0.0
    for p in range(own.order.size):
        own.costs[p] = cost(own, a, p)
        refused += own.short[p]
    sort(own.order, own.costs)
    for k in range(own.order.size):
        p = int(own.order[k])
        accepted += own.weights[p]
        refused -= own.short[p]
        if k + 1 < own.order.size and own.costs[int(own.order[k + 1])] <= own.costs[p] + TIE:
            continue  # particles with the same cost accept it as well
        value = accepted * (own.worth[a] - own.costs[p])
        value += (refused + max(0.0, 1.0 - accepted) * later * status) / (1.0 + later)
        if value > best:
            best, price = value, own.costs[p]
    return best, price


@compiled
def best_offer(memory: Any, own: Beliefs, plays: Any, patience: float, status: float) -> tuple[float, int, float]:
    """The value of the best offer with V = ``status``, its arm or NO_ARM, and its price."""
    K, P = own.means.shape
    arm, price, best = NO_ARM, 0.0, 0.0
    for p in range(P):
        own.short[p] = own.weights[p] * own.worth[int(own.favourite[p])]
        best += own.short[p]
    left = memory[Entry.HORIZON] - memory[Entry.TIME]
    for a in range(K):  # what each particle would bring if it were paid its own cost: no price brings more
        later = patience * min(left, plays[a])
        own.bound[a] = 0.0
        for p in range(P):
            refused = (own.short[p] + later * status * own.weights[p]) / (1.0 + later)
            own.bound[a] += max(own.weights[p] * (own.worth[a] - cost(own, a, p)), refused)
    for _ in range(K):
        a = 0
        for b in range(1, K):
            a = b if own.bound[b] > own.bound[a] else a
        if own.bound[a] <= best + SMALLEST_GAIN:
            break
        own.bound[a] = -np.inf
        value, at = best_price(own, a, patience * min(left, plays[a]), status)
        if value > best + SMALLEST_GAIN:
            arm, price, best = a, at, value
    return best, arm, price


@compiled
def make_offer(memory: Any, own: Beliefs, plays: Any, sums: Any, offer: Any) -> int:
    """Write the offer that is best on the beliefs, and return its arm."""
    favourites(own)
    set_worth(memory, own, plays, sums)
    status, target, price = best_offer(memory, own, plays, 0.0, 0.0)
    if memory[Entry.PATIENCE] > 0.0:
        _, target, price = best_offer(memory, own, plays, memory[Entry.PATIENCE], status)
    for a in range(offer.size):
        offer[a] = price if a == target else 0.0
        own.offered[a] = offer[a]
    memory[Entry.TIME] += 1.0
    return target


@functools.cache
def particle_rule() -> Callable[..., int]:
    """The compiled rule; its memory comes from :func:`baselines.scripted.ours.particle_memory.fresh_memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        own = inlined_beliefs_of(memory, offer.size)
        if arm >= 0:
            update(memory, own, plays, arm)
        return make_offer(memory, own, plays, sums, offer)

    return compile_rule(rule, trusted=True)
