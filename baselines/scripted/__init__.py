"""Scripted principals, one file an algorithm; :func:`baselines.make` makes them by name."""
