"""Sweeps, killed in every way: the same command goes on, to the same bytes."""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.progress import Progress
from typer.testing import CliRunner

import baselines
from baselines.__main__ import app
from baselines.benchmark import engines, sweep
from baselines.benchmark.cells import Cell, attempt
from baselines.benchmark.store import locked
from baselines.tasks import task, tasks

from .helpers import contents, python

SEEDS, PRINCIPALS = 60, ("zero", "elimination,constants=practical", "oracle", "ipa")
SWEEP = """
from pathlib import Path
from baselines.benchmark import sweep
from baselines.tasks import tasks
cells = sweep.plan(tasks("k5-t1000-uniform"), {principals!r}, {seeds})
sweep.run(cells, Path({out!r}), "pa-bench run", workers=2)
"""


def kept(directory: Path) -> dict[str, tuple[int, int]]:
    """Every cell in a folder, with what changes if it is written again."""
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in (directory / "cells").glob("*.parquet")}


def run(out: Path, principals: list[str], seeds: int = 2, workers: int = 1) -> list[Path]:
    return sweep.run(sweep.plan(tasks("tiny"), principals, seeds), out, "pa-bench run", workers=workers)


# -------------------------------------------------------------------------------------- what is played


def test_the_first_seed_of_everything_comes_first() -> None:
    cells = sweep.plan(tasks("tiny", "k3-t100-uniform"), ["zero", "ipa", "zero"], None)
    assert len(cells) == len(set(cells)) == 2 * (2 + 50)
    assert [cell.seed for cell in cells[:8]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [cell.principal for cell in sweep.plan(tasks("tiny"), [], 1)] == list(task("tiny").principals)


def test_chunks_keep_the_order_and_are_small() -> None:
    cells = sweep.plan(tasks("tiny", "k5-t1e4-uniform", "k5-t1e6-uniform"), ["zero"], 60)
    chunks = list(engines.chunks(cells))
    assert list(itertools.chain(*chunks)) == cells
    for chunk in chunks:
        assert len(chunk) == 1 or sum(cell.task.horizon for cell in chunk) <= engines.CHUNK_ROUNDS
        assert len(chunk) <= engines.CHUNK_CELLS


@pytest.mark.parametrize("spec", ["elimination,delta=7x", "linear", "nowhere.py:Haggler"])
def test_a_principal_that_cannot_be_made_is_refused_before_anything_is_played(spec: str) -> None:
    with pytest.raises(ValueError, match=f"{spec} can't play task tiny: "):
        sweep.plan(tasks("tiny"), ["zero", spec], 1)


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seeds = 0 must be an integer at least 1"):
        sweep.plan(tasks("tiny"), [], 0)
    cells = sweep.plan(tasks("tiny"), [], 1)
    with pytest.raises(ValueError, match=r"engine = 'rai' is unknown \(did you mean 'ray'\?\)"):
        sweep.run(cells, tmp_path / "out", "", engine="rai")
    with pytest.raises(ValueError, match="address = 'auto' is for engine = 'ray'"):
        sweep.run(cells, tmp_path / "out", "", address="auto")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ValueError, match=f"address = '{nobody}' must be that of a Ray cluster: .*refused"):
            sweep.run(cells, tmp_path / "out", "", engine="ray", address=nobody)
    assert not list(tmp_path.iterdir())


def test_time_left_weighs_cells_by_their_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Progress] = []

    class Watched(Progress):
        def __enter__(self) -> Progress:
            bars.append(self)
            return super().__enter__()

    def play_none(cells: list[Cell], *_: object) -> Iterator[engines.Done]:
        (bar,) = bars[0].tasks
        yield cells[0], False
        shown.append((bar.percentage, bar.fields["count"]))
        yield cells[1], False
        shown.append((bar.percentage, bar.fields["count"]))

    shown: list[tuple[float, int]] = []
    monkeypatch.setattr("rich.progress.Progress", Watched)
    monkeypatch.setattr(engines, "local", play_none)
    cells = sweep.plan(tasks("tiny", "k5-t1e7-uniform"), ["zero"], 1)
    sweep.run(cells, tmp_path / "out", "pa-bench run")
    assert 0 < shown[0][0] < 2  # one of two cells, and nearly nothing of the rounds
    assert shown == [(shown[0][0], 1), (100, 2)]
    assert bars[0].speed_estimate_period >= 600


# -------------------------------------------------------------------------------------- killed


