"""Training an agent: it sees in play what it saw in training, one seed gives one policy, and refusing is learned."""

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

import torch
from typer.testing import CliRunner

import baselines
from baselines import rl
from baselines.__main__ import app
from baselines.benchmark import sweep
from baselines.benchmark.plan import custom_task, make_plan
from baselines.reproduce import exploitability
from baselines.reproduce.claim import Evidence, Study
from baselines.rl import training
from baselines.rl.agent_seat import LOSS, PAYOFF, Replayed
from baselines.rl.evaluate import follower_games, payoffs
from baselines.rl.networks import SetActorCritic
from baselines.rl.training import Settings, train
from baselines.tasks import task
from pa_env.policy_file import pack, read
from pa_env.trained_agents import SEAT, TrainedAgent, load_agent

from ...pa_env.test_trained_agents import WIDTH, random_policy

GAME = task("k3-t30-uniform")
TINY: dict[str, Any] = {
    "tasks": (GAME,),
    "against": "epsilon-greedy",
    "steps": 640,
    "copies": 16,
    "width": 8,
    "lap": 2,
    "rounds": 100,
    "ppo": {"n_steps": 10},
}


# Offers nothing for arm 0, and after each refusal a tenth more.
RAISES = """
import baselines

class Raises(baselines.Principal):
    def rounds(self):
        amount = 0.0
        while True:
            outcome = yield baselines.hold(0, amount)
            amount += 0.0 if outcome.plays[0] else 0.1 * (amount < 1.0)
"""


@pytest.mark.parametrize("principal", ["profit-target", "epsilon-greedy", "elimination,constants=practical"])
def test_it_sees_and_plays_what_the_network_was_trained_on(principal: str) -> None:
    policy, games = random_policy(draw=7, sampled=False), follower_games(GAME, principal, 3)
    spaces = games.single_observation_space, games.single_action_space
    network = SetActorCritic(
        *spaces, lambda _: 1e-3, width=WIDTH, fields=SEAT.fields, overall=SEAT.overall, deep=policy.deep
    )
    for module in (network.mlp_extractor.actor, network.action_net):
        module.load_state_dict({name: torch.from_numpy(policy.weights[name]) for name in module.state_dict()})
    seeds, (seen, _) = [7, 8, 9], games.reset(seed=[7, 8, 9])
    earned, lost, left = np.zeros(3), np.zeros(3), np.zeros(3)
    for _ in range(GAME.horizon):
        arms, _ = network.predict(seen, deterministic=True)
        seen, _, _, _, info = games.step(arms)
        earned, lost, left = earned + info[PAYOFF], lost + info[LOSS], left + info["expected_utility"]
    run = baselines.simulate(principal, agent=TrainedAgent(policy), seeds=seeds, task=None, n_arms=3, horizon=30)
    assert run.plays[:, -1].tolist() == games.game.plays.tolist()
    assert (run.plays[:, -1] > 0).sum() > 3
    payoff, utility = payoffs(principal, TrainedAgent(policy), GAME, seeds)
    np.testing.assert_allclose(payoff, earned)
    np.testing.assert_allclose(utility, left)
    np.testing.assert_allclose(earned + lost, GAME.horizon * games.game.arrays.arms[:, 0].max(axis=1))


@pytest.mark.parametrize("principal", ["profit-target", "elimination,constants=practical", "epsilon-greedy"])
def test_a_principal_comes_back_in_the_middle_of_an_episode(principal: str) -> None:
    player = Replayed(baselines.make(principal, n_arms=3, horizon=60))
    for seed in (None, 4):
        player.reset(seed=seed)
        for t in range(20):
            player.offer()
            player.observe(t % 3, float(t % 2))
        player.offer()  # which the round to come answers
    others = [pickle.loads(pickle.dumps(player)), copy.deepcopy(player)]
    for t in range(20):
        for each in (player, *others):
            each.observe(t % 2, 1.0)
        offers = [each.offer().tolist() for each in (player, *others)]
        assert offers[0] == offers[1] == offers[2]


def weights(out: Path) -> list[bytes]:
    return [array.tobytes() for array in read(out / "policy.npz", SEAT).weights.values()]


def test_one_seed_gives_one_policy_also_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(Settings(**TINY), tmp_path / "whole")
    finish = training.Laps._finish

    def interrupted(self: training.Laps, lap: int) -> None:
        finish(self, lap)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(training.Laps, "_finish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(Settings(**TINY), tmp_path / "stopped")
    assert len(json.loads((tmp_path / "stopped" / "run.json").read_text())["laps"]) == 1
    train(Settings(**TINY), tmp_path / "stopped")
    assert weights(tmp_path / "whole") == weights(tmp_path / "stopped")
    records = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("whole", "stopped")]
    assert records[0] == records[1]
    assert set(records[0]["references"]) == set(training.AGENTS)
    about = load_agent(tmp_path / "whole" / "policy.npz").metadata
    assert (about["seat"], about["against"], about["objective"]) == ("agent", "epsilon-greedy", "payoff")


