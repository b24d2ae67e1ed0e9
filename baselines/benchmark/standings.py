"""Standings: verdicts on tasks, one table of all principals in all tasks, and the leaderboard in Markdown.

Everywhere in utility and in R_T, wins and losses alike.

``summary``: from :func:`baselines.benchmark.summaries.summarise`.
"""

import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from rich.table import Column, Table
from rich.text import Text

from baselines.benchmark import summaries, tables
from baselines.benchmark.formatting import number
from baselines.benchmark.results import Results, read
from baselines.benchmark.statistics import FEWEST, TOO_FEW, Estimate
from baselines.files import refuse_links, write_generated
from baselines.tasks import SUITES
from baselines.text import in_markdown, plain

VERDICT = (
    "Of principals that are not privileged: the most utility and the least R_T, each with a 95% interval. In"
    " parentheses after a principal that is not separated from the best: about the smallest difference that so"
    " many seeds could have shown. The next is the best of those that are surely behind."
)
OVERVIEW = (
    "Utility of every principal in every task, and after the stroke its R_T, each with a 95% interval. The most utility"
    " and the least R_T of a task are marked. Principals with the best mean place in utility come first. † marks R_T"
    " that does not rank principals, since the agent ignores its beliefs."
)
FIRST = {"utility": "most utility", "regret": "least R_T"}
ONLY_PRIVILEGED = "Only privileged principals played."
NAMED = 4  # principals that are not separated from the best, by name
LONGEST_NAME = 40  # letters in a line, in the terminal


class Verdict(NamedTuple):
    """The verdict on a task in one score."""

    score: str
    """"utility" or "regret"."""
    best: str
    """The best principal, and its score."""
    seeds: int
    """Common seeds."""
    level: str
    """Principals that are not separated from it; empty: none."""
    behind: str
    """The next principal, and its difference to the best; empty: there is none."""

    def __str__(self) -> str:
        first = FIRST[self.score]
        parts = [f"{first[0].upper()}{first[1:]}: {self.best}"]
        if self.level:
            parts.append(self.level if self.seeds < FEWEST else f"not separated on {self.seeds:,} seeds: {self.level}")
        if self.behind:
            parts.append(f"next: {self.behind}")
        return "; ".join(parts) + "."


def verdicts(summary: pd.DataFrame) -> dict[str, str]:
    """The verdict on each task, in the order that ranks it first."""
    return {task: _sentences(part) for task, part in summary.groupby("task", sort=False)}


def _sentences(part: pd.DataFrame) -> str:
    """The verdicts on one task, and why there is only one."""
    given = list(_verdicts(part))
    if not given:
        return ONLY_PRIVILEGED
    agent, ignored = part[["agent", "beliefs_ignored"]].iloc[0]
    why = [f"R_T does not rank principals: {agent} does not act on the beliefs behind it."] if ignored else []
    return " ".join([*map(str, given), *why])


def _verdicts(part: pd.DataFrame) -> Iterator[Verdict]:
    """The verdicts on one task: in both scores, the one that ranks it first; in utility alone, if R_T does not rank."""
    contenders = part[~part["privileged"]]
    if contenders.empty:
        return
    ranked_by, ignored = contenders[["ranked_by", "beliefs_ignored"]].iloc[0]
    for score in ("utility",) if ignored else sorted(FIRST, key=lambda score: score != ranked_by):
        yield _verdict(contenders, score)


def _verdict(contenders: pd.DataFrame, score: str) -> Verdict:
    """The verdict in one score: the best, who is not separated from it, and the next."""
    (best,) = tables.records(contenders[contenders[f"{score}_best"]])
    others = contenders[~contenders[f"{score}_best"]].sort_values(f"{score}_difference", ascending=score == "regret")
    rows, seeds = list(tables.records(others)), best["paired_seeds"]
    behind = [row for row in rows if summaries.is_separated(row, score)]
    level = [row for row in rows if row not in behind]
    widths = [Estimate.of(row, f"{score}_difference").half_width for row in level]
    shown = [number(width) if width else "the same" for width in widths]
    names = [f"{row['principal']} ({text})" for row, text in zip(level, shown, strict=True)]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    few = f"{seeds} common {'seed is' if seeds == 1 else 'seeds are'} too few to separate others from it"
    return Verdict(
        score,
        f"{best['principal']}, {tables.with_interval(best, score)}",
        seeds,
        few if level and seeds < FEWEST else ", ".join(names[:NAMED]) + more,
        f"{behind[0]['principal']}, {tables.with_interval(behind[0], f'{score}_difference')}" if behind else "",
    )


