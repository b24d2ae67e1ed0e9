"""Principals trained by reinforcement learning: how they are trained, kept on disk, and played.

``baselines.make("ppo", n_arms=5, horizon=200)`` comes with the package. Playing a policy needs NumPy and Numba;
training one (:mod:`baselines.rl.training`, ``pa-bench train``) needs the extra ``[train]``.

Inside::

    view.py         what a trained principal sees, and its prices, for one game or a batch
    trained.py      a trained principal as a compiled rule
    policy_file.py  a policy on disk
    networks.py     a policy network that treats arms alike
    vec_env.py      batched games for Stable-Baselines3
    training.py     training from scratch
    evaluate.py     scores that are kept, and seeds of trials
    recipes.py      how shipped policies are trained
"""

from pathlib import Path

from baselines.rl.policy_file import read
from baselines.rl.trained import Trained


def load(path: str | Path, n_arms: int, horizon: int) -> Trained:
    """Return the trained principal in a file. Reading it runs nothing in it.

    Args:
        path: of a policy file.
        n_arms: number of arms.
        horizon: rounds.
    """
    return Trained(n_arms, horizon, read(Path(path)))
