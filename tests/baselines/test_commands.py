"""The command line at a tiny size."""

import inspect
import math
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

import baselines
import pa_env
from baselines.__main__ import app
from baselines.benchmark.blocks import Block, attempt
from baselines.reproduce import CLAIMS
from baselines.speed import table as speed
from baselines.speed.rows import SpeedRow, many_episodes
from baselines.tasks import task, tasks
from pa_env.game import Game

COMMANDS = ("run", "report", "list", "play", "train", "tune", "speed", "leaderboard", "reproduce", "clean")


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


def test_help_has_no_line_break_within_a_sentence() -> None:
    """Every paragraph after the first is shown with its line breaks."""
    for each in app.registered_commands:
        _, *paragraphs = (inspect.getdoc(each.callback) or "").split("\n\n")
        assert not any("\n" in paragraph for paragraph in paragraphs), each.callback


def test_training_on_a_task_and_on_parts_of_a_setting_names_the_options() -> None:
    words = "train --task k3-t200-uniform --arms 3 --agent ucb --instance gap --horizon 50"
    shown = CliRunner().invoke(app, words.split())
    assert shown.exit_code == 1
    assert "leave out --agent, --instance, --arms, --horizon, or the task" in shown.stderr


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
    sweep = "run --task smoke --seeds 1 --workers 2 --out out --principal own:Own --principal own.py:Own"
    words = [*started, *sweep.split()]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("out/blocks/*.parquet"))) == 2


def test_a_command_says_which_extra_is_missing(tmp_path: Path) -> None:
    """One process tries them all, which imports nothing that a later one lacks."""
    missing = {
        "pandas": ("report results", "bench"),
        "optuna": ("tune profit-target --task tiny --trials 1", "tune"),
        "torch": ("train --task k3-t100-uniform", "train"),
        "pygame": ("speed --only AEC --repeats 1", "test"),
    }
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    needs = [f"{each}; extra == {name!r}" for name, some in project["optional-dependencies"].items() for each in some]
    code = f"""
import sys
from baselines import extras; extras.requires = lambda _: {needs}
from baselines.cli.commands import app
for module, (words, _) in {missing}.items():
    assert module not in sys.modules, module
    sys.modules[module] = None
    try:
        app(words.split())
    except SystemExit as end:
        print("exit code", end.code, file=sys.stderr)
    del sys.modules[module]
"""
    shown = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    said = [
        f"Error: {name} is not installed. In a clone of the repository: pip install '.[{extra}]'"
        for name, (_, extra) in missing.items()
    ]
    lines = shown.stderr.splitlines()
    ends = [i for i, line in enumerate(lines) if line == "exit code 1"]
    assert [lines[i - 1] for i in ends] == said


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("run --task k2-t1", ["k2-t10-uniform"]),
        ("run --task defa", ["default"]),
        ("run --task k5-t200-mis", ["k5-t200-misaligned"]),
        ("run --principal profit", ["profit-target"]),
        ("run --principal bracket", ["bracket-ucb"]),
        ("run --agent follow", ["follow-the-leader"]),
        ("train --agent hol", ["holdout"]),
        ("play --instance mis", ["misaligned"]),
        ("play --instance mini", ["minimax"]),
        ("list --suite who", ["who-wins"]),
        ("reproduce expl", ["exploitability"]),
    ],
)
def test_values_are_completed(words: str, completed: list[str]) -> None:
    line = f"pa-bench {words}"
    asked = {"_PA_BENCH_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(words.count(" ") + 1)}
    assert CliRunner().invoke(app, prog_name="pa-bench", env=asked).output.split() == completed


def test_what_many_episodes_are_timed_with_can_be_made() -> None:
    names = [row.name for row in many_episodes() if row.setup()]
    assert {"particle, K = 5", "ppo, K = 5"} < set(names)


def test_speed_prints_the_rows_asked_for_beside_another_checkout(tmp_path: Path) -> None:
    """This very package is the other one; a folder without it is refused."""
    row = ["speed", "--only", "held offer, K = 5, empirical", "--repeats", "1", "--against"]
    shown = CliRunner().invoke(app, [*row, str(Path(pa_env.__file__).parents[1])])
    assert shown.exit_code == 0, shown.output
    assert re.search(r"held offer, K = 5, empirical-mean, [\d.]+, [\d.]+ draws a round, at most 2.2, ", shown.stderr)
    assert re.search(r", [\d.]+, [\d.]+ x as fast$", shown.stderr.strip())
    assert "CartPole" not in shown.output
    refused = CliRunner().invoke(app, [*row, str(tmp_path)])
    assert refused.exit_code == 1
    assert f"against = '{tmp_path}' has no folder pa_env: name a checkout" in refused.stderr


def test_a_goal_that_is_missed_is_shown_as_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    goals = {"never": 0.0, "always": 1e9}
    rows = [SpeedRow(name, lambda: int, 1, lambda: int, 1, "of a call", goal) for name, goal in goals.items()]
    monkeypatch.setattr(speed, "rows", lambda: rows)
    monkeypatch.setattr(speed, "QUANTITIES", ())
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, ["speed"]).stdout
    assert re.search(r"never .* MISSED", shown)
    assert re.search(r"always .* yes", shown)


