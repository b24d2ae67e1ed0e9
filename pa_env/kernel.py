"""The room: the one place where a round is played, compiled by Numba.

Everything else in this package is a door to :func:`play`. A round goes

    offer -> the agent answers -> both are rewarded -> beliefs, regrets and sums move

and one call plays one round, one round each of a batch of copies, or many rounds of one offer: while the
same arm keeps winning only that arm's mean moves, so what the other arms have to say is worked out once.

State is plain NumPy arrays with a leading axis over independent copies of the game, so a deepcopy or a
pickle in the middle of an episode just copies arrays. :class:`pa_env.game.Game` owns them.

Randomness is counter-based: SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014) gives the n-th number of a stream from the key alone. So the n-th pull of an arm
meets the same rewards whatever was played in between, and looking ahead changes nothing.

One file, because Numba's cache does not notice a change in a function that another file holds; loops
instead of slices, because a slice costs more than a short loop here and slice assignment compiles slowly.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pa_env.compiling import compiled, inlined

Array = NDArray[Any]
U64 = np.uint64

# Rows of `arms` (copies, 5 + dim, n_arms). In the papers: mu_a, theta_a, muhat_a(t); then the sums behind the
# estimates; from COORDINATES on, when rewards are linear, the arms' coordinates in the basis of `learn_linear`.
MU, THETA, MEAN, AGENT_SUM, PRINCIPAL_SUM, COORDINATES = range(6)
# Columns of `totals` (copies, 2, 6): sums over the rounds, flushed ones and running ones.
UTILITY, EXPECTED_UTILITY, REGRET, REGRET_ORACLE, REGRET_BAR, OVERPAYMENT = range(6)
# Columns of `results` (copies, 8 + n_arms), what the last round was: the first five above, the arm, the rewards X and
# R, and from OPTIMAL on the optimal incentives pi*_a(t).
ARM, REWARD_PRINCIPAL, REWARD_AGENT, OPTIMAL = 5, 6, 7, 8
# Agents. LEARNER, ORACLE and OUTSIDER are greedy on `arms[:, MEAN]`: learned, the true means, or a Python object's,
# written by its door. The others learn the same means, and choose by rules that keep their own regret low.
LEARNER, ORACLE, OUTSIDER, UCB, THOMPSON, EXP3 = range(6)
LOWEST, HIGHEST, RANDOM, LARGEST_INCENTIVE = range(4)  # tie rules
UNIFORMLY, WORST, ROUND_ROBIN, FIXED_ARM = range(4)  # ways to explore; FIXED_ARM + a explores arm a
BERNOULLI, BETA, GAUSSIAN, CONSTANT = range(4)  # reward models
GIVEN, UNIFORM, MISALIGNED, GAP, CLUSTERED, UNIT_BALL = range(6)  # families of instances
# Streams of an episode's draws; from REWARDS on two an arm, the principal's and the agent's.
INSTANCE, EXPLORE, EXPLORE_ARM, TIE, OFFER, REWARDS = range(6)

# Entries of a stop rule (float64).
TARGET, ALPHA, BETA_, HELD, MISSES, WITHDRAWN = range(6)

NOBODY = -1  # no forced arm
BLOCK = 256  # rewards drawn ahead at a time at most, so that the compiler can vectorise the draws
FLUSH = 4096  # rounds after which running sums are flushed: drift at 1e9 rounds near 1e-12 instead of 1e-8
BETA_CONCENTRATION = 2.0  # Beta(2m, 2(1 - m)) has mean m, and is uniform at m = 1/2
SPAN_TOLERANCE = 1e-6  # a direction shorter than this adds nothing to the span of the arms

RULES = np.dtype([("agent", "i8"), ("how", "i8"), ("tie", "i8"), ("horizon", "i8"), ("max_incentive", "f8")])
COPY = np.dtype(
    [
        ("key", "u8"),  # of the seed
        ("episode", "i8"),  # episodes begun since the seed was given
        ("episode_key", "u8"),
        ("t", "i8"),  # rounds played
        ("arm", "i8"),  # last arm played
        ("cursor", "i8"),  # where round-robin exploration goes on
        ("rewards", "i8"),  # reward model
        ("noise", "f8"),  # its standard deviation (GAUSSIAN)
        ("benchmark", "f8"),  # max_a theta_a - pi*_a with the true means
        ("rank", "i8"),  # dimensions spanned by the arms played so far (linear)
    ]
)


# ----------------------------------------------------------------------------------------- draws


@inlined
def draw(key: Any, n: Any) -> Any:
    """The n-th output, n = 1, 2, ..., of SplitMix64 seeded with ``key``."""
    z = key + U64(n) * U64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U64(27))) * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


@inlined
def place(stream: Any, n: Any) -> Any:
    """Where the n-th number of a stream stands in its key's sequence: streams never meet below 2^40 numbers."""
    return (stream << 40) + n


