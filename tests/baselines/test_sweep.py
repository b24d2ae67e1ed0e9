"""Sweeps, killed in every way: the same command goes on, to the same bytes."""

import contextlib
import io
import json
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
import pa_env
from baselines.__main__ import app
from baselines.benchmark import blocks, pool, sweep
from baselines.benchmark.blocks import Block, BlockResult, attempt
from baselines.benchmark.plan import custom_task, make_plan
from baselines.benchmark.results import read
from baselines.benchmark.store import StoreError, locked
from baselines.tasks import SUITES, task, tasks

from .helpers import contents, python

SEEDS, PRINCIPALS = 60, ("zero", "elimination,constants=practical", "oracle", "ipa")
SWEEP = """
from pathlib import Path
from baselines.benchmark import blocks, sweep
from baselines.benchmark.plan import make_plan
from baselines.tasks import tasks
blocks.ROUNDS = 1000
planned = make_plan(tasks("k5-t1000-uniform"), {principals!r}, {seeds})
sweep.run(planned, Path({out!r}), "pa-bench run", sweep.Engine(workers=2), quiet=True)
"""


@pytest.fixture
def a_seed_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "ROUNDS", 1)


def kept(directory: Path) -> dict[str, tuple[int, int]]:
    """Every block in a folder, with what changes if it is written again."""
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in (directory / "blocks").glob("*.parquet")}


def run(out: Path, principals: list[str], seeds: int = 2, workers: int = 1) -> list[Path]:
    planned = make_plan(tasks("smoke"), principals, seeds)
    return sweep.run(planned, out, "pa-bench run", sweep.Engine(workers=workers), quiet=True)


# -------------------------------------------------------------------------------------- what is played


def test_the_first_block_of_everything_comes_first() -> None:
    planned = make_plan(tasks("smoke", "k5-t1e4-uniform"), ["zero", "ipa", "zero"], None).blocks
    assert [(block.principal, block.seeds[0], len(block.seeds)) for block in planned] == [
        *(("zero", 0, 2), ("ipa", 0, 2), ("zero", 0, 16), ("ipa", 0, 16), ("zero", 16, 14), ("ipa", 16, 14))
    ]
    assert [block.principal for block in make_plan(tasks("smoke"), [], 1).blocks] == list(task("smoke").principals)


@pytest.mark.parametrize("spec", ["elimination,delta=7x", "linear", "nowhere.py:Haggler"])
def test_a_principal_that_cannot_be_made_is_refused_before_anything_is_played(spec: str) -> None:
    with pytest.raises(ValueError, match=f"{spec} can't play task smoke: "):
        make_plan(tasks("smoke"), ["zero", spec], 1)


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seeds = 0 must be an integer at least 1"):
        make_plan(tasks("smoke"), [], 0)
    planned = make_plan(tasks("smoke"), [], 1)
    for engine, message in (
        (sweep.Engine("rai"), r"engine = 'rai' is unknown \(did you mean 'ray'\?\)"),
        (sweep.Engine(address="auto"), "address = 'auto' is for engine = 'ray'"),
        (sweep.Engine(timeout=0), "timeout = 0 must be a finite number above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            sweep.run(planned, tmp_path / "out", "", engine)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ValueError, match=f"address = '{nobody}' must be that of a Ray cluster: .*refused"):
            sweep.run(planned, tmp_path / "out", "", sweep.Engine("ray", address=nobody))
    assert not list(tmp_path.iterdir())


def test_time_left_weighs_blocks_by_their_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[Progress] = []

    class Watched(Progress):
        def __enter__(self) -> Progress:
            bars.append(self)
            return super().__enter__()

    def play_none(missing: list[Block], *_: object) -> Iterator[BlockResult]:
        (bar,) = bars[0].tasks
        for block in missing:
            yield BlockResult(block, None, "not played")
            shown.append((bar.percentage, bar.fields["count"]))

    shown: list[tuple[float, int]] = []
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setattr("rich.progress.Progress", Watched)
    monkeypatch.setattr(pool, "play_in_processes", play_none)
    sweep.run(make_plan(tasks("smoke", "k5-t1e7-uniform"), ["zero"], 1), tmp_path / "out", "pa-bench run")
    assert 0 < shown[0][0] < 2  # one of two blocks, and nearly nothing of the rounds
    assert shown == [(shown[0][0], 1), (100, 2)]
    assert bars[0].speed_estimate_period >= 600


def test_lines_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], a_seed_a_block: None
) -> None:
    monkeypatch.setattr(sweep, "EVERY", 0.0)
    planned = make_plan(tasks("smoke"), ["zero", "ipa"], 2)
    for quiet, expected in ((False, 4), (True, 0)):
        out = tmp_path / str(quiet)
        sweep.run(planned, out, "pa-bench run", sweep.Engine(workers=1), quiet=quiet)
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == expected
    assert not lines
    sweep.run(planned, tmp_path / "False", "pa-bench run")
    assert capsys.readouterr().err == (
        "To play: 0 episodes, 0 rounds, in 0 blocks (2 principals, 1 tasks); 4 are there already.\n"
    )


