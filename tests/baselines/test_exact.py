"""The exact optimum of tiny games: against plain expectimax in fractions, against brute force, and in the real game."""

import itertools
from collections import defaultdict
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest
from scipy.special import betaln

import baselines
import pa_env
from baselines import exact
from baselines.registry import PRINCIPALS
from baselines.specs import parse
from baselines.tasks import SUITES, task

# Optimal utility for T = 1, 2, ..., in steps that a plain program found as well.
VALUES = (0.5, 1.041667, 1.583333, 2.129630, 2.678356, 3.230648, 3.788526, 4.348030)
HAIR = Fraction(1, 10**6)
Pair = tuple[int, int]
Worlds = dict[tuple[tuple[int, ...], ...], Fraction]


def mean(successes: int, plays: int) -> Fraction:
    return Fraction(successes, max(1, plays))


def plain(horizon: int) -> tuple[Fraction, int]:
    """Value and number of states by expectimax: laws of the agent's successes are exact, and nothing is skipped."""

    states = set()

    @cache
    def value(plays: Pair, x: Pair, law: frozenset[tuple[Pair, Fraction]]) -> Fraction:
        if sum(plays) == horizon:
            return Fraction(0)
        states.add((plays, x, law))
        gaps = {s: mean(s[1], plays[1]) - mean(s[0], plays[0]) for s, _ in law}
        offers = [(lambda gap: gap <= 0, (Fraction(0), Fraction(0)))]
        offers += [(lambda gap, v=v: gap <= v, (v, Fraction(0))) for v in set(gaps.values()) if v >= 0]
        offers += [(lambda gap, v=v: gap < v, (Fraction(0), -v)) for v in set(gaps.values()) if v <= 0]
        best = Fraction(-(10**9))
        for plays_zero, prices in offers:
            total = Fraction(0)
            for arm in range(2):
                part = {s: p for s, p in law if plays_zero(gaps[s]) == (arm == 0)}
                share = sum(part.values())
                if not share:
                    continue
                after: dict[Pair, Fraction] = defaultdict(Fraction)
                for s, p in part.items():
                    chance = Fraction(s[arm] + 1, plays[arm] + 2)
                    after[s] += p / share * (1 - chance)
                    after[(s[0] + (arm == 0), s[1] + (arm == 1))] += p / share * chance
                following = (plays[0] + (arm == 0), plays[1] + (arm == 1))
                theta = Fraction(x[arm] + 1, plays[arm] + 2)
                lost = value(following, x, frozenset(after.items()))
                won = value(following, (x[0] + (arm == 0), x[1] + (arm == 1)), frozenset(after.items()))
                total += share * (theta - prices[arm] + (1 - theta) * lost + theta * won)
            best = max(best, total)
        return best

    return value((0, 0), (0, 0), frozenset({((0, 0), Fraction(1))})), len(states)


def brute_force(horizon: int) -> Fraction:
    """The best of all policies that map what was seen to prices on both arms, over all sequences of rewards.

    A world is the outcome of every play of every arm for both players; a policy sees answers and its own rewards alone.
    Its prices come from a grid that holds every difference of beliefs and a hair more.
    """
    grid = sorted({v + e for v in (Fraction(0), Fraction(1, 2), Fraction(1)) for e in (Fraction(0), HAIR)})
    sequences = [  # of one arm, whose mean is uniform: all numbers of successes have the same probability
        (outcomes, Fraction(1, (horizon + 1) * comb(horizon, sum(outcomes))))
        for outcomes in itertools.product((0, 1), repeat=horizon)
    ]
    law: Worlds = {(a, b): p * q for (a, p), (b, q) in itertools.product(sequences, repeat=2)}

    def best(plays: Pair, x: Pair, worlds: Worlds) -> Fraction:
        """The most that is left to earn; ``worlds`` has the agent's rewards with their weights, which sum to 1."""
        if sum(plays) == horizon:
            return Fraction(0)
        values = []
        answers = {}
        for prices in itertools.product(grid, repeat=2):
            split: tuple[Worlds, ...] = ({}, {})
            for world, p in worlds.items():
                beliefs = [mean(sum(world[arm][: plays[arm]]), plays[arm]) + prices[arm] for arm in range(2)]
                split[0 if beliefs[0] >= beliefs[1] else 1][world] = p
            total = Fraction(0)
            for arm in range(2):
                share = sum(split[arm].values(), Fraction(0))
                if not share:
                    continue
                key = (arm, frozenset(split[arm]))
                theta = Fraction(x[arm] + 1, plays[arm] + 2)
                if key not in answers:
                    part = {world: p / share for world, p in split[arm].items()}
                    following = (plays[0] + (arm == 0), plays[1] + (arm == 1))
                    won = (x[0] + (arm == 0), x[1] + (arm == 1))
                    answers[key] = (1 - theta) * best(following, x, part) + theta * best(following, won, part)
                total += share * (theta - prices[arm] + answers[key])
            values.append(total)
        return max(values)

    return best((0, 0), (0, 0), law)


