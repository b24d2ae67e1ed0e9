"""A trained principal: its network in one compiled rule, played with NumPy and Numba alone.

Each round the rule writes down what :func:`pa_env.wrappers.ForLearning` would show, and asks the network how likely
each rung of each arm's ladder of prices is. It offers the likeliest, or draws one with the principal's seed if that was
measurably better when the policy was trained. The network is that of :class:`baselines.rl.features.SetActorCritic`: it
treats arms alike, so that a policy plays games of any number of arms.
"""

import functools
import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from baselines.protocol import Principal, Rounds, follow
from baselines.rl.policy_file import Policy, shapes
from pa_env.compiling import inlined
from pa_env.kernel.draws import uniform
from pa_env.layout import ABOVE, BLOCKS, LOG_SCALE, OVERALL, RUNGS, STEP, UNTRIED, Block, Floats, Overall
from pa_env.rules import compile_rule

NEVER = 4.0  # the smallest offer that an arm accepted before it has accepted any: the game's largest by default


class Entry(IntEnum):
    """First numbers of the rule's memory; after them stand what :func:`sections` lists, and the weights."""

    HORIZON = 0
    WIDTH = 1
    SAMPLED = 2  # 1 if actions are drawn, 0 if the likeliest are played
    KEY = 3  # of the draws, an integer below 2^53


ENTRIES = len(Entry)


def sections(n_arms: int, width: int) -> tuple[int, ...]:
    """Sizes of the parts of the memory between its first numbers and the weights.

    They are: largest refused, smallest accepted and last offers; the observation; the input and the inner layer of a
    perceptron; the codes of the arms and of all; the values of all rungs.
    """
    return (
        *(n_arms, n_arms, n_arms, BLOCKS * n_arms + OVERALL),
        *(2 * width + BLOCKS + OVERALL, width, (n_arms + 1) * width, RUNGS * n_arms),
    )


@inlined
def hear(refused: Any, accepted: Any, offered: Any, arm: int) -> None:
    """Take in that ``arm`` was played at these offers, as :func:`pa_env.kernel.observations.update_summary` does."""
    low, high = min(refused[arm], offered[arm]), min(accepted[arm], offered[arm])
    for b in range(offered.size):
        refused[b] = max(refused[b], offered[b])
        accepted[b] = max(accepted[b], offered[b])
    refused[arm], accepted[arm] = low, high


@inlined
def look(memory: Any, refused: Any, accepted: Any, offered: Any, plays: Any, sums: Any, arm: int, view: Any) -> None:
    """Write the observation "learning" (:mod:`pa_env.spaces`), but for the last reward, into ``view``."""
    n_arms, horizon, t = plays.size, memory[Entry.HORIZON], 0
    for a in range(n_arms):
        t += plays[a]
        share = horizon * np.float64(np.float32(plays[a] / horizon))
        view[Block.PLAYED * n_arms + a] = 1.0 if a == arm else 0.0
        view[Block.THETA_HAT * n_arms + a] = np.float32(sums[a] / max(1, plays[a]))
        view[Block.PLAY_SHARE * n_arms + a] = np.float32(math.log1p(share) / LOG_SCALE)
        view[Block.REFUSED * n_arms + a] = refused[a]
        view[Block.ACCEPTED * n_arms + a] = accepted[a]
        if plays[a] == 0:
            view[Block.ACCEPTED * n_arms + a] = np.float32(refused[a]) + np.float32(UNTRIED)
        view[Block.OFFER * n_arms + a] = offered[a]
    view[BLOCKS * n_arms + Overall.TIME] = np.float32(t / horizon)


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
def decide(
    weights: Any,
    view: Any,
    entry: Any,
    hidden: Any,
    codes: Any,
    out: Any,
    fields: int,
    overall: int,
    some: int,
    each: int,
) -> None:
    """The network: from the observation to ``some`` numbers, then ``each`` numbers for each arm, into ``out``.

    ``view`` holds ``fields`` numbers for each arm, field by field, then ``overall`` numbers.
    """
    width = hidden.size
    n_arms = codes.size // width - 1
    rest, top = fields * n_arms, n_arms * width
    at = 0
    for a in range(n_arms):
        for i in range(fields):
            entry[i] = view[i * n_arms + a]
        for i in range(overall):
            entry[fields + i] = view[rest + i]
        at = layer(weights, 0, fields + overall, entry, hidden, 0, width)
        relu(hidden, 0, width)
        at = layer(weights, at, width, hidden, codes, a * width, width)
        relu(codes, a * width, width)
    for j in range(width):
        entry[j] = entry[width + j] = 0.0
        for a in range(n_arms):
            entry[j] += codes[a * width + j] / n_arms
            entry[width + j] = max(entry[width + j], codes[a * width + j])
    for i in range(overall):
        entry[2 * width + i] = view[rest + i]
    at = layer(weights, at, 2 * width + overall, entry, codes, top, width)
    relu(codes, top, width)
    for j in range(width):
        entry[j] = entry[width + j] = codes[top + j]
    if some:
        at = layer(weights, at, width, entry, out, 0, some)
    for a in range(n_arms):
        for j in range(width):
            entry[j] = codes[a * width + j]
        layer(weights, at, 2 * width, entry, out, some + a * each, each)


