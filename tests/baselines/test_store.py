"""The store: blocks whole or not at all, and nothing destroyed by what it finds in a folder."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import baselines
import pa_env
from baselines import rl
from baselines.benchmark import blocks, manifest, results
from baselines.benchmark.blocks import Block, BlockResult, attempt, blocks_of, file_name, play, schema
from baselines.benchmark.results import read
from baselines.benchmark.store import Store, StoreError, locked
from baselines.registry import describe
from baselines.tasks import TASKS, task

from .helpers import contents, python

BLOCKS = [Block(task("smoke"), principal, range(2)) for principal in ("zero", "elimination")]


def fill(directory: Path, blocks: list[Block] = BLOCKS, overwrite: bool = False) -> None:
    with locked(directory) as store:
        store.enter(blocks, "pa-bench run", {block.principal: describe(block.principal) for block in blocks}, overwrite)
        for block in blocks:
            if not store.done(block):
                store.keep(attempt(block))


# -------------------------------------------------------------------------------------- what is kept


def test_the_columns_of_a_block() -> None:
    text, integers, numbers = "string", "int64", "double"
    expected = {
        **{"task": text, "principal": text, "agent": text, "instance": text},
        **{"n_arms": integers, "dim": integers, "horizon": integers, "seed": integers, "rounds": integers},
        **{"utility": numbers, "expected_utility": numbers, "regret": numbers, "regret_oracle": numbers},
        **{"regret_bar": numbers, "overpayment": numbers, "agent_regret": numbers, "regret_response": numbers},
        **{"regret_fixed": numbers, "misses": integers},
        **{"plays": "list<item: int64>", "offers": "list<item: double>", "optimal_incentives": "list<item: double>"},
    }
    assert {field.name: str(field.type) for field in schema()} == expected
    assert list(expected) == schema().names


@pytest.mark.parametrize(
    ("name", "principal"),
    [("smoke", "zero"), ("smoke", "profit-target"), ("d3-k5-t200-linear", "linear"), ("k4-t90-gap-ucb", "ipa")],
)
def test_rows_are_the_runs(name: str, principal: str) -> None:
    """A block is the same as its seeds played one by one."""
    block = Block(task(name), principal, range(3, 6))
    table = play(block).to_pandas()
    marks = block.task.checkpoints
    assert table["seed"].tolist() == np.repeat([3, 4, 5], marks.size).tolist()
    assert table["rounds"].tolist() == 3 * marks.tolist()
    for seed in block.seeds:
        one = play(Block(task(name), principal, [seed])).to_pandas()
        assert_frame_equal(table[table["seed"] == seed].reset_index(drop=True), one)
    game = {"n_arms": block.task.n_arms, "horizon": block.task.horizon, "dim": block.task.dim}
    made = baselines.simulate(principal, block.task.instance, block.task.agent, game["horizon"], 4, marks)
    if block.task.dim or game["n_arms"] == 5:
        assert table.loc[table["seed"] == 4, "regret"].tolist() == made.regret.tolist()
    labels = {"task": name, "principal": principal, "agent": block.task.agent, "instance": block.task.instance}
    assert table[list(labels)].drop_duplicates().to_dict("records") == [labels]
    assert (table["plays"].map(sum) == table["rounds"]).all()
    assert {len(row) for column in blocks.OF_ARMS for row in table[column]} == {block.task.n_arms}


def test_pandas_opens_all_blocks(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "blocks" / ".77.killed.parquet.tmp").write_text("half a fi")
    table = pd.read_parquet(tmp_path / "blocks")
    assert len(table) == 4 * len(task("smoke").checkpoints)
    assert set(table["principal"]) == {"zero", "elimination"}
    assert table.columns.tolist() == schema().names


def test_labels_cost_little() -> None:
    made = attempt(Block(replace(task("smoke"), curve=False), "zero", range(1000))).data
    assert made is not None
    numbers = 1000 * 8 * (1 + 6 + 1 + 3 * 3)  # seed, scores, misses, and three numbers for each of three arms
    assert len(made) < 1.25 * numbers


def test_the_same_blocks_are_the_same_bytes(tmp_path: Path) -> None:
    fill(tmp_path / "a")
    fill(tmp_path / "b", BLOCKS[::-1])
    a, b = (contents(tmp_path / name / "blocks") for name in "ab")
    assert a == b
    assert len(a) == len(BLOCKS)


def test_blocks_are_aligned_and_hold_about_as_many_rounds() -> None:
    for horizon, size in ((2, 2**17), (200, 1024), (1000, 256), (10**4, 16), (10**6, 1)):
        found = list(blocks_of(replace(task("smoke"), horizon=horizon), "zero", range(2 * size + 1)))
        assert [(block.seeds[0], len(block.seeds)) for block in found] == [(0, size), (size, size), (2 * size, 1)]


def test_a_part_of_a_block_is_played_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "ROUNDS", 200)  # four seeds
    first, more = (list(blocks_of(task("smoke"), "zero", range(seeds))) for seeds in (6, 11))
    fill(tmp_path / "grown", first)
    path = Store(tmp_path / "grown").block(first[0])
    before = path.stat().st_mtime_ns
    assert [Store(tmp_path / "grown").has(block) for block in more] == [True, False, False]
    fill(tmp_path / "grown", more)
    fill(tmp_path / "at once", more)
    assert contents(tmp_path / "grown") == contents(tmp_path / "at once")
    assert path.stat().st_mtime_ns == before
    fill(tmp_path / "grown", first)  # fewer seeds: nothing is lost
    assert contents(tmp_path / "grown") == contents(tmp_path / "at once")


def test_every_block_has_a_file_of_its_own() -> None:
    specs = ["a/b.py:C", "a_b.py_C", "a:b.py:C", "x" * 300, "x" * 301, "é", "ü", *task("k5-t1e4-uniform").principals]
    names = [file_name(spec) for spec in specs]
    assert len(set(names)) == len(specs)
    assert all(len(name) < 100 and name.isascii() and "/" not in name for name in names)
    assert Block(task("smoke"), "elimination,delta=0.1", range(7, 9)).id == "smoke--elimination,delta=0.1--7"


def test_a_failure_keeps_its_traceback_until_the_block_is_played(tmp_path: Path) -> None:
    block = BLOCKS[0]
    with locked(tmp_path) as store:
        store.enter([block], "pa-bench run", {"zero": describe("zero")})
        store.keep(BlockResult(block, None, "Traceback: no"))
        assert not store.has(block)
        assert store.failure(block).read_text() == "zero in task smoke, seeds 0 to 1:\nTraceback: no"
        store.keep(attempt(block))
        assert store.has(block)
        assert not store.failure(block).exists()


def test_what_benchmark_json_says(tmp_path: Path) -> None:
    fill(tmp_path)
    noted = json.loads((tmp_path / "benchmark.json").read_text())
    assert noted["version"] == pa_env.__version__
    assert {"format", "code", "python", "numpy", "numba", "scipy"} <= set(noted)
    assert noted["commands"] == ["pa-bench run"]
    game = {"agent": "empirical-mean", "instance": "uniform", "n_arms": 3, "dim": None, "horizon": 50}
    assert noted["tasks"] == {"smoke": {"version": 1, **game, "curve": True, "own": {}, "seeds": 2}}
    assert noted["principals"] == {name: {"label": name, "digest": None} for name in ("zero", "elimination")}


def test_a_folder_is_extended(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    fill(tmp_path)
    assert contents(tmp_path) == before
    fill(tmp_path, [Block(task("smoke"), "oracle", range(5)), Block(task("k3-t100-uniform"), "zero", range(1))])
    after = contents(tmp_path)
    assert {name: after[name] for name in before if name != "benchmark.json"} == {
        name: data for name, data in before.items() if name != "benchmark.json"
    }
    noted = json.loads(after["benchmark.json"])["tasks"]
    assert {name: entry["seeds"] for name, entry in noted.items()} == {"smoke": 5, "k3-t100-uniform": 1}


# -------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"garbage" * 100,
        lambda data: data[:300] + bytes([data[300] ^ 255]) + data[301:],
        lambda data: data.replace(b"overpayment", b"\xffverpayment"),
        lambda data: attempt(Block(task("smoke"), "zero", range(1, 3))).data,
        lambda data: attempt(BLOCKS[1]).data,
        lambda data: attempt(Block(task("k3-t100-uniform"), "zero", range(2))).data,
    ],
    ids=["empty", "truncated", "garbage", "a flipped byte", "not UTF-8", "other seeds", "another one", "another task"],
)
def test_a_damaged_block(tmp_path: Path, damage: object) -> None:
    fill(tmp_path)
    path = Store(tmp_path).block(BLOCKS[0])
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=rf"{path.name} is damaged \(.*\): delete this file and run the same"):
        Store(tmp_path).has(BLOCKS[0])
    assert contents(tmp_path) == before
    path.unlink()
    fill(tmp_path)
    assert Store(tmp_path).has(BLOCKS[0])


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("format", 0, "format 0"),
        ("format", 2, r"format 2 \(a file for each seed; it can't be read any more\)"),
        ("version", "0.0.1", "version 0.0.1"),
        ("code", "f00" * 20, "the game's and the principals' code f00f00f00f00"),
        ("numpy", "1.26.4", "numpy 1.26.4"),
        ("numba", "0.50", "numba 0.50"),
        ("scipy", "1.0", "scipy 1.0"),
    ],
)
def test_results_of_another_version(tmp_path: Path, key: str, value: object, what: str) -> None:
    fill(tmp_path)
    manifest = tmp_path / "benchmark.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {key: value}))
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=rf"has results of {what}, and this is .*: name a new folder by --out"):
        fill(tmp_path)
    assert contents(tmp_path) == before


def test_results_of_another_version_of_a_task(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    for change, what in (({"version": 2}, r"version 1 \(now 2\)"), ({"agent": "oracle"}, r"agent .* \(now oracle\)")):
        other = Block(replace(TASKS["smoke"], **change), "zero", range(2))  # type: ignore[arg-type]
        with pytest.raises(StoreError, match=rf"was played with {what}: name a new folder by --out, or replay it with"):
            fill(tmp_path, [other])
        assert contents(tmp_path) == before
    fill(tmp_path, [other], overwrite=True)
    assert list(contents(tmp_path / "blocks")) == ["smoke--zero--0.parquet"]
    assert Store(tmp_path).has(other)


def test_results_of_another_version_are_replayed_if_told_so(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    manifest = tmp_path / "benchmark.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"code": "f00" * 20}))
    for path in (tmp_path / "blocks").iterdir():
        path.write_text("played by other code")
    fill(tmp_path, overwrite=True)
    assert contents(tmp_path) == before


def test_a_damaged_manifest(tmp_path: Path) -> None:
    fill(tmp_path)
    manifest = tmp_path / "benchmark.json"
    noted = json.loads(manifest.read_text())
    wrong = {"commands": 3, "tasks": [], "principals": "zero", "version": None}
    texts = ['{"format": ', "[]", "{}", *(json.dumps(noted | {key: value}) for key, value in wrong.items())]
    texts += [json.dumps(noted | {"commands": [3]}), json.dumps(noted | {"tasks": {"smoke": {"version": "1"}}})]
    for text in texts:
        manifest.write_text(text)
        with pytest.raises(StoreError, match=r"benchmark.json is damaged \(.*\): mend it"):
            fill(tmp_path)
        assert manifest.read_text() == text


def test_the_digest_of_the_code_follows_every_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digest, sources = manifest.versions.__wrapped__, manifest.sources()
    before = digest()["code"]
    for name, path in sources.items():
        (tmp_path / "changed.py").write_bytes(path.read_bytes() + b"\n")
        monkeypatch.setattr(manifest, "sources", lambda name=name: sources | {name: tmp_path / "changed.py"})
        assert digest()["code"] != before


def test_the_digest_has_all_the_code_that_plays_a_block() -> None:
    code = """
