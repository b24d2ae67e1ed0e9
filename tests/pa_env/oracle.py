"""A second game, plain and slow, to hold the compiled one against.

It is written from the papers and from what :mod:`pa_env` documents, one round at a time, in Python numbers: hardly
anything is carried along that can be worked out from the history. The model and the three regrets are those of
Liu & Ratliff (ICML 2025), section 2 and the appendix that compares notions of regret.
"""

import math
import operator
from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np

from pa_env import IID, Linear, ScriptedAgent

# Streams of an episode's draws; from REWARDS on two an arm, the principal's and the agent's.
INSTANCE, EXPLORE, EXPLORE_ARM, TIE, OFFER, REWARDS = range(6)


def total(numbers: Iterable[float], start: float = 0.0) -> float:
    """A plain running sum; Python's own ``sum`` compensates rounding from 3.12 on."""
    return reduce(operator.add, numbers, start)


def splitmix(key: int, n: int) -> int:
    """The n-th output of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) seeded with ``key``."""
    z = (key + n * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def uniform(key: int, n: int) -> float:
    return (splitmix(key, n) >> 11) / 2**53


def at(stream: int, n: int) -> int:
    return stream * 2**40 + n


def episode_key(seed: int, episode: int) -> int:
    return splitmix(int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]), episode)


def normals(key: int) -> tuple[float, float]:
    """Two standard normal numbers (Box & Muller, 1958)."""
    radius = math.sqrt(-2 * math.log(1 - uniform(key, 1)))
    angle = 2 * math.pi * uniform(key, 2)
    return radius * math.cos(angle), radius * math.sin(angle)


def gamma(key: int, shape: float) -> float:
    """Marsaglia & Tsang (2000); below shape 1, a Gamma(shape + 1) number times U^(1 / shape)."""
    d = shape + 2 / 3 if shape < 1 else shape - 1 / 3
    for n in range(2, 1000, 2):
        z = normals(splitmix(key, n))[0]
        root = 1 + z / math.sqrt(9 * d)
        v = root * root * root
        if v > 0 and math.log(1 - uniform(key, n + 1)) < 0.5 * z * z + d - d * v + d * math.log(v):
            break
    return d * v * (1 - uniform(key, 1)) ** (1 / shape) if shape < 1 else d * v


def beta(key: int, mean: float, concentration: float = 2) -> float:
    """Beta(c mean, c (1 - mean)); the mean itself where it is 0 or 1."""
    if mean in (0, 1):
        return mean
    a, b = gamma(splitmix(key, 1), concentration * mean), gamma(splitmix(key, 2), concentration * (1 - mean))
    return a / (a + b) if a + b > 0 else mean


def draw_instance(family: str, key: int, k: int, horizon: int, dim: int = 0) -> IID | Linear:
    """The instance that a family gives to an episode."""
    if family == "unit-ball":
        vectors = []
        for a in range(k + 2):
            first = 1 + a * (dim + 1)
            direction = np.array([normals(splitmix(key, first + j))[0] for j in range(dim)])
            vectors.append(direction / np.linalg.norm(direction) * uniform(key, first + dim) ** (1 / dim))
        return Linear(vectors[:k], s=vectors[k], nu=vectors[k + 1])
    u = np.array([[uniform(key, 1 + 2 * a), uniform(key, 2 + 2 * a)] for a in range(k)])
    theta, mu = u[:, 0], u[:, 1]
    if family == "misaligned":
        mu_sorted = np.sort(mu)
        mu = np.empty(k)
        mu[np.argsort(-theta)] = mu_sorted
    elif family == "gap":
        best = np.arange(k) == math.floor(uniform(key, 1 + 2 * k) * k)
        theta = 0.2 + 0.4 * theta
        theta, mu = theta + 0.1 * best, 0.8 - theta + 0.1 * best
    elif family == "minimax":
        best = np.arange(k) == math.floor(uniform(key, 1 + 2 * k) * k)
        theta = 0.25 + 0.5 * theta
        theta, mu = theta + min(0.25, math.sqrt(k / horizon) / 2) * best, 1 - theta
    elif family == "clustered":
        centres = cluster_centres(key, k)
        chosen = [math.floor(uniform(key, 1 + 2 * k + 6 + a) * 3) for a in range(k)]
        theta, mu = (centres[chosen] + 0.1 * (u - 0.5)).T
    return IID(theta=theta, mu=mu)


