"""What is drawn from a seed outside the kernel: keys, generators for Python code, seeds of principals."""

import numpy as np


def key_of(seed: int | None) -> int:
    """Of a seed's draws."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def generator_of(key: int, episode: int, purpose: str) -> np.random.Generator:
    """A generator for Python code that draws in an episode; the kernel's own draws need none."""
    return np.random.default_rng([int(key), int(episode), ord(purpose[0])])


def principal_seed(seed: int | None, key: int | None = None, episode: int = 1) -> int:
    """The seed of a principal in an episode of a game, the same whichever interface is used.

    Args:
        seed: that the game was given, or None.
        key: of that seed's draws; None: worked out.
        episode: 1, 2, ... since the seed was given.
    """
    if seed is not None and episode == 1:
        return seed
    return int(np.random.SeedSequence([key_of(seed) if key is None else key, episode]).generate_state(1)[0])