import sys
from baselines.benchmark.blocks import Block, episodes_of
from baselines.tasks import tasks
for made in tasks("k3-t100-uniform", "d3-k5-t1e4-linear"):
    for principal in made.principals:
        episodes_of(Block(made, principal, range(1))).begin(0)
print(*(name for name in sys.modules if name.partition(".")[0] in ("pa_env", "baselines")))
"""
    with python(code) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    loaded = set(output.split())
    digested = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in manifest.sources()}
    assert loaded >= {"baselines.rl.trained", "baselines.scripted.paper.steiner", "pa_env.kernel"}
    texts = {"baselines.benchmark", *(f"baselines.scripted{folder}" for folder in ("", ".ours", ".paper", ".peers"))}
    beside = {"baselines", "baselines.comparison", "baselines.players", "baselines.benchmark.pool"}
    beside |= {"baselines.rl", "baselines.simulation", "baselines.text"}
    assert loaded - digested == texts | beside


def test_a_principal_whose_file_was_changed(tmp_path: Path) -> None:
    file, out = tmp_path / "policy.npz", tmp_path / "out"
    weights = (Path(rl.__file__).parent / "weights" / "ppo.npz").read_bytes()
    file.write_bytes(weights)
    block = Block(task("smoke"), str(file), range(2))
    with locked(out) as store:
        store.enter([block], "x", {block.principal: describe(block.principal)})
        store.keep(BlockResult(block, None, "Traceback"))
    file.write_bytes(weights + b" ")
    fill(out, [block, *BLOCKS])  # a failed one may be mended
    file.write_bytes(weights)
    before = contents(out)
    with pytest.raises(StoreError, match=r"was played before .*policy.npz was changed: .* --overwrite"):
        fill(out, [block])
    assert contents(out) == before
    kept = Store(out).block(BLOCKS[0]).stat().st_mtime_ns
    fill(out, [block], overwrite=True)
    assert json.loads((out / "benchmark.json").read_text())["principals"][str(file)]["digest"]
    assert contents(out / "blocks") == {name[7:]: before[name] for name in before if name.startswith("blocks/")}
    assert Store(out).block(BLOCKS[0]).stat().st_mtime_ns == kept


def test_a_folder_with_other_things(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match=r"has other things in it \(thesis.tex, ...\) and no benchmark.json"):
        fill(tmp_path)
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


def test_folders_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for directory in (tmp_path / "file", tmp_path / "file" / "results", Path("/proc/results")):
        with pytest.raises(StoreError, match=r"can't be written to: .*; name another folder by --out"):
            fill(directory)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, BLOCKS[:1])
    before = contents(tmp_path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with locked(tmp_path) as store, pytest.raises(StoreError, match="No space left on device; earlier files are"):
        store.keep(attempt(BLOCKS[1]))
    assert contents(tmp_path) == before


# -------------------------------------------------------------------------------------- one command at a time


def test_two_commands_at_once(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from baselines.benchmark.store import locked
with locked(Path({str(tmp_path)!r})):
    print("mine", flush=True)
    time.sleep(60)
"""
    with python(code) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mine\n", process.communicate()
        with pytest.raises(StoreError, match="another command is writing to"), locked(tmp_path):
            pass
        process.kill()
        process.wait()
    with locked(tmp_path), pytest.raises(StoreError, match="another command is writing to"), locked(tmp_path):
        pass
    fill(tmp_path)


