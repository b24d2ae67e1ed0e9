"""The comparison of trained and scripted principals."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import baselines
from baselines.registry import is_trained, make
from baselines.reproduce import trained
from baselines.reproduce.claim import Evidence, Study
from baselines.tasks import task, tasks

PLAYED = trained.played  # before a fixture takes its place
SMALL = replace(task("k3-t100-uniform"), principals=("zero", "epsilon-greedy", "oracle", "ppo"))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained, "played", lambda _: (SMALL,))
        yield trained.CLAIM.measure(Study(tmp_path_factory.mktemp("out"), "unused", seeds=20, workers=1, quiet=True))


@pytest.fixture
def tables(evidence: Evidence) -> trained.Tables:
    return trained.score_tables(trained.plan(evidence.study), evidence.scores)


def test_scores_are_those_of_the_episodes(tables: trained.Tables) -> None:
    scores = tables[SMALL.name]
    assert list(scores) == [*SMALL.principals, *trained.YARDSTICKS.values()]
    for name, own in scores.items():
        principal = make(name, n_arms=SMALL.n_arms, horizon=SMALL.horizon)
        run = baselines.simulate(principal, SMALL.instance, SMALL.agent, seeds=range(20), checkpoints=[100])
        for score, values in own.items():
            assert values.tolist() == getattr(run, score)[:, -1].tolist()


def test_what_is_kept_is_a_benchmark_and_not_played_again(
    evidence: Evidence, tables: trained.Tables, capfd: pytest.CaptureFixture[str]
) -> None:
    assert evidence.cells.rows["rounds"].unique().tolist() == [100]
    fewer = trained.CLAIM.measure(evidence.study._replace(seeds=15, quiet=False))
    assert "To play: 0 episodes" in capfd.readouterr().err
    again = trained.score_tables(trained.plan(fewer.study), fewer.scores)
    assert again[SMALL.name]["zero"]["utility"].tolist() == tables[SMALL.name]["zero"]["utility"][:15].tolist()


def test_every_task_of_training_and_others_are_on_the_page() -> None:
    """So that no sentence speaks of "all tasks" while losses are left out."""
    names = [game.name for game in PLAYED(quick=False)]
    assert set(trained.trained_on()) <= set(names)
    assert set(trained.UNSEEN) <= set(names)
    assert not set(trained.UNSEEN) & set(trained.trained_on())
    assert "k5-t200-uniform-oracle" in names


def test_losses_are_named_beside_wins() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(10, 1, 50)
    games = {
        name: {spec: {"expected_utility": base + more} for spec, more in (("zero", 0.0), ("ppo", gained))}
        for name, gained in (("one", 1.0), ("two", -1.0), ("three", rng.normal(0, 1, 50)))
    }
    (text,) = trained.sentences(games)
    assert re.fullmatch(r"Of the 3 tasks .* more .* 1 \(one .*; less in 1 \(two .*; not separated in 1 \(three.*", text)


def test_every_short_task_has_a_trained_principal() -> None:
    assert all(any(map(is_trained, each.principals)) for each in tasks(trained.SUITE))


def test_the_page(evidence: Evidence, tables: trained.Tables, tmp_path: Path) -> None:
    text = "\n\n".join(trained.page(evidence, tmp_path))
    scores = tables[SMALL.name]
    gain = np.mean(scores["ppo"]["expected_utility"] - scores["zero"]["expected_utility"])
    assert gain > 0
    line = next(line for line in text.splitlines() if line.startswith("| k3-t100-uniform | no | ppo "))
    more = f"`ppo` earns more than the best script in 1 (k3-t100-uniform (+{gain:.3f}"
    assert f"Of the 1 tasks that it was not trained on {more}" in text
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
    rows = [line.strip("| ").split(" | ") for line in trained.across(found).splitlines()[2:]]
    assert rows == [
        ["ppo", "1.050", "0.900", "two"],
        ["zero", "0.900", "0.800", "two"],
        ["ipa", "0.900", "0.800", "one"],
    ]


def test_a_script_that_is_no_worse_than_the_yardstick_leaves_nothing_to_close() -> None:
    scores = {name: {"regret": np.full(20, value)} for name, value in (("a", 1.0), ("b", 2.0), ("knows-beliefs", 3.0))}
    assert trained.share(scores, "a", "b", "regret") == "–"
    scores["knows-beliefs"]["regret"][:] = 0.5
    assert trained.share(scores, "a", "b", "regret") == "67%"
    scores["knows-beliefs"]["regret"][:] = [9.0, -6.0] * 10  # its mean is lower, but not measurably so
    assert trained.share(scores, "a", "b", "regret") == "–"
