"""Tuning: killed and run again it goes on, and it never plays the seeds on which parameters are compared."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from baselines import tuning as tuning
from baselines.tuning import SPACES, TASKS, finished, loss, shipped, show, tune

from .helpers import python

pytest.importorskip("optuna", reason="optuna is not installed")


def test_a_killed_search_goes_on_to_the_same_result(tmp_path: Path) -> None:
    whole = tune("profit-target", "tiny", 5, tmp_path / "whole.journal")
    killed = tmp_path / "results" / "killed.journal"
    code = (
        "from pathlib import Path; import baselines.tuning as tuning, time; own = tuning.loss\n"
        "def slow(*a): time.sleep(0.4); return own(*a)\n"
        f"tuning.loss = slow; tuning.tune('profit-target', 'tiny', 50, Path({str(killed)!r}))"
    )
    with python(code) as process:  # leaving the block kills it
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            if killed.exists() and killed.read_text().count("\n") > 2:  # in the third trial, of 0.4 s
                break
            time.sleep(0.02)
        assert process.poll() is None, process.communicate()
        with pytest.raises(OSError, match=r"another command is writing to .*killed.journal: wait for it to end, or"):
            tune("profit-target", "tiny", 5, killed)
    resumed = tune("profit-target", "tiny", 5, killed)
    assert [trial.params for trial in finished(resumed)][:5] == [trial.params for trial in finished(whole)]
    assert [trial.value for trial in finished(resumed)][:5] == [trial.value for trial in finished(whole)]


def test_a_search_cut_anywhere_goes_on_to_the_same_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also past the trials that are drawn at random, where the sampler looks at those before."""
    monkeypatch.setattr(tuning, "loss", lambda principal, task, drawn: sum((x - 0.3) ** 2 for x in drawn.values()))

    def result(storage: Path) -> list[tuple[float, dict[str, float]]]:
        return [(trial.value, trial.params) for trial in finished(tune("profit-target", "tiny", 14, storage))]

    whole = result(tmp_path / "whole.journal")
    lines = (tmp_path / "whole.journal").read_bytes().splitlines(keepends=True)
    journal, start = tmp_path / "cut.journal", b""
    for line in (*lines, b"\n"):
        for cut in (start, start + line[: len(line) // 2], start + line[:-1]):
            journal.write_bytes(cut)
            (tmp_path / "cut.journal.lock").touch()  # as of a process that was killed while it wrote
            assert result(journal) == whole
        start += line


def test_a_finished_search_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = tune("bracket-ucb", "tiny", 3, tmp_path / "study.journal")
    monkeypatch.setattr(tuning, "loss", None)
    again = tune("bracket-ucb", "tiny", 2, tmp_path / "study.journal")
    assert len(finished(again)) == len(finished(study)) == 3


@pytest.mark.parametrize("changed", ["space", "settings", "version"])
def test_a_search_never_goes_on_from_another_ones_trials(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = tmp_path / "study.journal"
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
    show("profit-target", "tiny", 2, tmp_path / "study.journal")


def test_the_first_trial_is_the_shipped_defaults(tmp_path: Path) -> None:
    study = tune("bracket-ucb", "tiny", 1, tmp_path / "study.journal")
    assert study.trials[0].params == shipped("bracket-ucb")
    assert study.trials[0].value == loss("bracket-ucb", "tiny", shipped("bracket-ucb"))


def test_a_search_that_is_interrupted_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the first trial and in the third; the trial counts for nothing."""
    whole = tune("profit-target", "tiny", 4, tmp_path / "whole.journal")
    own = tuning.loss
    for calls in (1, 2):
        left = iter(range(calls))

        def interrupted(*arguments: Any, left: Any = left) -> float:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return own(*arguments)

        monkeypatch.setattr(tuning, "loss", interrupted if calls > 1 else lambda *_: interrupted(left=iter(())))
        with pytest.raises(KeyboardInterrupt):
            tune("profit-target", "tiny", 4, tmp_path / "study.journal")
    monkeypatch.setattr(tuning, "loss", own)
    resumed = tune("profit-target", "tiny", 4, tmp_path / "study.journal")
    assert [trial.params for trial in finished(resumed)] == [trial.params for trial in finished(whole)]
    assert finished(resumed)[0].params == shipped("profit-target")
    show("profit-target", "tiny", 4, tmp_path / "study.journal")


def test_seeds_are_kept_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds: list[int] = []
    own = tuning.simulate

    def noted(*args: object, seed: int, **settings: object) -> object:
        seeds.append(seed)
        return own(*args, seed=seed, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(tuning, "simulate", noted)
    tune("profit-target", "tiny", 2, tmp_path / "study.journal")
    assert min(seeds) >= 10**6
    seeds.clear()
    show("profit-target", "tiny", 2, tmp_path / "study.journal")
    assert {seed < 1000 for seed in seeds} == {True, False}
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
        tune("zero", "tiny", 1, tmp_path / "study.journal")
    with pytest.raises(ValueError, match=r"task = 'tinny' is unknown \(did you mean 'tiny'\?\)"):
        tune("profit-target", "tinny", 1, tmp_path / "study.journal")
    with pytest.raises(ValueError, match="trials = 0 must be an integer at least 1"):
        tune("profit-target", "tiny", 0, tmp_path / "study.journal")
    assert not list(tmp_path.iterdir())
