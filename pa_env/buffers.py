"""Large arrays that are reused once the user holds no reference to them."""

from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_list = [np.empty(0)]
UNHELD = getrefcount(_list[0])  # the reference count of an array that only a list holds


class Buffers:
    """Makes uninitialised arrays of one shape; arrays that the user no longer holds are handed out again.

    A large array that is freed goes back to the operating system, and fetching its pages anew takes longer than the
    step that fills it. An array to which, or to a view of which, the user holds a reference is never handed out again.

    Args:
        shape: of the arrays.
        dtype: of the arrays.
    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> None:
        # Two, because users often hold the array of the last step while they take the next one.
        self._arrays: list[NDArray[Any]] = [np.empty(shape, dtype), np.empty(shape, dtype)]

    def take(self) -> NDArray[Any]:
        """An array without other references."""
        arrays = self._arrays
        if getrefcount(arrays[0]) > UNHELD:
            arrays.reverse()
            if getrefcount(arrays[0]) > UNHELD:
                arrays[0] = np.empty_like(arrays[0])
        return arrays[0].view()  # so that a user who changes its shape or flags does not change ours
