"""Local processes that play blocks: those that die are replaced, and none outlives the process that uses them.

A worker is sent one block at a time, with a random nonce that the principal is not handed. It answers with bytes: the
nonce, then the block's table or the reason of its failure. Nothing that a worker sends is unpickled, and whatever else
arrives is a failure of the block that it was playing. So a worker can answer for its own block only.

On Linux workers are forked from a server that has imported this package, which takes milliseconds instead of seconds.
"""

import contextlib
import json
import math
import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import queue
import secrets
import signal
import sys
import threading
import time
import traceback
import types
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from baselines.benchmark.blocks import Block, BlockResult, play_bytes, result_of
from baselines.files import StoreError
from baselines.tasks import Objects
from pa_env.kernel.compiling import cache_folder, compile_silently
from pa_env.kernel.hold import hold

if TYPE_CHECKING:
    from rich.console import Console

STARTS = 3  # consecutive workers that may die at start-up
DEATHS = 3  # workers that may die with the same block
TIMEOUTS = 2  # blocks of the same principal that may take too long
NONCE = 16  # bytes
FORKS = sys.platform == "linux"  # elsewhere libraries may not survive a fork
DONE, FAILED = b"+", b"-"  # after the nonce; a value or a traceback follows
CANNOT_START = (
    "worker processes die as soon as they start: is memory short? What was done is kept, and the same command goes on"
    " from there"
)
Group = tuple[str, ...]  # whose blocks may share a process: see Block.user_specs
Pipe = multiprocessing.connection.Connection


