"""Keys of many seeds at once are those of one at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pa_env.seeding import WORTH_IT, key_of, keys_of


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 2**33), min_size=WORTH_IT, max_size=40))
def test_many_keys_at_once(seeds: list[int]) -> None:
    assert keys_of(seeds).tolist() == [key_of(seed) for seed in seeds]


def test_seeds_of_any_size_and_few() -> None:
    seeds = [2**64, 2**64 - 1, 0, 2**200, *range(WORTH_IT)]
    assert keys_of(seeds).tolist() == [key_of(seed) for seed in seeds]
    assert keys_of([5]).tolist() == [key_of(5)]
    assert keys_of([]).dtype == np.uint64
    assert len(set(keys_of([None] * WORTH_IT).tolist())) == WORTH_IT
