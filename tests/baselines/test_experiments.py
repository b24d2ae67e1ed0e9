"""The commands that reproduce claims, at their quick size: what they play, and the pages they write."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import baselines
from baselines import pictures, simulate
from baselines.__main__ import app
from baselines.benchmark.statistics import log_slope
from baselines.principal import Phase
from baselines.registry import PRINCIPALS
from baselines.reproduce import ablations, exact, growth, lemma_counts, table1, theorems, who_wins
from baselines.reproduce.claim import Cell, CellScores, Study
from baselines.scripted.paper.ablations import NoAsymmetricCheck
from baselines.scripted.paper.elimination import Elimination
from baselines.scripted.paper.exploratory import Exploratory
from baselines.tasks import task, tasks
from pa_env.game import Game

FULL = Study(Path("unused"), "unused")


def page_of(name: str, tmp_path: Path) -> str:
    """What a quick run writes; a second one plays nothing and writes the same."""
    options = ["--quick", "--workers", "1", "--out", str(tmp_path / "out"), "--page", str(tmp_path / "p.md")]
    pages = []
    with pytest.MonkeyPatch.context() as patched:
        for _ in range(2):
            shown = CliRunner().invoke(app, ["reproduce", name, *options])
            assert shown.exit_code == 0, shown.output
            pages.append((tmp_path / "p.md").read_text())
            patched.setattr(pictures, "as_files", lambda *_: {})  # figures are drawn once
    assert "in 0 blocks" in shown.output
    assert pages[0] == pages[1]
    assert f"    pa-bench reproduce {name} --quick --page {tmp_path / 'p.md'}\n" in pages[0]
    assert "; code: " in pages[0]
    return pages[0]


# -------------------------------------------------------------------------------------- Table 1


def test_table_1_has_every_row_of_the_paper() -> None:
    assert [row.exponent for row in table1.ROWS] == [1 / 2, 1 / 2, 1 / 2, 11 / 12, 1 / 2, 2 / 3, 1 / 2, 2 / 3]
    cells = [each for each in table1.plan(FULL) if isinstance(each, Cell)]
    played = {(cell.principal.split(",")[0], cell.task.agent.split(",")[0]) for cell in cells}
    for row in table1.ROWS:
        agents = {"oracle", "ols"} if row.linear else {"oracle", "empirical-mean", "exploratory-oracle", "exploratory"}
        assert {agent for name, agent in played if name == row.principal} == agents
    longest = [cell for cell in cells if cell.task.horizon == 10**9]
    assert [cell.principal for cell in longest] == ["exploratory,c0=0.05"]


def test_the_page_of_table_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tuple(row for row in table1.ROWS if row.principal in ("ipa", "elimination", "robust-epsilon-greedy"))
    monkeypatch.setattr(table1, "ROWS", chosen)
    monkeypatch.setattr(table1, "PRACTICAL", table1.PRACTICAL[:1])
    page = page_of("table1", tmp_path)
    ipa = simulate("ipa", "uniform", "oracle", horizon=1000, seeds=range(10)).regret_oracle[:, -1].mean() / 1000
    line = next(line for line in page.splitlines() if "| ipa " in line and "| yes " in line)
    assert f"| {ipa:.4f} [" in line
    assert "robust-epsilon-greedy (a stand-in)" in page
    assert "| covered " in page


# -------------------------------------------------------------------------------------- theorems


def test_each_theorem_is_measured_in_its_own_regret() -> None:
    scores = {curve.principal: curve.score for curve in theorems.CURVES if curve.theorem}
    assert scores == {
        "elimination": "regret",
        "elimination-offline": "regret",
        "exploratory": "regret",
        "exploratory-oracle": "regret_bar",
        "linear": "regret",
    }
    varied = {(curve.principal, curve.varies) for curve in theorems.CURVES if curve.theorem}
    assert varied >= {("elimination", "K"), ("exploratory", "K"), ("exploratory-oracle", "K"), ("linear", "d")}
    assert all(curve.exponent is None for curve in theorems.CURVES if not curve.theorem)


def test_the_page_of_the_theorems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorems, "CURVES", [theorems.CURVES[i] for i in (0, 4, 6, 12)])
    page = page_of("theorems", tmp_path)
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        assert (tmp_path / "p.md").with_suffix(suffix).read_bytes().startswith(start)
    oracle = theorems.CURVES[1]
    principal = baselines.make("exploratory-oracle", n_arms=5, horizon=2000, c0=oracle.c0)
    mean = simulate(principal, "uniform", oracle.task(2000).agent, seeds=range(10)).regret_bar[:, -1].mean()
    line = next(line for line in page.splitlines() if "exploratory-oracle vs" in line)
    assert "| Rbar_T " in line
    assert f"{mean:,.0f}" in line or f"{mean:.1f}" in line
    assert "| elimination,constants=practical vs" in page.split("## Practical constants")[1]


def test_the_slope_of_a_power_law_is_its_exponent() -> None:
    horizons = (100, 1000, 10_000)
    table = np.outer(np.linspace(0.5, 3, 12), np.array(horizons, dtype=float) ** 0.37)
    found = growth.fit(horizons, table)
    assert (*found.slope, *found.local) == pytest.approx((0.37,) * 5)
    noisy = table * np.random.default_rng(0).uniform(0.5, 2.0, table.shape)
    found = growth.fit(horizons, noisy)
    assert found.slope.low < found.slope.value < found.slope.high
    assert found.straight > 0.01
    bent = noisy * [1.0, 1.0, 10.0]
    assert growth.fit(horizons, bent).straight < 0.001
    assert np.isnan(growth.fit(horizons, noisy[:9]).slope.low)  # too few runs
    assert np.isnan(growth.fit(horizons, -noisy).slope.value)


def test_straight_lines_are_rarely_called_bent() -> None:
    rng, x = np.random.default_rng(0), np.array([10.0, 100, 1000, 10_000, 100_000])
    values = [growth.straightness(x, x**0.5 * rng.lognormal(sigma=0.3, size=(30, 5))) for _ in range(300)]
    assert np.mean(np.array(values) < 0.05) == pytest.approx(0.05, abs=0.05)


def test_runs_that_were_not_played_are_left_out_of_a_slope() -> None:
    x = np.array([10.0, 100.0])
    values = np.outer(np.linspace(0.9, 1.1, 40), x**0.5)
    values[20:, 1] = np.nan
    found = growth.fit(x, values)
    assert found.slope.value == pytest.approx(0.5, abs=0.05)
    assert found.slope.low < found.slope.value < found.slope.high


def test_practical_elimination_grows_as_the_root_and_no_incentive_linearly() -> None:
    horizons = (10_000, 100_000, 1_000_000)
    tables = {}
    for name, given in (("elimination", {"constants": "practical"}), ("zero", {})):
        made = [baselines.make(name, n_arms=5, horizon=horizon, **given) for horizon in horizons]
        tables[name] = np.column_stack([simulate(each, seeds=range(16)).regret[:, -1] for each in made])
    slopes = {name: log_slope(horizons, table) for name, table in tables.items()}
    assert slopes["elimination"].value < 0.6
    assert slopes["elimination"].high < 0.7
    assert slopes["zero"].value == pytest.approx(1.0, abs=0.03)


# -------------------------------------------------------------------------------------- ablations


def test_the_page_of_the_ablations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablations, "ABLATIONS", ablations.ABLATIONS[1:2])
    page = page_of("ablations", tmp_path)
    line = next(line for line in page.splitlines() if "lem:search_end_bma_diff" in line)
    assert "| 0 of " in line  # with the check
    assert line.count("| 0 of ") == 1  # and not without it


@pytest.mark.parametrize("ablation", ablations.ABLATIONS[1:], ids=lambda each: each.variant)
def test_each_part_keeps_the_lemma_that_is_broken_without_it(ablation: ablations.Ablation) -> None:
    """Bad arms left unplayed break theirs only at long horizons: `pa-bench reproduce ablations` counts them."""
    runs = {"NoConservativeCut": 100, "NoMedian": 30}.get(ablation.variant, 15)
    with_part, without = (
        ablation.count(made, runs, 10_000)
        for made in (PRINCIPALS[ablation.base], getattr(ablations.variants, ablation.variant))
    )
    assert with_part.broken == 0 < without.broken
    assert with_part.events > 10


def test_counts_are_of_the_principal_that_plays() -> None:
    count = lemma_counts.too_small(Elimination, 2, 5000)
    assert count.broken == 0
    assert count.events > 20
    assert lemma_counts.too_small(NoAsymmetricCheck, 2, 5000).broken > 0
    assert str(lemma_counts.Count(3, 400)) == "3 of 400 (0.75%)"


# -------------------------------------------------------------------------------------- who wins


def test_who_wins_has_the_whole_suite_and_the_variants_of_epsilon_greedy() -> None:
    line_up = list(who_wins.line_up())
    assert list(dict.fromkeys(made.name for made, _ in line_up)) == [made.name for made in tasks("who-wins")]
    for made in tasks("who-wins"):
        playing = [spec for task_, spec in line_up if task_.name == made.name]
        slow = set() if made.horizon in who_wins.SLOW_HORIZONS else set(who_wins.SLOW)
        trained = {spec for spec in task(made.name).principals if spec.startswith("ppo")}
        added = set() if made.dim else set(who_wins.VARIANTS)
        assert set(playing) == {*task(made.name).principals, *added} - slow - trained
        assert len(set(playing)) == len(playing)


def test_the_page_of_who_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [(made, spec) for made, spec in who_wins.line_up(quick=True) if spec in ("ipa", "oracle", "zero")]
    monkeypatch.setattr(who_wins, "line_up", lambda _: iter(each for each in chosen if each[0].dim is None))
    monkeypatch.setattr(who_wins, "PHASED", ("elimination",))
    page = page_of("who-wins", tmp_path)
    assert (tmp_path / "p-t1e3.png").exists()
    assert (tmp_path / "p-t1e3.svg").exists()
    run = simulate("ipa", "uniform", horizon=1000, seeds=range(10))
    mean = f"| {run.regret.mean() / 1000:.4f} ["
    line = next(line for line in page.splitlines() if line.startswith("| ipa") and mean in line)
    assert f"| {np.median(run.regret) / 1000:.4f} " in line
    assert f"| {run.utility.mean() / 1000:.4f} [" in line
    assert "oracle (privileged)" in page
    lost = lemma_counts.best_arm_lost(Elimination, 10, 10**4, "exploratory")
    assert f"| exploratory | elimination,constants=practical | {lost} |" in " ".join(page.split())


def test_elimination_loses_the_best_arm_against_an_exploring_agent_where_exploratory_does_not() -> None:
    """It takes explorations for refusals; the paper's algorithm for such agents searches again and again."""
    for agent in ("exploratory", "exploratory-oracle"):
        assert lemma_counts.best_arm_lost(Elimination, 40, 10**5, agent).broken > 0
        assert lemma_counts.best_arm_lost(Exploratory, 40, 10**5, agent).broken == 0
    assert lemma_counts.best_arm_lost(Elimination, 40, 10**5, "empirical-mean").broken == 0


