"""A trained principal: its beliefs and its network in one compiled rule, played with NumPy and Numba alone.

Each round the rule updates particle beliefs about the agent, writes down what there is to see
(:mod:`baselines.rl.view`) and asks the network how likely each price of each arm is. It offers the likeliest, or draws
one with the principal's seed if that was measurably better when the policy was trained. The network is the actor of
:class:`baselines.rl.networks.SetActorCritic`: it treats arms alike, so that a policy plays games of any number of arms.
"""

import functools
import math
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.rl.policy_file import Policy, read
from baselines.rl.view import FIELDS, OVERALL, RUNGS, Sight, observe
from baselines.scripted.memory import N_ARMS, Layout
from baselines.scripted.ours.particle_filter import (
    Draw,
    ParticleEntry,
    fresh_memory,
    number,
    particle_beliefs,
    particle_memory_size,
    round_key,
)
from pa_env.checks import whole
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import Floats
from pa_env.rules import Rule, compile_rule

PARTICLES = 64
WEIGHTS = Path(__file__).parent / "weights"  # of policies that come with the package


class Number(IntEnum):
    """Indices of single numbers in the network's memory, which stands after that of the beliefs."""

    SAMPLED = 0  # 1 if actions are drawn, 0 if the likeliest is played
    WIDTH = 1
    SEEN = 2  # FIELDS K + OVERALL
    # Rows of layers: one for each input, then the biases. So the compiler can vectorise the loops over outputs.
    ARM_OUT = 3
    TOGETHER = 4
    MIX = 5  # 0 unless the head is deep
    ARM = 6


class Network(NamedTuple):
    """The layers under their names in :mod:`baselines.rl.networks`, and room for what they see and return; K arms."""

    seen: Annotated[Any, Number.SEEN]
    prices: Annotated[Any, RUNGS, N_ARMS]
    fields: Annotated[Any, FIELDS]  # of one arm
    shared: Annotated[Any, Number.WIDTH]  # what all arms share of a layer
    offset: Annotated[Any, RUNGS]  # likewise, of the last layer
    hidden: Annotated[Any, Number.WIDTH]
    mean: Annotated[Any, Number.WIDTH]  # of the codes
    highest: Annotated[Any, Number.WIDTH]
    code: Annotated[Any, Number.WIDTH]  # of all arms
    codes: Annotated[Any, N_ARMS, Number.WIDTH]
    logits: Annotated[Any, N_ARMS, RUNGS]
    arm_in: Annotated[Any, FIELDS + OVERALL + 1, Number.WIDTH]
    arm_out: Annotated[Any, Number.ARM_OUT, Number.WIDTH]
    together: Annotated[Any, Number.TOGETHER, Number.WIDTH]
    mix: Annotated[Any, Number.MIX, Number.WIDTH]
    arm: Annotated[Any, Number.ARM, RUNGS]


NETWORK = Layout(Number, Network)
network_in = NETWORK.compiled


@compiled
def copy(source: Any, target: Any) -> None:
    """Copy numbers; assigning a slice would need Numba's reference counts."""
    for i in range(target.size):
        target[i] = source[i]


@compiled
def add(rows: Any, inputs: Any, outputs: Any) -> None:
    """Add to a layer's outputs what these inputs contribute by their rows of its weights."""
    for i in range(inputs.size):
        value = inputs[i]
        if value != 0.0:
            for j in range(outputs.size):
                outputs[j] += rows[i, j] * value


@compiled
def relu(values: Any) -> None:
    """max(0, .) in place."""
    for j in range(values.size):
        values[j] = max(0.0, values[j])


