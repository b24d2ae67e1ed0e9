"""Gymnasium, batched: ``gym.make_vec(id, num_envs=N)`` is one compiled step for N copies of a game.

Copy i plays what the scalar environment plays with the same seed, step for step; an int seed s gives copy i the
seed s + i, and a list gives each its own. ``autoreset_mode``: NEXT_STEP (default), SAME_STEP (the last observation
and info of an episode are in ``info["final_obs"]`` and ``info["final_info"]``) or DISABLED (reset the copies that
ended by ``reset(options={"reset_mask": mask})``).

>>> import gymnasium as gym, pa_env
>>> envs = gym.make_vec("PrincipalAgent-v0", num_envs=64, n_arms=3)
>>> observations, info = envs.reset(seed=0)
>>> observations, rewards, terminated, truncated, info = envs.step(envs.action_space.sample())
>>> rewards.shape, info["regret"].shape, info["optimal_incentives"].shape
((64,), (64,), (64, 3))

``info["_regret"]`` and similar keys mark the copies that played a round in this step. :mod:`pa_env.envs.scalar` says
what each key is and who may know it. An environment is for one thread.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pa_env import checks
from pa_env.buffers import Buffers
from pa_env.checks import copy_seeds, integers, known, short
from pa_env.envs import spaces
from pa_env.envs.principal_driver import PrincipalDriver, PrincipalLike
from pa_env.envs.render import MODES, Viewer
from pa_env.envs.scalar import OPTIONS, Info, instance_option
from pa_env.game import Game, GameSettings, game_of
from pa_env.kernel.layout import (
    AGENT_REWARD,
    INFO,
    UTILITY,
    Flags,
    Floats,
    Floats32,
    Integers,
    round_infos,
)

MARKS = tuple(f"_{name}" for name in INFO)


class SeatVectorEnv(gym.vector.VectorEnv[Floats32, Any, NDArray[Any]]):
    """The common part of both seats: seeds, the end of episodes, infos.

    Args:
        game: a game of N copies.
        observation_space: of one copy.
        action_space: of one copy.
        autoreset_mode: what happens to copies whose episode has ended.
        render_mode: "ansi", "rgb_array", "human" or None; the first copy is drawn.
    """

    metadata: Info = {"render_modes": list(MODES), "render_fps": 10, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        game: Game,
        observation_space: Box,
        action_space: Box | Discrete,
        autoreset_mode: AutoresetMode | str,
        render_mode: str | None,
    ) -> None:
        if not isinstance(autoreset_mode, AutoresetMode):
            known("autoreset_mode", autoreset_mode, [mode.value for mode in AutoresetMode])
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.game, self.num_envs, self.render_mode = game, game.copies, render_mode
        self._viewer = Viewer(game, render_mode)
        self.single_observation_space, self.single_action_space = observation_space, action_space
        self.observation_space = batch_space(observation_space, game.copies)
        self.action_space = batch_space(action_space, game.copies)
        self._all = np.ones(game.copies, np.bool_)
        self._over = self._all.copy()  # copies whose episode has ended, or has not begun
        self._idle, self._soonest = True, 0

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Info | None = None
    ) -> tuple[Floats32, Info]:
        """Begin an episode.

        Args:
            seed: an int s gives copy i the seed s + i, a list gives each copy its own; None: the next episodes.
            options: ``{"instance": ...}`` fixes the instance; ``{"reset_mask": mask}`` resets only the copies in a
                mask (N,) of booleans.
        """
        instance = instance_option(options, OPTIONS)
        which = self._mask((options or {}).get("reset_mask"))
        self._begin(which, copy_seeds(seed, self.num_envs), instance)
        return self._observe(), self._known(which)

    def step(self, actions: Any) -> tuple[Floats32, Floats, Flags, Flags, Info]:
        """Play one round of every copy; with NEXT_STEP, copies whose episode has ended begin another instead.

        Args:
            actions: offers (N, n_arms) in the principal's seat, arms (N,) in the agent's.
        """
        prepared = self._prepare(actions)
        played, some = self._all.copy(), False
        if self._idle:
            if not self.game.arrays.state["episode"].all():
                raise ResetNeeded("some copies have not begun: call reset() for all of them first")
            if self.autoreset_mode == AutoresetMode.DISABLED:
                raise ResetNeeded(
                    f"copies {np.flatnonzero(self._over)[:10].tolist()} have ended: reset them with"
                    ' options={"reset_mask": mask} before the next step'
                )
            played, some = ~self._over, True
            self._begin(self._over)
        results, rewards = self._play(prepared, played if some else None)
        self._soonest -= 1
        terminated = np.zeros(self.num_envs, np.bool_)
        observations = self._observe()
        info = self._info(results, played)
        if some:
            info |= self._known(~played)
        if self._soonest <= 0:
            self._look_for_ends()
            terminated = self._over.copy()
            if self._idle and self.autoreset_mode == AutoresetMode.SAME_STEP:
                info |= self._final(observations, self._info(results.copy(), terminated), terminated)
                self._begin(terminated)
                observations = self._observe()
                info |= self._known(terminated)
        return observations, rewards, terminated, np.zeros(self.num_envs, np.bool_), info

    def _known(self, begun: Flags) -> Info:
        """Return what the players are told where an episode begins (N,): the arms, if rewards are linear."""
        return {"arms": self.game.features.copy(), "_arms": begun.copy()} if self.game.dim else {}

    def _look_for_ends(self) -> None:
        """Note which copies have ended, and in how many rounds the next one will: until then no step has to look."""
        left = self.game.horizon - self.game.arrays.state["t"]
        self._over = (left == 0) | (self.game.arrays.state["episode"] == 0)
        self._idle = bool(self._over.any())
        self._soonest = int(left.min(where=~self._over, initial=self.game.horizon))

    def _final(self, observations: Floats32, info: Info, ended: Flags) -> Info:
        """Return the last observations and infos as Gymnasium's own vector environments do."""
        final = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended):
            final[i] = observations[i].copy()
        return {"final_obs": final, "_final_obs": ended, "final_info": info, "_final_info": ended}

    def render(self) -> Any:
        """Draw a frame of the first copy."""
        return self._viewer.render()

    def _begin(self, which: Flags, seeds: Sequence[int | None] | None = None, instance: Any = None) -> None:
        self.game.begin(seeds, which, instance)
        self._look_for_ends()

    def _info(self, results: Floats, mask: Flags) -> Info:
        """Return the info of the round; ``_key`` marks the copies that played it."""
        return round_infos(results) | dict.fromkeys(MARKS, mask)

    def _mask(self, mask: Flags | None) -> Flags:
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        fits = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
        if not fits or not mask.any():
            raise ValueError(
                f"options['reset_mask'] = {short(mask)} must be a NumPy array of {self.num_envs} booleans, at least one"
                " of them True"
            )
        return mask

    # Each seat has its own version of these.

    def _observe(self) -> Floats32:
        raise NotImplementedError

    def _prepare(self, actions: Any) -> Any:
        """Check the actions before any copy changes; those of copies whose episode has ended are ignored."""
        raise NotImplementedError

    def _play(self, prepared: Any, which: Flags | None) -> tuple[Floats, Floats]:
        """Play one round of the copies in ``which``, or of all. Returns its results and this seat's rewards."""
        raise NotImplementedError


