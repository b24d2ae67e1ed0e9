"""Instances, the mean rewards of the arms: fixed, or drawn anew each episode.

>>> import pa_env
>>> pa_env.IID(mu=[0.35, 0.8, 0.55], theta=[0.9, 0.2, 0.4]).n_arms
3
>>> pa_env.families()
('uniform', 'misaligned', 'gap', 'clustered', 'ipa-k5', 'ipa-k50', 'unit-ball', 'minimax')

Families, drawn anew in each episode (with Bernoulli rewards unless stated otherwise):

- ``uniform``: every mean is U[0, 1].
- ``misaligned``: uniform, then sorted against each other: the principal's best arm is the agent's worst.
- ``gap``: theta_a + mu_a = 0.8 with theta_a U[0.2, 0.6]; one arm, drawn at random, has 0.1 more of each.
- ``clustered``: three centres in [0.05, 0.95]^2, each arm within 0.05 of one: many arms are nearly best.
- ``ipa-k5``, ``ipa-k50``: the two fixed instances of the published experiments of Scheid et al. (ICML 2024,
  arXiv 2403.03811), with unit-variance Gaussian rewards.
- ``unit-ball`` (linear): arms, s and nu uniform in the unit ball, unit-variance Gaussian noise.
- ``minimax``: mu_a U[0.25, 0.75] and theta_a = 1 - mu_a; one arm, drawn at random, has a theta that is larger by the
  gap c sqrt(K/T) with c = 1/2, at most 0.25. Against an agent that knows its means it is a bandit of the lower bound
  (Auer et al. 2002; Lattimore & Szepesvari 2020, chapter 15): prices tell nothing of the best arm, and T rounds are too
  few to be sure of it, so R_T^oracle is of order sqrt(KT) on average. An agent that learns may be cheaper.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pa_env.checks import LARGEST_MEAN, at_least, known, numbers, short, vectors, whole
from pa_env.kernel.instances import Family
from pa_env.kernel.layout import SPAN_TOLERANCE, Floats, Rewards

REWARDS = {member.name.lower(): member for member in Rewards}


def _vector(name: str, value: ArrayLike) -> Floats:
    """A read-only float64 copy of a finite, non-empty vector."""
    array = numbers(name, value).copy()
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"{name} = {short(value)} must be 1-dimensional, not empty, and finite")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class IID:
    """Independent rewards: arm a gives the principal mean theta_a and the agent mean mu_a.

    Args:
        mu: (n_arms,), the agent's mean rewards; in [0, 1] unless rewards are Gaussian or constant.
        theta: (n_arms,), the principal's mean rewards, likewise.
        rewards: "bernoulli"; "beta" (Beta(2m, 2(1-m)) at mean m); "gaussian" (unit variance); "constant".
    """

    mu: Floats
    theta: Floats
    rewards: str = "bernoulli"

    def __init__(self, mu: ArrayLike, theta: ArrayLike, rewards: str = "bernoulli") -> None:
        known("rewards", rewards, REWARDS)
        fields = {"mu": _vector("mu", mu), "theta": _vector("theta", theta)}
        if fields["mu"].shape != fields["theta"].shape:
            raise ValueError(
                f"mu has {fields['mu'].size} arms and theta {fields['theta'].size}: both need one mean for each arm"
            )
        for name, means in fields.items():
            outside = (means < 0) | (means > 1)
            if rewards in ("bernoulli", "beta") and outside.any():
                raise ValueError(
                    f"{name} = {short(means)} must lie in [0, 1] for {rewards} rewards; others need rewards='gaussian'"
                )
            if np.abs(means).max() > LARGEST_MEAN:
                raise ValueError(
                    f"{name} = {short(means)} must lie between {-LARGEST_MEAN:g} and {LARGEST_MEAN:g}: rewards are"
                    " float32"
                )
            object.__setattr__(self, name, means)
        object.__setattr__(self, "rewards", rewards)

    @property
    def n_arms(self) -> int:
        """The number of arms K."""
        return self.mu.size

    @property
    def code(self) -> Rewards:
        """The kernel's code for the law of the rewards."""
        return REWARDS[self.rewards]


