"""Random numbers by position: the n-th number of a stream follows from the key alone.

Randomness is counter-based: SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA
2014). So the n-th pull of an arm gives the same rewards whatever was played before it, and draws made ahead change
nothing.
"""

import math
from typing import Any

import numpy as np

from pa_env.kernel.compiling import compiled, inlined, inlined_part, part
from pa_env.kernel.layout import ArmRow, Arrays, Rewards, Scratch, Stream

U64 = np.uint64
GAMMA = U64(0x9E3779B97F4A7C15)
BETA_CONCENTRATION = 2.0  # Beta(2m, 2(1 - m)) has mean m, and is uniform at m = 1/2


@inlined
def state_at(key: Any, n: Any) -> Any:
    """The state behind the n-th output, n = 1, 2, ..., of SplitMix64 seeded with ``key``; GAMMA more is the next."""
    return key + U64(n) * GAMMA


@inlined
def output(state: Any) -> Any:
    """The output of a state."""
    z = (state ^ (state >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


@inlined
def fraction(number: Any) -> float:
    """An output as a float64 in [0, 1)."""
    return np.int64(number >> U64(11)) * 2.0**-53


@inlined
def draw(key: Any, n: Any) -> Any:
    """The n-th output."""
    return output(state_at(key, n))


@inlined
def place(stream: Any, n: Any) -> Any:
    """The position of a stream's n-th number in its key's sequence; streams do not overlap below 2^40 numbers."""
    return (stream << 40) + n


@inlined
def uniform(key: Any, n: Any) -> float:
    """The n-th output as a float64 in [0, 1)."""
    return fraction(draw(key, n))


@compiled
def normals(key: Any) -> tuple[float, float]:
    """Two independent standard normal numbers (Box & Muller, 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, 1)))
    angle = 2.0 * math.pi * uniform(key, 2)
    return radius * math.cos(angle), radius * math.sin(angle)


@part
def gamma_draw(key: Any, shape: float) -> float:
    """A Gamma(shape, 1) number (Marsaglia & Tsang, 2000)."""
    d = shape + 2.0 / 3.0 if shape < 1.0 else shape - 1.0 / 3.0
    n = 2
    while True:
        z = normals(draw(key, n))[0]
        v = (1.0 + z / math.sqrt(9.0 * d)) ** 3
        if v > 0.0 and math.log(1.0 - uniform(key, n + 1)) < 0.5 * z * z + d - d * v + d * math.log(v):
            break
        n += 2
    return d * v * (1.0 - uniform(key, 1)) ** (1.0 / shape) if shape < 1.0 else d * v


@part
def beta_draw(key: Any, mean: float) -> float:
    """A beta number with this mean; the mean itself where it is 0 or 1."""
    if mean <= 0.0 or mean >= 1.0:
        return mean
    a = gamma_draw(draw(key, 1), BETA_CONCENTRATION * mean)
    b = gamma_draw(draw(key, 2), BETA_CONCENTRATION * (1.0 - mean))
    return a / (a + b) if a + b > 0.0 else mean


@inlined_part
def draw_reward(arrays: Arrays, i: int, arm: int, n: int) -> tuple[float, float]:
    """Rewards X and R of the n-th pull of an arm of copy ``i``.

    X is a float32 number whatever its law, so that an observation in float32 carries it exactly.
    """
    key, theta, mu = arrays.state[i].episode_key, arrays.arms[i, ArmRow.THETA, arm], arrays.arms[i, ArmRow.MU, arm]
    x_at, r_at = place(Stream.REWARDS + 2 * arm, n), place(Stream.REWARDS + 2 * arm + 1, n)
    if arrays.state[i].rewards == Rewards.BERNOULLI:
        # A branch on a random number is mispredicted so often that it takes a third of a round.
        return np.float64(uniform(key, x_at) < theta), np.float64(uniform(key, r_at) < mu)
    return other_reward(arrays.state[i].rewards, arrays.state[i].noise, draw(key, x_at), draw(key, r_at), theta, mu)


@inlined_part
def draw_rewards(arrays: Arrays, i: int, arm: int, first: int, size: int) -> None:
    """Rewards X and R of pulls ``first``, ``first + 1``, ... of an arm of copy ``i``, into the scratch rows."""
    key, out = arrays.state[i].episode_key, arrays.scratch
    theta, mu = arrays.arms[i, ArmRow.THETA, arm], arrays.arms[i, ArmRow.MU, arm]
    x_at, r_at = place(Stream.REWARDS + 2 * arm, first), place(Stream.REWARDS + 2 * arm + 1, first)
    if arrays.state[i].rewards == Rewards.BERNOULLI and size > 1:  # apart, so that the compiler can vectorise it
        x, r = state_at(key, x_at), state_at(key, r_at)
        for j in range(size):
            out[Scratch.X, j], out[Scratch.R, j] = fraction(output(x)) < theta, fraction(output(r)) < mu
            x += GAMMA
            r += GAMMA
    else:
        for j in range(size):
            out[Scratch.X, j], out[Scratch.R, j] = draw_reward(arrays, i, arm, first + j)


@part
def other_reward(law: int, noise: float, x_key: Any, r_key: Any, theta: float, mu: float) -> tuple[float, float]:
    """Rewards X and R that are not Bernoulli.

    Args:
        law: of the rewards, a member of :class:`pa_env.kernel.layout.Rewards`.
        noise: their standard deviation, if they are Gaussian.
        x_key: of the draws of X, and of R if they are Gaussian.
        r_key: of the draws of R.
        theta: the mean of X.
        mu: the mean of R.
    """
    if law == Rewards.CONSTANT:
        return np.float64(np.float32(theta)), mu
    if law == Rewards.GAUSSIAN:
        x_noise, r_noise = normals(x_key)
        return np.float64(np.float32(theta + noise * x_noise)), mu + noise * r_noise
    return np.float64(np.float32(beta_draw(x_key, theta))), beta_draw(r_key, mu)
