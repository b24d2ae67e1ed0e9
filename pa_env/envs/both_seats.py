"""Both players, batched: N copies of the game of :mod:`pa_env.principal_agent_v0`, turn by turn.

Copy i plays what the PettingZoo environment plays with the same seed and the same moves; an int seed s gives copy i the
seed s + i. One whole round:

>>> import numpy as np
>>> from pa_env import principal_agent_v0
>>> envs = principal_agent_v0.vector_env(num_envs=64, n_arms=3, horizon=100)
>>> observations, infos = envs.reset(seed=0)                     # the principals' observations
>>> agent_observations = envs.offer(np.full((64, 3), 0.2))       # the principals' offers
>>> observations, rewards, terminations, truncations, infos = envs.answer(envs.scripted_arms())
>>> observations.shape, agent_observations.shape, rewards["agent_0"].shape, infos["principal_0"]["arm"].shape
((64, 20), (64, 10), (64,), (64,))

Rewards and infos are dictionaries by player, ``principal_0`` and ``agent_0``. After a reset, both infos tell the arms
(N, K, dim) if rewards are linear. After an answer, they have the keys of the round, arrays with a leading axis over the
copies; :mod:`pa_env.envs.scalar` says what each key is and who may know it.

All copies begin and end together: after ``horizon`` rounds ``terminations`` is True for all of them, and ``reset()``
begins the next episode. Nothing is ever truncated.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from pa_env.checks import copy_seeds, integers
from pa_env.envs import spaces
from pa_env.envs.scalar import instance_option
from pa_env.game import GameSettings, game_of
from pa_env.kernel.layout import AGENT_REWARD, UTILITY, Flags, Floats, Floats32, Integers, round_infos

PRINCIPAL, AGENT = "principal_0", "agent_0"
Infos = dict[str, dict[str, Any]]  # player -> key -> array with a leading axis over the copies


class TwoPlayerVectorEnv:
    """N copies of the game, with actions from both players.

    Args:
        num_envs: N.
        observation: the principal's, see :mod:`pa_env.envs.spaces`.
        **settings: of the game, see :mod:`pa_env`. ``agent=`` is the agent model whose beliefs the agents observe as
            their own and against which regret is computed.
    """

    def __init__(self, num_envs: int = 1, *, observation: str = "summary", **settings: Unpack[GameSettings]) -> None:
        self.game = game_of(settings, num_envs, ("num_envs", "observation"))
        self.num_envs = self.game.copies
        self._view = spaces.View(self.game, observation)
        self.single_observation_spaces = {
            PRINCIPAL: self._view.space,
            AGENT: spaces.agent_observations(self.game),
        }
        self.single_action_spaces = {PRINCIPAL: spaces.offers(self.game), AGENT: spaces.arms(self.game)}
        self.observation_spaces = {
            player: batch_space(space, self.num_envs) for player, space in self.single_observation_spaces.items()
        }
        self.action_spaces = {
            player: batch_space(space, self.num_envs) for player, space in self.single_action_spaces.items()
        }
        self._offers = np.zeros((self.num_envs, self.game.n_arms))
        self._offered = False  # whether the offers wait for an answer
        self._copies = np.arange(self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats32, Infos]:
        """Begin an episode of every copy.

        Args:
            seed: an int s gives copy i the seed s + i; or a list with one for each copy. None: the next episode.
            options: ``{"instance": ...}`` fixes the instance of the episode.

        Returns:
            The principals' observations (N, size), and the infos by player.
        """
        self.game.begin(copy_seeds(seed, self.num_envs), instance=instance_option(options))
        self._offered = False
        linear = self.game.dim > 0
        infos = {player: {"arms": self.game.features.copy()} if linear else {} for player in (PRINCIPAL, AGENT)}
        return self._view(self.game.summary), infos

    def offer(self, incentives: ArrayLike) -> Floats32:
        """Make the principals' offers.

        Args:
            incentives: (N, K).

        Returns:
            The agents' observations (N, size).
        """
        self.game.check_running()
        if self._offered:
            raise ResetNeeded("these offers have no answer yet: call answer(arms) before the next offer()")
        observations = self.game.agent_view(incentives)  # the game checks the offers
        self._offers[...] = incentives
        self._offered = True
        return observations

    def scripted_arms(self) -> Integers:
        """Return the arms (N,) that the scripted agent would play on the offers just made; the game does not move."""
        self._check_offered()
        return self.game.answer(self._offers)

    def answer(self, arms: ArrayLike) -> tuple[Floats32, dict[str, Floats], Flags, Flags, Infos]:
        """Answer the offers with the agents' arms, and play the round.

        Args:
            arms: (N,), integers.

        Returns:
            The principals' observations (N, size), the rewards (N,) by player, whether the episodes have terminated
            (N,) and were truncated (N,), and the infos of the round by player.
        """
        self._check_offered()
        chosen = integers("arms", arms, self.num_envs, self.game.n_arms)
        results = self.game.play(self._offers, chosen)
        self._offered = False
        received = results[:, AGENT_REWARD] + self._offers[self._copies, chosen]
        rewards = {PRINCIPAL: results[:, UTILITY].copy(), AGENT: received}
        terminations = np.full(self.num_envs, self.game.rounds_played >= self.game.horizon)
        infos = {PRINCIPAL: round_infos(results), AGENT: round_infos(results.copy())}
        return self._view(self.game.summary), rewards, terminations, np.zeros(self.num_envs, np.bool_), infos

    def _check_offered(self) -> None:
        """Raise unless there are offers to answer."""
        if not self._offered:
            raise ResetNeeded("there are no offers to answer: call offer(incentives) first")