def announce_compilation(console: "Console") -> None:
    """Say on a terminal that the game will be compiled, if no machine code of it is kept yet: workers say nothing."""
    folder = getattr(getattr(hold, "_cache", None), "cache_path", None)
    if console.is_terminal and folder is not None and not Path(folder).exists():
        compile_silently()  # said here, before a progress bar is drawn
        console.print(
            "Compiling the game for this machine, some ten seconds for each kind of agent; kept for the next time in"
            f" {cache_folder()}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )


class Worker:
    """A process that calls functions, one after the other.

    Args:
        inbox: where its messages are put, with the worker; None is put when it has died.
    """

    def __init__(self, inbox: "queue.SimpleQueue[tuple[Worker, bytes | None]]") -> None:
        self.started, self.deadline, self._nonce = False, math.inf, b""
        context = multiprocessing.get_context("forkserver") if FORKS else multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        if FORKS:
            multiprocessing.set_forkserver_preload(["baselines.benchmark.warm"])
            with _interrupts_blocked():  # the start below waits for the server, and Ctrl-C ends that
                multiprocessing.forkserver.ensure_running()
        with _without_main(), contextlib.nullcontext() if FORKS else _interrupts_blocked():
            self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, args=(inbox,), daemon=True).start()

    def _listen(self, inbox: "queue.SimpleQueue[tuple[Worker, bytes | None]]") -> None:
        """Put messages into the inbox. In a thread, because a worker may send half a message and wait."""
        with contextlib.suppress(EOFError, OSError), self._pipe:
            while True:
                inbox.put((self, self._pipe.recv_bytes()))
        inbox.put((self, None))

    def ask(self, timeout: float, function: Callable[..., bytes], *arguments: object) -> None:
        """Let it call a function within ``timeout`` seconds."""
        self._nonce, self.deadline = secrets.token_bytes(NONCE), time.monotonic() + timeout
        with contextlib.suppress(OSError):  # it has died, which the inbox tells
            self._pipe.send_bytes(self._nonce + cloudpickle.dumps((function, arguments)))

    def answer(self, message: bytes) -> tuple[bytes | None, str | None]:
        """Return what the function returned, or else its traceback; ValueError if this is no answer to the last ask."""
        nonce, kind, rest = message[:NONCE], message[NONCE : NONCE + 1], message[NONCE + 1 :]
        if nonce != self._nonce or kind not in (DONE, FAILED):
            raise ValueError("its process sent something else than its result")
        return (rest, None) if kind == DONE else (None, rest.decode(errors="backslashreplace"))

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C, also in processes that are started here: it can't tear them while they start."""
    block = getattr(signal, "pthread_sigmask", None)  # Windows has no such thing
    if block:
        multiprocessing.resource_tracker.ensure_running()  # it lets Ctrl-C through again when it is started
    before = block(signal.SIG_BLOCK, {signal.SIGINT}) if block else None
    try:
        yield
    finally:
        if block:
            block(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep a process that is started here from running the main script again."""
    main, sys.modules["__main__"] = sys.modules["__main__"], types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(pipe: Pipe) -> None:
    """Answer what is asked, always in the same folder; end with the process that asks, and not by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the process that asks
    os.dup2(2, 1)  # principals print to stderr: stdout is the command's
    compile_silently()  # its words would stand in the progress bar of the process that asks
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                asked.put(pipe.recv_bytes())
        finally:
            os._exit(1)  # the process that asks has ended

    threading.Thread(target=listen, daemon=True).start()
    here = os.getcwd()
    with contextlib.suppress(OSError):  # the process that asks has ended
        pipe.send_bytes(b"")  # started
        while True:
            message = asked.get()
            os.chdir(here)
            try:
                function, arguments = cloudpickle.loads(message[NONCE:])
                answer = DONE + function(*arguments)
            except BaseException:  # SystemExit too
                answer = FAILED + traceback.format_exc().encode(errors="backslashreplace")
            pipe.send_bytes(message[:NONCE] + answer)


def call(timeout: float, function: Callable[..., object], *arguments: object) -> Any:
    """Return what a function returns in a process of its own, as JSON can say it.

    Raises ValueError with the message of whatever the function raises (TypeError if it is one), and ChildProcessError
    if it ends its process, or takes more than ``timeout`` seconds.
    """
    inbox: queue.SimpleQueue[tuple[Worker, bytes | None]] = queue.SimpleQueue()
    for _ in range(STARTS):
        worker = Worker(inbox)
        try:
            if inbox.get()[1] is None:
                continue
            worker.ask(timeout, _as_json, function, *arguments)
            message = inbox.get(timeout=timeout)[1]
            if message is None:
                raise ChildProcessError("it ended its process")
            value, error, kind = json.loads(worker.answer(message)[0] or b"")
        except queue.Empty:
            raise ChildProcessError(f"it took more than {timeout:g} seconds") from None
        finally:
            worker.end()
        if error is not None:
            raise TypeError(error) if kind == "TypeError" else ValueError(error)
        return value
    raise StoreError(CANNOT_START)


def _as_json(function: Callable[..., object], *arguments: object) -> bytes:
    """The value that a function returns, or the message and the class of what it raises."""
    try:
        answer: tuple[object, str | None, str | None] = (function(*arguments), None, None)
    except (ValueError, TypeError) as error:
        answer = (None, str(error), type(error).__name__)
    except BaseException as error:
        answer = (None, f"{type(error).__name__}: {error}", None)
    return json.dumps(answer, default=str).encode()


class Backlog:
    """Queue of unplayed blocks. Built-in principals share workers; user code gets its own.

    A block whose worker dies is played again. A principal whose block dies again and again, or whose blocks take too
    long, is given up: its other blocks are not begun.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._waiting: dict[Group, deque[Block]] = {}
        for block in blocks:
            self._waiting.setdefault(block.user_specs, deque()).append(block)
        self._deaths: Counter[Block] = Counter()
        self._timeouts: Counter[str] = Counter()
        self._given_up: dict[str, str] = {}  # principals, and why

    def next(self, group: Group | None = None) -> Block | None:
        """The next block, of a group if one is named; None if there is none."""
        for each, waiting in self._waiting.items():
            if waiting and group in (None, each):
                return waiting.popleft()
        return None

    def put_back(self, block: Block) -> None:
        """Put a block back that was not begun."""
        self._waiting[block.user_specs].appendleft(block)

    def died(self, block: Block) -> Iterator[BlockResult]:
        """Plan a block again whose worker died, or give up; yields what failed for good."""
        self._deaths[block] += 1
        if block.principal in self._given_up:
            yield BlockResult(block, None, self._given_up[block.principal])
        elif self._deaths[block] < DEATHS:
            self.put_back(block)
        else:
            yield from self._give_up(
                block, f"its process died {DEATHS} times: does the principal crash, or is memory short?\n"
            )

    def timed_out(self, block: Block, seconds: float) -> Iterator[BlockResult]:
        """Note a block that took too long; yields what failed."""
        why = f"it took more than {seconds:g} seconds, and was stopped: does it end? --timeout allows more\n"
        self._timeouts[block.principal] += 1
        if self._timeouts[block.principal] < TIMEOUTS:
            yield BlockResult(block, None, why)
        else:
            yield from self._give_up(block, why)

    def _give_up(self, block: Block, why: str) -> Iterator[BlockResult]:
        name = block.principal
        self._given_up[name] = (
            f"not played, {name} was given up: in {block.task.name}, seeds from {block.seeds[0]}, {why}"
        )
        yield BlockResult(block, None, why)
        for group, waiting in self._waiting.items():
            yield from (BlockResult(other, None, self._given_up[name]) for other in waiting if other.principal == name)
            self._waiting[group] = deque(other for other in waiting if other.principal != name)


def play_in_processes(blocks: Sequence[Block], objects: Objects, workers: int, timeout: float) -> Iterator[BlockResult]:
    """Play blocks in ``workers`` processes, each within ``timeout`` seconds; yields results in any order."""
    backlog = Backlog(blocks)
    inbox: queue.SimpleQueue[tuple[Worker, bytes | None]] = queue.SimpleQueue()
    busy: dict[Worker, Block] = {}
    failed_starts = 0
    try:
        while True:
            while len(busy) < workers and (block := backlog.next()) is not None:
                busy[Worker(inbox)] = block
            if not busy:
                return
            left = min(worker.deadline for worker in busy) - time.monotonic()
            try:
                worker, message = inbox.get(timeout=None if left == math.inf else max(0.0, left))
            except queue.Empty:
                for worker in [worker for worker in busy if worker.deadline < time.monotonic()]:
                    worker.end()
                    yield from backlog.timed_out(busy.pop(worker), timeout)
                continue
            if worker not in busy:  # the last words of one that was ended
                continue
            block, following = busy[worker], None
            if message is None:
                if worker.started:
                    yield from backlog.died(block)
                else:
                    failed_starts += 1
                    if failed_starts == STARTS:
                        raise StoreError(CANNOT_START)
                    backlog.put_back(block)
            elif not worker.started:
                worker.started, failed_starts, following = True, 0, block
            else:
                try:
                    result = result_of(block, *worker.answer(message))
                    following = backlog.next(block.user_specs)
                except ValueError as error:
                    result = BlockResult(block, None, f"{error}\n")
                yield result
            if following is None:
                worker.end()
                del busy[worker]
            else:
                busy[worker] = following
                worker.ask(timeout, play_bytes, following, objects)
    finally:
        for worker in busy:
            worker.end()
