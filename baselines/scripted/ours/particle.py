"""Track many possible agents (particles), and make the offer that is best on average over them.

It is our own algorithm, not from a paper, and has no proof. The particles are those of
:mod:`baselines.scripted.ours.particle_filter`.

**Worth.** With S_a the sum of the rewards X of the N_a plays, theta_a is estimated by e_a = (S_a + 1) / (N_a + 2). With
r = 1 - t/T, the share of rounds left, an arm is worth

    g_a = max(e_a, min(``ceiling``, e_a + ``bonus`` r^``fade`` (N_a + 2)^-``decay``))
          - r (``newness`` [N_a = 0] + ``teaching`` E[rise_a]),

where rise_a is the rise of the agent's highest mean if it plays the arm and learns. A higher mean makes other arms more
expensive.

**Offer.** The price x for arm a is accepted by the particles whose cost is at most x; the others play their favourite.
With F the weight of those that accept, and V the best value of an offer if only this round counted,

    F (g_a - x) + (1 - F) (E[g of the favourite | refused] + L V) / (1 + L)

is maximised over all arms and all costs in the particles, and compared with offering nothing. L = ``patience``
min(T - t, N_a) is the number of rounds for which the answer is useful: an accepted price need not be raised again, and
after a refused one the value V is still available. With L = 0 the rule never tries a lower price where a refusal costs
more than the saving of one round.
"""

import numpy as np

from baselines.principal import Principal, Rounds, follow
from baselines.scripted.ours.particle_filter import (
    TIE,
    Beliefs,
    ParticleEntry,
    cost,
    favourites,
    fresh_memory,
    particle_beliefs,
    update,
)
from pa_env.checks import at_least, finite, whole
from pa_env.kernel.compiling import compiled
from pa_env.kernel.layout import NO_ARM, Floats, Integers
from pa_env.memory import compiled_when_used

SMALLEST_GAIN = 1e-12  # by which an offer must be better than another


class Particle(Principal):
    """Pay one arm the best price on average over particles, each of them an agent that fits all answers so far.

    Beliefs of a learning agent start at exactly 0, and until its first success a tiny offer moves it. Gaussian beliefs,
    like those of the profit target, cannot represent that; particles that count successes can.

    Assumes that the agent is greedy, up to exploration, on means that it has learnt from 0 or knows, and that its
    rewards are 0 or 1. Rewards in [0, 1] of another law vary less than that, and what does not fit is corrected as an
    error of the particles. The principal's own rewards may have any law with means in about [0, 1].

    Guarantee: none.

    Where it fails:

    - At long horizons the profit target is better: it has a growing bonus and scheduled tests of its prices.
    - A round takes about ten times as long as the profit target's, in proportion to particles and arms.
    - The particles do not cover means outside [0, 1], such as those of an agent with initial means of 2.
    - The defaults serve R_T, not utility. They were chosen by hand, at T = 100 to 1000.

    Args:
        n_arms: Number of arms K, at least 1.
        horizon: Number of rounds T, at least 2.
        particles: Number of particles, from 1 to 100,000.
        bonus: Factor of the optimism about theta, at least 0.
        decay: Exponent with which the bonus falls with the plays of an arm, at least 0.
        fade: Exponent with which the bonus fades towards the end of the game, at least 0.
        ceiling: Upper bound on the worth of an arm with its bonus, at least 0.
        newness: What is subtracted from the worth of an arm that was never played.
        teaching: Weight of what the agent is expected to learn from an arm.
        patience: Weight of later rounds when a price is tried, at least 0.
    """

    name = "particle"
    longest = 10**4

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        particles: int = 64,
        bonus: float = 0.65,
        decay: float = 0.5,
        fade: float = 0.4,
        ceiling: float = 1.4,
        newness: float = 0.0,
        teaching: float = 0.0,
        patience: float = 0.05,
    ) -> None:
        self.particles = whole("particles", particles, 1, 100_000)
        self.parameters = {
            "bonus": at_least("bonus", bonus, 0.0),
            "decay": at_least("decay", decay, 0.0),
            "fade": at_least("fade", fade, 0.0),
            "ceiling": at_least("ceiling", ceiling, 0.0),
            "newness": finite("newness", newness),
            "teaching": finite("teaching", teaching),
            "patience": at_least("patience", patience, 0.0),
        }
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        memory = fresh_memory(self.n_arms, self.particles, self.rng, horizon=self.horizon, **self.parameters)
        yield follow(particle_rule(), memory, self.horizon)


@compiled_when_used
def particle_rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """The compiled rule."""
    beliefs = particle_beliefs(memory, offer.size)
    if arm >= 0:
        update(memory, beliefs, plays, arm)
    return make_offer(memory, beliefs, plays, sums, offer)


@compiled
def make_offer(memory: Floats, beliefs: Beliefs, plays: Integers, sums: Floats, offer: Floats) -> int:
    """Write the offer that is best on the beliefs, and return its arm."""
    favourites(beliefs)
    set_worth(memory, beliefs, plays, sums)
    status, target, price = best_offer(memory, beliefs, plays, 0.0, 0.0)
    if memory[ParticleEntry.PATIENCE] > 0.0:
        _, target, price = best_offer(memory, beliefs, plays, memory[ParticleEntry.PATIENCE], status)
    for a in range(offer.size):
        offer[a] = price if a == target else 0.0
        beliefs.offered[a] = offer[a]
    memory[ParticleEntry.TIME] += 1.0
    return target


