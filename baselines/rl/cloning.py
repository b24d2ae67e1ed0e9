"""Behaviour cloning: a policy that starts as an imitation of a scripted principal.

>>> import gymnasium as gym, pa_env, baselines
>>> from baselines.rl.cloning import demonstrations
>>> from pa_env.wrappers import BracketIncentive
>>> envs = gym.make_vec("PrincipalAgent-v0", num_envs=4, n_arms=3, horizon=10, autoreset_mode="Disabled")
>>> script = baselines.make("bracket-ucb", n_arms=3, horizon=10)
>>> observations, offers = demonstrations(script, envs, seed=0)
>>> observations.shape, offers.shape
((40, 20), (40, 3))
>>> observations, actions = demonstrations(script, BracketIncentive(envs), seed=0)
>>> actions.shape, bool(actions.max() < 12)
((40,), True)

To improve on the script by PPO, take one of the policies of :mod:`baselines.rl.features`, :func:`clone`, and let the
critic learn first, with ``policy.learn_actions(False)``: one that knows nothing may spoil the clone. See
``examples/clone_then_train.py``.
"""

from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.policies import ActorCriticPolicy

from baselines.protocol import Principal
from pa_env.layout import Floats

RATE, SLOWEST = 3e-3, 0.03  # of learning at first, and the part of it that is left in the end
QUIET = -5.0  # log of a clone's standard deviation: scripts offer little more than it takes, and noise gets refused


def demonstrations(
    principal: Principal, envs: VectorEnv[Any, Any, Any], seed: int
) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """One episode of each copy: what was observed, and what the principal did about it, round after round.

    ``envs``: the batched game itself, whose actions are the offers (rounds, n_arms); or the game in
    ``BracketIncentive`` or ``IncentiveGrid``, whose actions (rounds,) are those :func:`nearest` to the offers. In that
    case they are played, so that a clone is shown what it will see; the principal believes that its offers were made.
    """
    observations, _ = envs.reset(seed=seed)
    seen, acted, state, over = [], [], None, False
    while not over:
        offers, state = principal.predict(observations, state)
        actions: NDArray[Any] = offers
        if isinstance(envs.single_action_space, Discrete):
            actions = nearest(_prices(envs), offers, observations[:, : principal.n_arms].argmax(axis=1))
        seen.append(observations)
        acted.append(actions)
        observations, _, ended, _, _ = envs.step(actions)
        over = bool(ended.all())
    return np.concatenate(seen), np.concatenate(acted)


def _prices(envs: Any) -> Floats:
    """What each action about each arm pays that arm now (copies, n_arms, actions of an arm)."""
    copies, k = envs.num_envs, envs.unwrapped.game.n_arms
    each = int(envs.single_action_space.n) // k
    offers = [envs.actions(np.full(copies, action))[:, action // each] for action in range(k * each)]
    return np.stack(offers, axis=1).reshape(copies, k, each)


def nearest(prices: Floats, offers: Floats, last: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of actions that pay one arm each ``prices`` (copies, n_arms, each), those nearest to offers (copies, n_arms).

    They are about the arm that is paid most, or if none is paid, about the one that was played ``last``.

    >>> prices = np.array([[[0.0, 0.5, 1.0], [0.0, 0.2, 0.4]]])
    >>> nearest(prices, np.array([[0.6, 0.1]]), last=np.array([1])), nearest(prices, np.zeros((1, 2)), np.array([1]))
    (array([1]), array([3]))
    """
    copies = np.arange(len(offers))
    arms = np.where(offers.any(axis=1), offers.argmax(axis=1), last)
    places = np.abs(prices[copies, arms] - offers[copies, arms, None]).argmin(axis=1)
    actions: NDArray[np.int64] = arms * prices.shape[2] + places
    return actions


def clone(
    policy: ActorCriticPolicy,
    observations: NDArray[np.float32],
    actions: NDArray[Any],
    epochs: int = 10,
    batch_size: int = 512,
    seed: int = 0,
) -> list[float]:
    """Make these actions likely; returns the mean loss, minus the log-likelihood, of each epoch.

    ``actions`` are the policy's own: divide offers by ``max_incentive`` for ``RescaleIncentive``. If they are numbers,
    their standard deviation is exp(QUIET) afterwards, whatever it was.
    """
    shuffle = np.random.default_rng(seed)
    # Not the policy's own optimiser: what that remembers of cloning would misguide the training to come.
    optimiser = torch.optim.Adam(policy.parameters(), RATE)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, SLOWEST, epochs)
    seen, acted = torch.as_tensor(observations), torch.as_tensor(actions, dtype=torch.float32)
    losses: list[float] = []
    for _ in range(epochs):
        total = 0.0
        for batch in np.array_split(shuffle.permutation(len(seen)), max(1, len(seen) // batch_size)):
            _, likelihood, _ = policy.evaluate_actions(seen[batch], acted[batch])
            loss = -likelihood.mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += loss.item() * len(batch)
        slower.step()
        losses.append(total / len(seen))
    if not isinstance(policy.action_space, Discrete):
        torch.nn.init.constant_(policy.log_std, QUIET)
    return losses