def cluster_centres(key: int, k: int) -> np.ndarray:
    """The three centres (theta, mu) of the family "clustered"."""
    return 0.05 + 0.9 * np.array([[uniform(key, 1 + 2 * k + 2 * c + j) for j in range(2)] for c in range(3)])


def random_offer(key: int, t: int, k: int, most: float) -> np.ndarray:
    """What the follower's default principal offers in round t."""
    offer = np.zeros(k)
    offer[math.floor(uniform(key, at(OFFER, 2 * t - 1)) * k)] = uniform(key, at(OFFER, 2 * t)) * most
    return offer


def exploration_probability(agent: ScriptedAgent, t: int) -> float:
    rate = math.log(2 * t) / t
    return min(1.0, agent.c0 * (math.sqrt(rate) if agent.exponent == 0.5 else rate**agent.exponent))


def softmax(values: Sequence[float], temperature: float) -> list[float]:
    weights = [math.exp((value - max(values)) * (1 / temperature)) for value in values]
    return [weight / total(weights) for weight in weights]


def draw_types(key: int, n_types: int, k: int) -> list[list[float]]:
    """The means of types that are not given."""
    types_key = splitmix(key, at(INSTANCE, 2**39))
    return [[uniform(types_key, 1 + j * k + a) for a in range(k)] for j in range(n_types)]


def exp3_probabilities(gains: Sequence[float], offer: Sequence[float], t: int) -> list[float]:
    """Softmax of G_a + t pi_a at the rate sqrt(log K / (K t)), mixed with the uniform distribution."""
    k = len(gains)
    rate = math.sqrt(math.log(k) / (k * t))
    worth = [gain + t * incentive for gain, incentive in zip(gains, offer, strict=True)]
    weights = [math.exp(rate * (each - max(worth))) for each in worth]
    mixed = min(1.0, k * rate)
    return [(1 - mixed) * weight / total(weights) + mixed / k for weight in weights]


def logit_response(theta: Sequence[float], means: Sequence[float], temperature: float) -> float:
    """max over pi >= 0 of sum_a P(a | pi)(theta_a - pi_a), by a search over what paid arms leave, one for all."""
    from scipy.optimize import minimize_scalar

    def loss(level: float) -> float:
        paid = [max(0.0, each - level) for each in theta]
        law = softmax([mean + p for mean, p in zip(means, paid, strict=True)], temperature)
        return -total(q * (each - p) for q, each, p in zip(law, theta, paid, strict=True))

    low, high = min(theta) - 1, max(theta)
    grid = np.linspace(low, high, 201)
    at_best = grid[min(range(201), key=lambda k: loss(grid[k]))]
    step = (high - low) / 200
    found = minimize_scalar(loss, bounds=(at_best - step, at_best + step), method="bounded", options={"xatol": 1e-11})
    return -min(found.fun, loss(high))


