"""The trained principals that come with the package: they are what their names say, and play by the rules."""

import numpy as np
import pytest

import baselines
from baselines import rl
from baselines.registry import WEIGHTS
from baselines.rl.policy_file import FORMAT, read
from baselines.rl.recipes import RECIPES
from baselines.tasks import task

from ..helpers import step_through

SIZES = {"k3-t100": (3, 100), "k5-t200": (5, 200), "k5-t1000": (5, 1000)}


NEW = [name for name in rl.shipped() if read(WEIGHTS / f"{name}.npz").metadata["format"] == FORMAT]


def test_every_task_has_one_for_utility_and_one_for_regret() -> None:
    tasks = [*SIZES, *(f"{size}-misaligned" for size in SIZES), "k5-t200-exploratory"]
    assert sorted(rl.shipped()) == sorted(f"ppo-{name}{end}" for name in tasks for end in ("", "-regret"))


@pytest.mark.parametrize("name", rl.shipped())
def test_each_is_a_principal_and_says_what_it_was_trained_for(name: str) -> None:
    n_arms, horizon = next(size for key, size in SIZES.items() if f"ppo-{key}-" in name + "-")
    principal = baselines.make(name, n_arms=n_arms, horizon=horizon)
    trained_for = task(principal.metadata["task"])
    assert (trained_for.n_arms, trained_for.horizon) == (n_arms, horizon)
    assert principal.metadata["objective"] == ("regret" if name.endswith("-regret") else "utility")
    assert (trained_for.instance == "misaligned") == ("misaligned" in name)
    assert (trained_for.agent == "exploratory") == ("exploratory" in name)
    assert (WEIGHTS / f"{name}.npz").stat().st_size < 1_000_000
    infos, offers, _ = step_through(principal, 1, n_arms=n_arms)
    assert np.isfinite(offers).all()
    run = baselines.simulate(principal, seed=1)
    assert sum(info["utility"] for info in infos) == pytest.approx(run.utility[-1])


def test_no_policy_is_a_copy_of_another() -> None:
    weights = {read(WEIGHTS / f"{name}.npz").weights["arm_in.weight"].tobytes() for name in rl.shipped()}
    assert len(weights) == len(rl.shipped())


def test_those_that_are_not_of_version_0_1_were_trained_as_their_recipes_say() -> None:
    assert sorted(NEW) == sorted(RECIPES)
    for name, recipe in RECIPES.items():
        about = read(WEIGHTS / f"{name}.npz").metadata
        for key, default in (("task", None), ("objective", "utility"), ("seed", 0)):
            assert about[key] == recipe.get(key, default), name
        assert 0 <= about["steps"] - recipe["steps"] < 2_000_000, name  # whole laps


def test_one_for_utility_earns_more_than_every_script() -> None:
    short = task("k5-t200-uniform")
    names = ("ppo-k5-t200", "zero", "profit-target", "bracket-ucb", "particle")
    earned = {
        name: baselines.simulate(
            name, short.instance, horizon=200, seeds=range(1000), checkpoints=[200]
        ).expected_utility.mean()
        for name in names
    }
    assert max(earned, key=lambda name: earned[name]) == "ppo-k5-t200"


def test_they_take_no_parameters() -> None:
    with pytest.raises(ValueError, match="'bonus' is unknown"):
        baselines.make("ppo-k5-t200", n_arms=5, horizon=200, bonus=1.0)
