"""A principal against a game, at any horizon, for one episode or many: requests are played whole by the compiled game.

>>> import baselines
>>> run = baselines.simulate("zero", "ipa-k5", agent="oracle", horizon=10**6, seed=1)
>>> run.plays[-1].tolist()
[0, 1000000, 0, 0, 0]

Memory does not grow with the horizon: what is kept is a row for each checkpoint and an entry for each phase. Sums are
running float64 totals, flushed every 4096 rounds, so that a billion additions lose no digit worth having; the rewards
behind an estimate are summed plainly in the order of play: exactly when Bernoulli, to 1e-9 otherwise at 1e7 rounds.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baselines.protocol import Follow, Hold, Principal
from baselines.registry import make, parameters
from pa_env.checks import UNBOUNDED, seed_of, whole
from pa_env.game import Game
from pa_env.instances import InstanceLike
from pa_env.kernel.episodes import Recorded
from pa_env.layout import PRINCIPAL_SUM, SCORES, Floats, Integers
from pa_env.scripted_agents import AgentLike

ROUNDS_AT_ONCE = 200_000  # in one compiled call, which does not hear Ctrl-C: about 50 ms


@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation brought, at each of C checkpoints. Of many episodes, arrays have a leading axis over them.

    Every score of :class:`pa_env.layout.Score` is an attribute (C,): its sum over the rounds up to the checkpoint.
    ``regret`` is R_T, against the best incentives for the agent's beliefs at the time; ``regret_oracle`` is
    R_T^oracle, against the best incentives for its true means; ``regret_bar`` is Rbar_T, which charges every incentive
    offered; ``utility`` sums X - pi_A, ``expected_utility`` theta_A - pi_A, and ``overpayment`` what was paid above
    pi*_A(t). ``regret`` can be negative against an agent that does not maximise; ``regret_response`` compares with the
    best response to the agent's own choice law (NaN where it is not known, see :mod:`pa_env.kernel.responses`).
    ``agent_regret`` is the agent's own, against its best arm under the offers made; over a window it is the difference
    of two checkpoints. ``regret_fixed`` is against the best fixed price on one arm in hindsight (NaN unless the agent
    has types); it is not a sum.

    Args:
        checkpoints: (C,), in rounds played.
        scores: the sums by name.
        misses: (C,), rounds in which another arm than the target was played.
        plays: (C, n_arms).
        offers: (C, n_arms), incentives of the last round before each checkpoint.
        optimal_incentives: (C, n_arms), pi*_a for the beliefs with which the agent answered in that round.
        phases: of the principal, if it has any; of many episodes, a list for each.
        seeds: of many episodes; None for one.
    """

    checkpoints: Integers
    scores: dict[str, Floats]
    misses: Integers
    plays: Integers
    offers: Floats
    optimal_incentives: Floats
    phases: list[Any]
    seeds: Integers | None = None

    def __getattr__(self, name: str) -> Floats:
        """The sums of a score."""
        if name not in SCORES:
            raise AttributeError(f"a run has no {name!r}; scores: {', '.join(SCORES)}")
        return self.scores[name]

    def episode(self, i: int) -> "Run":
        """The i-th of many episodes."""
        arrays = (self.misses[i], self.plays[i], self.offers[i], self.optimal_incentives[i])
        return Run(self.checkpoints, {name: sums[i] for name, sums in self.scores.items()}, *arrays, self.phases[i])

    def columns(self) -> dict[str, Any]:
        """A row for each episode and checkpoint: one array a column, of (rows,) or, for arms, (rows, n_arms).

        Columns: seed (of many episodes), rounds, every score, misses, plays, offers, optimal_incentives.
        """
        episodes = 1 if self.seeds is None else len(self.seeds)
        found: dict[str, Any] = {} if self.seeds is None else {"seed": np.repeat(self.seeds, self.checkpoints.size)}
        found["rounds"] = np.tile(self.checkpoints, episodes)
        found |= {name: sums.ravel() for name, sums in self.scores.items()} | {"misses": self.misses.ravel()}
        for name in ("plays", "offers", "optimal_incentives"):
            values = getattr(self, name)
            found[name] = values.reshape(-1, values.shape[-1])
        return found


def log_spaced(horizon: int, per_decade: int = 8) -> Integers:
    """Checkpoints from 1 to the horizon, evenly spaced in their logarithm."""
    count = max(2, round(per_decade * np.log10(horizon)) + 1)
    return np.unique(np.geomspace(1, horizon, count).round().astype(np.int64))


