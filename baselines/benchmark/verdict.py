"""Who is best in each task, by how much and how surely: the sentences that a report opens with."""

import pandas as pd

from baselines.benchmark import tables

CAPTION = (
    "Of principals that are not privileged. Differences are paired, with 95% intervals corrected for having picked the"
    " best; those whose interval contains 0 are ties."
)
NAMED = 4  # principals that tie with the best, by name


def verdicts(summary: pd.DataFrame) -> dict[str, str]:
    """A sentence or two for each task; ``summary``: from :func:`baselines.benchmark.summaries.summarise`."""
    return {task: _verdict(part) for task, part in summary.groupby("task", sort=False)}


def _verdict(part: pd.DataFrame) -> str:
    """The verdict of one task."""
    contenders = part[~part["privileged"]]
    if not contenders["best"].any():
        return "Only privileged principals played."
    (best,) = tables.records(contenders[contenders["best"]])
    said = [f"{best['principal']} has the least R_T, {tables.with_interval(best, 'regret')}."]
    others = contenders[~contenders["best"]]
    behind = others[others["regret_difference_low"] > 0]
    ties = others[~others.index.isin(behind.index)].nsmallest(len(others), "regret")["principal"].tolist()
    if ties:
        more = f" and {len(ties) - NAMED} more" if len(ties) > NAMED else ""
        said.append(f"Not told apart from it: {', '.join(ties[:NAMED])}{more}.")
    said += [
        f"{following['principal']} has {tables.with_interval(following, 'regret_difference')} more."
        for following in tables.records(behind.nsmallest(1, "regret_difference"))
    ]
    # Paired: means are of each principal's own seeds, of which some have more.
    (richest,) = tables.records(contenders.fillna({"utility_difference": 0.0}).nlargest(1, "utility_difference"))
    if richest["utility_difference"] > 0:
        more = tables.with_interval(richest, "utility_difference")
        said.append(f"Utility is highest with {richest['principal']}: {more} against the first.")
    return " ".join(said)


def markdown(made: dict[str, str]) -> str:
    """The verdicts as a list in Markdown."""
    lines = (f"- **{task}**: {text}".replace("<", "&lt;").replace("\n", " ") for task, text in made.items())
    return "\n".join([CAPTION, "", *lines])
