"""The folder of results, to which blocks are added; each file is written completely or not at all.

- ``benchmark.json``: the format, the versions of code and libraries, the commands, tasks, principals and seeds;
- ``blocks/*.parquet``: one file for each block (``pandas.read_parquet(folder / "blocks")`` opens them all);
- ``traces/*.parquet``: every round of a block (:mod:`baselines.trace`), if asked for;
- ``failures/*.txt``: why each block failed; such a block is played again by the next command;
- ``lock``: held by the one command that may write, and released when that command ends for any reason.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from baselines.benchmark import manifest
from baselines.benchmark.blocks import Block, BlockResult, check_table, file_name, read_table
from baselines.files import (
    HALF_WRITTEN,
    StoreError,
    only_writer,
    refuse_links,
    refuse_special,
    remove_half_written,
    write_whole,
)
from baselines.registry import Description

if TYPE_CHECKING:
    import pyarrow as pa


FOLDERS = ("blocks", "failures", "traces")


class Store:
    """The results in a folder. Only the holder of :func:`locked` may write to it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self.manifest = self.directory / "benchmark.json"

    def block(self, block: Block) -> Path:
        """The file of a block."""
        return self.directory / "blocks" / f"{block.id}.parquet"

    def trace(self, block: Block) -> Path:
        """The file of its rounds, if they are kept."""
        return self.directory / "traces" / f"{block.id}.parquet"

    def failure(self, block: Block) -> Path:
        """The file that says why it failed, if it did."""
        return self.directory / "failures" / f"{block.id}.txt"

    def keep(self, result: BlockResult) -> None:
        """Write the result of a block."""
        failure = self.failure(result.block)
        if result.data is None:
            write_whole(failure, result.failure.encode(errors="backslashreplace"))
        else:
            if result.block.trace is None:  # an existing trace has fewer seeds
                self.trace(result.block).unlink(missing_ok=True)
            write_whole(self.block(result.block), result.data)
            failure.unlink(missing_ok=True)

    def kept(self, block: Block) -> range:
        """The seeds of the block that are there; raises if its file is not what was written."""
        path, first = self.block(block), block.seeds[0]
        if not path.exists():
            return range(0)
        table = read_block(path)
        seeds = range(first, first + table.num_rows // block.task.checkpoints.size)
        try:
            check_table(table, replace(block, seeds=seeds))
        except ValueError as error:
            raise _damaged(path, error) from error
        return seeds

    def has(self, block: Block) -> bool:
        """Return True if all seeds of the block are there."""
        return len(self.kept(block)) >= len(block.seeds)

    def done(self, block: Block) -> bool:
        """Return True if the block is done; then remove the file of an earlier failure, in case ``keep`` was killed."""
        there = self.has(block)
        if there:
            self.failure(block).unlink(missing_ok=True)
        return there

    def enter(
        self, blocks: Sequence[Block], command: str, described: Mapping[str, Description], overwrite: bool = False
    ) -> None:
        """Record what will be played; refuse if existing results were played by other code or in another setting.

        Args:
            blocks: to be played.
            command: the command line, recorded in the manifest.
            described: their principals, and users' own agents and instances, by their specs.
            overwrite: delete such results instead of refusing.
        """
        notes = manifest.load_or_create(self.manifest, overwrite)
        known = self.manifest.read_bytes() if self.manifest.exists() else b""
        if not notes["tasks"]:
            self._make_way("*", "was played by other code", overwrite)
        if command not in notes["commands"]:
            notes["commands"].append(command)
        for task in {block.task.name: block.task for block in blocks}.values():
            before, now = notes["tasks"].get(task.name, {}), manifest.task_entry(task, described)
            changed = [name for name in now if before and before[name] != now[name]]
            if changed:
                of = " and ".join(f"{name} {before[name]} (now {now[name]})" for name in changed)
                why = "before its agent or instance was changed" if changed == ["own"] else f"with {of}"
                self._make_way(f"{file_name(task.name)}--*", f"was played {why}", overwrite)
            wanted = max(block.seeds[-1] + 1 for block in blocks if block.task.name == task.name)
            notes["tasks"][task.name] = now | {"seeds": max(before.get("seeds", 0), wanted)}
        for spec in dict.fromkeys(block.principal for block in blocks):
            now = manifest.principal_entry(spec, described[spec], notes["principals"])
            before = notes["principals"].get(spec, now)
            if before["digest"] != now["digest"]:
                self._make_way(f"*--{file_name(spec)}--*", f"was played before {spec} was changed", overwrite)
            notes["principals"][spec] = now
        for folder in FOLDERS:
            (self.directory / folder).mkdir(exist_ok=True)
        text = (json.dumps(notes, indent=2) + "\n").encode()
        if text != known:
            write_whole(self.manifest, text)

    def _make_way(self, pattern: str, why: str, overwrite: bool) -> None:
        """Delete blocks, if they may be overwritten; otherwise raise if there are any."""
        for path in self.directory.glob(f"blocks/{pattern}.parquet"):
            if not overwrite:
                raise StoreError(f"{path} {why}: name a new folder by --out, or replay it with --overwrite")
            path.unlink()
            (self.directory / "traces" / path.name).unlink(missing_ok=True)


def read_block(path: Path) -> "pa.Table":
    """The table in a block's file; raises if it is damaged."""
    try:
        refuse_special(path)
        return read_table(path)
    except ValueError as error:
        raise _damaged(path, error) from error


@contextmanager
def locked(directory: Path) -> Iterator[Store]:
    """The store in a folder, which is created if missing; no other command can write to it meanwhile."""
    store = Store(directory)
    if directory.is_dir() and not store.manifest.exists():
        for path in set(directory.iterdir()) - {directory / "lock", *directory.glob(HALF_WRITTEN)}:
            raise StoreError(
                f"{directory} has other things in it ({path.name}, ...) and no benchmark.json:"
                " name a new or empty folder by --out"
            )
    folders, lock = [store.directory / folder for folder in FOLDERS], store.directory / "lock"
    refuse_links(lock, *folders)
    with only_writer(store.directory, lock):
        remove_half_written(store.directory, *folders)
        yield store


def _damaged(path: Path, how: ValueError) -> StoreError:
    return StoreError(f"{path} is damaged ({how}): delete this file and run the same command again")