def verdict_table(summary: pd.DataFrame) -> pd.DataFrame:
    """The verdicts as a table of text: a row for each task and score."""
    rows = [
        [task, FIRST[verdict.score], verdict.best, verdict.level or "–", verdict.behind or "–"]
        for task, part in summary.groupby("task", sort=False)
        for verdict in _verdicts(part)
    ]
    return pd.DataFrame(rows, columns=["task", "", "best", "not separated from it", "next"])


class Standing(NamedTuple):
    """A principal in a task: its scores as text, with intervals; all empty if it was not to play there."""

    value: float = math.nan
    """Its utility."""
    utility: str = ""
    regret: str = ""
    utility_best: bool = False
    regret_best: bool = False


class Overview(NamedTuple):
    """The table of all principals in all tasks."""

    agents: dict[str, str]
    """The agent of each task."""
    rows: dict[str, list[Standing]]
    """For each principal, marked if it is privileged, its standing in each task; in the order of merit."""


def overview(results: Results, summary: pd.DataFrame) -> Overview:
    """The table of the results."""
    standings = {key: Standing(utility="failed") for key in results.failures}
    for row in tables.records(summary):
        utility, regret = (tables.with_interval(row, score) for score in ("utility", "regret"))
        best = (row["utility_best"], row["regret_best"])
        standings[row["task"], row["principal"]] = Standing(row["utility"], utility, regret, *best)
    tasks = {task for task, _ in standings}
    known = results.rows.drop_duplicates("task").set_index("task")["agent"]
    agents = {task: known.get(task, "no results") for task in results.manifest["tasks"] if task in tasks}
    rows = {}
    for name in dict.fromkeys([*summaries.merit(summary), *(failed for _, failed in results.failures)]):
        marked = f"{name} (privileged)" if summaries.privileged(name) else name
        rows[marked] = [standings.get((task, name), Standing()) for task in agents]
    return Overview(agents, rows)


def overview_markdown(table: Overview) -> str:
    """The table in Markdown, the best in bold."""
    rows = [[name, *map(_cell, row)] for name, row in table.rows.items()]
    heads = [f"{task}, {agent}" for task, agent in table.agents.items()]
    return tables.markdown(pd.DataFrame(rows, columns=["principal", *heads]), as_is=heads)


def _cell(standing: Standing) -> str:
    texts = ((standing.utility, standing.utility_best), (standing.regret, standing.regret_best))
    return " / ".join(_bold(text) if best else text for text, best in texts if text)


def _bold(text: str) -> str:
    """The value, not its interval, in bold."""
    value, space, interval = text.partition(" ")
    return f"**{value}**{space}{interval}"


def for_terminal(table: Overview, width: int) -> Iterator[Table]:
    """The table without intervals, the best with a star; cut into tables of as many tasks as fit the width."""
    free = width - min(max(map(len, table.rows)), LONGEST_NAME) - 4
    blocks: list[list[tuple[str, list[str]]]] = []
    used = width
    for place, (task, agent) in enumerate(table.agents.items()):
        head = [*task.split("-"), *(() if agent in task else agent.split("-"))]
        cells = [_short_cell(row[place]) for row in table.rows.values()]
        needed = max(map(len, [*head, *cells])) + 3
        if used + needed > free:
            blocks.append([])
            used = 0
        blocks[-1].append(("\n".join(head), cells))
        used += needed
    for block in blocks:
        columns = [Column(Text(head), justify="right") for head, _ in block]
        first = Column("principal", max_width=LONGEST_NAME, overflow="fold")
        terminal = Table(first, *columns, title="utility / R_T, * the best")
        for name, *texts in zip(table.rows, *(cells for _, cells in block), strict=True):
            if any(texts):
                terminal.add_row(Text(name), *texts)
        yield terminal


