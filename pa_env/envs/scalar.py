"""Gymnasium: environments for one player, principal or agent; the other player is scripted. One step is one round.

- ``PrincipalAgent-v0`` and ``PrincipalAgentLinear-v0``: you offer incentives, a scripted agent (or your own
  object) answers. Reward X - pi_A.
- ``PrincipalAgentFollower-v0``: you play arms, a principal offers. Reward R + pi_A.

>>> import gymnasium as gym, numpy as np, pa_env
>>> env = gym.make("PrincipalAgent-v0", n_arms=3, horizon=100)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(np.array([0.0, 0.4, 0.0]))
>>> sorted(info)
['arm', 'expected_utility', 'optimal_incentives', 'regret', 'regret_bar', 'regret_oracle', 'reward', 'utility']

``info`` describes the round just played. The principal may know ``arm``, ``reward`` and ``utility``. Everything else is
privileged: for scoring, never for playing.

| key | what it is | who may know it |
|---|---|---|
| ``arm`` | the arm A that was played | both |
| ``reward`` | X, the principal's reward before it pays | the principal |
| ``utility`` | X - pi_A | the principal |
| ``expected_utility`` | theta_A - pi_A | privileged |
| ``regret`` | the round's share of R_T, against the best incentives for the agent's beliefs | privileged |
| ``regret_oracle`` | the round's share of R_T^oracle, against the best incentives for its true means | privileged |
| ``regret_bar`` | the round's share of Rbar_T, which charges every incentive offered | privileged |
| ``optimal_incentives`` | pi*_a(t) = max_b muhat_b(t) - muhat_a(t), (n_arms,) | privileged |

The horizon terminates an episode, since the observation tells the time; nothing is ever truncated. An environment is
for one thread.
"""

import difflib
from typing import Any, Unpack

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import ArrayLike

from pa_env.checks import arm_index, seed_of, short
from pa_env.envs import spaces
from pa_env.envs.principal_driver import PrincipalDriver, PrincipalLike
from pa_env.envs.render import MODES, Viewer
from pa_env.game import Game, GameSettings, game_of
from pa_env.kernel.layout import AGENT_REWARD, Floats, Floats32, Integers, round_info

Info = dict[str, Any]
ONE = np.ones(1, np.bool_)
OPTIONS = ("instance", "reset_mask")  # of a reset; batched environments take both


def instance_option(options: Any, known: tuple[str, ...] = ()) -> Any:
    """Return the instance in the ``options`` of a reset; raise if a key is nearly one of OPTIONS.

    Other keys are ignored: wrappers and conformance tests pass some.

    Args:
        options: of the reset.
        known: those of OPTIONS that the environment takes; none: it ignores all keys but the instance.
    """
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options = {short(options)} must be a dictionary, as in {{'instance': ...}}, or None")
    for key in set(options or ()) - set(known) if known else ():
        near = difflib.get_close_matches(str(key).lower(), OPTIONS, n=1)
        if near and near[0] not in known:
            raise ValueError(f"options has the key {short(key)}: only batched environments take {near[0]!r}")
        if near:
            raise ValueError(f"options has the key {short(key)}, which is unknown: did you mean {near[0]!r}?")
    return (options or {}).get("instance")


class Seat(gym.Env[Any, Any]):
    """The common part of both seats: seeding, rounds, rendering.

    Args:
        game: a game of one copy.
        render_mode: "ansi", "rgb_array", "human" or None.
    """

    metadata = {"render_modes": list(MODES), "render_fps": 10}

    def __init__(self, game: Game, render_mode: str | None) -> None:
        self.game = game
        self.render_mode = render_mode
        self._viewer = Viewer(game, render_mode)
        self._left = 0  # rounds to the horizon

    def _begin(self, seed: int | None, options: Info | None) -> Info:
        """Begin an episode. Returns what the players know from the start: the arms, if rewards are linear."""
        self.game.begin([seed], instance=instance_option(options, ("instance",)))
        super().reset(seed=seed_of(seed))
        self._left = self.game.horizon
        return {"arms": self.game.features[0].copy()} if self.game.dim else {}

    def _play(self, offers: ArrayLike, arms: Integers | None = None) -> Floats:
        """Play one round. Returns its results, (1, len(RoundResult) - 1 + K)."""
        if not self._left:
            self.game.check_running()
        results = self.game.play(offers, arms)
        self._left -= 1
        if self.render_mode == "human":
            self.render()
        return results

    def render(self) -> Any:
        """Draw a frame: text ("ansi"), an image ("rgb_array"), or text in the terminal ("human")."""
        return self._viewer.render()


