"""Scripted principals, one file per algorithm; :func:`baselines.make` makes them by name.

Inside::

    paper/     Liu & Ratliff (ICML 2025)
    peers/     its predecessors and peers
    ours/      our own, without a theorem
    simple.py  no incentive, a fixed offer, the best response
"""
