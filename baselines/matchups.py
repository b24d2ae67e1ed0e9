"""Who wins where: every principal against every agent it can meet, in one table.

Runs share their luck across principals: the same seeds, so the same instances and rewards.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from baselines.registry import make, parameters, principals
from baselines.simulate import simulate
from pa_env.game import Game

IID_AGENTS = ("empirical-mean", "exploratory", "oracle", "exploratory-oracle", "ucb", "thompson", "exp3")
LINEAR_AGENTS = ("ols", "exploratory", "oracle", "exploratory-oracle")
LINEAR_PRINCIPALS = ("linear", "c-ipa", "zero", "oracle")
NOT_LISTED = ("fixed",)  # says nothing without its incentives


class Match(NamedTuple):
    """A principal, with its parameters, against an agent on instances of a family."""

    principal: str
    given: tuple[tuple[str, Any], ...]
    agent: str
    instance: str
    horizon: int

    @property
    def label(self) -> str:
        """The principal and what it was given."""
        return ", ".join((self.principal, *(str(value) for _, value in self.given)))


def matches(horizon: int) -> Iterator[Match]:
    """Every pairing, principals with both kinds of constants where they have them."""
    for name in principals():
        if name in NOT_LISTED:
            continue
        kinds: list[tuple[tuple[str, Any], ...]] = [()]
        if "constants" in parameters(name):
            kinds.append((("constants", "practical"),))
        for given in kinds:
            if name not in LINEAR_PRINCIPALS or name in ("zero", "oracle"):
                yield from (Match(name, given, agent, "uniform", horizon) for agent in IID_AGENTS)
            if name in LINEAR_PRINCIPALS:
                yield from (Match(name, given, agent, "unit-ball", horizon) for agent in LINEAR_AGENTS)


def play(match: Match, seed: int) -> tuple[float, float]:
    """R_T and utility of one run, per round."""
    given = dict(match.given)
    game = Game(instance=match.instance, agent=match.agent, observe=False)
    game.begin(seeds=[seed])
    instance = game.instance()
    if "arms" in parameters(match.principal):
        given["arms"] = game.features[0]
    principal = make(match.principal, n_arms=game.n_arms, horizon=match.horizon, **given)
    run = simulate(principal, instance, match.agent, seed=seed, checkpoints=[match.horizon])
    return run.regret[-1] / match.horizon, run.utility[-1] / match.horizon


def show(horizons: tuple[int, ...], runs: int, processes: int) -> None:
    """Play every match and print R_T / T and utility a round, one table for i.i.d. and one for linear rewards."""
    from rich.console import Console
    from rich.progress import track
    from rich.table import Table

    console = Console()
    cells: dict[tuple[str, str, str], dict[int, np.ndarray[Any, Any]]] = {}
    jobs = [match for horizon in horizons for match in matches(horizon)]
    with ProcessPoolExecutor(processes) as pool:
        pending = [[pool.submit(play, match, seed) for seed in range(runs)] for match in jobs]
        for match, futures in track(list(zip(jobs, pending, strict=True)), console=console, transient=True):
            mean = np.mean([future.result() for future in futures], axis=0)
            cells.setdefault((match.instance, match.agent, match.label), {})[match.horizon] = mean
    for instance, title in (
        ("uniform", "i.i.d. rewards, K = 5, uniform"),
        ("unit-ball", "linear rewards, K = 5, d = 3"),
    ):
        columns = [f"{what}, T = {horizon:.0e}" for what in ("R_T/T", "utility") for horizon in horizons]
        table = Table("agent", "principal", *columns, title=f"{title}; {runs} runs")
        for (family, agent, label), values in cells.items():
            if family == instance:
                numbers = [f"{values[horizon][i]:.4f}" for i in (0, 1) for horizon in horizons]
                table.add_row(agent, label, *numbers)
        console.print(table)
