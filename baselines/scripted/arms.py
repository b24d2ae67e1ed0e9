"""The check of the arms' vectors that principals for linear rewards take."""

import numpy as np
from numpy.typing import ArrayLike

from pa_env.checks import numbers
from pa_env.kernel.layout import Floats


def arms_matrix(n_arms: int, arms: ArrayLike) -> Floats:
    """``arms`` as a float64 array of shape (n_arms, dim), dim >= 1; raises ValueError if it has no such shape."""
    matrix: Floats = numbers("arms", arms)
    if matrix.ndim != 2 or len(matrix) != n_arms or matrix.shape[1] == 0 or not np.isfinite(matrix).all():
        raise ValueError(
            f"arms of shape {matrix.shape} must be finite vectors, one for each of n_arms = {n_arms}: "
            f"an array of shape ({n_arms}, dim)"
        )
    return matrix
