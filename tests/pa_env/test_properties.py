"""What must hold in every game, whoever plays (Liu & Ratliff, ICML 2025, section 2 and its regrets)."""

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import helpers
import numpy as np
import pytest
from helpers import AGENTS, CASES, HORIZON, INFO, arm_at, offer_at, settings, state_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracle import exploration_probability
from scipy import stats

from pa_env import IID, make_agent, principal_agent_v0
from pa_env.envs.batched import PrincipalVectorEnv
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv
from pa_env.game import Game

SEEDS = st.integers(0, 2**32)
GREEDY = [case for case in CASES if case[0] in ("greedy", "hopeful", "oracle", "ols")]


def play(env: PrincipalEnv, seed: int) -> list[tuple[np.ndarray, np.ndarray, float, dict[str, Any]]]:
    """Offer, observation, reward and info of every round of an episode."""
    env.reset(seed=seed)
    rounds = []
    for t in range(env.game.horizon):
        offer = offer_at(seed, 0, t)
        observation, reward, _, _, info = env.step(offer)
        rounds.append((offer, observation, reward, info))
    return rounds


@given(case=st.sampled_from(GREEDY), seed=SEEDS)
def test_greedy_agents_leave_no_negative_regret(case: tuple[str, str], seed: int) -> None:
    """Whoever maximises muhat + pi is paid at least pi*."""
    assert min(info["regret"] for *_, info in play(PrincipalEnv(**settings(*case)), seed)) >= -1e-12


@given(instance=st.sampled_from(list(helpers.INSTANCES)), explores=st.booleans(), seed=SEEDS)
def test_with_an_oracle_agent_the_first_two_regrets_are_one(instance: str, explores: bool, seed: int) -> None:
    env = PrincipalEnv(**settings("exploratory-oracle" if explores else "oracle", instance))
    for *_, info in play(env, seed):
        assert info["regret"] == pytest.approx(info["regret_oracle"], rel=0, abs=1e-12)


@given(case=st.sampled_from(CASES), seed=SEEDS)
def test_sums_and_orders_in_every_game(case: tuple[str, str], seed: int) -> None:
    env = PrincipalEnv(**settings(*case))
    rounds = play(env, seed)
    overpaid = []
    for offer, observation, reward, info in rounds:
        assert observation in env.observation_space
        assert reward == info["utility"]
        untaken = offer.sum() - offer[info["arm"]]
        assert info["regret_bar"] - info["regret_oracle"] == pytest.approx(untaken, rel=0, abs=1e-12)
        assert info["optimal_incentives"].min() == 0
        overpaid.append(max(0.0, offer[info["arm"]] - info["optimal_incentives"][info["arm"]]))
    totals = env.game.totals()
    for name in INFO[2:7]:
        total = math.fsum(info[name] for *_, info in rounds)
        assert totals[name] == pytest.approx(total, rel=0, abs=1e-11)
    assert totals["overpayment"] == pytest.approx(math.fsum(overpaid), rel=0, abs=1e-11)


@given(case=st.sampled_from(CASES), seed=SEEDS)
def test_incentives_are_transfers(case: tuple[str, str], seed: int) -> None:
    """What both players get in a round is X + R, whatever was offered for the arm."""
    paid, unpaid = (principal_agent_v0.env(**settings(*case)) for _ in range(2))
    paid.reset(seed=seed)
    unpaid.reset(seed=seed)
    for t in range(HORIZON):
        for env, offer in ((paid, offer_at(seed, 0, t)), (unpaid, np.zeros(4))):
            env.step(offer)
            env.step(arm_at(seed, 0, t))
        assert sum(paid.rewards.values()) == pytest.approx(sum(unpaid.rewards.values()), rel=0, abs=1e-12)
        assert paid.observe("agent_0") in paid.observation_space("agent_0")


# ------------------------------------------------------------------------- what is refused has not happened


BAD_OFFERS: list[Any] = [
    [np.nan, 0, 0, 0], [0, 0, np.inf, 0], [0, -1e-300, 0, 0], [0, 0, 0, np.nextafter(4.0, 5.0)], np.full(4, 1e9),
    np.zeros(3), np.zeros((4, 4)), 0.5, None, "0000", [[0], [0, 1]], [1j, 0, 0, 0], [None] * 4,
]  # fmt: skip
BAD_ARMS: list[Any] = [-1, 4, 2**70, 1.0, 1.5, "1", None, [0, 1], np.nan, np.array([1, 2])]
REFUSALS = (ValueError, TypeError)


