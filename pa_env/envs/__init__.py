"""The environments: one seat or both, one game or many copies, all played by :class:`pa_env.game.Game`.

Inside::

    scalar.py            Gymnasium, one game: the seat of the principal, and that of the agent
    batched.py           Gymnasium, N copies of it in one compiled step
    both_seats.py        n copies with actions from both players
    spaces.py            observations and actions of both players
    principal_driver.py  the principal that offers when the agent's seat is open
    render.py            pictures: text and pixels
"""
