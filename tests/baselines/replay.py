"""The profit target and the bracket UCB written out again as plain code, from what their modules say.

The numbers are the text's. Of the source only ``SMALLEST`` is used, which is added to variances of differences and,
in every round, to the beliefs' own. Where the text allows two readings, ours is written beside the line.
"""

import math
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from baselines.scripted.ours.bracket_ucb import BracketUCB
from baselines.scripted.ours.gaussian_filter import SMALLEST
from baselines.scripted.ours.profit_target import ProfitTarget

from .helpers import Floats


def worth(principal: ProfitTarget, plays: NDArray[np.int64], sums: Floats, t: int | NDArray[np.int64]) -> Floats:
    """g after ``t`` rounds; one row of ``plays`` and ``sums`` (n_arms,), or a row for each of a column of t."""
    given, n = SimpleNamespace(**principal.parameters), plays + 2.0
    fading = given.bonus * (1.0 - t / principal.horizon) ** given.fade
    bonus = fading * np.sqrt((1.0 + given.growth * np.log(1.0 + t / 1000.0)) / n)
    mean = (sums + 1.0) / n
    g: Floats = mean + np.clip(bonus, 0.0, np.maximum(given.ceiling - mean, 0.0))
    return g


class Replay:
    """Makes the offers of ``principal`` when it is told the same; ``seen`` names what happened on the way."""

    def __init__(self, principal: ProfitTarget) -> None:
        self.principal, self.given = principal, SimpleNamespace(**principal.parameters)
        self.arms = range(principal.n_arms)
        self.m, self.v = np.zeros(principal.n_arms), np.full(principal.n_arms, 1e-4)
        self.N, self.S = np.zeros(principal.n_arms, np.int64), np.zeros(principal.n_arms)
        self.t = 0  # rounds played
        self.explorations = 0.0
        self.surprises = 0  # in a row
        self.tests = 0
        self.next_test = 1000.0  # round
        self.tested: int | None = None  # arm of the last round's test
        self.answer: int | None = None
        self.seen: set[str] = set()

    def happens(self, event: str, condition: object) -> bool:
        if condition:
            self.seen.add(event)
        return bool(condition)

    # ------------------------------------------------------------------------------------- beliefs

    def observe(self, arm: int, reward: float) -> None:
        self.t, self.answer = self.t + 1, arm
        self.hear(arm)
        self.grow()  # before the agent learns
        self.learn(arm)
        self.N[arm] += 1
        self.S[arm] += reward

    def lead(self, A: int, b: int) -> float:
        gap = self.m[A] + self.pi[A] - self.m[b] - self.pi[b]
        return float(gap / math.sqrt(self.v[A] + self.v[b] + SMALLEST))

    def hear(self, A: int) -> None:
        m, v, others = self.m, self.v, [b for b in self.arms if b != A]
        share = (self.explorations + self.given.suspicion) / (self.t + 20.0)
        most = math.sqrt(math.log(2.0 * self.t) / self.t)
        e = min(share, 1 / 2, most)
        self.happens("exploration at most 1/2", e < min(share, most))
        self.happens("exploration at most that of c0 = 1", e < min(share, 1 / 2))
        leads = [self.lead(A, b) for b in others]  # before any pair has moved; one of 4 or more counts as certain
        by_chance = e / len(self.arms)
        w = by_chance / (by_chance + (1 - e) * math.prod(below(x) for x in leads if x < 4))
        self.explorations += w
        self.surprises = self.surprises + 1 if w > 1 / 2 else 0
        for b in others:
            x = self.lead(A, b)
            if x >= 4:
                continue
            if self.happens("unknown arm refused", x < -1 and self.N[b] == 0):
                v[b] = 2.0 * max(v[A], v[b])  # x stays as it was
            s = math.sqrt(v[A] + v[b] + SMALLEST)
            h = hazard(x)
            lost = min(0.95, h * (h + x))
            self.happens("at most .95", lost < h * (h + x))
            for arm, sign in ((A, 1), (b, -1)):
                step = h * v[arm] / s
                m[arm] += (1 - w) * sign * step
                v[arm] += -(1 - w) * v[arm] * lost * v[arm] / s**2 + w * (1 - w) * step**2

    def grow(self) -> None:
        doubled = self.happens("variances double", self.surprises >= 2)
        v = self.v * (2.0 if doubled else 1.0 + self.given.forgetting / (self.t + 100.0)) + SMALLEST
        self.happens("variance below 1/4", v.max() > 1 / 4)
        self.v, self.m = np.minimum(v, 1 / 4), np.clip(self.m, -1.0, 2.0)

    def learn(self, A: int) -> None:
        N = int(self.N[A])
        p = (N * self.m[A] + 1.0) / (N + 2.0)
        self.happens("p in [0, 1]", not 0.0 <= p <= 1.0)
        p = min(max(p, 0.0), 1.0)
        self.m[A] = (N * self.m[A] + p) / (N + 1.0)
        self.v[A] *= (N * (N + 3.0) / ((N + 1.0) * (N + 2.0))) ** 2
        self.v[A] += self.given.drift * max(0.05, p * (1.0 - p)) / (N + 1.0) ** 2

    # ------------------------------------------------------------------------------------- offers

    def offer(self) -> Floats:
        g = worth(self.principal, self.N, self.S, self.t)
        arm = int(np.argmax(g + self.m))
        price = self.price(arm, g)
        c = g[arm] - price
        if isinstance(self.principal, BracketUCB):
            hope = self.hopeful(g)
            if self.happens("another arm hoped for", hope != arm):
                arm, price = hope, max(0.0, min(g[hope] - c, self.price(hope, g)))
            c = math.inf  # nothing for the others
        cut = price * self.test(arm, price)
        self.pi = np.maximum(0.0, g - (c + cut))  # a test asks every arm for more profit
        self.pi[arm] = price - cut
        return self.pi

    def price(self, a: int, g: Floats) -> float:
        costs = [0.0]
        for b in self.arms:
            if b != a:
                s = math.sqrt(self.v[a] + self.v[b] + SMALLEST)
                D = max(0.0, g[a] + self.m[a] - g[b] - self.m[b])
                z = math.sqrt(2.0 * math.log(1.0 + self.given.caution * D / s))
                costs.append(self.m[b] - self.m[a] + z * s)
        return max(costs)

    def hopeful(self, g: Floats) -> int:
        """Of arms that may bring as much, the one with the largest m."""
        assert isinstance(self.principal, BracketUCB)
        half = self.principal.parameters["optimism"] * np.sqrt(self.v)
        least = [max([0.0, *(np.delete(self.m - half, a) - (self.m + half)[a])]) for a in self.arms]
        best = np.flatnonzero(g - least == (g - least).max())
        self.happens("tie of hopes", best.size > 1)
        return int(best[np.argmax(self.m[best])])

    def test(self, arm: int, price: float) -> float:
        """Share of the price that is cut."""
        again = self.happens("test repeated", self.tested is not None and self.answer == self.tested)
        due = self.happens("test after a while", self.t >= self.next_test)
        explored = self.happens("test of an explorer", self.explorations >= 2.0 * (self.tests + 1))
        if due:
            self.next_test = 1.3 * self.t
        testing = again or due or explored
        self.tests += testing and not again
        self.tested = arm if testing and price > 0.0 else None  # nothing is learned from a price of 0
        return (1 / 2, 1 / 4, 1 / 8)[self.tests % 3] if testing else 0.0  # a quarter first


def below(x: float) -> float:
    """Phi(x)."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def hazard(x: float) -> float:
    """phi(x) / Phi(x); below -5 its expansion."""
    return -x - 1.0 / x if x < -5 else math.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi) / below(x)
