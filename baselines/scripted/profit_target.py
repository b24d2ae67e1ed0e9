"""Sell the firm: offer every arm what it is worth less a fixed profit, and let the agent choose.

That the agent should keep what she produces and pay a fixed price for it is folklore of contract theory. The learning
of the price is ours: there is no paper behind it and no proof, only measurements.

**Beliefs.** The agent's mean muhat_a(t) of each arm is taken to be N(m_a, v_a), from N(0, 1e-4). After round t

1. *the answer A to the offer pi* says muhat_A + pi_A >= muhat_b + pi_b for every b: a probit update, pair by pair in
   the order of b. With s^2 = v_A + v_b, x = (m_A + pi_A - m_b - pi_b) / s (nothing is learned from x >= 4) and
   h = phi(x) / Phi(x) (-x - 1/x below x = -5), m_A rises by h v_A / s, m_b falls by h v_b / s, and v_A, v_b lose the
   share h (h + x) v / s^2, where h (h + x) is at most .95.
2. *or she explored*, with prior probability e = (explorations so far + ``suspicion``) / (t + 20), at most 1/2 and at
   most sqrt(log(2t) / t): the posterior w is e/K : (1 - e) prod_b Phi(x_b), over the x_b < 4 before any pair has moved.
   Step 1 is taken for 1 - w of its length, and the variance of this mixture, w (1 - w) times the step squared, is
   added: an answer that the beliefs rule out hardly moves them. An arm never played that is refused against
   expectation, x < -1, gets twice the larger of v_A and v_b in its pair, where x stays as it was: an agent that did not
   have to learn knows more of it than we think.
3. variances grow by the factor 1 + ``forgetting`` / (t + 100), so that no belief is for ever; but double if this was
   the second answer in a row with w > 1/2, since then it is the beliefs that are wrong. They stay below 1/4, and m in
   [-1, 2], where every mean is.
4. *the agent learns* what we do not see. R has mean p = (N m + 1) / (N + 2) in [0, 1], so m_A moves to
   (N m_A + p) / (N + 1), v_A shrinks as m_A does, by the square of N (N + 3) / ((N + 1) (N + 2)), and grows by
   ``drift`` max(.05, p (1 - p)) / (N + 1)^2; N counts the plays before.

**Offer.** With S_a the sum of the rewards X of the N_a plays, an arm is worth g_a = (S_a + 1) / (N_a + 2) +
``bonus`` (1 - t/T)^``fade`` sqrt((1 + ``growth`` log(1 + t/1000)) / (N_a + 2)), but the bonus does not lift it above
``ceiling``, the largest mean there may be: what is not worth a trial even so is left alone. Let a = argmax g + m. It
costs pi_a = max(0, max_b m_b - m_a + z s) with s^2 = v_a + v_b and z = sqrt(2 log(1 + ``caution`` D/s)), where D =
max(0, g_a + m_a - g_b - m_b) is what is lost if b is played instead: the price that minimises z s + D Phi(-z),
overpayment plus risk of a refusal, has about this form. The profit is c = g_a - pi_a, and every arm is offered
max(0, g_b - c).

**Tests.** Exploration that favours an arm looks like a liking for it, and a price that is too high is never refused.
So after every second exploration (in sum of w), and after 1000 rounds and then whenever t has grown by 30 %, the price
of one round is cut by a quarter, an eighth or a half in turn, and the profit c rises by as much; and again as long as
the arm is played: by then the beliefs have been surprised often enough to follow.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from baselines.protocol import Floats, Principal, Rounds, follow
from pa_env.checks import at_least
from pa_env.compiling import compiled, inlined
from pa_env.game import RULE

# Memory of the rule: these numbers, then blocks of n_arms: m, v, the last offer, x and Phi(x) of the last answer.
T_, TIME, EXPLORED, RUN, TESTS, TESTED, NEXT_TEST = range(7)
BONUS, FADE, GROWTH, CAUTION, DRIFT, SUSPICION, FORGETTING, CEILING, OPTIMISM = range(7, 16)
BELIEFS = 16

NO_ARM = -2.0  # as the arm tested: not even the -1 that is told before the first round
EVERY_ARM = -1.0  # as optimism: pay all arms
SURE = 4.0  # standard deviations beyond which an answer says nothing new
FIRST_VARIANCE = 1e-4  # of the agent's mean before the first play: about 0
SMALLEST = 1e-10  # variance of a difference, so that ties are broken and nothing is divided by 0
LARGEST = 0.25  # variance after surprises: that of a coin
WARM_UP = 20.0  # rounds that the share of exploration is spread over at first
FORGETTING_FROM = 100.0  # rounds, so that the first ones are not all doubt
TEST_EVERY = 2.0  # explorations for each test of a lower price
TEST_FROM, TEST_AGAIN = 1000.0, 1.3  # the round of the first test without a reason, and when the next is: times this
SETTLED = 1000.0  # rounds after which the bonus begins to grow


@inlined
def lead(memory: Any, n_arms: int, a: int, b: int) -> Any:
    """By how many standard deviations arm ``a`` was believed to beat arm ``b`` at the last offer; at most ``SURE``."""
    m, v, pi = BELIEFS, BELIEFS + n_arms, BELIEFS + 2 * n_arms
    gap = memory[m + a] + memory[pi + a] - memory[m + b] - memory[pi + b]
    both = memory[v + a] + memory[v + b] + SMALLEST
    if gap > 0.0 and gap * gap >= SURE * SURE * both:  # most arms of most rounds: no root is taken for them
        return SURE
    return gap / math.sqrt(both)


@inlined
def hear(memory: Any, plays: Any, n_arms: int, arm: int) -> None:
    """Take in that the agent answered the last offer with ``arm``."""
    m, v, leads, odds, t = BELIEFS, BELIEFS + n_arms, BELIEFS + 3 * n_arms, BELIEFS + 4 * n_arms, memory[TIME]
    share = (memory[EXPLORED] + memory[SUSPICION]) / (t + WARM_UP)
    if share * share * t > 0.25:  # it may be more than an agent with c0 = 1 explores
        share = min(share, 0.5, math.sqrt(math.log(2.0 * t) / t))
    likely = 1.0
    for b in range(n_arms):
        x = lead(memory, n_arms, arm, b) if b != arm else SURE
        memory[leads + b] = x
        if x < SURE:
            memory[odds + b] = 0.5 * math.erfc(-x / math.sqrt(2.0))
            likely *= memory[odds + b]
    explored = share / n_arms / ((1.0 - share) * likely + share / n_arms)
    memory[EXPLORED] += explored
    memory[RUN] = memory[RUN] + 1.0 if explored > 0.5 else 0.0
    weight, moved = 1.0 - explored, False
    for b in range(n_arms):
        x = lead(memory, n_arms, arm, b) if moved and b != arm else memory[leads + b]
        if x < SURE:
            if x < -1.0 and plays[b] == 0:  # she may know more of an arm than its plays can have told her
                memory[v + b] = 2.0 * max(memory[v + arm], memory[v + b])
            va, vb = memory[v + arm], memory[v + b]
            both = va + vb + SMALLEST
            hazard = -x - 1.0 / x if x < -5.0 else 0.0  # phi/Phi, by its tail where that is all there is
            if x >= -5.0:
                below = 0.5 * math.erfc(-x / math.sqrt(2.0)) if moved else memory[odds + b]
                hazard = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi) / below
            shrink = min(0.95, hazard * (hazard + x)) / both
            up, down = va / math.sqrt(both) * hazard, vb / math.sqrt(both) * hazard
            memory[m + arm] += weight * up
            memory[m + b] -= weight * down
            memory[v + arm] = va * (1.0 - weight * va * shrink) + weight * explored * up * up
            memory[v + b] = vb * (1.0 - weight * vb * shrink) + weight * explored * down * down
            moved = True
    doubt = 1.0 + memory[FORGETTING] / (memory[TIME] + FORGETTING_FROM)
    if memory[RUN] >= 2.0:  # surprised twice in a row: more likely wrong than unlucky
        doubt = 2.0
    for b in range(n_arms):
        memory[v + b] = min(LARGEST, doubt * memory[v + b] + SMALLEST)
        memory[m + b] = min(2.0, max(-1.0, memory[m + b]))


@inlined
def learn(memory: Any, n_arms: int, arm: int, n: int) -> None:
    """Move the belief as the agent's mean moves with a reward unseen by us, after ``n`` plays before."""
    m, v = BELIEFS + arm, BELIEFS + n_arms + arm
    p = min(1.0, max(0.0, (n * memory[m] + 1.0) / (n + 2.0)))
    memory[m] = (n * memory[m] + p) / (n + 1.0)
    keep = n * (n + 3.0) / ((n + 1.0) * (n + 2.0))
    memory[v] = keep * keep * memory[v] + memory[DRIFT] * max(0.05, p * (1.0 - p)) / ((n + 1.0) * (n + 1.0))


