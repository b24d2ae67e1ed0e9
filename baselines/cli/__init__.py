"""The command line, and playing by hand.

Inside::

    console.py    the application, and how errors are reported
    catalogue.py  lists of tasks, principals and agents
    studies.py    commands for claims, tuning and training
    play.py       playing by hand
"""
