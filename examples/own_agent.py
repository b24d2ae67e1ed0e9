"""Write your own agent: ``reset``, ``choose``, ``learn`` and ``means``. It works with every interface.

``Forgetful`` is greedy like the paper's self-interested agent, but weighs recent rewards more: its beliefs never
settle. The principals of Liu & Ratliff (ICML 2025) assume that beliefs do. The table compares the two agents.

    python examples/own_agent.py

It takes ten seconds and prints

    principal       agent           utility per round, share refused
    elimination     empirical-mean  0.413   0.6%
    elimination     forgetful       0.379  13.4%
    exploratory     empirical-mean  0.251   2.7%
    exploratory     forgetful       0.243   5.1%
    profit-target   empirical-mean  0.665   0.1%
    profit-target   forgetful       0.706   3.1%
    zero            empirical-mean  0.587   0.0%
    zero            forgetful       0.587   0.0%
"""

import argparse

import numpy as np
from numpy.typing import NDArray

import baselines
import pa_env

PRINCIPALS = ("elimination", "exploratory", "profit-target", "zero")


class Forgetful:
    """Plays argmax belief + incentive; a reward moves the belief of its arm by the share ``step`` of the surprise."""

    def __init__(self, step: float = 0.1) -> None:
        self.step = step

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self.means: NDArray[np.float64] = np.zeros(n_arms)

    def choose(self, incentives: NDArray[np.float64]) -> int:
        """The arm to play on this offer."""
        return int(np.argmax(self.means + incentives))

    def learn(self, arm: int, reward: float) -> None:
        """Learn from the reward of the arm just played."""
        self.means[arm] += self.step * (reward - self.means[arm])


def play(name: str, agent: str | pa_env.Agent, horizon: int, seeds: int) -> tuple[float, float]:
    """Mean utility per round, and share of rounds in which the principal's target was refused."""
    practical = {"constants": "practical"} if name in ("elimination", "exploratory") else {}
    principal = baselines.make(name, n_arms=5, horizon=horizon, **practical)
    runs = [baselines.simulate(principal, "uniform", agent, seed=seed) for seed in range(seeds)]
    refused = np.mean([run.misses[-1] for run in runs]) / horizon
    return float(np.mean([run.utility[-1] for run in runs])) / horizon, float(refused)


def main(horizon: int, seeds: int) -> None:
    """Each principal against the paper's agent, and against ours."""
    agents: dict[str, str | pa_env.Agent] = {"empirical-mean": "empirical-mean", "forgetful": Forgetful()}
    print(f"{'principal':15} {'agent':15} utility per round, share refused")
    for name in PRINCIPALS:
        for label, agent in agents.items():
            utility, refused = play(name, agent, horizon, seeds)
            print(f"{name:15} {label:15} {utility:.3f} {refused:6.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Play principals against your own agent.")
    parser.add_argument("--horizon", type=int, default=5_000, help="rounds of an episode")
    parser.add_argument("--seeds", type=int, default=20, help="episodes of each pairing")
    arguments = parser.parse_args()
    main(arguments.horizon, arguments.seeds)
