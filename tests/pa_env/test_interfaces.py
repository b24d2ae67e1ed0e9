"""One game, four interfaces: the same seed gives the same rounds, bit for bit, whichever is used."""

import copy
import hashlib
import itertools
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import helpers
import numpy as np
import pytest
from helpers import (
    AGENTS,
    CASES,
    HORIZON,
    LINEAR,
    Act,
    OwnPrincipal,
    aec_rounds,
    arm_at,
    batched_rounds,
    offer_at,
    scalar_rounds,
    settings,
    spoil,
    state_of,
)
from numpy.testing import assert_array_equal

from pa_env import principal_agent_v0
from pa_env.envs.batched import FollowerVectorEnv, PrincipalVectorEnv
from pa_env.envs.scalar import FollowerEnv, PrincipalEnv
from pa_env.game import Game
from pa_env.rules import StopRule

MODES = ["NextStep", "SameStep", "Disabled"]
SEEDS = [11, 12, 13]
FULL = [[HORIZON, HORIZON, 5]] * 3
STAGGERED = [[HORIZON, HORIZON, 5], [4, HORIZON, HORIZON], [9, 2, HORIZON, HORIZON]]
PRINCIPALS: dict[str, Callable[[], Any]] = {
    "random": lambda: None,
    "function": lambda: lambda summary: np.abs(summary[4:8]) / 2,
    "object": OwnPrincipal,
}


def same(traces: list[list[bytes]], expected: list[list[bytes]]) -> None:
    """Each trace begins as the expected one; batched copies may have played on."""
    for trace, whole in zip(traces, expected, strict=True):
        assert trace[: len(whole)] == whole


def staggered(scalar: Any, act: Act) -> list[list[bytes]]:
    """What batched copies must play: the rounds of the scalar environment."""
    return [scalar_rounds(scalar, seed, act, plan) for seed, plan in zip(SEEDS, STAGGERED, strict=True)]


@pytest.mark.parametrize(("agent", "instance"), CASES)
def test_aec_plays_the_rounds_of_gymnasium(agent: str, instance: str) -> None:
    lengths = [HORIZON, 7, HORIZON]
    expected = scalar_rounds(PrincipalEnv(**settings(agent, instance)), 11, offer_at, lengths)
    assert aec_rounds(principal_agent_v0.env(**settings(agent, instance)), 11, offer_at, lengths) == expected


@pytest.mark.parametrize(("agent", "instance", "mode"), [(*case, MODES[i % 3]) for i, case in enumerate(CASES)])
def test_batched_copies_play_the_rounds_of_gymnasium(agent: str, instance: str, mode: str) -> None:
    envs = PrincipalVectorEnv(3, autoreset_mode=mode, **settings(agent, instance))
    scalar = PrincipalEnv(**settings(agent, instance))
    same(batched_rounds(envs, SEEDS, offer_at, STAGGERED), staggered(scalar, offer_at))


@pytest.mark.parametrize("horizon", [1, 2, HORIZON])
@pytest.mark.parametrize("mode", MODES)
def test_batched_copies_that_end_together(mode: str, horizon: int) -> None:
    plan = [horizon, horizon, horizon]
    scalar = PrincipalEnv(**settings("uniform", "uniform", horizon=horizon))
    envs = PrincipalVectorEnv(3, autoreset_mode=mode, **settings("uniform", "uniform", horizon=horizon))
    expected = [scalar_rounds(scalar, seed, offer_at, plan) for seed in SEEDS]
    same(batched_rounds(envs, SEEDS, offer_at, [plan] * 3), expected)


def test_int_seed_counts_up_and_lists_give_each_copy_its_own() -> None:
    envs = PrincipalVectorEnv(3, **settings("uniform", "uniform"))
    scalar = PrincipalEnv(**settings("uniform", "uniform"))
    for seed, seeds in ((11, SEEDS), (np.int64(11), SEEDS), ([5, 3, 5], [5, 3, 5])):
        expected = [scalar_rounds(scalar, s, offer_at, FULL[0]) for s in seeds]
        same(batched_rounds(envs, seeds, offer_at, FULL, seed=seed), expected)


