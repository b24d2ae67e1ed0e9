"""Laws of the agents beyond the paper, users' compiled agents, and the scores that depend on who answers."""

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest
from helpers import resident, settings, state_of
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import chisquare

from pa_env import IID, CompiledAgent, make_agent
from pa_env.compiled_agents import further_normal, further_uniform
from pa_env.envs.scalar import PrincipalEnv
from pa_env.game import Game
from pa_env.kernel.layout import ARM
from pa_env.rules import compile_rule

MU, THETA = [0.35, 0.8, 0.55], [0.9, 0.2, 0.4]
INSTANCE = IID(MU, THETA)


def begun(agent: Any, seed: int = 0, **changes: Any) -> Game:
    game = Game(**({"agent": agent, "instance": INSTANCE, "horizon": 1000} | changes))
    game.begin([seed + i for i in range(game.copies)])
    return game


# ----------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize(
    "agent",
    [
        make_agent("logit", temperature=0.2),
        make_agent("logit", temperature=0.05, knows_means=True),
        make_agent("types", types=[[0.2, 0.5, 0.4]], temperature=0.1),
        make_agent("exploratory", exponent=0.1, ties="random"),
        make_agent("exploratory", exponent=0.1, exploration="target"),
        make_agent("exploratory-oracle", exponent=0.2, exploration=2),
        make_agent("hedge", rate=0.5),
        make_agent("hedge", rate=0.5, feedback="bandit"),
        "follow-the-leader",
        "holdout",
        "exp3",
        "ucb",
    ],
    ids=str,
)
def test_answers_follow_the_probabilities_that_are_told(agent: Any) -> None:
    """Copies with other seeds and the same past: constant rewards, and the same arms played."""
    copies, offer = 4000, np.array([0.3, 0.0, 0.1])
    game = begun(agent, copies=copies, instance=IID(MU, THETA, "constant"))
    for arm in (0, 1, 2, 1):
        game.play(np.tile(offer, (copies, 1)), arms=np.full(copies, arm))
    offers = np.tile(offer + 0.05, (copies, 1))
    laws = game.choice_probabilities(offers)
    assert_allclose(laws, np.tile(laws[0], (copies, 1)), rtol=1e-12)
    assert_allclose(laws.sum(axis=1), 1.0)
    counts = np.bincount(game.answer(offers), minlength=3)
    assert (counts[laws[0] == 0] == 0).all()
    possible = laws[0] > 0
    assert possible.sum() == 1 or chisquare(counts[possible], copies * laws[0][possible]).pvalue > 1e-4


def test_logit_plays_by_the_softmax_of_beliefs_and_incentives() -> None:
    game, offer = begun(make_agent("logit", temperature=0.25, knows_means=True)), np.array([0.3, 0.0, 0.2])
    weights = np.exp((np.array(MU) + offer) / 0.25)
    assert_allclose(game.choice_probabilities(offer)[0], weights / weights.sum(), rtol=1e-12)


@pytest.mark.parametrize("knows", [False, True])
def test_a_cold_logit_agent_is_greedy(knows: bool) -> None:
    greedy = begun("oracle" if knows else "empirical-mean")
    frozen, cool = (begun(make_agent("logit", temperature=t, knows_means=knows)) for t in (0.0, 1e-9))
    for game in (greedy, frozen, cool):
        game.hold([0.25, 0.0, 0.1], 500)
    assert greedy.totals() == frozen.totals()
    assert_allclose(
        [cool.totals()[s] for s in ("regret", "utility")], [greedy.totals()[s] for s in ("regret", "utility")]
    )


def test_logit_meets_the_same_luck_whatever_is_offered() -> None:
    """Common random numbers: the same offer in round t gets the same answer, whatever was offered before."""
    answers = []
    for before in ([0.0, 0.0, 0.0], [1.0, 0.5, 0.0]):
        game = begun(make_agent("logit", temperature=0.3, knows_means=True), copies=200)
        game.play(np.tile(before, (200, 1)))
        answers.append(game.answer(np.tile([0.2, 0.0, 0.1], (200, 1))))
    assert (answers[0] == answers[1]).all()


