"""The exact optimum of tiny games: the most that principals which are not privileged can earn on average.

Two arms, Bernoulli rewards, theta and mu independent with Beta priors, and the empirical-mean agent (initial means 0,
ties to arm 0). Only finitely many offers differ, because beliefs are fractions: with d = muhat_1 - muhat_0, an offer
decides which values of d play arm 0. With a price v on arm 0 the agent plays arm 0 where d <= v; with v on arm 1 it
plays arm 1 where d >= -v. The second takes ``HAIR`` more, because ties go to arm 0; the value leaves that out. Paying
on both arms is never better.

A state is how often each arm was played, the principal's successes x on them, and the law of the agent's successes s
given all of its answers. The law does not depend on x. A *node* is therefore a law with the values for all x. Nodes are
listed level by level from the first round on, equal ones are merged, and values come back from the last round.

>>> round(solve(3).value, 6)
1.583333
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.special when it is first used

from baselines.principal import Principal, Rounds, follow
from pa_env.checks import at_least, known, short, whole
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import compiled_when_used

N_ARMS, LONGEST = 2, 10  # arms, and rounds at most: 1.2 GB, and half a minute
LEAST, MOST = 1e-3, 1e6  # of a parameter of a prior
HAIR = 1e-9  # paid above a price so that rounding and ties do not decide
MERGED = 2.0**32  # laws that agree to 1 / MERGED in each probability are one node
NOWHERE = -1  # in the place of a node: the answer has probability 0, or another offer does the same for less
QUADRATURE = 16  # points in each piece: exact for polynomials of degree 31
POLYNOMIAL = 12.0  # largest a + b of a prior with whole a and b that stays below that degree in all rounds
ENDS = (0.0, *(16.0**-k for k in range(6, 0, -1)), *(1 - 16.0**-k for k in range(1, 7)), 1.0)  # of pieces
DEVIATIONS = (-8.0, -4.0, -1.5, 0.0, 1.5, 4.0, 8.0)  # from the mean of a Beta law, likewise
UNIFORM = (1.0, 1.0)
OBJECTIVES = ("utility", "regret")

Prior = tuple[float, float]  # a and b of a Beta law
Plays = tuple[int, int]  # of the two arms


class Solution(NamedTuple):
    """An optimal policy; its array is read-only."""

    value: float  # expected utility, or expected R_T, of the whole game
    policy: Floats  # (rows, 6): prices on the arms, then the next row after arm 0 failed, succeeded, arm 1 likewise
    states: int  # their number


@dataclass
class Level:
    """All N nodes with the same plays of the arms: C offers, S pairs of the agent's successes, X of the principal's.

    Args:
        plays: n_0 and n_1.
        laws: (N, S), probabilities of the pairs of successes, in increasing order of d.
    """

    plays: Plays
    laws: Floats

    def __post_init__(self) -> None:
        pairs = successes(self.plays)
        gaps = pairs[:, 1] * max(1, self.plays[0]) - pairs[:, 0] * max(1, self.plays[1])  # d, as integers
        order = np.argsort(gaps, kind="stable")
        self.successes, gaps = pairs[order], gaps[order]
        scale = max(1, self.plays[0]) * max(1, self.plays[1])
        # (first pair that plays arm 1, prices, the pairs whose d is the price)
        self.offers = [(int(np.searchsorted(gaps, 0, "right")), (0.0, 0.0), slice(0, len(pairs)))]
        for gap in np.unique(gaps):
            first, last = (int(np.searchsorted(gaps, gap, side)) for side in ("left", "right"))
            if gap > 0:
                self.offers.append((last, (gap / scale, 0.0), slice(first, last)))
            else:
                self.offers.append((first, (0.0, -gap / scale), slice(first, last)))
        self.children = np.full((len(self.offers), 2, len(self.laws)), NOWHERE, np.int32)
        self.values: Floats = np.empty(0)  # (N, X)
        self.best: Integers = np.empty(0, np.int64)  # (N, X), an offer

    def place(self) -> Integers:
        """Return the column of ``laws`` of each pair of successes, (n_0 + 1, n_1 + 1)."""
        columns = np.empty((self.plays[0] + 1, self.plays[1] + 1), np.int64)
        columns[tuple(self.successes.T)] = np.arange(len(self.successes))
        return columns


def successes(plays: Plays) -> Integers:
    """Return all pairs of successes (pairs, 2) in so many plays of the two arms."""
    return np.stack(np.meshgrid(*(np.arange(n + 1) for n in plays), indexing="ij"), axis=-1).reshape(-1, 2)


def solve(horizon: int, objective: str = "utility", theta: Prior = UNIFORM, mu: Prior = UNIFORM) -> Solution:
    """Return the optimal policy of a game with two arms; a process computes each solution once.

    Args:
        horizon: T, from 1 to ``LONGEST``.
        objective: "utility", which is maximised, or "regret", R_T, which is minimised.
        theta: a and b of the Beta prior of the principal's means, from 0.001 to 1,000,000; (1, 1) is uniform.
        mu: the same for the agent's means.
    """
    known("objective", objective, OBJECTIVES)
    for name, prior in (("theta", theta), ("mu", mu)):
        if not (isinstance(prior, tuple) and len(prior) == 2):
            raise ValueError(f"{name} = {short(prior)} must be a tuple (a, b), the parameters of a Beta law")
    theta = (of_prior("theta", theta[0]), of_prior("theta", theta[1]))
    mu = (of_prior("mu", mu[0]), of_prior("mu", mu[1]))
    return _solve(whole("horizon", horizon, 1, LONGEST), objective, theta, mu)


def of_prior(name: str, value: object) -> float:
    """Return a parameter of a Beta prior as a float, if it is in range."""
    number = at_least(name, value, LEAST)
    if number > MOST:
        raise ValueError(f"{name} = {short(value)} must be a finite number at most {MOST:,.0f}")
    return number


@functools.cache
def _solve(horizon: int, objective: str, theta: Prior, mu: Prior) -> Solution:
    """The solution for arguments that have been checked."""
    levels = {(0, 0): Level((0, 0), np.ones((1, 1)))}
    for t in range(1, horizon):
        for n in range(t + 1):
            levels[n, t - n] = grown(levels, (n, t - n), mu)
    for plays in reversed(levels):
        evaluate(levels, plays, horizon, objective, theta)
    value = float(levels[0, 0].values[0, 0])
    states = sum(level.values.size for level in levels.values())
    return Solution(value if objective == "utility" else -value, policy(levels, horizon), states)


def grown(levels: dict[Plays, Level], plays: Plays, mu: Prior) -> Level:
    """Return the level of these plays, and enter its nodes as children of the levels that lead to it."""
    parts: list[Floats] = []
    edges: list[tuple[Integers, Integers]] = []  # of each part: the children to be filled, and their rows
    place = Level(plays, np.empty((0, (plays[0] + 1) * (plays[1] + 1)))).place()
    for arm in range(2):
        before = (plays[0] - (arm == 0), plays[1] - (arm == 1))
        if before not in levels:
            continue
        parent = levels[before]
        n, s = before[arm], parent.successes[:, arm]
        chance = (s + mu[0]) / (n + mu[0] + mu[1])  # of a success: a Polya urn
        lost = place[tuple(parent.successes.T)]
        won = place[parent.successes[:, 0] + (arm == 0), parent.successes[:, 1] + (arm == 1)]
        for c, (first, _, at_price) in enumerate(parent.offers):
            some = slice(0, first) if arm == 0 else slice(first, None)
            probability = parent.laws[:, some].sum(axis=1)
            rows = np.flatnonzero((probability > 0) & (parent.laws[:, at_price].sum(axis=1) > 0))
            law = parent.laws[rows, some] / probability[rows, None]
            child = np.zeros((len(rows), place.size))
            child[:, lost[some]] = law * (1 - chance[some])
            child[:, won[some]] += law * chance[some]
            parts.append(child)
            edges.append((parent.children[c, arm], rows))
    laws = np.concatenate(parts)
    weights = np.random.default_rng(0).integers(2**63, size=place.size, dtype=np.int64)
    keys = np.rint(laws * MERGED).astype(np.int64) @ weights  # a hash, modulo 2^64
    _, firsts, nodes = np.unique(keys, return_index=True, return_inverse=True)
    start = 0
    for children, rows in edges:
        children[rows] = nodes[start : start + len(rows)]
        start += len(rows)
    return Level(plays, laws[firsts])


def evaluate(levels: dict[Plays, Level], plays: Plays, horizon: int, objective: str, theta: Prior) -> None:
    """Compute the values and best offers of a level's nodes from those of the levels after it."""
    level, (n0, n1) = levels[plays], plays
    x = successes(plays)
    means = (x + theta[0]) / (np.array(plays) + theta[0] + theta[1])  # (X, 2), of theta given x
    values = np.full((len(level.laws), len(x)), -np.inf)
    level.best = np.zeros(values.shape, np.int8)
    for c, (first, prices, _) in enumerate(level.offers):
        total = np.zeros(values.shape)
        for arm, some in enumerate((slice(0, first), slice(first, None))):
            gain = np.broadcast_to(means[:, arm] - prices[arm], values.shape)
            probability = level.laws[:, some].sum(axis=1)[:, None]
            if n0 + n1 < horizon - 1:
                after = levels[n0 + (arm == 0), n1 + (arm == 1)]
                child = level.children[c, arm]
                lost, won = place_of(after.plays, x), place_of(after.plays, x + np.array([arm == 0, arm == 1]))
                gain = gain + (1 - means[:, arm]) * after.values[child[:, None], lost]
                gain += means[:, arm] * after.values[child[:, None], won]
                gain[child == NOWHERE] = np.where(probability[child == NOWHERE] > 0, -np.inf, 0.0)
            total += probability * gain
        level.best[total > values] = c
        np.maximum(values, total, out=values)
    if objective == "regret":
        values -= level.laws @ benchmarks(level, x, theta)
    level.values = values


