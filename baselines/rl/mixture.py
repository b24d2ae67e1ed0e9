"""Several games as one environment of Stable-Baselines3, so that one policy learns all of them."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from baselines.rl.vec_env import GameVecEnv


class Mixture(VecEnv):
    """The copies of several games in a row, with the same spaces.

    Args:
        parts: the games.
    """

    def __init__(self, parts: Sequence[GameVecEnv]) -> None:
        spaces = {str((part.observation_space, part.action_space)) for part in parts}
        if len(spaces) > 1:
            raise ValueError(f"parts must have the same observations and actions, not {', '.join(sorted(spaces))}")
        self.parts = list(parts)
        self.render_mode = None
        super().__init__(sum(part.num_envs for part in parts), parts[0].observation_space, parts[0].action_space)
        self._ends = np.cumsum([part.num_envs for part in parts])

    def reset(self) -> NDArray[np.float32]:
        """Begin an episode of every copy; after :meth:`seed`, from these seeds."""
        for part, seeds in zip(self.parts, np.split(np.array(self._seeds), self._ends[:-1]), strict=True):
            part._seeds = seeds.tolist()  # as Stable-Baselines3 keeps them for the next reset
        self._reset_seeds()
        return np.concatenate([part.reset() for part in self.parts])

    def step_async(self, actions: NDArray[Any]) -> None:
        """Hand the actions on."""
        for part, own in zip(self.parts, np.split(actions, self._ends[:-1]), strict=True):
            part.step_async(own)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """One round of every copy."""
        observations, rewards, over, infos = zip(*(part.step_wait() for part in self.parts), strict=True)
        return np.concatenate(observations), np.concatenate(rewards), np.concatenate(over), [*chain(*infos)]

    def close(self) -> None:
        """Close the games."""
        for part in self.parts:
            part.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of each copy asked for."""
        found = [value for part in self.parts for value in part.get_attr(attr_name)]
        return [found[i] for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of all games."""
        for part in self.parts:
            part.set_attr(attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of each game once, with the same arguments."""
        found = [value for part in self.parts for value in part.env_method(method_name, *args, **kwargs)]
        return [found[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Whether each copy asked for is in such a wrapper."""
        found = [value for part in self.parts for value in part.env_is_wrapped(wrapper_class)]
        return [found[i] for i in self._get_indices(indices)]
