"""The principals of Liu & Ratliff (ICML 2025), and what they are made of.

Inside::

    elimination.py  Algorithms 1 and 4
    exploratory.py  Algorithms 5 and 6
    linear.py       Algorithm 7
    ablations.py    these with one part left out
    phased.py       the common part of phased eliminations
    search.py       Algorithm 3 and bisection: searches for an incentive
    steiner.py      Algorithm 8: search for a parameter by Steiner potentials
    convex_set.py   the set of possible parameters
    design.py       G-optimal designs
"""