def simulate(
    principal: str | Principal,
    instance: InstanceLike = "uniform",
    agent: AgentLike = "empirical-mean",
    horizon: int | None = None,
    seed: int = 0,
    checkpoints: ArrayLike | None = None,
    seeds: Iterable[int] | None = None,
) -> Run:
    """Play one episode, or many. There is no upper bound on incentives.

    >>> simulate("profit-target", horizon=200, seeds=range(100)).regret.shape  # episodes, checkpoints
    (100, 1)

    Args:
        principal: one made already, or a name of :func:`baselines.principals`: then it is made for the game, and told
            the arms of the episode if it asks for them.
        instance: a family's name, an instance, or a function ``rng -> instance``; see :mod:`pa_env.instances`.
        agent: a name, the result of ``pa_env.make_agent``, or your own object.
        horizon: rounds; by default the principal's own, and 10,000 for one by name.
        seed: of the game and of the principal, for one episode.
        checkpoints: rounds after which the sums are kept; by default spaced evenly in their logarithm for one episode,
            and the horizon alone for many.
        seeds: of many episodes; each is what :func:`simulate` plays with its seed alone.
    """
    if not isinstance(principal, str | Principal):
        raise TypeError(f"principal = {principal!r} must be a name, or an object that is a baselines.Principal")
    if horizon is None:
        horizon = 10_000 if isinstance(principal, str) else principal.horizon
    horizon = whole("horizon", horizon, 2)
    if checkpoints is None:
        marks = log_spaced(horizon) if seeds is None else np.array([horizon])
    else:
        marks = np.unique(np.asarray(checkpoints))
    if not marks.size or marks.dtype.kind not in "iu" or marks[0] < 1 or marks[-1] > horizon:
        raise ValueError(f"checkpoints = {checkpoints!r} must lie between 1 and horizon = {horizon}, and be integers")
    n_arms = None if isinstance(principal, str) else principal.n_arms
    episodes = Episodes(principal, {"n_arms": n_arms, "horizon": horizon, "agent": agent, "instance": instance})
    if seeds is None:
        return episodes.play([seed_of(seed) or 0], marks.astype(np.int64)).episode(0)
    return episodes.play([whole("seeds", each, 0, math.inf) for each in seeds], marks.astype(np.int64))


def make_for(name: str, game: Game) -> Principal:
    """A principal by name for a game that has begun: it is told the arms if it asks for them."""
    told = {}
    for parameter in parameters(name):
        if parameter.name == "arms":
            if not game.dim:
                raise ValueError(
                    f"principal = {name!r} needs linear rewards: pass instance='unit-ball' or a pa_env.Linear"
                )
            told["arms"] = game.features[0]
        elif parameter.default is parameter.empty:
            raise ValueError(
                f"principal = {name!r} has no default for {parameter.name}: make it with"
                f" baselines.make({name!r}, n_arms={game.n_arms}, horizon={game.horizon}, {parameter.name}=...)"
            )
    return make(name, n_arms=game.n_arms, horizon=game.horizon, **told)