def test_a_sweep_killed_again_and_again_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    cells = sweep.plan(tasks("k5-t1000-uniform"), PRINCIPALS, SEEDS)
    with locked(whole) as store:  # without any engine
        store.enter(cells, "pa-bench run")
        for cell in cells:
            store.keep(attempt(cell))
    before: dict[str, tuple[int, int]] = {}
    for least in (1, 110):  # cells there at the moment of death
        with python(SWEEP.format(principals=PRINCIPALS, seeds=SEEDS, out=str(killed))) as process:
            end = time.monotonic() + 60
            while process.poll() is None and len(kept(killed)) < least and time.monotonic() < end:
                time.sleep(0.001)
            assert process.poll() is None, process.communicate()
            workers = children(process.pid)
            process.kill()
        wait_for_the_end_of(workers)
        after = kept(killed)
        assert least <= len(after) < len(cells)
        assert {name: after[name] for name in before} == before  # nothing is played twice
        before = after
    assert sweep.run(cells, killed, "pa-bench run", workers=2) == []
    assert {name: kept(killed)[name] for name in before} == before
    assert contents(killed) == contents(whole)
    assert len(kept(killed)) == len(cells)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_for_the_end_of(processes: list[int]) -> None:
    """Whoever plays cells must not outlive the command."""
    end = time.monotonic() + 10
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not list(filter(alive, processes))


def alive(pid: int) -> bool:
    """Whether a process is there, and no zombie that nobody has asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


KILLER = """
import os, signal
from pathlib import Path
from baselines.scripted.simple import Zero

