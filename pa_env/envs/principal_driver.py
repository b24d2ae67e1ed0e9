"""The principal behind the agent's seat: a scripted principal, a function, or random offers."""

import copy
import os
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from pa_env import checks
from pa_env.game import Game
from pa_env.kernel.agents import random_offers
from pa_env.kernel.compiling import Direct
from pa_env.kernel.layout import ARM, REWARD, Flags, Floats, Floats32

_RANDOM = Direct(random_offers)


class OfferMaker(Protocol):
    """An object that ``principal=`` takes."""

    def reset(self, seed: int | None = None) -> Any:
        """Begin an episode."""

    def offer(self) -> ArrayLike:
        """Return the incentives (n_arms,) of the next round."""

    def observe(self, arm: int, reward: float) -> Any:
        """Observe the arm that was played and the principal's reward X."""


def lacks(given: object) -> list[str]:
    """Return the methods of an OfferMaker that an object, or objects of a class, does not have."""
    return [name for name in ("reset", "offer", "observe") if not callable(getattr(given, name, None))]


Policy = Callable[[Floats32], ArrayLike]  # from the principal's summary observation to an offer
PrincipalLike = OfferMaker | Policy | str | os.PathLike[str] | type | None  # what ``principal=`` takes
# More that it takes, from packages that add it: a test, and a function of what is given, n_arms= and horizon=.
CONVERSIONS: list[tuple[Callable[[Any], bool], Callable[..., OfferMaker]]] = []


class PolicyPrincipal:
    """A function as the principal of one copy of a game.

    Args:
        game: the game.
        i: the copy.
        policy: the function.
    """

    def __init__(self, game: Game, i: int, policy: Policy) -> None:
        self.game, self.i, self.policy = game, i, policy

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode: it keeps nothing."""

    def offer(self) -> ArrayLike:
        """Return what the function offers on the summary observation."""
        return self.policy(self.game.summary[self.i].copy())

    def observe(self, arm: int, reward: float) -> None:
        """Observe a round: the summary tells it."""


class PrincipalDriver:
    """Makes the offers of every copy of a game.

    Args:
        game: the game in which the offers are made.
        principal: an object with reset, offer and observe (with more than one copy, each gets a deep copy); a function
            from the principal's summary observation to an offer; a name, a spec, a policy file's path, a class or a
            model, once ``baselines`` is imported (``CONVERSIONS``); or None, a random amount on a random arm.
    """

    def __init__(self, game: Game, principal: PrincipalLike) -> None:
        self.game = game
        self._principals: list[OfferMaker] = []  # one for each copy; none: random offers
        self._what = "the principal's offer"  # in messages
        if principal is None:
            return
        if isinstance(principal, os.PathLike):
            principal = os.fspath(principal)
        for converts, convert in CONVERSIONS:
            if converts(principal):
                principal = convert(principal, n_arms=game.n_arms, horizon=game.horizon)
        if isinstance(principal, str | type):
            raise TypeError(
                f"principal = {checks.short(principal)} is a name or a class: import baselines, which makes a principal"
                " of it, or pass an object"
            )
        missing = lacks(principal)
        if not missing:
            maker = cast(OfferMaker, principal)
            self._what = f"{type(maker).__name__}.offer()"
            self._principals = [maker, *(copy.deepcopy(maker) for _ in range(game.copies - 1))]
        elif callable(principal):
            self._principals = [PolicyPrincipal(game, i, principal) for i in range(game.copies)]
        else:
            raise TypeError(
                f"principal = {checks.short(principal)} must be an object with reset, offer and observe, a function"
                " from the principal's observation to an offer, None for random offers, or, once baselines is imported,"
                f" a name, a spec, a class or a model; it lacks {', '.join(missing)}"
            )

    def begin(self, which: Flags) -> None:
        """Begin an episode of the copies marked in ``which`` (N,)."""
        for i in np.flatnonzero(which).tolist() if self._principals else ():
            self._principals[i].reset(seed=self.game.principal_seed(i))

    def observe(self, which: Flags, results: Floats) -> None:
        """Tell the principals of the copies in ``which`` (N,) the results (N, .) of the round."""
        for i in np.flatnonzero(which).tolist() if self._principals else ():
            self._principals[i].observe(int(results[i, ARM]), float(results[i, REWARD]))

    def offers(self, which: Flags) -> Floats:
        """Return the next offers (N, n_arms) of the copies in ``which``; zero elsewhere, and where the game is over."""
        game = self.game
        running = which & (game.arrays.state["t"] < game.horizon)
        offers = np.zeros((game.copies, game.n_arms))
        if not self._principals:
            _RANDOM(game.arrays.rules, game.arrays.state, offers)
            offers[~running] = 0.0
            return offers
        for i in np.flatnonzero(running).tolist():
            offers[i] = checks.offers(self._what, self._principals[i].offer(), (1, game.n_arms))
        game.check_offers(offers, self._what)
        return offers
