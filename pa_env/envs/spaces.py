"""Action and observation spaces of both players.

:class:`pa_env.kernel.layout.SummaryBlock`, ``SummaryNumber`` and ``AgentBlock`` list the numbers of an
observation in their order.

``observation="summary"``: six blocks of n_arms numbers, then two: last arm played (one-hot), theta_hat,
plays / horizon, largest refused incentive, smallest accepted incentive, last offer; last reward X, t / horizon.
Because beliefs move, a refusal above the smallest accepted incentive raises that bound, and an acceptance below the
largest refused incentive lowers the other.

``observation="last"``: last arm, last offer, last reward, t / horizon.

``observation="learning"``: the summary with all numbers of order 1, for networks. It has log(1 + plays) / 4 in place of
plays / horizon. For an arm that was never played, the smallest accepted incentive is .3 above the largest refused one.
"""

import numpy as np
from gymnasium.spaces import Box, Discrete

from pa_env.checks import known
from pa_env.game import Game
from pa_env.kernel.layout import (
    AGENT_BLOCKS,
    LOG_SCALE,
    OBSERVATIONS,
    UNTRIED,
    AgentBlock,
    Floats32,
    SummaryBlock,
    SummaryNumber,
    block_columns,
    overall_column,
    shown_columns,
    summary_size,
)

FAR = float(np.finfo(np.float32).max)  # finite, since checkers warn of infinite bounds


class View:
    """Turns summaries into the principal's observations.

    Args:
        game: the game that the summaries come from.
        observation: a name in :data:`pa_env.kernel.layout.OBSERVATIONS`.
    """

    def __init__(self, game: Game, observation: str) -> None:
        known("observation", observation, OBSERVATIONS)
        self.space = principal_observations(game, observation)
        self._scaled = observation == "learning"
        self._horizon, self._most = game.horizon, np.float32(game.max_incentive)
        self._columns = shown_columns(observation, game.n_arms)
        self._blocks = [block_columns(block, game.n_arms) for block in SummaryBlock]
        self._whole = self._columns.size == summary_size(game.n_arms)

    def __call__(self, summary: Floats32, out: Floats32 | None = None) -> Floats32:
        """Return the observations of one or many summaries (..., summary_size(K)): ``out``, or a fresh array."""
        if not self._whole:
            return np.take(summary, self._columns, axis=-1, out=out)
        if out is None:
            out = summary.copy()
        else:
            out[...] = summary
        if self._scaled:
            share, refused, accepted = (
                self._blocks[block] for block in (SummaryBlock.PLAY_SHARE, SummaryBlock.REFUSED, SummaryBlock.ACCEPTED)
            )
            plays = self._horizon * summary[..., share].astype(np.float64)
            out[..., share] = np.log1p(plays) / LOG_SCALE
            guess = np.minimum(summary[..., refused] + np.float32(UNTRIED), self._most)
            np.copyto(out[..., accepted], guess, where=plays == 0)
        return out


def principal_observations(game: Game, observation: str = "summary") -> Box:
    """The principal's observations. Rewards may be Gaussian: estimates of them are bounded by their type alone."""
    k = game.n_arms
    low, high = np.zeros(summary_size(k)), np.ones(summary_size(k))
    for block in (SummaryBlock.REFUSED, SummaryBlock.ACCEPTED, SummaryBlock.OFFER):
        high[block_columns(block, k)] = game.max_incentive
    for unbounded in (block_columns(SummaryBlock.THETA_HAT, k), overall_column(SummaryNumber.REWARD, k)):
        low[unbounded], high[unbounded] = -FAR, FAR
    if observation == "learning":
        high[block_columns(SummaryBlock.PLAY_SHARE, k)] = np.log1p(game.horizon) / LOG_SCALE
    columns = shown_columns(observation, k)
    return Box(low[columns].astype(np.float32), high[columns].astype(np.float32), dtype=np.float32)


def agent_observations(game: Game) -> Box:
    """The agent's observations: the offer, its own means and play shares, the time."""
    k = game.n_arms
    low, high = np.zeros(AGENT_BLOCKS * k + 1), np.ones(AGENT_BLOCKS * k + 1)
    high[block_columns(AgentBlock.OFFER, k)] = game.max_incentive
    low[block_columns(AgentBlock.MEAN, k)], high[block_columns(AgentBlock.MEAN, k)] = -FAR, FAR
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)


def offers(game: Game) -> Box:
    """The principal's actions: float64, so that offers are exact; float32 offers are accepted too."""
    return Box(0.0, game.max_incentive, (game.n_arms,), np.float64)


def arms(game: Game) -> Discrete:
    """The agent's actions."""
    return Discrete(game.n_arms)
