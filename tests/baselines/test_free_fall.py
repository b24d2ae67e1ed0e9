"""The principal `free-fall`, and the page that compares it with fixed offers."""

import numpy as np
import pytest

import baselines
from baselines.benchmark.statistics import Estimate
from baselines.reproduce import free_fall
from pa_env import IID

from .helpers import drive


def test_it_pays_for_the_best_arm_until_its_share_and_then_nothing() -> None:
    principal = baselines.make("free-fall", n_arms=3, horizon=100, share=0.4, amount=0.7, bonus=0.1)
    offers = np.array(drive(principal, lambda offer: int(offer.argmax()), [0.1, 0.9, 0.2], 100))
    assert (offers[:3].argmax(axis=1) == [0, 1, 2]).all()  # arms that were never played come first
    assert (offers[3:40] == [0.0, 0.7, 0.0]).all()
    assert not offers[40:].any()


def test_the_bonus_is_of_the_plays() -> None:
    principal = baselines.make("free-fall", n_arms=2, horizon=1000, share=1.0, bonus=0.5)
    offers = np.array(drive(principal, lambda offer: int(offer.argmax()), [0.5, 0.4], 200))
    plays = np.array([1, 1])
    for offer in offers[2:]:
        index = np.array([0.5, 0.4]) + 0.5 * np.sqrt(np.log(1000) / plays)
        assert offer.argmax() == index.argmax()
        plays[offer.argmax()] += 1


def test_without_a_share_it_offers_nothing() -> None:
    game = {"horizon": 50, "seeds": 5, "agent": "hedge", "n_arms": 3}
    nothing, zero = (baselines.simulate(name, **game) for name in ("free-fall,share=0", "zero"))
    np.testing.assert_array_equal(nothing.utility, zero.utility)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"share": 1.5}, "share = 1.5 must be a share of the rounds, from 0 to 1"),
        ({"share": -0.1}, "share = -0.1"),
        ({"amount": -1.0}, "amount = -1.0"),
        ({"bonus": float("nan")}, "bonus = nan"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        baselines.make("free-fall", n_arms=2, horizon=10, **parameters)


def test_an_offer_that_is_withdrawn_is_paid_for_its_share() -> None:
    offer = free_fall.Withdrawn(2, 20, arm=1, amount=0.5, share=0.25)
    run = baselines.simulate(offer, IID([1.0, 0.0], [0.0, 1.0], "constant"), "empirical-mean", seed=0)
    assert run.plays[-1].tolist() == [15, 5]  # this agent leaves as soon as it is not paid
    assert run.utility[-1] == 5 * (1 - 0.5)


def test_the_best_offer_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_fall, "N_ARMS", 2)
    monkeypatch.setattr(free_fall, "HORIZON", 50)
    instance, sizes = IID([0.5, 0.0], [0.0, 1.0], "constant"), free_fall.Sizes(1, 2, 2)
    grid = [(0, 0.5, 1.0), (1, 0.7, 1.0), (1, 0.1, 1.0)]
    assert free_fall.best(grid, instance, "empirical-mean", sizes) == pytest.approx(50 * (1 - 0.1))


def test_the_sentence_follows_from_the_intervals() -> None:
    differences = {
        ("hedge", "uniform"): Estimate(2.0, 1.0, 3.0),
        ("ucb", "uniform"): Estimate(-2.0, -3.0, -1.0),
        ("exp3", "uniform"): Estimate(0.0, -1.0, 1.0),
    }
    assert free_fall.verdict("x", differences) == (
        "`x` earns more than `fixed` against `hedge` (uniform); less than `fixed` against `ucb` (uniform); neither"
        " separably more nor less than `fixed` against `exp3` (uniform)."
    )
