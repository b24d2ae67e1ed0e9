"""The trained principals that come with the package: they are what their names say, and play by the rules."""

import numpy as np
import pytest

import baselines
from baselines import rl
from baselines.registry import WEIGHTS
from baselines.rl.evaluate import compare
from baselines.rl.policy_file import digest, read
from baselines.rl.recipes import RECIPES
from baselines.rl.training import LAP
from baselines.tasks import task

from ..helpers import step_through

SIZES = {"k3-t100": (3, 100), "k5-t200": (5, 200), "k5-t1000": (5, 1000)}


def test_every_task_has_one_for_utility_and_one_for_regret() -> None:
    tasks = [*SIZES, *(f"{size}-misaligned" for size in SIZES), "k5-t200-exploratory"]
    assert sorted(rl.shipped()) == sorted(f"ppo-{name}{end}" for name in tasks for end in ("", "-regret"))
    assert sorted(rl.shipped()) == sorted(RECIPES)


@pytest.mark.parametrize("name", rl.shipped())
def test_each_is_a_principal_and_says_what_it_was_trained_for(name: str) -> None:
    n_arms, horizon = next(size for key, size in SIZES.items() if f"ppo-{key}-" in name + "-")
    principal = baselines.make(name, n_arms=n_arms, horizon=horizon)
    trained_for = task(principal.metadata["task"])
    assert (trained_for.n_arms, trained_for.horizon) == (n_arms, horizon)
    assert principal.metadata["task"] == RECIPES[name].task
    assert (
        principal.metadata["objective"]
        == RECIPES[name].objective
        == ("regret" if name.endswith("-regret") else "utility")
    )
    assert (trained_for.instance == "misaligned") == ("misaligned" in name)
    assert (trained_for.agent == "exploratory") == ("exploratory" in name)
    assert (WEIGHTS / f"{name}.npz").stat().st_size < 1_000_000
    infos, offers, _ = step_through(principal, 1, n_arms=n_arms)
    assert np.isfinite(offers).all()
    run = baselines.simulate(principal, seed=1)
    assert sum(info["utility"] for info in infos) == pytest.approx(run.utility[-1])


def test_each_was_trained_and_is_no_copy_of_another() -> None:
    policies = {name: read(WEIGHTS / f"{name}.npz") for name in rl.shipped()}
    assert len({digest(policy) for policy in policies.values()}) == len(policies)
    for name, policy in policies.items():
        assert policy.metadata["steps"] > LAP, name  # in the first lap only the critic learns
        assert any(policy.weights[f"{head}.{part}"].any() for head in ("all", "arm") for part in ("weight", "bias"))


def test_they_earn_more_than_their_script() -> None:
    short = task("k5-t200-uniform")
    scores = compare({name: name for name in ("ppo-k5-t200", "ppo-k5-t200-regret", "profit-target")}, short, 3000)
    script = scores["profit-target"]
    assert scores["ppo-k5-t200"]["expected_utility"].mean() > script["expected_utility"].mean()
    assert scores["ppo-k5-t200-regret"]["regret"].mean() < script["regret"].mean()


def test_they_take_no_parameters() -> None:
    with pytest.raises(ValueError, match="'bonus' is unknown"):
        baselines.make("ppo-k5-t200", n_arms=5, horizon=200, bonus=1.0)
