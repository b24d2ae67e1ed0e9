"""The table of learners: every learner runs, nothing is trained twice, and what fails is shown as failed."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("stable_baselines3", reason="the extra [train] is not installed")
pytest.importorskip("sb3_contrib", reason="the extra [learners] is not installed")

from typer.testing import CliRunner

from baselines.__main__ import app
from baselines.reproduce import learners
from baselines.reproduce.claim import Study
from baselines.reproduce.learners import LEARNERS


@pytest.fixture(autouse=True)
def few_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {name: replace(learner, copies=64) for name, learner in LEARNERS.items()}
    monkeypatch.setattr(learners, "LEARNERS", fewer)


def study(out: Path, seeds: int = 1) -> Study:
    return Study(out, "pa-bench reproduce learners", seeds=seeds, quiet=True)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "STEPS", 64)
    monkeypatch.setattr(learners, "EPISODES", 4)


def test_every_learner_has_its_row_and_is_trained_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = learners.CLAIM.measure(study(tmp_path))
    text = learners.page(evidence, tmp_path)[1]
    assert all(f"| {name} | " in "\n".join(learners.settings()) for name in LEARNERS)
    rows = [line.split(" | ")[0].strip("| `") for line in text.splitlines() if line.startswith("| ")]
    assert rows == ["principal", *learners.SCRIPTS, *LEARNERS]
    assert "failed" not in text
    assert evidence.values["DQN, 64 rounds, 4 episodes, seed 0"]["rounds"] == 64
    monkeypatch.setattr(learners, "trained", None)
    assert learners.CLAIM.measure(study(tmp_path)).values == evidence.values


def test_what_fails_is_shown_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "STEPS", 320)
    failing = replace(LEARNERS["A2C"], options={"ent_coef": float("nan")})
    monkeypatch.setattr(learners, "LEARNERS", {"A2C": failing})
    evidence = learners.CLAIM.measure(study(tmp_path, seeds=2))
    assert len(evidence.values) == 2
    line = learners.page(evidence, tmp_path)[1].splitlines()[-1]
    assert line.startswith("| A2C | failed: ValueError: Expected parameter logits")
    assert line.endswith("failed, failed | 0.0 |")
    assert not any("\n" in value["error"] for value in evidence.values.values())


def test_the_command_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "LEARNERS", {"A2C": LEARNERS["A2C"]})
    arguments = ["reproduce", "learners", "--quick", "--out", str(tmp_path / "runs"), "--page", str(tmp_path / "p.md")]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "| A2C |" in (tmp_path / "p.md").read_text()
    assert "A2C, 2000 rounds, 20 episodes, seed 0: " in shown.output
