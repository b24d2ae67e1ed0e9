"""Where principals without a theorem lose: a search for the instances and agents of their largest regret.

``profit-target`` and ``bracket-ucb`` have the least regret in most tables of this package, and no theorem. A theorem is
a promise against every instance and every agent of its class. So the worst instance of each is searched for, agent by
agent: random means first, then small changes of the worst ones. What is found is played again on fresh seeds, and at
longer horizons, beside the algorithm whose theorem covers that agent.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from baselines.benchmark import tables
from baselines.benchmark.formatting import bracketed
from baselines.benchmark.statistics import TOO_FEW, Estimate
from baselines.registry import make
from baselines.reproduce.claim import Claim, Evidence, Measurement, Study, mean_text, side_by_side
from baselines.reproduce.growth import fit
from baselines.simulation import simulate
from baselines.specs import parse
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
LINEAR = 0.9  # a slope from which regret is called linear


class Sizes(NamedTuple):
    """How much is searched and confirmed."""

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


def regrets(principal: str, agent: str, means: Any, horizon: int, seeds: range) -> Floats:
    """R_T (seeds,) on one instance.

    Args:
        principal: its spec.
        agent: its spec.
        means: theta, mu (2, K).
        horizon: rounds.
        seeds: of the episodes.
    """
    spec = parse(principal, "principal")
    player = make(spec.place, n_arms=N_ARMS, horizon=horizon, **spec.parameters)
    theta, mu = np.asarray(means)
    run = simulate(player, IID(mu=mu, theta=theta), agent_of(agent), seeds=seeds, checkpoints=[horizon])
    values: Floats = run.regret[:, -1]
    return values


def worst_instance(principal: str, agent: str, sizes: Sizes) -> Floats:
    """Theta and mu (2, K) of the largest mean R_T that the search has met, on ``TRIED_SEEDS``.

    The maximum of noisy means flatters itself: play it again on other seeds.
    """
    rng = np.random.default_rng(0)
    pool: list[tuple[float, Floats]] = []
    candidates = rng.random((sizes.first, 2, N_ARMS))
    for _ in range(sizes.generations + 1):
        pool += [(float(regrets(principal, agent, c, sizes.horizon, TRIED_SEEDS).mean()), c) for c in candidates]
        pool = sorted(pool, key=lambda each: -each[0])[:PARENTS]
        parents = np.stack([means for _, means in pool])[rng.integers(len(pool), size=CHILDREN)]
        candidates = np.clip(parents + rng.normal(0, STEP, parents.shape), 0, 1)
    return pool[0][1]


def worst_case(principal: str, agent: str, sizes: Sizes) -> dict[str, Any]:
    """The worst instance found, with R_T of the principal, of the theorem's algorithm and of ``zero`` on fresh"
    " seeds.
    """
    means = worst_instance(principal, agent, sizes)
    fresh = FRESH_SEEDS[: sizes.fresh]
    return {
        "means": means.tolist(),
        "confirmed": regrets(principal, agent, means, sizes.horizon, fresh).tolist(),
        "longer": {
            name: [regrets(name, agent, means, T, fresh[: sizes.longer]).tolist() for T in sizes.horizons]
            for name in rivals(principal, agent)
        },
    }


def rivals(principal: str, agent: str) -> tuple[str, ...]:
    """Who plays the instance: the principal, the algorithm with a theorem, with both constants, and ``zero``."""
    theorem = THEOREMS[agent]
    return principal, theorem, f"{theorem},constants=practical", "zero"


def measurements(study: Study) -> dict[tuple[str, str], Measurement]:
    """By principal and agent."""
    sizes = QUICK if study.quick else FULL
    return {
        (name, agent): Measurement(
            f"worst case of {name} vs {agent}, T = {sizes.horizon:.0e}", worst_case, (name, agent, sizes)
        )
        for name in HEURISTICS
        for agent in list(THEOREMS)[: 2 if study.quick else None]
    }


def plan(study: Study) -> Iterator[Measurement]:
    """Every search."""
    yield from measurements(study).values()


def verdict(name: str, agent: str, slope: Estimate, beaten: list[str]) -> str:
    """What the longer games say of one search."""
    growth = f"its R_T grows like T^{slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}]"
    linear = ", as good as linearly" if slope.low > LINEAR else ""
    rest = (
        f"{', '.join(f'`{each}`' for each in beaten)} has less at the longest"
        if beaten
        else "none of the others has less there"
    )
    return f"- `{name}` against {agent}: {growth}{linear}; {rest}."


def page(evidence: Evidence, _: Path) -> list[str]:
    """The instances found, and who does how well on them."""
    sizes = QUICK if evidence.study.quick else FULL
    found, longer, sentences = [], [], []
    for (name, agent), each in measurements(evidence.study).items():
        value = evidence.values[each.name]
        theta, mu = (", ".join(f"{x:.2f}" for x in row) for row in value["means"])
        confirmed = np.array(value["confirmed"])
        found.append(
            {
                "principal": name,
                "agent": agent,
                "theta": theta,
                "mu": mu,
                "R_T/T, fresh seeds": mean_text(confirmed / sizes.horizon),
                "seeds": str(confirmed.size),
            }
        )
        last = {rival: float(np.mean(values[-1])) for rival, values in value["longer"].items()}
        for rival, values in value["longer"].items():
            points = [np.array(column) for column in values]
            slope = fit(sizes.horizons, side_by_side(points)).slope
            row = {"worst case of": f"{name} vs {agent}", "played by": rival}
            row |= {f"T = {T:.0e}": mean_text(column / T) for T, column in zip(sizes.horizons, points, strict=True)}
            longer.append(row | {"slope": bracketed(slope, digits=2), "seeds": str(points[0].size)})
            if rival == name:
                sentences.append(verdict(name, agent, slope, [one for one in last if last[one] < last[name]]))
    return [
        f"The instance (K = {N_ARMS}, Bernoulli rewards) on which each principal has the largest mean R_T at T ="
        f" {sizes.horizon:,}: {sizes.first} drawn at random, then {sizes.generations} generations of {CHILDREN} small"
        f" changes of the {PARENTS} worst, on {len(TRIED_SEEDS)} seeds each. A search finds a bad instance, not the"
        f" worst there is. Means over fresh seeds with 95% bootstrap intervals. {TOO_FEW}",
        tables.markdown(pd.DataFrame(found)),
        "## The same instances in longer games",
        "R_T/T. The first principal of each block is the one that the instance was searched for; the next has a theorem"
        " that covers the agent, with the paper's constants, then with practical ones, which no theorem covers.",
        "\n".join(sentences),
        tables.markdown(pd.DataFrame(longer)),
    ]


CLAIM = Claim(
    "worst-case",
    "Where principals without a theorem lose",
    "A search for the worst instances of profit-target and bracket-ucb, agent by agent, confirmed on fresh seeds.",
    plan,
    page,
)
