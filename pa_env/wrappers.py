"""Other ways to act in the principal's seat, for the scalar and the batched environment alike.

A raw offer is n_arms incentives. Learners do better with less, or with actions that mean the same whatever the
state; each wrapper here turns such an action into an offer. All take the environment first, from ``gym.make`` or
``gym.make_vec``.

>>> import gymnasium as gym, pa_env
>>> from pa_env.wrappers import IncentiveGrid, RescaleIncentive
>>> RescaleIncentive(gym.make("PrincipalAgent-v0")).action_space
Box(-1.0, 1.0, (5,), float32)
>>> IncentiveGrid(gym.make_vec("PrincipalAgent-v0", num_envs=4), levels=21).single_action_space
Discrete(105)

| wrapper | action | offer |
|---|---|---|
| ``RescaleIncentive`` | [-1, 1]^n_arms | max_incentive times the absolute value |
| ``TargetArm`` | (arm, amount) | the amount on that arm, nothing elsewhere |
| ``IncentiveGrid`` | arm x level, one integer | a level of an even grid on that arm |
| ``BracketIncentive`` | arm x place, one integer | on that arm, a place relative to what it refused and accepted |
| ``ProfitLevel`` | one number c | theta_hat_a + bonus_a - c on every arm, where that is positive |
"""

from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete, Space, Tuple
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from pa_env import spaces
from pa_env.checks import at_least, integers, numbers, whole
from pa_env.game import Game
from pa_env.gym_env import PrincipalEnv
from pa_env.layout import Block, Floats, Integers
from pa_env.vector_env import PrincipalVectorEnv


class Menu(Protocol):
    """What the principal may choose from. It holds no game, so that a copied environment keeps its own."""

    def space(self, game: Game) -> Space[Any]:
        """The actions of one copy."""

    def offers(self, game: Game, actions: Any) -> Floats:
        """Offers (copies, n_arms) for a batch of actions."""


def _floats(name: str, actions: Any, shape: tuple[int, ...], low: float, high: float) -> Floats:
    """A batch of numbers from ``low`` to ``high``."""
    values = numbers(name, actions)
    if values.shape != shape or not ((values >= low) & (values <= high)).all():
        each = f" of shape {shape[1:]}" + (f" for each of {shape[0]} copies" if shape[0] > 1 else "")
        raise ValueError(f"{name} = {actions!r} must be numbers from {low:g} to {high:g},{each}")
    return values


def _pair(action: Any) -> tuple[Any, Any]:
    """An arm and an amount, or a batch of each."""
    if not isinstance(action, tuple | list) or len(action) != 2:
        raise ValueError(f"action = {action!r} must be a pair (arm, amount)")
    return action[0], action[1]


def _one_hot(game: Game, arms: Integers, amounts: Floats) -> Floats:
    offers = np.zeros((game.copies, game.n_arms))
    offers[np.arange(game.copies), arms] = amounts
    return offers


class _Rescale:
    def space(self, game: Game) -> Space[Any]:
        return Box(-1.0, 1.0, (game.n_arms,), np.float32)

    def offers(self, game: Game, actions: Any) -> Floats:
        return game.max_incentive * np.abs(_floats("action", actions, (game.copies, game.n_arms), -1.0, 1.0))


class _Target:
    def space(self, game: Game) -> Space[Any]:
        return Tuple((Discrete(game.n_arms), Box(0.0, game.max_incentive, (), np.float64)))

    def offers(self, game: Game, actions: Any) -> Floats:
        arms, amounts = _pair(actions)
        amounts = _floats("amount", amounts, (game.copies,), 0.0, game.max_incentive)
        return _one_hot(game, integers("arm", arms, game.copies, game.n_arms), amounts)


@dataclass(frozen=True)
class _Grid:
    levels: int
    top: float | None

    def space(self, game: Game) -> Space[Any]:
        return Discrete(game.n_arms * self.levels)

    def offers(self, game: Game, actions: Any) -> Floats:
        grid = np.linspace(0.0, game.max_incentive if self.top is None else self.top, self.levels)
        arms, levels = np.divmod(integers("action", actions, game.copies, game.n_arms * self.levels), self.levels)
        return _one_hot(game, arms, grid[levels])


@dataclass(frozen=True)
class _Bracket:
    above: float
    cap: float | None

    def space(self, game: Game) -> Space[Any]:
        return Discrete(game.n_arms * 4)

    def offers(self, game: Game, actions: Any) -> Floats:
        k, row = game.n_arms, np.arange(game.copies)
        arms, places = np.divmod(integers("action", actions, game.copies, 4 * k), 4)
        cap = self.cap or (game.max_incentive if game.dim else min(1.0 + 1.0 / game.horizon, game.max_incentive))
        low = game.summary[row, Block.REFUSED * k + arms].astype(np.float64)
        # The summary is in float32: the next number up is no less than the offer that was accepted.
        accepted = np.nextafter(game.summary[row, Block.ACCEPTED * k + arms], np.float32(np.inf)).astype(np.float64)
        high = np.maximum(low, np.where(accepted > game.max_incentive, cap, accepted))
        amounts = np.stack([low, (low + high) / 2, high, high + self.above])[places, row]
        return _one_hot(game, arms, np.minimum(amounts, game.max_incentive))


