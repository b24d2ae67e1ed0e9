"""Clone a scripted principal into a network, then let PPO improve on it.

The script, ``bracket-ucb``, pays one arm at a time; the network is shown which of ``BracketIncentive``'s actions come
nearest to what it does in 512 episodes. PPO goes on from there: its critic learns first, since one that knows nothing
may spoil a good start. The game is that of ``train_principal.py``, which starts from nothing. Needs the extra
``[train]``.

    python examples/clone_then_train.py

In a minute (2 busy cores) it printed (another seed ended at 37.34)

    script: 34.64
    clone: 34.05
    clone after 601600 rounds of PPO: 37.02

which are mean utilities of 1000 episodes. From nothing, ``train_principal.py`` ended at 35.68 after 2000000 rounds.
"""

import argparse
from typing import Any

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import baselines
from baselines.rl.cloning import clone, demonstrations
from baselines.rl.features import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from pa_env.wrappers import BracketIncentive

ARMS, HORIZON = 3, 100
WARM_UP = 64_000  # rounds in which the critic alone learns


def game(copies: int) -> Any:
    """Copies of the game in which the principal's actions are incentives."""
    settings: dict[str, Any] = {"instance": "misaligned", "agent": "oracle", "autoreset_mode": "Disabled"}
    return gym.make_vec("PrincipalAgent-v0", num_envs=copies, n_arms=ARMS, horizon=HORIZON, **settings)


def show(name: str, principal: Any, envs: Any) -> None:
    """Print the mean utility of one episode of each copy, with seeds 0, 1, ... whoever plays, drawing its actions."""
    played = GameVecEnv(envs)
    played.seed(0)
    mean, _ = evaluate_policy(principal, played, n_eval_episodes=played.num_envs, deterministic=False)
    print(f"{name}: {mean:.2f}", flush=True)


def main(steps: int, episodes: int) -> None:
    """Clone, train, and print the utilities on the way."""
    script = baselines.make("bracket-ucb", n_arms=ARMS, horizon=HORIZON)
    show("script", script, game(episodes))
    envs = GameVecEnv(BracketIncentive(game(64)), objective="utility", staggered=True)
    envs.seed(10**6)  # away from the seeds of the evaluation
    options: dict[str, Any] = {"n_steps": 100, "batch_size": 1600, "n_epochs": 4, "learning_rate": 1e-3}
    options |= {"gamma": 0.9995, "policy_kwargs": {"n_arms": ARMS}}
    model = PPO(SetActorCritic, envs, seed=0, device="cpu", **options)
    policy: Any = model.policy
    clone(policy, *demonstrations(script, BracketIncentive(game(min(512, episodes))), seed=2 * 10**6))
    show("clone", model, BracketIncentive(game(episodes)))
    policy.learn_actions(False)
    model.learn(min(WARM_UP, steps))
    policy.learn_actions(True)
    model.learn(steps)
    show(f"clone after {model.num_timesteps} rounds of PPO", model, BracketIncentive(game(episodes)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Clone a script, then train the clone.")
    parser.add_argument("--steps", type=int, default=600_000, help="rounds to train on")
    parser.add_argument("--episodes", type=int, default=1000, help="episodes to learn from and to be scored on")
    arguments = parser.parse_args()
    main(arguments.steps, arguments.episodes)
