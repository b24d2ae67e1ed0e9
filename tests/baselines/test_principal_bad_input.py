"""Bad input to principals and simulations: the message names argument, value and remedy, and nothing has changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baselines
from baselines import Principal, hold, offer, simulate
from baselines.principal import Rounds
from baselines.registry import PRINCIPALS
from pa_env import IID
from pa_env.game import Game

PHASED = ("elimination", "elimination-offline", "exploratory", "exploratory-oracle")
NAN, INF = float("nan"), float("inf")


def made(name: str = "elimination", **changes: Any) -> Principal:
    return baselines.make(name, **({"n_arms": 3, "horizon": 100} | changes))


# -------------------------------------------------------------------------------------- making a principal


@pytest.mark.parametrize("delta", [0.0, -0.1, 1.0, 1.5, NAN, INF])
@pytest.mark.parametrize("name", PHASED)
def test_delta_outside_0_and_1(name: str, delta: float) -> None:
    with pytest.raises(
        ValueError, match=rf"delta = {delta} must be a (finite number above 0|probability between 0 and 1)"
    ):
        made(name, delta=delta)


@pytest.mark.parametrize("c0", [-0.01, -INF, INF, NAN])
@pytest.mark.parametrize("name", ["exploratory", "exploratory-oracle"])
def test_c0_below_0_or_endless(name: str, c0: float) -> None:
    with pytest.raises(ValueError, match=rf"c0 = {c0} must be a finite number at least 0"):
        made(name, c0=c0)


@pytest.mark.parametrize("argument", ["delta", "c0"])
def test_numbers_that_are_not(argument: str) -> None:
    with pytest.raises(TypeError, match=rf"{argument} = 'much' must be a finite number"):
        made("exploratory", **{argument: "much"})


SIZED = ("elimination", "exploratory", "zero", "oracle")


@pytest.mark.parametrize("horizon", [1, 0, -5])
@pytest.mark.parametrize("name", SIZED)
def test_horizon_below_2(name: str, horizon: int) -> None:
    with pytest.raises(ValueError, match=rf"horizon = {horizon} must be an integer at least 2"):
        made(name, horizon=horizon)


@pytest.mark.parametrize("n_arms", [0, -1])
@pytest.mark.parametrize("name", SIZED)
def test_n_arms_below_1(name: str, n_arms: int) -> None:
    with pytest.raises(ValueError, match=rf"n_arms = {n_arms} must be an integer at least 1"):
        made(name, n_arms=n_arms)


@pytest.mark.parametrize("argument", ["n_arms", "horizon"])
@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_are_not_whole(name: str, argument: str) -> None:
    with pytest.raises(TypeError, match=rf"{argument} = 7.5 must be an integer"):
        made(name, **{argument: 7.5})


def test_unknown_names_are_answered_with_those_known() -> None:
    with pytest.raises(
        ValueError, match=r"principal = 'eliminaton' is unknown \(did you mean 'elimination'\?\)"
    ) as error:
        made("eliminaton")
    assert all(name in str(error.value) for name in PRINCIPALS)
    with pytest.raises(
        ValueError, match=r"constants = 'papers' is unknown \(did you mean 'paper'\?\); known: paper, prac"
    ):
        made(constants="papers")


@pytest.mark.parametrize(
    ("name", "parameter", "known"),
    [
        ("elimination", "c0", "delta, constants, unknown_initial_means"),
        ("exploratory", "deltas", "c0, delta, constants, unknown_initial_means"),
        ("zero", "incentives", ""),
        ("fixed", "amounts", "incentives"),
    ],
)
def test_unknown_parameters_are_answered_with_those_known(name: str, parameter: str, known: str) -> None:
    with pytest.raises(
        ValueError, match=rf"parameter of principal '{name}' = '{parameter}' is unknown.*; known: {known}"
    ):
        made(name, **{parameter: 1.0})


@pytest.mark.parametrize(
    "incentives",
    [[0.1, 0.2], [0.1] * 4, [], 0.5, [[0.1, 0.2, 0.3]], [0.1, -0.2, 0.3], [0.1, NAN, 0.3], [0.1, INF, 0.3]],
)
def test_fixed_incentives_of_the_wrong_shape_or_value(incentives: Any) -> None:
    with pytest.raises(ValueError, match=r"incentives = .* must be 3 finite numbers, none below 0") as error:
        made("fixed", incentives=incentives)
    assert repr(incentives) in str(error.value)


@pytest.mark.parametrize("incentives", [["a", "b", "c"], [[0.1], [0.2, 0.3], 0.4]])
def test_fixed_incentives_that_are_not_numbers(incentives: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"incentives = .* must be"):
        made("fixed", incentives=incentives)


# -------------------------------------------------------------------------------------- playing


def state(principal: Principal) -> tuple[Any, ...]:
    return principal.t, principal.plays.tolist(), principal.sums.tolist(), principal.offer().tolist()


def refused(arm: Any, reward: Any, error: type[Exception] | tuple[type[Exception], ...], message: str) -> None:
    """In the middle of an episode; the principal must then go on as if nothing had been said."""
    principal, undisturbed = made(), made()
    for each in (principal, undisturbed):
        for round_arm in (0, 1, 2, 0):
            each.offer()
            each.observe(round_arm, 1.0)
    before = state(principal)
    with pytest.raises(error, match=message):
        principal.observe(arm, reward)
    assert state(principal) == before
    for _ in range(300):
        assert principal.offer().tolist() == undisturbed.offer().tolist()
        principal.observe(1, 0.5)
        undisturbed.observe(1, 0.5)


@pytest.mark.parametrize("arm", [3, 100, -1])
def test_an_arm_out_of_range(arm: int) -> None:
    refused(arm, 1.0, ValueError, rf"arm = {arm} must be an integer (from 0 to 2|at least 0)")


@pytest.mark.parametrize("arm", [1.5, "one", None])
def test_an_arm_that_is_not_an_integer(arm: Any) -> None:
    refused(arm, 1.0, TypeError, rf"arm = {arm!r} must be an integer")


@pytest.mark.parametrize("reward", [NAN, INF, -INF])
def test_a_reward_that_is_not_finite(reward: float) -> None:
    refused(0, reward, ValueError, rf"reward = {reward} must be a finite number")


@pytest.mark.parametrize("reward", [None, [1.0, 2.0]])
def test_a_reward_that_is_not_a_number(reward: Any) -> None:
    refused(0, reward, (TypeError, ValueError), r"reward = .* must be a finite number")


@pytest.mark.parametrize("name", ["elimination", "exploratory", "zero"])
def test_observe_before_offer(name: str) -> None:
    principal = made(name)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"observe\(\) must follow offer\(\)"):
            principal.observe(0, 1.0)
        assert (principal.t, principal.plays.tolist()) == (0, [0, 0, 0])
    first = principal.offer()
    principal.observe(0, 1.0)
    with pytest.raises(RuntimeError, match=r"observe\(\) must follow offer\(\)"):
        principal.observe(0, 1.0)
    assert (principal.t, principal.plays.tolist(), principal.sums.tolist()) == (1, [1, 0, 0], [1.0, 0.0, 0.0])
    principal.reset()
    assert principal.offer().tolist() == first.tolist()


def test_a_prediction_in_the_middle_of_an_episode_without_its_state() -> None:
    seen = np.zeros(6 * 3 + 2, np.float32)
    seen[-1] = 0.5
    with pytest.raises(RuntimeError, match=r"observe\(\) must follow offer\(\)"):
        made().predict(seen)


def test_the_oracle_says_that_it_must_see_the_game_and_goes_on_once_it_does() -> None:
    principal = made("oracle")
    with pytest.raises(RuntimeError, match=r"'oracle' must see the game: call attach\(env.unwrapped.game\)"):
        principal.offer()
    game = Game(3, 100, "oracle", IID([0.1, 0.6, 0.3], [0.9, 0.1, 0.2]))
    game.begin([1])
    principal.attach(game)
    assert principal.offer() == pytest.approx([0.5, 0.0, 0.0], abs=1e-8)


# -------------------------------------------------------------------------------------- simulations


@pytest.mark.parametrize("checkpoints", [[], [0], [-3, 5], [101], [5, 1000]])
def test_checkpoints_outside_the_game(checkpoints: list[int]) -> None:
    principal = made()
    with pytest.raises(ValueError, match=r"checkpoints = .* must be integers between 1 and horizon = 100") as error:
        simulate(principal, "uniform", checkpoints=checkpoints)
    assert repr(checkpoints) in str(error.value)
    assert principal.t == 0


@pytest.mark.parametrize("checkpoints", [[1.5, 3.0], ["ten"]])
def test_checkpoints_that_are_not_whole_numbers(checkpoints: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"checkpoints = .* must"):
        simulate(made(), "uniform", checkpoints=checkpoints)


BAD_CALLS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "horizon": ({"horizon": 1}, ValueError, r"horizon = 1 must be an integer at least 2"),
    "half": ({"horizon": 10.5}, TypeError, r"horizon = 10.5 must be an integer"),
    "seed": ({"seed": -1}, ValueError, r"seed = -1 must be an integer at least 0"),
    "agent": ({"agent": "learner"}, ValueError, r"agent = 'learner' is unknown.*; known: empirical-mean"),
    "instance": ({"instance": "uniformly"}, ValueError, r"instance = 'uniformly' is unknown"),
    "arms": ({"instance": IID([0.1, 0.2], [0.3, 0.4])}, ValueError, r"instance has 2 arms.*n_arms = 3"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_what_a_simulation_refuses(case: str) -> None:
    arguments, error, message = BAD_CALLS[case]
    principal = made()
    with pytest.raises(error, match=message):
        simulate(principal, **arguments)
    assert principal.t == 0
    assert simulate(principal, seed=1).plays[-1].sum() == 100


@pytest.mark.parametrize("principal", [3, int])
def test_a_simulation_of_something_that_is_no_principal(principal: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"principal = .* (must|is unknown)"):
        simulate(principal)


@pytest.mark.parametrize("name", ["privileged", "stand_in", "longest", "only_arms"])
def test_what_a_class_says_of_itself_is_refused_on_an_object(name: str) -> None:
    class Cheat(Principal):
        """Pays for what the game shows, if it is shown one."""

        def __init__(self, n_arms: int, horizon: int) -> None:
            setattr(self, name, True)
            super().__init__(n_arms, horizon)

        def attach(self, game: Game) -> None:
            """Never called."""
            raise AssertionError

    with pytest.raises(TypeError, match=f"Cheat sets {name} on the object"):
        simulate(Cheat(3, 100))
    with pytest.raises((TypeError, ValueError), match=f"Cheat sets {name} on the object"):
        baselines.compare([Cheat(3, 100)], seeds=1)
    with pytest.raises((TypeError, ValueError), match=f"Cheat sets {name} on the object"):
        baselines.compare([Cheat], horizon=100, seeds=1)


@pytest.mark.parametrize("when", ["__new__", "__init__", "reset"])
def test_users_classes_do_not_become_yardsticks(when: str) -> None:
    class Cheat(Principal):
        """Puts a yardstick in its place."""

        def __new__(cls, **sizes: int) -> Principal:  # type: ignore[misc]
            """Make one of this class, or the yardstick."""
            return PRINCIPALS["oracle"](**sizes) if when == "__new__" else object.__new__(cls)

        def __init__(self, n_arms: int, horizon: int) -> None:
            """Become the yardstick here, or later."""
            super().__init__(n_arms, horizon)
            if when == "__init__":
                self.__class__ = PRINCIPALS["oracle"]
            self.made = True

        def reset(self, seed: int | None = None) -> None:
            """Become the yardstick when an episode begins."""
            super().reset(seed)
            if "made" in vars(self):
                self.__class__ = PRINCIPALS["oracle"]

    with pytest.raises(ValueError, match="Cheat becomes a Oracle"):
        baselines.compare([Cheat], horizon=100, seeds=1)


@pytest.mark.parametrize("base", [Principal, PRINCIPALS["oracle"]])
def test_users_classes_are_never_shown_the_game(base: type[Principal]) -> None:
    class Cheat(base):  # type: ignore[valid-type, misc]
        """Says that it is one of the yardsticks."""

        privileged = True

        def attach(self, game: Game) -> None:
            """Never called."""
            raise AssertionError

    for play in (lambda: simulate(Cheat(3, 100)), lambda: baselines.compare([Cheat], horizon=100, seeds=1)):
        with pytest.raises(ValueError, match="only yardsticks of this package are shown the game"):
            play()


def test_a_class_that_equals_a_yardstick_is_not_shown_the_game() -> None:
    class Equal(type):
        """Makes classes that a set takes for the yardstick."""

        def __hash__(cls) -> int:
            return hash(PRINCIPALS["oracle"])

        def __eq__(cls, other: object) -> bool:
            return other is cls or other is PRINCIPALS["oracle"]

    class Cheat(Principal, metaclass=Equal):
        """Pays for what the game shows, if it is shown one."""

        def attach(self, game: Game) -> None:
            """Never called."""
            raise AssertionError

        def rounds(self) -> Rounds:
            """Nothing."""
            yield hold(0, 0.0, rounds=self.horizon)

    assert simulate(Cheat, horizon=100).plays[-1].sum() == 100


@pytest.mark.parametrize("step", [-1, 1])
def test_a_principal_that_moves_its_own_clock_is_told_so(step: int, tmp_path: Path) -> None:
    class Jumps(Principal):
        """Counts its rounds a second time, or takes them back."""

        def rounds(self) -> Rounds:
            """One round at a time."""
            while True:
                yield hold(0, 0.5)
                self.t += step

    for trace in (None, tmp_path / "rounds.parquet"):
        with pytest.raises(RuntimeError, match=rf"Jumps has t = {1 + step} after 1 rounds: .* must not set self.t"):
            simulate(Jumps(3, 100), trace=trace)


class Script(Principal):
    """One request over and over."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        super().__init__(3, 100)

    def rounds(self) -> Rounds:
        """Whatever it was given."""
        for _ in range(100):
            yield self.make()


