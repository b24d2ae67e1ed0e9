"""Scripted principals, one file per algorithm; :func:`baselines.make` makes them by name."""
