"""Ray gives the same bytes as processes on this machine, also when a node dies, or a principal crashes its worker."""

import importlib.util
from pathlib import Path

import pytest

from baselines.benchmark import blocks, ray, sweep, versions
from baselines.benchmark.blocks import attempt
from baselines.benchmark.plan import make_plan
from baselines.benchmark.store import locked
from baselines.tasks import tasks

from .helpers import contents

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

OWN = """
import time
from baselines.scripted.simple import Zero
class Slow(Zero):
    def rounds(self):
        time.sleep(0.2)
        yield from super().rounds()
"""

# A node that is gone is noticed within seconds; Ray's own settings take half a minute.
LOOKS = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
HEAD = {"num_cpus": 1, "include_dashboard": False, "_system_config": LOOKS}


def test_a_cluster_that_loses_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text("import beside\n" + OWN)
    (tmp_path / "beside.py").touch()
    monkeypatch.chdir(tmp_path)  # the file is named as this process finds it; the nodes can't
    monkeypatch.setattr(blocks, "ROUNDS", 200)  # four seeds
    planned = make_plan(tasks("tiny"), ["own.py:Slow", "elimination", "oracle"], 12)
    sweep.run(planned, tmp_path / "local", "pa-bench run", sweep.Engine(workers=1))
    from ray.cluster_utils import Cluster  # here: it takes long, and one worker alone needs it

    machines = Cluster(initialize_head=True, head_node_args=HEAD)
    try:
        second = machines.add_node(num_cpus=1)
        with locked(tmp_path / "ray") as store:
            store.enter(planned.blocks, "pa-bench run", planned.described)
            done = sweep.Engine("ray", address=machines.address).play(planned.blocks, planned.described)
            results = [next(done)]
            machines.remove_node(second, allow_graceful=False)
            results += done
            for result in results:
                store.keep(result)
    finally:
        machines.shutdown()
    assert sorted(result.block.id for result in results) == sorted(block.id for block in planned.blocks)
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


CRASHES = """
import os, time
from baselines import Principal
class Crashes(Principal):
    def rounds(self):
        os._exit(1)
class Loops(Principal):
    def rounds(self):
        while True:
            time.sleep(1)  # leaves the cores to other tests
"""


def test_principals_that_crash_or_never_end_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text(CRASHES)
    monkeypatch.setattr(blocks, "ROUNDS", 1)
    planned = make_plan(tasks("tiny"), [f"{tmp_path / 'own.py'}:{name}" for name in ("Crashes", "Loops")] + ["zero"], 3)
    engine = sweep.Engine("ray", workers=2, timeout=10)
    failures = sweep.run(planned, tmp_path / "ray", "pa-bench run", engine)
    sweep.run(make_plan(tasks("tiny"), ["zero"], 3), tmp_path / "local", "pa-bench run", sweep.Engine(workers=1))
    assert contents(tmp_path / "ray" / "blocks") == contents(tmp_path / "local" / "blocks")
    texts = {path.name: path.read_text() for path in failures}
    assert len(texts) == 6
    for name, text in texts.items():
        assert ("its process died 3 times" if "Crashes" in name else "it took more than 10 seconds") in text


def test_a_node_with_another_version_plays_nothing() -> None:
    (block,) = make_plan(tasks("tiny"), ["zero"], 1).blocks
    here = versions.versions()
    assert ray._play(block, {}, here | {"code": "another"}, 60) == here
    assert ray._play(block, {}, here, 60) == (attempt(block).data, None)


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"engine = 'ray' needs Ray, which is not installed: pip install"):
        sweep.run(make_plan(tasks("tiny"), [], 1), tmp_path / "out", "", sweep.Engine("ray"))
    assert not list(tmp_path.iterdir())
