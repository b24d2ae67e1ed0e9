"""A convex set S, what is left of the unit ball of R^dim after cuts by half-spaces: parameters that an agent may have.

Maxima over S come from non-negative least squares. In one and two dimensions volumes are exact; from three on they come
from hit-and-run samples. In two dimensions S is a polygon, given by its corners (n, 2), counterclockwise.
"""

import math
from typing import Literal

import numpy as np
import scipy  # loads scipy.optimize when it is first used: importing it takes as long as everything else

from pa_env.kernel.layout import Floats

# Hit-and-run: how many walkers, how many steps each takes for one cut, and how many of its last ones are samples.
WALKERS, STEPS, SAMPLED_STEPS = 512, 24, 6
# If a share p of the volume lies above the cut, the proof of the lemma leaves at most the larger of p + 1/4 and
# (1 - p) + 3/8, hence 7/8 for any p from 1/2 (the paper's) to 5/8. A p that is estimated aims at the middle.
SAMPLED_SHARE = 9 / 16
FAR = 1e5  # see ConvexSet._support, whose error is at most 1 / (4 FAR)
SLIVER = 1e-9  # a cut that leaves less than this of a width leaves nothing
TURN = 2 * np.pi * np.arange(1024) / 1024
DISC: Floats = np.column_stack([np.cos(TURN), np.sin(TURN)]) / np.cos(np.pi / 1024)  # around the unit disc, by 5e-6


