"""Phased elimination for linear rewards (Liu & Ratliff, ICML 2025, Algorithm 7, appendix)."""

import math
from collections.abc import Generator
from itertools import count
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from baselines.principal import Hold, Outcome, Rounds, hold, offer
from baselines.scripted.paper.convex_set import unit_ball
from baselines.scripted.paper.design import g_optimal_design
from baselines.scripted.paper.phased import Constants, Phased, without
from baselines.scripted.paper.steiner import multi_scale_search
from pa_env.checks import vectors
from pa_env.kernel.layout import Floats


class LinearElimination(Phased):
    """Search the agent's parameter s, sample a G-optimal design of the arms, and drop those estimated worse.

    Guarantee: E[R_T] = O(d^(4/3) T^(2/3) log^(2/3)(KT)) with the paper's constants, delta = 1/T and T = Omega(d),
    against the agent that learns by least squares.

    Where it departs from the paper: a search (:mod:`baselines.scripted.paper.steiner`) returns the centroid of the set
    S of parameters that are left, where the paper takes a random point of it; the bound on the error holds for every
    point. A question halves the volume of S + z B exactly for d <= 2. For d >= 3 volumes are sampled, and 9/16 of the
    samples are put above the cut: the proof allows any share from 1/2 to 5/8.

    Where it fails: with the paper's constants no incentive is below the cap 2d + 1/T before T about 8e7 (d = 2). The
    practical ones drop the best arm in some games below T = 1e6.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        arms: The arms' vectors (n_arms, dim), which the principal knows: ``info["arms"]`` of a reset.
        delta: Probability of failure, in (0, 1). Default: 1/T.
        constants: "paper" or "practical"; see :class:`~baselines.scripted.paper.phased.Phased`.
    """

    name = "linear"
    practical = Constants(confidence=1 / 64, enlargement=1 / 64)
    conservative: ClassVar[bool] = True  # see multi_scale_search

    def __init__(
        self, n_arms: int, horizon: int, arms: ArrayLike, delta: float | None = None, constants: str = "paper"
    ) -> None:
        super().__init__(n_arms, horizon, delta, constants)
        self.arms = vectors("arms", arms, self.n_arms)
        self.dim = self.arms.shape[1]  # d
        self.cap = 2 * self.dim + 1 / self.horizon
        self.width = self.dim * self.confidence(4)  # d log(4KT/delta)

    def rounds(self) -> Rounds:
        """Algorithm 7, line by line."""
        active = list(range(self.n_arms))  # A_1
        previous_error = 1.0  # epsilon_0
        for m in count(1):
            length = math.ceil(2.0 ** (m + 4) * self.width)  # T_m
            error = self.error(length)  # epsilon_m
            self.begin_phase(m, active, length)
            plays, rewards = np.zeros(self.n_arms, np.int64), np.zeros(self.n_arms)  # in the rounds of calT_m

            bad = self.bad(active)  # B_m
            stabilising = math.cbrt(self.width) * math.cbrt(length) ** 2
            for a, weight in self.design(bad):
                outcome = yield hold(a, self.cap, rounds=math.ceil(weight * stabilising))  # U_m(a)
                plays, rewards = plays + outcome.plays, rewards + outcome.sums

            parameter = yield from self.search(previous_error)  # c_m
            values = self.arms @ parameter
            for a, weight in self.design(active):
                needed = float(values.max() - values[a])
                incentive = min(self.cap, needed + (1 + 32 * self.dim) * previous_error + 1 / self.horizon)
                outcome = yield hold(a, incentive, rounds=math.ceil(weight * length))
                plays, rewards = plays + outcome.plays, rewards + outcome.sums

            gram = (self.arms.T * plays) @ self.arms  # V_m
            estimate = np.linalg.pinv(gram, hermitian=True) @ (self.arms.T @ rewards)  # nuhat_m
            parameter = yield from self.search(error)  # c'_m
            joint = self.arms @ (estimate + parameter)
            best = max(joint[active])
            failed = [a for a in active if best - joint[a] > (7 + 32 * self.dim) * error]  # offline elimination
            active, previous_error = without(active, failed), error

    def error(self, length: int) -> float:
        """epsilon_m = 4 sqrt(d log(4KT/delta) / min{T_m, (d log(4KT/delta))^(1/3) T_m^(2/3)})."""
        plays = min(length, math.cbrt(self.width) * math.cbrt(length) ** 2)
        return self.factors.enlargement * 4 * math.sqrt(self.width / plays)

    def design(self, arms: list[int]) -> list[tuple[int, float]]:
        """The arms of a 2-approximate G-optimal design, with their weights."""
        if not arms:
            return []
        weights = g_optimal_design(self.arms[arms])
        return [(a, float(weight)) for a, weight in zip(arms, weights, strict=True) if weight > 0]

    def search(self, error: float) -> Generator[Hold, Outcome, Floats]:
        """Algorithm 8 with input (error, 1/T): a point near the agent's parameter."""
        self.knowledge = unit_ball(self.dim, self.rng)  # S
        questions = multi_scale_search(self.knowledge, self.arms, error, 1 / self.horizon, self.conservative)
        try:
            question = next(questions)
            while True:
                amounts = dict(zip((question.first, question.second), question.incentives, strict=True))
                outcome = yield offer(amounts)
                question = questions.send(int(outcome.plays.argmax()))
        except StopIteration as end:
            point: Floats = end.value
            return point