def _short_cell(standing: Standing) -> str:
    """Utility and R_T without intervals."""
    utility, regret = (text.partition(" ")[0] for text in (standing.utility, standing.regret))
    return f"{utility}{' *'[standing.utility_best]}/ {regret}{' *'[standing.regret_best]}" if regret else utility


def write_leaderboard(directory: Path, out: Path) -> None:
    """Write the leaderboard of the results in a folder; a file that is not one of ours is left alone."""
    refuse_links(out, *(each for each in out.parents if directory in each.parents))  # a stranger's, perhaps
    command = plain(shlex.join(["pa-bench", "leaderboard", str(directory), "--out", str(out)]))
    write_generated(out, "leaderboard", leaderboard(read(directory), command))


def leaderboard(results: Results, command: str) -> str:
    """The file's text; ``command`` is the one that writes it."""
    summary = summaries.summarise(results.rows)
    facts = tables.facts(results)
    commands = "\n".join(f"    {line}" for line in [*facts.pop("commands").splitlines(), command])
    played = set(summary["task"])
    whole = [f"`{suite}`" for suite, members in SUITES.items() if played == set(members)]
    parts = [
        "# Leaderboard",
        f"The tasks of the suite {whole[0]}. Generated by" if whole else "Generated by",
        commands,
        in_markdown("; ".join(f"{name}: {value}" for name, value in facts.items()) + "."),
        tables.REGRET + " Lower regret is better, higher utility is better. Columns with # are places: 1 is the best.",
        f"{tables.IGNORED} {tables.ORDER} Square brackets are 95% bootstrap intervals over seeds. {tables.SEPARATION}"
        f" {TOO_FEW} {tables.BEHIND_ZERO}",
        VERDICT,
        "## Firsts",
        "In how many tasks a principal has the most utility (the least R_T), is not separated from the one that has,"
        " and is behind it. Principals play different numbers of tasks; those whose R_T does not rank are left out of"
        " R_T.",
        tally(summary),
    ]
    texts = verdicts(summary)
    rows = dict(list(results.rows.groupby("task", sort=False)))
    for task, part in summary.groupby("task", sort=False):
        parts += [*map(in_markdown, (f"## {task}", tables.about(task, rows[task]), texts[task])), ranking(part)]
    return "\n\n".join(parts) + "\n"


def tally(summary: pd.DataFrame) -> str:
    """The tasks in which each principal is first, not separated from the first, and behind, in both orders."""
    contenders = summary[~summary["privileged"]]
    columns = {}
    for score, first in FIRST.items():
        ranked = contenders[~contenders["beliefs_ignored"]] if score == "regret" else contenders
        best, by = ranked[f"{score}_best"], ranked["principal"]
        behind = pd.Series(
            [summaries.is_separated(row, score) for row in tables.records(ranked)], ranked.index, dtype=bool
        )
        columns[first] = best.groupby(by).sum()
        columns[f"not separated from {first}"] = (~best & ~behind).groupby(by).sum()
        columns[f"behind {first}"] = behind.groupby(by).sum()
    counts = pd.DataFrame(columns).fillna(0).astype(int)
    counts = counts.sort_values(list(FIRST.values()), ascending=False, kind="stable")
    return tables.markdown(counts.rename_axis("principal").reset_index().astype(str))


def ranking(part: pd.DataFrame) -> str:
    """The principals of a task with their places in both orders; the privileged have none."""
    contenders = part[~part["privileged"]]
    table = pd.DataFrame(index=part.index)
    for score, sign in summaries.ORDERS.items():
        places = (sign * contenders[score]).rank(method="min")
        unranked = score == "regret" and part["beliefs_ignored"].any()
        table[f"{tables.HEADINGS[score]} #"] = "–" if unranked else places.reindex(part.index).map("{:.0f}".format)
    table["principal"] = [tables.name(row) for row in tables.records(part)]
    for score in tables.COMPARED:
        table[tables.HEADINGS[score]] = [tables.with_interval(row, score) for row in tables.records(part)]
    return tables.markdown(table.replace("nan", "–"))
