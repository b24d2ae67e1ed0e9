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

from baselines.protocol import Floats, Hold, Integers, Phase, Principal
from baselines.registry import make, parameters
from pa_env import kernel
from pa_env.agents import Agent, ScriptedAgent
from pa_env.checks import at_least
from pa_env.game import UNBOUNDED, Game, Totals, stop_rule
from pa_env.instances import InstanceLike


@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation brought: sums up to each of C checkpoints (in rounds played)."""

    checkpoints: Integers  # (C,)
    regret: Floats
    """R_T, against the best incentives for the agent's beliefs at the time."""
    regret_oracle: Floats
    """R_T^oracle, against the best fixed incentive for the true means."""
    regret_bar: Floats
    """Rbar_T, which charges every incentive offered, taken or not."""
    utility: Floats
    """Sum of X - pi_A."""
    expected_utility: Floats
    """Sum of theta_A - pi_A."""
    overpayment: Floats
    """Sum of what was paid above pi*_A(t)."""
    misses: Integers
    """Rounds in which another arm than the target was played."""
    plays: Integers  # (C, n_arms)
    offers: Floats  # (C, n_arms)
    """Incentives of the last round before each checkpoint."""
    optimal_incentives: Floats  # (C, n_arms)
    """pi*_a = max_b muhat_b - muhat_a for the beliefs with which the agent answered in that round."""
    phases: list[Phase]


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
    """Play one episode.

    A ``principal`` by name is made for the game (with the arms of this episode, if it asks for them) and a horizon of
    10,000 unless told; otherwise ``horizon`` is the principal's own. There is no upper bound on incentives.
    """
    if not isinstance(principal, str | Principal):
        raise TypeError(f"principal = {principal!r} must be a name, or an object that is a baselines.Principal")
    if horizon is None:
        horizon = 10_000 if isinstance(principal, str) else principal.horizon
    horizon = int(at_least("horizon", horizon, 2, whole=True))
    marks = log_spaced(horizon) if checkpoints is None else np.unique(np.asarray(checkpoints))
    if not marks.size or marks.dtype.kind not in "iu" or marks[0] < 1 or marks[-1] > horizon:
        raise ValueError(f"checkpoints = {checkpoints!r} must lie between 1 and horizon = {horizon}, and be integers")
    n_arms = None if isinstance(principal, str) else principal.n_arms
    game = Game(n_arms, horizon, agent, instance, max_incentive=UNBOUNDED, observe=False)
    game.begin(seeds=[seed])
    if isinstance(principal, str):
        told = {"arms": game.features[0]} if "arms" in parameters(principal) else {}
        principal = make(principal, n_arms=game.n_arms, horizon=horizon, **told)
    return episode(principal, game, seed, marks)


def episode(principal: Principal, game: Game, seed: int, marks: Integers) -> Run:
    """Play a game that has just begun up to the last of the checkpoints ``marks``; ``seed`` is the principal's."""
    principal.reset(seed=seed)
    if principal.privileged:
        principal.attach(game)
    table = Table(principal, game)
    totals: list[Totals] = []
    plays = np.empty((marks.size, game.n_arms), np.int64)
    offers, beliefs = np.empty(plays.shape), np.empty(plays.shape)
    misses = np.empty(marks.size, np.int64)
    for i, mark in enumerate(marks.tolist()):
        table.play_to(mark - 1)
        beliefs[i] = game.means[0]  # before the round's reward moves them
        table.play_to(mark)
        totals.append(game.totals())
        plays[i], offers[i], misses[i] = game.plays[0], table.offers[0], table.misses
    sums = {name: np.array(column) for name, column in zip(Totals._fields, zip(*totals, strict=True), strict=True)}
    optimal = beliefs.max(axis=1, keepdims=True) - beliefs
    return Run(
        checkpoints=marks,
        **sums,
        misses=misses,
        plays=plays,
        offers=offers,
        optimal_incentives=optimal,
        phases=principal.phases,
    )


class Table:
    """A principal and a game: plays the one's requests in the other."""

    def __init__(self, principal: Principal, game: Game) -> None:
        self.principal, self.game = principal, game
        self.misses = 0
        self.offers = np.zeros((1, game.n_arms))  # of the last round played
        self._stop: Floats | None = None
        self._fresh = True  # whether the principal's request has not been begun

    def play_to(self, mark: int) -> None:
        """Play on until ``mark`` rounds are played in all; a request cut there goes on at the next call."""
        principal, game = self.principal, self.game
        while principal.t < mark:
            request = principal.request()
            rounds = min(principal.rounds_left, mark - principal.t)
            if isinstance(request, Hold):
                rounds = self._hold(request, rounds)
            else:
                self._stop = None
                followed = game.follow(request.rule, request.memory, rounds, principal.last)
                self.offers[0] = followed.offer
                self.misses += followed.misses
                principal.last = followed.last
            principal.t += rounds
            principal.plays, principal.sums = game.plays[0].copy(), game.arms[0, kernel.PRINCIPAL_SUM].copy()
            self._fresh = principal.rounds_left == 0 or (self._stop is not None and self._stop[kernel.WITHDRAWN] > 0)
            if self._fresh:
                principal.settle()

    def _hold(self, request: Hold, rounds: int) -> int:
        """At most ``rounds`` rounds of an offer; returns how many were played."""
        game, target, before = self.game, request.target, self.principal.plays
        if self._fresh:
            self.offers[0] = 0.0
            for arm, amount in zip(request.arms, request.amounts, strict=True):
                self.offers[0, arm] = amount
            self._stop = None if request.stop is None else stop_rule(target, *request.stop)
        game.advance(self.offers, rounds, self._stop)
        if self._stop is not None:
            rounds = game.rounds_played - self.principal.t
        if target >= 0:
            self.misses += rounds - (game.plays.item(0, target) - before.item(target))
        return rounds
