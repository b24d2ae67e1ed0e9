"""Batched games as Stable-Baselines3 wants its environments: one compiled step for all copies of a game.

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

Copies that begin together stay in step, so that every rollout shorter than the horizon covers the same part of the
episode. ``staggered=True`` begins them at times spread over the horizon: the first episodes are played so far with a
neutral action, all zeros (no incentive; with ``ForLearning`` .001 above what the first arm refused).
"""

from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from baselines.rl.agent_seat import LOSS, PAYOFF
from baselines.rl.evaluate import Games, game_of
from pa_env.checks import known

# What a policy is trained for: the part of the game's info whose sum it keeps small. R_T^oracle is minus the expected
# utility plus what an informed agent would leave; no play changes that, so the optimum is the same, and the noise less.
# An agent's payoff is what its best arm would bring without incentives less its loss.
OBJECTIVES = {"utility": "regret_oracle", "regret": "regret", "payoff": LOSS}
RECENT = 200  # finished episodes of each game whose utilities are kept


class GameVecEnv(VecEnv):
    """Stable-Baselines3's interface to the copies of a batched game, or of several games with the same spaces.

    Args:
        envs: the batched game, bare or wrapped, with ``autoreset_mode`` DISABLED; or several, one after the other.
        objective: None for the reward as played, X - pi_A; "utility" for its expectation theta_A - pi_A, less what the
            best fixed incentive would bring; "regret" for minus the round's share of R_T; in the agent's seat "payoff"
            for mu_A + pi_A. The last three are privileged, and fine for training: a reward is not observed.
        scale: multiplies the reward; None: 1 / sqrt(horizon) of each game, so that the sums of episodes are of order 1.
        staggered: begin the first episodes at times spread over the horizon.
    """

    def __init__(
        self,
        envs: Games | Sequence[Games],
        objective: str | None = None,
        scale: float | None = 1.0,
        staggered: bool = False,
    ) -> None:
        self.games = [envs] if isinstance(envs, VectorEnv) else list(envs)
        for games in self.games:
            if games.metadata.get("autoreset_mode") != AutoresetMode.DISABLED:
                raise ValueError(f"envs = {games} must be made by gym.make_vec(..., autoreset_mode='Disabled')")
        spaces = {str((games.single_observation_space, games.single_action_space)) for games in self.games}
        if len(spaces) > 1:
            raise ValueError(f"envs must have the same observations and actions, not {', '.join(sorted(spaces))}")
        if objective is not None:
            known("objective", objective, OBJECTIVES)
        self.objective, self.staggered = objective, staggered
        self.scales = [1.0 / game_of(games).horizon ** 0.5 if scale is None else scale for games in self.games]
        self.render_mode = self.games[0].render_mode
        ends = np.cumsum([0, *(games.num_envs for games in self.games)]).tolist()
        self._parts = [slice(*pair) for pair in pairwise(ends)]  # the copies of each game
        super().__init__(ends[-1], self.games[0].single_observation_space, self.games[0].single_action_space)
        # Of the episodes that are being played: rewards, rounds, and expected utilities, or payoffs.
        self._sums = np.zeros((3, self.num_envs))
        self._whole = np.ones(self.num_envs, np.bool_)  # False in an episode that was not played from its beginning
        self.observations: NDArray[np.float32] | None = None  # the last ones; None before the first episode
        self.starts = np.ones(self.num_envs, np.bool_)  # True where an episode begins with them
        self.recent = [deque[float](maxlen=RECENT) for _ in self.games]  # utilities of the episodes that ended last

    @classmethod
    def of(cls, name: str, copies: int, staggered: bool = False, **settings: Any) -> "GameVecEnv":
        """The game of a Gymnasium id, with its keyword arguments."""
        return cls(gym.make_vec(name, num_envs=copies, autoreset_mode="Disabled", **settings), staggered=staggered)

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode of every copy; after :meth:`seed`, from these seeds."""
        observations = []
        for games, part in zip(self.games, self._parts, strict=True):
            seeds = self._seeds[part]
            seen, _ = games.reset(seed=None if seeds[0] is None else seeds)  # type: ignore[arg-type] # ours takes a list
            observations.append(stagger(games, seen) if self.staggered else seen)
        self._reset_seeds()
        self._sums[:], self._whole[:] = 0.0, not self.staggered
        self.observations, self.starts = np.concatenate(observations), np.ones(self.num_envs, np.bool_)
        return self.observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play one round of every copy."""
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        played, shown = [], PAYOFF if self.objective == PAYOFF else "expected_utility"
        for games, part, scale, recent in zip(self.games, self._parts, self.scales, self.recent, strict=True):
            observations, rewards, over, _, info = games.step(self._actions[part])
            rewards = scale * (rewards if self.objective is None else -info[OBJECTIVES[self.objective]])
            sums = self._sums[:, part]
            for total, gain in zip(sums, (rewards, 1.0, info[shown]), strict=True):
                total += gain
            if over.any():
                for i in np.flatnonzero(over).tolist():
                    infos[part.start + i] = {
                        "terminal_observation": observations[i],
                        "TimeLimit.truncated": False,
                        "episode": {"r": float(sums[0, i]), "l": int(sums[1, i])},
                    }
                recent.extend(sums[2, over & self._whole[part]].tolist())
                self._whole[part] |= over
                sums[:, over] = 0.0
                observations, _ = games.reset(options={"reset_mask": over})
            played.append((observations, rewards.astype(np.float32), over))
        self.observations, rewards, self.starts = (np.concatenate(each) for each in zip(*played, strict=True))
        return self.observations, rewards, self.starts, infos

    def close(self) -> None:
        """Close the games."""
        for games in self.games:
            games.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the game of each copy asked for."""
        return [getattr(games, attr_name) for games in self._games_of(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of all games: the copies of a game are one object."""
        self._check_all(indices, "set_attr")
        for games in self.games:
            setattr(games, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of each game once: the copies of a game are one object."""
        self._check_all(indices, "env_method")
        answers = [getattr(games, method_name)(*args, **kwargs) for games in self.games]
        return [answer for games, answer in zip(self.games, answers, strict=True) for _ in range(games.num_envs)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """True where a game is in such a wrapper; episodes are summed up as by Stable-Baselines3's ``Monitor``."""
        return [wrapper_class is Monitor or is_wrapped(games, wrapper_class) for games in self._games_of(indices)]

    def get_images(self) -> Sequence[Any]:
        """Return a frame of the first copy."""
        return [self.games[0].render()]

    def _games_of(self, indices: Any) -> list[Games]:
        """Return the game of each copy asked for."""
        owners = [games for games in self.games for _ in range(games.num_envs)]
        return [owners[i] for i in self._get_indices(indices)]

    def _check_all(self, indices: Any, what: str) -> None:
        """Raise unless all copies are asked for."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{what}(indices={indices}): copies are one object, pass indices=None for all of them")


def is_wrapped(games: Games, wrapper_class: type[Any]) -> bool:
    """True if a batched game is in such a wrapper."""
    while not isinstance(games, wrapper_class) and isinstance(games, gym.vector.VectorWrapper):
        games = games.env
    return isinstance(games, wrapper_class)


def stagger(games: Games, observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """Play until the first copy has one round left; copy i is begun anew after i/copies of the horizon."""
    neutral, horizon = np.zeros_like(games.action_space.sample()), game_of(games).horizon
    begins = np.arange(games.num_envs) * horizon // games.num_envs
    for t in range(1, horizon):
        observations, *_ = games.step(neutral)
        if (late := begins == t).any():
            observations, _ = games.reset(options={"reset_mask": late})
    return observations