def insisting(step: Callable[[Any], Any], bad: list[Any]) -> Callable[[Any], Any]:
    """A step that is preceded by all kinds of nonsense."""

    def stubborn(action: Any) -> Any:
        for nonsense in bad:
            with pytest.raises(REFUSALS):
                step(nonsense)
        return step(action)

    return stubborn


@pytest.mark.parametrize(("agent", "instance"), [("round-robin", "beta"), ("own", "uniform"), ("ols", "unit-ball")])
class TestRefusals:
    """A game in which nonsense was refused every round is the game in which nobody tried."""

    def given(self, agent: str, instance: str) -> dict[str, Any]:
        return settings(agent, instance, max_incentive=4.0)

    def test_scalar_seats(self, agent: str, instance: str) -> None:
        for make, act, bad in ((PrincipalEnv, offer_at, BAD_OFFERS), (FollowerEnv, arm_at, BAD_ARMS)):
            expected = helpers.scalar_rounds(make(**self.given(agent, instance)), 3, act, [HORIZON, 4])
            env = make(**self.given(agent, instance))
            env.step = insisting(env.step, bad)
            assert helpers.scalar_rounds(env, 3, act, [HORIZON, 4]) == expected

    def test_aec(self, agent: str, instance: str) -> None:
        expected = helpers.aec_rounds(principal_agent_v0.env(**self.given(agent, instance)), 3, offer_at, [HORIZON])
        env = principal_agent_v0.env(**self.given(agent, instance))
        step = env.step

        def stubborn(action: Any) -> None:
            insisting(step, BAD_OFFERS if env.agent_selection == "principal_0" else BAD_ARMS)(action)

        env.step = stubborn
        assert helpers.aec_rounds(env, 3, offer_at, [HORIZON]) == expected

    @pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
    def test_batched(self, agent: str, instance: str, mode: str) -> None:
        """One bad copy stops them all; nonsense for the first copy is nonsense unless it begins anew."""
        seeds, plans = [5, 6], [[HORIZON, HORIZON]] * 2
        given = self.given(agent, instance) | {"autoreset_mode": mode}
        expected = helpers.batched_rounds(PrincipalVectorEnv(2, **given), seeds, offer_at, plans)
        envs = PrincipalVectorEnv(2, **given)
        step = envs.step

        def stubborn(actions: np.ndarray) -> Any:
            bad = [actions[0], actions[:, :3], None, "x"]
            if not np.isnan(actions).any():
                bad += [np.where(np.eye(2, 4, dtype=bool), amount, actions) for amount in (np.nan, -1.0, 5.0)]
            return insisting(step, bad)(actions)

        envs.step = stubborn
        assert helpers.batched_rounds(envs, seeds, offer_at, plans) == expected

    def test_held(self, agent: str, instance: str) -> None:
        calm, pestered = (Game(**self.given(agent, instance)) for _ in range(2))
        for game in (calm, pestered):
            game.begin([3])
        for t in range(4):
            for bad in BAD_OFFERS:
                with pytest.raises(REFUSALS):
                    pestered.hold(bad, 5)
            for rounds in (0, -1, 1.5, None, np.nan, "5"):
                with pytest.raises(REFUSALS):
                    pestered.hold(np.zeros(4), rounds)
            for game in (calm, pestered):
                game.hold(offer_at(3, 0, t), 5)
            assert state_of(pestered) == state_of(calm)

    def test_reset(self, agent: str, instance: str) -> None:
        """A refused reset leaves the episode where it was."""
        calm, pestered = (PrincipalEnv(**self.given(agent, instance)) for _ in range(2))
        for env in (calm, pestered):
            env.reset(seed=3)
        for t in range(HORIZON):
            for seed, wrong in ((-1, None), (1.5, None), ("x", None), (4, 7), (4, "nowhere"), (4, IID([0.5], [0.5]))):
                with pytest.raises(REFUSALS):
                    pestered.reset(seed=seed, options={"instance": wrong})
            seen = [helpers.packed(*env.step(offer_at(3, 0, t))[:2]) for env in (calm, pestered)]
            assert seen[0] == seen[1]
        with pytest.raises(gym.error.ResetNeeded):
            pestered.step(np.zeros(4))


# ------------------------------------------------------------------------- exploration


MU, THETA = [0.2, 0.9, 0.5, 0.7], [0.6, 0.5, 0.1, 0.3]


