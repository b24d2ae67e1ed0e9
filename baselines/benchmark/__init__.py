"""Tasks x principals x seeds: what is played, who plays it, where it is kept, and what it says.

``specs`` names principals, ``cells`` plays one of them once, ``store`` keeps results (with ``manifest`` and
``versions``: what made them), ``engines`` plays many cells at once, ``sweep`` brings these together. ``results`` reads
them again, ``statistics`` and ``behaviour`` say what they show, ``tables``, ``overview``, ``figures`` (with ``styles``
and ``drawing``) and ``page`` show it, and ``report`` and ``leaderboard`` put it in files.
"""
