"""Where training starts: the parameters of the script that serve the task and the objective best, before any network.

A cross-entropy search: candidates are drawn around the mean, in logarithms, and the mean and spread move to the best of
them. All candidates play the same seeds.
"""

from dataclasses import dataclass

import numpy as np

from baselines.rl.evaluate import play_out
from baselines.scripted.profit_target import PARAMETERS, ProfitTarget
from baselines.tasks import Task
from pa_env.layout import Floats

SEARCH_SEEDS = 7 * 10**8
SEARCHED = tuple(name for name in PARAMETERS if name != "ceiling")
# An agent that has tried more arms earns more for both, though R_T, which compares with its beliefs, does not say so.
GIVEN: dict[str, dict[str, float]] = {"expected_utility": {"ceiling": 2.0}, "regret": {}}
SPREAD = 0.7  # of the first candidates, in logarithms


@dataclass(frozen=True)
class Search:
    """How long to search."""

    generations: int = 12
    candidates: int = 16
    elite: int = 5
    rounds: int = 600_000  # that each candidate plays, in whole episodes


def find(task: Task, score: str, sign: float, seed: int, search: Search) -> dict[str, float]:
    """Parameters of the script with the best mean of ``sign`` times a score, among the candidates of a search."""
    from baselines.rl.algorithms import steered

    script = ProfitTarget(task.n_arms, task.horizon)
    default = np.array([script.parameters[name] for name in SEARCHED])
    episodes = max(2, search.rounds // task.horizon)
    seeds = list(range(SEARCH_SEEDS, SEARCH_SEEDS + episodes))
    rng = np.random.default_rng([seed, task.horizon])

    def worth(logs: Floats) -> float:
        parameters = GIVEN[score] | dict(zip(SEARCHED, (default * np.exp(logs)).tolist(), strict=True))
        return sign * float(play_out(steered(task, episodes, parameters), None, seeds)[score].mean())

    mean, spread = np.zeros(default.size), np.full(default.size, SPREAD)
    best, highest = mean, worth(mean)
    for _ in range(search.generations):
        drawn = mean + spread * rng.standard_normal((search.candidates, default.size))
        worths = np.array([worth(logs) for logs in drawn])
        elite = drawn[np.argsort(-worths, kind="stable")[: search.elite]]
        mean, spread = elite.mean(axis=0), 0.5 * spread + 0.5 * elite.std(axis=0)
        if worths.max() > highest:
            best, highest = drawn[worths.argmax()], float(worths.max())
    return GIVEN[score] | dict(zip(SEARCHED, (default * np.exp(best)).round(6).tolist(), strict=True))
