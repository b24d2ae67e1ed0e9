"""Episodes of a principal at any horizon: the compiled game plays each of its requests at once.

Memory does not grow with the horizon: a run keeps a row for each checkpoint and an entry for each phase. Scores are
float64 totals, flushed every 4096 rounds, so that a billion additions stay accurate. The rewards behind an estimate are
summed plainly in the order of play: the sum is exact for Bernoulli rewards, and otherwise accurate to 1e-9 at 1e7
rounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from baselines.extras import extra_named
from baselines.principal import Follow, Hold, Phase, Principal, Request
from baselines.registry import attach
from baselines.trace import Trace
from pa_env.checks import UNBOUNDED, known, whole
from pa_env.game import Game, GameSettings
from pa_env.kernel.episodes import Recorded, TraceColumn
from pa_env.kernel.layout import PRINCIPAL_SUM, SCORES, Floats, Integers
from pa_env.memory import compiled_when_used

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

ROUNDS_AT_ONCE = 200_000  # in one compiled call, which Ctrl-C does not interrupt: about 50 ms


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The result of a simulation at each of C checkpoints. For many episodes, arrays have a leading axis over them.

    Every score of :class:`pa_env.kernel.layout.Score` is an attribute (C,): its sum over the rounds up to the
    checkpoint.
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

    @classmethod
    def of(cls, recorded: Recorded, marks: Integers, phases: list[list[Phase]], seeds: Integers) -> Self:
        """The run of recorded episodes."""
        return cls(
            checkpoints=marks,
            scores={name: recorded.totals[:, :, i] for i, name in enumerate(SCORES)},
            misses=recorded.misses,
            plays=recorded.plays,
            offers=recorded.offers,
            optimal_incentives=recorded.beliefs.max(axis=2, keepdims=True) - recorded.beliefs,
            phases=phases,
            seeds=seeds,
        )

    def __getattr__(self, name: str) -> Floats:
        """The sums of a score."""
        if name not in SCORES:
            raise AttributeError(f"a run has no {name!r}; scores: {', '.join(SCORES)}")
        return self.scores[name]

    def __repr__(self) -> str:
        """Episodes, rounds, and the means over episodes of the main scores at the last checkpoint, in five lines."""
        episodes, marks = 1 if self.seeds is None else len(self.seeds), self.checkpoints.size
        ends = {name: np.mean(self.scores[name][..., -1]) for name in ("utility", "regret", "regret_oracle")}
        plays = np.atleast_2d(self.plays[..., -1, :]).mean(axis=0)
        shares = ", ".join(f"{share:.0%}" for share in plays[:8] / plays.sum()) + ", ..." * (plays.size > 8)
        return (
            f"Run of {episodes:,} episode{'s' * (episodes != 1)}, {marks} checkpoint{'s' * (marks != 1)}\n"
            f"  after {self.checkpoints[-1]:,} rounds{', means' * (episodes != 1)}:\n"
            f"  {', '.join(f'{name} {round(value, 9) + 0.0:.4g}' for name, value in ends.items())}\n"
            f"  plays of the {plays.size} arm{'s' * (plays.size != 1)}: {shares}\n"
            f"  more: {', '.join(name for name in SCORES if name not in ends)}, misses, to_frame(), plot()"
        )

    def episode(self, i: int) -> "Run":
        """The i-th of many episodes."""
        arrays = (self.misses[i], self.plays[i], self.offers[i], self.optimal_incentives[i])
        return Run(self.checkpoints, {name: sums[i] for name, sums in self.scores.items()}, *arrays, self.phases[i])

    def columns(self) -> dict[str, Integers | Floats]:
        """A row for each episode and checkpoint: arrays by column name, (rows,) or, for values by arm, (rows, n_arms).

        Columns: seed (of many episodes), rounds, every score, misses, plays, offers, optimal_incentives.
        """
        episodes = 1 if self.seeds is None else len(self.seeds)
        table: dict[str, Integers | Floats] = {}
        if self.seeds is not None:
            table["seed"] = np.repeat(self.seeds, self.checkpoints.size)
        table["rounds"] = np.tile(self.checkpoints, episodes)
        table |= {name: sums.ravel() for name, sums in self.scores.items()} | {"misses": self.misses.ravel()}
        for name in ("plays", "offers", "optimal_incentives"):
            values = getattr(self, name)
            table[name] = values.reshape(-1, values.shape[-1])
        return table

    def to_frame(self) -> "pd.DataFrame":
        """The :meth:`columns` as a pandas table, with separate columns for each arm: plays_0, plays_1, ..."""
        with extra_named():
            import pandas as pd

        flat: dict[str, Integers | Floats] = {}
        for name, values in self.columns().items():
            flat |= {name: values} if values.ndim == 1 else {f"{name}_{a}": arm for a, arm in enumerate(values.T)}
        return pd.DataFrame(flat)

    def plot(
        self, score: str = "utility", *, log: bool | None = None, ax: "Axes | None" = None
    ) -> "Figure | SubFigure":
        """Draw a score against the rounds played; for many episodes, the median and bands with 50% and 90% of them.

        Args:
            score: one of :data:`pa_env.kernel.layout.SCORES`, or misses.
            log: logarithmic axes; the score's is linear between -1 and 1. None: linear ones.
            ax: axes of yours to draw on; None: those of a new figure.
        """
        with extra_named():
            from baselines.pictures import score_axes

        known("score", score, (*SCORES, "misses"))
        sums = np.atleast_2d(getattr(self, score))
        if np.isnan(sums).all():
            raise ValueError(f"score = {score!r} is not defined for this agent: choose another")
        figure, axes = score_axes(score, log=log, ax=ax)
        median, *ends = np.quantile(sums, (0.5, 0.25, 0.75, 0.05, 0.95), axis=0)
        (line,) = axes.plot(self.checkpoints, median, marker="o", markersize=3, label="median")
        if len(sums) > 1:
            for low, high, share, alpha in ((*ends[:2], "50%", 0.3), (*ends[2:], "90%", 0.12)):
                bounds, label = (self.checkpoints, low, high), f"{share} of episodes"
                axes.fill_between(*bounds, label=label, color=line.get_color(), alpha=alpha, linewidth=0)
            axes.legend(frameon=False, title=f"{len(sums):,} episodes")
        return figure


def log_spaced(horizon: int, per_decade: int = 8) -> Integers:
    """Checkpoints from 1 to the horizon, evenly spaced in their logarithm."""
    count = max(2, round(per_decade * np.log10(horizon)) + 1)
    return np.unique(np.geomspace(1, horizon, count).round().astype(np.int64))


class Episodes:
    """Episodes of a principal in a setting.

    A principal that follows one compiled rule from the first round on is played without Python between episodes. Others
    are played one by one, in a game that is made once.

    Args:
        principal: an object; or a function that makes it for a game that has begun. It is called once, or for each
            episode if rewards are linear, because then each episode has other arms.
        settings: keyword arguments of :class:`pa_env.game.Game`.
    """

    def __init__(self, principal: Principal | Callable[[Game], Principal], settings: GameSettings) -> None:
        self.make = (lambda _: principal) if isinstance(principal, Principal) else principal
        self.principal: Principal | None = None
        self.settings = settings | {"max_incentive": UNBOUNDED}
        self.game = self._new_game(1)  # each copy plays one episode

    def _new_game(self, copies: int) -> Game:
        return Game(**self.settings, copies=copies, observe=False)

    def play(self, seeds: list[int], marks: Integers, trace: str | Path | None = None) -> Run:
        """Play an episode of each seed, scored at the checkpoints ``marks`` (C,); every round goes to ``trace``."""
        if not seeds:
            raise ValueError("seeds = [] must have at least one seed")
        if trace is None:
            return self._play(seeds, marks, None)
        whole("largest seed of a trace", max(seeds), 0)
        with Trace.open(Path(trace), self.game.n_arms) as rounds:
            return self._play(seeds, marks, rounds)

    def _play(self, seeds: list[int], marks: Integers, trace: Trace | None) -> Run:
        together = 1 if self.game.plays_python_agents else max(1, ROUNDS_AT_ONCE // self.game.horizon)
        records: list[Recorded] = []
        phases: list[list[Phase]] = []
        for first in range(0, len(seeds), together):
            part = seeds[first : first + together]
            if len(part) != self.game.copies:
                self.game = self._new_game(len(part))
            self.game.begin(seeds=part)
            by_rule = self._by_rule(marks) if trace is None else None
            if by_rule is not None:
                records.append(by_rule)
                phases += [[] for _ in part]
                continue
            for i, seed in enumerate(part):
                principal, game = self._start(i)
                records.append(Match(principal, game, seed, trace).play(marks))
                phases.append(principal.phases)
        return Run.of(
            Recorded(*(np.concatenate(arrays) for arrays in zip(*records, strict=True))),
            marks,
            phases,
            np.array(seeds, np.int64 if max(seeds) < 2**63 else object),
        )

    def begin(self, seed: int) -> Principal:
        """Begin an episode of a game of one copy. Returns its principal, which begins too."""
        self.game = self._new_game(1)
        self.game.begin(seeds=[seed])
        return self._start(0)[0]

    def _start(self, i: int) -> tuple[Principal, Game]:
        """Return the principal at the beginning of the episode that copy ``i`` has begun, and its game."""
        game = self.game if self.game.copies == 1 else self.game.one_copy(i)
        if self.principal is None or game.dim:
            self.principal = self.make(game)
            self.kind = type(self.principal)
        self.principal.reset(seed=game.principal_seed())
        attach(self.principal, game, self.kind)
        return self.principal, game

    def _by_rule(self, marks: Integers) -> Recorded | None:
        """Play the episodes of a principal that follows one rule from the first round on; None if it does not."""
        principal, game = self._start(0)[0], self.game
        if type(principal).privileged or game.plays_python_agents or game.dim or game.horizon > ROUNDS_AT_ONCE:
            return None
        request = principal.request()
        if not isinstance(request, Follow) or request.rounds < game.horizon:
            return None
        memories = request.memory[None]
        if principal.draws:  # so its memory differs between episodes
            memories = np.stack([self._memory(i) for i in range(game.copies)])
        return game.play_episodes(request.rule, memories, marks)

    def _memory(self, i: int) -> Floats:
        """Return the memory of the rule at the beginning of copy ``i``'s episode."""
        request = self._start(i)[0].request()
        assert isinstance(request, Follow)
        return request.memory


