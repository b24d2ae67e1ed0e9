"""What a run reports of the last round before each checkpoint, against the game step by step."""

from typing import Any

import numpy as np
import pytest

import baselines
from baselines import simulate
from pa_env import make_agent

from .helpers import step_through

MARKS = [1, 2, 17, 64, 299, 300]


class Learner:
    """A user's own agent."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        self.means = rng.random(n_arms)

    def choose(self, incentives: Any) -> int:
        return int((self.means + incentives).argmax())

    def learn(self, arm: int, reward: float) -> None:
        self.means[arm] += 0.1 * (reward - self.means[arm])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("elimination", {"agent": "empirical-mean"}),  # holds
        ("exploratory", {"agent": make_agent("exploratory", c0=0.3)}),  # holds that may be withdrawn
        ("profit-target", {"agent": "empirical-mean", "instance": "misaligned"}),  # a rule
        ("ipa", {"agent": "oracle"}),  # first the one, then the other
        ("epsilon-greedy", {"agent": "thompson"}),
        ("oracle", {"agent": "ols", "instance": "unit-ball"}),
        ("ipa", {"agent": Learner()}),
    ],
)
def test_offers_and_optimal_incentives_of_the_last_round(name: str, settings: dict[str, Any]) -> None:
    principal = baselines.make(name, n_arms=4, horizon=MARKS[-1])
    infos, offers, _ = step_through(principal, seed=8, n_arms=4, **settings)
    run = simulate(principal, seed=8, checkpoints=MARKS, **({"instance": "uniform"} | settings))
    assert run.offers.tolist() == [offers[mark - 1].tolist() for mark in MARKS]
    assert run.optimal_incentives.tolist() == [infos[mark - 1]["optimal_incentives"].tolist() for mark in MARKS]
    assert run.offers.any()


@pytest.mark.parametrize("name", ["elimination", "ipa", "exploratory"])
def test_looking_changes_nothing(name: str) -> None:
    principal = baselines.make(name, n_arms=5, horizon=5000)
    once, always = (simulate(principal, seed=3, checkpoints=marks) for marks in ([5000], range(1, 5001)))
    for total in ("regret", "regret_oracle", "regret_bar", "utility", "expected_utility", "overpayment", "misses"):
        assert getattr(once, total)[-1].tobytes() == getattr(always, total)[-1].tobytes(), total
    assert once.offers[-1].tolist() == always.offers[-1].tolist()