@compiled
def set_worth(memory: Floats, beliefs: Beliefs, plays: Integers, sums: Floats) -> None:
    """Put g of every arm into ``beliefs.worth``."""
    left = max(0.0, 1.0 - memory[ParticleEntry.TIME] / memory[ParticleEntry.HORIZON])
    bonus = memory[ParticleEntry.BONUS] * left ** memory[ParticleEntry.FADE]
    for a in range(plays.size):
        n = plays[a] + 2.0
        estimate = (sums[a] + 1.0) / n
        beliefs.worth[a] = max(
            estimate, min(memory[ParticleEntry.CEILING], estimate + bonus * n ** -memory[ParticleEntry.DECAY])
        )
        if plays[a] == 0:
            beliefs.worth[a] -= left * memory[ParticleEntry.NEWNESS]
        if memory[ParticleEntry.TEACHING] != 0.0:
            beliefs.worth[a] -= left * memory[ParticleEntry.TEACHING] * expected_rise(beliefs, a, plays[a])


@compiled
def expected_rise(beliefs: Beliefs, a: int, n: int) -> float:
    """The expected rise of max muhat if arm ``a``, with ``n`` plays so far, is played."""
    total = 0.0
    for p in range(beliefs.weights.size):
        mean = beliefs.means[a, p]
        rival = beliefs.second[p] if beliefs.favourite[p] == a else beliefs.highest[p]
        chance = (n * mean + 1.0) / (n + 2.0)
        up, down = max(rival, (n * mean + 1.0) / (n + 1.0)), max(rival, n * mean / (n + 1.0))
        total += (
            beliefs.weights[p] * (1.0 - beliefs.knows[p]) * (chance * up + (1.0 - chance) * down - beliefs.highest[p])
        )
    return total


@compiled
def best_offer(
    memory: Floats, beliefs: Beliefs, plays: Integers, patience: float, status: float
) -> tuple[float, int, float]:
    """The value of the best offer with V = ``status``, its arm or NO_ARM, and its price."""
    K, P = beliefs.means.shape
    arm, price, best = NO_ARM, 0.0, 0.0
    for p in range(P):
        beliefs.short[p] = beliefs.weights[p] * beliefs.worth[int(beliefs.favourite[p])]
        best += beliefs.short[p]
    left = memory[ParticleEntry.HORIZON] - memory[ParticleEntry.TIME]
    for a in range(K):  # what each particle would bring if it were paid its own cost: no price brings more
        later = patience * min(left, plays[a])
        beliefs.bound[a] = 0.0
        for p in range(P):
            refused = (beliefs.short[p] + later * status * beliefs.weights[p]) / (1.0 + later)
            beliefs.bound[a] += max(beliefs.weights[p] * (beliefs.worth[a] - cost(beliefs, a, p)), refused)
    for _ in range(K):
        a = 0
        for b in range(1, K):
            a = b if beliefs.bound[b] > beliefs.bound[a] else a
        if beliefs.bound[a] <= best + SMALLEST_GAIN:
            break
        beliefs.bound[a] = -np.inf
        value, at = best_price(beliefs, a, patience * min(left, plays[a]), status)
        if value > best + SMALLEST_GAIN:
            arm, price, best = a, at, value
    return best, arm, price


@compiled
def best_price(beliefs: Beliefs, a: int, later: float, status: float) -> tuple[float, float]:
    """The value of the best price for arm ``a`` with L = ``later`` and V = ``status``, and the price.

    ``short`` holds the weighted worth of each particle's favourite.
    """
    accepted, refused, best, price = 0.0, 0.0, -np.inf, 0.0
    for p in range(beliefs.order.size):
        beliefs.costs[p] = cost(beliefs, a, p)
        refused += beliefs.short[p]
    sort(beliefs.order, beliefs.costs)
    for k in range(beliefs.order.size):
        p = int(beliefs.order[k])
        accepted += beliefs.weights[p]
        refused -= beliefs.short[p]
        if k + 1 < beliefs.order.size and beliefs.costs[int(beliefs.order[k + 1])] <= beliefs.costs[p] + TIE:
            continue  # particles with the same cost accept it as well
        value = accepted * (beliefs.worth[a] - beliefs.costs[p])
        value += (refused + max(0.0, 1.0 - accepted) * later * status) / (1.0 + later)
        if value > best:
            best, price = value, beliefs.costs[p]
    return best, price


@compiled
def sort(order: Floats, costs: Floats) -> None:
    """The indices of ``costs`` in increasing order, into ``order`` (Shell, 1959, with gaps 1, 4, 13, ...)."""
    size, gap = costs.size, 1
    for i in range(size):
        order[i] = i
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            moving, j = order[i], i
            while j >= gap and costs[int(order[j - gap])] > costs[int(moving)]:
                order[j] = order[j - gap]
                j -= gap
            order[j] = moving
        gap //= 3
