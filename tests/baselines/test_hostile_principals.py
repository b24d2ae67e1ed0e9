"""Users' own principals that misbehave: each fails by itself, is named, and the others are played."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from baselines.__main__ import app
from baselines.benchmark import blocks
from baselines.benchmark.blocks import Block
from baselines.benchmark.isolation import check_can_isolate
from baselines.registry import make
from baselines.specs import parse
from baselines.tasks import task

from .helpers import contents

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


def run(*principals: str, out: Path, options: tuple[str, ...] = ("--seeds", "2")) -> tuple[int, str]:
    named = [word for principal in principals for word in ("--principal", principal)]
    shown = CliRunner().invoke(app, ["run", "--task", "smoke", "--workers", "1", "--out", str(out), *options, *named])
    return shown.exit_code, " ".join(shown.output.split())


def test_failures_stay_their_own(file: Path, tmp_path: Path) -> None:
    bad = ("Surrogate", "Interrupt", "Huge", "Garbage", "Nothing")
    code, output = run(*(f"{file}:{name}" for name in bad), "zero", out=tmp_path / "out")
    assert code == 1
    assert f"{len(bad)} blocks failed" in output
    assert len(list((tmp_path / "out" / "blocks").iterdir())) == 1
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
        make(f"{file}:Fragile,foo=3", n_arms=3, horizon=10)
    with pytest.raises(ValueError, match="as in name=value, and given once"):
        parse("elimination,delta=0.1,delta=0.2")
    with pytest.raises(ValueError, match="has no class 'Foo'"):
        parse("policy.npz:Foo")
    assert not (tmp_path / "out").exists()


HARMFUL = """
import os, sys, time
from pathlib import Path
from pa_env.game import Game
from baselines.benchmark.blocks import play_bytes
from baselines.scripted.simple import Zero

Game.totals = lambda *_: dict.fromkeys(Game.totals.__annotations__, 0.0)

class Patches(Zero):
    def rounds(self):
        Game.advance = Game.follow = Game.play_episodes = None
        yield from super().rounds()

class Wanders(Zero):
    def rounds(self):
        os.chdir("/")
        yield from super().rounds()

class Loops(Zero):
    def rounds(self):
        while True:
            pass
        yield

class Prints(Zero):
    def rounds(self):
        print("as if it were a result", flush=True)
        if not os.path.sameopenfile(1, 2):
            raise RuntimeError("what it prints goes where results go")
        yield from super().rounds()

class Asks(Zero):
    def rounds(self):
        input("who?")
        yield

def pipe():
    frame = sys._getframe()
    while frame.f_code.co_name != "_serve":
        frame = frame.f_back
    return frame.f_locals["pipe"]

class Forges(Zero):
    def rounds(self):
        data = Path("alone/blocks/smoke--ipa--0.parquet").read_bytes()
        pipe().send_bytes(bytes(16) + b"+" + data)
        yield from super().rounds()

class Borrows(Zero):
    def rounds(self):
        play_bytes.__code__ = (lambda *_: open("alone/blocks/smoke--ipa--1.parquet", "rb").read()).__code__
        yield from super().rounds()

class Stammers(Zero):
    def rounds(self):
        os.write(pipe().fileno(), b"\\0\\0\\0\\x99half a message")
        while True:
            time.sleep(1)
        yield

class EndsAtOnce(Zero):
    def __init__(self, n_arms, horizon):
        os._exit(3)
