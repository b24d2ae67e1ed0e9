"""Many episodes in one call: each is what its seed gives alone, bit for bit, whoever plays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import OwnAgent
from numpy.testing import assert_array_equal

import baselines
from baselines import Principal, Run, follow, simulate
from baselines.episodes import ROUNDS_AT_ONCE
from baselines.principal import Rounds
from baselines.registry import parameters
from pa_env import IID
from pa_env.game import Game
from pa_env.kernel.layout import ARM, REWARD
from pa_env.rules import compile_rule

from .helpers import sizes_of

SEEDS = [3, 0, 10**12, 7, 4]


def same(many: Run, alone: list[Run]) -> None:
    for i, run in enumerate(alone):
        own = many.episode(i)
        assert own.scores.keys() == run.scores.keys()
        for name, sums in run.scores.items():
            assert_array_equal(own.scores[name], sums, err_msg=name)
        for name in ("misses", "plays", "offers", "optimal_incentives", "checkpoints"):
            assert_array_equal(getattr(own, name), getattr(run, name), err_msg=name)
        assert own.phases == run.phases


def names() -> list[str]:
    return [name for name in baselines.principals() if name != "fixed"]


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("agent", ["empirical-mean", "exploratory", "own"])
def test_each_is_the_episode_of_its_seed(name: str, agent: str) -> None:
    linear = any(p.name == "arms" for p in parameters(name))
    instance = "unit-ball" if linear else "uniform"
    sizes = sizes_of(name, 5, 150)
    marks = [1, 2, sizes["horizon"] - 1, sizes["horizon"]]
    game: dict[str, Any] = {"instance": instance, "checkpoints": marks, **sizes}
    opponent = OwnAgent() if agent == "own" else agent
    many = simulate(name, agent=opponent, seeds=SEEDS, **game)
    assert many.regret.shape == (5, 4)
    assert many.plays.shape == (5, 4, sizes["n_arms"])
    assert many.seeds is not None
    assert many.seeds.tolist() == SEEDS
    same(many, [simulate(name, agent=opponent, seed=seed, **game) for seed in SEEDS])


def test_they_are_played_in_parts_that_do_not_show() -> None:
    horizon = ROUNDS_AT_ONCE // 3
    principal = baselines.make("profit-target", n_arms=2, horizon=horizon)
    same(simulate(principal, seeds=range(5)), [simulate(principal, seed=s, checkpoints=[horizon]) for s in range(5)])


def test_instances_of_ones_own_are_drawn_for_each() -> None:
    def instance(rng: np.random.Generator) -> IID:
        return IID(mu=rng.random(5), theta=rng.random(5))

    many = simulate("bracket-ucb", instance, horizon=100, seeds=[4, 5])
    same(many, [simulate("bracket-ucb", instance, horizon=100, seed=s, checkpoints=[100]) for s in (4, 5)])
    assert many.regret[0] != many.regret[1]


@compile_rule
def one_entry(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    """Writes one entry of the offer, another each round, and leaves the others alone."""
    memory[0] = (memory[0] + 1) % offer.size
    offer[int(memory[0])] = 0.4
    return int(memory[0])


class OneEntry(Principal):
    name = "one-entry"

    def rounds(self) -> Rounds:
        yield follow(one_entry, np.zeros(1), rounds=self.horizon)


@pytest.mark.parametrize("instance", ["uniform", "unit-ball"])
def test_an_offer_begins_at_zero_in_every_round(instance: str, tmp_path: Path) -> None:
    principal = OneEntry(n_arms=5, horizon=20)
    many = simulate(principal, instance, agent="oracle", seeds=range(4))
    for seed in range(4):
        principal.reset(seed=seed)
        game = Game(instance=instance, agent="oracle", horizon=20)
        game.begin(seeds=[seed])
        for _ in range(20):  # step by step
            result = game.play(principal.offer())[0]
            principal.observe(int(result[ARM]), result[REWARD])
        assert game.totals()["utility"] == many.utility[seed, -1]
        for more in ({"checkpoints": [7, 20]}, {"trace": tmp_path / "rounds.parquet"}):
            again = simulate(principal, instance, agent="oracle", seed=seed, **more)  # type: ignore[arg-type]
            assert again.utility[-1] == many.utility[seed, -1]


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([], r"seeds = \[\] must be one or more"),
        ([-1], "seeds = -1"),
        ([1.5], "seeds = 1.5"),
        (["1"], "seeds = '1'"),
    ],
)
def test_bad_seeds(seeds: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        simulate("zero", horizon=10, seeds=seeds)


def test_principals_that_a_name_does_not_suffice_for() -> None:
    with pytest.raises(ValueError, match="has no default for incentives"):
        simulate("fixed", horizon=10, seeds=[1])
    with pytest.raises(ValueError, match="needs linear rewards"):
        simulate("linear", horizon=10)
