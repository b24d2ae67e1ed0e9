"""Counts of broken lemmas of Liu & Ratliff (ICML 2025), over many games of a principal.

Each count plays a principal that is shown the game and keeps notes, so that what it found can be compared with what the
agent believed at the time.
"""

import math
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from baselines.episodes import Run
from baselines.principal import Hold, Outcome, Principal, Rounds
from baselines.registry import PRIVILEGED
from baselines.scripted.paper.convex_set import unit_ball
from baselines.scripted.paper.elimination import Elimination
from baselines.scripted.paper.exploratory import Exploratory
from baselines.scripted.paper.linear import LinearElimination
from baselines.scripted.paper.search import Search
from baselines.scripted.paper.steiner import multi_scale_search
from baselines.simulation import simulate
from pa_env.game import Game
from pa_env.kernel.layout import ArmRow, Floats
from pa_env.scripted_agents import ScriptedAgent, make_agent


class Count(NamedTuple):
    """Events that break a lemma, of so many."""

    broken: int
    events: int

    def __str__(self) -> str:
        """``3 of 400 (0.75%)``."""
        return f"{self.broken:,} of {self.events:,}" + (f" ({self.broken / self.events:.2%})" if self.events else "")


class Watched(Principal):
    """Mixed into a principal's class: keeps what the agent believed before each request."""

    privileged = True

    def __init_subclass__(cls) -> None:
        """Let it be shown the game, which is for the yardsticks of this package."""
        PRIVILEGED.add(cls)

    def attach(self, game: Game) -> None:
        """The game that it is shown."""
        self.game = game

    def rounds(self) -> Rounds:
        """The requests of the principal."""
        coroutine = super().rounds()
        request = next(coroutine)
        while True:
            self.before: Floats = self.game.means[0].copy()
            outcome = yield request
            self.note(request, outcome)
            request = coroutine.send(outcome)

    def note(self, request: Any, outcome: Outcome) -> None:
        """Called after each request."""

    @property
    def mu(self) -> Floats:
        """The agent's true means."""
        means: Floats = self.game.arrays.arms[0, ArmRow.MU]
        return means


C0 = 2.0  # of agents that explore: the largest that practical constants are meant for
TARGETING = make_agent("exploratory", c0=C0, exploration="target")  # explores the arm that is paid for
MILD = make_agent("exploratory")  # explores any arm, with c0 = 1


def play(
    kind: type[Any], runs: int, horizon: int, agent: str | ScriptedAgent = "empirical-mean", **parameters: Any
) -> tuple[Any, Run]:
    """Many games with K = 5 uniform arms and practical constants; the principal with its notes, and the run."""
    principal = kind(5, horizon, constants="practical", **parameters)
    principal.log = []
    return principal, simulate(principal, "uniform", agent, seeds=range(runs))


def too_large(base: type[Elimination], runs: int, horizon: int) -> Count:
    """lem:UB_bar_bma: held incentives of active arms, from phase 2 on, above max muhat - mu_a plus the lemma's bound.

    The confidence logarithm of the bound is scaled like the principal's.
    """

    class NotingHolds(Watched, base):  # type: ignore[valid-type, misc]
        def note(self, request: Hold, outcome: Outcome) -> None:
            phase = self.phases[-1]
            if phase.number == 1 or request.rounds != phase.length or len(request.arms) > 1:
                return
            previous, active = self.phases[-2].length, len(phase.active)
            share = max(1, self.n_arms - active) / (previous * active)
            bound = 7 * math.sqrt(self.confidence(4) / (2 * previous)) + 5 * math.sqrt(share)
            bound += 4 / self.horizon + math.ceil(math.log2(self.horizon)) / previous
            self.log.append(request.amounts[0] > self.before.max() - self.mu[request.target] + bound)

    principal, _ = play(NotingHolds, runs, horizon)
    return Count(sum(principal.log), len(principal.log))


def too_small(base: type[Elimination], runs: int, horizon: int) -> Count:
    """lem:search_end_bma_diff: searches that end at or below the optimal incentive pi*_a(t)."""

    class NotingSearches(Watched, base):  # type: ignore[valid-type, misc]
        def search(self, arm: int) -> Search:
            incentive = yield from super().search(arm)
            self.log.append(incentive <= self.before.max() - self.before[arm])
            return float(incentive)

    principal, _ = play(NotingSearches, runs, horizon)
    return Count(sum(principal.log), len(principal.log))


def too_few_plays(base: type[Exploratory], runs: int, horizon: int, agent: ScriptedAgent = TARGETING) -> Count:
    """lem:sufficient_plays_active_arms: active arms played fewer than T_m times before the tests of phase m."""

    class NotingTests(Watched, base):  # type: ignore[valid-type, misc]
        def test_incentives(self, arm: int, incentives: list[float], length: int) -> Generator[Hold, Outcome, None]:
            before = int(self.plays[arm])
            yield from super().test_incentives(arm, incentives, length)
            self.log.append(int(self.plays[arm]) - before < length)

    principal, _ = play(NotingTests, runs, horizon, agent, c0=agent.c0)
    return Count(sum(principal.log), len(principal.log))


def best_arm_lost(
    base: type[Elimination | Exploratory], runs: int, horizon: int, agent: str | ScriptedAgent = TARGETING
) -> Count:
    """lem:optarm_always_active_explore: runs in which the arm with the largest theta + mu is dropped."""
    told = {} if isinstance(agent, str) else {"c0": agent.c0}
    _, run = play(base, runs, horizon, agent, **told)
    games = Game(5, copies=runs, horizon=horizon, observe=False)
    games.begin(seeds=list(range(runs)))
    best = (games.arrays.arms[:, ArmRow.THETA] + games.arrays.arms[:, ArmRow.MU]).argmax(axis=1).tolist()
    return Count(sum(arm not in phases[-1].active for arm, phases in zip(best, run.phases, strict=True)), runs)


def parameter_lost(base: type[LinearElimination], runs: int, horizon: int) -> Count:
    """lem:St_nonempty: searches after which s is outside S, though the agent's errors stay within epsilon / 2.

    In the games themselves the practical epsilon is smaller than the agent's errors in most searches, and with the
    paper's constants there is nothing to cut. So the search is asked alone, with epsilon = 1 / sqrt(T), and answered by
    an agent whose estimates are off by epsilon / 2 at most, at random.
    """
    epsilon, lost = horizon**-0.5, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        game = Game(instance="unit-ball", n_arms=5, dim=2, horizon=horizon)
        game.begin([seed])
        instance: Any = game.instance()
        known = unit_ball(2, rng)
        search = multi_scale_search(known, instance.arms, epsilon, 1 / horizon, base.conservative)
        question = next(search)
        try:
            while True:
                values = instance.mu + epsilon / 2 * rng.uniform(-1, 1, 5)
                values[[question.first, question.second]] += question.incentives
                question = search.send(int(values.argmax()))
        except StopIteration:
            lost += not known.contains(instance.s, tolerance=1e-9)
    return Count(lost, runs)
