"""The shape of all claims: each is planned, measured into a folder, and written to a page.

The plan of a claim lists cells (a principal in a task on some seeds) and measurements (what no benchmark keeps). Cells
are played like a benchmark (:mod:`baselines.benchmark.store`); the value of a measurement is one JSON file. So an
interrupted command resumes, a larger one adds to a smaller one, and a page is made from its folder alone.
"""

import hashlib
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from baselines.benchmark import sweep
from baselines.benchmark.blocks import file_name
from baselines.benchmark.formatting import bracketed, number, p_value
from baselines.benchmark.manifest import LIBRARIES, versions
from baselines.benchmark.plan import Plan, make_plan
from baselines.benchmark.results import Results, read
from baselines.benchmark.statistics import LEVEL, estimate, holm, paired_p_value
from baselines.files import only_writer, remove_half_written, write_generated, write_whole
from baselines.tasks import Task
from pa_env.kernel.layout import Floats


class Cell(NamedTuple):
    """A principal (its spec) in a task on the seeds 0, 1, ..., ``seeds - 1``."""

    task: Task
    principal: str
    seeds: int


class Measurement(NamedTuple):
    """A number, or many, that no benchmark keeps."""

    name: str
    """Names its file; unique in the claim."""
    call: Callable[..., Any]
    """Returns an array, or what JSON can hold."""
    arguments: tuple[Any, ...] = ()

    @property
    def id(self) -> str:
        """Its name with a digest of the code that measures it: other code never reads what this one has measured."""
        source = Path(inspect.getfile(self.call)).read_bytes()
        digest = hashlib.sha256(versions()["code"].encode() + source).hexdigest()
        return f"{file_name(self.name)}~{digest[:8]}"


