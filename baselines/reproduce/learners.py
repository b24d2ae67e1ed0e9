"""Reinforcement learning from scratch beside scripts: several learners, equal budgets, several seeds.

Every learner plays the same task through :func:`pa_env.wrappers.ForLearning` and is given the same number of rounds.
Those with discrete actions choose a rung of an arm's ladder of prices, the others (SAC, TD3) use ``continuous=True``.
PPO has the constants of :mod:`baselines.rl.training`. The settings of the others were not searched for: they are
Stable-Baselines3's, but for those in ``LEARNERS``. Policies that are random by design are sampled from when they are
evaluated, as in training.

A learner that raises an error is shown as failed, with the error.
"""

import copy
import functools
import importlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import estimate
from baselines.comparison import compare
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study
from baselines.rl.evaluate import PLAYED_SCORES, games_of, play_out
from baselines.tasks import task
from pa_env.kernel.layout import SCORES, Floats
from pa_env.wrappers import ForLearning

TASK = "k5-t200-uniform"
SCRIPTS = ("zero", "profit-target", "bracket-ucb", "particle")
EVALUATION_SEEDS, TRAINING_SEEDS = 5 * 10**8, 10**9  # first ones, far from those of tuning and comparisons
STEPS, SEEDS, EPISODES = 2_000_000, 3, 1000  # rounds of training, seeds of each learner, episodes of each evaluation
QUICK_STEPS, QUICK_EPISODES = 2000, 20


@dataclass(frozen=True)
class Learner:
    """An algorithm of Stable-Baselines3 with its settings."""

    algorithm: str
    policy: str = "MlpPolicy"
    options: dict[str, Any] = field(default_factory=dict)
    copies: int = 64
    continuous: bool = False
    sampled: bool = True
    scale: float | None = 0.7  # of rewards; None: that of baselines.rl.training


ON_POLICY: dict[str, Any] = {"gamma": 0.9995, "gae_lambda": 0.97, "ent_coef": 0.006}
PPO: dict[str, Any] = ON_POLICY | {"n_steps": 25, "batch_size": 1600, "n_epochs": 2, "learning_rate": 2e-3}
OFF_POLICY: dict[str, Any] = {"buffer_size": 200_000, "batch_size": 256, "gradient_steps": 4, "train_freq": 1}
OFF_POLICY |= {"learning_starts": 10_000, "gamma": 0.99, "policy_kwargs": {"net_arch": [64, 64]}}  # as large as PPO's
LEARNERS = {
    "PPO, equivariant": Learner(
        "PPO", "SetActorCritic", PPO | {"policy_kwargs": {"width": 32, "deep": True}}, copies=512, scale=None
    ),
    "PPO, MLP": Learner("PPO", options=PPO, copies=512, scale=None),
    "A2C": Learner("A2C", options=ON_POLICY | {"n_steps": 20}),
    "recurrent PPO": Learner(
        "RecurrentPPO", "MlpLstmPolicy", PPO | {"policy_kwargs": {"lstm_hidden_size": 64}}, copies=512, scale=None
    ),
    "DQN": Learner("DQN", options=OFF_POLICY | {"exploration_fraction": 0.5}, sampled=False),
    "SAC": Learner("SAC", options=OFF_POLICY, continuous=True),
    "TD3": Learner("TD3", options=OFF_POLICY, continuous=True, sampled=False),
}


