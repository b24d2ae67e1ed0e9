"""The report and the leaderboard of small results that were played for real."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from rich.console import Console
from typer.testing import CliRunner

from baselines.__main__ import app
from baselines.benchmark import (
    blocks,
    figures,
    page,
    report,
    standings,
    summaries,
    tables,
)
from baselines.benchmark.formatting import number
from baselines.benchmark.results import read
from baselines.files import MARK, StoreError
from baselines.pictures import COLOURED, COLOURS, PRIVILEGED, REST, styles
from pa_env.game import Game

from .helpers import contents
from .results import PRINCIPALS, SMALL, drawn_as, make_results

MERIT = ["oracle (privileged)", "zero", "profit-target", "elimination,constants=practical"]  # of the results below


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("results") / "small")


@pytest.fixture(scope="module")
def printed(results: Path) -> str:
    """The output of the command that writes the report of the results; drawing takes long."""
    code, output = command("report", results)
    assert code == 0
    return output


def command(*words: object) -> tuple[int, str]:
    shown = CliRunner().invoke(app, [str(word) for word in words])
    assert shown.exception is None or isinstance(shown.exception, SystemExit)
    return shown.exit_code, shown.output


# -------------------------------------------------------------------------------------- the report


def test_report_writes_tables_figures_and_a_page(results: Path, printed: str) -> None:
    assert str(results / "report" / "index.html") in printed.replace("\n", "")
    files = {str(path.relative_to(results / "report")) for path in (results / "report").rglob("*.*")}
    of_tasks = [f"figures/{task}-{name}" for task in SMALL for name in ("utility", "regret", "plays", "offers")]
    drawn = {f"{name}.{suffix}" for name in ("figures/heat-map", *of_tasks) for suffix in ("png", "svg", "pdf")}
    assert files == {"index.html", "table.csv", "table.md", "table.tex"} | drawn
    for name in ("figures/heat-map", *of_tasks):
        image = matplotlib.image.imread(results / "report" / f"{name}.png")
        inked = (image[..., :3] < 0.9).any(axis=-1).mean()
        assert 0.005 < inked < 0.7, name
        assert (results / "report" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    for task in SMALL:
        for name in ("regret", "plays", "offers", "heat-map"):
            file = f"{name}.svg" if name == "heat-map" else f"{task}-{name}.svg"
            assert task in (results / "report" / "figures" / file).read_text(), file
    assert all(principal.split(",")[0] in printed for principal in PRINCIPALS)


@pytest.mark.parametrize("principal", ["zero", "oracle"])
def test_one_principal_and_one_seed_make_a_report(tmp_path: Path, principal: str) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], [principal], seeds=1)
    with drawn_as("png"):
        assert report.build(report.load(out)).is_file()


def test_the_same_results_make_the_same_report(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero"], seeds=2)
    report.build(report.load(out))
    first = contents(out / "report")
    report.build(report.load(out))
    assert contents(out / "report") == first


def test_csv_has_all_digits(results: Path) -> None:
    code, output = command("report", results, "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(output)))
    assert len(rows) == len(SMALL) * len(PRINCIPALS)
    stored = read(results).rows.query("rounds == horizon").groupby(["task", "principal"])["utility"].mean()
    for row in rows:
        assert float(row["utility"]) == pytest.approx(stored[row["task"], row["principal"]], rel=1e-12)


def test_markdown_is_a_table(results: Path) -> None:
    code, output = command("report", results, "--format", "markdown")
    assert code == 0
    lines = output.strip().splitlines()
    assert len(lines) == 2 + len(SMALL) * len(PRINCIPALS)
    assert len({line.count("|") for line in lines}) == 1
    assert "elimination,constants=practical" in output


def test_latex_has_tables_that_fit_a_page_and_symbols(results: Path) -> None:
    code, output = command("report", results, "--format", "latex")
    assert code == 0
    assert output.startswith("% Needs \\usepackage{booktabs,adjustbox}")
    opened = re.findall(r"\\(begin|end)\{(\w+)\}", output)
    open_now: list[str] = []
    for what, name in opened:
        assert what == "begin" or open_now.pop() == name
        open_now += [name] * (what == "begin")
    assert open_now == []
    assert output.count(r"\begin{table}") == len(SMALL)
    assert output.count(r"\begin{adjustbox}{max width=\textwidth}") == 2 * len(SMALL)
    for tabular in re.findall(r"\\begin\{tabular\}(.*?)\\end\{tabular\}", output, re.S):
        columns, body = re.match(r"\{(l+r+)\}(.*)", tabular, re.S).groups()  # type: ignore[union-attr]
        lines = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert len(lines) == 1 + len(PRINCIPALS)
        assert {line.count(" & ") + 1 for line in lines} == {len(columns)}
        assert len(columns) <= 7
        assert r"\toprule" in body
        assert r"\bottomrule" in body
    for symbol in ("$R_T$", r"$\bar R_T$", r"$R_T^{\mathrm{oracle}}$", r"90\% of $R_T$"):
        assert symbol in output
    outside = "".join(output.replace(r"\$", "").split("$")[::2]).replace(r"\_", "")
    assert not re.search("[_^–±]", outside)
    assert output.replace(r"\$", "").count("$") % 2 == 0


def test_latex_escapes_labels() -> None:
    assert tables.escaped(r"a_b & 5% {x} $y$ ~^\ ") == (
        r"a\_b \& 5\% \{x\} \$y\$ \textasciitilde{}\^{}\textbackslash{} "
    )


def test_missing_seeds_are_counted(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["ipa"], seeds=3)
    make_results(out, ["k3-t100-uniform"], ["zero"], seeds=2)
    found = summaries.summarise(read(out).rows).set_index("principal")
    assert found["seeds"].to_dict() == {"ipa": 3, "zero": 2}
    assert found["paired_seeds"].to_dict() == {"ipa": 2, "zero": 2}
    assert "3 seeds, of which all principals have 2" in tables.about("k3-t100-uniform", read(out).rows)


def test_failed_blocks_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "ROUNDS", 100)  # a seed a block
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero", "ipa", "ppo"], seeds=2)
    assert tables.facts(read(out))["failed blocks"] == "0"
    for name in ("zero--1", "ipa--0", "ipa--1"):
        (out / "failures" / f"k3-t100-uniform--{name}.txt").write_text("boom")
        (out / "blocks" / f"k3-t100-uniform--{name}.parquet").unlink()
    (out / "failures" / "k3-t100-uniform--ppo--0.txt").write_text("left behind by a kill, the block is there")
    whose = "ipa in k3-t100-uniform: 2, zero in k3-t100-uniform: 1"
    assert tables.facts(read(out))["failed blocks"] == f"3 ({whose})"
    with drawn_as("png"):
        _, output = command("report", out)
    assert f"Failed blocks: {whose}." in " ".join(output.split())
    assert re.search(r"│ ipa +│ +failed +│", output)  # it has no results, and is shown
    assert "| ipa " in (out / "report" / "table.md").read_text()
    html = (out / "report" / "index.html").read_text()
    assert whose in html
    assert "2 seeds, of which all principals have 1" in html


def test_all_blocks_failed(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero"], seeds=1)
    (out / "blocks" / "k3-t100-uniform--zero--0.parquet").unlink()
    with pytest.raises(StoreError, match="has no results: none was played"):
        read(out)
    (out / "failures" / "k3-t100-uniform--zero--0.txt").write_text("boom")
    with pytest.raises(StoreError, match=r"its blocks failed \(zero in k3-t100-uniform: 1\), see .*failures"):
        read(out)


# -------------------------------------------------------------------------------------- all principals in all tasks


@pytest.mark.usefixtures("printed")
def test_the_table_of_all_has_every_mean_once_and_marks_the_best(results: Path) -> None:
    found = read(results)
    summary = summaries.summarise(found.rows)
    made = standings.overview(found, summary)
    assert made.agents == {"k3-t100-uniform": "empirical-mean", "k5-t200-uniform-exploratory": "exploratory"}
    assert list(made.rows) == MERIT
    for place, task in enumerate(SMALL):
        part = summary[summary["task"] == task].set_index("principal")
        for name, row in made.rows.items():
            expected = part.loc[name.removesuffix(" (privileged)")]
            assert row[place].value == expected["utility"]
            assert row[place].utility == number(expected["utility"])
            assert row[place].regret == number(expected["regret"])
            assert (row[place].utility_best, row[place].regret_best) == (
                *expected[["utility_best", "regret_best"]].tolist(),
            )
        for best in ("utility_best", "regret_best"):
            assert [getattr(row[place], best) for row in made.rows.values()].count(True) == 1
    table = (results / "report" / "table.md").read_text().split("\n\n")[3]  # after the verdicts
    heads, _, *lines = table.splitlines()
    assert [head.strip() for head in heads.split("|")[2:-1]] == [
        *("k3-t100-uniform, empirical-mean", "k5-t200-uniform-exploratory, exploratory")
    ]
    assert len(lines) == len(PRINCIPALS)
    assert table.count("**") == 2 * 2 * len(SMALL)


def judged(agent: str = "oracle", paired_seeds: int = 30) -> pd.DataFrame:
    """As much of a summary of one task as a verdict needs: utility and R_T disagree on who is best."""
    rows = [
        # principal, privileged, utility, R_T, and the ends of the differences to the best in both
        ("oracle", True, 9.0, 0.0, (2.5, 3.5), (-2.5, -1.5)),
        ("ipa", False, 5.0, 2.0, (-2.0, 0.0), (0.0, 0.0)),
        ("zero", False, 6.0, 2.5, (0.0, 0.0), (-0.1, 1.1)),
        ("elimination", False, 1.0, 8.0, (-5.5, -4.5), (4.0, 8.0)),
    ]
    ignored = summaries.ignores_beliefs(agent)
    records = []
    for principal, privileged, utility, regret, earned, lost in rows:
        record = {"task": "smoke", "agent": agent, "beliefs_ignored": ignored, "ranked_by": "utility"}
        record |= {"principal": principal, "privileged": privileged, "paired_seeds": paired_seeds}
        record |= {"utility_best": principal == "zero", "regret_best": principal == "ipa" and not ignored}
        for score, value, best, ends in (("utility", utility, 6, earned), ("regret", regret, 2, lost)):
            low, high = ends if paired_seeds >= 10 else (np.nan, np.nan)
            record |= {score: value, f"{score}_low": value - 0.5, f"{score}_high": value + 0.5}
            record |= {f"{score}_difference": value - best}
            record |= {f"{score}_difference_low": low, f"{score}_difference_high": high}
        records.append(record)
    return pd.DataFrame(records)


def test_the_verdict_has_both_orders_and_what_could_have_been_shown() -> None:
    utility = (
        "Most utility: zero, 6.000 [5.500, 6.500]; not separated on 30 seeds: ipa (1.000);"
        " next: elimination, -5.000 [-5.500, -4.500]."
    )
    regret = (
        "Least R_T: ipa, 2.000 [1.500, 2.500]; not separated on 30 seeds: zero (0.600);"
        " next: elimination, +6.000 [+4.000, +8.000]."
    )
    assert standings.verdicts(judged())["smoke"] == f"{utility} {regret}"
    assert standings.verdicts(judged().assign(ranked_by="regret"))["smoke"] == f"{regret} {utility}"
    alone = judged().query("privileged")
    assert standings.verdicts(alone)["smoke"] == "Only privileged principals played."


def test_verdicts_are_a_table_too() -> None:
    assert standings.verdict_table(judged()).to_numpy().tolist() == [
        ["smoke", "most utility", "zero, 6.000 [5.500, 6.500]", "ipa (1.000)", "elimination, -5.000 [-5.500, -4.500]"],
        ["smoke", "least R_T", "ipa, 2.000 [1.500, 2.500]", "zero (0.600)", "elimination, +6.000 [+4.000, +8.000]"],
    ]


def test_too_few_seeds_separate_nobody() -> None:
    few = "9 common seeds are too few to separate others from it"
    assert standings.verdicts(judged(paired_seeds=9))["smoke"] == (
        f"Most utility: zero, 6.000 [5.500, 6.500]; {few}. Least R_T: ipa, 2.000 [1.500, 2.500]; {few}."
    )


@pytest.mark.parametrize("agent", ["ucb", "thompson", "exp3", "results/agent/policy.npz"])
def test_regret_against_agents_that_ignore_their_beliefs_ranks_nobody(agent: str) -> None:
    summary = judged(agent)
    text = standings.verdicts(summary)["smoke"]
    assert text.startswith("Most utility: zero")
    assert text.endswith(f"R_T does not rank principals: {agent} does not act on the beliefs behind it.")
    assert "Least R_T" not in text
    assert [tables.with_interval(row, "regret").split()[0] for row in tables.records(summary)] == [
        *("0†", "2.000†", "2.500†", "8.000†")
    ]
    ranks = [line.split("|")[1:3] for line in standings.ranking(summary).splitlines()[2:]]
    assert [[rank.strip() for rank in both] for both in ranks] == [["–", "–"], ["2", "–"], ["1", "–"], ["3", "–"]]
    both = pd.concat([summary, judged().assign(task="other")])
    heads, _, *lines = standings.tally(both).splitlines()
    columns = [head.strip() for head in heads.split("|")[1:-1]]
    counts = {cells[0].strip(): list(map(int, cells[1:])) for cells in (line.split("|")[1:-1] for line in lines)}
    assert columns[1::3] == ["most utility", "least R_T"]
    assert counts == {"zero": [2, 0, 0, 0, 1, 0], "ipa": [0, 2, 0, 1, 0, 0], "elimination": [0, 0, 2, 0, 0, 1]}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_table_of_all_fits_the_terminal(results: Path, width: int) -> None:
    names = [f"k{n}-t1e7-misaligned-exploratory" for n in range(9)]
    row = [standings.Standing(-1.0, "-12.34 [1, 2]", "1,000,000 [1, 2]", regret_best=n % 2 == 0) for n in range(9)]
    made = standings.Overview(dict.fromkeys(names, "exploratory"), {"elimination,constants=practical": row, "ipa": row})
    console = Console(width=width, file=io.StringIO())
    for table in standings.for_terminal(made, width):
        console.print(table)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count("1,000,000*") == 2 * 5
    assert shown.count("1,000,000") == 2 * 9
    assert all(shown.count(f"k{n} ") == 1 for n in range(9))
    assert "…" not in shown


# -------------------------------------------------------------------------------------- figures


def test_one_offer_far_above_the_rest_does_not_flatten_the_axes(results: Path) -> None:
    found = read(results)
    part = summaries.summarise(found.rows).query("task == 'k3-t100-uniform'")
    paid = summaries.payments(found.rows[found.rows["task"] == "k3-t100-uniform"], found.arms["k3-t100-uniform"])
    chosen = styles(part)
    before = figures.offers(part, paid, chosen).axes[0].get_ylim()[1]
    paid.loc[paid["offer"].idxmax(), "offer"] = 1000.0
    drawn = figures.offers(part, paid, chosen)
    assert drawn.axes[0].get_ylim()[1] < 2 * before
    assert [text.get_text() for axes in drawn.axes for text in axes.texts if "up to" in text.get_text()] == [
        "up to 1e+03"
    ]


def test_on_logarithmic_axes_a_band_below_zero_ends_below_the_view(results: Path) -> None:
    """Plotly would leave such points out, and draw spikes."""
    rows = read(results).rows
    summary, curves = summaries.summarise(rows), summaries.curves(rows).assign(low=-1.0, high=9.0)
    part, own = summary[summary["task"] == SMALL[0]], curves[curves["task"] == SMALL[0]]
    linear, logarithmic = page.regret_figure(part, own, styles(summary))["layout"]["updatemenus"][0]["buttons"]
    assert min(min(band) for band in linear["args"][0]["y"]) == -1
    span = logarithmic["args"][1]["yaxis.range"]
    assert 0 < min(min(band) for band in logarithmic["args"][0]["y"]) < 10 ** span[0]


def test_merit_is_the_mean_place_in_utility_in_the_tasks_that_were_played() -> None:
    rows = [("one", "a", 3.0), ("one", "b", 1.0), ("one", "c", 2.0), ("two", "a", 9.0), ("two", "b", 5.0)]
    rows += [("three", "d", 0.0), ("three", "a", 1.0)]
    summary = pd.DataFrame(rows, columns=["task", "principal", "cost"]).assign(utility=lambda rows: -rows["cost"])
    assert summaries.merit(summary) == ["b", "d", "c", "a"]


def test_the_heat_map_has_losses_per_round_and_the_order_of_merit(results: Path) -> None:
    summary = summaries.summarise(read(results).rows)
    panel, utility = figures.losses_per_round(summary), figures.losses_per_round(summary, "utility")
    assert list(panel.columns) == list(utility.columns) == list(SMALL)
    assert list(panel.index) == list(utility.index) == MERIT
    first = summary.query("task == 'k3-t100-uniform'").set_index("principal")
    assert panel.loc["zero", "k3-t100-uniform"] == pytest.approx(first.loc["zero", "regret"] / 100)
    best = first.loc[~first["privileged"], "utility"].max()
    assert utility.loc["zero", "k3-t100-uniform"] == pytest.approx((best - first.loc["zero", "utility"]) / 100)
    assert utility.iloc[1:].min().tolist() == [0, 0]
    panel.loc["zero", "k3-t100-uniform"] = np.nan
    drawn = [text.get_text() for text in figures.heat_map({"": panel}, "title").axes[0].texts]
    assert drawn.count("–") == 1
    assert len(drawn) == len(SMALL) * len(PRINCIPALS)
    aside = summary.assign(beliefs_ignored=summary["task"] == SMALL[1])
    assert list(figures.losses_per_round(aside).columns) == [SMALL[0], f"{SMALL[1]}†"]
    assert list(figures.losses_per_round(aside, "utility").columns) == list(SMALL)


def test_regret_over_time_is_on_logarithmic_axes(results: Path) -> None:
    rows = read(results).rows
    summary, curves = summaries.summarise(rows), summaries.curves(rows)
    part, own = summary[summary["task"] == SMALL[1]], curves[curves["task"] == SMALL[1]].assign(low=-1.0)
    axes = figures.regret(part, own, styles(summary)).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert page.regret_figure(part, own, styles(summary))["layout"]["yaxis"]["type"] == "log"


# -------------------------------------------------------------------------------------- mistakes


def test_unknown_format_is_named(results: Path) -> None:
    code, output = command("report", results, "--format", "latxe")
    assert code == 1
    assert "format = 'latxe' is unknown (did you mean 'latex'?)" in output


@pytest.mark.parametrize("what", ["report", "leaderboard"])
def test_a_folder_without_results_is_named(tmp_path: Path, what: str) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        code, output = command(what, folder)
        assert code == 1
        assert f"{folder} has no results" in output
        assert "pa-bench run" in output


@pytest.mark.parametrize("what", ["report", "leaderboard"])
def test_the_default_folder_is_that_of_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"{Path('results/benchmark')} has no results" in command(what)[1]


def test_a_damaged_block_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero"], seeds=2)
    damaged = out / "blocks" / "k3-t100-uniform--zero--0.parquet"
    whole = damaged.read_bytes()
    for data in (b"", whole[:-100], b"PAR1 no", flipped(whole, 300)):
        damaged.write_bytes(data)
        with pytest.raises(StoreError, match=f"{damaged.name} is damaged"):
            report.build(report.load(out))
    assert not (out / "report").exists()


def test_no_flipped_bit_changes_what_is_read(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero"], seeds=1)
    (file,) = (out / "blocks").iterdir()
    whole, rows = file.read_bytes(), read(out).rows
    noticed = 0
    for place in range(4, len(whole), 23):
        file.write_bytes(flipped(whole, place, 0x80 if place % 2 else 1))
        try:
            assert_frame_equal(read(out).rows, rows)
        except StoreError:
            noticed += 1
    assert noticed > 20


def flipped(data: bytes, place: int, bit: int = 1) -> bytes:
    return data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


def test_a_block_under_another_name_is_named(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero", "ipa"], seeds=1)
    ours, theirs = (out / "blocks" / f"k3-t100-uniform--{name}--0.parquet" for name in ("zero", "ipa"))
    ours.write_bytes(theirs.read_bytes())
    with pytest.raises(StoreError, match=f"{ours.name} holds another block than its name says"):
        read(out)


def test_runs_scored_at_the_horizon_alone_make_a_report(tmp_path: Path) -> None:
    out = tmp_path / "r"
    options = ["--final-only", "--seeds", "3", "--workers", "1", "--quiet", "--out", out]
    code, output = command("run", "--task", "smoke", *options, "--json")
    assert code == 0
    assert {row["seeds"] for row in json.loads(output)} == {3}
    assert len(read(out).rows) == 3 * 3
    with drawn_as("png"):
        assert report.build(report.load(out)).is_file()
    drawn = {path.name for path in (out / "report" / "figures").iterdir()}
    assert drawn == {"smoke-offers.png", "smoke-plays.png", "heat-map.png"}
    code, output = command("run", "--task", "smoke", "--out", out)
    assert code == 1
    assert "was played with curve False (now True)" in output


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["k3-t100-uniform"], ["zero"], seeds=1)
    for text in ("{", "[]", '{"tasks": {}, "principals": {}}'):
        (out / "benchmark.json").write_text(text)
        with pytest.raises(StoreError, match=r"benchmark\.json is damaged"):
            read(out)


# -------------------------------------------------------------------------------------- what is shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.6, "12,346"),
        (-123.45, "-123.5"),
        (12.345, "12.35"),
        (0.1234, "0.123"),
        (-1e-9, "0.000"),
        (0, "0"),
        (float("nan"), "–"),
    ],
)
def test_numbers_are_readable(value: float, text: str) -> None:
    assert number(value) == text


def test_plays_are_ranked_by_what_arms_are_worth(results: Path) -> None:
    found = read(results)
    rows, arms = found.rows.query("task == 'k3-t100-uniform'").reset_index(), found.arms["k3-t100-uniform"]
    shares = summaries.plays_by_rank(rows, arms)
    assert np.allclose(shares.sum(axis=1), 1)
    expected = []
    for place, seed in rows.query("principal == 'zero' and rounds == horizon")["seed"].items():
        plays, game = arms["plays"][place], Game(3, instance="uniform")
        game.begin(seeds=[seed])
        worth = game.instance().theta + game.instance().mu
        expected.append(plays[worth.argmax()] / 100)
    assert shares.loc["zero", 0] == pytest.approx(np.mean(expected))


def ranked(task: str, principals: list[str]) -> pd.DataFrame:
    """As much of a summary as styles and curves need, best first; the first one is privileged."""
    rows = [(task, name, i == 0, float(i)) for i, name in enumerate(["oracle", *principals])]
    return pd.DataFrame(rows, columns=["task", "principal", "privileged", "regret"]).assign(slope=np.nan)


def test_styles_are_distinct_and_the_rest_is_grey(results: Path) -> None:
    chosen = styles(ranked("one", [f"p{i}" for i in range(1, 12)]))
    assert chosen["oracle"] == PRIVILEGED
    assert [chosen[f"p{i}"] for i in range(1, 7)] == list(COLOURS[:COLOURED])
    assert {chosen[f"p{i}"] for i in range(7, 12)} == {REST}
    small = styles(summaries.summarise(read(results).rows))
    assert len({small[principal] for principal in PRINCIPALS}) == len(PRINCIPALS)


def test_a_principal_looks_the_same_in_every_figure_of_every_task() -> None:
    names = [f"p{i}" for i in range(1, 12)]
    summary = pd.concat([ranked("one", names), ranked("two", names[::-1]), ranked("three", [*names[5:8], "alone"])])
    chosen, t = styles(summary), np.array([1, 10, 100])
    seen: dict[str, set[str]] = {}
    for _, part in summary.groupby("task", sort=False):
        rows = [(name, n, n + i, n, 2.0 * n + i) for i, name in enumerate(part["principal"]) for n in t]
        curves = pd.DataFrame(rows, columns=["principal", "rounds", "mean", "low", "high"])
        for trace in page.regret_figure(part, curves, chosen)["data"]:
            if "line" in trace and "color" in trace["line"]:
                seen.setdefault(trace["name"], set()).add(trace["line"]["color"])
        axes = figures.regret(part, curves, chosen).axes[0]
        handles, labels = axes.get_legend_handles_labels()
        for handle, label in zip(handles, labels, strict=True):
            seen.setdefault(label, set()).add(handle.get_color())
    assert seen == {name: {style.color} for name, style in chosen.items()}
    winners = {chosen[name] for name in ("p1", "p11", "p6")}
    assert winners == set(COLOURS[:3])  # of the three tasks
    assert sum(style == REST for style in chosen.values()) == 12 - COLOURED


# -------------------------------------------------------------------------------------- the leaderboard


def test_the_leaderboard_says_which_extra_is_missing(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tabulate", None)
    code, output = command("leaderboard", results, "--out", tmp_path / "board.md")
    assert code == 1
    assert output == "Error: tabulate is not installed. In a clone of the repository: pip install '.[bench]'\n"


def test_leaderboard_ranks_and_counts(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "LEADERBOARD.md"
    assert command("leaderboard", results, "--out", out)[0] == 0
    text = out.read_text()
    assert text.startswith(MARK.format("leaderboard"))
    assert "pa-bench run --task <small> & more" in text
    assert f"pa-bench leaderboard {results} --out {out}" in text
    assert "The tasks of the suite" not in text
    summary = summaries.summarise(read(results).rows)
    for task in SMALL:
        part = text.split(f"## {task}\n")[1].split("##")[0]
        listed = [line.split("|")[1:4] for line in part.splitlines() if line.startswith("|")][2:]
        ours = summary.query("task == @task")
        assert [name.split("(")[0].strip() for *_, name in listed] == ours["principal"].tolist()
        for place, (score, rising) in enumerate((("utility", False), ("regret", True))):
            ranks = [line[place].strip() for line in listed]
            contenders = ours[~ours["privileged"]].sort_values(score, ascending=rising)["principal"]
            expected = {principal: str(rank) for rank, principal in enumerate(contenders, 1)}
            assert ranks == [expected.get(principal, "–") for principal in ours["principal"]]
        assert standings.verdicts(summary)[task] in part
    tally = [line.split("|")[2:8] for line in text.split("## Firsts")[1].split("##")[0].splitlines() if "|" in line][2:]
    counts = np.array(tally, int)
    assert counts[:, :3].sum() == counts[:, 3:].sum() == len(SMALL) * (len(PRINCIPALS) - 1)
    assert counts[:, [0, 3]].sum(axis=0).tolist() == [len(SMALL)] * 2


def test_leaderboard_names_the_suite(tmp_path: Path) -> None:
    out = make_results(tmp_path / "r", ["smoke"], ["zero"], seeds=1)
    assert "The tasks of the suite `smoke`. Generated by" in standings.leaderboard(read(out), "")


def test_leaderboard_replaces_only_its_own(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "README.md"
    out.write_text("# Mine\n")
    code, output = command("leaderboard", results, "--out", out)
    assert code == 1
    assert "was not generated" in output
    assert out.read_text() == "# Mine\n"
    out.write_text(MARK.format("leaderboard"))
    assert command("leaderboard", results, "--out", out)[0] == 0
    assert "## k3-t100-uniform" in out.read_text()
