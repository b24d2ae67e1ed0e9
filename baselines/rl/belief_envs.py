"""Batched games with beliefs about the agent: the interface that principals are trained in."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from baselines.rl.view import FIELDS, OVERALL, RUNGS, Sight, observe
from baselines.scripted.ours.particle_memory import OFFERED, Entry, fresh_memory, memory_size
from pa_env.checks import integers, whole
from pa_env.envs import spaces
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import NO_ARM, PRINCIPAL_SUM, Floats, Integers
from pa_env.wrappers.base import game_behind, one_hot

PARTICLES = 32  # of each game; in play there may be more


@compiled
def _observe_some(which: Any, memories: Any, plays: Any, sums: Any, arms: Any, rewards: Any, sights: Sight) -> None:
    """:func:`baselines.rl.view.observe` for the copies ``which``, of arrays with a row for each copy."""
    for i in which:
        observe(memories[i], plays[i], sums[i], arms[i], rewards[i], Sight(sights.seen[i], sights.prices[i]))


class WithBeliefs(gym.vector.VectorWrapper):
    """A view (:mod:`baselines.rl.view`) as observation, and a price of one arm as action, ``RUNGS * arm + rung``.

    Args:
        env: copies of the principal's environment, i.i.d. or linear, with autoreset_mode="Disabled".
        particles: how many there are for each copy.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], particles: int = PARTICLES) -> None:
        super().__init__(env)
        self.game, self.particles = game_behind(env), whole("particles", particles, 1)
        if env.metadata.get("autoreset_mode") != AutoresetMode.DISABLED:
            raise ValueError(f"env = {env} must be made by gym.make_vec(..., autoreset_mode='Disabled')")
        if env.single_action_space != spaces.offers(self.game):
            raise TypeError(f"env = {env} already takes other actions than incentives: one of these wrappers is enough")
        n, k = self.num_envs, self.game.n_arms
        self.single_action_space = Discrete(RUNGS * k)
        self.single_observation_space = Box(-10.0, 10.0, (FIELDS * k + OVERALL,), np.float32)
        self.action_space = batch_space(self.single_action_space, n)
        self.observation_space = batch_space(self.single_observation_space, n)
        self._rng = np.random.default_rng()
        self._memories = np.zeros((n, memory_size(k, self.particles)))
        self._sights = Sight(np.zeros((n, FIELDS * k + OVERALL)), np.zeros((n, RUNGS, k)))

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        """Begin episodes as the environment does; its seeds are those of the particles too."""
        _, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        begun = np.flatnonzero((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        for i in begun:
            self._memories[i] = fresh_memory(self.game.n_arms, self.particles, self._rng)
            self._memories[i, Entry.HORIZON] = self.game.horizon
        self._observe(begun, np.full(self.num_envs, NO_ARM), np.zeros(self.num_envs))
        return self._sights.seen.astype(np.float32), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Offer these prices."""
        arms, rungs = np.divmod(integers("action", actions, self.num_envs, RUNGS * self.game.n_arms), RUNGS)
        copies = np.arange(self.num_envs)
        offers = one_hot(self.game, arms, self._sights.prices[copies, rungs, arms])
        _, rewards, terminated, truncated, info = self.env.step(offers)
        self._memories[:, Entry.TIME] += 1.0
        self._memories[:, OFFERED : OFFERED + self.game.n_arms] = offers
        self._observe(copies, info["arm"], info["reward"])
        return self._sights.seen.astype(np.float32), rewards, terminated, truncated, info

    def _observe(self, which: Integers, arms: Integers, rewards: Floats) -> None:
        """Let some copies take in their last rounds; ``arms`` and ``rewards`` are those of all copies."""
        sums = np.ascontiguousarray(self.game.arrays.arms[:, PRINCIPAL_SUM])
        _observe_some(which, self._memories, self.game.plays, sums, arms, rewards, self._sights)
