"""Reinforcement learning from scratch beside scripts: several learners, equal budgets, several seeds.

Every learner plays the same task through :func:`pa_env.wrappers.ForLearning` and is given the same number of rounds.
Those with discrete actions choose a rung of an arm's ladder of prices, the others (SAC, TD3) use ``continuous=True``.
Their settings were not searched for: they are Stable-Baselines3's, but for those in ``LEARNERS``. Policies that are
random by design are sampled from when they are evaluated, as in training.

A learner with a seed is one JSON file in the folder of results, written whole. What is there is not trained again. A
learner that raises an error is shown as failed, with the error.
"""

import copy
import importlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import estimate
from baselines.benchmark.store import write_generated
from baselines.comparison import compare
from baselines.files import only_writer, remove_half_written, write_whole
from baselines.rl.evaluate import SCORES
from baselines.tasks import task
from pa_env.kernel.layout import SCORES as ALL_SCORES
from pa_env.kernel.layout import Floats
from pa_env.wrappers import ForLearning

TASK = "k5-t200-uniform"
SCRIPTS = ("zero", "profit-target", "bracket-ucb", "particle")
EVALUATION_SEEDS, TRAINING_SEEDS = 5 * 10**8, 10**9  # first ones, far from those of tuning and comparisons
COPIES = 64


@dataclass(frozen=True)
class Learner:
    """An algorithm of Stable-Baselines3 with its settings."""

    algorithm: str
    policy: str = "MlpPolicy"
    options: dict[str, Any] = field(default_factory=dict)
    continuous: bool = False
    sampled: bool = True


ON_POLICY: dict[str, Any] = {"gamma": 0.9995, "gae_lambda": 0.97, "ent_coef": 0.006, "n_steps": 100}
PPO: dict[str, Any] = ON_POLICY | {"batch_size": 800, "n_epochs": 4, "learning_rate": 1e-3}
OFF_POLICY: dict[str, Any] = {"buffer_size": 200_000, "batch_size": 256, "gradient_steps": 4, "train_freq": 1}
OFF_POLICY |= {"learning_starts": 10_000, "gamma": 0.99, "policy_kwargs": {"net_arch": [64, 64]}}  # as large as PPO's
LEARNERS = {
    "PPO, equivariant": Learner("PPO", "SetActorCritic", PPO),
    "PPO, MLP": Learner("PPO", options=PPO),
    "A2C": Learner("A2C", options=ON_POLICY | {"n_steps": 20}),
    "recurrent PPO": Learner("RecurrentPPO", "MlpLstmPolicy", PPO | {"policy_kwargs": {"lstm_hidden_size": 64}}),
    "DQN": Learner("DQN", options=OFF_POLICY | {"exploration_fraction": 0.5}, sampled=False),
    "SAC": Learner("SAC", options=OFF_POLICY, continuous=True),
    "TD3": Learner("TD3", options=OFF_POLICY, continuous=True, sampled=False),
}


