"""The spaces of both seats, and what the players observe.

:class:`pa_env.layout.Block`, ``Overall`` and ``AgentBlock`` list the numbers of an observation in their order.

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
from pa_env.layout import (
    AGENT_BLOCKS,
    OBSERVATIONS,
    AgentBlock,
    Block,
    Floats32,
    Overall,
    block_columns,
    overall_column,
    shown_columns,
    summary_size,
)

FAR = float(np.finfo(np.float32).max)  # finite, since checkers warn of infinite bounds


def columns(game: Game, observation: str) -> NDArray[np.intp] | None:
    """Which columns of the summary make up an observation; None: all of them."""
    known("observation", observation, OBSERVATIONS)
    chosen = shown_columns(observation, game.n_arms)
    return None if chosen.size == summary_size(game.n_arms) else chosen


def principal_view(summary: Floats32, shown: NDArray[np.intp] | None) -> Floats32:
    """What is shown of one or many summaries: a fresh array."""
    return summary.copy() if shown is None else summary[..., shown]


def principal_observations(game: Game, observation: str = "summary") -> Box:
    """What the principal sees. Rewards may be Gaussian, so estimates of them are bounded only by their type."""
    k = game.n_arms
    low, high = np.zeros(summary_size(k)), np.ones(summary_size(k))
    for block in (Block.REFUSED, Block.ACCEPTED, Block.OFFER):
        high[block_columns(block, k)] = game.max_incentive
    for unbounded in (block_columns(Block.THETA_HAT, k), overall_column(Overall.REWARD, k)):
        low[unbounded], high[unbounded] = -FAR, FAR
    shown = shown_columns(observation, k)
    return Box(low[shown].astype(np.float32), high[shown].astype(np.float32), dtype=np.float32)


def agent_observations(game: Game) -> Box:
    """What the agent sees: the offer, its own means and play shares, the time."""
    k = game.n_arms
    low, high = np.zeros(AGENT_BLOCKS * k + 1), np.ones(AGENT_BLOCKS * k + 1)
    high[block_columns(AgentBlock.OFFER, k)] = game.max_incentive
    low[block_columns(AgentBlock.MEAN, k)], high[block_columns(AgentBlock.MEAN, k)] = -FAR, FAR
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)


def offers(game: Game) -> Box:
    """The principal's actions. float64, so that offers are kept to the last digit; float32 ones are taken too."""
    return Box(0.0, game.max_incentive, (game.n_arms,), np.float64)


def arms(game: Game) -> Discrete:
    """The agent's actions."""
    return Discrete(game.n_arms)
