"""The command line at a tiny size."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import baselines
from baselines import matchups, slopes, speed
from baselines.__main__ import app


@pytest.mark.parametrize("command", ["", "speed", "slopes", "published", "matchups", "tune"])
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


def test_every_principal_but_fixed_has_its_matches() -> None:
    pairs = {(match.principal, match.agent) for match in matchups.matches(1000)}
    assert {principal for principal, _ in pairs} == set(baselines.principals()) - {"fixed"}
    assert ("ipa", "empirical-mean") in pairs
    assert ("linear", "ols") in pairs


def test_ipa_is_linear_against_a_learning_agent_where_elimination_is_not() -> None:
    """R_T / T of IPA stays, that of elimination falls (Liu & Ratliff, ICML 2025)."""

    def share(name: str, T: int, *given: tuple[str, str]) -> float:
        match = matchups.Match(name, given, "empirical-mean", "uniform", T)
        return float(np.mean([matchups.play(match, seed)[0] for seed in range(40)]))

    ipa = [share("ipa", T) for T in (10**4, 10**6)]
    elimination = [share("elimination", T, ("constants", "practical")) for T in (10**4, 10**6)]
    assert ipa[1] > 0.4 * ipa[0]
    assert elimination[1] < 0.15 * elimination[0]
    assert elimination[1] < ipa[1]


def test_slopes_are_drawn(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    results = [(curve, rng.random((3, len(curve.horizons))) + 1, 0.5) for curve in slopes.CURVES]
    slopes.draw(results, tmp_path / "new" / "slopes.png")
    assert (tmp_path / "new" / "slopes.png").read_bytes()[:4] == b"\x89PNG"