"""


@pytest.fixture
def harmful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "harmful.py").write_text(HARMFUL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(blocks, "ROUNDS", 1)  # a seed a block
    return "harmful.py"


def test_what_one_does_to_its_process_changes_nothing_for_others(harmful: str, tmp_path: Path) -> None:
    """Also to itself: a folder that it changes to is left again before its next block."""
    code, output = run(f"{harmful}:Patches", "zero", f"{harmful}:Wanders", "ipa", out=Path("out"))
    assert code == 1
    assert "2 blocks failed" in output
    assert f"{harmful}:Patches in task smoke" in output
    run("zero", "ipa", out=Path("alone"))
    found = contents(tmp_path / "out" / "blocks")
    assert len(found) == 6
    assert contents(tmp_path / "alone" / "blocks").items() <= found.items()
    assert Path.cwd() == tmp_path


def test_a_worker_answers_for_its_own_block_only(harmful: str, tmp_path: Path) -> None:
    """Not with a message of its own, nor with the table of another, nor with half of one."""
    run("zero", "ipa", out=Path("alone"))
    names = ("Forges", "Borrows", "Stammers")
    options = ("--seeds", "2", "--timeout", "1.5")
    code, _ = run("zero", *(f"{harmful}:{name}" for name in names), "ipa", out=Path("out"), options=options)
    assert code == 1
    assert contents(tmp_path / "alone" / "blocks").items() <= contents(tmp_path / "out" / "blocks").items()
    failures = contents(tmp_path / "out" / "failures")
    for name, words in zip(names, (b"sent something else", b"its principal is not", b"took more than"), strict=True):
        texts = [text for file, text in failures.items() if name in file]
        assert len(texts) == 1 + (name != "Borrows")  # whose first block is played before it can change anything
        assert all(words in text for text in texts), texts


def test_what_one_prints_is_no_output_of_the_command_and_nobody_answers_it(harmful: str, tmp_path: Path) -> None:
    code, output = run(f"{harmful}:Prints", f"{harmful}:Asks", out=Path("out"))
    assert code == 1
    assert "2 blocks failed" in output
    failures = contents(tmp_path / "out" / "failures")
    assert all("Asks" in name and b"EOFError" in text for name, text in failures.items())


def test_one_that_never_ends_is_named_and_given_up(harmful: str, tmp_path: Path) -> None:
    code, output = run("zero", out=Path("out"), options=("--seeds", "9"))
    assert code == 0
    code, output = run(f"{harmful}:Loops", "zero", out=Path("out"), options=("--seeds", "9", "--timeout", "0.5"))
    assert code == 1
    assert f"{harmful}:Loops in task smoke" in output
    assert "took more than 0.5 seconds, and was stopped" in output
    assert len(list(Path("out/blocks").iterdir())) == 9
    failures = contents(tmp_path / "out" / "failures")
    assert len(failures) == 9
    assert sum(b"was given up" in text for text in failures.values()) == 7


def test_one_that_ends_its_process_when_it_is_made(harmful: str) -> None:
    code, output = run(f"{harmful}:EndsAtOnce", "zero", out=Path("out"))
    assert code == 1
    assert f"{harmful}:EndsAtOnce can't play task smoke: it ended its process" in output
    assert not Path("out").exists()


PEEKING = """
import gc
from baselines import Principal, hold
from pa_env.game import Game

class Honest(Principal):
    def rounds(self):
        while True:
            yield hold(int(self.rng.integers(self.n_arms)), float(self.rng.random()), rounds=3)

class Peeks(Principal):
    def rounds(self):
        games = [each for each in gc.get_objects() if type(each) is Game]
        yield hold(0, 0.9 if games else 0.1, rounds=self.horizon)
"""


def test_one_that_looks_for_the_game_is_found_out_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(PEEKING)
    named = [f"{tmp_path / 'own.py'}:{name}" for name in ("Honest", "Peeks")]
    code, output = run(*named, "ipa", out=tmp_path / "out", options=("--seeds", "2", "--isolated"))
    assert code == 1
    assert "1 blocks failed" in output
    assert "Peeks in task smoke, seeds 0 to 1: played again in a process without a game, seed 0 has other" in output
    assert len(list((tmp_path / "out" / "blocks").iterdir())) == 2
    block = Block(replace(task("k3-t100-uniform"), agent="own.py:Mine"), "zero", range(1))
    with pytest.raises(ValueError, match="is for agents and instances of this package"):
        check_can_isolate([block])
