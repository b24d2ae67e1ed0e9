"""Searches for the incentive that makes an agent play an arm (Liu & Ratliff, ICML 2025)."""

import math
from collections.abc import Generator

from baselines.principal import Hold, Outcome, hold
from baselines.scripted.paper.phased import Phased

Search = Generator[Hold, Outcome, float]


def asymmetric_search(principal: Phased, arm: int) -> Search:
    """Noisy binary search with asymmetric check (the paper's Algorithm 3): an incentive just above pi*_a(t).

    The result b satisfies b - pi*_a(t) in (0, 4/T + L/N_a(t) + 2/min_i N_i(t)] with L = ceil(log2 T). A search takes at
    most 3L - 1 rounds: a check may follow each failure that C1 does not stop (the paper says 2L). Counts N = 0 are
    taken as 1. With unknown initial means the agent's means reach 2, which doubles the range.
    """
    T = principal.horizon
    L = math.ceil(math.log2(principal.ceiling * T))
    low, high = 0.0, principal.ceiling  # y_a underlined and overlined
    upper = high  # y_a^upper: the last incentive that was accepted
    tries, checks = 0, 0  # C_1, C_2
    check = False
    while True:
        if not check:
            middle = (high + low) / 2
            tries += 1
            outcome = yield hold(arm, middle)
            if outcome.plays[arm]:
                if tries >= L:
                    return middle + 1 / T
                upper = high = middle
            else:
                check, low = True, middle
        else:
            before = principal.plays.copy()  # N(t), before this round
            outcome = yield hold(arm, upper)
            if not outcome.plays[arm]:
                return upper + 1 / T + 1 / max(1, int(before[arm])) + 2 / max(1, int(before.min()))
            checks += 1
            if checks == L:
                return upper + 2 / T
            check = False


def binary_search(arm: int, horizon: int, ceiling: float = 1.0) -> Search:
    """Bisection of [0, ceiling] for an agent with fixed means: exactly L = ceil(log2(ceiling T)) rounds.

    Returns the upper end of the last interval.
    """
    low, high = 0.0, ceiling
    for _ in range(math.ceil(math.log2(ceiling * horizon))):
        middle = (high + low) / 2
        outcome = yield hold(arm, middle)
        low, high = (low, middle) if outcome.plays[arm] else (middle, high)
    return high