@inlined
def value(memory: Any, plays: Any, sums: Any, a: int, scale: float) -> Any:
    """g_a = (S_a + 1) / (N_a + 2) + bonus_a, where the bonus does not lift it above the ceiling."""
    n = plays[a] + 2.0
    estimate = (sums[a] + 1.0) / n
    return max(estimate, min(memory[CEILING], estimate + scale / math.sqrt(n)))


@inlined
def price(memory: Any, n_arms: int, a: int, worth: Any, highest: float) -> float:
    """What arm ``a`` must be paid to win, with a margin for doubt, or ``highest`` if more; ``worth`` holds g."""
    m, v = BELIEFS, BELIEFS + n_arms
    for b in range(n_arms):
        both = memory[v + a] + memory[v + b] + SMALLEST
        gap = memory[m + b] - memory[m + a]
        risk = memory[CAUTION] * max(0.0, worth[a] - worth[b] - gap)
        short = (highest - gap) * (highest - gap)
        # z^2 <= 2 risk / s: most arms cannot be the dearest, and neither root nor logarithm is taken for them.
        if b != a and (gap > highest or short * short < 4.0 * risk * risk * both):
            s = math.sqrt(both)
            highest = max(highest, gap + math.sqrt(2.0 * math.log(1.0 + risk / s)) * s)
    return highest


