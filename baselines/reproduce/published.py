"""The published curves of Scheid et al. (ICML 2024, arXiv 2403.03811), run again with our principals.

Setting: the authors' instances, Gaussian rewards with variance 1, the oracle agent. Each published number is a mean
over 30 runs. Their regret counts gaps only: the sum over rounds of max_a (theta_a + mu_a) - (theta_A + mu_A), so
overpayment costs nothing. It is none of the three regrets of :class:`baselines.Run`, and is computed here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import NORMAL_ENDS, Estimate, estimate
from baselines.principal import Principal, Rounds
from baselines.registry import PRIVILEGED
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study
from baselines.scripted.peers.epsilon_greedy import EpsilonGreedy
from baselines.scripted.peers.ipa import IPA, net_ucb
from baselines.scripted.simple import Oracle
from baselines.simulation import simulate
from pa_env.instances import IPA_K5, IPA_K50
from pa_env.kernel.layout import ArmRow, Floats

PUBLISHED_RUNS = 30  # behind every published number
RUNS, QUICK_RUNS = 600, 10  # ours

ABOUT = (
    "The experiments of Scheid et al. (ICML 2024, arXiv 2403.03811), on their instances with Gaussian rewards of"
    " variance 1 and an agent that knows its means. Their regret counts gaps only: the sum over rounds of max_a"
    " (theta_a + mu_a) - (theta_A + mu_A), so that payments cost nothing. Means over runs, ± half a 95% interval"
    f" where it is known; each published number is a mean over {PUBLISHED_RUNS} runs. `distance` is in combined"
    f" standard errors; one that is not published is taken to be that of {PUBLISHED_RUNS} of our runs."
)


class ToldUCB(Oracle):
    """Privileged: the UCB of IPA at the prices pi*_a + 1/T of an agent that knows its means, without a search."""

    name = "ucb-told"

    def rounds(self) -> Rounds:
        """UCB from the first round on."""
        means = self.game.arrays.arms[0, ArmRow.MU]
        yield net_ucb(self, means.max() - means + 1 / self.horizon)


PRIVILEGED.add(ToldUCB)  # it is shown the game, as the yardsticks of this package are


@dataclass(frozen=True)
class PublishedNumber:
    """One number of the paper, and what is run for it."""

    principal: str
    n_arms: int
    horizon: int
    published: float
    error: float | None  # standard error, where one is published
    make: Callable[[int, int], Principal]

    @property
    def label(self) -> str:
        """For the table."""
        return f"{self.principal}, K = {self.n_arms}, T = {self.horizon}"


class Distance(NamedTuple):
    """Mean and standard error of our runs, and the distance to the published number in combined standard errors."""

    mean: float
    error: float
    distance: float


def epsilon_greedy(m: int) -> Callable[[int, int], Principal]:
    """As published, with the m of the number."""
    return lambda n_arms, horizon: EpsilonGreedy(n_arms, horizon, m, "as-published")


NUMBERS = (
    PublishedNumber("IPA", 5, 10_000, 257.0, None, IPA),
    PublishedNumber("IPA", 5, 40_000, 316.4, 9.6, IPA),
    PublishedNumber("IPA", 50, 40_000, 2969.0, 28.0, IPA),
    PublishedNumber("UCB told the incentives", 5, 10_000, 219.5, None, ToldUCB),
    PublishedNumber("UCB told the incentives", 5, 40_000, 296.5, 7.4, ToldUCB),
    PublishedNumber("UCB told the incentives", 50, 40_000, 2582.0, 21.0, ToldUCB),
    PublishedNumber("epsilon-greedy, m = 500", 5, 10_000, 777.0, None, epsilon_greedy(500)),
    PublishedNumber("epsilon-greedy, m = 100", 5, 40_000, 2264.0, 927.0, epsilon_greedy(100)),
    PublishedNumber("epsilon-greedy, m = 2000", 50, 40_000, 5723.0, 231.0, epsilon_greedy(2000)),
)


def pseudo_regrets(number: PublishedNumber, runs: int) -> Floats:
    """The sum of the gaps of all rounds, for each run (runs,)."""
    instance = {5: IPA_K5, 50: IPA_K50}[number.n_arms]
    joint = instance.theta + instance.mu
    principal = number.make(number.n_arms, number.horizon)
    run = simulate(principal, instance, "oracle", seeds=range(runs), checkpoints=[number.horizon])
    regrets: Floats = run.plays[:, -1] @ (joint.max() - joint)
    return regrets


def compare(number: PublishedNumber, regrets: Floats) -> Distance:
    """Our runs against the published number; an error that is not published is taken to be that of 30 of our runs."""
    mean, spread = float(regrets.mean()), float(regrets.std(ddof=1))
    error = spread / np.sqrt(len(regrets))
    published_error = spread / np.sqrt(PUBLISHED_RUNS) if number.error is None else number.error
    return Distance(mean, float(error), (mean - number.published) / float(np.hypot(error, published_error)))


def measurements(study: Study) -> dict[PublishedNumber, Measurement]:
    """The measurement behind each number."""
    runs = QUICK_RUNS if study.quick else study.seeds or RUNS
    return {each: Measurement(f"{each.label}, {runs} runs", pseudo_regrets, (each, runs)) for each in NUMBERS}


def plan(study: Study) -> Iterator[Measurement]:
    """All numbers."""
    yield from measurements(study).values()


def page(evidence: Evidence, _: Path) -> list[str]:
    """Ours beside the published numbers."""
    rows = []
    for number, measurement in measurements(evidence.study).items():
        regrets = np.array(evidence.values[measurement.name])
        ends = number.published + NORMAL_ENDS * (np.nan if number.error is None else number.error)
        rows.append(
            {
                "principal, K, T": number.label,
                "published": plus_minus(Estimate(number.published, *ends), digits=1),
                "ours": plus_minus(estimate(regrets), digits=1),
                "runs": str(regrets.size),
                "distance": f"{compare(number, regrets).distance:+.1f}",
            }
        )
    return [ABOUT, tables.markdown(pd.DataFrame(rows))]


CLAIM = Claim(
    "published",
    "The published curves of IPA's authors",
    "The experiments of IPA's authors, run again with our principals.",
    plan,
    page,
)
