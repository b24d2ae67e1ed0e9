"""The lemmas about the search, and the geometry under it against slower computations that share nothing with it."""

import copy
import math
from collections.abc import Callable, Generator
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import beta

from baselines.scripted.paper import convex_set
from baselines.scripted.paper.convex_set import ConvexSet, unit_ball
from baselines.scripted.paper.steiner import Question, multi_scale_search

Array = NDArray[np.float64]
Search = Generator[Question, int, Array]
XI = 1e-3


def make_instance(dim: int, n_arms: int, seed: int, length: float = 1.0) -> tuple[Array, Array, np.random.Generator]:
    """Arms uniform in the unit ball, a parameter of the given length, and a generator for the rest."""
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((n_arms, dim))
    arms *= rng.random((n_arms, 1)) ** (1 / dim) / np.linalg.norm(arms, axis=1, keepdims=True)
    truth = rng.standard_normal(dim)
    return arms, length * truth / np.linalg.norm(truth), rng


def greedy(question: Question, beliefs: Array) -> int:
    """The arm of an agent with these beliefs (n_arms,)."""
    values = beliefs.copy()
    values[[question.first, question.second]] += question.incentives
    return int(values.argmax())


def play(search: Search, answer: Callable[[Question], int], limit: int = 2000) -> tuple[Array, int]:
    """The point that the search returns, and how many questions it asked."""
    questions = 0
    try:
        question = next(search)
        while questions < limit:
            questions += 1
            question = search.send(answer(question))
    except StopIteration as end:
        return end.value, questions
    raise AssertionError(f"still asking after {limit} questions")


def cut_at_random(dim: int, cuts: int, seed: int) -> ConvexSet:
    """The ball cut by random half-spaces, each of them through its centre at the time."""
    rng = np.random.default_rng(seed)
    knowledge = unit_ball(dim, rng)
    for _ in range(cuts):
        direction = rng.standard_normal(dim)
        direction /= np.linalg.norm(direction)
        assert knowledge.cut(direction, float(direction @ knowledge.centre()), "below")
    return knowledge


