"""Plan a benchmark: the blocks of tasks x principals x seeds, and descriptions of the users' own code in them."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from baselines.benchmark import pool
from baselines.benchmark.blocks import Block, blocks_of, episodes_of
from baselines.registry import Description, describe, resolve_agent, resolve_instance
from baselines.specs import is_policy, is_user_code, parse
from baselines.tasks import DEFAULT_AGENTS, Task, setting
from pa_env.checks import known, whole
from pa_env.instances import source
from pa_env.scripted_agents import AGENTS

TIMEOUT = 600.0  # seconds for users' own code to be imported, and for its principals to be made


class Plan(NamedTuple):
    """The blocks to play, and descriptions of the objects that their specs name."""

    blocks: list[Block]
    described: dict[str, Description]


def make_plan(tasks: Sequence[Task], principals: Sequence[str] = (), seeds: int | None = None) -> Plan:
    """The blocks of a benchmark; raises if a principal can't be made for one of its tasks.

    The first blocks of all principals and tasks come first, so that early results are useful and the time left can be
    estimated.

    Args:
        tasks: to be played.
        principals: specs for every task, or none for each task's own.
        seeds: a number, or None for each task's own.
    """
    if seeds is not None:
        whole("seeds", seeds, 1)
    parts = [
        list(blocks_of(task, spec, range(seeds or task.seeds)))
        for task in tasks
        for spec in dict.fromkeys(principals or task.principals)
    ]
    groups: dict[tuple[str, ...], list[Block]] = {}
    for first, *_ in parts:
        groups.setdefault(tuple(parse(spec).place for spec in first.user_specs if is_user_code(spec)), []).append(first)
    described: dict[str, Description] = {}
    for places, blocks in groups.items():
        try:
            described |= _described(pool.call(TIMEOUT, _look, blocks)) if places else _look(blocks)
        except ChildProcessError as error:
            named = ", ".join(dict.fromkeys(block.principal for block in blocks))
            raise ValueError(f"{named} can't play task {blocks[0].task.name}: {error}") from error
    return Plan([block for each in zip_longest(*parts) for block in each if block is not None], described)


def _described(answer: dict[str, tuple[str, str | None, dict[str, str]]]) -> dict[str, Description]:
    """The descriptions that a process sent."""
    return {
        spec: Description(label, digest, {name: Path(path) for name, path in files.items()})
        for spec, (label, digest, files) in answer.items()
    }


def _look(blocks: Sequence[Block]) -> dict[str, Description]:
    """Describe what the specs of blocks name; raises if a principal can't play."""
    described: dict[str, Description] = {}
    for block in blocks:
        # The principal last: an agent may have the same name.
        named = ((block.task.agent, "agent"), (block.task.instance, "instance"), (block.principal, "principal"))
        try:
            episodes_of(block).begin(block.seeds[0])
            described |= {
                spec: describe(spec, what)
                for spec, what in named
                if what == "principal" or is_user_code(spec) or is_policy(spec)
            }
        except (Exception, SystemExit) as error:
            why = str(error) if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{block.principal} can't play task {block.task.name}: {why}") from error
    return described


def custom_task(agent: str | None, instance: str, n_arms: int | None, horizon: int, dim: int | None) -> Task:
    """The task of a setting, of which agent and instance may be users' own (their specs).

    Args:
        agent: a spec; None: ``empirical-mean``, or ``ols`` if rewards are linear.
        instance: a family's name, or the spec of a user's own.
        n_arms: None: as many as the instance has, or 5.
        horizon: rounds.
        dim: dimensions, if rewards are linear; None: as many as the instance has, or 3.
    """
    whole("horizon", horizon, 2)
    if agent is not None and not (is_user_code(agent) or is_policy(agent)):
        known("agent", parse(agent, "agent").place, AGENTS)
    named = (agent, instance, n_arms, dim)
    users = is_user_code(instance) or (agent is not None and is_user_code(agent))
    labels, K, d = pool.call(TIMEOUT, _measure, *named) if users else _measure(*named)
    return setting(agent or DEFAULT_AGENTS[bool(d)], instance, K, horizon, 1.0, d, labels)


def _measure(
    agent: str | None, instance: str, n_arms: int | None, dim: int | None
) -> tuple[dict[str, str], int, int | None]:
    """The labels of users' own agent and instance, and the sizes of a game with them."""
    if agent is not None:
        resolve_agent(agent)
    sized = source(resolve_instance(instance), n_arms, dim)
    named = {agent: "agent", instance: "instance"}
    labels = {spec: describe(spec, what).label for spec, what in named.items() if spec and is_user_code(spec)}
    return labels, sized.n_arms, sized.dim or None
