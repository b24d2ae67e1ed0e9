"""The command line at a tiny size."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import baselines
import pa_env
from baselines import matchups, slopes, speed
from baselines.__main__ import app
from baselines.benchmark import cost
from baselines.tasks import task, tasks
from pa_env.game import Game


@pytest.mark.parametrize(
    "command",
    [
        "",
        "run",
        "list",
        "report",
        "leaderboard",
        "play",
        "train",
        "compare",
        "speed",
        "slopes",
        "published",
        "matchups",
        "tune",
    ],
)
def test_help_has_an_example(command: str) -> None:
    shown = CliRunner().invoke(app, [*command.split(), "--help"])
    assert shown.exit_code == 0
    assert not command or f"python -m baselines {command}" in " ".join(shown.output.split())


def test_speed_prints_the_rows_asked_for() -> None:
    shown = CliRunner().invoke(app, ["speed", "--only", "held offer, K = 5, empirical", "--repeats", "1"])
    assert shown.exit_code == 0
    assert "draws" in shown.output
    assert "CartPole" not in shown.output


def test_every_speed_row_has_work_and_a_target() -> None:
    rows = [*speed.rows(), *speed.simulations()]
    assert len({row.name for row in rows}) == len(rows) >= 15
    assert all(row.work > 0 and row.yardstick_work > 0 and row.target > 0 for row in rows)


def test_what_the_benchmark_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "tasks", lambda *names: tasks("tiny"))
    assert 0 < cost.share_in_game() < 1
    assert Game.advance.__qualname__ == "Game.advance"  # nothing is left patched


def test_who_wins_pairs_every_principal_with_every_agent_at_three_horizons() -> None:
    played = {(task.agent, task.horizon): set(task.principals) for task in tasks("who-wins") if task.dim is None}
    assert {agent for agent, _ in played} == set(pa_env.agents()) - {"ols"}
    assert {horizon for _, horizon in played} == {10**4, 10**5, 10**6}
    named = {spec.split(",")[0] for specs in played.values() for spec in specs}
    linear = {spec.split(",")[0] for task in tasks("who-wins") if task.dim for spec in task.principals}
    assert named | linear == set(baselines.principals()) - {"fixed"}


def test_the_table_of_who_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = [replace(task("tiny"), name=f"tiny-{T}", horizon=T, principals=("ipa", "oracle", "zero")) for T in (20, 50)]
    monkeypatch.setattr(matchups, "tasks", lambda suite: tiny)
    arguments = ["--seeds", "2", "--workers", "1", "--out", str(tmp_path / "cells"), "--table", str(tmp_path / "t.md")]
    shown = CliRunner().invoke(app, ["matchups", *arguments])
    assert shown.exit_code == 0, shown.output
    written = (tmp_path / "t.md").read_text()
    assert "| R_T/T, T = 2e+01 | R_T/T, T = 5e+01 | utility/T, T = 2e+01 | utility/T, T = 5e+01 |" in " ".join(
        written.split()
    )
    principal = baselines.make("ipa", n_arms=3, horizon=50)
    ipa = np.mean([baselines.simulate(principal, seed=s).regret[-1] for s in range(2)]) / 50
    assert f"{ipa:.4f}" in written
    rows = {line.split("|")[3].strip(): line for line in written.splitlines() if line.startswith("| uniform")}
    assert set(rows) == {"ipa", "oracle", "zero"}
    assert "**" not in rows["oracle"]
    assert sum(line.count("**") for line in rows.values()) == 4  # one bold number for each horizon


def mean_share(name: str, T: int, agent: str, runs: int, **given: str) -> float:
    """R_T / T."""
    principal = baselines.make(name, n_arms=5, horizon=T, **given)
    regrets = [baselines.simulate(principal, "uniform", agent, seed=s, checkpoints=[T]).regret[-1] for s in range(runs)]
    return float(np.mean(regrets)) / T


def test_ipa_is_linear_against_a_learning_agent_where_elimination_is_not() -> None:
    """R_T / T of IPA stays, that of elimination falls (Liu & Ratliff, ICML 2025)."""
    ipa = [mean_share("ipa", T, "empirical-mean", 40) for T in (10**4, 10**6)]
    elimination = [mean_share("elimination", T, "empirical-mean", 40, constants="practical") for T in (10**4, 10**6)]
    assert ipa[1] > 0.4 * ipa[0]
    assert elimination[1] < 0.15 * elimination[0]
    assert elimination[1] < ipa[1]


def test_elimination_loses_the_best_arm_against_an_exploring_agent_where_exploratory_does_not() -> None:
    """It takes her explorations for refusals; the paper's algorithm for such agents searches again and again."""

    def lost(name: str) -> int:
        principal = baselines.make(name, n_arms=5, horizon=10**6, constants="practical")
        count = 0
        for seed in range(20):
            run = baselines.simulate(principal, "uniform", "exploratory", seed=seed)
            game = Game(n_arms=5)
            game.begin(seeds=[seed])
            instance = game.instance()
            count += int((instance.theta + instance.mu).argmax()) not in run.phases[-1].active
        return count

    assert lost("elimination") >= 3
    assert lost("exploratory") == 0


def test_slopes_are_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    results = [(curve, rng.random((3, len(curve.horizons))) + 1, 0.5) for curve in slopes.CURVES]
    slopes.draw(results, tmp_path / "new" / "slopes.png")
    assert (tmp_path / "new" / "slopes.png").read_bytes()[:4] == b"\x89PNG"
