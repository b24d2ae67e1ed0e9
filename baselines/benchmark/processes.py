"""Processes on this machine that play blocks. Those that die are replaced, and none outlives the one that uses it."""

import contextlib
import math
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection
from typing import Any, TypeVar

from baselines.benchmark.blocks import Block, Result, attempt
from baselines.benchmark.waiting import Queue
from baselines.files import StoreError

STARTS = 3  # of processes that die before they are asked for anything, one after the other
CANNOT_START = (
    "processes that are to play die as soon as they start: is memory short, or is this a script without"
    ' if __name__ == "__main__"? What was done is kept, and the same command goes on from there'
)
T = TypeVar("T")


class Worker:
    """A process that calls functions, one after the other; ``started`` once it has said that it can."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        # It inherits this, so that Ctrl-C can't tear it while it starts; Windows has no such thing.
        block = getattr(signal, "pthread_sigmask", None)
        before = block(signal.SIG_BLOCK, {signal.SIGINT}) if block else None
        try:
            self._process.start()
        finally:
            if block:
                block(signal.SIG_SETMASK, before)
        theirs.close()
        self.started, self.deadline = False, math.inf

    def heard(self) -> Any:
        """What it has sent; raises EOFError if it has died."""
        try:
            message = self.pipe.recv()
        except OSError as error:
            raise EOFError from error
        self.started = True
        return message

    def ask(self, timeout: float, function: Callable[..., Any], *arguments: Any) -> None:
        """Let it call a function within ``timeout`` seconds; it sends what that returns."""
        self.deadline = time.monotonic() + timeout
        with contextlib.suppress(OSError):  # it has died, which the next look shows
            self.pipe.send((function, arguments))

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _serve(pipe: "connection.Connection[Any, Any]") -> None:
    """Call what is asked for, always in the same folder; end with the process that asks, and not by Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                asked.put(pipe.recv())
        finally:
            os._exit(1)  # the parent process has ended

    threading.Thread(target=listen, daemon=True).start()
    here = os.getcwd()
    with contextlib.suppress(OSError):  # the parent process has ended
        pipe.send(None)  # started
        while True:
            function, arguments = asked.get()
            os.chdir(here)
            pipe.send(function(*arguments))


def call(timeout: float, function: Callable[..., T], *arguments: Any) -> T:
    """What a function returns in a process of its own; what it raises is raised here, as a ValueError or a TypeError.

    Raises ChildProcessError if it ends its process, or takes more than ``timeout`` seconds.
    """
    for _ in range(STARTS):
        worker = Worker()
        try:
            worker.heard()
            worker.ask(timeout, _caught, function, *arguments)
            if not worker.pipe.poll(timeout):
                raise ChildProcessError(f"it took more than {timeout:g} seconds")
            found, error = worker.heard()
        except EOFError:
            if worker.started:
                raise ChildProcessError("it ended its process") from None
            continue
        finally:
            worker.end()
        if error is not None:
            raise error
        return found  # type: ignore[no-any-return]
    raise StoreError(CANNOT_START)


def _caught(function: Callable[..., T], *arguments: Any) -> tuple[T | None, Exception | None]:
    try:
        return function(*arguments), None
    except (ValueError, TypeError) as error:
        return None, type(error)(str(error))  # without what can't be sent
    except BaseException as error:
        return None, ValueError(f"{type(error).__name__}: {error}")


def local(blocks: Sequence[Block], workers: int, timeout: float) -> Iterator[Result]:
    """Play blocks, each within ``timeout`` seconds; yields what came of each, in any order."""
    waiting = Queue(blocks)
    busy: dict[Worker, Block] = {}
    failed_starts = 0
    try:
        while True:
            while len(busy) < workers and (first := waiting.next()) is not None:
                busy[Worker()] = first
            if not busy:
                return
            results: list[Result] = []
            for worker in _wait(busy):
                block, started = busy[worker], worker.started
                try:
                    message = worker.heard()
                except EOFError:
                    worker.end()
                    del busy[worker]
                    failed_starts = 0 if started else failed_starts + 1
                    if failed_starts == STARTS:
                        raise StoreError(CANNOT_START) from None
                    results += waiting.died(block) if started else waiting.put_back(block)
                    continue
                following: Block | None = block
                if started:
                    results.append(message)
                    following = waiting.next(block.own)
                if following is None:
                    worker.end()
                    del busy[worker]
                else:
                    busy[worker] = following
                    worker.ask(timeout, attempt, following)
            for worker in [worker for worker in busy if worker.deadline < time.monotonic()]:
                worker.end()
                results += waiting.timed_out(busy.pop(worker), timeout)
            yield from results
    finally:
        for worker in busy:
            worker.end()


def _wait(busy: dict[Worker, Block]) -> list[Worker]:
    """Those that have sent something or died; none if one takes too long."""
    left = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
    ready = connection.wait([worker.pipe for worker in busy], None if left == math.inf else left)
    return [worker for worker in busy if worker.pipe in ready]
