"""Lists of tasks, suites, principals, agents and families of instances, with their parameters."""

import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from baselines.registry import PRINCIPALS, parameters
from baselines.tasks import SUITES, tasks
from pa_env.checks import unknown
from pa_env.instances import FAMILIES
from pa_env.scripted_agents import AGENTS

if TYPE_CHECKING:
    from rich.console import Console

ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")  # of reStructuredText, as in docstrings
SUITES_ABOUT = {
    "default": "What `pa-bench run` plays without a task: short games, and long ones with the paper's agents.",
    "short": "Up to 1,000 rounds.",
    "table-1": "The agents of Liu & Ratliff's Table 1, in games of 10,000 rounds to a million.",
    "who-wins": "The paper's agents and those that keep their own regret low, in games of three lengths.",
    "tiny": "Two arms and up to ten rounds, where the exact optimum is known.",
    "smoke": "50 rounds, to try a command.",
    "all": "Every task but smoke.",
}


class Item(NamedTuple):
    """Something that has a name."""

    kind: str
    name: str
    parameters: str
    about: str


def items(suite: str | None = None, everything: bool = False) -> Iterator[Item]:
    """Yield everything that has a name, except tasks.

    Args:
        suite: list its tasks instead.
        everything: list all tasks too.
    """
    if suite is None:
        for name, members in SUITES.items():
            yield Item("suite", name, f"{len(members)} task{'s' * (len(members) > 1)}", SUITES_ABOUT[name])
    for task in tasks(suite or "all") if suite or everything else ():
        yield Item("task", task.name, f"{len(task.principals)} principals, {task.seeds} seeds", task.probes)
    if suite is not None:
        return
    for name, kind in PRINCIPALS.items():
        taken = [
            each.name if each.default is each.empty else f"{each.name}={each.default}" for each in parameters(name)
        ]
        about = ROLE.sub(r"\1", (inspect.getdoc(kind) or "").split("\n")[0])
        yield Item("principal", name, ", ".join(taken), about)
    for name, agent in AGENTS.items():
        taken = [f"{each}={default}" for each, default in agent.parameters.items()]
        yield Item("agent", name, ", ".join(taken), f"The agent {agent.about}.")
    for name, family in FAMILIES.items():
        yield Item("instance", name, "", f"{family.about[0].upper()}{family.about[1:]}.")


def completion(*kinds: str) -> Callable[[str], list[tuple[str, str]]]:
    """Return what completes a value on the command line: names of these kinds, with what they are."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [
            (item.name, item.about)
            for item in items(everything=True)
            if item.kind in kinds and item.name.startswith(incomplete)
        ]

    return complete


def show(name: str | None, suite: str | None, everything: bool, as_json: bool) -> None:
    """Print items: as JSON, as a line for each in a pipe, or for a reader on a terminal.

    Args:
        name: print what has this name, with its parameters; None: everything but tasks.
        suite: print its tasks instead.
        everything: print everything, tasks included, with parameters.
        as_json: print JSON.
    """
    from rich.console import Console

    listed, console = list(items(suite, everything or name is not None)), Console()
    if name is not None:
        if all(item.name != name for item in listed):
            raise unknown("name", name, [item.name for item in listed], "`pa-bench list --all` has all names")
        listed = [item for item in listed if item.name == name]
    if as_json:
        print(json.dumps([item._asdict() for item in listed], indent=2))
    elif not console.is_terminal:
        print("\n".join("\t".join(item) for item in listed))
    elif name or suite or everything:
        _print_table(console, listed)
    else:
        _print_names(console, listed)


def _print_table(console: "Console", listed: list[Item]) -> None:
    """Print everything about items."""
    from rich.table import Column, Table

    table = Table("kind", Column("name", overflow="fold"), Column("parameters", overflow="fold"), "about")
    for item in listed:
        table.add_row(*item)
    console.print(table)


def _print_names(console: "Console", listed: list[Item]) -> None:
    """Print a line for each item: its name, and as much of what it is as the line holds."""
    from rich.text import Text

    width = max(len(item.name) for item in listed) + 2
    for kind, some in itertools.groupby(listed, key=lambda item: item.kind):
        console.print(Text(f"{kind}s", "bold"))
        for item in some:
            console.print(Text(f"  {item.name:<{width}}{item.about}"), no_wrap=True, overflow="ellipsis")
    console.print("Parameters: pa-bench list NAME, or --all.")
    console.print("Tasks: pa-bench list --suite NAME, or --all.")