def maximum(knowledge: ConvexSet, direction: Array) -> float:
    """The maximum of <direction, v> over S, by sequential quadratic programming."""
    constraints = [
        {"type": "ineq", "fun": lambda v: 1 - v @ v, "jac": lambda v: -2 * v},
        {
            "type": "ineq",
            "fun": lambda v: knowledge.bounds - knowledge.normals @ v,
            "jac": lambda v: -knowledge.normals,
        },
    ]
    result = minimize(
        lambda v: -direction @ v,
        knowledge.centre(),
        jac=lambda v: -direction,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return float(-result.fun)


def distances(knowledge: ConvexSet, points: Array, sweeps: int = 100) -> Array:
    """How far (n,) the points (n, dim) are from S, by Dykstra's alternating projections."""
    nearest = points.copy()
    corrections = np.zeros((len(knowledge.bounds) + 1, *points.shape))
    for _ in range(sweeps):
        for row, correction in enumerate(corrections):
            moved = nearest + correction
            if row < len(knowledge.bounds):
                excess = np.maximum(moved @ knowledge.normals[row] - knowledge.bounds[row], 0.0)
                nearest = moved - excess[:, None] * knowledge.normals[row]
            else:
                nearest = moved / np.maximum(1.0, np.linalg.norm(moved, axis=1, keepdims=True))
            corrections[row] = moved - nearest
    return np.asarray(np.linalg.norm(points - nearest, axis=1))


def sample_sum(knowledge: ConvexSet, scale: float, at_least: int, rng: np.random.Generator) -> Array:
    """Uniform points (n, dim) of S + scale * B: those of a ball around it that are near enough to S."""
    found = np.empty((0, knowledge.dim))
    while len(found) < at_least:
        points = rng.standard_normal((40_000, knowledge.dim))
        radii = (1 + scale) * rng.random((len(points), 1)) ** (1 / knowledge.dim)
        points *= radii / np.linalg.norm(points, axis=1, keepdims=True)
        possible = (points @ knowledge.normals.T <= knowledge.bounds + scale).all(axis=1)  # cheap, and necessary
        points = points[possible][: 2 * at_least]
        found = np.concatenate([found, points[distances(knowledge, points) <= scale]])
    return found


@given(
    dim=st.integers(1, 5),
    n_arms=st.integers(2, 8),
    log_epsilon=st.floats(-3, -0.5),
    length=st.sampled_from([0.0, 0.6, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_the_truth_stays_and_the_rest_goes(dim: int, n_arms: int, log_epsilon: float, length: float, seed: int) -> None:
    """The lemmas on S_t, its width and the duration, against answers that are wrong whenever they may be."""
    epsilon = 10**log_epsilon
    arms, truth, rng = make_instance(dim, n_arms, seed, length)
    knowledge = unit_ball(dim, rng)

    def answer(question: Question) -> int:
        assert knowledge.contains(truth, 1e-12)
        beliefs = arms @ truth + epsilon / 2
        beliefs[greedy(question, arms @ truth)] -= epsilon
        return greedy(question, beliefs)

    point, questions = play(multi_scale_search(knowledge, arms, epsilon, XI), answer)
    assert knowledge.contains(truth, 1e-12)
    assert knowledge.contains(point, 1e-9)
    differences = np.array([a - b for a, b in combinations(arms, 2)])
    assert np.abs(differences @ (point - truth)).max() <= 32 * dim * epsilon
    assert max(maximum(knowledge, u) + maximum(knowledge, -u) for u in differences) <= 32 * dim * epsilon
    # Each z_i is in use at most as often as 7/8 goes into the volume of z_i B over that of (1 + z_i) B.
    scales = [2.0**-i / (8 * dim) for i in range(-1, 60) if 2.0**-i / (8 * dim) >= 2 * epsilon]
    assert questions <= sum(dim * math.log(1 + 1 / scale) / math.log(8 / 7) + 1 for scale in scales)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("second_played", [False, True])
def test_answers_are_taken_as_wrong_by_epsilon(dim: int, second_played: bool) -> None:
    """A belief just beyond y_t is a truth up to epsilon before it, and no more."""
    arms, epsilon = np.array([np.eye(dim)[0], -0.5 * np.eye(dim)[0]]), 0.01
    knowledge = unit_ball(dim, np.random.default_rng(0))
    search = multi_scale_search(knowledge, arms, epsilon, XI)
    question = next(search)
    y = question.incentives[1] - question.incentives[0]
    away = epsilon if second_played else -epsilon  # <s*, a1 - a2> - y
    search.send(question.second if second_played else question.first)
    assert knowledge.contains(np.eye(dim)[0] * (y + 0.999 * away) / 1.5)
    assert not knowledge.contains(np.eye(dim)[0] * (y + 1.001 * away) / 1.5)


@pytest.mark.parametrize(("dim", "epsilon"), [(2, 1e-6), (3, 1e-4), (5, 1e-3), (8, 1e-3)])
def test_few_questions(dim: int, epsilon: float) -> None:
    """About log2(1 / epsilon) questions a dimension, and no more with many arms than with few."""
    for n_arms in (dim + 1, 20):
        arms, truth, rng = make_instance(dim, n_arms, seed=dim, length=0.7)
        search = multi_scale_search(unit_ball(dim, rng), arms, epsilon, XI)
        _, questions = play(search, partial(greedy, beliefs=arms @ truth))
        assert dim <= questions <= dim * math.log2(1 / epsilon)


@pytest.mark.parametrize(("dim", "rounds"), [(2, 10), (3, 9), (5, 8)])
def test_an_answer_leaves_seven_eighths(dim: int, rounds: int) -> None:
    """The lemma on the potential, and the share of S + z B above the cut that its proof needs."""
    epsilon = 1e-3
    arms, truth, rng = make_instance(dim, 8, seed=10 + dim)
    knowledge = unit_ball(dim, rng)
    search = multi_scale_search(knowledge, arms, epsilon, XI)
    question = next(search)
    for _ in range(rounds):
        difference = arms[question.first] - arms[question.second]
        length = float(np.linalg.norm(difference))
        width = maximum(knowledge, difference) + maximum(knowledge, -difference)
        scale = 2.0 ** -math.floor(-math.log2(width / length - 1e-6)) / (8 * dim)
        points = sample_sum(knowledge, scale, 2000, rng)
        noise = 4 * math.sqrt(0.25 / len(points))
        y = question.incentives[1] - question.incentives[0]
        share = float((points @ difference >= y - epsilon).mean())
        if dim == 2:
            assert share == pytest.approx(1 / 2, abs=noise)
        else:
            assert 1 / 2 - noise <= share <= 5 / 8 + noise
        question = search.send(greedy(question, arms @ truth))
        assert (distances(knowledge, points) <= scale).mean() <= 7 / 8


@pytest.mark.parametrize("seed", range(5))
def test_planar_halving_against_sampling(seed: int) -> None:
    knowledge, rng = cut_at_random(2, seed, seed), np.random.default_rng(100 + seed)
    direction = np.array([math.cos(seed), math.sin(seed)])
    for scale in (0.01, 0.1):
        points = sample_sum(knowledge, scale, 5000, rng)
        share = float((points @ direction >= knowledge.halving(direction, scale)).mean())
        assert share == pytest.approx(1 / 2, abs=4 * math.sqrt(0.25 / len(points)))


@pytest.mark.parametrize("seed", range(5))
def test_planar_volume_is_steiners(seed: int) -> None:
    """Vol(P + z B) = Vol(P) + z * perimeter + pi z^2 for a convex polygon P; and Vol(P) against sampling."""
    rng = np.random.default_rng(seed)
    square = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    corners = square
    for angle in rng.uniform(0, 2 * np.pi, 1 + seed):
        corners = convex_set.clipped(corners, np.array([math.cos(angle), math.sin(angle)]), rng.uniform(0.1, 0.9))
    area = convex_set.areas(corners).sum()
    perimeter = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1).sum()
    for z in (1e-3, 0.1, 3.0):
        body = convex_set.minkowski_sum(corners, z * convex_set.DISC)
        assert convex_set.areas(body).sum() == pytest.approx(area + z * perimeter + np.pi * z**2, rel=1e-5)
    points = rng.uniform(-1, 1, (100_000, 2))
    edges = np.roll(corners, -1, axis=0) - corners
    from_corner = points[:, None] - corners
    inside = (edges[:, 0] * from_corner[..., 1] >= edges[:, 1] * from_corner[..., 0]).all(axis=1)
    assert area == pytest.approx(4 * inside.mean(), abs=16 * math.sqrt(0.25 / len(points)))


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 8])
def test_widths(dim: int) -> None:
    for seed in range(4):
        knowledge, rng = cut_at_random(dim, 3 * seed, seed), np.random.default_rng(seed)
        for direction in 0.7 * rng.standard_normal((5, dim)):
            true = maximum(knowledge, direction) + maximum(knowledge, -direction)
            error = (knowledge.width(direction) - true) / np.linalg.norm(direction)
            assert -1e-8 <= error <= 2e-5
    for direction in rng.standard_normal((20, dim)):
        # Not a digit more: the scale is a power of two, and twice as large from there on.
        assert unit_ball(dim, rng).width(direction) >= (2 - 1e-8) * np.linalg.norm(direction)
        assert unit_ball(dim, rng).width(direction) <= 2 * np.linalg.norm(direction)


@pytest.mark.parametrize("dim", [3, 5, 8])
def test_sampled_halving_of_the_ball_and_of_a_cap(dim: int) -> None:
    """Their shares beyond a plane are known: in a unit ball (1 + height) / 2 is Beta((d + 1) / 2, (d + 1) / 2)."""

    def beyond(height: float) -> float:
        return float(beta.sf((1 + height / 1.2) / 2, (dim + 1) / 2, (dim + 1) / 2))

    for seed in range(5):
        knowledge = unit_ball(dim, np.random.default_rng(seed))
        assert 1 / 2 < beyond(knowledge.halving(np.eye(dim)[0], 0.2)) < 5 / 8
        assert knowledge.cut(np.eye(dim)[0], 0.4, "above")
        assert 1 / 2 < beyond(knowledge.halving(np.eye(dim)[0], 0.2)) / beyond(0.4 - 0.2) < 5 / 8


@pytest.mark.parametrize("dim", [3, 5, 8])
def test_sampled_halving_of_a_flat_set(dim: int) -> None:
    """A slab a thousand times as wide as thick, oblique to the axes: along it, it is a ball of one dimension less."""
    normal, along = np.ones(dim) / math.sqrt(dim), (np.eye(dim)[0] - np.eye(dim)[1]) / math.sqrt(2)

    def beyond(height: float) -> float:
        return float(beta.sf((1 + height) / 2, dim / 2, dim / 2))

    for seed in range(5):
        knowledge = unit_ball(dim, np.random.default_rng(seed))
        assert knowledge.cut(normal, 5e-4, "below")
        assert knowledge.cut(normal, -5e-4, "above")
        assert 1 / 2 < (6e-4 - knowledge.halving(normal, 1e-4)) / 12e-4 < 5 / 8
        assert 1 / 2 < beyond(knowledge.halving(along, 1e-4)) < 5 / 8
        assert knowledge.cut(along, 0.3, "above")
        assert 1 / 2 < beyond(knowledge.halving(along, 1e-4)) / beyond(0.3) < 5 / 8


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 8])
def test_the_centre_is_inside_and_in_the_middle(dim: int) -> None:
    for seed in range(4):
        knowledge = cut_at_random(dim, 4 * seed, seed)
        centre = knowledge.centre()
        assert knowledge.contains(centre)
        for direction in np.eye(dim):  # a centroid splits any width at worst d : 1 (Grünbaum)
            low, high = -maximum(knowledge, -direction), maximum(knowledge, direction)
            assert 0.9 / (dim + 1) <= (direction @ centre - low) / (high - low) <= 1 - 0.9 / (dim + 1)
    assert unit_ball(dim, np.random.default_rng(0)).centre() == pytest.approx(np.zeros(dim), abs=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3, 8])