def test_masked_reset_takes_seeds_for_its_copies_only() -> None:
    envs = PrincipalVectorEnv(2, autoreset_mode="Disabled", **settings("greedy", "uniform"))
    envs.reset(seed=1)
    before = envs.step(np.zeros((2, 4)))[0]
    after, _ = envs.reset(seed=[7, 8], options={"reset_mask": np.array([False, True])})
    assert_array_equal(before[0], after[0])
    envs.step(np.zeros((2, 4)))
    other = PrincipalEnv(**settings("greedy", "uniform"))
    other.reset(seed=8)
    other.step(np.zeros(4))
    assert_array_equal(envs.game.arrays.arms[1], other.game.arrays.arms[0])


@pytest.mark.parametrize(("agent", "instance"), CASES)
def test_held_offers_leave_the_game_that_single_rounds_leave(agent: str, instance: str) -> None:
    horizon = 400
    env, held = (
        PrincipalEnv(**settings(agent, instance, horizon=horizon)),
        Game(**settings(agent, instance, horizon=horizon)),
    )
    env.reset(seed=3)
    held.begin([3])
    for part, rounds in enumerate((1, 2, 90, 7, 280, 50)):  # the last one is cut by the horizon
        offer, x, plays = offer_at(3, 0, part), np.zeros(4), np.zeros(4, int)
        outcome = held.hold(offer, rounds)
        for _ in range(outcome.rounds):
            *_, info = env.step(offer)
            x[info["arm"]] += info["utility"] + offer[info["arm"]]
            plays[info["arm"]] += 1
        assert_array_equal(outcome.plays, plays)
        np.testing.assert_allclose(outcome.rewards, x, rtol=0, atol=1e-10)
        assert state_of(held) == state_of(env.game)
        assert held.totals() == env.game.totals()
    assert outcome.rounds == 20
    assert held.rounds_played == horizon


@pytest.mark.parametrize("agent", ["greedy", "uniform"])
def test_held_totals_are_bit_equal_past_the_flush_of_the_sums(agent: str) -> None:
    env, held = (make(**settings(agent, "beta", horizon=9_000)) for make in (PrincipalEnv, Game))
    env.reset(seed=3)
    held.begin([3])
    for offer, rounds in (([0.3, 0, 0, 0.1], 4_095), ([0.0, 0.2, 0.1, 0.0], 4_905)):
        held.hold(offer, rounds)
        for _ in range(rounds):
            env.step(np.array(offer))
        assert held.totals() == env.game.totals()


@pytest.mark.parametrize(
    ("agent", "instance", "principal", "mode"),
    [
        (*case, principal, mode)
        for case, (principal, mode) in zip(
            [case for case in CASES if case[1] in ("beta", "uniform", "unit-ball")],
            itertools.cycle(itertools.product(PRINCIPALS, MODES)),
            strict=False,
        )
    ],
)
def test_batched_followers_play_the_rounds_of_the_scalar_one(
    agent: str, instance: str, principal: str, mode: str
) -> None:
    envs = FollowerVectorEnv(3, principal=PRINCIPALS[principal](), autoreset_mode=mode, **settings(agent, instance))
    scalar = FollowerEnv(principal=PRINCIPALS[principal](), **settings(agent, instance))
    same(batched_rounds(envs, SEEDS, arm_at, STAGGERED), staggered(scalar, arm_at))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("plan", [FULL, STAGGERED], ids=["together", "staggered"])
def test_a_principal_is_asked_for_one_offer_a_round(mode: str, plan: list[list[int]]) -> None:
    """One that draws a number whenever it is asked tells whether it was asked more often in a batch."""
    scalar = FollowerEnv(principal=OwnPrincipal(restless=True), **settings())
    envs = FollowerVectorEnv(3, principal=OwnPrincipal(restless=True), autoreset_mode=mode, **settings())
    expected = [scalar_rounds(scalar, seed, arm_at, lengths) for seed, lengths in zip(SEEDS, plan, strict=True)]
    same(batched_rounds(envs, SEEDS, arm_at, plan), expected)


def test_aec_rewards_both_players() -> None:
    """The agent gets what the follower's seat gives for the same arm on the same offer."""
    aec = principal_agent_v0.env(**settings("greedy", "beta"))
    follower = FollowerEnv(principal=lambda summary: [0.1, 0.2, 0.3, 0.4], **settings("greedy", "beta"))
    aec.reset(seed=5)
    follower.reset(seed=5)
    for t in range(HORIZON):
        arm = arm_at(5, 0, t)
        aec.step([0.1, 0.2, 0.3, 0.4])
        assert aec.rewards == {"principal_0": 0.0, "agent_0": 0.0}
        aec.step(arm)
        observation, reward, *_ = follower.step(arm)
        assert aec.rewards["agent_0"] == reward
        assert_array_equal(aec.observe("agent_0")[4:], observation[4:])


