"""The README's code blocks run as they stand and print what stands below them; its table lists every name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import baselines
import pa_env

from .code_blocks import blocks

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
# Each with what it prints, if that is shown.
BLOCKS = blocks(README)
NAMES = {
    "`instance=`": pa_env.families(),
    "`agent=`": pa_env.agents(),
    "`baselines.make`": baselines.principals(),
}


def test_it_stays_short() -> None:
    assert len(README.splitlines()) <= 130
    assert max(len(line) for line in README.splitlines()) <= 120


def test_its_numbers_are_true() -> None:
    assert f"{len(baselines.principals())} principals and {len(pa_env.agents())} agents" in README


def test_every_block_is_found() -> None:
    assert len(BLOCKS) == README.count("```python") >= 3
    assert sum(bool(shown) for _, shown in BLOCKS) == README.count("```text") >= 2


@pytest.mark.parametrize(("block", "shown"), BLOCKS, ids=range(len(BLOCKS)))
def test_readme_block_runs(block: str, shown: str, tmp_path: Path) -> None:
    # In a process of its own, away from the repository, as a reader would run it; but training is short.
    command = [sys.executable, "-W", "error", "-c", block.replace("2_000_000", "2_000")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if shown:
        assert done.stdout == shown


def column(heading: str) -> set[str]:
    """What looks like a name in the column with this heading."""
    rows = [line.split("|") for line in README.splitlines() if line.startswith("|")]
    head = next(i for i, row in enumerate(rows) if any(heading in cell for cell in row))
    place = next(i for i, cell in enumerate(rows[head]) if heading in cell)
    rules = [i for i, row in enumerate(rows) if i > head + 1 and set("".join(row)) <= set("-:")]  # of later tables
    cells = [row[place] for row in rows[head + 2 : rules[0] - 1 if rules else None]]
    return {name for cell in cells for name in re.findall(r"`([a-z0-9-]+)`", cell)}


@pytest.mark.parametrize("heading", NAMES)
def test_the_readme_lists_every_name_and_no_other(heading: str) -> None:
    listed, known = column(heading), set(NAMES[heading])
    assert listed <= known
    assert known <= listed
