"""Who offers when you sit in the agent's seat: a scripted principal, a function, or random offers."""

import copy
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pa_env import kernel
from pa_env.checks import numbers
from pa_env.game import Game


class Principal(Protocol):
    """What offers. ``observe`` is told the arm played and the principal's reward X."""

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode."""

    def offer(self) -> ArrayLike:
        """The incentives (n_arms,) of the next round."""

    def observe(self, arm: int, reward: float) -> Any:
        """Take in a round."""


PrincipalLike = Principal | Callable[[NDArray[np.float32]], ArrayLike] | None


class Leaders:
    """Makes the offers of every copy of a game.

    ``principal``: an object with reset, offer and observe (with more than one copy: each gets a deep copy); a
    function from the principal's summary observation to an offer; or None, a random amount on a random arm.
    """

    def __init__(self, game: Game, principal: PrincipalLike) -> None:
        self.game = game
        self._objects: list[Principal] = []
        self._function: Callable[[NDArray[np.float32]], ArrayLike] | None = None
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

    def begin(self, which: NDArray[np.bool_]) -> None:
        """Begin an episode of the copies marked in ``which``."""
        for i in np.flatnonzero(which) if self._objects else ():
            state = self.game.state[i]
            seed = np.random.SeedSequence([int(state["key"]), int(state["episode"])]).generate_state(1)[0]
            self._objects[i].reset(seed=int(seed))

    def observe(self, which: NDArray[np.bool_], results: NDArray[np.float64]) -> None:
        """Tell the principals of the copies in ``which`` what their offers brought."""
        for i in np.flatnonzero(which) if self._objects else ():
            self._objects[i].observe(int(results[i, kernel.ARM]), float(results[i, kernel.REWARD_PRINCIPAL]))

    def offers(self, which: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The next offers (copies, n_arms) of the copies in ``which``; zero elsewhere, and where the game is over."""
        game = self.game
        asked = which & (game.state["t"] < game.horizon)
        offers = np.zeros((game.copies, game.n_arms))
        if self._objects or self._function:
            for i in np.flatnonzero(asked):
                made = self._objects[i].offer() if self._objects else self._function(game.summary[i].copy())  # type: ignore[misc]
                offers[i] = self._checked(made)
        else:
            kernel.random_offers(game.max_incentive, game.state, offers)
            offers[~asked] = 0.0
        return offers

    def _checked(self, made: ArrayLike) -> NDArray[np.float64]:
        k, most = self.game.n_arms, self.game.max_incentive
        offer = numbers("the principal's offer", made, f", one for each of {k} arms")
        if offer.shape != (k,):
            raise ValueError(f"the principal's offer has shape {offer.shape}: it must be ({k},), a number for each arm")
        bad = np.flatnonzero(~((offer >= 0) & (offer <= most)))
        if bad.size:
            raise ValueError(
                f"the principal's incentives[{bad[0]}] = {offer[bad[0]]} must be a finite number, at least 0 and at"
                f" most max_incentive = {most:g}"
            )
        return offer
