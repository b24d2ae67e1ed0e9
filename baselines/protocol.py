"""What a principal is: ``reset``, ``offer``, ``observe``, ``predict``, and one coroutine that reads like pseudocode.

An author writes ``rounds()``, a generator that yields what to offer next and is sent what came of it:

>>> from baselines.protocol import Principal, hold
>>> class Haggler(Principal):
...     '''Halve the interval for arm 0, then hold the incentive found.'''
...     def rounds(self):
...         low, high = 0.0, 1.0
...         while high - low > 1 / self.horizon:
...             outcome = yield hold(0, (low + high) / 2)
...             low, high = (low, (low + high) / 2) if outcome.plays[0] else ((low + high) / 2, high)
...         yield hold(0, high + 1 / self.horizon, rounds=self.horizon)

Step by step (in a Gymnasium or PettingZoo environment) a request is paid out one round at a time; in
:func:`baselines.simulate` the compiled game plays it at once. Both give the same rounds for the same seed.

Three kinds of request: :func:`hold` an amount on one arm, :func:`offer` a whole vector, each for a number of rounds
or until a stop rule fires, and :func:`follow` a compiled rule that makes the offer anew each round.
"""

import math
from collections.abc import Callable, Generator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pa_env import kernel
from pa_env.checks import at_least, finite
from pa_env.game import Game

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Outcome(NamedTuple):
    """What a request brought: rounds really played, then plays and the sum of rewards X of each arm."""

    rounds: int
    plays: Integers
    rewards: Floats


class Hold(NamedTuple):
    """Offer the same incentives for ``rounds`` rounds; ``target`` is the arm meant to be played, or NOBODY.

    ``stop = (alpha, beta)``: withdraw them after Y rounds once misses of the target > alpha sqrt(Y) + beta / sqrt(Y).
    """

    arms: tuple[int, ...]
    amounts: tuple[float, ...]
    rounds: int
    target: int
    stop: tuple[float, float] | None = None

    def incentives(self, n_arms: int) -> Floats:
        """The offer (n_arms,)."""
        vector = np.zeros(n_arms)
        for arm, amount in zip(self.arms, self.amounts, strict=True):
            vector[arm] = amount
        return vector


class Follow(NamedTuple):
    """Let a rule compiled with :data:`pa_env.game.RULE` make the offers of ``rounds`` rounds; see ``pa_env.kernel``."""

    rule: Callable[..., int]
    memory: Floats
    rounds: int


Request = Hold | Follow
Rounds = Generator[Request, Outcome, None]


def hold(arm: int, amount: float, rounds: int = 1, stop: tuple[float, float] | None = None) -> Hold:
    """pi^0(arm; amount): an incentive on one arm, none on the others; ``rounds`` is at least 1."""
    return Hold((int(arm),), (float(amount),), _at_least_one(rounds), int(arm), stop)


def offer(amounts: dict[int, float], rounds: int = 1, target: int = kernel.NOBODY) -> Hold:
    """Incentives on several arms."""
    return Hold(tuple(amounts), tuple(float(a) for a in amounts.values()), _at_least_one(rounds), int(target))


def follow(rule: Callable[..., int], memory: Floats, rounds: int) -> Follow:
    """Offers made by a compiled rule."""
    return Follow(rule, memory, _at_least_one(rounds))


def _at_least_one(rounds: int) -> int:
    if rounds < 1:
        raise ValueError(f"rounds = {rounds} must be an integer at least 1")
    return int(rounds)


class Phase(NamedTuple):
    """A phase of an algorithm: its number m, the first round (0, 1, ...), the active arms, the planned plays T_m."""

    number: int
    start: int
    active: tuple[int, ...]
    length: int


