"""The published curves of IPA's authors, in fewer runs, and the arithmetic of the comparison."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baselines import make, simulate
from baselines.reproduce import published
from baselines.reproduce.claim import Study
from baselines.reproduce.published import NUMBERS, PublishedNumber, ToldUCB, compare, pseudo_regrets
from baselines.scripted.peers.epsilon_greedy import EpsilonGreedy
from pa_env.instances import IPA_K5, IPA_K50

CAUGHT = next(each for each in NUMBERS if each.principal == "epsilon-greedy, m = 100")
MANY_ARMS = next(each for each in NUMBERS if each.principal == "epsilon-greedy, m = 2000")


@pytest.mark.parametrize("number", [each for each in NUMBERS if each is not CAUGHT], ids=lambda each: each.label)
def test_our_runs_are_near_the_published_number(number: PublishedNumber) -> None:
    result = compare(number, pseudo_regrets(number, 100))
    assert abs(result.distance) < 3, result
    assert result.mean == pytest.approx(number.published, rel=0.08)


def variant(number: PublishedNumber, m: int, name: str) -> PublishedNumber:
    """The number with another variant of epsilon-greedy."""
    return replace(number, make=lambda n_arms, horizon: EpsilonGreedy(n_arms, horizon, m, name))


def test_the_published_epsilon_greedy_is_caught_on_a_bad_arm_now_and_then() -> None:
    """The published mean, 2264, is that of runs that end near 276 and, about one in eight, near 15,200."""
    regrets = pseudo_regrets(CAUGHT, 100)
    assert abs(compare(CAUGHT, regrets).distance) < 1
    caught = regrets > 5000
    assert 3 <= caught.sum() <= 22  # 12 expected; three standard deviations
    assert regrets[caught] == pytest.approx(15_200, rel=0.01)
    assert regrets[~caught].mean() == pytest.approx(276, rel=0.05)  # as if theta_hat were gross


def test_the_net_estimate_is_what_handicaps_the_published_epsilon_greedy() -> None:
    regrets = pseudo_regrets(variant(CAUGHT, 100, "gross"), 100)  # on the same seeds
    assert regrets.mean() == pytest.approx(276, rel=0.05)
    assert regrets.max() < 1000


def test_with_many_arms_it_helps_to_learn_from_every_round() -> None:
    """About 3690; that of the other variants is above 5500."""
    assert pseudo_regrets(variant(MANY_ARMS, 2000, "every-round"), 20).mean() == pytest.approx(3690, rel=0.03)
    assert pseudo_regrets(variant(MANY_ARMS, 2000, "gross"), 20).mean() > 5500


def test_pseudo_regret_counts_gaps_and_no_payment() -> None:
    free = PublishedNumber(
        "zero", 5, 1000, 0.0, None, lambda n_arms, horizon: make("zero", n_arms=n_arms, horizon=horizon)
    )
    # The agent plays its own best arm, 1, at .24 + .99 each round; the best is arm 2, at .88 + .73.
    assert pseudo_regrets(free, 2) == pytest.approx([1000 * 0.38] * 2)
    paying = PublishedNumber(
        *("fixed", 5, 1000, 0.0, None),
        lambda n_arms, horizon: make("fixed", n_arms=n_arms, horizon=horizon, incentives=[0, 0, 3, 0, 0]),
    )
    assert pseudo_regrets(paying, 2).tolist() == [0, 0]


def test_the_instances_are_those_of_the_paper() -> None:
    assert (IPA_K5.rewards, IPA_K50.rewards) == ("gaussian", "gaussian")
    assert int((IPA_K5.theta + IPA_K5.mu).argmax()) == 2
    assert {each.n_arms for each in NUMBERS} == {5, 50}


def test_distances_are_in_combined_standard_errors() -> None:
    regrets = np.array([9.0, 11.0])  # mean 10, standard error 1
    assert compare(PublishedNumber("x", 5, 10, 4.0, math.sqrt(3), ToldUCB), regrets) == pytest.approx((10.0, 1.0, 3.0))


def test_an_error_that_is_not_published_is_that_of_thirty_of_our_runs() -> None:
    regrets = np.tile([9.0, 11.0], 60)
    spread = regrets.std(ddof=1)
    distance = -2 / (spread * math.sqrt(1 / 120 + 1 / 30))
    assert compare(PublishedNumber("x", 5, 10, 12.0, None, ToldUCB), regrets) == pytest.approx(
        (10.0, spread / math.sqrt(120), distance)
    )


def test_the_told_ucb_is_never_refused_and_must_see_the_game() -> None:
    run = simulate(ToldUCB(5, 2000), "ipa-k5", "oracle", seed=1, checkpoints=[2000])
    assert run.misses[-1] == 0
    assert run.overpayment[-1] == pytest.approx(2000 / 2000)  # 1/T a round
    with pytest.raises(RuntimeError, match="'ucb-told' must see the game"):
        ToldUCB(5, 2000).offer()


def test_our_means_have_more_runs_than_the_published_ones() -> None:
    assert published.RUNS >= 10 * published.PUBLISHED_RUNS


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published, "NUMBERS", NUMBERS[:1])
    evidence = published.CLAIM.measure(Study(tmp_path, "unused", seeds=4, quiet=True))
    row = published.CLAIM.page(evidence, tmp_path)[-1].splitlines()[-1]
    label, theirs, ours, runs, _ = [part.strip() for part in row.strip("|").split("|")]
    assert (label, theirs, runs) == ("IPA, K = 5, T = 10000", "257.0", "4")
    assert ours == f"{pseudo_regrets(NUMBERS[0], 4).mean():.1f}"  # too few for an interval
