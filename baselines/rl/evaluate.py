"""Play a model in many games of a task at once. Needs no library that trains."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv

import pa_env  # noqa: F401 - registers the environments
from baselines.registry import resolve_agent, resolve_instance
from baselines.tasks import Task
from pa_env.game import Game
from pa_env.kernel.layout import Floats, SummaryBlock, block_columns

Games = VectorEnv[Any, Any, Any]  # a batched game, bare or wrapped
PLAYED_SCORES = ("utility", "expected_utility", "regret", "regret_oracle")
OFFER = "offer"  # the largest incentive of an offer: what a model that offers nothing has none of
TRIAL_SEEDS = 6 * 10**8  # first seed of tables that are looked at while policies are chosen


def games_of(task: Task, copies: int) -> Games:
    """Return copies of a task's game that begin no episode by themselves."""
    linear: dict[str, Any] = {"dim": task.dim} if task.dim else {}
    return gym.make_vec(
        *("PrincipalAgentLinear-v0" if linear else "PrincipalAgent-v0", copies),
        n_arms=task.n_arms,
        horizon=task.horizon,
        instance=resolve_instance(task.instance),
        agent=resolve_agent(task.agent),
        autoreset_mode="Disabled",
        **linear,
    )


def game_of(games: Games) -> Game:
    """Return the game behind its interface."""
    game: Game = games.unwrapped.game  # type: ignore[attr-defined] # ours has one
    return game


def horizon_of(games: Games) -> int:
    """Return the horizon of a batched game."""
    return game_of(games).horizon


def play_out(games: Games, model: Any, seeds: Sequence[int], deterministic: bool = True) -> dict[str, Floats]:
    """Return the sums of the scores (copies,) in one episode of each copy under a model, and of its offers.

    Args:
        games: the batched game, bare or wrapped, with autoreset_mode="Disabled".
        model: a Stable-Baselines3 model, or whatever predicts as they do.
        seeds: one for each copy.
        deterministic: play the model's likeliest actions; else actions are drawn.
    """
    observations, _ = games.reset(seed=list(seeds))  # type: ignore[arg-type] # ours takes a list
    game = game_of(games)
    sums = {score: np.zeros(games.num_envs) for score in (*PLAYED_SCORES, OFFER)}
    state, starts = None, np.ones(games.num_envs, np.bool_)
    for _ in range(game.horizon):
        actions, state = model.predict(observations, state, starts, deterministic)
        observations, _, _, _, info = games.step(actions)
        starts = np.zeros(games.num_envs, np.bool_)
        for score in PLAYED_SCORES:
            sums[score] += info[score]
        sums[OFFER] += game.summary[:, block_columns(SummaryBlock.OFFER, game.n_arms)].max(axis=1)
    return sums
