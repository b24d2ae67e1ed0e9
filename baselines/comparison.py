"""Compare principals from Python, on the same episodes.

>>> import baselines
>>> comparison = baselines.compare(["profit-target", "zero"], horizon=100, seeds=50)
>>> comparison.table.index.tolist()  # the most utility first, as in all short games
['profit-target', 'zero']
>>> bool(comparison.difference("profit-target", "zero").loc["regret", "high"] < 0)
True
"""

import html
import importlib.util
import math
import os
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from baselines.benchmark.blocks import Block, blocks_of, episodes_of, play, read_table
from baselines.benchmark.pool import announce_compilation, play_in_processes
from baselines.episodes import log_spaced
from baselines.extras import extra_named
from baselines.players import principals_by_label
from baselines.registry import PrincipalLike, describe, resolve_agent
from baselines.simulation import complete, seeds_of
from baselines.tasks import Objects, Task, settings
from baselines.text import plain
from pa_env.checks import known, whole
from pa_env.game import Game
from pa_env.instances import InstanceLike
from pa_env.kernel.layout import SCORES, Floats, Integers
from pa_env.scripted_agents import AgentLike

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from rich.console import Console

READABLE = {"utility": "utility", "regret": "R_T", "regret_oracle": "R_T^oracle"}  # of the readable tables
QUANTILES = {"median": 0.5, "q05": 0.05, "q95": 0.95}
POOL_AFTER_S = 2.0  # about the pool's start-up cost
WIDEST = 34  # letters of a label in a terminal


def compare(
    principals: Sequence[PrincipalLike] | Mapping[str, PrincipalLike],
    task: str | Task | None = None,
    *,
    agent: AgentLike | None = None,
    instance: InstanceLike | None = None,
    n_arms: int | None = None,
    horizon: int | None = None,
    seeds: int | Iterable[int] = 1000,
    workers: int | None = None,
) -> "Comparison":
    """Play the same episodes with each of several principals, and compare their scores.

    All principals meet the same instances and the same rewards, seed by seed, so differences are paired. Nothing is
    kept on disk: for studies that take hours use ``pa-bench run``, which resumes after an interruption. Needs the extra
    ``[bench]``.

    >>> compare(["ipa", "elimination,constants=practical"], "k5-t200-uniform", seeds=20).checkpoints[-1]
    np.int64(200)

    Args:
        principals: names of :func:`baselines.principals`, specs such as ``"elimination,constants=practical"``,
            ``"file.py:Mine"`` or ``"policy.npz"``, paths of policy files, classes, objects with ``reset``, ``offer``
            and ``observe`` that are made for a game of this size, models of Stable-Baselines3; or a dictionary from
            your own labels to these.
        task: a task's name (``pa-bench list``); or None, and the next four arguments give the setting.
        agent: a name, a spec (``"exploratory,c0=0.3"``, ``"file.py:Mine"``), a class, an object, or the result of
            ``pa_env.make_agent``; default ``"empirical-mean"``.
        instance: a family's name, an instance, a function ``rng -> instance``, or a spec (``"file.py:mine"``); default
            ``"uniform"``.
        n_arms: number of arms K; default: that of the instance, or of principals given as objects, or 5.
        horizon: rounds T; default: that of principals given as objects, or 1000.
        seeds: how many episodes, of seeds 0, 1, ...; or the seeds themselves, all different.
        workers: processes; None: one for each core. Short comparisons are played in this process.
    """
    with extra_named():
        import pyarrow  # noqa: F401 - comes with the extra, as the next two do
        from rich.console import Console
        from rich.progress import Progress
    entered = principals_by_label(principals)
    keywords = {"agent": agent, "instance": instance, "n_arms": n_arms, "horizon": horizon}
    setting, objects = _label(complete(task, keywords, entered.values()))
    objects = {**objects, **{("principal", label): each for label, each in entered.items()}}
    chosen = seeds_of(seeds)
    cores = os.cpu_count() or 1 if workers is None else whole("workers", workers, 1)
    console = Console(stderr=True)
    announce_compilation(console)
    privileged = {label: _check(Block(setting, label, chosen), objects) for label in entered}
    of_each = zip(*(blocks_of(setting, label, chosen) for label in entered), strict=True)
    blocks = [block for some_seeds in of_each for block in some_seeds]
    sums: dict[str, list[Floats]] = {label: [] for label in entered}
    parts: dict[Block, Floats] = {}
    with Progress(console=console, transient=True, disable=not draws_bars(console)) as progress:
        bar = progress.add_task("episodes", total=len(entered) * len(chosen))
        for block, table in _play(blocks, objects, cores):
            parts[block] = np.stack([table[name].to_numpy().reshape(len(block.seeds), -1) for name in SCORES])
            progress.advance(bar, len(block.seeds))
    for block in blocks:
        sums[block.principal].append(parts[block])
    samples = {label: np.concatenate(arrays, axis=1) for label, arrays in sums.items()}
    about = _about(setting, objects, task)
    return Comparison(about, setting.agent, setting.checkpoints, np.array(chosen), samples, privileged)


