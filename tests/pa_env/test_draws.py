"""Randomness: the published generator, the right distributions, streams that do not meet, and the same luck for all.

Seeds are fixed, so a test that passes keeps passing; a p-value below 1e-3 is no longer put down to bad luck.
"""

import math

import numpy as np
import oracle
import pytest
from helpers import VECTORS, arm_at, offer_at, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from pa_env import IID, Linear, make_agent, principal_agent_v0
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv
from pa_env.game import Game
from pa_env.kernel import draws
from pa_env.kernel.layout import ArmRow
from pa_env.rules import read_key, write_key

PUBLISHED = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
N = 5_000
LUCK = 1e-3


def pulls(instance: IID | Linear, n: int = N, seed: int = 0, episodes: int = 1) -> np.ndarray:
    """X and R of the first n pulls of every arm: (2, n_arms, n), of the last of so many episodes."""
    nothing = [0.0] * instance.n_arms
    env = FollowerEnv(principal=lambda _: nothing, instance=instance, horizon=n * instance.n_arms)
    env.reset(seed=seed)
    for _ in range(episodes - 1):
        env.reset()
    rewards = np.empty((2, instance.n_arms, n))
    for arm in range(instance.n_arms):
        for j in range(n):
            _, r, _, _, info = env.step(arm)
            rewards[:, arm, j] = info["utility"], r
    return rewards


def means_of(
    family: str, copies: int = 4000, n_arms: int = 5, seed: int = 0, horizon: int = 1000
) -> tuple[np.ndarray, np.ndarray]:
    """Theta and mu (copies, n_arms) of the first episodes."""
    game = Game(n_arms=n_arms, instance=family, copies=copies, horizon=horizon)
    game.begin([seed + i for i in range(copies)])
    return game.arrays.arms[:, ArmRow.THETA].copy(), game.arrays.arms[:, ArmRow.MU].copy()


