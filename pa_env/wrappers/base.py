"""Common code of the wrappers: a menu turns actions into offers, for one environment or a batch."""

from typing import Any, Protocol, TypeVar

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Space, Tuple
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from pa_env.checks import at_least, numbers, short
from pa_env.envs import spaces
from pa_env.envs.batched import PrincipalVectorEnv
from pa_env.envs.scalar import PrincipalEnv
from pa_env.game import Game
from pa_env.kernel.layout import UNTRIED, Floats, Integers, SummaryBlock, block_columns

# An environment of the principal's seat, scalar or batched; a wrapped one is of the same kind.
Env = TypeVar("Env", gym.Env[Any, Any], VectorEnv[Any, Any, Any])


class Menu(Protocol):
    """The actions of a principal. A menu holds no reference to a game, so a copied environment uses its own game."""

    def space(self, game: Game) -> Space[Any]:
        """The actions of one copy."""

    def offers(self, game: Game, actions: Any) -> Floats:
        """Offers (copies, n_arms) for a batch of actions."""


def floats(name: str, actions: Any, shape: tuple[int, ...], low: float, high: float) -> Floats:
    """A batch of numbers from ``low`` to ``high``."""
    values = numbers(name, actions)
    if values.shape != shape or not ((values >= low) & (values <= high)).all():
        each = f" of shape {shape[1:]}" + (f" for each of {shape[0]} copies" if shape[0] > 1 else "")
        raise ValueError(f"{name} = {short(actions)} must be numbers from {low:g} to {high:g},{each}")
    return values


def pair(action: Any) -> tuple[Any, Any]:
    """An arm and an amount, or a batch of each."""
    if not isinstance(action, tuple | list) or len(action) != 2:
        raise ValueError(f"action = {short(action)} must be a pair (arm, amount)")
    return action[0], action[1]


def one_hot(game: Game, arms: Integers, amounts: Floats) -> Floats:
    """Offers of these amounts (copies,) on these arms (copies,), and 0 on all others."""
    offers = np.zeros((game.copies, game.n_arms))
    offers[np.arange(game.copies), arms] = amounts
    return offers


def brackets(game: Game, untried: float | None = None) -> tuple[Floats, Floats]:
    """Bounds (copies, n_arms) on each arm's price: the largest refused and the smallest accepted incentive.

    Args:
        game: the game.
        untried: upper bound for an arm that has accepted nothing yet; None: UNTRIED above what it refused.
    """
    k = game.n_arms
    low = game.summary[:, block_columns(SummaryBlock.REFUSED, k)].astype(np.float64)
    # The summary is in float32: the next larger number is no less than the incentive that was accepted.
    accepted = np.nextafter(game.summary[:, block_columns(SummaryBlock.ACCEPTED, k)], np.float32(np.inf)).astype(
        np.float64
    )
    guess = low + UNTRIED if untried is None else untried
    return low, np.maximum(low, np.where(accepted > game.max_incentive, guess, accepted))


def highest(game: Game) -> float:
    """The price that an agent with rewards in [0, 1] always accepts, 1 + 1/horizon; max_incentive if linear."""
    return game.max_incentive if game.dim else min(1.0 + 1.0 / game.horizon, game.max_incentive)


class _ScalarMenu(gym.ActionWrapper[Any, Any, Any], gym.utils.RecordConstructorArgs):
    def __init__(self, env: gym.Env[Any, Any], menu: Menu) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, menu=menu)  # so that its spec can make it again
        super().__init__(env)
        self.menu, self.action_space = menu, menu.space(game_behind(env))

    def action(self, action: Any) -> Floats:
        batch = tuple([part] for part in pair(action)) if isinstance(self.action_space, Tuple) else [action]
        offer: Floats = self.menu.offers(game_behind(self.env), batch)[0]
        return offer


class _BatchedMenu(gym.vector.VectorActionWrapper):
    def __init__(self, env: VectorEnv[Any, Any, Any], menu: Menu) -> None:
        super().__init__(env)
        self.menu, self.single_action_space = menu, menu.space(game_behind(env))
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def actions(self, actions: Any) -> Floats:
        return self.menu.offers(game_behind(self.env), actions)


def wrap(env: Env, menu: Menu) -> Env:
    """Return the environment, scalar or batched, with the actions of a menu."""
    game = game_behind(env)
    if (env.single_action_space if isinstance(env, VectorEnv) else env.action_space) != spaces.offers(game):
        raise TypeError(f"env = {short(env)} already takes actions other than incentives: use one of these wrappers")
    return _BatchedMenu(env, menu) if isinstance(env, VectorEnv) else _ScalarMenu(env, menu)


def game_behind(env: object) -> Game:
    """The game of an environment that may be wrapped."""
    seat = getattr(env, "unwrapped", None)
    if not isinstance(seat, PrincipalEnv | PrincipalVectorEnv):
        raise TypeError(
            f"env = {short(env)} must be the principal's seat: PrincipalAgent-v0 or PrincipalAgentLinear-v0, from"
            " gym.make, or from gym.make_vec without a vectorization_mode"
        )
    return seat.game


def within(env: object, name: str, value: float | None) -> float | None:
    """``value``, if it is None or an incentive above 0."""
    most = game_behind(env).max_incentive
    if value is not None and at_least(name, value, 0.0, strictly=True) > most:
        raise ValueError(f"{name} = {value} must be at most max_incentive = {most:g}")
    return value
