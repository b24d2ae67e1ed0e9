"""How policy files of version 0.1 are played: a network that steers the profit target. None is trained any more.

Such a policy believes what :mod:`baselines.scripted.profit_target` believes, and offers what it offers, but for an
action of 2 + K numbers from -1 to 1:

| action | what it does |
|---|---|
| 0 | multiplies the bonus, the optimism about theta, by exp(2 u) |
| 1 | moves the price by 3 u standard deviations of what it rests on, from below 0 if the arm would win anyway |
| 2 + a | adds u / 2 to what arm a is held to be worth |
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.protocol import Rounds, follow
from baselines.rl.policy_file import STEERED
from baselines.rl.trained import Trained, decide
from baselines.scripted import profit_target as script
from baselines.scripted.profit_target import BELIEFS, BONUS, EXPLORED, FADE, GROWTH, RUN, T_, TIME
from pa_env.compiling import inlined
from pa_env.layout import Floats
from pa_env.rules import compile_rule

FIELDS, OVERALL, ACTIONS, EACH = STEERED
BONUS_RANGE, PRICE_RANGE, WORTH_RANGE = 2.0, 3.0, 0.5
MOST = 4.0  # incentive that is ever offered: the bound of the game by default
SCRIPT, WIDTH, TANH = -3, -2, -1  # the last numbers of the memory: where the script's own ends, and the network's


@inlined
def hear(memory: Any, n_arms: int, plays: Any, arm: int) -> None:
    """Take in the answer ``arm`` to the last offer, unless it is NO_ARM."""
    if arm >= 0:
        script.hear(memory, plays, n_arms, arm)
        script.learn(memory, n_arms, arm, plays[arm] - 1)


@inlined
def look(memory: Any, n_arms: int, plays: Any, sums: Any, arm: int, view: Any) -> None:
    """Write what the script knows after its last answer ``arm`` (or NO_ARM) into ``view``, numbers of order 1.

    Fields: theta_hat and its standard error; log of plays; m, its distance to the largest, sqrt(v); the last offer;
    whether it was played; theta_hat + m, and its distance to the largest. Then t/T, log(1 + t), log(1 + T - t), the
    share of rounds explored, surprises in a row, the largest m.
    """
    m, v, pi = BELIEFS, BELIEFS + n_arms, BELIEFS + 2 * n_arms
    highest = joint = -np.inf
    for a in range(n_arms):
        highest = max(highest, memory[m + a])
        joint = max(joint, memory[m + a] + (sums[a] + 1.0) / (plays[a] + 2.0))
    for a in range(n_arms):
        estimate = (sums[a] + 1.0) / (plays[a] + 2.0)
        view[a] = estimate - 0.5
        view[n_arms + a] = math.sqrt(estimate * (1.0 - estimate) / (plays[a] + 2.0)) * 4.0
        view[2 * n_arms + a] = math.log(1.0 + plays[a]) / 4.0
        view[3 * n_arms + a] = memory[m + a]
        view[4 * n_arms + a] = memory[m + a] - highest
        view[5 * n_arms + a] = math.sqrt(memory[v + a]) * 4.0
        view[6 * n_arms + a] = memory[pi + a]
        view[7 * n_arms + a] = 1.0 if a == arm else 0.0
        view[8 * n_arms + a] = estimate + memory[m + a] - 0.5
        view[9 * n_arms + a] = estimate + memory[m + a] - joint
    t, rest = memory[TIME], FIELDS * n_arms
    view[rest] = t / memory[T_]
    view[rest + 1] = math.log(1.0 + t) / 5.0
    view[rest + 2] = math.log(1.0 + memory[T_] - t) / 5.0
    view[rest + 3] = memory[EXPLORED] / (t + script.WARM_UP)
    view[rest + 4] = min(memory[RUN], 3.0)
    view[rest + 5] = highest


@inlined
def propose(memory: Any, plays: Any, sums: Any, action: Any, offer: Any) -> int:
    """Write the offer that ``action`` asks for; returns the arm that is meant to be played."""
    n_arms = offer.size
    m, v, pi = BELIEFS, BELIEFS + n_arms, BELIEFS + 2 * n_arms
    t = memory[TIME]
    scale = memory[BONUS] * math.exp(BONUS_RANGE * action[0]) * max(0.0, 1.0 - t / memory[T_]) ** memory[FADE]
    scale *= math.sqrt(1.0 + memory[GROWTH] * math.log(1.0 + t / script.SETTLED))
    target = 0
    for a in range(n_arms):
        offer[a] = script.value(memory, plays, sums, a, scale) + WORTH_RANGE * action[ACTIONS + a]
        if offer[a] + memory[m + a] > offer[target] + memory[m + target]:
            target = a
    rival = 1 if target == 0 and n_arms > 1 else 0
    for a in range(n_arms):
        if a != target and memory[m + a] > memory[m + rival]:
            rival = a
    doubt = math.sqrt(memory[v + target] + memory[v + rival])
    price = max(0.0, script.price(memory, n_arms, target, offer, -np.inf) + PRICE_RANGE * action[1] * doubt)
    profit = offer[target] - price
    for a in range(n_arms):
        offer[a] = min(MOST, price if a == target else max(0.0, offer[a] - profit))
        memory[pi + a] = offer[a]
    memory[TIME] = t + 1.0
    return target


@functools.cache
def steered_rule() -> Callable[..., int]:
    """The rule; ``memory`` comes from :meth:`Steered.memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        K, start, width = offer.size, int(memory[SCRIPT]), int(memory[WIDTH])
        action = memory[start : start + ACTIONS + K]
        start += ACTIONS + K
        view = memory[start : start + FIELDS * K + OVERALL]
        start += FIELDS * K + OVERALL
        entry = memory[start : start + 2 * width + FIELDS + OVERALL]
        start += 2 * width + FIELDS + OVERALL
        hidden, codes = memory[start : start + width], memory[start + width : start + (K + 2) * width]
        weights = memory[start + (K + 2) * width :]

        hear(memory, K, plays, arm)
        look(memory, K, plays, sums, arm, view)
        decide(weights, view, entry, hidden, codes, action, FIELDS, OVERALL, ACTIONS, EACH)
        for i in range(ACTIONS + K):
            action[i] = math.tanh(action[i]) if memory[TANH] else min(1.0, max(-1.0, action[i]))
        return propose(memory, plays, sums, action, offer)

    return compile_rule(rule, trusted=True)


class Steered(Trained):
    """A principal that plays a policy of version 0.1; its arguments are those of :class:`Trained`."""

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(steered_rule(), self.memory(), self.horizon)

    def memory(self) -> Floats:
        """The rule's memory before the first round."""
        k, width = self.n_arms, self.metadata["width"]
        principal = script.ProfitTarget(k, self.horizon, **self.metadata["parameters"])
        own = script.fresh_memory(k, self.horizon, principal.parameters, principal.optimism)
        parts = ACTIONS + k, FIELDS * k + OVERALL, 2 * width + FIELDS + OVERALL, (k + 2) * width
        ends = np.array([own.size, width, self.metadata["squash"] == "tanh"], np.float64)
        return np.concatenate([own, np.zeros(sum(parts)), *self._weights, ends])
