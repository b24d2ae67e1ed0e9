"""A trained principal: its beliefs and its network in one compiled rule, played with NumPy and Numba alone.

Each round the rule updates particle beliefs about the agent, writes down what there is to see
(:mod:`baselines.rl.view`) and asks the network how likely each price of each arm is. It offers the likeliest, or draws
one with the principal's seed if that was measurably better when the policy was trained. The network is that of
:class:`baselines.rl.networks.SetActorCritic`: it treats arms alike, so that a policy plays games of any number of arms.
"""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.rl.policy_file import Policy, read, shapes
from baselines.rl.view import FIELDS, OVERALL, RUNGS, Sight, observe
from baselines.scripted.ours.particle_filter import (
    Draw,
    Entry,
    fresh_memory,
    number,
    particle_beliefs,
    particle_memory_size,
    round_key,
)
from pa_env.checks import whole
from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.layout import Floats
from pa_env.rules import compile_rule

PARTICLES = 64
WEIGHTS = Path(__file__).parent / "weights"  # of policies that come with the package


class Network(NamedTuple):
    """A network and its room, in the memory after the beliefs; K arms."""

    seen: Any  # (FIELDS K + OVERALL,)
    prices: Any  # (RUNGS, K)
    entry: Any  # (2 width + FIELDS + OVERALL,), the input of a layer
    hidden: Any  # (width,)
    codes: Any  # (K + 1, width), of the arms and of all of them together
    logits: Any  # (K, RUNGS)
    weights: Any  # layer by layer, input by input, then the biases: so the compiler can vectorise the inner loops


def network_of(memory: Any, start: int, n_arms: int) -> Network:
    """The network in a memory, not copied. At ``start`` stand its width, and whether actions are drawn."""
    width, view = int(memory[start]), start + 2
    prices = view + FIELDS * n_arms + OVERALL
    entry = prices + RUNGS * n_arms
    hidden = entry + 2 * width + FIELDS + OVERALL
    codes = hidden + width
    logits = codes + (n_arms + 1) * width
    weights = logits + RUNGS * n_arms
    return Network(
        memory[view:prices],
        memory[prices:entry].reshape(RUNGS, n_arms),
        memory[entry:hidden],
        memory[hidden:codes],
        memory[codes:logits].reshape(n_arms + 1, width),
        memory[logits:weights].reshape(n_arms, RUNGS),
        memory[weights:],
    )


def room(n_arms: int, width: int) -> int:
    """How many numbers of the memory stand between the beliefs and the weights."""
    return 2 + (FIELDS + 2 * RUNGS) * n_arms + (n_arms + 4) * width + FIELDS + 2 * OVERALL


inlined_network_of = inlined(network_of)


@compiled
def layer(weights: Any, at: int, entry: Any, out: Any) -> int:
    """A linear layer; returns where the weights of the next one begin."""
    size: int = entry.size
    outputs: int = out.size
    for j in range(outputs):
        out[j] = weights[at + size * outputs + j]
    for i in range(size):
        if entry[i] != 0.0:
            for j in range(outputs):
                out[j] += weights[at + i * outputs + j] * entry[i]
    return at + (size + 1) * outputs


@compiled
def relu(values: Any) -> None:
    """max(0, .) in place."""
    for j in range(values.size):
        values[j] = max(0.0, values[j])


@compiled
def copy(source: Any, target: Any) -> None:
    """Numbers of one array to the beginning of another; compiled slices would need Numba's reference counts."""
    for i in range(source.size):
        target[i] = source[i]


@compiled
def decide(net: Network) -> None:
    """From the view to the logits, as the actor of :class:`baselines.rl.networks.SetActorCritic`."""
    K, width, entry, at = net.logits.shape[0], net.hidden.size, net.entry, 0
    overall = net.seen[FIELDS * K :]
    for a in range(K):
        for i in range(FIELDS):
            entry[i] = net.seen[i * K + a]
        copy(overall, entry[FIELDS:])
        at = layer(net.weights, 0, entry[: FIELDS + OVERALL], net.hidden)
        relu(net.hidden)
        at = layer(net.weights, at, net.hidden, net.codes[a])
        relu(net.codes[a])
    for j in range(width):
        entry[j] = entry[width + j] = 0.0
        for a in range(K):
            entry[j] += net.codes[a, j] / K
            entry[width + j] = max(entry[width + j], net.codes[a, j])
    copy(overall, entry[2 * width :])
    at = layer(net.weights, at, entry[: 2 * width + OVERALL], net.codes[K])
    relu(net.codes[K])
    copy(net.codes[K], entry[width:])
    for a in range(K):
        copy(net.codes[a], entry)
        layer(net.weights, at, entry[: 2 * width], net.logits[a])


@compiled
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


@functools.cache
def trained_rule() -> Callable[..., int]:
    """The rule; ``memory`` comes from :meth:`Trained.memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        start = particle_memory_size(memory, offer.size)
        net, own = inlined_network_of(memory, start, offer.size), particle_beliefs(memory, offer.size)
        observe(memory, plays, sums, arm, reward, Sight(net.seen, net.prices))
        decide(net)
        logits, chosen = net.logits.reshape(net.logits.size), 0
        if memory[start + 1] == 1.0:
            chosen = drawn(logits, number(round_key(memory), own, Draw.ACTION, 0))
        else:
            for i in range(logits.size):
                chosen = i if logits[i] > logits[chosen] else chosen
        target, rung = chosen // RUNGS, chosen % RUNGS
        for a in range(offer.size):
            offer[a] = own.offered[a] = net.prices[rung, a] if a == target else 0.0
        memory[Entry.TIME] += 1.0
        return target

    return compile_rule(rule, trusted=True)


class Trained(Principal):
    """A principal that plays a :class:`~baselines.rl.policy_file.Policy`; :func:`baselines.rl.load` reads one.

    A policy is at its best on the tasks that it was trained for, which ``metadata`` names; other numbers of arms and
    horizons are played too.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        policy: weights and what they are.
        particles: possible agents that are tracked, from 1 to 100,000.
    """

    def __init__(self, n_arms: int, horizon: int, policy: Policy, particles: int = PARTICLES) -> None:
        self.metadata, self.particles = policy.metadata, whole("particles", particles, 1, 100_000)
        self._weights = [
            np.ascontiguousarray(policy.weights[name].T, np.float64).ravel()
            for name in shapes(policy.metadata["width"])
        ]
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(trained_rule(), self.memory(), self.horizon)

    def memory(self) -> Floats:
        """The rule's memory before the first round."""
        beliefs = fresh_memory(self.n_arms, self.particles, self.rng)
        beliefs[Entry.HORIZON] = self.horizon
        between = np.zeros(room(self.n_arms, self.metadata["width"]))
        between[:2] = self.metadata["width"], self.metadata["sampled"]
        return np.concatenate([beliefs, between, *self._weights])


class PPO(Trained):
    """The policy that comes with the package: one network, trained by PPO on sixteen tasks with five arms.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
    """

    name = "ppo"
    longest = 1000
    weights: ClassVar[Path] = WEIGHTS / "ppo.npz"

    def __init__(self, n_arms: int, horizon: int) -> None:
        super().__init__(n_arms, horizon, read(self.weights))