def uncorrelated(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(stats.pearsonr(a, b).pvalue > LUCK)


# ------------------------------------------------------------------------- the generator


def test_splitmix64_gives_its_published_values() -> None:
    assert [draws.draw(np.uint64(1234567), n) for n in range(1, 6)] == PUBLISHED
    assert [oracle.splitmix(1234567, n) for n in range(1, 6)] == PUBLISHED


@pytest.mark.parametrize("key", [0, 1, 2**63, 2**64 - 1])
def test_numbers_far_along_a_stream_do_not_overflow(key: int) -> None:
    for n in (1, 2**40 - 1, 2**40, 105 * 2**40 + 1):
        assert draws.draw(np.uint64(key), n) == oracle.splitmix(key, n)
        assert draws.uniform(np.uint64(key), n) == oracle.uniform(key, n)


@pytest.mark.parametrize("key", [0, 1, 2**32, 2**53 + 1, 2**63 + 5, 2**64 - 1])
def test_a_rules_memory_keeps_all_64_bits_of_a_key(key: int) -> None:
    memory = np.full(4, 7.0)
    write_key(memory, 1, key)
    assert int(read_key(memory, 1)) == key
    assert memory[0] == memory[3] == 7.0


def test_uniform_numbers_lie_below_one_and_are_uniform() -> None:
    numbers = np.concatenate([means.ravel() for means in means_of("uniform")])
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    assert stats.kstest(numbers, "uniform").pvalue > LUCK
    assert uncorrelated(numbers[:-1], numbers[1:])


def test_the_largest_64_bits_still_give_a_number_below_one() -> None:
    """(2^64 - 1) >> 11 is the largest integer a uniform number is made of."""
    assert (2**64 - 1 >> 11) * 2.0**-53 < 1.0
    keys = np.random.default_rng(0).integers(0, 2**64, 2000, np.uint64)
    assert all(0.0 <= draws.uniform(key, 1) == oracle.uniform(int(key), 1) < 1.0 for key in keys)


# ------------------------------------------------------------------------- rewards


def test_bernoulli_rewards_have_their_means() -> None:
    theta, mu = np.array([0.0, 0.1, 0.5, 1.0]), np.array([1.0, 0.7, 0.02, 0.0])
    rewards = pulls(IID(mu, theta))
    assert set(np.unique(rewards)) == {0.0, 1.0}
    for means, drawn in zip((theta, mu), rewards, strict=True):
        counts = drawn.sum(axis=1).astype(int)
        assert all(stats.binomtest(c, N, m).pvalue > LUCK for c, m in zip(counts, means, strict=True))


def test_gaussian_rewards_are_normal_with_unit_variance() -> None:
    theta, mu = [0.3, -2.0], [1.5, 0.0]
    for means, drawn in zip((theta, mu), pulls(IID(mu, theta, "gaussian")), strict=True):
        for mean, numbers in zip(means, drawn, strict=True):
            assert stats.kstest(numbers - mean, "norm").pvalue > LUCK
            assert abs(stats.kurtosis(numbers)) < 5 * math.sqrt(24 / N)


def test_beta_rewards_have_their_distribution() -> None:
    theta, mu = [0.05, 0.5, 0.9], [0.3, 0.99, 0.5]
    for means, drawn in zip((theta, mu), pulls(IID(mu, theta, "beta")), strict=True):
        for mean, numbers in zip(means, drawn, strict=True):
            law = stats.beta(2 * mean, 2 * (1 - mean))
            edges = law.ppf(np.arange(0.05, 1, 0.05))
            edges = edges[(edges > 1e-6) & (edges < 1 - 1e-6)]  # nearer to 1, float32 rounds to it
            counts = np.bincount(np.searchsorted(edges, numbers), minlength=edges.size + 1)
            chances = np.diff([0.0, *law.cdf(edges), 1.0])
            assert stats.chisquare(counts, N * chances).pvalue > LUCK
            assert abs(numbers.mean() - mean) < 4 * law.std() / math.sqrt(N)
            assert numbers.min() >= 0
            assert numbers.max() <= 1


@pytest.mark.parametrize("rewards", ["beta", "constant", "bernoulli"])
def test_rewards_with_mean_zero_or_one_are_certain(rewards: str) -> None:
    drawn = pulls(IID([0.0, 1.0], [1.0, 0.0], rewards), n=100)
    assert_array_equal(drawn, np.broadcast_to(np.array([[1.0, 0.0], [0.0, 1.0]])[:, :, None], drawn.shape))


def test_constant_rewards_are_the_means() -> None:
    drawn = pulls(IID([0.1, 0.2], [0.3, 1.4], "constant"), n=50)
    means = np.array([np.float32([0.3, 1.4]), [0.1, 0.2]], np.float64)  # the principal's as observations carry them
    assert_array_equal(drawn, np.broadcast_to(means[:, :, None], drawn.shape))


def test_linear_rewards_are_inner_products_with_noise() -> None:
    instance = Linear(VECTORS, s=[0.6, 0.8], nu=[1.0, 0.0], noise=0.3)
    for means, drawn in zip((instance.theta, instance.mu), pulls(instance, n=5000), strict=True):
        for mean, numbers in zip(means, drawn, strict=True):
            assert stats.kstest((numbers - mean) / 0.3, "norm").pvalue > LUCK


@pytest.mark.parametrize("rewards", ["bernoulli", "beta", "gaussian"])
def test_streams_of_arms_players_episodes_and_seeds_are_independent(rewards: str) -> None:
    instance = IID([0.5, 0.5], [0.5, 0.5], rewards)
    drawn = pulls(instance).reshape(4, N)
    others = [pulls(instance, seed=1).reshape(4, N), pulls(instance, episodes=2).reshape(4, N)]
    for i in range(4):
        assert uncorrelated(drawn[i, :-1], drawn[i, 1:])
        assert all(uncorrelated(drawn[i], drawn[j]) for j in range(i))
        assert all(uncorrelated(drawn[i], other[j]) for other in others for j in range(4))


@pytest.mark.parametrize("rewards", ["beta", "gaussian"])
def test_rewards_of_the_principal_fit_into_float32(rewards: str) -> None:
    x, r = pulls(IID([0.35, 0.8], [0.9, 0.2], rewards), n=1000)
    assert_array_equal(x, x.astype(np.float32))
    assert (r != r.astype(np.float32)).any()  # what nobody observes in float32 keeps its digits


@pytest.mark.parametrize("instance", ["bernoulli", "beta", "gaussian", "linear", "uniform", "unit-ball"])
def test_the_nth_pull_meets_the_same_rewards_whatever_is_played(instance: str) -> None:
    meetings: dict[tuple[int, int], set[tuple[float, float]]] = {}
    for principal, agent in ((0, "oracle"), (1, "round-robin"), (2, "greedy"), (3, None)):
        env = principal_agent_v0.env(**settings(agent or "greedy", instance, horizon=200))
        env.reset(seed=17)
        counts = [0] * 4
        for t in range(200):
            offer = np.round(offer_at(principal, 0, t) * 4) / 4  # exact in the sums below
            env.step(offer)
            arm = env.infos["agent_0"]["scripted_arm"] if agent else arm_at(principal, 0, t)
            env.step(arm)
            counts[arm] += 1
            rewards = (env.rewards["principal_0"] + offer[arm], env.rewards["agent_0"] - offer[arm])
            meetings.setdefault((arm, counts[arm]), set()).add(tuple(round(float(r), 12) for r in rewards))
    assert all(len(rewards) == 1 for rewards in meetings.values())
    assert len(meetings) > 200  # the four games did not play the same arms


# ------------------------------------------------------------------------- families


def test_uniform_means_are_independent() -> None:
    theta, mu = means_of("uniform")
    for means in (theta, mu):
        assert stats.kstest(means.ravel(), "uniform").pvalue > LUCK
        assert uncorrelated(means[:, 0], means[:, 1])
    assert uncorrelated(theta.ravel(), mu.ravel())


def test_misaligned_means_are_sorted_against_each_other() -> None:
    theta, mu = means_of("misaligned")
    order = np.argsort(theta, axis=1)
    assert (np.diff(np.take_along_axis(mu, order, axis=1), axis=1) < 0).all()
    uniform_theta, uniform_mu = means_of("uniform")
    assert_array_equal(theta, uniform_theta)
    assert_array_equal(np.sort(mu, axis=1), np.sort(uniform_mu, axis=1))


def test_gap_is_a_fifth_between_one_arm_and_all_others() -> None:
    theta, mu = means_of("gap")
    joint = np.sort(theta + mu, axis=1)
    assert_allclose(joint[:, :-1], 0.8, rtol=0, atol=1e-15)
    assert_allclose(joint[:, -1], 1.0, rtol=0, atol=1e-15)
    best = (theta + mu).argmax(axis=1)
    assert stats.chisquare(np.bincount(best, minlength=5)).pvalue > LUCK
    is_best = np.arange(5) == best[:, None]
    for thetas in (theta[~is_best], theta[is_best] - 0.1):  # both means of the best arm are a tenth higher
        assert stats.kstest(thetas, stats.uniform(0.2, 0.4).cdf).pvalue > LUCK


@pytest.mark.parametrize(("horizon", "gap"), [(10, 0.25), (500, 0.05), (5 * 10**8, 5e-5)])
def test_minimax_gap_is_half_sqrt_k_over_t_and_at_most_a_quarter(horizon: int, gap: float) -> None:
    theta, mu = means_of("minimax", horizon=horizon)
    joint = np.sort(theta + mu, axis=1)
    assert_allclose(joint[:, :-1], 1.0, rtol=0, atol=1e-15)
    assert_allclose(joint[:, -1], 1.0 + gap, rtol=0, atol=1e-15)
    best = (theta + mu).argmax(axis=1)
    assert stats.chisquare(np.bincount(best, minlength=5)).pvalue > LUCK
    is_best = np.arange(5) == best[:, None]
    for means in (mu[~is_best], mu[is_best]):  # the agent's means tell nothing of the best arm
        assert stats.kstest(means, stats.uniform(0.25, 0.5).cdf).pvalue > LUCK


def test_clustered_arms_are_near_one_of_three_centres() -> None:
    k, copies = 8, 500
    theta, mu = means_of("clustered", copies, k)
    offsets, crowds = [], np.zeros(3)
    for i in range(copies):
        centres = oracle.cluster_centres(oracle.episode_key(i, 1), k)
        assert ((centres >= 0.05) & (centres <= 0.95)).all()
        away = np.stack([theta[i], mu[i]], axis=1)[:, None] - centres
        near = np.abs(away).max(axis=2) <= 0.05 + 1e-15
        assert near.any(axis=1).all()
        apart = [np.abs(centres[a] - centres[b]).max() > 0.1 for a, b in ((0, 1), (0, 2), (1, 2))]
        if all(apart):
            offsets.append(away[near])
            crowds += near.sum(axis=0)
    assert stats.kstest(np.concatenate(offsets).ravel(), stats.uniform(-0.05, 0.1).cdf).pvalue > LUCK
    assert stats.chisquare(crowds).pvalue > LUCK


@pytest.mark.parametrize("dim", [1, 2, 4])
def test_unit_ball_vectors_are_uniform_in_the_ball_and_span_it(dim: int) -> None:
    game = Game(instance="unit-ball", dim=dim, n_arms=4, copies=1500)
    game.begin(list(range(1500)))
    instances = [game.instance(i) for i in range(1500)]  # a Linear refuses arms that do not span
    for vectors in (
        np.stack([i.arms[0] for i in instances]),
        np.stack([i.arms[3] for i in instances]),
        np.stack([i.s for i in instances]),
        np.stack([i.nu for i in instances]),
    ):
        norms = np.linalg.norm(vectors, axis=1)
        assert norms.max() <= 1 + 1e-12
        assert stats.kstest(norms**dim, "uniform").pvalue > LUCK
        assert np.abs(vectors.mean(axis=0)).max() < 4 / math.sqrt(1500)
    assert all(np.linalg.matrix_rank(i.arms) == dim for i in instances)


@pytest.mark.parametrize(
    ("name", "checks"),
    [("ipa-k5", (2.14, 3.56, 4.81, 6.64)), ("ipa-k50", (22.45, 22.27, 590.6, 553.73))],
)
def test_published_instances_are_fixed(name: str, checks: tuple[float, ...]) -> None:
    """Sums, and sums weighted by the arm's index, of the published theta and mu (Scheid et al., 2024)."""
    env = PrincipalEnv(instance=name, n_arms=int(name[5:]))
    for seed in (1, 2):
        env.reset(seed=seed)
        played = env.game.instance()
        index = np.arange(played.n_arms)
        found = (played.theta.sum(), played.mu.sum(), played.theta @ index, played.mu @ index)
        assert_allclose(found, checks, rtol=1e-12)
        assert played.rewards == "gaussian"
    if name == "ipa-k5":
        assert played.theta.tolist() == [0.3, 0.24, 0.88, 0.07, 0.65]
        assert played.mu.tolist() == [0.64, 0.99, 0.73, 0.61, 0.59]


@pytest.mark.parametrize("family", ["uniform", "misaligned", "gap", "clustered", "minimax", "unit-ball"])
def test_families_are_drawn_anew_each_episode_and_fixed_ones_are_not(family: str) -> None:
    env = PrincipalEnv(n_arms=3, instance=family, agent=make_agent("empirical-mean"))
    seen = []
    for seed in (5, None, None, 5):
        env.reset(seed=seed)
        seen.append(env.game.arrays.arms[0, : ArmRow.THETA + 1].tobytes())
    assert seen[0] == seen[3]
    assert len(set(seen)) == 3