def explore(how: str | int, offer: list[float], c0: float, horizon: int, copies: int) -> np.ndarray:
    """Arms (horizon, copies) of exploring agents whose beliefs do not move."""
    envs = PrincipalVectorEnv(
        copies,
        horizon=horizon,
        instance=IID(MU, THETA),
        agent=make_agent("exploratory-oracle", c0=c0, exploration=how),
        autoreset_mode="Disabled",
    )
    envs.reset(seed=8)
    actions = np.tile(offer, (copies, 1))
    return np.stack([envs.step(actions)[-1]["arm"] for _ in range(horizon)])


@pytest.mark.parametrize("c0", [0.1, 0.5, 2.0])
def test_agents_explore_as_often_as_they_should(c0: float) -> None:
    copies, horizon = 2000, 60
    strays = (explore("uniform", [0.0] * 4, c0, horizon, copies) != 1).sum(axis=1)
    p = np.array([exploration_probability(make_agent("exploratory", c0=c0), t) for t in range(1, horizon + 1)])
    sure = p == 1
    assert_array_equal(strays[sure], copies)
    z = (strays[~sure] - copies * p[~sure]) / np.sqrt(copies * p[~sure] * (1 - p[~sure]))
    assert stats.chi2.sf((z**2).sum(), z.size) > 1e-3
    assert abs(z).max() < 4.5


def test_exploring_agents_choose_uniformly_among_the_rest() -> None:
    arms = explore("uniform", [0.0, 0.0, 1.0, 0.0], 0.5, 50, 500)  # the incentive makes arm 2 the maximiser
    counts = np.bincount(arms.ravel(), minlength=4)
    assert counts[2] > 2 * counts[[0, 1, 3]].max()
    assert stats.chisquare(counts[[0, 1, 3]]).pvalue > 1e-3


@pytest.mark.parametrize(("offer", "worst"), [([0.0] * 4, 2), ([0.0, 0.0, 1.0, 0.0], 3), ([0.0, 0.0, 0.0, 0.1], 2)])
def test_worst_is_the_lowest_theta_less_incentive_among_the_rest(offer: list[float], worst: int) -> None:
    best = int(np.argmax(np.array(MU) + offer))
    assert set(np.unique(explore("worst", offer, 0.5, 50, 20))) == {best, worst}


def test_incentives_count_in_what_is_worst() -> None:
    """theta - pi = 0.6, 0.2, 0.1, -0.1: without the offer arm 2 would be the worst."""
    assert set(np.unique(explore("worst", [0.0, 0.3, 0.0, 0.4], 0.5, 50, 20))) == {1, 3}


def test_round_robin_goes_around_the_rest() -> None:
    arms = explore("round-robin", [0.0] * 4, 0.7, 80, 20)
    for copy in arms.T:
        strays = copy[copy != 1]
        assert len(strays) > 6
        assert_array_equal(strays, np.resize([0, 2, 3], len(strays)))


def test_a_fixed_arm_is_explored_unless_it_maximises() -> None:
    assert set(np.unique(explore(3, [0.0] * 4, 0.5, 50, 20))) == {1, 3}
    assert set(np.unique(explore(1, [0.0] * 4, 0.5, 50, 20))) == {1}


@pytest.mark.parametrize("agent", ["uniform", "worst", "round-robin", "fixed"])
def test_agents_do_not_explore_where_all_arms_maximise(agent: str) -> None:
    """Nothing deviates from a tie of all arms: the tie rule answers."""
    env = PrincipalEnv(**settings(agent, "bernoulli", horizon=1))
    for seed in range(20):
        env.reset(seed=seed)
        *_, info = env.step(np.full(4, 0.5))
        assert info["arm"] == (3 if AGENTS[agent]().ties == "highest" else 0)


def test_empirical_means_are_what_the_rewards_say() -> None:
    """By hand: constant rewards and an initial belief of one half."""
    env = PrincipalEnv(
        instance=IID([0.25, 1.0], [0.5, 0.75], "constant"),
        agent=make_agent("empirical-mean", initial=0.5),
        horizon=3,
    )
    env.reset(seed=0)
    regrets = []
    for offer in ([0.0, 0.0], [0.0, 0.25], [0.0, 0.5]):
        *_, info = env.step(offer)
        regrets.append((info["arm"], info["regret"], info["regret_oracle"], info["regret_bar"]))
    # Beliefs (.5, .5), then (.75, .5) on a tie, then (.5, .5) since the first play counts the initial belief once.
    assert regrets == [(0, 0.25, 0.25, 0.25), (0, 0.0, 0.25, 0.5), (1, 0.5, 0.5, 0.5)]
    assert_allclose(env.game.means[0], [0.5, 1.5])
