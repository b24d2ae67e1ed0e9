"""Who offers when you sit in the agent's seat: a scripted principal, a function, or random offers."""

import copy
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pa_env import checks
from pa_env.game import Game
from pa_env.kernel.agents import random_offers
from pa_env.kernel.compiling import Direct
from pa_env.kernel.layout import ARM, REWARD, Flags, Floats, Floats32

_RANDOM = Direct(random_offers)


class Principal(Protocol):
    """What ``principal=`` must have."""

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode."""

    def offer(self) -> ArrayLike:
        """The incentives (n_arms,) of the next round."""

    def observe(self, arm: int, reward: float) -> Any:
        """Observe the arm that was played and the principal's reward X."""


PrincipalLike = Principal | Callable[[Floats32], ArrayLike] | None


class PrincipalDriver:
    """Makes the offers of every copy of a game.

    Args:
        game: the game in which the offers are made.
        principal: an object with reset, offer and observe (with more than one copy, each gets a deep copy); a function
            from the principal's summary observation to an offer; or None, a random amount on a random arm.
    """

    def __init__(self, game: Game, principal: PrincipalLike) -> None:
        self.game = game
        self._objects: list[Principal] = []
        self._function: Callable[[Floats32], ArrayLike] | None = None
        if principal is not None and all(callable(getattr(principal, m, None)) for m in ("reset", "offer", "observe")):
            copies = range(game.copies - 1)
            self._objects = [principal, *(copy.deepcopy(principal) for _ in copies)]  # type: ignore[list-item]
        elif callable(principal):
            self._function = principal
        elif principal is not None:
            raise TypeError(
                f"principal = {principal!r} must have reset, offer and observe, or be a function from the principal's"
                " observation to an offer, or None for random offers"
            )

    def begin(self, which: Flags) -> None:
        """Begin an episode of the copies marked in ``which``."""
        for i in np.flatnonzero(which).tolist() if self._objects else ():
            self._objects[i].reset(seed=self.game.principal_seed(i))

    def observe(self, which: Flags, results: Floats) -> None:
        """Tell the principals of the copies in ``which`` what their offers brought."""
        for i in np.flatnonzero(which).tolist() if self._objects else ():
            self._objects[i].observe(int(results[i, ARM]), float(results[i, REWARD]))

    def offers(self, which: Flags) -> Floats:
        """The next offers (copies, n_arms) of the copies in ``which``; zero elsewhere, and where the game is over."""
        game = self.game
        asked = which & (game.arrays.state["t"] < game.horizon)
        made = np.zeros((game.copies, game.n_arms))
        if self._objects or self._function:
            for i in np.flatnonzero(asked).tolist():
                offer = self._objects[i].offer() if self._objects else self._function(game.summary[i].copy())  # type: ignore[misc]
                made[i] = checks.offers("the principal's offer", offer, (1, game.n_arms))
            game.check_offers(made)
        else:
            _RANDOM(game.arrays, made)
            made[~asked] = 0.0
        return made
