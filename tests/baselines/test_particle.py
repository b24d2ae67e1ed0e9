"""Particles: beliefs against exact enumeration, offers against brute force, the same game in every interface."""

import math
from typing import Any

import numpy as np
import pytest

import baselines
from baselines import simulate
from baselines.scripted.ours.particle import make_offer
from baselines.scripted.ours.particle_filter import (
    C0,
    LAYOUT,
    MARGIN,
    TIE,
    Beliefs,
    ParticleEntry,
    favourites,
    fresh_memory,
    update,
)
from pa_env import IID, make_agent
from pa_env.kernel.layout import NO_ARM

from .helpers import Floats, step_through

SEEDS = 50_000  # none of them was used to choose a parameter
PARTICLES = 20_000


def beliefs(n_arms: int, particles: int = PARTICLES, knows: float = 0.0, turn: int = 0) -> tuple[Floats, Beliefs]:
    """Beliefs of a filter without corrections, for an agent that does not explore, and without moves."""
    memory = fresh_memory(n_arms, particles, np.random.default_rng(1), knows)
    memory[ParticleEntry.SURPRISE], memory[ParticleEntry.TURN] = 0.0, turn
    own = LAYOUT.arrays(memory, n_arms)
    own.c0[:] = np.arange(len(C0)) == 0
    return memory, own


def hear(memory: Floats, own: Beliefs, plays: Any, offer: Any, arm: int) -> None:
    own.offered[:] = offer
    memory[ParticleEntry.TIME] += 1
    plays[arm] += 1
    update(memory, own, plays, arm)


# -------------------------------------------------------------------------------------- beliefs, exactly

# Offers and answers: three plays of each arm whatever its mean, then answers that rule out histories.
ROUNDS = [((2, 0), 0), ((0, 2), 1)] * 3 + [((0, 0.4), 1), ((0.2, 0), 0), ((0, 0.3), 1), ((0.1, 0), 1)]


def exact(rounds: Any, p_t: Any) -> dict[tuple[float, ...], float]:
    """The law of the agent's means after these rounds: every history of unseen rewards, one by one."""
    histories = {(0, 0): 1.0}
    plays = [0, 0]
    for t, (offer, arm) in enumerate(rounds, 1):
        after: dict[tuple[int, int], float] = {}
        for successes, weight in histories.items():
            values = [s / max(1, n) + x for s, n, x in zip(successes, plays, offer, strict=True)]
            weight *= 1 - p_t(t) if values[arm] >= max(values) - TIE else p_t(t)
            for reward, chance in enumerate(((plays[arm] - successes[arm] + 1), successes[arm] + 1)):
                moved = (successes[0] + reward * (arm == 0), successes[1] + reward * (arm == 1))
                after[moved] = after.get(moved, 0.0) + weight * chance / (plays[arm] + 2)
        plays[arm] += 1
        histories = {s: weight for s, weight in after.items() if weight > 0}
    total = sum(histories.values())
    return {(s / plays[0], r / plays[1]): weight / total for (s, r), weight in histories.items()}


@pytest.mark.parametrize("level", range(len(C0)))
def test_particles_follow_the_exact_law_of_the_agents_means(level: int) -> None:
    def p_t(t: int) -> float:
        return min(1.0, C0[level] * math.sqrt(math.log(2 * t) / t))

    (memory, own), plays = beliefs(2), np.zeros(2, np.int64)
    own.c0[:] = np.arange(len(C0)) == level
    for offer, arm in ROUNDS:
        hear(memory, own, plays, offer, arm)
    expected = exact(ROUNDS, p_t)
    assert len(expected) > 5
    counts = np.rint(own.means * plays[:, None]).astype(int)
    np.testing.assert_allclose(counts / plays[:, None], own.means, atol=1e-12)
    found = {means: own.weights[(np.rint(means * plays) == counts.T).all(axis=1)].sum() for means in expected}
    assert sum(found.values()) == pytest.approx(1.0)
    for means, probability in expected.items():  # each of at most 4 resamplings adds as much variance as the first draw
        error = math.sqrt(5 * probability * (1 - probability) / PARTICLES)
        assert abs(found[means] - probability) < 4 * error, (means, found[means], probability)


