"""A principal: ``reset``, ``offer``, ``observe``, ``predict``, and one coroutine that reads like pseudocode.

An author writes ``rounds()``, a generator that yields what to offer next and is sent what happened:

>>> from baselines.principal import Principal, hold
>>> class Haggler(Principal):
...     '''Halve the interval for arm 0, then hold the incentive found.'''
...     def rounds(self):
...         low, high = 0.0, 1.0
...         while high - low > 1 / self.horizon:
...             outcome = yield hold(0, (low + high) / 2)
...             low, high = (low, (low + high) / 2) if outcome.plays[0] else ((low + high) / 2, high)
...         yield hold(0, high + 1 / self.horizon, rounds=self.horizon)

Step by step (in a Gymnasium or PettingZoo environment) a request is played one round at a time; in
:func:`baselines.simulate` the compiled game plays it at once. Both give the same rounds for the same seed.

Three kinds of request: :func:`hold` an amount on one arm, :func:`offer` a whole vector, each for a number of rounds
or until a stop rule fires, and :func:`follow` a compiled rule that makes a new offer in each round.
"""

import copy
import inspect
import math
import operator
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pa_env.checks import UNBOUNDED, arm_index, bad_offer, finite, numbers, seed_of, short, whole
from pa_env.envs.principal_driver import OfferMaker
from pa_env.game import Game, principal_seed
from pa_env.game_state import LONGEST
from pa_env.kernel.layout import NO_ARM, Floats, Floats32, Integers, SummaryBlock, SummaryNumber
from pa_env.rules import StopRule


class Outcome:
    """The outcome of a request's rounds alone; a principal's ``t``, ``plays`` and ``sums`` count all rounds.

    Differences are taken when they are asked for: most algorithms look at one of them, or at none.

    Args:
        before: t, plays and sums before the rounds.
        after: the same after them.
    """

    __slots__ = ("_after", "_before")

    def __init__(self, before: "Counts", after: "Counts") -> None:
        self._before, self._after = before, after

    def __repr__(self) -> str:
        return f"Outcome(rounds={self.rounds}, plays={self.plays}, sums={self.sums})"

    @property
    def rounds(self) -> int:
        """Rounds that were played."""
        return self._after[0] - self._before[0]

    @property
    def plays(self) -> Integers:
        """(n_arms,), plays of each arm in them."""
        return self._after[1] - self._before[1]

    @property
    def sums(self) -> Floats:
        """(n_arms,), sums of the rewards X of each arm in them."""
        return self._after[2] - self._before[2]


class Hold(NamedTuple):
    """Offer the same incentives for some rounds; made by :func:`hold` and :func:`offer`."""

    arms: tuple[int, ...]
    amounts: tuple[float, ...]
    rounds: int
    target: int  # the arm meant to be played, or NO_ARM
    stop: tuple[float, float] | None = None  # alpha and beta of a pa_env.rules.StopRule
    size: int = 0  # numbers of a vector; 0: the arms are named


class Follow(NamedTuple):
    """Let a compiled rule make the offers of some rounds; made by :func:`follow`."""

    rule: Callable[..., int]
    memory: Floats
    rounds: int


Counts = tuple[int, Integers, Floats]  # t, plays and sums
Request = Hold | Follow
Rounds = Generator[Request, Outcome, None]
T = TypeVar("T", int, float)


def hold(arm: int, amount: float, rounds: int = 1, stop: tuple[float, float] | None = None) -> Hold:
    """pi^0(arm; amount): an incentive on one arm, none on the others.

    Args:
        arm: the arm that is meant to be played.
        amount: the incentive.
        rounds: for how long, at least 1.
        stop: (alpha, beta): withdraw the offer after Y rounds once misses of the arm > alpha sqrt(Y) + beta / sqrt(Y).
    """
    arm = _cast(operator.index, "arm", arm, "an integer")
    return Hold((arm,), (_cast(float, "amount", amount),), rounds, arm, stop)


