"""Generated pages have the numbers of the code beside them: a few cheap cells of each are played again and compared.

A page that fails was made by code that plays or counts differently: the command at its top makes it again.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from baselines.benchmark import blocks, standings
from baselines.benchmark.formatting import bracketed, plus_minus
from baselines.benchmark.statistics import estimate
from baselines.benchmark.summaries import summarise
from baselines.reproduce import (
    ablations,
    exploitability,
    lower_bound,
    own_regret,
    phases,
    practical,
    published,
    table1,
    theorems,
    types,
    who_wins,
    worst_case,
)
from baselines.reproduce.claim import PRACTICAL, CellScores, Measurement, Study, mean_text
from baselines.rl.evaluate import PLAYED_SCORES, payoffs
from baselines.tasks import Task, task
from pa_env.kernel.layout import Floats

ROOT = Path(__file__).parents[2]
TABLE_1 = (("ipa", "oracle"), ("elimination", "empirical-mean"))
RANKED = ("ipa", "zero", "bracket-ucb")
TRAINED = ("zero", "ipa")  # on so many episodes others take too long


@functools.cache
def rows(made: Task, principal: str, seeds: int) -> pd.DataFrame:
    """The runs of a cell."""
    parts = [blocks.play(block).to_pandas() for block in blocks.blocks_of(made, principal, range(seeds))]
    return pd.concat(parts, ignore_index=True)


class Played(CellScores):
    """Scores that are played when they are asked for."""

    def __init__(self, seeds: int, longest: int) -> None:
        self.seeds, self.longest = seeds, longest

    def score(self, made: Task, principal: str, name: str = "regret") -> Floats:
        """Empty for games that are longer than this is to play."""
        played = made.horizon <= self.longest
        return rows(made, principal, self.seeds)[name].to_numpy(np.float64) if played else np.empty(0)


def page(name: str) -> tuple[str, Study]:
    """The text of a page, and how the command that it names plays."""
    text = (ROOT / name).read_text("utf-8")
    seeds = re.search(r"^    pa-bench .*--seeds (\d+)", text, re.M)
    return text, Study(Path("unused"), "unused", seeds=int(seeds[1]) if seeds else None)


def lines(text: str) -> Iterator[dict[str, str]]:
    """The lines of all tables in Markdown, each by the headings of its table."""
    heads: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heads = []
        elif not heads:
            heads = cells
        elif set(line) - set("|:- "):
            yield dict(zip(heads, cells, strict=True))


def only(text: str, **wanted: str) -> dict[str, str]:
    """The one line with these cells."""
    (found,) = (line for line in lines(text) if all(line.get(head) == cell for head, cell in wanted.items()))
    return found


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next."""
    return re.split(r"^#+ ", text.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.M)[0]


def seeds_of(text: str) -> int:
    """How many seeds a task was played on, as its section says."""
    return int(re.search(r"; ([\d,]+) seeds", text)[1].replace(",", ""))  # type: ignore[index]


def of(line: dict[str, str], heads: tuple[str, ...]) -> dict[str, str]:
    return {head: line[head] for head in heads}


def test_the_tables_of_a_page_are_read() -> None:
    text = "# A\n\n| a | b |\n|:--|---|\n| 1 | 2 |\n| 3 | - |\n\n## B\n\n| c |\n|---|\n| 1 |\n"
    assert list(lines(text)) == [{"a": "1", "b": "2"}, {"a": "3", "b": "-"}, {"c": "1"}]
    assert only(text, a="3") == {"a": "3", "b": "-"}
    assert section(text, "B").split() == ["|", "c", "|", "|---|", "|", "1", "|"]


def test_theorems() -> None:
    text, study = page("docs/theorems.md")
    chosen = ("exploratory-oracle", "c0")
    (curve,) = (each for each in theorems.curves(study) if (each.principal, each.varies) == chosen)
    theirs = only(text, **{"principal, agent, instances": curve.label})
    games = [phases.measurement(curve.spec(value), curve.task(value)) for value in curve.values]
    first = {game.name: game.call(*game.arguments) for game in games if phases.MARK in theirs}
    (ours,) = lines(theorems.table([theorems.measure(curve, Played(curve.seeds, 10**7), first)]))
    assert of(ours, tuple(theirs)) == theirs  # a page from before phases were marked has no such column


@pytest.mark.parametrize(("spec", "agent"), TABLE_1)
def test_table_1(spec: str, agent: str) -> None:
    text, study = page("docs/table1.md")
    row = next(row for row in table1.ROWS if row.principal == spec)
    shortest = min(table1.HORIZONS)
    printed = only(text.split("## Practical")[0], principal=spec, agent=agent)
    played = Played(int(printed["seeds"].split("/")[0]), shortest)
    for ours in table1.table((row,), played, study._replace(seeds=played.seeds)).to_dict("records"):
        theirs = only(text.split("## Practical")[0], principal=ours["principal"], agent=ours["agent"])
        cell = f"T = {shortest:.0e}"
        assert theirs["for it"].strip("*") == ours["for it"]
        assert theirs["bound"] == ours["bound"]
        assert theirs[cell].removesuffix(f" ({phases.MARK})") == ours[cell]


def test_against_an_agent_that_learns_the_slope_of_ipa_may_be_1() -> None:
    """As the page of results says."""
    printed = only(page("docs/table1.md")[0].split("## Practical")[0], principal="ipa", agent="empirical-mean")
    low, high = map(float, re.findall(r"[\d.]+", printed["measured"])[1:])
    assert low < 1 < high


