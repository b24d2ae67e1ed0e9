"""A principal that is steered: it believes what the profit target believes, and an action says what to make of it.

The beliefs are those of :mod:`baselines.scripted.profit_target`, and so is the offer, but for an action of 2 + K
numbers from -1 to 1:

| action | what it does |
|---|---|
| 0 | multiplies the bonus, the optimism about theta, by exp(2 u) |
| 1 | moves the price by 3 u standard deviations of what it rests on, from below 0 if the arm would win anyway |
| 2 + a | adds u / 2 to what arm a is held to be worth |

An action of zeros is the script's own offer but for its tests of lower prices, so that training starts from there, and
each number has a meaning that depends on neither the round nor K. The observation is field-major, like the game's own:
``FIELDS`` blocks of n_arms numbers, then ``GLOBALS`` numbers (see :func:`look`). ``privileged=True`` adds
``PRIVILEGED`` blocks that no principal may see, theta, mu and muhat(t): they are for a critic, in training, and for
nothing else.

>>> import gymnasium as gym, pa_env
>>> envs = Steered(gym.make_vec("PrincipalAgent-v0", num_envs=8, n_arms=3, horizon=100, autoreset_mode="Disabled"))
>>> observations, _ = envs.reset(seed=0)
>>> observations.shape == (8, FIELDS * 3 + GLOBALS), envs.single_action_space.shape
(True, (5,))
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numba
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from baselines.scripted import profit_target as script
from baselines.scripted.profit_target import BELIEFS, BONUS, EXPLORED, FADE, GROWTH, RUN, T_, TIME
from pa_env.checks import numbers
from pa_env.compiling import compiled, inlined
from pa_env.layout import NO_ARM, Floats, Row
from pa_env.spaces import FAR
from pa_env.vector_env import PrincipalVectorEnv

FIELDS, GLOBALS, PRIVILEGED = 10, 6, 3
OVERALL = 2  # actions that are not about one arm
BONUS_RANGE, PRICE_RANGE, WORTH_RANGE = 2.0, 3.0, 0.5
MOST = 4.0  # incentive that is ever offered: the bound of the game by default


@inlined
def hear(memory: Any, n_arms: int, plays: Any, arm: int) -> None:
    """Take in the answer ``arm`` to the last offer, unless it is NO_ARM."""
    if arm >= 0:
        script.hear(memory, plays, n_arms, arm)
        script.learn(memory, n_arms, arm, plays[arm] - 1)


@inlined
def look(memory: Any, n_arms: int, plays: Any, sums: Any, arm: int, view: Any) -> None:
    """Write what the script knows after its last answer ``arm`` (or NO_ARM) into ``view``, numbers of order 1.

    Fields: theta_hat and its standard error; log of plays; m, its distance to the largest, sqrt(v); the last offer;
    whether it was played; theta_hat + m, and its distance to the largest. Then t/T, log(1 + t), log(1 + T - t), the
    share of rounds explored, surprises in a row, the largest m.
    """
    m, v, pi = BELIEFS, BELIEFS + n_arms, BELIEFS + 2 * n_arms
    highest = joint = -np.inf
    for a in range(n_arms):
        highest = max(highest, memory[m + a])
        joint = max(joint, memory[m + a] + (sums[a] + 1.0) / (plays[a] + 2.0))
    for a in range(n_arms):
        estimate = (sums[a] + 1.0) / (plays[a] + 2.0)
        view[a] = estimate - 0.5
        view[n_arms + a] = math.sqrt(estimate * (1.0 - estimate) / (plays[a] + 2.0)) * 4.0
        view[2 * n_arms + a] = math.log(1.0 + plays[a]) / 4.0
        view[3 * n_arms + a] = memory[m + a]
        view[4 * n_arms + a] = memory[m + a] - highest
        view[5 * n_arms + a] = math.sqrt(memory[v + a]) * 4.0
        view[6 * n_arms + a] = memory[pi + a]
        view[7 * n_arms + a] = 1.0 if a == arm else 0.0
        view[8 * n_arms + a] = estimate + memory[m + a] - 0.5
        view[9 * n_arms + a] = estimate + memory[m + a] - joint
    t, rest = memory[TIME], FIELDS * n_arms
    view[rest] = t / memory[T_]
    view[rest + 1] = math.log(1.0 + t) / 5.0
    view[rest + 2] = math.log(1.0 + memory[T_] - t) / 5.0
    view[rest + 3] = memory[EXPLORED] / (t + script.WARM_UP)
    view[rest + 4] = min(memory[RUN], 3.0)
    view[rest + 5] = highest


@inlined
def propose(memory: Any, plays: Any, sums: Any, action: Any, offer: Any) -> int:
    """Write the offer that ``action`` asks for; returns the arm that is meant to be played."""
    n_arms = offer.size
    m, v, pi = BELIEFS, BELIEFS + n_arms, BELIEFS + 2 * n_arms
    t = memory[TIME]
    scale = memory[BONUS] * math.exp(BONUS_RANGE * action[0]) * max(0.0, 1.0 - t / memory[T_]) ** memory[FADE]
    scale *= math.sqrt(1.0 + memory[GROWTH] * math.log(1.0 + t / script.SETTLED))
    target = 0
    for a in range(n_arms):
        offer[a] = script.value(memory, plays, sums, a, scale) + WORTH_RANGE * action[OVERALL + a]
        if offer[a] + memory[m + a] > offer[target] + memory[m + target]:
            target = a
    rival = 1 if target == 0 and n_arms > 1 else 0
    for a in range(n_arms):
        if a != target and memory[m + a] > memory[m + rival]:
            rival = a
    doubt = math.sqrt(memory[v + target] + memory[v + rival])
    price = max(0.0, script.price(memory, n_arms, target, offer, -np.inf) + PRICE_RANGE * action[1] * doubt)
    profit = offer[target] - price
    for a in range(n_arms):
        offer[a] = min(MOST, price if a == target else max(0.0, offer[a] - profit))
        memory[pi + a] = offer[a]
    memory[TIME] = t + 1.0
    return target


@functools.cache
def compiled_pair() -> tuple[Callable[..., None], Callable[..., None]]:
    """``hear_all``, which hears the answers of all copies and looks, and ``propose_all``, which writes all offers."""

    def hear_all(memories: Any, arms: Any, plays: Any, answers: Any, views: Any) -> None:
        n_arms = plays.shape[1]
        for i in range(plays.shape[0]):
            hear(memories[i], n_arms, plays[i], answers[i])
            look(memories[i], n_arms, plays[i], arms[i, Row.PRINCIPAL_SUM], answers[i], views[i])

    def propose_all(memories: Any, arms: Any, plays: Any, actions: Any, offers: Any) -> None:
        for i in range(plays.shape[0]):
            propose(memories[i], plays[i], arms[i, Row.PRINCIPAL_SUM], actions[i], offers[i])

    cube, matrix = numba.float64[:, :, ::1], numba.float64[:, ::1]
    plays, answers = numba.int64[:, ::1], numba.int64[::1]
    heard = compiled(hear_all, numba.void(matrix, cube, plays, answers, matrix))
    return heard, compiled(propose_all, numba.void(matrix, cube, plays, matrix, matrix))


class Steered(gym.vector.VectorWrapper):
    """The batched game, acted in and observed as the module says; ``autoreset_mode`` must be DISABLED.

    Args:
        env: the batched game.
        privileged: whether observations end with what only a critic may see.
        **parameters: of the profit target underneath.
    """

    env: PrincipalVectorEnv

    def __init__(self, env: PrincipalVectorEnv, privileged: bool = False, **parameters: float) -> None:
        if not isinstance(env, PrincipalVectorEnv) or env.autoreset_mode != AutoresetMode.DISABLED:
            raise TypeError(f"env = {env} must be gym.make_vec('PrincipalAgent-v0', ..., autoreset_mode='Disabled')")
        super().__init__(env)
        game = self.game = env.game
        self._hear, self._propose = compiled_pair()
        self._fresh = fresh_memory(game.n_arms, game.horizon, parameters)
        self._memories = np.tile(self._fresh, (game.copies, 1))
        self._seen = FIELDS * game.n_arms + GLOBALS
        self._views = np.zeros((game.copies, self._seen))
        self._first = self._first_view()
        self._hidden = (Row.THETA, Row.MU, Row.MEAN) if privileged else ()
        size = self._seen + len(self._hidden) * game.n_arms
        self.single_observation_space = Box(-FAR, FAR, (size,), np.float32)
        self.single_action_space = Box(-1.0, 1.0, (OVERALL + game.n_arms,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode of all copies, or of those in ``options["reset_mask"]``."""
        _, info = self.env.reset(seed=seed, options=options)
        which = (options or {}).get("reset_mask", slice(None))
        self._memories[which], self._views[which] = self._fresh, self._first
        return self._observe(), info

    def step(self, actions: Any) -> tuple[NDArray[np.float32], Floats, Any, Any, dict[str, Any]]:
        """One round of every copy; actions beyond -1 or 1 count as these."""
        game, offers = self.game, np.zeros((self.num_envs, self.game.n_arms))
        asked = numbers("actions", actions)
        shape = (self.num_envs, OVERALL + game.n_arms)
        if asked.shape != shape or np.isnan(asked).any():  # compiled code would read past their end
            raise ValueError(
                f"actions = {actions!r} of shape {asked.shape} must be of shape {shape} and not NaN: for each copy"
                f" {OVERALL} numbers, then one for each of {game.n_arms} arms; nothing was played"
            )
        asked = np.clip(asked, -1.0, 1.0, order="C")
        self._propose(self._memories, game.arrays.arms, game.plays, asked, offers)
        _, rewards, terminated, truncated, info = self.env.step(offers)
        self._hear(self._memories, game.arrays.arms, game.plays, info["arm"], self._views)
        return self._observe(), rewards, terminated, truncated, info

    def _first_view(self) -> Floats:
        """What is seen before the first round, the same in all games."""
        k, view = self.game.n_arms, np.zeros((1, self._seen))
        nothing = np.zeros((1, len(Row), k)), np.zeros((1, k), np.int64)
        self._hear(self._fresh[None].copy(), *nothing, np.array([NO_ARM]), view)
        first: Floats = view[0]
        return first

    def _observe(self) -> NDArray[np.float32]:
        game, k = self.game, self.game.n_arms
        seen = np.empty(self.observation_space.shape or (), np.float32)
        seen[:, : self._seen] = self._views
        for i, row in enumerate(self._hidden):
            seen[:, self._seen + i * k : self._seen + (i + 1) * k] = game.arrays.arms[:, row]
        return seen


def fresh_memory(n_arms: int, horizon: int, parameters: dict[str, float]) -> Floats:
    """The memory of a profit target with these parameters before the first round."""
    principal = script.ProfitTarget(n_arms, horizon, **parameters)
    return script.fresh_memory(n_arms, horizon, principal.parameters, principal.optimism)
