"""Principals trained by reinforcement learning: how they are trained, kept on disk, and played.

>>> from baselines import rl
>>> rl.shipped()[:1]
('ppo',)

Playing one needs NumPy and Numba; training one (:mod:`baselines.rl.training`, ``pa-bench train``) needs the extra
``[train]``.

Inside::

    view.py         what a trained principal sees, and its prices, for one game or a batch
    trained.py      a trained principal as a compiled rule
    policy_file.py  a policy on disk
    networks.py     a policy network that treats arms alike
    vec_env.py      batched games for Stable-Baselines3
    training.py     training from scratch
    evaluate.py     scores and their intervals
    recipes.py      how shipped policies are trained
"""

from pathlib import Path

from baselines.registry import policies
from baselines.rl.policy_file import read
from baselines.rl.trained import Trained
from baselines.tasks import task


def shipped() -> tuple[str, ...]:
    """Names of the trained principals that come with the package; :func:`baselines.make` takes them."""
    return tuple(policies())


def load(path: str | Path, *, n_arms: int | None = None, horizon: int | None = None) -> Trained:
    """The trained principal in a file. Reading it runs nothing in it.

    Args:
        path: of a policy file.
        n_arms: number of arms; by default that of the first task that it was trained on.
        horizon: rounds, likewise.
    """
    policy = read(Path(path))
    if n_arms is None or horizon is None:
        home = task(policy.metadata["tasks"][0])
        n_arms = home.n_arms if n_arms is None else n_arms
        horizon = home.horizon if horizon is None else horizon
    return Trained(n_arms, horizon, policy)
