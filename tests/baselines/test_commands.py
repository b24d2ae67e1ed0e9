"""The command line at a tiny size."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

import baselines
import pa_env
from baselines.__main__ import app
from baselines.benchmark.blocks import Block, attempt
from baselines.reproduce import CLAIMS
from baselines.speed import cost
from baselines.speed import table as speed
from baselines.tasks import task, tasks
from pa_env.game import Game

COMMANDS = ("run", "report", "list", "play", "train", "tune", "speed", "leaderboard", "reproduce")


def shown_by(*arguments: str) -> str:
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())


def test_the_first_level_has_what_people_need_in_that_order() -> None:
    text = shown_by("--help").split("Commands")[1]
    places = [text.index(f" {command} ") for command in COMMANDS]
    assert places == sorted(places)
    assert [each.name or each.callback.__name__ for each in app.registered_commands] == list(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str) -> None:
    assert f"Example: pa-bench {command} " in shown_by(command, "--help")


def test_help_and_errors_name_every_claim() -> None:
    text = shown_by("reproduce", "--help")
    for name, claim in CLAIMS.items():
        assert f"{name}: {claim.about.split()[0]}" in text
    refused = CliRunner().invoke(app, ["reproduce", "tabel1"])
    assert refused.exit_code == 1
    assert "name = 'tabel1' is unknown (did you mean 'table1'?)" in refused.stderr
    assert all(name in refused.stderr for name in ("all", *CLAIMS))


OWN = """
import os, sys
from baselines.scripted.simple import Zero
import beside
class Own(Zero):
    def rounds(self):
        assert not {"", os.getcwd()} & set(sys.path), "the current folder is still on the path"
        yield from super().rounds()
"""


@pytest.mark.parametrize("command", ["python -m baselines", "pa-bench"])
def test_files_in_the_current_folder_do_not_pose_as_libraries(command: str, tmp_path: Path) -> None:
    """With -m, Python itself imports the package before anything can be done about it: only what comes later counts."""
    program = Path(sys.executable).with_name("pa-bench")
    if command == "pa-bench" and not program.exists():
        pytest.skip("pa-bench is not installed")
    libraries = ["rich", "typer", "pyarrow", *(["numpy", "json", "signal", "random"] if command == "pa-bench" else [])]
    for name in libraries:
        (tmp_path / f"{name}.py").write_text(f"raise RuntimeError('{name} of the current folder')")
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "beside.py").touch()
    started = [str(program)] if command == "pa-bench" else [sys.executable, "-m", "baselines"]
    environment = os.environ | {"PYTHONPATH": str(Path(baselines.__file__).parent.parent)}
    sweep = "run --task tiny --seeds 1 --workers 2 --out out --principal own:Own --principal own.py:Own"
    for arguments in ("list", sweep):
        words = [*started, *arguments.split()]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("out/blocks/*.parquet"))) == 2


def test_speed_prints_the_rows_asked_for() -> None:
    shown = CliRunner().invoke(app, ["speed", "--only", "held offer, K = 5, empirical", "--repeats", "1"])
    assert shown.exit_code == 0
    assert "draws" in shown.output
    assert "CartPole" not in shown.output


def test_speed_says_that_nothing_matches() -> None:
    shown = CliRunner().invoke(app, ["speed", "--only", "zzz"])
    assert shown.exit_code == 1
    assert "only = 'zzz' matches no row" in shown.stderr


def test_the_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"principal-agent-env {pa_env.__version__}"


def test_every_speed_row_has_work_and_a_target() -> None:
    rows = [*speed.rows(), *speed.agents(), *speed.simulations(), *speed.many_episodes()]
    assert len({row.name for row in rows}) == len(rows) >= 15
    assert all(row.work > 0 and row.yardstick_work > 0 and row.target > 0 for row in rows)


def test_the_yardstick_of_turns_has_the_pygame_that_gymnasium_and_pettingzoo_want() -> None:
    assert "pygame-ce" in metadata.packages_distributions()["pygame"]
    with pytest.raises(metadata.PackageNotFoundError):  # both write the same files, and break each other
        metadata.version("pygame")


def test_what_the_benchmark_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "tasks", lambda *names: tasks("tiny"))
    assert 0 < cost.share_in_game() < 1
    assert Game.advance.__qualname__ == "Game.advance"  # nothing is left patched
    for principal in ("elimination", "profit-target"):
        with cost.timed() as spent:
            assert isinstance(attempt(Block(task("tiny"), principal, 0, 2)).data, bytes)  # a failure takes no time
        assert sum(spent) > 0


def test_nothing_made_for_tests_is_shipped() -> None:
    for package in (baselines, pa_env):
        for path in Path(package.__file__).parent.rglob("*.py"):
            assert not re.search(r"\b(unittest|pytest)\b", path.read_text()), path


def mean_share(name: str, T: int, agent: str, runs: int, **given: str) -> float:
    """R_T / T."""
    principal = baselines.make(name, n_arms=5, horizon=T, **given)
    return float(baselines.simulate(principal, "uniform", agent, seeds=range(runs), checkpoints=[T]).regret.mean()) / T


def test_ipa_is_linear_against_a_learning_agent_where_elimination_is_not() -> None:
    """R_T / T of IPA stays, that of elimination falls (Liu & Ratliff, ICML 2025)."""
    ipa = [mean_share("ipa", T, "empirical-mean", 40) for T in (10**4, 10**6)]
    elimination = [mean_share("elimination", T, "empirical-mean", 40, constants="practical") for T in (10**4, 10**6)]
    assert ipa[1] > 0.4 * ipa[0]
    assert elimination[1] < 0.15 * elimination[0]
    assert elimination[1] < ipa[1]