def place_of(plays: Plays, x: Integers) -> Integers:
    """Return the columns of pairs of successes ``x`` (pairs, 2) in the values of a level."""
    return x[:, 0] * (plays[1] + 1) + x[:, 1]


def benchmarks(level: Level, x: Integers, theta: Prior) -> Floats:
    """Return the expectation (S, X) of max_a theta_a - pi*_a(t), for each s of the agent and x of the principal.

    It is that of max_a (theta_a + muhat_a) - max_a muhat_a: of theta of the agent's favourite arm, and of what the
    other arm has above it.
    """
    if sum(theta) <= POLYNOMIAL and all(each.is_integer() for each in theta):
        return polynomial_benchmarks(level, x, theta)
    means = level.successes / np.maximum(1, level.plays)  # (S, 2)
    favourite, lead = means.argmax(axis=1), np.abs(means[:, 0] - means[:, 1])[:, None]
    a, b = x.T + theta[0], np.array(level.plays)[:, None] - x.T + theta[1]  # (2, X), of theta given x
    first, second = (a[favourite], b[favourite]), (a[1 - favourite], b[1 - favourite])  # (S, X)
    expected: Floats = a[favourite] / (a + b)[favourite]
    return expected + excess(first, second, np.broadcast_to(lead, expected.shape))


