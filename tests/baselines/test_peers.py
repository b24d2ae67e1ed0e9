"""The peers' principals: their formulas by hand, their searches against agents that answer exactly, their limits."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from baselines import Principal, hold, simulate
from baselines.principal import Follow, Hold, Rounds
from baselines.scripted.ours.explore_then_commit import ExploreThenCommit
from baselines.scripted.peers import c_ipa, ipa
from baselines.scripted.peers.belgic import Belgic
from baselines.scripted.peers.c_ipa import CIPA, Ellipsoid, LinUcbEntry
from baselines.scripted.peers.epsilon_greedy import EpsilonGreedy
from baselines.scripted.peers.ipa import IPA, net_ucb
from baselines.scripted.peers.robust_epsilon_greedy import RobustEpsilonGreedy
from pa_env import IID, Linear, make_agent

from .helpers import Floats, drive, greedy, step_through, watch

K, T, SEED = 4, 1200, 3
MISALIGNED = IID([0.35, 0.8, 0.55, 0.0], [0.9, 0.2, 0.4, 1.0])
# All in binary fractions, so that rewards are the same in an observation's float32.
DYADIC = Linear([[0.5, 0.25], [-0.25, 0.5], [0.0, -0.75], [0.75, 0.5]], [-0.5, 0.5], [0.75, -0.25], noise=0.0)
MAKERS: dict[str, Callable[[int, int], Principal]] = {
    "ipa": IPA,
    "explore-then-commit": ExploreThenCommit,
    "epsilon-greedy": lambda k, t: EpsilonGreedy(k, t, m=50),
    "epsilon-greedy, gross": lambda k, t: EpsilonGreedy(k, t, m=50, variant="gross"),
    "epsilon-greedy, every-round": lambda k, t: EpsilonGreedy(k, t, m=50, variant="every-round"),
    "belgic": lambda k, t: Belgic(k, t, alpha=0.5, beta=0.2),  # short enough for its UCB to begin
    "robust-epsilon-greedy": RobustEpsilonGreedy,
}


# -------------------------------------------------------------------------------------- every one of them


@pytest.mark.parametrize("agent", ["oracle", "exploratory"])
@pytest.mark.parametrize("name", ["belgic", "c-ipa"])
def test_a_rule_that_follows_a_search_is_the_same_step_by_step(name: str, agent: str) -> None:
    linear = name == "c-ipa"
    principal = CIPA(4, T, DYADIC.arms) if linear else MAKERS[name](K, T)
    settings: dict[str, Any] = {"instance": DYADIC if linear else MISALIGNED, "agent": make_agent(agent)}
    infos, offers, game = step_through(principal, SEED, **settings)
    run = simulate(principal, seed=SEED, checkpoints=range(1, T + 1), **settings)
    assert np.diff(run.plays, axis=0, prepend=0).argmax(axis=1).tolist() == [info["arm"] for info in infos]
    assert run.regret_bar[-1] == pytest.approx(game.totals()["regret_bar"], rel=1e-11)  # every offer counts in it
    assert np.unique(np.array(offers).argmax(axis=1)).size > 1


@pytest.mark.parametrize("name", MAKERS)
def test_gaussian_rewards_bring_no_negative_offers_and_a_seed_repeats(name: str) -> None:
    theta = np.array([-0.5, 0.1, -0.2, 0.3])
    instance = IID([0.3, 0.0, 0.9, 0.5], theta, "gaussian")  # a bad offer would stop the game
    principal = MAKERS[name](K, T)
    runs = [simulate(principal, instance, "oracle", seed=seed, checkpoints=[T]) for seed in (1, 2, 1)]
    assert runs[0].utility.tobytes() == runs[2].utility.tobytes() != runs[1].utility.tobytes()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IPA(3, 100, margin=-0.1), r"margin = -0.1 must be a finite number at least 0"),
        (lambda: ExploreThenCommit(3, 100, share=0.0), r"share = 0.0 must be a finite number above 0"),
        (lambda: ExploreThenCommit(3, 100, share=1.5), r"share = 1.5 must be a share of the rounds, above 0 and at mo"),
        (lambda: EpsilonGreedy(3, 100, m=-1), r"m = -1 must be a finite number at least 0"),
        (lambda: EpsilonGreedy(3, 100, variant="net"), r"variant = 'net' is unknown; known: as-published, gross, ever"),
        (lambda: Belgic(3, 100, alpha=1.0), r"alpha = 1.0 must be an exponent between 0 and 1"),
        (lambda: Belgic(3, 100, kappa=0.0), r"kappa = 0.0 must be a finite number above 0"),
        (lambda: Belgic(3, 100, C=-1.0), r"C = -1.0 must be a finite number at least 0"),
        (
            lambda: Belgic(3, 100, beta=0.4),
            r"beta = 0.4 must be below alpha \(1 - kappa\) = 0.375: lower beta or raise",
        ),
        (lambda: CIPA(3, 100, np.eye(2)), r"arms of shape \(2, 2\) must be finite vectors, one for each of n_arms = 3"),
        (lambda: CIPA(2, 100, [[1.0, np.nan], [0, 1]]), r"arms of shape \(2, 2\) must be finite vectors"),
        (lambda: CIPA(2, 100, np.eye(2), noise=-1.0), r"noise = -1.0 must be a finite number at least 0"),
        (lambda: RobustEpsilonGreedy(3, 100, q=1.0), r"q = 1.0 must be an exponent between 0 and 1"),
        (lambda: RobustEpsilonGreedy(3, 100, window=0), r"window = 0 must be an integer at least 1"),
    ],
)
def test_bad_parameters(make: Callable[[], Principal], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


# -------------------------------------------------------------------------------------- IPA


def prices(principal: Principal) -> Floats:
    """The incentives of the UCB that it has arrived at."""
    principal.offer()  # by now it has taken in the last probe
    request = principal.request()
    assert isinstance(request, Follow)
    return ipa.LAYOUT.arrays(request.memory, principal.n_arms).incentives


@given(
    mu=st.lists(st.integers(0, 64).map(lambda i: i / 64) | st.floats(0, 1), min_size=2, max_size=5),
    horizon=st.integers(200, 5000),
    ties=st.sampled_from(["lowest", "highest", "random", "largest-incentive"]),
)
def test_ipa_finds_the_oracle_agents_incentives_to_1_over_t_and_the_margin(
    mu: list[float], horizon: int, ties: str
) -> None:
    principal, searched = IPA(len(mu), horizon), len(mu) * math.ceil(math.log2(horizon))
    agent = make_agent("oracle", ties=ties)
    marks = [searched, *range(searched + 1, searched + 1 + len(mu)), horizon]  # UCB tries every arm once, in turn
    run = simulate(principal, IID(mu, [0.5] * len(mu)), agent, seed=1, checkpoints=marks)
    excess = run.offers[1:-1].diagonal() - (max(mu) - np.array(mu))
    assert (excess > 0).all()
    assert (excess <= 1 / horizon + 1 / horizon**2 + 1e-12).all()
    assert run.misses[-1] == run.misses[0]  # nothing is refused after the search


class PlainIPA(IPA):
    """The paper's Algorithm 1 as a coroutine."""

    def rounds(self) -> Rounds:
        low, high = np.zeros(self.n_arms), np.ones(self.n_arms)
        for _ in range(math.ceil(math.log2(self.horizon))):
            for a in range(self.n_arms):
                middle = float(low[a] + high[a]) / 2
                outcome = yield hold(a, middle)
                if outcome.plays[a]:
                    high[a] = middle
                else:
                    low[a] = middle
        yield net_ucb(self, high + self.margin)


