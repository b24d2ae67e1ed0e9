"""A principal against a game, at any horizon: requests are played whole by the compiled game.

>>> import baselines
>>> run = baselines.simulate("zero", "ipa-k5", agent="oracle", horizon=10**6, seed=1)
>>> run.plays[-1].tolist()
[0, 1000000, 0, 0, 0]

Memory does not grow with the horizon: what is kept is a row for each checkpoint and an entry for each phase. Sums are
running float64 totals, flushed every 4096 rounds, so that a billion additions lose no digit worth having; the rewards
behind an estimate are summed plainly in the order of play: exactly when Bernoulli, to 1e-9 otherwise at 1e7 rounds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from baselines.protocol import Hold, Phase, Principal
from baselines.registry import make, parameters
from pa_env.checks import UNBOUNDED, seed_of, whole
from pa_env.game import Game
from pa_env.instances import InstanceLike
from pa_env.layout import SCORES, Floats, Integers
from pa_env.scripted_agents import Agent, ScriptedAgent


@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation brought, at each of C checkpoints.

    Every score of :class:`pa_env.layout.Score` is an attribute (C,): its sum over the rounds up to the checkpoint.
    ``regret`` is R_T, against the best incentives for the agent's beliefs at the time; ``regret_oracle`` is
    R_T^oracle, against the best incentives for its true means; ``regret_bar`` is Rbar_T, which charges every incentive
    offered; ``utility`` sums X - pi_A, ``expected_utility`` theta_A - pi_A, and ``overpayment`` what was paid above
    pi*_A(t).

    Args:
        checkpoints: (C,), in rounds played.
        scores: the sums by name.
        misses: (C,), rounds in which another arm than the target was played.
        plays: (C, n_arms).
        offers: (C, n_arms), incentives of the last round before each checkpoint.
        optimal_incentives: (C, n_arms), pi*_a for the beliefs with which the agent answered in that round.
        phases: of the principal, if it has any.
    """

    checkpoints: Integers
    scores: dict[str, Floats]
    misses: Integers
    plays: Integers
    offers: Floats
    optimal_incentives: Floats
    phases: list[Phase]

    def __getattr__(self, name: str) -> Floats:
        """The sums of a score."""
        if name not in SCORES:
            raise AttributeError(f"a run has no {name!r}; scores: {', '.join(SCORES)}")
        return self.scores[name]


def log_spaced(horizon: int, per_decade: int = 8) -> Integers:
    """Checkpoints from 1 to the horizon, evenly spaced in their logarithm."""
    count = max(2, round(per_decade * np.log10(horizon)) + 1)
    return np.unique(np.geomspace(1, horizon, count).round().astype(np.int64))


def simulate(
    principal: str | Principal,
    instance: InstanceLike = "uniform",
    agent: str | ScriptedAgent | Agent = "empirical-mean",
    horizon: int | None = None,
    seed: int = 0,
    checkpoints: ArrayLike | None = None,
) -> Run:
    """Play one episode. There is no upper bound on incentives.

    Args:
        principal: one made already, or a name of :func:`baselines.principals`: then it is made for the game, and told
            the arms of this episode if it asks for them.
        instance: a family's name, an instance, or a function ``rng -> instance``; see :mod:`pa_env.instances`.
        agent: a name, the result of ``pa_env.make_agent``, or your own object.
        horizon: rounds; by default the principal's own, and 10,000 for one by name.
        seed: of the game and of the principal.
        checkpoints: rounds after which the sums are kept; by default spaced evenly in their logarithm.
    """
    if not isinstance(principal, str | Principal):
        raise TypeError(f"principal = {principal!r} must be a name, or an object that is a baselines.Principal")
    if horizon is None:
        horizon = 10_000 if isinstance(principal, str) else principal.horizon
    horizon = whole("horizon", horizon, 2)
    marks = log_spaced(horizon) if checkpoints is None else np.unique(np.asarray(checkpoints))
    if not marks.size or marks.dtype.kind not in "iu" or marks[0] < 1 or marks[-1] > horizon:
        raise ValueError(f"checkpoints = {checkpoints!r} must lie between 1 and horizon = {horizon}, and be integers")
    n_arms = None if isinstance(principal, str) else principal.n_arms
    game = Game(n_arms, horizon, agent, instance, max_incentive=UNBOUNDED, observe=False)
    game.begin(seeds=[seed_of(seed)])
    if isinstance(principal, str):
        principal = make_for(principal, game)
    return episode(principal, game, marks)


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


def episode(principal: Principal, game: Game, marks: Integers) -> Run:
    """Play a game that has just begun up to the last of the checkpoints ``marks``."""
    principal.reset(seed=game.principal_seed())
    if principal.privileged:
        principal.attach(game)
    match = Match(principal, game)
    rows = []
    plays = np.empty((marks.size, game.n_arms), np.int64)
    offers, beliefs = np.empty(plays.shape), np.empty(plays.shape)
    misses = np.empty(marks.size, np.int64)
    for i, mark in enumerate(marks.tolist()):
        match.play_to(mark - 1)
        beliefs[i] = game.means[0]  # before the round's reward moves them
        match.play_to(mark)
        rows.append(game.totals())
        plays[i], offers[i], misses[i] = game.plays[0], match.offer, match.misses
    return Run(
        checkpoints=marks,
        scores={score: np.array([row[score] for row in rows]) for score in SCORES},
        misses=misses,
        plays=plays,
        offers=offers,
        optimal_incentives=beliefs.max(axis=1, keepdims=True) - beliefs,
        phases=principal.phases,
    )


class Match:
    """A principal in a game: its requests are played whole by the compiled game."""

    def __init__(self, principal: Principal, game: Game) -> None:
        self.principal, self.game = principal, game
        self.misses = 0
        self.offer: Floats = np.zeros(game.n_arms)  # of the last round played

    def play_to(self, mark: int) -> None:
        """Play on until ``mark`` rounds are played in all; a request cut there goes on at the next call."""
        principal, game = self.principal, self.game
        while principal.t < mark:
            request = principal.request()
            rounds = min(principal.rounds_left, mark - principal.t)
            if isinstance(request, Hold):
                self.offer = principal.held_offer[0]
                rounds = game.advance(principal.held_offer, rounds, principal.held_stop)
                if request.target >= 0:
                    hits = game.plays.item(0, request.target) - principal.plays.item(request.target)
                    self.misses += rounds - hits
            else:
                followed = game.follow(request.rule, request.memory, rounds, principal.last)
                self.offer, principal.last = followed.offer, followed.last
                self.misses += followed.misses
            principal.take_in(rounds, game.plays[0].copy(), game.sums[0].copy())
