"""Ray: a cluster of two nodes, one of which dies on the way, gives the same bytes as processes on this machine."""

from pathlib import Path

import pytest

from baselines.benchmark import engines, sweep
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


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"engine = 'ray' needs Ray, which is not installed: pip install"):
        sweep.run(sweep.plan(tasks("tiny"), [], 1), tmp_path / "out", "", engine="ray")
    assert not list(tmp_path.iterdir())
