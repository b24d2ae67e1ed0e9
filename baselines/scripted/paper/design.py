"""An approximate G-optimal design: how often to play each arm so that every arm's value is estimated well.

A design is a distribution w over arms. With V(w) = sum of w_a a a', the variance of the least-squares estimate of
arm a's value is proportional to a' V(w)^+ a, and Kiefer & Wolfowitz (1960) show that the smallest possible maximum
over the arms is the rank r of the arms (d, if they span R^d), at the w that maximises det V(w). A maximum of
`factor` * r is enough for elimination, as in Liu & Ratliff (ICML 2025, Algorithm 7), and is reached with few arms,
which matters because each arm's rounds are rounded up.

The start is r arms far out in directions orthogonal to each other (Kumar & Yildirim, "Minimum-volume enclosing
ellipsoids and core sets", 2005, for a set symmetric about 0); then Frank-Wolfe steps for log det V(w), of the exactly
best length: towards the worst known arm, or away from the least useful one (Todd, "Minimum-volume ellipsoids", 2016).

>>> weights = g_optimal_design(np.array([[1.0, 0.0], [0.0, 1.0], [0.1, 0.1]]))
>>> weights.tolist()
[0.5, 0.5, 0.0]
"""

import numpy as np

from pa_env.kernel.layout import Floats

# A direction in which the arms are this much shorter than in their longest one is not counted as spanned: V(w) has
# the squares of such ratios, and what is below the rounding of V(w) cannot be inverted.
RANK_TOLERANCE = float(np.sqrt(np.finfo(float).eps))
MAX_STEPS = 100_000


def g_optimal_design(arms: Floats, factor: float = 2.0) -> Floats:
    """Weights (n,) >= 0 that sum to 1 with max over a of a' V(w)^+ a <= factor * rank(arms).

    Args:
        arms: Vectors (n, d), n >= 1; they may repeat, be zero, or span less than R^d.
        factor: C > 1 of a C-approximate design.
    """
    if arms.ndim != 2 or len(arms) == 0 or not np.isfinite(arms).all():
        raise ValueError(f"arms must be finite, of shape (n, d) with n >= 1, got shape {arms.shape}")
    if not factor > 1:
        raise ValueError(f"factor must be above 1, where steps without end would be needed, got {factor}")
    left, stretch, _ = np.linalg.svd(arms, full_matrices=False)
    rank = int((stretch > RANK_TOLERANCE * stretch[0]).sum()) if stretch.size else 0
    # Of the arms' coordinates in their span any will do: a' V(w)^+ a is the same. These are orthonormal columns.
    points = left[:, :rank]
    weights = np.zeros(len(arms))
    if rank == 0:
        weights[0] = 1.0
        return weights
    weights[_far_out(points)] = 1 / rank
    for _ in range(MAX_STEPS):
        inverse = np.linalg.inv(points.T @ (weights[:, None] * points))
        variances = np.einsum("ni,ij,nj->n", points, inverse, points)
        worst = int(variances.argmax())
        if variances[worst] <= factor * rank:
            return np.asarray(weights / weights.sum())
        used = np.flatnonzero(weights)
        least = int(used[variances[used].argmin()])
        if variances[worst] - rank >= rank - variances[least]:
            arm, limit = worst, -np.inf
        else:
            arm, limit = least, -weights[least] / (1 - weights[least])
        variance = variances[arm]
        step = max(limit, (variance / rank - 1) / (variance - 1)) if variance > 1 else limit
        dropped = step == limit
        weights *= 1 - step
        weights[arm] = 0.0 if dropped else weights[arm] + step
    raise RuntimeError(f"no design within factor {factor} after {MAX_STEPS} steps; take a larger factor")


def _far_out(points: Floats) -> list[int]:
    """Indices of as many independent points as there are columns: each the longest, orthogonally to those before."""
    rest = points.copy()
    chosen: list[int] = []
    for _ in range(points.shape[1]):
        lengths = np.linalg.norm(rest, axis=1)
        chosen.append(int(lengths.argmax()))
        unit = rest[chosen[-1]] / lengths[chosen[-1]]
        rest -= np.outer(rest @ unit, unit)
    return chosen
