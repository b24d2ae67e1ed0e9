"""The G-optimal design against the definition it approximates, with V(w)^+ computed independently."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from baselines.scripted.paper.design import g_optimal_design

Array = NDArray[np.float64]


def worst_variance(arms: Array, weights: Array) -> float:
    covariance = (arms.T * weights) @ arms
    return float(np.einsum("ni,ij,nj->n", arms, np.linalg.pinv(covariance, hermitian=True, rcond=1e-12), arms).max())


def check(arms: Array, factor: float = 2.0) -> Array:
    weights = g_optimal_design(arms, factor)
    rank = int(np.linalg.matrix_rank(arms, rtol=1e-7))
    assert weights.shape == (len(arms),)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert worst_variance(arms, weights) <= factor * rank * (1 + 1e-10)
    # V(w) must have the rank of all arms, or the bound above would be met by ignoring a direction.
    assert np.linalg.matrix_rank(arms[weights > 0], rtol=1e-7) == rank
    return weights


@given(n_arms=st.integers(1, 60), dim=st.integers(1, 9), rank=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_twice_the_rank_is_reached_by_few_arms(n_arms: int, dim: int, rank: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((n_arms, min(rank, dim))) @ rng.standard_normal((min(rank, dim), dim))
    arms *= rng.random((n_arms, 1)) / np.linalg.norm(arms, axis=1, keepdims=True)
    weights = check(arms)
    assert np.count_nonzero(weights) <= 2 * np.linalg.matrix_rank(arms, rtol=1e-7)


@pytest.mark.parametrize("stretch", [1e-3, 1.0, 1e3])
def test_badly_scaled_arms(stretch: float) -> None:
    arms = np.random.default_rng(1).standard_normal((40, 6))
    arms[:, 0] *= stretch
    check(arms)


def test_the_weights_do_not_depend_on_the_coordinates() -> None:
    rng = np.random.default_rng(2)
    arms, change = rng.standard_normal((30, 5)), rng.standard_normal((5, 5))
    np.testing.assert_allclose(g_optimal_design(arms @ change, 1.1), g_optimal_design(arms, 1.1), atol=1e-8)


def test_a_known_optimum() -> None:
    """Of seven points on a half circle every optimal design has V = I / 2."""
    angles = np.pi * np.arange(7) / 7
    arms = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = check(arms, factor=1 + 1e-6)
    np.testing.assert_allclose((arms.T * weights) @ arms, np.eye(2) / 2, atol=1e-3)


@pytest.mark.parametrize("factor", [1.5, 1.01, 1 + 1e-9])
def test_as_near_to_the_optimum_as_you_like(factor: float) -> None:
    """Without the steps away the nearest of these would take more steps than there are."""
    for seed in range(3):
        weights = check(np.random.default_rng(seed).standard_normal((50, 8)), factor)
        assert np.count_nonzero(weights) <= 8 * 9 / 2  # no more than an optimal design may need


def test_short_arms_are_not_played() -> None:
    arms = np.concatenate([np.eye(4), 0.1 * np.ones((20, 4))])
    np.testing.assert_allclose(check(arms), np.repeat([0.25, 0.0], [4, 20]))


def test_rank_deficient_arms() -> None:
    flat = np.random.default_rng(4).standard_normal((20, 3)) @ np.eye(3, 7)
    check(flat)
    check(np.concatenate([flat, flat, np.zeros((3, 7))]))
    assert check(np.array([[0.3, -0.2]])).tolist() == [1.0]
    assert check(np.zeros((3, 2))).tolist() == [1.0, 0.0, 0.0]
    assert check(np.tile([0.3, -0.2], (4, 1))).max() == 1.0
    assert check(np.array([[0.0, 0.0], [0.0, 0.5]])).tolist() == [0.0, 1.0]


def test_the_arms_are_left_alone() -> None:
    arms = np.random.default_rng(5).standard_normal((10, 3))
    before = arms.copy()
    g_optimal_design(arms)
    np.testing.assert_array_equal(arms, before)


@pytest.mark.parametrize("arms", [np.zeros((0, 2)), np.zeros(3), np.array([[np.nan, 1.0]]), np.array([[np.inf, 1.0]])])
def test_bad_arms_are_refused(arms: Array) -> None:
    with pytest.raises(ValueError, match="arms must be finite"):
        g_optimal_design(arms)


@pytest.mark.parametrize("factor", [1.0, 0.5, float("nan")])
def test_bad_factors_are_refused(factor: float) -> None:
    with pytest.raises(ValueError, match=f"factor must be above 1.*{factor}"):
        g_optimal_design(np.eye(2), factor)
