"""Trained agents: a policy file as an agent, ``agent="path/to/policy.npz"``, played by compiled functions.

``pa-bench train --seat agent --against profit-target`` makes such a file. The agent learns its means as
``empirical-mean`` does, but answers by a network (:mod:`pa_env.network`), which may refuse an offer in order to get a
better one. A view of the round has ``FIELDS`` numbers for each arm, field by field, and ``OVERALL`` numbers about no
arm, all of order 1: the offer, the agent's own means and counts, the time, and what it was offered before. The same
functions serve training (:class:`baselines.rl.agent_seat.WithHistory`) and play.
"""

import math
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pa_env.compiled_agents import CompiledAgent, compile_own
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import LOG_SCALE, NO_ARM, Floats, Integers, Records, Rules
from pa_env.kernel.other_agents import Kind
from pa_env.memory import Layout, PerArm
from pa_env.network import decide, network_in, network_memory, pick
from pa_env.policy_file import Policy, Seat, read

POLICY = ".npz"  # the ending of policy files


class Number(IntEnum):
    """Indices of single numbers in an agent's memory."""

    HORIZON = 0  # T
    ARM = 1  # of the last round, or NO_ARM before the first
    REFUSALS = 2  # rounds in a row in which it did not play the greedy arm
    GREEDY = 3  # the greedy arm of this round


class History(NamedTuple):
    """What it was offered: incentives on each arm."""

    offer: PerArm  # in this round
    before: PerArm  # in the round before
    highest: PerArm  # the most, before this round
    refused: PerArm  # the last time that it was offered something and did not play the arm
    accepted: PerArm  # the last time that it played the arm


class Field(IntEnum):
    """Blocks of a view, of K numbers each."""

    OFFER = 0  # pi
    MEAN = 1  # muhat
    VALUE = 2  # muhat + pi, less that of the greedy arm
    LIKED = 3  # muhat, less that of its favourite
    GREEDY = 4  # 1 for the arm that a greedy agent plays
    PLAYED = 5  # 1 for the arm of the last round
    PLAYS = 6  # log(1 + N) / LOG_SCALE
    BEFORE = 7  # from here on, the incentives of History
    HIGHEST = 8
    REFUSED = 9
    ACCEPTED = 10


class Overall(IntEnum):
    """Numbers of a view after its blocks."""

    TIME = 0  # rounds played / horizon
    PAST = 1  # log(1 + rounds played) / LOG_SCALE
    LEFT = 2  # log(rounds left) / LOG_SCALE
    REFUSALS = 3  # log(1 + rounds in a row without the greedy arm) / LOG_SCALE


FIELDS, OVERALL = len(Field), len(Overall)
SEAT = Seat("agent", FIELDS, OVERALL, actions=1)
HISTORY = Layout(Number, History)
history_in, history_size = HISTORY.compiled, HISTORY.compiled_size


def fresh_history(n_arms: int, horizon: int) -> Floats:
    """Return the memory of an agent's history before the first round."""
    return HISTORY.zeros(n_arms, horizon=horizon, arm=NO_ARM)


