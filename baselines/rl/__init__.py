"""Principals and agents trained by reinforcement learning: how they are trained, kept on disk, and played.

``baselines.make("ppo", n_arms=5, horizon=200)`` comes with the package. Playing a policy needs NumPy and Numba;
training one (:func:`learner`, ``pa-bench train``) needs the extra ``[train]``.

Inside::

    view.py         what a trained principal sees, and its prices, for one game or a batch
    trained.py      a trained principal as a compiled rule
    networks.py     a policy network that treats arms alike
    vec_env.py      batched games for Stable-Baselines3
    agent_seat.py   the agent's seat: batched games against a principal
    models.py       models of Stable-Baselines3, and functions, as principals
    training.py     training from scratch
    evaluate.py     many games of a model at once
    recipes.py      how shipped policies are trained
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from baselines.extras import extra_named
from baselines.rl.models import save
from baselines.rl.trained import load

if TYPE_CHECKING:
    from baselines.rl.training import Learner
    from baselines.tasks import Task

__all__ = ["learner", "load", "save"]


def learner(
    task: "str | Task | Sequence[str | Task] | None" = None,
    *,
    agent: str | None = None,
    instance: str | None = None,
    n_arms: int | None = None,
    horizon: int | None = None,
    **options: Any,
) -> "Learner":
    """Make a learner: Stable-Baselines3's PPO with this package's observations, prices, network and constants.

    ``learner("k5-t200-uniform").learn(2_000_000)`` trains it; :func:`baselines.compare` takes it beside names of
    principals, and :func:`save` keeps its policy. ``pa-bench train`` does the same in a folder, and resumes.

    Args:
        task: a task, its name, or several of them; or None, and the next four arguments give the game.
        agent: a spec, such as ``"exploratory,c0=0.3"`` or ``"file.py:Mine"``; default ``"empirical-mean"``.
        instance: a family's name, or a spec; default ``"uniform"``. Objects and functions are not taken.
        n_arms: number of arms; default 5.
        horizon: rounds; default 200.
        **options: fields of :class:`baselines.rl.training.Settings`, such as ``seed``, ``objective``, ``particles``,
            ``deep`` or ``privileged``, and arguments of Stable-Baselines3's PPO, such as ``learning_rate``.
    """
    with extra_named():
        from baselines.rl import training
    several = isinstance(task, Sequence) and not isinstance(task, str)
    given: Any = () if task is None else tuple(task) if several else (task,)  # type: ignore[arg-type]
    parts = {"agent": agent, "instance": instance, "n_arms": n_arms, "horizon": horizon}
    return training.learner(training.settings_of(given, parts, options))
