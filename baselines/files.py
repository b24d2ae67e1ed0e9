"""Writing to disk: files that are complete or absent, and folders that one command at a time may write to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

HALF_WRITTEN = ".[0-9]*.tmp"  # what a killed process may leave beside a file


class StoreError(OSError):
    """The folder can't be used as it is; the message says why, and what to do."""


@contextmanager
def only_writer(path: Path, lock: Path, remedy: str = "name another folder by --out") -> Iterator[None]:
    """Keep other commands from writing to a folder or a file; the lock does not outlive this process.

    Args:
        path: what is written to.
        lock: the lock file; it and its folder are made if they do not exist.
        remedy: what else the user can do.
    """
    from filelock import FileLock, Timeout  # of the extras [bench] and [train]

    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        held = FileLock(lock)
        held.acquire(blocking=False)
    except Timeout:
        raise StoreError(f"another command is writing to {path}: wait for it to end, or {remedy}") from None
    except OSError as error:
        raise StoreError(f"{path} can't be written to: {error}; {remedy}") from error
    try:
        yield
    finally:
        held.release()


def remove_half_written(*directories: Path) -> None:
    """Remove what killed commands left in folders that only this one writes to."""
    for directory in directories:
        for path in directory.glob(HALF_WRITTEN):
            path.unlink()


@contextmanager
def whole_file(path: Path) -> Iterator[BufferedIOBase]:
    """A file to write to, which exists with all of its bytes after the block, or not at all."""
    # A hidden name, which readers of a folder of Parquet files skip.
    temporary = path.with_name(f".{os.getpid()}.{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error}; earlier files are complete, and kept") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file completely or not at all."""
    with whole_file(path) as file:
        file.write(data)