class Principal:
    """A scripted principal for games with ``n_arms`` arms (K) and ``horizon`` rounds (T).

    It keeps its own counts: ``plays`` (N_a), ``sums`` of rewards X, ``theta_hat``, rounds played ``t``.
    """

    name: ClassVar[str] = ""
    privileged: ClassVar[bool] = False  # whether it must be shown the game by `attach`
    stand_in: ClassVar[bool] = False  # whether it only takes the place of a published algorithm

    def __init__(self, n_arms: int, horizon: int) -> None:
        self.n_arms = int(at_least("n_arms", n_arms, 1, whole=True))
        self.horizon = int(at_least("horizon", horizon, 2, whole=True))
        self._resets = np.random.SeedSequence(0)
        self.reset()

    def rounds(self) -> Rounds:
        """The algorithm: yields requests, is sent outcomes."""
        raise NotImplementedError(f"{type(self).__name__} must define rounds()")

    def attach(self, game: Game) -> None:
        """Show a privileged principal the game that it plays in."""

    # ------------------------------------------------------------------------------------- one round at a time

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode. Without a seed, the next of the principal's own stream of seeds."""
        source = self._resets.spawn(1)[0] if seed is None else np.random.SeedSequence([seed, 0])
        self.rng = np.random.default_rng(source)
        self.plays: Integers = np.zeros(self.n_arms, np.int64)
        self.sums: Floats = np.zeros(self.n_arms)
        self.t = 0
        self.phases: list[Phase] = []
        self._coroutine: Rounds | None = None
        self._offered: Floats | None = None

    @property
    def theta_hat(self) -> Floats:
        """Mean of the rewards X of each arm so far, 0 for an arm never played."""
        mean: Floats = self.sums / np.maximum(self.plays, 1)
        return mean

    def offer(self) -> Floats:
        """The incentives (n_arms,) of the next round; the same until ``observe`` is told what came of them."""
        if self._offered is None:
            request = self.request()
            if isinstance(request, Hold):
                self._offered = request.incentives(self.n_arms)
            else:
                self._offered = np.zeros(self.n_arms)
                request.rule(request.memory, self.plays, self.sums, *self.last, self._offered)
        return self._offered.copy()

    def observe(self, arm: int, reward: float) -> None:
        """Take in the arm played and the principal's reward X."""
        if self._offered is None:
            raise RuntimeError("observe() must follow offer(): there is no offer that this round could have answered")
        arm = int(at_least("arm", arm, 0, whole=True))
        if arm >= self.n_arms:
            raise ValueError(f"arm = {arm} must be an integer from 0 to {self.n_arms - 1}")
        reward = finite("reward", reward)
        self._offered, self.last = None, (arm, reward)
        if self.t == self._before[0]:  # the counts before the request stay as they were
            self.plays, self.sums = self.plays.copy(), self.sums.copy()
        self.plays[arm] += 1
        self.sums[arm] += reward
        self.t += 1
        request, played = self._request, self.t - self._before[0]
        withdrawn = False
        if isinstance(request, Hold) and request.stop is not None:
            misses = played - (self.plays - self._before[1])[request.target]
            withdrawn = misses > request.stop[0] * math.sqrt(played) + request.stop[1] / math.sqrt(played)
        if withdrawn or self.rounds_left == 0:
            self.settle()

    def predict(
        self,
        observation: NDArray[np.float32],
        state: tuple["Principal", ...] | None = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[Floats, tuple["Principal", ...]]:
        """Offers for a batch of the principal's observations, as Stable-Baselines3's policies give actions.

        ``state`` holds one principal for each environment: pass back what the last call returned. An episode begins
        where the observation says t = 0. Rewards are read from the observation, in float32.
        """
        batch = np.atleast_2d(observation)
        state = tuple(self._twin() for _ in batch) if state is None else state
        offers = np.empty((len(batch), self.n_arms))
        for i, (principal, seen) in enumerate(zip(state, batch, strict=True)):
            if seen[-1] == 0:
                principal.reset()
            else:
                principal.observe(int(seen[: self.n_arms].argmax()), float(seen[-2]))
            offers[i] = principal.offer()
        return (offers if np.ndim(observation) > 1 else offers[0]), state

    def _twin(self) -> "Principal":
        """A principal with the same parameters, at the beginning."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.reset()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to be copied in the middle of an episode."""
        if self._coroutine is not None:
            raise TypeError(
                f"{self.name!r} cannot be copied or pickled in the middle of an episode: call reset() first"
            )
        return self.__dict__.copy()

    # ------------------------------------------------------------------------------------- a request at a time

    def request(self) -> Request:
        """What the algorithm asks for now."""
        if self._coroutine is None:
            self._coroutine = self.rounds()
            if not isinstance(self._coroutine, Generator):
                raise TypeError(f"{self.name!r}: rounds() must be a generator, one that yields requests")
            self._advance(None)
        return self._request

    @property
    def rounds_left(self) -> int:
        """Rounds that the request still asks for."""
        return self._request.rounds - (self.t - self._before[0])

    def settle(self) -> None:
        """Tell the algorithm what its request brought, now that ``t``, ``plays`` and ``sums`` are up to date."""
        t, plays, sums = self._before
        self._advance(Outcome(self.t - t, self.plays - plays, self.sums - sums))

    def _advance(self, outcome: Outcome | None) -> None:
        """Move the coroutine on to its next request; once it has ended, nothing is offered any more."""
        try:
            request = self._coroutine.send(outcome)  # type: ignore[union-attr,arg-type] # it starts with None
        except StopIteration:
            request = offer({}, rounds=self.horizon)
        if isinstance(request, Hold):
            for arm in request.arms:
                if not 0 <= arm < self.n_arms:
                    raise ValueError(f"arm = {arm} must be an integer from 0 to {self.n_arms - 1}")
        elif not isinstance(request, Follow):
            raise TypeError(f"{self.name!r} yielded {request!r}: rounds() must yield hold(), offer() or follow()")
        self._request: Request = request
        self._before = (self.t, self.plays, self.sums)
        self.last = (kernel.NOBODY, 0.0)  # arm and reward of the request's last round
