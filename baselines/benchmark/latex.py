"""The summary of a benchmark as LaTeX: for each task a table of what is compared, and one of the other columns.

A table is no wider than the text, and has the symbols of the paper. It needs the packages booktabs and adjustbox.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from baselines.benchmark import tables

NEEDS = "% Needs \\usepackage{booktabs,adjustbox}"
WORDS = {"~": r"\textasciitilde{}", "^": r"\^{}", "\\": r"\textbackslash{}"}
SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_{}"} | WORDS)
SYMBOLS = {
    "regret": "$R_T$",
    "regret_median": "median $R_T$",
    "regret_q90": r"90\% of $R_T$",
    "utility": "utility",
    "regret_difference": r"$R_T - R_T^{\mathrm{best}}$",
    "utility_difference": r"utility $-$ best",
    "regret_oracle": r"$R_T^{\mathrm{oracle}}$",
    "regret_bar": r"$\bar R_T$",
    "slope": "slope",
}
PARTS = (
    ("regret", "utility", "regret_difference", "utility_difference"),
    ("regret_median", "regret_q90", "regret_oracle", "regret_bar", "slope"),
)
CAPTION = (
    "Task {task}: means over seeds, with 95\\% bootstrap intervals as subscripts; differences to the best (least $R_T$)"
    " are paired, with intervals corrected for having picked it."
)


def escaped(text: str) -> str:
    """Text without what LaTeX would interpret."""
    return text.translate(SPECIAL)


def tables_of(summary: pd.DataFrame) -> str:
    """The tables of all tasks; ``summary``: from :func:`baselines.benchmark.summaries.summarise`."""
    parts = [_table(task, part) for task, part in summary.groupby("task", sort=False)]
    return "\n\n".join([NEEDS, *parts]) + "\n"


def _table(task: str, part: pd.DataFrame) -> str:
    """The floating table of one task."""
    tabulars = ["\n".join(_tabular(part, scores)) for scores in PARTS]
    return "\n".join(
        [
            r"\begin{table}[p]",
            r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{CAPTION.replace('{task}', escaped(task))}}}",
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
    for row in tables.records(part):
        yield (
            " & ".join([escaped(tables.name(row)), str(row["seeds"]), *(_cell(row, score) for score in scores)])
            + r" \\"
        )
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield r"\end{adjustbox}"


def _cell(row: Mapping[str, Any], score: str) -> str:
    """``$12.3_{[11.9, 12.8]}$``; – for nan."""
    mean, _, interval = tables.with_interval(row, score).partition(" ")
    if mean == "–":
        return "--"
    ends = f"_{{{interval}}}" if interval else ""
    return r",\,".join(text.replace(",", "{,}") for text in f"${mean}{ends}$".split(", "))
