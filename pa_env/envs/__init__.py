"""The environments: one seat or both, one game or many copies, all played by :class:`pa_env.game.Game`."""
