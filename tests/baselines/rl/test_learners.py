"""The table of learners: every learner runs, nothing is trained twice, and what fails is shown as failed."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")
pytest.importorskip("sb3_contrib", reason="the extra [train] is not installed")

from typer.testing import CliRunner

from baselines.__main__ import app
from baselines.reproduce import learners
from baselines.reproduce.learners import LEARNERS


@pytest.fixture(autouse=True)
def few_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "COPIES", 8)


def test_every_learner_has_its_row_and_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = learners.run(tuple(LEARNERS), 64, 1, 4, tmp_path)
    text = learners.markdown(found, 64, 4, "pa-bench learners")
    rows = [line.split(" | ")[0].strip("| `") for line in text.splitlines() if line.startswith("| ")]
    assert rows == ["principal", *learners.SCRIPTS, *LEARNERS]
    assert "failed" not in text
    assert {name: results[0]["rounds"] for name, results in found.items()}["DQN"] == 64
    monkeypatch.setattr(learners, "trained", None)
    assert learners.run(tuple(LEARNERS), 64, 1, 4, tmp_path) == found


def test_what_fails_is_shown_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(learners.LEARNERS, "A2C", replace(LEARNERS["A2C"], options={"ent_coef": float("nan")}))
    found = learners.run(("A2C",), 320, 2, 4, tmp_path)
    assert len(found["A2C"]) == 2
    line = learners.markdown(found, 320, 4, "pa-bench learners").splitlines()[-1]
    assert line.startswith("| A2C | failed: ValueError: Expected parameter logits")
    assert line.endswith("failed, failed | 0.0 |")
    assert "\n" not in found["A2C"][0]["error"]


def test_the_command_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "LEARNERS", {"A2C": LEARNERS["A2C"]})
    arguments = ["learners", "--quick", "--out", str(tmp_path / "runs"), "--table", str(tmp_path / "table.md")]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "| A2C |" in shown.output
    assert "| A2C |" in (tmp_path / "table.md").read_text()
    assert "A2C, seed 0: " in shown.output
