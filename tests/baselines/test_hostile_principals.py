"""Users' own principals that misbehave: each fails by itself, is named, and the others are played."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from baselines.__main__ import app
from baselines.benchmark.specs import make_principal, parse

FILE = """
from baselines import Principal, hold
from baselines.scripted.simple import Oracle

class Surrogate(Principal):
    def rounds(self):
        raise ValueError("\\ud800 is no character")
        yield

class Interrupt(Principal):
    def rounds(self):
        raise KeyboardInterrupt
        yield

class Huge(Principal):
    def rounds(self):
        yield hold(0, 1e308, rounds=self.horizon)

class Garbage(Principal):
    def rounds(self):
        yield "garbage"

class Nothing(Principal):
    def rounds(self):
        return None

class Cheat(Oracle):
    pass

class Fragile(Principal):
    def __init__(self, n_arms, horizon, *args, patience=1, **rest):
        raise RuntimeError("not today")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(FILE)
    return path


def run(*principals: str, out: Path) -> tuple[int, str]:
    named = [word for principal in principals for word in ("--principal", principal)]
    shown = CliRunner().invoke(
        app, ["run", "--task", "tiny", "--seeds", "2", "--workers", "1", "--out", str(out), *named]
    )
    return shown.exit_code, " ".join(shown.output.split())


def test_failures_stay_their_own(file: Path, tmp_path: Path) -> None:
    bad = ("Surrogate", "Interrupt", "Huge", "Garbage", "Nothing")
    code, output = run(*(f"{file}:{name}" for name in bad), "zero", out=tmp_path / "out")
    assert code == 1
    assert f"{2 * len(bad)} cells failed" in output
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 2
    kept = " ".join(path.read_text() for path in (tmp_path / "out" / "failures").iterdir())
    for words in (r"\ud800", "KeyboardInterrupt", "is not finite", "yielded 'garbage'", "must be a generator"):
        assert words in kept


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import sys; sys.exit(0)", "SystemExit"),
        ("def x(:", "SyntaxError"),
        ("from numpy import nothing_such", "ImportError"),
        ("import nothing_such", "No module named 'nothing_such'"),
    ],
)
def test_a_file_that_can_not_be_imported(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    code, output = run(f"{path}:X", "zero", out=tmp_path / "out")
    assert code == 1
    assert "broken.py:X" in output
    assert words in output
    assert not (tmp_path / "out").exists()


def test_what_is_refused_before_anything_is_played(file: Path, tmp_path: Path) -> None:
    code, output = run(f"{file}:Cheat", out=tmp_path / "out")
    assert code == 1
    assert "is privileged" in output
    code, output = run(f"{file}:Fragile", out=tmp_path / "out")
    assert code == 1
    assert "RuntimeError: not today" in output
    with pytest.raises(ValueError, match=r"'foo' is unknown.*; known: patience"):
        make_principal(f"{file}:Fragile,foo=3", 3, 10)
    with pytest.raises(ValueError, match="as in name=value, once"):
        parse("elimination,delta=0.1,delta=0.2")
    with pytest.raises(ValueError, match="has no class 'Foo'"):
        parse("policy.npz:Foo")
    assert not (tmp_path / "out").exists()
