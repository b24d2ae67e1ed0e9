"""Tasks: named settings of agent, instances, number of arms, horizon, and the principals that are compared.

>>> from baselines.tasks import task
>>> task("k5-t1e5-misaligned-exploratory").horizon
100000

Every name of the form ``[d{dim}-]k{arms}-t{horizon}-{family}[-{agent}[-c{c0}]]`` is a task. If the name has no agent,
the agent learns and does not explore: ``empirical-mean``, or ``ols`` in the family ``linear`` (arms from the
unit ball). An agent that explores has c0 = 1 unless the name gives c0. Powers of ten from 10,000 on are written 1e4,
1e5, ...

>>> task("k7-t3000-clustered-exploratory-c0.3").agent
'exploratory,c0=0.3'

The suite ``table-1`` has the agents of Liu & Ratliff (ICML 2025, Table 1) with all families, several numbers of arms
and long horizons. Other suites add agents that keep their own regret low, and short horizons. The games of ``tiny``
have an exact optimum (:mod:`baselines.exact`), ``smoke`` is for tests. Tasks are played on seeds 0, 1, ...; tuning and
training use other seeds. A task that is changed gets a new version.
"""

import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from baselines.episodes import log_spaced
from baselines.exact import LONGEST, N_ARMS
from baselines.principal import check_horizon
from baselines.registry import PRINCIPALS, parameters, resolve_agent, resolve_instance
from baselines.specs import is_policy, parse
from pa_env.checks import known, short, unknown
from pa_env.game import Game, GameSettings
from pa_env.instances import FAMILIES
from pa_env.kernel.layout import Integers
from pa_env.kernel.other_agents import Kind
from pa_env.scripted_agents import AGENTS, make_agent

DEFAULT_AGENTS = ("empirical-mean", "ols")  # of i.i.d. and of linear rewards: not mentioned in a name
LOW_REGRET_AGENTS = tuple(name for name, agent in AGENTS.items() if agent.low_regret)
PAPER_AGENTS = tuple(name for name, agent in AGENTS.items() if agent.kind in (Kind.LEARNER, Kind.ORACLE))  # Table 1
IID_AGENTS = tuple(name for name in PAPER_AGENTS if not AGENTS[name].linear_only)
LINEAR_AGENTS = tuple(name for name in PAPER_AGENTS if name != DEFAULT_AGENTS[0])
HORIZONS = (10**4, 10**5, 10**6)
WHO_WINS_HORIZONS = (10**3, 10**4, 10**5)
SHORT = 1000  # rounds, up to which there are more seeds and fewer checkpoints
LINEAR = "unit-ball"  # the family that names call linear
NAME = re.compile(
    rf"(?:d(\d+)-)?k(\d+)-t(\d+(?:e\d)?)-(linear|{'|'.join(sorted(FAMILIES, key=len, reverse=True))})"
    r"(?:-(?!c\d)(.+?)(?:-c(\d.*))?)?"
)


# Objects or other specs in the place of names: by ("principal", name), ("agent", name) and ("instance", name).
Objects = Mapping[tuple[str, str], Any]
NO_OBJECTS: Objects = {}


@dataclass(frozen=True)
class Task:
    """A game, the principals that play it, and on how many seeds."""

    name: str
    probes: str  # its purpose, in one sentence
    agent: str  # see baselines.specs, as for the next one and the principals
    instance: str
    n_arms: int
    dim: int | None  # None unless rewards are linear
    horizon: int
    principals: tuple[str, ...]
    seeds: int
    version: int = 1
    curve: bool = True  # False: runs are scored at the horizon alone

    @property
    def checkpoints(self) -> Integers:
        """Rounds after which a run is scored: evenly spaced in their logarithm, fewer if it is short."""
        return log_spaced(self.horizon, 3 if self.horizon <= SHORT else 8) if self.curve else np.array([self.horizon])


def names_task(name: object) -> bool:
    """Return whether a name is, by its form, that of a task."""
    return isinstance(name, str) and (name in TASKS or NAME.fullmatch(name) is not None)


