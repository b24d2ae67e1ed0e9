"""Train a principal from scratch with Stable-Baselines3's PPO, and see what it earns beside scripted ones.

The game is the default one, with 200 rounds: 5 arms, means drawn uniformly, an agent that learns from its own rewards.
PPO plays 512 copies at once, in one compiled step. ``ForLearning`` gives it a ladder of prices for each arm and
observations of order 1; with raw incentives it learns to offer nothing. The scripts are evaluated by the same function
on the same episodes. Trained policies are sampled from, as in training: their likeliest actions alone try too few arms.
Needs the extra ``[train]``.

    python examples/train_principal.py

In 11 minutes of CPU time it printed

    zero: 99.1
    profit-target: 116.0
    bracket-ucb: 117.9
    PPO, MlpPolicy, after 12032000 rounds: 117.5
    PPO, equivariant, after 12032000 rounds: 121.3
"""

import argparse
from typing import Any

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import baselines
from baselines.rl.networks import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import ForLearning


def games(copies: int) -> Any:
    """Copies of the game in which the principal's actions are incentives."""
    return gym.make_vec("PrincipalAgent-v0", num_envs=copies, n_arms=5, horizon=200, autoreset_mode="Disabled")


def show(name: str, principal: Any, envs: GameVecEnv) -> None:
    """Print the mean utility of one episode of each copy, the same episodes whoever plays."""
    envs.seed(10**6)  # away from the seeds of training, 0 to 511
    print(f"{name}: {evaluate_policy(principal, envs, envs.num_envs, deterministic=False)[0]:.1f}", flush=True)


def fade(local: dict[str, Any], _: Any) -> bool:
    """Lower the bonus for random actions to 0 in the course of training."""
    local["self"].ent_coef = 0.01 * max(0.0, 1 - local["self"].num_timesteps / local["total_timesteps"])
    return True


def main(steps: int) -> None:
    """Print what scripts earn; train two policies, and print what they earn."""
    for name in ("zero", "profit-target", "bracket-ucb"):
        show(name, baselines.make(name, n_arms=5, horizon=200), GameVecEnv(games(1000)))
    options: dict[str, Any] = {"n_steps": 100, "batch_size": 6400, "n_epochs": 4, "gamma": 0.9995, "gae_lambda": 0.97}
    for name, policy in (("MlpPolicy", "MlpPolicy"), ("equivariant", SetActorCritic)):
        envs = GameVecEnv(ForLearning(games(512)), objective="utility", scale=0.7, staggered=True)
        model = PPO(policy, envs, lambda left: min(1e-3, 4e-3 * left), **options, seed=0, device="cpu")
        model.learn(steps, fade)
        show(f"PPO, {name}, after {model.num_timesteps} rounds", model, GameVecEnv(ForLearning(games(1000))))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a principal with PPO.")
    parser.add_argument("--steps", type=int, default=12_000_000, help="rounds to train each policy on")
    main(parser.parse_args().steps)