def offer(amounts: Mapping[int, float] | ArrayLike, rounds: int = 1, target: int = NO_ARM) -> Hold:
    """Incentives on several arms.

    Args:
        amounts: arm -> incentive, and the other arms get none; or a vector with one incentive for each arm.
        rounds: for how long, at least 1.
        target: the arm that is meant to be played, for the count of misses.
    """
    if not isinstance(amounts, Mapping):
        vector = numbers("amounts", amounts)
        if vector.ndim != 1:
            raise ValueError(f"amounts = {short(amounts)} must be a vector, or a dictionary arm -> incentive")
        return Hold(tuple(range(vector.size)), tuple(vector.tolist()), rounds, target, None, vector.size)
    try:
        arms, incentives = tuple(map(operator.index, amounts)), tuple(map(float, amounts.values()))
    except (TypeError, ValueError, OverflowError):  # one by one, to say which
        arms = tuple(_cast(operator.index, "arm", arm, "an integer") for arm in amounts)
        incentives = tuple(_cast(float, "amount", amount) for amount in amounts.values())
    return Hold(arms, incentives, rounds, target)


def follow(rule: Callable[..., int], memory: Floats, rounds: int) -> Follow:
    """Offers made by a compiled rule.

    Args:
        rule: from :func:`pa_env.rules.compile_rule`.
        memory: the rule's own, a vector of float64.
        rounds: for how long, at least 1.
    """
    return Follow(rule, memory, rounds)


class Phase(NamedTuple):
    """A phase of an algorithm."""

    number: int  # m
    start: int  # its first round: 0, 1, ...
    active: tuple[int, ...]  # arms
    length: int  # planned plays T_m


