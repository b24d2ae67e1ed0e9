"""What pages and docstrings claim: sentences come from tables, and what was shown to be false is not said again."""

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import baselines
from baselines.registry import PRINCIPALS
from baselines.reproduce import lower_bound, phases, practical, table1, theorems, trained, types, who_wins, worst_case
from baselines.reproduce.claim import Cell, Study, verdicts
from baselines.scripted.paper.linear import LinearElimination
from baselines.tasks import setting, task
from pa_env import IID, make_agent
from pa_env.game import Game

ROOT = Path(__file__).parents[2]
FULL = Study(Path("unused"), "unused")
SCORE = "expected_utility"
# Sentences with a counterexample, each beside what it fails on.
FALSE = {
    r"no principal (can|could|does|finds|has|is)\b": "say which were tried, or cite a theorem: `zero` has R_T near 0 on"
    " minimax instances against empirical-mean, and offers on two arms get round the window of types",
    r"regret of\s+order \S+ cannot be avoided": "true of the agent that knows its means, on average",
    r"make linear regret unavoidable": "a fixed window is found by bisection",
    r"lowers the regret of all of them": "with 50 arms practical constants raise some",
    r"needs T of about\s+10\^6": "elimination beats zero from about 3e6 on",
    r"never below 0\.993": "ppo earns less than scripts in tasks that were left out",
    r"its expectation in a round is never negative": "it is at exact ties",
    r"In short games the best principals are those without a theorem": "so it is at 1e6 and 1e7",
    r"grows like T\^0\.48": "the slope bends: 0.67, 0.42, 0.37",
    r"has less regret at\s+T = 10\^6": "in a fixed order of the arms alone: the first one was the best",
    r"bound is met where the\s+measured power is at most": "a bound is for all instances, and up to a constant",
}
TEXTS = [
    ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(path for package in ("pa_env", "baselines") for path in (ROOT / package).rglob("*.py")),
]


@pytest.mark.parametrize("sentence", FALSE)
def test_false_sentences_are_not_said_again(sentence: str) -> None:
    guilty = [
        path for path in TEXTS if "_build" not in path.parts and re.search(sentence, path.read_text("utf-8"), re.I)
    ]
    assert not guilty, FALSE[sentence]


def test_told_everything_but_theta_a_principal_still_pays_on_minimax_instances() -> None:
    for name in ("told-all-but-one", "ucb-told"):
        shares = lower_bound.regrets(name, "oracle", 2000, 100) / np.sqrt(lower_bound.N_ARMS * 2000)
        assert shares.mean() > 0.2
    assert lower_bound.regrets("zero", "empirical-mean", 2000, 100).mean() < 0  # the bound is not for this agent


def test_the_gap_of_minimax_is_too_small_to_be_found_for_sure() -> None:
    horizon = 10**4
    run = baselines.simulate("ipa", "minimax", "oracle", horizon=horizon, seeds=range(100))
    games = Game(5, horizon, "oracle", "minimax", copies=100, observe=False)
    games.begin(seeds=list(range(100)))
    best = (games.arrays.arms[:, 0] + games.arrays.arms[:, 1]).argmax(axis=1)
    assert (run.plays[:, -1].argmax(axis=1) == best).mean() < 0.8


def test_regret_response_can_be_negative_at_ties() -> None:
    """As the page of scores says, with these numbers."""
    game = Game(agent=make_agent("exploratory"), instance=IID(mu=[0.5] * 3, theta=[1.0, 0.0, 0.0]), observe=False)
    game.begin(seeds=[0])
    game.play(np.zeros((1, 3)))
    text = (ROOT / "docs/scores.md").read_text("utf-8")
    number = float(re.search(r"is (-0\.\d+) in the first round", text)[1])  # type: ignore[index]
    assert game.totals()["regret_response"] == pytest.approx(number, abs=0.005)


