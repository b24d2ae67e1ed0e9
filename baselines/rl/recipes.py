"""How shipped policies are trained: ``python -m baselines.rl.recipes``, or the names of some of them after it.

Each is one run of ``pa-bench train``, from scratch, in a folder of ``results/shipped``. What is trained already is not
trained again, and interrupted runs resume. The policies go to the folder of shipped ones.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from baselines.rl.trained import WEIGHTS
from pa_env.checks import known

# One policy learns all of these. It is told neither the family of the instances nor the kind of agent.
GAMES = (
    *(f"k5-t{horizon}-uniform" for horizon in (100, 200, 500, 1000, 2000)),
    *(f"k5-t{horizon}-misaligned" for horizon in (100, 200, 500, 1000)),
    *("k5-t200-clustered", "k5-t200-gap", "k5-t200-uniform-exploratory", "k5-t1000-uniform-exploratory"),
    *("k5-t200-uniform-oracle", "k5-t200-misaligned-oracle", "k5-t1000-uniform-oracle", "k5-t200-uniform-logit"),
    *("k5-t200-uniform-ucb", "k5-t200-misaligned-ucb", "k5-t200-misaligned-exploratory"),
    *("k2-t8-uniform", "k2-t20-uniform", "k3-t100-misaligned", "k10-t200-uniform", "k10-t200-misaligned"),
    *("k20-t200-uniform", "k20-t200-misaligned"),
)
# Name -> arguments of baselines.rl.training.Settings.
RECIPES: dict[str, dict[str, Any]] = {
    "ppo": {
        "tasks": GAMES,
        "steps": 61_440_000,
        "copies": 1024,
        "scale": 10.0,
        "lap": 200,
        "rounds": 2_000_000,
        "ppo": {"batch_size": 1600, "learning_rate": 1.5e-3},
    },
}


def cook(name: str, runs: Path) -> Path:
    """Train a policy in a folder of ``runs``; returns its file there."""
    from baselines.rl.training import Settings, train

    known("policy", name, RECIPES)
    return train(Settings(**RECIPES[name]), runs / name)


if __name__ == "__main__":
    for chosen in sys.argv[1:] or RECIPES:
        shutil.copy(cook(chosen, Path("results/shipped")), WEIGHTS / f"{chosen}.npz")
