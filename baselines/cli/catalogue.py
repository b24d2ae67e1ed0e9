"""Lists of tasks, suites, principals, agents and families of instances, with their parameters."""

import inspect
import json
from collections.abc import Iterator
from typing import NamedTuple

from baselines.registry import PRINCIPALS, parameters
from baselines.tasks import SUITES, tasks
from pa_env.instances import FAMILIES
from pa_env.scripted_agents import AGENTS


class Item(NamedTuple):
    """Something that has a name."""

    kind: str
    name: str
    parameters: str
    about: str


def items(suite: str) -> Iterator[Item]:
    """Everything; of the tasks, those of a suite."""
    for task in tasks(suite):
        yield Item("task", task.name, f"{len(task.principals)} principals, {task.seeds} seeds", task.probes)
    for name, members in SUITES.items():
        yield Item("suite", name, f"{len(members)} tasks", "")
    for name, kind in PRINCIPALS.items():
        taken = [
            each.name if each.default is each.empty else f"{each.name}={each.default}" for each in parameters(name)
        ]
        yield Item("principal", name, ", ".join(taken), (inspect.getdoc(kind) or "").split("\n")[0])
    for name, agent in AGENTS.items():
        taken = [f"{each}={default}" for each, default in agent.parameters.items()]
        yield Item("agent", name, ", ".join(taken), f"The agent {agent.about}.")
    for name, family in FAMILIES.items():
        yield Item("instance", name, "", f"{family.about[0].upper()}{family.about[1:]}.")


def show(suite: str, as_json: bool) -> None:
    """Print everything: as JSON, as a table on a terminal, or as a line for each item."""
    from rich.console import Console
    from rich.table import Column, Table

    listed, console = list(items(suite)), Console()
    if as_json:
        print(json.dumps([item._asdict() for item in listed], indent=2))
    elif not console.is_terminal:
        print("\n".join("\t".join(item) for item in listed))
    else:
        table = Table("kind", Column("name", overflow="fold"), "parameters", "about")
        for item in listed:
            table.add_row(*item)
        console.print(table)
