"""A short game in the terminal: the principal bargains for arm 0 with an agent that prefers arm 1.

The agent knows its means and plays the arm with the largest mean + incentive, so arm 0 costs 0.45. The principal does
not know that. It offers the middle between the largest refused incentive and the smallest accepted one until they are
close, then holds the smallest accepted one.

    python examples/demo.py
"""

import gymnasium as gym
import numpy as np

import pa_env

gym.register_envs(pa_env)

HORIZON, WIDTH = 200, 40  # rounds; characters of the scale from 0 to 1
INSTANCE = pa_env.IID(mu=[0.35, 0.80, 0.55], theta=[0.90, 0.20, 0.40])
PRICE = INSTANCE.mu.max() - INSTANCE.mu[0]


def scale(low: float, high: float) -> str:
    """The prices from 0 to 1 that are still possible, and the true one."""
    marks = ["█" if low <= (i + 0.5) / WIDTH <= high else "·" for i in range(WIDTH)]
    marks[round(PRICE * WIDTH)] = "|"
    return "".join(marks)


env = gym.make("PrincipalAgent-v0", instance=INSTANCE, agent="oracle", horizon=HORIZON)
env.reset(seed=0)
worth, favourite = INSTANCE.theta[:2]
print(f"The principal earns {worth} from arm 0, and {favourite} from arm 1, which the agent prefers.")
print(f"The agent plays arm 0 if offered at least {PRICE:.2f}. The principal must find out.\n")
print("round  offer for arm 0     possible prices of arm 0, from 0 to 1 (| true)")
refused, accepted, earned, regret = 0.0, 1.0, 0.0, 0.0
for t in range(1, HORIZON + 1):
    bargains = accepted - refused > 0.01
    amount = (refused + accepted) / 2 if bargains else accepted
    _, reward, _, _, info = env.step(np.array([amount, 0.0, 0.0]))
    answer = "accepted" if info["arm"] == 0 else "refused"
    accepted, refused = (amount, refused) if info["arm"] == 0 else (accepted, amount)
    earned, regret = earned + float(reward), regret + info["regret"]
    if bargains:
        print(f"{t:5}  {amount:.3f} {answer:12}  {scale(refused, accepted)}")
print(f"\nIt offers {accepted:.3f} from then on, and has earned {earned:.1f} after {HORIZON} rounds.")
print(f"Its regret is {regret:.1f}: the best incentives would have earned that much more.")
