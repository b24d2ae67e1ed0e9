"""One file an algorithm; :func:`baselines.make` makes them by name."""