@pytest.mark.parametrize("horizon", range(1, 9))
def test_values(horizon: int) -> None:
    assert exact.solve(horizon).value == pytest.approx(VALUES[horizon - 1], abs=6e-7)


@pytest.mark.parametrize("horizon", range(1, 6))
def test_plain_expectimax_agrees(horizon: int) -> None:
    value, states = plain(horizon)
    assert exact.solve(horizon).value == pytest.approx(float(value), abs=1e-12)
    assert exact.solve(horizon).states == states


def test_no_policy_does_better_at_three_rounds_even_if_it_pays_on_both_arms() -> None:
    best = float(brute_force(3))
    assert best <= exact.solve(3).value
    assert best == pytest.approx(exact.solve(3).value, abs=1e-5)  # it pays the hairs


@pytest.mark.parametrize(
    ("objective", "score", "episodes"), [("utility", "expected_utility", 1_000_000), ("regret", "regret", 100_000)]
)
def test_the_real_game_pays_the_value(objective: str, score: str, episodes: int) -> None:
    principal = exact.BayesOptimal(2, 8, objective)
    sums = getattr(baselines.simulate(principal, "uniform", seeds=range(episodes)), score)[:, -1]
    assert abs(sums.mean() - exact.solve(8, objective).value) < 3 * sums.std() / np.sqrt(episodes)


def test_other_priors() -> None:
    """A prior that is nearly certain of theta leaves nothing to learn: one pays at most to be believed."""
    sure = exact.solve(4, theta=(1e6, 1e6)).value
    assert sure == pytest.approx(2.0, abs=1e-3)
    likely = exact.solve(4, theta=(3.0, 1.0)).value
    assert 4 * 0.75 < likely < 4


PRIORS = [(1.0, 1.0), (3.0, 2.0), (6.0, 6.0), (1000.0, 1000.0), (1e6, 1e6), (30.0, 2.5), (0.7, 400.0), (1e6, 0.7)]
PRIORS += [(0.5, 0.5), (0.01, 0.01), (0.001, 0.001), (0.001, 1.0), (0.2, 3.0)]


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_regret_of_one_round_is_what_the_better_arm_has_above_the_first(prior: tuple[float, float]) -> None:
    """E max(theta) - E theta, which is half of the mean difference of two draws: known in closed form."""
    a, b = prior
    logs = [betaln(2 * a, 2 * b), betaln(a, b)]
    expected = 2.0 / (a + b) * np.exp(logs[0] - 2 * logs[1])
    assert exact.solve(1, "regret", theta=prior).value == pytest.approx(expected, rel=1e-6, abs=1e-10)


@pytest.mark.parametrize("prior", [(1000.0, 1000.0), (0.05, 0.05), (0.3, 40.0)], ids=str)
def test_regret_under_other_priors_is_what_the_real_game_has(prior: tuple[float, float]) -> None:
    value = exact.solve(4, "regret", theta=prior).value
    principal = exact.BayesOptimal(2, 4, "regret", *prior)

    def drawn(rng: np.random.Generator) -> pa_env.IID:
        return pa_env.IID(mu=rng.uniform(size=2), theta=rng.beta(*prior, size=2))

    sums = baselines.simulate(principal, drawn, seeds=range(20_000)).regret[:, -1]
    assert abs(sums.mean() - value) < 4 * sums.std() / np.sqrt(sums.size)
    assert value > 0


