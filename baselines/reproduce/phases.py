"""Games that end in the first phase: there an algorithm plays all arms in turn, and most pay the cap for them.

A slope says something of an algorithm only from horizons on that its first phase leaves.
"""

from collections.abc import Iterable, Iterator, Mapping

from baselines.registry import PRINCIPALS
from baselines.reproduce.claim import PRACTICAL, Cell, Measurement
from baselines.scripted.paper.linear import LinearElimination
from baselines.scripted.paper.phased import Phased
from baselines.scripted.peers.belgic import Belgic
from baselines.simulation import simulate
from baselines.specs import parse
from baselines.tasks import Task

MARK = "phase 1"
LONGEST = 10**7  # games that are played for this; longer ones are taken to be as far as that
CAP_UNTIL = 8 * 10**7  # `linear` with the paper's constants offers its cap in all phases of shorter games (d = 2)


def has_phases(principal: str) -> bool:
    """True for a principal (its spec) whose first part pays much more than the rest."""
    kind = PRINCIPALS.get(parse(principal).place)
    return kind is not None and issubclass(kind, Phased | Belgic)


def ends_in_phase_1(principal: str, task: Task) -> bool:
    """Play a game, and tell whether it ends in the first phase of the principal.

    The length of that phase hardly depends on the seed, so one game tells.
    """
    kind = PRINCIPALS[parse(principal).place]
    horizon = min(task.horizon, LONGEST)
    if issubclass(kind, Belgic):
        belgic = Belgic(task.n_arms, task.horizon)
        return bool(belgic.n_arms * belgic.batches * belgic.batch >= task.horizon)
    if issubclass(kind, LinearElimination) and PRACTICAL not in principal:
        return task.horizon < CAP_UNTIL
    run = simulate(principal, task.instance, task.agent, horizon, seed=0, checkpoints=[horizon])
    return len(run.phases) < 2


def measurement(principal: str, task: Task) -> Measurement:
    """The measurement of :func:`ends_in_phase_1`."""
    return Measurement(f"phase 1, {principal}, {task.name}", ends_in_phase_1, (principal, task))


def with_phases(cells: Iterable[Cell]) -> Iterator[Cell | Measurement]:
    """The cells, each followed by the measurement of its first phase if its principal has phases."""
    for cell in cells:
        yield cell
        if has_phases(cell.principal):
            yield measurement(cell.principal, cell.task)


def is_first(values: Mapping[str, bool], principal: str, task: Task) -> bool:
    """True if the values of measurements say that a game ends in the first phase."""
    return values.get(measurement(principal, task).name, False)


def mark(first: bool) -> str:
    """The mark of a game that ends in the first phase, to stand behind a name or a number; else empty."""
    return f" ({MARK})" if first else ""
