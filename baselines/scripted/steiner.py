"""Search for the agent's parameter by halving Steiner potentials, with cuts that allow for a learning agent.

Algorithm 8, "Multiscale steiner potential with conservative cut", of Liu & Ratliff (ICML 2025, appendix), after Liu,
Leme & Schneider, "Optimal contextual pricing and extensions" (SODA 2021). The agent believes that arm a is worth
<s_hat, a>. Its s_hat moves, but stays near a fixed unknown s* in the unit ball B. Which of two arms it plays says on
which side of a hyperplane s_hat lies. The set S that may contain s* is cut there, but epsilon further out, because
s_hat is not s*. While |<s_hat - s*, a>| <= epsilon / 2 for every arm a,

- s* stays in S;
- an answer leaves at most 7/8 of the volume of S + z B, at the scale z in use, so that there are
  O(d log^2(d / epsilon)) questions in d dimensions;
- in the end <u, v - w> <= 32 d epsilon for all v, w in S and every difference u of two arms.

:func:`unit_ball` makes the S to start from; the paper starts every search from a new one, so that what a search cut
away in error is forgotten with it. :func:`multi_scale_search` is a generator, independent of who plays: it yields
a :class:`Question`, is sent the arm played, and returns a point of S.

>>> arms, truth = np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, -0.8]]), np.array([0.3, -0.5])
>>> search = multi_scale_search(unit_ball(2, np.random.default_rng(0)), arms, epsilon=0.001, xi=0.001)
>>> try:
...     question = next(search)
...     while True:
...         offer = np.zeros(len(arms))
...         offer[[question.first, question.second]] = question.incentives
...         question = search.send(int(np.argmax(arms @ truth + offer)))
... except StopIteration as end:
...     bool(np.abs((arms - arms[0]) @ (end.value - truth)).max() <= 32 * 2 * 0.001)
True
"""

import math
from collections.abc import Generator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, nnls

Array = NDArray[np.float64]

# Hit-and-run: how many walkers, how many steps each takes for one cut, and how many of its last ones are samples.
WALKERS, STEPS, SAMPLED_STEPS = 512, 24, 6
# If a share p of the volume lies above the cut, the proof of the lemma leaves at most the larger of p + 1/4 and
# (1 - p) + 3/8, hence 7/8 for any p from 1/2 (the paper's) to 5/8. A p that is estimated aims at the middle.
SAMPLED_SHARE = 9 / 16
FAR = 1e5  # see KnowledgeSet._support, whose error is at most 1 / (4 FAR)
SLIVER = 1e-9  # a cut that leaves less than this of a width leaves nothing
TURN = 2 * np.pi * np.arange(1024) / 1024
DISC: Array = np.column_stack([np.cos(TURN), np.sin(TURN)]) / np.cos(np.pi / 1024)  # around the unit disc, by 5e-6


class Question(NamedTuple):
    """Which of two arms does the agent play for these incentives, with none on the others?"""

    first: int  # a_t^1
    second: int  # a_t^2
    incentives: tuple[float, float]  # on the first and on the second, both >= 0