def test_exploration_towards_the_target() -> None:
    game = begun(make_agent("exploratory-oracle", c0=100.0, exploration="target"))  # it always explores
    assert game.answer([0.1, 0.0, 0.3]).tolist() == [0]  # arm 2 maximises, arm 0 has the next incentive
    assert game.answer([0.1, 0.0, 0.05]).tolist() == [0]


@pytest.mark.parametrize(("exponent", "c0"), [(0.0, 0.3), (1.0, 2.0), (0.25, 0.5)])
def test_exploration_at_other_rates(exponent: float, c0: float) -> None:
    """The agent leaves its best arm at the rate told: counted over copies, in one late round."""
    copies, agent = 20_000, make_agent("exploratory-oracle", c0=c0, exponent=exponent)
    game = begun(agent, copies=copies)
    for _ in range(9):
        game.play(np.zeros((copies, 3)), arms=np.ones(copies, np.int64))
    share, p = (game.answer(np.zeros((copies, 3))) != 1).mean(), min(1.0, c0 * (np.log(20) / 10) ** exponent)
    assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / copies)


# ----------------------------------------------------------------------------------------- types


def test_types_answer_in_the_order_given() -> None:
    types = np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]])
    for order, expected in (
        ("cycle", [0, 2, 0, 2]),
        ("blocks", [0, 0, 2, 2]),
        ([1, 0, 0], [2, 0, 0, 2]),
    ):
        game = begun(make_agent("types", types=types, order=order), horizon=4)
        arms = []
        for _ in range(4):
            arms.append(int(game.answer(np.zeros(3))[0]))
            assert game.means[0].tolist() == types[arms[-1] // 2].tolist()
            game.play(np.zeros(3))
        assert arms == expected
        assert game.type_counts.tolist() == [[arms.count(0), arms.count(2)]]
        assert game.totals()["agent_regret"] == 0.0


def test_drawn_types_are_new_in_each_episode_and_the_same_for_a_seed() -> None:
    game, seen = begun(make_agent("types", types=2, order="cycle"), seed=5), []
    for seeds in ([5], None, [5]):
        game.begin(seeds)
        seen.append(game.means[0].tolist())
        assert (game.means >= 0).all()
    assert seen[0] == seen[2] != seen[1]


def test_random_types_come_equally_often() -> None:
    game = begun(make_agent("types", types=4), horizon=10_000)
    game.hold(np.zeros(3), 10_000)
    assert chisquare(game.type_counts[0]).pvalue > 1e-4


def test_the_best_fixed_price_is_not_beaten_by_a_fine_grid() -> None:
    for temperature in (0.0, 0.02, 0.2):
        rng = np.random.default_rng(3)
        types = rng.random((3, 3))
        game = begun(make_agent("types", types=types, temperature=temperature), horizon=500)
        game.hold([0.2, 0.0, 0.0], 500)
        best = game.totals()["regret_fixed"] + game.totals()["expected_utility"]
        found = -np.inf
        for arm in range(3):
            prices = np.linspace(0, 1, 20_001)
            values = np.repeat(types[:, None], prices.size, axis=1)
            values[:, :, arm] += prices
            weights = np.exp((values - values.max(axis=2, keepdims=True)) / max(temperature, 1e-9))
            nets = np.repeat(np.array(THETA)[None], prices.size, axis=0)
            nets[:, arm] -= prices
            worth = (weights * nets).sum(axis=2) / weights.sum(axis=2)
            found = max(found, (game.type_counts[0] @ worth).max())
        assert best >= found - 1e-9
        assert best <= found + 500 * 1e-4  # the grid's own width, where prices jump


# ----------------------------------------------------------------------------------------- scores


def test_the_response_benchmark_is_the_best_over_all_offers() -> None:
    """Against a search over offers that shares nothing with it but the law of the choices."""
    rng = np.random.default_rng(1)
    for temperature in (0.03, 0.1, 0.5):
        instance = IID(rng.random(4), rng.random(4))
        game = begun(make_agent("logit", temperature=temperature, knows_means=True), instance=instance, horizon=1)

        def loss(offer: np.ndarray, game: Game = game, instance: IID = instance) -> float:
            return -float(game.choice_probabilities(offer.clip(0, 4))[0] @ (instance.theta - offer.clip(0, 4)))

        starts = [rng.random(4) for _ in range(8)] + [np.maximum(0, instance.theta - level) for level in (0.2, 0.5)]
        best = -min(
            minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 8000}).fun
            for start in starts
        )
        game.play(np.zeros(4))
        totals = game.totals()
        assert_allclose(totals["regret_response"] + totals["expected_utility"], best, rtol=0, atol=1e-7)


