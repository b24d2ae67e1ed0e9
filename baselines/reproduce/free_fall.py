"""Free fall: whether it pays to pay first and to stop later (Guruganesh et al., arXiv 2401.16198).

The paper's principal knows the game, and compares with the best fixed contract. So each instance has two yardsticks
that are told it: the best offer of one arm that is held throughout, and the best that is held for a share of the rounds
and then withdrawn. Both are chosen on some seeds and measured on others. The principal ``free-fall`` is told nothing.
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, Estimate, estimate
from baselines.principal import Principal, Rounds, hold
from baselines.registry import make, resolve_agent
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study
from baselines.simulation import simulate
from pa_env.game import Game
from pa_env.instances import InstanceLike
from pa_env.kernel.layout import Floats

AGENTS = ("hedge", "hedge,feedback=bandit", "exp3", "ucb", "empirical-mean")
FAMILIES = ("uniform", "misaligned")
N_ARMS, HORIZON = 3, 1000
AMOUNTS = (*(0.025 * i for i in range(21)), 0.6, 0.7, 0.8, 0.9, 1.0)  # of fixed offers
FIRST_AMOUNTS, SHARES = (0.5, 1.0, 2.0, 4.0), (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)  # of those that are withdrawn
NEITHER = "neither separably more nor less than"
CHOOSING_SEEDS, FRESH_SEEDS = 3 * 10**6, 4 * 10**6  # first ones


class Sizes(NamedTuple):
    """How much is played."""

    instances: int
    choosing: int  # episodes of each offer, by which the best is chosen
    fresh: int  # episodes of the best, which are shown


FULL, QUICK = Sizes(30, 20, 100), Sizes(2, 2, 4)


class Withdrawn(Principal):
    """Hold an incentive on one arm for a share of the rounds, then offer nothing.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        arm: that is paid for.
        amount: the incentive.
        share: of the rounds; 1 for a fixed offer.
    """

    name = "withdrawn"

    def __init__(self, n_arms: int, horizon: int, arm: int, amount: float, share: float) -> None:
        self.arm, self.amount, self.share = arm, amount, share
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request; nothing is offered after it."""
        yield hold(self.arm, self.amount, max(1, round(self.share * self.horizon)))


def utilities(principal: Principal, instance: InstanceLike, agent: str, seeds: range) -> Floats:
    """Expected utility (seeds,) of episodes."""
    values: Floats = simulate(principal, instance, agent, seeds=seeds).expected_utility[:, -1]
    return values


def best(grid: list[tuple[int, float, float]], instance: InstanceLike, agent: str, sizes: Sizes) -> float:
    """The mean utility on fresh seeds of the offer (arm, amount, share) that earns the most on the choosing seeds."""
    offers = [Withdrawn(N_ARMS, HORIZON, *each) for each in grid]
    choosing = range(CHOOSING_SEEDS, CHOOSING_SEEDS + sizes.choosing)
    chosen = max(offers, key=lambda each: utilities(each, instance, agent, choosing).mean())
    return float(utilities(chosen, instance, agent, range(FRESH_SEEDS, FRESH_SEEDS + sizes.fresh)).mean())


def earned(agent: str, family: str, sizes: Sizes) -> dict[str, list[float]]:
    """Mean utility on each instance of a family: nothing, the best fixed offer, the best withdrawn one, `free-fall`."""
    arms = range(N_ARMS)
    fixed = list(product(arms, AMOUNTS, (1.0,)))
    withdrawn = list(product(arms, FIRST_AMOUNTS, SHARES))
    found: dict[str, list[float]] = {"zero": [], "fixed": [], "withdrawn": [], "free-fall": []}
    for seed in range(sizes.instances):
        game = Game(N_ARMS, HORIZON, resolve_agent(agent), family)
        game.begin(seeds=[seed])
        instance = game.instance()
        fresh = range(FRESH_SEEDS, FRESH_SEEDS + sizes.fresh)
        for name in ("zero", "free-fall"):
            principal = make(name, n_arms=N_ARMS, horizon=HORIZON)
            found[name].append(float(utilities(principal, instance, agent, fresh).mean()))
        found["fixed"].append(best(fixed, instance, agent, sizes))
        found["withdrawn"].append(best(withdrawn, instance, agent, sizes))
    return found