class KnowledgeSet:
    """S: what is left of the unit ball of R^dim, in half-spaces <normal, v> <= bound. Made by :func:`unit_ball`.

    S is never empty. Maxima over S come from non-negative least squares, and from three dimensions on volumes from
    hit-and-run samples; in one and two (:class:`PlanarKnowledgeSet`) they are exact.
    """

    def __init__(self, dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.normals: Array = np.empty((0, dim))  # of length 1
        self.bounds: Array = np.empty(0)
        self._anchor: Array = np.zeros(dim)  # some point inside S
        self._rng = rng
        points = rng.standard_normal((WALKERS, dim))
        points *= rng.random((WALKERS, 1)) ** (1 / dim) / np.linalg.norm(points, axis=1, keepdims=True)
        self._walkers: Array = points

    def contains(self, point: Array, tolerance: float = 0.0) -> bool:
        """Whether the point (dim,) is in S, or outside each of its borders by no more than the tolerance."""
        return bool(np.linalg.norm(point) <= 1 + tolerance and (self.normals @ point <= self.bounds + tolerance).all())

    def width(self, direction: Array) -> float:
        """The maximum of <direction, v - w> over v, w in S, if anything rounded up; direction (dim,) of any length."""
        length = float(np.linalg.norm(direction))
        unit = direction / length
        return length * min(2.0, self._support(unit)[0] + self._support(-unit)[0])

    def halving(self, direction: Array, scale: float) -> float:
        """The c at which <direction, v> = c halves the volume of S + scale * B, for a unit direction (dim,).

        From three dimensions on it is the samples' share, and they are of a body some per cent larger: the half-spaces
        and the ball of S, each moved out by the scale. Membership in S + scale * B would take a quadratic program a
        sample. The lemma's proof holds for this body too: it is convex, at least as wide, and after a cut it is what
        it was, cut by the same half-space moved out.
        """
        if self.dim == 1:
            return float(direction[0]) * (self._support(np.ones(1))[0] - self._support(-np.ones(1))[0]) / 2
        return float(np.quantile(self._walk(scale) @ direction, 1 - SAMPLED_SHARE))

    def centre(self) -> Array:
        """A point inside S (dim,): its centroid, up to sampling in three and more dimensions."""
        if self.dim == 1:
            return np.array([self.halving(np.ones(1), 0.0)])
        return self._walk(0.0).mean(axis=0) if len(self.bounds) else np.zeros(self.dim)

    def cut(self, direction: Array, bound: float, keep: Literal["above", "below"]) -> bool:
        """Keep what of S has <direction, v> above or below the bound, for a unit direction (dim,).

        :return: False if that is nothing; then S stays as it was.
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

    def _support(self, unit: Array) -> tuple[float, Array]:
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
            multipliers = nnls(system, target)[0] if len(self.bounds) else np.empty(0)
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

    def _walk(self, scale: float) -> Array:
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


class PlanarKnowledgeSet(KnowledgeSet):
    """S in two dimensions, as a polygon: exact but for the disc, a polygon of 1024 corners here."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(2, rng)
        self._corners = DISC

    def width(self, direction: Array) -> float:
        """The width between two corners."""
        return min(2 * float(np.linalg.norm(direction)), float(np.ptp(self._corners @ direction)))

    def halving(self, direction: Array, scale: float) -> float:
        """The line that halves the area."""
        body = _minkowski_sum(self._corners, scale * DISC)
        half, heights = _areas(body).sum() / 2, body @ direction
        return float(brentq(lambda c: _areas(_clipped(body, direction, c)).sum() - half, heights.min(), heights.max()))

    def centre(self) -> Array:
        """The centroid, from those of triangles."""
        triangles = self._corners[0] + self._corners + np.roll(self._corners, -1, axis=0)  # three times their centroids
        return np.asarray(_areas(self._corners) @ triangles / (3 * _areas(self._corners).sum()))

    def cut(self, direction: Array, bound: float, keep: Literal["above", "below"]) -> bool:
        """The same cut of the polygon."""
        if done := super().cut(direction, bound, keep):
            sign = 1.0 if keep == "below" else -1.0
            self._corners = _clipped(self._corners, sign * direction, sign * bound)
        return done


def unit_ball(dim: int, rng: np.random.Generator) -> KnowledgeSet:
    """S before the first question, all of B(0, 1) in R^dim. In one and two dimensions `rng` decides nothing."""
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}")
    return PlanarKnowledgeSet(rng) if dim == 2 else KnowledgeSet(dim, rng)


