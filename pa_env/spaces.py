"""The spaces of both seats, and how the principal's observation is laid out.

``observation="summary"``: six blocks of n_arms numbers, then two: last arm played (one-hot), theta_hat,
plays / horizon, largest refused offer, smallest accepted offer, last offer; last reward X, t / horizon.
A refusal above the smallest accepted offer pushes that up, an acceptance below the largest refused one pushes
that down, since beliefs move. ``observation="last"``: last arm, last offer, last reward, t / horizon.
"""

import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from pa_env.checks import known
from pa_env.game import Game

FAR = np.finfo(np.float32).max  # finite, since checkers warn of infinite bounds


def columns(game: Game, observation: str) -> NDArray[np.intp] | None:
    """Which columns of the summary make up an observation; None: all of them."""
    known("observation", observation, ("summary", "last"))
    k = game.n_arms
    return None if observation == "summary" else np.r_[0:k, 5 * k : 6 * k + 2]


def principal_view(summary: NDArray[np.float32], shown: NDArray[np.intp] | None) -> NDArray[np.float32]:
    """What is shown of one or many summaries: a fresh array."""
    return summary.copy() if shown is None else summary[..., shown]


def principal_observations(game: Game, observation: str = "summary") -> Box:
    """What the principal sees. Rewards may be Gaussian, so estimates of them are bounded only by their type."""
    k = game.n_arms
    low, high = np.zeros(6 * k + 2), np.ones(6 * k + 2)
    low[k : 2 * k], high[k : 2 * k] = -FAR, FAR
    high[3 * k : 6 * k] = game.max_incentive
    low[6 * k], high[6 * k] = -FAR, FAR
    shown = columns(game, observation)
    low, high = (low, high) if shown is None else (low[shown], high[shown])
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)


def agent_observations(game: Game) -> Box:
    """What the agent sees: the offer, its own means and play shares, the time."""
    k = game.n_arms
    low, high = np.zeros(3 * k + 1), np.ones(3 * k + 1)
    high[:k] = game.max_incentive
    low[k : 2 * k], high[k : 2 * k] = -FAR, FAR
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)


def offers(game: Game) -> Box:
    """The principal's actions. float64, so that offers are kept to the last digit; float32 ones are taken too."""
    return Box(0.0, game.max_incentive, (game.n_arms,), np.float64)


def arms(game: Game) -> Discrete:
    """The agent's actions."""
    return Discrete(game.n_arms)
