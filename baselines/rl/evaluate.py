"""Play a model in many games of a task at once, in either seat. Needs no library that trains."""

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv

import pa_env  # noqa: F401 - registers the environments
from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import estimate
from baselines.registry import make
from baselines.rl.agent_seat import PAYOFF, Replayed, WithHistory
from baselines.simulation import simulate
from baselines.tasks import Task, settings
from pa_env.checks import short
from pa_env.envs.spaces import FAR
from pa_env.game import Game
from pa_env.kernel.layout import ArmRow, Floats

Games = VectorEnv[Any, Any, Any]  # a batched game, bare or wrapped
PLAYED_SCORES = ("utility", "expected_utility", "regret", "regret_oracle")
TRIAL_SEEDS = 6 * 10**8  # first seed of tables that are looked at while policies are chosen


def games_of(task: Task, copies: int) -> Games:
    """Return copies of a task's game that begin no episode by themselves."""
    return gym.make_vec("PrincipalAgent-v0", copies, autoreset_mode="Disabled", **settings(task))


def follower_games(task: Task, against: str, copies: int) -> WithHistory:
    """Return copies of the agent's seat in a task's game, against a principal (its spec)."""
    principal = make(against, n_arms=task.n_arms, horizon=task.horizon)
    if type(principal).privileged:
        raise ValueError(f"against = {short(against)} is shown the agent's beliefs: name a principal that is not")
    seat: dict[str, Any] = {"principal": Replayed(principal), "max_incentive": FAR, **settings(task)}
    return WithHistory(gym.make_vec("PrincipalAgentFollower-v0", copies, autoreset_mode="Disabled", **seat))


def game_of(games: Games) -> Game:
    """Return the game behind its interface."""
    game: Game = games.unwrapped.game  # type: ignore[attr-defined] # ours has one
    return game


def play_out(games: Games, model: Any, seeds: Sequence[int], deterministic: bool = True) -> dict[str, Floats]:
    """Return the sums of the scores (copies,) in one episode of each copy under a model.

    ``PAYOFF`` is 0 unless the model plays the agent.

    Args:
        games: the batched game, bare or wrapped, with autoreset_mode="Disabled".
        model: a Stable-Baselines3 model, or whatever predicts as they do.
        seeds: one for each copy.
        deterministic: play the model's likeliest actions; else actions are drawn.
    """
    observations, _ = games.reset(seed=list(seeds))  # type: ignore[arg-type] # ours takes a list
    sums = {score: np.zeros(games.num_envs) for score in (*PLAYED_SCORES, PAYOFF)}
    state, starts = None, np.ones(games.num_envs, np.bool_)
    for _ in range(game_of(games).horizon):
        actions, state = model.predict(observations, state, starts, deterministic)
        observations, _, _, _, info = games.step(actions)
        starts = np.zeros(games.num_envs, np.bool_)
        for score in sums:
            sums[score] += info.get(score, 0.0)
    return sums


def payoffs(principal: str, agent: Any, task: Task, seeds: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the expected payoffs of an agent (episodes,), sums of mu_A + pi_A, and the principal's expected utilities.

    Args:
        principal: its spec.
        agent: a name, a policy file, or an agent.
        task: the game; its agent does not matter.
        seeds: of the episodes.
    """
    run = simulate(principal, task.instance, agent, task.horizon, seeds=seeds, n_arms=task.n_arms)
    utilities: Floats = run.expected_utility[:, -1]
    game = Game(**settings(task), copies=len(seeds), observe=False)
    game.begin(seeds=list(seeds))
    # What is paid is the principal's expected reward less its utility.
    joint = game.arrays.arms[:, ArmRow.MU] + game.arrays.arms[:, ArmRow.THETA]
    return (run.plays[:, -1] * joint).sum(axis=1) - utilities, utilities


def payoff_table(principal: str, agents: Mapping[str, Any], task: Task, seeds: Sequence[int]) -> str:
    """Return what agents earn against a principal, and what they leave it, as lines of text.

    Args:
        principal: its spec.
        agents: by their labels; see :func:`payoffs`.
        task: the game.
        seeds: of the episodes, the same for all.
    """
    lines = [f"{task.name}, {principal}: {len(seeds):,} episodes of each agent; means with 95% intervals"]
    for name, agent in agents.items():
        payoff, utility = (plus_minus(estimate(sums)) for sums in payoffs(principal, agent, task, seeds))
        lines.append(f"  {name}: payoff {payoff}, utility of the principal {utility}")
    return "\n".join(lines)
