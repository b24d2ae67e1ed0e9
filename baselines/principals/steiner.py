"""Search for the agent's parameter by halving Steiner potentials, with cuts that forgive a learning agent.

Algorithm "Multiscale steiner potential with conservative cut" of Liu & Ratliff (ICML 2025, Appendix "Omitted Proof
for Linear Reward"), after Liu, Leme & Schneider, "Optimal contextual pricing and extensions" (SODA 2021). The agent
believes that arm `a` is worth <s_hat, a>, and s_hat is near a fixed unknown s* in the unit ball. Which of two arms
she plays says on which side of a hyperplane s_hat lies, so the set S that still can hold s* is cut there, `epsilon`
beyond the hyperplane because s_hat is not s*. While |<s_hat - s*, a>| <= epsilon / 2 for every arm,

- s* stays in S,
- each answer leaves at most 7/8 of the volume of S + z B at the scale z in use, B being the unit ball, so that there
  are O(d log^2(d / epsilon)) questions, and
- in the end max <u, v - w> <= 32 d epsilon over v, w in S, for every difference u of two arms.

:func:`unit_ball` makes the S that a search starts from, and the paper starts every search afresh: what was cut away
in error is forgotten with the next one. :func:`multi_scale_search` is a generator: it yields a :class:`Question`, is
sent the arm played, and returns a point of S. It knows nothing of who plays.

>>> import numpy as np
>>> arms, truth = np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, -0.8]]), np.array([0.3, -0.5])
>>> search, offer = multi_scale_search(unit_ball(2), arms, epsilon=1e-3, xi=1e-3), np.zeros(3)
>>> question = next(search)
>>> try:
...     while True:
...         offer[:] = 0.0
...         offer[[question.first, question.second]] = question.incentives
...         question = search.send(int(np.argmax(arms @ truth + offer)))
... except StopIteration as end:
...     print(np.abs(arms @ (end.value - truth)).max() < 32 * 2 * 1e-3)
True
"""

import math
from collections.abc import Generator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls

Array = NDArray[np.float64]

WALKERS, STEPS, KEPT = 512, 24, 6  # hit-and-run: walkers, steps of each, and from how many of the last ones to sample
# With a share p of the volume above the cut the lemma's proof leaves max(p + 1/4, 1 - p + 3/8): at most 7/8 for p in
# [1/2, 5/8]. The paper takes p = 1/2; where p is only estimated the middle of that range leaves room for the error.
SAMPLED_SHARE = 9 / 16
FAR = 1e5  # a support point is the projection of a point so far away: the error is FAR^-1 / 4 at most
_TURN = 2 * np.pi * np.arange(1024) / 1024
_DISC: Array = np.column_stack([np.cos(_TURN), np.sin(_TURN)]) / np.cos(np.pi / 1024)  # around the unit disc, by 5e-6


class Question(NamedTuple):
    """Which of two arms does the agent play for these incentives, with nothing on the others?"""

    first: int  # a_t^1
    second: int  # a_t^2
    incentives: tuple[float, float]  # on the first and on the second, both >= 0, in units of reward