class PrincipalVectorEnv(SeatVectorEnv):
    """The principal's seat, N copies.

    Args:
        num_envs: N.
        observation: "summary", "last" or "learning".
        autoreset_mode: what happens to copies whose episode has ended.
        render_mode: "ansi", "rgb_array", "human" or None; the first copy is drawn.
        **settings: of the game, see :mod:`pa_env`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        observation: str = "summary",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Unpack[GameSettings],
    ) -> None:
        game = game_of(settings, num_envs, ("observation", "autoreset_mode", "render_mode"))
        self._view = spaces.View(game, observation)
        self._buffers = Buffers((num_envs, *self._view.space.shape), np.float32)
        super().__init__(game, self._view.space, spaces.offers(game), autoreset_mode, render_mode)

    def _observe(self) -> Floats32:
        return self._view(self.game.summary, self._buffers.take())

    def _prepare(self, actions: Any) -> Any:
        if not self._idle:
            return actions  # the game checks them
        offers = checks.offers("incentives", actions, (self.num_envs, self.game.n_arms))
        offers = np.where(self._over[:, None], 0.0, offers)
        self.game.check_offers(offers)  # before any copy begins anew
        return offers

    def _play(self, prepared: Floats, which: Flags | None) -> tuple[Floats, Floats]:
        results = self.game.play(prepared, which=which)
        return results, results[:, UTILITY].copy()


class FollowerVectorEnv(SeatVectorEnv):
    """The agent's seat, N copies.

    Args:
        num_envs: N.
        principal: who offers, see :class:`pa_env.envs.principal_driver.PrincipalDriver`; each copy gets a deep copy.
        autoreset_mode: what happens to copies whose episode has ended.
        render_mode: "ansi", "rgb_array", "human" or None; the first copy is drawn.
        **settings: of the game, see :mod:`pa_env`.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        principal: PrincipalLike = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Unpack[GameSettings],
    ) -> None:
        game = game_of(settings, num_envs, ("principal", "autoreset_mode", "render_mode"))
        self._driver = PrincipalDriver(game, principal)
        self._offers = np.zeros((game.copies, game.n_arms))
        self._asked = np.zeros(game.copies, np.bool_)  # copies that wait for an offer
        super().__init__(game, spaces.agent_observations(game), spaces.arms(game), autoreset_mode, render_mode)

    def _begin(self, which: Flags, seeds: Sequence[int | None] | None = None, instance: Any = None) -> None:
        super()._begin(which, seeds, instance)
        self._driver.begin(which)
        self._asked = self._asked | which

    def _observe(self) -> Floats32:
        fresh = self._driver.offers(self._asked)
        self._offers = np.where(self._asked[:, None], fresh, self._offers)
        self._asked = np.zeros(self.num_envs, np.bool_)
        return self.game.agent_view(self._offers)

    def _prepare(self, actions: Any) -> Integers:
        if self._asked.any() and not self._idle:
            raise ResetNeeded("a principal failed to make an offer: call reset() first")
        return integers("arms", actions, self.num_envs, self.game.n_arms, ignored=self._over)

    def _play(self, prepared: Integers, which: Flags | None) -> tuple[Floats, Floats]:
        paid = self._offers[np.arange(self.num_envs), prepared]
        results = self.game.play(self._offers, arms=prepared, which=which)
        played = self._all if which is None else which
        self._asked = self._asked | played
        self._driver.observe(played, results)
        return results, np.where(played, results[:, AGENT_REWARD] + paid, 0.0)
