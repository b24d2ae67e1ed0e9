"""Train a principal from scratch with Stable-Baselines3's PPO, and see what it earns beside scripted ones.

The game is the default one, with 200 rounds: 5 arms, means drawn uniformly, an agent that learns from its own rewards.
PPO plays 512 copies at once, in one compiled step. ``ForLearning`` gives it a ladder of prices for each arm and
observations of order 1; with raw incentives it learns to offer nothing. The scripts are evaluated by the same function
on the same luck. Needs the extra ``[train]``.

    python examples/train_principal.py --policy MlpPolicy
"""

import argparse
from typing import Any

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import baselines
from baselines.rl.features import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import ForLearning

POLICIES: dict[str, Any] = {"equivariant": SetActorCritic, "MlpPolicy": "MlpPolicy"}


def games(copies: int) -> Any:
    """Copies of the game in which the principal's actions are incentives."""
    return gym.make_vec("PrincipalAgent-v0", num_envs=copies, n_arms=5, horizon=200, autoreset_mode="Disabled")


def show(name: str, principal: Any, envs: GameVecEnv) -> None:
    """Print the mean utility of one episode of each copy, with seeds 0, 1, ... whoever plays."""
    envs.seed(0)
    print(f"{name}: {evaluate_policy(principal, envs, n_eval_episodes=envs.num_envs)[0]:.1f}")


def main(policy: str, steps: int) -> None:
    """Train, then print the utilities."""
    envs = GameVecEnv(ForLearning(games(512)), objective="utility", scale=0.7, staggered=True)
    envs.seed(10**6)  # away from the seeds of the evaluation
    rollout: dict[str, Any] = {"n_steps": 100, "batch_size": 6400, "n_epochs": 4, "gamma": 0.9995, "gae_lambda": 0.97}
    updates: dict[str, Any] = {"learning_rate": lambda left: 1e-3 * left, "ent_coef": 0.005}
    model = PPO(POLICIES[policy], envs, **rollout, **updates, seed=0, device="cpu").learn(steps)
    for name in ("zero", "profit-target", "bracket-ucb"):
        show(name, baselines.make(name, n_arms=5, horizon=200), GameVecEnv(games(1000)))
    show(f"{policy} after {model.num_timesteps} rounds", model, GameVecEnv(ForLearning(games(1000))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a principal with PPO.")
    parser.add_argument("--policy", default="equivariant", choices=POLICIES)
    parser.add_argument("--steps", type=int, default=8_000_000, help="rounds to train on")
    main(**vars(parser.parse_args()))
