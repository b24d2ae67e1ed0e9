"""Ray gives the same bytes as processes on this machine, also when a node dies, or a principal crashes its worker."""

from pathlib import Path

import pytest

from baselines.benchmark import engines, sweep, versions
from baselines.benchmark.cells import attempt
from baselines.benchmark.store import locked
from baselines.tasks import tasks

pytest.importorskip("ray", reason="Ray is not installed")
from ray.cluster_utils import Cluster

from .helpers import contents

OWN = """
import time
from baselines.scripted.simple import Zero
class Slow(Zero):
    def rounds(self):
        time.sleep(0.2)
        yield from super().rounds()
"""


def test_a_cluster_that_loses_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)  # the file is named as this process finds it; the nodes can't
    monkeypatch.setattr(engines, "CHUNK_CELLS", 4)
    cells = sweep.plan(tasks("tiny"), ["own.py:Slow", "elimination", "oracle"], 12)
    sweep.run(cells, tmp_path / "local", "pa-bench run", workers=1)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        with locked(tmp_path / "ray") as store:
            store.enter(cells, "pa-bench run")
            done = engines.ray(cells, store, 1, cluster.address)
            first = next(done)
            cluster.remove_node(second, allow_graceful=False)
            rest = list(done)
    finally:
        cluster.shutdown()
    assert sorted(cell.id for cell, failed in [first, *rest] if not failed) == sorted(cell.id for cell in cells)
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


CRASHES = """
import os
from baselines import Principal
class Crashes(Principal):
    def rounds(self):
        os._exit(1)
"""


def test_a_principal_that_crashes_its_worker_fails_its_own_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(CRASHES)
    monkeypatch.setattr(engines, "RETRIES", 1)
    cells = sweep.plan(tasks("tiny"), [f"{tmp_path / 'own.py'}:Crashes", "zero"], 2)
    failures = sweep.run(cells, tmp_path / "ray", "pa-bench run", engine="ray", workers=1)
    sweep.run(sweep.plan(tasks("tiny"), ["zero"], 2), tmp_path / "local", "pa-bench run", workers=1)
    assert contents(tmp_path / "ray" / "cells") == contents(tmp_path / "local" / "cells")
    assert [path.name.rsplit("--")[-1] for path in sorted(failures)] == ["0.txt", "1.txt"]
    assert all("its process died 2 times" in path.read_text() for path in failures)


def test_a_node_with_another_version_plays_nothing(tmp_path: Path) -> None:
    cells = sweep.plan(tasks("tiny"), ["zero"], 1)
    here = versions.versions()
    assert engines._play_all(cells, {}, here | {"code": "another"}) == here
    (result,) = engines._play_all(cells, {}, here)
    assert result.data == attempt(cells[0]).data


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"engine = 'ray' needs Ray, which is not installed: pip install"):
        sweep.run(sweep.plan(tasks("tiny"), [], 1), tmp_path / "out", "", engine="ray")
    assert not list(tmp_path.iterdir())
