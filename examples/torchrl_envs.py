"""The environments in TorchRL, through its own wrappers: one seat with ``GymEnv``, both with ``PettingZooWrapper``.

Plays random rounds and prints what each player earned. Needs TorchRL (``pip install torchrl``).

    python examples/torchrl_envs.py
"""

import argparse
import warnings

import gymnasium as gym
from torchrl.envs import GymEnv, PettingZooWrapper
from torchrl.envs.utils import check_env_specs

import pa_env
from pa_env import principal_agent_v0

gym.register_envs(pa_env)
warnings.filterwarnings("ignore", message="PettingZoo in TorchRL")  # it is tested there with an older PettingZoo


def main(rounds: int) -> None:
    """Play this many rounds of each."""
    principal = GymEnv("PrincipalAgent-v0", n_arms=3, horizon=rounds)
    check_env_specs(principal)
    principal.set_seed(0)
    played = principal.rollout(rounds)
    print(f"one seat: {played.shape[0]} rounds, the principal earned {played['next', 'reward'].sum().item():.2f}")
    both = PettingZooWrapper(principal_agent_v0.parallel_env(n_arms=3, horizon=rounds))
    both.set_seed(0)
    played = both.rollout(rounds)
    earned = [
        played["next", player, "reward"].sum().item() for player in ("principal", "agent")
    ]  # TorchRL groups players by name
    print("both seats: {} rounds, the principal earned {:.2f}, the agent {:.2f}".format(played.shape[0], *earned))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Random rounds in TorchRL.")
    parser.add_argument("--rounds", type=int, default=100, help="rounds to play")
    main(parser.parse_args().rounds)
