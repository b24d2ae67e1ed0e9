"""Scores of trained principals and their intervals."""

import math

from pa_env.kernel.layout import Floats

SCORES = ("utility", "expected_utility", "regret", "regret_oracle")
TRIAL_SEEDS = 6 * 10**8  # first seed of tables that are looked at while policies are chosen
Z95 = 1.96


def interval(values: Floats) -> tuple[float, float]:
    """Mean, and half the width of its 95% interval."""
    return float(values.mean()), Z95 * float(values.std(ddof=1)) / math.sqrt(values.size)
