"""The store: cells whole or not at all, and nothing destroyed by what it finds in a folder."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import pa_env
from baselines.benchmark import versions
from baselines.benchmark.cells import Cell, Result, attempt, file_name, play, schema
from baselines.benchmark.store import Store, StoreError, locked
from baselines.tasks import TASKS, task

from .helpers import contents, python

CELLS = [Cell(task("tiny"), principal, seed) for principal in ("zero", "elimination") for seed in range(2)]


def fill(directory: Path, cells: list[Cell] = CELLS) -> None:
    with locked(directory) as store:
        store.enter(cells, "pa-bench run")
        for cell in cells:
            store.keep(attempt(cell))


# -------------------------------------------------------------------------------------- what is kept


def test_the_columns_of_a_cell() -> None:
    text, integers, numbers = "string", "int64", "double"
    expected = {
        **{"task": text, "version": integers, "principal": text, "agent": text, "c0": numbers, "instance": text},
        **{"n_arms": integers, "dim": integers, "horizon": integers, "seed": integers, "rounds": integers},
        **{"utility": numbers, "expected_utility": numbers, "regret": numbers, "regret_oracle": numbers},
        **{"regret_bar": numbers, "overpayment": numbers, "agent_regret": numbers, "regret_response": numbers},
        **{"regret_fixed": numbers, "misses": integers},
        **{"plays": "list<item: int64>", "offers": "list<item: double>", "optimal_incentives": "list<item: double>"},
    }
    assert {field.name: str(field.type) for field in schema()} == expected
    assert list(expected) == schema().names


def test_rows_are_the_run() -> None:
    cell = Cell(task("d3-k5-t1e4-linear"), "linear", 3)
    principal, game = cell.begin()
    table = play(cell).to_pandas()
    assert table["rounds"].tolist() == cell.task.checkpoints.tolist()
    assert table.loc[0, ["task", "principal", "agent", "instance"]].tolist() == [
        *("d3-k5-t1e4-linear", "linear", "ols", "unit-ball")
    ]
    numbers = table.loc[0, ["version", "n_arms", "dim", "horizon", "seed"]].tolist()
    assert numbers == [cell.task.version, 5, 3, 10_000, 3]
    exploring = Cell(task("k5-t1e6-uniform-exploratory-c0.05"), "zero", 0)
    assert play(exploring)["c0"].unique().to_pylist() == [0.05]
    assert principal.arms.tolist() == game.features[0].tolist()  # type: ignore[attr-defined]
    assert (table["plays"].map(sum) == table["rounds"]).all()
    assert {len(row) for name in ("plays", "offers", "optimal_incentives") for row in table[name]} == {5}


def test_pandas_opens_all_cells(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "cells" / ".77.killed.parquet.tmp").write_text("half a fi")
    table = pd.read_parquet(tmp_path / "cells")
    assert len(table) == len(CELLS) * len(task("tiny").checkpoints)
    assert set(table["principal"]) == {"zero", "elimination"}
    assert table.columns.tolist() == schema().names


def test_the_same_cells_are_the_same_bytes(tmp_path: Path) -> None:
    fill(tmp_path / "a")
    fill(tmp_path / "b", CELLS[::-1])
    a, b = contents(tmp_path / "a"), contents(tmp_path / "b")
    assert len([name for name in a if name.startswith("cells/")]) == len(CELLS)
    assert {n: d for n, d in a.items() if n.startswith("cells")} == {
        n: d for n, d in b.items() if n.startswith("cells")
    }


def test_every_cell_has_a_file_of_its_own() -> None:
    specs = ["a/b.py:C", "a_b.py_C", "a:b.py:C", "x" * 300, "x" * 301, "é", "ü", *task("k5-t1e4-uniform").principals]
    names = [file_name(spec) for spec in specs]
    assert len(set(names)) == len(specs)
    assert all(len(name) < 100 and name.isascii() and "/" not in name for name in names)
    assert Cell(task("tiny"), "elimination,delta=0.1", 7).id == "tiny--elimination,delta=0.1--7"


def test_a_failure_keeps_its_traceback_until_the_cell_is_played(tmp_path: Path) -> None:
    cell = CELLS[0]
    with locked(tmp_path) as store:
        store.enter([cell], "pa-bench run")
        store.keep(Result(cell, None, "Traceback: no"))
        assert not store.has(cell)
        assert store.failure(cell).read_text() == "Traceback: no"
        store.keep(attempt(cell))
        assert store.has(cell)
        assert not store.failure(cell).exists()


def test_what_benchmark_json_says(tmp_path: Path) -> None:
    fill(tmp_path)
    noted = json.loads((tmp_path / "benchmark.json").read_text())
    assert noted["version"] == pa_env.__version__
    assert {"format", "code", "python", "numpy", "numba", "scipy"} <= set(noted)
    assert noted["commands"] == ["pa-bench run"]
    assert noted["tasks"] == {"tiny": {"version": 1, "seeds": 2}}
    assert noted["principals"] == {"zero": None, "elimination": None}


def test_a_folder_is_extended(tmp_path: Path) -> None:
    fill(tmp_path)
    before = contents(tmp_path)
    fill(tmp_path)
    assert contents(tmp_path) == before
    fill(tmp_path, [Cell(task("tiny"), "oracle", 4), Cell(task("k3-t100-uniform"), "zero", 0)])
    after = contents(tmp_path)
    assert {name: after[name] for name in before if name != "benchmark.json"} == {
        name: data for name, data in before.items() if name != "benchmark.json"
    }
    assert json.loads(after["benchmark.json"])["tasks"] == {
        **{"tiny": {"version": 1, "seeds": 5}, "k3-t100-uniform": {"version": 1, "seeds": 1}}
    }


# -------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"garbage" * 100,
        lambda data: data[:300] + bytes([data[300] ^ 255]) + data[301:],
        lambda data: data.replace(b"overpayment", b"\xffverpayment"),
        lambda data: attempt(CELLS[1]).data,
        lambda data: attempt(Cell(task("k3-t100-uniform"), "zero", 0)).data,
    ],
    ids=["empty", "truncated", "garbage", "a flipped byte", "names not UTF-8", "another seed", "another task"],
)
def test_a_damaged_cell(tmp_path: Path, damage: object) -> None:
    fill(tmp_path)
    path = Store(tmp_path).cell(CELLS[0])
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=rf"{path.name} is damaged \(.*\): delete this file and run the same"):
        Store(tmp_path).has(CELLS[0])
    assert contents(tmp_path) == before
    path.unlink()
    fill(tmp_path)
    assert Store(tmp_path).has(CELLS[0])


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("format", 0, "format 0"),
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
    with pytest.raises(StoreError, match="has results of version 1 of task tiny, and this is 2"):
        fill(tmp_path, [Cell(replace(TASKS["tiny"], version=2), "zero", 0)])
    assert contents(tmp_path) == before


def test_a_damaged_manifest(tmp_path: Path) -> None:
    fill(tmp_path)
    manifest = tmp_path / "benchmark.json"
    noted = json.loads(manifest.read_text())
    wrong = {"commands": 3, "tasks": [], "principals": "zero", "version": None}
    texts = ['{"format": ', "[]", "{}", *(json.dumps(noted | {key: value}) for key, value in wrong.items())]
    texts += [json.dumps(noted | {"commands": [3]}), json.dumps(noted | {"tasks": {"tiny": {"version": "1"}}})]
    for text in texts:
        manifest.write_text(text)
        with pytest.raises(StoreError, match=r"benchmark.json is damaged \(.*\): mend it"):
            fill(tmp_path)
        assert manifest.read_text() == text


def test_the_digest_of_the_code_follows_every_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    digest, sources = versions.versions.__wrapped__, versions.sources()
    before = digest()["code"]
    for name, path in sources.items():
        (tmp_path / "changed.py").write_bytes(path.read_bytes() + b"\n")
        monkeypatch.setattr(versions, "sources", lambda name=name: sources | {name: tmp_path / "changed.py"})
        assert digest()["code"] != before


def test_the_digest_has_all_the_code_that_plays_a_cell() -> None:
    code = """
