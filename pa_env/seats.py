"""Door 2, Gymnasium: one seat each, one step a round, the other side scripted.

- ``PrincipalAgent-v0`` and ``PrincipalAgentLinear-v0``: you offer incentives, a scripted agent (or your own
  object) answers. Reward X - pi_A.
- ``PrincipalAgentFollower-v0``: you play arms, a principal offers. Reward R + pi_A.

>>> import gymnasium as gym, numpy as np, pa_env
>>> env = gym.make("PrincipalAgent-v0", n_arms=3, horizon=100)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(np.array([0.0, 0.4, 0.0]))
>>> sorted(info)
['arm', 'expected_utility', 'optimal_incentives', 'regret', 'regret_bar', 'regret_oracle', 'utility']

``info`` describes the round just played: for scoring, never for playing (a principal cannot know it). The
horizon terminates an episode, since the observation tells the time; nothing is ever truncated.
"""

from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike, NDArray

from pa_env import kernel, spaces
from pa_env.checks import seed_of
from pa_env.game import Game, Settings, game_of
from pa_env.leaders import Leaders, PrincipalLike
from pa_env.viewer import MODES, Viewer

Info = dict[str, Any]
ONE = np.ones(1, np.bool_)


def round_info(results: NDArray[np.float64]) -> Info:
    """The ``info`` of the round that one copy just played."""
    row = results[0]
    values = row.tolist()
    return {
        "arm": int(values[kernel.ARM]),
        "utility": values[kernel.UTILITY],
        "expected_utility": values[kernel.EXPECTED_UTILITY],
        "regret": values[kernel.REGRET],
        "regret_oracle": values[kernel.REGRET_ORACLE],
        "regret_bar": values[kernel.REGRET_BAR],
        "optimal_incentives": row[kernel.OPTIMAL :],
    }


class Seat(gym.Env[Any, Any]):
    """What both seats share: seeding, the clock, rendering."""

    metadata = {"render_modes": list(MODES), "render_fps": 10}

    def __init__(self, game: Game, render_mode: str | None) -> None:
        self.game = game
        self.render_mode = render_mode
        self._viewer = Viewer(game, render_mode)
        self._left = 0  # rounds

    def _begin(self, seed: int | None, options: Info | None) -> Info:
        """Begin an episode; what the players know from the start: the arms, when rewards are linear."""
        self.game.begin([seed], instance=(options or {}).get("instance"))
        super().reset(seed=seed_of(seed))
        self._left = self.game.horizon
        return {"arms": self.game.features[0].copy()} if self.game.dim else {}

    def _check_running(self) -> None:
        if self._left <= 0:
            self.game.check_running()

    def _finish(self) -> bool:
        """Count a round; True at the horizon."""
        self._left -= 1
        if self.render_mode == "human":
            self.render()
        return self._left == 0

    def render(self) -> Any:
        """A frame: text ("ansi"), an image ("rgb_array"), or shown in the terminal ("human")."""
        return self._viewer.render()


class PrincipalEnv(Seat):
    """The principal's seat. Actions: incentives (n_arms,) in [0, max_incentive]; see :mod:`pa_env.spaces`."""

    def __init__(
        self, *, observation: str = "summary", render_mode: str | None = None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(game_of(settings), render_mode)
        self._columns = spaces.columns(self.game, observation)
        self.observation_space = spaces.principal_observations(self.game, observation)
        self.action_space = spaces.offers(self.game)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[NDArray[np.float32], Info]:
        """Begin an episode; ``options={"instance": ...}`` fixes what it is played on."""
        info = self._begin(seed, options)
        return spaces.principal_view(self.game.summary[0], self._columns), info

    def step(self, action: ArrayLike) -> tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Offer these incentives for a round."""
        game = self.game
        self._check_running()
        info = round_info(game.play(game.as_offer(action)))
        terminated = self._finish()
        return spaces.principal_view(game.summary[0], self._columns), info["utility"], terminated, False, info


class FollowerEnv(Seat):
    """The agent's seat. Actions: an arm. ``agent=`` says whose beliefs are kept, shown as your own, and scored.

    ``principal``: see :class:`pa_env.leaders.Leaders`; None offers a random amount on a random arm.
    """

    def __init__(
        self, *, principal: PrincipalLike = None, render_mode: str | None = None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(game_of(settings), render_mode)
        self._leaders = Leaders(self.game, principal)
        self._offers: NDArray[np.float64] | None = None
        self.observation_space = spaces.agent_observations(self.game)
        self.action_space = spaces.arms(self.game)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[NDArray[np.float32], Info]:
        """Begin an episode; the observation holds the first offer."""
        info = self._begin(seed, options)
        self._leaders.begin(ONE)
        return self._next_offer(), info

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Play this arm; the observation holds the next offer."""
        self._check_running()
        if self._offers is None:
            raise ResetNeeded("the principal failed to make an offer: call reset() first")
        arm = self.game.as_arm(action)
        results = self.game.play(self._offers, forced=np.array([arm]))
        reward = float(results[0, kernel.REWARD_AGENT] + self._offers[0, arm])
        terminated = self._finish()
        self._leaders.observe(ONE, results)
        return self._next_offer(), reward, terminated, False, round_info(results)

    def _next_offer(self) -> NDArray[np.float32]:
        """Let the principal offer; what the agent then sees."""
        self._offers = None  # there is none if the principal fails
        self._offers = self._leaders.offers(ONE)
        view: NDArray[np.float32] = self.game.agent_view(self._offers)[0]
        return view