class Match:
    """A principal in one episode: the compiled game plays its requests, whole or, for a trace, round by round.

    Args:
        principal: at the beginning of the episode.
        game: of one copy, likewise.
        seed: of the episode.
        trace: where every round is kept; None: nowhere.
    """

    def __init__(self, principal: Principal, game: Game, seed: int = 0, trace: Trace | None = None) -> None:
        self.principal, self.game, self.seed, self.trace = principal, game, seed, trace
        self.rounds, self.misses = game.rounds_played, 0
        self.offers: Floats = np.zeros((1, game.n_arms))  # of the last round played

    def play(self, marks: Integers) -> Recorded:
        """Play up to the last of the checkpoints ``marks`` (C,). Returns the record of the one episode."""
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
        while self.rounds < mark:
            request = principal.request()
            if principal.t != self.rounds:
                raise RuntimeError(
                    f"{type(principal).__name__} has t = {principal.t} after {self.rounds} rounds: it counts them"
                    " itself, so rounds() must not set self.t"
                )
            rounds = min(principal.rounds_left, mark - self.rounds)
            if self.trace is not None:
                rounds = self._record(request, self.trace.room(rounds))
            elif isinstance(request, Hold):
                self.offers, target = principal.held_offer, request.target
                before = plays.item(target)
                rounds = game.advance(self.offers, rounds, principal.held_stop)
                if target >= 0:
                    self.misses += rounds - plays.item(target) + before
            else:
                followed = game.follow(request.rule, request.memory, rounds, principal.last)
                self.offers, principal.last = followed.offer[None], followed.last
                self.misses += followed.misses
            self.rounds += rounds
            principal.take_in(rounds, plays.copy(), sums.copy())

    def _record(self, request: Request, rows: Floats) -> int:
        """Play a request round by round into the rows of the trace. Returns the number of rounds."""
        assert self.trace is not None
        principal = self.principal
        if isinstance(request, Hold):
            rule, memory = hold_rule(), np.array([request.target, *principal.held_offer[0]])
        else:
            rule, memory = request.rule, request.memory
        rounds = self.game.record(rule, memory, self.offers, rows, principal.last, principal.held_stop)
        self.trace.keep(self.seed, rounds)
        targets, arms = rows[:rounds, TraceColumn.TARGET], rows[:rounds, TraceColumn.ARM]
        self.misses += int(((targets >= 0) & (targets != arms)).sum())
        principal.last = (int(arms[-1]), float(rows[rounds - 1, TraceColumn.REWARD]))
        return rounds


@compiled_when_used
def hold_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The rule that always makes the same offer; its memory is the target and the offer."""
    for a in range(offer.size):
        offer[a] = memory[1 + a]
    return int(memory[0])
