"""Run a benchmark, tasks x principals x seeds. Each block is played once, in any order, by any engine, and kept."""

import importlib.util
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from baselines.benchmark import cluster, processes
from baselines.benchmark.blocks import Block, Result, blocks_of, check
from baselines.benchmark.progress import shown
from baselines.benchmark.store import locked
from baselines.registry import Description, describe, resolve_agent, resolve_instance
from baselines.specs import is_user_code, parse
from baselines.tasks import DEFAULT_AGENTS, Task, setting
from pa_env.checks import at_least, known, whole
from pa_env.instances import source
from pa_env.scripted_agents import AGENTS

TIMEOUT = 600.0  # seconds for a block, which should take about one


class Plan(NamedTuple):
    """The blocks to play, and descriptions of the objects that their specs name."""

    blocks: list[Block]
    described: dict[str, Description]


class Engine(NamedTuple):
    """What plays the blocks: ``local`` processes, or a Ray cluster. Both give the same bytes."""

    name: str = "local"
    workers: int | None = None
    """Processes on this machine; None: one for each core."""
    timeout: float = TIMEOUT
    """Seconds for each block."""
    address: str | None = None

    def check(self) -> None:
        """Raise if it can't play."""
        known("engine", self.name, ("local", "ray"))
        whole("workers", self.workers or 1, 1)
        at_least("timeout", self.timeout, 0, strictly=True)
        if self.address is not None and self.name != "ray":
            raise ValueError(f"address = {self.address!r} is for engine = 'ray', and this is engine = {self.name!r}")
        if self.name == "ray" and importlib.util.find_spec("ray") is None:
            raise ValueError("engine = 'ray' needs Ray, which is not installed: pip install 'principal-agent-env[ray]'")
        if self.address is not None:
            cluster.reach(self.address)

    def play(self, blocks: Sequence[Block], described: dict[str, Description]) -> Iterator[Result]:
        """The result of each block, in any order."""
        workers = self.workers or os.cpu_count() or 1
        if self.name == "local":
            return processes.local(blocks, workers, self.timeout)
        files = {parse(spec).place: found.files for spec, found in described.items() if parse(spec).file}
        return cluster.on_ray(blocks, workers, self.timeout, self.address, files)


def plan(tasks: Sequence[Task], principals: Sequence[str] = (), seeds: int | None = None) -> Plan:
    """The blocks of a benchmark; raises if a principal can't be made for one of its tasks.

    The first blocks of all principals and tasks come first, so that early results are useful and the time left can be
    estimated.

    Args:
        tasks: what is played.
        principals: specs for every task, or none for each task's own.
        seeds: how many, or None for each task's own.
    """
    if seeds is not None:
        whole("seeds", seeds, 1)
    parts = [
        list(blocks_of(task, spec, seeds or task.seeds))
        for task in tasks
        for spec in dict.fromkeys(principals or task.principals)
    ]
    groups: dict[tuple[str, ...], list[Block]] = {}
    for first, *_ in parts:
        groups.setdefault(tuple(parse(spec).place for spec in first.own if is_user_code(spec)), []).append(first)
    described: dict[str, Description] = {}
    for own, blocks in groups.items():
        try:
            described |= processes.call(TIMEOUT, _look, blocks) if own else _look(blocks)
        except ChildProcessError as error:
            named = ", ".join(dict.fromkeys(block.principal for block in blocks))
            raise ValueError(f"{named} can't play task {blocks[0].task.name}: {error}") from error
    return Plan([block for each in zip_longest(*parts) for block in each if block is not None], described)


def _look(blocks: Sequence[Block]) -> dict[str, Description]:
    """Describe what the specs of blocks name; raises if a principal can't play."""
    found: dict[str, Description] = {}
    for block in blocks:
        # The principal last: an agent may have the same name.
        named = ((block.task.agent, "agent"), (block.task.instance, "instance"), (block.principal, "principal"))
        try:
            check(block)
            found |= {spec: describe(spec, what) for spec, what in named if what == "principal" or is_user_code(spec)}
        except (Exception, SystemExit) as error:
            why = str(error) if isinstance(error, ValueError | TypeError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{block.principal} can't play task {block.task.name}: {why}") from error
    return found


def own_task(agent: str | None, instance: str, n_arms: int | None, horizon: int, dim: int | None) -> Task:
    """The task of a setting, of which agent and instance may be users' own (their specs).

    Args:
        agent: a spec; None: ``empirical-mean``, or ``ols`` if rewards are linear.
        instance: a family's name, or the spec of a user's own.
        n_arms: None: as many as the instance has, or 5.
        horizon: rounds.
        dim: dimensions, if rewards are linear; None: as many as the instance has, or 3.
    """
    whole("horizon", horizon, 2)
    if agent is not None and not is_user_code(agent):
        known("agent", parse(agent, "agent").place, AGENTS)
    named = (agent, instance, n_arms, dim)
    own = is_user_code(instance) or (agent is not None and is_user_code(agent))
    labels, K, d = processes.call(TIMEOUT, _measure, *named) if own else _measure(*named)
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


def run(
    planned: Plan,
    out: Path,
    command: str,
    engine: Engine = Engine(),
    overwrite: bool = False,
    quiet: bool = False,
    trace: bool = False,
) -> list[Path]:
    """Play the blocks that are missing in a folder; returns the files that say why blocks failed.

    Args:
        planned: what to play.
        out: the folder.
        command: the command line, recorded in the folder.
        engine: what plays the blocks.
        overwrite: replay results that were played by other code, instead of refusing.
        quiet: show no progress.
        trace: keep every round too, in ``traces``; for the local engine.
    """
    engine.check()
    if trace and engine.name != "local":
        raise ValueError(f"trace is for engine = 'local', and this is engine = {engine.name!r}")
    failures: list[Path] = []
    with locked(out) as store:
        store.enter(planned.blocks, command, planned.described, overwrite)
        missing = [block for block in planned.blocks if not store.done(block)]
        if trace:
            absent = {*missing, *(block for block in planned.blocks if not store.trace(block).exists())}
            missing = [  # with all the seeds that are there already
                replace(block, trace=store.trace(block), count=max(block.count, store.kept(block)))
                for block in planned.blocks
                if block in absent
            ]
        with shown(planned.blocks, missing, quiet) as progress:
            for result in engine.play(missing, planned.described):
                store.keep(result)
                progress.advance(result.block)
                if result.data is None:
                    failures.append(store.failure(result.block))
    return failures