@inlined
def uniform(key: Any, n: Any) -> float:
    """The n-th number as a float64 in [0, 1)."""
    return np.int64(draw(key, n) >> U64(11)) * 2.0**-53


@compiled
def normals(key: Any) -> tuple[float, float]:
    """Two independent standard normal numbers (Box & Muller, 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, 1)))
    angle = 2.0 * math.pi * uniform(key, 2)
    return radius * math.cos(angle), radius * math.sin(angle)


@compiled
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


@compiled
def beta_draw(key: Any, mean: float) -> float:
    """A beta number with this mean; the mean itself where it is 0 or 1."""
    if mean <= 0.0 or mean >= 1.0:
        return mean
    a = gamma_draw(draw(key, 1), BETA_CONCENTRATION * mean)
    b = gamma_draw(draw(key, 2), BETA_CONCENTRATION * (1.0 - mean))
    return a / (a + b) if a + b > 0.0 else mean


@inlined
def draw_rewards(copies: Array, i: int, arm: int, theta: float, mu: float, first: int, out: Array, size: int) -> None:
    """Rewards X and R of pulls ``first``, ``first + 1``, ... of an arm, into rows 0 and 1 of ``out``.

    Beta and Gaussian X are float32 numbers, so that an observation in float32 carries them exactly.
    """
    key, model = copies[i].episode_key, copies[i].rewards
    x_at, r_at = place(REWARDS + 2 * arm, first), place(REWARDS + 2 * arm + 1, first)
    if model == BERNOULLI and size == 1:  # the loop below, without the price of its vectorised form
        out[0, 0] = np.float64(uniform(key, x_at) < theta)
        out[1, 0] = np.float64(uniform(key, r_at) < mu)
    elif model == BERNOULLI:
        for j in range(size):
            out[0, j] = np.float64(uniform(key, x_at + j) < theta)
            out[1, j] = np.float64(uniform(key, r_at + j) < mu)
    else:
        for j in range(size):
            if model == CONSTANT:
                out[0, j], out[1, j] = theta, mu
            elif model == GAUSSIAN:
                x_noise, r_noise = normals(draw(key, x_at + j))
                out[0, j] = np.float32(theta + copies[i].noise * x_noise)
                out[1, j] = mu + copies[i].noise * r_noise
            else:
                out[0, j] = np.float32(beta_draw(draw(key, x_at + j), theta))
                out[1, j] = beta_draw(draw(key, r_at + j), mu)


# ------------------------------------------------------------------------------- instances and episodes


@compiled
def draw_means(copies: Array, arms: Array, i: int, family: int) -> None:
    """Draw theta and mu of copy ``i`` from an i.i.d. family; see :mod:`pa_env.instances` for what they are."""
    key, n_arms, at = copies[i].episode_key, arms.shape[2], place(INSTANCE, 1)
    for a in range(n_arms):
        u, v = uniform(key, at + 2 * a), uniform(key, at + 2 * a + 1)
        if family == GAP:
            best = a == int(uniform(key, at + 2 * n_arms) * n_arms)
            u = 0.2 + 0.4 * u
            v = 0.8 - u + (0.1 if best else 0.0)
            u += 0.1 if best else 0.0
        elif family == CLUSTERED:
            centre = at + 2 * n_arms + 2 * int(uniform(key, at + 2 * n_arms + 6 + a) * 3)
            u = 0.05 + 0.9 * uniform(key, centre) + 0.1 * (u - 0.5)
            v = 0.05 + 0.9 * uniform(key, centre + 1) + 0.1 * (v - 0.5)
        arms[i, THETA, a], arms[i, MU, a] = u, v
    if family == MISALIGNED:  # the arm with the r-th largest theta gets the r-th smallest mu
        for a in range(n_arms):
            rank = 0
            for b in range(n_arms):
                rank += arms[i, MU, b] < arms[i, MU, a] or (arms[i, MU, b] == arms[i, MU, a] and b < a)
            arms[i, MEAN, rank] = arms[i, MU, a]  # sorted
        for a in range(n_arms):
            rank = 0
            for b in range(n_arms):
                rank += arms[i, THETA, b] > arms[i, THETA, a] or (arms[i, THETA, b] == arms[i, THETA, a] and b < a)
            arms[i, MU, a] = arms[i, MEAN, rank]


@compiled
def draw_linear(copies: Array, linear: Array, i: int, n_arms: int) -> None:
    """Draw the arms, s and nu of copy ``i`` uniformly from the unit ball."""
    dim, rows = linear.shape[2], linear.shape[1]
    at = place(INSTANCE, 1)
    for a in range(n_arms + 2):
        row = a if a < n_arms else rows - 2 + (a - n_arms)
        square = 0.0
        for k in range(dim):
            linear[i, row, k] = normals(draw(copies[i].episode_key, at + a * (dim + 1) + k))[0]
            square += linear[i, row, k] ** 2
        scale = uniform(copies[i].episode_key, at + a * (dim + 1) + dim) ** (1.0 / dim) / math.sqrt(square)
        for k in range(dim):
            linear[i, row, k] *= scale


@compiled
def begin(
    rules: Array,
    copies: Array,
    arms: Array,
    plays: Array,
    totals: Array,
    linear: Any,
    summary: Any,
    gains: Any,
    which: Array,
    family: int,
    initial: Array,
) -> None:
    """Begin the next episode of the copies marked in ``which``; with GIVEN their instances are in place already.

    ``initial``: the agent's means before the first play (n_arms), or her first estimate of s (dim) when linear.
    """
    n_arms = arms.shape[2]
    for i in range(copies.size):
        if not which[i]:
            continue
        copies[i].episode += 1
        copies[i].episode_key = draw(copies[i].key, copies[i].episode)
        copies[i].t = copies[i].arm = copies[i].cursor = copies[i].rank = 0
        if linear is None:
            if family != GIVEN:
                draw_means(copies, arms, i, family)
        else:
            if family != GIVEN:
                draw_linear(copies, linear, i, n_arms)
            s = linear.shape[1] - 2
            for row in range(n_arms, s):
                for k in range(linear.shape[2]):
                    linear[i, row, k] = 0.0
            for a in range(n_arms):  # here for all, so that an instance given again has the same last digits
                arms[i, MU, a] = arms[i, THETA, a] = 0.0
                for k in range(linear.shape[2]):
                    arms[i, MU, a] += linear[i, a, k] * linear[i, s, k]
                    arms[i, THETA, a] += linear[i, a, k] * linear[i, s + 1, k]
        highest = joint = -np.inf
        for a in range(n_arms):
            highest = max(highest, arms[i, MU, a])
            joint = max(joint, arms[i, MU, a] + arms[i, THETA, a])
            first = 0.0
            if linear is None:
                first = initial[a]
            else:
                for k in range(linear.shape[2]):
                    first += initial[k] * linear[i, a, k]
            arms[i, AGENT_SUM, a] = first
            arms[i, MEAN, a] = arms[i, MU, a] if rules[0].agent == ORACLE else first
            arms[i, PRINCIPAL_SUM, a] = 0.0
            plays[i, a] = 0
        copies[i].benchmark = joint - highest
        if gains is not None:
            for a in range(n_arms):
                gains[i, a] = 0.0
        for k in range(6):
            totals[i, 0, k] = totals[i, 1, k] = 0.0
        if summary is not None:
            for k in range(6 * n_arms + 2):
                summary[i, k] = rules[0].max_incentive if 4 * n_arms <= k < 5 * n_arms else 0.0


# ----------------------------------------------------------------------------------------- the agent


@inlined
def exploration_probability(c0: float, t: Any) -> float:
    """p_t = min(1, c0 sqrt(log(2t) / t)), t = 1, 2, ..."""
    return min(1.0, c0 * math.sqrt(math.log(2.0 * t) / t))


@inlined
def explores(copies: Array, i: int, c0: float) -> bool:
    """Whether the agent of copy ``i`` explores in the round to come."""
    t = copies[i].t + 1
    return uniform(copies[i].episode_key, place(EXPLORE, t)) < exploration_probability(c0, t)


@inlined
def rounds_before_exploring(copies: Array, i: int, c0: float, most: int, scratch: Array) -> int:
    """How many of the next ``most`` rounds, the first taken as settled, pass before the agent explores.

    p_t falls with t, so one comparison with its value at the second of them settles nearly every round.
    """
    key, t = copies[i].episode_key, copies[i].t + 2
    at = place(EXPLORE, t)
    bound = exploration_probability(c0, t) * (1.0 + 1e-12)
    for j in range(most - 1):
        scratch[2, j] = uniform(key, at + j)
    passed = most
    for j in range(most - 1):
        if scratch[2, j] < bound and scratch[2, j] < exploration_probability(c0, t + j):
            passed = j + 1
            break
    return passed


@compiled
def explored_arm(rules: Array, copies: Array, arms: Array, offers: Array, i: int, best: float) -> int:
    """The arm of an agent that explores: one that does not maximise, or NOBODY where all of them do."""
    n_arms, how = offers.shape[1], rules[0].how
    others = 0
    for b in range(n_arms):
        others += arms[i, MEAN, b] + offers[i, b] < best
    nth = int(uniform(copies[i].episode_key, place(EXPLORE_ARM, copies[i].t + 1)) * others)
    first = copies[i].cursor if how == ROUND_ROBIN else 0
    arm = NOBODY
    for step in range(n_arms):
        b = (first + step) % n_arms
        if arms[i, MEAN, b] + offers[i, b] >= best:
            continue
        if how == UNIFORMLY:
            if nth == 0:
                return b
            nth -= 1
        elif how == WORST:
            if arm < 0 or arms[i, THETA, b] - offers[i, b] < arms[i, THETA, arm] - offers[i, arm]:
                arm = b
        elif how == ROUND_ROBIN or how == FIXED_ARM + b:
            return b
    return arm


@compiled
def broken_tie(rules: Array, copies: Array, arms: Array, offers: Array, i: int, best: float) -> int:
    """The maximiser that the tie rule picks."""
    tie, ties = rules[0].tie, 0
    for b in range(offers.shape[1]):
        ties += arms[i, MEAN, b] + offers[i, b] == best
    nth = int(uniform(copies[i].episode_key, place(TIE, copies[i].t + 1)) * ties)
    arm = NOBODY
    for b in range(offers.shape[1]):
        if arms[i, MEAN, b] + offers[i, b] == best:
            if tie == RANDOM:
                if nth == 0:
                    return b
                nth -= 1
            elif arm < 0 or tie == HIGHEST or (tie == LARGEST_INCENTIVE and offers[i, b] > offers[i, arm]):
                arm = b
    return arm


@inlined
def greedy(rules: Array, copies: Array, arms: Array, offers: Array, i: int) -> tuple[int, float, float, float, float]:
    """The maximiser of muhat_b + pi_b and that maximum; max_b muhat_b, max_b muhat_b + theta_b, sum of pi_b."""
    highest, offered = arms[i, MEAN, 0], offers[i, 0]
    best, joint, arm = highest + offered, highest + arms[i, THETA, 0], 0
    for b in range(1, offers.shape[1]):
        mean = arms[i, MEAN, b]
        value = mean + offers[i, b]
        offered += offers[i, b]
        highest = max(highest, mean)
        joint = max(joint, mean + arms[i, THETA, b])
        if value > best:
            best = value
            arm = b
    if rules[0].tie != LOWEST:
        arm = broken_tie(rules, copies, arms, offers, i, best)
    return arm, best, highest, joint, offered


@inlined
def first_bad(offers: Array, most: float) -> int:
    """Flat index of the first entry that is not a number in [0, most], or -1."""
    flat = offers.reshape(offers.size)
    fine = True
    for j in range(flat.size):
        fine &= (flat[j] >= 0.0) & (flat[j] <= most)
    bad = -1
    if not fine:
        for j in range(flat.size):
            if not (flat[j] >= 0.0 and flat[j] <= most):
                bad = j
                break
    return bad


@compiled
def exp3_softmax(copies: Array, gains: Array, offers: Array, i: int) -> tuple[float, float, float]:
    """EXP3's softmax of what t rounds at this offer would bring: its rate, the highest of these, the sum of weights."""
    n_arms, t = gains.shape[1], copies[i].t + 1
    rate = math.sqrt(math.log(n_arms) / (n_arms * t))
    highest, total = -np.inf, 0.0
    for b in range(n_arms):
        highest = max(highest, gains[i, b] + t * offers[i, b])
    for b in range(n_arms):
        total += math.exp(rate * (gains[i, b] + t * offers[i, b] - highest))
    return rate, highest, total


