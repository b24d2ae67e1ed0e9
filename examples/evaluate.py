r"""Evaluate principals side by side, on common seeds, so that differences between them are paired.

One of them, `ppo`, was trained on games like this one. The same comparison from the command line, with tables, figures
and a page, is

    pa-bench run --task k5-t200-uniform --principal profit-target --principal bracket-ucb \
        --principal explore-then-commit --principal zero --seeds 200 --out results/evaluate

    python examples/evaluate.py

In ten seconds it printed

    500 seeds, K = 5, T = 200; profit-target: 118.65
    principal            utility  minus profit-target, 95% interval
    ppo                   124.73  +6.08 (+2.75 to +9.64)
    bracket-ucb           121.84  +3.20 (-0.24 to +6.61)
    explore-then-commit    86.67  -31.97 (-36.36 to -27.40)
    zero                   98.35  -20.30 (-24.76 to -16.02)
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

import baselines

ARMS, HORIZON = 5, 200
REFERENCE = "profit-target"


def utilities(name: str, seeds: int) -> NDArray[np.float64]:
    """Utility of each seed's episode."""
    principal = baselines.make(name, n_arms=ARMS, horizon=HORIZON)
    runs = [baselines.simulate(principal, "uniform", "empirical-mean", seed=seed) for seed in range(seeds)]
    return np.array([run.utility[-1] for run in runs])


def main(seeds: int) -> None:
    """Print means, and differences with their intervals."""
    reference = utilities(REFERENCE, seeds)
    print(f"{seeds} seeds, K = {ARMS}, T = {HORIZON}; {REFERENCE}: {reference.mean():.2f}")
    print(f"{'principal':20} utility  minus {REFERENCE}, 95% interval")
    for name in ("ppo", "bracket-ucb", "explore-then-commit", "zero"):
        utility = utilities(name, seeds)
        difference = utility - reference
        low, high = bootstrap([difference], np.mean, rng=np.random.default_rng(0)).confidence_interval
        print(f"{name:20} {utility.mean():7.2f}  {difference.mean():+.2f} ({low:+.2f} to {high:+.2f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare principals on common seeds.")
    parser.add_argument("--seeds", type=int, default=500, help="episodes of each principal")
    main(parser.parse_args().seeds)
