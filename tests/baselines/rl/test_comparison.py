"""The comparison of trained and scripted principals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import baselines
from baselines.benchmark.results import read
from baselines.benchmark.statistics import mean_interval
from baselines.registry import make
from baselines.reproduce import trained as comparison
from baselines.tasks import task

SMALL = replace(task("k3-t100-uniform"), principals=("zero", "epsilon-greedy", "oracle", "ppo"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scores")


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, dict[str, comparison.Scores]]:
    return comparison.run([SMALL], 20, folder, "pa-bench compare", workers=1, quiet=True)


def test_scores_are_those_of_the_episodes(found: dict[str, dict[str, comparison.Scores]]) -> None:
    scores = found[SMALL.name]
    assert list(scores) == [*SMALL.principals, *comparison.YARDSTICKS.values()]
    for name, own in scores.items():
        principal = make(name, n_arms=SMALL.n_arms, horizon=SMALL.horizon)
        run = baselines.simulate(principal, SMALL.instance, SMALL.make_agent(), seeds=range(20), checkpoints=[100])
        for score, values in own.items():
            assert values.tolist() == getattr(run, score)[:, -1].tolist()


def test_what_is_kept_is_a_benchmark_and_not_played_again(
    found: dict[str, dict[str, comparison.Scores]], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert read(folder).rows["rounds"].unique().tolist() == [100]
    again = comparison.run([SMALL], 15, folder, "pa-bench compare", workers=1)
    assert "To play: 0 episodes" in capfd.readouterr().err
    assert again[SMALL.name]["zero"]["utility"].tolist() == found[SMALL.name]["zero"]["utility"][:15].tolist()


def test_a_task_without_trained_principals_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="task = 'tiny' has no trained principals to compare"):
        comparison.run([SMALL, task("tiny")], 20, tmp_path / "out", "pa-bench compare", workers=1)
    assert not (tmp_path / "out").exists()


def test_means_as_json(found: dict[str, dict[str, comparison.Scores]]) -> None:
    shown = json.loads(comparison.as_json(found))[SMALL.name]["zero"]["utility"]
    values = found[SMALL.name]["zero"]["utility"]
    assert shown["mean"] == values.mean()
    assert shown["half_width"] == np.subtract(*mean_interval(values)[::-1]) / 2


def test_the_tables(found: dict[str, dict[str, comparison.Scores]]) -> None:
    text = comparison.markdown(found, "pa-bench compare")
    scores = found[SMALL.name]
    gain = np.mean(scores["ppo"]["expected_utility"] - scores["zero"]["expected_utility"])
    assert gain > 0
    line = next(line for line in text.splitlines() if line.startswith("| k3-t100-uniform | ppo "))
    assert f"+{gain:.3f} ±" in line or f"+{gain:.2f} ±" in line
    assert scores["zero"]["regret"].mean() < scores["epsilon-greedy"]["regret"].mean()
    ratio = scores["ppo"]["regret"].mean() / scores["zero"]["regret"].mean()
    assert f"| {ratio:.3f} [" in line
    assert "| epsilon-greedy | 20 |" in text
    told = scores["knows-beliefs,objective=utility"]["expected_utility"]
    way = np.mean(told - scores["zero"]["expected_utility"])
    assert f"| {gain / way:.0%} |" in line


def test_across_tasks_utility_is_relative_to_the_best_script() -> None:
    earned = {
        "one": {"zero": 10.0, "ipa": 8.0, "ppo": 12.0, "oracle": 99.0},
        "two": {"zero": 4.0, "ipa": 5.0, "ppo": 4.5},
    }
    found = {
        name: {spec: {"expected_utility": np.full(3, mean)} for spec, mean in means.items()}
        for name, means in earned.items()
    }
    rows = [line.strip("| ").split(" | ") for line in comparison.across(found).splitlines()[2:]]
    assert rows == [
        ["ppo", "1.050", "0.900", "two"],
        ["zero", "0.900", "0.800", "two"],
        ["ipa", "0.900", "0.800", "one"],
    ]


def test_a_script_that_is_no_worse_than_the_yardstick_leaves_nothing_to_close() -> None:
    scores = {name: {"regret": np.full(2, value)} for name, value in (("a", 1.0), ("b", 2.0), ("knows-beliefs", 3.0))}
    assert comparison.share(scores, "a", "b", "regret") == "-"
    scores["knows-beliefs"]["regret"][:] = 0.5
    assert comparison.share(scores, "a", "b", "regret") == "67%"
    scores["knows-beliefs"]["regret"][:] = 9.0, -6.0  # its mean is lower, but not measurably so
    assert comparison.share(scores, "a", "b", "regret") == "-"