class ConvexSet:
    """S: the part of the unit ball of R^dim in half-spaces <normal, v> <= bound, never empty.

    Made by :func:`unit_ball`.
    """

    def __init__(self, dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.normals: Floats = np.empty((0, dim))  # of length 1
        self.bounds: Floats = np.empty(0)
        self._anchor: Floats = np.zeros(dim)  # some point inside S
        self._rng = rng
        points = rng.standard_normal((WALKERS, dim))
        points *= rng.random((WALKERS, 1)) ** (1 / dim) / np.linalg.norm(points, axis=1, keepdims=True)
        self._walkers: Floats = points

    def contains(self, point: Floats, tolerance: float = 0.0) -> bool:
        """Return whether the point (dim,) is in S, or outside each of its borders by at most the tolerance."""
        return bool(np.linalg.norm(point) <= 1 + tolerance and (self.normals @ point <= self.bounds + tolerance).all())

    def width(self, direction: Floats) -> float:
        """The maximum of <direction, v - w> over v, w in S, if anything rounded up; direction (dim,) of any length."""
        length = float(np.linalg.norm(direction))
        unit = direction / length
        return length * min(2.0, self._support(unit)[0] + self._support(-unit)[0])

    def halving(self, direction: Floats, scale: float) -> float:
        """The c at which <direction, v> = c halves the volume of S + scale * B, for a unit direction (dim,).

        From three dimensions on it is the samples' share, and they are of a body some per cent larger: the half-spaces
        and the ball of S, each moved out by the scale. Membership in S + scale * B would take a quadratic program for
        each sample. The lemma's proof holds for this body too: it is convex and at least as wide, and a cut of S cuts
        it by the same half-space, moved out.
        """
        if self.dim == 1:
            return float(direction[0]) * (self._support(np.ones(1))[0] - self._support(-np.ones(1))[0]) / 2
        return float(np.quantile(self._walk(scale) @ direction, 1 - SAMPLED_SHARE))

    def centre(self) -> Floats:
        """A point inside S (dim,): its centroid, up to sampling in three and more dimensions."""
        if self.dim == 1:
            return np.array([self.halving(np.ones(1), 0.0)])
        return self._walk(0.0).mean(axis=0) if len(self.bounds) else np.zeros(self.dim)

    def cut(self, direction: Floats, bound: float, keep: Literal["above", "below"]) -> bool:
        """Keep the part of S with <direction, v> above or below the bound, for a unit direction (dim,).

        Returns False if nothing would be left; then S does not change.
        """
        sign = 1.0 if keep == "below" else -1.0
        normal, bound = sign * direction, sign * bound
        height = float(normal @ self._anchor)
        if height >= bound - SLIVER:
            deepest = self._support(-normal)[1]
            depth = float(normal @ deepest)
            if depth >= bound - SLIVER:
                return False
            border = max(0.0, (height - bound) / (height - depth))  # as a share of the way from anchor to deepest
            self._anchor = self._anchor + (border + 1) / 2 * (deepest - self._anchor)
        same = (self.normals == normal).all(axis=1)
        if same.any():
            self.bounds[same] = np.minimum(self.bounds[same], bound)
        else:
            self.normals, self.bounds = np.vstack([self.normals, normal]), np.append(self.bounds, bound)
        return True

    def _support(self, unit: Floats) -> tuple[float, Floats]:
        """A bound of <unit, v> over S, hardly above the maximum, and a point of S hardly below it: (value, (dim,)).

        <unit, v> - |v|^2 / 2r is largest at the point x nearest to r * unit, and in the half-spaces that is problem
        LDP of Lawson & Hanson (1974, chapter 23). With r = FAR its x serves, if it is in the ball. If not, then by the
        optimality conditions the x of that r does where |x| = 1. |x|^2 grows with r^2, linearly as long as the same
        half-spaces hold x, so Newton's method is quick.
        """
        low, square, high = 0.0, FAR**2, FAR**2  # of r^2
        target = np.append(np.zeros(self.dim), 1.0)
        for _ in range(100):
            r = math.sqrt(square)
            system = np.vstack([-self.normals.T, self.normals @ unit - self.bounds / r])
            multipliers = scipy.optimize.nnls(system, target)[0] if len(self.bounds) else np.empty(0)
            residual = system @ multipliers - target
            x = r * (unit - residual[:-1] / residual[-1])
            excess = float(x @ x) - 1
            if abs(excess) < SLIVER or (excess < 0 and square == FAR**2):
                break
            low, high = (low, square) if excess > 0 else (square, high)
            holding = self.normals[multipliers > 0].T
            free = unit - holding @ np.linalg.lstsq(holding, unit)[0]  # dx / dr
            slope = float(free @ free)
            square = square - excess / slope if slope > 0 else high
            if not low < square < high:
                square = math.sqrt(low * high) if low > 0 else min(1.0, high / 16)
        length = float(np.linalg.norm(x))
        # x is held by multipliers that are feasible for the dual problem, and this is their value there.
        return float(unit @ x) + max(0.0, length * (1 - length)) / r, x

    def _walk(self, scale: float) -> Floats:
        """Points of the half-spaces and the ball of S, moved out by the scale, nearly uniform: (n, dim).

        S may be flat, so a step's direction has the covariance of the walkers. These start where the last walk left
        them; those that are outside by now are first pulled inside, towards the anchor.
        """
        bounds, radius = self.bounds + scale, 1 + scale
        offsets = self._walkers - self._anchor
        reach = _chords(np.tile(self._anchor, (WALKERS, 1)), offsets, self.normals, bounds, radius)[1]
        walkers = self._anchor + np.where(reach < 1, reach * self._rng.random(WALKERS), 1.0)[:, None] * offsets
        spread = np.cov(walkers, rowvar=False).reshape(self.dim, self.dim)
        spread += (1e-9 * np.trace(spread) + scale**2 / self.dim) * np.eye(self.dim)
        directions = self._rng.standard_normal((STEPS, WALKERS, self.dim)) @ np.linalg.cholesky(spread).T
        samples = []
        for steps, uniform in zip(directions, self._rng.random((STEPS, WALKERS)), strict=True):
            low, high = _chords(walkers, steps, self.normals, bounds, radius)
            walkers = walkers + (low + (high - low) * uniform)[:, None] * steps
            samples.append(walkers)
        self._walkers = walkers
        return np.concatenate(samples[-SAMPLED_STEPS:])


class PlanarConvexSet(ConvexSet):
    """S in two dimensions, as a polygon: exact but for the disc, a polygon of 1024 corners here."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(2, rng)
        self._corners = DISC

    def width(self, direction: Floats) -> float:
        """The width between two corners."""
        return min(2 * float(np.linalg.norm(direction)), float(np.ptp(self._corners @ direction)))

    def halving(self, direction: Floats, scale: float) -> float:
        """The line that halves the area."""
        body = minkowski_sum(self._corners, scale * DISC)
        half, heights = areas(body).sum() / 2, body @ direction
        return float(
            scipy.optimize.brentq(
                lambda c: areas(clipped(body, direction, c)).sum() - half, heights.min(), heights.max()
            )
        )

    def centre(self) -> Floats:
        """The centroid, from those of triangles."""
        triangles = self._corners[0] + self._corners + np.roll(self._corners, -1, axis=0)  # three times their centroids
        return np.asarray(areas(self._corners) @ triangles / (3 * areas(self._corners).sum()))

    def cut(self, direction: Floats, bound: float, keep: Literal["above", "below"]) -> bool:
        """The same cut of the polygon."""
        if done := super().cut(direction, bound, keep):
            sign = 1.0 if keep == "below" else -1.0
            self._corners = clipped(self._corners, sign * direction, sign * bound)
        return done


def unit_ball(dim: int, rng: np.random.Generator) -> ConvexSet:
    """S before the first question, all of B(0, 1) in R^dim. In one and two dimensions `rng` has no effect."""
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}")
    return PlanarConvexSet(rng) if dim == 2 else ConvexSet(dim, rng)


def _chords(points: Floats, steps: Floats, normals: Floats, bounds: Floats, radius: float) -> tuple[Floats, Floats]:
    """The ends (n,) of the t with points + t * steps in the half-spaces and in the ball; (n, dim) of each."""
    slopes = steps @ normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (bounds - points @ normals.T) / slopes
    low = np.where(slopes < 0, ends, -np.inf).max(axis=1, initial=-np.inf)
    high = np.where(slopes > 0, ends, np.inf).min(axis=1, initial=np.inf)
    square, product = (steps * steps).sum(axis=1), (steps * points).sum(axis=1)
    root = np.sqrt(np.maximum(product**2 + square * (radius**2 - (points * points).sum(axis=1)), 0.0))
    return np.maximum(low, (-product - root) / square), np.minimum(high, (root - product) / square)


def clipped(corners: Floats, normal: Floats, bound: float) -> Floats:
    """The polygon's part with <normal, v> <= bound: corners (n, 2), counterclockwise."""
    height, following = corners @ normal - bound, np.roll(corners, -1, axis=0)
    next_height = np.roll(height, -1)
    crossing = height * next_height < 0
    share = np.divide(height, height - next_height, out=np.zeros_like(height), where=crossing)
    crossings = corners + share[:, None] * (following - corners)
    return np.stack([corners, crossings], axis=1)[np.column_stack([height <= 0, crossing])]


def minkowski_sum(left: Floats, right: Floats) -> Floats:
    """The corners of the sum of two convex polygons: its edges are theirs, sorted by angle."""
    edges = np.concatenate([np.roll(left, -1, axis=0) - left, np.roll(right, -1, axis=0) - right])
    corners = np.cumsum(edges[np.argsort(np.arctan2(edges[:, 1], edges[:, 0]))], axis=0)
    return np.asarray(corners + left.min(axis=0) + right.min(axis=0) - corners.min(axis=0))


def areas(corners: Floats) -> Floats:
    """The areas (n,) of the triangles of the polygon's first corner and each edge; their sum is the polygon's."""
    x, y = (corners - corners[:1]).T
    return np.asarray(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2