class ComparisonTask(Task):
    """The task of a comparison, which has more checkpoints than those of a benchmark."""

    @property
    def checkpoints(self) -> Integers:
        """Rounds after which a run is scored."""
        return log_spaced(self.horizon)


def _label(setting: Task) -> tuple[ComparisonTask, Objects]:
    """Return a setting with labels in place of its objects, and the objects that they stand for."""
    values, objects = vars(setting).copy(), {}
    if not isinstance(values["agent"], str):
        values["agent"] = resolve_agent(values["agent"])
    for role in ("agent", "instance"):
        if not isinstance(value := values[role], str):
            values[role] = getattr(value, "name", "") or getattr(value, "__name__", type(value).__name__)
            objects[role, values[role]] = value
    labelled = ComparisonTask(**values)
    game = Game(**settings(labelled, objects))
    return replace(labelled, n_arms=game.n_arms, dim=game.dim or None), objects


def _check(block: Block, objects: Objects) -> bool:
    """Raise if the principal of a block can't play; returns True if it is privileged."""
    try:
        return type(episodes_of(block, objects).begin(block.seeds[0])).privileged
    except Exception as error:
        raise ValueError(f"{block.principal:.200} can't play this game: {error}") from error


def _play(blocks: Sequence[Block], objects: Objects, workers: int) -> "Iterator[tuple[Block, pa.Table]]":
    """Play blocks, the first ones in this process; yields each with its table, in any order."""
    start = time.monotonic()
    for i, block in enumerate(blocks):
        if workers > 1 and time.monotonic() - start > POOL_AFTER_S:
            for result in play_in_processes(blocks[i:], objects, workers, math.inf):
                if result.data is None:
                    raise RuntimeError(result.failure)
                yield result.block, read_table(result.data)
            return
        try:
            table = play(block, objects)
        except Exception as error:
            error.add_note(f"{block.principal} was playing seeds {block.seeds[0]} to {block.seeds[-1]}")
            raise
        yield block, table


def draws_bars(console: "Console") -> bool:
    """Return whether a progress bar can be drawn: elsewhere rich would print empty lines or a warning."""
    return console.is_terminal or (console.is_jupyter and importlib.util.find_spec("ipywidgets") is not None)


