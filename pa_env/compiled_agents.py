"""Your own agent at compiled speed: two functions and a vector of memory.

>>> import numpy as np
>>> import pa_env
>>> def choose(memory, means, counts, offer, t, u):
...     best = 0
...     for a in range(offer.size):
...         if means[a] + offer[a] > means[best] + offer[best]:
...             best = a
...     return best
>>> def learn(memory, means, counts, arm, reward):
...     means[arm] += memory[0] * (reward - means[arm])
>>> forgetful = pa_env.CompiledAgent(choose, learn, memory=[0.1])
>>> game = pa_env.game.Game(agent=forgetful, n_arms=3, horizon=1000)
>>> game.begin(seeds=[1])
>>> game.hold([0.0, 0.9, 0.0], rounds=1000).rounds
1000

It works in every interface. Copies of a game have separate memories. The functions are compiled once for all games, and
the machine code is cached on disk.
"""

import functools
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numba
import numpy as np
from numpy.typing import ArrayLike

from pa_env.checks import numbers, short, whole
from pa_env.kernel.compiling import address, compiled
from pa_env.kernel.draws import draw, normals, uniform
from pa_env.kernel.layout import Floats, Records, Rules
from pa_env.kernel.other_agents import CHOOSE, LEARN, LEARN_PAID, Kind
from pa_env.own_functions import (
    compile_function,
    guarded_choice,
    guarded_learn,
    guarded_paid_learn,
    n_parameters,
    out_of_bounds_told,
    refuse_no_arm,
)

ARGUMENTS = {
    "choose": "choose(memory, means, counts, offer, t, u) -> arm",
    "learn": "learn(memory, means, counts, arm, reward) or learn(memory, means, counts, arm, reward, paid)",
    "exploration": "exploration(memory, means, counts, offer, t, u) -> arm",
}
_compiled: WeakValueDictionary[tuple[str, Any, bool], Any] = WeakValueDictionary()
# For a `choose` whose bounds were checked: with which `learn`, arms and size of memory.
_checked: WeakKeyDictionary[Any, set[tuple[Any, int, int]]] = WeakKeyDictionary()


@compiled
def further_uniform(u: float, k: int) -> float:
    """The k-th further uniform number of a round, k = 0, 1, ..., a hash of ``u``, for use in ``choose``."""
    return uniform(draw(np.uint64(u * 2.0**53), 1), k + 1)


@compiled
def further_normal(u: float, k: int) -> float:
    """The k-th further standard normal number of a round, k = 0, 1, ..., for use in ``choose``."""
    return normals(draw(draw(np.uint64(u * 2.0**53), 2), k + 1))[0]


class CompiledAgent:
    """An agent whose functions run inside the compiled game.

    ``choose(memory, means, counts, offer, t, u) -> arm`` returns the arm to play. Its arguments are

    - ``memory``, the agent's own numbers (M,);
    - ``means``, its beliefs (K,), against which regret is computed; they begin at 0, and ``learn`` changes them;
    - ``counts`` (K,), how often each arm was played before;
    - ``offer`` (K,), the incentives;
    - ``t``, the round: 1, 2, ...;
    - ``u``, a uniform number of this round that depends on the seed and t alone, so that the agent draws the same
      numbers whichever principal it meets. :func:`further_uniform` and :func:`further_normal` derive more from it.

    It may write to ``memory``. What it writes is kept in the round that is played; asking for an answer in advance
    changes nothing.

    ``learn(memory, means, counts, arm, reward, paid)`` is told the reward R of the arm just played, and the incentive
    that was paid for it; without the last parameter, the reward alone. It may write to ``memory`` and ``means``;
    ``counts`` include this round.

    Both are plain Python functions that Numba compiles; they must not make arrays or raise exceptions. When a game is
    made, they are run on sample data to check that they stay within the bounds of their arrays. In a game, an index
    outside them ends it with an error, in the round in which ``choose`` used it, or in the round after ``learn`` did.
    An answer that is not an arm's index is an error, and the round is not played.

    Args:
        choose: see above.
        learn: see above.
        memory: the memory at the beginning of each episode of each copy: a vector, its length if it begins with zeros,
            or a function ``n_arms -> vector``.
        name: that tables and pictures show.
        trusted: do not check bounds in a game; an index outside them then reads and writes other memory.
    """

    def __init__(
        self,
        choose: Callable[..., int],
        learn: Callable[..., None],
        memory: int | ArrayLike | Callable[[int], ArrayLike] = 0,
        name: str = "CompiledAgent",
        *,
        trusted: bool = False,
    ) -> None:
        self.choose = compile_own("choose", choose, trusted)
        self.learn = compile_own("learn", learn, trusted)
        self.memory, self.name, self.trusted = memory, name, trusted
        if not callable(memory):
            self.memory_for(1, 1)

    def __repr__(self) -> str:
        """The call that makes it, with the names of its functions."""
        name = "" if self.name == type(self).__name__ else f", name={self.name!r}"
        return f"CompiledAgent({self.choose.__name__}, {self.learn.__name__}, memory={self.memory!r}{name})"

    def __reduce__(self) -> Any:
        """Pickle the functions by name; they are compiled again where the agent is loaded."""
        make = functools.partial(CompiledAgent, trusted=self.trusted)
        return make, (self.choose.py_func, self.learn.py_func, self.memory, self.name)

    def __deepcopy__(self, _: Any) -> "CompiledAgent":
        """The agent itself, which is immutable."""
        return self

    def write_rules(self, rules: Records[Rules], n_arms: int, dim: int) -> None:
        """Write it into a game's rules."""
        check_own_bounds(self.choose, self.learn, n_arms, self.memory_for(n_arms, int(rules["horizon"][0])))
        rules["kind"], rules["maximises"] = Kind.COMPILED, False
        self.write_addresses(rules)

    def write_addresses(self, rules: Records[Rules]) -> None:
        """Write the addresses of its machine code in this process."""
        write_functions(rules, self.choose, self.learn)

    def initial_for(self, n_arms: int, dim: int) -> Floats:
        """Initial means."""
        return np.zeros(dim or n_arms)

    def memory_for(self, n_arms: int, horizon: int) -> Floats:
        """The memory (M,) at the beginning of an episode."""
        given = self.memory(n_arms) if callable(self.memory) else self.memory
        if np.ndim(given) == 0 and not callable(self.memory):
            return np.zeros(whole("memory", given, 0))
        values = numbers("memory", given)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError(f"memory = {short(given)} must be a length, or a vector of finite numbers")
        return values