def test_both_ways_to_integrate_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [exact.solve(5, "regret", theta=prior).value for prior in PRIORS[:3]]
    monkeypatch.setattr(exact, "POLYNOMIAL", 0.0)
    again = [exact._solve.__wrapped__(5, "regret", prior, exact.UNIFORM).value for prior in PRIORS[:3]]
    assert again == pytest.approx(values, abs=1e-10)


def test_a_solution_is_kept_and_cannot_be_changed() -> None:
    solution = exact.solve(3)
    with pytest.raises(ValueError, match="read-only"):
        solution.policy[0, 0] = 9.0
    assert exact.solve(np.int64(3), theta=(np.array(1.0), 1), mu=(True, np.float32(1))) is solution  # type: ignore[arg-type]


def test_one_round_can_be_solved() -> None:
    assert exact.solve(1).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 3, "theta": (1.0, 2e6)}, "theta = 2000000.0 must be a finite number at most 1,000,000"),
        ({"horizon": 3, "mu": (float("inf"), 1.0)}, "mu = inf must be a finite number"),
        ({"horizon": 11}, "horizon = 11"),
        ({"horizon": 0}, "horizon = 0"),
        ({"horizon": 3, "objective": "regrets"}, "did you mean 'regret'"),
        ({"horizon": 3, "theta": (1.0,)}, "theta = "),
        ({"horizon": 3, "theta": [1.0, 1.0]}, r"theta = \[1.0, 1.0\] must be a tuple"),
        ({"horizon": 3, "mu": (1.0, -1.0)}, "mu = -1.0"),
    ],
)
def test_bad_input(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact.solve(**arguments)  # type: ignore[arg-type]


def test_no_principal_without_secrets_earns_more() -> None:
    """Nor has less R_T; each is compared with the optimum on average over 1,000 games."""
    played = task("k2-t5-uniform")
    for name in (each for each in played.principals if not PRINCIPALS[parse(each).place].privileged):
        run = baselines.simulate(name, task=played, seeds=1000)
        for objective, scores in (("utility", run.expected_utility), ("regret", -run.regret)):
            value = exact.solve(5, objective).value * (1 if objective == "utility" else -1)
            assert scores.mean() - value < 3 * scores.std() / np.sqrt(1000) + 1e-8, (name, objective)


def test_its_name_takes_priors_and_an_objective() -> None:
    made = baselines.make("bayes-optimal,objective=regret,theta_a=2", n_arms=2, horizon=4, mu_b=3)
    assert isinstance(made, exact.BayesOptimal)
    assert (made.objective, made.theta_a, made.theta_b, made.mu_a, made.mu_b) == ("regret", 2.0, 1.0, 1.0, 3.0)
    for bad in ({"theta_a": 0.0}, {"mu_b": -1.0}, {"mu_a": 1e7}, {"objective": "regrets"}):
        (name,) = bad
        with pytest.raises(ValueError, match=f"{name} = "):
            baselines.make("bayes-optimal", n_arms=2, horizon=4, **bad)


@pytest.mark.parametrize(("n_arms", "horizon", "message"), [(3, 5, "n_arms = 3 must be 2"), (2, 11, "at most 10")])
def test_other_sizes_are_refused(n_arms: int, horizon: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        baselines.make("bayes-optimal", n_arms=n_arms, horizon=horizon)
    with pytest.raises(ValueError, match=message):
        baselines.compare(["bayes-optimal"], n_arms=n_arms, horizon=horizon, seeds=2)


def test_it_is_listed_where_it_plays() -> None:
    assert SUITES["tiny"] == tuple(f"k2-t{horizon}-uniform" for horizon in range(4, 11))
    for name, listed in (("k2-t10-uniform", True), ("k2-t11-uniform", False), ("k3-t10-uniform", False)):
        assert ("bayes-optimal" in task(name).principals) == listed