@pytest.mark.parametrize("turn", [0, 4])
def test_an_agent_that_knows_its_means(turn: int) -> None:
    """Against rejection sampling, with and without moves: the moves leave the law as it is."""
    (memory, own), plays = beliefs(3, knows=0.5, turn=turn), np.zeros(3, np.int64)
    draws = np.random.default_rng(2).random((400_000, 3))
    for offer, arm in [((0.2, 0, 0), 1), ((0.5, 0, 0), 0), ((0, 0, 0.3), 1), ((0.35, 0, 0), 1), ((0, 0, 0.6), 2)]:
        hear(memory, own, plays, np.array(offer), arm)
        draws = draws[(draws + offer).argmax(axis=1) == arm]
    assert own.knows.all()  # a learner would have taken the first offer
    assert len(draws) > 2000
    for statistic in (lambda m: m[0], lambda m: m[1] - m[0], lambda m: m[1] - m[2], lambda m: m[0] * m[2]):
        sample, reference = statistic(own.means), statistic(draws.T)
        kept = PARTICLES / 2 * len(draws) / 400_000  # of the particles that knew their means
        error = reference.std() * math.sqrt(1 / len(draws) + 1 / kept)
        assert abs((own.weights * sample).sum() - reference.mean()) < 4 * error


def test_moves_stay_close_to_the_exact_law() -> None:
    """They are approximate: answers before an arm's last play are not looked at again."""
    (memory, own), plays = beliefs(2, turn=1), np.zeros(2, np.int64)
    for offer, arm in ROUNDS:
        hear(memory, own, plays, offer, arm)
    expected = exact(ROUNDS, lambda t: 0.0)
    for arm in (0, 1):
        mean = sum(means[arm] * probability for means, probability in expected.items())
        assert abs((own.weights * own.means[arm]).sum() - mean) < 0.05


def test_what_kind_of_agent_it_is_shows_in_a_few_answers() -> None:
    for knows, explores in ((False, False), (True, False), (False, True)):
        name = "exploratory" if explores else "oracle" if knows else "empirical-mean"
        found = []
        for seed in range(SEEDS, SEEDS + 15):
            principal = baselines.make("particle", n_arms=4, horizon=41)
            step_through(principal, seed, n_arms=4, horizon=40, agent=name)
            own = LAYOUT.arrays(principal.request().memory, 4)  # type: ignore[union-attr]
            found.append((own.knows @ own.weights, 1 - own.c0[0]))
        believed = np.mean(found, axis=0)
        # An agent that takes what is offered to a learner, and likes it, is not told apart, and need not be.
        assert (believed[0] > 0.3) == knows, (name, believed)
        assert (believed[1] > 0.3) == explores, (name, believed)


def test_an_answer_that_no_particle_expects_is_learnt_from() -> None:
    memory, own = beliefs(3, particles=200)
    memory[ParticleEntry.SURPRISE] = 0.01
    plays = np.array([5, 5, 5])
    own.means[:] = np.array([[0.6], [0.4], [0.2]])
    for _ in range(3):
        hear(memory, own, plays, np.array([0.0, 0.0, 0.1]), 1)
    assert own.weights.sum() == pytest.approx(1.0)
    assert own.weights @ (own.means[1] >= own.means[0]) > 0.5
    assert (own.means >= 0).all()
    assert (own.means <= 1).all()