def test_exploration_is_best_answered_by_one_price() -> None:
    rng = np.random.default_rng(2)
    for exploration in ("uniform", "worst", "target", 1):
        agent = make_agent("exploratory-oracle", c0=0.4, exploration=exploration)
        game = begun(agent, horizon=1, max_incentive=1.0)
        offers = np.concatenate([rng.random((4000, 3)) * (rng.random((4000, 3)) < 0.4), np.zeros((1, 3))])
        many = begun(agent, copies=len(offers), max_incentive=1.0)
        worth = (many.choice_probabilities(offers) * (np.array(THETA) - offers)).sum(axis=1)
        game.play(np.zeros(3))
        best = game.totals()["regret_response"] + game.totals()["expected_utility"]
        assert worth.max() <= best
        assert worth.max() > best - 0.02


@pytest.mark.parametrize("held", [False, True])
def test_round_robin_is_answered_as_it_stands_before_the_round(held: bool) -> None:
    """The round in which the agent explores too: the arm that it goes on to counts from the next round on."""
    theta, nets, p, last = np.array(THETA), np.array(THETA) - (max(MU) - np.array(MU)), 0.5, -1
    game = begun(make_agent("exploratory-oracle", c0=p, exponent=0.0, exploration="round-robin"), horizon=40)
    before = 0.0
    for _ in range(40):
        order = [(last + 1 + k) % 3 for k in range(3)]
        best = max((1 - p) * nets[a] + p * theta[next(b for b in order if b != a)] for a in range(3))
        arm = int(game.hold(np.zeros(3), 1).plays.argmax()) if held else int(game.play(np.zeros(3))[0, ARM])
        last = arm if arm != np.argmax(MU) else last
        totals = game.totals()
        assert totals["regret_response"] + totals["expected_utility"] - before == pytest.approx(best)
        before = totals["regret_response"] + totals["expected_utility"]


def test_interpolated_exploration_is_close_to_exact() -> None:
    agent = make_agent("exploratory-oracle", c0=1.0)
    game = begun(agent, horizon=70_000)
    game.hold([0.5, 0.0, 0.0], 70_000)
    t = np.arange(1, 70_001)
    p = np.minimum(1, np.sqrt(np.log(2 * t) / t))
    theta, costs = np.array(THETA), max(MU) - np.array(MU)
    values = [(1 - p) * (theta[a] - costs[a]) + p * np.delete(theta, a).mean() for a in range(3)]
    totals = game.totals()
    assert_allclose(totals["regret_response"] + totals["expected_utility"], np.max(values, axis=0).sum(), rtol=1e-9)


@pytest.mark.parametrize("agent", ["empirical-mean", "oracle", make_agent("types", types=2)], ids=str)
def test_against_greedy_agents_both_benchmarks_agree(agent: Any) -> None:
    game = begun(agent)
    game.hold([0.2, 0.0, 0.1], 300)
    assert game.totals()["regret_response"] == game.totals()["regret"]


@pytest.mark.parametrize("agent", ["thompson", "exp3", "own", "compiled", "function"])
def test_where_the_law_is_not_known_there_is_no_score(agent: str) -> None:
    game = Game(**settings(agent))
    game.begin([1])
    game.play(np.zeros(4))
    assert np.isnan(game.totals()["regret_response"])
    assert np.isnan(game.totals()["regret_fixed"])
    if agent != "exp3":
        with pytest.raises(ValueError, match=r"^.{,250}$") as caught:
            game.choice_probabilities(np.zeros(4))
        assert caught.match(r"agent = '[\w-]+' are not known|has no method")