@compiled
def exp3_probability(
    copies: Array, gains: Array, offers: Array, i: int, arm: int, softmax: tuple[float, float, float]
) -> float:
    """The probability that EXP3 plays an arm now: that of its softmax, mixed with the uniform one."""
    n_arms, t = gains.shape[1], copies[i].t + 1
    rate, highest, total = softmax
    mixed = min(1.0, n_arms * rate)
    own = math.exp(rate * (gains[i, arm] + t * offers[i, arm] - highest))
    return (1.0 - mixed) * own / total + mixed / n_arms


@compiled
def low_regret_arm(rules: Array, copies: Array, arms: Array, plays: Array, gains: Array, offers: Array, i: int) -> int:
    """What UCB, Thompson sampling or EXP3 plays, told the incentives; see :mod:`pa_env.agents`."""
    agent, key, t, n_arms = rules[0].agent, copies[i].episode_key, copies[i].t + 1, offers.shape[1]
    if agent == EXP3:
        left = uniform(key, place(EXPLORE, t))
        softmax = exp3_softmax(copies, gains, offers, i)  # once: its sum is over all arms
        for b in range(n_arms - 1):
            left -= exp3_probability(copies, gains, offers, i, b, softmax)
            if left < 0.0:
                return b
        return n_arms - 1
    arm, best = 0, -np.inf
    for b in range(n_arms):
        index = arms[i, MEAN, b] + offers[i, b]
        if agent == THOMPSON:
            round_key = draw(key, place(EXPLORE_ARM, t))
            index += normals(draw(round_key, b + 1))[0] / math.sqrt(plays[i, b] + 1.0)
        elif plays[i, b] == 0:
            index = np.inf
        else:
            index += math.sqrt(2.0 * math.log(t) / plays[i, b])
        if index > best:
            arm, best = b, index
    return arm


