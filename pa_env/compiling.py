"""How this package compiles: Numba, cached on disk where that is possible."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# NumPy's error model leaves out the zero-division branches. `_nrt=False` leaves out Numba's own reference
# counts on arrays, which nothing compiled here allocates or keeps: it halves the cost of a batched step.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}


def compiled(function: Function, signature: Any = None) -> Function:
    """Compile a function that Python calls, for a signature at once or for each one as it is met.

    Where no cache folder can be written Numba refuses to cache; then the function is compiled anew in
    each process, which costs a few seconds at first use.
    """
    try:
        return cast(Function, numba.njit(signature, cache=True, **OPTIONS)(function))
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return cast(Function, numba.njit(signature, **OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Compile a function that only compiled functions call, into each of its callers."""
    return cast(Function, numba.njit(inline="always", **OPTIONS)(function))


def machine_code(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """A compiled function for arguments of just these types, free of Numba's look-up of types at each call.

    That look-up is more than half of the cost of a short call; whoever skips it answers for the types.
    """
    signature = tuple(numba.typeof(argument) for argument in arguments)  # type: ignore[no-untyped-call]
    return cast(Callable[..., Any], function.get_overload(signature))  # type: ignore[attr-defined]


class Pointer:
    """A function compiled for one signature, as an argument of compiled code.

    Numba would look up its address anew at every call, at thirty times the cost of asking for this one.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function  # keeps the code in memory
        (result,) = function.overloads.values()  # type: ignore[attr-defined]
        self._address: int = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        return self._address