def test_ablations(monkeypatch: pytest.MonkeyPatch) -> None:
    text, study = page("docs/ablations.md")
    chosen = tuple(replace(each, horizons=(10**5,)) for each in ablations.ABLATIONS if 10**5 in each.horizons)
    monkeypatch.setattr(ablations, "ABLATIONS", chosen)
    found = ablations.regrets(Played(ablations.seeds(study), 10**5), study)
    for ours in found.to_dict("records"):
        theirs = only(text, **{"left out": ours["left out"], "T": "1e+05"})
        del theirs["verdict"], ours["verdict"]  # corrected for the number of rows, which is smaller here
        assert theirs == ours


def values(measurement: Measurement) -> Floats:
    """The value of a measurement, measured again."""
    return np.array(measurement.call(*measurement.arguments))


def test_own_regret() -> None:
    text, study = page("docs/own-regret.md")
    regrets = values(own_regret.measurements(study)["empirical-mean", 1000])
    assert only(text, agent="empirical-mean")["T = 1e+03"] == mean_text(regrets / 1000)


def test_lower_bound() -> None:
    text, study = page("docs/lower-bound.md")
    for agent, name in (("oracle", "told-all-but-one"), ("empirical-mean", "zero")):
        regrets = values(lower_bound.measurements(study)[agent, name, 1000])
        assert only(text, agent=agent, principal=name)["T = 1e+03"] == mean_text(regrets / np.sqrt(5 * 1000))


def test_published() -> None:
    text, study = page("docs/published.md")
    number, measurement = next(iter(published.measurements(study).items()))
    found = only(text, **{"principal, K, T": number.label})
    assert found["ours"] == plus_minus(estimate(values(measurement)), digits=1)


def test_types() -> None:
    text, study = page("docs/types.md")
    fixed = only(text.split("## Greedy types, a window")[0], principal="bisect-two-arms")
    greedy = types.greedy_regrets("bisect-two-arms", 10**4, int(fixed["runs"]))
    assert fixed["T = 10,000"] == mean_text(greedy / 10**4)
    narrow = values(types.window(study)["bisect-fast", 10])
    assert only(text, principal="bisect-fast")["T = 10"] == mean_text(narrow / 10)
    smooth = values(types.logit(study)[3162])
    assert only(text, T="3,162")["regret"] == bracketed(estimate(smooth))


def test_practical() -> None:
    text, study = page("docs/practical.md")
    pair = next(each for each in practical.pairs(study) if each.task.name == "k5-t1e4-misaligned")
    for head, spec in (("paper", pair.principal), ("practical", pair.principal + PRACTICAL)):
        (regrets,) = Played(pair.seeds, 10**4).per_round(pair.task, [spec], pair.seeds)
        assert only(text, principal=pair.principal, task=pair.task.name)[head] == mean_text(regrets)


def test_worst_case() -> None:
    text, study = page("docs/worst-case.md")
    (game, *_), seeds = worst_case.averages(study)
    regrets = Played(seeds, game.horizon).score(game, "elimination")
    assert only(text.split("## The worst")[0], principal="elimination")["R_T, T = 1e+06"] == bracketed(
        estimate(regrets)
    )


def test_who_wins() -> None:
    text, study = page("docs/who-wins.md")
    made = task("k5-t1000-uniform")
    asked = {cell.principal: cell for cell in who_wins.cells(study) if cell.task.name == made.name}
    seeds = max(int(line["seeds"]) for line in lines(section(text, made.name)))
    summary = summarise(pd.concat([rows(asked[name].task, name, seeds) for name in RANKED]))
    for ours in lines(who_wins.ranking(summary, made.horizon)):
        theirs = same_principal(section(text, made.name), ours)
        heads = ("R_T/T", "median", "90% of runs below", "runs that fail", "utility/T", "seeds")
        assert of(theirs, heads) == of(ours, heads)


def same_principal(text: str, ours: dict[str, str]) -> dict[str, str]:
    """The line of the same principal, however it is marked."""
    (found,) = (line for line in lines(text) if line["principal"].split(" ")[0] == ours["principal"].split(" ")[0])
    return found


@pytest.mark.parametrize("name", ["k3-t100-uniform", "k5-t200-uniform-exploratory"])
def test_leaderboard(name: str) -> None:
    text = section(page("LEADERBOARD.md")[0], name)
    summary = summarise(pd.concat([rows(task(name), spec, seeds_of(text)) for spec in (*RANKED, "ppo")]))
    for ours in lines(standings.ranking(summary)):
        assert of(same_principal(text, ours), ("R_T", "utility")) == of(ours, ("R_T", "utility"))


def test_trained() -> None:
    text = section(page("docs/trained.md")[0], "k3-t100-uniform")
    made = replace(task("k3-t100-uniform"), curve=False)
    for name in TRAINED:
        theirs = only(text, principal=name)
        played = rows(made, name, int(theirs["episodes"].replace(",", "")))
        own: dict[str, Any] = {score: played[score].to_numpy() for score in PLAYED_SCORES}
        means = [plus_minus(estimate(own[score])) for score in ("utility", "regret", "regret_oracle")]
        assert [theirs[head] for head in ("utility", "R_T", "R_T^oracle")] == means


@pytest.mark.parametrize("game", exploitability.GAMES)
def test_exploitability(game: str) -> None:
    text, study = page("docs/exploitability.md")
    greedy = payoffs("zero", exploitability.GREEDY, task(game), range(exploitability.sizes(study)[1]))
    theirs = only(section(text, game), principal="zero")
    assert [theirs["payoff, greedy"], theirs["utility, greedy"]] == [plus_minus(estimate(sums)) for sums in greedy]