def polynomial_benchmarks(level: Level, x: Integers, theta: Prior) -> Floats:
    """Return the same for small whole parameters, whose distribution functions are polynomials.

    That of the first maximum is then their product, a polynomial between the points where one law begins or ends.
    """
    means = level.successes / np.maximum(1, level.plays)  # (S, 2)
    points, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    ends = np.sort(np.concatenate([np.zeros((len(means), 1)), means, means + 1], axis=1), axis=1)  # (S, 5)
    middle, half = (ends[:, 1:] + ends[:, :-1]) / 2, (ends[:, 1:] - ends[:, :-1]) / 2
    z = middle[..., None] + half[..., None] * points  # (S, 4, points)
    below = np.ones((*z.shape, len(x)))
    for arm in range(2):
        a, b = x[:, arm] + theta[0], level.plays[arm] - x[:, arm] + theta[1]
        below *= scipy.special.betainc(a, b, np.clip(z - means[:, arm, None, None], 0.0, 1.0)[..., None])
    expected: Floats = np.einsum("sp,q,spqx->sx", half, weights, 1 - below)
    expected -= means.max(axis=1)[:, None]
    return expected


def excess(first: tuple[Floats, Floats], second: tuple[Floats, Floats], lead: Floats) -> Floats:
    """Return the expectation of the positive part of theta_2 - theta_1 - lead for independent Beta laws.

    With their distribution functions F_1 and F_2 it is the integral from lead to 1 of F_1(z - lead) (1 - F_2(z)). The
    pieces get shorter towards the ends, where a law with a parameter below 1 has a singularity, and around the means,
    where a law with large parameters is a step.

    Args:
        first: a and b of the first law.
        second: of the second, in arrays of the same shape.
        lead: from 0 to 1, likewise.
    """
    cuts = [lead + (1 - lead) * end for end in ENDS]
    for (a, b), shift in ((first, lead), (second, np.zeros_like(lead))):
        mean = a / (a + b)
        deviation = np.sqrt(mean * (1 - mean) / (a + b + 1))
        cuts += [np.clip(shift + mean + k * deviation, lead, 1.0) for k in DEVIATIONS]
    edges = np.sort(np.stack(cuts, axis=-1), axis=-1)
    half = np.diff(edges) / 2
    *where, piece = np.nonzero(half > 0)
    at = tuple(each[:, None] for each in where)
    points, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    z = edges[*where, piece, None] + half[*where, piece, None] * (1 + points)
    below = scipy.special.betainc(first[0][at], first[1][at], np.clip(z - lead[at], 0.0, 1.0))
    above = scipy.special.betaincc(second[0][at], second[1][at], np.minimum(z, 1.0))
    parts = np.zeros(half.shape)
    parts[*where, piece] = half[*where, piece] * ((below * above) @ weights)
    total: Floats = parts.sum(axis=-1)
    return total


