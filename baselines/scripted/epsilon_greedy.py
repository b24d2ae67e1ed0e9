"""Epsilon-greedy that learns the agent's means from its choices (Dogan, Shen & Aswani, arXiv 2304.07407).

Source: "Repeated Principal-Agent Games with Unobserved Agent Rewards and Perfect-Knowledge Agents", in the form in
which the authors of IPA (Scheid et al., ICML 2024, arXiv 2403.03811) coded it for their comparison.
"""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from baselines.protocol import Principal, Rounds, hold, offer
from baselines.scripted.exploit import exploit, rounds_to_exploration
from pa_env.checks import at_least, known
from pa_env.layout import Floats


class EpsilonGreedy(Principal):
    """Explore with random offers, infer the agent's means s from its choices, and pay the best arm its price.

    1. Offer 1 on each arm once.
    2. Then explore with probability min(1, m/t), t being the number of rounds already played: offer pi ~ U[0, 1]^K. The
       arm A played shows that s_a - s_A <= pi_A - pi_a for every a; B[a, A] keeps the smallest such bound.
    3. Otherwise exploit: s_hat is a point of [0, 1]^K with s_a - s_k <= B[a, k] for all a and k (a linear program), and
       k = argmax theta_hat + s_hat is offered max s_hat - s_hat_k + 2 beta. After eta explorations,
       beta = sqrt(log(max(eta - 1, 1)) / max(1, eta - 1)).

    Guarantee: the policy of the paper has regret O(max{K, sqrt(log T)} sqrt(T)) against the oracle agent. We know of
    none for this form.

    Where it fails: two properties of that code, kept by the variant "as-published", raise its regret. theta_hat is the
    mean of X minus what was paid, so the price counts twice; and B learns from explorations only, so a refused offer is
    repeated. Answers of a learning agent may contradict each other; s_hat then stays as it was.

    Their code also keeps B from one run to the next, and updates it in step 1, where an accepted 1 says nothing about
    means in [0, 1]. Here every episode starts without bounds, and only "every-round" learns from step 1.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        m: Amount of exploration, at least 0. Default: T/20 (500 of 10,000 rounds with 5 arms in the comparison).
        variant: "as-published"; "gross", where theta_hat is the mean of X; or "every-round", which is "gross" with B
            updated after every round.

    """

    name = "epsilon-greedy"
    slow = True

    def __init__(self, n_arms: int, horizon: int, m: float | None = None, variant: str = "as-published") -> None:
        known("variant", variant, ("as-published", "gross", "every-round"))
        super().__init__(n_arms, horizon)
        self.m = self.horizon / 20 if m is None else at_least("m", m, 0.0)
        self.variant = variant

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode without bounds on the agent's means."""
        super().reset(seed)
        self.paid = np.zeros(self.n_arms)  # for each arm, in all
        self.bounds = np.full((self.n_arms, self.n_arms), np.inf)  # B
        self.s_hat, self._stale = np.zeros(self.n_arms), False

    def rounds(self) -> Rounds:
        """Warm up, then explore or exploit."""
        explorations = 0  # eta
        for a in range(self.n_arms):
            outcome = yield hold(a, 1.0)
            self.record(np.eye(self.n_arms)[a], int(outcome.plays.argmax()), self.variant == "every-round")
        while True:
            quiet = rounds_to_exploration(self, lambda t: self.m / (t - 1))  # t - 1 rounds have been played
            margin = 2 * padding(explorations - 1)  # 2 beta
            if self.variant == "every-round":
                for _ in range(quiet):
                    yield from self.exploit_once(margin)
            elif quiet:
                charged = self.variant == "as-published"
                yield from exploit(self, self.estimate(), margin, quiet, self.paid, charged)
            incentives = self.rng.random(self.n_arms)
            explorations += 1
            outcome = yield offer(dict(enumerate(incentives)))
            self.record(incentives, int(outcome.plays.argmax()), updates_bounds=True)

    def exploit_once(self, margin: float) -> Rounds:
        """One exploiting round whose answer updates B."""
        estimate = self.estimate()
        k = int((self.theta_hat + estimate).argmax())
        incentives = np.zeros(self.n_arms)
        incentives[k] = estimate.max() - estimate[k] + margin
        outcome = yield hold(k, incentives[k])
        self.record(incentives, int(outcome.plays.argmax()), updates_bounds=True)

    def record(self, incentives: Floats, arm: int, updates_bounds: bool) -> None:
        """Add up what was paid for the arm played and, if ``updates_bounds``, update B."""
        self.paid[arm] += incentives[arm]
        if updates_bounds:
            revealed = np.minimum(self.bounds[:, arm], incentives[arm] - incentives)
            revealed[arm] = np.inf  # s_a - s_a <= 0 is no constraint
            self._stale |= bool((revealed < self.bounds[:, arm]).any())
            self.bounds[:, arm] = revealed

    def estimate(self) -> Floats:
        """The point s_hat; the linear program is solved only if B has changed."""
        if self._stale:
            found = feasible_point(self.bounds)
            self.s_hat = self.s_hat if found is None else found
            self._stale = False
        return self.s_hat


def padding(explorations: int) -> float:
    """Half of what is added to a price after eta explorations: sqrt(log eta / eta), 0 for eta < 1."""
    eta = max(1, explorations)
    return math.sqrt(math.log(eta) / eta)


def feasible_point(bounds: Floats) -> Floats | None:
    """A point s of [0, 1]^K with s_a - s_k <= bounds[a, k], or None if there is none."""
    a, k = np.nonzero(np.isfinite(bounds))
    if not a.size:
        return np.zeros(len(bounds))
    row = np.arange(a.size)
    entries = np.concatenate([np.ones(a.size), -np.ones(a.size)])
    places = (np.concatenate([row, row]), np.concatenate([a, k]))
    differences = csr_array((entries, places), shape=(a.size, len(bounds)))
    solved = linprog(np.zeros(len(bounds)), A_ub=differences, b_ub=bounds[a, k], bounds=(0, 1), method="highs")
    return np.asarray(solved.x, dtype=np.float64) if solved.success else None