def write_functions(rules: Records[Rules], choose: Any, learn: Any) -> None:
    """Write the addresses of an agent's functions in this process.

    Args:
        rules: of the game.
        choose: compiled by :func:`compile_own`.
        learn: likewise, or None.
    """
    rules["choose"], rules["learn"], rules["learn_paid"] = address(choose), 0, 0
    if learn is not None:
        rules["learn_paid" if takes_paid(learn) else "learn"] = address(learn)


def takes_paid(learn: Any) -> bool:
    """True if a compiled ``learn`` is told the incentive."""
    return len(learn.nopython_signatures[0].args) == len(LEARN_PAID.args)


def compile_own(argument: str, function: Any, trusted: bool = False) -> Any:
    """Compile a user's function for the kernel to call; its address is valid for as long as the result is kept.

    Args:
        argument: its role, a key of ``ARGUMENTS``.
        function: a plain function, or one that Numba has compiled, which is compiled again for the kernel.
        trusted: do not check bounds.
    """
    function = getattr(function, "py_func", function)
    made = _compiled.get((argument, function, trusted))
    if made is None:
        made = _compiled[argument, function, trusted] = _compile(argument, function, trusted)
    return made


kept = functools.cache(compile_own)  # for functions of this package, and of agents that do not keep the result


def _compile(argument: str, function: Any, trusted: bool) -> Any:
    """What :func:`compile_own` returns, compiled."""
    signatures = (LEARN, LEARN_PAID) if argument == "learn" else (CHOOSE,)
    signature = next((each for each in signatures if len(each.args) == n_parameters(function)), None)
    if signature is None:
        raise TypeError(f"{argument} = {short(function)} must be a function {ARGUMENTS[argument]}")
    if argument != "learn":
        refuse_no_arm(function, "one")
    guard = {CHOOSE: guarded_choice, LEARN: guarded_learn, LEARN_PAID: guarded_paid_learn}[signature]
    made = compile_function(function, signature.args, None if trusted else guard)
    (found,) = made.nopython_signatures
    if numba.types.unliteral(found.return_type) != signature.return_type:
        remedy = "it must return nothing" if argument == "learn" else "it must return an arm's index, np.int64(arm)"
        raise TypeError(f"{argument} = {function.__name__} returns {found.return_type}: {remedy}")
    return made


def check_own_bounds(choose: Any, learn: Any, n_arms: int, memory: Floats) -> None:
    """Raise if the user's functions read or write outside their arrays in trial rounds, on a copy of the memory.

    Args:
        choose: compiled by :func:`compile_own`.
        learn: likewise, or None.
        n_arms: number of arms.
        memory: (M,), at the beginning of an episode.
    """
    if (learn, n_arms, memory.size) in _checked.setdefault(choose, set()):
        return
    choosing = compiled(choose.py_func, CHOOSE, boundscheck=True)
    paid = (0.5,) if learn is not None and takes_paid(learn) else ()
    learning = learn and compiled(learn.py_func, LEARN_PAID if paid else LEARN, boundscheck=True)
    rng, trial, means, counts = np.random.default_rng(0), memory.copy(), np.zeros(n_arms), np.zeros(n_arms, np.int64)
    with out_of_bounds_told("agent", n_arms, memory):
        for t in range(1, 2 * n_arms + 2):
            choosing(trial, means, counts, rng.random(n_arms), t, rng.random())
            arm = t % n_arms
            counts[arm] += 1
            if learning is not None:
                learning(trial, means, counts, arm, float(rng.integers(2)), *paid)
    _checked[choose].add((learn, n_arms, memory.size))