def test_refusing_pays_and_is_learned(tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(RAISES)
    game, principal = training.game("empirical-mean", "uniform", 2, 30), f"{tmp_path / 'raises.py'}:Raises"
    learner = rl.learner(game, against=principal, copies=32, width=16, learning_rate=5e-3)
    learner.learn(30_000)
    policy = rl.models.policy_of(learner)
    trained, greedy = (
        payoffs(principal, agent, game, range(200))[0].mean() for agent in (TrainedAgent(policy), "empirical-mean")
    )
    assert trained > greedy + 3.0
    with pytest.raises(ValueError, match="plays the agent: keep it by"):
        baselines.simulate(learner)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"against": "profit-targe"}, "principal = 'profit-targe' is unknown"),
        ({"against": "knows-beliefs"}, "against = 'knows-beliefs' is shown the agent's beliefs: name a principal"),
        ({"objective": "regret"}, "objective = 'regret' is unknown"),
        ({"tasks": ("k3-t30-uniform-ucb",)}, "takes the place of ucb.*: name a task without an agent"),
        ({"against": "", "objective": "payoff"}, "objective = 'payoff' is unknown"),
    ],
)
def test_bad_settings_are_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        training.learner(Settings(**(TINY | changes)))


def test_the_commands_train_and_play_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["train", "--seat", "agent", "--against", "zero", "--task", "k2-t20-uniform", "--episodes", "20"]
    options = ["copies=4", "lap=2", "rounds=80", "n_steps=10", "width=4"]
    command += [word for option in options for word in ("--set", option)]
    result = CliRunner().invoke(app, [*command, "--steps", "160", "--out", "out"])
    assert result.exit_code == 0, result.output
    assert re.search(r"trained \((likeliest|drawn)\): payoff", result.output)
    assert "empirical-mean: payoff" in result.output
    assert (tmp_path / "out" / "curve.png").exists()
    result = CliRunner().invoke(app, ["train", "--seat", "agents"])
    assert (result.exit_code, "seat = 'agents' is unknown" in result.output) == (1, True)
    result = CliRunner().invoke(app, ["run", "--agent", "out/absent.npz", "--arms", "2", "--horizon", "20"])
    assert (result.exit_code, "out/absent.npz': there is no such file" in result.output) == (1, True)
    result = CliRunner().invoke(app, ["run", "--principal", "out/policy.npz", "--task", "tiny"])
    assert (result.exit_code, "it is a policy of the agent: pass it as agent=" in result.output) == (1, True)


def test_a_benchmark_knows_which_file_plays(tmp_path: Path) -> None:
    path, engine = tmp_path / "agent.npz", sweep.Engine(workers=1)
    path.write_bytes(pack(random_policy(), SEAT))

    def run() -> list[Path]:
        plan = make_plan([custom_task(str(path), "uniform", 3, 30, None)], ["zero"], 4)
        return sweep.run(plan, tmp_path / "out", "test", engine, quiet=True)

    assert run() == []
    (entry,) = json.loads((tmp_path / "out" / "benchmark.json").read_text())["tasks"].values()
    assert len(entry["own"][str(path)]["digest"]) == 64
    assert task(f"k3-t30-uniform-{path}").agent == str(path)
    path.write_bytes(pack(random_policy(0.1), SEAT))
    with pytest.raises(OSError, match="before its agent or instance was changed"):
        run()


def test_the_page_says_what_its_table_shows(tmp_path: Path) -> None:
    study, rng = Study(tmp_path, "command", quick=True), np.random.default_rng(0)
    planned, noise = exploitability.measurements(study), rng.normal(size=100)
    assert {spec for _, spec in planned} == set(exploitability.QUICK_PRINCIPALS)
    full = {spec for _, spec in exploitability.measurements(Study(tmp_path, "command"))}
    assert {"profit-target", "ppo", "elimination,constants=practical"} <= full
    assert not full & {"oracle", "knows-beliefs", "fixed"}
    values = {}
    for (_, spec), each in planned.items():
        gain, loss = (20.0, 40.0) if spec == "profit-target" else (5.0, 0.0)
        payoff = {"empirical-mean": 100.0, "trained": 100.0 + gain, "ucb": 110.0, "holdout": 99.0}
        utility = {"empirical-mean": 90.0, "trained": 90.0 - loss, "ucb": 90.0, "holdout": 90.0}
        values[each.name] = {
            name: {"payoff": (payoff[name] + noise).tolist(), "utility": (utility[name] + noise).tolist()}
            for name in payoff
        }
    text = "\n".join(exploitability.page(Evidence(study, None, values, []), tmp_path / "page.md"))
    assert "earns more than the greedy one against 2 of 2 principals" in text
    assert "and more than `ucb` against 1" in text
    assert "gains most against `profit-target` (+20.00), least against `zero` (+5.000)" in text
    assert "largest for `profit-target` (+40.00), smallest for `zero` (0). Shares are 50% to 50%" in text
    assert (tmp_path / "page.png").stat().st_size > 5000