@dataclass(frozen=True, eq=False)
class Linear:
    """Linear rewards: arm a (a vector in the unit ball) gives <nu, a> to the principal and <s, a> to the agent.

    Args:
        arms: (n_arms, dim), which must span the space.
        s: (dim,), the agent's parameter, in the unit ball.
        nu: (dim,), the principal's parameter, in the unit ball.
        noise: standard deviation of the Gaussian noise on both rewards.
    """

    arms: Floats
    s: Floats
    nu: Floats
    noise: float = 1.0

    def __init__(self, arms: ArrayLike, s: ArrayLike, nu: ArrayLike, noise: float = 1.0) -> None:
        fields = {"arms": vectors("arms", arms), "s": _vector("s", s), "nu": _vector("nu", nu)}
        fields["arms"].setflags(write=False)
        dim = fields["arms"].shape[1]
        for name, value in fields.items():
            if value.shape[-1] != dim:
                raise ValueError(f"{name} has {value.shape[-1]} dimensions, the arms have {dim}: they must agree")
            norms = np.linalg.norm(np.atleast_2d(value), axis=1)
            if norms.max() > 1 + 1e-9:
                raise ValueError(f"{name} has norm {norms.max():.6g}, at row {norms.argmax()}: it must be at most 1")
            object.__setattr__(self, name, value)
        if np.linalg.matrix_rank(self.arms, tol=SPAN_TOLERANCE) < dim:
            raise ValueError(f"arms do not span all {dim} dimensions: add arms or leave out the unused dimensions")
        object.__setattr__(self, "noise", at_least("noise", noise, 0.0))
        if self.noise > LARGEST_MEAN / 10:  # a normal draw is at most 9 of them from its mean
            raise ValueError(f"noise = {noise} must be at most {LARGEST_MEAN / 10:g}: rewards are float32")

    @property
    def n_arms(self) -> int:
        """The number of arms K."""
        return int(self.arms.shape[0])

    @property
    def dim(self) -> int:
        """The number of dimensions d."""
        return int(self.arms.shape[1])

    @property
    def mu(self) -> Floats:
        """The agent's mean rewards <s, a>."""
        return self.arms @ self.s

    @property
    def theta(self) -> Floats:
        """The principal's mean rewards <nu, a>."""
        return self.arms @ self.nu


Instance = IID | Linear
InstanceLike = str | Instance | Callable[[np.random.Generator], Instance]

IPA_K5 = IID(
    theta=[0.3, 0.24, 0.88, 0.07, 0.65],
    mu=[0.64, 0.99, 0.73, 0.61, 0.59],
    rewards="gaussian",
)
# fmt: off
IPA_K50 = IID(
    theta=[
        .44, .48, .59, .0, .28, .27, .63, .45, .17, .5, .14, .24, .03, .34, .33, .78, .69, .69, .88, .37,
        .52, .08, .22, .76, .48, .99, .16, .86, .08, .27, .47, .37, .11, .18, .5, .43, .52, .72, .3, .24,
        .81, .23, .74, .87, .34, .48, .68, .73, .38, .63,
    ],
    mu=[
        .39, .3, .02, .89, .78, .46, .72, .8, .33, .2, .85, .79, .08, .15, .85, .63, .38, .11, .23, .42,
        .05, .08, .31, .18, .38, .58, .31, .24, .98, .19, .29, .6, .0, .32, .81, .0, .72, .4, .5, .95,
        .98, .17, .02, .46, .81, .36, .59, .99, .18, .44,
    ],
    rewards="gaussian",
)
# fmt: on


class FamilyDeclaration(NamedTuple):
    """A family of instances."""

    origin: Family | Instance  # a family that the kernel draws, or one fixed instance
    about: str


