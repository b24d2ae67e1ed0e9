"""Ray gives the same bytes as processes on this machine, also when a node dies, or a principal crashes its worker."""

import importlib.util
from pathlib import Path

import pytest

import baselines
from baselines.benchmark import blocks, ray, sweep
from baselines.benchmark.blocks import attempt
from baselines.benchmark.manifest import versions
from baselines.benchmark.plan import make_plan
from baselines.benchmark.store import locked
from baselines.tasks import tasks

from .helpers import contents

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

OWN = """
import os, time
import beside
from baselines import Principal
from baselines.scripted.simple import Zero
class Slow(Zero):
    def rounds(self):
        time.sleep(0.2)
        yield from super().rounds()
class Crashes(Principal):
    def rounds(self):
        os._exit(1)
class Loops(Principal):
    def rounds(self):
        while True:
            time.sleep(1)  # leaves the cores to other tests
"""

# A node that is gone is noticed within seconds; Ray's own settings take half a minute.
LOOKS = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
HEAD = {"num_cpus": 1, "include_dashboard": False, "_system_config": LOOKS}


def test_a_cluster_that_loses_a_node_and_principals_that_crash_or_never_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "beside.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(Path(baselines.__file__).parents[1]))
    monkeypatch.chdir(tmp_path)  # the file is named as this process finds it; the nodes can't
    monkeypatch.setattr(blocks, "ROUNDS", 200)  # four seeds
    good, crashing = ["own.py:Slow", "elimination", "oracle"], "own.py:Crashes"
    planned, endless = make_plan(tasks("smoke"), [*good, crashing], 12), make_plan(tasks("smoke"), ["own.py:Loops"], 12)
    sweep.run(make_plan(tasks("smoke"), good, 12), tmp_path / "local", "pa-bench run", sweep.Engine(workers=1))
    from ray.cluster_utils import Cluster  # here: it takes long, and one worker alone needs it

    machines = Cluster(initialize_head=True, head_node_args=HEAD)
    try:
        second = machines.add_node(num_cpus=1)
        with locked(tmp_path / "ray") as store:
            store.enter(planned.blocks, "pa-bench run", planned.described)
            store.enter(endless.blocks, "pa-bench run", endless.described)
            done = sweep.Engine("ray", address=machines.address).play(planned.blocks, planned.described)
            results = [next(done)]
            machines.remove_node(second, allow_graceful=False)
            results += done
            results += sweep.Engine("ray", address=machines.address, timeout=1).play(endless.blocks, endless.described)
            for result in results:
                store.keep(result)
    finally:
        machines.shutdown()
    expected = [*planned.blocks, *endless.blocks]
    assert sorted(result.block.id for result in results) == sorted(block.id for block in expected)
    assert contents(tmp_path / "ray" / "blocks") == contents(tmp_path / "local" / "blocks")
    failures = contents(tmp_path / "ray" / "failures")
    assert len(failures) == 6
    for name, text in failures.items():
        assert (b"its process died 3 times" if "Crashes" in name else b"it took more than 1 seconds") in text


def test_without_an_address_ray_is_started_here(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def init(address: str, **options: object) -> None:
        calls.append((address, options["num_cpus"]))
        raise InterruptedError

    monkeypatch.setattr("ray.init", init)
    with pytest.raises(InterruptedError):
        next(sweep.Engine("ray", workers=3).play([], {}))
    assert calls == [("local", 3)]


def test_a_node_with_another_version_plays_nothing() -> None:
    (block,) = make_plan(tasks("smoke"), ["zero"], 1).blocks
    here = versions()
    assert ray._play(block, {}, here | {"code": "another"}, 60) == here
    assert ray._play(block, {}, here, 60) == (attempt(block).data, None)


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"'ray' needs Ray, which is not installed\. In a clone .*pip install"):
        sweep.run(make_plan(tasks("smoke"), [], 1), tmp_path / "out", "", sweep.Engine("ray"))
    assert not list(tmp_path.iterdir())
