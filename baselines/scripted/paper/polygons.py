"""Convex polygons in the plane, as their corners (n, 2), counterclockwise."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TURN = 2 * np.pi * np.arange(1024) / 1024
DISC: Array = np.column_stack([np.cos(TURN), np.sin(TURN)]) / np.cos(np.pi / 1024)  # around the unit disc, by 5e-6


def clipped(corners: Array, normal: Array, bound: float) -> Array:
    """The polygon's part with <normal, v> <= bound: corners (n, 2), counterclockwise."""
    height, following = corners @ normal - bound, np.roll(corners, -1, axis=0)
    next_height = np.roll(height, -1)
    crossing = height * next_height < 0
    share = np.divide(height, height - next_height, out=np.zeros_like(height), where=crossing)
    crossings = corners + share[:, None] * (following - corners)
    return np.stack([corners, crossings], axis=1)[np.column_stack([height <= 0, crossing])]


def minkowski_sum(left: Array, right: Array) -> Array:
    """The corners of the sum of two convex polygons: its edges are theirs, sorted by angle."""
    edges = np.concatenate([np.roll(left, -1, axis=0) - left, np.roll(right, -1, axis=0) - right])
    corners = np.cumsum(edges[np.argsort(np.arctan2(edges[:, 1], edges[:, 0]))], axis=0)
    return np.asarray(corners + left.min(axis=0) + right.min(axis=0) - corners.min(axis=0))


def areas(corners: Array) -> Array:
    """The areas (n,) of the triangles of the polygon's first corner and each edge; their sum is the polygon's."""
    x, y = (corners - corners[:1]).T
    return np.asarray(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2
