"""The steered script: zeros are the script itself, actions do what the table says, arms are alike."""

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

import baselines
from baselines.rl.beliefs import FIELDS, GLOBALS, MOST, OVERALL, PRIVILEGED, Steered, fresh_memory, look, propose
from baselines.scripted.profit_target import BELIEFS, EXPLORED, TEST_EVERY

Floats = NDArray[np.float64]


def steered(copies: int, horizon: int = 60, parameters: dict[str, float] | None = None, **settings: object) -> Steered:
    game = gym.make_vec("PrincipalAgent-v0", copies, horizon=horizon, autoreset_mode="Disabled", **settings)
    return Steered(game, privileged=True, **(parameters or {}))  # type: ignore[arg-type]


@pytest.mark.parametrize("agent", ["empirical-mean", "exploratory"])
@pytest.mark.parametrize("parameters", [{}, {"bonus": 0.3}])
def test_zeros_are_the_script(agent: str, parameters: dict[str, float]) -> None:
    envs = steered(100, n_arms=4, parameters=parameters, agent=agent)
    envs.reset(seed=100)
    script, state, compared = baselines.make("profit-target", n_arms=4, horizon=60, **parameters), None, 0
    for _ in range(60):
        same = envs._memories[:, EXPLORED] < TEST_EVERY  # from then on the script tests prices
        offers, state = script.predict(envs.game.summary, state)
        envs.step(np.zeros((100, OVERALL + 4)))
        np.testing.assert_array_equal(envs.game.summary[same, 5 * 4 : 6 * 4], offers[same].astype(np.float32))
        compared += int(same.sum())
    assert compared > 1000


def test_a_reset_of_some_leaves_the_others_as_they_were() -> None:
    envs, twin = steered(4, n_arms=3), steered(4, n_arms=3)
    envs.reset(seed=0), twin.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 4, 5))
    for action in actions[:10]:
        seen, *_ = envs.step(action)
        twin.step(action)
    mask = np.array([True, False, False, True])
    again, _ = envs.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(again[~mask], seen[~mask])
    assert (again[mask, FIELDS * 3] == 0).all()
    for action in actions[10:]:
        mine, its = envs.step(action)[0], twin.step(action)[0]
    np.testing.assert_array_equal(mine[~mask], its[~mask])


def test_actions_do_what_the_table_says() -> None:
    def episode(action: list[float]) -> tuple[Floats, float]:
        envs = steered(50, n_arms=3)
        envs.reset(seed=0)
        for _ in range(60):
            envs.step(np.tile(action, (50, 1)))
        return envs.game.plays.mean(axis=0), np.mean([envs.game.totals(i)["overpayment"] for i in range(50)])

    plain, overpaid = episode([0.0] * 5)
    for arm in range(3):
        assert episode([0, 0, *np.eye(3)[arm]])[0][arm] > plain[arm] + 10
    assert episode([0, 0.7, 0, 0, 0])[1] > overpaid > episode([0, -0.7, 0, 0, 0])[1]


def test_relabelled_arms_are_seen_and_paid_alike() -> None:
    rng, order = np.random.default_rng(0), np.array([2, 0, 3, 1])
    memory, plays, sums = fresh_memory(4, 60, {}), rng.integers(9, size=4), rng.uniform(0, 9, 4)
    beliefs = memory[BELIEFS : BELIEFS + 12].reshape(3, 4)
    beliefs[:] = rng.uniform(0, 0.5, (3, 4))
    moved = memory.copy()
    moved[BELIEFS : BELIEFS + 12] = beliefs[:, order].ravel()
    views, offers = np.zeros((2, FIELDS * 4 + GLOBALS)), np.zeros((2, 4))
    action = rng.uniform(-1, 1, 6)
    look(memory, 4, plays, sums, 2, views[0])
    look(moved, 4, plays[order], sums[order], 0, views[1])
    arms = views[:, : FIELDS * 4].reshape(2, FIELDS, 4)
    np.testing.assert_array_equal(arms[1], arms[0][:, order])
    np.testing.assert_array_equal(views[1, FIELDS * 4 :], views[0, FIELDS * 4 :])
    target = propose(memory, plays, sums, action, offers[0])
    assert order[propose(moved, plays[order], sums[order], np.r_[action[:2], action[2:][order]], offers[1])] == target
    np.testing.assert_allclose(offers[1], offers[0][order], atol=1e-12)


@pytest.mark.parametrize("action", [-1.0, 1.0, np.inf])
def test_offers_and_observations_stay_within_bounds(action: float) -> None:
    envs = steered(20, n_arms=6, agent="exploratory")
    observations, _ = envs.reset(seed=0)
    assert observations.shape == (20, (FIELDS + PRIVILEGED) * 6 + GLOBALS)
    for _ in range(60):
        observations, *_ = envs.step(np.full((20, OVERALL + 6), action))  # the game refuses offers out of bounds
        assert np.isfinite(observations).all()
        assert (observations[:, 6 * 6 : 7 * 6] <= MOST).all()


WRONG_SHAPES = [(2, 4), (2, 6), (1, 5), (3, 5), (5,), (2, 5, 1), ()]


@pytest.mark.parametrize("actions", [*map(np.zeros, WRONG_SHAPES), [[0.0] * 5, [0.0, 0.0, np.nan, 0.0, 0.0]]])
def test_actions_that_do_not_fit_are_refused_and_change_nothing(actions: object) -> None:
    envs, twin = steered(2, n_arms=3), steered(2, n_arms=3)
    envs.reset(seed=0), twin.reset(seed=0)
    message = rf"actions = .* of shape \({str(np.shape(actions))[1:-1]}\) must be of shape \(2, 5\) and not NaN"
    for played in (np.full((2, 5), 0.3), np.full((2, 5), -0.3)):
        with pytest.raises(ValueError, match=f"(?s){message}"):
            envs.step(actions)
        for mine, its in zip(envs.step(played)[:4], twin.step(played)[:4], strict=True):
            np.testing.assert_array_equal(mine, its)
    with pytest.raises(TypeError, match="actions = 'much' must be numbers"):
        envs.step("much")


def test_the_layout_of_actions_in_memory_does_not_matter() -> None:
    envs, twin = steered(4, n_arms=3), steered(4, n_arms=3)
    envs.reset(seed=0), twin.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (5, 4)).T
    np.testing.assert_array_equal(envs.step(actions)[0], twin.step(actions.copy(order="C"))[0])


def test_it_wants_the_bare_batched_game() -> None:
    with pytest.raises(TypeError, match="autoreset_mode='Disabled'"):
        Steered(gym.make_vec("PrincipalAgent-v0", 2))  # type: ignore[arg-type]
