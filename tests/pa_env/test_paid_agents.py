"""Agents that are told what they were paid, and agents that remember offers."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pa_env import CompiledAgent, make_agent
from pa_env.game import Game

OFFER = [0.0, 0.4, 0.1]


def counting_choice(memory, means, counts, offer, t, u):  # type: ignore[no-untyped-def]
    memory[0] += 1.0
    return t % offer.size


def noting_pay(memory, means, counts, arm, reward, paid):  # type: ignore[no-untyped-def]
    memory[1] += paid


def noting_nothing(memory, means, counts, arm, reward):  # type: ignore[no-untyped-def]
    memory[1] += 1.0


class Base:
    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        self.means, self.told = np.zeros(n_arms), []

    def choose(self, incentives: np.ndarray) -> int:
        return 1


class Paid(Base):
    def learn(self, arm: int, reward: float, paid: float) -> None:
        self.told.append((arm, paid))


class PaidByName(Base):
    def learn(self, arm: int, reward: float, paid: float = -1.0) -> None:
        self.told.append((arm, paid))


class Unpaid(Base):
    def learn(self, arm: int, reward: float) -> None:
        self.told.append((arm, None))


def begun(agent: object, copies: int = 1) -> Game:
    game = Game(agent=agent, n_arms=3, horizon=100, copies=copies)  # type: ignore[arg-type]
    game.begin(seeds=range(copies))
    return game


@pytest.mark.parametrize(("agent", "paid"), [(Paid(), 0.4), (PaidByName(), 0.4), (Unpaid(), None)])
def test_python_agents_are_told_what_their_learn_asks_for(agent: Base, paid: float | None) -> None:
    game = begun(agent)
    game.play([OFFER])
    game.play([OFFER], arms=np.array([1]))
    assert agent.told == [(1, paid), (1, paid)]


class PaidByKeyword(Base):
    def learn(self, arm: int, reward: float, *, paid: float) -> None:
        """Refused: the incentive is the third argument."""


class Unrewarded(Base):
    def learn(self, arm: int) -> None:
        """Refused."""


class PaidForNothing(Base):
    def learn(self, arm: int, paid: float) -> None:
        """Refused."""


class FourArguments(Base):
    def learn(self, arm: int, reward: float, paid: float, round: int) -> None:
        """Refused."""


@pytest.mark.parametrize("kind", [PaidByKeyword, Unrewarded, PaidForNothing, FourArguments])
def test_a_learn_of_another_form_is_refused_before_the_game(kind: type[Base]) -> None:
    with pytest.raises(
        TypeError,
        match=rf"^{kind.__name__} has learn\(arm.*, but must have learn\(arm, reward\) or"
        r" learn\(arm, reward, paid\)$",
    ):
        Game(agent=kind(), n_arms=3, horizon=100)  # type: ignore[arg-type]


@pytest.mark.parametrize("copies", [1, 2])
def test_compiled_agents_are_told_and_choose_may_write(copies: int) -> None:
    game = begun(CompiledAgent(counting_choice, noting_pay, 2), copies)
    offers = np.tile(OFFER, (copies, 1))
    assert game.arrays.agent is not None
    for t in range(1, 7):
        assert_array_equal(game.answer(offers), game.answer(offers))  # being asked leaves no trace
        assert_array_equal(game.play(offers)[:, 6], t % 3)
    assert_array_equal(game.arrays.agent.memory[:, 0], 6.0)
    np.testing.assert_allclose(game.arrays.agent.memory[:, 1], 2 * sum(OFFER))


def test_compiled_agents_without_paid_play_as_before() -> None:
    game = begun(CompiledAgent(counting_choice, noting_nothing, 2))
    game.hold(OFFER, 9)
    assert game.arrays.agent is not None
    assert_array_equal(game.arrays.agent.memory, [[9.0, 9.0]])


def test_what_is_paid_now_moves_hedge_and_the_leader_later() -> None:
    for name in ("hedge", "follow-the-leader"):
        first = begun(name, 20).answer(np.zeros((20, 3)))
        paid = begun(name, 20)
        assert_array_equal(paid.answer(np.tile([0.0, 4.0, 0.0], (20, 1))), first)
        for _ in range(20):
            paid.play(np.tile([0.0, 4.0, 0.0], (20, 1)))
        assert (paid.answer(np.zeros((20, 3))) == 1).mean() > 0.9


@pytest.mark.parametrize("rate", [1e300, 1.7e308])
def test_hedge_with_an_endless_rate_follows_the_leader(rate: float) -> None:
    game = begun(make_agent("hedge", rate=rate), 20)
    for _ in range(5):
        game.play(np.tile([0.0, 4.0, 0.0], (20, 1)))
    assert_array_equal(game.answer(np.zeros((20, 3))), 1)
    assert_array_equal(game.choice_probabilities(np.zeros((20, 3))), np.tile([0.0, 1.0, 0.0], (20, 1)))


def test_holdout_refuses_as_often_as_its_patience_and_takes_what_is_above_its_margin() -> None:
    game = begun(make_agent("holdout", margin=0.5, patience=4))
    game.arrays.arms[0, :2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]  # mu and theta
    game.play([[0.0, 0.0, 0.0]])
    arms = [int(game.play([[0.0, 1.25, 0.0]])[0, 6]) for _ in range(6)]
    assert arms == [0, 0, 0, 0, 1, 1]
    assert int(game.play([[0.0, 0.0, 1.5]])[0, 6]) == 2


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("holdout", {"margin": -0.1}, "margin = -0.1"),
        ("holdout", {"patience": -1}, "patience = -1"),
        ("hedge", {"rate": 0.0}, "rate = 0"),
        ("hedge", {"feedback": "all"}, "feedback"),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(name, **parameters)
