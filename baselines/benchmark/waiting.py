"""What is still to be played: blocks that are ours in any process, users' own code in processes of its own.

A block whose process dies is played again. A principal whose block dies again and again, or whose blocks take too long,
is given up: its other blocks are not begun.
"""

from collections import Counter, deque
from collections.abc import Iterator, Sequence

from baselines.benchmark.blocks import Block, Result, failed

DEATHS = 3  # of processes with the same block
TIMEOUTS = 2  # of blocks of the same principal
Group = tuple[str, ...]  # whose blocks may share a process: see Block.own


class Queue:
    """Blocks in their order, by group."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._waiting: dict[Group, deque[Block]] = {}
        for block in blocks:
            self._waiting.setdefault(block.own, deque()).append(block)
        self._deaths: Counter[Block] = Counter()
        self._timeouts: Counter[str] = Counter()
        self._given_up: dict[str, str] = {}  # principals, and why

    def next(self, group: Group | None = None) -> Block | None:
        """The next block, of a group if one is named; None if there is none."""
        for own, waiting in self._waiting.items():
            if waiting and group in (None, own):
                return waiting.popleft()
        return None

    def put_back(self, block: Block) -> tuple[Result, ...]:
        """It was not begun; nothing has failed."""
        self._waiting[block.own].appendleft(block)
        return ()

    def died(self, block: Block) -> Iterator[Result]:
        """Its process died: play it again, or give up; yields what failed for good."""
        self._deaths[block] += 1
        if block.principal in self._given_up:
            yield failed(block, self._given_up[block.principal])
        elif self._deaths[block] < DEATHS:
            yield from self.put_back(block)
        else:
            yield from self._give_up(
                block, f"its process died {DEATHS} times: does the principal crash, or is memory short?\n"
            )

    def timed_out(self, block: Block, seconds: float) -> Iterator[Result]:
        """It took too long; yields what failed."""
        why = f"it took more than {seconds:g} seconds, and was stopped: does it end? --timeout allows more\n"
        self._timeouts[block.principal] += 1
        if self._timeouts[block.principal] < TIMEOUTS:
            yield failed(block, why)
        else:
            yield from self._give_up(block, why)

    def _give_up(self, block: Block, why: str) -> Iterator[Result]:
        name = block.principal
        self._given_up[name] = f"not played, {name} was given up: in {block.task.name}, seeds from {block.first}, {why}"
        yield failed(block, why)
        for group, waiting in self._waiting.items():
            yield from (failed(other, self._given_up[name]) for other in waiting if other.principal == name)
            self._waiting[group] = deque(other for other in waiting if other.principal != name)