@compiled
def decide(net: Network) -> None:
    """Compute the logits of the view, as the actor does. What all arms share is computed once."""
    K, width = net.codes.shape
    overall = net.seen[FIELDS * K :]
    copy(net.arm_in[FIELDS + OVERALL], net.shared)
    add(net.arm_in[FIELDS:], overall, net.shared)
    for a in range(K):
        for i in range(FIELDS):
            net.fields[i] = net.seen[i * K + a]
        copy(net.shared, net.hidden)
        add(net.arm_in, net.fields, net.hidden)
        relu(net.hidden)
        copy(net.arm_out[width], net.codes[a])
        add(net.arm_out, net.hidden, net.codes[a])
        relu(net.codes[a])
    pool(net)
    copy(net.together[2 * width + OVERALL], net.code)
    add(net.together, net.mean, net.code)
    add(net.together[width:], net.highest, net.code)
    add(net.together[2 * width :], overall, net.code)
    relu(net.code)
    if net.mix.shape[0] > 0:
        decide_deep(net)
        return
    copy(net.arm[2 * width], net.offset)
    add(net.arm[width:], net.code, net.offset)
    for a in range(K):
        copy(net.offset, net.logits[a])
        add(net.arm, net.codes[a], net.logits[a])


@compiled
def pool(net: Network) -> None:
    """The mean and the maximum of the arms' codes, which are not negative."""
    K, width = net.codes.shape
    for j in range(width):
        net.mean[j] = net.highest[j] = 0.0
    for a in range(K):
        for j in range(width):
            net.mean[j] += net.codes[a, j] / K
            net.highest[j] = max(net.highest[j], net.codes[a, j])


@compiled
def decide_deep(net: Network) -> None:
    """Compute the logits of the codes by a deep head."""
    K, width = net.codes.shape
    copy(net.mix[2 * width], net.shared)
    add(net.mix[width:], net.code, net.shared)
    for a in range(K):
        copy(net.shared, net.hidden)
        add(net.mix, net.codes[a], net.hidden)
        relu(net.hidden)
        copy(net.arm[width], net.logits[a])
        add(net.arm, net.hidden, net.logits[a])


@compiled
def draw_action(logits: Any, u: float) -> int:
    """The action to which a number u, uniform in [0, 1), belongs when actions have these logits."""
    highest, total = -np.inf, 0.0
    for i in range(logits.size):
        highest = max(highest, logits[i])
    for i in range(logits.size):
        total += math.exp(logits[i] - highest)
    action, left = 0, u * total - math.exp(logits[0] - highest)
    while left >= 0.0 and action < logits.size - 1:
        action += 1
        left -= math.exp(logits[action] - highest)
    return action


@functools.cache
def trained_rule() -> Rule:
    """The rule; ``memory`` comes from :meth:`Trained.memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        beliefs = particle_beliefs(memory, offer.size)
        rest = memory[particle_memory_size(memory, offer.size) :]
        net = network_in(rest, offer.size)
        observe(memory, plays, sums, arm, reward, Sight(net.seen, net.prices))
        decide(net)
        logits, action = net.logits.reshape(net.logits.size), 0
        if rest[Number.SAMPLED] == 1.0:
            action = draw_action(logits, number(round_key(memory), beliefs, Draw.ACTION, 0))
        else:
            for i in range(logits.size):
                action = i if logits[i] > logits[action] else action
        target, rung = action // RUNGS, action % RUNGS
        for a in range(offer.size):
            offer[a] = beliefs.offered[a] = net.prices[rung, a] if a == target else 0.0
        memory[ParticleEntry.TIME] += 1.0
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
        layers = {
            name: np.vstack([policy.weights[f"{name}.weight"].T, policy.weights[f"{name}.bias"]])
            for name in policy.layers
        }
        self._network = NETWORK.zeros(
            n_arms,
            sampled=policy.metadata["sampled"],
            width=policy.metadata["width"],
            seen=FIELDS * n_arms + OVERALL,
            **{name: len(layers.get(name, ())) for name in ("arm_out", "together", "mix", "arm")},
        )
        for name, layer in layers.items():
            getattr(NETWORK.arrays(self._network, n_arms), name)[:] = layer
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(trained_rule(), self.memory(), self.horizon)

    def memory(self) -> Floats:
        """The rule's memory before the first round."""
        beliefs = fresh_memory(self.n_arms, self.particles, self.rng)
        beliefs[ParticleEntry.HORIZON] = self.horizon
        return np.concatenate([beliefs, self._network])


def load(path: str | Path, n_arms: int, horizon: int) -> Trained:
    """Return the trained principal in a file. Reading it runs nothing in it.

    Args:
        path: of a policy file.
        n_arms: number of arms.
        horizon: rounds.
    """
    return Trained(n_arms, horizon, read(Path(path)))


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
