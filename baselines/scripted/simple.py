"""Reference principals: no incentive, a fixed offer, and the best response to the agent's beliefs."""

from collections.abc import Sequence

import numpy as np

from baselines.principal import Principal, Request, Rounds, follow, offer
from pa_env.checks import numbers, short
from pa_env.game import Game
from pa_env.kernel.layout import ArmRow, Floats, Integers
from pa_env.memory import compiled_when_used

TIE_BREAK = 1e-9


@compiled_when_used
def best_response(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The oracle's rule; its memory is the game's own table of means, field by field."""
    n_arms = offer.size
    theta, means = memory[ArmRow.THETA * n_arms :], memory[ArmRow.MEAN * n_arms :]
    best = 0
    for b in range(n_arms):
        offer[b] = 0.0
        if theta[b] + means[b] > theta[best] + means[best]:
            best = b
    highest_other = -np.inf
    for b in range(n_arms):
        if b != best:
            highest_other = max(highest_other, means[b])
    missing = highest_other - means[best]
    if missing >= 0.0:
        offer[best] = missing + TIE_BREAK
    return best


class Fixed(Principal):
    """Offer the same incentives in every round.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        incentives: The offer (n_arms,), none below 0.
    """

    name = "fixed"

    def __init__(self, n_arms: int, horizon: int, incentives: Sequence[float]) -> None:
        super().__init__(n_arms, horizon)
        vector = numbers("incentives", incentives)
        if vector.shape != (n_arms,) or not np.isfinite(vector).all() or (vector < 0).any():
            raise ValueError(f"incentives = {short(incentives)} must be {n_arms} finite numbers, none below 0")
        self.incentives = vector

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        yield offer(dict(enumerate(self.incentives)), rounds=self.horizon)


class Zero(Fixed):
    """Offer nothing: the agent plays what it prefers.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
    """

    name = "zero"

    def __init__(self, n_arms: int, horizon: int) -> None:
        Principal.__init__(self, n_arms, horizon)
        self.incentives = np.zeros(self.n_arms)


class Yardstick(Principal):
    """A privileged principal, which reads the game that it plays in."""

    privileged = True
    _game: Game | None = None

    @property
    def game(self) -> Game:
        """The game; raises before `attach` is called."""
        if self._game is None:
            raise RuntimeError(f"{self.name!r} must see the game: call attach(env.unwrapped.game) first")
        return self._game

    def attach(self, game: Game) -> None:
        """Remember the game."""
        self._game = game


class Oracle(Yardstick):
    """Privileged: read the agent's beliefs and pay the jointly best arm pi*, or nothing if it is played anyway.

    Guarantee: R_T against a greedy agent is 0, up to 1e-9 per round, which breaks ties.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
    """

    name = "oracle"

    def request(self) -> Request:
        """The next request; makes sure that the beliefs are up to date."""
        _ = self.game.means  # updates the beliefs of users' own agents
        return super().request()

    def rounds(self) -> Rounds:
        """Best response to the beliefs, round by round."""
        # A view: the rule reads what the kernel writes.
        yield follow(best_response(), self.game.arrays.arms[0].reshape(-1), self.horizon)
