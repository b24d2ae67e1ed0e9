"""Action wrappers: incentives on a fixed scale, or relative to what each arm refused and accepted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, Space, Tuple

from pa_env.checks import at_least, integers, whole
from pa_env.game import Game
from pa_env.kernel.layout import Floats
from pa_env.wrappers.base import Env, brackets, floats, highest, one_hot, pair, within, wrap


class _Rescale:
    def space(self, game: Game) -> Space[Any]:
        return Box(-1.0, 1.0, (game.n_arms,), np.float32)

    def offers(self, game: Game, actions: Any) -> Floats:
        return game.max_incentive * np.abs(floats("action", actions, (game.copies, game.n_arms), -1.0, 1.0))


class _Target:
    def space(self, game: Game) -> Space[Any]:
        return Tuple((Discrete(game.n_arms), Box(0.0, game.max_incentive, (), np.float64)))

    def offers(self, game: Game, actions: Any) -> Floats:
        arms, amounts = pair(actions)
        amounts = floats("amount", amounts, (game.copies,), 0.0, game.max_incentive)
        return one_hot(game, integers("arm", arms, game.copies, game.n_arms), amounts)


@dataclass(frozen=True)
class _Grid:
    levels: int
    top: float | None

    def space(self, game: Game) -> Space[Any]:
        return Discrete(game.n_arms * self.levels)

    def offers(self, game: Game, actions: Any) -> Floats:
        grid = np.linspace(0.0, game.max_incentive if self.top is None else self.top, self.levels)
        arms, levels = np.divmod(integers("action", actions, game.copies, game.n_arms * self.levels), self.levels)
        return one_hot(game, arms, grid[levels])


@dataclass(frozen=True)
class _Bracket:
    above: float
    cap: float | None

    def space(self, game: Game) -> Space[Any]:
        return Discrete(game.n_arms * 4)

    def offers(self, game: Game, actions: Any) -> Floats:
        arms, places = np.divmod(integers("action", actions, game.copies, 4 * game.n_arms), 4)
        low, high = (ends[np.arange(game.copies), arms] for ends in brackets(game, self.cap or highest(game)))
        amounts = np.choose(places, [low, (low + high) / 2, high, high + self.above])
        return one_hot(game, arms, np.minimum(amounts, game.max_incentive))


@dataclass(frozen=True)
class _Profit:
    bonus: float
    fading: float
    ending: float

    def space(self, game: Game) -> Space[Any]:
        return Box(-1.0, 1.0, (1,), np.float32)

    def offers(self, game: Game, actions: Any) -> Floats:
        level = floats("action", actions, (game.copies, 1), -1.0, 1.0)
        estimate = (game.sums + 1.0) / (game.plays + 2.0)
        left = (1.0 - game.arrays.state["t"] / game.horizon)[:, None]
        bonus = self.bonus * left**self.ending * (game.plays + 2.0) ** -self.fading
        return np.clip(estimate + bonus - level, 0.0, game.max_incentive)


# Functions, since one name serves scalar and batched wrappers; named like classes, as Gymnasium's wrappers are.
# ruff: noqa: N802


def RescaleIncentive(env: Env) -> Env:
    """Actions in [-1, 1]^n_arms (float32): the incentive is max_incentive times the absolute value.

    An action of 0, where a new Gaussian policy starts, offers nothing. Negative actions pay too: if they were clipped
    to 0, a policy could get stuck where its actions do not change the offer.

    Args:
        env: an environment of the principal's seat, from ``gym.make`` or ``gym.make_vec``.
    """
    return wrap(env, _Rescale())


def TargetArm(env: Env) -> Env:
    """Actions (arm, amount in [0, max_incentive]): the amount on that arm, and nothing on the others.

    Args:
        env: an environment of the principal's seat, from ``gym.make`` or ``gym.make_vec``.
    """
    return wrap(env, _Target())


def IncentiveGrid(env: Env, levels: int = 11, top: float | None = None) -> Env:
    """Actions ``arm * levels + level``: that level of an even grid of incentives on that arm.

    Args:
        env: an environment of the principal's seat, from ``gym.make`` or ``gym.make_vec``.
        levels: number of incentives of the grid, at least 2; the first is 0.
        top: the last one; None: max_incentive.
    """
    levels = whole("levels", levels, 2)
    return wrap(env, _Grid(levels, within(env, "top", top)))


def BracketIncentive(env: Env, above: float = 0.05, cap: float | None = None) -> Env:
    """Actions ``arm * 4 + place``: an incentive on that arm, relative to those that it refused and accepted.

    Places: 0 is the largest refused incentive, 1 the middle, 2 the smallest accepted incentive, 3 ``above`` more.

    Args:
        env: an environment of the principal's seat, from ``gym.make`` or ``gym.make_vec``.
        above: what place 3 adds to the smallest accepted incentive, at least 0.
        cap: what an arm that has accepted nothing yet is taken to accept; None: 1 + 1/horizon, which an agent with
            rewards in [0, 1] always accepts, or max_incentive when rewards are linear.
    """
    return wrap(env, _Bracket(at_least("above", above, 0.0), within(env, "cap", cap)))


def ProfitLevel(env: Env, bonus: float = 0.576, fading: float = 0.507, ending: float = 0.385) -> Env:
    """Actions c in [-1, 1]: offer for every arm its estimated worth minus a profit of c.

    The offer is max(0, theta_hat_a + bonus_a - c) with theta_hat_a = (sum of X + 1) / (N_a + 2) and
    bonus_a = bonus (1 - t/T)^ending (N_a + 2)^-fading. An agent that maximises its mean plus the incentive then
    picks the jointly best arm by itself, and only the profit c is left to learn.

    Args:
        env: an environment of the principal's seat, from ``gym.make`` or ``gym.make_vec``.
        bonus: size of the bonus for arms with few plays, at least 0.
        fading: power with which it falls with the plays of the arm, at least 0.
        ending: power with which it falls towards the end of the episode, at least 0.
    """
    return wrap(
        env, _Profit(at_least("bonus", bonus, 0.0), at_least("fading", fading, 0.0), at_least("ending", ending, 0.0))
    )
