"""Held offers: the same rounds as a plain loop, stop rules to the round, and sums that do not drift."""

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers import AGENTS, IID_AGENTS, offer_at, resident, settings, state_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pa_env import IID, game
from pa_env.checks import UNBOUNDED
from pa_env.envs.scalar import PrincipalEnv
from pa_env.game import Game
from pa_env.kernel.layout import Stop
from pa_env.rules import StopRule, compile_rule

LONG = 10_000_000


def begun(seed: int = 0, **changes: Any) -> Game:
    held = Game(**changes)
    held.begin([seed])
    return held


def plain_stop(env: PrincipalEnv, offer: np.ndarray, rounds: int, target: int, alpha: float, beta: float) -> list[int]:
    """Arms played until misses > alpha sqrt(Y) + beta / sqrt(Y), or the rounds are over."""
    arms: list[int] = []
    for y in range(1, rounds + 1):
        *_, info = env.step(offer)
        arms.append(info["arm"])
        misses = sum(arm != target for arm in arms)
        if misses > alpha * math.sqrt(y) + beta / math.sqrt(y):
            break
    return arms


@given(
    agent=st.sampled_from([name for name in AGENTS if name != "ols" and name not in IID_AGENTS]),
    instance=st.sampled_from(["bernoulli", "beta", "constant", "uniform", "unit-ball"]),
    seed=st.integers(0, 2**32),
    alpha=st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0]),
    beta=st.sampled_from([0.0, 0.5, 3.0, 20.0, 300.0]),
    target=st.integers(0, 3),
    before=st.integers(0, 30),
    pieces=st.lists(st.integers(1, 200), min_size=1, max_size=4),
)
def test_stop_rule_fires_in_the_round_that_a_plain_loop_says(
    agent: str,
    instance: str,
    seed: int,
    alpha: float,
    beta: float,
    target: int,
    before: int,
    pieces: list[int],
) -> None:
    """Also when the hold is resumed in pieces, and when the agent learned on another offer before."""
    held = begun(seed, **settings(agent, instance, horizon=500))
    env = PrincipalEnv(**settings(agent, instance, horizon=500))
    env.reset(seed=seed)
    if before:
        held.hold(offer_at(seed, 1, 0), before)
        for _ in range(before):
            env.step(offer_at(seed, 1, 0))

    offer, stop = offer_at(seed, 0, 0), StopRule(target, alpha, beta)
    rounds = min(sum(pieces), 500 - before)
    arms = plain_stop(env, offer, rounds, target, alpha, beta)
    outcomes = [held.hold(offer, piece, stop) for piece in pieces if held.rounds_played < 500]
    assert sum(outcome.rounds for outcome in outcomes) == len(arms)
    assert_array_equal(sum(outcome.plays for outcome in outcomes), np.bincount(arms, minlength=4))
    misses = sum(arm != target for arm in arms)
    fires = misses > alpha * math.sqrt(len(arms)) + beta / math.sqrt(len(arms))
    assert (stop.held, stop.misses, stop.withdrawn) == (len(arms), misses, fires)
    assert held.totals() == env.game.totals()
    assert held.summary.tobytes() == env.game.summary.tobytes()


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("beta", [3.0, 20.0, 100.0])
def test_a_threshold_that_falls_is_crossed_without_a_miss(alpha: float, beta: float) -> None:
    """The rule goes on from Y and misses so far; from here on the agent plays nothing but the target."""
    threshold = alpha * np.sqrt(np.arange(1, 800)) + beta / np.sqrt(np.arange(1, 800))  # at Y = 1, 2, ...
    oracle = Game(**settings("oracle", "constant", horizon=400))
    for misses in range(40):
        for held in np.flatnonzero(misses <= threshold[:300])[::10] + 1:
            stop = StopRule(1, alpha, beta)
            stop.entries[Stop.HELD], stop.entries[Stop.MISSES] = held, misses
            oracle.begin([0])
            rounds = oracle.hold([0.0, 1.0, 0.0, 0.0], 400, stop).rounds
            fires = np.flatnonzero(misses > threshold[held : held + 400])
            assert rounds == (fires[0] + 1 if fires.size else 400)


def test_stop_rules_do_fire_early_late_and_never() -> None:
    """What the property above would not notice: that its rules all stop at once, or none does."""
    lengths = set()
    for seed in range(30):
        held, stop = begun(seed, **settings("uniform", "beta", horizon=500)), StopRule(1, 3.0, 3.0)
        lengths.add(held.hold([0.0, 1.5, 0.0, 0.0], 500, stop).rounds)
    assert min(lengths) < 50
    assert max(lengths) == 500
    assert len(lengths) > 5


