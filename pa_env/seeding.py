"""What is derived from a seed outside the kernel: keys, generators for Python code, seeds of principals."""

from collections.abc import Sequence
from itertools import accumulate, permutations, repeat

import numpy as np
from numpy.typing import NDArray

# Constants of the hash in numpy.random.SeedSequence (O'Neill, "Developing a seed_seq alternative", 2015).
INITIAL_A, MULTIPLY_A, INITIAL_B, MULTIPLY_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
MIX_LEFT, MIX_RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
WORTH_IT = 16  # from this many seeds on, whole arrays are faster


def key_of(seed: int | None) -> int:
    """The key of a seed's draws."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def generator_of(key: int, episode: int, purpose: str) -> np.random.Generator:
    """A generator for Python code that draws in an episode; the kernel's own draws need none.

    Args:
        key: of the seed's draws.
        episode: 0, 1, ... since the seed was given.
        purpose: what is drawn; its first letter tells generators of an episode apart.
    """
    return np.random.default_rng([int(key), int(episode), ord(purpose[0])])


def principal_seed(seed: int | None, key: int | None = None, episode: int = 1) -> int:
    """The seed of a principal in an episode of a game, the same whichever interface is used.

    Args:
        seed: of the game, or None.
        key: of that seed's draws; None: it is computed.
        episode: 1, 2, ... since the seed was given.
    """
    if seed is not None and episode == 1:
        return seed
    return int(np.random.SeedSequence([key_of(seed) if key is None else key, episode]).generate_state(1)[0])


def keys_of(seeds: Sequence[int | None]) -> NDArray[np.uint64]:
    """:func:`key_of` of many seeds at once: the hash of ``numpy.random.SeedSequence``, for whole arrays."""
    if len(seeds) < WORTH_IT or any(seed is None or seed >= 2**64 for seed in seeds):
        return np.array([key_of(seed) for seed in seeds], np.uint64)
    entropy = np.array(seeds, np.uint64)
    words = [entropy.astype(np.uint32), (entropy >> np.uint64(32)).astype(np.uint32)]
    constants = accumulate(repeat(MULTIPLY_A), lambda a, b: a * b % 2**32, initial=INITIAL_A)
    constant = next(constants)

    def hashed(value: NDArray[np.uint32]) -> NDArray[np.uint32]:
        nonlocal constant
        value = value ^ np.uint32(constant)
        constant = next(constants)
        value = value * np.uint32(constant)
        return value ^ (value >> np.uint32(16))

    pool = [hashed(word) for word in (*words, np.zeros_like(words[0]), np.zeros_like(words[0]))]
    for source, target in permutations(range(len(pool)), 2):
        mixed = MIX_LEFT * pool[target] - MIX_RIGHT * hashed(pool[source])
        pool[target] = mixed ^ (mixed >> np.uint32(16))
    state = []
    for i in range(2):
        first, second = (INITIAL_B * MULTIPLY_B ** (i + k) % 2**32 for k in range(2))
        value = (pool[i] ^ np.uint32(first)) * np.uint32(second)
        state.append((value ^ (value >> np.uint32(16))).astype(np.uint64))
    return state[0] | (state[1] << np.uint64(32))
