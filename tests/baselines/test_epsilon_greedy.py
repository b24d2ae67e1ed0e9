"""Epsilon-greedy and its robust stand-in: against plain programs, their estimates against HiGHS, their limits."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from baselines import Principal, simulate
from baselines.principal import Follow
from baselines.registry import label
from baselines.scripted.peers import epsilon_greedy, revealed_preferences, robust_epsilon_greedy
from baselines.scripted.peers.epsilon_greedy import EpsilonGreedy, GreedyEntry, padding
from baselines.scripted.peers.robust_epsilon_greedy import RobustEpsilonGreedy, learn
from pa_env import IID, make_agent
from pa_env.kernel.compiling import compiled
from pa_env.kernel.episodes import RULE

from .helpers import Floats, drive, greedy
from .plain_greedy import Plain, PlainEpsilonGreedy, PlainRobustEpsilonGreedy, least_violation, loss, smallest

VARIANTS = ("as-published", "gross", "every-round")
Agent = Callable[[Floats, np.random.Generator], int]


def memory_of(principal: Principal) -> Floats:
    """What the principal's rule remembers."""
    request = principal.request()
    assert isinstance(request, Follow)
    return request.memory


def estimate_of(principal: Principal) -> Floats:
    """s_hat."""
    module: Any = epsilon_greedy if isinstance(principal, EpsilonGreedy) else robust_epsilon_greedy
    return np.asarray(module.LAYOUT.arrays(memory_of(principal), principal.n_arms).s_hat)


def agents(mu: Any) -> dict[str, Agent]:
    """Answers that agree with each other, that sometimes do not, and that have nothing to do with the offers."""
    means = np.asarray(mu)
    return {
        "knows": lambda offer, rng: int((means + offer).argmax()),
        "errs": lambda offer, rng: int((means + offer + 0.1 * rng.random(means.size)).argmax()),
        "plays at random": lambda offer, rng: int(rng.integers(means.size)),
    }


def play_beside(principal: Principal, plain: Plain, agent: Agent, rounds: int) -> set[bool]:
    """Every offer of the principal is that of the plain one; returns whether rounds explored."""
    rng, kinds = np.random.default_rng(8), set()
    for t in range(rounds):
        offer, expected = principal.offer(), plain.offer()
        assert offer == pytest.approx(expected, abs=1e-6), t
        if not plain.explored(t) and t >= principal.n_arms:
            assert estimate_of(principal) == pytest.approx(plain.s_hat, abs=1e-6), t
        kinds.add(plain.explored(t))
        arm, reward = agent(offer, rng), float(np.float32(rng.normal(0.5)))
        principal.observe(arm, reward)
        plain.observe(offer, arm, reward)
    return kinds


def seeded(principal: Principal, seed: int) -> np.random.Generator:
    """Begin an episode; returns a generator like the principal's own."""
    principal.reset(seed=seed)
    return copy.deepcopy(principal.rng)


# -------------------------------------------------------------------------------------- against plain programs