def policy(levels: dict[Plays, Level], horizon: int) -> Floats:
    """Return the table of :class:`Solution` with the states that optimal offers lead to."""
    rows: list[list[float]] = []
    numbers: dict[tuple[Plays, int, int, int], int] = {}

    def visit(plays: Plays, node: int, x0: int, x1: int) -> int:
        """Return the row of a state, which is added if it is new."""
        key = (plays, node, x0, x1)
        if node == NOWHERE or sum(plays) == horizon:
            return NOWHERE
        if key not in numbers:
            numbers[key] = len(rows)
            level = levels[plays]
            offer = int(level.best[node, x0 * (plays[1] + 1) + x1])
            _, prices, _ = level.offers[offer]
            pays = (prices[0] + HAIR * (prices[0] > 0), prices[1] + HAIR * (offer > 0 and prices[0] == 0))
            row = [*pays, *(float(NOWHERE),) * 4]
            rows.append(row)
            for arm in range(2):
                child = int(level.children[offer, arm, node])
                after = (plays[0] + (arm == 0), plays[1] + (arm == 1))
                for won in range(2):
                    row[2 + 2 * arm + won] = visit(after, child, x0 + won * (arm == 0), x1 + won * (arm == 1))
        return numbers[key]

    visit((0, 0), 0, 0, 0)
    table = np.array(rows)
    table.flags.writeable = False  # it is kept for all who ask
    return table


@compiled_when_used
def policy_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The rule that offers what a policy says; its memory is the row of the policy, then the policy.

    It offers nothing once an answer contradicts the model.
    """
    row = int(memory[0])
    if arm >= 0 and row >= 0:
        row = int(memory[1 + 6 * row + 2 + 2 * arm + (1 if reward > 0.5 else 0)])
        memory[0] = row
    offer[0], offer[1] = (memory[1 + 6 * row], memory[2 + 6 * row]) if row >= 0 else (0.0, 0.0)
    return 0 if offer[0] > 0.0 else 1 if offer[1] > 0.0 else NO_ARM


class BayesOptimal(Principal):
    """Play the optimal policy of games with two arms and 2 to 10 rounds, found by expectimax.

    Guarantee: on average over the priors, with Bernoulli rewards and the empirical-mean agent, only a privileged
    principal can earn more; with ``objective="regret"``, only one can have less R_T.

    Where it fails: elsewhere it is a heuristic. It takes a reward above 1/2 for a success, and offers nothing after an
    answer that this agent can't give. Other sizes are refused. With 10 rounds the first episode in a process takes
    half a minute and 1.2 GB; with 8 rounds, less than a second.

    Args:
        n_arms: Number of arms K, which is 2.
        horizon: Number of rounds T, from 2 to 10.
        objective: "utility" or "regret" (R_T).
        theta_a: First parameter of the Beta prior of the principal's means, from 0.001 to
            1,000,000.
        theta_b: Second parameter, likewise. Both 1, as by default: a uniform prior.
        mu_a: First parameter of the Beta prior of the agent's means, likewise.
        mu_b: Second parameter, likewise.
    """

    name = "bayes-optimal"
    only_arms, longest = N_ARMS, LONGEST

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        objective: str = "utility",
        theta_a: float = 1.0,
        theta_b: float = 1.0,
        mu_a: float = 1.0,
        mu_b: float = 1.0,
    ) -> None:
        known("objective", objective, OBJECTIVES)
        self.objective = objective
        self.theta_a, self.theta_b = of_prior("theta_a", theta_a), of_prior("theta_b", theta_b)
        self.mu_a, self.mu_b = of_prior("mu_a", mu_a), of_prior("mu_b", mu_b)
        super().__init__(n_arms, horizon)
        if self.n_arms != N_ARMS:
            raise ValueError(f"n_arms = {n_arms} must be {N_ARMS}: the exact optimum is known for two arms")
        if self.horizon > LONGEST:
            raise ValueError(f"horizon = {horizon} must be at most {LONGEST}: longer games have too many states")

    def rounds(self) -> Rounds:
        """Follow the policy."""
        solution = solve(self.horizon, self.objective, (self.theta_a, self.theta_b), (self.mu_a, self.mu_b))
        yield follow(policy_rule(), np.concatenate([[0.0], solution.policy.ravel()]), self.horizon)
