"""Training: a solvable game is solved, one seed gives one policy, and a killed run goes on to the same one."""

import errno
import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from helpers import OwnAgent

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

from stable_baselines3 import PPO
from typer.testing import CliRunner

from baselines import pictures, rl
from baselines.__main__ import app
from baselines.files import only_writer
from baselines.rl import recipes, training
from baselines.rl.networks import SetActorCritic
from baselines.rl.training import Settings, train
from baselines.rl.vec_env import GameVecEnv
from baselines.rl.view import SEAT
from pa_env import IID
from pa_env.kernel.layout import SummaryBlock, block_columns
from pa_env.policy_file import read
from pa_env.wrappers import IncentiveGrid
from pa_env.wrappers.base import game_behind

from ..helpers import python

TINY: dict[str, Any] = {
    "tasks": ("k3-t20-uniform", "k3-t30-misaligned"),
    "steps": 800,
    "copies": 16,
    "particles": 4,
    "width": 8,
    "lap": 2,
    "rounds": 600,
    "ppo": {"n_steps": 10},
}


@pytest.fixture(autouse=True)
def undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning curves are drawn in the test of the command alone: each takes as long as a lap."""
    if "command" not in request.node.name:
        monkeypatch.setattr(pictures, "learning_curve", lambda *_: b"")


def test_a_game_with_a_known_best_policy_is_learned() -> None:
    # Arm 0 brings 0.9 and costs 0.5; arm 1 brings 0.2 and is free: the best is 0.4 a round.
    instance, horizon = IID((0.1, 0.6), (0.9, 0.2), "constant"), 20
    games = gym.make_vec(
        *("PrincipalAgent-v0", 64), instance=instance, agent="oracle", horizon=horizon, autoreset_mode="Disabled"
    )
    envs = GameVecEnv(IncentiveGrid(games, levels=9, top=0.8))
    options = {"n_arms": 2, "width": 16}
    model = PPO(SetActorCritic, envs, 3e-3, 20, 320, 4, seed=0, policy_kwargs=options, device="cpu")
    model.learn(40_000)
    observations = envs.reset()
    for _ in range(horizon - 1):
        observations, *_ = envs.step(model.predict(observations, deterministic=True)[0])
    assert games.game.totals(0)["utility"] >= 0.95 * 0.4 * (horizon - 1)


def weights(out: Path) -> list[bytes]:
    return [array.tobytes() for array in read(out / "policy.npz", SEAT).weights.values()]


def run(out: Path, **changes: Any) -> dict[str, Any]:
    settings = Settings(**(TINY | changes))
    train(settings, out)
    record: dict[str, Any] = json.loads((out / "run.json").read_text())
    assert record["settings"] == json.loads(json.dumps(settings.record))
    return record


def test_one_seed_gives_one_policy_and_it_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = (run(tmp_path / name, seed=seed) for name, seed in (("a", 0), ("b", 0), ("c", 1)))
    assert first == second != third
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")
    policy = read(tmp_path / "a" / "policy.npz", SEAT)
    assert (policy.metadata["tasks"], policy.metadata["steps"]) == (list(TINY["tasks"]), 960)  # whole laps
    assert any(policy.weights["arm.bias"])
    assert np.isfinite(rl.load(tmp_path / "a" / "policy.npz", n_arms=3, horizon=50).offer()).all()
    assert list((tmp_path / "a").glob("events.out.*"))
    assert sorted(path.name for path in (tmp_path / "a").glob("lap-*")) == ["lap-3.pkl", "lap-3.zip"]
    assert len(first["laps"]) == 3
    printed = capsys.readouterr().out
    assert "lap 3 of 3" in printed
    assert "k3-t30-misaligned: likeliest: utility" in printed
    assert "k3-t30-misaligned: drawn: utility" in printed


def test_actions_are_drawn_if_that_is_measurably_better() -> None:
    likeliest, noise = np.ones(100), np.random.default_rng(0).normal(size=100)
    for shift, drawn in ((1.0, True), (0.05, False), (-1.0, False)):
        scores = {"likeliest": likeliest, "drawn": likeliest + shift + noise - noise.mean()}
        for objective, (score, sign) in training.SCORE.items():
            found = {"k3-t100-uniform": {way: {score: sign * sums} for way, sums in scores.items()}}
            against = "zero" if objective == "payoff" else ""
            settings = Settings(("k3-t100-uniform",), objective, against)
            assert training.better_drawn(found, settings) == drawn
    better, worse = ({"likeliest": {"regret": likeliest}, "drawn": {"regret": likeliest + by}} for by in (-1.0, 9.0))
    names = ("k3-t100-uniform", "k3-t1e4-uniform")
    assert training.better_drawn({names[0]: better}, Settings(names[:1], "regret"))
    assert not training.better_drawn({names[0]: better, names[1]: worse}, Settings(names, "regret"))


def test_rates_fall_to_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    original = PPO.train

    def watched(self: PPO) -> None:
        original(self)
        seen.append((self.policy.optimizer.param_groups[0]["lr"], self.ent_coef))

    monkeypatch.setattr(PPO, "train", watched)
    run(tmp_path)
    rates, entropies = np.array(seen).T
    assert (np.diff(rates) <= 0).all()
    assert (np.diff(entropies) < 0).all()
    assert 0.0 == rates[-1] < rates[0] == training.RATE
    assert entropies[-1] == 0.0


def test_a_killed_run_goes_on_to_the_same_policy(tmp_path: Path) -> None:
    long = {"steps": 4 * 320}
    whole = run(tmp_path / "whole", **long)
    out = tmp_path / "killed"

    def laps() -> int:
        return len(json.loads((out / "run.json").read_text())["laps"]) if (out / "run.json").exists() else 0

    code = (
        "from pathlib import Path; from baselines.rl.training import Settings, train\n"
        f"train(Settings(**{TINY | long}), Path({str(out)!r}))"
    )
    with python(code) as process:  # leaving the block kills it
        end = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < end and laps() < 1:
            time.sleep(0.005)
    assert process.returncode == -signal.SIGKILL
    assert 1 <= laps() < 4
    assert run(out, **long) == whole
    assert weights(out) == weights(tmp_path / "whole")


def test_two_runs_at_once_in_a_folder(tmp_path: Path) -> None:
    with only_writer(tmp_path, tmp_path / "lock"), pytest.raises(OSError, match="another command is writing to"):
        train(Settings(**TINY), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    (tmp_path / ".77.lap-0.zip.tmp").write_text("half")  # of one that was killed
    run(tmp_path, steps=320)
    assert not list(tmp_path.glob(".*"))


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device; earlier files are complete"):
            run(tmp_path)
    assert not list(tmp_path.glob("*.zip")) + list(tmp_path.glob(".*"))


def test_a_finished_run_trains_no_more_and_others_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, steps=320)
    with pytest.raises(ValueError, match="seed = 0, not 1: pass another folder"):
        run(tmp_path, steps=320, seed=1)
    monkeypatch.setattr(training, "learner", None)
    run(tmp_path, steps=320)


def test_copies_are_shared_out_evenly() -> None:
    settings = Settings(**(TINY | {"tasks": tuple(f"k3-t{t}-uniform" for t in (20, 30, 40))}))
    assert (settings.rollout_steps, settings.laps) == (160, 3)
    (envs,) = training.learner(settings).envs
    assert [each.num_envs for each in envs.games] == [6, 5, 5]


def test_an_update_learns_from_all_numbers_of_arms(tmp_path: Path) -> None:
    tasks = ("k3-t20-uniform", "k2-t8-uniform", "k3-t30-misaligned", "k3-t20-gap")
    model = training.learner(Settings(**(TINY | {"tasks": tasks, "ppo": {"n_steps": 10, "batch_size": 40}})))
    assert [envs.num_envs for envs in model.envs] == [12, 4]
    updates: list[list[int]] = []

    def watch() -> None:
        batches = list(model.rollout_buffer.get(model.batch_size))
        updates.append([batch.observations.shape[1] for batch in batches])
        for envs, part in zip(model.envs, model.rollout_buffer.parts, strict=True):
            size = envs.observation_space.shape[0]
            of_arms = [batch.returns for batch in batches if batch.observations.shape[1] == size]
            assert sorted(x for returns in of_arms for x in returns.tolist()) == sorted(part.returns.ravel().tolist())

    model.train = watch  # type: ignore[method-assign]
    model.learn(2 * 160)
    three, two = (envs.observation_space.shape[0] for envs in model.envs)
    assert updates == [[three, two, three, three]] * 2 or updates == [[three, three, two, three]] * 2
    record = run(tmp_path, tasks=tasks)
    assert list(record["laps"][-1]) == list(tasks)
    assert [rounds for rounds, _ in record["curve"]] == sorted({rounds for rounds, _ in record["curve"]})


def test_constants_are_those_of_the_package_unless_others_are_given() -> None:
    options = {"particles": 4, "copies": 512}
    model = rl.learner("k3-t200-uniform", **options)
    assert (model.n_steps, model.batch_size, model.n_epochs, model.n_envs) == (25, 1600, 2, 512)
    assert (model.lr_schedule(1.0), model.lr_schedule(0.2), model.gamma) == (2e-3, 1e-3, 0.9995)
    small = {
        "copies": 8,
        "n_steps": 5,
        "learning_rate": 1.0,
        "gamma": 0.5,
        "width": 4,
        "deep": False,
        "privileged": False,
    }
    model = rl.learner(agent="oracle", instance="gap", n_arms=2, horizon=30, **small)
    assert (model.n_steps, model.batch_size, model.gamma, model.lr_schedule(0.2)) == (5, 5, 0.5, 0.5)
    assert model.settings.tasks[0].name == "k2-t30-gap-oracle"
    assert model.learn(40).num_timesteps == 40
    model = rl.learner("k4-t200-uniform", copies=8, policy_kwargs={"optimizer_kwargs": {"eps": 1e-6}})
    assert (model.policy.layout["n_arms"], model.policy.layout["privileged"]) == (4, 3)  # the actor is told nothing


def test_rewards_are_scaled_by_game() -> None:
    model = rl.learner(["k3-t25-uniform", "k3-t100-uniform"], copies=8, particles=4, scale=3.0)
    assert model.envs[0].scales == pytest.approx([0.6, 0.3])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"depth": 2}, "option of a learner = 'depth' is unknown"),
        ({"policy": "MlpPolicy"}, "option of a learner = 'policy' is unknown"),
        ({"agent": "nobody"}, "agent = 'nobody' is unknown"),
        ({"deep": "maybe"}, "deep = 'maybe' must be True or False"),
        ({"n_steps": 0}, "n_steps = 0 must be an integer at least 1"),
        ({"learning_rate": "abc"}, "learning_rate = 'abc' must be a finite number"),
        ({"task": "k3-t200-uniform", "n_arms": 4}, "task = 'k3-t200-uniform' is a whole setting: leave out n_arms"),
        ({"task": 3}, "task = 3 must be the name of a task"),
        ({"agent": OwnAgent()}, r"agent = .*OwnAgent.* must be a name or a spec: yours goes by 'file\.py:Name'"),
        ({"instance": IID([0.1, 0.2], [0.3, 0.4])}, r"instance = IID.* must be a name or a spec"),
        ({"lap": -1}, "lap = -1 must be an integer at least 0"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        rl.learner(**given)


@pytest.mark.parametrize("rounds", ["abc", -5, 0, 1.5])
def test_learn_wants_a_number_of_rounds(rounds: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=f"total_timesteps = {rounds!r} must be an integer at least 1"):
        rl.learner("k2-t8-uniform", copies=2, particles=2).learn(rounds)


def test_a_learner_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(rl, "training")
    monkeypatch.delitem(sys.modules, "baselines.rl.training")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"torch is not installed\. .*pip install '\.\[train\]'"):
        rl.learner("k2-t8-uniform")


def test_episodes_that_were_begun_by_another_hand_are_not_shown() -> None:
    model = rl.learner("k3-t20-uniform", copies=8, particles=4, n_steps=10)
    envs, shown = model.envs[0], []
    envs.reset()
    for _ in range(40):
        envs.step(np.zeros(8, np.int64))
        shown.append(len(envs.recent[0]))
    assert (shown[19], shown[39]) == (0, 8)


def test_what_is_drawn_in_between_changes_nothing() -> None:
    import torch

    options: dict[str, Any] = {"copies": 8, "particles": 4, "width": 8, "n_steps": 5}
    alone = rl.learner("k3-t20-uniform", **options).learn(80)
    first, second = (rl.learner("k3-t20-uniform", seed=seed, **options) for seed in (0, 1))
    second.learn(80)
    torch.rand(3)
    first.learn(80, lambda *_: True)  # a plain function is a callback
    one, two, other = (
        torch.cat([each.detach().ravel() for each in model.policy.parameters()]) for model in (alone, first, second)
    )
    assert torch.equal(one, two)
    assert not torch.equal(one, other)


def test_threads_change_nothing() -> None:
    import torch

    policies, threads = [], torch.get_num_threads()
    for n in (1, 2):
        torch.set_num_threads(n)
        try:
            model = rl.learner("k3-t20-uniform", copies=8, particles=4, width=32, n_steps=5).learn(80)
            assert torch.get_num_threads() == n
        finally:
            torch.set_num_threads(threads)
        policies.append(torch.cat([each.detach().ravel() for each in model.policy.parameters()]))
    assert torch.equal(*policies)


def test_a_policy_that_offers_nothing_is_told_so_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, tasks=("k1-t20-uniform",), steps=640)  # its one arm costs nothing
    assert capsys.readouterr().out.count("The trap of offering nothing") == 1


def test_a_learner_that_offers_nothing_warns_once() -> None:
    options: dict[str, Any] = {"copies": 16, "particles": 4, "width": 8, "n_steps": 5}
    for seed in (0, 1):
        with pytest.warns(UserWarning, match=f"k1-t20-uniform, seed {seed}: .*The trap of offering nothing") as warned:
            rl.learner("k1-t20-uniform", seed=seed, **options).learn(16 * 5 * 12)
        assert len(warned) == 1
    model = rl.learner("k3-t20-uniform", **options)
    model.learn(16 * 5 * 12)  # warnings are errors here
    assert np.mean(model.offers) > training.NEXT_TO_NOTHING
    (envs,) = model.envs
    wanted = model.likeliest_offers(envs)
    envs.step(model.predict(envs.observations, deterministic=True)[0])
    game = game_behind(envs.games[0])
    running = ~envs.starts
    offers = game.summary[:, block_columns(SummaryBlock.OFFER, 3)].max(axis=1)
    assert np.allclose(wanted[running], offers[running], atol=1e-6)
    rl.learner("k1-t20-uniform", against="zero", **options).learn(16 * 5 * 12)


@pytest.mark.parametrize(
    ("lap", "says"),
    [(1, "Stopped. No lap is finished: nothing is kept."), (2, "training goes on after lap 1 of 3")],
)
def test_an_interrupted_run_says_what_is_kept(
    lap: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    update = training.Learner.train

    def stop(self: training.Learner) -> None:
        if self.num_timesteps > (lap - 1) * 320:
            raise KeyboardInterrupt
        update(self)

    with monkeypatch.context() as patched:
        patched.setattr(training.Learner, "train", stop)
        with pytest.raises(KeyboardInterrupt, match=says):
            run(tmp_path / "run")
    assert len(run(tmp_path / "run")["laps"]) == 3
    assert ("resumed after lap 1 of 3 (320 rounds)" in capsys.readouterr().out) == (lap == 2)


@pytest.mark.parametrize("lap", [1, 3])
def test_an_interrupted_evaluation_loses_no_lap(lap: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tmp_path / "whole")
    evaluate = training.evaluate

    def stop(model: Any, settings: Settings) -> training.Scores:
        if model.num_timesteps == lap * 320:
            raise KeyboardInterrupt
        return evaluate(model, settings)

    with monkeypatch.context() as patched:
        patched.setattr(training, "evaluate", stop)
        with pytest.raises(KeyboardInterrupt, match=f"goes on after lap {lap} of 3"):
            run(tmp_path / "stopped")
    assert run(tmp_path / "stopped") == whole
    assert weights(tmp_path / "stopped") == weights(tmp_path / "whole")


def test_a_short_run_has_several_laps() -> None:
    short, long, chosen = (Settings(TINY["tasks"], **options) for options in ({"steps": 2_000_000}, {}, {"lap": 400}))
    assert [(each.lap, each.laps) for each in (short, long, chosen)] == [(31, 6), (80, 8), (400, 2)]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tasks": ()}, "must have at least one"),
        ({"tasks": ("k3-t20-uniform", "k3-t20-uniform")}, "must have different names"),
        ({"ppo": {"ent_coef": lambda left: left}}, "ent_coef = <function"),
        ({"copies": 1}, "copies = 1 must be at least the number of tasks, 2"),
        ({"objective": "fun"}, "objective = 'fun' is unknown"),
        ({"steps": 0}, "steps = 0"),
        ({"copies": 0}, "copies = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 2**32}, "seed = 4294967296 must be below"),
    ],
)
def test_mistakes_are_named_before_anything_is_written(changes: dict[str, object], says: str, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        run(tmp_path / "new", **changes)
    assert not (tmp_path / "new").exists()


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ValueError, match=r"run\.json is damaged \("):
        run(tmp_path)


def test_a_recipe_is_trained_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(recipes.RECIPES, "ppo-tiny", TINY | {"objective": "regret", "steps": 320})
    assert recipes.cook("ppo-tiny", tmp_path) == tmp_path / "ppo-tiny" / "policy.npz"
    assert read(tmp_path / "ppo-tiny" / "policy.npz", SEAT).metadata["objective"] == "regret"


def test_other_code_of_the_same_name_is_another_run(tmp_path: Path) -> None:
    agent = "class Mine:\n    def reset(self, n_arms, rng): self.means = [{}] * n_arms\n"
    agent += "    def choose(self, incentives): return 0\n    def learn(self, arm, reward): ...\n"
    for value in (0.0, 0.5):
        (tmp_path / "mine.py").write_text(agent.format(value))
        settings = training.settings_of((), {"agent": f"{tmp_path / 'mine.py'}:Mine"}, {"steps": 320})
        if value:
            with pytest.raises(ValueError, match="holds a run with files"):
                training.read_record(settings, tmp_path)
        (tmp_path / "run.json").write_text(json.dumps(training.read_record(settings, tmp_path / "none")))


@pytest.mark.parametrize("name", ["steps", "seed", "objective", "against"])
def test_settings_with_an_option_of_their_own_are_refused(name: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["train", "--set", f"{name}=5", "--out", str(tmp_path / "run")])
    assert shown.exit_code == 1
    assert f"pass --{name}" in shown.output


def test_the_command_trains_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    against_rounds = pictures.against_rounds
    monkeypatch.setattr(pictures, "against_rounds", lambda score: drawn.append(against_rounds(score)) or drawn[-1])
    constants = ("copies=16", "particles=4", "width=8", "lap=2", "rounds=600", "n_steps=10")
    sets = [part for constant in constants for part in ("--set", constant)]
    game = ["--agent", "exploratory,c0=0.3", "--instance", "gap", "--arms", "3", "--horizon", "20"]
    shown = CliRunner().invoke(
        app, ["train", *game, *sets, "--steps", "320", "--out", str(tmp_path), "--episodes", "4"]
    )
    assert shown.exit_code == 0, shown.output
    assert "lap 1 of 1, 320 rounds; evaluating" in shown.output
    assert re.search(r"^trained \((likeliest|drawn)\) ", shown.output, flags=re.MULTILINE)
    assert drawn[0][1].get_xlim()[0] == 0.0
    assert "R_T^oracle" in shown.output
    assert "policy.npz" in shown.output
    assert "curve.png" in shown.output
    assert "pa-bench train" in " ".join(CliRunner().invoke(app, ["train", "--help"]).output.split())
