"""Principals of our own, without a theorem.

Inside::

    profit_target.py        worth minus a profit, on every arm
    bracket_ucb.py          one paid arm at a time, chosen by brackets
    gaussian_filter.py      Gaussian beliefs about the agent's means, for both
    explore_then_commit.py  explore, then commit
    particle.py             the best offer on average over particles
    free_fall.py            pay first, stop later
    knows_beliefs.py        the same offer to the true beliefs: a yardstick
    particle_filter.py      possible agents as particles, for both and for trained principals
"""
