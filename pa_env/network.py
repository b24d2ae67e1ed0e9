"""The network of trained players: it treats arms alike, so that one policy plays any number of arms.

A view has some numbers for each arm, field by field, and some about no arm; the network gives every action of every arm
a logit. It is the actor of :class:`baselines.rl.networks.SetActorCritic`, in compiled code over one vector of memory
(:func:`network_memory`), which needs NumPy and Numba alone.
"""

import math
from enum import IntEnum
from typing import Annotated, Any, NamedTuple

import numpy as np

from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import Floats
from pa_env.memory import N_ARMS, Layout
from pa_env.policy_file import Policy


class Number(IntEnum):
    """Indices of single numbers in the network's memory."""

    SAMPLED = 0  # 1 if actions are drawn, 0 if the likeliest is played
    WIDTH = 1
    FIELDS = 2  # numbers of a view for each arm
    OVERALL = 3  # and about no arm
    SEEN = 4  # FIELDS K + OVERALL
    ACTIONS = 5  # of each arm
    # Rows of layers: one for each input, then the biases. So the compiler can vectorise the loops over outputs.
    ARM_IN = 6
    ARM_OUT = 7
    TOGETHER = 8
    MIX = 9  # 0 unless the head is deep
    ARM = 10


class Network(NamedTuple):
    """The layers under their names in :mod:`baselines.rl.networks`, and room for what they see and return; K arms."""

    seen: Annotated[Any, Number.SEEN]
    fields: Annotated[Any, Number.FIELDS]  # of one arm
    shared: Annotated[Any, Number.WIDTH]  # what all arms share of a layer
    offset: Annotated[Any, Number.ACTIONS]  # likewise, of the last layer
    hidden: Annotated[Any, Number.WIDTH]
    mean: Annotated[Any, Number.WIDTH]  # of the codes
    highest: Annotated[Any, Number.WIDTH]
    code: Annotated[Any, Number.WIDTH]  # of all arms
    codes: Annotated[Any, N_ARMS, Number.WIDTH]
    logits: Annotated[Any, N_ARMS, Number.ACTIONS]
    arm_in: Annotated[Any, Number.ARM_IN, Number.WIDTH]
    arm_out: Annotated[Any, Number.ARM_OUT, Number.WIDTH]
    together: Annotated[Any, Number.TOGETHER, Number.WIDTH]
    mix: Annotated[Any, Number.MIX, Number.WIDTH]
    arm: Annotated[Any, Number.ARM, Number.ACTIONS]


NETWORK = Layout(Number, Network)
network_in, network_size = NETWORK.compiled, NETWORK.compiled_size


def network_memory(policy: Policy, n_arms: int) -> Floats:
    """Return the memory of a policy's network, for games with this number of arms."""
    layers = {
        name: np.vstack([policy.weights[f"{name}.weight"].T, policy.weights[f"{name}.bias"]]) for name in policy.layers
    }
    width, seat = policy.metadata["width"], policy.seat
    memory = NETWORK.zeros(
        n_arms,
        sampled=policy.metadata["sampled"],
        width=width,
        fields=seat.fields,
        overall=seat.overall,
        seen=seat.fields * n_arms + seat.overall,
        actions=seat.actions,
        **{name: len(layers.get(name, ())) for name in ("arm_in", "arm_out", "together", "mix", "arm")},
    )
    for name, layer in layers.items():
        getattr(NETWORK.arrays(memory, n_arms), name)[:] = layer
    return memory


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
    fields, overall = net.fields.size, net.seen[net.fields.size * K :]
    copy(net.arm_in[fields + overall.size], net.shared)
    add(net.arm_in[fields:], overall, net.shared)
    for a in range(K):
        for i in range(fields):
            net.fields[i] = net.seen[i * K + a]
        copy(net.shared, net.hidden)
        add(net.arm_in, net.fields, net.hidden)
        relu(net.hidden)
        copy(net.arm_out[width], net.codes[a])
        add(net.arm_out, net.hidden, net.codes[a])
        relu(net.codes[a])
    pool(net)
    copy(net.together[2 * width + overall.size], net.code)
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
def pick(memory: Any, net: Network, u: float) -> int:
    """The action that is played once the logits are computed: ``action of the arm + ACTIONS * arm``.

    Args:
        memory: of the network.
        net: the arrays in it.
        u: uniform in [0, 1), for an action that is drawn.
    """
    logits, action = net.logits.reshape(net.logits.size), 0
    if memory[Number.SAMPLED] == 1.0:
        return draw_action(logits, u)
    for i in range(logits.size):
        action = i if logits[i] > logits[action] else action
    return action


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
