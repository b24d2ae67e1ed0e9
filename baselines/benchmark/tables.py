"""The summary of a benchmark as tables of readable numbers, for terminals, pages (Markdown) and papers (LaTeX).

``summary``: from :func:`baselines.benchmark.summaries.summarise`.
"""

import functools
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from baselines.benchmark.formatting import bracketed
from baselines.benchmark.manifest import LIBRARIES
from baselines.benchmark.results import Results, listed
from baselines.benchmark.statistics import TOO_FEW, Estimate, Row
from baselines.benchmark.summaries import ignores_beliefs
from baselines.tasks import SHORT, TASKS
from baselines.text import in_markdown
from pa_env.scripted_agents import AGENTS

HEADINGS = {
    "utility": "utility",
    "utility_difference": "utility - best",
    "regret": "R_T",
    "regret_difference": "R_T - least",
    "regret_median": "median R_T",
    "regret_q90": "90% of R_T",
    "regret_oracle": "R_T^oracle",
    "regret_bar": "Rbar_T",
    "slope": "slope",
}
MARKS = {  # of principals, by columns of the summary
    "privileged": "privileged",
    "utility_best": "most utility",
    "regret_best": "least R_T",
    "below_zero": "behind zero",
}
REGRET = (
    "R_T is against the best incentives for the agent's beliefs at the time. An uninformed agent lowers it: look at"
    " utility as well."
)
REGRETS = (
    f"{REGRET} R_T^oracle is against the best incentives for the agent's true means, and Rbar_T charges every incentive"
    " offered, taken or not."
)
IGNORED = (
    "† marks R_T against an agent that does not act on the beliefs which R_T is measured against"
    f" ({', '.join(filter(ignores_beliefs, AGENTS))}, trained ones): principals are not ranked by it."
)
SET_ASIDE = ("regret", "regret_median", "regret_q90")  # marked where beliefs are ignored
ORDER = (
    f"Tasks of at most {SHORT:,} rounds, and those of such agents, are sorted by utility, the others by R_T; all have"
    " utility and R_T."
)
SEPARATION = (
    "Differences are to the principal with the most utility, and to the one with the least R_T, of those that are not"
    " privileged. They are paired on the seeds that all principals of the task have; the intervals of one score in a"
    " task hold all at once, and are corrected for having picked the best on the same seeds (by the distribution of the"
    " largest deviation, max-T). A principal whose interval contains 0, before rounding, is not separated from the"
    " best: that is no proof of a tie. Half the width of the interval is about the smallest difference that so many"
    " seeds could have shown."
)
BEHIND_ZERO = (
    "Behind zero: the 95% interval of the paired difference in utility to zero, which offers nothing, is below 0."
)
PAIRING = (
    f"{IGNORED} {ORDER} Square brackets are 95% bootstrap intervals over seeds. {SEPARATION} The slope is that of log"
    f" R_t on log t over the last two decades of the runs: growth within a run of known length. {TOO_FEW}"
    f" {BEHIND_ZERO}"
)
NEEDS = "% Needs \\usepackage{booktabs,adjustbox}"
WORDS = {"~": r"\textasciitilde{}", "^": r"\^{}", "\\": r"\textbackslash{}"}
SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_{}"} | WORDS)
SYMBOLS = {
    "utility": "utility",
    "utility_difference": r"utility $-$ best",
    "regret": "$R_T$",
    "regret_difference": r"$R_T - R_T^{\mathrm{least}}$",
    "regret_median": "median $R_T$",
    "regret_q90": r"90\% of $R_T$",
    "regret_oracle": r"$R_T^{\mathrm{oracle}}$",
    "regret_bar": r"$\bar R_T$",
    "slope": "slope",
}
COMPARED = ("utility", "utility_difference", "regret", "regret_difference")  # in the smaller tables
LATEX_PARTS = (
    COMPARED,
    ("regret_median", "regret_q90", "regret_oracle", "regret_bar", "slope"),
)
LATEX_CAPTION = (
    "Task {task}: means over seeds, with 95\\% bootstrap intervals as subscripts; differences to the best in utility"
    " and to the least $R_T$ are paired, with intervals corrected for having picked it."
)
LATEX_IGNORED = r" $\dagger$ The agent does not act on the beliefs which $R_T$ is measured against."


def with_interval(row: Row, score: str) -> str:
    """A score of the summary's row with its interval; differences show their sign, and R_T that is set aside a mark."""
    text = bracketed(Estimate.of(row, score), "+" if score.endswith("difference") else "")
    if score in SET_ASIDE and row.get("beliefs_ignored"):
        value, space, interval = text.partition(" ")
        text = f"{value}†{space}{interval}"
    return text