def test_where_practical_constants_do_not_help_is_named() -> None:
    found = {
        ("exploratory", "k5-t1e4-uniform"): "lower (p 0.001)",
        ("exploratory", "k50-t1e4-uniform"): "higher (p 0.002)",
        ("exploratory", "k50-t1e4-gap"): "not separated (p 0.300)",
        ("elimination", "k5-t1e4-uniform"): "lower (p 0.001)",
    }
    text = practical.sentences(
        [(practical.Pair(name, task(game), "regret", 30), verdict) for (name, game), verdict in found.items()]
    )
    assert text == (
        "Practical constants lower the regret of `exploratory` in 1 of 3 settings; not in k50-t1e4-uniform (higher),"
        " k50-t1e4-gap (not separated). Practical constants lower the regret of `elimination` in 1 of 1 settings."
    )


@pytest.mark.parametrize("name", ["principals", "getting-started"])
def test_the_warning_quotes_the_page_on_practical_constants(name: str) -> None:
    warning = re.search(
        r"With\s+more arms it may raise it:\s(.*?):::", (ROOT / f"docs/{name}.md").read_text("utf-8"), re.S
    )
    assert warning
    quoted = re.findall(r"\d\.\d\d", warning[1])
    rows = ("exploratory | k50-t1e4-uniform", "exploratory | k50-t1e4-gap", "exploratory-oracle | k50-t1e4-misaligned")
    text = re.sub(" +", " ", (ROOT / "docs/practical.md").read_text("utf-8"))
    means = [re.search(rf"^\| {re.escape(row)}.*", text, re.M)[0].split("|")[4:6] for row in rows]  # type: ignore[index]
    assert quoted == [f"{float(cell.split()[0]):.2f}" for pair in means for cell in pair]


def test_offers_on_two_arms_get_round_the_window_of_types() -> None:
    """A price on one arm that misses the window loses 0.15 a round."""
    assert types.greedy_regrets("bisect-two-arms", 10**4, 5).mean() < 0.02 * 0.15 * 10**4
    assert types.window_regrets("bisect-two-arms", 40, 50).mean() < 0.7 * 0.15 * 40
    assert types.window_regrets("zero", 40, 50).mean() == pytest.approx(0.15 * 40, rel=0.15)


def test_verdicts_are_corrected_for_their_number() -> None:
    rng = np.random.default_rng(0)
    alone = rng.normal(0.55, 1, 30)
    assert verdicts([alone], "lower", "higher")[0].startswith("higher (p 0.0")
    among_many = verdicts([alone, -alone, *rng.normal(0, 1, (20, 30)), alone[:9]], "lower", "higher")
    assert re.fullmatch(r"not separated \(p 0\.\d+; 30 seeds, ± 0\.\d+\)", among_many[0])
    assert among_many[-1] == "–"


def test_the_worst_instance_is_worse_than_most_and_confirmed_on_fresh_seeds() -> None:
    sizes = worst_case.Sizes(500, 12, 1, (500, 1000), 20, 20)
    found = worst_case.worst_case("profit-target", "oracle", sizes)
    usual = baselines.simulate("profit-target", "uniform", "oracle", horizon=500, seeds=range(50)).regret.mean()
    assert np.mean(found["confirmed"]) > usual
    assert not set(worst_case.TRIED_SEEDS) & set(worst_case.FRESH_SEEDS)
    assert set(found["longer"]) == {"profit-target", "elimination", "elimination,constants=practical", "zero"}


def test_a_good_first_arm_does_not_help_on_the_worst_instances() -> None:
    """In its first phase ``exploratory-oracle`` plays the arms in turn: in a fixed order the first one decides."""
    means = np.array([[1.0, 0.0, 0.0], [0.4, 0.5, 0.0]])
    forwards, backwards = (
        worst_case.play("exploratory-oracle", "exploratory-oracle", each, 3000, range(60)).regret[:, -1]
        for each in (means, means[:, ::-1])
    )
    assert forwards.mean() > 0.3 * 3000
    assert forwards.mean() == pytest.approx(backwards.mean(), rel=0.4)


def test_everybody_is_named_on_one_side_of_the_principal_of_a_worst_case() -> None:
    rows = [("a", "0.1", "–"), ("b", "0.2 (phase 1)", "more (p 0.01)"), ("c", "0.1", "not separated (p 1)")]
    table = pd.DataFrame(rows, columns=["played by", "T = 1e+04", "R_T at the last"])
    assert worst_case.sentences(table.assign(**{"worst case of": "a vs oracle"}), 10**4) == (
        "- `a` against oracle, R_T at T = 1e+04, of the others: less: none; more: `b` (phase 1); not separated: `c`."
    )


