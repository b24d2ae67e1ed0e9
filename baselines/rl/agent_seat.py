"""The agent's seat for a learner: batched games against a principal, and what a trained agent sees as observation.

What is seen, and how an agent answers, is in :mod:`pa_env.trained_agents`.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from baselines.principal import Principal
from pa_env.checks import integers
from pa_env.game import Game
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import NO_ARM, ArmRow, Floats, Floats32, Integers
from pa_env.trained_agents import FIELDS, OVERALL, fresh_history, note, see

PAYOFF = "payoff"  # mu_A + pi_A, the agent's expected payoff of a round
LOSS = "payoff_loss"  # the highest mean less the payoff


class Replayed:
    """A principal that can be pickled in the middle of an episode: it comes back by playing the rounds again.

    Args:
        principal: that plays.
    """

    def __init__(self, principal: Principal) -> None:
        self.principal, self.seed = principal, 0
        self.rounds: list[tuple[int, float]] = []

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode."""
        self.seed, self.rounds = seed or 0, []
        self.principal.reset(seed=self.seed)

    def offer(self) -> Floats:
        """Return the offer of the next round."""
        return self.principal.offer()

    def observe(self, arm: int, reward: float) -> None:
        """Observe a round."""
        self.rounds.append((arm, reward))
        self.principal.offer()  # again the same; the first time after it came back
        self.principal.observe(arm, reward)

    def __getstate__(self) -> dict[str, Any]:
        """Return the rounds so far, and the principal as it was before them."""
        return vars(self) | {"principal": self.principal.clone()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Play the rounds again."""
        self.principal = state["principal"]
        self.reset(state["seed"])
        for arm, reward in state["rounds"]:
            self.observe(arm, reward)


@compiled
def _see_some(
    which: Any, memories: Any, arms: Any, means: Any, counts: Any, offers: Any, rounds: Any, seen: Any
) -> None:
    """Note the last arm, if there is one, and see the next round, for copies ``which``; arrays have a row for each."""
    for i in which:
        if arms[i] != NO_ARM:
            note(memories[i], means.shape[1], arms[i])
        see(memories[i], means[i], counts[i], offers[i], rounds[i] + 1, seen[i])


class WithHistory(gym.vector.VectorWrapper):
    """What a trained agent sees as observation; its actions are arms, and infos have its expected payoffs.

    Args:
        env: copies of the agent's environment, with autoreset_mode="Disabled".
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.game: Game = env.unwrapped.game  # type: ignore[attr-defined] # ours has one
        n, k = self.num_envs, self.game.n_arms
        self.single_observation_space = Box(-10.0, 10.0, (FIELDS * k + OVERALL,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, n)
        self._memories = np.tile(fresh_history(k, self.game.horizon), (n, 1))
        self._seen = np.zeros((n, FIELDS * k + OVERALL))

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        """Begin episodes as the environment does."""
        _, info = self.env.reset(seed=seed, options=options)
        begun = np.flatnonzero((options or {}).get("reset_mask", np.ones(self.num_envs, np.bool_)))
        self._memories[begun] = fresh_history(self.game.n_arms, self.game.horizon)
        return self._observe(begun, np.full(self.num_envs, NO_ARM)), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Play these arms."""
        arms = integers("action", actions, self.num_envs, self.game.n_arms)
        copies, mu = np.arange(self.num_envs), self.game.arrays.arms[:, ArmRow.MU]
        payoff = mu[copies, arms] + self._offers[copies, arms]
        loss = mu.max(axis=1) - payoff
        _, rewards, terminated, truncated, info = self.env.step(arms)
        return self._observe(copies, arms), rewards, terminated, truncated, info | {PAYOFF: payoff, LOSS: loss}

    @property
    def _offers(self) -> Floats:
        """The offers of this round (N, K)."""
        offers: Floats = self.unwrapped._offers  # type: ignore[attr-defined] # the environment's observations have float32
        return offers

    def _observe(self, which: Integers, arms: Integers) -> Floats32:
        """Let some copies see their rounds after the last ``arms`` of all; return what all copies see."""
        means = np.ascontiguousarray(self.game.arrays.arms[:, ArmRow.MEAN])
        counts, rounds = self.game.arrays.plays, self.game.arrays.state["t"]
        _see_some(which, self._memories, arms, means, counts, self._offers, rounds, self._seen)
        return self._seen.astype(np.float32)
