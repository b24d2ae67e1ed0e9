"""What a trained principal sees of a game, and the prices that it may offer.

Both come from particle beliefs about the agent (:mod:`baselines.scripted.ours.particle_filter`), which hold all that
the answers so far say of what it believes. A view has ``FIELDS`` numbers for each arm, field by field, and ``OVERALL``
numbers about no arm. All of them are of order 1 at any horizon.

An arm has ``RUNGS`` prices: quantiles of what the particles would have to be paid to play it. So the first is likely to
be refused, the last to be accepted, and each answer moves them. An arm that the agent prefers anyway costs 0: offering
nothing is one of the actions. The same functions serve training (:class:`WithBeliefs`) and play
(:mod:`baselines.rl.trained`).
"""

import math
from enum import IntEnum
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from baselines.scripted.ours.particle_filter import (
    C0,
    LAYOUT,
    TIE,
    Beliefs,
    ParticleEntry,
    cost,
    favourites,
    fresh_memory,
    particle_beliefs,
    update,
)
from pa_env.checks import integers, whole
from pa_env.envs import spaces
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import LOG_SCALE, NO_ARM, PRINCIPAL_SUM, ArmRow, Floats, Floats32, Integers
from pa_env.policy_file import Seat
from pa_env.wrappers.base import game_behind, one_hot

QUANTILES = (0.08, 0.3, 0.5, 0.75, 0.96)  # of an arm's cost, its prices
RUNGS = len(QUANTILES)
PARTICLES = 32  # of each game in training; in play there may be more


class Field(IntEnum):
    """Blocks of a view, of K numbers each."""

    PLAYED = 0  # 1 for the arm of the last round
    ESTIMATE = 1  # of theta, (S + 1) / (N + 2)
    PLAYS = 2  # log(1 + N) / LOG_SCALE
    FAVOURITE = 3  # probability that the agent likes it best
    ZERO = 4  # probability that muhat is 0
    BELIEF = 5  # mean of muhat
    PRICE = 6  # the first of the prices; the others follow


class Overall(IntEnum):
    """Numbers of a view after its blocks."""

    REWARD = 0  # X of the last round
    TIME = 1  # rounds played / horizon
    PAST = 2  # log(1 + rounds played) / LOG_SCALE
    LEFT = 3  # log(rounds left) / LOG_SCALE
    KNOWS = 4  # probability that the agent knows its means
    EXPLORES = 5  # mean of the constant c0 of its exploration
    HIGHEST = 6  # mean of max muhat
    UNPAID = 7  # mean estimate of theta of the arm that the agent likes best


FIELDS, OVERALL = len(Field) - 1 + RUNGS, len(Overall)
SEAT = Seat("principal", FIELDS, OVERALL, RUNGS)
PRIVILEGED = (ArmRow.MU, ArmRow.THETA, ArmRow.MEAN)  # what a critic may be shown of each arm


@compiled
def observe(memory: Any, plays: Any, sums: Any, arm: int, reward: float, seen: Any) -> None:
    """Take in the answer to the last offer, and write what there is to see.

    Args:
        memory: of the beliefs, with ``ParticleEntry.HORIZON``.
        plays: N (K,), with the last round.
        sums: of the rewards X (K,), likewise.
        arm: of the last round, or NO_ARM before the first.
        reward: X of the last round.
        seen: (FIELDS K + OVERALL,), output.
    """
    K = plays.size
    beliefs = particle_beliefs(memory, K)
    if arm >= 0:
        update(memory, beliefs, plays, arm)
    favourites(beliefs)
    see_game(memory, beliefs, seen[FIELDS * K :])
    for a in range(K):
        see_arm(beliefs, a, plays[a], (sums[a] + 1.0) / (plays[a] + 2.0), seen)
        seen[Field.PLAYED * K + a] = 1.0 if a == arm else 0.0
    seen[FIELDS * K + Overall.REWARD] = reward


@compiled
def see_game(memory: Any, beliefs: Beliefs, seen: Any) -> None:
    """Write the overall numbers, but for the reward; ``UNPAID`` is left at 0."""
    t, horizon = memory[ParticleEntry.TIME], memory[ParticleEntry.HORIZON]
    seen[Overall.TIME] = t / horizon
    seen[Overall.PAST] = math.log(1.0 + t) / LOG_SCALE
    seen[Overall.LEFT] = math.log(max(1.0, horizon - t)) / LOG_SCALE
    seen[Overall.KNOWS] = seen[Overall.EXPLORES] = seen[Overall.HIGHEST] = seen[Overall.UNPAID] = 0.0
    for p in range(beliefs.weights.size):
        seen[Overall.KNOWS] += beliefs.weights[p] * beliefs.knows[p]
        seen[Overall.HIGHEST] += beliefs.weights[p] * beliefs.highest[p]
    for c in range(len(C0)):
        seen[Overall.EXPLORES] += beliefs.c0[c] * C0[c]