class Study(NamedTuple):
    """The size of a measurement, and the folder that keeps it."""

    out: Path
    """Folder of the results."""
    command: str
    """The command line, named in the folder and on the page."""
    quick: bool = False
    """True for a small version, within seconds."""
    seeds: int | None = None
    """Seeds of each cell; None: the claim's own numbers."""
    workers: int | None = None
    """Processes; None: one for each core."""
    quiet: bool = False
    """True to show no progress."""

    def play(self, cells: Iterable[Cell]) -> list[Path]:
        """Play the blocks of the cells that are missing; returns the files that say why blocks failed."""
        plans = [make_plan((cell.task,), (cell.principal,), cell.seeds) for cell in dict.fromkeys(cells)]
        described = {spec: each for plan in plans for spec, each in plan.described.items()}
        in_turn = zip_longest(*(plan.blocks for plan in plans))
        blocks = [block for each in in_turn for block in each if block is not None]
        engine = sweep.Engine(workers=self.workers)
        return sweep.run(Plan(blocks, described), self.out, self.command, engine, quiet=self.quiet)

    def value(self, measurement: Measurement) -> Any:
        """The value of a measurement, from its file if it is there."""
        path = self.out / "measurements" / f"{measurement.id}.json"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            start = time.monotonic()
            write_whole(path, json.dumps(measurement.call(*measurement.arguments), default=_as_list).encode())
            if not self.quiet:
                print(f"{measurement.name}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
        return json.loads(path.read_text())


PRACTICAL = ",constants=practical"  # behind a principal's name
TESTED = (
    "Verdicts are by paired t-tests, with p-values that Holm's method corrects for asking all of these questions at"
    " once, at 5%. Intervals are of single rows and not corrected: one may leave out 0 where the verdict is `not"
    " separated`. That is no proof of a tie. Behind it stand the number of seeds and half the width of the interval:"
    " after the correction only a larger difference, up to about twice that, would have been shown."
)

SHARES = "A share of n runs has a 95% interval of at most ± 98% / sqrt(n)."


class CellScores:
    """The scores of cells at the horizon, by task and spec of the principal.

    Args:
        results: of the folder.
    """

    def __init__(self, results: Results) -> None:
        rows = results.rows
        self.labels = results.labels
        final = rows[rows["rounds"] == rows["horizon"]].sort_values("seed")
        self.runs = dict(list(final.groupby(["task", "principal"], sort=False)))

    def score(self, task: Task, principal: str, name: str = "regret") -> Floats:
        """The score of the runs on the seeds 0, 1, ..., up to the first that is missing; empty if it is 0.

        Cells can so be compared seed by seed even if some of their blocks failed.
        """
        runs = self.runs.get((task.name, self.labels.get(principal, principal)))
        if runs is None:
            return np.empty(0)
        values: Floats = runs[name].to_numpy(np.float64)
        up_to = int((runs["seed"].to_numpy() == np.arange(values.size)).sum())
        return values[:up_to]

    def per_round(self, task: Task, principals: Sequence[str], seeds: int, name: str = "regret") -> list[Floats]:
        """The score divided by T of each of several principals, on the seeds below ``seeds`` that all of them have."""
        values = [self.score(task, principal, name)[:seeds] / task.horizon for principal in principals]
        return [each[: min(map(len, values))] for each in values]


@dataclass(frozen=True)
class Evidence:
    """The results that a page is written from."""

    study: Study
    results: Results | None
    """Results of the cells; None if there are none."""
    values: dict[str, Any]
    """Values of the measurements, by their names."""
    failures: list[Path]
    """Files that say why blocks failed."""

    @property
    def cells(self) -> Results:
        """The results of the cells; raises if the claim has none."""
        if self.results is None:
            raise ValueError(f"{self.study.out} has no cells")
        return self.results

    @property
    def scores(self) -> CellScores:
        """The scores of the cells."""
        return CellScores(self.cells)


@dataclass(frozen=True)
class Claim:
    """Something that a paper says or that this package says of itself, with the page that shows it."""

    name: str
    """Name on the command line."""
    title: str
    """Title of the page."""
    about: str
    """One sentence, for the help of the command."""
    plan: Callable[[Study], Iterable[Cell | Measurement]]
    """Lists the cells and measurements."""
    page: Callable[[Evidence, Path], Sequence[str]]
    """The parts of the page in Markdown, below its opening; figures go beside the file that it is given."""

    def measure(self, study: Study) -> Evidence:
        """Play and measure what is missing in the folder of the study."""
        plan = list(self.plan(study))
        cells = [each for each in plan if isinstance(each, Cell)]
        failures = study.play(cells) if cells else []
        with only_writer(study.out, study.out / "lock"):
            remove_half_written(study.out / "measurements")
            values = {each.name: study.value(each) for each in plan if isinstance(each, Measurement)}
        return Evidence(study, read(study.out) if cells else None, values, failures)

    def write(self, evidence: Evidence, page: Path) -> None:
        """Write the page."""
        parts = [*self.opening(evidence), *self.page(evidence, page)]
        write_generated(page, f"reproduce {self.name}", "\n\n".join(parts) + "\n")

    def opening(self, evidence: Evidence) -> list[str]:
        """The first parts of the page: its title, the command that made it, versions, digest of the code, seeds."""
        ours = versions()
        names = [f"principal-agent-env {ours['version']}", f"python {sys.version.split()[0]}"]
        names += [f"{library} {ours[library]}" for library in LIBRARIES]
        failed = evidence.results.failures.total() if evidence.results else 0
        return [
            f"# {self.title}",
            f"Generated by\n\n    {evidence.study.command}",
            f"versions: {', '.join(names)}; code: {ours['code'][:12]}; seeds: 0, 1, ..., as many as the tables say,"
            " unless the text names others;"
            f" failed blocks: {failed}.",
        ]


def side_by_side(columns: Iterable[Floats]) -> Floats:
    """Scores of several cells as columns (seeds, cells), nan for seeds that a cell does not have."""
    arrays = list(columns)
    table = np.full((max(array.size for array in arrays), len(arrays)), np.nan)
    for column, array in enumerate(arrays):
        table[: array.size, column] = array
    return table


def told_c0(principal: str, c0: float) -> str:
    """The spec of a principal that is told how much the agent explores, if it takes that."""
    return f"{principal},c0={c0:g}" if principal.startswith("exploratory") and c0 != 1 else principal


def mean_text(values: Floats) -> str:
    """``0.0123 [0.0110, 0.0140]``: the mean of (seeds,) with its interval, if there are enough seeds; – for none."""
    return bracketed(estimate(values), digits=4)


def verdicts(differences: Sequence[Floats], lower: str, higher: str) -> list[str]:
    """On which side of 0 the mean of each array of paired differences is, with its p-value; – for too few seeds.

    p-values are corrected by Holm's method for the number of verdicts. What is not separated from 0 has the number of
    seeds and half the width of its interval.

    Args:
        differences: (seeds,) each.
        lower: for a mean that is surely negative.
        higher: for one that is surely positive.
    """
    texts = []
    for difference, p in zip(differences, holm(np.array([*map(paired_p_value, differences)])), strict=True):
        if np.isnan(p):
            texts.append("–")
        elif p < LEVEL:
            texts.append(f"{higher if difference.mean() > 0 else lower} (p {p_value(p)})")
        else:
            smallest = number(estimate(difference).half_width)
            texts.append(f"not separated (p {p_value(p)}; {difference.size} seeds, ± {smallest})")
    return texts


def _as_list(value: Any) -> Any:
    """An array or a number of NumPy as JSON holds it."""
    return value.tolist()