def everything() -> list[bytes]:
    """Rounds of every interface."""
    rounds = []
    for agent, instance in (("round-robin", "uniform"), ("greedy", "beta"), ("ols", "unit-ball"), ("own", "own")):
        given = settings(agent, instance)
        rounds += scalar_rounds(PrincipalEnv(**given), 3, offer_at, [HORIZON, 5])
        rounds += aec_rounds(principal_agent_v0.env(**given), 3, offer_at, [HORIZON, 5])
        for make, act in ((PrincipalVectorEnv, offer_at), (FollowerVectorEnv, arm_at)):
            for trace in batched_rounds(make(3, **given), SEEDS, act, STAGGERED):
                rounds += trace
        game = Game(**given)
        game.begin([3])
        game.hold(offer_at(3, 0, 0), HORIZON)
        rounds.append(np.array(list(game.totals().values())).tobytes())
    return rounds


def fingerprint() -> str:
    return hashlib.sha256(b"".join(everything())).hexdigest()


def test_another_process_plays_the_same_rounds() -> None:
    here = Path(__file__).parent
    told = subprocess.run(
        [sys.executable, "-c", "import test_interfaces; print(test_interfaces.fingerprint())"],
        cwd=here,
        env=os.environ | {"PYTHONHASHSEED": "42"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == fingerprint()


def test_no_global_randomness_is_used_or_touched() -> None:
    before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    first = fingerprint()
    np.testing.assert_equal(np.random.get_state(), before)  # noqa: NPY002
    assert random.getstate() == python_before
    np.random.random(), random.random()  # noqa: NPY002
    assert fingerprint() == first


@pytest.mark.parametrize("family", ["uniform", "misaligned", "gap", "clustered", "minimax", "ipa-k5", "unit-ball"])
def test_an_instance_taken_from_a_game_replays_its_rounds(family: str) -> None:
    drawn = PrincipalEnv(n_arms=5, instance=family, horizon=HORIZON)
    expected = scalar_rounds(drawn, 3, lambda *when: offer_at(*when, k=5), [HORIZON])
    given = PrincipalEnv(instance=drawn.game.instance(), horizon=HORIZON)
    assert scalar_rounds(given, 3, lambda *when: offer_at(*when, k=5), [HORIZON]) == expected


def test_games_without_a_seed_differ() -> None:
    instances = []
    for _ in range(2):
        env = PrincipalEnv()
        env.reset()
        instances.append(env.game.instance().mu.tobytes())
    assert instances[0] != instances[1]


# ------------------------------------------------------------------------- copies in the middle of an episode


def copied(thing: Any, how: str) -> Any:
    return copy.deepcopy(thing) if how == "deepcopy" else pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
@pytest.mark.parametrize(
    ("agent", "instance"),
    [("round-robin", "beta"), ("ols", "unit-ball"), ("own", "uniform"), ("compiled", "uniform")],
)
class TestCopies:
    """A copy made in the middle of an episode goes on as the original does, and neither moves the other."""

    def go_on(self, env: Any, act: Callable[..., Any], rounds: int, batch: int = 0) -> list[bytes]:
        trace = []
        for t in range(rounds):
            action = np.stack([act(i, 9, t) for i in range(batch)]) if batch else act(0, 9, t)
            observation, reward, terminated, _, info = env.step(action)
            trace.append(helpers.packed(observation, reward, terminated, *helpers.info_values(info)))
        return trace

    def check(self, env: Any, how: str, act: Callable[..., Any], rounds: int, batch: int = 0) -> None:
        self.go_on(env, act, 6, batch)
        twin = copied(env, how)
        first = self.go_on(twin, act, rounds, batch)
        assert self.go_on(env, act, rounds, batch) == first
        assert len(set(first)) > 1

    def test_gymnasium(self, agent: str, instance: str, how: str) -> None:
        env = gym.make("PrincipalAgent-v0", **settings(agent, instance))
        env.reset(seed=1)
        self.check(env, how, offer_at, HORIZON - 6)

    def test_follower(self, agent: str, instance: str, how: str) -> None:
        env = FollowerEnv(principal=OwnPrincipal(), **settings(agent, instance))
        env.reset(seed=1)
        self.check(env, how, arm_at, HORIZON - 6)

    def test_batched(self, agent: str, instance: str, how: str) -> None:
        envs = gym.make_vec("PrincipalAgent-v0", num_envs=2, **settings(agent, instance))
        envs.reset(seed=1)
        self.check(envs, how, offer_at, 2 * HORIZON, batch=2)

    def test_batched_follower(self, agent: str, instance: str, how: str) -> None:
        envs = FollowerVectorEnv(2, principal=OwnPrincipal(), **settings(agent, instance))
        envs.reset(seed=1)
        self.check(envs, how, arm_at, 2 * HORIZON, batch=2)

    @pytest.mark.parametrize("offered", [False, True])
    def test_aec(self, agent: str, instance: str, how: str, offered: bool) -> None:
        env = principal_agent_v0.env(**settings(agent, instance))
        env.reset(seed=1)
        for t in range(5):
            env.step(offer_at(0, 0, t))
            env.step(env.infos["agent_0"]["scripted_arm"])
        if offered:
            env.step(offer_at(0, 0, 5))
        ends = []
        for each in (copied(env, how), env):
            trace = []
            while not all(each.terminations.values()):
                player, t = each.agent_selection, each.game.rounds_played
                each.step(offer_at(0, 0, t) if player == "principal_0" else each.infos[player]["scripted_arm"])
                trace.append((each.state().tobytes(), dict(each.rewards)))
            ends.append(trace)
        assert ends[0] == ends[1]

    @pytest.mark.parametrize("offered", [False, True])
    def test_both_seats(self, agent: str, instance: str, how: str, offered: bool) -> None:
        envs = principal_agent_v0.vector_env(num_envs=2, **settings(agent, instance))
        envs.reset(seed=1)
        offers = np.stack([offer_at(i, 0, 0) for i in range(2)])
        for _ in range(5):
            envs.offer(offers)
            envs.answer(envs.scripted_arms())
        if offered:
            envs.offer(offers)
        ends = []
        for each in (copied(envs, how), envs):
            trace = []
            for t in range(HORIZON - 6):
                if not offered or t:
                    each.offer(offers)
                observations, rewards, terminations, _, _ = each.answer(each.scripted_arms())
                trace.append(helpers.packed(observations, *rewards.values(), terminations))
            ends.append(trace)
        assert ends[0] == ends[1]
        assert len(set(ends[0])) > 1

    def test_held(self, agent: str, instance: str, how: str) -> None:
        game, stop = Game(**settings(agent, instance, horizon=500)), StopRule(1, 5.0, 5.0)
        game.begin([1])
        game.hold([0.0, 0.4, 0.0, 0.1], 20, stop)
        twin, twin_stop = copied((game, stop), how)
        rounds = [each.hold([0.0, 0.4, 0.0, 0.1], 400, rule).rounds for each, rule in ((twin, twin_stop), (game, stop))]
        assert rounds[0] == rounds[1] > 0
        assert_array_equal(twin_stop.entries, stop.entries)
        assert twin.totals() == game.totals()


# ------------------------------------------------------------------------- what is handed out is yours


@pytest.mark.parametrize(("agent", "instance"), [("round-robin", "uniform"), ("ols", "unit-ball"), ("own", "beta")])
def test_writing_into_what_an_interface_returned_changes_nothing(agent: str, instance: str) -> None:
    given = settings(agent, instance)
    for rounds, make, act in (
        (scalar_rounds, PrincipalEnv, offer_at),
        (aec_rounds, principal_agent_v0.env, offer_at),
        (scalar_rounds, FollowerEnv, arm_at),
    ):
        clean = rounds(make(**given), 3, act, [HORIZON, 5])
        assert rounds(make(**given), 3, act, [HORIZON, 5], afterwards=spoil) == clean
    for mode in MODES:
        for make, act in ((PrincipalVectorEnv, offer_at), (FollowerVectorEnv, arm_at)):
            envs = [make(3, autoreset_mode=mode, **given) for _ in range(2)]
            clean = batched_rounds(envs[0], SEEDS, act, STAGGERED)
            assert batched_rounds(envs[1], SEEDS, act, STAGGERED, afterwards=spoil) == clean


@pytest.mark.parametrize("make", [PrincipalVectorEnv, FollowerVectorEnv])
@pytest.mark.parametrize("keep", ["everything", "one view", "the last step", "nothing"])
def test_arrays_that_are_kept_never_change_and_memory_that_is_let_go_is_used_again(make: Any, keep: str) -> None:
    envs = make(3, horizon=5)
    envs.reset(seed=1)
    envs.action_space.seed(1)
    kept: list[tuple[Any, Any]] = []
    places = set()
    for _ in range(12):
        observations, rewards, terminated, truncated, info = envs.step(envs.action_space.sample())
        places.add(info["regret"].__array_interface__["data"][0])
        arrays = [info["regret"][1:]]
        if keep != "one view":
            arrays = [observations, rewards, terminated, truncated, *info.values()]
        observations.shape, info["regret"].flags.writeable = (-1,), False  # of theirs, not of what is used again
        kept = kept if keep in ("everything", "one view") else []
        kept += [(array, array.copy()) for array in arrays if keep != "nothing"]
        del observations, rewards, terminated, truncated, info, arrays
        for array, then in kept:
            assert_array_equal(array, then)
    assert (len(places) < 12) == (keep in ("the last step", "nothing"))


def test_fixed_and_told_instances_cannot_be_written_through() -> None:
    env = gym.make("PrincipalAgentLinear-v0", n_arms=4, dim=2, horizon=9)
    _, info = env.reset(seed=2)
    before = env.unwrapped.game.instance()
    info["arms"][:] = 0.0
    env.unwrapped.game.instance()
    assert_array_equal(env.unwrapped.game.instance().arms, before.arms)
    with pytest.raises(ValueError, match="read-only"):
        before.arms[0] = 0.0


def test_scalar_environments_return_plain_python_numbers() -> None:
    env = PrincipalEnv(**settings())
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step(np.zeros(4))
    assert [type(value) for value in (reward, terminated, truncated)] == [float, bool, bool]
    assert [type(info[key]) for key in helpers.INFO] == [int] + [float] * 6 + [np.ndarray]


def test_float32_offers_are_taken_and_float64_offers_are_kept() -> None:
    env = PrincipalEnv(**settings("oracle", "constant"))
    env.reset(seed=1)
    for offer in (np.full(4, 0.1, np.float32), np.full(4, 0.1), [0.1] * 4):
        *_, info = env.step(offer)
        assert info["utility"] == info["reward"] - float(np.asarray(offer)[0])


# ------------------------------------------------------------------------- what a batched environment must not forget


@pytest.mark.parametrize("mode", MODES)
def test_arms_of_every_new_linear_episode_are_told(mode: str) -> None:
    """The scalar reset tells them; so must a batched environment that resets by itself."""
    envs = PrincipalVectorEnv(2, autoreset_mode=mode, **settings("ols", "unit-ball", horizon=3))
    _, info = envs.reset(seed=1)
    assert_array_equal(info["arms"], envs.game.features)
    for _ in range(3):
        *_, info = envs.step(np.zeros((2, 4)))
    if mode == "NextStep":
        *_, info = envs.step(np.zeros((2, 4)))
    if mode == "Disabled":
        _, info = envs.reset(options={"reset_mask": np.array([True, True])})
    assert "arms" in info
    assert_array_equal(info["arms"], envs.game.features)
    assert_array_equal(info["_arms"], [True, True])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_game_is_not_moved_by_looking(agent: str) -> None:
    """Renderings of beliefs, totals, instances and answers leave the rounds as they are."""
    instance = LINEAR[1] if agent == "ols" else "uniform"
    quiet, watched = (PrincipalEnv(**settings(agent, instance)) for _ in range(2))

    def look(*_: Any) -> None:
        game = watched.game
        game.totals(), game.instance(), game.means.copy(), game.agent_view(np.zeros((1, 4)))
        if agent != "own":
            game.answer(np.zeros((1, 4)))

    clean = scalar_rounds(quiet, 3, offer_at, [HORIZON, 5])
    assert scalar_rounds(watched, 3, offer_at, [HORIZON, 5], afterwards=look) == clean