def settings(task: Task, objects: Objects = NO_OBJECTS) -> GameSettings:
    """Return the keyword arguments of a task's game, in which objects take the places of names."""
    agent = resolve_agent(objects.get(("agent", task.agent), task.agent))
    instance = resolve_instance(objects.get(("instance", task.instance), task.instance))
    horizon = check_horizon(task.horizon)
    return {"n_arms": task.n_arms, "horizon": horizon, "agent": agent, "instance": instance, "dim": task.dim}


@functools.cache
def contenders(linear: bool, c0: float, n_arms: int, horizon: int) -> tuple[str, ...]:
    """Every principal that can play, with both kinds of constants where it has them, and with c0 unless c0 is 1.

    Principals with a parameter ``arms`` play only where rewards are linear. Principals with another parameter that has
    no default are left out, and those that say they would take too long or play another number of arms.
    """
    specs = []
    for name, kind in PRINCIPALS.items():
        if horizon > kind.longest or kind.only_arms not in (None, n_arms):
            continue
        accepted = {parameter.name: parameter.default for parameter in parameters(name)}
        needs_arms = accepted.pop("arms", None) is not None
        if (linear or not needs_arms) and inspect.Parameter.empty not in accepted.values():
            spec = f"{name},c0={c0:g}" if "c0" in accepted and c0 not in (0, 1) else name
            specs += [spec, f"{spec},constants=practical"] if "constants" in accepted else [spec]
    return tuple(specs)


def setting(
    agent: str,
    instance: str,
    n_arms: int,
    horizon: int,
    c0: float = 1.0,
    dim: int | None = None,
    labels: dict[str, str] | None = None,
) -> Task:
    """The task of a setting. The setting determines its name, its description, its principals and its seeds.

    Args:
        agent: a name, with parameters or without.
        instance: a family.
        n_arms: number of arms.
        horizon: rounds.
        c0: of an agent that explores, if it has no parameters.
        dim: dimensions, if rewards are linear; 3 by default in the family unit-ball.
        labels: names to show for an agent and an instance that are users' own, by their specs.
    """
    labels, about = labels or {}, FAMILIES[instance].about if instance in FAMILIES else "instances of your own"
    dim = dim or 3 if instance == LINEAR else dim
    spec = parse(agent, "agent")
    name, given = spec.place, spec.parameters
    if not (spec.member or is_policy(name)):
        known("agent", name, AGENTS)
    declared = AGENTS.get(name)
    if declared and "c0" in declared.parameters and not given and c0 != 1:
        agent, given = f"{name},c0={c0:g}", {"c0": c0}
    c0 = given.get("c0", 1.0)
    only_c0 = declared is not None and set(given) <= {"c0"}
    power = len(str(horizon)) - 1
    parts = (
        f"d{dim}" if dim else "",
        f"k{n_arms}",
        f"t1e{power}" if power >= 4 and horizon == 10**power else f"t{horizon}",
        "linear" if instance == LINEAR else labels.get(instance, instance),
        "" if agent == DEFAULT_AGENTS[dim is not None] else name if only_c0 else labels.get(agent, agent),
        f"c{c0:g}" if only_c0 and c0 != 1 else "",
    )
    full_name = "-".join(part for part in parts if part)
    return Task(
        name=full_name,
        probes=f"{about[0].upper()}{about[1:]}; the agent {declared.about if declared else 'is your own'}.",
        agent=agent,
        instance=instance,
        n_arms=n_arms,
        dim=dim,
        horizon=horizon,
        principals=contenders(dim is not None, c0, n_arms, horizon),
        seeds=500 if horizon <= SHORT else 30,
        version=2 if dim else 1,  # in version 1 only principals with a parameter `arms` played with linear rewards
    )


def _short() -> Iterator[Task]:
    for (n_arms, horizon), instance in product(((3, 100), (5, 200), (5, 1000)), ("uniform", "misaligned")):
        yield setting("empirical-mean", instance, n_arms, horizon)
    yield setting("exploratory", "uniform", 5, 200)