FAMILIES = {
    "uniform": FamilyDeclaration(Family.UNIFORM, "means without structure"),
    "misaligned": FamilyDeclaration(Family.MISALIGNED, "the principal's best arm is the agent's worst"),
    "gap": FamilyDeclaration(Family.GAP, "one arm is best by a clear gap"),
    "clustered": FamilyDeclaration(Family.CLUSTERED, "many arms are nearly best"),
    "ipa-k5": FamilyDeclaration(IPA_K5, "the published instance of five arms with Gaussian rewards"),
    "ipa-k50": FamilyDeclaration(IPA_K50, "the published instance of fifty arms with Gaussian rewards"),
    "unit-ball": FamilyDeclaration(Family.UNIT_BALL, "rewards linear in the arms"),
    "minimax": FamilyDeclaration(Family.MINIMAX, "one arm is best by a gap that so many rounds hardly reveal"),
}


def families() -> tuple[str, ...]:
    """Names of the families of instances, which ``instance=`` takes; :mod:`pa_env.instances` describes each."""
    return tuple(FAMILIES)


class Source(NamedTuple):
    """The origin of instances: a family drawn by the kernel, one fixed instance, or a user's function."""

    family: Family
    fixed: Instance | None
    draw: Callable[[np.random.Generator], Instance] | None
    n_arms: int
    dim: int  # 0: i.i.d.

    def check(self, instance: Instance) -> Instance:
        """The instance itself if it fits the game."""
        if not isinstance(instance, IID | Linear):
            raise TypeError(f"instance = {short(instance)} must be a pa_env.IID or a pa_env.Linear")
        if isinstance(instance, Linear) != (self.dim > 0):
            kinds = ("linear", "i.i.d.") if isinstance(instance, Linear) else ("i.i.d.", "linear")
            remedy = f"pass dim={instance.dim}" if isinstance(instance, Linear) else "pass a pa_env.Linear"
            raise ValueError(f"instance = {short(instance)} is {kinds[0]}, but this game is {kinds[1]}: {remedy}")
        if instance.n_arms != self.n_arms:
            raise ValueError(
                f"instance has {instance.n_arms} arms, but this game has n_arms = {self.n_arms}: pass"
                f" n_arms={instance.n_arms}"
            )
        if isinstance(instance, Linear) and instance.dim != self.dim:
            raise ValueError(
                f"instance has {instance.dim} dimensions, but this game has dim = {self.dim}: pass dim={instance.dim}"
            )
        return instance


def source(instance: InstanceLike, n_arms: int | None = None, dim: int | None = None) -> Source:
    """The source of instances that ``instance=`` stands for.

    Args:
        instance: what the user passed.
        n_arms: None: the instance's own, or 5.
        dim: None: the instance's own, or 3 for ``unit-ball``.
    """
    if n_arms is not None:
        n_arms = whole("n_arms", n_arms, 1)
    if dim is not None:
        dim = whole("dim", dim, 1)
    if isinstance(instance, str):
        known("instance", instance, FAMILIES)
        entry = FAMILIES[instance].origin
        if isinstance(entry, Family):
            if entry != Family.UNIT_BALL:
                if dim is not None:
                    raise ValueError(
                        f"dim = {short(dim)} is for linear rewards, but instance = {short(instance)} is i.i.d.: use"
                        " 'unit-ball'"
                    )
                return Source(entry, None, None, n_arms or 5, 0)
            dim = dim or 3
            n_arms = n_arms or max(5, dim)
            if n_arms < dim:
                raise ValueError(
                    f"n_arms = {n_arms} arms cannot span dim = {dim} dimensions: n_arms must be at least dim"
                )
            return Source(entry, None, None, n_arms, dim)
        instance = entry
    if isinstance(instance, IID | Linear):
        dim = dim or (instance.dim if isinstance(instance, Linear) else 0)
        origin = Source(Family.GIVEN, instance, None, n_arms or instance.n_arms, dim)
        origin.check(instance)
        return origin
    if callable(instance):
        return Source(Family.GIVEN, None, instance, n_arms or 5, dim or 0)
    raise TypeError(
        f"instance = {short(instance)} must be a family's name ({', '.join(FAMILIES)}), a pa_env.IID, a pa_env.Linear,"
        " or a function rng -> instance"
    )