class Killer(Zero):
    '''Kills the process that plays it, {times} times in all.'''
    def rounds(self):
        deaths = Path({deaths!r})
        if len(list(deaths.iterdir())) < {times}:
            (deaths / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from super().rounds()
"""


def killer(folder: Path, times: int) -> str:
    deaths = folder / "deaths"
    deaths.mkdir()
    (folder / "killer.py").write_text(KILLER.format(deaths=str(deaths), times=times))
    return f"{folder / 'killer.py'}:Killer"


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    spec = killer(tmp_path, times=2)
    assert run(tmp_path / "out", [spec, "zero"], seeds=20, workers=2) == []
    assert len(list((tmp_path / "deaths").iterdir())) >= 2
    run(tmp_path / "whole", [spec, "zero"], seeds=20)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


CRASHES = """
import os
from baselines import Principal
class Crashes(Principal):
    def rounds(self):
        os._exit(1)
"""


def test_a_principal_that_crashes_its_process_fails_its_own_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "PATIENCE", 2)
    own, out = tmp_path / "own.py", tmp_path / "out"
    own.write_text(CRASHES)
    principals = ["--principal", f"{own}:Crashes", "--principal", "zero"]
    arguments = ["--task", "tiny", *principals, "--seeds", "2", "--workers", "2", "--out", str(out)]
    shown = CliRunner().invoke(app, ["run", *arguments])
    assert shown.exit_code == 1
    assert "2 cells failed" in shown.stderr
    run(tmp_path / "whole", ["zero"])
    assert contents(out / "cells") == contents(tmp_path / "whole" / "cells")
    failures = contents(out / "failures")
    assert [name.rsplit("--")[-1] for name in failures] == ["0.txt", "1.txt"]
    assert all(b"its process died 2 times" in text for text in failures.values())


def test_processes_that_cannot_even_start(tmp_path: Path) -> None:
    """As those of a script without a guard, which would begin the sweep again in each of them."""
    script = tmp_path / "script.py"
    script.write_text(SWEEP.format(principals=("zero",), seeds=1, out=str(tmp_path / "out")))
    environment = os.environ | {"PYTHONPATH": str(Path(baselines.__file__).parent.parent)}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "die as soon as they start: is memory short, or is this a script without" in done.stderr
    assert sorted(contents(tmp_path / "out")) == ["benchmark.json", "lock"]


def test_a_failure_that_a_kill_left_behind_goes(tmp_path: Path) -> None:
    """As when a process is killed after it has written a cell that had failed before."""
    run(tmp_path, ["zero"])
    done, other = (tmp_path / "failures" / f"tiny--{name}--0.txt" for name in ("zero", "ipa"))
    done.write_text("Traceback: long ago")
    other.write_text("Traceback: of a cell that is not asked for")
    before = kept(tmp_path)
    assert run(tmp_path, ["zero"]) == []
    assert kept(tmp_path) == before
    assert not done.exists()
    assert other.exists()


# -------------------------------------------------------------------------------------- other ways to fail


def test_a_failing_principal_fails_its_own_cells(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("""
import sys
from baselines import Principal, hold
class Raises(Principal):
    def rounds(self):
        yield hold(0, 1.0, rounds=7)
        raise RuntimeError("I give up")
class Exits(Principal):
    def rounds(self):
        sys.exit("so long")
        yield
""")
    specs = [f"{own}:Raises", "zero", f"{own}:Exits"]
    failures = run(tmp_path / "out", specs)
    assert len(kept(tmp_path / "out")) == 2
    assert len(failures) == 4
    assert sorted({re.findall(r"\w+: .*", path.read_text())[-1] for path in failures}) == [
        *("RuntimeError: I give up", "SystemExit: so long")
    ]
    assert len(run(tmp_path / "out", specs)) == 4  # they are tried again


def test_a_full_disk(tmp_path: Path) -> None:
    """Files can't grow beyond 4 kB: the manifest fits, a cell does not."""
    code = (
        "import resource; from baselines.benchmark.cells import Cell, attempt; from baselines.tasks import task\n"
        "attempt(Cell(task('tiny'), 'zero', 0))  # compiles what the processes will need\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    )
    out = tmp_path / "out"
    with python(code + SWEEP.format(principals=("zero",), seeds=1, out=str(out))) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "File too large; what was written before is whole, and kept" in errors
    assert kept(out) == {}
    assert sorted(contents(out)) == ["benchmark.json", "lock"]
    sweep.run(sweep.plan(tasks("k5-t1000-uniform"), ("zero",), 1), out, "pa-bench run", workers=1)
    assert len(kept(out)) == 1


def test_ctrl_c(tmp_path: Path) -> None:
    """As a terminal sends it: to the command and to every process that it started."""
    out = tmp_path / "out"
    arguments = ["run", "--task", "k5-t1e6-uniform", "--principal", "epsilon-greedy", "--seeds", "9", "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": str(Path(baselines.__file__).parent.parent)}
    command = [sys.executable, "-m", "baselines", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        end = time.monotonic() + 60
        while len(children(process.pid)) < 3 and time.monotonic() < end:  # with the tracker of resources
            time.sleep(0.01)
        workers = children(process.pid)
        assert len(workers) >= 2, process.communicate()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.strip() == "Stopped; what was kept on disk is whole, and commands that resume go on from there."
    wait_for_the_end_of(workers)


# -------------------------------------------------------------------------------------- the command line


@pytest.mark.parametrize("command", ["run", "list"])
def test_help_has_an_example(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"])
    assert f"python -m baselines {command}" in " ".join(shown.output.split())


def test_the_command_plays_and_prints(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["run", "--task", "tiny", "--workers", "1", "--out", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    assert all(principal in shown.output for principal in task("tiny").principals)
    assert len(kept(tmp_path / "out")) == len(task("tiny").principals) * task("tiny").seeds
    before = contents(tmp_path / "out" / "cells")
    again = CliRunner().invoke(app, ["run", "--task", "tiny", "--out", str(tmp_path / "out")])
    assert again.exit_code == 0
    assert contents(tmp_path / "out" / "cells") == before


def test_the_command_tells_mistakes_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments, message in (
        (["--task", "tinny"], "did you mean 'tiny'"),
        (["--task", "tiny", "--principal", "iap"], "did you mean 'ipa'"),
        (["--task", "tiny", "--out", str(tmp_path / "file")], "can't be written to"),
    ):
        shown = CliRunner().invoke(app, ["run", *arguments])
        assert shown.exit_code == 1
        assert isinstance(shown.exception, SystemExit)
        assert message in shown.stderr


def test_the_command_says_what_failed(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("from baselines import Principal\nclass Lazy(Principal):\n    pass\n")
    arguments = ["--task", "tiny", "--principal", f"{own}:Lazy", "--seeds", "1", "--out", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, ["run", *arguments, "--workers", "1"])
    assert shown.exit_code == 1
    assert "1 cells failed" in shown.stderr
    assert "NotImplementedError: Lazy must define rounds()" in shown.stderr


def test_list_shows_tasks_and_suites() -> None:
    shown = CliRunner().invoke(app, ["list", "--suite", "short"])
    assert shown.exit_code == 0
    text = re.sub(r"[\s│]", "", shown.output)
    assert "k3-t100-misaligned" in text
    assert "who-wins" in text
    assert CliRunner().invoke(app, ["list", "--suite", "shrt"]).exit_code == 1
