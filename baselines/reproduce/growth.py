"""How a regret grows with a horizon or a size x: the slope of log mean regret against log x, and whether it bends.

Values are (runs, points): all points of a run share its seed, and are nan where it was not played.

>>> x = np.array([10.0, 100.0, 1000.0])
>>> line = fit(x, np.sqrt(x) * np.linspace(0.9, 1.1, 20)[:, None])
>>> round(line.slope.value, 3), [round(each, 3) for each in line.local]
(0.5, [0.5, 0.5])
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from baselines.benchmark.statistics import FEWEST, Estimate, log_slope
from pa_env.kernel.layout import Floats

READING = (
    "A bound holds for all instances, and up to a constant: a measured power below it is no contradiction, and one"
    " above it at horizons where the first phases still last is none either. In its first phase an algorithm plays all"
    " arms in turn, and most pay the cap for them: its regret grows about linearly. Horizons whose game (on seed 0)"
    " ends there are marked `phase 1`, and slopes are fitted to the others alone, if there are two. So are those of"
    " `linear` with the paper's constants below T = 8e7: it pays its cap in all phases of such games (at d = 2, and for"
    " longer with more dimensions). A slope with a bend is not one number: the local slopes stand beside it."
)


class Fit(NamedTuple):
    """A line through the logarithms of means, nan where a mean is not positive."""

    slope: Estimate
    local: tuple[float, ...]
    """Slopes between neighbouring powers of ten (or points, if there are fewer)."""
    straight: float
    """p-value of the test that the means lie on a line; nan for fewer than three points or too few runs."""

    def bends(self) -> str:
        """The local slopes, in order."""
        return ", ".join(f"{each:.2f}" for each in self.local)


def fit(x: ArrayLike, values: Floats) -> Fit:
    """The fitted slope, its interval, local slopes and a test of the straight line.

    Args:
        x: horizons or sizes (points,), increasing.
        values: regrets (runs, points).
    """
    x = np.asarray(x, np.float64)
    means: Floats = np.nanmean(values, axis=0)
    return Fit(log_slope(x, values), local_slopes(x, means), straightness(x, values))


def local_slopes(x: Floats, means: Floats) -> tuple[float, ...]:
    """Slopes between the points whose x are powers of ten; between all points if fewer than three are."""
    powers = np.isclose(np.log10(x), np.log10(x).round(), atol=1e-3)
    chosen = powers if powers.sum() >= 3 else np.ones(x.size, bool)
    logs = np.log(np.where(means[chosen] > 0, means[chosen], np.nan))
    return tuple((np.diff(logs) / np.diff(np.log(x[chosen]))).tolist())


def straightness(x: Floats, values: Floats) -> float:
    """p-value of Hotelling's test that the logarithms of the means lie on a line.

    To first order log mean is a mean over runs of value / mean, so the residuals of the line are a mean of vectors, one
    for each run, whose covariance the runs give. A small p-value: the curve bends more than the runs' luck explains.
    """
    values = values[~np.isnan(values).any(axis=1)]
    runs, points = values.shape
    if not runs:
        return np.nan
    means = values.mean(axis=0)
    freedom = points - 2
    if freedom < 1 or runs < max(FEWEST, freedom + 2) or (means <= 0).any():
        return np.nan
    design = np.column_stack([np.ones(points), np.log(x)])
    off_line = np.linalg.svd(design)[0][:, 2:]  # an orthonormal basis of what no line explains
    each = (values / means) @ off_line
    covariance = np.atleast_2d(np.cov(each.T)) / runs
    residual = np.log(means) @ off_line
    square = float(residual @ np.linalg.pinv(covariance, hermitian=True) @ residual)
    return float(stats.f.sf(square * (runs - freedom) / (freedom * (runs - 1)), freedom, runs - freedom))