class Replay:
    """One episode against a scripted agent; ``history`` holds (offer, arm, X, R) of every round played."""

    def __init__(
        self, key: int, instance: IID | Linear, agent: ScriptedAgent, horizon: int, max_incentive: float
    ) -> None:
        self.key, self.instance, self.agent = key, instance, agent
        self.horizon, self.max_incentive = horizon, max_incentive
        self.k, self.mu, self.theta = instance.n_arms, instance.mu.tolist(), instance.theta.tolist()
        self.history: list[tuple[list[float], int, float, float]] = []
        self.last_deviation = -1  # the arm last played that did not maximise
        self.refused: list[int] = []  # arms that were refused by an agent that holds out
        self.type_means = self._type_means()
        self.own_regret = self.response_regret = self.expected_utility = 0.0

    def _type_means(self) -> list[list[float]]:
        if not self.agent.n_types:
            return []
        if isinstance(self.agent.types, int):
            return draw_types(self.key, self.agent.n_types, self.k)
        return [list(means) for means in self.agent.types]

    def type_at(self, t: int) -> int:
        """The type that answers in round t."""
        match self.agent.order:
            case "random":
                return math.floor(uniform(self.key, at(EXPLORE_ARM, t)) * len(self.type_means))
            case "blocks":
                return (t - 1) * len(self.type_means) // self.horizon
            case "cycle":
                return (t - 1) % len(self.type_means)
            case order:
                return order[(t - 1) % len(order)]

    def true_means(self) -> list[float]:
        """mu of the agent that answers next."""
        return self.type_means[self.type_at(min(self.t, self.horizon))] if self.type_means else self.mu

    @property
    def t(self) -> int:
        """The round to come: 1, 2, ..."""
        return len(self.history) + 1

    def rewards_of(self, arm: int) -> list[tuple[float, float]]:
        return [(x, r) for _, played, x, r in self.history if played == arm]

    def means(self) -> list[float]:
        """The agent's beliefs muhat_a(t)."""
        if self.agent.is_oracle:
            return self.true_means()
        initial = np.atleast_1d(self.agent.initial)
        if isinstance(self.instance, Linear):
            s_hat = np.broadcast_to(initial, self.instance.dim)
            if self.history:
                played = self.instance.arms[[arm for _, arm, _, _ in self.history]]
                received = np.array([r for *_, r in self.history])
                # (sum A A')^+ sum R A of the paper, without squaring the condition of the arms played.
                s_hat = np.linalg.pinv(played, rcond=1e-7) @ received
            return [
                total(s * c for s, c in zip(s_hat.tolist(), arm, strict=True)) for arm in self.instance.arms.tolist()
            ]
        means = []
        for arm, first in enumerate(np.broadcast_to(initial, self.k).tolist()):
            pulls = self.rewards_of(arm)
            means.append(total((r for _, r in pulls), first) / max(1, len(pulls)))
        return means

    def answer(self, offer: Sequence[float]) -> int:
        """The arm that the agent plays on this offer."""
        if self.agent.name == "exp3":
            return self._exp3(offer)
        if self.agent.name == "holdout":
            return self._holdout(offer)[0]
        if self.agent.name == "follow-the-leader":
            return self._payoffs().index(max(self._payoffs()))
        if self.agent.name == "hedge":
            left = uniform(self.key, at(EXPLORE, self.t))
            for arm, probability in enumerate(self._hedge_law()):
                left -= probability
                if left < 0:
                    return arm
            return self.k - 1
        if self.agent.name in ("ucb", "thompson"):
            indices = [
                mean + incentive + self._bonus(a)
                for a, (mean, incentive) in enumerate(zip(self.means(), offer, strict=True))
            ]
            return indices.index(max(indices))
        values = [mean + incentive for mean, incentive in zip(self.means(), offer, strict=True)]
        if self.agent.temperature > 0:
            left = uniform(self.key, at(EXPLORE, self.t))
            for arm, probability in enumerate(softmax(values, self.agent.temperature)):
                left -= probability
                if left < 0:
                    return arm
            return self.k - 1
        winners = [a for a in range(self.k) if values[a] == max(values)]
        others = [a for a in range(self.k) if values[a] != max(values)]
        if uniform(self.key, at(EXPLORE, self.t)) < exploration_probability(self.agent, self.t):
            candidates = self._candidates(others, offer)
            if candidates:
                return candidates[0]
        match self.agent.ties:
            case "lowest":
                return winners[0]
            case "highest":
                return winners[-1]
            case "random":
                return winners[math.floor(uniform(self.key, at(TIE, self.t)) * len(winners))]
            case "largest-incentive":
                return max(winners, key=lambda a: offer[a])  # the first of the largest
        raise AssertionError(self.agent.ties)

    def _hedge_law(self) -> list[float]:
        """How likely hedge is to play each arm now."""
        if self.agent.feedback == "offers":
            return self._hedge_softmax(self._payoffs(), self.t, 1, 0.0)
        payoffs = [0.0] * self.k
        for t, (offer, arm, _, r) in enumerate(self.history, start=1):
            payoffs[arm] += (r + offer[arm]) / self._hedge_softmax(payoffs, t, self.k, 1.0)[arm]
        return self._hedge_softmax(payoffs, self.t, self.k, 1.0)

    def _hedge_softmax(self, payoffs: list[float], t: int, slower: int, explores: float) -> list[float]:
        """Softmax of payoffs at the rate of round t, mixed with the uniform distribution if it explores."""
        rate = self.agent.rate * math.sqrt(math.log(self.k) / (slower * t))
        weights = [math.exp(rate * (payoff - max(payoffs))) for payoff in payoffs]
        mixed = explores * min(1.0, self.k * rate)
        return [(1 - mixed) * weight / total(weights) + mixed / self.k for weight in weights]

    def _payoffs(self) -> list[float]:
        """What each arm would have paid in all rounds so far, at its mean and with its incentives."""
        means, n = self.means(), len(self.history)
        return [total(offer[a] for offer, *_ in self.history) + n * means[a] for a in range(self.k)]

    def _holdout(self, offer: Sequence[float]) -> tuple[int, bool]:
        """The arm of an agent that holds out, and whether it refuses."""
        means = self.means()
        values = [mean + incentive for mean, incentive in zip(means, offer, strict=True)]
        greedy, favourite = values.index(max(values)), means.index(max(means))
        lead = max(values) - max([*values[:greedy], *values[greedy + 1 :]], default=-math.inf)
        impatient = self.refused.count(greedy) >= self.agent.patience
        refuses = greedy != favourite and lead < self.agent.margin and not impatient
        return (favourite if refuses else greedy), refuses

    def _bonus(self, arm: int) -> float:
        """What an arm is worth to UCB or Thompson sampling beyond its mean and incentive."""
        n = len(self.rewards_of(arm))
        if self.agent.name == "ucb":
            return math.sqrt(2 * math.log(self.t) / n) if n else math.inf
        round_key = splitmix(self.key, at(EXPLORE_ARM, self.t))
        return normals(splitmix(round_key, arm + 1))[0] / math.sqrt(n + 1)

    def _exp3(self, offer: Sequence[float]) -> int:
        """Gains G_a of the arms are sums of rewards over the probabilities with which they were played."""
        gains = [0.0] * self.k
        for t, (past, arm, _, r) in enumerate(self.history, start=1):
            gains[arm] += r / exp3_probabilities(gains, past, t)[arm]
        left = uniform(self.key, at(EXPLORE, self.t))
        for arm, probability in enumerate(exp3_probabilities(gains, offer, self.t)):
            left -= probability
            if left < 0:
                return arm
        return self.k - 1

    def _candidates(self, others: list[int], offer: Sequence[float]) -> list[int]:
        """The arms an exploring agent would take, the first choice first."""
        match self.agent.exploration:
            case "uniform":
                return others[math.floor(uniform(self.key, at(EXPLORE_ARM, self.t)) * len(others)) :]
            case "worst":
                return sorted(others, key=lambda a: self.theta[a] - offer[a])
            case "target":
                return sorted(others, key=lambda a: -offer[a])
            case "round-robin":
                return sorted(others, key=lambda a: (a - self.last_deviation - 1) % self.k)
            case arm:
                return [arm] if arm in others else []

    def draw(self, arm: int) -> tuple[float, float]:
        """X and R of the next pull of an arm."""
        n, theta, mu = len(self.rewards_of(arm)) + 1, self.theta[arm], self.true_means()[arm]
        x_at, r_at = at(REWARDS + 2 * arm, n), at(REWARDS + 2 * arm + 1, n)
        model, noise = ("gaussian", self.instance.noise) if isinstance(self.instance, Linear) else ("", 1.0)
        match model or self.instance.rewards:
            case "bernoulli":
                return float(uniform(self.key, x_at) < theta), float(uniform(self.key, r_at) < mu)
            case "constant":
                return float(np.float32(theta)), mu
            case "gaussian":
                x_noise, r_noise = normals(splitmix(self.key, x_at))
                return float(np.float32(theta + noise * x_noise)), mu + noise * r_noise
            case "beta":
                x, r = beta(splitmix(self.key, x_at), theta), beta(splitmix(self.key, r_at), mu)
                return float(np.float32(x)), r
        raise AssertionError(model)

    def play(self, offer: np.ndarray, arm: int | None = None) -> dict[str, object]:
        """One round; the ``info`` that it should have. ``arm``: played whatever the agent would do."""
        incentives, means = offer.tolist(), self.means()
        answer = self.answer(incentives)
        arm = answer if arm is None else arm
        values = [mean + incentive for mean, incentive in zip(means, incentives, strict=True)]
        x, r = self.draw(arm)
        arms, mu, theta = range(self.k), self.true_means(), self.theta
        optimal = [max(means) - means[a] for a in arms]
        expected = theta[arm] - incentives[arm]
        self.own_regret += max(mu[a] + incentives[a] for a in arms) - (mu[arm] + incentives[arm])
        self.response_regret += self.best_response() - expected
        agent_refuses = self.agent.name == "holdout" and self._holdout(incentives)[1]
        if values[arm] != max(values):
            self.last_deviation = arm
        self.expected_utility += expected
        if agent_refuses:
            self.refused.append(values.index(max(values)))
        self.history.append((incentives, arm, x, r))
        return {
            "arm": arm,
            "reward": x,
            "utility": x - incentives[arm],
            "expected_utility": expected,
            "regret": max(theta[a] - optimal[a] for a in arms) - expected,
            "regret_oracle": max(theta[a] - (max(mu) - mu[a]) for a in arms) - expected,
            "regret_bar": max(theta[b] + mu[b] for b in arms) - max(mu) - (theta[arm] - sum(incentives)),
            "optimal_incentives": np.array(optimal),
        }

    def best_response(self) -> float:
        """What the best offer leaves in expectation in the round to come, NaN where we do not know."""
        agent, theta, means, arms = self.agent, self.theta, self.means(), range(self.k)
        if agent.name in ("thompson", "exp3", "hedge", "follow-the-leader", "holdout"):
            return math.nan
        if agent.temperature > 0:
            return logit_response(theta, means, agent.temperature)
        if agent.name == "ucb":
            means = [mean + self._bonus(a) for a, mean in enumerate(means)]
            if max(means) == math.inf:
                return theta[means.index(math.inf)]
        nets = [theta[a] - (max(means) - means[a]) for a in arms]
        p = exploration_probability(agent, self.t)
        return max((1 - p) * nets[a] + p * self._explored_worth(a, nets[a]) for a in arms)

    def _explored_worth(self, target: int, net: float) -> float:
        """What exploration brings when the target is paid its price, and nothing (or next to it) is offered else."""
        others = [b for b in range(self.k) if b != target]
        worth = [self.theta[b] for b in others]
        if not others:
            return net
        match self.agent.exploration:
            case "uniform":
                return total(worth) / len(worth)
            case "worst":
                return min(worth)
            case "target":
                return max(worth)
            case "round-robin":
                return self.theta[min(others, key=lambda a: (a - self.last_deviation - 1) % self.k)]
            case arm:
                return net if arm == target else self.theta[arm]

    def fixed_regret(self) -> float:
        """Against the best fixed price on one arm for the types seen so far, greedy ones by their thresholds."""
        seen, best = [self.type_at(t) for t in range(1, self.t)], -math.inf
        counts = [seen.count(j) for j in range(len(self.type_means))]
        for arm in range(self.k):
            costs = [max([0.0, *(mu[b] - mu[arm] for b in range(self.k) if b != arm)]) for mu in self.type_means]
            prices: Iterable[float] = [0.0, *costs]
            if self.agent.temperature > 0:
                prices = np.linspace(0, max(0.0, self.theta[arm] - min(self.theta)), 500).tolist()
            for price in prices:
                worth = [self._priced(mu, arm, price, costs[j]) for j, mu in enumerate(self.type_means)]
                best = max(best, total(n * each for n, each in zip(counts, worth, strict=True)))
        return best - self.expected_utility

    def _priced(self, mu: list[float], arm: int, price: float, cost: float) -> float:
        """What a type leaves the principal in expectation, offered a price on one arm."""
        net = [self.theta[b] - (price if b == arm else 0.0) for b in range(self.k)]
        if self.agent.temperature > 0:
            values = [mean + (price if b == arm else 0.0) for b, mean in enumerate(mu)]
            return total(p * v for p, v in zip(softmax(values, self.agent.temperature), net, strict=True))
        others = [b for b in range(self.k) if b != arm]
        return net[arm] if price >= cost or not others else net[max(others, key=lambda b: mu[b])]

    def bracket(self, arm: int) -> tuple[float, float]:
        """Largest refused and smallest accepted offer; the newer answer counts where the two contradict."""
        refused, accepted = 0.0, self.max_incentive
        for offer, played, _, _ in self.history:
            if played == arm:
                accepted = min(accepted, offer[arm])
                refused = min(refused, accepted)
            else:
                refused = max(refused, offer[arm])
                accepted = max(accepted, refused)
        return refused, accepted

    def summary(self) -> np.ndarray:
        """The principal's observation ``"summary"``."""
        played = np.zeros(self.k)
        last_offer, last_reward = np.zeros(self.k), 0.0
        if self.history:
            last_offer, arm, last_reward, _ = self.history[-1]
            played[arm] = 1
        pulls = [[x for x, _ in self.rewards_of(a)] for a in range(self.k)]
        theta_hat = [total(xs) / len(xs) if xs else 0.0 for xs in pulls]
        shares = [len(xs) / self.horizon for xs in pulls]
        refused, accepted = zip(*(self.bracket(a) for a in range(self.k)), strict=True)
        time = len(self.history) / self.horizon
        blocks = [played, theta_hat, shares, refused, accepted, last_offer, [last_reward, time]]
        return np.concatenate(blocks).astype(np.float32)

    def agent_view(self, offer: np.ndarray) -> np.ndarray:
        """The agent's observation when this is the next offer."""
        shares = [len(self.rewards_of(a)) / self.horizon for a in range(self.k)]
        return np.concatenate([offer, self.means(), shares, [len(self.history) / self.horizon]]).astype(np.float32)
