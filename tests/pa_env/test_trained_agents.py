"""Trained agents: a policy file plays wherever an agent is named, and the same rounds in every interface."""

import json
import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import baselines
from pa_env import principal_agent_v0
from pa_env.game import Game
from pa_env.policy_file import FORMAT, Policy, pack, shapes
from pa_env.trained_agents import FIELDS, HISTORY, OVERALL, SEAT, Field, Overall, TrainedAgent, fresh_history, note, see

WIDTH, HORIZON = 8, 40
OFFERS = np.random.default_rng(1).uniform(0.0, 0.5, (HORIZON, 3))


def random_policy(scale: float = 0.5, draw: int = 0, **changes: Any) -> Policy:
    rng = np.random.default_rng(draw)
    metadata = {
        "format": FORMAT,
        "seat": "agent",
        "against": "zero",
        "tasks": ["k3-t40-uniform"],
        "objective": "payoff",
        "seed": 0,
        "steps": 1,
        "versions": {},
        "width": WIDTH,
        "sampled": True,
    }
    wanted = shapes(WIDTH, True, SEAT).items()
    return Policy(
        metadata | changes, {name: (scale * rng.standard_normal(shape)).astype(np.float32) for name, shape in wanted}
    )


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "agent.npz").write_bytes(pack(random_policy(), SEAT))
    return str(tmp_path / "agent.npz")


def scalar(path: str) -> list[int]:
    env = gym.make("PrincipalAgent-v0", n_arms=3, horizon=HORIZON, agent=path)
    env.reset(seed=5)
    return [env.step(offer)[-1]["arm"] for offer in OFFERS]


def batched(path: str) -> list[int]:
    envs = gym.make_vec("PrincipalAgent-v0", 2, n_arms=3, horizon=HORIZON, agent=path)
    envs.reset(seed=4)
    return [int(envs.step(np.tile(offer, (2, 1)))[-1]["arm"][1]) for offer in OFFERS]


def both_seats(path: str) -> list[int]:
    envs, arms = principal_agent_v0.vector_env(num_envs=2, n_arms=3, horizon=HORIZON, agent=path), []
    envs.reset(seed=4)
    for offer in OFFERS:
        envs.offer(np.tile(offer, (2, 1)))
        answers = envs.scripted_arms()
        envs.answer(answers)
        arms.append(int(answers[1]))
    return arms


def turn_by_turn(path: str) -> list[int]:
    env, arms = principal_agent_v0.env(n_arms=3, horizon=HORIZON, agent=path), []
    env.reset(seed=5)
    for offer in OFFERS:
        env.step(offer)
        arms.append(env.infos["agent_0"]["scripted_arm"])
        env.step(arms[-1])
    return arms


@pytest.mark.parametrize("interface", [batched, both_seats, turn_by_turn])
def test_all_interfaces_play_the_same_rounds(path: str, interface: Any) -> None:
    arms = scalar(path)
    assert len(set(arms)) == 3
    assert interface(path) == arms


def test_asking_in_advance_and_pickling_change_nothing(path: str) -> None:
    arms, game = scalar(path), Game(agent=path, n_arms=3, horizon=HORIZON)
    game.begin(seeds=[5])
    for offer, arm in zip(OFFERS, arms, strict=True):
        assert game.answer([offer]) == game.answer([offer]) == arm
        game = pickle.loads(pickle.dumps(game))
        game.play([offer])
    assert_array_equal(game.plays[0], np.bincount(arms, minlength=3))


def test_likeliest_actions_need_no_draws() -> None:
    answers = {}
    for sampled in (False, True):
        game = Game(agent=TrainedAgent(random_policy(sampled=sampled)), n_arms=3, horizon=HORIZON, copies=100)
        game.begin(seeds=range(100))
        answers[sampled] = set(game.answer(np.tile([0.0, 0.3, 0.1], (100, 1))).tolist())
    assert (len(answers[False]), len(answers[True])) == (1, 3)


def test_what_it_sees() -> None:
    memory, seen = fresh_history(3, 100), np.zeros(FIELDS * 3 + OVERALL)
    means, counts = np.array([0.5, 0.2, 0.0]), np.array([3, 1, 0])
    see(memory, means, counts, np.array([0.0, 0.4, 0.1]), 5, seen)
    blocks = dict(zip(Field, seen[: FIELDS * 3].reshape(FIELDS, 3), strict=True))
    np.testing.assert_allclose(blocks[Field.VALUE], [-0.1, 0.0, -0.5])
    np.testing.assert_allclose(blocks[Field.LIKED], [0.0, -0.3, -0.5])
    assert blocks[Field.GREEDY].tolist() == [0, 1, 0]
    assert seen[FIELDS * 3 + Overall.TIME] == 0.04
    note(memory, 3, 0)  # refuses
    see(memory, means, counts, np.array([0.0, 0.6, 0.0]), 6, seen)
    blocks = dict(zip(Field, seen[: FIELDS * 3].reshape(FIELDS, 3), strict=True))
    for block, wanted in {
        Field.PLAYED: [1, 0, 0],
        Field.BEFORE: [0, 0.4, 0.1],
        Field.HIGHEST: [0, 0.4, 0.1],
        Field.REFUSED: [0, 0.4, 0.1],
        Field.ACCEPTED: [0, 0, 0],
    }.items():
        assert blocks[block].tolist() == wanted
    assert seen[FIELDS * 3 + Overall.REFUSALS] > 0
    note(memory, 3, 1)  # accepts
    history = HISTORY.arrays(memory, 3)
    assert (history.accepted.tolist(), history.refused.tolist()) == ([0, 0.6, 0], [0, 0.4, 0.1])
    see(memory, means, counts, np.zeros(3), 7, seen)
    assert seen[FIELDS * 3 + Overall.REFUSALS] == 0


def test_its_means_are_those_of_a_learner(path: str) -> None:
    game = Game(agent=path, n_arms=3, horizon=HORIZON)
    game.begin(seeds=[0])
    sums = np.zeros(3)
    for offer in OFFERS:
        result = game.play([offer])[0]
        sums[int(result[6])] += result[7]
    np.testing.assert_allclose(game.means[0], sums / np.maximum(game.plays[0], 1))


def test_a_file_may_be_a_path(path: str) -> None:
    assert_array_equal(scalar(Path(path)), scalar(path))  # type: ignore[arg-type]
    runs = [baselines.simulate("zero", n_arms=3, horizon=HORIZON, agent=each) for each in (Path(path), path)]
    assert_array_equal(runs[0].plays, runs[1].plays)
    assert baselines.compare(["zero"], n_arms=3, horizon=HORIZON, agent=Path(path), seeds=2)
    with pytest.raises(ValueError, match=r"agent = 'gready' is unknown"):
        Game(agent=Path("gready"))


def test_bad_files_are_named(path: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"agent = '.*absent.npz': there is no such file: correct the path, or train"):
        Game(agent=str(tmp_path / "absent.npz"))
    policy = random_policy(seat="principal")
    np.savez(tmp_path / "other.npz", metadata=np.array(json.dumps(policy.metadata)), **policy.weights)
    with pytest.raises(ValueError, match=r"not a trained policy of the agent.*it is a policy of the principal: pass"):
        Game(agent=str(tmp_path / "other.npz"))
    (tmp_path / "damaged.npz").write_bytes(Path(path).read_bytes()[:100])
    with pytest.raises(ValueError, match=r"path = '.*damaged.npz' is not a trained policy"):
        Game(agent=str(tmp_path / "damaged.npz"))