@inlined
def drawn(logits: Any, u: float) -> int:
    """The action to which a number u, uniform in [0, 1), belongs when actions have these logits."""
    highest, total = -np.inf, 0.0
    for i in range(logits.size):
        highest = max(highest, logits[i])
    for i in range(logits.size):
        total += math.exp(logits[i] - highest)
    chosen, left = 0, u * total - math.exp(logits[0] - highest)
    while left >= 0.0 and chosen < logits.size - 1:
        chosen += 1
        left -= math.exp(logits[chosen] - highest)
    return chosen


@inlined
def price(rung: int, refused: float, accepted: float, tried: bool, most: float) -> float:
    """A rung of an arm's ladder, as :func:`pa_env.wrappers.ForLearning` makes it."""
    high = refused + UNTRIED
    if tried:
        high = max(refused, np.float64(np.nextafter(np.float32(accepted), np.float32(np.inf))))
    if rung == 0:
        return min(most, refused + STEP)
    if rung == 1:
        return min(most, refused + STEP + 0.1 * (high - refused))
    if rung == 2:
        return min(most, (refused + high) / 2)
    return min(most, high if rung == 3 else high + ABOVE)


@functools.cache
def trained_rule() -> Callable[..., int]:
    """The rule; ``memory`` comes from :meth:`Trained.memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        K, width = offer.size, int(memory[Entry.WIDTH])
        start = ENTRIES
        refused, accepted = memory[start : start + K], memory[start + K : start + 2 * K]
        offered = memory[start + 2 * K : start + 3 * K]
        start += 3 * K
        view = memory[start : start + BLOCKS * K + OVERALL]
        start += BLOCKS * K + OVERALL
        entry = memory[start : start + 2 * width + BLOCKS + OVERALL]
        start += 2 * width + BLOCKS + OVERALL
        hidden, codes = memory[start : start + width], memory[start + width : start + (K + 2) * width]
        start += (K + 2) * width
        logits, weights = memory[start : start + RUNGS * K], memory[start + RUNGS * K :]

        if arm >= 0:
            hear(refused, accepted, offered, arm)
        look(memory, refused, accepted, offered, plays, sums, arm, view)
        view[BLOCKS * K + Overall.REWARD] = np.float32(reward)
        decide(weights, view, entry, hidden, codes, logits, BLOCKS, OVERALL, 0, RUNGS)
        chosen = 0
        if memory[Entry.SAMPLED]:
            chosen = drawn(logits, uniform(np.uint64(memory[Entry.KEY]), plays.sum() + 1))
        else:
            for i in range(logits.size):
                chosen = i if logits[i] > logits[chosen] else chosen
        target, most = chosen // RUNGS, 1.0 + 1.0 / memory[Entry.HORIZON]
        offer[target] = price(chosen % RUNGS, refused[target], accepted[target], plays[target] > 0, most)
        for a in range(K):
            offered[a] = np.float32(offer[a])  # the game's summary is in float32
        return target

    return compile_rule(rule, trusted=True)


class Trained(Principal):
    """A principal that plays a :class:`~baselines.rl.policy_file.Policy`; :func:`baselines.rl.load` reads one.

    A policy is at its best on the task that it was trained for, which ``metadata`` names; other numbers of arms and
    horizons are played too. It offers at most 1 + 1/horizon.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        policy: weights and what they are.
    """

    def __init__(self, n_arms: int, horizon: int, policy: Policy) -> None:
        self.metadata = policy.metadata
        self._weights = [
            np.ascontiguousarray(policy.weights[name].T, np.float64).ravel()
            for name in shapes(policy.metadata["format"], policy.metadata["width"])
        ]
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(trained_rule(), self.memory(), self.horizon)

    def memory(self) -> Floats:
        """The rule's memory before the first round."""
        k, width = self.n_arms, self.metadata["width"]
        parts = np.zeros(sum(sections(k, width)))
        parts[k : 2 * k] = NEVER
        sampled = self.metadata["sampled"]
        first = [self.horizon, width, sampled, self.rng.integers(2**53) if sampled else 0]
        return np.concatenate([np.array(first, np.float64), parts, *self._weights])
