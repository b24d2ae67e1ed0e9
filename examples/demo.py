"""A short game in the terminal: the principal bargains for arm 0 with an agent that prefers arm 1.

The agent knows its means and plays the arm with the largest mean + incentive, so arm 0 costs 0.45. The principal does
not know that. It offers the middle between the largest offer refused and the smallest accepted until they are close,
then holds the smallest accepted.

    python examples/demo.py
"""

import gymnasium as gym
import numpy as np

import pa_env

HORIZON = 200
SHOWN = (1, 2, 5, HORIZON)  # rounds

env = gym.make(
    "PrincipalAgent-v0",
    instance=pa_env.IID(mu=[0.35, 0.8, 0.55], theta=[0.9, 0.2, 0.4]),
    agent="oracle",
    horizon=HORIZON,
    render_mode="ansi",
)
env.reset(seed=0)
refused, accepted, earned, regret = 0.0, 1.0, 0.0, 0.0
for t in range(1, HORIZON + 1):
    amount = (refused + accepted) / 2 if accepted - refused > 0.01 else accepted
    _, reward, _, _, info = env.step(np.array([amount, 0.0, 0.0]))
    if info["arm"] == 0:
        answer, accepted = "accepted", amount
    else:
        answer, refused = "refused", amount
    earned, regret = earned + float(reward), regret + info["regret"]
    if t in SHOWN:
        print(f"Round {t}: the agent {answer} {amount:.3f} for arm 0.\n\n{env.render()}\n")
print(f"In {HORIZON} rounds the principal earned {earned:.1f}, {regret:.1f} less than the best incentives would have.")
