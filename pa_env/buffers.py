"""Memory of large arrays that is used again once nobody holds it."""

from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_list = [np.empty(0)]
UNHELD = getrefcount(_list[0])  # what an array counts that only a list holds


class Buffers:
    """Makes uninitialised arrays of one shape; those that the user has let go of are handed out again.

    A large array that is freed goes back to the operating system, and fetching its pages anew takes longer than the
    step that fills it. An array that somebody holds, itself or a view of it, is never handed out a second time.

    Args:
        shape: of the arrays.
        dtype: of the arrays.
    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> None:
        # Two: users often hold the last step's while they take the next.
        self._arrays: list[NDArray[Any]] = [np.empty(shape, dtype), np.empty(shape, dtype)]

    def take(self) -> NDArray[Any]:
        """An array that nobody else holds."""
        arrays = self._arrays
        if getrefcount(arrays[0]) > UNHELD:
            arrays.reverse()
            if getrefcount(arrays[0]) > UNHELD:
                arrays[0] = np.empty_like(arrays[0])
        return arrays[0].view()  # so that a user who changes its shape or flags does not change ours
