"""Who answers: the agent that sees an offer, plays an arm, and learns from its own reward.

>>> import pa_env
>>> pa_env.agents()
('empirical-mean', 'exploratory', 'oracle', 'exploratory-oracle', 'ols', 'ucb', 'thompson', 'exp3')
>>> pa_env.make_agent("exploratory", c0=0.5, how="worst").c0
0.5

The scripted agents are those of Liu & Ratliff (ICML 2025), section 2. A greedy agent plays
argmax_a muhat_a(t) + pi_a(t). Her beliefs muhat are the empirical means
(initial_a + sum of rewards) / max(1, N_a) of the arms or, when rewards are linear, <shat, a> with the ordinary
least squares estimate shat; an oracle's are the true means. An exploratory agent leaves the maximisers in round
t with probability min(1, c0 sqrt(log(2t) / t)).

Three agents learn the same means, but choose so as to keep their own regret low, told the incentives, as in Scheid et
al. (2024, arXiv 2406.19824). ``ucb`` plays argmax muhat_a + pi_a + sqrt(2 log t / N_a), every arm once first;
``thompson`` argmax of muhat_a + pi_a + N(0, 1/(N_a + 1)), a variant of Gaussian Thompson sampling, which would divide
the sum behind muhat_a by N_a + 1 too; ``exp3`` draws from a softmax of G_a + t pi_a, where G_a sums its rewards divided
by the probability of playing the arm. The regrets of the principal compare with the optimal incentives for their means,
as for the others.

Your own agent is any object with ``reset``, ``choose``, ``learn`` and ``means`` (:class:`Agent`); it works behind
every door, at Python speed. In the batched door each copy of the game gets a deep copy of it.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pa_env import kernel
from pa_env.checks import at_least, known, numbers

TIES = {
    "lowest": kernel.LOWEST,
    "highest": kernel.HIGHEST,
    "random": kernel.RANDOM,
    "largest-incentive": kernel.LARGEST_INCENTIVE,
}
HOW = {"uniform": kernel.UNIFORMLY, "worst": kernel.WORST, "round-robin": kernel.ROUND_ROBIN}


class Agent(Protocol):
    """What a user's own agent must have."""

    @property
    def means(self) -> ArrayLike:
        """Its beliefs muhat (n_arms,) now, which the regret compares with; read before each round."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode; all randomness from ``rng``."""

    def choose(self, incentives: NDArray[np.float64]) -> int:
        """The arm to play on this offer."""

    def learn(self, arm: int, reward: float) -> None:
        """Take in the reward R of the arm just played (without the incentive)."""


@dataclass(frozen=True, kw_only=True)
class ScriptedAgent:
    """An agent that the kernel plays; made by :func:`make_agent`.

    ``c0``: exploration constant. ``how`` it explores among the arms that do not maximise: "uniform", "worst" for
    the principal (lowest theta_a - pi_a), "round-robin", or a fixed arm's index. ``ties`` among maximisers:
    "lowest" index, "highest", "random", "largest-incentive". ``initial``: empirical means before the first play,
    one number or one an arm; with linear rewards the first estimate of s (a vector, or 0).
    """

    name: str
    c0: float = 0.0
    how: str | int = "uniform"
    ties: str = "lowest"
    initial: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c0", at_least("c0", self.c0, 0.0))
        known("ties", self.ties, TIES)
        if isinstance(self.how, str):
            known("how", self.how, HOW)
        else:
            at_least("how", self.how, 0, whole=True)
        initial = numbers("initial", self.initial)
        if initial.ndim > 1 or not np.isfinite(initial).all():
            raise ValueError(f"initial = {self.initial!r} must be one finite number, or one for each arm")
        # A tuple of floats, so that the dataclass stays hashable and comparable.
        object.__setattr__(self, "initial", float(initial) if initial.ndim == 0 else tuple(initial.tolist()))

    @property
    def is_oracle(self) -> bool:
        """Whether it knows the true means."""
        return self.name in ("oracle", "exploratory-oracle")

    @property
    def kind(self) -> int:
        """The kernel's code for it."""
        return kernel.ORACLE if self.is_oracle else LOW_REGRET.get(self.name, kernel.LEARNER)

    def initial_for(self, n_arms: int, dim: int) -> NDArray[np.float64]:
        """Initial means (n_arms,), or the first estimate of s (dim,) when linear."""
        size, what = (dim, "dim") if dim else (n_arms, "n_arms")
        values = np.atleast_1d(np.asarray(self.initial, dtype=np.float64))
        if values.size not in (1, size):
            raise ValueError(
                f"initial has {values.size} numbers, the game has {what} = {size}: pass one number or {size}"
            )
        return np.ascontiguousarray(np.broadcast_to(values, (size,)))

    @property
    def tie(self) -> int:
        """The kernel's code for ``ties``."""
        return TIES[self.ties]

    def how_for(self, n_arms: int) -> int:
        """The kernel's code for ``how``."""
        if isinstance(self.how, str):
            return HOW[self.how]
        if self.how >= n_arms:
            raise ValueError(
                f"how = {self.how} must be an arm's index below n_arms = {n_arms}, or one of {', '.join(HOW)}"
            )
        return kernel.FIXED_ARM + self.how


PARAMETERS: dict[str, dict[str, Any]] = {
    "empirical-mean": {"ties": "lowest", "initial": 0.0},
    "exploratory": {"c0": 1.0, "how": "uniform", "ties": "lowest", "initial": 0.0},
    "oracle": {"ties": "lowest"},
    "exploratory-oracle": {"c0": 1.0, "how": "uniform", "ties": "lowest"},
    "ols": {"ties": "lowest", "initial": 0.0},
    "ucb": {},
    "thompson": {},
    "exp3": {},
}
LOW_REGRET = {"ucb": kernel.UCB, "thompson": kernel.THOMPSON, "exp3": kernel.EXP3}


def agents() -> tuple[str, ...]:
    """Names that ``agent=`` takes."""
    return tuple(PARAMETERS)


def make_agent(name: str, **parameters: Any) -> ScriptedAgent:
    """A scripted agent by name; see :class:`ScriptedAgent` for the parameters."""
    known("agent", name, PARAMETERS)
    for parameter in parameters:
        known(f"parameter of agent {name!r}", parameter, PARAMETERS[name])
    return ScriptedAgent(name=name, **(PARAMETERS[name] | parameters))


def resolve(agent: str | ScriptedAgent | Agent) -> ScriptedAgent | Agent:
    """Make sense of ``agent=``."""
    if isinstance(agent, str):
        return make_agent(agent)
    # `means` may well be set only by reset: the game looks for it then.
    missing = [name for name in ("reset", "choose", "learn") if not callable(getattr(agent, name, None))]
    if isinstance(agent, ScriptedAgent) or not missing:
        return agent
    raise TypeError(
        f"agent = {agent!r} must be a name ({', '.join(PARAMETERS)}), the result of pa_env.make_agent, or an object"
        f" with reset, choose, learn and means; it lacks {', '.join(missing)}"
    )