@pytest.mark.parametrize("amount", [-0.1, NAN, INF])
def test_amounts_below_0_or_endless(amount: float) -> None:
    with pytest.raises(ValueError, match=rf"incentives\[1\] = {amount} must be a finite number, at least 0"):
        simulate(Script(lambda: hold(1, amount)), "uniform", "oracle")


@pytest.mark.parametrize("rounds", [0, -2])
def test_requests_for_less_than_one_round(rounds: int) -> None:
    """In a simulation they would be over at once, step by step they would never end."""
    with pytest.raises(ValueError, match=rf"rounds = {rounds} must be an integer at least 1"):
        simulate(Script(lambda: hold(1, 0.5, rounds=rounds)))


@pytest.mark.parametrize("arm", [3, -1])
def test_requests_for_an_arm_that_is_not_there(arm: int) -> None:
    """An arm of -1 must not be the last one."""
    with pytest.raises((ValueError, IndexError), match=rf"arm = {arm} must be"):
        simulate(Script(lambda: hold(arm, 0.5)))


@pytest.mark.parametrize("value", ["x" * 10_000, 10**5000, None, [1.0, 2.0]], ids=["text", "huge", "None", "list"])
def test_what_is_no_number_is_told_in_a_line(value: Any) -> None:
    for make in (lambda: hold(0, value), lambda: offer({0: value})):
        with pytest.raises(TypeError, match=r"^amount = .{1,200} must be a number$"):
            make()
    if value != 10**5000:
        with pytest.raises(TypeError, match=r"^arm = .{1,200} must be an integer$"):
            hold(value, 0.5)


