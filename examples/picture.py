"""Draw the README's picture: a principal that haggles over the arm it likes best, after 150 rounds.

python examples/picture.py docs/game.png
"""

import sys

import gymnasium as gym
import numpy as np
from matplotlib.image import imsave

import pa_env

gym.register_envs(pa_env)

env = gym.make(
    "PrincipalAgent-v0",
    instance=pa_env.IID(mu=[0.3, 0.8, 0.55, 0.4, 0.6], theta=[0.9, 0.2, 0.5, 0.6, 0.3]),
    agent=pa_env.make_agent("exploratory", c0=0.8),
    horizon=200,
    render_mode="rgb_array",
)
env.reset(seed=2)
amount = 0.5
for played in range(1, 151):
    offer = np.array([amount, 0.0, 0.1, 0.05, 0.0])
    _, _, _, _, info = env.step(offer)
    amount = max(0.0, amount - 0.01) if info["arm"] == 0 else min(1.0, amount + 0.04)
    if played % 10 == 0:  # each frame adds a point to the curve of regret
        picture = np.asarray(env.render())
imsave(sys.argv[1] if len(sys.argv) > 1 else "game.png", picture)