@compiled
def see_arm(beliefs: Beliefs, a: int, plays: int, estimate: float, seen: Any) -> None:
    """Write the fields of arm ``a`` and its prices, and add its part to ``UNPAID``."""
    K, P = beliefs.means.shape
    best = zero = mean = 0.0
    for p in range(P):
        beliefs.costs[p] = cost(beliefs, a, p)
        mean += beliefs.weights[p] * beliefs.means[a, p]
        zero += beliefs.weights[p] if beliefs.means[a, p] < TIE else 0.0
        best += beliefs.weights[p] if beliefs.favourite[p] == a else 0.0
    seen[Field.ESTIMATE * K + a] = estimate
    seen[Field.PLAYS * K + a] = math.log(1.0 + plays) / LOG_SCALE
    seen[Field.FAVOURITE * K + a] = best
    seen[Field.ZERO * K + a] = zero
    seen[Field.BELIEF * K + a] = mean
    seen[FIELDS * K + Overall.UNPAID] += best * estimate
    set_prices(beliefs, seen[Field.PRICE * K + a : FIELDS * K : K])


@compiled
def set_prices(beliefs: Beliefs, prices: Any) -> None:
    """Write the quantiles of ``beliefs.costs``: the lowest costs that particles of so much weight do not exceed.

    For every particle the weight of those that cost no more is summed. These are P^2 additions, but of vectors: sorting
    P costs takes longer. Costs and sums that differ by rounding alone count as equal.
    """
    P = beliefs.costs.size
    for p in range(P):
        beliefs.order[p] = TIE
    for q in range(P):
        weight, price = beliefs.weights[q], beliefs.costs[q] - TIE
        for p in range(P):
            beliefs.order[p] += weight if price <= beliefs.costs[p] else 0.0
    for rung in range(RUNGS):
        lowest = np.inf
        for p in range(P):
            price = beliefs.costs[p] + (0.0 if beliefs.order[p] >= QUANTILES[rung] else np.inf)
            lowest = price if price < lowest else lowest
        prices[rung] = lowest


@compiled
def _observe_some(which: Any, memories: Any, plays: Any, sums: Any, arms: Any, rewards: Any, seen: Any) -> None:
    """Do what :func:`observe` does for the copies ``which``, with arrays that have a row for each copy."""
    for i in which:
        observe(memories[i], plays[i], sums[i], arms[i], rewards[i], seen[i])


class WithBeliefs(gym.vector.VectorWrapper):
    """A view as observation, and a price of one arm as action, ``RUNGS * arm + rung``.

    Args:
        env: copies of the principal's environment, i.i.d. or linear, with autoreset_mode="Disabled".
        particles: possible agents that are tracked in each copy.
        privileged: append mu, theta and the agent's beliefs of every arm to the observation, for a critic in training.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], particles: int = PARTICLES, privileged: bool = False) -> None:
        super().__init__(env)
        self.game, self.particles, self.privileged = game_behind(env), whole("particles", particles, 1), privileged
        if env.metadata.get("autoreset_mode") != AutoresetMode.DISABLED:
            raise ValueError(f"env = {env} must be made by gym.make_vec(..., autoreset_mode='Disabled')")
        if env.single_action_space != spaces.offers(self.game):
            raise TypeError(f"env = {env} already takes other actions than incentives: one of these wrappers is enough")
        n, k = self.num_envs, self.game.n_arms
        size = FIELDS * k + OVERALL + (len(PRIVILEGED) * k if privileged else 0)
        self.single_action_space = Discrete(RUNGS * k)
        self.single_observation_space = Box(-10.0, 10.0, (size,), np.float32)
        self.action_space = batch_space(self.single_action_space, n)
        self.observation_space = batch_space(self.single_observation_space, n)
        self._rng = np.random.default_rng()
        self._memories = np.zeros((n, fresh_memory(k, self.particles, self._rng).size))
        self._seen = np.zeros((n, FIELDS * k + OVERALL))

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        """Begin episodes as the environment does; its seeds are those of the particles too."""
        _, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        begun = np.flatnonzero((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        for i in begun:
            self._memories[i] = fresh_memory(self.game.n_arms, self.particles, self._rng)
            self._memories[i, ParticleEntry.HORIZON] = self.game.horizon
        return self._observe(begun, np.full(self.num_envs, NO_ARM), np.zeros(self.num_envs)), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Offer these prices."""
        k, copies = self.game.n_arms, np.arange(self.num_envs)
        arms, rungs = np.divmod(integers("action", actions, self.num_envs, RUNGS * k), RUNGS)
        offers = one_hot(self.game, arms, self._seen[copies, (Field.PRICE + rungs) * k + arms])
        _, rewards, terminated, truncated, info = self.env.step(offers)
        self._memories[:, ParticleEntry.TIME] += 1.0
        self._memories[:, LAYOUT.place("offered", k)] = offers
        return self._observe(copies, info["arm"], info["reward"]), rewards, terminated, truncated, info

    def _observe(self, which: Integers, arms: Integers, rewards: Floats) -> Floats32:
        """Let some copies take in their last rounds, given the arms and rewards of all; return what all copies see."""
        sums = np.ascontiguousarray(self.game.arrays.arms[:, PRINCIPAL_SUM])
        _observe_some(which, self._memories, self.game.plays, sums, arms, rewards, self._seen)
        seen: Floats32 = self._seen.astype(np.float32)
        if not self.privileged:
            return seen
        _ = self.game.means  # refreshes those of agents in Python
        hidden = self.game.arrays.arms[:, PRIVILEGED].reshape(self.num_envs, -1)
        return np.concatenate([seen, hidden], axis=1, dtype=np.float32)
