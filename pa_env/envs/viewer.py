"""What ``render()`` does in every environment; it costs nothing until it is called."""

from typing import Any

import numpy as np

from pa_env.checks import known
from pa_env.game import Game
from pa_env.kernel.layout import Block, Overall, Row, block_columns, overall_column

MODES = ("ansi", "rgb_array", "human")


class Viewer:
    """Draws one copy of a game, and remembers the regret at each look for the curve."""

    def __init__(self, game: Game, mode: str | None) -> None:
        if mode is not None:
            known("render_mode", mode, MODES)
        self.game, self.mode = game, mode
        self._curve: list[tuple[int, float]] = []

    def render(self) -> Any:
        """A frame in the chosen mode: text, an image (height, width, 3), or None after showing it."""
        from pa_env.envs import render

        if self.mode is None:
            raise ValueError(f"render_mode = None draws nothing: make the environment with one of {', '.join(MODES)}")
        self.game.check_begun()
        draw = {"ansi": render.ansi, "rgb_array": render.rgb, "human": render.human}[self.mode]
        return draw(self._frame())

    def _frame(self) -> Any:
        from pa_env.envs.render import Frame

        game, k = self.game, self.game.n_arms
        t, totals = game.rounds_played, game.totals()
        if self._curve and self._curve[-1][0] >= t:
            self._curve = [point for point in self._curve if point[0] < t]  # a new episode, or a second look
        self._curve.append((t, totals["regret"]))
        summary = game.summary[0].astype(np.float64)
        means = game.means[0].copy()
        return Frame(
            t=t,
            horizon=game.horizon,
            offer=summary[block_columns(Block.OFFER, k)],
            arm=int(game.arrays.state["arm"][0]) if t else None,
            reward=float(summary[overall_column(Overall.REWARD, k)]) if t else None,
            utility=totals["utility"],
            theta_hat=summary[block_columns(Block.THETA_HAT, k)],
            plays=game.plays[0].copy(),
            beliefs=means,
            optimal_incentives=means.max() - means,
            theta=game.arrays.arms[0, Row.THETA].copy(),
            mu=game.arrays.arms[0, Row.MU].copy(),
            regret=totals["regret"],
            agent=getattr(game.agent, "name", type(game.agent).__name__),
            curve=np.array(self._curve, dtype=np.float64),
        )
