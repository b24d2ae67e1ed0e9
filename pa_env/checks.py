"""Checks of arguments: every message names the argument, its value and what would be right."""

import difflib
import math
import operator
import re
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pa_env.kernel.layout import Floats, Integers

FLOAT64, INT64, BOOL = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_)
UNBOUNDED = float(np.finfo(np.float64).max)  # as max_incentive: any finite incentive
LONGEST = 200  # letters of a value in a message
LARGEST_MEAN = 1e38  # rewards X are float32 numbers


def known(argument: str, name: object, names: Iterable[str]) -> None:
    """Raise unless ``name`` is one of ``names``, which the message lists."""
    names = list(names)
    if not isinstance(name, str) or name not in names:
        raise unknown(argument, name, names, f"known: {', '.join(names)}")


def unknown(argument: str, name: object, names: Iterable[str], remedy: str) -> ValueError:
    """The error for a name that is not in ``names``; the message has the closest one, and the remedy."""
    near = difflib.get_close_matches(name if isinstance(name, str) else "", list(names), n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return ValueError(f"{argument} = {short(name)} is unknown{hint}; {remedy}")


class _Short(reprlib.Repr):
    """Values shortened: the first entries of lists, and no integers of thousands of digits, which Python refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 12
        self.maxdict, self.maxlevel, self.maxstring, self.maxother = 6, 4, LONGEST, LONGEST

    def repr_int(self, value: int, level: int) -> str:
        try:
            return repr(value)
        except ValueError:
            return f"an integer of {value.bit_length()} bits"


_SHORT = _Short()


def short(value: object) -> str:
    """Return a value as a message shows it: as code, on one line, shortened."""
    text = re.sub(r"\s*\n\s*", " ", _SHORT.repr(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def finite(argument: str, value: Any, what: str = "a finite number") -> float:
    """``value`` as a finite float; strings are not numbers."""
    try:
        number = float("text" if isinstance(value, str | bytes) else value)
    except (TypeError, ValueError):
        raise TypeError(f"{argument} = {short(value)} must be {what}") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{argument} = {short(value)} must be {what}")
    return number


def at_least(argument: str, value: object, least: float, *, strictly: bool = False) -> float:
    """``value`` as a finite number that is at least (strictly: above) ``least``."""
    what = f"a finite number {'above' if strictly else 'at least'} {least:g}"
    number = finite(argument, value, what)
    if number < least or (strictly and number == least):
        raise ValueError(f"{argument} = {short(value)} must be {what}")
    return number


def whole(argument: str, value: object, least: int, most: float = 2**63 - 1) -> int:
    """``value`` as an integer from ``least`` to ``most``; booleans and floats are not integers."""
    bound = f"from {least} to {most}" if most < 10**6 else f"at least {least}"
    bound += f" and at most {most}" if 10**6 <= most < 2**63 - 1 else ""
    try:
        number = operator.index(None if isinstance(value, bool) else value)  # type: ignore[arg-type] # a TypeError
    except TypeError:
        raise TypeError(f"{argument} = {short(value)} must be an integer {bound}") from None
    if not least <= number <= most:
        raise ValueError(f"{argument} = {short(value)} must be an integer {bound}")
    return number


def seed_of(value: object) -> int | None:
    """``value`` as a seed that ``SeedSequence`` accepts: None, or an integer of any size, at least 0."""
    return None if value is None else whole("seed", value, 0, most=math.inf)


def copy_seeds(seed: object, copies: int) -> list[int | None] | None:
    """Seeds of the copies of a batched game: an integer is the first of consecutive seeds, a list has one per copy."""
    if seed is None:
        return None
    if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
        if len(seed) != copies:
            raise ValueError(f"seed = {short(seed)} must be an integer, or one for each of {copies} copies")
        return [seed_of(each) for each in seed]
    first = whole("seed", seed, 0, most=math.inf)
    return [first + i for i in range(copies)]


def numbers(argument: str, value: object, how_many: str = "") -> Floats:
    """``value`` as a contiguous float64 array; integers, floats and booleans of any shape are accepted."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged nested lists
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{argument} = {short(value)} must be numbers{how_many}")
    return array.astype(np.float64, order="C")


def integers(argument: str, value: object, size: int, below: int, ignored: NDArray[np.bool_] | None = None) -> Integers:
    """``value`` as ``size`` integers from 0 to ``below`` - 1; ``ignored`` ones may be anything, and become 0."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged nested lists
        array = np.asarray(None)
    if array.shape == (size,) and array.dtype.kind in "iu":
        array = array if ignored is None else np.where(ignored, 0, array)
        if array.size and array.min() >= 0 and array.max() < below:
            return array.astype(np.int64)
        outside = np.flatnonzero((array < 0) | (array >= below))
        where = f"{argument}[{outside[0]}]" if size > 1 else argument
        raise ValueError(f"{where} = {array[outside[0]]} must be an integer from 0 to {below - 1}")
    raise ValueError(f"{argument} = {short(value)} must be {size} integer(s) from 0 to {below - 1}")


def vector(argument: str, value: object, dtype: np.dtype[Any], size: int) -> NDArray[Any]:
    """``value``, if it is an array of this type with one entry for each of ``size`` copies of a game."""
    if type(value) is not np.ndarray or value.dtype != dtype or value.shape != (size,):
        what = "booleans" if dtype.kind == "b" else "integers"
        raise ValueError(f"{argument} = {short(value)} must be an array of {size} {what}, one for each copy")
    return value


def arm_index(argument: str, value: object, n_arms: int) -> int:
    """An arm's index as an int."""
    return whole(argument, value.item() if isinstance(value, np.ndarray) and value.size == 1 else value, 0, n_arms - 1)


def vectors(argument: str, value: object, n_arms: int | None = None) -> Floats:
    """Arms as finite vectors: a float64 array (n_arms, dim) with at least one dimension."""
    array = numbers(argument, value)
    if array.ndim != 2 or not array.size or not np.isfinite(array).all() or n_arms not in (None, len(array)):
        each = "arm" if n_arms is None else f"of n_arms = {n_arms}"
        raise ValueError(
            f"{argument} of shape {array.shape} must be finite vectors, one for each {each}: an array of shape"
            f" ({n_arms or 'n_arms'}, dim)"
        )
    return array


def offers(argument: str, value: Any, shape: tuple[int, ...]) -> Floats:
    """Incentives as a contiguous float64 array of this shape; whether they are in range is checked by the kernel."""
    if type(value) is not np.ndarray or value.dtype is not FLOAT64 or not value.flags.c_contiguous:
        value = numbers(argument, value, f", one for each of {shape[-1]} arms")
    array: Floats = value
    actual = array.shape
    if actual == shape:
        return array
    if (1, *actual) == shape:
        return array[None]
    expected = shape[1:] if shape[0] == 1 else shape
    raise ValueError(f"{argument} has shape {actual}, but must have one number for each arm: {expected}")


def bad_offer(argument: str, array: Floats, bad: int, most: float) -> ValueError:
    """The error for an offer whose entry at flat index ``bad`` is not a number from 0 to ``most``."""
    where = np.unravel_index(bad, array.shape)[int(array.shape[0] == 1) :]
    place = ", ".join(str(index) for index in where)
    bound = "" if most == UNBOUNDED else f" and at most max_incentive = {most:g}"
    return ValueError(
        f"{argument}[{place}] = {array.flat[bad]} must be a finite number, at least 0{bound}; nothing was played"
    )