@inlined
def hopeful(memory: Any, n_arms: int, worth: Any) -> int:
    """The arm with the largest g_a - (the least it may cost, at the favourable ends of the brackets)."""
    m, v, k = BELIEFS, BELIEFS + n_arms, memory[OPTIMISM]
    first = second = -np.inf  # the two highest lower ends
    top = 0
    for b in range(n_arms):
        low = memory[m + b] - k * math.sqrt(memory[v + b])
        if low > first:
            first, second, top = low, first, b
        elif low > second:
            second = low
    choice, best = 0, -np.inf
    for b in range(n_arms):
        rival = second if b == top else first
        net = worth[b] - max(0.0, rival - memory[m + b] - k * math.sqrt(memory[v + b]))
        if net > best:
            choice, best = b, net
        elif net == best and memory[m + b] > memory[m + choice]:
            choice = b
    return choice


@functools.cache
def belief_rule() -> Callable[..., int]:
    """The rule of both principals; ``memory`` comes from :func:`fresh_memory`."""

    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        K, m, pi = offer.size, BELIEFS, BELIEFS + 2 * offer.size
        if arm >= 0:
            hear(memory, plays, K, arm)
            learn(memory, K, arm, plays[arm] - 1)
        t = memory[TIME]
        scale = memory[BONUS] * max(0.0, 1.0 - t / memory[T_]) ** memory[FADE]
        scale *= math.sqrt(1.0 + memory[GROWTH] * math.log(1.0 + t / SETTLED))
        a = 0
        for b in range(K):
            offer[b] = value(memory, plays, sums, b, scale)
            if offer[b] + memory[m + b] > offer[a] + memory[m + a]:
                a = b
        amount = price(memory, K, a, offer, 0.0)
        c = offer[a] - amount  # the profit
        again = arm == memory[TESTED]  # a test that was taken is repeated
        due = t >= memory[NEXT_TEST]
        testing = again or due or memory[EXPLORED] >= TEST_EVERY * (memory[TESTS] + 1.0)
        if memory[OPTIMISM] >= 0.0:
            choice = hopeful(memory, K, offer)
            if choice != a:  # worth a test at the same profit
                a, amount = choice, max(0.0, min(offer[choice] - c, price(memory, K, choice, offer, 0.0)))
            c = np.inf
        if due:
            memory[NEXT_TEST] = TEST_AGAIN * t
        memory[TESTED] = NO_ARM
        if testing:
            memory[TESTS] += 0.0 if again else 1.0
            cut = amount * 0.5 ** (1.0 + memory[TESTS] % 3.0)
            memory[TESTED] = a if cut > 0.0 else NO_ARM
            amount -= cut
            c += cut
        for b in range(K):
            offer[b] = amount if b == a else max(0.0, offer[b] - c)
            memory[pi + b] = offer[b]
        memory[TIME] = t + 1.0
        return a

    return compiled(rule, RULE)


