"""The agent's seat: an agent learns to refuse, for higher incentives later, and earns more than a greedy one.

The principal is naive: it wants arm 0, offers 0.1 more each time it is refused, up to what the arm is worth to it, and
0.01 less each time it is not. The greedy agent plays argmax mean + incentive: it accepts the first incentive that beats
its best other arm, and so keeps incentives low. The learner plans ahead: refusing now brings higher incentives later.
Both know the means of their arms (``agent="oracle"``), so this is their only difference. Needs the extra
``[train]``.

    python examples/other_seat.py

In a minute (2 busy cores) it printed (another seed returned 50.18)

    greedy   return 38.90, arm 0 in 88% of rounds, mean incentive accepted 0.250
    trained  return 47.64, arm 0 in 78% of rounds, mean incentive accepted 0.545
"""

import argparse
from typing import Any

import numpy as np
from stable_baselines3 import PPO

import pa_env
from baselines.principal import Principal, Rounds, hold
from baselines.rl.vec_env import GameVecEnv

ARMS, HORIZON, WORTH = 3, 50, 0.9


class Naive(Principal):
    """Raises the incentive on arm 0 when it is refused, lowers it when it is accepted."""

    name = "naive"

    def rounds(self) -> Rounds:
        """The algorithm."""
        price = 0.0
        while True:
            outcome = yield hold(0, price)
            price = max(0.0, price - 0.01) if outcome.plays[0] else min(WORTH, price + 0.1)


def instance(rng: np.random.Generator) -> pa_env.IID:
    """Random means for the agent; only arm 0 is worth much to the principal."""
    return pa_env.IID(mu=rng.uniform(size=ARMS), theta=[WORTH, 0.1, 0.1])


def game(copies: int) -> GameVecEnv:
    """Copies of the agent's seat."""
    settings: dict[str, Any] = {"principal": Naive(ARMS, HORIZON), "instance": instance, "agent": "oracle"}
    return GameVecEnv.of("PrincipalAgentFollower-v0", copies, n_arms=ARMS, horizon=HORIZON, **settings)


class Greedy:
    """The arm with the highest mean + incentive."""

    def predict(self, seen: Any, deterministic: bool = True) -> tuple[Any, None]:
        """An arm for each observation, which begins with the offer and the means."""
        return (seen[:, :ARMS] + seen[:, ARMS : 2 * ARMS]).argmax(axis=1), None


def show(label: str, agent: Any, copies: int = 500) -> None:
    """Play an episode of each copy, and print what the agent got."""
    envs = game(copies)
    envs.seed(0)
    seen: Any = envs.reset()
    total, accepted = np.zeros(copies), []
    for _ in range(HORIZON):
        arms, _ = agent.predict(seen, deterministic=True)
        accepted.append(seen[arms == 0, 0])
        seen, rewards, _, _ = envs.step(arms)
        total += rewards
    paid = np.concatenate(accepted)
    share, mean = paid.size / (copies * HORIZON), paid.mean()
    print(f"{label:8} return {total.mean():.2f}, arm 0 in {share:.0%} of rounds, mean incentive accepted {mean:.3f}")


def main(steps: int) -> None:
    """Train, and print both agents."""
    envs = game(64)
    envs.seed(10**6)  # away from the seeds of the evaluation
    model = PPO("MlpPolicy", envs, n_steps=HORIZON, batch_size=800, gamma=0.99, ent_coef=0.005, seed=0, device="cpu")
    model.learn(steps)
    show("greedy", Greedy())
    show("trained", model)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train an agent against a naive principal.")
    parser.add_argument("--steps", type=int, default=600_000, help="rounds to train on")
    main(parser.parse_args().steps)
