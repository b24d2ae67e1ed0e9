"""Compare the earnings of principals on common random numbers, episode by episode.

>>> from baselines.rl.evaluate import compare
>>> from baselines.tasks import task
>>> scores = compare({"zero": "zero", "script": "profit-target"}, task("k3-t100-uniform"), episodes=20)
>>> scores["script"]["utility"].shape
(20,)
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from baselines.benchmark.specs import label, make_principal
from baselines.protocol import Principal
from baselines.simulation import simulate
from baselines.tasks import Task
from pa_env.layout import Floats

if TYPE_CHECKING:
    from rich.table import Table

SCORES = ("utility", "expected_utility", "regret", "regret_oracle")
HELD_OUT = 0  # first seed of comparisons; those of training lie elsewhere
TRIAL_SEEDS = 6 * 10**8  # first seed of tables that are looked at while policies are chosen
Z95 = 1.96


def compare(
    principals: dict[str, str | Principal], task: Task, episodes: int, first_seed: int = HELD_OUT
) -> dict[str, dict[str, Floats]]:
    """Scores of every episode of every principal, given by its spec or made already; the same seeds for all."""
    found: dict[str, dict[str, Floats]] = {}
    for name, given in principals.items():
        principal = make_principal(given, task.n_arms, task.horizon) if isinstance(given, str) else given
        runs = [
            simulate(principal, task.instance, task.make_agent(), seed=seed, checkpoints=[task.horizon])
            for seed in range(first_seed, first_seed + episodes)
        ]
        found[name] = {score: np.array([getattr(run, score)[-1] for run in runs]) for score in SCORES}
    return found


def interval(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval."""
    return float(values.mean()), Z95 * float(values.std(ddof=1)) / math.sqrt(values.size)


def games(played: Task, copies: int) -> Any:
    """Copies of a task's game, with i.i.d. rewards, that begin no episode by themselves."""
    return gym.make_vec(
        *("PrincipalAgent-v0", copies),
        n_arms=played.n_arms,
        horizon=played.horizon,
        instance=played.instance,
        agent=played.make_agent(),
        autoreset_mode="Disabled",
    )


def play_out(envs: Any, model: Any, seeds: Sequence[int], deterministic: bool = True) -> dict[str, Floats]:
    """Scores of one episode of each copy under a model.

    Args:
        envs: the batched game, bare or wrapped, with autoreset_mode="Disabled".
        model: a Stable-Baselines3 model, or whatever predicts as they do.
        seeds: one for each copy.
        deterministic: whether the model's likeliest actions are played, or drawn ones.
    """
    observations, _ = envs.reset(seed=list(seeds))
    sums = {score: np.zeros(envs.num_envs) for score in SCORES}
    state, starts = None, np.ones(envs.num_envs, np.bool_)
    for _ in range(envs.unwrapped.game.horizon):
        actions, state = model.predict(observations, state, starts, deterministic)
        observations, _, _, _, info = envs.step(actions)
        starts = np.zeros(envs.num_envs, np.bool_)
        for score in SCORES:
            sums[score] += info[score]
    return sums


def table(trained: Principal, task: Task, episodes: int, rivals: tuple[str, ...] = ()) -> "Table":
    """Utility, R_T and R_T^oracle of a principal and its rivals (default: all of the task's), means and 95 % intervals.

    The last column is by how much the principal earns more than the rival, of paired episodes.
    """
    from rich.table import Table

    names = rivals or tuple(name for name in task.principals if name != "oracle")
    scores = compare({"trained": trained} | dict(zip(names, names, strict=True)), task, episodes, TRIAL_SEEDS)
    shown = Table("principal", "utility", "R_T", "R_T^oracle", "trained earns more by", title=task.name)
    for name, found in scores.items():
        cells = ["{:.2f} +- {:.2f}".format(*interval(found[key])) for key in ("utility", "regret", "regret_oracle")]
        gain = interval(scores["trained"]["expected_utility"] - found["expected_utility"])
        shown.add_row(label(name), *cells, "" if name == "trained" else "{:.2f} +- {:.2f}".format(*gain))
    return shown