@compiled
def answer(
    rules: Array, copies: Array, arms: Array, plays: Array, gains: Any, c0: Any, offers: Array, answers: Array
) -> int:
    """Put into ``answers`` the arm that each scripted agent will play on its offer; the game does not move.

    Returns the flat index of a bad offer, and answers nothing, or -1.
    """
    bad = first_bad(offers, rules[0].max_incentive)
    if bad < 0:
        for i in range(offers.shape[0]):
            arm, best, _, _, _ = greedy(rules, copies, arms, offers, i)
            if gains is not None:
                arm = low_regret_arm(rules, copies, arms, plays, gains, offers, i)
            if c0 is not None and explores(copies, i, c0):
                explored = explored_arm(rules, copies, arms, offers, i, best)
                arm = explored if explored >= 0 else arm
            answers[i] = arm
    return bad


@compiled
def random_offers(max_incentive: float, copies: Array, offers: Array) -> None:
    """A random amount on a random arm, for each copy: the follower's default principal."""
    for i in range(offers.shape[0]):
        for b in range(offers.shape[1]):
            offers[i, b] = 0.0
        at = place(OFFER, 2 * copies[i].t + 1)
        arm = int(uniform(copies[i].episode_key, at) * offers.shape[1])
        offers[i, arm] = uniform(copies[i].episode_key, at + 1) * max_incentive