def test_linear_offers_its_cap_alone_in_the_games_that_are_marked() -> None:
    for horizon, alone in ((phases.CAP_UNTIL, True), (int(1.1 * phases.CAP_UNTIL), False)):
        principal = LinearElimination(5, horizon, arms=np.eye(2)[[0, 1, 0, 1, 0]])
        played, margin, phase = 0.0, np.inf, 1
        while margin >= 4:  # of the cap, 2d + 1/T; an arm that the agent likes costs no more than the margin
            length = math.ceil(2.0 ** (phase + 4) * principal.width)
            played, margin, phase = played + length, 65 * principal.error(length), phase + 1
        assert (played > horizon) == alone


def test_the_range_that_was_measured_is_named() -> None:
    assert practical.measured(list(practical.pairs(FULL))) == (
        "`uniform`, `misaligned`, `gap` with K = 5, 20, 50; T = 10,000, 100,000; and `unit-ball` with K = 5;"
        " T = 10,000; d = 2"
    )


def test_wins_and_losses_are_split_by_what_a_principal_was_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trained, "trained_on", lambda: ("one",))
    level = np.linspace(0.9, 1.1, 20)
    earned = {"one": level + 0.5, "two": level - 0.5, "three": level}
    tables = {name: {"ppo": {SCORE: values}, "zero": {SCORE: level}} for name, values in earned.items()}
    seen, unseen = trained.sentences(tables)
    assert seen == (
        "Of the 1 tasks that it was trained on `ppo` earns more than the best script in 1 (one (+0.500)); less in none;"
        " not separated in none."
    )
    assert "less in 1 (two (-0.500)); not separated in 1 (three (0))" in unseen


def test_slopes_leave_out_the_first_phase() -> None:
    assert not phases.has_phases("ipa")
    game = setting("empirical-mean", "uniform", 5, 10**4)
    assert phases.ends_in_phase_1("elimination", game)
    assert not phases.ends_in_phase_1("elimination,constants=practical", game)
    assert phases.ends_in_phase_1("belgic", setting("ucb", "uniform", 5, 10**5))
    assert not phases.ends_in_phase_1("belgic", setting("ucb", "uniform", 5, 10**6))
    assert phases.ends_in_phase_1("linear", setting("ols", "unit-ball", 5, 10**6, dim=2))

    class Scores:
        def score(self, made: object, spec: str, name: str = "regret") -> np.ndarray:
            return np.linspace(1, 2, 30) * made.horizon  # type: ignore[attr-defined]

    curve = theorems.Curve("elimination", "empirical-mean", (10**4, 10**5, 10**6), "", 0.5, seeds=30)
    first = {phases.measurement("elimination", curve.task(10**4)).name: True}
    measured = theorems.measure(curve, Scores(), first)  # type: ignore[arg-type]
    assert measured.first.tolist() == [True, False, False]
    assert measured.fit is not None
    assert len(measured.fit.local) == 1


def test_the_horizons_of_a_row_and_the_principals_of_a_table_share_their_seeds() -> None:
    counts: dict[tuple[str, str], set[int]] = {}
    for cell in table1.plan(FULL):
        if isinstance(cell, Cell) and cell.task.horizon not in table1.LONG:
            agent = cell.task.agent, cell.task.instance, cell.principal
            counts.setdefault(agent, set()).add(cell.seeds)  # type: ignore[arg-type]
    assert all(len(seeds) == 1 for seeds in counts.values())
    by_task: dict[str, set[int]] = {}
    for cell in who_wins.cells(FULL):
        by_task.setdefault(cell.task.name, set()).add(cell.seeds)
    assert all(len(seeds) == 1 for seeds in by_task.values())


def test_every_principal_with_phases_is_known() -> None:
    assert {name for name in PRINCIPALS if phases.has_phases(name)} == {
        *("elimination", "elimination-offline", "exploratory", "exploratory-oracle", "linear", "belgic")
    }
