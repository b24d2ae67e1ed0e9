"""Agents that keep their own regret low: EXP3, UCB and Thompson sampling, told the incentives."""

import math

import numpy as np

from pa_env.kernel.compiling import compiled, inlined
from pa_env.kernel.draws import draw, normals, place, uniform
from pa_env.kernel.layout import ArmRow, Arrays, Floats, Stream


@compiled
def exp3_softmax(arrays: Arrays, offers: Floats, i: int) -> tuple[float, float, float]:
    """EXP3's softmax of the gains of t rounds at this offer: its rate, the largest gain, the sum of the weights."""
    gains, n_arms, t = arrays.memory, offers.shape[1], arrays.state[i].t + 1
    rate = math.sqrt(math.log(n_arms) / (n_arms * t))
    highest, total = -np.inf, 0.0
    for b in range(n_arms):
        highest = max(highest, gains[i, b] + t * offers[i, b])
    for b in range(n_arms):
        total += math.exp(rate * (gains[i, b] + t * offers[i, b] - highest))
    return rate, highest, total


@compiled
def exp3_probability(arrays: Arrays, offers: Floats, i: int, arm: int, softmax: tuple[float, float, float]) -> float:
    """The probability that EXP3 plays an arm now: its softmax, mixed with the uniform law."""
    n_arms, t = offers.shape[1], arrays.state[i].t + 1
    rate, highest, total = softmax
    mixed = min(1.0, n_arms * rate)
    own = math.exp(rate * (arrays.memory[i, arm] + t * offers[i, arm] - highest))
    return (1.0 - mixed) * own / total + mixed / n_arms


@compiled
def exp3_learn(arrays: Arrays, offers: Floats, i: int, arm: int, reward: float) -> None:
    """Add a reward to the gains of its arm, divided by the probability with which the arm was played."""
    softmax = exp3_softmax(arrays, offers, i)
    arrays.memory[i, arm] += reward / exp3_probability(arrays, offers, i, arm, softmax)


@compiled
def exp3_arm(arrays: Arrays, offers: Floats, i: int) -> int:
    """The arm that EXP3 plays."""
    left = uniform(arrays.state[i].episode_key, place(Stream.EXPLORE, arrays.state[i].t + 1))
    softmax = exp3_softmax(arrays, offers, i)  # once: its sum is over all arms
    for b in range(offers.shape[1] - 1):
        left -= exp3_probability(arrays, offers, i, b, softmax)
        if left < 0.0:
            return b
    return offers.shape[1] - 1


@inlined
def ucb_bonus(n: int, t: int) -> float:
    """What UCB adds to the mean of an arm played n times before round t."""
    return math.sqrt(2.0 * math.log(t) / n) if n > 0 else np.inf


@compiled
def index_arm(arrays: Arrays, offers: Floats, i: int, samples: bool) -> int:
    """The arm that Thompson sampling plays, or UCB if ``samples`` is False."""
    key, t = arrays.state[i].episode_key, arrays.state[i].t + 1
    arm, best = 0, -np.inf
    for b in range(offers.shape[1]):
        index, n = arrays.arms[i, ArmRow.MEAN, b] + offers[i, b], arrays.plays[i, b]
        if samples:
            round_key = draw(key, place(Stream.EXPLORE_ARM, t))
            index += normals(draw(round_key, b + 1))[0] / math.sqrt(n + 1.0)
        else:
            index += ucb_bonus(n, t)
        if index > best:
            arm, best = b, index
    return arm