class PrincipalEnv(Seat):
    """The principal's seat. Actions: incentives (n_arms,) in [0, max_incentive]; see :mod:`pa_env.envs.spaces`.

    Args:
        observation: "summary", "last" or "learning".
        render_mode: "ansi", "rgb_array", "human" or None.
        **settings: of the game, see :mod:`pa_env`.
    """

    def __init__(
        self, *, observation: str = "summary", render_mode: str | None = None, **settings: Unpack[GameSettings]
    ) -> None:
        super().__init__(game_of(settings, known=("observation", "render_mode")), render_mode)
        self._view = spaces.View(self.game, observation)
        self.observation_space = self._view.space
        self.action_space = spaces.offers(self.game)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Floats32, Info]:
        """Begin an episode.

        Args:
            seed: of the episode; None: the next episode of the last seed.
            options: ``{"instance": ...}`` fixes the instance of this episode.
        """
        info = self._begin(seed, options)
        return self._view(self.game.summary[0]), info

    def step(self, action: ArrayLike) -> tuple[Floats32, float, bool, bool, Info]:
        """Play one round.

        Args:
            action: the offer, incentives (n_arms,).
        """
        info = round_info(self._play(action))
        return self._view(self.game.arrays.summary[0]), info["utility"], not self._left, False, info


class FollowerEnv(Seat):
    """The agent's seat. Actions: an arm.

    ``agent=`` is the agent model whose beliefs you observe as your own and against which regret is computed.

    Args:
        principal: who offers, see :class:`pa_env.envs.principal_driver.PrincipalDriver`; None: a random amount on a
            random arm.
        render_mode: "ansi", "rgb_array", "human" or None.
        **settings: of the game, see :mod:`pa_env`.
    """

    def __init__(
        self, *, principal: PrincipalLike = None, render_mode: str | None = None, **settings: Unpack[GameSettings]
    ) -> None:
        super().__init__(game_of(settings, known=("principal", "render_mode")), render_mode)
        self._driver = PrincipalDriver(self.game, principal)
        self._offers = np.zeros((1, self.game.n_arms))
        self._waiting = True  # for an offer
        self._arms = np.zeros(1, np.int64)
        self.observation_space = spaces.agent_observations(self.game)
        self.action_space = spaces.arms(self.game)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Floats32, Info]:
        """Begin an episode; the observation holds the first offer.

        Args:
            seed: of the episode; None: the next episode of the last seed.
            options: ``{"instance": ...}`` fixes the instance of this episode.
        """
        info = self._begin(seed, options)
        self._driver.begin(ONE)
        return self._next_offer(), info

    def step(self, action: int) -> tuple[Floats32, float, bool, bool, Info]:
        """Play one round; the observation holds the next offer.

        Args:
            action: the arm to play.
        """
        if self._waiting:
            raise ResetNeeded("there is no offer, or the principal failed to make one: call reset() first")
        self._arms[0] = arm = arm_index("arm", action, self.game.n_arms)
        results = self._play(self._offers, self._arms)
        reward = float(results[0, AGENT_REWARD] + self._offers[0, arm])
        self._driver.observe(ONE, results)
        return self._next_offer(), reward, not self._left, False, round_info(results)

    def _next_offer(self) -> Floats32:
        """Ask the principal for an offer. Returns what the agent then observes."""
        self._waiting = True  # still, if the principal fails
        self._offers = self._driver.offers(ONE)
        self._waiting = False
        view: Floats32 = self.game.agent_view(self._offers)[0]
        return view
