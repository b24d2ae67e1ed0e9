"""The principals and settings of a comparison, from any of the forms in which users give them, and their blocks.

A block is some seeds of one principal. The first blocks are played in this process. After ``ALONE`` seconds, other
processes play the rest; :mod:`joblib` can send them classes and functions that were defined in a notebook. Results do
not depend on which process plays a block.
"""

import functools
import inspect
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from baselines.principal import Principal
from baselines.registry import PrincipalLike, describe, resolve, resolve_agent, resolve_instance
from baselines.simulation import Episodes
from baselines.specs import is_user_code, parse
from baselines.tasks import Task
from baselines.tasks import task as task_of
from pa_env.checks import whole
from pa_env.game import Game
from pa_env.kernel.layout import SCORES, Floats, Integers

BLOCK_ROUNDS, BLOCK_SEEDS = 500_000, 1000  # of a block, at most: about a second of the slowest principals
MAKERS: dict[str, Callable[[str], Any]] = {"agent": resolve_agent, "instance": resolve_instance}
ALONE = 2.0  # seconds after which other processes help: they take as long to start


class Player(NamedTuple):
    """A principal of a comparison."""

    label: str
    make: Callable[[Game], Principal]  # for a game that has begun


class Block(NamedTuple):
    """Some seeds of one player."""

    player: Player
    settings: dict[str, Any]  # of the game
    seeds: list[int]
    marks: Integers  # checkpoints


def players(given: Sequence[PrincipalLike] | Mapping[str, PrincipalLike]) -> list[Player]:
    """The principals of a comparison, under their labels; two of the same label are an error."""
    if isinstance(given, str | Principal | type) or not isinstance(given, Iterable):
        raise TypeError(f"principals = {given!r} must be a list of principals, or a dictionary of them by label")
    named = given.items() if isinstance(given, Mapping) else [(label_of(each), each) for each in given]
    found = [Player(str(label), maker(each)) for label, each in named]
    if not found:
        raise ValueError("principals = [] must have at least one principal")
    labels = [player.label for player in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(
                f"principals has {label!r} twice: leave one out, or pass a dictionary of labels of your own"
            )
    return found


def label_of(given: PrincipalLike) -> str:
    """A name with parameters is its own label; the label of an object shows the parameters that are not defaults."""
    if isinstance(given, str):
        return describe(given).label if is_user_code(given) else given
    made = given if isinstance(given, type) else type(given)
    name = str(getattr(made, "name", "") or made.__name__)
    if isinstance(given, Principal):
        kept = vars(given) | vars(given).get("parameters", {})
        taken = inspect.signature(made).parameters.values()
        default = made(given.n_arms, given.horizon) if all(_optional(each) for each in taken) else None
        usual = {} if default is None else vars(default) | vars(default).get("parameters", {})
        for each in taken:
            if each.name in kept and isinstance(kept[each.name], bool | int | float | str):
                name += "" if kept[each.name] == usual.get(each.name) else f",{each.name}={kept[each.name]}"
    return name


def _optional(parameter: inspect.Parameter) -> bool:
    return parameter.name in ("n_arms", "horizon") or parameter.default is not parameter.empty


def maker(given: PrincipalLike) -> Callable[[Game], Principal]:
    """A function that makes the principal for a game."""
    if isinstance(given, str):
        return functools.partial(resolve, parse(given).absolute)
    if isinstance(given, Principal):
        return functools.partial(resolve, given.clone())
    if isinstance(given, type) and issubclass(given, Principal):
        return functools.partial(resolve, given)
    raise TypeError(f"principals has {given!r}: each must be a name, a spec, or a baselines.Principal or its class")


def settings_of(
    task: str | Task | None, keywords: dict[str, Any], principals: Iterable[PrincipalLike]
) -> dict[str, Any]:
    """Keyword arguments of the game: those of the task, or those given; objects have their own sizes.

    An agent and an instance that are given as specs stay specs, which :func:`resolved` makes in the process that plays.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if task is not None:
        if given:
            raise ValueError(f"task = {task!r} is a whole setting: leave out {', '.join(given)}, or the task")
        chosen = task_of(task) if isinstance(task, str) else task
        sizes = {"n_arms": chosen.n_arms, "horizon": chosen.horizon, "dim": chosen.dim}
        return sizes | {name: parse(getattr(chosen, name), name).absolute for name in MAKERS}
    if "agent" in given and not isinstance(given["agent"], str):
        given["agent"] = resolve_agent(given["agent"])
    sizes = {"n_arms": None, "horizon": 1000}
    for each in principals:
        if isinstance(each, Principal):
            sizes = {"n_arms": each.n_arms, "horizon": each.horizon}
    settings = {**sizes, "agent": "empirical-mean", "instance": "uniform", **given}
    settings |= {name: parse(settings[name], name).absolute for name in MAKERS if isinstance(settings[name], str)}
    return settings | {"n_arms": Game(**resolved(settings)).n_arms}


def resolved(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings with the agent and the instance that specs name."""
    specs = {name: MAKERS[name](settings[name]) for name in MAKERS if isinstance(settings[name], str)}
    return settings | specs


def seeds_of(seeds: int | Iterable[int]) -> list[int]:
    """The seeds 0, 1, ... of a number, or those given."""
    if isinstance(seeds, Iterable):
        found = [whole("seeds", seed, 0) for seed in seeds]
        if not found or len(set(found)) < len(found):
            raise ValueError(f"seeds = {seeds!r} must be one or more different seeds")
        return found
    return list(range(whole("seeds", seeds, 1)))


def check(entered: Sequence[Player], settings: dict[str, Any], seed: int) -> dict[str, bool]:
    """Raise if a player can't play the game; returns whether each is privileged."""
    found, made = {}, resolved(settings)
    for player in entered:
        try:
            found[player.label] = type(Episodes(player.make, made).begin(seed)).privileged
        except Exception as error:
            raise ValueError(f"{player.label} can't play this game: {error}") from error
    return found


def blocks(entered: Sequence[Player], settings: dict[str, Any], seeds: list[int], marks: Integers) -> list[Block]:
    """All blocks to play; the first seeds of all players come first."""
    size = max(1, min(BLOCK_SEEDS, BLOCK_ROUNDS // settings["horizon"]))
    parts = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    return [Block(player, settings, part, marks) for part in parts for player in entered]


def play_block(block: Block) -> Floats:
    """The sums (len(SCORES), seeds, checkpoints) of a block."""
    try:
        run = Episodes(block.player.make, resolved(block.settings)).play(block.seeds, block.marks)
    except Exception as error:
        error.add_note(f"{block.player.label} was playing seeds {block.seeds[0]} to {block.seeds[-1]}")
        raise
    return np.stack([run.scores[name] for name in SCORES])


def play_blocks(work: Sequence[Block], workers: int | None) -> Iterator[tuple[int, Floats]]:
    """Each block's place in ``work`` and its sums, as they are done."""
    workers = os.cpu_count() or 1 if workers is None else whole("workers", workers, 1)
    start = time.monotonic()
    for i, block in enumerate(work):
        if workers > 1 and time.monotonic() - start > ALONE:
            yield from _in_processes(work, range(i, len(work)), workers)
            return
        yield i, play_block(block)


def _in_processes(work: Sequence[Block], places: range, workers: int) -> Iterator[tuple[int, Floats]]:
    import joblib

    pool = joblib.Parallel(n_jobs=min(workers, len(places)), return_as="generator_unordered", batch_size=1)
    yield from pool(joblib.delayed(_placed)(i, work[i]) for i in places)


def _placed(i: int, block: Block) -> tuple[int, Floats]:
    return i, play_block(block)