def test_an_agent_that_errs_for_the_principal_makes_the_regret_negative() -> None:
    game = begun(make_agent("logit", temperature=2.0, knows_means=True), instance=IID([0.0, 0.9], [1.0, 0.0]))
    game.hold([0.0, 0.0], 1000)
    totals = game.totals()
    assert totals["regret"] < -200
    assert totals["regret_response"] > -80  # its mean is above 0, its deviation 16


def test_own_regret_is_what_the_agent_forgoes() -> None:
    game, offer = begun("empirical-mean"), np.array([0.1, 0.0, 0.3])
    game.hold(offer, 400)
    worth = np.array(MU) + offer
    assert game.totals()["agent_regret"] == pytest.approx((worth.max() - worth) @ game.plays[0], rel=1e-12)


# ----------------------------------------------------------------------------------------- compiled agents


def greedy_choice(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    best = 0
    for a in range(offer.size):
        if means[a] + offer[a] > means[best] + offer[best]:
            best = a
    return best


def averaging(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    memory[arm] += reward
    means[arm] = memory[arm] / counts[arm]


def room_for_sums(n_arms: int) -> np.ndarray:
    return np.zeros(n_arms)


AVERAGER = CompiledAgent(greedy_choice, averaging, room_for_sums)


def test_the_paper_s_agent_written_by_a_user_plays_its_rounds() -> None:
    built_in, own = begun("empirical-mean"), begun(AVERAGER)
    for game in (built_in, own):
        game.hold([0.3, 0.0, 0.1], 200)
        game.play([0.0, 0.5, 0.0])
        game.begin([7])
        game.hold([0.1, 0.0, 0.2], 300)
    expected = built_in.totals() | {"regret_response": pytest.approx(np.nan, nan_ok=True)}
    assert own.totals() == expected
    assert own.means.tolist() == built_in.means.tolist()


def test_a_copied_or_pickled_game_goes_on() -> None:
    game = begun(AVERAGER)
    game.hold([0.3, 0.0, 0.1], 100)
    copies = [copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
    for each in (game, *copies):
        each.hold([0.0, 0.2, 0.0], 100)
    assert state_of(game)[1:] == state_of(copies[0])[1:] == state_of(copies[1])[1:]


def test_every_copy_has_a_memory_of_its_own() -> None:
    game = begun(AVERAGER, copies=3)
    alone = [begun(AVERAGER, seed=i) for i in range(3)]
    for _ in range(50):
        game.play(np.tile([0.2, 0.0, 0.1], (3, 1)))
        for each in alone:
            each.play([0.2, 0.0, 0.1])
    assert game.arrays.agent.memory.tolist() == [each.arrays.agent.memory[0].tolist() for each in alone]


def test_further_draws_are_uniform_normal_and_independent() -> None:
    u = np.random.default_rng(0).random(4000)
    first, second = (np.array([further_uniform(x, k) for x in u]) for k in (0, 1))
    normal = np.array([further_normal(x, 0) for x in u])
    for sample in (first, second):
        assert chisquare(np.histogram(sample, 10, (0, 1))[0]).pvalue > 1e-4
    assert abs(normal.mean()) < 4 / np.sqrt(4000)
    assert abs(normal.std() - 1) < 0.05
    assert np.abs(np.corrcoef([u, first, second, normal]) - np.eye(4)).max() < 0.07


def wrong_from_round_six(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    return 7 if t > 5 else 0


def wrong_if_unlucky(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    return -1 if u < 0.2 else 0


def nothing(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    pass


def spoiling(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    means[arm] = np.nan


def test_an_answer_that_is_no_arm_stops_before_its_round() -> None:
    game = begun(CompiledAgent(wrong_from_round_six, nothing))
    with pytest.raises(ValueError, match=r"answered 7 in round 6: it must be an arm from 0 to 2"):
        game.hold(np.zeros(3), 100)
    assert game.rounds_played == 5
    before = state_of(game)
    for call in (game.play, game.answer):
        with pytest.raises(ValueError, match="answered 7 in round 6"):
            call(np.zeros(3))
    assert state_of(game) == before


def test_in_a_batch_nothing_moves_if_one_answer_is_wrong() -> None:
    game = begun(CompiledAgent(wrong_if_unlucky, nothing), copies=50)
    before = state_of(game)
    with pytest.raises(ValueError, match="answered -1 in round 1"):
        game.play(np.zeros((50, 3)))
    assert state_of(game) == before


def test_means_that_are_no_numbers_are_told_before_the_next_round() -> None:
    game = begun(CompiledAgent(greedy_choice, spoiling))
    game.play(np.zeros(3))
    with pytest.raises(ValueError, match=r"means = .* before round 2: learn must keep them finite"):
        game.play(np.zeros(3))
    assert game.rounds_played == 1


def returns_a_float(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> float:
    return u


def returns_nan(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> float:
    return np.nan


def writes(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    means[0] = 1.0
    return 0


def allocates(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    return np.argmax(means + offer)


def too_few(memory: Any, means: Any) -> int:
    return 0


def answers_nothing(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> None:
    memory[0] = t


def writes_beyond(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    memory[counts.size] = reward


@pytest.mark.parametrize(
    ("choose", "error"),
    [
        (returns_a_float, "returns float64: it must return an arm's index"),
        (returns_nan, "returns float64: it must return an arm's index"),
        (writes, "writes to a read-only argument"),
        (allocates, r"^allocates can't be compiled: line \d+ of test_agents.py makes an array"),
        (
            answers_nothing,
            r"^answers_nothing can't be compiled: line \d+ of test_agents.py ends it without an arm; return one",
        ),
        (too_few, r"must be a function choose\(memory, means, counts, offer, t, u\)"),
        (3, r"choose = 3 must be a function choose\(memory"),
    ],
)
def test_wrong_functions_are_refused(choose: Any, error: str) -> None:
    with pytest.raises(TypeError, match=error):
        CompiledAgent(choose, nothing)


def test_learn_returns_nothing() -> None:
    with pytest.raises(TypeError, match=r"learn = returns_a_float|must be a function learn"):
        CompiledAgent(greedy_choice, returns_a_float)  # type: ignore[arg-type]


def test_bounds_are_checked_when_a_game_is_made() -> None:
    with pytest.raises(ValueError, match=r"memory of 2 numbers is too short for this agent with 3 arms"):
        begun(CompiledAgent(greedy_choice, writes_beyond, 2))
    begun(CompiledAgent(greedy_choice, writes_beyond, 4))


def late_choice(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    """Reads beyond the offers, in round 20."""
    return 1 if offer[t // 20 * 1000 % 1003] > 9.0 else 0


def late_learn(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    """Writes beyond its memory after round 20."""
    memory[counts[arm] // 20 * 1000] = 1.0


def late_rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    """Writes beyond its memory in round 20."""
    memory[(plays[0] + plays[1] + plays[2] + 1) // 20 * 1000] += 1.0
    return 0


def test_an_index_that_leaves_the_arrays_later_ends_the_game() -> None:
    """Through held offers, single rounds and copies; the rounds before are played, and memory stays whole."""
    for agent, played in ((CompiledAgent(late_choice, nothing), 19), (CompiledAgent(greedy_choice, late_learn, 1), 20)):
        message = rf"(the bounds of its arrays, or raised, in|\] before) round {played + 1}\b"
        game = begun(agent)
        with pytest.raises(ValueError, match=message):
            game.hold(np.zeros(3), 50)
        assert game.rounds_played == played
        game = Game(n_arms=3, horizon=100, agent=agent, copies=2)
        game.begin([1, 2])
        for _ in range(played):
            game.play(np.zeros((2, 3)))
        with pytest.raises(ValueError, match=message):
            game.play(np.zeros((2, 3)))
        assert game.plays.sum() == 2 * played
    game, memory = begun("empirical-mean"), np.zeros(1)
    with pytest.raises(ValueError, match=r"the rule left the bounds of its arrays, or raised \(arms: 3, memory: 1\)"):
        game.follow(compile_rule(late_rule), memory, 50)
    assert (game.rounds_played, memory[0]) == (19, 19.0)


def test_a_trusted_function_plays_the_same() -> None:
    trusted = CompiledAgent(greedy_choice, nothing, trusted=True)
    assert pickle.loads(pickle.dumps(trusted)).trusted
    plays = [
        begun(agent).hold(np.ones(3), 50).plays.tolist() for agent in (CompiledAgent(greedy_choice, nothing), trusted)
    ]
    assert plays[0] == plays[1]


def test_a_memory_is_a_vector() -> None:
    for memory, error in (
        (-1, "memory = -1"),
        ([[1.0]], r"memory = \[\[1.0\]\]"),
        ([np.nan], r"memory = \[nan\]"),
        ("abc", "memory = 'abc'"),
    ):
        with pytest.raises((ValueError, TypeError), match=error):
            CompiledAgent(greedy_choice, nothing, memory)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"name": "logit", "temperature": -0.1}, "temperature = -0.1 must be a finite number at least 0"),
        ({"name": "logit", "knows_means": 1}, "knows_means = 1 must be True or False"),
        ({"name": "exploratory", "exponent": -1}, "exponent = -1"),
        ({"name": "exploratory", "exploration": returns_a_float}, "returns float64"),
        ({"name": "types", "order": "sorted"}, "order = 'sorted' is unknown"),
        ({"name": "types", "order": [0, 2]}, r"order\[1\] = 2 must be an integer from 0 to 1"),
        ({"name": "types", "order": []}, r"order = \[\] must be one of random, "),
        ({"name": "types", "order": None}, "order = None must be one of random, "),
        ({"name": "types", "order": [[0, 1]]}, "order = .* must be 1 integer"),
        ({"name": "types", "types": [[0.1, 0.2], [0.3]]}, "types = .* must be numbers"),
        ({"name": "types", "types": 0}, "types = 0"),
        ({"name": "types", "types": [0.1, 0.2]}, r"types of shape \(2,\)"),
        ({"name": "types", "types": [[0.1, 1.2]]}, r"means in \[0, 1\]"),
        ({"name": "types", "temperature": np.nan}, "temperature = nan"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], error: str) -> None:
    with pytest.raises((ValueError, TypeError), match=error):
        make_agent(**parameters)


def test_types_must_fit_the_game() -> None:
    with pytest.raises(ValueError, match=r"types of shape \(1, 2\) must have a mean for each arm: shape \(1, 3\)"):
        begun(make_agent("types", types=[[0.1, 0.2]]))
    with pytest.raises(ValueError, match="rewards here are linear"):
        begun("types", instance="unit-ball")


def test_a_python_agent_may_tell_its_law() -> None:
    class Coin:
        means = np.zeros(3)

        def reset(self, n_arms: int, rng: np.random.Generator) -> None:
            self.rng = rng

        def choose(self, incentives: np.ndarray) -> int:
            return int(self.rng.integers(3))

        def learn(self, arm: int, reward: float) -> None:
            pass

        def choice_probabilities(self, incentives: np.ndarray) -> list[float]:
            return [1 / 3] * 3

    assert_allclose(begun(Coin()).choice_probabilities(np.zeros(3)), 1 / 3)


def test_environments_and_compiled_agents_that_are_dropped_leave_no_memory() -> None:
    """Kilobytes of resident memory, after a tenth of them and after all."""
    sizes = []
    for environments, agents in ((500, 25), (4_500, 225)):
        for _ in range(environments):
            PrincipalEnv(n_arms=3, horizon=10).reset(seed=1)
        for _ in range(agents):
            PrincipalEnv(n_arms=3, horizon=10, agent=CompiledAgent(greedy_choice, averaging, room_for_sums)).reset(
                seed=1
            )
        gc.collect()
        sizes.append(resident())
    assert sizes[1] - sizes[0] < 2_500
