"""Types of agents (Liu et al., ICML 2025, arXiv 2505.23124): greedy ones in a narrow window of prices, and smooth ones.

All tables are of the regret against the best fixed price on one arm in hindsight (``regret_fixed``).

- Greedy types: of two types one prefers a worthless arm and moves to arm 1 for a price x; the other prefers the best
  arm and leaves it for arm 1 at x + w. Prices in this window are worth 0.15 a round more than any other on one arm.
  With a fixed window, w = 0.001 at x = 0.3, this is no lower bound: one that bisects (:class:`Bisect`) finds it. With x
  at random and w = 2^-T bisection takes the whole game. Floating-point numbers allow that in short games only. Offers
  on two arms get round either window (:class:`BisectTwoArms`).
- Logit types: responses are smooth, and the regret of ``price-grid`` has a bound of order T^(2/3).
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, estimate
from baselines.principal import Principal, Rounds, hold, offer
from baselines.registry import PRINCIPALS, is_trained, make, parameters
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study, mean_text, side_by_side
from baselines.reproduce.growth import Fit, fit
from baselines.simulation import simulate
from pa_env import IID
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import make_agent

GREEDY = IID(mu=[0.5, 0.5, 0.5], theta=[0.0, 0.6, 1.0])  # the types bring means of their own
GREEDY_TYPES = ((0.8, 0.5, 0.0), (0.0, 0.499, 0.8))
GREEDY_HORIZONS = (10**4, 10**5, 10**6)
WINDOW_HORIZONS, WINDOW_RUNS = (10, 20, 40), 200  # 2^-40 is as narrow as prices in [0, 1] can be told apart safely
SLOW = ("price-grid", "particle")  # played up to 1e5 rounds
LOGIT_HORIZONS = (3162, 10_000, 31_623, 100_000, 316_228)
TEMPERATURE, BOUND = 0.3, 2 / 3  # of logit types, and the power of T in the bound of price-grid
RUNS, SMOOTH_RUNS = 30, 20
QUICK_HORIZONS, QUICK_RUNS = (1000, 3162), 10
ABOUT = (
    "Agents of several types that come in some order (Liu et al., ICML 2025, arXiv 2505.23124). All tables are of the"
    " regret against the best fixed price on one arm in hindsight (`regret_fixed`), means over runs with 95% bootstrap"
    f" intervals. Left out are principals that are privileged, trained, told what to offer or told the arms' vectors."
    f" {TOO_FEW}"
)


class Bisect(Principal):
    """Bisect the lowest price at which each arm is ever played, then keep the best of these prices and of no offer.

    Each question is asked ``asked`` times, so that both types answer. The K + 1 offers are compared over 2 T^(2/3)
    rounds in all, or what is left.
    """

    name = "bisect"
    asked = 16

    def rounds(self) -> Rounds:
        """Search, compare, keep."""
        steps = min(40, self.horizon)  # doubles in [0, 1] are not told apart beyond
        prices = []
        for arm in range(self.n_arms):
            low, high = 0.0, 1.0
            for _ in range(steps):
                middle = (low + high) / 2
                outcome = yield hold(arm, middle, self.asked)
                low, high = (low, middle) if outcome.plays[arm] else (middle, high)
            prices.append(high)
        offers = [(0, 0.0), *enumerate(prices)]
        length = max(1, int(2 * self.horizon ** (2 / 3)) // len(offers))
        earned = []
        for arm, price in offers:
            outcome = yield hold(arm, price, length)
            earned.append(outcome.sums.sum() - price * outcome.plays[arm])
        arm, price = offers[int(np.argmax(earned))]
        while True:
            yield hold(arm, price, self.horizon)


class BisectFast(Bisect):
    """The same for games of a few dozen rounds: every question is asked once, and only arm 1 is searched."""

    name = "bisect-fast"

    def rounds(self) -> Rounds:
        """Search the price of arm 1 to the end."""
        low, high = 0.0, 1.0
        while True:
            middle = (low + high) / 2
            outcome = yield hold(1, middle)
            low, high = (low, middle) if outcome.plays[1] else (middle, high)


class BisectTwoArms(Principal):
    """Bisect the price x of arm 1, with enough on the best arm, 2, to keep there the type that prefers it.

    That type leaves for arm 1 at x + w. Since x is at least the lower end of the bracket, the difference to it is
    enough. The other type alone answers, and what arm 2 costs vanishes with the bracket: no window has to be hit.
    """

    name = "bisect-two-arms"

    def rounds(self) -> Rounds:
        """Bisect, as long as prices can be told apart, and keep the last ones."""
        low, high = 0.0, 1.0
        while high - low > 2.0**-50:
            middle = (low + high) / 2
            outcome = yield offer([0.0, middle, middle - low])
            if outcome.plays[1]:
                high = middle
            elif outcome.plays[0]:
                low = middle
        while True:
            yield offer([0.0, high, high - low], self.horizon)


OURS = {kind.name: kind for kind in (Bisect, BisectFast, BisectTwoArms)}


def principal_of(name: str, horizon: int) -> Principal:
    """A registered principal, or one of this file."""
    kind = OURS.get(name)
    return kind(GREEDY.n_arms, horizon) if kind else make(name, n_arms=GREEDY.n_arms, horizon=horizon)


def greedy_regrets(name: str, horizon: int, runs: int) -> Floats:
    """Regrets (runs,) of a principal against the two greedy types with the fixed window, in random order."""
    agent = make_agent("types", types=GREEDY_TYPES)
    regrets: Floats = simulate(principal_of(name, horizon), GREEDY, agent, seeds=range(runs)).regret_fixed[:, -1]
    return regrets


def window_regrets(name: str, horizon: int, runs: int) -> Floats:
    """Regrets (runs,) against a window of width 2^-T at a place that is drawn at random for each run."""
    places = np.random.default_rng(0).uniform(0.25, 0.35, runs)
    regrets = np.empty(runs)
    for seed, place in enumerate(places):
        types = ((0.8, 0.8 - place, 0.0), (0.0, 0.8 - place - 2.0**-horizon, 0.8))
        agent = make_agent("types", types=types)
        regrets[seed] = simulate(principal_of(name, horizon), GREEDY, agent, seed=seed).regret_fixed[-1]
    return regrets


def logit_regrets(horizon: int, runs: int) -> Floats:
    """Regrets (runs,) of ``price-grid`` against three logit types that come in blocks."""
    agent = make_agent("types", types=3, order="blocks", temperature=TEMPERATURE)
    principal = make("price-grid", n_arms=3, horizon=horizon, lipschitz=1.0 / TEMPERATURE)
    regrets: Floats = simulate(principal, "uniform", agent, seeds=range(runs)).regret_fixed[:, -1]
    return regrets


def contenders() -> Iterator[str]:
    """Principals that can play: not told the types, the arms as vectors, or what to offer; and those that bisect."""
    yield from (Bisect.name, BisectTwoArms.name)
    for name, kind in PRINCIPALS.items():
        needed = {parameter.name for parameter in parameters(name) if parameter.default is parameter.empty}
        if not (needed or kind.only_arms or kind.privileged or is_trained(name)):
            yield name


def greedy(study: Study) -> dict[tuple[str, int], Measurement]:
    """Measurements in the fixed window, by principal and horizon."""
    horizons, runs = (QUICK_HORIZONS[:1], QUICK_RUNS) if study.quick else (GREEDY_HORIZONS, study.seeds or RUNS)
    return {
        (name, T): Measurement(f"greedy, {name}, T = {T:.0e}, {runs} runs", greedy_regrets, (name, T, runs))
        for name in contenders()
        for T in horizons
        if name not in SLOW or T <= 10**5
    }


def window(study: Study) -> dict[tuple[str, int], Measurement]:
    """Measurements in the narrow window, by principal and horizon."""
    horizons, runs = (WINDOW_HORIZONS[:2], 20) if study.quick else (WINDOW_HORIZONS, WINDOW_RUNS)
    return {
        (name, T): Measurement(f"window, {name}, T = {T}, {runs} runs", window_regrets, (name, T, runs))
        for name in (BisectFast.name, BisectTwoArms.name, "zero", "ipa", "profit-target", "bracket-ucb")
        for T in horizons
    }


def logit(study: Study) -> dict[int, Measurement]:
    """Measurements of logit types, by horizon."""
    horizons, runs = (QUICK_HORIZONS, QUICK_RUNS) if study.quick else (LOGIT_HORIZONS, study.seeds or SMOOTH_RUNS)
    return {T: Measurement(f"logit, T = {T}, {runs} runs", logit_regrets, (T, runs)) for T in horizons}


def plan(study: Study) -> Iterator[Measurement]:
    """Greedy types in both windows, and logit types."""
    yield from greedy(study).values()
    yield from window(study).values()
    yield from logit(study).values()


def page(evidence: Evidence, _: Path) -> list[str]:
    """A table for each kind of types."""
    points = {T: np.array(evidence.values[each.name]) for T, each in logit(evidence.study).items()}
    growth = fit(list(points), side_by_side(points.values()))
    smooth = [{"T": f"{T:,}", "regret": bracketed(estimate(own)), "runs": str(own.size)} for T, own in points.items()]
    return [
        ABOUT,
        "## Greedy types, a fixed window",
        "Of two types, which come in random order, one prefers a worthless arm and moves to arm 1 for 0.3; the other"
        " prefers the best arm and leaves it for arm 1 at 0.301. Prices between the two are worth 0.15 a round more"
        " than any other on one arm. The table has the regret divided by T; – is not played. It shows who misses a"
        " fixed window, and is no lower bound: `bisect`, made for it, finds the lowest price at which each arm is ever"
        " played and keeps the best; `bisect-two-arms` is described below.",
        window_sentence(evidence, greedy(evidence.study)),
        shares(evidence, greedy(evidence.study)),
        "## Greedy types, a window as narrow as the game is long",
        "The window has width 2^-T, at a place drawn from [0.25, 0.35] in each run, and the types come in random order."
        " Whether an offer on one arm is accepted at best halves what is unknown, so that to find the window takes"
        " all but three or so of the T rounds. Prices are floating-point numbers, so the games are short. `bisect-fast`"
        " asks for arm 1 alone, a price a round. This is no bound for all offers: `bisect-two-arms`, made for it, pays"
        " for arm 1 and, on arm 2, as much as keeps there the type that prefers it, and so has no window to hit.",
        shares(evidence, window(evidence.study)),
        "## Logit types",
        f"Three types with temperature {TEMPERATURE:g} that come in blocks, `uniform` instances with K = 3, against"
        f" `price-grid`, which is told the Lipschitz constant 1 / {TEMPERATURE:g} of their choices. Its authors bound"
        " its regret by order T^(2/3), logarithms aside."
        f" {growth_sentence(growth)}",
        tables.markdown(pd.DataFrame(smooth)),
    ]


def shares(evidence: Evidence, cells: dict[tuple[str, int], Measurement]) -> str:
    """Regret / T, a row for each principal and a column for each horizon."""
    rows: dict[str, dict[str, str]] = {}
    for (name, T), each in cells.items():
        regrets = np.array(evidence.values[each.name])
        row = rows.setdefault(name, {"principal": name, "runs": str(regrets.size)})
        row[f"T = {T:,}"] = mean_text(regrets / T)
    return tables.markdown(pd.DataFrame(list(rows.values())).fillna("–"))


def window_sentence(evidence: Evidence, cells: dict[tuple[str, int], Measurement]) -> str:
    """Who has more regret than ``zero`` at the longest horizon that it played, less, or neither for sure."""
    longest = {name: (name, T) for name, T in cells}
    regrets = {name: np.array(evidence.values[cells[key].name]) for name, key in longest.items()}
    sides: dict[str, list[str]] = {"more": [], "less": [], "neither": []}
    for name, (_, T) in longest.items():
        difference = estimate(regrets[name] - np.array(evidence.values[cells["zero", T].name]))
        side = "more" if difference.low > 0 else "less" if difference.high < 0 else "neither"
        sides[side].append(f"`{name}`")
    sides["neither"].remove("`zero`")
    more, less, neither = (", ".join(names) or "none" for names in sides.values())
    return (
        "At the longest horizon that each has played, with 95% intervals of single paired differences: more regret than"
        f" `zero`, which offers nothing: {more}; less: {less}; not separated from it: {neither}."
    )


def growth_sentence(growth: Fit) -> str:
    """The slope beside the bound's, from its interval: above, below, or not separated; and whether it falls."""
    slope, local = growth.slope, growth.local
    if np.isnan(slope.low):
        place = "with too few runs for an interval"
    elif slope.low > BOUND:
        place = "above it"
    else:
        place = "below it" if slope.high < BOUND else "not separated from it"
    falls = all(later < earlier for earlier, later in pairwise(local))
    falling = f", {'falling' if falls else 'not falling throughout'} from point to point ({growth.bends()})"
    falling = falling if len(local) > 1 else ""
    return (
        f"The slope of log regret against log T is {bracketed(slope, digits=3)}, where the bound has {BOUND:.3f}:"
        f" {place}{falling}. A bound holds up to a constant and logarithms, so a slope above it at these horizons is no"
        " contradiction, and no confirmation."
    )


CLAIM = Claim(
    "types",
    "Types of agents",
    "Regret against types of agents: greedy ones in a window of prices, fixed or too narrow to find, and smooth ones.",
    plan,
    page,
)