@dataclass(frozen=True)
class _Profit:
    bonus: float
    fading: float
    ending: float

    def space(self, game: Game) -> Space[Any]:
        return Box(-1.0, 1.0, (1,), np.float32)

    def offers(self, game: Game, actions: Any) -> Floats:
        level = _floats("action", actions, (game.copies, 1), -1.0, 1.0)
        estimate = (game.sums + 1.0) / (game.plays + 2.0)
        left = (1.0 - game.arrays.state["t"] / game.horizon)[:, None]
        bonus = self.bonus * left**self.ending * (game.plays + 2.0) ** -self.fading
        return np.clip(estimate + bonus - level, 0.0, game.max_incentive)


class _ScalarMenu(gym.ActionWrapper[Any, Any, Any]):
    def __init__(self, env: gym.Env[Any, Any], menu: Menu) -> None:
        super().__init__(env)
        self.menu, self.action_space = menu, menu.space(_game(env))

    def action(self, action: Any) -> Floats:
        batch = tuple([part] for part in _pair(action)) if isinstance(self.action_space, Tuple) else [action]
        offer: Floats = self.menu.offers(_game(self.env), batch)[0]
        return offer


class _BatchedMenu(gym.vector.VectorActionWrapper):
    def __init__(self, env: VectorEnv[Any, Any, Any], menu: Menu) -> None:
        super().__init__(env)
        self.menu, self.single_action_space = menu, menu.space(_game(env))
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def actions(self, actions: Any) -> Floats:
        return self.menu.offers(_game(self.env), actions)


def _wrap(env: Any, menu: Menu) -> Any:
    game, batched = _game(env), isinstance(env, VectorEnv)
    if (env.single_action_space if batched else env.action_space) != spaces.offers(game):
        raise TypeError(f"env = {env} already takes other actions than incentives: one of these wrappers is enough")
    return _BatchedMenu(env, menu) if batched else _ScalarMenu(env, menu)


def _game(env: Any) -> Game:
    seat = getattr(env, "unwrapped", None)
    if not isinstance(seat, PrincipalEnv | PrincipalVectorEnv):
        raise TypeError(
            f"env = {env!r} must be the principal's seat: PrincipalAgent-v0 or PrincipalAgentLinear-v0, from gym.make,"
            " or from gym.make_vec without a vectorization_mode"
        )
    return seat.game


def _within(env: Any, name: str, value: float | None) -> float | None:
    """``value``, if it is None or an incentive above 0."""
    most = _game(env).max_incentive
    if value is not None and at_least(name, value, 0.0, strictly=True) > most:
        raise ValueError(f"{name} = {value} must be at most max_incentive = {most:g}")
    return value


# Functions, since one name serves two class hierarchies; named like the classes that they stand for.
# ruff: noqa: N802


def RescaleIncentive(env: Any) -> Any:
    """Actions in [-1, 1]^n_arms (float32), scaled by their absolute value.

    No incentive is an inner point, where a new Gaussian policy starts, and there is no dead zone: an action below
    zero pays too, so that a policy is never stuck where nothing it does changes the offer.
    """
    return _wrap(env, _Rescale())


def TargetArm(env: Any) -> Any:
    """Actions (arm, amount in [0, max_incentive]): a one-hot offer."""
    return _wrap(env, _Target())


def IncentiveGrid(env: Any, levels: int = 11, top: float | None = None) -> Any:
    """Actions ``arm * levels + level``: that level of an even grid from 0 to ``top`` (default max_incentive)."""
    levels = whole("levels", levels, 2)
    return _wrap(env, _Grid(levels, _within(env, "top", top)))


def BracketIncentive(env: Any, above: float = 0.05, cap: float | None = None) -> Any:
    """Actions ``arm * 4 + place``; places: 0 largest refused offer, 1 middle, 2 smallest accepted, 3 ``above`` that.

    An arm that never accepted counts as accepting ``cap``: by default 1 + 1/horizon, which an agent with rewards
    in [0, 1] always accepts, or max_incentive when rewards are linear.
    """
    return _wrap(env, _Bracket(at_least("above", above, 0.0), _within(env, "cap", cap)))


def ProfitLevel(env: Any, bonus: float = 0.576, fading: float = 0.507, ending: float = 0.385) -> Any:
    """Actions c in [-1, 1]: offer every arm what it is worth but for a profit of c.

    The offer is max(0, theta_hat_a + bonus_a - c) with theta_hat_a = (sum of X + 1) / (N_a + 2) and
    bonus_a = bonus (1 - t/T)^ending (N_a + 2)^-fading. The agent, maximising its mean plus the offer, then picks the
    jointly best arm by itself, and one number is left to learn.
    """
    return _wrap(
        env, _Profit(at_least("bonus", bonus, 0.0), at_least("fading", fading, 0.0), at_least("ending", ending, 0.0))
    )
