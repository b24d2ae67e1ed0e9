"""Named settings, as data: who answers, on which instances, for how long, and which principals are compared.

>>> from baselines.tasks import task
>>> task("k5-t1e5-misaligned-exploratory").horizon
100000

A name says what the task is: ``[d{dim}-]k{arms}-t{horizon}-{family}[-{agent}[-c{c0}]]``. Without an agent it is the one
that learns and does not explore: ``empirical-mean``, or ``ols`` in the family ``linear`` (arms from the unit ball). An
agent that explores has c0 = 1 unless the name says otherwise. Powers of ten are written 1e4, 1e5, ... from 10,000 on.

The agents of Liu & Ratliff (ICML 2025, Table 1) meet every family, number of arms and long horizon below; beside them
come agents that keep their own regret low, and short horizons, at which principals are trained. Tasks are played on
seeds 0, 1, ...; tuning and training use others. A task that is changed gets a new version.
"""

import functools
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from baselines.registry import parameters, policies, principals
from baselines.simulation import log_spaced
from pa_env.checks import unknown
from pa_env.instances import FAMILIES
from pa_env.kernel.agents import Kind
from pa_env.layout import Integers
from pa_env.scripted_agents import AGENTS, ScriptedAgent, make_agent

DEFAULT_AGENTS = ("empirical-mean", "ols")  # of i.i.d. and of linear rewards: not mentioned in a name
LOW_REGRET_AGENTS = tuple(name for name, agent in AGENTS.items() if agent.low_regret)
PAPER_AGENTS = tuple(name for name, agent in AGENTS.items() if agent.kind in (Kind.LEARNER, Kind.ORACLE))  # Table 1
IID_AGENTS = tuple(name for name in PAPER_AGENTS if not AGENTS[name].linear_only)
LINEAR_AGENTS = tuple(name for name in PAPER_AGENTS if name != DEFAULT_AGENTS[0])
HORIZONS = (10**4, 10**5, 10**6)


@dataclass(frozen=True)
class Task:
    """A game, and who plays it on how many seeds."""

    name: str
    probes: str  # what it shows, in one sentence
    agent: str
    c0: float  # how much the agent explores; 0: not at all
    instance: str
    n_arms: int
    dim: int | None  # None unless rewards are linear
    horizon: int
    principals: tuple[str, ...]  # see baselines.benchmark.specs
    seeds: int
    version: int = 1

    def make_agent(self) -> ScriptedAgent:
        """The agent with its parameters."""
        return make_agent(self.agent, **({"c0": self.c0} if self.c0 else {}))

    @property
    def checkpoints(self) -> Integers:
        """Rounds after which a run is scored."""
        return log_spaced(self.horizon)


@functools.cache
def contenders(linear: bool, c0: float) -> tuple[str, ...]:
    """Every principal that can play, with both kinds of constants where it has them, told c0 unless it is 1.

    Principals that must be told the arms play where rewards are linear, and those with a parameter that has no default
    nowhere.
    """
    specs = []
    for name in principals():
        accepted = {parameter.name: parameter.default for parameter in parameters(name)}
        told_arms = accepted.pop("arms", None) is not None
        if (linear or not told_arms) and inspect.Parameter.empty not in accepted.values():
            spec = f"{name},c0={c0:g}" if "c0" in accepted and c0 not in (0, 1) else name
            specs += [spec, f"{spec},constants=practical"] if "constants" in accepted else [spec]
    return tuple(specs)


def setting(agent: str, instance: str, n_arms: int, horizon: int, c0: float = 1.0, dim: int | None = None) -> Task:
    """The task of a setting, from which its name, its sentence, its principals and its seeds follow."""
    dim = dim or 3 if instance == "unit-ball" else None
    c0 = c0 if "c0" in AGENTS[agent].parameters else 0.0
    power = len(str(horizon)) - 1
    parts = (
        f"d{dim}" if dim else "",
        f"k{n_arms}",
        f"t1e{power}" if power >= 4 and horizon == 10**power else f"t{horizon}",
        "linear" if dim else instance,
        "" if agent in DEFAULT_AGENTS else agent,
        f"c{c0:g}" if c0 not in (0, 1) else "",
    )
    name = "-".join(part for part in parts if part)
    shipped = (policy for policy, task in policies().items() if task == name)
    about = FAMILIES[instance].about
    return Task(
        name=name,
        probes=f"{about[0].upper()}{about[1:]}; the agent {AGENTS[agent].about}.",
        agent=agent,
        c0=c0,
        instance=instance,
        n_arms=n_arms,
        dim=dim,
        horizon=horizon,
        principals=(*contenders(dim is not None, c0), *shipped),
        seeds=50 if horizon <= 1000 else 20 if horizon <= 10**4 else 10 if horizon <= 10**6 else 8,
        version=2 if dim else 1,  # at first only principals that are told the arms played with linear rewards
    )


def _short() -> Iterator[Task]:
    for (n_arms, horizon), instance in product(((3, 100), (5, 200), (5, 1000)), ("uniform", "misaligned")):
        yield setting("empirical-mean", instance, n_arms, horizon)
    yield setting("exploratory", "uniform", 5, 200)


def _who_wins() -> Iterator[Task]:
    for horizon in HORIZONS:
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
    # The paper's constants for an agent that explores leave their first phase this early only if it does so little.
    yield setting("exploratory", "uniform", 5, 10**6, c0=0.05)


def _default() -> Iterator[Task]:
    yield from _short()
    for agent in IID_AGENTS:
        yield setting(agent, "uniform", 5, 10**7)
    for agent in ("ols", "oracle"):
        yield setting(agent, "unit-ball", 5, 10**4)


TINY = replace(
    setting("empirical-mean", "uniform", 3, 50), name="tiny", principals=("elimination", "zero", "oracle"), seeds=2
)
_SUITES = {
    "default": tuple(_default()),
    "short": tuple(_short()),
    "table-1": tuple(_table_1()),
    "who-wins": tuple(_who_wins()),
    "tiny": (TINY,),
}
TASKS: dict[str, Task] = {made.name: made for suite in _SUITES.values() for made in suite}
SUITES: dict[str, tuple[str, ...]] = {name: tuple(made.name for made in suite) for name, suite in _SUITES.items()}
SUITES["all"] = tuple(name for name in TASKS if name != "tiny")


def tasks(*names: str) -> tuple[Task, ...]:
    """Tasks by their names or the names of suites, each once; without any, all of them."""
    found = {name: None for chosen in names or ("all",) for name in SUITES.get(chosen, (chosen,))}
    return tuple(task(name) for name in found)


def task(name: str) -> Task:
    """A task by name."""
    if name not in TASKS:
        raise unknown("task", name, (*SUITES, *TASKS), "`pa-bench list` shows every task and suite")
    return TASKS[name]