class Episodes:
    """Episodes of a principal in a setting.

    A principal that follows one compiled rule from the first round on is played without Python between episodes. Others
    are played one by one, in a game that is made once.

    Args:
        principal: made already; or a name, by which it is made anew for each episode.
        settings: keyword arguments of :class:`pa_env.game.Game`.
    """

    def __init__(self, principal: str | Principal, settings: dict[str, Any]) -> None:
        self.principal = principal
        self.settings = settings | {"max_incentive": UNBOUNDED, "observe": False}
        self.game = Game(**self.settings)

    def play(self, seeds: list[int], marks: Integers) -> Run:
        """Play an episode of each seed, scored at the checkpoints ``marks`` (C,)."""
        if not seeds:
            raise ValueError("seeds = [] must have at least one seed")
        parts = self._by_rule(seeds, marks)
        phases: list[Any] = [[] for _ in seeds]
        if parts is None:
            parts, phases = [], []
            for seed in seeds:
                principal = self._begin(seed)
                parts.append(Match(principal, self.game).play(marks))
                phases.append(principal.phases)
        recorded = Recorded(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        return run_of(recorded, marks, phases, np.array(seeds, np.int64 if max(seeds) < 2**63 else object))

    def _begin(self, seed: int) -> Principal:
        """Begin an episode of the one game; its principal, which begins too."""
        self.game.begin(seeds=[seed])
        principal = self.principal if isinstance(self.principal, Principal) else make_for(self.principal, self.game)
        return started(principal, self.game)

    def _by_rule(self, seeds: list[int], marks: Integers) -> list[Recorded] | None:
        """The episodes of a principal that follows one rule from the first round on; None if it does not."""
        principal, game = self._begin(seeds[0]), self.game
        at_once = max(1, ROUNDS_AT_ONCE // game.horizon)
        if principal.privileged or game.plays_python_agents or game.dim or game.horizon > ROUNDS_AT_ONCE:
            return None
        request = principal.request()
        if not isinstance(request, Follow) or request.rounds < game.horizon:
            return None
        parts = []
        for first in range(0, len(seeds), at_once):
            chunk = seeds[first : first + at_once]
            copies = Game(**self.settings, copies=len(chunk))
            copies.begin(seeds=chunk)
            memories = request.memory[None]
            if principal.draws:  # so its memory is another in each episode
                memories = np.stack([self._begin(seed).request().memory for seed in chunk])  # type: ignore[union-attr]
            parts.append(copies.play_episodes(request.rule, memories, marks))
        return parts


def episode(principal: Principal, game: Game, marks: Integers) -> Run:
    """Play a game that has just begun up to the last of the checkpoints ``marks`` (C,)."""
    recorded = Match(started(principal, game), game).play(marks)
    return run_of(recorded, marks, [principal.phases]).episode(0)


def started(principal: Principal, game: Game) -> Principal:
    """The principal at the beginning of the game's episode."""
    principal.reset(seed=game.principal_seed())
    if principal.privileged:
        principal.attach(game)
    return principal


def run_of(recorded: Recorded, marks: Integers, phases: list[Any], seeds: Integers | None = None) -> Run:
    """The run of recorded episodes."""
    return Run(
        checkpoints=marks,
        scores={name: recorded.totals[:, :, i] for i, name in enumerate(SCORES)},
        misses=recorded.misses,
        plays=recorded.plays,
        offers=recorded.offers,
        optimal_incentives=recorded.beliefs.max(axis=2, keepdims=True) - recorded.beliefs,
        phases=phases,
        seeds=seeds,
    )


class Match:
    """A principal in a game: its requests are played whole by the compiled game."""

    def __init__(self, principal: Principal, game: Game) -> None:
        self.principal, self.game = principal, game
        self.misses = 0
        self.offers: Floats = np.zeros((1, game.n_arms))  # of the last round played

    def play(self, marks: Integers) -> Recorded:
        """Play a game that has just begun up to the last of the checkpoints ``marks`` (C,); one episode's record."""
        game, shape = self.game, (1, marks.size)
        totals, misses = np.empty((*shape, len(SCORES))), np.empty(shape, np.int64)
        plays = np.empty((*shape, game.n_arms), np.int64)
        offers, beliefs = np.empty(plays.shape), np.empty(plays.shape)
        for c, mark in enumerate(marks.tolist()):
            self.play_to(mark - 1)
            beliefs[0, c] = game.means[0]  # before the round's reward moves them
            self.play_to(mark)
            totals[0, c], plays[0, c] = game.score_sums(), game.plays[0]
            offers[0, c], misses[0, c] = self.offers, self.misses
        return Recorded(totals, plays, misses, offers, beliefs)

    def play_to(self, mark: int) -> None:
        """Play on until ``mark`` rounds are played in all; a request cut there goes on at the next call."""
        principal, game, arms, plays = self.principal, self.game, self.game.arrays.arms, self.game.plays
        while principal.t < mark:
            request = principal.request()
            rounds = min(principal.rounds_left, mark - principal.t)
            if isinstance(request, Hold):
                self.offers = principal.held_offer
                rounds = game.advance(self.offers, rounds, principal.held_stop)
                if request.target >= 0:
                    hits = plays.item(0, request.target) - principal.plays.item(request.target)
                    self.misses += rounds - hits
            else:
                followed = game.follow(request.rule, request.memory, rounds, principal.last)
                self.offers, principal.last = followed.offer[None], followed.last
                self.misses += followed.misses
            principal.take_in(rounds, plays[0].copy(), arms[0, PRINCIPAL_SUM].copy())
