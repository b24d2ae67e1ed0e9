"""Training: a solvable game is solved, one seed gives one policy, and a killed run goes on to the same one."""

import errno
import functools
import json
import os
import signal
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")

from stable_baselines3 import PPO
from typer.testing import CliRunner

from baselines import make, rl
from baselines.__main__ import app
from baselines.files import only_writer
from baselines.rl import training
from baselines.rl.evaluate import compare
from baselines.rl.features import SetActorCritic
from baselines.rl.policy_file import read, save
from baselines.rl.start import Search, find
from baselines.rl.training import Run
from baselines.rl.vec_env import GameVecEnv
from baselines.tasks import task
from pa_env import IID
from pa_env.wrappers import IncentiveGrid

from ..helpers import python

TINY = {"lap": 1024, "episodes": 8, "search": Search(generations=1, candidates=2, elite=1, rounds=200)}


@pytest.fixture(autouse=True)
def few_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baselines.rl.algorithms.COPIES", {"ppo": 16, "sac": 16, "recurrent-ppo": 16})


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
    return [array.tobytes() for array in read(out / "best.npz").weights.values()]


def run(out: Path, steps: int = 3072, name: str = "k3-t100-uniform", **options: object) -> Run:
    made = Run(task(name), out, steps=steps, **(TINY | options))  # type: ignore[arg-type]
    made.train()
    return made


def test_one_seed_gives_one_policy_and_it_plays(tmp_path: Path) -> None:
    first, second, third = (run(tmp_path / name, seed=seed) for name, seed in (("a", 0), ("b", 0), ("c", 1)))
    assert first.record == second.record != third.record
    assert weights(tmp_path / "a") == weights(tmp_path / "b") != weights(tmp_path / "c")
    assert read(tmp_path / "a" / "best.npz").metadata["task"] == "k3-t100-uniform"
    principal = rl.load(tmp_path / "a" / "best.npz", n_arms=3, horizon=100)
    assert np.isfinite(principal.offer()).all()
    assert list((tmp_path / "a").glob("events.out.*"))
    assert [path.name for path in (tmp_path / "a").glob("lap-*")] == ["lap-3.zip"]
    assert len(first.record["scores"]) == 1 + 3  # the start, and each lap


def test_the_critic_learns_first(tmp_path: Path) -> None:
    one, two = (run(tmp_path / str(laps), steps=1024 * laps) for laps in (1, 2))
    assert one.record["scores"][0] == one.record["scores"][1]
    assert two.record["scores"][1] != two.record["scores"][2]
    assert one.record["best"] == 0  # a tie with the start is no progress
    assert read(tmp_path / "1" / "best.npz").metadata["steps"] == 0


def test_the_first_policy_is_the_script(tmp_path: Path) -> None:
    run(tmp_path, steps=1024)
    start = read(tmp_path / "best.npz").weights
    assert not any(start[f"{head}.{part}"].any() for head in ("all", "arm") for part in ("weight", "bias"))


