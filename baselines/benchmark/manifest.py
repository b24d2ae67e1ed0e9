"""``benchmark.json`` in a folder of results: what made them, so that no others are mixed in."""

import json
import sys
from pathlib import Path
from typing import Any

from baselines.benchmark.versions import versions
from baselines.files import StoreError

FORMAT = 2


def read(path: Path) -> dict[str, Any]:
    """What the file says; raises if it is damaged, or of another format."""
    try:
        noted: dict[str, Any] = json.loads(path.read_text())
        wrong = _wrong(noted) if noted["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        wrong = repr(error)
    if wrong:
        raise StoreError(f"{path} is damaged ({wrong}): mend it, or run into a new folder (--out)")
    if noted["format"] != FORMAT:
        raise other(path, f"format {noted['format']}", FORMAT)
    return noted


def to_add_to(path: Path) -> dict[str, Any]:
    """What the file says, or will say if it is not there; raises if it is of other versions than ours."""
    ours = versions()
    try:
        noted = read(path)
    except FileNotFoundError:
        python = sys.version.split()[0]
        return {"format": FORMAT, **ours, "python": python, "commands": [], "tasks": {}, "principals": {}}
    for name, value in ours.items():
        if noted[name] != value:
            what = "the game's and the principals' code" if name == "code" else name
            raise other(path, f"{what} {noted[name]:.12}", f"{value:.12}")
    return noted


def other(path: Path, theirs: str, ours: object) -> StoreError:
    """The results beside this file are of another kind than ours."""
    return StoreError(f"{path.parent} has results of {theirs}, and this is {ours}: name a new folder by --out")


def _wrong(noted: dict[str, Any]) -> str | None:
    """The first thing that is of the wrong type."""
    kinds: list[tuple[Any, type]] = [(noted[name], str) for name in (*versions(), "python")]
    kinds += [(noted["commands"], list), *((command, str) for command in noted["commands"])]
    kinds += [(noted["tasks"], dict), (noted["principals"], dict)]
    kinds += [(task[name], int) for task in noted["tasks"].values() for name in ("version", "seeds")]
    return next((f"{value!r} must be a {kind.__name__}" for value, kind in kinds if not isinstance(value, kind)), None)
