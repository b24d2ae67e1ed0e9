"""The principal that is told the agent's beliefs: every offer as described, and what it reaches."""

import math

import numpy as np
import pytest

import baselines
from baselines import simulate
from baselines.scripted.ours.knows_beliefs import WORTH
from baselines.scripted.ours.particle_filter import MARGIN, ParticleEntry
from pa_env.game import Game
from pa_env.kernel.layout import ARM, Floats, Integers

SEEDS = 60_000  # none of them was used to choose a parameter
K, T = 4, 60


def worth(t: int, plays: Integers, sums: Floats, means: Floats, objective: str) -> Floats:
    """The worth g of every arm, plainly."""
    given = dict.fromkeys(ParticleEntry, 0.0) | {
        ParticleEntry[name.upper()]: value for name, value in WORTH[objective].items()
    }
    left, found = 1 - t / T, np.empty(K)
    for a in range(K):
        n, estimate = plays[a], (sums[a] + 1) / (plays[a] + 2)
        bonus = given[ParticleEntry.BONUS] * left ** given[ParticleEntry.FADE] * (n + 2) ** -given[ParticleEntry.DECAY]
        s, rise = n * means[a], -means.max()
        for reward, chance in ((1, (s + 1) / (n + 2)), (0, (n - s + 1) / (n + 2))):
            rise += chance * max([(s + reward) / (n + 1), *np.delete(means, a)])
        found[a] = max(estimate, min(given[ParticleEntry.CEILING], estimate + bonus))
        found[a] -= left * (given[ParticleEntry.NEWNESS] * (n == 0) + given[ParticleEntry.TEACHING] * rise)
    return found


@pytest.mark.parametrize("objective", WORTH)
def test_every_offer_as_described(objective: str) -> None:
    paid = set()
    for seed in range(SEEDS, SEEDS + 20):
        game = Game(n_arms=K, horizon=T)
        game.begin(seeds=[seed])
        principal = baselines.make("knows-beliefs", n_arms=K, horizon=T, objective=objective)
        principal.reset(seed=seed)
        principal.attach(game)
        for t in range(T):
            means = game.means[0].copy()
            found = worth(t, principal.plays, principal.sums, means, objective)
            offer = principal.offer()
            others = np.array([np.delete(means, a).max() for a in range(K)])
            net = found - np.maximum(0.0, others - means + MARGIN)
            net[means.argmax()] = max(net[means.argmax()], found[means.argmax()])  # plays it unpaid: the lowest of ties
            arm = int(game.play(offer)[0, ARM])
            assert net[arm] > net.max() - 1e-9
            assert offer[arm] == pytest.approx(max(0.0, others[arm] - means[arm] + MARGIN) if offer.any() else 0.0)
            assert (np.delete(offer, arm) == 0).all()
            paid.add(bool(offer.any()))
            principal.observe(arm, float(game.sums[0, arm] - principal.sums[arm]))
    assert paid == {True, False}


def test_it_must_see_the_game() -> None:
    with pytest.raises(RuntimeError, match="'knows-beliefs' must see the game"):
        baselines.make("knows-beliefs", n_arms=2, horizon=9).offer()


def test_objectives() -> None:
    with pytest.raises(ValueError, match="objective = 'profit' is unknown; known: regret, utility"):
        baselines.make("knows-beliefs", n_arms=2, horizon=9, objective="profit")


def test_what_it_reaches() -> None:
    """Each objective is served best by its own parameters, and both by more than the scripts reach."""
    seeds = range(SEEDS, SEEDS + 400)
    runs = {
        name: simulate(baselines.make("knows-beliefs", n_arms=5, horizon=200, objective=name), seeds=seeds)
        for name in WORTH
    }
    script = simulate("bracket-ucb", horizon=200, seeds=seeds)
    for difference in (
        script.regret - runs["regret"].regret,
        runs["utility"].regret - runs["regret"].regret,
        runs["utility"].expected_utility - script.expected_utility,
        runs["utility"].expected_utility - runs["regret"].expected_utility,
    ):
        assert difference.mean() > 4 * difference.std() / math.sqrt(len(seeds))
