"""A principal trained by TorchRL's PPO, with its environment and losses; then it plays in ``compare``.

One environment at a time is slow: this shows how the parts fit, and few rounds teach little. Needs TorchRL (``pip
install torchrl``) and the extra ``[bench]``.

    python examples/torchrl_ppo.py
"""

import argparse

import gymnasium as gym
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torch.distributions import Categorical
from torchrl.envs import GymWrapper
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import baselines
import pa_env
from pa_env.wrappers import ForLearning

gym.register_envs(pa_env)
ARMS, HORIZON, BATCH, EPOCHS, PARTS = 5, 200, 1000, 4, 4


def network(outputs: int) -> nn.Module:
    """Return a perceptron of observations."""
    return nn.Sequential(nn.LazyLinear(64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


def main(steps: int, seed: int) -> None:
    """Train, print what is earned on the way, and compare."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    env = GymWrapper(
        ForLearning(gym.make("PrincipalAgent-v0", n_arms=ARMS, horizon=HORIZON)), categorical_action_encoding=True
    )
    env.set_seed(10**9 + seed)
    logits = TensorDictModule(network(5 * ARMS), in_keys=["observation"], out_keys=["logits"])
    actor = ProbabilisticActor(
        logits, in_keys=["logits"], spec=env.action_spec, distribution_class=Categorical, return_log_prob=True
    )
    critic = ValueOperator(network(1), in_keys=["observation"])
    for module in (actor, critic):
        module(env.reset())  # tells lazy layers their sizes
    advantage = GAE(gamma=0.9995, lmbda=0.97, value_network=critic, average_gae=True)
    loss = ClipPPOLoss(actor, critic)
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for _ in range(max(1, steps // BATCH)):
        with torch.no_grad():
            batch = env.rollout(BATCH, actor, break_when_any_done=False)
        for _ in range(EPOCHS):
            advantage(batch)
            for part in torch.randperm(len(batch)).chunk(PARTS):
                losses = loss(batch[part])
                optimizer.zero_grad()
                (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
                optimizer.step()
        print(f"utility of an episode: {batch['next', 'reward'].mean().item() * HORIZON:.1f}", flush=True)

    def act(seen: object) -> int:
        with torch.no_grad():
            return int(actor(TensorDict({"observation": torch.as_tensor(seen)}))["action"])

    principal = baselines.from_policy(act, ForLearning, n_arms=ARMS, horizon=HORIZON)
    print(baselines.compare({"TorchRL": principal, "zero": "zero"}, "k5-t200-uniform", seeds=20, workers=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a principal with TorchRL.")
    parser.add_argument("--steps", type=int, default=40_000, help="rounds to train on")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same policy")
    arguments = parser.parse_args()
    main(arguments.steps, arguments.seed)
