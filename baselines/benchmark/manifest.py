"""``benchmark.json`` in a folder of results: the versions, tasks and principals behind them, which must not mix."""

import ast
import functools
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pa_env
from baselines.files import StoreError, refuse_special
from baselines.registry import Description
from baselines.specs import digest
from baselines.tasks import Task
from pa_env.checks import short

Notes = dict[str, Any]  # the manifest, or a part of it
FORMAT = 3
OLD = " (a file for each seed; it can't be read any more)"  # formats 1 and 2
LIBRARIES = ("numpy", "numba", "scipy")  # on which results depend
SETTING = ("version", "agent", "instance", "n_arms", "dim", "horizon", "curve")  # of a task


def read(path: Path) -> Notes:
    """Read the manifest; raise if it is damaged, or of another format."""
    try:
        refuse_special(path)
        notes: Notes = json.loads(path.read_text())
        wrong = _wrong(notes) if notes["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        wrong = repr(error)
    if wrong:
        raise StoreError(f"{path} is damaged ({wrong}): mend it, or run into a new folder (--out)")
    if notes["format"] != FORMAT:
        raise _other(path, f"format {notes['format']}{OLD if notes['format'] in (1, 2) else ''}", FORMAT)
    return notes


def load_or_create(path: Path, overwrite: bool) -> Notes:
    """Return the stored manifest, or a fresh one if none exists or ``overwrite`` is set and versions differ."""
    ours = versions()
    fresh = {"format": FORMAT, **ours, "python": sys.version.split()[0], "commands": [], "tasks": {}, "principals": {}}
    try:
        notes = read(path)
    except FileNotFoundError:
        return fresh
    for name, value in ours.items():
        if notes[name] != value:
            if overwrite:
                return fresh
            what = "the game's and the principals' code" if name == "code" else name
            raise _other(path, f"{what} {notes[name]:.12}", f"{value:.12}")
    return notes


def task_entry(task: Task, described: Mapping[str, Description]) -> Notes:
    """The entry of a task without its seeds: its setting, and labels and digests of users' code in it."""
    facts = {spec: described[spec] for spec in (task.agent, task.instance) if spec in described}
    named = {spec: {"label": each.label, "digest": each.digest} for spec, each in facts.items()}
    return {name: getattr(task, name) for name in SETTING} | {"own": named}


def principal_entry(spec: str, described: Description, notes: Notes) -> Notes:
    """The entry of a principal: its digest, and its label, which no other has."""
    taken = {entry["label"] for other, entry in notes.items() if other != spec}
    return {"label": spec if described.label in taken else described.label, "digest": described.digest}


def _other(path: Path, theirs: str, ours: object) -> StoreError:
    """The error that the results beside this file are of another kind than ours."""
    return StoreError(f"{path.parent} has results of {theirs}, and this is {ours}: name a new folder by --out")


def _wrong(notes: Notes) -> str | None:
    """The first thing that is of the wrong type."""
    kinds: list[tuple[object, type]] = [(notes[name], str) for name in (*versions(), "python")]
    kinds += [(notes["commands"], list), *((command, str) for command in notes["commands"])]
    kinds += [(notes["tasks"], dict), (notes["principals"], dict)]
    kinds += [(task[name], int) for task in notes["tasks"].values() for name in ("version", "seeds", "horizon")]
    kinds += [(task["instance"], str) for task in notes["tasks"].values()]
    entries = [notes["principals"], *(task["own"] for task in notes["tasks"].values())]
    kinds += [(entry["label"], str) for named in entries for entry in named.values()]
    return next(
        (f"{short(value)} must be a {kind.__name__}" for value, kind in kinds if not isinstance(value, kind)), None
    )


def sources() -> dict[str, Path]:
    """The files that play a block, by their paths relative to the packages.

    They are the whole game, and what :mod:`baselines.benchmark.blocks` imports at its top, and so on. What is imported
    for type checkers or in a function does not play: figures, for instance. Tasks have versions of their own.
    """
    game, blocks = Path(pa_env.__file__).parent, Path(__file__).with_name("blocks.py")
    files, waiting = dict.fromkeys(game.rglob("*.py"), game.parent), [blocks]
    while waiting:
        path = waiting.pop()
        if path not in files:
            files[path] = blocks.parents[2]
            waiting += _imports(path, blocks.parents[2])
    return dict(sorted((path.relative_to(root).as_posix(), path) for path, root in files.items()))


def _imports(path: Path, root: Path) -> Iterator[Path]:
    """The files of ``baselines`` that a file imports at its top."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "baselines":
            module = root.joinpath(*str(node.module).split("."))
            for inside in (module / alias.name for alias in node.names):
                either = (inside.with_suffix(".py"), inside / "__init__.py", module.with_suffix(".py"))
                yield next((file for file in either if file.is_file()), module / "__init__.py")


@functools.cache
def versions() -> dict[str, str]:
    """Name and version of everything that must be the same in a folder of results; that of our code is a SHA-256."""
    return {"version": pa_env.__version__, "code": digest(sources()), **{name: version(name) for name in LIBRARIES}}
