"""Writing to disk: files that are whole or absent, and folders that one command at a time may write to."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HALF_WRITTEN = ".[0-9]*.tmp"  # what a process that was killed may leave beside a file


class StoreError(OSError):
    """The folder can't be used as it is; the message says why, and what to do."""


@contextmanager
def only_writer(directory: Path, *folders: str) -> Iterator[None]:
    """Make a folder if need be, and keep other commands out of it; the lock does not outlive this process.

    Args:
        directory: The folder.
        folders: Those in it that are written to as well. Files half-written by killed commands are removed from all.

    """
    from filelock import FileLock, Timeout  # of the extras [bench] and [train]

    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = FileLock(directory / "lock")
        lock.acquire(blocking=False)
    except Timeout:
        raise StoreError(
            f"another command is writing to {directory}: wait for it to end, or name another folder by --out"
        ) from None
    except OSError as error:
        raise StoreError(f"{directory} can't be written to: {error}; name another folder by --out") from error
    try:
        for folder in (".", *folders):
            for path in (directory / folder).glob(HALF_WRITTEN):
                path.unlink()
        yield
    finally:
        lock.release()


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there with all of its bytes, or not at all."""
    # Hidden names are passed over by readers of a folder of Parquet files.
    temporary = path.with_name(f".{os.getpid()}.{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(f"{path} can't be written: {error}; what was written before is whole, and kept") from error
