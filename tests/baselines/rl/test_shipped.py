"""The trained principals that come with the package: they are what their names say, and play by the rules."""

import numpy as np
import pytest

import baselines
from baselines.registry import is_trained
from baselines.rl.evaluate import TRIAL_SEEDS
from baselines.rl.recipes import RECIPES
from baselines.rl.trained import WEIGHTS
from baselines.rl.view import SEAT
from baselines.tasks import task
from pa_env.policy_file import read

from ..helpers import step_through


def test_each_was_trained_as_its_recipe_says() -> None:
    assert sorted(filter(is_trained, baselines.principals())) == sorted(RECIPES)
    for name, recipe in RECIPES.items():
        about = read(WEIGHTS / f"{name}.npz", SEAT).metadata
        assert tuple(about["tasks"]) == recipe["tasks"]
        for key, default in (("objective", "utility"), ("seed", 0)):
            assert about[key] == recipe.get(key, default), name
        assert 0 <= about["steps"] - recipe["steps"] < 2_100_000, name  # whole laps


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize(("n_arms", "horizon"), [(2, 60), (7, 150)])
def test_each_plays_any_game(name: str, n_arms: int, horizon: int) -> None:
    principal = baselines.make(name, n_arms=n_arms, horizon=horizon)
    infos, offers, _ = step_through(principal, 1, n_arms=n_arms)
    assert np.isfinite(offers).all()
    run = baselines.simulate(principal, seed=1)
    assert sum(info["utility"] for info in infos) == pytest.approx(run.utility[-1])


def earned(name: str, where: str, episodes: int) -> float:
    played = task(where)
    principal = baselines.make(name, n_arms=played.n_arms, horizon=played.horizon)
    seeds = range(TRIAL_SEEDS, TRIAL_SEEDS + episodes)
    run = baselines.simulate(principal, played.instance, played.agent, seeds=seeds, checkpoints=[played.horizon])
    return float(run.expected_utility.mean())


@pytest.mark.parametrize("where", ["k5-t200-uniform", "k5-t200-misaligned"])
def test_the_one_for_utility_earns_more_than_every_script(where: str) -> None:
    names = ("ppo", "zero", "profit-target", "bracket-ucb", "particle")
    assert max(names, key=lambda name: earned(name, where, 500)) == "ppo"


def test_they_take_no_parameters() -> None:
    with pytest.raises(ValueError, match="'bonus' is unknown"):
        baselines.make("ppo", n_arms=5, horizon=200, bonus=1.0)