@pytest.mark.parametrize("agent", ["empirical-mean", "oracle", "exploratory"])
@pytest.mark.parametrize(("n_arms", "horizon"), [(5, 200), (2, 10), (7, 1000), (5, 20)])
def test_the_compiled_ipa_is_the_plain_one(n_arms: int, horizon: int, agent: str) -> None:
    game: dict[str, Any] = {"agent": agent, "seeds": range(10), "checkpoints": [1, horizon // 2, horizon]}
    plain, ours = (simulate(made(n_arms, horizon), **game) for made in (PlainIPA, IPA))
    for name in ("regret", "utility", "misses", "plays", "offers"):
        assert_array_equal(getattr(ours, name), getattr(plain, name), err_msg=name)


def test_ipa_probes_arms_in_turn_halves_their_intervals_and_adds_the_margin() -> None:
    principal = IPA(2, 16, margin=0.001)  # 4 probes an arm
    offers = drive(principal, greedy([0.4, 0.7]), np.array([0.0, 0.0]), 8)
    assert [offer.argmax() for offer in offers] == [0, 1] * 4  # round t probes arm t mod K
    assert [offer.tolist() for offer in offers[::2]] == [[0.5, 0], [0.25, 0], [0.375, 0], [0.3125, 0]]
    assert [offer.tolist() for offer in offers[1::2]] == [[0, 0.5], [0, 0.25], [0, 0.125], [0, 0.0625]]
    assert prices(principal) == pytest.approx([0.3125 + 0.001, 0.0625 + 0.001], abs=1e-15)
    by_default = IPA(2, 16)
    drive(by_default, greedy([0.4, 0.7]), np.array([0.0, 0.0]), 8)
    assert prices(by_default).tolist() == [0.3125 + 1 / 16**2, 0.0625 + 1 / 16**2]


@pytest.mark.parametrize("agent", ["oracle", "exploratory"])
@pytest.mark.parametrize("name", ["ipa", "belgic"])
def test_offers_are_what_ucb_on_net_rewards_since_the_search_says(name: str, agent: str) -> None:
    """An arm is credited with X minus what was paid for it: nothing, if it was not the target."""
    principal = MAKERS[name](K, T)
    infos, offers, _ = step_through(principal, SEED, instance=MISALIGNED, agent=agent)
    start = K * (principal.batches * principal.batch if isinstance(principal, Belgic) else math.ceil(math.log2(T)))
    price = np.max(offers[start:], axis=0)
    net: list[list[float]] = [[] for _ in range(K)]
    rewards, refused = step_rewards(principal, infos, offers), 0
    for t in range(start, T):
        unplayed = [a for a in range(K) if not net[a]]
        index = [math.fsum(x) / len(x) + math.sqrt(4 * math.log(T) / len(x)) if x else math.inf for x in net]
        target, arm = int(offers[t].argmax()), infos[t]["arm"]
        assert target == unplayed[0] if unplayed else index[target] == pytest.approx(max(index), abs=1e-9), t
        assert offers[t].tolist() == [price[a] if a == target else 0.0 for a in range(K)], t
        net[arm].append(rewards[t] - offers[t][arm])
        refused += arm != target
    assert (refused == 0) == (agent == "oracle")


def test_a_refused_round_is_credited_without_a_price_by_hand() -> None:
    """Arm 0 has net rewards 15/16 and, in the refused round, 1; charged for both it would lose to arm 1's -0.02."""
    principal = IPA(2, 16, margin=0.0)
    drive(principal, lambda offer: 0, np.zeros(2), 8)  # every probe of arm 1 is refused
    assert prices(principal).tolist() == [1 / 16, 1.0]
    for offer, arm, reward in (([1 / 16, 0], 0, 1.0), ([0, 1], 0, 1.0), ([0, 1], 1, 0.98)):
        assert principal.offer().tolist() == offer
        principal.observe(arm, reward)
    bonus = math.sqrt(4 * math.log(16))
    assert 15 / 16 + bonus / math.sqrt(2) < -0.02 + bonus < 31 / 32 + bonus / math.sqrt(2)
    assert principal.offer().tolist() == [1 / 16, 0]


def step_rewards(principal: Principal, infos: list[dict[str, Any]], offers: list[Floats]) -> list[float]:
    """X of every round: utility is X - pi_A."""
    return [info["utility"] + offer[info["arm"]] for info, offer in zip(infos, offers, strict=True)]


def test_ipas_regret_is_linear_against_an_agent_that_learns_and_small_against_one_that_knows() -> None:
    def rate(agent: str, horizon: int) -> float:
        principal = IPA(5, horizon)
        return float(np.mean([simulate(principal, agent=agent, seed=s).regret[-1] for s in range(12)])) / horizon

    knows, learns = ([rate(agent, horizon) for horizon in (10**4, 10**5)] for agent in ("oracle", "empirical-mean"))
    assert knows[0] < 0.05
    assert knows[1] < knows[0] / 3
    assert min(learns) > 0.05
    assert learns[1] > learns[0] / 2


# -------------------------------------------------------------------------------------- explore then commit


def test_explore_then_commit_request_by_request() -> None:
    principal = ExploreThenCommit(3, 1000, share=0.03)
    notes = watch(principal)
    simulate(principal, IID([0.1, 0.9, 0.8], [0.9, 0.2, 0.6], "constant"), "oracle", seed=1)
    explored, searched, held = notes[:30], notes[30:60], principal.request()
    assert [entry.request for entry in explored[:3]] == [Hold((a,), (1.001,), 1, a) for a in range(3)]
    assert [entry.request.target for entry in explored] == [0, 1, 2] * 10
    assert [entry.request.target for entry in searched] == [0] * 10 + [1] * 10 + [2] * 10
    assert len(notes) == 60
    assert isinstance(held, Hold)  # theta - b is about .1, .2, .5
    assert held.target == 2
    assert 0.1 < held.amounts[0] <= 0.1 + 2 / 1000


def test_explore_then_commit_searches_again_where_the_target_is_missed() -> None:
    principal = ExploreThenCommit(2, 1000, share=0.004)
    prefers = np.array([0.0, 0.3])
    choose = greedy(prefers)  # sees what becomes of the array
    drive(principal, choose, np.array([0.9, 0.1]), 4 + 20)
    committed = principal.request()
    drive(principal, choose, np.array([0.9, 0.1]), 50)
    assert principal.request() is committed
    prefers[1] = 0.6
    offers = drive(principal, choose, np.array([0.9, 0.1]), 1 + 10)
    assert [offer[0] for offer in offers[1:4]] == [0.5, 0.75, 0.625]
    again = principal.request()
    assert isinstance(again, Hold)
    assert 0.6 < again.amounts[0] <= 0.6 + 2 / 1000


def test_explore_then_commits_default_share() -> None:
    assert ExploreThenCommit(5, 10_000).times == math.ceil(10_000 / 5 * (5 / 10_000) ** (1 / 3) / 8) == 20


# -------------------------------------------------------------------------------------- BELGIC


def test_belgic_by_hand() -> None:
    principal = Belgic(2, 10_000)
    assert (principal.batches, principal.batch) == (4, 1000)
    assert principal.refusals == pytest.approx(10 ** (4 * 0.625))  # 316.2
    assert principal.margin == pytest.approx(0.1 + 0.1)


@pytest.mark.parametrize(("refusals", "following"), [(316, 0.25), (317, 0.75)])
def test_belgic_puts_so_many_refusals_down_to_learning(refusals: int, following: float) -> None:
    principal = Belgic(2, 10_000)
    for i in range(1000):
        assert principal.offer().tolist() == [0.5, 0.0]
        principal.observe(1 if i < refusals else 0, 0.0)
    assert principal.offer().tolist() == [following, 0.0]


def test_belgics_prices_are_above_the_oracle_agents_incentives_by_its_margin() -> None:
    principal = Belgic(3, 10**6)
    mu = [0.3, 0.85, 0.6]
    simulate(principal, IID(mu, [0.5, 0.5, 0.5]), "oracle", checkpoints=[10**6])
    excess = prices(principal) - principal.margin - (max(mu) - np.array(mu))
    assert (excess >= 0).all()
    assert (excess <= 2.0**-principal.batches).all()


# -------------------------------------------------------------------------------------- C-IPA


def ball(rng: np.random.Generator, *shape: int) -> Floats:
    points = rng.standard_normal(shape)
    radius = rng.random((*shape[:-1], 1)) ** (1 / shape[-1])
    return np.asarray(points / np.linalg.norm(points, axis=-1, keepdims=True) * radius)


@given(dim=st.integers(1, 5), seed=st.integers(0, 10**6), ties=st.sampled_from(["lowest", "highest"]))
def test_c_ipa_never_loses_s_and_is_never_refused(dim: int, seed: int, ties: str) -> None:
    rng, horizon = np.random.default_rng(seed), 4000
    arms = ball(rng, dim + int(rng.integers(1, 8)), dim)
    arms = np.concatenate([arms, arms])  # each of them twice
    instance = Linear(arms, ball(rng, dim), ball(rng, dim))
    principal, agent = CIPA(len(arms), horizon, arms), make_agent("oracle", ties=ties)
    simulate(principal, instance, agent, seed=seed, checkpoints=[horizon])
    assert principal.knowledge.contains(instance.s)
    request = principal.request()
    assert isinstance(request, Follow)
    price = c_ipa.LAYOUT.arrays(request.memory, len(arms)).incentives
    excess = price - (instance.mu.max() - instance.mu)
    assert (excess > 0).all()
    assert (excess <= 4 / horizon).all()


def test_c_ipa_asks_until_the_width_is_1_over_t() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        instance = Linear(ball(rng, 6, 2), ball(rng, 2), ball(rng, 2))
        principal, choose = CIPA(6, 1000, instance.arms), greedy(instance.mu)
        widths = []
        while isinstance(principal.request(), Hold):
            offer, arms = principal.offer(), instance.arms
            best = int((arms @ principal.knowledge.centre).argmax())
            widths.append(principal.knowledge.widths(arms[best] - arms).max())
            principal.observe(choose(offer), 0.0)
        assert min(widths) > 1 / 1000
        best = int((arms @ principal.knowledge.centre).argmax())
        assert principal.knowledge.widths(arms[best] - arms).max() <= 1 / 1000


def test_c_ipa_learns_all_that_the_play_of_a_third_arm_reveals() -> None:
    thirds = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        instance = Linear(ball(rng, 12, 3), ball(rng, 3), ball(rng, 3))
        principal, choose = CIPA(12, 1000, instance.arms), greedy(instance.mu)
        for _ in range(60):
            offer = principal.offer()
            asked, played = int(principal.request().target), choose(offer)  # type: ignore[union-attr]
            values, difference = (
                instance.arms @ principal.knowledge.centre,
                instance.arms[played] - instance.arms[asked],
            )
            half_width = principal.knowledge.widths(difference[None])[0] / 2
            principal.observe(played, 0.0)
            principal.offer()
            if played not in (asked, int(values.argmax())):
                before = values[played] - values[asked]
                moved = (half_width + 3 * (offer[asked] - before)) / 4  # a deep cut in three dimensions
                assert difference @ principal.knowledge.centre == pytest.approx(before + moved)
                thirds += 1
    assert thirds > 20


@given(dim=st.integers(1, 6), seed=st.integers(0, 10**6), depth=st.floats(0, 0.9))
def test_a_cut_ellipsoid_contains_what_was_not_cut_and_is_smaller(dim: int, seed: int, depth: float) -> None:
    rng = np.random.default_rng(seed)
    body = Ellipsoid(np.eye(dim))
    for _ in range(5):
        normal = rng.standard_normal(dim)
        border = float(normal @ body.centre - depth * body.widths(normal[None])[0] / 2)
        inside = body.centre + ball(rng, 400, dim) @ np.linalg.cholesky(body.shape).T @ body.axes
        kept = inside[inside @ normal <= border]
        volume = np.linalg.det(body.shape)
        assert body.cut(normal, border)
        assert all(body.contains(point) for point in kept)
        assert np.linalg.det(body.shape) < volume


def test_a_cut_that_leaves_nothing_changes_nothing() -> None:
    body = Ellipsoid(np.eye(2))
    assert not body.cut(np.array([1.0, 0.0]), -1.0)
    assert body.centre.tolist() == [0, 0]
    assert body.shape.tolist() == np.eye(2).tolist()


def test_the_first_cut_of_the_unit_disc_by_hand() -> None:
    body = Ellipsoid(np.eye(2))
    assert body.cut(np.array([2.0, 0.0]), 0.0)  # the left half: centre -1/3, half-axes 2/3 and 2/sqrt(3)
    assert body.centre == pytest.approx([-1 / 3, 0])
    assert body.widths(np.eye(2)) == pytest.approx([4 / 3, 4 / math.sqrt(3)])


def test_c_ipa_offers_what_linucb_says() -> None:
    principal, horizon = CIPA(4, 600, DYADIC.arms, noise=0.5), 600
    infos, offers, _ = step_through(principal, SEED, instance=DYADIC, agent="oracle")
    request, arms = principal.request(), DYADIC.arms
    assert isinstance(request, Follow)
    start = principal.horizon - int(request.memory[LinUcbEntry.ROUND]) - 1  # the rule was not told of the last round
    assert 20 < start < 120
    values = arms @ principal.knowledge.centre
    price = values.max() - values + 2 / horizon
    gram, moments = np.eye(2), np.zeros(2)
    for n, t in enumerate(range(start, horizon)):
        radius = 2 + 0.5 * math.sqrt(2 * math.log(horizon) + 2 * math.log(1 + n / 2))
        inverse = np.linalg.inv(gram)
        index = arms @ inverse @ moments + radius * np.sqrt(np.einsum("ni,ij,nj->n", arms, inverse, arms))
        target, arm = int(offers[t].argmax()), infos[t]["arm"]
        assert index[target] == pytest.approx(index.max(), abs=1e-9)
        assert offers[t] == pytest.approx(price * np.eye(4)[target], abs=1e-12)
        y = DYADIC.theta[arm] - price[arm] + values.max()
        gram, moments = gram + np.outer(arms[arm], arms[arm]), moments + y * arms[arm]


def test_c_ipa_learns_against_the_agent_that_knows() -> None:
    rng = np.random.default_rng(7)
    instance = Linear(ball(rng, 10, 2), ball(rng, 2), ball(rng, 2))
    run = simulate(CIPA(10, 10**5, instance.arms), instance, "oracle", checkpoints=[10**4, 10**5])
    assert run.regret_oracle[1] < 0.01 * 10**5
    assert run.misses[1] == run.misses[0]
