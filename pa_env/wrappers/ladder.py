"""Five prices for each arm (a ladder), and a matching observation, for learning from scratch."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from pa_env.checks import integers
from pa_env.envs import spaces
from pa_env.game import Game
from pa_env.kernel.layout import ABOVE, RUNGS, STEP, Floats
from pa_env.wrappers.base import Env, brackets, floats, game_behind, highest, one_hot, within, wrap


@dataclass(frozen=True)
class _Ladder:
    """A rung of one arm."""

    cap: float | None

    def space(self, game: Game) -> Space[Any]:
        return Discrete(game.n_arms * RUNGS)

    def offers(self, game: Game, actions: Any) -> Floats:
        arms, rungs = np.divmod(integers("action", actions, game.copies, game.n_arms * RUNGS), RUNGS)
        return one_hot(game, arms, self.prices(game)[rungs, np.arange(game.copies), arms])

    def prices(self, game: Game) -> Floats:
        """The rungs of every arm (RUNGS, copies, n_arms)."""
        low, high = brackets(game)
        rungs = [low + STEP, low + STEP + 0.1 * (high - low), (low + high) / 2, high, high + ABOVE]
        return np.minimum(rungs, self.cap or highest(game))


@dataclass(frozen=True)
class _ContinuousLadder(_Ladder):
    """A place on the ladder of one arm."""

    def space(self, game: Game) -> Space[Any]:
        return Box(-1.0, 1.0, (1 + game.n_arms,), np.float32)

    def offers(self, game: Game, actions: Any) -> Floats:
        numbers = floats("action", actions, (game.copies, 1 + game.n_arms), -1.0, 1.0)
        arms, places = numbers[:, 1:].argmax(axis=1), (numbers[:, 0] + 1.0) / 2.0 * (RUNGS - 1)
        below = np.minimum(places.astype(np.int64), RUNGS - 2)
        prices, copies = self.prices(game), np.arange(game.copies)
        lower, upper = prices[below, copies, arms], prices[below + 1, copies, arms]
        return one_hot(game, arms, lower + (places - below) * (upper - lower))


class _ScalarView(gym.ObservationWrapper[Any, Any, Any], gym.utils.RecordConstructorArgs):
    def __init__(self, env: gym.Env[Any, Any]) -> None:
        gym.utils.RecordConstructorArgs.__init__(self)  # so that its spec can make it again
        super().__init__(env)
        self.view = spaces.View(game_behind(env), "learning")
        self.observation_space = self.view.space

    def observation(self, observation: Any) -> Any:
        return self.view(observation)


class _BatchedView(gym.vector.VectorWrapper):
    """Not Gymnasium's VectorObservationWrapper, which does not support SAME_STEP."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.view = spaces.View(game_behind(env), "learning")
        self.single_observation_space = self.view.space
        self.observation_space = batch_space(self.view.space, self.num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, Any]:
        observations, info = self.env.reset(seed=seed, options=options)
        return self.view(observations), info

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        observations, rewards, terminated, truncated, info = self.env.step(actions)
        for i in np.flatnonzero(info.get("_final_obs", ())):
            info["final_obs"][i] = self.view(info["final_obs"][i])
        return self.view(observations), rewards, terminated, truncated, info


def _learning(env: Env) -> Env:
    """``env`` with the observation "learning"."""
    game = game_behind(env)
    space = env.single_observation_space if isinstance(env, VectorEnv) else env.observation_space
    if space == spaces.View(game, "learning").space:
        return env
    if space != spaces.View(game, "summary").space:
        raise TypeError(f"env = {env} must be made with observation='learning', or 'summary', which is converted")
    return _BatchedView(env) if isinstance(env, VectorEnv) else _ScalarView(env)


def ForLearning(env: Env, continuous: bool = False, cap: float | None = None) -> Env:  # noqa: N802 - a wrapper
    """Actions and observations for learning from scratch; the observation is "learning".

    Action ``5 * arm + rung`` offers one of five prices on one arm. With low the largest refused incentive of the
    arm and high the smallest accepted one, the prices are: low + .001, low + .001 + (high - low) / 10, the middle,
    high, high + .05. For an arm that was never played, high is low + .3: beliefs begin at 0, so that a first play is
    nearly free, and a learner whose first plays cost more stops paying. No price is above ``cap``, so the scale of
    actions does not depend on max_incentive.

    An action is one integer, not a pair, because the right rung depends on the arm, and because DQN needs a Discrete
    space. There is no separate action for no incentive: an arm that was played without one has accepted 0, which is
    then its fourth rung.

    Args:
        env: an environment of the principal, from ``gym.make`` or ``gym.make_vec``.
        continuous: actions in [-1, 1]^(1 + n_arms) instead, for learners without discrete actions. The first number is
            a place on the ladder, from the first rung (-1) to the last (1) and anywhere between; the others are
            preferences, and the price is offered on the arm with the largest one. Incentives on several arms at once
            would make refusals ambiguous: an arm may be refused only because another one had a larger incentive.
        cap: the highest price; None: 1 + 1/horizon, which an agent with rewards in [0, 1] always accepts, or
            max_incentive when rewards are linear.

    >>> import gymnasium as gym, pa_env
    >>> ForLearning(gym.make("PrincipalAgent-v0")).action_space
    Discrete(25)
    """
    menu = (_ContinuousLadder if continuous else _Ladder)(within(env, "cap", cap))
    return wrap(_learning(env), menu)