@pytest.mark.parametrize("kind", ["knows", "errs", "plays at random"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_arms", [1, 2, 5])
def test_epsilon_greedy_makes_the_offers_of_the_plain_one(n_arms: int, variant: str, kind: str) -> None:
    principal = EpsilonGreedy(n_arms, 161, m=12, variant=variant)
    plain = PlainEpsilonGreedy(n_arms, seeded(principal, 5), 12, variant)
    agent = agents([0.35, 0.8, 0.55, 0.1, 0.6][:n_arms])[kind]
    assert play_beside(principal, plain, agent, 160) == {False, True}
    if kind != "errs":
        assert memory_of(principal)[GreedyEntry.CONTRADICTED] == (n_arms > 1 and kind == "plays at random")


@pytest.mark.parametrize("kind", ["knows", "errs", "plays at random"])
@pytest.mark.parametrize(("n_arms", "window"), [(1, 1000), (2, 1), (2, 7), (3, 1000), (5, 20)])
def test_the_stand_in_makes_the_offers_of_the_plain_one(n_arms: int, window: int, kind: str) -> None:
    principal = RobustEpsilonGreedy(n_arms, 121, m=1.5, q=0.4, window=window)
    plain = PlainRobustEpsilonGreedy(n_arms, seeded(principal, 6), 1.5, 0.4, window)
    agent = agents([0.35, 0.8, 0.55, 0.1, 0.6][:n_arms])[kind]
    assert play_beside(principal, plain, agent, 120) == {False, True}
    assert len(plain.explorations) > 25


@pytest.mark.parametrize(
    ("rule", "make"),
    [
        (epsilon_greedy.epsilon_greedy_rule, lambda K: EpsilonGreedy(K, 400, m=40, variant="every-round")),
        (epsilon_greedy.epsilon_greedy_rule, lambda K: EpsilonGreedy(K, 400, m=40)),
        (robust_epsilon_greedy.robust_rule, lambda K: RobustEpsilonGreedy(K, 400, m=2.0, window=60)),
    ],
)
def test_the_rules_stay_within_their_arrays(rule: Callable[[], Any], make: Callable[[int], Principal]) -> None:
    """Compiled once more, with checks of bounds, for whole episodes."""
    checked = compiled(rule().py_func, RULE, boundscheck=True)
    for n_arms in (1, 2, 50):
        principal = make(n_arms)
        principal.reset(seed=1)
        memory, own = memory_of(principal).copy(), memory_of(principal)
        for kind in agents(np.zeros(n_arms)).values():
            rng, offer = np.random.default_rng(2), np.zeros(n_arms)
            for _ in range(principal.horizon // 3):
                made = principal.offer()
                checked(memory, principal.plays, principal.sums, *principal.last, offer)
                assert offer.tobytes() == made.tobytes()
                principal.observe(kind(offer, rng), 0.5)
        assert memory.tobytes() == own.tobytes()
    with pytest.raises((IndexError, ValueError)):  # the check sees what it should
        checked(memory[: memory.size // 2], principal.plays, principal.sums, 1, 0.5, offer)


# -------------------------------------------------------------------------------------- estimates against HiGHS


@pytest.fixture(scope="module")
def smallest_means() -> Callable[[Floats], Floats | None]:
    inner = revealed_preferences.smallest_means

    def program(limits: Any, s: Any) -> bool:
        return inner(limits, s)

    checked = compiled(program, boundscheck=True)

    def found(limits: Floats) -> Floats | None:
        s = np.full(len(limits), np.nan)
        return s if checked(limits, s) else None

    return found


@pytest.mark.parametrize("n_arms", [1, 2, 5, 50])
def test_the_smallest_means_are_there_if_and_only_if_a_linear_program_has_a_point(
    n_arms: int, smallest_means: Callable[[Floats], Floats | None]
) -> None:
    rng, found = np.random.default_rng(n_arms), []
    for i in range(60 if n_arms < 50 else 6):
        s = rng.random(n_arms)
        limits = s - s[:, None] + rng.choice([0.001, 0.02, 0.3]) * rng.random((n_arms, n_arms))
        limits -= (i % 3 == 0) * 0.05 * (rng.random(limits.shape) < 1 / n_arms)  # some of these are contradictory
        limits[rng.random(limits.shape) < 0.4 * (i % 2)] = np.inf
        np.fill_diagonal(limits, np.inf)
        point, expected = smallest_means(limits), smallest(limits)
        assert (point is None) == (expected is None)
        if point is not None:
            assert point == pytest.approx(expected, abs=1e-7)
            assert (point - point[:, None] <= limits + 1e-9).all()
        found.append(point is not None)
    assert any(found)
    assert n_arms == 1 or not all(found)


def test_smallest_means_by_hand(smallest_means: Callable[[Floats], Floats | None]) -> None:
    inf = math.inf
    assert smallest_means(np.array([[inf, 0.4], [-0.5, inf]])) is None  # s_0 <= s_1 - .5 and s_1 <= s_0 + .4
    assert smallest_means(np.array([[inf, 0.4], [-0.4, inf]])) == pytest.approx([0.0, 0.4])
    assert smallest_means(np.array([[inf, inf], [-1.1, inf]])) is None  # nor outside [0, 1]
    assert smallest_means(np.full((3, 3), inf)).tolist() == [0, 0, 0]  # type: ignore[union-attr]
    rounded = np.array([[inf, 0.1 + 0.2], [-0.3 - 1e-16, inf]])  # a circle longer than 0 by rounding alone
    assert smallest_means(rounded) is not None


@pytest.fixture(scope="module")
def robust_estimate() -> Callable[..., list[Floats]]:
    """The s_hat after each of some answers, with a window."""
    answers_of = robust_epsilon_greedy.answers_of

    def program(memory: Any, i: int, offer: Any, arm: int) -> None:
        learn(answers_of(memory, offer.size), i, offer, arm)

    checked = compiled(program, boundscheck=True)

    def estimates(offers: Floats, played: list[int], window: int) -> list[Floats]:
        memory, found = robust_epsilon_greedy.fresh_memory(offers.shape[1], window), []
        for i, (offer, arm) in enumerate(zip(offers, played, strict=True)):
            checked(memory, i % window, offer, arm)
            found.append(robust_epsilon_greedy.LAYOUT.arrays(memory, offers.shape[1]).s_hat.copy())
        return found

    return estimates


@pytest.mark.parametrize(
    ("n_arms", "rounds", "window", "random"),
    [
        (1, 10, 4, 0.5),
        (2, 60, 9, 0.5),
        (3, 60, 60, 0.0),
        (5, 80, 30, 0.2),
        (5, 80, 80, 1.0),
        (50, 90, 40, 0.3),
        (50, 40, 40, 1.0),
    ],
)
def test_the_least_violation_is_that_of_a_linear_program(
    n_arms: int, rounds: int, window: int, random: float, robust_estimate: Callable[..., list[Floats]]
) -> None:
    rng = np.random.default_rng(rounds)
    mu, offers = rng.random(n_arms), rng.random((rounds, n_arms))
    played = (mu + offers).argmax(axis=1)
    played = np.where(rng.random(rounds) < random, rng.integers(n_arms, size=rounds), played).tolist()
    for n, s in enumerate(robust_estimate(offers, played, window), start=1):
        if n_arms < 50 or n % 10 == 0:
            last = slice(max(0, n - window), n)
            least, point = least_violation(offers[last], played[last])
            assert loss(s, offers[last], played[last]) <= least + 1e-7, n
            assert s == pytest.approx(point, abs=1e-6), n
            assert s.min() >= 0.0
            assert s.max() <= 1.0


def test_equal_offers_and_ties_do_not_upset_the_least_violation(robust_estimate: Callable[..., list[Floats]]) -> None:
    rng = np.random.default_rng(1)
    offers = rng.integers(3, size=(150, 4)) / 2  # in {0, 1/2, 1}
    played = rng.integers(4, size=150).tolist()
    for n, s in enumerate(robust_estimate(offers, played, 25), start=1):
        last = slice(max(0, n - 25), n)
        assert loss(s, offers[last], played[last]) <= least_violation(offers[last], played[last])[0] + 1e-7


def test_the_least_violation_by_hand(robust_estimate: Callable[..., list[Floats]]) -> None:
    # The agent refuses 0.5 more on arm 0: s_1 - s_0 >= 0.5. Once more the other way, which costs less to violate.
    found = robust_estimate(np.array([[0.5, 0.0], [0.5, 0.0], [0.3, 0.0]]), [1, 1, 0], 3)
    assert found[-1] == pytest.approx([0.0, 0.5])
    assert robust_estimate(np.array([[0.5, 0.0], [0.5, 0.0], [0.3, 0.0]]), [1, 1, 0], 1)[-1].tolist() == [0.0, 0.0]


def test_the_least_violation_is_the_agents_means_or_where_some_answers_are_random_keeps_their_order(
    robust_estimate: Callable[..., list[Floats]], smallest_means: Callable[[Floats], Floats | None]
) -> None:
    rng = np.random.default_rng(4)
    mu, offers = np.array([0.2, 0.9, 0.5, 0.65]), rng.random((600, 4))
    played = (mu + offers).argmax(axis=1)
    exact = robust_estimate(offers, played.tolist(), 600)[-1]
    assert exact - exact.max() == pytest.approx(mu - mu.max(), abs=0.02)
    noisy = np.where(rng.random(600) < 0.15, rng.integers(4, size=600), played)
    close = robust_estimate(offers, noisy.tolist(), 600)[-1]
    assert close.argsort().tolist() == mu.argsort().tolist()
    assert close - close.max() == pytest.approx(mu - mu.max(), abs=0.25)  # it is biased, as its class says
    for answers, plain in ((played, exact), (noisy, None)):
        limits = np.full((4, 4), np.inf)
        for offer, arm in zip(offers, answers, strict=True):
            limits[arm] = np.minimum(limits[arm], offer[arm] - offer)
        np.fill_diagonal(limits, np.inf)
        point = smallest_means(limits)
        assert (point is None) == (plain is None)  # where the plain one has no answer
        assert plain is None or point == pytest.approx(plain)  # and where both have, it is the same


# -------------------------------------------------------------------------------------- epsilon-greedy


def test_a_refused_offer_teaches_the_variant_that_learns_from_every_round_only() -> None:
    changes = {}
    for variant in VARIANTS:
        principal = EpsilonGreedy(2, 100, m=0, variant=variant)
        principal.reset(seed=1)
        drive(principal, greedy([0.0, 0.9]), [1.0, 0.0], 3)  # the third offer is 0 on arm 0: refused
        principal.offer()
        changes[variant] = epsilon_greedy.LAYOUT.arrays(memory_of(principal), 2).limits.tolist()
    nothing = [[math.inf, math.inf], [math.inf, math.inf]]
    # 1 on arm 0, played: s_1 - s_0 <= 1. 1 on arm 1, played: s_0 - s_1 <= 1, then 0 on arm 0, refused: <= 0.
    assert changes == {"as-published": nothing, "gross": nothing, "every-round": [[math.inf, 1.0], [0.0, math.inf]]}


def test_epsilon_greedy_explores_m_over_t_of_the_time() -> None:
    counts = []
    for seed in range(20):
        principal = EpsilonGreedy(2, 1000, m=20)
        principal.reset(seed=seed)
        offers = drive(principal, greedy([0.1, 0.9]), [0.5, 0.5], 1000)
        explored = [(offer > 0).all() for offer in offers]
        assert all(explored[2:21])  # m/t is 1 up to t = m rounds already played
        counts.append(sum(explored))
    assert np.mean(counts) == pytest.approx(19 + sum(20 / t for t in range(21, 1000)), abs=6)  # 4 standard errors


def test_the_stand_in_explores_m_over_t_to_the_q_of_the_time() -> None:
    counts = []
    for seed in range(20):
        principal = RobustEpsilonGreedy(2, 1000)
        principal.reset(seed=seed)
        offers = drive(principal, greedy([0.1, 0.9]), [0.5, 0.5], 1000)
        counts.append(sum((offer > 0).all() for offer in offers))
    assert np.mean(counts) == pytest.approx(sum(t ** (-1 / 3) for t in range(3, 1001)), abs=10)  # 4 standard errors


def test_t_is_the_number_of_rounds_already_played() -> None:
    """The sixth round, after 5, explores with probability 3/5."""
    explored = []
    for seed in range(400):
        principal = EpsilonGreedy(5, 100, m=3)
        principal.reset(seed=seed)
        offers = drive(principal, greedy([0.1, 0.9, 0.3, 0.2, 0.4]), np.full(5, 0.5), 6)
        explored.append((offers[5] > 0).all())
        assert explored[-1] or not offers[5].any()  # before the first exploration nothing is known, nor added
    assert np.mean(explored) == pytest.approx(3 / 5, abs=0.1)  # 4 standard errors


def test_random_offers_are_uniform_and_independent() -> None:
    principal = EpsilonGreedy(3, 20_000, m=1e9)
    principal.reset(seed=1)
    offers = np.array(drive(principal, greedy([0.1, 0.9, 0.3]), np.full(3, 0.5), 20_000)[3:])
    assert offers.mean(axis=0) == pytest.approx([0.5] * 3, abs=0.01)
    assert offers.var(axis=0) == pytest.approx([1 / 12] * 3, abs=0.002)
    following = np.concatenate([offers[:-1], offers[1:]], axis=1)
    assert np.abs(np.corrcoef(following.T) - np.eye(6)).max() < 0.03  # 4 standard errors


@pytest.mark.parametrize(
    ("eta", "beta"), [(1, 0.0), (2, 0.0), (3, math.sqrt(math.log(2) / 2)), (6, math.sqrt(math.log(5) / 5))]
)
def test_what_is_added_to_a_price_counts_one_exploration_less(eta: int, beta: float) -> None:
    principal, choose = EpsilonGreedy(2, 100, m=1e9, variant="gross"), greedy([0.4, 0.7])
    principal.reset(seed=1)
    drive(principal, choose, [0.2, 0.9], 2 + eta)
    memory_of(principal)[GreedyEntry.M] = 0.0  # no exploration from now on
    made, s = principal.offer(), estimate_of(principal)
    k = int((principal.theta_hat + s).argmax())
    assert made[k] == pytest.approx(s.max() - s[k] + 2 * beta)


def test_contradicting_answers_leave_the_estimate_as_it_was() -> None:
    """With every answer at random, s_hat is that of the last exploiting round before the contradiction."""
    principal, rng = EpsilonGreedy(2, 3001, m=4, variant="gross"), np.random.default_rng(0)
    principal.reset(seed=2)
    seen = []
    for _ in range(3000):
        drive(principal, lambda offer: int(rng.integers(2)), [0.2, 0.9], 1)
        seen.append((bool(memory_of(principal)[GreedyEntry.CONTRADICTED]), estimate_of(principal).tolist()))
    first = seen.index((True, seen[-1][1]))
    assert 0 < first < 1000
    assert all(entry == seen[first] for entry in seen[first:])
    assert seen[first - 1] == (False, seen[-1][1])


def test_padding() -> None:
    assert padding(100) == pytest.approx(math.sqrt(math.log(100) / 100))
    assert padding(0) == padding(1) == 0.0


def test_seeds_and_episodes_have_keys_of_their_own() -> None:
    principal, keys = EpsilonGreedy(2, 100), set()
    for seed in (1, 2, None, None):
        principal.reset(seed)
        memory = memory_of(principal)
        keys.add((memory[GreedyEntry.KEY], memory[GreedyEntry.KEY_LOW]))
        assert all(0 <= half < 2**32 and half == int(half) for half in (*keys,)[-1])
    assert len(keys) == 4


# -------------------------------------------------------------------------------------- robust epsilon-greedy


def test_the_robust_one_says_that_it_is_a_stand_in() -> None:
    assert RobustEpsilonGreedy.stand_in
    assert label("robust-epsilon-greedy,m=2") == "robust-epsilon-greedy,m=2 (a stand-in)"
    assert label("epsilon-greedy,m=2") == "epsilon-greedy,m=2"
    assert "A stand-in" in str(RobustEpsilonGreedy.__doc__)


def test_robust_epsilon_greedy_against_an_agent_that_explores() -> None:
    agent = make_agent("exploratory", c0=0.3)
    instance = IID([0.35, 0.8, 0.55], [0.9, 0.2, 0.4])
    run = simulate(RobustEpsilonGreedy(3, 20_000), instance, agent, seed=1, checkpoints=[10_000, 20_000])
    late = np.diff(run.plays, axis=0)[0]
    assert late[0] > 0.9 * 10_000  # the best arm jointly, and the agent's worst


@pytest.mark.parametrize("make", [EpsilonGreedy, RobustEpsilonGreedy])
def test_one_rule_is_followed_from_the_first_round_to_the_last(make: Callable[[int, int], Principal]) -> None:
    principal = make(5, 1000)
    principal.reset(seed=1)
    request = principal.request()
    assert isinstance(request, Follow)
    assert request.rounds == 1000
    seeds = [3, 4, 5]
    together = simulate(principal, agent="exploratory", seeds=seeds)
    alone = [simulate(principal, agent="exploratory", seed=seed, checkpoints=[1000]) for seed in seeds]
    assert together.utility.tolist() == [run.utility.tolist() for run in alone]