@compiled
def see(memory: Any, means: Any, counts: Any, offer: Any, t: int, seen: Any) -> None:
    """Write what there is to see in round t, and note the offer.

    Args:
        memory: of the history.
        means: muhat (K,).
        counts: N (K,), before this round.
        offer: pi (K,).
        t: 1, 2, ...
        seen: (FIELDS K + OVERALL,), output.
    """
    K, history, greedy, favourite = offer.size, history_in(memory, offer.size), 0, 0
    for a in range(1, K):
        greedy = a if means[a] + offer[a] > means[greedy] + offer[greedy] else greedy
        favourite = a if means[a] > means[favourite] else favourite
    for a in range(K):
        seen[Field.OFFER * K + a] = offer[a]
        seen[Field.MEAN * K + a] = means[a]
        seen[Field.VALUE * K + a] = means[a] + offer[a] - (means[greedy] + offer[greedy])
        seen[Field.LIKED * K + a] = means[a] - means[favourite]
        seen[Field.GREEDY * K + a] = 1.0 if a == greedy else 0.0
        seen[Field.PLAYED * K + a] = 1.0 if a == memory[Number.ARM] else 0.0
        seen[Field.PLAYS * K + a] = math.log(1.0 + counts[a]) / LOG_SCALE
        seen[Field.BEFORE * K + a] = history.before[a]
        seen[Field.HIGHEST * K + a] = history.highest[a]
        seen[Field.REFUSED * K + a] = history.refused[a]
        seen[Field.ACCEPTED * K + a] = history.accepted[a]
        history.offer[a] = offer[a]
    seen[FIELDS * K + Overall.TIME] = (t - 1) / memory[Number.HORIZON]
    seen[FIELDS * K + Overall.PAST] = math.log(t) / LOG_SCALE
    seen[FIELDS * K + Overall.LEFT] = math.log(max(1.0, memory[Number.HORIZON] - t + 1.0)) / LOG_SCALE
    seen[FIELDS * K + Overall.REFUSALS] = math.log(1.0 + memory[Number.REFUSALS]) / LOG_SCALE
    memory[Number.GREEDY] = greedy


@compiled
def note(memory: Any, n_arms: int, arm: int) -> None:
    """Note the arm that was played on the offer that :func:`see` was shown."""
    history = history_in(memory, n_arms)
    for a in range(n_arms):
        offer = history.offer[a]
        history.before[a] = offer
        history.highest[a] = max(history.highest[a], offer)
        if a == arm:
            history.accepted[a] = offer
        elif offer > 0.0:
            history.refused[a] = offer
    memory[Number.ARM] = arm
    memory[Number.REFUSALS] = 0.0 if arm == memory[Number.GREEDY] else memory[Number.REFUSALS] + 1.0


def trained_choose(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
    """The arm that the network plays: the likeliest, or drawn."""
    network = memory[history_size(memory, offer.size) :]
    net = network_in(network, offer.size)
    see(memory, means, counts, offer, t, net.seen)
    decide(net)
    return pick(network, net, u)


def trained_learn(memory: Floats, means: Floats, counts: Integers, arm: int, reward: float) -> None:
    """Note the arm; the kernel keeps the means."""
    note(memory, means.size, arm)


class TrainedAgent(CompiledAgent):
    """An agent that plays a :class:`~pa_env.policy_file.Policy`; ``agent="path.npz"`` reads one.

    Args:
        policy: weights and what they are.
        name: shown in tables.
    """

    def __init__(self, policy: Policy, name: str = "trained") -> None:
        self.policy, self.metadata, self.name = policy, policy.metadata, name
        self.choose, self.learn = compile_own("choose", trained_choose), compile_own("learn", trained_learn)

    def __repr__(self) -> str:
        """Its name, and whom it was trained against."""
        return f"TrainedAgent({self.name!r}, against {self.metadata.get('against', '')!r})"

    def __reduce__(self) -> Any:
        """Pickle the policy; the functions are compiled again where the agent is loaded."""
        return TrainedAgent, (self.policy, self.name)

    def write_rules(self, rules: Records[Rules], n_arms: int, dim: int) -> None:
        """Write it into a game's rules."""
        rules["kind"], rules["learns"], rules["maximises"] = Kind.FUNCTIONS, True, False
        self.write_addresses(rules)

    def memory_for(self, n_arms: int, horizon: int) -> Floats:
        """The memory (M,) at the beginning of an episode: of the history, then of the network."""
        return np.concatenate([fresh_history(n_arms, horizon), network_memory(self.policy, n_arms)])


def load_agent(path: str | Path) -> TrainedAgent:
    """Return the agent in a policy file. Reading it runs nothing in it."""
    if not Path(path).exists():
        raise ValueError(
            f"agent = {str(path)!r}: there is no such file: correct the path, or train an agent by"
            " `pa-bench train --seat agent`"
        )
    return TrainedAgent(read(Path(path), SEAT), str(path))
