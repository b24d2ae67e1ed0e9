"""Checks on what users pass in: every message names the argument, the value and what would be right."""

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def known(argument: str, name: Any, names: Iterable[str]) -> None:
    """Raise unless ``name`` is one of ``names``, which the message lists."""
    names = list(names)
    if not isinstance(name, str) or name not in names:
        near = difflib.get_close_matches(str(name), names, n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"{argument} = {name!r} is unknown{hint}; known: {', '.join(names)}")


def at_least(argument: str, value: Any, least: float, *, whole: bool = False, strictly: bool = False) -> float:
    """``value`` as a finite number that is at least (strictly: above) ``least``; ``whole``: an integer."""
    kind = "an integer" if whole else "a finite number"
    bound = f"{'above' if strictly else 'at least'} {least:g}"
    try:
        number = operator.index(value) if whole else float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} = {value!r} must be {kind} {bound}") from None
    if not math.isfinite(number) or number < least or (strictly and number == least):
        raise ValueError(f"{argument} = {value!r} must be {kind} {bound}")
    return number


def finite(argument: str, value: Any) -> float:
    """``value`` as a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} = {value!r} must be a finite number") from None
    if not math.isfinite(number):
        raise ValueError(f"{argument} = {value!r} must be a finite number")
    return number


def seed_of(value: Any) -> int | None:
    """``value`` as what ``SeedSequence`` takes: None, or an integer that is not negative."""
    if value is None:
        return None
    try:
        seed = operator.index(value)
    except TypeError:
        raise TypeError(f"seed = {value!r} must be an integer, at least 0, or None") from None
    if seed < 0:
        raise ValueError(f"seed = {value!r} must be an integer, at least 0, or None")
    return seed


def numbers(argument: str, value: Any, how_many: str = "") -> NDArray[np.float64]:
    """``value`` as a float64 array; integers, floats and booleans of any shape are taken."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged nested lists
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{argument} = {value!r} must be numbers{how_many}")
    return array.astype(np.float64)


def integers(
    argument: str, value: Any, size: int, below: int, ignored: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """``value`` as ``size`` integers from 0 to ``below`` - 1; those ``ignored`` may be anything, and come back as 0."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged nested lists
        array = np.asarray(None)
    if array.shape == (size,) and array.dtype.kind in "iu":
        array = array if ignored is None else np.where(ignored, 0, array)
        outside = np.flatnonzero((array < 0) | (array >= below))
        if not outside.size:
            return array.astype(np.int64)
        where = f"{argument}[{outside[0]}]" if size > 1 else argument
        raise ValueError(f"{where} = {array[outside[0]]} must be an integer from 0 to {below - 1}")
    raise ValueError(f"{argument} = {value!r} must be {size} integer(s) from 0 to {below - 1}")
