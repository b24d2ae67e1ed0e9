"""Tasks x principals x seeds: what is played, who plays it, where it is kept, and what it says.

``specs`` makes what a string names (with ``own``: users' own code), ``blocks`` plays some seeds of a principal in a
task, ``store`` keeps results (with ``manifest`` and ``versions``: what made them), ``processes`` and ``cluster`` play
many blocks at once (with ``waiting``: what is left), ``sweep`` brings these together (with ``progress``). ``results``
reads them again, ``statistics`` and ``behaviour`` say what they show, ``tables``, ``overview``, ``figures`` (with
``styles``
and ``drawing``) and ``page`` show it, and ``report`` and ``leaderboard`` put it in files.
"""
