"""A short game in the terminal: a simple principal bargains with an agent that learns.

The principal wants arm 0 played, which is worth most to it; the agent likes arm 1. It halves the interval between
the largest offer refused and the smallest accepted, then pays a little more than that.

    python examples/demo.py
"""

import gymnasium as gym
import numpy as np

import pa_env

HORIZON = 200
env = gym.make(
    "PrincipalAgent-v0",
    instance=pa_env.IID(mu=[0.35, 0.8, 0.55], theta=[0.9, 0.2, 0.4]),
    horizon=HORIZON,
    render_mode="ansi",
)
observation, _ = env.reset(seed=0)
refused, accepted, earned, regret = 0.0, 1.0, 0.0, 0.0
for t in range(HORIZON):
    searching = accepted - refused > 0.02
    amount = (refused + accepted) / 2 if searching else accepted + 0.02
    observation, reward, terminated, truncated, info = env.step(np.array([amount, 0.0, 0.0]))
    if info["arm"] == 0:
        accepted = min(accepted, amount)
    else:  # the agent has learned to like another arm better: bargain again
        refused, accepted = amount, max(accepted, amount + 0.25)
    earned, regret = earned + float(reward), regret + info["regret"]
    if t + 1 in (1, 10, HORIZON):
        print(env.render(), "\n")
print(f"In {HORIZON} rounds the principal earned {earned:.1f}, {regret:.1f} less than the best incentives would have.")
