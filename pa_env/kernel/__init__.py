"""The compiled game, by topic: draws, instances, agents, least squares, and the round.

A round goes

    offer -> the agent answers -> both are rewarded -> beliefs and scores move

and is played by :func:`pa_env.kernel.step.step`, one of each copy, or by :func:`pa_env.kernel.hold.hold`, many of one
offer. State is one :class:`pa_env.kernel.layout.Arrays`, with a leading axis over independent copies of the game;
:class:`pa_env.game.Game` owns it.

The functions loop over whole arrays instead of slices: a slice costs more than a short loop here, and slice
assignment compiles slowly.

Inside::

    layout.py         enumerations, records, arrays, observations and scores, each declared once
    compiling.py      compilation with a disk cache that is never stale
    sources.py        the digest of what may be compiled into a function
    draws.py          random numbers by position
    instances.py      instances drawn from a family, and the beginning of an episode
    agents.py         answers to an offer: greedy, exploring, and their probabilities
    other_agents.py   agents that are not greedy: low regret, logit, types, users' own
    least_squares.py  least squares, one reward at a time
    responses.py      the best offer for an agent, and sums of scores
    observations.py   the observations of both players
    step.py           one round of each copy: answer, draw, score, learn
    hold.py           many rounds of one offer, drawn ahead
    episodes.py       rounds and whole episodes with offers by a compiled rule
"""