def _who_wins() -> Iterator[Task]:
    for horizon in WHO_WINS_HORIZONS:
        for agent in (*IID_AGENTS, *LOW_REGRET_AGENTS):
            yield setting(agent, "uniform", 5, horizon)
        for agent in (*LINEAR_AGENTS, *LOW_REGRET_AGENTS):
            yield setting(agent, "unit-ball", 5, horizon)


def _table_1() -> Iterator[Task]:
    for agent, horizon in product(IID_AGENTS, HORIZONS):
        for instance, n_arms in product(("uniform", "misaligned", "gap", "clustered"), (3, 5, 20)):
            yield setting(agent, instance, n_arms, horizon)
        yield setting(agent, "ipa-k5", 5, horizon)
        yield setting(agent, "ipa-k50", 50, horizon)
    for agent, n_arms, horizon in product(LINEAR_AGENTS, (5, 10, 20), HORIZONS):
        yield setting(agent, "unit-ball", n_arms, horizon)
    for agent, dim in product(LINEAR_AGENTS, (2, 5)):
        yield setting(agent, "unit-ball", 10, 10**5, dim=dim)
    # With the paper's constants, the first phase ends this early only if the agent explores little.
    yield setting("exploratory", "uniform", 5, 10**6, c0=0.05)


def _default() -> Iterator[Task]:
    yield from _short()
    for agent in IID_AGENTS:
        yield setting(agent, "uniform", 5, 10**6)
    for agent in ("ols", "oracle"):
        yield setting(agent, "unit-ball", 5, 10**4)


def _tiny() -> Iterator[Task]:
    for horizon in range(4, LONGEST + 1):
        yield setting("empirical-mean", "uniform", N_ARMS, horizon)


SMOKE = replace(
    setting("empirical-mean", "uniform", 3, 50), name="smoke", principals=("elimination", "zero", "oracle"), seeds=2
)
_SUITES = {
    "default": tuple(_default()),
    "short": tuple(_short()),
    "table-1": tuple(_table_1()),
    "who-wins": tuple(_who_wins()),
    "tiny": tuple(_tiny()),
    "smoke": (SMOKE,),
}
TASKS: dict[str, Task] = {each.name: each for suite in _SUITES.values() for each in suite}
SUITES: dict[str, tuple[str, ...]] = {name: tuple(each.name for each in suite) for name, suite in _SUITES.items()}
SUITES["all"] = tuple(name for name in TASKS if name != "smoke")


def tasks(*names: str) -> tuple[Task, ...]:
    """Tasks by their names or the names of suites, each once; without names, all tasks."""
    unique = dict.fromkeys(name for chosen in names or ("all",) for name in SUITES.get(chosen, (chosen,)))
    return tuple(task(name) for name in unique)


def task(name: str) -> Task:
    """A task by name."""
    if not isinstance(name, str):
        raise TypeError(f"task = {short(name)} must be the name of a task, or a Task")
    if name in TASKS:
        return TASKS[name]
    if name in SUITES:
        raise ValueError(
            f"task = {short(name)} is a suite of {len(SUITES[name])} tasks: name one of them, or play them all by"
            f" `pa-bench run --task {name}`"
        )
    parts = NAME.fullmatch(name)
    if parts is None:
        remedy = (
            "`pa-bench list` shows tasks and suites, and any name like k7-t3000-clustered-exploratory-c0.3 is a task"
        )
        raise unknown("task", name, (*SUITES, *TASKS), remedy)
    dim, n_arms, horizon, family, agent, c0 = parts.groups()
    linear = family in ("linear", LINEAR)
    agent = agent or DEFAULT_AGENTS[linear]
    try:
        if not is_policy(agent):
            known("agent", agent if c0 else parse(agent, "agent").place, AGENTS)
        if c0:
            make_agent(agent, c0=float(c0))
        instance = LINEAR if linear else family
        named = setting(agent, instance, int(n_arms), int(float(horizon)), float(c0 or 1), int(dim) if dim else None)
        Game(**settings(named))
    except (ValueError, TypeError) as error:
        raise ValueError(f"task = {short(name)}: {error}") from error
    return named