import sys
from baselines.benchmark.cells import Cell
from baselines.tasks import tasks
for made in tasks("k3-t100-uniform", "d3-k5-t1e4-linear"):
    for principal in made.principals:
        Cell(made, principal, 0).begin()
print(*(name for name in sys.modules if name.partition(".")[0] in ("pa_env", "baselines")))
"""
    with python(code) as process:
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    loaded = set(output.split())
    digested = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in versions.sources()}
    assert loaded >= {"baselines.rl.trained", "baselines.scripted.steiner", "pa_env.kernel"}
    beside = {"baselines", "baselines.benchmark", "baselines.files", "baselines.tasks"}
    assert loaded - digested == beside


def test_a_principal_whose_file_was_changed(tmp_path: Path) -> None:
    file, out = tmp_path / "own.py", tmp_path / "out"
    good = "from baselines.scripted.simple import Zero\n"
    file.write_text(good)
    cell = Cell(task("tiny"), f"{file}:Zero", 0)
    with locked(out) as store:
        store.enter([cell], "x")
        store.keep(Result(cell, None, "Traceback"))
    file.write_text(good + "# mended\n")
    fill(out, [cell])  # a failed one may be mended
    file.write_text(good + "# changed\n")
    before = contents(out)
    with pytest.raises(StoreError, match=r"was played before the file of .*own.py:Zero was changed"):
        fill(out, [cell])
    assert contents(out) == before


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
    fill(tmp_path, CELLS[:2])
    before = contents(tmp_path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with locked(tmp_path) as store, pytest.raises(StoreError, match="No space left on device; what was written"):
        store.keep(attempt(CELLS[2]))
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


def test_what_killed_commands_left_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / ".77.benchmark.json.tmp").write_text("{")
    fill(tmp_path)
    (tmp_path / "cells" / ".77.x.parquet.tmp").write_text("half")
    before = set(contents(tmp_path))
    with locked(tmp_path):
        pass
    assert before - set(contents(tmp_path)) == {"cells/.77.x.parquet.tmp"}
