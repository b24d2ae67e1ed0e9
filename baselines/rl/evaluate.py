"""Play a model of Stable-Baselines3 in many games at once."""

import math
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from baselines.tasks import Task
from pa_env.kernel.layout import Floats

SCORES = ("utility", "expected_utility", "regret", "regret_oracle")
TRIAL_SEEDS = 6 * 10**8  # first seed of tables that are looked at while policies are chosen
Z95 = 1.96


def interval(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval."""
    return float(values.mean()), Z95 * float(values.std(ddof=1)) / math.sqrt(values.size)


def games(played: Task, copies: int) -> Any:
    """Copies of a task's game that begin no episode by themselves."""
    linear: dict[str, Any] = {"dim": played.dim} if played.dim else {}
    return gym.make_vec(
        *("PrincipalAgentLinear-v0" if linear else "PrincipalAgent-v0", copies),
        n_arms=played.n_arms,
        horizon=played.horizon,
        instance=played.instance,
        agent=played.make_agent(),
        autoreset_mode="Disabled",
        **linear,
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