def multi_scale_search(
    knowledge: KnowledgeSet, arms: Array, epsilon: float, xi: float
) -> Generator[Question, int, Array]:
    """Ask until S is narrow in the direction of every difference of two arms; see the top of this module.

    Where the paper is silent: whoever plays a third arm, as an agent with |s_hat| > d may, is asked the same
    question again, and again for as long as she does, so the caller's horizon must end it; an incentive that would be
    negative is lifted to 0, and the other one with it; and an answer that would leave S empty ends the search.

    :param knowledge: S (cut in place): a new :func:`unit_ball` for what the paper does.
    :param arms: (n_arms, dim), in the unit ball. Equal ones are never compared.
    :param epsilon: twice the largest error of the agent's beliefs, max over a of |<s_hat - s*, a>|.
    :param xi: what both incentives exceed d by, in the paper 1 / T.
    :return: the generator: yields questions, is sent the index of the arm played, and returns a point of S (dim,).
    """
    if arms.ndim != 2 or arms.shape[1] != knowledge.dim or not np.isfinite(arms).all():
        raise ValueError(f"arms must be finite, of shape (n_arms, {knowledge.dim}) as S is, got shape {arms.shape}")
    for name, value in (("epsilon", epsilon), ("xi", xi)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value}")
    dim = knowledge.dim
    pairs = np.column_stack(np.triu_indices(len(arms), 1))
    differences = arms[pairs[:, 0]] - arms[pairs[:, 1]]
    lengths = np.linalg.norm(differences, axis=1)
    widths, fresh = 2 * lengths, np.zeros(len(pairs), dtype=bool)  # bounds from above: widths only shrink
    while widths.any():  # those of equal arms are 0, and never the largest
        while not fresh[k := int(widths.argmax())]:
            widths[k], fresh[k] = min(widths[k], knowledge.width(differences[k])), True
        first, second = int(pairs[k, 0]), int(pairs[k, 1])
        length, direction = float(lengths[k]), differences[k] / lengths[k]  # direction: x_t
        index = math.floor(-math.log2(widths[k] / length))  # i, from -1 on: S may be 2 wide
        scale = 2.0**-index / (8 * dim)  # z_i
        if scale < 4 * epsilon / length:
            break
        threshold = knowledge.halving(direction, scale)
        y = length * threshold + epsilon  # y_t
        lift = max(0.0, -(dim + xi + y))
        question = Question(first, second, (dim + xi + lift, dim + xi + y + lift))
        while (arm := (yield question)) not in (first, second):
            pass
        if arm == first:
            done = knowledge.cut(direction, (y - epsilon) / length, keep="above")
        else:
            done = knowledge.cut(direction, (y + epsilon) / length, keep="below")
        if not done:
            break
        fresh[:] = False
    return knowledge.centre()


def _chords(points: Array, steps: Array, normals: Array, bounds: Array, radius: float) -> tuple[Array, Array]:
    """The ends (n,) of the t with points + t * steps in the half-spaces and in the ball; (n, dim) of each."""
    slopes = steps @ normals.T
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (bounds - points @ normals.T) / slopes
    low = np.where(slopes < 0, ends, -np.inf).max(axis=1, initial=-np.inf)
    high = np.where(slopes > 0, ends, np.inf).min(axis=1, initial=np.inf)
    square, product = (steps * steps).sum(axis=1), (steps * points).sum(axis=1)
    root = np.sqrt(np.maximum(product**2 + square * (radius**2 - (points * points).sum(axis=1)), 0.0))
    return np.maximum(low, (-product - root) / square), np.minimum(high, (root - product) / square)


def _clipped(corners: Array, normal: Array, bound: float) -> Array:
    """The polygon's part with <normal, v> <= bound: corners (n, 2), counterclockwise."""
    height, following = corners @ normal - bound, np.roll(corners, -1, axis=0)
    next_height = np.roll(height, -1)
    crossing = height * next_height < 0
    share = np.divide(height, height - next_height, out=np.zeros_like(height), where=crossing)
    crossings = corners + share[:, None] * (following - corners)
    return np.stack([corners, crossings], axis=1)[np.column_stack([height <= 0, crossing])]


def _minkowski_sum(left: Array, right: Array) -> Array:
    """The corners of the sum of two convex polygons: its edges are theirs, sorted by angle."""
    edges = np.concatenate([np.roll(left, -1, axis=0) - left, np.roll(right, -1, axis=0) - right])
    corners = np.cumsum(edges[np.argsort(np.arctan2(edges[:, 1], edges[:, 0]))], axis=0)
    return np.asarray(corners + left.min(axis=0) + right.min(axis=0) - corners.min(axis=0))


def _areas(corners: Array) -> Array:
    """The areas (n,) of the triangles of the polygon's first corner and each edge; their sum is the polygon's."""
    x, y = (corners - corners[:1]).T
    return np.asarray(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2