def test_results_are_read_while_a_run_adds_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it begins with a new task between any two steps."""
    fill(tmp_path)
    new = [Block(task(name), "zero", range(1)) for name in ("k3-t100-uniform", "k3-t120-uniform")]

    def read_between(path: Path) -> dict[str, Any]:
        monkeypatch.undo()  # fill reads it too
        fill(tmp_path, new[:1])
        notes = manifest.read(path)
        fill(tmp_path, new[1:])
        return notes

    monkeypatch.setattr(results.manifest, "read", read_between)
    before = read(tmp_path)
    assert set(before.rows["task"]) == {"smoke"}
    assert set(read(tmp_path).rows["task"]) == {"smoke", *(block.task.name for block in new)}


def test_a_folder_that_is_moved_while_a_run_writes_to_it(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    with locked(before) as store:
        store.enter(BLOCKS, "pa-bench run", {block.principal: describe(block.principal) for block in BLOCKS})
        store.keep(attempt(BLOCKS[0]))
        before.rename(after)
        with pytest.raises(StoreError, match=r"can't be written: .*; earlier files are complete"):
            store.keep(attempt(BLOCKS[1]))
    assert not before.exists()
    fill(after)
    fill(tmp_path / "whole")
    assert contents(after) == contents(tmp_path / "whole")


@pytest.mark.parametrize("time", [1, 4_000_000_000])
def test_the_times_of_files_do_not_matter(tmp_path: Path, time: int) -> None:
    """As after a clock was set back, or forward."""
    fill(tmp_path, BLOCKS[:1])
    for path in tmp_path.rglob("*"):
        os.utime(path, (time, time))
    fill(tmp_path)
    assert Store(tmp_path).block(BLOCKS[0]).stat().st_mtime == time  # not played again
    assert len(read(tmp_path).rows) == 2 * 2 * task("smoke").checkpoints.size


def test_what_killed_commands_left_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / ".77.benchmark.json.tmp").write_text("{")
    fill(tmp_path)
    (tmp_path / "blocks" / ".77.x.parquet.tmp").write_text("half")
    before = set(contents(tmp_path))
    with locked(tmp_path):
        pass
    assert before - set(contents(tmp_path)) == {"blocks/.77.x.parquet.tmp"}
