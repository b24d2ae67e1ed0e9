r"""Evaluate principals side by side, on common seeds, so that differences between them are paired.

One of them, `ppo`, was trained on this task and others. The same comparison from the command line, with tables, figures
and a page, is

    pa-bench run --task k5-t200-uniform --principal ppo --principal profit-target --principal bracket-ucb \
        --principal explore-then-commit --principal zero --seeds 500 --out results/evaluate

    python examples/evaluate.py
"""

import argparse

import baselines

PRINCIPALS = ("ppo", "profit-target", "bracket-ucb", "explore-then-commit", "zero")
REFERENCE = "profit-target"


def main(seeds: int) -> None:
    """Print the comparison, and paired differences to one principal with their 95% intervals."""
    comparison = baselines.compare(PRINCIPALS, "k5-t200-uniform", seeds=seeds)
    print(comparison)
    print(f"\nutility minus that of {REFERENCE}, 95% interval")
    for name in PRINCIPALS:
        if name != REFERENCE:
            mean, low, high = comparison.difference(name, REFERENCE).loc["utility"]
            print(f"{name:20} {mean:+.2f} ({low:+.2f} to {high:+.2f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare principals on common seeds.")
    parser.add_argument("--seeds", type=int, default=500, help="episodes of each principal")
    main(parser.parse_args().seeds)
