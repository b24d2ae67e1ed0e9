"""Who wins where: every principal against every agent it can meet, at three horizons.

It is the suite ``who-wins`` of :mod:`baselines.tasks`, played like any other benchmark.
:mod:`baselines.reproduce.who_wins_page` writes what came of it.
"""

from collections.abc import Iterator
from itertools import product

import pandas as pd

from baselines.registry import is_trained, make
from baselines.reproduce.cells import Cell, Player
from baselines.simulation import simulate
from baselines.tasks import Task, tasks
from pa_env.checks import known
from pa_env.game import Game
from pa_env.kernel.layout import ArmRow

SUITE = "who-wins"
SEEDS = {10**3: 100, 10**4: 30, 10**5: 30}  # by horizon
# Beside the principals of the suite, with the i.i.d. rewards that they are published for.
VARIANTS = ("epsilon-greedy,variant=gross", "epsilon-greedy,variant=every-round")
# More than 10 us a round, against some agents or all: fewer seeds, and none at the longest horizon.
SLOW = ("price-grid", "particle", "knows-beliefs", "explore-then-commit", "linear,constants=practical")
SLOW_SEEDS = {10**3: 30, 10**4: 10}
REWARDS = ("all", "iid", "linear")
QUICK_AGENTS, QUICK_SEEDS = ("empirical-mean", "oracle"), 10

PHASED = ("elimination", "elimination-offline", "exploratory", "exploratory-oracle")
PHASED_AGENTS = ("empirical-mean", "exploratory", "exploratory-oracle")
PHASED_HORIZONS = (10**5, 10**6)
PHASED_RUNS = 100


def line_up(rewards: str = "all", quick: bool = False) -> Iterator[tuple[Task, str]]:
    """The tasks of the suite, each with one of the scripted principals that play it.

    Args:
        rewards: one of ``REWARDS``.
        quick: only the shortest horizon and a few agents.
    """
    known("rewards", rewards, REWARDS)
    chosen = [task for task in tasks(SUITE) if rewards == "all" or (task.dim is not None) == (rewards == "linear")]
    if quick:
        shortest = min(task.horizon for task in chosen)
        chosen = [task for task in chosen if task.horizon == shortest and task.agent in QUICK_AGENTS]
    for task in chosen:
        scripted = (spec for spec in task.principals if not is_trained(spec))
        for principal in (*scripted, *(VARIANTS if task.dim is None else ())):
            if principal not in SLOW or task.horizon in SLOW_SEEDS:
                yield task, principal


def cells(player: Player, rewards: str = "all") -> Iterator[Cell]:
    """What is played."""
    for task, principal in line_up(rewards, player.quick):
        seeds = (SLOW_SEEDS if principal in SLOW else SEEDS)[task.horizon]
        yield Cell(task, principal, QUICK_SEEDS if player.quick else player.seeds or seeds)


def best_arms_lost(principal: str, agent: str, horizon: int) -> int:
    """In how many runs the arm with the largest theta + mu is not active in the last phase, K = 5 uniform arms."""
    seeds = range(PHASED_RUNS)
    made = make(principal, n_arms=5, horizon=horizon, constants="practical")
    run = simulate(made, "uniform", agent, seeds=seeds)
    games = Game(5, copies=PHASED_RUNS, observe=False)
    games.begin(seeds=list(seeds))
    best = (games.arrays.arms[:, ArmRow.THETA] + games.arrays.arms[:, ArmRow.MU]).argmax(axis=1).tolist()
    return sum(arm not in phases[-1].active for arm, phases in zip(best, run.phases, strict=True))


def losses(quick: bool = False) -> pd.DataFrame:
    """In how many runs each of ``PHASED`` loses the best arm: a row for each agent and principal."""
    from rich.progress import track

    rows = []
    for agent, principal in track(tuple(product(PHASED_AGENTS, PHASED)), "best arms lost", transient=True):
        row = {"agent": agent, "principal": f"{principal},constants=practical"}
        for horizon in PHASED_HORIZONS[:1] if quick else PHASED_HORIZONS:
            row[f"T = {horizon:.0e}"] = f"{best_arms_lost(principal, agent, horizon)} of {PHASED_RUNS}"
        rows.append(row)
    return pd.DataFrame(rows)