# ------------------------------------------------------------------------------- ordinary least squares
# Rows of `linear` (copies, k + 3d + 4, d): the arms (k), an orthonormal basis of the arms played so far (d), the
# Gram matrix (d) and its Cholesky factor (d) in that basis, moment, estimate; s, nu.
# The minimum-norm estimate, which the Moore-Penrose inverse gives, lies in the span of what was played.


@compiled
def extend_basis(copies: Array, arms: Array, linear: Array, i: int, arm: int) -> None:
    """Add to the basis what the arm has outside the span of those played before (Gram-Schmidt, twice)."""
    basis, dim, rank = arms.shape[2], linear.shape[2], copies[i].rank
    fresh = basis + rank
    for k in range(dim):
        linear[i, fresh, k] = linear[i, arm, k]
    for _ in range(2):
        for j in range(basis, fresh):
            along = 0.0
            for k in range(dim):
                along += linear[i, fresh, k] * linear[i, j, k]
            for k in range(dim):
                linear[i, fresh, k] -= along * linear[i, j, k]
    square = 0.0
    for k in range(dim):
        square += linear[i, fresh, k] ** 2
    norm = math.sqrt(square)
    if norm <= SPAN_TOLERANCE:
        return
    for k in range(dim):
        linear[i, fresh, k] /= norm
    for b in range(arms.shape[2]):
        arms[i, COORDINATES + rank, b] = 0.0
        for k in range(dim):
            arms[i, COORDINATES + rank, b] += linear[i, b, k] * linear[i, fresh, k]
    copies[i].rank = rank + 1


