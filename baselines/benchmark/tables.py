"""The summary of a benchmark in words and figures of a readable length, for terminals, pages and papers."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from baselines.benchmark.formatting import bracketed
from baselines.benchmark.results import Results, listed
from baselines.benchmark.statistics import TOO_FEW, Estimate
from baselines.benchmark.versions import LIBRARIES
from baselines.tasks import TASKS

HEADINGS = {
    "regret": "R_T",
    "regret_median": "median R_T",
    "regret_q90": "90% of R_T",
    "utility": "utility",
    "regret_difference": "R_T - best",
    "utility_difference": "utility - best",
    "regret_oracle": "R_T^oracle",
    "regret_bar": "Rbar_T",
    "slope": "slope",
}
REGRETS = (
    "R_T is against the best incentives for the agent's beliefs at the time, R_T^oracle against the best for its true"
    " means, and Rbar_T charges every incentive offered, taken or not. An uninformed agent lowers R_T: look at utility"
    " as well."
)
PAIRING = (
    "Square brackets are 95% bootstrap intervals over seeds. Differences are to the principal with the least R_T that"
    " is not privileged, paired on the seeds that all principals of the task have; their intervals hold all at once and"
    " are corrected for having picked the best on the same seeds (max-T). The slope is that of log R_t on log t over"
    f" the last two decades of the runs: growth within a run of known length. {TOO_FEW}"
)


def with_interval(row: Mapping[str, Any], score: str) -> str:
    """A score of the summary's row with its interval; differences show their sign."""
    return bracketed(Estimate.of(row, score), "+" if score.endswith("difference") else "")


def readable(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as text: a column for the task, the principal, the seeds, and each of ``HEADINGS``."""
    table = pd.DataFrame({"task": summary["task"], "principal": [name(row) for row in records(summary)]})
    table["seeds"] = summary["seeds"].astype(str)
    for score, heading in HEADINGS.items():
        table[heading] = [with_interval(row, score) for row in records(summary)]
    return table


def markdown(table: pd.DataFrame) -> str:
    """A table of text in Markdown; what would break or be taken for HTML in a label is escaped."""
    escaped = table.map(lambda text: text.replace("|", r"\|").replace("<", "&lt;").replace("\n", " "))
    return str(escaped.to_markdown(index=False, disable_numparse=True))


def name(row: Mapping[str, Any]) -> str:
    """The principal's label, marked if it is privileged or the best."""
    mark = " (privileged)" if row["privileged"] else " (best)" if row["best"] else ""
    return f"{row['principal']}{mark}"


def records(summary: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows one by one."""
    yield from summary.to_dict("records")


def about(task: str, rows: pd.DataFrame) -> str:
    """What a task probes (if this version has it), its setting, and how many seeds there are; ``rows``: its own."""
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
    """How the results were made: commands (a line each), versions, seeds, failures and whose they are."""
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
