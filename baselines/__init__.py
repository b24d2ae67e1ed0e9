"""Principals, scripted and trained, and their comparison.

>>> import baselines
>>> principal = baselines.make("elimination", n_arms=5, horizon=10_000)
>>> run = baselines.simulate(principal, "uniform", agent="empirical-mean", seed=7)
>>> run.checkpoints[-1]
np.int64(10000)

Inside::

    principal.py   Principal, and the requests hold, offer, follow
    specs.py       strings that name principals, agents and instances, and users' code
    registry.py    names of principals, and resolve(), which makes one from whatever is given
    episodes.py    episodes of a principal, their Run, and how requests are played
    simulation.py  simulate(), and the settings that it and compare() take
    trace.py       traces: every round of some episodes
    comparison.py  compare(), and its Comparison
    players.py     the principals of a comparison by label
    tasks.py       named settings
    scripted/      scripted principals
    exact.py       the exact optimum of tiny games
    rl/            trained principals
    benchmark/     tasks x principals x seeds: play, keep, report
    reproduce/     claims, measured again
    tuning.py      search for parameters
    speed/         the table of speeds
    cli/           the commands
    __main__.py    the command line
    extras.py      the extra to install when a library is missing
    files.py       writing to disk
    text.py        text from elsewhere, made safe to show
    pictures.py    the look of figures: palette, axes, lines
"""

from baselines import rl as rl
from baselines.comparison import Comparison, compare
from baselines.episodes import Run
from baselines.principal import Outcome, Principal, follow, hold, offer
from baselines.registry import make, principals
from baselines.rl.models import from_policy, from_sb3
from baselines.simulation import simulate

__all__ = [
    "Comparison",
    "Outcome",
    "Principal",
    "Run",
    "compare",
    "follow",
    "from_policy",
    "from_sb3",
    "hold",
    "make",
    "offer",
    "principals",
    "simulate",
]