def test_a_cut_that_leaves_nothing_is_not_made(dim: int) -> None:
    knowledge = cut_at_random(dim, 3, seed=1)
    direction = np.eye(dim)[-1]
    top = maximum(knowledge, direction)
    before = copy.deepcopy(knowledge)
    assert not knowledge.cut(direction, top + 1e-6, "above")
    np.testing.assert_array_equal(knowledge.normals, before.normals)
    np.testing.assert_array_equal(knowledge.bounds, before.bounds)
    assert knowledge.width(direction) == before.width(direction)
    assert knowledge.cut(direction, top - 1e-4, "above")
    assert knowledge.width(direction) == pytest.approx(1e-4, abs=1e-5)


def test_repeated_cuts_replace_each_other() -> None:
    knowledge, direction = unit_ball(3, np.random.default_rng(0)), np.eye(3)[0]
    for bound in (0.5, 0.2, 0.4):
        assert knowledge.cut(direction, bound, "below")
    assert knowledge.bounds.tolist() == [0.2]
    assert not knowledge.contains(np.array([0.3, 0.0, 0.0]))
    assert knowledge.contains(np.array([0.1, 0.0, 0.0]))


def test_the_first_question_is_the_papers() -> None:
    """S is 2 wide, so i = -1; the widest difference is the longest; half of a disc lies above 0."""
    arms = np.array([[0.1, 0.0], [0.9, 0.0], [-0.9, 0.1]])
    question = next(multi_scale_search(unit_ball(2, np.random.default_rng(0)), arms, 1e-2, XI))
    assert (question.first, question.second) == (1, 2)
    assert question.incentives == pytest.approx((2 + XI, 2 + XI + 1e-2), abs=1e-9)


