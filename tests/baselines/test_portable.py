"""What only POSIX has is not needed: Windows must be able to import every module, and to play blocks."""

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import baselines

from .helpers import python

MODULES = [module.name for module in pkgutil.walk_packages(baselines.__path__, "baselines.")]


def test_every_module_can_be_imported_where_there_is_no_posix() -> None:
    code = f"""
import signal
del signal.pthread_sigmask
sys.modules.update(fcntl=None, resource=None)
for name in {MODULES}:
    try:
        __import__(name)
    except ModuleNotFoundError as error:  # of an extra that is not installed
        if error.name in ("fcntl", "resource"):
            raise
    except SystemExit:  # the command line says by itself what it needs
        assert name == "baselines.__main__"
"""
    with python(code) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def test_blocks_are_played_where_nothing_can_be_forked_and_signals_cannot_be_blocked(tmp_path: Path) -> None:
    """And by a script without ``if __name__ == "__main__"``: its workers do not run it again."""
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(f"""
import signal
from pathlib import Path
del signal.pthread_sigmask
from baselines.benchmark import pool, sweep
from baselines.benchmark.plan import make_plan
from baselines.tasks import tasks
pool.FORKS = False
sweep.run(make_plan(tasks("smoke"), ["zero"], 2), Path({str(out)!r}), "x", sweep.Engine(workers=1))
""")
    environment = os.environ | {"PYTHONPATH": str(Path(baselines.__file__).parent.parent)}
    command = [sys.executable, "-W", "error", str(script)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0, process.stderr
    assert len(list((out / "blocks").glob("*.parquet"))) == 1
