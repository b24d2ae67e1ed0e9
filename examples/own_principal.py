"""Write your own principal: one coroutine, which yields what to offer and is sent what happened.

``Sampler`` pays for a few plays of every arm, finds each arm's price by bisection, and pays for the arm with the
largest estimate minus price. It raises the price after a refusal and lowers it otherwise. The same class works in a
simulation, in every environment, and in the benchmark:

    python examples/own_principal.py
    pa-bench run --task k5-t1000-uniform --principal examples/own_principal.py:Sampler --principal profit-target

The first takes a few seconds and prints

    principal       utility in 1000 rounds
    sampler         514.6
    profit-target   591.5
    zero            488.6
"""

import argparse

import numpy as np

import baselines
from baselines.principal import Principal, Rounds, hold

ENOUGH = 1.01  # means lie between 0 and 1, so no greedy agent refuses an incentive above 1


class Sampler(Principal):
    """Sample every arm, search its price, then hold the best one."""

    name = "sampler"

    def __init__(self, n_arms: int, horizon: int, plays: int = 10) -> None:
        self.samples = plays
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """The algorithm."""
        price = np.full(self.n_arms, ENOUGH)
        for arm in range(self.n_arms):
            yield hold(arm, ENOUGH, rounds=self.samples)
        for arm in range(self.n_arms):  # the price of the arm, to within 1/32
            low, high = 0.0, ENOUGH
            for _ in range(5):
                middle = (low + high) / 2
                outcome = yield hold(arm, middle)
                low, high = (low, middle) if outcome.plays[arm] else (middle, high)
            price[arm] = high
        while True:
            arm = int(np.argmax(self.theta_hat - price))
            outcome = yield hold(arm, price[arm], rounds=10)
            missed = outcome.plays[arm] < outcome.rounds
            price[arm] = price[arm] + 0.05 if missed else max(0.0, price[arm] - 0.01)


def main(seeds: int) -> None:
    """Play it beside two others, on the same seeds."""
    print("principal       utility in 1000 rounds")
    for principal in (
        Sampler(n_arms=5, horizon=1000),
        baselines.make("profit-target", n_arms=5, horizon=1000),
        baselines.make("zero", n_arms=5, horizon=1000),
    ):
        runs = [baselines.simulate(principal, "uniform", agent="empirical-mean", seed=seed) for seed in range(seeds)]
        print(f"{principal.name:15} {np.mean([run.utility[-1] for run in runs]):.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Play your own principal.")
    parser.add_argument("--seeds", type=int, default=200, help="episodes of each principal")
    main(parser.parse_args().seeds)
