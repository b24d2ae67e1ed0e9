"""The command line, ``pa-bench``.

Inside::

    commands.py   all commands, in the order in which people need them
    catalogue.py  lists of everything that has a name
    play.py       playing by hand
    web.py        playing by hand on a page, web.html
"""