def test_an_arm_of_a_request_is_an_integer() -> None:
    for make in (lambda arm: hold(arm, 1.0), lambda arm: offer({arm: 1.0})):
        for arm in (0.5, 1.0, "1"):
            with pytest.raises(TypeError, match=rf"^arm = {arm!r} must be an integer$"):
                make(arm)
        assert make(np.int8(1)) == make(1)


@pytest.mark.parametrize("amounts", [[0.5, 0.0], np.zeros(4), [0.5]])
def test_a_vector_of_another_length_is_refused(amounts: Any) -> None:
    with pytest.raises(ValueError, match=r"^amounts = .* must have one number for each of 3 arms, or be a dictionary"):
        simulate(Script(lambda: offer(amounts)))
    assert simulate(Script(lambda: offer({0: 0.5, 1: 0.0}))).plays[-1].sum() == 100


@pytest.mark.parametrize("observation", [np.zeros(7), np.zeros((2, 2, 20)), np.zeros(0)])
def test_observations_of_another_game(observation: Any) -> None:
    with pytest.raises(ValueError, match=r"must be \(n, 20\) or \(20,\): of observation='summary' with 3 arms$"):
        baselines.make("zero", n_arms=3, horizon=10).predict(observation)


def test_a_task_is_a_name_or_a_task() -> None:
    with pytest.raises(TypeError, match=r"^task = 3 must be the name of a task, or a Task$"):
        simulate("zero", task=3)  # type: ignore[arg-type]
