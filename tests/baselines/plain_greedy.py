"""The two epsilon-greedy principals again, plain and slow: each offer from the whole history, by linear programs."""

import math
from typing import Any

import numpy as np
from scipy.optimize import linprog

from .helpers import Floats

MASK = 2**64 - 1


def uniform(key: int, n: int) -> float:
    """The n-th number of SplitMix64 in [0, 1), by Python's integers."""
    z = (key + n * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return float((z ^ (z >> 31)) >> 11) * 2.0**-53


def smallest(limits: Floats) -> Floats | None:
    """The smallest point of [0, 1]^K with s_a - s_k <= limits[k, a], by a linear program; None if there is none."""
    K = len(limits)
    pairs = [(k, a) for k in range(K) for a in range(K) if np.isfinite(limits[k, a])]
    rows = np.array([np.eye(K)[a] - np.eye(K)[k] for k, a in pairs]).reshape(-1, K)
    solved = linprog(np.ones(K), A_ub=rows, b_ub=[limits[pair] for pair in pairs], bounds=(0, 1), method="highs")
    return np.asarray(solved.x) if solved.success else None


def loss(s: Any, offers: Floats, played: list[int]) -> float:
    """The sum over rounds of max_a (s_a + pi_a) - (s_A + pi_A)."""
    values = np.asarray(s) + offers
    return float((values.max(axis=1) - values[np.arange(len(values)), played]).sum())


def least_violation(offers: Floats, played: list[int]) -> tuple[float, Floats]:
    """The least loss in [0, 1]^K, and the smallest point that has it to 1e-9, by two linear programs."""
    n, K = offers.shape
    rows, limits = [], []  # s_a - s_A - violation_i <= pi_A - pi_a
    for i, arm in enumerate(played):
        for a in range(K):
            if a != arm:
                rows.append(np.concatenate([np.eye(K)[a] - np.eye(K)[arm], -np.eye(n)[i]]))
                limits.append(offers[i, arm] - offers[i, a])
    system, box = np.array(rows).reshape(-1, K + n), [(0, 1)] * K + [(0, None)] * n
    violation, size = np.repeat([0.0, 1.0], [K, n]), np.repeat([1.0, 0.0], [K, n])
    least = linprog(violation, A_ub=system, b_ub=limits, bounds=box, method="highs").fun
    system, limits = np.concatenate([system, violation[None]]), [*limits, least + 1e-9]
    return float(least), np.asarray(linprog(size, A_ub=system, b_ub=limits, bounds=box, method="highs").x[:K])


class Plain:
    """What the two have in common: the history, its random numbers, the price of the best arm."""

    def __init__(self, n_arms: int, rng: np.random.Generator) -> None:
        high, low = rng.integers(2**32, size=2).tolist()
        self.key, self.n_arms = high << 32 | low, n_arms
        self.offers: list[Floats] = []
        self.played: list[int] = []
        self.rewards: list[float] = []
        self.s_hat = np.zeros(n_arms)

    def probability(self, t: int) -> float:
        """Of an exploration after t rounds."""
        raise NotImplementedError

    def explored(self, t: int) -> bool:
        """Whether the round after t rounds is an exploration."""
        K = self.n_arms
        return t >= K and uniform(self.key, t * (K + 1) + K + 1) < self.probability(t)

    @property
    def explorations(self) -> list[int]:
        return [t for t in range(len(self.offers)) if self.explored(t)]

    def price(self, theta_hat: Floats, eta: int) -> Floats:
        """The offer of an exploiting round."""
        k, beta = int((theta_hat + self.s_hat).argmax()), math.sqrt(math.log(max(eta, 1)) / max(eta, 1))
        return (self.s_hat.max() - self.s_hat[k] + 2 * beta) * np.eye(self.n_arms)[k]

    def theta_hat(self, credits: Floats) -> Floats:
        """The mean of the credits of each arm's rounds."""
        plays = np.bincount(self.played, minlength=self.n_arms)
        sums = np.bincount(self.played, credits, minlength=self.n_arms)
        return np.asarray(sums / np.maximum(plays, 1))

    def exploit(self) -> Floats:
        raise NotImplementedError

    def offer(self) -> Floats:
        """The next offer."""
        t, K = len(self.offers), self.n_arms
        if t < K:
            return np.eye(K)[t]
        if self.explored(t):
            return np.array([uniform(self.key, t * (K + 1) + a + 1) for a in range(K)])
        return self.exploit()

    def observe(self, offer: Floats, arm: int, reward: float) -> None:
        self.offers.append(offer)
        self.played.append(arm)
        self.rewards.append(reward)


class PlainEpsilonGreedy(Plain):
    def __init__(self, n_arms: int, rng: np.random.Generator, m: float, variant: str) -> None:
        super().__init__(n_arms, rng)
        self.m, self.variant = m, variant
        self.solved = np.empty(0)  # limits of the last linear program

    def probability(self, t: int) -> float:
        return self.m / t

    def limits(self) -> Floats:
        """B of the paper, transposed."""
        found = np.full((self.n_arms, self.n_arms), np.inf)
        for t in range(len(self.offers)) if self.variant == "every-round" else self.explorations:
            arm, offer = self.played[t], self.offers[t]
            found[arm] = np.minimum(found[arm], offer[arm] - offer)
        np.fill_diagonal(found, np.inf)
        return found

    def exploit(self) -> Floats:
        limits = self.limits()
        if not np.array_equal(limits, self.solved):
            point, self.solved = smallest(limits), limits
            self.s_hat = self.s_hat if point is None else point
        paid = np.array([offer[arm] for offer, arm in zip(self.offers, self.played, strict=True)])
        credits = np.array(self.rewards) - (paid if self.variant == "as-published" else 0.0)
        return self.price(self.theta_hat(credits), len(self.explorations) - 1)


class PlainRobustEpsilonGreedy(Plain):
    def __init__(self, n_arms: int, rng: np.random.Generator, m: float, q: float, window: int) -> None:
        super().__init__(n_arms, rng)
        self.m, self.q, self.window = m, q, window
        self.solved = 0  # explorations at the last linear program

    def probability(self, t: int) -> float:
        return float(self.m * (t + 1) ** -self.q)

    def exploit(self) -> Floats:
        rounds = self.explorations
        if len(rounds) > self.solved:
            last, self.solved = rounds[-self.window :], len(rounds)
            _, self.s_hat = least_violation(np.array([self.offers[t] for t in last]), [self.played[t] for t in last])
        return self.price(self.theta_hat(np.array(self.rewards)), len(rounds))
