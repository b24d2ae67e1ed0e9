"""The batched game as Stable-Baselines3 wants its environments: one compiled step for all copies.

>>> from baselines.rl.vec_env import GameVecEnv
>>> envs = GameVecEnv.of("PrincipalAgent-v0", copies=256, horizon=200, staggered=True)
>>> envs.seed(7)[:2]
[7, 8]
>>> observations = envs.reset()
>>> observations.shape, envs.action_space.shape
((256, 32), (5,))

Copies whose episode ends begin another in the same step. The horizon is a termination, since the time is observed:
nothing is to be bootstrapped past it, and ``infos[i]["TimeLimit.truncated"]`` is False. In between all copies share one
empty info: a dictionary for each copy and step would cost more than the step.

Copies that begin together stay in step, and a rollout shorter than the horizon then shows one slice of the episode.
``staggered=True`` begins them at times spread over the horizon: the first episodes are played so far with a neutral
action, all zeros (no incentive; with ``ForLearning`` .001 above what the first arm refused).
"""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

import pa_env  # noqa: F401 - registers the environments
from pa_env.checks import known

Rewards = NDArray[np.float32]

# What a policy is trained for: the part of the game's info whose sum it keeps small. R_T^oracle is minus the expected
# utility plus what an informed agent would leave; no play changes that, so the optimum is the same, and the noise less.
OBJECTIVES = {"utility": "regret_oracle", "regret": "regret"}


class GameVecEnv(VecEnv):
    """Stable-Baselines3's interface to a batched game, bare or wrapped, with ``autoreset_mode`` DISABLED.

    Args:
        envs: the batched game.
        objective: None for the reward as played, X - pi_A; "utility" for its expectation theta_A - pi_A, less what the
            best fixed incentive would bring; "regret" for minus the round's share of R_T. The last two are privileged,
            and fine for training: a reward is not observed.
        scale: multiplies the reward.
        staggered: whether the first episodes begin at times spread over the horizon.
    """

    def __init__(
        self, envs: VectorEnv[Any, Any, Any], objective: str | None = None, scale: float = 1.0, staggered: bool = False
    ) -> None:
        if envs.metadata.get("autoreset_mode") != AutoresetMode.DISABLED:
            raise ValueError(f"envs = {envs} must be made by gym.make_vec(..., autoreset_mode='Disabled')")
        if objective is not None:
            known("objective", objective, OBJECTIVES)
        self.envs, self.objective, self.scale, self.staggered = envs, objective, scale, staggered
        self.horizon: int = envs.unwrapped.game.horizon  # type: ignore[attr-defined]
        self.render_mode = envs.render_mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._infos: list[dict[str, Any]] = [{}] * self.num_envs
        self._sums, self._lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, np.int64)

    @classmethod
    def of(cls, name: str, copies: int, staggered: bool = False, **settings: Any) -> "GameVecEnv":
        """The game of a Gymnasium id, with its keyword arguments."""
        return cls(gym.make_vec(name, num_envs=copies, autoreset_mode="Disabled", **settings), staggered=staggered)

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode of every copy; after :meth:`seed`, from these seeds."""
        seeds = None if self._seeds[0] is None else self._seeds
        observations, _ = self.envs.reset(seed=seeds)  # type: ignore[arg-type] # ours takes a list
        self._reset_seeds()
        self._sums[:], self._lengths[:] = 0.0, 0
        return self._staggered(observations) if self.staggered else observations

    def _staggered(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        """Play until the first copy has one round left; copy i is begun anew after i/copies of the horizon."""
        neutral = np.zeros_like(self.envs.action_space.sample())
        begins = np.arange(self.num_envs) * self.horizon // self.num_envs
        for t in range(1, self.horizon):
            observations, *_ = self.envs.step(neutral)
            if (late := begins == t).any():
                observations, _ = self.envs.reset(options={"reset_mask": late})
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], Rewards, NDArray[np.bool_], list[dict[str, Any]]]:
        """One round of every copy."""
        observations, rewards, over, _, info = self.envs.step(self._actions)
        if self.objective is not None:
            rewards = -info[OBJECTIVES[self.objective]]
        rewards = self.scale * rewards
        self._sums += rewards
        self._lengths += 1
        infos = self._infos
        if over.any():
            infos = self._infos.copy()
            for i in np.flatnonzero(over).tolist():
                infos[i] = {
                    "terminal_observation": observations[i],
                    "TimeLimit.truncated": False,
                    "episode": {"r": float(self._sums[i]), "l": int(self._lengths[i])},
                }
            self._sums[over], self._lengths[over] = 0.0, 0
            observations, _ = self.envs.reset(options={"reset_mask": over})
        return observations, rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Close the game."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the game, for each copy asked for."""
        return [getattr(self.envs, attr_name)] * len(self._of(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Copies are one object: an attribute is set for all of them."""
        self._all(indices, "set_attr")
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Copies are one object: a method is called once, for all of them."""
        self._all(indices, "env_method")
        return [getattr(self.envs, method_name)(*args, **kwargs)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Whether the game is in such a wrapper; episodes are summed up as by Stable-Baselines3's ``Monitor``."""
        from stable_baselines3.common.monitor import Monitor

        env, wrapped = self.envs, wrapper_class is Monitor
        while not wrapped and isinstance(env, gym.vector.VectorWrapper):
            wrapped, env = isinstance(env, wrapper_class), env.env
        return [wrapped] * len(self._of(indices))

    def get_images(self) -> Sequence[Any]:
        """A frame of the first copy."""
        return [self.envs.render()]

    def _of(self, indices: Any) -> Any:
        return self._get_indices(indices)

    def _all(self, indices: Any, what: str) -> None:
        if len(self._of(indices)) != self.num_envs:
            raise ValueError(f"{what}(indices={indices}): copies are one object, pass indices=None for all of them")