@pytest.mark.parametrize("agent", AGENTS)
def test_a_hold_in_pieces_is_one_hold(agent: str) -> None:
    instance = "unit-ball" if agent == "ols" else "beta"
    whole, pieces = (begun(**settings(agent, instance, horizon=10_000)) for _ in range(2))
    outcome = whole.hold([0.1, 0.0, 0.2, 0.0], 9_000)
    parts = [pieces.hold([0.1, 0.0, 0.2, 0.0], rounds) for rounds in (1, 1, 17, 4_000, 4_981)]
    assert outcome.rounds == sum(part.rounds for part in parts) == 9_000
    assert_array_equal(outcome.plays, sum(part.plays for part in parts))
    assert state_of(whole) == state_of(pieces)


@pytest.mark.parametrize("instance", ["bernoulli", "beta"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_held_offer_is_played_as_single_rounds_are(agent: str, instance: str) -> None:
    """Random offers for random numbers of rounds, across a flush of the sums: the two loops leave the same bytes."""
    instance = "unit-ball" if agent == "ols" else instance
    held, single = (begun(**settings(agent, instance, horizon=5_000)) for _ in range(2))
    rng = np.random.default_rng(3)
    while held.rounds_played < 4_200:
        offer, rounds = offer_at(0, 0, held.rounds_played), int(rng.geometric(0.004))
        held.advance(offer, rounds)
        while single.rounds_played < held.rounds_played:
            single.play(offer)
        assert state_of(held) == state_of(single)


def test_chunks_between_two_looks_at_ctrl_c_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = begun(**settings("uniform", "beta", horizon=5_000))
    whole.hold([0.1, 0.0, 0.2, 0.0], 5_000)
    monkeypatch.setattr(game, "CHUNK", 7)
    chunked = begun(**settings("uniform", "beta", horizon=5_000))
    assert chunked.hold([0.1, 0.0, 0.2, 0.0], 5_000).rounds == 5_000
    assert chunked.totals() == whole.totals()


@pytest.mark.parametrize("stop", [np.zeros(6), np.zeros(12)[::2], [0, 1, 0, 0, 0, 0], (1, 0.5, 0.5)])
def test_a_stop_rule_that_is_none_is_refused(stop: Any) -> None:
    """Compiled code would read and write other memory."""
    held = begun(**settings("oracle", "bernoulli"))
    with pytest.raises(TypeError, match=r"stop = .* must be a pa_env\.rules\.StopRule"):
        held.hold(np.zeros(4), 5, stop)
    assert held.rounds_played == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 1.0, 1.0), "target = -1"),
        ((1.5, 1.0, 1.0), "target = 1.5"),
        ((1, math.nan, 1.0), "alpha = nan"),
        ((1, 1.0, -1.0), "beta = -1"),
        ((1, 1.0, math.inf), "beta = inf"),
    ],
)
def test_stop_rules_are_checked(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        StopRule(*arguments)


# ------------------------------------------------------------------------- rules


def optimist(memory, plays, sums, arm, reward, offer):  # type: ignore[no-untyped-def]
    """A rule that goes by counts, sums, the last round and its own memory."""
    best = 0
    for a in range(plays.size):
        offer[a] = 0.0
        if (sums[a] + 1.0) / (plays[a] + 1.0) > (sums[best] + 1.0) / (plays[best] + 1.0):
            best = a
    memory[0] += 0.05 if arm != int(memory[1]) else -0.05 * reward
    memory[1] = best
    offer[best] = min(max(memory[0], 0.0), 3.0)
    return best


@pytest.fixture(scope="module")
def rule() -> Any:
    return compile_rule(optimist)


@pytest.mark.parametrize(
    ("agent", "instance"),
    [("greedy", "beta"), ("round-robin", "beta"), ("greedy", "unit-ball"), ("worst", "unit-ball"), ("own", "beta")],
)
def test_a_compiled_rule_plays_the_rounds_of_a_plain_loop(agent: str, instance: str, rule: Any) -> None:
    followed = begun(3, **settings(agent, instance, horizon=5_000))
    env = PrincipalEnv(**settings(agent, instance, horizon=5_000))
    env.reset(seed=3)
    memory, plain_memory, last, arm, x = np.zeros(2), np.zeros(2), (-1, 0.0), -1, 0.0
    for rounds in (1, 300, 4_400, 400):  # the last one is cut by the horizon
        outcome = followed.follow(rule, memory, rounds, last)
        last, misses, offer = outcome.last, 0, np.zeros(4)
        for _ in range(outcome.rounds):
            sums = env.game.sums[0].copy()
            target = optimist(plain_memory, env.game.plays[0].copy(), sums, arm, x, offer)
            observation, *_, info = env.step(offer)
            arm, x = info["arm"], float(observation[-2])
            misses += arm != target
        assert outcome.misses == misses
        assert last == (arm, x)
        assert_array_equal(memory, plain_memory)
        assert_array_equal(followed.plays, env.game.plays)
        assert followed.totals() == env.game.totals()
    assert outcome.rounds == 299


# ------------------------------------------------------------------------- long games


def exact(*terms: tuple[float, int]) -> float:
    """The sum of each number as often as it says, in rational numbers."""
    return float(sum(Fraction(number) * count for number, count in terms))


def test_long_sums_of_constant_rewards_do_not_drift() -> None:
    theta, paid = 0.1, 0.3
    held = begun(instance=IID([0.7, 0.2], [theta, 0.6], "constant"), agent="oracle", horizon=LONG, observe=False)
    assert held.hold([paid, 0.0], LONG).rounds == LONG
    totals = held.totals()
    assert_allclose(totals["utility"], exact((float(np.float32(theta)) - paid, LONG)), rtol=1e-12)
    assert_allclose(totals["expected_utility"], exact((theta - paid, LONG)), rtol=1e-12)
    regret = max(theta, 0.6 - (0.7 - 0.2)) - (theta - paid)
    assert_allclose(totals["regret"], exact((regret, LONG)), rtol=1e-12)
    assert totals["regret_oracle"] == totals["regret"]
    assert_allclose(totals["regret_bar"], exact((regret, LONG)), rtol=1e-12)
    assert_allclose(totals["overpayment"], exact((paid, LONG)), rtol=1e-12)


@pytest.mark.parametrize("agent", ["empirical-mean", "exploratory"])
def test_long_sums_of_bernoulli_rewards_do_not_drift(agent: str) -> None:
    held = begun(instance=IID([0.7, 0.2], [0.1, 0.6]), agent=agent, horizon=LONG, observe=False)
    outcome = held.hold([0.0, 0.3], LONG)
    (first, second), (won, earned) = outcome.plays.tolist(), outcome.rewards.tolist()
    assert (won, earned) == (int(won), int(earned))
    gains = exact((1.0, int(won)), (1.0 - 0.3, int(earned)), (0.0 - 0.3, second - int(earned)))
    assert_allclose(held.totals()["utility"], gains, rtol=1e-12)
    assert_allclose(held.totals()["expected_utility"], exact((0.1, first), (0.6 - 0.3, second)), rtol=1e-12)


def test_long_reward_sums_and_means_of_an_arm_do_not_drift() -> None:
    """Rewards are summed plainly, in the order of play (exactly, when Bernoulli): 0.1 each time stays 0.1 to 1e-9."""
    held = begun(instance=IID([0.1, 0.1], [0.1, 0.1], "constant"), horizon=LONG, observe=False)
    outcome = held.hold([0.5, 0.0], LONG)
    assert_allclose(outcome.rewards[0], exact((float(np.float32(0.1)), LONG)), rtol=1e-9)
    assert_allclose(held.means[0, 0], 0.1, rtol=1e-9)


def test_memory_does_not_grow_with_the_rounds() -> None:
    held = begun(instance=IID([0.7, 0.2], [0.1, 0.6]), agent="exploratory", horizon=2 * LONG, observe=False)
    held.hold([0.0, 0.3], 10)
    peaks, sizes = [], []
    for rounds in (100_000, LONG):
        tracemalloc.start()
        held.hold([0.0, 0.3], rounds)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(resident())  # of compiled code too
    assert peaks[1] < peaks[0] + 10_000
    assert sizes[1] < sizes[0] + 5_000


def test_offers_without_an_upper_bound() -> None:
    held = begun(**settings("greedy", "bernoulli", max_incentive=UNBOUNDED, observe=False))
    assert held.hold([0.0, 0.0, 1e6, 0.0], 10).plays.tolist() == [0, 0, 10, 0]
    with pytest.raises(ValueError, match=r"incentives\[1\] = inf must be a finite number, at least 0; nothing"):
        held.hold([0.0, math.inf, 0.0, 0.0], 10)