class KnowledgeSet:
    """S: the part of the unit ball of R^dim that the answers so far leave possible; never empty.

    It is the ball and half-spaces <normals, v> <= bounds, (m, dim) and (m,), with unit normals. Supports are
    projections, by non-negative least squares; volumes are sampled by hit-and-run. The planar case is exact.
    """

    def __init__(self, dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.normals: Array = np.empty((0, dim))
        self.bounds: Array = np.empty(0)
        self._rng = rng
        self._supports: dict[bytes, tuple[float, Array]] = {}  # known ones that no cut has touched since
        self._anchor: Array = np.zeros(dim)  # some point inside S
        self._walkers: Array = rng.standard_normal((WALKERS, dim))
        radii = rng.random((WALKERS, 1)) ** (1 / dim)
        self._walkers *= radii / np.linalg.norm(self._walkers, axis=1, keepdims=True)

    def contains(self, point: Array, tolerance: float = 0.0) -> bool:
        """Whether the point (dim,) is in S, up to a distance `tolerance` from each of its borders."""
        return bool(np.linalg.norm(point) <= 1 + tolerance and (self.normals @ point <= self.bounds + tolerance).all())

    def _nearest_in_halfspaces(self, point: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The projection onto the half-spaces, and which of them hold it (Lawson & Hanson 1974, problem LDP)."""
        scale = float(np.linalg.norm(point)) or 1.0
        system = np.vstack([-self.normals.T, (self.normals @ point - self.bounds) / scale])
        target = np.zeros(self.dim + 1)
        target[-1] = 1.0
        weights = nnls(system, target)[0] if len(self.bounds) else np.empty(0)
        residual = system @ weights - target
        return point - scale * residual[:-1] / residual[-1], weights > 0

    def _support(self, unit: Array) -> tuple[float, Array]:
        """A bound of <unit, v> over S, hardly above the maximum, and a point of S hardly below it: (value, (dim,)).

        The maximum of <unit, v> - |v|^2 / (2 r) is the point x nearest to r * unit. Among the half-spaces alone x is
        found for any r: r = FAR serves if x is in the ball, and if not, by the optimality conditions, the r at which
        |x| = 1. |x|^2 grows with r^2, linearly while the same half-spaces hold x, so Newton's method ends there.
        """
        key = unit.tobytes()
        if key in self._supports:
            return self._supports[key]
        low, square, high = 0.0, FAR**2, FAR**2
        for _ in range(100):
            x, active = self._nearest_in_halfspaces(math.sqrt(square) * unit)
            excess = float(x @ x) - 1
            if abs(excess) < 1e-9 or (excess < 0 and square == FAR**2):
                break
            low, high = (low, square) if excess > 0 else (square, high)
            faces = self.normals[active].T
            free = unit - faces @ np.linalg.lstsq(faces, unit)[0]  # how x moves with r
            slope = float(free @ free)
            square = square - excess / slope if slope > 0 else high
            if not low < square < high:
                square = math.sqrt(low * high) if low > 0 else min(1.0, high / 16)
        length = float(np.linalg.norm(x))
        # The multipliers that hold x are a feasible point of the dual problem, this much above.
        value = float(unit @ x) + max(0.0, length * (1 - length)) / math.sqrt(square)
        self._supports[key] = value, x
        return value, x

    def width(self, direction: Array) -> float:
        """width(S, u): the maximum of <u, v - w> over v, w in S, for u = direction (dim,); never too small."""
        length = float(np.linalg.norm(direction))
        unit = direction / length
        return length * min(2.0, self._support(unit)[0] + self._support(-unit)[0])

    def halving(self, direction: Array, scale: float) -> float:
        """The c at which <direction, v> = c halves the volume of S + scale * B, for a unit direction (dim,)."""
        if self.dim == 1:
            return float(direction[0]) * (self._support(np.ones(1))[0] - self._support(-np.ones(1))[0]) / 2
        points = self._walk(scale)
        return float(np.quantile(points @ direction, 1 - SAMPLED_SHARE))

    def centre(self) -> Array:
        """A point well inside S, (dim,): its centroid, if by sampling then nearly."""
        return self._walk(0.0).mean(axis=0) if len(self.bounds) else np.zeros(self.dim)

    def cut(self, direction: Array, bound: float, keep: Literal["above", "below"]) -> bool:
        """Keep what of S has <direction, v> above or below the bound; if that is nothing, change nothing.

        :param direction: unit vector (dim,).
        :return: whether S was cut.
        """
        sign = 1.0 if keep == "below" else -1.0
        normal, bound = sign * direction, sign * bound
        height = float(normal @ self._anchor)
        if height >= bound:
            deepest = self._support(-normal)[1]
            depth = float(normal @ deepest)
            if depth >= bound:
                return False
            share = (height - bound) / (height - depth)  # of the way to the deepest point the cut lies
            self._anchor = self._anchor + (1 + share) / 2 * (deepest - self._anchor)
        self._supports = {key: known for key, known in self._supports.items() if normal @ known[1] <= bound}
        same = (self.normals == normal).all(axis=1)
        if same.any():
            self.bounds[same] = np.minimum(self.bounds[same], bound)
        else:
            self.normals, self.bounds = np.vstack([self.normals, normal]), np.append(self.bounds, bound)
        return True

    def _walk(self, scale: float) -> Array:
        """Points of {<normals, v> <= bounds + scale, |v| <= 1 + scale}, nearly uniform: (n, dim).

        Hit-and-run by many walkers at once, each step as the walkers' covariance has it since S may be very flat.
        They start where the last call left them; who is now outside is first pulled towards the anchor.
        """
        bounds, radius = self.bounds + scale, 1 + scale
        offsets = self._walkers - self._anchor
        anchors = np.broadcast_to(self._anchor, offsets.shape)
        reach = _chords(anchors, offsets, anchors @ self.normals.T, offsets @ self.normals.T, bounds, radius)[1]
        pull = np.where(reach < 1, reach * self._rng.random(WALKERS), 1.0)
        walkers = self._anchor + pull[:, None] * offsets
        spread = np.cov(walkers, rowvar=False).reshape(self.dim, self.dim)
        spread += (1e-9 * np.trace(spread) + scale**2 / self.dim) * np.eye(self.dim)
        directions = self._rng.standard_normal((STEPS, WALKERS, self.dim)) @ np.linalg.cholesky(spread).T
        uniform = self._rng.random((STEPS, WALKERS))
        heights = walkers @ self.normals.T
        seen = []
        for step, fraction in zip(directions, uniform, strict=True):
            slopes = step @ self.normals.T
            low, high = _chords(walkers, step, heights, slopes, bounds, radius)
            move = (low + (high - low) * fraction)[:, None]
            walkers = walkers + move * step
            heights += move * slopes
            seen.append(walkers)
        self._walkers = walkers
        return np.concatenate(seen[-KEPT:])


def _chords(points: Array, steps: Array, heights: Array, slopes: Array, bounds: Array, radius: float) -> tuple[Array, Array]:
    """The ends (n,) of the t with points + t * steps in the half-spaces and the ball, for points inside them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (bounds - heights) / slopes
    low = np.where(slopes < 0, ends, -np.inf).max(axis=1, initial=-np.inf)
    high = np.where(slopes > 0, ends, np.inf).min(axis=1, initial=np.inf)
    square, product = (steps * steps).sum(axis=1), (steps * points).sum(axis=1)
    root = np.sqrt(np.maximum(product**2 + square * (radius**2 - (points * points).sum(axis=1)), 0.0))
    return np.maximum(low, (-product - root) / square), np.minimum(high, (root - product) / square)