def _about(setting: Task, objects: Objects, task: str | Task | None) -> str:
    """The setting in a line."""
    agent, instance = (
        name if (role, name) in objects else describe(name, role).label
        for role, name in (("agent", setting.agent), ("instance", setting.instance))
    )
    c0 = getattr(objects.get(("agent", setting.agent)), "c0", 0.0)
    title = f"{setting.name}: " if task is not None else ""
    explores = f" (c0 = {c0:g})" if c0 else ""
    return f"{title}agent {agent}{explores}, instance {instance}, K = {setting.n_arms}, T = {setting.horizon:,}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of :func:`compare`; prints as a table, in a terminal and in a notebook.

    Intervals are 95% bootstrap intervals of means over seeds (:mod:`baselines.benchmark.statistics`).

    Args:
        setting: agent, instance, K and T, in words.
        agent: its name.
        checkpoints: (C,), in rounds played.
        seeds: (N,), of the episodes.
        samples: for each principal the sums (S, N, C) of every score in :data:`pa_env.kernel.layout.SCORES`, of every
            episode at every checkpoint; NaN where a score is not defined for the agent.
        privileged: of each principal, True if it is shown the agent's beliefs.
    """

    setting: str
    agent: str
    checkpoints: Integers
    seeds: Integers
    samples: dict[str, Floats]
    privileged: dict[str, bool]

    @cached_property
    def scores(self) -> tuple[str, ...]:
        """Names of the scores that are defined for the agent."""
        return tuple(name for k, name in enumerate(SCORES) if not np.isnan(next(iter(self.samples.values()))[k]).any())

    def _of(self, label: str) -> Floats:
        """The sums (scores, N, C) of a principal."""
        return self.samples[label][[SCORES.index(name) for name in self.scores]]

    @cached_property
    def table(self) -> "pd.DataFrame":
        """A row for each principal, with six columns for each score at the horizon.

        It is sorted by R_T, or by utility in games of at most ``tasks.SHORT`` rounds and against agents that ignore the
        beliefs which R_T is measured against. :attr:`verdict` has both orders.

        They are ``regret`` (its mean), ``regret_low`` and ``regret_high`` (ends of its interval), ``regret_median``,
        ``regret_q05`` and ``regret_q95`` (quantiles over seeds), and likewise for the other scores.
        """
        import pandas as pd

        from baselines.benchmark.statistics import mean_interval
        from baselines.benchmark.summaries import ORDERS, ranking_score

        rows = {}
        for label in self.samples:
            final = self._of(label)[:, :, -1].T
            low, high = mean_interval(final)
            columns = {"": final.mean(axis=0), "_low": low, "_high": high}
            columns |= {f"_{name}": np.quantile(final, share, axis=0) for name, share in QUANTILES.items()}
            rows[label] = {
                score + end: values[k] for k, score in enumerate(self.scores) for end, values in columns.items()
            }
        score = ranking_score(self.agent, int(self.checkpoints[-1]))
        table = pd.DataFrame.from_dict(rows, orient="index")
        return table.sort_values(score, ascending=ORDERS[score] > 0, kind="stable").rename_axis("principal")

    @cached_property
    def verdict(self) -> str:
        """The principals with the most utility and the least R_T, and those that are not separated from them."""
        import pandas as pd

        from baselines.benchmark.standings import ONLY_PRIVILEGED, verdicts
        from baselines.benchmark.summaries import summarise

        horizon = int(self.checkpoints[-1])
        same = {"task": "", "agent": self.agent, "seed": self.seeds, "rounds": horizon, "horizon": horizon}
        contenders = [label for label in self.samples if not self.privileged[label]]
        if not contenders:
            return ONLY_PRIVILEGED
        rows = [
            pd.DataFrame({**same, "principal": label, **dict(zip(SCORES, self.samples[label][..., -1], strict=True))})
            for label in contenders
        ]
        return verdicts(summarise(pd.concat(rows)))[""]

    def difference(self, a: str, b: str) -> "pd.DataFrame":
        """Paired differences: the scores of ``a`` minus those of ``b`` in the same episodes.

        A row for each score; columns: mean, low, high.
        """
        import pandas as pd

        from baselines.benchmark.statistics import mean_interval

        for label in (a, b):
            known("principal", label, self.samples)
        paired = (self._of(a) - self._of(b))[:, :, -1].T
        low, high = mean_interval(paired)
        table = pd.DataFrame({"mean": paired.mean(axis=0), "low": low, "high": high}, index=list(self.scores))
        return table.rename_axis("score")

    @cached_property
    def curves(self) -> "pd.DataFrame":
        """R_t at each checkpoint; columns: principal, rounds, mean, low, high."""
        return self._curves("regret")

    def _curves(self, score: str, minus: str | None = None) -> "pd.DataFrame":
        """The curves of a score, or of its paired differences to a principal."""
        import pandas as pd

        from baselines.benchmark.summaries import curve

        known("score", score, self.scores)
        sums = {label: self.samples[label][SCORES.index(score)] for label in self.table.index}
        if minus is not None:
            known("minus", minus, self.samples)
            sums = {label: values - sums[minus] for label, values in sums.items() if label != minus}
        parts = (curve(self.checkpoints, values, principal=label) for label, values in sums.items())
        return pd.concat(parts, ignore_index=True)

    def plot(
        self, score: str = "utility", minus: str | None = None, *, log: bool | None = None, ax: "Axes | None" = None
    ) -> "Figure | SubFigure":
        """Draw a score against the rounds played: means, and their intervals as bands.

        ``comparison.plot("regret").savefig("regret.pdf")`` has a size for papers.

        Args:
            score: one of ``scores``.
            minus: a principal: draw paired differences to it, seed by seed.
            log: logarithmic axes; the score's is linear between -1 and 1. None: only that of a regret, if regrets are
                far apart.
            ax: axes of yours to draw on; None: those of a new figure.
        """
        from baselines.pictures import draw_lines, legend, score_axes, styles

        curves = self._curves(score, minus)
        order = self.table[["regret"]].assign(task="", privileged=self.privileged).reset_index()
        ends = order.loc[~order["privileged"], "regret"]
        far_apart = score.startswith("regret") and ends.max() > 50 * max(ends.min(), 1.0)
        height = 3.2 + 0.2 * len(order) / 2
        figure, axes = score_axes(score, minus, log=log, ax=ax, height=height, far_apart=far_apart)
        labels = [label for label in order["principal"] if label != minus]
        draw_lines(axes, curves, labels, styles(order), {})
        if minus is not None:
            axes.axhline(0, color="black", linewidth=0.8)
        if ax is None:
            legend(figure)
        else:
            ax.legend(frameon=False, fontsize="small")
        return figure

    def to_latex(self) -> str:
        """The table for a paper that uses booktabs: means with their intervals, medians and 95% quantiles."""
        from baselines.benchmark.tables import SYMBOLS, escaped

        table = self._readable()
        table["principal"] = table["principal"].map(escaped)
        heads = {heading: SYMBOLS[score] for score, heading in READABLE.items()} | {"95%": r"95\%"}
        text: str = table.rename(columns=heads).to_latex(index=False, column_format="l" + "r" * (table.shape[1] - 1))
        return text

    def __str__(self) -> str:
        from baselines.benchmark.formatting import number, plus_minus
        from baselines.benchmark.statistics import Estimate
        from baselines.benchmark.tables import records

        lines = [["principal", "utility", "R_T", "median", "95%", "R_T^oracle"]]
        for label, row in zip(self._labels(), records(self.table), strict=True):
            shortened = label if len(label) <= WIDEST else "…" + label[1 - WIDEST :]
            spread = (number(row["regret_median"]), number(row["regret_q95"]))
            means = [plus_minus(Estimate.of(row, score)) for score in READABLE]
            lines.append([shortened, *means[:2], *spread, *means[2:]])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ("  ".join([f"{row[0]:<{widths[0]}}", *map(str.rjust, row[1:], widths[1:])]) for row in lines)
        return "\n".join([f"{self.setting}\n{self._counts()}", *text, *textwrap.wrap(self.verdict, 100)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table: str = self._readable().to_html(index=False, border=0)
        return f"<p>{html.escape(self.setting)}; {self._counts()}</p>{table}<p>{html.escape(self.verdict)}</p>"

    def _counts(self) -> str:
        episodes = "1 episode" if self.seeds.size == 1 else f"{self.seeds.size:,} episodes"
        return f"{episodes} of each; means with 95% intervals, median and 95% quantile of R_T"

    def _labels(self) -> list[str]:
        """Labels of the principals in the order of the table; privileged ones and stand-ins are marked."""
        from baselines.registry import label

        return [plain(label(name)) + " (privileged)" * self.privileged[name] for name in self.table.index]

    def _readable(self) -> "pd.DataFrame":
        """The table as text, for pages and papers."""
        import pandas as pd

        from baselines.benchmark.formatting import number
        from baselines.benchmark.tables import records, with_interval

        rows = list(records(self.table))
        means = {heading: [with_interval(row, score) for row in rows] for score, heading in READABLE.items()}
        spread = {"median": "regret_median", "95%": "regret_q95"}
        spreads = {heading: [number(row[column]) for row in rows] for heading, column in spread.items()}
        last = means.pop("R_T^oracle")
        return pd.DataFrame({"principal": self._labels(), **means, **spreads, "R_T^oracle": last})
