"""Compiled rules: functions that make a principal's offers inside the compiled game; and rules that withdraw an offer.

A rule is a function ``rule(memory, plays, sums, arm, reward, offer) -> target``. In each round it is told the
principal's own counts and reward sums of the arms, and the arm and reward X of the round before (``NO_ARM`` in the
first round). It writes the next offer into ``offer``, which holds zeros, and returns the arm that the offer is meant
for, or ``NO_ARM``. It keeps what it must remember in ``memory``, a vector of float64.

>>> from pa_env.game import Game
>>> from pa_env.rules import compile_rule
>>> @compile_rule
... def last_winner(memory, plays, sums, arm, reward, offer):
...     if reward > 0.0:
...         memory[0] = arm
...     for a in range(offer.size):
...         offer[a] = 0.3 if a == memory[0] else 0.0
...     return int(memory[0])
>>> game = Game(n_arms=3, horizon=1000)
>>> game.begin(seeds=[1])
>>> game.follow(last_winner, np.zeros(1), rounds=1000).rounds
1000
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from pa_env.checks import FLOAT64, at_least, short, whole
from pa_env.kernel.compiling import address, compiled, inlined
from pa_env.kernel.draws import U64
from pa_env.kernel.draws import uniform as uniform_at
from pa_env.kernel.episodes import RULE
from pa_env.kernel.hold import count_round
from pa_env.kernel.layout import NO_ARM, Floats, Stop
from pa_env.own_functions import compile_function, guarded_rule, n_parameters, out_of_bounds_told, refuse_no_arm

Rule = Callable[..., int]
# By rule, and as long as it is kept: its address, and for which numbers of arms and sizes of memory it was checked.
_addresses: WeakKeyDictionary[Rule, np.uint64] = WeakKeyDictionary()
_checked: WeakKeyDictionary[Rule, set[tuple[int, int]]] = WeakKeyDictionary()
_trusted: WeakSet[Rule] = WeakSet()


def compile_rule(function: Rule, *, trusted: bool = False) -> Rule:
    """Compile a rule, for :meth:`pa_env.game.Game.follow` and :func:`baselines.follow`.

    Args:
        function: the rule; of one that Numba has compiled, the plain function is taken.
        trusted: do not check that it stays within the bounds of its arrays, for rules that were tested for it.
    """
    function = getattr(function, "py_func", function)
    if n_parameters(function) != len(RULE.args):
        raise TypeError(
            f"rule = {short(function)} must be a function rule(memory, plays, sums, arm, reward, offer) -> target"
        )
    refuse_no_arm(function, "an arm, or NO_ARM,")
    rule: Rule = compile_function(function, RULE, None if trusted else guarded_rule)
    if trusted:
        _trusted.add(rule)
    return rule


def rule_address(rule: Rule) -> np.uint64:
    """The address by which the kernel calls a compiled rule, valid as long as the caller keeps the rule."""
    try:
        return _addresses[rule]
    except (KeyError, TypeError):  # not asked for before, or nothing that can be
        pass
    if getattr(rule, "signatures", None) != [RULE.args]:
        raise TypeError(f"rule = {short(rule)} must be compiled: decorate the function with pa_env.rules.compile_rule")
    _addresses[rule] = np.uint64(address(rule))
    return _addresses[rule]


def check_bounds(rule: Rule, n_arms: int, memory: Floats) -> None:
    """Raise if a rule reads or writes outside its arrays in two trial rounds, on a copy of its memory.

    Compiled code would read and write other memory without an error. The rule is compiled once more for this, with
    Numba's checks of bounds.

    Args:
        rule: from :func:`compile_rule`.
        n_arms: number of arms.
        memory: (M,), at the beginning.
    """
    done = _checked.setdefault(rule, set())
    if (n_arms, memory.size) in done or rule in _trusted:
        return
    checked = compiled(rule.py_func, RULE, boundscheck=True)  # type: ignore[attr-defined]
    trial, offer, plays, sums = memory.copy(), np.zeros(n_arms), np.zeros(n_arms, np.int64), np.zeros(n_arms)
    with out_of_bounds_told("rule", n_arms, memory):
        checked(trial, plays, sums, NO_ARM, 0.0, offer)
        plays[0] = 1
        checked(trial, plays, sums, 0, 0.0, offer)
    done.add((n_arms, memory.size))


def check_memory(memory: Any) -> None:
    """Raise unless ``memory`` is an array that compiled code may write to."""
    if not (isinstance(memory, np.ndarray) and memory.ndim == 1 and memory.dtype == FLOAT64):
        raise TypeError(f"memory = {short(memory)} must be a vector of float64")
    if not memory.flags.carray:
        raise ValueError("memory must be a contiguous and writeable array: pass a copy")


def check_episodes(memories: Any, marks: Any, copies: int, horizon: int) -> None:
    """Raise unless these are memories (N or 1, M) and checkpoints (C,) that compiled code may read."""
    fits = isinstance(memories, np.ndarray) and memories.ndim == 2 and memories.dtype == FLOAT64
    if not (fits and memories.flags.carray and len(memories) in (1, copies)):
        raise ValueError(f"memories = {short(memories)} must be a contiguous array of float64 with 1 or {copies} rows")
    fits = isinstance(marks, np.ndarray) and marks.ndim == 1 and marks.dtype == np.int64 and marks.flags.carray
    if not (fits and marks.size and marks[0] >= 1 and marks[-1] <= horizon and (np.diff(marks) > 0).all()):
        raise ValueError(
            f"marks = {short(marks)} must be an array of increasing integers from 1 to horizon = {horizon}"
        )


def write_key(memory: Floats, at: int, key: int) -> None:
    """Keep a 64-bit key of random numbers in entries ``at`` and ``at + 1`` of a rule's memory, for :func:`read_key`.

    A float64 holds integers up to 2^53 only, so the two entries are the key's upper and lower 32 bits.

    Args:
        memory: the rule's, (M,).
        at: the first of the two entries.
        key: from 0 to 2^64 - 1.
    """
    memory[at], memory[at + 1] = int(key) >> 32, int(key) & 0xFFFFFFFF


@inlined
def read_key(memory: Any, at: int) -> Any:
    """The key that :func:`write_key` kept in entries ``at`` and ``at + 1``, as uint64; for compiled rules."""
    return (U64(memory[at]) << U64(32)) | U64(memory[at + 1])


@inlined
def uniform(memory: Any, at: int, n: int) -> float:
    """The n-th uniform number in [0, 1), n = 1, 2, ..., of the key that :func:`write_key` kept; for compiled rules.

    The same key and n give the same number: count the draws in ``memory``, or take n from the rounds played.

    Args:
        memory: the rule's.
        at: the first of the key's two entries.
        n: which number.
    """
    return uniform_at(read_key(memory, at), n)


class StopRule:
    """Withdraw an offer after Y rounds once misses of the target arm > alpha sqrt(Y) + beta / sqrt(Y).

    If it is passed again with the same offer, it continues to count.

    Args:
        target: the arm that is meant to be played.
        alpha: at least 0.
        beta: at least 0.
    """

    def __init__(self, target: int, alpha: float, beta: float) -> None:
        self.entries: Floats = np.zeros(len(Stop))
        self.entries[Stop.TARGET] = whole("target", target, 0)
        self.entries[Stop.ALPHA] = at_least("alpha", alpha, 0.0)
        self.entries[Stop.BETA] = at_least("beta", beta, 0.0)

    def check(self, n_arms: int) -> None:
        """Raise unless compiled code may write to its entries in a game with this many arms."""
        entries = self.entries
        fits = isinstance(entries, np.ndarray) and entries.shape == (len(Stop),) and entries.dtype == FLOAT64
        if not (fits and entries.flags.carray and np.isfinite(entries).all() and self.target < n_arms):
            raise ValueError(
                f"stop = StopRule({entries!r}) must have a target among {n_arms} arms, and its original entries"
            )

    @property
    def target(self) -> int:
        """The arm that is meant to be played."""
        return int(self.entries[Stop.TARGET])

    @property
    def held(self) -> int:
        """Rounds for which the offer has been held, Y."""
        return int(self.entries[Stop.HELD])

    @property
    def misses(self) -> int:
        """Rounds in which another arm was played."""
        return int(self.entries[Stop.MISSES])

    def count(self, arm: int) -> None:
        """Count a round in which this arm was played; the kernel counts its own rounds."""
        count_round.py_func(self.entries, arm)  # type: ignore[attr-defined]

    @property
    def withdrawn(self) -> bool:
        """True if the rule has fired."""
        return bool(self.entries[Stop.WITHDRAWN])
