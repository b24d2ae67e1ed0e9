"""The paper's lemmas on linear rewards (Liu & Ratliff, ICML 2025) as counts of violations.

With the paper's constants epsilon_m is below the gaps only at horizons that can't be played. The practical ones have
phases 64 times shorter and an epsilon_m 64 times smaller, so a noise of 1/512 instead of 1 makes the same confidence
bounds hold with the paper's probability 1 - delta: deviations are 8 times larger for the shorter phases, and 512 times
smaller for the noise. A single violation in few runs is then one too many.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest

from baselines import make, simulate
from baselines.scripted.paper.linear import LinearElimination
from pa_env import Linear
from pa_env.game import Game

from .helpers import Entry, watch

T, RUNS, DIM = 100_000, 12, 2


class Played(NamedTuple):
    """A game, and what is needed to check it."""

    principal: LinearElimination
    instance: Linear
    phases: list[Any]
    notes: list[Entry]

    def error(self, phase: int) -> float:
        """epsilon_m of a phase."""
        return self.principal.error(self.phases[phase - 1].length)


@pytest.fixture(scope="module")
def games() -> list[Played]:
    played = []
    for seed in range(RUNS):
        drawn = Game(instance="unit-ball", n_arms=6, dim=DIM, horizon=T)
        drawn.begin([seed])
        arms = drawn.instance()
        instance = Linear(arms.arms, s=arms.s, nu=arms.nu, noise=1 / 512)
        principal: Any = make("linear", n_arms=6, horizon=T, arms=instance.arms, constants="practical")
        notes = watch(principal)
        run = simulate(principal, instance, "ols", seed=seed, checkpoints=[T])
        played.append(Played(principal, instance, run.phases, notes))
    return played


def test_the_agents_estimates_are_within_epsilon(games: list[Played]) -> None:
    """lem:max_estimation_hats_s: max_a |<s_hat_t - s, a>| <= epsilon_{m-1}, m >= 2, when each request begins."""
    violations, count = 0, 0
    for game in games:
        later = [note for note in game.notes if note.phase.number >= 2]
        off = [np.abs(note.means - game.instance.mu).max() > game.error(note.phase.number - 1) for note in later]
        violations += any(off)
        count += len(off)
    assert violations <= RUNS / T
    assert count > 300


def test_incentives_are_not_too_large(games: list[Played]) -> None:
    """lem:UB_error_incentive_linear: pi_a(t) - (max_b <s_hat, b> - <s, a>) <= (2 + 64 d) epsilon_{m-1} + 1/T."""
    violations, count, tightest = 0, 0, np.inf
    for game in games:
        broken = False
        for note, after in zip(game.notes, game.notes[1:], strict=False):
            arm, m = note.request.target, note.phase.number
            if m == 1 or len(note.request.arms) > 1 or arm not in note.phase.active:
                continue
            bound = (2 + 64 * DIM) * game.error(m - 1) + 1 / T
            for means in (note.means, after.means):
                broken |= note.request.amounts[0] - (means.max() - game.instance.mu[arm]) > bound
            count, tightest = count + 1, min(tightest, bound)
        violations += broken
    assert violations <= RUNS / T
    assert count > 100
    assert tightest < 1  # so that it says something: incentives reach 2 d


def test_an_arm_with_a_larger_gap_is_lost(games: list[Played]) -> None:
    """lem:linear_upperbound_pull: Delta_a > (9 + 64 d) epsilon_m: not active in phase m + 1."""
    violations, count = 0, 0
    for game in games:
        joint = game.instance.theta + game.instance.mu
        gaps, broken = joint.max() - joint, False
        for phase, after in zip(game.phases, game.phases[1:], strict=False):
            large = np.flatnonzero(gaps > (9 + 64 * DIM) * game.error(phase.number))
            broken |= bool(np.isin(large, after.active).any())
            count += len(large)
        violations += broken
    assert violations <= RUNS / T
    assert count > 20


def test_the_best_arm_stays_active(games: list[Played]) -> None:
    """lem:linear_opt_arm_active."""
    lost = [int((game.instance.theta + game.instance.mu).argmax()) not in game.phases[-1].active for game in games]
    assert sum(lost) <= RUNS / T
    assert sum(len(game.phases[-1].active) < 6 for game in games) > RUNS / 2
