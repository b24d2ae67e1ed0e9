"""Compilation by Numba, with a disk cache that is never stale.

Numba's own cache checks the file of a function and no other: if a constant or a helper in another file changes, old
machine code stays in use and gives wrong numbers. The folder of every function compiled here is therefore named after
all sources that may be compiled into it (:mod:`pa_env.kernel.sources`).

All uses of Numba's private API are in this file, and each has a plain fallback: the option ``_nrt``, the class of the
cache and the numbers of functions in it, the library of a :func:`part`, direct calls of one overload
(:func:`machine_code`) and the address of a compiled function (:func:`code_address`).
"""

import functools
import gc
import hashlib
import multiprocessing
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.ir
import numba
import numba.extending
import platformdirs

from pa_env.kernel.sources import digest, outside

FunctionCache: Any
_CacheLocator: Any
try:
    from numba.core.bytecode import FunctionIdentity
    from numba.core.caching import FunctionCache, _CacheLocator
except ImportError:  # another version of Numba: compile again in each process
    FunctionCache = _CacheLocator = None
else:
    # Numba numbers functions from 1 in each process and puts the number into the names of their machine code. Of two
    # functions of one name, kept by two processes under one number, a third that loads both would call one for both.
    FunctionIdentity._unique_ids = iter(lambda: uuid.uuid4().hex, None)  # type: ignore[assignment]

PartCompiler: Any = None
try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler
except ImportError:  # compile parts as whole functions
    pass
else:

    class PartLibrary(JITCodeLibrary):
        """Code for callers to link. It is neither optimised nor turned into machine code on its own."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalized = True

        @property
        def codegen(self) -> Any:
            """Itself, for :meth:`set_env`."""
            return self

        def set_env(self, _name: str, _environment: Any) -> None:
            """Nothing: there is no machine code that could read it."""

    class PartCompiler(Compiler):  # type: ignore[no-redef]
        """The compiler of :func:`part`."""

        def compile_extra(self, function: Callable[..., Any]) -> Any:
            """Compile a function into a :class:`PartLibrary`."""
            library: Any = PartLibrary
            self.state.library = library(self.state.targetctx.codegen(), function.__qualname__)
            return super().compile_extra(function)  # type: ignore[no-untyped-call]


Function = TypeVar("Function", bound=Callable[..., Any])

# NumPy's error model leaves out the zero-division branches. `_nrt=False` leaves out Numba's own reference counts on
# arrays, which nothing compiled here allocates or keeps: it halves the cost of a batched step.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}
PATIENCE = 2.0  # seconds without a word
_explained = False  # whether the user was told, or need not be


def _supported(options: dict[str, Any]) -> dict[str, Any]:
    """The options without ``_nrt`` where this Numba does not know it."""
    try:
        numba.njit(**options)(lambda: None)
    except (KeyError, TypeError, NameError):
        return {name: value for name, value in options.items() if name != "_nrt"}
    return options


OPTIONS = _supported(OPTIONS)


def cache_folder() -> Path:
    """Where machine code is kept: in Numba's cache folder if one was chosen, or in the platform's for this user."""
    chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    return Path(chosen or platformdirs.user_cache_dir("principal-agent-env", appauthor=False)) / "pa_env-compiled"


class StampedCache:
    """The disk cache of a function, in a folder named after its sources and options; used when it is first compiled.

    If it cannot be read or written, or the function was not read from a file, the function is compiled again.

    Args:
        function: the function.
        options: of its compilation.
        guard: the function around it that is compiled in its place, or None.
    """

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], guard: Callable[..., Any] | None = None
    ) -> None:
        self._function, self._options, self._guard = function, options, guard or function

    @functools.cached_property
    def cache_path(self) -> str:
        """The folder."""
        sources = [digest(Path(each.__code__.co_filename)) for each in (self._function, self._guard)]
        key = f"{sources} {outside(self._function)} {self._guard.__qualname__} {sorted(self._options.items())}"
        return str(cache_folder() / hashlib.sha256(key.encode()).hexdigest())

    @functools.cached_property
    def _cache(self) -> Any:
        """Numba's cache in that folder."""
        cache = self

        class Locator(_CacheLocator):  # type: ignore[misc]
            """The folder, for Numba."""

            @classmethod
            def from_function(cls, _function: Any, _file: str) -> "Locator":
                return cls()

            def get_cache_path(self) -> str:
                return cache.cache_path

            def get_source_stamp(self) -> str:
                return ""  # the folder has it

            def get_disambiguator(self) -> str:
                return str(cache._function.__code__.co_firstlineno)

        class Files(FunctionCache._impl_class):  # type: ignore[misc]
            _locator_classes = [Locator]

        class Cache(FunctionCache):  # type: ignore[misc]
            _impl_class = Files

        return Cache(self._function)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature, or None."""
        try:
            return self._cache.load_overload(sig, target_context)
        except Exception:  # unpickling damaged bytes may raise anything; the function is then compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for a signature."""
        try:
            self._cache.save_overload(sig, data)
        except Exception:  # a full disk, an index that is damaged, or no source file
            return


