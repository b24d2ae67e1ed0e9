"""Users' functions for the compiled game: how they are compiled, and what they are told when they can't be."""

import builtins
import dis
import inspect
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

from pa_env.kernel.compiling import compilation, compiled, part
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.kernel.sources import codes

REASONS = {  # what stands in Numba's message, and what it means
    "Cannot modify readonly array": "writes to a read-only argument; it may write to memory, and learn to means too",
    "NRT required": "makes an array, a list or a string; write a loop over numbers and keep them in memory",
    "Only accept returning of array": "makes an array; write a loop over numbers and keep them in memory",
    "Function(<class 'str'>)": "makes a string; rules and agents work with numbers",
}
NUMPY_ARRAYS = re.compile(r"Function\(<(?:built-in )?function (zeros|empty|ones|full|arange|array|linspace)\b")


OUT_OF_BOUNDS = NO_ARM - 2  # in place of an arm: the function left the bounds of its arrays
NO_OFFER = -np.inf  # in place of the first incentive: the rule did
EMPTY, UNDEFINED = object(), object()  # in place of the value of a variable that has none yet, and of no variable
GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
Guard = Callable[[Any], Callable[..., Any]]


def guarded_choice(own: Any) -> Callable[..., int]:
    """An agent's ``choose`` that answers OUT_OF_BOUNDS where ``own`` leaves the bounds of its arrays."""

    def choose(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
        try:
            return own(memory, means, counts, offer, t, u)
        except Exception:
            return OUT_OF_BOUNDS

    return choose


def guarded_learn(own: Any) -> Callable[..., None]:
    """An agent's ``learn`` that makes a mean NaN, which is an error, where ``own`` leaves the bounds of its arrays."""

    def learn(memory: Floats, means: Floats, counts: Integers, arm: int, reward: float) -> None:
        try:
            return own(memory, means, counts, arm, reward)  # refused if not None
        except Exception:
            means[arm] = np.nan
            return None

    return learn


def guarded_paid_learn(own: Any) -> Callable[..., None]:
    """:func:`guarded_learn` for a ``learn`` that is told the incentive."""

    def learn(memory: Floats, means: Floats, counts: Integers, arm: int, reward: float, paid: float) -> None:
        try:
            return own(memory, means, counts, arm, reward, paid)
        except Exception:
            means[arm] = np.nan
            return None

    return learn


def guarded_rule(own: Any) -> Callable[..., int]:
    """A rule that offers NO_OFFER, which is refused, where ``own`` leaves the bounds of its arrays."""

    def rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
        try:
            return own(memory, plays, sums, arm, reward, offer)
        except Exception:
            offer[0] = NO_OFFER
            return NO_ARM

    return rule


def n_parameters(function: object) -> int:
    """How many parameters a function has; -1 for what is not a plain function."""
    return len(inspect.signature(function).parameters) if inspect.isfunction(function) else -1


def compile_function(function: Callable[..., Any], signature: Any, guard: Guard | None) -> Any:
    """Compile a user's function for one signature, or raise a TypeError of one sentence.

    Args:
        function: a plain function.
        signature: what it takes, and returns if it says so.
        guard: makes the function that calls it with its bounds checked; None: they are not checked.
    """
    refuse_randomness(function)
    made: Any = compiled(function, no_cfunc_wrapper=False)
    if guard is not None:
        made = compiled(function, guard=guard(part(function, boundscheck=True)), no_cfunc_wrapper=False)
    try:
        with compilation():
            made.compile(signature)
    except numba.core.errors.NumbaError as error:
        raise TypeError(f"{function.__name__} can't be compiled: {sentence(str(error), function)}") from None
    made.disable_compile()
    made.py_func, made.__name__ = function, function.__name__
    return made


def place(function: Callable[..., Any], line: int | str) -> str:
    """A line of the file in which a function stands, in words."""
    return f"line {line} of {Path(function.__code__.co_filename).name}"


def sentence(text: str, function: Callable[..., Any]) -> str:
    """What a message of Numba says of a function, in one sentence, with the line."""
    file = re.escape(Path(function.__code__.co_filename).name)
    line = re.search(rf'{file}(?:", line | \()(\d+)', text)
    where = f"{place(function, line[1])} " if line else "it "
    for words, reason in REASONS.items():
        if words in text:
            return where + reason
    if NUMPY_ARRAYS.search(text):
        return f"{where}makes an array; write a loop over numbers and keep them in memory"
    lines = [each.strip() for each in text.splitlines() if each.strip() and not each.startswith("Failed in nopython")]
    return f"{where}is not possible in compiled code ({lines[0] if lines else text})"


def refuse_no_arm(function: Callable[..., Any], arm: str) -> None:
    """Raise if a function that must return an arm may return None; ``arm`` is what the message calls it."""
    line, before = function.__code__.co_firstlineno, None
    for instruction in dis.get_instructions(function):
        line = getattr(instruction.positions, "lineno", None) or line
        constant = instruction if instruction.opname == "RETURN_CONST" else before
        nothing = constant is not None and constant.opname.endswith("_CONST") and constant.argval is None
        if instruction.opname.startswith("RETURN_") and nothing:
            raise TypeError(
                f"{function.__name__} can't be compiled: {place(function, line)} ends it without an arm; return {arm}"
                " on every path"
            )
        before = instruction


def refuse_randomness(function: Callable[..., Any]) -> None:
    """Raise if a function, or a function that it calls, draws from a generator that no seed of the game reaches."""
    left, seen = [function], set()
    while left:
        called = left.pop()
        plain = getattr(called, "py_func", called)
        if not inspect.isfunction(plain) or plain in seen:
            continue
        seen.add(plain)
        for name, value, line in _loaded(plain):
            where = place(plain, line)
            if value is EMPTY:
                raise TypeError(
                    f"{function.__name__} can't be compiled: {where} uses {name}, which has no value yet; define it"
                    " above the function"
                )
            if value is UNDEFINED:
                raise TypeError(f"{function.__name__} can't be compiled: {where} uses {name}, which is not defined")
            if _is_random(value):
                raise TypeError(
                    f"{function.__name__} can't be compiled: {where} draws from a global generator, which no seed"
                    " of the game reaches; use pa_env.rules.uniform, or the agent's u and further_uniform"
                )
            left += [each for each in (value if isinstance(value, tuple) else (value,)) if hasattr(each, "py_func")]


def _loaded(function: Any) -> Iterator[tuple[str, Any, int]]:
    """What a function, and functions inside it, take from outside: names, what they stand for, and lines.

    Attributes of modules and classes are looked up too; a variable that has no value yet stands for EMPTY, a name that
    is not defined for UNDEFINED.
    """
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for code in codes(function.__code__):
        value: Any = None
        line = code.co_firstlineno
        for instruction in dis.get_instructions(code):
            line = getattr(instruction.positions, "lineno", None) or line
            name, before = instruction.argval, value
            if instruction.opname == "EXTENDED_ARG":  # of the next instruction
                continue
            value = None
            if instruction.opname == "LOAD_GLOBAL":
                value = function.__globals__.get(name, getattr(builtins, name, UNDEFINED))
            elif instruction.opname == "LOAD_DEREF" and name in around:
                try:
                    value = around[name].cell_contents
                except ValueError:
                    value = EMPTY
            elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(before, ModuleType | type):
                value = getattr(before, name, None)
            if value is not None:
                yield name, value, line


def _is_random(value: Any) -> bool:
    """True if a value is a module of generators, a generator, or a method of one."""
    owner = getattr(value, "__self__", None)
    return value is random or value is np.random or isinstance(value, GENERATORS) or isinstance(owner, GENERATORS)


@contextmanager
def out_of_bounds_told(what: str, n_arms: int, memory: Floats) -> Iterator[None]:
    """Turn the IndexError of a user's compiled code, run on sample data, into an error that explains it."""
    try:
        yield
    except IndexError as error:
        raise ValueError(
            f"memory of {memory.size} numbers is too short for this {what} with {n_arms} arms, or the {what} is wrong:"
            f" {error}"
        ) from None
