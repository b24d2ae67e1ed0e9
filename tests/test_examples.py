"""Every example runs as a program, at a small size if it has one, without a warning, and prints what it promises."""

import ast
import functools
import importlib.util
import re
import runpy
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import baselines
from baselines.__main__ import app

EXAMPLES = Path(__file__).parents[1] / "examples"
NUMBER = r"-?\d+\.\d+"
# Name -> (modules of an extra that it needs, its options, what a line of its output looks like).
SIZED: dict[str, tuple[tuple[str, ...], str, str]] = {
    "evaluate": ((), "--seeds 10", r"zero +[+-]\d+\.\d+ \("),
    "minari_dataset": (
        ("minari", "pyarrow"),
        "--episodes 3",
        "profit-target-v0: 3 episodes, 600 rounds; replayed the same: True",
    ),
    "train_principal": (("stable_baselines3",), "--steps 1", rf"Learner +{NUMBER}"),
    "other_seat": (("stable_baselines3",), "--steps 3200", rf"trained +return {NUMBER}, arm 0"),
    "both_seats": (("torch",), "--updates 2", rf"2 +{NUMBER} +{NUMBER} +\d+%"),
    "rllib_both_seats": (("torch", "ray", "tree"), "--iterations 1 --batch 80", rf"1 +{NUMBER} +{NUMBER}"),
    "torch_ppo": (("torch",), "--steps 1 --episodes 10", rf"PPO +{NUMBER}"),
    "torchrl_ppo": (("torchrl",), "--steps 1", rf"TorchRL +{NUMBER}"),
    "torchrl_envs": (("torchrl",), "--rounds 10", rf"both seats: 10 rounds, the principal earned {NUMBER}, the agent"),
}
PRINTING = ("own_principal", "own_agent")  # their docstrings show all that they print
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run an example with some options as a program, away from the repository; returns what it prints.

    In this process, which has imported what takes long; warnings are errors here.
    """

    def run(name: str, *options: str) -> str:
        path = EXAMPLES / f"{name}.py"
        # The environments are registered already: it must do that by itself.
        assert re.search(r"^(import|from) (pa_env|baselines)\b", path.read_text(), flags=re.MULTILINE)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path), *options])
        runpy.run_path(str(path), run_name="__main__")
        found = capsys.readouterr()
        assert "warning" not in found.err.lower(), found.err
        return found.out

    return run


def test_every_example_is_listed() -> None:
    listed = {"demo", "animation", "agents_picture", *PRINTING, *SIZED}
    assert listed == {path.stem for path in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize("name", SIZED)
def test_it_runs(name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, options, expected = SIZED[name]
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{name}.py needs {module}")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    if name == "train_principal":
        monkeypatch.setattr(baselines, "compare", functools.partial(baselines.compare, seeds=20))
    if name.startswith("rllib"):
        monkeypatch.setenv("HOME", str(tmp_path))  # RLlib leaves its logs there
        found = run_apart(name, options.split(), tmp_path)
    else:
        found = run(name, *options.split())
    assert re.search(expected, found), found


@pytest.mark.parametrize("name", PRINTING)
def test_its_docstring_shows_what_it_prints(name: str, run: Run) -> None:
    text = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text())) or ""
    _, shown = text.split("prints\n\n")
    assert textwrap.dedent(shown).split("\n") == run(name).rstrip().split("\n")


def test_the_animation_is_drawn(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "pa_env.envs.render.rgb", lambda frame: np.full((540, 960, 3), 255 - frame.t, np.uint8)
    )  # quickly
    run("animation")
    assert (tmp_path / "game.gif").read_bytes().startswith(b"GIF89a")
    kept = EXAMPLES.parent / "docs" / "game.gif"
    assert kept.read_bytes().startswith(b"GIF89a")
    assert kept.stat().st_size < 2_000_000


@pytest.mark.parametrize("name", ["agents_picture", "animation"])
def test_pictures_have_help_and_write_none_then(name: str, run: Run, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="0"):
        run(name, "--help")
    assert not list(tmp_path.iterdir())


def test_the_demo_shows_refusals_and_acceptances(run: Run) -> None:
    shown = run("demo")
    answers = re.findall(r"^ +\d+  (0\.\d+) (accepted|refused)", shown, flags=re.MULTILINE)
    assert len(answers) == 7
    assert all((answer == "accepted") == (float(amount) >= 0.45) for amount, answer in answers)
    assert {answer for _, answer in answers} == {"accepted", "refused"}
    assert max(map(len, shown.splitlines())) <= 80


def test_the_benchmark_takes_the_principal_of_the_example(tmp_path: Path) -> None:
    spec = f"{EXAMPLES / 'own_principal.py'}:Sampler"
    options = ["--task", "smoke", "--principal", spec, "--seeds", "1", "--workers", "1", "--out", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, ["run", *options])
    assert shown.exit_code == 0, shown.output
    assert "sampler" in shown.output


def test_a_principal_is_trained_in_thirty_lines() -> None:
    source = (EXAMPLES / "train_principal.py").read_text()
    texts = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    docstrings = {
        line
        for node in texts
        if isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    code = [
        line
        for number, line in enumerate(source.splitlines(), start=1)
        if number not in docstrings and line.strip() and not line.strip().startswith("#")
    ]
    assert len(code) <= 30, "\n".join(code)
    assert code[0] == "import argparse"


def run_apart(name: str, options: list[str], folder: Path) -> str:
    """The same in a process of its own, for what leaves other processes and settings behind."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    return done.stdout