# -------------------------------------------------------------------------------------- killed


def test_a_sweep_killed_again_and_again_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "ROUNDS", 1000)  # a seed a block, in the sweep too
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    planned = make_plan(tasks("k5-t1000-uniform"), PRINCIPALS, SEEDS)
    with locked(whole) as store:  # without any engine
        store.enter(planned.blocks, "pa-bench run", planned.described)
        for block in planned.blocks:
            store.keep(attempt(block))
    before: dict[str, tuple[int, int]] = {}
    for least, kind in ((1, signal.SIGTERM), (110, signal.SIGKILL)):  # blocks there at the moment of death
        with python(SWEEP.format(principals=PRINCIPALS, seeds=SEEDS, out=str(killed))) as process:
            end = time.monotonic() + 60
            while process.poll() is None and len(kept(killed)) < least and time.monotonic() < end:
                time.sleep(0.001)
            assert process.poll() is None, process.communicate()
            workers = descendants(process.pid)
            process.send_signal(kind)
        wait_for_the_end_of(workers)
        after = kept(killed)
        assert least <= len(after) < len(planned.blocks)
        assert {name: after[name] for name in before} == before  # nothing is played twice
        before = after
    assert sweep.run(planned, killed, "pa-bench run", sweep.Engine(workers=2)) == []
    assert {name: kept(killed)[name] for name in before} == before
    assert contents(killed) == contents(whole)
    assert len(kept(killed)) == len(planned.blocks)


def descendants(pid: int) -> list[int]:
    """Workers, the server that forks them, and the tracker of resources."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [each for child in children if alive(child) for each in descendants(child)]


def wait_for_the_end_of(processes: list[int]) -> None:
    """Whoever plays blocks must not outlive the command."""
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


def test_a_killed_worker_is_replaced(tmp_path: Path, a_seed_a_block: None) -> None:
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
        with open({deaths!r}, "a") as file:
            file.write("x")
        os._exit(1)
"""


def test_a_principal_that_crashes_its_process_is_given_up(tmp_path: Path, a_seed_a_block: None) -> None:
    own, out = tmp_path / "own.py", tmp_path / "out"
    own.write_text(CRASHES.format(deaths=str(tmp_path / "deaths")))
    principals = ["--principal", f"{own}:Crashes", "--principal", "zero"]
    arguments = ["--task", "smoke", *principals, "--seeds", "20", "--workers", "2", "--out", str(out)]
    shown = CliRunner().invoke(app, ["run", *arguments])
    assert shown.exit_code == 1
    assert "20 blocks failed" in shown.stderr
    assert f"{own}:Crashes in task smoke, seeds " in shown.stderr
    run(tmp_path / "whole", ["zero"], 20)
    assert contents(out / "blocks") == contents(tmp_path / "whole" / "blocks")
    failures = contents(out / "failures")
    assert len(failures) == 20
    assert all(b"its process died 3 times" in text for text in failures.values())
    assert sum(b"was given up" in text for text in failures.values()) >= 18
    assert 3 <= len((tmp_path / "deaths").read_text()) <= 6  # two processes at a time


def test_processes_that_cannot_even_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_serve", os.abort)
    with pytest.raises(StoreError, match="die as soon as they start: is memory short"):
        run(tmp_path / "out", ["zero"])
    assert sorted(contents(tmp_path / "out")) == ["benchmark.json", "lock"]
    with pytest.raises(StoreError, match="die as soon as they start: is memory short"):
        pool.call(60, int, "3")