def test_a_killed_run_goes_on_to_the_same_policy(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", steps=8192)
    out = tmp_path / "killed"

    def laps() -> int:
        return len(json.loads((out / "run.json").read_text())["scores"]) - 1 if (out / "run.json").exists() else 0

    code = (
        "from pathlib import Path; from baselines.rl import algorithms; from baselines.rl.training import Run, Search\n"
        "from baselines.tasks import task\n"
        "algorithms.COPIES = {'ppo': 16}\n"
        f"Run(task('k3-t100-uniform'), Path({str(out)!r}), steps=8192, lap=1024, episodes=8,"
        " search=Search(1, 2, 1, 200)).train()"
    )
    with python(code) as process:  # leaving the block kills it
        end = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < end and laps() < 1:
            time.sleep(0.005)
    assert process.returncode == -signal.SIGKILL
    assert 1 <= laps() < whole.laps
    resumed = run(out, steps=8192)
    assert resumed.record == whole.record
    assert weights(out) == weights(tmp_path / "whole")


def test_two_runs_at_once_in_a_folder(tmp_path: Path) -> None:
    waiting = Run(task("k3-t100-uniform"), tmp_path, steps=3072, **TINY)  # type: ignore[arg-type]
    with only_writer(tmp_path, tmp_path / "lock"), pytest.raises(OSError, match="another command is writing to"):
        waiting.train()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    (tmp_path / ".77.lap-0.zip.tmp").write_text("half")  # of one that was killed
    done = run(tmp_path)
    waiting.train()  # knows what was done while it waited
    assert waiting.record == done.record
    assert not list(tmp_path.glob(".*"))


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device; what was written before is whole"):
            run(tmp_path)
    assert not list(tmp_path.glob("*.zip")) + list(tmp_path.glob(".*"))
    run(tmp_path)


def test_a_finished_run_trains_no_more_and_others_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    with pytest.raises(ValueError, match="seed = 0, not 1: pass another folder"):
        run(tmp_path, seed=1)
    monkeypatch.setattr(training, "new_model", None)
    run(tmp_path)


@pytest.mark.parametrize("algo", ["sac", "recurrent-ppo"])
def test_the_other_learners_train_and_go_on(algo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    whole = run(tmp_path / "whole", steps=512, name="tiny", lap=256, algo=algo)
    original, calls = Run._evaluate, []

    def fails_the_third_time(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 3:  # after the second lap
            raise KeyboardInterrupt
        original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Run, "_evaluate", fails_the_third_time)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "cut", steps=512, name="tiny", lap=256, algo=algo)
    assert run(tmp_path / "cut", steps=512, name="tiny", lap=256, algo=algo).record == whole.record
    assert (tmp_path / "whole" / "best.zip").exists()
    assert (tmp_path / "whole" / "best.npz").exists() == (algo == "sac")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"algo": "dqn"}, "algo = 'dqn' is unknown"),
        ({"objective": "fun"}, "objective = 'fun' is unknown"),
        ({"steps": 0}, "steps = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 2**32}, "seed = 4294967296 must be below"),
        ({"log_noise": float("nan")}, "log_noise = nan"),
    ],
)
def test_mistakes_are_named_before_anything_is_written(changes: dict[str, object], says: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=says):
        run(tmp_path / "new", **changes)  # type: ignore[arg-type]
    assert not (tmp_path / "new").exists()


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ValueError, match=r"run\.json is damaged \("):
        run(tmp_path)


def test_a_run_starts_from_another_tasks_policy(tmp_path: Path) -> None:
    run(tmp_path / "first", steps=1024)
    policy = read(tmp_path / "first" / "best.npz")
    other = Run(
        task("k5-t200-misaligned"), tmp_path / "second", steps=1024, **TINY, start=tmp_path / "first" / "best.npz"
    )
    other._evaluate = lambda *_: other.record["scores"].append(-float(len(other.record["scores"])))  # type: ignore[method-assign]
    other.train()  # the start counts as the best
    assert weights(tmp_path / "second") == [array.tobytes() for array in policy.weights.values()]
    assert other.record["parameters"] == policy.metadata["parameters"]
    policy.weights["all.bias"][0] += 1.0
    save(tmp_path / "another.npz", policy)  # with the same metadata
    with pytest.raises(ValueError, match="holds a run with start = "):
        Run(task("k5-t200-misaligned"), tmp_path / "second", steps=1024, **TINY, start=tmp_path / "another.npz")


def test_the_command_trains_and_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "Run", functools.partial(Run, **TINY))
    arguments = ["--task", "k3-t100-uniform", "--steps", "1024", "--out", str(tmp_path), "--episodes", "4"]
    shown = CliRunner().invoke(app, ["train", *arguments])
    assert shown.exit_code == 0, shown.output
    assert "none beat the start of 1 laps" in shown.output
    assert "trained" in shown.output
    assert "stand-in" in shown.output
    assert "R_T^oracle" in shown.output
    assert "python -m baselines train" in " ".join(CliRunner().invoke(app, ["train", "--help"]).output.split())


def test_the_search_for_a_start_finds_better_parameters_and_the_same_ones_again() -> None:
    short, search = task("k3-t100-uniform"), Search(generations=5, candidates=8, elite=2, rounds=5000)
    found = find(short, "regret", 1.0, 0, search)  # as much regret as can be
    assert found == find(short, "regret", 1.0, 0, search)

    def regret(parameters: dict[str, float]) -> float:
        principal = make("profit-target", n_arms=3, horizon=100, **parameters)
        return float(compare({"": principal}, short, 100)[""]["regret"].mean())

    assert regret(found) > 1.2 * regret({})
