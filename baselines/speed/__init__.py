"""How fast the game is: the rows of ``pa-bench speed``.

Inside::

    table.py  the table, beside another checkout if asked for; what the benchmark costs beside the game
    rows.py   its rows: ours and a yardstick
"""
