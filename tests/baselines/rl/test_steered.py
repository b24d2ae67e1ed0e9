"""Policies of version 0.1: they play as they did, and damaged ones are refused."""

from pathlib import Path
from typing import Any

import pytest

import baselines
from baselines.registry import WEIGHTS
from baselines.rl.policy_file import Policy, read, save
from baselines.rl.steered import Steered

# Utilities against the exploring agent, with seeds 0 and 1, as version 0.1 played them.
PLAYED = {
    "ppo-k3-t100-regret": [58.10013795549781, 52.12481522886461],
    "ppo-k5-t200-exploratory-regret": [102.53649787563745, 139.44835383544637],
}


@pytest.mark.parametrize("name", PLAYED)
def test_they_play_as_they_did(name: str) -> None:
    principal = baselines.make(name)
    assert isinstance(principal, Steered)
    run = baselines.simulate(principal, "uniform", "exploratory", seeds=range(2), checkpoints=[principal.horizon])
    assert run.utility[:, -1].tolist() == pytest.approx(PLAYED[name], abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"squash": "round"}, "squash = 'round' is unknown"),
        ({"parameters": None}, "parameters = None must be of type dict"),
        ({"parameters": {"bonus": -1.0}}, r"parameters = \{'bonus': -1.0\}: bonus = -1.0 must be a finite number"),
        ({"parameters": {"luck": 1.0}}, "unexpected keyword argument 'luck'"),
        ({"parameters": {"n_arms": 3}}, "multiple values for argument 'n_arms'"),
    ],
)
def test_wrong_metadata_are_named(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    policy = read(WEIGHTS / "ppo-k3-t100-regret.npz")
    with pytest.raises(ValueError, match=says):
        save(tmp_path / "policy.npz", Policy(policy.metadata | changes, policy.weights))