def test_a_worker_says_nothing_of_compilations() -> None:
    """Its words would stand in the progress bar of the process that shows it."""

    def said() -> str:
        from pa_env.kernel import compiling

        compiling.PATIENCE, terminal = 0.01, io.StringIO()
        terminal.isatty = lambda: True  # type: ignore[method-assign]
        with contextlib.redirect_stderr(terminal), compiling.compilation():
            time.sleep(0.2)
        return terminal.getvalue()

    assert pool.call(60, said) == ""


def test_a_terminal_is_told_of_compilations_before_the_bar(tmp_path: Path) -> None:
    """Once, by a sweep and by a comparison, and only where no machine code is kept."""
    code = """
import baselines
from pathlib import Path
from baselines.benchmark import sweep
from baselines.benchmark.plan import make_plan
from baselines.tasks import tasks
if {sweep}:
    sweep.run(make_plan(tasks("smoke"), ["zero"], 1), Path({out!r}), "pa-bench run", sweep.Engine(workers=1))
else:
    baselines.compare(["zero"], "smoke", seeds=1)
"""
    for sweeps in (True, False):
        environment = os.environ | {"FORCE_COLOR": "1", "NUMBA_CACHE_DIR": str(tmp_path / f"cache {sweeps}")}
        said = []
        for folder in "12":
            program = code.format(sweep=sweeps, out=str(tmp_path / folder))
            words = [sys.executable, "-c", program]
            said.append(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stderr)
        assert said[0].count("ompiling the game for this machine, some ten seconds for each kind of agent") == 1
        assert said[0].index("ompiling") < said[0].index("0%")
        assert "ompiling" not in said[1]


def test_a_failure_that_a_kill_left_behind_goes(tmp_path: Path) -> None:
    """As when the command is killed after it has written a block that had failed before."""
    run(tmp_path, ["zero"])
    done, other = (tmp_path / "failures" / f"smoke--{name}--0.txt" for name in ("zero", "ipa"))
    done.write_text("Traceback: long ago")
    other.write_text("Traceback: of a block that is not asked for")
    before = kept(tmp_path)
    assert run(tmp_path, ["zero"]) == []
    assert kept(tmp_path) == before
    assert not done.exists()
    assert other.exists()


# -------------------------------------------------------------------------------------- other ways to fail


def test_a_failing_principal_fails_its_own_blocks(tmp_path: Path, a_seed_a_block: None) -> None:
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
    assert len(run(tmp_path / "out", specs[:1])) == 2  # they are tried again


