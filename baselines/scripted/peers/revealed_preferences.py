"""Bounds that an agent's answers set on the differences of its means s, and the smallest s within them.

An agent that plays arm k when pi is offered has s_a - s_k <= pi_k - pi_a for every a. ``limits[k, a]`` is the smallest
such bound so far, infinite at first and for a = k.
"""

from pa_env.kernel.compiling import inlined
from pa_env.kernel.layout import Floats

TOLERANCE = 1e-10  # by which every bound is loosened, so that rounding contradicts nothing


@inlined
def tighten(limits: Floats, offer: Floats, arm: int) -> bool:
    """Record that ``arm`` was played at this offer. Returns whether a bound has changed."""
    changed = False
    for a in range(offer.size):
        if a != arm and offer[arm] - offer[a] < limits[arm, a]:
            limits[arm, a] = offer[arm] - offer[a]
            changed = True
    return changed


@inlined
def smallest_means(limits: Floats, s: Floats) -> bool:
    """Write into ``s`` the smallest point of [0, 1]^K within the limits. Returns whether there is one.

    It is smallest in every component at once: s_k is the length of the longest path to k, with edges of length
    -``limits[k, a]`` from a to k (Bellman & Ford). If there is no such point, ``s`` is meaningless.
    """
    n_arms = s.size
    for k in range(n_arms):
        s[k] = 0.0
    for _ in range(n_arms):  # a path has at most n_arms - 1 edges: if the last pass changes anything, there is a cycle
        settled = True
        for k in range(n_arms):
            lowest = s[k]
            for a in range(n_arms):
                if s[a] - limits[k, a] - TOLERANCE > lowest:
                    lowest = s[a] - limits[k, a] - TOLERANCE
            if lowest > s[k]:
                s[k] = lowest
                settled = False
                if lowest > 1.0:
                    return False
        if settled:
            return True
    return False