def test_a_means_bounds_hold_it() -> None:
    (memory, own), plays, rng = beliefs(4, 500, turn=1), np.zeros(4, np.int64), np.random.default_rng(3)
    for _ in range(60):
        offer = 0.3 * rng.random(4)
        wins = (own.means + offer[:, None]).argmax(axis=0)
        arm = int(np.bincount(wins, own.weights, 4).argmax())
        hear(memory, own, plays, offer, arm)
        idle = np.arange(4) != arm
        assert (own.means[idle] <= own.high[idle] + 2 * TIE).all()
        assert (own.means[idle] >= own.low[idle] - 2 * TIE).all()
    assert max(len(np.unique(means)) for means in own.means) > 5


# -------------------------------------------------------------------------------------- offers, by brute force


def brute_force(own: Beliefs, worth: Floats, later: Floats) -> tuple[float, float, Any]:
    """V, and the best value and all offers that have it, over all arms and all costs."""
    means, weights = own.means, own.weights
    favourite = means.argmax(axis=0)
    nothing = float(weights @ worth[favourite])

    def value(a: int, price: float, later: float, status: float) -> float:
        others = np.delete(means, a, axis=0).max(axis=0) if len(means) > 1 else np.full(weights.size, -np.inf)
        accepts = np.maximum(0.0, others - means[a] + MARGIN) <= price
        refused = weights * ~accepts
        return float(
            weights @ accepts * (worth[a] - price)
            + (refused @ worth[favourite] + later * refused.sum() * status) / (1 + later)
        )

    offers = []
    for a in range(len(means)):
        others = np.delete(means, a, axis=0).max(axis=0) if len(means) > 1 else np.full(weights.size, -np.inf)
        offers += [(a, price) for price in np.unique(np.maximum(0.0, others - means[a] + MARGIN))]
    status = max(nothing, *(value(a, price, 0.0, 0.0) for a, price in offers))
    values = {(NO_ARM, 0.0): nothing} | {(a, x): value(a, x, later[a], status) for a, x in offers}
    best = max(values.values())
    return status, best, {offer for offer, found in values.items() if found > best - 1e-9}


