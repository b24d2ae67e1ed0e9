"""PettingZoo: both players, turn by turn.

| players | ``principal_0``, then ``agent_0``, every round |
|---|---|
| actions | principal: incentives, ``Box(0, max_incentive, (n_arms,), float64)``; agent: ``Discrete(n_arms)`` |
| observations | principal: the summary of :mod:`pa_env.envs.spaces`; agent: offer, own means, own play shares, time |
| rewards | after the agent's move, to both: principal X - pi_A, agent R + pi_A |
| end | both terminate at the horizon |

One whole round:

>>> from pa_env import principal_agent_v0
>>> env = principal_agent_v0.env(n_arms=3, horizon=100)
>>> env.reset(seed=1)
>>> env.agent_selection
'principal_0'
>>> env.step([0.0, 0.4, 0.0])                            # the offer; no player is rewarded yet
>>> env.agent_selection, env.infos["agent_0"]["scripted_arm"]
('agent_0', 1)
>>> env.step(env.infos["agent_0"]["scripted_arm"])       # the answer; now both are
>>> env.infos["principal_0"]["arm"], env.agent_selection
(1, 'principal_0')

``agent=`` is the agent model whose beliefs ``agent_0`` observes as its own and against which regret is computed.
``scripted_arm`` is the arm that this agent would play now; playing it gives the same rounds as the other interfaces
with the same seed. :mod:`pa_env.envs.scalar` says what the other keys of an info are and who may know them.

The agent must see the offer, so the game is not parallelisable: ``parallel_env`` takes turns too, and ignores the idle
player's action. ``vector_env`` plays many copies at once, both seats open (:mod:`pa_env.envs.both_seats`).

``env`` and ``raw_env`` are the same: the environment checks order and bounds itself, several times faster than
PettingZoo's wrappers. Version history: v0, first release.
"""

from typing import Any, Unpack

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from pa_env.checks import arm_index, known, short
from pa_env.envs import spaces
from pa_env.envs.both_seats import AGENT, PRINCIPAL, TwoPlayerVectorEnv
from pa_env.envs.render import MODES, Viewer
from pa_env.envs.scalar import instance_option
from pa_env.game import GameSettings, game_of
from pa_env.kernel.layout import AGENT_REWARD, Floats32, round_info


class PrincipalAgentAEC(AECEnv[str, Floats32, Any]):
    """The AEC environment.

    Args:
        observation: the principal's, "summary", "last" or "learning".
        render_mode: "ansi", "rgb_array", "human" or None.
        **settings: of the game, see :mod:`pa_env`.
    """

    metadata = {
        "name": "principal_agent_v0",
        "render_modes": list(MODES),
        "render_fps": 10,
        "is_parallelizable": False,
    }

    def __init__(
        self, *, observation: str = "summary", render_mode: str | None = None, **settings: Unpack[GameSettings]
    ) -> None:
        super().__init__()
        self.game = game_of(settings, known=("observation", "render_mode"))
        self.render_mode = render_mode
        self._viewer = Viewer(self.game, render_mode)
        self._view = spaces.View(self.game, observation)
        self.possible_agents = [PRINCIPAL, AGENT]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, Box] = {
            PRINCIPAL: self._view.space,
            AGENT: spaces.agent_observations(self.game),
        }
        self.action_spaces: dict[str, Box | Discrete] = {
            PRINCIPAL: spaces.offers(self.game),
            AGENT: spaces.arms(self.game),
        }
        boxes = [self.observation_spaces[player] for player in self.possible_agents]
        self.state_space = Box(np.concatenate([b.low for b in boxes]), np.concatenate([b.high for b in boxes]))
        self._offers, self._arms = np.zeros((1, self.game.n_arms)), np.zeros(1, np.int64)
        self._left = 0  # rounds to the horizon

    def observation_space(self, agent: str) -> Box:
        """The player's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Box | Discrete:
        """The player's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: of the episode; None: the next episode of the last seed.
            options: ``{"instance": ...}`` fixes the instance of this episode.
        """
        self.game.begin([seed], instance=instance_option(options))
        self._offers, self._left = np.zeros((1, self.game.n_arms)), self.game.horizon
        self.agents = list(self.possible_agents)
        self.agent_selection = PRINCIPAL
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        linear = self.game.dim > 0
        self.infos = {player: {"arms": self.game.features[0].copy()} if linear else {} for player in self.agents}

    def observe(self, agent: str) -> Floats32:
        """Return what the player sees now."""
        if agent == PRINCIPAL:
            return self._view(self.game.summary[0])
        known("agent", agent, self.possible_agents)
        view: Floats32 = self.game.agent_view(self._offers)[0]
        return view

    def state(self) -> Floats32:
        """Return both players' observations in a row."""
        return np.concatenate([self.observe(PRINCIPAL), self.observe(AGENT)])

    def step(self, action: Any) -> None:
        """Make the move of the player whose turn it is.

        Args:
            action: incentives (n_arms,) of ``principal_0``, an arm of ``agent_0``; None once the episode is over.
        """
        if not self.agents:
            raise ResetNeeded("the game is not running: call reset() before step()")
        player = self.agent_selection
        if self.terminations[player]:
            if action is not None:
                raise ValueError(
                    f"action = {short(action)} of {player} must be None: the game is over; reset() begins another"
                )
            self._was_dead_step(action)
            return
        if player == PRINCIPAL:
            self._offer(action)
        else:
            self._answer(action)
        if self.render_mode == "human":
            self.render()

    def _offer(self, action: Any) -> None:
        scripted = int(self.game.answer(action)[0])  # the game checks the offer
        self._offers = np.array(action, np.float64, ndmin=2)
        self._cumulative_rewards[PRINCIPAL] = 0.0
        self.rewards = {PRINCIPAL: 0.0, AGENT: 0.0}
        self.infos = {PRINCIPAL: {}, AGENT: {"scripted_arm": scripted}}
        self.agent_selection = AGENT

    def _answer(self, action: Any) -> None:
        self._arms[0] = arm = arm_index("arm", action, self.game.n_arms)
        results = self.game.play(self._offers, self._arms)
        info = round_info(results)
        self.rewards = {PRINCIPAL: info["utility"], AGENT: float(results[0, AGENT_REWARD] + self._offers[0, arm])}
        self._cumulative_rewards = self.rewards.copy()  # both have moved since they were rewarded last
        self.infos = {PRINCIPAL: info, AGENT: info | {"optimal_incentives": info["optimal_incentives"].copy()}}
        self._left -= 1
        if not self._left:
            self.terminations = {PRINCIPAL: True, AGENT: True}
        self.agent_selection = PRINCIPAL

    def render(self) -> Any:
        """Draw a frame: text ("ansi"), an image ("rgb_array"), or text in the terminal ("human")."""
        return self._viewer.render()

    def close(self) -> None:
        """Nothing to release."""


raw_env = env = PrincipalAgentAEC
vector_env = TwoPlayerVectorEnv


def parallel_env(**settings: Any) -> ParallelEnv[str, Floats32, Any]:
    """The same game for tools that need PettingZoo's parallel API: still one player's turn at a time.

    Args:
        **settings: as of :class:`PrincipalAgentAEC`.
    """
    return turn_based_aec_to_parallel(env(**settings))
