"""Principals without a theorem that do best in practice.

Inside::

    profit_target.py        worth minus a profit, on every arm
    profit_rule.py          its compiled rule
    bracket_ucb.py          one paid arm at a time
    beliefs.py              Gaussian beliefs about the agent
    explore_then_commit.py  explore, then commit
    knows_beliefs.py        the privileged yardstick
    particle.py             the best offer on average over particles
    particle_rule.py        its compiled rule
    particle_beliefs.py     beliefs as particles
    particle_memory.py      their memory
"""
