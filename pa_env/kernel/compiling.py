"""Compilation by Numba, with a disk cache that is never stale.

Numba's own cache checks the file of a function and no other: if a constant or a helper in another file changes, old
machine code stays in use and gives wrong numbers. The key of every function compiled here therefore holds a digest of
all sources that may be compiled into it (:func:`digest`).

All uses of Numba's private API are in this file, and each has a plain fallback: the option
``_nrt``, the class of the cache, direct calls of one overload (:func:`machine_code`) and the address of a compiled
function (:func:`code_address`).
"""

import functools
import hashlib
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite  # type: ignore[import-untyped]
import llvmlite.ir  # type: ignore[import-untyped]
import numba
import numba.extending
import numpy as np

FunctionCache: Any
try:
    from numba.core.caching import FunctionCache
except ImportError:  # another version of Numba: compile again in each process
    FunctionCache = None

Function = TypeVar("Function", bound=Callable[..., Any])

# NumPy's error model leaves out the zero-division branches. `_nrt=False` leaves out Numba's own reference counts on
# arrays, which nothing compiled here allocates or keeps: it halves the cost of a batched step.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}
NO_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
PATIENCE = 2.0  # seconds without a word
_explained = False  # whether the user was told
KERNEL = ("*.py",)  # all that is compiled into the kernel's own functions


def _supported(options: dict[str, Any]) -> dict[str, Any]:
    """The options without ``_nrt`` where this Numba does not know it."""
    try:
        numba.njit(**options)(lambda: None)
    except (KeyError, TypeError, NameError):
        return {name: value for name, value in options.items() if name != "_nrt"}
    return options


OPTIONS = _supported(OPTIONS)


@functools.cache
def digest(package: str) -> str:
    """SHA-256 of the versions and of the sources that may be compiled into a function of a top-level package.

    These are the kernel's own for functions of ``pa_env.kernel``; for functions of other packages, every source file
    of the package as well (or the one file, if it is a module).
    """
    found = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {np.__version__}".encode())
    here = Path(__file__).parent
    files = [path for pattern in KERNEL for path in here.glob(pattern)]
    if package != "pa_env.kernel":
        origin = getattr(importlib.import_module(package), "__file__", None)
        if origin is not None:
            own = Path(origin)
            files += own.parent.rglob("*.py") if own.name == "__init__.py" else [own]
    for path in sorted(files):
        found.update(path.read_bytes())
    return found.hexdigest()


def _package(function: Callable[..., Any]) -> str:
    """The package whose :func:`digest` belongs to a function."""
    module = function.__module__
    return "pa_env.kernel" if module.startswith("pa_env.kernel") else module.partition(".")[0]


def _stamped_cache(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A disk cache for a function, or None if Numba finds no folder for it."""
    if FunctionCache is None:
        return None
    stamp = (digest(_package(function)), repr(sorted(options.items())))

    class StampedCache(FunctionCache):  # type: ignore[misc]
        """Keyed by the sources and options too. If it cannot be read or written, functions are compiled again."""

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return (*super()._index_key(sig, codegen), *stamp)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # unpickling damaged bytes may raise anything; the function is then compiled
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception:  # a full disk, or an index that is damaged
                return

    try:
        return StampedCache(function)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return None


def compiled(function: Function, signature: Any = None, **options: Any) -> Function:
    """Compile a function that Python calls.

    Args:
        function: the function, of arrays and numbers.
        signature: compile it for these types now, and for no others; None: for each new combination when called.
        **options: of ``numba.njit``, in addition to the project's.
    """
    options = OPTIONS | options
    dispatcher = numba.njit(**options)(function)
    cache = _stamped_cache(function, options)
    if cache is not None and hasattr(dispatcher, "_cache"):
        dispatcher._cache = cache
    if signature is not None:
        with slowness_explained():
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return cast(Function, dispatcher)


def inlined(function: Function) -> Function:
    """Compile a function that compiled functions call, into each of its callers.

    By LLVM: Numba's own ``inline="always"`` takes half as long again to compile, and the code is no faster.
    """
    return cast(Function, numba.njit(forceinline=True, **OPTIONS)(function))


def part(function: Function) -> Function:
    """Compile a function that only compiled functions call: without the wrappers by which Python would call it.

    For a function of all the arrays of a game, these take half of the time to compile.
    """
    return compiled(function, **NO_WRAPPERS)


def inlined_part(function: Function) -> Function:
    """Compile a function as :func:`inlined` and :func:`part` do."""
    return cast(Function, numba.njit(forceinline=True, **OPTIONS, **NO_WRAPPERS)(function))


@contextmanager
def slowness_explained() -> Iterator[None]:
    """Say once, on a terminal, that something is being compiled if it takes longer than two seconds."""

    def explain() -> None:
        global _explained
        _explained = True
        print("pa_env: compiling the game for this machine; the next time it starts at once", file=sys.stderr)

    timer = threading.Timer(PATIENCE, explain)
    timer.daemon = True
    if not _explained and sys.stderr is not None and sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def machine_code(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """A compiled function for arguments of exactly these types, without Numba's type lookup at each call.

    That lookup is more than half of the cost of a short call. The caller must guarantee the argument types.
    """
    if not hasattr(function, "get_overload"):
        return function
    signature = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    with slowness_explained():
        function.compile(signature)  # type: ignore[attr-defined]
    return cast(Callable[..., Any], function.get_overload(signature))


class Direct:
    """A compiled function whose arguments always have the same types, called without a type lookup."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._code: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Call it; compiled at the first call."""
        if self._code is None:
            self._code = machine_code(self.function, arguments)
        return self._code(*arguments)


def address(function: Callable[..., Any]) -> int:
    """The address of the machine code of a function compiled for one signature, for :func:`caller`.

    It is valid for as long as the function is kept, and in this process only.
    """
    try:
        return code_address(function)
    except AttributeError:
        (signature,) = function.nopython_signatures  # type: ignore[attr-defined]
        function.by_address = numba.cfunc(signature)(function.py_func)  # type: ignore[attr-defined]
        return int(function.by_address.address)  # type: ignore[attr-defined]


def code_address(function: Callable[..., Any]) -> int:
    """The address without a compilation of its own, by Numba's private API."""
    (result,) = function.overloads.values()  # type: ignore[attr-defined]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


def caller(signature: Any) -> Callable[..., Any]:
    """A function for compiled code, ``call(address, arguments)``: it calls the function at an address.

    Args:
        signature: of that function. The arguments come as a tuple of these types; arrays may be writeable.
    """

    @numba.extending.intrinsic
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            types = [context.get_value_type(each) for each in signature.args]
            of = llvmlite.ir.FunctionType(context.get_value_type(signature.return_type), types)
            function = builder.inttoptr(values[0], of.as_pointer())
            return builder.call(function, [builder.extract_value(values[1], k) for k in range(len(types))])

        return signature.return_type(numba.types.uint64, arguments), generate

    return cast(Callable[..., Any], call)
