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

:func:`~baselines.scripted.paper.convex_set.unit_ball` makes the initial S. The paper starts every search from a new
one, so a wrong cut does not outlive its search. :func:`multi_scale_search` is a generator that does not depend on the
game: it yields a :class:`Question`, is sent the arm played, and returns a point of S.

>>> from baselines.scripted.paper.convex_set import unit_ball
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
from typing import NamedTuple

import numpy as np

from baselines.scripted.paper.convex_set import ConvexSet
from pa_env.kernel.layout import Floats


class Question(NamedTuple):
    """A question to the agent: one of two arms, for these incentives, with none on the others."""

    first: int  # a_t^1
    second: int  # a_t^2
    incentives: tuple[float, float]  # on the first and on the second, both >= 0


def multi_scale_search(
    knowledge: ConvexSet, arms: Floats, epsilon: float, xi: float, conservative: bool = True
) -> Generator[Question, int, Floats]:
    """Ask until S is narrow in the direction of every difference of two arms; see the module.

    Where the paper is silent: an agent that plays a third arm, as one with |s_hat| > d may, is asked the same question
    again until it does not, so the caller's horizon must end the search. An incentive that would be negative is raised
    to 0, and the other one by as much. An answer that would leave S empty ends the search.

    Where it departs from the paper: the paper returns a random point of S, this the centroid. The paper halves the
    volume of S + z B; from three dimensions on a share of about 9/16 of the samples is kept above the cut instead
    (:meth:`~baselines.scripted.paper.convex_set.ConvexSet.halving`).

    Args:
        knowledge: S, cut in place; a new unit ball in the paper.
        arms: Vectors (n_arms, dim) in the unit ball. Equal ones are never compared.
        epsilon: Twice the largest error of the agent's beliefs, max over a of |<s_hat - s*, a>|.
        xi: By how much both incentives exceed d; 1 / T in the paper.
        conservative: Whether S is cut epsilon further out than the answer says. If not, s* may be lost: an ablation.

    Returns:
        A generator that yields questions, is sent the index of the arm played, and returns a point of S (dim,).
    """
    if arms.ndim != 2 or arms.shape[1] != knowledge.dim or not np.isfinite(arms).all():
        raise ValueError(f"arms must be finite, of shape (n_arms, {knowledge.dim}) as S is, got shape {arms.shape}")
    for name, value in (("epsilon", epsilon), ("xi", xi)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be positive and finite, got {value}")
    dim, away = knowledge.dim, epsilon if conservative else 0.0
    pairs = np.column_stack(np.triu_indices(len(arms), 1))
    differences = arms[pairs[:, 0]] - arms[pairs[:, 1]]
    lengths = np.linalg.norm(differences, axis=1)
    widths, fresh = 2 * lengths, np.zeros(len(pairs), dtype=bool)  # upper bounds: widths only shrink
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
        y = length * threshold + away  # y_t
        lift = max(0.0, -(dim + xi + y))
        question = Question(first, second, (dim + xi + lift, dim + xi + y + lift))
        while (arm := (yield question)) not in (first, second):
            pass
        if arm == first:
            done = knowledge.cut(direction, (y - away) / length, keep="above")
        else:
            done = knowledge.cut(direction, (y + away) / length, keep="below")
        if not done:
            break
        fresh[:] = False
    return knowledge.centre()
