"""A stand-in for robust epsilon-greedy, for an agent that learns and explores (after Dogan et al., arXiv 2308.06717).

Source of the idea: Dogan, Shen & Aswani, "Estimating and Incentivizing Imperfect-Knowledge Agents with Hidden
Rewards". Their schedule, padding and loss are not known to us. This is not their algorithm, and its results say nothing
about theirs.
"""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from baselines.protocol import Principal, Rounds, hold, offer
from baselines.scripted.epsilon_greedy import padding
from baselines.scripted.exploit import exploit, rounds_to_exploration
from pa_env.checks import at_least, whole
from pa_env.layout import Floats

GROWTH = 1.25  # s_hat is estimated again when the number of explorations has grown by this factor


class RobustEpsilonGreedy(Principal):
    """A stand-in. As :class:`EpsilonGreedy`, but answers may contradict each other: s_hat violates them least.

    1. Offer 1 on each arm once.
    2. In round t explore with probability min(1, m t^-q): offer pi ~ U[0, 1]^K and record pi and the arm A played.
    3. Otherwise k = argmax theta_hat + s_hat is offered max s_hat - s_hat_k + 2 sqrt(log eta / eta) after eta
       explorations. s_hat in [0, 1]^K minimises, by a linear program, the sum over explorations of
       max(0, max_a (s_a + pi_a) - (s_A + pi_A)), the agent's loss if s were its means. It is estimated again when there
       are 25 % more explorations than the last time.

    Guarantee: none for the stand-in. The paper's algorithm has regret O(poly(K) T^(11/12) sqrt(log T)).

    Where it fails: random answers bias s_hat towards equal means (with 15 % of them, a difference of .7 was estimated
    as .5), so it pays too little for arms that a strongly exploring agent dislikes.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        m: Factor of the exploration probability, at least 0.
        q: Exponent of the exploration probability, in (0, 1).
        window: Number of last explorations that count, at least 1. It bounds the linear program and forgets old
            answers.

    """

    name = "robust-epsilon-greedy"
    slow = True
    stand_in = True

    def __init__(self, n_arms: int, horizon: int, m: float = 1.0, q: float = 1 / 3, window: int = 1000) -> None:
        super().__init__(n_arms, horizon)
        self.m = at_least("m", m, 0.0)
        self.q = at_least("q", q, 0.0, strictly=True)
        if self.q >= 1:
            raise ValueError(f"q = {q} must be an exponent between 0 and 1, both excluded")
        self.window = whole("window", window, 1)

    def rounds(self) -> Rounds:
        """Warm up, then explore or exploit."""
        s_hat, paid = np.zeros(self.n_arms), np.zeros(self.n_arms)
        offers: list[Floats] = []  # of the explorations
        played: list[int] = []
        due = 1  # number of explorations at which s_hat is estimated again
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

    Args:
        offers: pi of each round (n, K).
        played: A of each round (n,).

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
