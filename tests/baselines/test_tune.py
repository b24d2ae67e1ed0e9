"""Tuning: killed and run again it goes on, and it never plays the seeds on which parameters are compared."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from baselines import tuning as tuning
from baselines.tuning import SPACES, TASKS, finished, loss, shipped, show, tune

from .helpers import python

pytest.importorskip("optuna", reason="optuna is not installed")


def parameters(study: Any) -> list[dict[str, float]]:
    return [trial.params for trial in finished(study)]


def test_a_search_that_was_killed_or_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed in the second trial, in a process of its own, then Ctrl-C in the first one after that."""
    storage = tmp_path / "results" / "study.sqlite3"
    code = (
        "from pathlib import Path; import baselines.tuning as tuning, os; own = tuning.loss; calls = iter(range(1))\n"
        "def once(*a): return own(*a) if next(calls, None) is not None else os.kill(os.getpid(), 9)\n"
        f"tuning.loss = once; tuning.tune('profit-target', 'tiny', 50, Path({str(storage)!r}))"
    )
    with python(code) as process:
        process.wait(timeout=120)
    assert process.returncode == -9, process.communicate()

    def stopped(*_: Any) -> float:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tuning, "loss", stopped)
        with pytest.raises(KeyboardInterrupt):
            tune("profit-target", "tiny", 4, storage)
    study = tune("profit-target", "tiny", 4, storage)
    assert len(finished(study)) == 4
    assert parameters(study)[0] == shipped("profit-target")
    assert len({tuple(each.values()) for each in parameters(study)}) == 4  # nothing is drawn twice


def test_the_first_trial_is_the_shipped_defaults_even_if_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: Any) -> float:
        raise KeyboardInterrupt

    storage = tmp_path / "study.sqlite3"
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "loss", stopped)
        with pytest.raises(KeyboardInterrupt):
            tune("bracket-ucb", "tiny", 1, storage)
    (trial,) = finished(tune("bracket-ucb", "tiny", 1, storage))
    assert trial.params == shipped("bracket-ucb")
    assert trial.value == loss("bracket-ucb", "tiny", shipped("bracket-ucb"))


def test_a_file_that_is_no_search_is_left_alone(tmp_path: Path) -> None:
    storage = tmp_path / "notes.txt"
    storage.write_text("mine")
    with pytest.raises(ValueError, match=r"storage = '.*notes.txt' is there, and is no SQLite file: name another file"):
        tune("profit-target", "tiny", 1, storage)
    assert storage.read_text() == "mine"


def test_a_finished_search_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = tune("bracket-ucb", "tiny", 3, tmp_path / "study.sqlite3")
    monkeypatch.setattr(tuning, "loss", None)
    again = tune("bracket-ucb", "tiny", 2, tmp_path / "study.sqlite3")
    assert len(finished(again)) == len(finished(study)) == 3


@pytest.mark.parametrize("changed", ["space", "settings", "version"])
def test_a_search_never_goes_on_from_another_ones_trials(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "study.sqlite3"
    before = tune("profit-target", "tiny", 2, storage)
    with monkeypatch.context() as patch:
        if changed == "space":
            narrower = {name: ends for name, ends in SPACES["profit-target"].items() if name != "forgetting"}
            patch.setitem(SPACES, "profit-target", narrower)
        elif changed == "settings":
            patch.setitem(TASKS, "tiny", (replace(TASKS["tiny"][0], runs=3), *TASKS["tiny"][1:]))
        else:
            patch.setattr("pa_env.__version__", "99.0")
        other = tune("profit-target", "tiny", 1, storage)
        show("profit-target", "tiny", 1, storage)
    assert len(finished(other)) == 1
    assert finished(other)[0].params.keys() == finished(before)[0].params.keys() - (
        {"forgetting"} if changed == "space" else set()
    )
    monkeypatch.setattr(tuning, "loss", None)
    assert len(finished(tune("profit-target", "tiny", 2, storage))) == 2  # the first is there, as it was


def test_a_bar_is_shown_as_long_as_anything_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Progress] = []
    own = tuning.loss

    class Noted(Progress):
        def __enter__(self) -> "Noted":
            shown.append(self)
            super().__enter__()
            return self

        def __exit__(self, *error: Any) -> None:
            super().__exit__(*error)
            shown.remove(self)

    def watched(*arguments: Any) -> float:
        assert [progress.finished for progress in shown] == [False]
        return own(*arguments)

    monkeypatch.setattr("rich.progress.Progress", Noted)
    monkeypatch.setattr(tuning, "loss", watched)
    show("profit-target", "tiny", 2, tmp_path / "study.sqlite3")


def test_seeds_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played: list[int] = []
    own = tuning.simulate

    def noted(*args: object, seeds: range, **settings: object) -> object:
        played.extend(seeds)
        return own(*args, seeds=seeds, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(tuning, "simulate", noted)
    tune("profit-target", "tiny", 2, tmp_path / "study.sqlite3")
    assert min(played) >= 10**6
    played.clear()
    show("profit-target", "tiny", 2, tmp_path / "study.sqlite3")
    assert {seed < 1000 for seed in played} == {True, False}
    printed = capsys.readouterr().out
    assert all(name in printed for name in ("evaluation seeds", *SPACES["profit-target"]))


def test_shipped_defaults_lie_in_their_ranges() -> None:
    for principal, space in SPACES.items():
        for name, value in shipped(principal).items():
            assert space[name][0] <= value <= space[name][1], (principal, name)


def test_settings_are_sound() -> None:
    for task in TASKS.values():
        assert all(setting.reference > 0 and setting.runs < 10**6 for setting in task)


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"principal = 'zero' is unknown.*; known: profit-target"):
        tune("zero", "tiny", 1, tmp_path / "study.sqlite3")
    with pytest.raises(ValueError, match=r"task = 'tinny' is unknown \(did you mean 'tiny'\?\)"):
        tune("profit-target", "tinny", 1, tmp_path / "study.sqlite3")
    with pytest.raises(ValueError, match="trials = 0 must be an integer at least 1"):
        tune("profit-target", "tiny", 0, tmp_path / "study.sqlite3")
    assert not list(tmp_path.iterdir())
