"""What a trained principal sees: views and prices of particle beliefs, alone, in batches and of several games."""

import gymnasium as gym
import numpy as np
import pytest

from baselines.rl.view import FIELDS, OVERALL, QUANTILES, RUNGS, Field, Overall, WithBeliefs, observe
from baselines.scripted.ours.particle_filter import LAYOUT, ParticleEntry, fresh_memory
from pa_env.kernel.layout import NO_ARM
from pa_env.wrappers import ForLearning

K, P = 3, 40


def games(copies: int, k: int = K, horizon: int = 30, agent: str = "empirical-mean") -> WithBeliefs:
    options = {"n_arms": k, "horizon": horizon, "agent": agent, "autoreset_mode": "Disabled"}
    return WithBeliefs(gym.make_vec("PrincipalAgent-v0", copies, **options), particles=8)


def test_a_view_says_what_the_particles_say() -> None:
    rng = np.random.default_rng(0)
    memory = fresh_memory(K, P, rng)
    memory[ParticleEntry.HORIZON], memory[ParticleEntry.TIME] = 50, 9
    own = LAYOUT.arrays(memory, K)
    own.means[:] = rng.random((K, P)) * (rng.random((K, P)) < 0.8)
    own.weights[:] = rng.dirichlet(np.ones(P))
    seen = np.full(FIELDS * K + OVERALL, np.nan)
    plays, sums = np.array([4, 0, 5]), np.array([3.0, 0.0, 1.0])
    observe(memory, plays, sums, NO_ARM, 0.5, seen)
    fields, overall = seen[: FIELDS * K].reshape(FIELDS, K), seen[FIELDS * K :]
    favourite = own.means.argmax(axis=0)
    estimates = (sums + 1) / (plays + 2)
    for a in range(K):
        likes = own.weights[favourite == a].sum()
        rivals = np.delete(own.means, a, axis=0).max(axis=0)
        costs = np.maximum(0.0, rivals - own.means[a] + 1e-7)
        assert fields[Field.PLAYED, a] == 0
        assert fields[Field.ESTIMATE, a] == pytest.approx(estimates[a])
        assert fields[Field.PLAYS, a] == pytest.approx(np.log1p(plays[a]) / 4)
        assert fields[Field.FAVOURITE, a] == pytest.approx(likes)
        assert fields[Field.ZERO, a] == pytest.approx(own.weights[own.means[a] == 0].sum())
        assert fields[Field.BELIEF, a] == pytest.approx(own.weights @ own.means[a])
        for rung, level in enumerate(QUANTILES):
            price = fields[Field.PRICE + rung, a]
            assert own.weights[costs <= price + 1e-12].sum() >= level - 1e-12
            assert own.weights[costs < price - 1e-8].sum() < level
    assert overall[Overall.REWARD] == 0.5
    assert overall[Overall.TIME] == pytest.approx(9 / 50)
    assert overall[Overall.PAST] == pytest.approx(np.log(10) / 4)
    assert overall[Overall.LEFT] == pytest.approx(np.log(41) / 4)
    assert overall[Overall.KNOWS] == pytest.approx(own.weights @ own.knows)
    assert overall[Overall.HIGHEST] == pytest.approx(own.weights @ own.means.max(axis=0))
    assert overall[Overall.UNPAID] == pytest.approx(own.weights @ estimates[favourite])
    assert overall[Overall.EXPLORES] == pytest.approx((0.1 + 0.3 + 1.0) * 0.1 / 3)


def test_a_batch_is_seen_within_its_spaces_and_begins_again_by_itself() -> None:
    envs = games(6, agent="exploratory")
    seen, _ = envs.reset(seed=3)
    begun = seen.copy()
    rng = np.random.default_rng(0)
    for t in range(1, 31):
        actions = rng.integers(RUNGS * K, size=6)
        seen, rewards, over, _, info = envs.step(actions)
        assert envs.observation_space.contains(seen)
        assert (seen[:, Field.PLAYED * K : (Field.PLAYED + 1) * K].argmax(axis=1) == info["arm"]).all()
        assert (over == (t == 30)).all()
    mask = np.array([True, False] * 3)
    again, _ = envs.reset(options={"reset_mask": mask})
    assert (again[~mask] == seen[~mask]).all()
    early = slice(FIELDS * K, FIELDS * K + Overall.KNOWS)  # what does not depend on the particles drawn
    assert (again[mask, early] == begun[mask, early]).all()
    assert np.isfinite(rewards).all()


def test_a_seed_gives_the_same_views() -> None:
    first, second = (games(4) for _ in range(2))
    views = [envs.reset(seed=[5, 6, 7, 8])[0] for envs in (first, second)]
    for _ in range(10):
        assert (views[0] == views[1]).all()
        views = [envs.step(np.arange(4))[0] for envs in (first, second)]
    assert not (games(4).reset(seed=9)[0] == views[0]).all()


def test_mistakes_are_named() -> None:
    envs = games(2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"action\[1\] = 15 must be an integer from 0 to 14"):
        envs.step([0, 15])
    with pytest.raises(ValueError, match="autoreset_mode='Disabled'"):
        WithBeliefs(gym.make_vec("PrincipalAgent-v0", 2))
    with pytest.raises(ValueError, match="particles = 0"):
        WithBeliefs(gym.make_vec("PrincipalAgent-v0", 2, autoreset_mode="Disabled"), particles=0)
    with pytest.raises(TypeError, match="already takes other actions"):
        WithBeliefs(ForLearning(gym.make_vec("PrincipalAgent-v0", 2, autoreset_mode="Disabled")))


def test_several_games_are_one_environment() -> None:
    pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")
    from baselines.rl.vec_env import GameVecEnv

    mixed = GameVecEnv([games(2, horizon=4), games(3, horizon=6)])
    alone = GameVecEnv(games(3, horizon=6))
    assert mixed.seed(7) == [7, 8, 9, 10, 11]
    alone.seed(9)
    seen, expected = mixed.reset(), alone.reset()
    actions = np.array([0, 5, 2, 7, 12])
    for t in range(1, 7):
        assert (seen[2:] == expected).all()
        seen, rewards, over, infos = mixed.step(actions)
        expected, their_rewards, their_over, _ = alone.step(actions[2:])
        assert (rewards[2:] == their_rewards).all()
        assert over.tolist() == [t == 4, t == 4, *their_over]
        assert [("episode" in info) for info in infos] == over.tolist()
    assert [game.horizon for game in mixed.get_attr("game")] == [4, 4, 6, 6, 6]
    assert mixed.get_attr("num_envs", [0, 4]) == [2, 3]
    assert mixed.env_is_wrapped(WithBeliefs) == [True] * 5
    mixed.close()
    with pytest.raises(ValueError, match="envs must have the same observations and actions"):
        GameVecEnv([games(2), games(2, k=4)])
