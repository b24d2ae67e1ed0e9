"""Principals without a theorem beside those with one: in long games on average, and on the worst instances found.

``profit-target`` and ``bracket-ucb`` have low regret in most tables of this package, and no theorem. A theorem is
a promise against every instance and every agent of its class. So the worst instance of each is searched for, agent by
agent: random means first, then small changes of the worst ones. What is found is played again on fresh seeds, and at
longer horizons, beside the algorithm whose theorem covers that agent. Each seed plays the arms in an order of its own,
since the paper's algorithms play them in turn: one whose first phase lasts to the end would gain from a good first arm.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed, number
from baselines.benchmark.statistics import TOO_FEW, against_best, estimate
from baselines.episodes import Run
from baselines.registry import make
from baselines.reproduce import phases
from baselines.reproduce.claim import (
    TESTED,
    Cell,
    Claim,
    Evidence,
    Measurement,
    Study,
    mean_text,
    side_by_side,
    verdicts,
)
from baselines.reproduce.growth import fit
from baselines.simulation import simulate
from baselines.specs import parse
from baselines.tasks import Task, setting
from pa_env import IID
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import ScriptedAgent, make_agent

HEURISTICS = ("profit-target", "bracket-ucb")
THEOREMS = {  # agents of the paper, each with the algorithm whose theorem covers it
    "empirical-mean": "elimination",
    "oracle": "elimination",
    "exploratory": "exploratory",
    "exploratory,exploration=worst": "exploratory",
    "exploratory-oracle": "exploratory-oracle",
}
N_ARMS, HORIZON = 3, 10**4
FIRST, GENERATIONS, CHILDREN, PARENTS, STEP = 200, 4, 40, 5, 0.1
TRIED_SEEDS, FRESH_SEEDS = range(8), range(10**6, 10**6 + 100)
LONGER, LONGER_SEEDS = (10**4, 10**5, 10**6), 30
ON_AVERAGE = (*HEURISTICS, "elimination", "zero")  # in games of five uniform arms
AVERAGE_HORIZONS, AVERAGE_SEEDS = (10**6, 3 * 10**6, 10**7), 30
QUICK_AVERAGE = (10**3, 10**4)


class Sizes(NamedTuple):
    """Sizes of a search and of what confirms it."""

    horizon: int
    first: int
    generations: int
    horizons: tuple[int, ...]
    fresh: int
    longer: int


FULL = Sizes(HORIZON, FIRST, GENERATIONS, LONGER, len(FRESH_SEEDS), LONGER_SEEDS)
QUICK = Sizes(1000, 20, 1, (1000, 3000), 20, 20)


def agent_of(spec: str) -> ScriptedAgent:
    """The scripted agent of a spec."""
    parsed = parse(spec, "agent")
    return make_agent(parsed.place, **parsed.parameters)


def play(principal: str, agent: str, means: Any, horizon: int, seeds: range) -> Run:
    """Games on one instance, whose arms each seed has in an order of its own.

    Args:
        principal: its spec.
        agent: its spec.
        means: theta, mu (2, K).
        horizon: rounds.
        seeds: of the episodes.
    """
    spec = parse(principal, "principal")
    player = make(spec.place, n_arms=N_ARMS, horizon=horizon, **spec.parameters)

    def shuffled(rng: np.random.Generator) -> IID:
        theta, mu = rng.permutation(np.asarray(means), axis=1)
        return IID(mu=mu, theta=theta)

    return simulate(player, shuffled, agent_of(agent), seeds=seeds, checkpoints=[horizon])


def worst_instance(principal: str, agent: str, sizes: Sizes) -> Floats:
    """Theta and mu (2, K) of the largest mean R_T that the search has met, on ``TRIED_SEEDS``.

    The maximum of noisy means flatters itself: play it again on other seeds.
    """
    rng = np.random.default_rng(0)
    pool: list[tuple[float, Floats]] = []
    candidates = rng.random((sizes.first, 2, N_ARMS))
    for _ in range(sizes.generations + 1):
        pool += [(float(play(principal, agent, c, sizes.horizon, TRIED_SEEDS).regret.mean()), c) for c in candidates]
        pool = sorted(pool, key=lambda each: -each[0])[:PARENTS]
        parents = np.stack([means for _, means in pool])[rng.integers(len(pool), size=CHILDREN)]
        candidates = np.clip(parents + rng.normal(0, STEP, parents.shape), 0, 1)
    return pool[0][1]


def worst_case(principal: str, agent: str, sizes: Sizes) -> dict[str, Any]:
    """The worst instance found, with R_T on fresh seeds of the principal and, in longer games, of its rivals too.

    ``first``: horizons of games that end in the first phase of a rival.
    """
    means = worst_instance(principal, agent, sizes)
    fresh = FRESH_SEEDS[: sizes.fresh]
    longer: dict[str, list[list[float]]] = {}
    first: dict[str, list[int]] = {}
    for name in rivals(principal, agent):
        runs = {T: play(name, agent, means, T, fresh[: sizes.longer]) for T in sizes.horizons}
        longer[name] = [run.regret[:, -1].tolist() for run in runs.values()]
        first[name] = [T for T, run in runs.items() if len(run.phases[0]) == 1]
    confirmed = play(principal, agent, means, sizes.horizon, fresh).regret[:, -1].tolist()
    return {"means": means.tolist(), "confirmed": confirmed, "longer": longer, "first": first}


def rivals(principal: str, agent: str) -> tuple[str, ...]:
    """The players of an instance: the principal, the algorithm with a theorem and both constants, and ``zero``."""
    theorem = THEOREMS[agent]
    return principal, theorem, f"{theorem},constants=practical", "zero"


def measurements(study: Study) -> dict[tuple[str, str], Measurement]:
    """The searches, by principal and agent."""
    sizes = QUICK if study.quick else FULL
    return {
        (name, agent): Measurement(
            f"worst case of {name} vs {agent}, T = {sizes.horizon:.0e}", worst_case, (name, agent, sizes)
        )
        for name in HEURISTICS
        for agent in list(THEOREMS)[: 2 if study.quick else None]
    }


def averages(study: Study) -> tuple[list[Task], int]:
    """The games on average instances, and their number of seeds."""
    horizons, seeds = (QUICK_AVERAGE, 10) if study.quick else (AVERAGE_HORIZONS, study.seeds or AVERAGE_SEEDS)
    return [replace(setting("empirical-mean", "uniform", 5, T), curve=False) for T in horizons], seeds


def plan(study: Study) -> Iterator[Cell | Measurement]:
    """Games on average instances, and every search."""
    games, seeds = averages(study)
    yield from (Cell(task, name, seeds) for task in games for name in ON_AVERAGE)
    yield from measurements(study).values()


def average_table(evidence: Evidence) -> str:
    """R_T on average instances, and by how much ``elimination`` differs from ``zero``."""
    games, seeds = averages(evidence.study)
    rows: dict[str, dict[str, str]] = {}
    for task in games:
        regrets = dict(zip(ON_AVERAGE, evidence.scores.per_round(task, ON_AVERAGE, seeds), strict=True))
        regrets["`elimination` less `zero`"] = regrets["elimination"] - regrets["zero"]
        for name, values in regrets.items():
            row = rows.setdefault(name, {"principal": name, "seeds": str(values.size)})
            row[f"R_T, T = {task.horizon:.0e}"] = bracketed(estimate(values * task.horizon))
    return tables.markdown(pd.DataFrame(list(rows.values())), as_is=["principal"])


def found_table(evidence: Evidence, sizes: Sizes) -> str:
    """The instances found, with R_T/T on fresh seeds."""
    rows = []
    for (name, agent), each in measurements(evidence.study).items():
        value = evidence.values[each.name]
        theta, mu = (", ".join(f"{x:.2f}" for x in row) for row in value["means"])
        confirmed = np.array(value["confirmed"])
        row = {"principal": name, "agent": agent, "theta": theta, "mu": mu}
        row["R_T/T, fresh seeds"] = mean_text(confirmed / sizes.horizon)
        rows.append(row | {"seeds": str(confirmed.size)})
    return tables.markdown(pd.DataFrame(rows))


def longer_table(evidence: Evidence, sizes: Sizes) -> pd.DataFrame:
    """Everybody on the instances found, with a verdict on each rival at the longest horizon."""
    rows, compared, differences = [], [], []
    for (name, agent), each in measurements(evidence.study).items():
        value = evidence.values[each.name]
        for rival, values in value["longer"].items():
            points = [np.array(column) for column in values]
            growth = fit(sizes.horizons, side_by_side(points))
            row = {"worst case of": f"{name} vs {agent}", "played by": rival}
            for T, column in zip(sizes.horizons, points, strict=True):
                row[f"T = {T:.0e}"] = mean_text(column / T) + phases.mark(T in value["first"][rival])
            row |= {"slope": bracketed(growth.slope, digits=2), "local slopes": growth.bends()}
            rows.append(row | {"R_T at the last": "–"})
            if rival != name:
                compared.append(rows[-1])
                differences.append(points[-1] - np.array(value["longer"][name][-1]))
    for row, verdict in zip(compared, verdicts(differences, "less", "more"), strict=True):
        row["R_T at the last"] = verdict
    return pd.DataFrame(rows)


def sentences(table: pd.DataFrame, last: int) -> str:
    """For each search: who has less R_T at the longest horizon than its principal, and who has more."""
    lines = []
    for case, part in table.groupby("worst case of", sort=False):
        sides: dict[str, list[str]] = {"less": [], "more": [], "not separated": []}
        for row in tables.records(part):
            for side, names in sides.items():
                if row["R_T at the last"].startswith(side):
                    names.append(f"`{row['played by']}`{phases.mark(phases.MARK in row[f'T = {last:.0e}'])}")
        name, _, agent = case.partition(" vs ")
        found = "; ".join(f"{side}: {', '.join(names) or 'none'}" for side, names in sides.items())
        lines.append(f"- `{name}` against {agent}, R_T at T = {last:.0e}, of the others: {found}.")
    return "\n".join(lines)


def average_sentences(evidence: Evidence) -> str:
    """For each horizon: the least mean R_T on average instances, and who is not separated from it."""
    games, seeds = averages(evidence.study)
    lines = []
    for task in games:
        table = np.column_stack(evidence.scores.per_round(task, ON_AVERAGE, seeds)) * task.horizon
        best = int(table.mean(axis=0).argmin())
        low, high = against_best(table, best)
        level = [
            f"`{name}` ({number((high[i] - low[i]) / 2)})"
            for i, name in enumerate(ON_AVERAGE)
            if i != best and not low[i] > 0
        ]
        more = [f"`{name}`" for i, name in enumerate(ON_AVERAGE) if low[i] > 0]
        lines.append(
            f"- T = {task.horizon:.0e}: of these {len(ON_AVERAGE)} the least mean R_T has `{ON_AVERAGE[best]}`,"
            f" {bracketed(estimate(table[:, best]))}; not separated from it on {len(table)} seeds:"
            f" {', '.join(level) or 'none'}; more: {', '.join(more) or 'none'}."
        )
    return "\n".join(lines)


def page(evidence: Evidence, _: Path) -> list[str]:
    """Average instances, the instances found, and who does how well on them."""
    sizes = QUICK if evidence.study.quick else FULL
    longer = longer_table(evidence, sizes)
    return [
        "A theorem is a promise, up to constants, against every instance and every agent of its class; no table of"
        " averages shows that. R_T is against the best incentives for the agent's beliefs; agents that explore have"
        " c0 = 1, those with `exploration=worst` explore the arm that is worst for the principal."
        f" Means over seeds with 95% bootstrap intervals. {TOO_FEW}",
        "## On average",
        "Five arms, `uniform` instances, an agent that learns. The paper's constants. In parentheses: about the"
        " smallest difference that so many seeds could have shown (max-T).",
        average_sentences(evidence),
        average_table(evidence),
        "## The worst instances found",
        f"The instance (K = {N_ARMS}, Bernoulli rewards) on which each principal has the largest mean R_T, agent by"
        f" agent, at T = {sizes.horizon:,}: {sizes.first} drawn at random, then {sizes.generations} times {CHILDREN}"
        f" small changes of the {PARENTS} worst, on {len(TRIED_SEEDS)} seeds each. A search finds a bad instance, not"
        f" the worst there is. The table is of fresh seeds, from {FRESH_SEEDS[0]:,} on, each with an order of the arms"
        " of its own.",
        found_table(evidence, sizes),
        "## The same instances in longer games",
        "R_T/T. The first principal of each block is the one that the instance was searched for; the next has a theorem"
        " that covers the agent, with the paper's constants, then with practical ones, which no theorem covers; then"
        f" `zero`. The last column compares R_T at the longest horizon with that of the first, on {sizes.longer} seeds."
        f" {TESTED} `{phases.MARK}`: the game (on seed 0) ends in the first phase.",
        sentences(longer, sizes.horizons[-1]),
        tables.markdown(longer),
    ]


CLAIM = Claim(
    "worst-case",
    "Principals without a theorem, on average and at their worst",
    "Long games on average, and a search for the worst instances of profit-target and bracket-ucb, agent by agent.",
    plan,
    page,
)
