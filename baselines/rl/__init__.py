"""Principals trained by reinforcement learning: how they are trained, kept on disk, and played.

>>> from baselines import rl
>>> rl.shipped()[:1]
('ppo-k3-t100',)

Playing one needs NumPy and Numba; training one (:mod:`baselines.rl.training`, ``pa-bench train``) needs the extra
``[train]``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from pa_env.checks import known

if TYPE_CHECKING:
    from baselines.rl.trained import Trained

WEIGHTS = Path(__file__).parent / "weights"


def shipped() -> tuple[str, ...]:
    """Names of the trained principals that come with the package; :func:`baselines.make` takes them."""
    return tuple(sorted(path.stem for path in WEIGHTS.glob("*.npz")))


def load(path: str | Path, *, n_arms: int | None = None, horizon: int | None = None) -> "Trained":
    """The trained principal in a file, for ``n_arms`` arms and ``horizon`` rounds. Reading it runs nothing in it.

    By default it is for the game that it was trained on.
    """
    from baselines.rl.policy_file import read
    from baselines.rl.trained import Trained
    from baselines.tasks import task

    policy = read(Path(path))
    if n_arms is None or horizon is None:
        home = task(policy.metadata["task"])
        n_arms = home.n_arms if n_arms is None else n_arms
        horizon = home.horizon if horizon is None else horizon
    return Trained(n_arms, horizon, policy)


def load_shipped(name: str, *, n_arms: int | None = None, horizon: int | None = None) -> "Trained":
    """A trained principal that comes with the package."""
    known("principal", name, shipped())
    return load(WEIGHTS / f"{name}.npz", n_arms=n_arms, horizon=horizon)