@pytest.mark.parametrize(("epsilon", "asks"), [(0.00624, True), (0.00626, False)])
def test_when_to_stop(epsilon: float, asks: bool) -> None:
    """For two arms 0.2 apart z is 2 / 16 at first, and there is a question if 4 epsilon / 0.2 is not above."""
    arms = np.array([[0.1, 0.0], [-0.1, 0.0]])
    search = multi_scale_search(unit_ball(2, np.random.default_rng(0)), arms, epsilon, XI)
    _, questions = play(search, lambda question: question.first)
    assert (questions > 0) is asks


def test_a_third_arm_changes_nothing() -> None:
    arms, _, rng = make_instance(3, 6, seed=0)
    knowledge = unit_ball(3, rng)
    search = multi_scale_search(knowledge, arms, 1e-3, XI)
    question = next(search)
    third = next(arm for arm in range(6) if arm not in (question.first, question.second))
    for _ in range(5):
        assert search.send(third) == question
    assert len(knowledge.bounds) == 0
    assert search.send(question.second) != question
    assert len(knowledge.bounds) == 1


def test_incentives_are_never_negative() -> None:
    """In one dimension y_t goes to -2, below -(d + xi): the incentive of 0 and its partner's keep their distance."""
    arms, truth, lowest = np.array([[1.0], [-1.0]]), np.array([-1.0]), []

    def answer(question: Question) -> int:
        lowest.append(min(question.incentives))
        return greedy(question, arms @ truth)

    point, _ = play(multi_scale_search(unit_ball(1, np.random.default_rng(0)), arms, 1e-4, XI), answer)
    assert min(lowest) == 0.0
    assert abs(point[0] - truth[0]) <= 32 * 1e-4 / 2


