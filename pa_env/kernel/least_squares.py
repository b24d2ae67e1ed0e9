"""Ordinary least squares, one reward at a time, for agents whose rewards are linear in the arms.

The minimum-norm estimate, which the Moore-Penrose inverse gives, lies in the span of the arms played so far. So the
problem is kept in an orthonormal basis of that span, and the Gram matrix there is positive definite.
"""

import math

from pa_env.kernel.compiling import inlined_part, part
from pa_env.kernel.layout import SPAN_TOLERANCE, ArmRow, Arrays, LinearArrays


@part
def extend_basis(arrays: Arrays, linear: LinearArrays, i: int, arm: int) -> None:
    """Add to the basis the part of an arm outside the span of those played before (Gram-Schmidt, twice)."""
    basis, vectors, rank = linear.basis, linear.vectors, arrays.state[i].rank
    n_arms, dim = vectors.shape[1:]
    for k in range(dim):
        basis[i, rank, k] = vectors[i, arm, k]
    for _ in range(2):
        for j in range(rank):
            along = 0.0
            for k in range(dim):
                along += basis[i, rank, k] * basis[i, j, k]
            for k in range(dim):
                basis[i, rank, k] -= along * basis[i, j, k]
    square = 0.0
    for k in range(dim):
        square += basis[i, rank, k] ** 2
    norm = math.sqrt(square)
    if norm <= SPAN_TOLERANCE:
        return
    for k in range(dim):
        basis[i, rank, k] /= norm
    for b in range(n_arms):
        linear.coordinates[i, rank, b] = 0.0
        for k in range(dim):
            linear.coordinates[i, rank, b] += vectors[i, b, k] * basis[i, rank, k]
    arrays.state[i].rank = rank + 1


@inlined_part
def learn_linear(arrays: Arrays, linear: LinearArrays, i: int, arm: int, reward: float) -> None:
    """Learn from one reward, and set every arm's mean to its least-squares estimate <shat, a>."""
    if arrays.state[i].rank < linear.vectors.shape[2]:
        extend_basis(arrays, linear, i, arm)
    coordinates, rank = linear.coordinates, arrays.state[i].rank
    for j in range(rank):
        here = coordinates[i, j, arm]
        linear.moment[i, j] += reward * here
        for k in range(j + 1):
            linear.gram[i, j, k] += here * coordinates[i, k, arm]
    solve(linear, i, rank)
    for b in range(coordinates.shape[2]):
        arrays.arms[i, ArmRow.MEAN, b] = 0.0
    for k in range(rank):
        weight = linear.estimate[i, k]
        for b in range(coordinates.shape[2]):
            arrays.arms[i, ArmRow.MEAN, b] += weight * coordinates[i, k, b]


@inlined_part
def solve(linear: LinearArrays, i: int, rank: int) -> None:
    """Solve for the estimate by a Cholesky factorisation, with the forward substitution in the same loop."""
    factor, estimate = linear.factor, linear.estimate
    for j in range(rank):
        for k in range(j + 1):
            value = linear.gram[i, j, k]
            for m in range(k):
                value -= factor[i, j, m] * factor[i, k, m]
            factor[i, j, k] = math.sqrt(value) if j == k else value / factor[i, k, k]
        value = linear.moment[i, j]
        for m in range(j):
            value -= factor[i, j, m] * estimate[i, m]
        estimate[i, j] = value / factor[i, j, j]
    for j in range(rank - 1, -1, -1):
        value = estimate[i, j]
        for m in range(j + 1, rank):
            value -= factor[i, m, j] * estimate[i, m]
        estimate[i, j] = value / factor[i, j, j]