def test_another_checkout_leaves_out_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "pa_env").mkdir()
    (tmp_path / "pa_env" / "__init__.py").touch()
    row = next(row for row in speed.rows() if row.name.startswith("held"))
    with speed.checkout(tmp_path) as other:
        assert math.isnan(other.seconds(row))
        assert math.isnan(other.seconds(row))
        assert speed.timing(row, 2, other)[-2:] == ("", "")


def test_speed_says_that_nothing_matches() -> None:
    shown = CliRunner().invoke(app, ["speed", "--only", "zzz"])
    assert shown.exit_code == 1
    assert "only = 'zzz' matches no row" in shown.stderr


def test_the_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"principal-agent-env {pa_env.__version__}"


def test_every_speed_row_has_rounds_and_a_goal() -> None:
    rows = list(speed.rows())
    assert len({row.name for row in rows}) == len(rows) >= 25
    assert all(row.rounds > 0 and row.yardstick_rounds > 0 and row.goal > 0 for row in rows)
    assert all(row.yardstick is not None or row.unit.startswith("us ") for row in rows)


def test_the_goals_of_speed() -> None:
    goals = {row.name: row.goal for row in speed.rows()} | {each.name: each.goal for each in speed.QUANTITIES}
    expected = {
        "gym.make": 3.0,
        "AEC env()": 3.0,
        "batched, 64 copies": 7.0,
        "batched, 1024 copies": 2.0,
        "batched, 4096 copies": 1.2,
        "held offer, K = 5, empirical-mean": 2.2,
        "held offer, K = 5, exploratory": 3.5,
        "10,000 episodes, profit-target, T = 200": 1.5,
        "agent: compiled by a user, held": 4.0,
        "10,000 episodes, elimination, T = 200": 100.0,
        "first reset and step, nothing compiled": 8.0,
        "first simulation after that": 4.0,
    }
    assert goals | expected == goals


def test_the_yardstick_of_turns_has_the_pygame_that_gymnasium_and_pettingzoo_want() -> None:
    assert "pygame-ce" in metadata.packages_distributions()["pygame"]
    with pytest.raises(metadata.PackageNotFoundError):  # both write the same files, and break each other
        metadata.version("pygame")


def test_what_the_benchmark_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "tasks", lambda *names: tasks("smoke"))
    assert 0 < speed.share_in_game() < 1
    assert Game.advance.__qualname__ == "Game.advance"  # nothing is left patched
    for principal in ("elimination", "profit-target"):
        with speed.timed() as spent:
            assert isinstance(attempt(Block(task("smoke"), principal, range(2))).data, bytes)  # a failure takes no time
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