def test_a_full_disk(tmp_path: Path) -> None:
    """Files can't grow beyond 4 kB: the manifest fits, a block does not."""
    code = (
        "import resource; from baselines.benchmark.blocks import Block, attempt; from baselines.tasks import task\n"
        "attempt(Block(task('smoke'), 'zero', range(1)))  # compiles what the processes will need\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    )
    out = tmp_path / "out"
    with python(code + SWEEP.format(principals=("zero",), seeds=1, out=str(out))) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "File too large; earlier files are complete, and kept" in errors
    assert kept(out) == {}
    assert sorted(contents(out)) == ["benchmark.json", "lock"]
    sweep.run(make_plan(tasks("k5-t1000-uniform"), ("zero",), 1), out, "pa-bench run", sweep.Engine(workers=1))
    assert len(kept(out)) == 1


@pytest.mark.parametrize(
    ("started", "signals"),
    [(2, 1), (4, 1), (4, 2)],
    ids=["while the server starts", "while workers start", "twice"],
)
def test_ctrl_c(tmp_path: Path, started: int, signals: int) -> None:
    """As a terminal sends it: to the command and to every process that it started."""
    out = tmp_path / "out"
    arguments = ["run", "--task", "k5-t1e6-uniform", "--principal", "epsilon-greedy", "--seeds", "9", "--out", str(out)]
    environment = os.environ | {"PYTHONPATH": str(Path(baselines.__file__).parent.parent)}
    command = [sys.executable, "-m", "baselines", *arguments, "--workers", "2"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        end = time.monotonic() + 60
        while len(descendants(process.pid)) < started and time.monotonic() < end:
            time.sleep(0.01)
        workers = descendants(process.pid)
        assert len(workers) >= started, process.communicate()
        for _ in range(signals):
            os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.splitlines()[-1:] == [
        "Stopped. Files on disk are complete, and commands that resume continue from there."
    ]
    assert "Traceback" not in errors
    wait_for_the_end_of(workers)


# -------------------------------------------------------------------------------------- the command line


def test_the_command_plays_and_prints(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["run", "--task", "smoke", "--workers", "1", "--out", str(tmp_path / "out")])
    assert shown.exit_code == 0, shown.output
    assert all(principal in shown.output for principal in task("smoke").principals)
    assert len(kept(tmp_path / "out")) == len(task("smoke").principals)
    assert "To play: 6 episodes, 300 rounds, in 3 blocks" in shown.stderr
    before = contents(tmp_path / "out" / "blocks")
    again = CliRunner().invoke(app, ["run", "--task", "smoke", "--out", str(tmp_path / "out")])
    assert again.exit_code == 0
    assert contents(tmp_path / "out" / "blocks") == before


def test_the_command_tells_mistakes_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments, message in (
        (["--task", "smokke"], "did you mean 'smoke'"),
        (["--task", "smoke", "--principal", "iap"], "did you mean 'ipa'"),
        (["--task", "smoke", "--out", str(tmp_path / "file")], "can't be written to"),
    ):
        shown = CliRunner().invoke(app, ["run", *arguments])
        assert shown.exit_code == 1
        assert isinstance(shown.exception, SystemExit)
        assert message in shown.stderr


def test_the_command_says_what_failed(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("from baselines import Principal\nclass Lazy(Principal):\n    pass\n")
    arguments = ["--task", "smoke", "--principal", f"{own}:Lazy", "--seeds", "1", "--out", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, ["run", *arguments, "--workers", "1"])
    assert shown.exit_code == 1
    assert "1 blocks failed" in shown.stderr
    assert "NotImplementedError: Lazy must define rounds()" in shown.stderr


OWN = """
import pa_env
from baselines import Principal, hold

class Stubborn:
    name = "stubborn"
    def __init__(self, arm=1):
        self.arm = arm
    def reset(self, n_arms, rng):
        self.means = [0.0] * n_arms
    def choose(self, incentives):
        return self.arm
    def learn(self, arm, reward):
        pass

def easy(rng):
    return pa_env.IID(mu=rng.random(4), theta=[0.0, 1.0, 0.0, 0.0])

class Payer(Principal):
    name = "payer"
    def rounds(self):
        yield hold(1, 0.5, rounds=self.horizon)
"""


def test_agents_instances_and_principals_of_ones_own(tmp_path: Path) -> None:
    own, out = tmp_path / "own.py", tmp_path / "out"
    own.write_text(OWN)
    game = ["--agent", f"{own}:Stubborn,arm=1", "--instance", f"{own}:easy", "--arms", "4", "--horizon", "30"]
    words = ["run", *game, "--principal", f"{own}:Payer", "--seeds", "3", "--out", str(out)]
    shown = CliRunner().invoke(app, [*words, "--workers", "1", "--quiet"])
    assert shown.exit_code == 0, shown.output
    found = read(out)
    final = found.rows[found.rows["rounds"] == 30].set_index("principal")
    assert final["task"].unique().tolist() == ["k4-t30-easy-stubborn,arm=1"]
    assert final["agent"].unique().tolist() == ["stubborn,arm=1"]
    assert final["expected_utility"].to_dict() == {"payer": 15.0}
    before = kept(out)
    own.write_text(OWN + "# changed\n")
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 1
    assert "was played before its agent or instance was changed: name a new folder by --out" in shown.stderr
    assert kept(out) == before
    shown = CliRunner().invoke(app, [*words, "--overwrite", "--workers", "1", "--quiet"])
    assert shown.exit_code == 0
    assert all(kept(out)[name] != before[name] for name in before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--agent", "opl"], "agent = 'opl' is unknown"),
        (["--instance", "unform"], "instance = 'unform' is unknown"),
        (["--instance", "ipa-k5", "--arms", "4"], "instance has 5 arms, but this game has n_arms = 4"),
        (["--agent", "nowhere.py:Agent"], "agent = 'nowhere.py:Agent': there is no file nowhere.py"),
        (["--agent", "exploratory,c=3"], "'c' is unknown"),
        (["--agent", "ols", "--seeds", "1"], "agent = 'ols' needs linear rewards"),
    ],
)
def test_a_bad_setting_is_named(tmp_path: Path, options: list[str], message: str) -> None:
    shown = CliRunner().invoke(app, ["run", *options, "--principal", "zero", "--out", str(tmp_path / "out")])
    assert shown.exit_code == 1
    assert message in shown.stderr
    assert not (tmp_path / "out").exists()


def test_a_setting_is_the_task_of_its_name() -> None:
    assert custom_task("exploratory,c0=0.3", "clustered", 7, 3000, None) == task("k7-t3000-clustered-exploratory-c0.3")
    assert custom_task(None, "unit-ball", None, 200, None) == task("d3-k5-t200-linear")
    assert custom_task(None, "ipa-k5", None, 200, None) == task("k5-t200-ipa-k5")


def test_options_from_a_file(tmp_path: Path) -> None:
    config, out = tmp_path / "sweep.toml", tmp_path / "out"
    config.write_text('task = "smoke"\nprincipal = ["zero", "ipa"]\nseeds = 3\nfinal_only = true\n')
    words = ["run", "--config", str(config), "--seeds", "2", "--workers", "1", "--quiet", "--out", str(out)]
    shown = CliRunner().invoke(app, words)
    assert shown.exit_code == 0, shown.output
    assert len(read(out).rows) == 2 * 2
    (command,) = read(out).manifest["commands"]
    assert command.endswith("--task smoke --principal zero --principal ipa --final-only")
    for text, message in (("tsk = 3", "option in .*: 'tsk' is unknown|tsk"), ("task = [", "Error: ")):
        config.write_text(text)
        shown = CliRunner().invoke(app, words)
        assert shown.exit_code == 1
        assert re.search(message, shown.stderr)


def listed(*options: str) -> list[list[str]]:
    shown = CliRunner().invoke(app, ["list", *options])
    assert shown.exit_code == 0
    lines = [line.split("\t") for line in shown.output.splitlines()]
    assert {len(line) for line in lines} == {4}
    return lines


def test_list_shows_suites_first_and_tasks_when_asked() -> None:
    lines = listed()
    assert [line[1] for line in lines[: len(SUITES)]] == list(SUITES)
    assert {line[0] for line in lines} == {"suite", "principal", "agent", "instance"}
    assert len(lines) < 60
    assert not any(":`" in line[3] for line in lines)
    assert [line[2] for line in lines if line[:2] == ["agent", "exploratory"]] == [
        "c0=1.0, exponent=0.5, exploration=uniform, ties=lowest, initial=0.0"
    ]
    short = listed("--suite", "short")
    assert [line[1] for line in short if line[0] == "task"] == list(SUITES["short"])
    assert len(short) == len(SUITES["short"])
    assert len(listed("--all")) == len(lines) + len(SUITES["all"])
    as_json = CliRunner().invoke(app, ["list", "--suite", "short", "--json"])
    assert [list(item.values()) for item in json.loads(as_json.output)] == short
    assert CliRunner().invoke(app, ["list", "--suite", "shrt"]).exit_code == 1
    assert [line[:2] for line in listed("exploratory")] == [["principal", "exploratory"], ["agent", "exploratory"]]
    assert listed("k3-t100-uniform")[0][0] == "task"
    shown = CliRunner().invoke(app, ["list", "ipaa"])
    assert shown.exit_code == 1
    assert "name = 'ipaa' is unknown (did you mean 'ipa'?)" in shown.stderr


def test_list_fits_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    text = re.sub(r"\x1b\[\d*m", "", CliRunner().invoke(app, ["list"]).output)
    lines = text.splitlines()
    assert lines[0] == "suites"
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 80
    names = {line.split()[0] for line in lines if line.startswith("  ")}
    assert names == {*SUITES, *baselines.principals(), *pa_env.agents(), *pa_env.families()}
    assert "unknown_initial_means" not in text
    assert "c0=1.0" in CliRunner().invoke(app, ["list", "exploratory"]).output


def test_a_principal_may_have_the_name_of_its_agent() -> None:
    planned = make_plan((task("k5-t1e4-uniform-exploratory"),), ("exploratory",), 1)
    assert planned.described["exploratory"].label == "exploratory"