@pytest.mark.parametrize("n_arms", [1, 4])
def test_equal_arms_are_not_compared(n_arms: int) -> None:
    search = multi_scale_search(unit_ball(2, np.random.default_rng(0)), np.tile([0.5, 0.1], (n_arms, 1)), 1e-3, XI)
    point, questions = play(search, lambda question: 0)
    assert questions == 0
    assert point == pytest.approx([0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("dim", [2, 3, 8])
def test_arms_that_span_a_line(dim: int) -> None:
    """Only what the arms can tell is asked for, with copies of arms and the zero arm among them."""
    direction = np.ones(dim) / math.sqrt(dim)
    arms = np.outer([1.0, -1.0, 0.0, 0.0, 0.5, 1.0], direction)
    truth, rng = 0.3 * direction + 0.5 * np.eye(dim)[0], np.random.default_rng(0)
    knowledge = unit_ball(dim, rng)
    point, questions = play(multi_scale_search(knowledge, arms, 1e-4, XI), partial(greedy, beliefs=arms @ truth))
    assert knowledge.contains(truth)
    assert abs(direction @ (point - truth)) <= 32 * dim * 1e-4 / 2
    assert 0 < questions <= 20


@pytest.mark.parametrize("dim", [2, 3])
def test_the_same_seed_asks_the_same(dim: int) -> None:
    arms, truth, _ = make_instance(dim, 6, seed=3)
    runs: list[list[Question]] = [[], []]

    def answer(question: Question, asked: list[Question]) -> int:
        asked.append(question)
        return greedy(question, arms @ truth)

    points = [
        play(
            multi_scale_search(unit_ball(dim, np.random.default_rng(7)), arms, 1e-3, XI), partial(answer, asked=asked)
        )[0].tolist()
        for asked in runs
    ]
    assert runs[0] == runs[1]
    assert points[0] == points[1]


@pytest.mark.parametrize(
    ("arms", "epsilon", "xi", "named"),
    [
        (np.zeros((3, 4)), 0.1, 0.1, "arms"),
        (np.zeros(3), 0.1, 0.1, "arms"),
        (np.array([[np.nan, 0.0, 0.0]]), 0.1, 0.1, "arms"),
        (np.eye(3), 0.0, 0.1, "epsilon"),
        (np.eye(3), math.inf, 0.1, "epsilon"),
        (np.eye(3), 0.1, -1.0, "xi"),
    ],
)
def test_bad_input_is_named(arms: Array, epsilon: float, xi: float, named: str) -> None:
    with pytest.raises(ValueError, match=f"^{named} must be"):
        next(multi_scale_search(unit_ball(3, np.random.default_rng(0)), arms, epsilon, xi))


def test_there_is_no_ball_without_dimensions() -> None:
    with pytest.raises(ValueError, match="dim must be at least 1, got 0"):
        unit_ball(0, np.random.default_rng(0))