def fresh_memory(n_arms: int, horizon: int, parameters: dict[str, float], optimism: float) -> Floats:
    """The rule's memory before the first round."""
    memory = np.zeros(BELIEFS + 5 * n_arms)
    memory[T_] = horizon
    memory[TESTED], memory[NEXT_TEST] = NO_ARM, TEST_FROM
    memory[BONUS:BELIEFS] = *(parameters[name] for name in PARAMETERS), optimism
    memory[BELIEFS + n_arms : BELIEFS + 2 * n_arms] = FIRST_VARIANCE
    return memory


PARAMETERS = ("bonus", "fade", "growth", "caution", "drift", "suspicion", "forgetting", "ceiling")


class ProfitTarget(Principal):
    """Offer max(0, theta_hat_a + bonus_a - c) on all arms: the profit is c whichever of them is played.

    The agent, who maximises muhat + pi, then plays the arm with the largest muhat_a + theta_hat_a + bonus_a by
    herself, as long as c is not too much to ask: the best of both, though we never see muhat. Too high a c loses the
    round to her favourite arm; too low a c is overpaid, by just as much. See the module for the formulas.

    ``bonus``, ``fade``, ``growth``: optimism about theta. ``caution``: of a refusal. ``drift``: variance of the
    agent's rewards, relative to a coin's. ``suspicion``: explorations expected beforehand. ``forgetting``: see
    the module. ``ceiling``: the largest mean reward there may be. One set of defaults serves all K and T. But for the
    ceiling they are, rounded, the result of

        python -m baselines tune profit-target --task all --trials 60

    R_T on uniform instances against the empirical-mean agent, K = 5: 2.4 at T = 200 (3000 seeds), 4.4 at 10^3 (2000),
    8.3 at 10^4 (300), 24 at 10^5 (100), 126 at 10^6 (50), where the best of elimination with practical constants, IPA
    and no incentive has 1088, 4754 and 12080 at the last three; K = 20: 17 at 10^4 (60), 23 at 10^5 (30), 57 at 10^6
    (15) against 1289, 13098 and 29441. Against the exploratory agent 213 at 10^4 (100) and 3066 at 10^6 (12), where no
    incentive has 1219 and exploratory, practical, 60337; against the oracle agent 75 at 10^4 (300) and 402 at 10^6
    (50), where IPA has 274 and 756. All are from commands such as

        pa-bench run --task k5-t1e4-uniform --principal profit-target --principal zero --seeds 300

    Where it fails: there is no proof, so no bound on the rare episodes in which a good arm's first rewards are bad, or
    a belief is wrong and sure of itself. They hold most of the mean regret: its median at T = 10^6 is below 1. The
    ceiling keeps R_T low, not utility high: an agent that is made to try more arms may earn more for both. Where the
    agent's favourite is best for both from the start, as in most ``gap`` instances, whatever is tried is lost (35 at
    T = 10^4, K = 5, and 276 at K = 20; no incentive has less than 1). An agent whose exploration goes to the arm that
    is worst for us is taken, for a while, for one that likes it. Rewards noisier than a coin, such as unit Gaussians,
    want more ``bonus`` and ``drift``. Rbar_T charges it for offers that nobody takes.
    """

    name = "profit-target"

    def __init__(
        self,
        n_arms: int,
        horizon: int,
        bonus: float = 0.59,
        fade: float = 0.84,
        growth: float = 0.81,
        caution: float = 0.15,
        drift: float = 0.64,
        suspicion: float = 0.056,
        forgetting: float = 5.5,
        ceiling: float = 1.0,
    ) -> None:
        self.parameters = {
            "bonus": at_least("bonus", bonus, 0.0),
            "fade": at_least("fade", fade, 0.0),
            "growth": at_least("growth", growth, 0.0),
            "caution": at_least("caution", caution, 0.0),
            "drift": at_least("drift", drift, 0.0, strictly=True),
            "suspicion": at_least("suspicion", suspicion, 0.0, strictly=True),
            "forgetting": at_least("forgetting", forgetting, 0.0),
            "ceiling": at_least("ceiling", ceiling, 0.0),
        }
        self.optimism = EVERY_ARM
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """One request for the whole game."""
        memory = fresh_memory(self.n_arms, self.horizon, self.parameters, self.optimism)
        yield follow(belief_rule(), memory, self.horizon)
