"""The compiled game, by topic: draws, instances, agents, least squares, and the round.

A round goes

    offer -> the agent answers -> both are rewarded -> beliefs and scores move

and is played in one place, :func:`pa_env.kernel.play.play`. State is one :class:`pa_env.kernel.layout.Arrays`, with a
leading axis over independent copies of the game; :class:`pa_env.game.Game` owns it.

The functions loop over whole arrays instead of slices: a slice costs more than a short loop here, and slice
assignment compiles slowly.

Inside::

    layout.py         enumerations, records, arrays, observations and scores, each declared once
    compiling.py      compilation with a disk cache that is never stale
    draws.py          random numbers by position
    instances.py      instances drawn from a family, and the beginning of an episode
    agents.py         the answers of the built-in agents
    exploration.py    when an agent explores, and which arm
    low_regret.py     EXP3, UCB and Thompson sampling
    types.py          populations of agents
    own_functions.py  calls of a user's compiled functions
    laws.py           the probabilities of choices
    least_squares.py  least squares, one reward at a time
    responses.py      the best offer for an agent, and sums of scores
    observations.py   the observations of both players
    play.py           a round: answer, draw, score, learn
    episodes.py       whole episodes with offers by a compiled rule
"""