def trained(learner: Learner, steps: int, seed: int) -> Any:
    """A model that has learned for so many rounds."""
    import torch
    from stable_baselines3.common.noise import NormalActionNoise

    from baselines.rl.networks import SetActorCritic
    from baselines.rl.training import falling_rate
    from baselines.rl.vec_env import GameVecEnv

    torch.set_num_threads(1)
    games = ForLearning(games_of(task(TASK), learner.copies), learner.continuous)
    envs = GameVecEnv(games, "utility", learner.scale, staggered=True)
    envs.seed(TRAINING_SEEDS + seed * learner.copies)
    options = copy.deepcopy(learner.options)  # Stable-Baselines3 writes to policy_kwargs
    library = importlib.import_module("sb3_contrib" if learner.algorithm == "RecurrentPPO" else "stable_baselines3")
    if learner.algorithm == "TD3":  # its policy is deterministic: exploration is noise on its actions
        size = envs.action_space.shape or ()
        options["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, 0.2))
    if "PPO" in learner.algorithm:
        options["learning_rate"] = functools.partial(falling_rate, options["learning_rate"])
    policy: Any = SetActorCritic if learner.policy == "SetActorCritic" else learner.policy
    return getattr(library, learner.algorithm)(policy, envs, seed=seed, device="cpu", **options).learn(steps)


def outcome(learner: Learner, steps: int, seed: int, episodes: int) -> dict[str, Any]:
    """What a learner with a seed earns after training, or the error that it raised; and the minutes that it took."""
    start = time.monotonic()
    try:
        model = trained(learner, steps, seed)
        envs = ForLearning(games_of(task(TASK), episodes), learner.continuous)
        seeds = range(EVALUATION_SEEDS, EVALUATION_SEEDS + episodes)
        sums = play_out(envs, model, seeds, deterministic=not learner.sampled)
    except (ArithmeticError, ValueError, RuntimeError) as error:
        message = str(error).partition("\n")[0]
        return {"error": f"{type(error).__name__}: {message}", "minutes": (time.monotonic() - start) / 60}
    scores = {name: sums[name].tolist() for name in PLAYED_SCORES}
    return {"scores": scores, "rounds": int(model.num_timesteps), "minutes": (time.monotonic() - start) / 60}


def sizes(study: Study) -> tuple[int, int, int]:
    """Rounds of training, seeds and episodes."""
    return (QUICK_STEPS, 1, QUICK_EPISODES) if study.quick else (STEPS, study.seeds or SEEDS, EPISODES)


def measurements(study: Study) -> dict[tuple[str, int], Measurement]:
    """Every learner with every seed."""
    steps, seeds, episodes = sizes(study)
    return {
        (name, seed): Measurement(
            f"{name}, {steps} rounds, {episodes} episodes, seed {seed}", outcome, (learner, steps, seed, episodes)
        )
        for seed in range(seeds)
        for name, learner in LEARNERS.items()
    }


def plan(study: Study) -> Iterator[Measurement]:
    """All learners with one seed before the next."""
    import sb3_contrib  # noqa: F401 - if it is missing, its extra is named before hours of play

    yield from measurements(study).values()


def _utility(result: dict[str, Any]) -> Floats:
    """Expected utility of every evaluation episode."""
    return np.array(result["scores"]["expected_utility"])


def _mean(values: Floats) -> str:
    return plus_minus(estimate(values), digits=1)


def _cell(results: list[dict[str, Any]], minus: Floats | None) -> str:
    """Mean utility over seeds and episodes, less that of another principal in the same episodes."""
    errors = [result["error"] for result in results if "error" in result]
    if errors:
        return f"failed: {errors[0]}"
    base = 0.0 if minus is None else minus
    return _mean(np.mean([_utility(result) for result in results], axis=0) - base)


def page(evidence: Evidence, _: Path) -> list[str]:
    """The table, scripts first."""
    steps, n_seeds, episodes = sizes(evidence.study)
    outcomes: dict[str, list[dict[str, Any]]] = {}
    for (name, _seed), measurement in measurements(evidence.study).items():
        outcomes.setdefault(name, []).append(evidence.values[measurement.name])
    seeds, score = range(EVALUATION_SEEDS, EVALUATION_SEEDS + episodes), SCORES.index("expected_utility")
    scripts = {name: sums[score, :, -1] for name, sums in compare(SCRIPTS, task=TASK, seeds=seeds).samples.items()}
    zero = scripts["zero"]
    lines = ["| principal | utility | more than `zero` | by seed | minutes |", "|---" * 5 + "|"]
    for name, earned in scripts.items():
        lines.append(f"| `{name}` | {_mean(earned)} | {_mean(earned - zero) if name != 'zero' else ''} | | |")
    for name, results in outcomes.items():
        each = ", ".join("failed" if "error" in result else f"{_utility(result).mean():.1f}" for result in results)
        minutes = np.mean([result["minutes"] for result in results])
        gained = "" if "failed" in each else _cell(results, zero)
        cells = (name, _cell(results, None), gained, each, f"{minutes:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return [
        f"{TASK}, {steps:,} rounds of training, {n_seeds} seeds, {episodes:,} evaluation episodes, the same for all."
        " Expected utility: mean ± half a 95% interval, of a script over episodes. A learner's is over the episodes of"
        " its seeds, each episode averaged over the seeds, so that it does not cover the luck of training: `by seed`"
        " shows that. Minutes of training and evaluation are means over seeds.",
        "\n".join(lines),
        "## Settings",
        "All play copies of the game side by side through `pa_env.wrappers.ForLearning`; what is not listed is"
        " Stable-Baselines3's default. Only PPO's were searched for, with another interface ([training](training.md))."
        " Its learning rate, recurrent or not, falls to 0 over the last 40% of the rounds.",
        "\n".join(settings()),
    ]


def settings() -> Iterator[str]:
    """The hyper-parameters of every learner, a line for each."""
    yield "| learner | algorithm | policy | copies | actions | evaluated | rewards times | options |"
    yield "|---" * 8 + "|"
    for name, learner in LEARNERS.items():
        actions = "continuous" if learner.continuous else "rungs of prices"
        options = ", ".join(f"{key} = {value}" for key, value in learner.options.items())
        options += ", action noise N(0, 0.2)" if learner.algorithm == "TD3" else ""
        evaluated = "sampled" if learner.sampled else "likeliest"
        scale = "1/sqrt(T)" if learner.scale is None else f"{learner.scale}"
        cells = (learner.algorithm, learner.policy, str(learner.copies), actions, evaluated, scale, options)
        yield f"| {name} | {' | '.join(cells)} |"


CLAIM = Claim(
    "learners",
    "Learners from scratch beside scripts",
    "PPO, A2C, recurrent PPO, DQN, SAC and TD3 trained from scratch, beside scripts.",
    plan,
    page,
)