def trained(learner: Learner, steps: int, seed: int) -> Any:
    """A model that has learned for so many rounds."""
    import torch
    from stable_baselines3.common.noise import NormalActionNoise

    from baselines.rl.networks import SetActorCritic
    from baselines.rl.vec_env import GameVecEnv, games_of

    torch.set_num_threads(1)
    envs = GameVecEnv(
        ForLearning(games_of(task(TASK), COPIES), learner.continuous), "utility", scale=0.7, staggered=True
    )
    envs.seed(TRAINING_SEEDS + seed * COPIES)
    options = copy.deepcopy(learner.options)  # Stable-Baselines3 writes to policy_kwargs
    library = importlib.import_module("sb3_contrib" if learner.algorithm == "RecurrentPPO" else "stable_baselines3")
    if learner.algorithm == "TD3":  # its policy is deterministic: exploration is noise on its actions
        size = envs.action_space.shape or ()
        options["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, 0.2))
    policy: Any = SetActorCritic if learner.policy == "SetActorCritic" else learner.policy
    return getattr(library, learner.algorithm)(policy, envs, seed=seed, device="cpu", **options).learn(steps)


def outcome(learner: Learner, steps: int, seed: int, episodes: int) -> dict[str, Any]:
    """What a learner with a seed earns after training, or the error that it raised; and the minutes that it took."""
    from baselines.rl.vec_env import games_of, play_out

    began = time.monotonic()
    try:
        model = trained(learner, steps, seed)
        envs = ForLearning(games_of(task(TASK), episodes), learner.continuous)
        seeds = range(EVALUATION_SEEDS, EVALUATION_SEEDS + episodes)
        found = play_out(envs, model, seeds, deterministic=not learner.sampled)
    except (ArithmeticError, ValueError, RuntimeError) as error:
        said = str(error).partition("\n")[0]
        return {"error": f"{type(error).__name__}: {said}", "minutes": (time.monotonic() - began) / 60}
    scores = {name: found[name].tolist() for name in SCORES}
    return {"scores": scores, "rounds": int(model.num_timesteps), "minutes": (time.monotonic() - began) / 60}


def run(chosen: Sequence[str], steps: int, seeds: int, episodes: int, out: Path) -> dict[str, list[dict[str, Any]]]:
    """The outcomes of learners by their names, one for each seed; those in the folder ``out`` are read from it."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in chosen}
    with only_writer(out, out / "lock"):
        remove_half_written(out)
        for seed in range(seeds):
            for name in chosen:
                path = out / f"{name.lower().replace(', ', '-').replace(' ', '-')}-{steps}-{episodes}-{seed}.json"
                if not path.exists():
                    result = outcome(LEARNERS[name], steps, seed, episodes)
                    write_whole(path, json.dumps(result).encode())
                found[name].append(json.loads(path.read_text()))
                shown = _cell(found[name][-1:], None)
                print(f"{name}, seed {seed}: {shown} ({found[name][-1]['minutes']:.1f} minutes)", flush=True)
    return found


def _utility(result: dict[str, Any]) -> Floats:
    """Expected utility of every evaluation episode."""
    return np.array(result["scores"]["expected_utility"])


def _mean(values: Floats) -> str:
    return plus_minus(estimate(values), digits=1)


def _cell(results: list[dict[str, Any]], minus: Floats | None) -> str:
    """Mean utility over seeds, less that of another principal in the same episodes."""
    errors = [result["error"] for result in results if "error" in result]
    if errors:
        return f"failed: {errors[0]}"
    base = 0.0 if minus is None else minus
    means = np.array([(_utility(result) - base).mean() for result in results])
    return _mean(means) if means.size > 1 else _mean(_utility(results[0]) - base)


def markdown(found: dict[str, list[dict[str, Any]]], steps: int, episodes: int, command: str) -> str:
    """The table, scripts first."""
    seeds, score = range(EVALUATION_SEEDS, EVALUATION_SEEDS + episodes), ALL_SCORES.index("expected_utility")
    scripts = {name: sums[score, :, -1] for name, sums in compare(SCRIPTS, task=TASK, seeds=seeds).samples.items()}
    zero = scripts["zero"]
    lines = ["| principal | utility | more than `zero` | by seed | minutes |", "|---|---|---|---|---|"]
    for name, own in scripts.items():
        lines.append(f"| `{name}` | {_mean(own)} | {_mean(own - zero) if name != 'zero' else ''} | | |")
    for name, results in found.items():
        each = ", ".join("failed" if "error" in result else f"{_utility(result).mean():.1f}" for result in results)
        minutes = np.mean([result["minutes"] for result in results])
        gained = "" if "failed" in each else _cell(results, zero)
        cells = (name, _cell(results, None), gained, each, f"{minutes:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return (
        f"# Learners from scratch beside scripts\n\nGenerated by\n\n    {command}\n\n"
        f"{TASK}, {steps:,} rounds of training, {episodes:,} evaluation episodes, the same for all. Expected utility:"
        " mean ± half a 95% interval, of a script over episodes, of a learner over seeds if there are ten. Minutes"
        " of training and evaluation"
        " are means over seeds.\n\n" + "\n".join(lines) + "\n"
    )


def show(steps: int, seeds: int, episodes: int, out: Path, table: Path, command: str) -> None:
    """Train what is not trained yet, print the table, and write it to a Markdown file."""
    text = markdown(run(tuple(LEARNERS), steps, seeds, episodes, out), steps, episodes, command)
    write_generated(table, "learners", text)
    print(text)
