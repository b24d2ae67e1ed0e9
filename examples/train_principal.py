"""Train a principal from scratch, and compare it with scripted ones on the same episodes.

The game is the default one, with 200 rounds: 5 arms, means drawn uniformly, an agent that learns from its own rewards.
``baselines.rl.learner`` is Stable-Baselines3's PPO with this package's observations and prices, its network and
constants. Its actions are drawn, as in training: the likeliest actions of a young policy alone try too few arms. Needs
the extras ``[bench,train]``.

    python examples/train_principal.py
"""

import argparse

import baselines


def main(steps: int, seed: int) -> None:
    """Train, print what the policy earns beside scripts on fresh seeds, and keep it."""
    learner = baselines.rl.learner("k5-t200-uniform", seed=seed)
    learner.learn(steps, progress_bar=True)
    print(baselines.compare([learner, "bracket-ucb", "profit-target", "zero"], "k5-t200-uniform"))
    baselines.rl.save(learner, "policy.npz")  # played by: pa-bench run --principal policy.npz


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train a principal with PPO.")
    parser.add_argument("--steps", type=int, default=2_000_000, help="rounds to train on")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same policy")
    arguments = parser.parse_args()
    main(arguments.steps, arguments.seed)
