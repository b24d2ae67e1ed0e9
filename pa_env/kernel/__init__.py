"""The compiled game, by topic: draws, instances, agents, least squares, and the round.

A round goes

    offer -> the agent answers -> both are rewarded -> beliefs and scores move

and is played in one place, :func:`pa_env.kernel.play.play`. State is one :class:`pa_env.kernel.layout.Arrays`, with a
leading axis over independent copies of the game; :class:`pa_env.game.Game` owns it.

The functions loop over whole arrays instead of slices: a slice costs more than a short loop here, and slice
assignment compiles slowly.
"""
