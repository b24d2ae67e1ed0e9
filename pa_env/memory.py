"""The memory of a compiled rule: named numbers, then named arrays, in one vector of float64.

A rule declares its numbers as an enumeration of their indices, and its arrays as a named tuple, each with its shape. A
dimension is ``N_ARMS``, an integer, or a number of the memory.

>>> class Number(IntEnum):
...     ROUND = 0
...     WINDOW = 1  # W
>>> class History(NamedTuple):
...     counts: PerArm
...     offers: Annotated[Floats, Number.WINDOW, N_ARMS]
>>> LAYOUT = Layout(Number, History)
>>> memory = LAYOUT.zeros(3, window=10)
>>> memory.size, LAYOUT.arrays(memory, 3).offers.shape
(35, (10, 3))

Compiled code reads a number as ``memory[Number.ROUND]``, and the arrays by the function ``LAYOUT.compiled``, which a
module gives a name of its own.
"""

import functools
import math
from collections.abc import Callable
from enum import IntEnum
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np

from pa_env.kernel.compiling import inlined_part
from pa_env.kernel.layout import Floats
from pa_env.rules import Rule, compile_rule

N_ARMS = "n_arms"  # K, as a dimension
Dimension = str | int  # N_ARMS, an integer, or an index of a number
PerArm = Annotated[Floats, N_ARMS]

Arrays = TypeVar("Arrays", bound=NamedTuple)


def compiled_when_used(function: Rule) -> Callable[[], Rule]:
    """Return a function that compiles this rule at its first call, and returns the compiled rule at every call."""
    return functools.cache(lambda: compile_rule(function, trusted=True))


class Layout(Generic[Arrays]):
    """Where a rule's numbers and arrays stand in its memory.

    Args:
        numbers: indices of the numbers: 0, 1, ...
        arrays: a class of named tuples; each field is annotated with a shape of one or two dimensions.
    """

    arrays: Callable[[Floats, int], Arrays]  # the arrays in a memory, not copied; takes the memory and n_arms
    compiled: Callable[[Floats, int], Arrays]  # the same for compiled code
    size: Callable[[Floats, int], int]  # how many numbers of a memory the layout takes
    compiled_size: Callable[[Floats, int], int]

    def __init__(self, numbers: type[IntEnum], arrays: type[Arrays]) -> None:
        self.numbers = numbers
        self.shapes: dict[str, tuple[Dimension, ...]] = {
            name: hint.__metadata__ for name, hint in get_type_hints(arrays, include_extras=True).items()
        }
        self.arrays, self.size = self._write(arrays)
        self.compiled, self.compiled_size = inlined_part(self.arrays), inlined_part(self.size)

    def place(self, name: str, n_arms: int, **numbers: float) -> slice:
        """Return where an array stands in the memory.

        Args:
            name: of the array.
            n_arms: K.
            **numbers: the numbers, by their names in lower case, that are dimensions of arrays up to this one.
        """
        start = len(self.numbers)
        for each, shape in self.shapes.items():
            stop = start + math.prod(self._length(dim, n_arms, numbers) for dim in shape)
            if each == name:
                return slice(start, stop)
            start = stop
        raise KeyError(name)

    def zeros(self, n_arms: int, **numbers: float) -> Floats:
        """Return a memory of zeros, but for these numbers, by their names in lower case."""
        memory = np.zeros(self.place(list(self.shapes)[-1], n_arms, **numbers).stop)
        for name, value in numbers.items():
            memory[self.numbers[name.upper()]] = value
        return memory

    @staticmethod
    def _length(dim: Dimension, n_arms: int, numbers: dict[str, float]) -> int:
        """A dimension as an integer."""
        if isinstance(dim, IntEnum):
            return int(numbers[dim.name.lower()])
        return n_arms if dim == N_ARMS else int(dim)

    def _write(self, arrays: type[Arrays]) -> tuple[Any, Any]:
        """Write the functions ``arrays`` and ``size``: Numba compiles no loop over arrays of different dimensions."""
        views, size = [f"def arrays(memory, n_arms):\n    start = {len(self.numbers)}"], [str(len(self.numbers))]
        for name, shape in self.shapes.items():
            dims = [f"int(memory[{int(dim)}])" if isinstance(dim, IntEnum) else str(dim) for dim in shape]
            reshape = f".reshape({', '.join(dims)})" if len(dims) > 1 else ""
            size.append(" * ".join(dims))
            views.append(f"    stop = start + {size[-1]}\n    {name} = memory[start:stop]{reshape}\n    start = stop")
        views.append(f"    return Arrays({', '.join(self.shapes)})")
        scope: dict[str, Any] = {"Arrays": arrays, "__name__": arrays.__module__}
        exec("\n".join([*views, f"def size(memory, n_arms):\n    return {' + '.join(size)}"]), scope)
        return scope["arrays"], scope["size"]
