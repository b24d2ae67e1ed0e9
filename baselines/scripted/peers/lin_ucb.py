"""LinUCB on the principal's net reward at known prices: the second half of C-IPA.

Source: Abbasi-Yadkori, Pal & Szepesvari, "Improved Algorithms for Linear Stochastic Bandits" (NeurIPS 2011), with ridge
parameter 1. The radius after n rounds is 2 + noise sqrt(2 log T + d log(1 + n/d)), where 2 bounds |nu + z|.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.principal import Follow, Principal, follow
from pa_env.kernel.layout import Floats
from pa_env.rules import compile_rule

# Memory of the rule: d, noise, 2 log T, rounds so far n, max_b <z, b>; then pihat (K), arms (K d), V^-1 (d d),
# the sum of y A (d), and scratch space (d).
DIM, NOISE, LOG, HEARD, LARGEST, INCENTIVES = range(6)


def lin_ucb(principal: Principal, arms: Floats, values: Floats, noise: float) -> Follow:
    """A request for the rest of the game, LinUCB at the prices of an agent with the means ``values`` (n_arms,)."""
    dim = arms.shape[1]
    incentives = values.max() - values + 2 / principal.horizon  # pihat
    head = [dim, noise, 2 * math.log(principal.horizon), 0.0, values.max()]
    rest = (incentives, arms.ravel(), np.eye(dim).ravel(), np.zeros(2 * dim))
    return follow(lin_ucb_rule(), np.concatenate([head, *rest]), principal.horizon)


@functools.cache
def lin_ucb_rule() -> Callable[..., int]:
    """The compiled rule; V^-1 follows V = I + sum of A A' by the Sherman-Morrison formula."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        n_arms, d = plays.size, int(memory[DIM])
        incentives = memory[INCENTIVES:]
        arms = incentives[n_arms:]
        inverse = arms[n_arms * d :]
        moments = inverse[d * d :]
        scratch = moments[d:]
        if arm >= 0:
            memory[HEARD] += 1
            y = reward - incentives[arm] + memory[LARGEST]
            scale = 1.0
            for i in range(d):
                scratch[i] = 0.0
                moments[i] += y * arms[arm * d + i]
                for j in range(d):
                    scratch[i] += inverse[i * d + j] * arms[arm * d + j]
                scale += scratch[i] * arms[arm * d + i]
            for i in range(d):
                for j in range(d):
                    inverse[i * d + j] -= scratch[i] * scratch[j] / scale
        radius = 2 + memory[NOISE] * math.sqrt(memory[LOG] + d * math.log(1 + memory[HEARD] / d))
        target, best = 0, -np.inf
        for b in range(n_arms):
            offer[b] = 0.0
            mean, variance = 0.0, 0.0
            for i in range(d):
                product = 0.0
                for j in range(d):
                    product += inverse[i * d + j] * arms[b * d + j]
                mean += product * moments[i]
                variance += product * arms[b * d + i]
            index = mean + radius * math.sqrt(max(0.0, variance))
            if index > best:
                target, best = b, index
        offer[target] = incentives[target]
        return target

    return compile_rule(rule, trusted=True)
