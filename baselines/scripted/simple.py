"""Yardsticks: no incentive, a fixed one, and the best one."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from baselines.protocol import Principal, Request, Rounds, follow, offer
from pa_env import kernel
from pa_env.checks import numbers
from pa_env.compiling import compiled
from pa_env.game import RULE, Game

TIE_BREAK = 1e-9


@functools.cache
def best_response() -> Callable[..., int]:
    """The oracle's rule; its memory is the game's own table of means."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        n_arms = offer.size
        best = 0
        for b in range(n_arms):
            offer[b] = 0.0
            joint = memory[kernel.THETA * n_arms + b] + memory[kernel.MEAN * n_arms + b]
            if joint > memory[kernel.THETA * n_arms + best] + memory[kernel.MEAN * n_arms + best]:
                best = b
        highest_other = -np.inf
        for b in range(n_arms):
            if b != best:
                highest_other = max(highest_other, memory[kernel.MEAN * n_arms + b])
        missing = highest_other - memory[kernel.MEAN * n_arms + best]
        if missing >= 0.0:
            offer[best] = missing + TIE_BREAK
        return best

    return compiled(rule, RULE)


class Fixed(Principal):
    """Offer the same ``incentives`` (n_arms,) in every round."""

    name = "fixed"

    def __init__(self, n_arms: int, horizon: int, incentives: Sequence[float]) -> None:
        super().__init__(n_arms, horizon)
        vector = numbers("incentives", incentives)
        if vector.shape != (n_arms,) or not np.isfinite(vector).all() or (vector < 0).any():
            raise ValueError(f"incentives = {incentives!r} must be {n_arms} finite numbers, none below 0")
        self.incentives = vector

    def rounds(self) -> Rounds:
        """Hold them to the end."""
        yield offer(dict(enumerate(self.incentives)), rounds=self.horizon)


class Zero(Fixed):
    """Offer nothing: what the agent does by itself."""

    name = "zero"

    def __init__(self, n_arms: int, horizon: int) -> None:
        Principal.__init__(self, n_arms, horizon)
        self.incentives = np.zeros(self.n_arms)


class Oracle(Principal):
    """Privileged: reads the agent's beliefs and pays the jointly best arm pi*, or nothing where it wins anyway.

    The yardstick of the yardsticks: its regret R_T against a greedy agent is 0, up to 1e-9 a round that breaks ties.
    """

    name = "oracle"
    privileged = True

    def __init__(self, n_arms: int, horizon: int) -> None:
        super().__init__(n_arms, horizon)
        self.game: Game | None = None

    def attach(self, game: Game) -> None:
        """The game whose agent it reads."""
        self.game = game

    def request(self) -> Request:
        """As any principal's, of a game whose beliefs are up to date."""
        if self.game is None:
            raise RuntimeError(f"{self.name!r} must see the game: call attach(env.unwrapped.game) first")
        _ = self.game.means  # a user's own agent is asked for them
        return super().request()

    def rounds(self) -> Rounds:
        """Best response to the beliefs, round by round."""
        # A view: the rule reads what the kernel writes.
        yield follow(best_response(), self.game.arms[0].reshape(-1), self.horizon)  # type: ignore[union-attr]