def readable(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as text: a column for the task, the principal, the seeds, and each of ``HEADINGS``."""
    table = pd.DataFrame({"task": summary["task"], "principal": [name(row) for row in records(summary)]})
    table["seeds"] = summary["seeds"].astype(str)
    for score, heading in HEADINGS.items():
        table[heading] = [with_interval(row, score) for row in records(summary)]
    return table


def markdown(table: pd.DataFrame, as_is: Collection[str] = ()) -> str:
    """A table of text in Markdown, which shows every cell and heading as it is; columns ``as_is`` are Markdown."""
    import tabulate  # noqa: F401  (for pandas, whose own error would not name the extra)

    safe = {name: table[name] if name in as_is else table[name].map(in_markdown) for name in table}
    return str(pd.DataFrame(safe).rename(columns=in_markdown).to_markdown(index=False, disable_numparse=True))


def name(row: Row) -> str:
    """The principal's label, with the ``MARKS`` that it has."""
    marks = [mark for column, mark in MARKS.items() if row.get(column)]
    return f"{row['principal']}{' (' * bool(marks)}{', '.join(marks)}{')' * bool(marks)}"


def records(summary: pd.DataFrame) -> Iterator[Row]:
    """The rows one by one."""
    yield from summary.to_dict("records")


def about(task: str, rows: pd.DataFrame) -> str:
    """Describe a task of these rows: what it probes (if this version has it), its setting, and its number of seeds."""
    first, seeds = rows.iloc[0], rows.groupby("principal")["seed"].unique()
    common = functools.reduce(np.intersect1d, seeds)
    probes = f"{TASKS[task].probes} " if task in TASKS else ""
    dim = f", d = {first['dim']}" if first["dim"] else ""
    return (
        f"{probes}Agent {first['agent']}, instance {first['instance']}, K = {first['n_arms']}{dim},"
        f" T = {first['horizon']:,}; {rows['seed'].nunique():,} seeds, of which all principals have"
        f" {len(common):,}."
    )


def facts(results: Results) -> dict[str, str]:
    """Facts about the results: commands (a line each), versions, seeds, and failures."""
    manifest, seeds = results.manifest, results.rows["seed"]
    versions = [f"{name} {manifest[name]}" for name in ("python", *LIBRARIES)]
    failed = str(results.failures.total())
    return {
        "commands": "\n".join(manifest["commands"]),
        "versions": ", ".join([f"principal-agent-env {manifest['version']}", *versions]),
        "code": manifest["code"][:12],
        "seeds": f"{seeds.min()} to {seeds.max()}",
        "failed blocks": f"{failed} ({listed(results.failures)})" if results.failures else failed,
    }


def escaped(text: str) -> str:
    """Text without what LaTeX would interpret."""
    return text.translate(SPECIAL)


def latex(summary: pd.DataFrame) -> str:
    """For each task a table of what is compared, and one of the other columns, no wider than the text."""
    parts = [_latex_table(task, part) for task, part in summary.groupby("task", sort=False)]
    return "\n\n".join([NEEDS, *parts]) + "\n"


def _latex_table(task: str, part: pd.DataFrame) -> str:
    """The floating table of one task."""
    note = LATEX_IGNORED if part["beliefs_ignored"].any() else ""
    tabulars = ["\n".join(_tabular(part, scores)) for scores in LATEX_PARTS]
    return "\n".join(
        [
            r"\begin{table}[p]",
            r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{LATEX_CAPTION.replace('{task}', escaped(task))}{note}}}",
            *"\n\\par\\medskip\n".join(tabulars).splitlines(),
            r"\end{table}",
        ]
    )


def _tabular(part: pd.DataFrame, scores: tuple[str, ...]) -> Iterator[str]:
    """The lines of a table of some of the scores, best first."""
    yield r"\begin{adjustbox}{max width=\textwidth}"
    yield rf"\begin{{tabular}}{{l{'r' * (1 + len(scores))}}}"
    yield r"\toprule"
    yield " & ".join(["principal", "seeds", *(SYMBOLS[score] for score in scores)]) + r" \\"
    yield r"\midrule"
    for row in records(part):
        yield (
            " & ".join([escaped(name(row)), str(row["seeds"]), *(_latex_cell(row, score) for score in scores)]) + r" \\"
        )
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{adjustbox}"


def _latex_cell(row: Row, score: str) -> str:
    """``$12.3_{[11.9, 12.8]}$``; – for nan."""
    mean, _, interval = with_interval(row, score).partition(" ")
    if mean == "–":
        return "--"
    ends = (r"^\dagger" if mean.endswith("†") else "") + (f"_{{{interval}}}" if interval else "")
    mean = mean.removesuffix("†")
    return r",\,".join(text.replace(",", "{,}") for text in f"${mean}{ends}$".split(", "))