def test_when_the_best_arm_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    best = []
    for seed in range(2):
        game = Game(5)
        game.begin(seeds=[seed])
        best.append(int((game.instance().theta + game.instance().mu).argmax()))
    for kept, lost in (((True, True), 0), ((True, False), 1), ((False, False), 2)):
        last = [{*range(5)} - (set() if kept[seed] else {best[seed]}) for seed in range(2)]
        noted = [[Phase(1, 0, (0, 1, 2, 3, 4), 10), Phase(2, 50, tuple(active), 10)] for active in last]
        monkeypatch.setattr(lemma_counts, "simulate", lambda *_, noted=noted, **__: SimpleNamespace(phases=noted))
        assert lemma_counts.best_arm_lost(Elimination, 2, 1000, "oracle").broken == lost


# -------------------------------------------------------------------------------------- the exact optimum


def test_the_page_of_the_exact_optimum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stable_baselines3")
    game, chosen = exact.game, ("zero", "particle", "oracle", "bayes-optimal")
    monkeypatch.setattr(exact, "game", lambda horizon: replace(game(horizon), principals=chosen))
    monkeypatch.setattr(exact, "QUICK_STEPS", 100)
    page = page_of("exact", tmp_path)
    assert (tmp_path / "p-tree.png").exists()
    assert "2.129630 at T = 4, 2.678356 at T = 5" in page
    zero, ours = (simulate(name, task="k2-t5-uniform", seeds=200).expected_utility for name in ("zero", "particle"))
    share = 100 * (ours - zero).mean() / (2.678356 - 2.5)
    line = next(line for line in page.splitlines() if line.startswith("| particle "))
    assert f"| {share:.0f} ± " in line
    assert "oracle (privileged)" in page
    for name in ("| bayes-optimal ", "| bayes-optimal,objective=regret ", "| PPO, 100 rounds, drawn "):
        assert name in page


def test_habits_of_a_principal_that_never_pays() -> None:
    assert exact.habits("zero", 4, 10) == {"rounds": 0.0, "offer": 0.0, "paid": 0.0, "early": 0.0}
    text = exact.sentences({name: exact.habits(name, 4, 50) for name in (exact.OPTIMAL, "zero")})
    assert "(`zero` 0%)" in text
    assert "(`zero` 0.000 in a game, 0%)" in text


def test_cells_are_paired_by_seed_even_if_a_block_failed() -> None:
    played = {"a": (0, 1, 2, 3), "b": (0, 1, 3), "c": (1, 2)}
    rows = [("one", name, seed, 10, 10, float(seed)) for name, seeds in played.items() for seed in seeds]
    table = pd.DataFrame(rows, columns=["task", "principal", "seed", "rounds", "horizon", "regret"])
    scores = CellScores(SimpleNamespace(rows=table, labels={}))  # type: ignore[arg-type]
    made = SimpleNamespace(name="one")
    found = {name: scores.score(made, name).tolist() for name in (*played, "d")}  # type: ignore[arg-type]
    assert found == {"a": [0, 1, 2, 3], "b": [0, 1], "c": [], "d": []}
