"""A folder that is to enter a leaderboard: committed code, complete results, and a sample that comes out the same."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import baselines
import pa_env
from baselines.benchmark.blocks import as_parquet, read_table
from baselines.cli.commands import app

OWN = """
from baselines import Principal, offer

class Half(Principal):
    def rounds(self):
        while True:
            yield offer([0.5] + [0.0] * (self.n_arms - 1))
"""


def git(*words: str, at: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=at, check=True, capture_output=True)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with this package and a principal of someone's own, and the results that it played."""
    clone = tmp_path_factory.mktemp("clone")
    for package in (pa_env, baselines):
        source = Path(str(package.__file__)).parent
        shutil.copytree(source, clone / source.name, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    (clone / "own.py").write_text(OWN)
    git("init", at=clone)
    git("add", ".", at=clone)
    git("commit", "-m", "all", at=clone)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(clone)
        shown = CliRunner().invoke(
            app, ["run", "--task", "smoke", "--principal", "own.py:Half", "--principal", "zero", "--out", "out", "-q"]
        )
    assert shown.exit_code == 0, shown.output
    return clone


@pytest.fixture
def clone(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(played, tmp_path / "clone")
    monkeypatch.chdir(tmp_path / "clone")
    return tmp_path / "clone"


def submit() -> Any:
    return CliRunner().invoke(app, ["leaderboard", "--submit", "out"])


def test_the_rows_to_add(clone: Path) -> None:
    shown = submit()
    assert shown.exit_code == 0, shown.output
    heads, _, row = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.output.splitlines()]
    assert heads == ["task", "principal", "utility", "R_T", "seeds", "commit", "code"]
    assert row[:2] == ["smoke", "own.py:Half"]
    assert row[4] == "2"
    assert not (clone / "LEADERBOARD.md").exists()


def test_a_row_names_the_file_from_the_top_of_the_repository(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (clone / "entries").mkdir()
    (clone / "entries/mine.py").write_text(OWN)
    git("add", ".", at=clone)
    git("commit", "-m", "mine", at=clone)
    monkeypatch.chdir(clone / "entries")
    words = ["run", "--task", "smoke", "--principal", "mine.py:Half", "--out", "out", "-q"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert "| entries/mine.py:Half " in submit().output


def change_principal(clone: Path) -> None:
    (clone / "own.py").write_text(OWN.replace("0.5", "0.4"))


def change_package(clone: Path) -> None:
    """Commit other code than what is installed and played."""
    with (clone / "pa_env/game.py").open("a") as file:
        file.write("# changed\n")
    git("commit", "-am", "change", at=clone)


def forget_principal(clone: Path) -> None:
    git("rm", "--cached", "own.py", at=clone)
    git("commit", "-m", "forget", at=clone)


def forge(clone: Path) -> None:
    (path,) = (clone / "out/blocks").glob("smoke--own*")
    table = read_table(path)
    place = table.column_names.index("utility")
    path.write_bytes(as_parquet(table.set_column(place, table.field(place), [table["utility"].to_numpy() + 1])))
    assert pq.read_table(path).num_rows == table.num_rows


def lose(clone: Path) -> None:
    for path in (clone / "out/blocks").glob("smoke--own*"):
        path.unlink()


def change_notes(clone: Path, **changes: Any) -> None:
    path = clone / "out/benchmark.json"
    notes = json.loads(path.read_text())
    task = {name: changes.pop(name) for name in list(changes) if name in notes["tasks"]["smoke"]}
    notes["tasks"]["smoke"] |= task
    path.write_text(json.dumps(notes | changes))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change_principal, "was played before own.py:Half was changed"),
        (change_package, "pa_env/game.py is not in the last commit as it was played"),
        (forget_principal, "own.py is not in the last commit"),
        (forge, "comes out otherwise when it is played again"),
        (lose, "own.py:Half has no results"),
        (lambda clone: change_notes(clone, numpy="1.0"), "was played with numpy 1.0"),
        (lambda clone: change_notes(clone, n_arms=4), "is not the task of this name"),
        (lambda clone: change_notes(clone, seeds=1), "was played on 1 seeds: play 2 or more"),
        (lambda clone: change_notes(clone, seeds=3), "has played 2 of 3 seeds"),
        (lambda clone: shutil.rmtree(clone / ".git"), "not a git repository"),
    ],
)
def test_what_is_refused(clone: Path, spoil: Callable[[Path], None], message: str) -> None:
    spoil(clone)
    shown = submit()
    assert shown.exit_code == 1
    assert message in " ".join(shown.stderr.split()), shown.output
    assert not shown.stdout