@pytest.mark.parametrize("patience", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("n_arms", [1, 2, 5, 9])
def test_the_offer_is_the_best_of_all(n_arms: int, patience: float) -> None:
    rng = np.random.default_rng([n_arms, int(100 * patience)])
    chosen = set()
    for trial in range(60):
        memory, own = beliefs(n_arms, 1 + trial)
        plays = rng.integers(0, 30, n_arms)
        own.means[:] = rng.integers(0, 8, own.means.shape) / 8 * (rng.random() < 0.9)
        own.weights[:] = rng.dirichlet(np.ones(own.weights.size))
        for entry, number in (
            (ParticleEntry.HORIZON, 60),
            (ParticleEntry.TIME, 40),
            (ParticleEntry.PATIENCE, patience),
            (ParticleEntry.CEILING, 2),
        ):
            memory[entry] = number
        offer = np.zeros(n_arms)
        target = make_offer(memory, own, plays, rng.random(n_arms) * plays, offer)
        later = patience * np.minimum(20, plays)
        _, _, best = brute_force(own, own.worth.copy(), later)
        assert any(target == a and abs(offer[a] - x) < 1e-12 for a, x in best) or (NO_ARM in dict(best) and target < 0)
        assert (np.delete(offer, max(target, 0)) == 0).all()
        chosen.add(target)
    assert len(chosen) >= n_arms


def test_worth_as_described() -> None:
    parameters = {"bonus": 0.7, "decay": 0.4, "fade": 0.3, "ceiling": 1.1, "newness": 0.2, "teaching": 0.9}
    parameters |= {"horizon": 50, "time": 20}
    memory, own = beliefs(3, 6, knows=0.5)
    for name, value in parameters.items():
        memory[ParticleEntry[name.upper()]] = value
    rng = np.random.default_rng(4)
    plays, sums = np.array([0, 3, 8]), np.array([0.0, 1.0, 7.0])
    own.means[:] = rng.random(own.means.shape)
    make_offer(memory, own, plays, sums, np.zeros(3))
    left = 1 - 20 / 50
    for a in range(3):
        n, estimate = plays[a], (sums[a] + 1) / (plays[a] + 2)
        rise = 0.0
        for p in np.flatnonzero(own.knows == 0):
            for reward in (0, 1):
                means = own.means[:, p].copy()
                s = n * means[a]
                means[a] = (s + reward) / (n + 1)
                chance = (s + 1) / (n + 2) if reward else 1 - (s + 1) / (n + 2)
                rise += own.weights[p] * chance * (means.max() - own.means[:, p].max())
        worth = max(estimate, min(1.1, estimate + 0.7 * left**0.3 * (n + 2) ** -0.4))
        worth -= left * ((n == 0) * 0.2 + 0.9 * rise)
        assert own.worth[a] == pytest.approx(worth, abs=1e-12)


def test_favourites() -> None:
    _, own = beliefs(4, 300)
    own.means[:] = np.random.default_rng(5).integers(0, 6, own.means.shape) / 6
    favourites(own)
    ordered = np.sort(own.means, axis=0)
    assert (own.highest == ordered[-1]).all()
    assert (own.second == ordered[-2]).all()
    assert (own.favourite == own.means.argmax(axis=0)).all()


# -------------------------------------------------------------------------------------- whole games


def test_seeds_matter() -> None:
    """The particles' draws come from the principal's seed, so another seed gives other offers in the same game."""
    game = IID(mu=[0.5, 0.4, 0.6], theta=[0.9, 0.5, 0.3], rewards="constant")
    runs = [simulate("particle", game, "oracle", horizon=60, seed=s, checkpoints=[20]).offers for s in (1, 2)]
    assert (runs[0] != runs[1]).any()


@pytest.mark.parametrize("rewards", ["bernoulli", "beta", "gaussian", "constant"])
@pytest.mark.parametrize("n_arms", [1, 2, 20])
def test_any_law_of_rewards_and_number_of_arms(rewards: str, n_arms: int) -> None:
    rng = np.random.default_rng(6)
    game = IID(mu=rng.random(n_arms), theta=rng.random(n_arms), rewards=rewards)
    principal = baselines.make("particle", n_arms=n_arms, horizon=301)
    for agent in ("empirical-mean", "oracle", make_agent("exploratory", exploration="worst", initial=0.5)):
        _, offers, _ = step_through(principal, SEEDS, n_arms=n_arms, horizon=300, instance=game, agent=agent)
        assert np.isfinite(offers).all()
        own = LAYOUT.arrays(principal.request().memory, n_arms)  # type: ignore[union-attr]
        assert own.weights.sum() == pytest.approx(1.0)
        assert own.c0.sum() == pytest.approx(1.0)
        assert np.isfinite(own.means).all()


def test_long_horizon() -> None:
    run = simulate("particle", "uniform", horizon=100_000, seed=SEEDS)
    assert run.plays[-1].sum() == 100_000
    assert run.regret[-1] < 500  # no incentive has 10,000 on average


@pytest.mark.parametrize(
    ("agent", "instance", "runs"), [("empirical-mean", "misaligned", 2000), ("exploratory", "uniform", 200)]
)
def test_less_regret_than_the_profit_target(agent: str, instance: str, runs: int) -> None:
    ours, theirs = (
        simulate(name, instance, agent, horizon=200, seeds=range(SEEDS, SEEDS + runs)).regret[:, -1]
        for name in ("particle", "profit-target")
    )
    saved = theirs - ours
    assert saved.mean() > 4 * saved.std() / math.sqrt(runs)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("particles", (0, 1.5, 10**6)),
        *((name, (-1.0, "much", math.nan)) for name in ("bonus", "decay", "fade", "ceiling", "patience")),
        *((name, ("much", math.inf)) for name in ("newness", "teaching")),
    ],
)
def test_parameters_out_of_range(name: str, values: Any) -> None:
    for value in values:
        with pytest.raises((TypeError, ValueError), match=f"{name} = "):
            baselines.make("particle", n_arms=3, horizon=10, **{name: value})
