"""Play users' principals again where no game is: only offers and observations pass through a pipe.

Python can't keep code from looking for the game in its own process (``gc.get_objects()``, frames). A principal that did
so makes other offers here, where there is nothing to find; one that changed its scores has other scores here.
"""

import queue
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np

from baselines.benchmark.blocks import Block, BlockResult, read_table
from baselines.benchmark.pool import Worker
from baselines.principal import Principal
from baselines.registry import resolve
from baselines.specs import is_user_code
from baselines.tasks import settings
from pa_env.checks import UNBOUNDED
from pa_env.game import Game
from pa_env.kernel.layout import ARM, REWARD, SCORES, Floats

_PLAYING: list[Principal] = []  # the principal of this process, if it is one of those


class Sizes(NamedTuple):
    """Facts about a game that a principal may know before it begins, under the names that a game has for them."""

    n_arms: int
    horizon: int
    dim: int
    features: Floats | None


def check_can_isolate(blocks: Sequence[Block]) -> None:
    """Raise if a game of these blocks runs users' code, which would have to be imported where the game is played."""
    for block in blocks:
        for spec in (block.task.agent, block.task.instance):
            if is_user_code(spec):
                raise ValueError(f"isolated is for agents and instances of this package, not for {spec}: leave it out")


def check_isolated(result: BlockResult, timeout: float) -> BlockResult:
    """Return the result, or a failure if a user's principal has other offers or scores without a game in its process.

    Args:
        result: of a block; those of built-in principals are not played again.
        timeout: seconds for each round.
    """
    block = result.block
    if result.data is None or not is_user_code(block.principal):
        return result
    why = _difference(block, result.data, timeout)
    return BlockResult(block, None, f"played again in a process without a game, {why}\n") if why else result


def _difference(block: Block, data: bytes, timeout: float) -> str | None:
    """Return what differs in the block when it is played again; None if nothing does."""
    table, marks = read_table(data), set(block.task.checkpoints.tolist())
    inbox: queue.SimpleQueue[tuple[Worker, bytes | None]] = queue.SimpleQueue()
    worker, row = Worker(inbox), 0
    inbox.get()  # it has started

    def ask(function: Callable[..., bytes], *arguments: object) -> Floats:
        worker.ask(timeout, function, *arguments)
        data, why = worker.answer(inbox.get(timeout=timeout)[1] or b"")
        if data is None:
            raise ValueError(why)
        return np.frombuffer(data)

    game = Game(**(settings(block.task) | {"max_incentive": UNBOUNDED}), observe=False)
    try:
        for seed in block.seeds:
            game.begin(seeds=[seed])
            sizes = Sizes(game.n_arms, game.horizon, game.dim, game.features if game.dim else None)
            offer = ask(_begin, block.principal, sizes, game.principal_seed())
            for t in range(1, game.horizon + 1):
                outcome = game.play(offer[None])[0]
                if t in marks:
                    kept = [table["offers"][row].as_py(), *(table[name][row].as_py() for name in SCORES)]
                    again = [offer.tolist(), *game.score_sums().tolist()]
                    if not np.array_equal(np.hstack(kept), np.hstack(again), equal_nan=True):
                        return f"seed {seed} has other offers or scores after {t} rounds"
                    row += 1
                if t < game.horizon:
                    offer = ask(_observe, int(outcome[ARM]), float(outcome[REWARD]))
    except (ValueError, queue.Empty) as error:
        return f"it fails: {error or 'it takes too long'}"
    finally:
        worker.end()
    return None


def _begin(spec: str, sizes: Sizes, seed: int) -> bytes:
    """Make the principal of this process, begin an episode, and return its first offer."""
    _PLAYING[:] = [resolve(spec, cast(Game, sizes))]
    _PLAYING[0].reset(seed=seed)
    return _offer()


def _observe(arm: int, reward: float) -> bytes:
    """Let the principal observe a round, and return its next offer."""
    _PLAYING[0].observe(arm, reward)
    return _offer()


def _offer() -> bytes:
    return np.asarray(_PLAYING[0].offer(), np.float64).tobytes()