class Principal:
    """A scripted principal.

    It keeps its own counts: ``plays`` (N_a), ``sums`` of rewards X, ``theta_hat``, rounds played ``t``.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
    """

    name: ClassVar[str] = ""
    privileged: ClassVar[bool] = False  # True: it must be shown the game by `attach`
    stand_in: ClassVar[bool] = False  # True: it takes the place of a published algorithm whose details are not known
    longest: ClassVar[float] = math.inf  # longest horizon of the tasks that list it, because it is slow
    only_arms: ClassVar[int | None] = None  # the number of arms that it plays; None: any

    def __init__(self, n_arms: int, horizon: int) -> None:
        self.n_arms = whole("n_arms", n_arms, 1)
        self.horizon = check_horizon(horizon)
        self._own_seeds = np.random.SeedSequence(0)
        self._first_seed: int | None = None  # of the environment that :meth:`predict` plays in
        self._episode = 0  # since that seed was given
        self.reset()

    def __repr__(self) -> str:
        pairs = (f"{name}={_as_code(value)}" for name, value in arguments_of(self).items())
        return f"{type(self).__name__}({', '.join(pairs)})"

    if not TYPE_CHECKING:  # a type checker would take any attribute to exist

        def __getattr__(self, name: str) -> NoReturn:
            """Raise; the message says so if ``__init__`` of a subclass does not call this one."""
            if "_first_seed" in vars(self):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise AttributeError(
                f"{type(self).__name__} is not set up: its __init__ must call super().__init__(n_arms, horizon) first"
            )

    def rounds(self) -> Rounds:
        """The algorithm: yields requests, is sent outcomes."""
        raise NotImplementedError(f"{type(self).__name__} must define rounds()")

    def attach(self, game: Game) -> None:
        """Show a privileged principal the game that it plays in."""

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode.

        Args:
            seed: of the principal's own randomness; None: the next of its own stream of seeds.
        """
        self.seed = seed_of(seed)
        self._source = self._own_seeds.spawn(1)[0] if seed is None else None
        self._rng: np.random.Generator | None = None
        self.plays: Integers = np.zeros(self.n_arms, np.int64)
        self.sums: Floats = np.zeros(self.n_arms)
        self.t = 0
        self.phases: list[Phase] = []
        self._coroutine: Rounds | None = None
        self._offered: Floats | None = None

    @property
    def rng(self) -> np.random.Generator:
        """The principal's own randomness in this episode; made when first asked for."""
        if self._rng is None:
            self._rng = np.random.default_rng(self._source or np.random.SeedSequence([self.seed or 0, 0]))
        return self._rng

    @property
    def draws(self) -> bool:
        """True once it has asked for random numbers in this episode."""
        return self._rng is not None

    @property
    def theta_hat(self) -> Floats:
        """Mean of the rewards X of each arm so far, 0 for an arm never played."""
        mean: Floats = self.sums / np.maximum(self.plays, 1)
        return mean

    def offer(self) -> Floats:
        """The incentives (n_arms,) of the next round; the same until ``observe`` is called."""
        if self._offered is None:
            request = self.request()
            self._offered = self.held_offer[0].copy()
            if isinstance(request, Follow):
                request.rule(request.memory, self.plays, self.sums, *self.last, self._offered)
        return self._offered.copy()

    def observe(self, arm: int, reward: float) -> None:
        """Observe the outcome of a round.

        Args:
            arm: the arm that was played.
            reward: the principal's reward X, before it pays.
        """
        if self._offered is None:
            raise RuntimeError("observe() must follow offer(): no offer has been made for this round")
        arm, reward = arm_index("arm", arm, self.n_arms), finite("reward", reward)
        plays, sums = self.plays.copy(), self.sums.copy()
        plays[arm] += 1
        sums[arm] += reward
        self._offered, self.last = None, (arm, reward)
        if self.held_stop is not None:
            self.held_stop.count(arm)
        self.take_in(1, plays, sums)

    def predict(
        self,
        observation: Floats32,
        state: tuple["Principal", ...] | None = None,
        episode_start: object = None,
        deterministic: bool = True,
    ) -> tuple[Floats, tuple["Principal", ...]]:
        """Offers for a batch of the principal's observations, as Stable-Baselines3's policies give actions.

        A principal that was reset with the seed of the environment plays the rounds of :func:`baselines.simulate` with
        that seed; in a batch, environment i has the seed ``seed + i``.

        Args:
            observation: (n, size), or (size,) for one environment.
            state: from the last call, one principal for each environment; None at the start.
            episode_start: ignored: an episode begins where the observation says t = 0.
            deterministic: ignored: randomness comes from the principal's seed.
        """
        batch = np.atleast_2d(numbers("observation", observation))
        size = len(SummaryBlock) * self.n_arms + len(SummaryNumber)
        if batch.ndim != 2 or batch.shape[1] != size:
            raise ValueError(
                f"observation of shape {np.shape(observation)} must be (n, {size}) or ({size},): of"
                f" observation='summary' with {self.n_arms} arms"
            )
        state = tuple(self._twin(i) for i in range(len(batch))) if state is None else state
        offers = np.empty((len(batch), self.n_arms))
        for i, (principal, seen) in enumerate(zip(state, batch, strict=True)):
            if seen[SummaryNumber.TIME - len(SummaryNumber)] == 0:
                principal._next_episode()
            else:
                principal.observe(
                    int(seen[: self.n_arms].argmax()), float(seen[SummaryNumber.REWARD - len(SummaryNumber)])
                )
            offers[i] = principal.offer()
        return (offers if np.ndim(observation) > 1 else offers[0]), state

    def clone(self) -> Self:
        """Return a copy with the same parameters, at the beginning of an episode."""
        twin = self._twin(0)
        twin.reset(seed=0)  # in the middle of an episode it could not be copied
        return copy.deepcopy(twin)

    def _twin(self, i: int) -> Self:
        """A principal with the same parameters before its first episode, for the i-th environment."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._first_seed = None if self.seed is None else self.seed + i
        twin._episode = 0
        return twin

    def _next_episode(self) -> None:
        """Begin the episode that the environment has begun."""
        self._episode += 1
        self.reset(None if self._first_seed is None else principal_seed(self._first_seed, episode=self._episode))

    def __getstate__(self) -> dict[str, object]:
        """Return the attributes; raise in the middle of an episode, of which a coroutine holds the state."""
        if self._coroutine is not None:
            raise TypeError(
                f"{type(self).__name__} cannot be copied or pickled in the middle of an episode: call reset() first"
            )
        return self.__dict__.copy()

    def request(self) -> Request:
        """Return what the algorithm asks for now."""
        if self._coroutine is None:
            self._coroutine = self.rounds()
            if not isinstance(self._coroutine, Generator):
                raise TypeError(f"{type(self).__name__}: rounds() must be a generator, one that yields requests")
            self._advance(None)
        return self._request

    @property
    def rounds_left(self) -> int:
        """Rounds that the request still asks for."""
        return self._request.rounds - (self.t - self._before[0])

    def take_in(self, rounds: int, plays: Integers, sums: Floats) -> None:
        """Count rounds of the request; when it is complete, send the algorithm its outcome.

        Args:
            rounds: their number.
            plays: counts of the arms after them; kept, not copied.
            sums: sums of the rewards X of the arms after them, likewise.
        """
        self.t, self.plays, self.sums = self.t + rounds, plays, sums
        if self.rounds_left == 0 or (self.held_stop is not None and self.held_stop.withdrawn):
            self._advance(Outcome(self._before, (self.t, plays, sums)))

    def _advance(self, outcome: Outcome | None) -> None:
        """Advance the coroutine to its next request; once it has ended, nothing is offered."""
        try:
            request = self._coroutine.send(outcome)  # type: ignore[union-attr,arg-type] # it starts with None
        except StopIteration:
            request = offer({}, rounds=self.horizon)
        self.held_offer: Floats = np.zeros((1, self.n_arms))  # of a Hold
        self.held_stop: StopRule | None = None
        if isinstance(request, Hold):
            if request.size and request.size != self.n_arms:
                raise ValueError(
                    f"amounts = {short(request.amounts)} must have one number for each of {self.n_arms} arms, or be a"
                    " dictionary arm -> incentive"
                )
            for arm, amount in zip(request.arms, request.amounts, strict=True):
                if not 0 <= arm < self.n_arms:
                    raise ValueError(f"arm = {short(arm)} must be an integer from 0 to {self.n_arms - 1}")
                self.held_offer[0, arm] = amount
                if not 0.0 <= amount <= UNBOUNDED and self.t < self.horizon:
                    author = type(getattr(self, "maker", self)).__name__
                    raise bad_offer(f"{author}: incentives", self.held_offer, arm, UNBOUNDED)
            if not NO_ARM <= request.target < self.n_arms:
                raise ValueError(
                    f"target = {short(request.target)} must be an integer from {NO_ARM} to {self.n_arms - 1}"
                )
            if request.stop is not None:
                self.held_stop = StopRule(request.target, *request.stop)
        elif not isinstance(request, Follow):
            raise TypeError(
                f"{type(self).__name__} yielded {short(request)}: rounds() must yield hold(), offer() or follow()"
            )
        if type(request.rounds) is not int or request.rounds < 1:  # most are, and the full check is slow
            whole("rounds", request.rounds, 1, math.inf)
        self._request: Request = request
        self._before: Counts = (self.t, self.plays, self.sums)
        self.last = (NO_ARM, 0.0)  # arm and reward of the request's last round


class Stepwise(Principal):
    """Any object with ``reset``, ``offer`` and ``observe`` as a principal; it is asked round by round.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        maker: the object, which is played, not copied.
    """

    name = "stepwise"

    def __init__(self, n_arms: int, horizon: int, maker: OfferMaker) -> None:
        self.maker = maker
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """Offer what it offers, and let it observe the answer."""
        self.maker.reset(seed=self.seed)
        for _ in range(self.horizon):
            what = f"{type(self.maker).__name__}.offer()"
            incentives = numbers(what, self.maker.offer(), f", one for each of {self.n_arms} arms")
            if incentives.shape != (self.n_arms,):
                raise ValueError(
                    f"{what} has shape {incentives.shape}, but must have one number for each of {self.n_arms} arms"
                )
            outcome = yield offer(incentives)
            arm = int(outcome.plays.argmax())
            self.maker.observe(arm, float(outcome.sums[arm]))

    def _twin(self, i: int) -> Self:
        twin = super()._twin(i)
        twin.maker = copy.deepcopy(self.maker)
        return twin


def check_horizon(value: object) -> int:
    """Return ``value`` as a horizon that principals and games can play."""
    return whole("horizon", value, 2, LONGEST)


def arguments_of(principal: Principal) -> dict[str, object]:
    """Return the arguments of a principal's constructor that it keeps as attributes, or in ``parameters``."""
    kept = vars(principal) | vars(principal).get("parameters", {})
    return {name: kept[name] for name in inspect.signature(type(principal)).parameters if name in kept}


def _cast(kind: Callable[..., T], argument: str, value: object, what: str = "a number") -> T:
    """Return an argument as an int or a float; the game checks whether it is one that can be played."""
    try:
        return kind(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{argument} = {short(value)} must be {what}") from None


def _as_code(value: object) -> str:
    """Return a parameter as Python code on one line; of a matrix only the shape."""
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape}>" if value.ndim > 1 else repr(value.tolist())
    return repr(value)