@compiled
def learn_linear(copies: Array, arms: Array, linear: Array, i: int, arm: int, reward: float) -> None:
    """Take in one reward and set every arm's mean to its least-squares estimate <shat, a>."""
    n_arms, dim = arms.shape[2], linear.shape[2]
    if copies[i].rank < dim:
        extend_basis(copies, arms, linear, i, arm)
    rank, gram = copies[i].rank, n_arms + dim
    factor, moment = gram + dim, gram + 2 * dim
    estimate = moment + 1
    for j in range(rank):
        here = arms[i, COORDINATES + j, arm]
        linear[i, moment, j] += reward * here
        for k in range(j + 1):
            linear[i, gram + j, k] += here * arms[i, COORDINATES + k, arm]
    for j in range(rank):  # Cholesky, with the forward substitution on the way
        for k in range(j + 1):
            value = linear[i, gram + j, k]
            for m in range(k):
                value -= linear[i, factor + j, m] * linear[i, factor + k, m]
            linear[i, factor + j, k] = math.sqrt(value) if j == k else value / linear[i, factor + k, k]
        value = linear[i, moment, j]
        for m in range(j):
            value -= linear[i, factor + j, m] * linear[i, estimate, m]
        linear[i, estimate, j] = value / linear[i, factor + j, j]
    for j in range(rank - 1, -1, -1):
        value = linear[i, estimate, j]
        for m in range(j + 1, rank):
            value -= linear[i, factor + m, j] * linear[i, estimate, m]
        linear[i, estimate, j] = value / linear[i, factor + j, j]
    for b in range(n_arms):
        arms[i, MEAN, b] = 0.0
    for k in range(rank):
        weight = linear[i, estimate, k]
        for b in range(n_arms):
            arms[i, MEAN, b] += weight * arms[i, COORDINATES + k, b]


# ----------------------------------------------------------------------------------------- the round


@inlined
def note(
    rules: Array, copies: Array, arms: Array, plays: Array, summary: Array, offers: Array, i: int, arm: int, x: float
) -> None:
    """Bring the principal's summary up to date: only what a round changes is written."""
    n_arms, horizon = offers.shape[1], rules[0].horizon
    refused, accepted = 3 * n_arms, 4 * n_arms
    summary[i, copies[i].arm] = 0.0
    summary[i, arm] = 1.0
    summary[i, n_arms + arm] = arms[i, PRINCIPAL_SUM, arm] / plays[i, arm]
    summary[i, 2 * n_arms + arm] = plays[i, arm] / horizon
    paid = np.float32(offers[i, arm])
    low, high = min(summary[i, refused + arm], paid), min(summary[i, accepted + arm], paid)
    for b in range(n_arms):
        offered = np.float32(offers[i, b])
        summary[i, refused + b] = max(summary[i, refused + b], offered)
        summary[i, accepted + b] = max(summary[i, accepted + b], offered)
        summary[i, 5 * n_arms + b] = offered
    summary[i, refused + arm], summary[i, accepted + arm] = low, high
    summary[i, 6 * n_arms] = x
    summary[i, 6 * n_arms + 1] = copies[i].t / horizon


