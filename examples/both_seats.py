"""Both seats learn at once: two independent learners meet in many copies of the game, played in one batch.

Independent PPO: each is a small network that learns from its own observations and rewards with the clipped objective, a
few epochs on each rollout, and treats the other as part of the environment. Arm 0 is worth 0.9 to the principal and 0.2
to the agent, arm 1 is worth 0.1 and 0.6: a greedy agent would play arm 0 for an incentive of 0.4, which leaves
the principal 0.5 per round. Needs the extra ``[train]``.

    python examples/both_seats.py

It takes twelve seconds (2 busy cores) and printed, from its one seed,

    updates   principal's utility   agent's return   arm 0 played   incentive paid   (per round)
          1                 0.258            0.632            45%            0.459
         50                 0.271            0.562            33%            0.273
        100                 0.195            0.601            25%            0.415
        150                 0.274            0.613            47%            0.425
        200                 0.299            0.610            53%            0.422
        250                 0.271            0.608            45%            0.415
        300                 0.314            0.609            55%            0.416

At first the principal offers less and less, and is refused; then it pays a little more than a greedy agent would need.
They had not converged then: what one of them learns changes the environment of the other.
"""

import argparse

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import pa_env
from pa_env import principal_agent_v0

INSTANCE = pa_env.IID(mu=[0.2, 0.6], theta=[0.9, 0.1])
LEVELS = np.linspace(0.0, 0.9, 10)  # incentives on arm 0 that the principal chooses from
HORIZON, COPIES = 20, 128
EPOCHS, CLIP = 3, 0.2


class Learner:
    """A policy over ``n_actions`` actions, a baseline, and the rollout that it is learning from."""

    def __init__(self, n_inputs: int, n_actions: int) -> None:
        self.policy = nn.Sequential(nn.Linear(n_inputs, 32), nn.Tanh(), nn.Linear(32, n_actions))
        self.value = nn.Sequential(nn.Linear(n_inputs, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimiser = torch.optim.Adam([*self.policy.parameters(), *self.value.parameters()], lr=3e-3)
        self.seen: list[torch.Tensor] = []
        self.acted: list[torch.Tensor] = []

    def act(self, observations: NDArray[np.float32]) -> NDArray[np.int64]:
        """Sample an action for each copy, and remember it."""
        self.seen.append(torch.from_numpy(observations))
        with torch.no_grad():
            self.acted.append(torch.multinomial(self.policy(self.seen[-1]).softmax(-1), 1).squeeze(-1))
        return self.acted[-1].numpy()

    def learn(self, rewards: NDArray[np.float32]) -> None:
        """Improve on the rollout, given the rewards (HORIZON, COPIES) that followed the actions; forget it."""
        seen, acted = torch.stack(self.seen), torch.stack(self.acted)
        to_come = torch.from_numpy(rewards[::-1].cumsum(axis=0)[::-1].copy())
        with torch.no_grad():
            before, _ = self.judge(seen, acted)
            surprise = to_come - self.value(seen).squeeze(-1)
            surprise = (surprise - surprise.mean()) / (surprise.std() + 1e-6)
        for _ in range(EPOCHS):
            chosen, entropy = self.judge(seen, acted)
            ratio = (chosen - before).exp()
            gain = torch.minimum(ratio * surprise, ratio.clamp(1 - CLIP, 1 + CLIP) * surprise).mean()
            error = (to_come - self.value(seen).squeeze(-1)).square().mean()
            loss = -gain - 0.01 * entropy.mean() + 0.1 * error
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        self.seen, self.acted = [], []

    def judge(self, seen: torch.Tensor, acted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logs of the probabilities of these actions, and the entropies of the choices (HORIZON, COPIES)."""
        logs = self.policy(seen).log_softmax(-1)
        return logs.gather(-1, acted.unsqueeze(-1)).squeeze(-1), -(logs.exp() * logs).sum(-1)


def main(updates: int) -> None:
    """Repeat: play COPIES episodes, then let both learn."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    envs = principal_agent_v0.vector_env(COPIES, instance=INSTANCE, horizon=HORIZON, agent="oracle")
    n_actions = {"principal_0": len(LEVELS), "agent_0": 2}
    learners = {p: Learner(envs.single_observation_spaces[p].shape[0], n) for p, n in n_actions.items()}
    totals = []
    print("updates   principal's utility   agent's return   arm 0 played   incentive paid   (per round)")
    for update in range(1, updates + 1):
        seen, _ = envs.reset(seed=update * COPIES)
        rewards = {player: np.zeros((HORIZON, COPIES), np.float32) for player in learners}
        paid = np.full((HORIZON, COPIES), np.nan)
        for t in range(HORIZON):
            offers = np.zeros((COPIES, 2))
            offers[:, 0] = LEVELS[learners["principal_0"].act(seen)]
            arms = learners["agent_0"].act(envs.offer(offers))
            seen, received, *_ = envs.answer(arms)
            for player in learners:
                rewards[player][t] = received[player]
            paid[t, arms == 0] = offers[arms == 0, 0]
        for player, learner in learners.items():
            learner.learn(rewards[player])
        totals.append([*(rewards[player].mean() for player in learners), np.isfinite(paid).mean(), np.nanmean(paid)])
        if update == 1 or update % (updates // 6 or 1) == 0:
            utility, gain, share, incentive = np.mean(totals, axis=0)
            print(f"{update:7} {utility:21.3f} {gain:16.3f} {share:14.0%} {incentive:16.3f}")
            totals = []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train both seats at once.")
    parser.add_argument("--updates", type=int, default=300, help="updates of both learners")
    main(parser.parse_args().updates)
