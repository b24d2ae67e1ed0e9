"""Behaviour cloning: a policy that starts as an imitation of a scripted principal.

>>> import gymnasium as gym, pa_env, baselines
>>> from baselines.rl.cloning import demonstrations
>>> envs = gym.make_vec("PrincipalAgent-v0", num_envs=4, n_arms=3, horizon=10, autoreset_mode="Disabled")
>>> observations, offers = demonstrations(baselines.make("profit-target", n_arms=3, horizon=10), envs, seed=0)
>>> observations.shape, offers.shape
((40, 20), (40, 3))
"""

from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.policies import ActorCriticPolicy

from baselines.protocol import Floats, Principal


def demonstrations(
    principal: Principal, envs: VectorEnv[Any, Any, Any], seed: int
) -> tuple[NDArray[np.float32], Floats]:
    """One episode of each copy: what was observed, and what the principal offered, round after round."""
    observations, _ = envs.reset(seed=seed)
    seen, offered, state, over = [], [], None, False
    while not over:
        offers, state = principal.predict(observations, state)
        seen.append(observations)
        offered.append(offers)
        observations, _, ended, _, _ = envs.step(offers)
        over = bool(ended.all())
    return np.concatenate(seen), np.concatenate(offered)


def clone(
    policy: ActorCriticPolicy,
    observations: NDArray[np.float32],
    actions: NDArray[Any],
    epochs: int = 10,
    batch_size: int = 256,
    seed: int = 0,
) -> list[float]:
    """Make these actions likely; returns the mean loss, minus the log-likelihood, of each epoch.

    ``actions`` are the policy's own: divide offers by ``max_incentive`` for ``RescaleIncentive``.
    """
    shuffle = np.random.default_rng(seed)
    seen, acted = torch.as_tensor(observations), torch.as_tensor(actions, dtype=torch.float32)
    losses: list[float] = []
    for _ in range(epochs):
        total = 0.0
        for batch in np.array_split(shuffle.permutation(len(seen)), max(1, len(seen) // batch_size)):
            _, likelihood, _ = policy.evaluate_actions(seen[batch], acted[batch])
            loss = -likelihood.mean()
            policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            policy.optimizer.step()
            total += loss.item() * len(batch)
        losses.append(total / len(seen))
    return losses