@compiled
def play(
    rules: Array,
    copies: Array,
    arms: Array,
    plays: Array,
    totals: Array,
    linear: Any,
    summary: Any,
    scratch: Array,
    gains: Any,
    c0: Any,
    offers: Array,
    rounds: Array,
    forced: Array,
    stop: Any,
    results: Any,
) -> int:
    """Play ``rounds[i]`` rounds of copy ``i`` with ``offers[i]`` held.

    A bad offer anywhere: nothing is played, and its flat index is returned; otherwise -1.

    ``linear``, ``summary``, ``gains``, ``c0``, ``stop`` are None where the game is i.i.d., nobody observes, the agent
    is greedy, does not explore, and the offer is held to the end; Numba then leaves out the code for it.

    ``forced[i]``: the arm played whatever the scripted agent would do, or NOBODY.
    ``stop``: TARGET .. WITHDRAWN below, for one copy: the offer, held for Y rounds so far with so many misses of
    the target arm, is withdrawn once misses > alpha sqrt(Y) + beta / sqrt(Y). Y, misses and the mark move along.
    ``results``: what the last round of each copy was; None where nobody asks, as when more than one is played.
    """
    bad = first_bad(offers, rules[0].max_incentive)
    if bad >= 0:
        return bad
    n_arms, learns = offers.shape[1], rules[0].agent == LEARNER or rules[0].agent >= UCB
    i, begun, block, misses, held = 0, copies[0].t, 1, 0, 0
    if stop is not None:
        held, misses = int(stop[HELD]), int(stop[MISSES])
    while i < offers.shape[0]:  # a stretch of one arm at a time; flat, because nested loops spill registers
        if i < 0:  # never; told to the compiler, which then leaves out the code for negative indices
            break
        t, end = copies[i].t, begun + rounds[i]
        if t < end:
            arm, best, highest, joint, offered = greedy(rules, copies, arms, offers, i)
            if gains is not None:
                arm = low_regret_arm(rules, copies, arms, plays, gains, offers, i)
            if c0 is not None and explores(copies, i, c0):
                explored = explored_arm(rules, copies, arms, offers, i, best)
                arm = explored if explored >= 0 else arm
            if forced[i] >= 0:
                arm = forced[i]
            if arm < 0:  # never, as above
                break
            deviates = arms[i, MEAN, arm] + offers[i, arm] < best
            if deviates:
                copies[i].cursor = arm + 1

            size = 1
            if linear is None and gains is None:
                if end - t > 1 and not deviates and forced[i] < 0:
                    size = min(block, end - t, FLUSH - t % FLUSH)
                    block = min(4 * block, BLOCK)
                    if c0 is not None and size > 1:
                        size = rounds_before_exploring(copies, i, c0, size, scratch)
            rival, highest_other, joint_other = -np.inf, highest, joint
            if size > 1:  # what the other arms have to say, once for as long as this one wins
                highest_other = joint_other = -np.inf
                for b in range(n_arms):
                    if b != arm:
                        rival = max(rival, arms[i, MEAN, b] + offers[i, b])
                        highest_other = max(highest_other, arms[i, MEAN, b])
                        joint_other = max(joint_other, arms[i, MEAN, b] + arms[i, THETA, b])

            theta, mean, n = arms[i, THETA, arm], arms[i, MEAN, arm], plays[i, arm]
            agent_sum, principal_sum = arms[i, AGENT_SUM, arm], arms[i, PRINCIPAL_SUM, arm]
            utility_sum, expected_sum = totals[i, 1, UTILITY], totals[i, 1, EXPECTED_UTILITY]
            regret_sum, overpayment_sum = totals[i, 1, REGRET], totals[i, 1, OVERPAYMENT]
            oracle_sum, bar_sum = totals[i, 1, REGRET_ORACLE], totals[i, 1, REGRET_BAR]
            paid = offers[i, arm]
            net = theta - paid
            oracle, bar = copies[i].benchmark - net, copies[i].benchmark - theta + offered
            watched = False
            if stop is not None:  # beyond Y = 2 beta / alpha the threshold only rises: only a miss can cross it
                watched = arm != stop[TARGET] or (misses > 0 and (held + t - begun) * stop[ALPHA] <= 2.0 * stop[BETA_])
            draw_rewards(copies, i, arm, theta, arms[i, MU, arm], n + 1, scratch, size)
            x = r = regret = 0.0
            for j in range(size):
                highest = max(highest_other, mean)
                regret = max(joint_other, theta + mean) - highest - net
                x, r = scratch[0, j], scratch[1, j]
                n += 1
                t += 1
                principal_sum += x
                utility_sum += x - paid
                expected_sum += net
                regret_sum += regret
                oracle_sum += oracle
                bar_sum += bar
                overpayment_sum += max(0.0, paid - (highest - mean))
                if learns:
                    agent_sum += r
                    mean = agent_sum / n
                if stop is not None and watched:
                    misses += arm != stop[TARGET]
                    width = math.sqrt(held + t - begun)
                    if misses > stop[ALPHA] * width + stop[BETA_] / width:
                        stop[WITHDRAWN] = 1.0
                        end = t
                        break
                if not mean + paid > rival:
                    block = 1
                    break

            if results is not None:
                results[i, UTILITY], results[i, EXPECTED_UTILITY] = x - paid, net
                results[i, REGRET], results[i, REGRET_ORACLE], results[i, REGRET_BAR] = regret, oracle, bar
                results[i, ARM], results[i, REWARD_PRINCIPAL], results[i, REWARD_AGENT] = arm, x, r
                for b in range(n_arms):
                    results[i, OPTIMAL + b] = highest - arms[i, MEAN, b]
            if gains is not None and rules[0].agent == EXP3:
                softmax = exp3_softmax(copies, gains, offers, i)
                gains[i, arm] += r / exp3_probability(copies, gains, offers, i, arm, softmax)
            plays[i, arm], arms[i, PRINCIPAL_SUM, arm], copies[i].t = n, principal_sum, t
            if linear is None:
                arms[i, MEAN, arm], arms[i, AGENT_SUM, arm] = mean, agent_sum
            elif learns:
                learn_linear(copies, arms, linear, i, arm, r)
            totals[i, 1, UTILITY], totals[i, 1, EXPECTED_UTILITY] = utility_sum, expected_sum
            totals[i, 1, REGRET], totals[i, 1, OVERPAYMENT] = regret_sum, overpayment_sum
            totals[i, 1, REGRET_ORACLE], totals[i, 1, REGRET_BAR] = oracle_sum, bar_sum
            if t % FLUSH == 0:
                for k in range(6):
                    totals[i, 0, k] += totals[i, 1, k]
                    totals[i, 1, k] = 0.0
            if summary is not None:
                note(rules, copies, arms, plays, summary, offers, i, arm, x)
            copies[i].arm = arm
        if t == end:
            if stop is not None:
                stop[HELD], stop[MISSES] = held + t - begun, misses
            i += 1
            if i < offers.shape[0]:
                begun, block = copies[i].t, 1
    return -1


