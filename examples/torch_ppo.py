"""PPO in one file of plain PyTorch, as CleanRL writes it, on ``gym.make_vec``; then the policy plays in ``compare``.

A rollout is one episode of every copy, so nothing is bootstrapped and copies need not be staggered. ``WithBeliefs``
shows the policy what the answers say of the agent, and its actions are prices of arms. The network looks at each arm
with the same weights. Needs the extras ``[bench,train]``.

It takes 3 minutes of CPU time on one core, the comparison included. PPO then earned 123.1 ± 3.2 and ``zero`` 99.7 ± 3.7
(means over 1,000 seeds with 95% intervals, training seed 0, ``OMP_NUM_THREADS=1``).

    python examples/torch_ppo.py
"""

import argparse

import gymnasium as gym
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import baselines
import pa_env
from baselines.rl.view import FIELDS, OVERALL, RUNGS, WithBeliefs

gym.register_envs(pa_env)
ARMS, HORIZON, COPIES = 5, 200, 64
ROUNDS, EPISODES = 6_000_000, 1_000  # to train on, and to compare on
SCALE = 10 / HORIZON**0.5  # of rewards: their sums are then of order 1 to 10
RATE, EPOCHS, BATCHES, CLIP, ENTROPY, LAMBDA = 2e-3, 2, 8, 0.2, 0.006, 0.97


class Network(nn.Module):
    """Logits of the prices of each arm, and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.code = nn.Sequential(nn.Linear(FIELDS + OVERALL, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.prices, self.value = nn.Linear(3 * 32, RUNGS), nn.Linear(2 * 32, 1)
        nn.init.zeros_(self.prices.weight)

    def forward(self, seen: Tensor) -> tuple[Categorical, Tensor]:
        """Return them for observations (..., numbers)."""
        arms, overall = seen[..., : FIELDS * ARMS], seen[..., FIELDS * ARMS :]
        arms = arms.reshape(*arms.shape[:-1], FIELDS, ARMS).transpose(-1, -2)
        codes = self.code(torch.cat([arms, overall[..., None, :].expand(*arms.shape[:-1], OVERALL)], -1))
        pooled = torch.cat([codes.mean(-2), codes.amax(-2)], -1)
        pairs = torch.cat([codes, pooled[..., None, :].expand(*codes.shape[:-1], 64)], -1)
        return Categorical(logits=self.prices(pairs).flatten(-2)), self.value(pooled)[..., 0]


def play(envs: gym.vector.VectorEnv, network: Network, seed: int | None) -> tuple[Tensor, ...]:
    """One episode of every copy: observations, actions, their log-probabilities, values and rewards."""
    seen, rounds = torch.as_tensor(envs.reset(seed=seed)[0]), []
    for _ in range(HORIZON):
        with torch.no_grad():
            policy, value = network(seen)
        action = policy.sample()
        after, _, _, _, info = envs.step(action.numpy())
        # Privileged: it is computed from the true means. It only trains, and has less noise than X - pi_A.
        reward = torch.as_tensor(-SCALE * info["regret_oracle"], dtype=torch.float32)
        rounds.append((seen, action, policy.log_prob(action), value, reward))
        seen = torch.as_tensor(after)
    return tuple(torch.stack(part) for part in zip(*rounds, strict=True))


def main(steps: int, seed: int, episodes: int) -> None:
    """Train, print what is earned on the way, and compare."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    envs = WithBeliefs(
        gym.make_vec("PrincipalAgent-v0", COPIES, n_arms=ARMS, horizon=HORIZON, autoreset_mode="Disabled")
    )
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), RATE, eps=1e-5)
    updates = max(1, steps // (COPIES * HORIZON))
    for update in range(updates):
        seen, actions, before, values, rewards = play(envs, network, 10**9 + seed if update == 0 else None)
        advantages, later, value = torch.zeros_like(rewards), torch.zeros(COPIES), torch.zeros(COPIES)
        for t in reversed(range(HORIZON)):
            advantages[t] = later = rewards[t] + value - values[t] + LAMBDA * later
            value = values[t]
        left = 1 - update / updates
        optimizer.param_groups[0]["lr"] = RATE * left
        flat = [part.flatten(0, 1) for part in (seen, actions, before, advantages, advantages + values)]
        for _ in range(EPOCHS):
            for batch in torch.randperm(COPIES * HORIZON).chunk(BATCHES):
                x, action, log_before, advantage, target = (part[batch] for part in flat)
                policy, value = network(x)
                ratio = (policy.log_prob(action) - log_before).exp()
                gain = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gained = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
                loss = (value - target).square().mean() / 2 - gained - ENTROPY * left * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        if update % 20 == 0 or update + 1 == updates:
            print(
                f"{(update + 1) * COPIES * HORIZON:>9,} rounds: R_T^oracle {-rewards.sum(0).mean() / SCALE:.1f}",
                flush=True,
            )
    principal = baselines.from_policy(
        lambda seen: network(torch.as_tensor(seen))[0].sample().numpy(),
        WithBeliefs,
        n_arms=ARMS,
        horizon=HORIZON,
        batched=True,
    )
    print(baselines.compare({"PPO": principal, "zero": "zero"}, "k5-t200-uniform", seeds=episodes, workers=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a principal with PPO in plain PyTorch.")
    parser.add_argument("--steps", type=int, default=ROUNDS, help="rounds to train on")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same policy")
    parser.add_argument("--episodes", type=int, default=EPISODES, help="episodes of the comparison")
    arguments = parser.parse_args()
    main(arguments.steps, arguments.seed, arguments.episodes)
