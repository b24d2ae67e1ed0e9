"""BELGIC against the agents that it is made for."""

import numpy as np
import pytest

from baselines import make, simulate
from pa_env import IID

INSTANCES = (
    IID(mu=[0.2, 0.8, 0.5], theta=[0.9, 0.3, 0.5]),
    IID(mu=[0.2, 0.8, 0.5, 0.65, 0.35], theta=[0.9, 0.3, 0.5, 0.1, 0.7]),
)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("instance", INSTANCES, ids=["K=3", "K=5"])
@pytest.mark.parametrize("agent", ["ucb", "thompson", "exp3"])
def test_belgic_pays_every_arm_enough_and_is_rarely_refused(agent: str, instance: IID, seed: int) -> None:
    principal = make("belgic", n_arms=instance.n_arms, horizon=10**6)
    search = instance.n_arms * 5 * int(np.ceil((10**6) ** 0.75))  # arms, batches ceil(log2(T) / 4), rounds of each
    run = simulate(principal, instance, agent, seed=seed, checkpoints=[search, 10**6])
    assert (principal.transfers > instance.mu.max() - instance.mu).all()  # above pi* of the true means
    refused = (run.misses[1] - run.misses[0]) / (10**6 - search)
    assert refused < 0.05
