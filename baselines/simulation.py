"""Simulate a principal at any horizon, for one episode or many.

>>> import baselines
>>> run = baselines.simulate("zero", "ipa-k5", agent="oracle", horizon=10**6, seed=1)
>>> run.plays[-1].tolist()
[0, 1000000, 0, 0, 0]
"""

import functools
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baselines.episodes import Episodes, Run, log_spaced
from baselines.registry import SIZES, PrincipalLike, as_principal, as_text, is_object, resolve
from baselines.rl.models import from_sb3, is_model
from baselines.tasks import Task, names_task, settings
from baselines.tasks import task as task_of
from pa_env.checks import seed_of, short, whole
from pa_env.instances import InstanceLike
from pa_env.scripted_agents import AgentLike

HORIZON = 1000  # unless a principal, a task or the user says otherwise


def simulate(
    principal: PrincipalLike,
    instance: InstanceLike | None = None,
    agent: AgentLike | None = None,
    horizon: int | None = None,
    seed: int | None = None,
    checkpoints: ArrayLike | None = None,
    seeds: int | Iterable[int] | None = None,
    trace: str | Path | None = None,
    *,
    n_arms: int | None = None,
    task: str | Task | None = None,
) -> Run:
    """Play one episode, or many. There is no upper bound on incentives.

    >>> simulate("profit-target", horizon=200, seeds=100).regret.shape  # episodes, checkpoints
    (100, 1)

    Args:
        principal: a name of :func:`baselines.principals`, another spec (``"elimination,constants=practical"``,
            ``"file.py:Mine"``, ``"policy.npz"``) or a class, which are made for the game, and get the arms of the
            episode if they have a parameter ``arms``; a policy file's path; an object with ``reset``, ``offer`` and
            ``observe``, made for a game of this size; or a model of Stable-Baselines3.
        instance: a family's name, an instance, a function ``rng -> instance``, or a spec; default ``"uniform"``.
        agent: a name, a spec, a class, an object, or the result of ``pa_env.make_agent``; default ``"empirical-mean"``.
        horizon: rounds T; default: the principal's own, if it is an object that has one, or 1000.
        seed: of the game and of the principal, for one episode; default 0.
        checkpoints: rounds after which the sums are kept; by default spaced evenly in their logarithm for one episode,
            and the horizon alone for many.
        seeds: of many episodes: how many, of seeds 0, 1, ...; or the seeds themselves, all different. Each
            is the episode that ``seed=`` gives alone.
        trace: a Parquet file to keep every round in (:mod:`baselines.trace`); this is slower.
        n_arms: number of arms K; default: that of the instance, or of a principal that is an object, or 5.
        task: a task or its name, in place of instance, agent, horizon and n_arms.
    """
    if seed is not None and seeds is not None:
        raise ValueError(f"seed = {short(seed)} and seeds = {short(seeds)}: give one of them")
    principal = as_text(principal)
    keywords = {"agent": agent, "instance": instance, "n_arms": n_arms, "horizon": horizon}
    game = settings(complete(task, keywords, [from_sb3(principal) if is_model(principal) else principal]))
    horizon = game["horizon"]
    if checkpoints is None:
        marks = log_spaced(horizon) if seeds is None else np.array([horizon])
    else:
        marks = np.unique(np.asarray(checkpoints))
    if not marks.size or marks.dtype.kind not in "iu" or marks[0] < 1 or marks[-1] > horizon:
        raise ValueError(f"checkpoints = {short(checkpoints)} must be integers between 1 and horizon = {horizon}")
    if is_object(principal):  # it plays itself, so that users can inspect it afterwards
        episodes = Episodes(functools.partial(as_principal, principal), game)
    else:
        episodes = Episodes(functools.partial(resolve, principal), game)
    if seeds is None:
        return episodes.play([seed_of(seed) or 0], marks.astype(np.int64), trace).episode(0)
    return episodes.play(list(seeds_of(seeds, math.inf)), marks.astype(np.int64), trace)


def complete(task: str | Task | None, keywords: Mapping[str, object], principals: Iterable[PrincipalLike]) -> Task:
    """Return the setting of a task, or of keywords; agent and instance may be objects.

    Args:
        task: a task or its name; or None, and the keywords give the setting.
        keywords: agent, instance, n_arms and horizon, each None if it was not given.
        principals: that are to play; objects may have sizes of their own.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if task is not None:
        if given:
            raise ValueError(f"task = {short(task)} is a whole setting: leave out {', '.join(given)}, or the task")
        return task if isinstance(task, Task) else task_of(task)
    if names_task(instance := given.get("instance")):
        raise ValueError(f"instance = {short(instance)} is a task: pass task={short(instance)}")
    values: dict[str, Any] = {"agent": "empirical-mean", "instance": "uniform", "n_arms": None, "horizon": HORIZON}
    for each in filter(is_object, principals):
        values |= {name: getattr(each, name) for name in SIZES if isinstance(getattr(each, name, None), int)}
    return Task("", "", dim=None, principals=(), seeds=0, **values | given)


def seeds_of(seeds: int | Iterable[int], most: float = 2**63 - 1) -> tuple[int, ...]:
    """Return the seeds 0, 1, ... of a number, or those given, which are different and at most ``most``."""
    if not isinstance(seeds, Iterable):
        return tuple(range(whole("seeds", seeds, 1)))
    chosen = tuple(whole("seeds", seed, 0, most) for seed in seeds)
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"seeds = {short(list(chosen))} must be one or more different seeds")
    return chosen
