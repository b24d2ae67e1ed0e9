"""Train a principal by reinforcement learning, and see what it earns beside scripted ones.

Stable-Baselines3's PPO plays 64 copies of the game at once, in one compiled step. The agent knows its means and likes
least what the principal likes best, so that there is something to bargain for. An action is an arm and a place between
what that arm has refused and accepted (``BracketIncentive``); raw incentives are much harder to learn. The others are
scripts, evaluated by the same function on the same luck. Needs the extra ``[train]``.

    python examples/train_principal.py

In a minute and a half (2 busy cores) it printed (another seed ended at 35.31)

    PPO after 2000000 rounds: 35.68
    zero: 25.61
    explore-then-commit: 28.10
    profit-target: 35.24

The game was picked as one that a plain learner can learn. Where the agent learns too (``agent="empirical-mean"``,
"uniform", 5 arms, 200 rounds) the same recipe ends between zero and profit-target; ``pa-bench train`` starts from that
script instead.
"""

import argparse
from typing import Any

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import baselines
from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import BracketIncentive

GAME: dict[str, Any] = {"n_arms": 3, "horizon": 100, "instance": "misaligned", "agent": "oracle"}
EPISODES = 1000


def game(copies: int) -> Any:
    """Copies of the game in which the principal's actions are incentives."""
    return gym.make_vec("PrincipalAgent-v0", num_envs=copies, autoreset_mode="Disabled", **GAME)


def show(name: str, principal: Any, envs: GameVecEnv) -> None:
    """Print the mean utility of one episode of each copy, with seeds 0, 1, ... whoever plays."""
    envs.seed(0)
    mean, _ = evaluate_policy(principal, envs, n_eval_episodes=envs.num_envs)
    print(f"{name}: {mean:.2f}")


def main(steps: int) -> None:
    """Train, then print the utilities."""
    envs = GameVecEnv(BracketIncentive(game(64)), objective="utility", staggered=True)
    envs.seed(10**6)  # away from the seeds of the evaluation
    options: dict[str, Any] = {"n_steps": 50, "batch_size": 800, "n_epochs": 4, "learning_rate": 1e-3, "gamma": 0.999}
    model = PPO("MlpPolicy", envs, ent_coef=0.01, seed=0, device="cpu", **options)
    model.learn(steps)
    show(f"PPO after {model.num_timesteps} rounds", model, GameVecEnv(BracketIncentive(game(EPISODES))))
    for name in ("zero", "explore-then-commit", "profit-target"):
        show(name, baselines.make(name, n_arms=3, horizon=100), GameVecEnv(game(EPISODES)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a principal with PPO.")
    parser.add_argument("--steps", type=int, default=2_000_000, help="rounds to train on")
    main(parser.parse_args().steps)
