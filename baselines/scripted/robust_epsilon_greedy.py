"""A stand-in for robust epsilon-greedy, for an agent that learns and explores (after Dogan et al., arXiv 2308.06717).

Source of the idea: Dogan, Shen & Aswani, "Estimating and Incentivizing Imperfect-Knowledge Agents with Hidden
Rewards". Their schedule, padding and loss are not known to us: this is not their algorithm, and its numbers say nothing
about theirs.
"""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from baselines.protocol import Floats, Principal, Rounds, hold, offer
from baselines.scripted.epsilon_greedy import padding
from baselines.scripted.exploit import exploit, rounds_to_exploration
from pa_env.checks import at_least

GROWTH = 1.25  # s_hat is estimated anew when there are this many times as many explorations


class RobustEpsilonGreedy(Principal):
    """A stand-in. As :class:`EpsilonGreedy`, but answers may contradict each other: s_hat violates them least.

    Offer 1 on each arm once. In round t, with probability min(1, m t^-q), offer pi ~ U[0, 1]^K and note pi and the
    arm A played. Otherwise k = argmax theta_hat + s_hat is offered max s_hat - s_hat_k + 2 sqrt(log eta / eta) after
    eta explorations, where s_hat in [0, 1]^K minimises, by a linear program, the sum over explorations of
    max(0, max_a (s_a + pi_a) - (s_A + pi_A)): what the agent gave away if s were its means. That is done anew only once
    there are 25 % more explorations than the last time.

    Guarantee: none of ours; the paper's algorithm has regret O(poly(K) T^(11/12) sqrt(log T)). Random answers pull this
    s_hat together (with 15 % of them, .7 between two means was estimated as .5), so it pays too little for arms that
    an agent who explores that much dislikes.

    ``m``, ``q``: how much is explored; q in (0, 1). ``window``: only so many of the last explorations count, which
    bounds the linear program and forgets what the agent believed long ago.
    """

    name = "robust-epsilon-greedy"
    stand_in = True

    def __init__(self, n_arms: int, horizon: int, m: float = 1.0, q: float = 1 / 3, window: int = 1000) -> None:
        super().__init__(n_arms, horizon)
        self.m = at_least("m", m, 0.0)
        self.q = at_least("q", q, 0.0, strictly=True)
        if self.q >= 1:
            raise ValueError(f"q = {q} must be an exponent between 0 and 1, both excluded")
        self.window = int(at_least("window", window, 1, whole=True))

    def rounds(self) -> Rounds:
        """Warm up, then explore or exploit."""
        s_hat, paid = np.zeros(self.n_arms), np.zeros(self.n_arms)
        offers: list[Floats] = []  # of the explorations
        played: list[int] = []
        due = 1  # explorations from which on s_hat is estimated anew
        for a in range(self.n_arms):
            yield hold(a, 1.0)
        while True:
            quiet = rounds_to_exploration(self, lambda t: self.m * t**-self.q)
            if quiet and len(offers) >= due:
                s_hat = least_violation(np.array(offers[-self.window :]), np.array(played[-self.window :]))
                due = math.ceil(GROWTH * len(offers))
            if quiet:
                yield from exploit(self, s_hat, 2 * padding(len(offers)), quiet, paid)
            offers.append(self.rng.random(self.n_arms))
            outcome = yield offer(dict(enumerate(offers[-1])))
            played.append(int(outcome.plays.argmax()))


def least_violation(offers: Floats, played: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    """The s in [0, 1]^K that minimises the sum over rounds of max(0, max_a (s_a + pi_a) - (s_A + pi_A)).

    :param offers: (n, K), pi of each round. :param played: (n,), A of each round.
    """
    n, n_arms = offers.shape
    # One row for each round i and arm a other than A: s_a - s_A - violation_i <= pi_A - pi_a.
    rounds, others = np.nonzero(np.arange(n_arms) != played[:, None])
    row = np.arange(rounds.size)
    entries = np.concatenate([np.ones(row.size), -np.ones(row.size), -np.ones(row.size)])
    columns = np.concatenate([others, played[rounds], n_arms + rounds])
    system = csr_array((entries, (np.tile(row, 3), columns)), shape=(row.size, n_arms + n))
    limits = offers[rounds, played[rounds]] - offers[rounds, others]
    cost = np.concatenate([np.zeros(n_arms), np.ones(n)])
    box = [(0.0, 1.0)] * n_arms + [(0.0, None)] * n
    solved = linprog(cost, A_ub=system, b_ub=limits, bounds=box, method="highs")
    return np.asarray(solved.x[:n_arms], dtype=np.float64)
