"""How shipped policies are trained: ``python -m baselines.rl.recipes``, or the names of some of them after it.

Each is one run of ``pa-bench train``, from scratch, in a folder of ``results/shipped``. What is trained already is not
trained again, and interrupted runs resume. The policies go to the folder of shipped ones. Policies without a recipe
come from version 0.1, whose way of training is gone (:mod:`baselines.rl.steered` plays them).
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from baselines.registry import WEIGHTS
from pa_env.checks import known

# Name -> arguments of baselines.rl.training.Settings.
RECIPES: dict[str, dict[str, Any]] = {
    "ppo-k3-t100-misaligned": {"task": "k3-t100-misaligned", "steps": 6_000_000},
    "ppo-k5-t200-misaligned": {"task": "k5-t200-misaligned", "steps": 12_000_000},
}


def cook(name: str, runs: Path) -> Path:
    """Train a policy in a folder of ``runs``; returns its file there."""
    from baselines.rl.training import Settings, train

    known("policy", name, RECIPES)
    return train(Settings(**RECIPES[name]), runs / name)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or RECIPES:
        shutil.copy(cook(chosen, Path("results/shipped")), WEIGHTS / f"{chosen}.npz")
