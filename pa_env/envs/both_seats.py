"""Both players, batched: N copies of the game of :mod:`pa_env.principal_agent_v0`, turn by turn.

Copy i plays what the PettingZoo environment plays with the same seed and the same moves; an int seed s gives copy i the
seed s + i. One whole round:

>>> import numpy as np
>>> from pa_env import principal_agent_v0
>>> envs = principal_agent_v0.vector_env(num_envs=64, n_arms=3, horizon=100)
>>> seen = envs.reset(seed=0)                                    # what the principals see
>>> seen_by_agents = envs.offer(np.full((64, 3), 0.2))           # their offers
>>> seen, rewards, terminated, info = envs.answer(envs.scripted_arms())
>>> seen.shape, seen_by_agents.shape, rewards["principal_0"].shape, info["arm"].shape
((64, 20), (64, 10), (64,), (64,))

All copies begin and end together: after ``horizon`` rounds ``terminated`` is True for all of them, and ``reset()``
begins the next episode. :mod:`pa_env.envs.scalar` says what each key of ``info`` is and who may know it.
"""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from pa_env import checks
from pa_env.checks import copy_seeds, integers
from pa_env.envs import spaces
from pa_env.envs.scalar import instance_option
from pa_env.game import GameSettings, game_of
from pa_env.kernel.layout import AGENT_REWARD, UTILITY, Flags, Floats, Floats32, Integers, round_infos

PRINCIPAL, AGENT = "principal_0", "agent_0"


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
        self._offers: Floats | None = None  # offers without an answer
        self._copies = np.arange(self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> Floats32:
        """Begin an episode of every copy.

        Args:
            seed: an int s gives copy i the seed s + i; or a list with one for each copy. None: the next episode.
            options: ``{"instance": ...}`` fixes the instance of the episode.

        Returns:
            The principals' observations (N, size).
        """
        self.game.begin(copy_seeds(seed, self.num_envs), instance=instance_option(options))
        self._offers = None
        return self._observe()

    def offer(self, incentives: ArrayLike) -> Floats32:
        """Make the principals' offers.

        Args:
            incentives: (N, K).

        Returns:
            The agents' observations (N, size).
        """
        self.game.check_running()
        if self._offers is not None:
            raise ResetNeeded("these offers have no answer yet: call answer(arms) before the next offer()")
        offers = checks.offers("incentives", incentives, (self.num_envs, self.game.n_arms)).copy()
        view = self.game.agent_view(offers)
        self._offers = offers
        return view

    def scripted_arms(self) -> Integers:
        """The arms (N,) that the scripted agent would play on the offers just made; the game does not move."""
        return self.game.answer(self._offered())

    def answer(self, arms: ArrayLike) -> tuple[Floats32, dict[str, Floats], Flags, dict[str, Any]]:
        """Answer the offers with the agents' arms, and play the round.

        Args:
            arms: (N,), integers.

        Returns:
            The principals' observations (N, size), the rewards (N,) of both players by name, whether the episodes have
            ended (N,), and the info of the round: arrays by name with a leading axis over the copies.
        """
        offers = self._offered()
        chosen = integers("arms", arms, self.num_envs, self.game.n_arms)
        results = self.game.play(offers, arms=chosen)
        self._offers = None
        received = results[:, AGENT_REWARD] + offers[self._copies, chosen]
        over = np.full(self.num_envs, self.game.rounds_played >= self.game.horizon)
        rewards = {PRINCIPAL: results[:, UTILITY].copy(), AGENT: received}
        return self._observe(), rewards, over, round_infos(results)

    def _observe(self) -> Floats32:
        return self._view(self.game.summary)

    def _offered(self) -> Floats:
        if self._offers is None:
            raise ResetNeeded("there are no offers to answer: call offer(incentives) first")
        return self._offers
