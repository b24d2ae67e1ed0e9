"""Calls of the user's own compiled functions, whose addresses are in the game's rules.

They are called by address, so that one compiled game serves every agent of this kind.
"""

import math
from typing import Any

import numba

from pa_env.kernel.compiling import caller, inlined
from pa_env.kernel.layout import NO_ARM, ArmRow, Arrays, Floats

_FLOATS = numba.float64[::1]
_READ_FLOATS = numba.types.Array(numba.float64, 1, "C", readonly=True)
_READ_INTEGERS = numba.types.Array(numba.int64, 1, "C", readonly=True)
# choose(memory, means, counts, offer, t, u) -> arm reads only; learn(memory, means, counts, arm, reward) writes.
CHOOSE = numba.int64(_READ_FLOATS, _READ_FLOATS, _READ_INTEGERS, _READ_FLOATS, numba.int64, numba.float64)
LEARN = numba.void(_FLOATS, _FLOATS, _READ_INTEGERS, numba.int64, numba.float64)
BAD_MEANS = NO_ARM - 1  # in place of an arm: the agent's means are not finite
_choose, _learn = caller(CHOOSE), caller(LEARN)


# Inlined, because a call would pass every array of the game, which costs as much as the user's function itself.
@inlined
def call_choose(arrays: Arrays, offers: Floats, i: int, address: Any, u: float) -> int:
    """The answer of the user's function in copy ``i``, or BAD_MEANS."""
    means, finite, answer = arrays.arms[i, ArmRow.MEAN], True, BAD_MEANS
    for b in range(offers.shape[1]):
        finite &= math.isfinite(means[b])
    if finite:
        answer = _choose(address, (arrays.memory[i], means, arrays.plays[i], offers[i], arrays.state[i].t + 1, u))
    return answer


@inlined
def call_learn(arrays: Arrays, i: int, arm: int, reward: float) -> None:
    """Tell the user's agent of copy ``i`` the reward of its arm; the counts include this round."""
    _learn(arrays.rules[0].learn, (arrays.memory[i], arrays.arms[i, ArmRow.MEAN], arrays.plays[i], arm, reward))
