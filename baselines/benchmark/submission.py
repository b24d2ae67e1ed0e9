"""Check a folder of results that someone submits to the leaderboard: ``pa-bench leaderboard --submit DIR``.

Whoever can write to a folder can put any numbers into it. So the code behind it must be in the last commit of the
repository in the current folder, and blocks picked at random are played again: they must come out the same, bit for
bit.
"""

import secrets
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from baselines.benchmark import manifest, tables
from baselines.benchmark.blocks import Block, blocks_of
from baselines.benchmark.isolation import check_isolated
from baselines.benchmark.plan import make_plan
from baselines.benchmark.results import listed, read
from baselines.benchmark.store import Store
from baselines.benchmark.summaries import summarise
from baselines.benchmark.sweep import TIMEOUT, Engine
from baselines.files import StoreError
from baselines.registry import PRINCIPALS, Description
from baselines.specs import parse
from baselines.tasks import Task
from baselines.tasks import task as task_of
from baselines.text import plain

SAMPLE = 3  # blocks that are played again


def check_submission(directory: Path) -> str:
    """Return the rows for the table of entries, in Markdown; raise if the folder can't be accepted.

    The entries are the principals that do not come with the package, or all if there is none.

    Args:
        directory: that ``pa-bench run`` wrote.
    """
    results, store = read(directory), Store(directory)
    notes = manifest.read(store.manifest)
    for name, ours in manifest.versions().items():
        if notes[name] != ours:
            raise StoreError(
                f"{directory} was played with {name} {notes[name]:.12}, and here is {ours:.12}: install what it was"
                " played with, or play it again"
            )
    if results.failures:
        raise StoreError(f"{directory} has failed blocks ({listed(results.failures)}): run the same command again")
    given = list(notes["principals"])
    entries = [spec for spec in given if parse(spec).place not in PRINCIPALS] or given
    blocks = [
        block
        for name, entry in notes["tasks"].items()
        for spec in entries
        for block in _blocks(store, _task(name, entry), spec)
    ]
    for spec in set(entries) - {block.principal for block in blocks}:
        raise StoreError(f"{spec} has no results in {directory}: run the same command again")
    described = _described(blocks)
    for spec, facts in described.items():
        if notes["principals"][spec]["digest"] != facts.digest:
            raise StoreError(f"{directory} was played before {spec} was changed: play it again")
    files = [path for facts in described.values() for path in facts.files.values()]
    commit = check_committed(manifest.sources().items(), files)
    # No seed: an author must not know which blocks will be played.
    _play_again(store, secrets.SystemRandom().sample(blocks, min(SAMPLE, len(blocks))), described)
    summary = summarise(results.rows)
    names = {plain(notes["principals"][spec]["label"]): _name(spec, described[spec]) for spec in entries}
    return rows(summary[summary["principal"].isin(names)], names, commit, notes["code"])


def _name(spec: str, facts: Description) -> str:
    """Return the name of an entry: its spec with the path of its file in the repository, or a built-in's label."""
    parsed = parse(spec)
    if parsed.place in PRINCIPALS or not facts.files:
        return facts.label
    path = next(iter(facts.files.values())).resolve().relative_to(_top()).as_posix()
    return spec.replace(parsed.place, path, 1)


def _task(name: str, entry: manifest.Notes) -> Task:
    """Return the task of an entry of the manifest, with its seeds; raise unless it is a task of the package."""
    task = replace(task_of(name), curve=bool(entry["curve"]), seeds=entry["seeds"])
    if entry != manifest.task_entry(task, {}) | {"seeds": task.seeds}:
        raise StoreError(f"task {plain(name)} is not the task of this name: play the package's")
    if task.seeds < task_of(name).seeds:
        raise StoreError(f"task {name} was played on {task.seeds} seeds: play {task_of(name).seeds} or more")
    return task


def _blocks(store: Store, task: Task, principal: str) -> list[Block]:
    """Return the blocks of a principal in a task, all or none; raise if some are missing."""
    blocks = list(blocks_of(task, principal, range(task.seeds)))
    kept = sum(len(store.kept(block)) for block in blocks)
    if 0 < kept < task.seeds:
        raise StoreError(f"{principal} has played {kept} of {task.seeds} seeds of {task.name}: run the command again")
    return blocks if kept else []


def _described(blocks: Sequence[Block]) -> dict[str, Description]:
    """Describe the principals of blocks, in processes of their own if they are users' code."""
    described: dict[str, Description] = {}
    for block in {(block.task.name, block.principal): block for block in blocks}.values():
        described |= make_plan([block.task], [block.principal], 1).described
    return described


def check_committed(sources: Iterable[tuple[str, Path]], others: Iterable[Path]) -> str:
    """Return the last commit of the repository in the current folder; raise if a file is not in it as it is.

    Args:
        sources: files of this package, each with its path in the repository.
        others: files somewhere in the repository.
    """
    top = _top()
    files = dict(sources)
    for path in map(Path.resolve, others):
        if not path.is_relative_to(top):
            raise StoreError(f"{path} is not in the repository {top}: add it there")
        files[path.relative_to(top).as_posix()] = path
    committed = dict(_committed())
    hashes = _git("hash-object", "--no-filters", *map(str, files.values())).split()
    for name, blob in zip(files, hashes, strict=True):
        if committed.get(name) != blob:
            raise StoreError(f"{name} is not in the last commit as it was played: commit it, and play again")
    return _git("rev-parse", "HEAD").strip()


def _top() -> Path:
    """Return the folder of the repository that the current folder is in."""
    return Path(_git("rev-parse", "--show-toplevel").strip()).resolve()


def _committed() -> Iterator[tuple[str, str]]:
    """Yield path and hash of every file in the last commit."""
    for line in _git("ls-tree", "-r", "-z", "--full-tree", "HEAD").split("\0")[:-1]:
        facts, _, name = line.partition("\t")
        yield name, facts.split()[2]


def _git(*words: str) -> str:
    """Return what a command of Git prints."""
    done = subprocess.run(["git", *words], capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        raise StoreError(f"git {words[0]}: {done.stderr.strip()}; submit from a clone of the repository")
    return done.stdout


def _play_again(store: Store, blocks: Sequence[Block], described: dict[str, Description]) -> None:
    """Play blocks again, the first episode of each without a game in its process too; raise if one differs."""
    for result in Engine().play(blocks, described):
        block = result.block
        if result.data != store.block(block).read_bytes():
            why = f":\n{result.why}" if result.why else ""
            raise StoreError(f"{store.block(block)} comes out otherwise when it is played again{why}")
    for result in Engine().play([replace(block, seeds=block.seeds[:1]) for block in blocks], described):
        isolated = check_isolated(result, TIMEOUT)
        if isolated.data is None:
            raise StoreError(isolated.failure)


def rows(summary: pd.DataFrame, names: Mapping[str, str], commit: str, code: str) -> str:
    """The table of entries in Markdown: a row for each principal in each task, with names in place of labels."""
    table = tables.readable(summary)[["task", "principal", "utility", "R_T", "seeds"]]
    return tables.markdown(table.assign(principal=summary["principal"].map(names), commit=commit[:12], code=code[:12]))
