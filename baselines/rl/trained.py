"""A trained principal: its beliefs and its network in one compiled rule, played with NumPy and Numba alone.

Each round the rule updates particle beliefs about the agent, writes down what there is to see
(:mod:`baselines.rl.view`) and asks the network how likely each price of each arm is. It offers the likeliest, or draws
one with the principal's seed if that was measurably better when the policy was trained. The network
(:mod:`pa_env.network`) treats arms alike, so that a policy plays games of any number of arms.
"""

import functools
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.rl.view import RUNGS, SEAT, Field, observe
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
from pa_env.kernel.layout import Floats
from pa_env.network import decide, network_in, network_memory, pick
from pa_env.policy_file import Policy, read
from pa_env.rules import Rule, compile_rule

PARTICLES = 64
WEIGHTS = Path(__file__).parent / "weights"  # of policies that come with the package


@functools.cache
def trained_rule() -> Rule:
    """The rule; ``memory`` comes from :meth:`Trained.memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        beliefs = particle_beliefs(memory, offer.size)
        network = memory[particle_memory_size(memory, offer.size) :]
        net = network_in(network, offer.size)
        observe(memory, plays, sums, arm, reward, net.seen)
        decide(net)
        action = pick(network, net, number(round_key(memory), beliefs, Draw.ACTION, 0))
        target, rung = action // RUNGS, action % RUNGS
        for a in range(offer.size):
            price = net.seen[(Field.PRICE + rung) * offer.size + a]
            offer[a] = beliefs.offered[a] = price if a == target else 0.0
        memory[ParticleEntry.TIME] += 1.0
        return target

    return compile_rule(rule, trusted=True)


class Trained(Principal):
    """A principal that plays a :class:`~pa_env.policy_file.Policy`; :func:`baselines.rl.load` reads one.

    ``metadata`` names the tasks that it was trained on; other numbers of arms and horizons are played too.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        policy: weights and what they are.
        particles: possible agents that are tracked, from 1 to 100,000.
    """

    def __init__(self, n_arms: int, horizon: int, policy: Policy, particles: int = PARTICLES) -> None:
        self._policy, self.metadata = policy, policy.metadata
        self.particles = whole("particles", particles, 1, 100_000)
        self._network = network_memory(policy, whole("n_arms", n_arms, 1))
        super().__init__(n_arms, horizon)

    def sized(self, n_arms: int, horizon: int) -> Self:
        """Return the same policy for games of another size."""
        twin = object.__new__(type(self))
        Trained.__init__(twin, n_arms, horizon, self._policy, self.particles)
        return twin

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield follow(trained_rule(), self.memory(), self.horizon)

    def memory(self) -> Floats:
        """The rule's memory before the first round: of the beliefs and the network."""
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
    return Trained(n_arms, horizon, read(Path(path), SEAT))


class PPO(Trained):
    """The policy that comes with the package: one network, trained by PPO on all tasks of its recipe.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
    """

    name = "ppo"
    longest = 2000
    weights: ClassVar[Path] = WEIGHTS / "ppo.npz"

    def __init__(self, n_arms: int, horizon: int) -> None:
        super().__init__(n_arms, horizon, read(self.weights, SEAT))
