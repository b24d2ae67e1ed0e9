"""How fast the game is: the rows of ``pa-bench speed``.

Inside::

    table.py       the table
    row.py         a row: ours and a yardstick
    agents.py      rows of agents
    cost.py        what the benchmark costs beside the game
    numpy_loop.py  the yardstick of simulations
"""