def follow(
    rules: Array,
    copies: Array,
    arms: Array,
    plays: Array,
    totals: Array,
    linear: Any,
    scratch: Array,
    gains: Any,
    c0: Any,
    rule: Any,
    memory: Array,
    offers: Array,
    one: Array,
    nobody: Array,
    results: Array,
    rounds: int,
) -> int:
    """Play ``rounds`` rounds of one copy with offers made anew each round by a compiled rule.

    ``rule(memory, plays, sums, arm, reward, offer) -> target`` is told the principal's own counts and reward sums,
    the arm and reward X of the round before (NOBODY at first), writes the next offer, and says which arm it is for,
    or NOBODY. Returns the misses of the targets, or -1 - (flat index of a bad offer), at which it stops. The last
    round is in ``results``. Compiled by :func:`pa_env.game.compiled_follow`, which knows the types.
    """
    misses = 0
    for _ in range(rounds):
        arm, reward = int(results[0, ARM]), results[0, REWARD_PRINCIPAL]
        target = rule(memory, plays[0], arms[0, PRINCIPAL_SUM], arm, reward, offers[0])
        bad = play(
            rules, copies, arms, plays, totals, linear, None, scratch, gains, c0, offers, one, nobody, None, results
        )
        if bad >= 0:
            return -1 - bad
        if target >= 0 and target != results[0, ARM]:
            misses += 1
    return misses
