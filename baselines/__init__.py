"""Who plays the principal: scripted principals, trained ones, and how they are compared.

>>> import baselines
>>> principal = baselines.make("elimination", n_arms=5, horizon=10_000)
>>> run = baselines.simulate(principal, "uniform", agent="empirical-mean", seed=7)
>>> run.checkpoints[-1]
np.int64(10000)
"""

from baselines import rl as rl
from baselines.comparison import Comparison, compare
from baselines.principal import Principal, follow, hold, offer
from baselines.registry import make, principals
from baselines.simulation import Run, simulate

__all__ = ["Comparison", "Principal", "Run", "compare", "follow", "hold", "make", "offer", "principals", "simulate"]