def compiled(
    function: Function, signature: Any = None, guard: Callable[..., Any] | None = None, **options: Any
) -> Function:
    """Compile a function that Python calls.

    Args:
        function: the function, of arrays and numbers.
        signature: compile it for these types now, and for no others; None: for each new combination when called.
        guard: a function that calls it, to be compiled in its place.
        **options: of ``numba.njit``, in addition to the project's.
    """
    options = OPTIONS | {"no_cfunc_wrapper": True} | options
    dispatcher = numba.njit(**options)(guard or function)
    if FunctionCache is not None and hasattr(dispatcher, "_cache"):
        dispatcher._cache = StampedCache(function, options, guard)
    if signature is not None:
        with compilation():
            dispatcher.compile(signature)
        dispatcher.disable_compile()
    return cast(Function, dispatcher)


def part(function: Function, **options: Any) -> Function:
    """Compile a function that only compiled functions call; Python cannot.

    Its code is linked into that of its callers, and optimised and turned into machine code there alone.

    Args:
        function: the function, of arrays and numbers.
        **options: of ``numba.njit``, in addition to the project's.
    """
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    options = OPTIONS | wrappers | {"pipeline_class": PartCompiler} | options
    return cast(Function, numba.njit(**options)(function))


def inlined(function: Function) -> Function:
    """Compile a function that compiled functions call, into each of its callers; Python may call it too.

    By LLVM: Numba's own ``inline="always"`` takes half as long again to compile, and the code is no faster.
    """
    options = OPTIONS | {"forceinline": True, "no_cfunc_wrapper": True}
    return cast(Function, numba.njit(**options)(function))


def inlined_part(function: Function) -> Function:
    """Compile a :func:`part` that is inlined into each of its callers."""
    return part(function, forceinline=True)


def compile_silently() -> None:
    """Tell the user nothing of compilations in this process: another one speaks to the user."""
    global _explained
    _explained = True


def _read_by_a_user() -> bool:
    """Return whether stderr is a terminal or a notebook of this process, which is no worker of another."""
    stream = sys.stderr
    if stream is None or multiprocessing.parent_process() is not None:
        return False
    return stream.isatty() or type(stream).__module__.startswith("ipykernel.")


@contextmanager
def compilation() -> Iterator[None]:
    """While something is compiled: no garbage is collected, and after two seconds the user is told so, once."""

    def explain() -> None:
        global _explained
        _explained = True
        print(
            "pa_env: compiling the game for this machine, some ten seconds for each kind of agent; kept for the next"
            f" time in {cache_folder()}",
            file=sys.stderr,
        )

    timer = threading.Timer(PATIENCE, explain)
    timer.daemon = True
    if not _explained and _read_by_a_user():
        timer.start()
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        timer.cancel()
        if collects:
            gc.enable()


def machine_code(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """A compiled function for arguments of exactly these types, without Numba's type lookup at each call.

    That lookup is more than half of the cost of a short call. The caller must guarantee the argument types.
    """
    if not hasattr(function, "get_overload"):
        return function
    signature = tuple(numba.typeof(argument) for argument in arguments)
    with compilation():
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
