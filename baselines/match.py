"""A principal in one episode of a game: its requests are played whole by the compiled game, or round by round."""

import functools
from typing import Any

import numpy as np

from baselines.principal import Hold, Principal
from baselines.trace import Trace
from pa_env.game import Game
from pa_env.kernel.episodes import Recorded
from pa_env.kernel.episodes import TraceColumn as Column
from pa_env.kernel.layout import PRINCIPAL_SUM, SCORES, Floats, Integers
from pa_env.rules import Rule, compile_rule


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
        """Play on until ``mark`` rounds are played in all; a request that is cut there continues at the next call."""
        principal, game = self.principal, self.game
        plays, sums = game.arrays.plays[0], game.arrays.arms[0, PRINCIPAL_SUM]  # views
        while principal.t < mark:
            request = principal.request()
            rounds = min(principal.rounds_left, mark - principal.t)
            if type(request) is Hold:
                self.offers, target = principal.held_offer, request.target
                rounds = game.advance(self.offers, rounds, principal.held_stop)
                if target >= 0:
                    self.misses += rounds - plays.item(target) + principal.plays.item(target)
            else:
                followed = game.follow(request.rule, request.memory, rounds, principal.last)  # type: ignore[union-attr]
                self.offers, principal.last = followed.offer[None], followed.last
                self.misses += followed.misses
            principal.take_in(rounds, plays.copy(), sums.copy())


@functools.cache
def held_rule() -> Rule:
    """A rule that always makes the same offer; its memory is the target and the offer."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        for a in range(offer.size):
            offer[a] = memory[1 + a]
        return int(memory[0])

    return compile_rule(rule, trusted=True)


class TracedMatch(Match):
    """A match of which every round is written to a trace.

    Args:
        principal: at the beginning of the episode.
        game: likewise.
        trace: where the rounds go.
        seed: of the episode.
    """

    def __init__(self, principal: Principal, game: Game, trace: Trace, seed: int) -> None:
        super().__init__(principal, game)
        self.trace, self.seed = trace, seed

    def play_to(self, mark: int) -> None:
        """Play on until ``mark`` rounds are played in all."""
        principal, game = self.principal, self.game
        while principal.t < mark:
            request = principal.request()
            rows = self.trace.room(min(principal.rounds_left, mark - principal.t))
            if isinstance(request, Hold):
                rule, memory = held_rule(), np.array([request.target, *principal.held_offer[0]])
            else:
                rule, memory = request.rule, request.memory
            played = game.record(rule, memory, self.offers, rows, principal.last, principal.held_stop)
            rows = rows[:played]
            self.trace.keep(self.seed, played)
            targets, arms = rows[:, Column.TARGET], rows[:, Column.ARM]
            self.misses += int(((targets >= 0) & (targets != arms)).sum())
            principal.last = (int(arms[-1]), float(rows[-1, Column.REWARD]))
            principal.take_in(played, game.plays[0].copy(), game.sums[0].copy())
