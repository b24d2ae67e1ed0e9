"""A trained principal: its network and its script in one compiled rule, played with NumPy and Numba alone.

Each round the rule looks at what the script believes, asks the network what to make of it, and offers that
(:mod:`baselines.rl.beliefs`). The network is that of :class:`baselines.rl.features.SetBody`: it treats arms alike, so
that a policy plays games of any number of arms.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.protocol import Principal, Rounds, follow
from baselines.rl.beliefs import FIELDS, GLOBALS, OVERALL, fresh_memory, hear, look, propose
from baselines.rl.policy_file import Policy, shapes
from pa_env.compiling import inlined
from pa_env.layout import Floats
from pa_env.rules import compile_rule

# The last numbers of the rule's memory; before them stand the script's memory and what `sections` lists.
SCRIPT, WIDTH, TANH = -3, -2, -1


def sections(n_arms: int, width: int) -> tuple[int, ...]:
    """Sizes of: the action, the view, the arms' codes and that of all, the input and output of a layer."""
    return OVERALL + n_arms, FIELDS * n_arms + GLOBALS, (n_arms + 1) * width, 2 * width + FIELDS + GLOBALS, width


@inlined
def layer(weights: Any, at: int, size: int, entry: Any, out: Any, first: int, outputs: int) -> int:
    """A linear layer of ``entry[:size]`` into ``out[first:first + outputs]``; returns where the next one's weights are.

    Weights stand input by input, so that the compiler can vectorise the inner loop.
    """
    for j in range(outputs):
        out[first + j] = weights[at + size * outputs + j]
    for i in range(size):
        if entry[i] != 0.0:
            for j in range(outputs):
                out[first + j] += weights[at + i * outputs + j] * entry[i]
    return at + (size + 1) * outputs


@inlined
def relu(values: Any, first: int, size: int) -> None:
    """max(0, .) in place."""
    for j in range(first, first + size):
        values[j] = max(0.0, values[j])


@inlined
def decide(weights: Any, view: Any, entry: Any, hidden: Any, codes: Any, action: Any) -> None:
    """The network: from the view to the action, before it is squashed."""
    n_arms, width = action.size - OVERALL, hidden.size
    rest, top = FIELDS * n_arms, n_arms * width
    at = 0
    for a in range(n_arms):
        for i in range(FIELDS):
            entry[i] = view[i * n_arms + a]
        for i in range(GLOBALS):
            entry[FIELDS + i] = view[rest + i]
        at = layer(weights, 0, FIELDS + GLOBALS, entry, hidden, 0, width)
        relu(hidden, 0, width)
        at = layer(weights, at, width, hidden, codes, a * width, width)
        relu(codes, a * width, width)
    for j in range(width):
        entry[j] = entry[width + j] = 0.0
        for a in range(n_arms):
            entry[j] += codes[a * width + j] / n_arms
            entry[width + j] = max(entry[width + j], codes[a * width + j])
    for i in range(GLOBALS):
        entry[2 * width + i] = view[rest + i]
    at = layer(weights, at, 2 * width + GLOBALS, entry, codes, top, width)
    relu(codes, top, width)
    for j in range(width):
        entry[j] = entry[width + j] = codes[top + j]
    at = layer(weights, at, width, entry, action, 0, OVERALL)
    for a in range(n_arms):
        for j in range(width):
            entry[j] = codes[a * width + j]
        layer(weights, at, 2 * width, entry, action, OVERALL + a, 1)


@functools.cache
def trained_rule() -> Callable[..., int]:
    """The rule; ``memory`` comes from :meth:`Trained.rounds`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        K, start, width = offer.size, int(memory[SCRIPT]), int(memory[WIDTH])
        action = memory[start : start + OVERALL + K]
        start += OVERALL + K
        view = memory[start : start + FIELDS * K + GLOBALS]
        start += FIELDS * K + GLOBALS
        codes = memory[start : start + (K + 1) * width]
        start += (K + 1) * width
        entry = memory[start : start + 2 * width + FIELDS + GLOBALS]
        start += 2 * width + FIELDS + GLOBALS
        hidden, weights = memory[start : start + width], memory[start + width :]

        hear(memory, K, plays, arm)
        look(memory, K, plays, sums, arm, view)
        decide(weights, view, entry, hidden, codes, action)
        for i in range(OVERALL + K):
            action[i] = math.tanh(action[i]) if memory[TANH] else min(1.0, max(-1.0, action[i]))
        return propose(memory, plays, sums, action, offer)

    return compile_rule(rule, trusted=True)


class Trained(Principal):
    """A principal that plays a :class:`~baselines.rl.policy_file.Policy`; :func:`baselines.rl.load` reads one.

    A policy is at its best on the task that it was trained for, which ``metadata`` names; other numbers of arms and
    horizons are played too.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        policy: weights and what they are.
    """

    def __init__(self, n_arms: int, horizon: int, policy: Policy) -> None:
        self.metadata = policy.metadata
        self._weights = [
            np.ascontiguousarray(policy.weights[name].T, np.float64).ravel()
            for name in shapes(policy.metadata["width"])
        ]
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(trained_rule(), self._memory(), self.horizon)

    def _memory(self) -> Floats:
        script = fresh_memory(self.n_arms, self.horizon, self.metadata["parameters"])
        width = self.metadata["width"]
        scratch = np.zeros(sum(sections(self.n_arms, width)))
        ends = np.array([script.size, width, self.metadata["squash"] == "tanh"], np.float64)
        return np.concatenate([script, scratch, *self._weights, ends])
