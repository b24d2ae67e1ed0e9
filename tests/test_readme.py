"""The README's code blocks and the examples run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
EXAMPLES = [ROOT / "examples" / name for name in ("demo.py", "picture.py")]  # the others are in test_examples.py


def test_there_are_blocks_and_examples() -> None:
    assert len(BLOCKS) >= 5
    assert EXAMPLES


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme_block_runs(block: str, tmp_path: Path) -> None:
    # In a process of its own, away from the repository, as a reader would run it.
    run(["-c", block], tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    run([str(example)], tmp_path)


def run(arguments: list[str], folder: Path) -> None:
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_readme_lists_every_name() -> None:
    import baselines
    import pa_env

    text = (ROOT / "README.md").read_text()
    for name in (*pa_env.agents(), *pa_env.families(), *baselines.principals()):
        assert f"`{name}`" in text or f"`{name}`:" in text, name
