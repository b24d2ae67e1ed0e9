"""Scores of trained principals, and the seeds of trials."""

PLAYED_SCORES = ("utility", "expected_utility", "regret", "regret_oracle")
TRIAL_SEEDS = 6 * 10**8  # first seed of tables that are looked at while policies are chosen
