"""Every example with a size runs at a small one, without a warning, and prints what it promises."""

import ast
import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NUMBER = r"-?\d+\.\d+"
# Name -> (modules of an extra that it needs, its options, what a line of its output looks like).
EXAMPLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "evaluate": ((), "--seeds 10", rf"zero +{NUMBER} +[+-]\d+\.\d+ \("),
    "train_principal": (("stable_baselines3",), "--steps 3200", rf"PPO after 3200 rounds: {NUMBER}"),
    "clone_then_train": (
        ("stable_baselines3",),
        "--steps 6400 --episodes 64",
        rf"clone after 6400 rounds of PPO: {NUMBER}",
    ),
    "other_seat": (("stable_baselines3",), "--steps 3200", rf"trained +return {NUMBER}, arm 0"),
    "both_seats": (("torch",), "--updates 2", rf"2 +{NUMBER} +{NUMBER} +\d+%"),
    "rllib_both_seats": (("torch", "ray", "tree"), "--iterations 1 --batch 80", rf"1 +{NUMBER} +{NUMBER}"),
}
PRINTING = ("own_principal", "own_agent")  # their docstrings show all that they print


def test_every_example_is_listed() -> None:
    assert {"demo", "picture", "agents_picture", *PRINTING, *EXAMPLES} == {
        path.stem for path in (ROOT / "examples").glob("*.py")
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, options, expected = EXAMPLES[name]
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{name}.py needs {module}")
    if name.startswith("rllib"):
        monkeypatch.setenv("HOME", str(tmp_path))  # RLlib leaves its logs there
    found = run([str(ROOT / "examples" / f"{name}.py"), *options.split()], tmp_path)
    assert re.search(expected, found), found


@pytest.mark.parametrize("name", PRINTING)
def test_its_docstring_shows_what_it_prints(name: str, tmp_path: Path) -> None:
    path = ROOT / "examples" / f"{name}.py"
    _, shown = (ast.get_docstring(ast.parse(path.read_text())) or "").split("prints\n\n")
    assert textwrap.dedent(shown).split("\n") == run([str(path)], tmp_path).rstrip().split("\n")


def test_the_demo_shows_refusals_and_acceptances(tmp_path: Path) -> None:
    shown = run([str(ROOT / "examples" / "demo.py")], tmp_path)
    answers = re.findall(r"Round (\d+): the agent (accepted|refused) (0\.\d+)", shown)
    played = re.findall(r"^> +(\d)", shown, flags=re.MULTILINE)
    assert len(answers) == len(played) == 4
    for (_, answer, amount), arm in zip(answers, played, strict=True):
        assert (answer == "accepted") == (arm == "0") == (float(amount) > 0.45)
    assert {answer for _, answer, _ in answers} == {"accepted", "refused"}


def test_the_benchmark_takes_the_principal_of_the_example(tmp_path: Path) -> None:
    spec = f"{ROOT / 'examples' / 'own_principal.py'}:Sampler"
    options = ["--task", "tiny", "--principal", spec, "--seeds", "1", "--workers", "1", "--out", str(tmp_path / "out")]
    assert "own_principal" in run(["-m", "baselines", "run", *options], tmp_path)


def test_a_principal_is_trained_in_thirty_lines() -> None:
    source = (ROOT / "examples" / "train_principal.py").read_text()
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


def run(arguments: list[str], folder: Path) -> str:
    """What a program of its own prints, away from the repository."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    return done.stdout
