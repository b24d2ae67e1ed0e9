"""Both seats learn at once with RLlib, which takes the PettingZoo environment as it is: one policy for each player.

Arm 0 is worth 0.9 to the principal and 0.2 to the agent, arm 1 is worth 0.1 and 0.6. At first the principal pays about
0.5 for both arms, whatever is played, and makes a loss. Needs the extra ``[ray]`` and PyTorch (``[train]``).

    python examples/rllib_both_seats.py

In two and a half minutes (2 busy cores) a run printed (some lines left out; RLlib keeps its logs in ``~/ray_results``)

    iteration   principal's utility   agent's return   (per round)
            1                -0.008            0.866
           10                 0.067            0.819
           20                 0.184            0.751
           30                 0.257            0.770

The principal learns to pay less. It could still earn more: from a greedy agent 0.5, for an incentive of 0.4.
"""

# RLlib has few types.
# mypy: allow-untyped-calls

import argparse
import logging
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

import pa_env
from pa_env import principal_agent_v0

PLAYERS = ("principal_0", "agent_0")
HORIZON = 20


def make_env(settings: dict[str, Any]) -> PettingZooEnv:
    """The game, for RLlib."""
    instance = pa_env.IID(mu=[0.2, 0.6], theta=[0.9, 0.1])
    return PettingZooEnv(principal_agent_v0.env(instance=instance, agent="oracle", max_incentive=1.0, **settings))


def main(iterations: int, batch: int) -> None:
    """Train both, and print how they fare."""
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it warns about its own internals
    register_env("principal_agent", make_env)
    config = (
        PPOConfig()
        .environment("principal_agent", env_config={"horizon": HORIZON})
        .env_runners(num_env_runners=0)
        .multi_agent(policies=PLAYERS, policy_mapping_fn=lambda player, *_, **__: player)
        .training(train_batch_size_per_learner=batch, minibatch_size=batch // 4, num_epochs=8, lr=2e-3, gamma=0.9)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    print("iteration   principal's utility   agent's return   (per round)")
    for iteration in range(1, iterations + 1):
        returns = algorithm.train()["env_runners"]["agent_episode_returns_mean"]
        if iteration == 1 or iteration % 5 == 0 or iteration == iterations:
            utility, gain = (returns[player] / HORIZON for player in PLAYERS)
            print(f"{iteration:9} {utility:21.3f} {gain:16.3f}")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train both seats with RLlib.")
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--batch", type=int, default=2000, help="turns to play in each iteration")
    arguments = parser.parse_args()
    main(arguments.iterations, arguments.batch)
