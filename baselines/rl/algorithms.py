"""The learners: PPO, SAC and recurrent PPO of Stable-Baselines3 on the steered game, and what is kept of them.

PPO and SAC train the same network (:class:`baselines.rl.features.SetBody` and ``SetHead``), which is what a policy file
holds. Their critics see the privileged blocks of the observation, the actors do not; neither does any part of recurrent
PPO, whose memory no policy file holds: its best model stays in Stable-Baselines3's own format.
"""

import importlib.metadata
import math
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.sac.policies import Actor, SACPolicy
from torch import Tensor, nn

from baselines.rl.beliefs import FIELDS, GLOBALS, OVERALL, PRIVILEGED, Steered
from baselines.rl.features import SetActorCritic, SetBody, SetHead
from baselines.rl.policy_file import FORMAT, Policy
from baselines.rl.vec_env import GameVecEnv
from baselines.tasks import Task
from pa_env.checks import known

WIDTH = 16
LOG_NOISE = -2.5  # log of the first standard deviation of actions: the script is good, and noise costs
ALGORITHMS = ("ppo", "sac", "recurrent-ppo")
COPIES = {"ppo": 512, "sac": 64, "recurrent-ppo": 128}
ROLLOUT = 128  # steps of each copy between updates, at most


def steered(task: Task, copies: int, parameters: dict[str, float]) -> Steered:
    """The batched game of a task, steered, with what a critic may see."""
    game = gym.make_vec(
        *("PrincipalAgent-v0", copies),
        n_arms=task.n_arms,
        horizon=task.horizon,
        instance=task.instance,
        agent=task.make_agent(),
        autoreset_mode="Disabled",
    )
    return Steered(game, privileged=True, **parameters)  # type: ignore[arg-type] # the batched entry point


def training_env(task: Task, algo: str, objective: str, parameters: dict[str, float]) -> GameVecEnv:
    """Where a policy is trained; rewards are scaled so that an episode's sum is of order 1 to 10."""
    envs = steered(task, COPIES[algo], parameters)
    return GameVecEnv(envs, objective, scale=10.0 / math.sqrt(task.horizon), staggered=True)


class Shown(BaseFeaturesExtractor):
    """The part of a steered observation that a principal may see."""

    def __init__(self, observation_space: gym.Space[Any], n_arms: int) -> None:
        super().__init__(observation_space, FIELDS * n_arms + GLOBALS)

    def forward(self, observations: Tensor) -> Tensor:
        """Without the privileged blocks, which stand last."""
        return observations[:, : self.features_dim]


class SetActor(Actor):
    """SAC's actor with the equivariant network."""

    def __init__(self, *arguments: Any, n_arms: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        body, mean, spread = (
            SetBody(n_arms, FIELDS, GLOBALS, WIDTH),
            SetHead(WIDTH, OVERALL, 1),
            SetHead(WIDTH, OVERALL, 1),
        )
        self.latent_pi, self.mu, self.log_std = body, mean, spread  # type: ignore[assignment]
        for head, first in ((mean, 0.0), (spread, LOG_NOISE)):
            for name, parameter in head.named_parameters():
                nn.init.normal_(parameter, mean=first if name.endswith("bias") else 0.0, std=1e-3)


class SetSACPolicy(SACPolicy):
    """SAC's policy with the equivariant actor; its critics are perceptrons that see everything."""

    def __init__(self, *arguments: Any, n_arms: int, **options: Any) -> None:
        self.n_arms = n_arms
        super().__init__(*arguments, **options)

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> Actor:
        """The actor that SAC trains."""
        options = self._update_features_extractor(self.actor_kwargs, features_extractor)
        return SetActor(**options, n_arms=self.n_arms).to(self.device)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"n_arms": self.n_arms}


def new_model(algo: str, env: GameVecEnv, seed: int, log_noise: float = LOG_NOISE) -> BaseAlgorithm:
    """A learner that plays like the script at first, with noise on its actions (SAC finds its own)."""
    known("algo", algo, ALGORITHMS)
    n_arms, horizon = env.action_space.shape[0] - OVERALL, env.horizon  # type: ignore[index]
    n_steps = min(ROLLOUT, horizon)
    common: dict[str, Any] = {"gamma": 0.9995, "seed": seed, "device": "cpu"}
    if algo == "sac":
        return SAC(
            *(SetSACPolicy, env),
            **common,
            learning_rate=3e-4,
            buffer_size=200_000,
            batch_size=1024,
            gradient_steps=4,
            learning_starts=10_000,
            ent_coef=0.001,
            policy_kwargs={"n_arms": n_arms, "net_arch": [64, 64]},
        )
    # What is learned early pays for long: credit reaches back a tenth of a long episode.
    common |= {"n_steps": n_steps, "gae_lambda": max(0.95, 1.0 - 10.0 / horizon), "n_epochs": 4, "learning_rate": 1e-3}
    common["batch_size"] = env.num_envs * n_steps // 8
    if algo == "ppo":
        layout = {"n_arms": n_arms, "width": WIDTH, "fields": FIELDS, "overall": GLOBALS, "hidden": PRIVILEGED}
        layout["overall_actions"] = OVERALL
        return PPO(SetActorCritic, env, **common, policy_kwargs=layout | {"log_std_init": log_noise})
    from sb3_contrib import RecurrentPPO

    options = {"features_extractor_class": Shown, "features_extractor_kwargs": {"n_arms": n_arms}}
    options |= {"lstm_hidden_size": 64, "net_arch": [64], "log_std_init": log_noise}
    return RecurrentPPO("MlpLstmPolicy", env, **common, policy_kwargs=options)


def model_class(algo: str) -> type[BaseAlgorithm]:
    """The class that reads a checkpoint."""
    if algo == "recurrent-ppo":
        from sb3_contrib import RecurrentPPO

        return RecurrentPPO
    return SAC if algo == "sac" else PPO


def network(model: BaseAlgorithm) -> tuple[nn.Module, nn.Module, str] | None:
    """Body, head and squash of the policy, if a policy file can hold it."""
    policy = model.policy
    if isinstance(policy, SetActorCritic):
        return policy.mlp_extractor.actor, policy.action_net, "clip"  # type: ignore[return-value]
    if isinstance(policy, SetSACPolicy):
        return policy.actor.latent_pi, policy.actor.mu, "tanh"
    return None


def take_over(model: BaseAlgorithm, policy: Policy) -> None:
    """Let a model's policy begin as the one of a policy file."""
    parts = network(model)
    if parts is None or policy.metadata["width"] != WIDTH:
        raise ValueError(f"a policy of {policy.metadata['algo']} with width {policy.metadata['width']} does not fit in")
    for module in parts[:2]:
        module.load_state_dict({name: torch.from_numpy(policy.weights[name]) for name in module.state_dict()})


def policy_of(model: BaseAlgorithm, about: dict[str, Any]) -> Policy | None:
    """What a policy file holds of a model, with these metadata among others, or None where it cannot."""
    parts = network(model)
    if parts is None:
        return None
    packages = ("numpy", "torch", "stable-baselines3")
    metadata = about | {
        "format": FORMAT,
        "steps": int(model.num_timesteps),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "action": "steered",
        "squash": parts[2],
        "width": WIDTH,
    }
    layers = parts[0].state_dict() | parts[1].state_dict()
    return Policy(metadata, {name: layer.numpy().astype(np.float32) for name, layer in layers.items()})
