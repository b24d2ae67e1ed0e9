"""How the shipped policies are trained: ``python -m baselines.rl.recipes``, or the names of some of them after it.

Each is one run of ``pa-bench train`` with seed 0, some of them from the policy of another size: one for K = 5, T = 200
plays other sizes well before it is trained on them. What is trained already is not trained again; the best policy of
each run goes to the folder of shipped ones.
"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from baselines.registry import WEIGHTS
from pa_env.checks import known


@dataclass(frozen=True)
class Recipe:
    """A task, an objective, rounds to train on, the recipe whose policy is the start, and the log of the noise."""

    task: str
    objective: str
    steps: int
    start: str | None = None
    log_noise: float = -2.5


QUIET = -4.0
RECIPES = {
    "ppo-k5-t200": Recipe("k5-t200-uniform", "utility", 8_000_000),
    "ppo-k5-t200-misaligned": Recipe("k5-t200-misaligned", "utility", 2_000_000, None, QUIET),
    "ppo-k5-t200-exploratory": Recipe("k5-t200-uniform-exploratory", "utility", 3_000_000),
    "ppo-k3-t100": Recipe("k3-t100-uniform", "utility", 3_000_000, "ppo-k5-t200"),
    "ppo-k3-t100-misaligned": Recipe("k3-t100-misaligned", "utility", 2_000_000, "ppo-k5-t200-misaligned", QUIET),
    "ppo-k5-t1000": Recipe("k5-t1000-uniform", "utility", 2_000_000, "ppo-k5-t200", QUIET),
    "ppo-k5-t1000-misaligned": Recipe("k5-t1000-misaligned", "utility", 2_000_000, "ppo-k5-t200-misaligned", QUIET),
    "ppo-k5-t200-regret": Recipe("k5-t200-uniform", "regret", 3_000_000),
    "ppo-k5-t200-misaligned-regret": Recipe("k5-t200-misaligned", "regret", 3_000_000),
    "ppo-k5-t200-exploratory-regret": Recipe("k5-t200-uniform-exploratory", "regret", 3_000_000),
    "ppo-k3-t100-regret": Recipe("k3-t100-uniform", "regret", 3_000_000, "ppo-k5-t200-regret"),
    "ppo-k3-t100-misaligned-regret": Recipe("k3-t100-misaligned", "regret", 3_000_000),
    "ppo-k5-t1000-regret": Recipe("k5-t1000-uniform", "regret", 2_000_000, "ppo-k5-t200-regret", QUIET),
    "ppo-k5-t1000-misaligned-regret": Recipe("k5-t1000-misaligned", "regret", 1_500_000, None, -5.0),
}


def cook(name: str, runs: Path) -> Path:
    """Train a policy, and first the one that it starts from; returns its file in the folder ``runs``."""
    from baselines.rl.training import Run
    from baselines.tasks import task

    known("policy", name, RECIPES)
    recipe = RECIPES[name]
    start = None if recipe.start is None else cook(recipe.start, runs)
    out = runs / name
    how = {"objective": recipe.objective, "steps": recipe.steps, "log_noise": recipe.log_noise}
    Run(task(recipe.task), out, start=start, **how).train()  # type: ignore[arg-type] # by their names
    return out / "best.npz"


if __name__ == "__main__":
    for chosen in sys.argv[1:] or RECIPES:
        shutil.copy(cook(chosen, Path("results/shipped")), WEIGHTS / f"{chosen}.npz")