def measurements(study: Study) -> dict[tuple[str, str], Measurement]:
    """By agent and family."""
    sizes = QUICK if study.quick else FULL._replace(instances=study.seeds or FULL.instances)
    return {
        (agent, family): Measurement(f"{agent}, {family}, {sizes.instances} instances", earned, (agent, family, sizes))
        for agent, family in product(AGENTS, FAMILIES)
    }


def plan(study: Study) -> Iterator[Measurement]:
    """Every agent on every family."""
    yield from measurements(study).values()


def verdict(name: str, differences: dict[tuple[str, str], Estimate]) -> str:
    """A sentence on what a principal earns beside the best fixed offer, by agent and family."""
    signs: dict[str, list[str]] = {"more than": [], "less than": [], NEITHER: []}
    for (agent, family), difference in differences.items():
        sign = "more than" if difference.low > 0 else "less than" if difference.high < 0 else NEITHER
        signs[sign].append(f"`{agent}` ({family})")
    parts = [f"{sign} `fixed` against {', '.join(where)}" for sign, where in signs.items() if where]
    return f"`{name}` earns {'; '.join(parts)}."


def page(evidence: Evidence, _: Path) -> list[str]:
    """The sentences, and the table that they are read from."""
    rows = []
    differences: dict[str, dict[tuple[str, str], Estimate]] = {"withdrawn": {}, "free-fall": {}}
    for (agent, family), each in measurements(evidence.study).items():
        found = {name: np.array(values) for name, values in evidence.values[each.name].items()}
        row = {"agent": agent, "instances": family} | {name: f"{values.mean():.1f}" for name, values in found.items()}
        for name, of in differences.items():
            of[agent, family] = estimate(found[name] - found["fixed"])
            row[f"{name} - fixed"] = bracketed(of[agent, family], "+", digits=1)
        row["free-fall - zero"] = bracketed(estimate(found["free-fall"] - found["zero"]), "+", digits=1)
        rows.append(row)
    sizes = measurements(evidence.study)[AGENTS[0], FAMILIES[0]].arguments[2]
    return [
        'Guruganesh et al., "Contracting with a Learning Agent" (arXiv 2401.16198): against a mean-based learner a'
        f" principal that pays first and then stops may earn more than with the best fixed contract. Here K = {N_ARMS},"
        f" T = {HORIZON:,}, and each of {sizes.instances} instances of a family has two yardsticks that are told it."
        f" `fixed` is the best incentive on one arm in all rounds, of {len(AMOUNTS)} from 0 to 1 on each arm, the"
        " smaller ones 0.025 apart. `withdrawn` is the best one that is withdrawn after a share of the rounds:"
        f" {', '.join(f'{amount:g}' for amount in FIRST_AMOUNTS)} on one arm, for"
        f" {', '.join(f'{share:g}' for share in SHARES)} of them. It offers at least 0.5 for 20 rounds, while `fixed`"
        f" may offer nothing. Both are chosen on {sizes.choosing} episodes and measured on {sizes.fresh} others. The"
        " principal `free-fall` is told nothing; its parameters are those of `pa-bench tune free-fall --task paid"
        " --trials 60`, rounded, which searches against `hedge` alone. The offers are chosen on seeds from 3,000,000"
        " on, and measured on seeds from 4,000,000 on.",
        "Means of the expected utility over instances; differences are paired by instance and have 95% intervals."
        " They are intervals of single rows, not corrected for the number of rows."
        f" `hedge` plays before it sees the offer, the other agents after. {TOO_FEW}",
        *(verdict(name, of) for name, of in differences.items()),
        tables.markdown(pd.DataFrame(rows)),
    ]


CLAIM = Claim(
    "free-fall",
    "Free fall: pay first, stop later",
    "What paying first and stopping later earns above the best fixed offer, against agents that learn.",
    plan,
    page,
)
