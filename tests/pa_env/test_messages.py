"""Messages of errors are a line: they show no whole array, and no integer of thousands of digits."""

import functools
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numba import njit
from oracle import splitmix

import baselines
import pa_env
from pa_env import principal_agent_v0, rules
from pa_env.checks import LONGEST, short
from pa_env.compiled_agents import further_uniform
from pa_env.game import Game
from pa_env.rules import StopRule, compile_rule, uniform, write_key

HUGE = 10**5000  # Python refuses to print it
LARGE = {
    "integer": HUGE,
    "integers within": [{"a": HUGE}, (HUGE,)],
    "list": list(range(5000)),
    "array": np.arange(5000.0),
    "short array of many lines": np.full(999, np.nan),
    "text": "x" * 10_000,
    "nested": [["y" * 99] * 99] * 99,
    "dictionary": {i: i for i in range(5000)},
    "objects": np.array([HUGE, "x"], object),
}


def made(**settings: Any) -> Any:
    return gym.make_vec("PrincipalAgent-v0", num_envs=2, horizon=10, **settings)


def reset(batched: Any = None, **given: Any) -> None:
    (batched or principal_agent_v0.env(horizon=10)).reset(**given)


def step(action: Any) -> None:
    env = gym.make("PrincipalAgent-v0", horizon=10)
    env.reset(seed=0)
    env.step(action)


CALLS: dict[str, Callable[[Any], Any]] = {
    "seed": lambda bad: reset(seed={"a": bad}),
    "seeds": lambda bad: reset(made(), seed=[bad]),
    "options": lambda bad: reset(options=[bad]),
    "instance of an episode": lambda bad: reset(options={"instance": bad}),
    "reset_mask": lambda bad: reset(made(autoreset_mode="Disabled"), options={"reset_mask": bad}),
    "action": step,
    "n_arms": lambda bad: made(n_arms=bad),
    "agent": lambda bad: made(agent=bad),
    "instance": lambda bad: made(instance=bad),
    "observation": lambda bad: made(observation=bad),
    "mu": lambda bad: pa_env.IID(mu=bad, theta=[0.5]),
    "arms": lambda bad: pa_env.Linear(arms=bad, s=[0.5], nu=[0.5]),
    "initial": lambda bad: pa_env.make_agent("empirical-mean", initial=[bad]),
    "stop": lambda bad: StopRule(bad, bad, bad).check(3),
    "principal": lambda bad: baselines.make(bad, n_arms=3, horizon=10),
    "parameter": lambda bad: baselines.make("ipa", n_arms=3, horizon=10, nothing=bad, other=bad),
    "incentives": lambda bad: baselines.make("fixed", n_arms=3, horizon=10, incentives=bad),
    "principals": lambda bad: baselines.compare([bad]),
    "episodes": lambda bad: baselines.compare(["zero"], seeds=[bad]),
    "checkpoints": lambda bad: baselines.simulate("zero", horizon=10, checkpoints=[bad]),
}


@pytest.mark.parametrize("bad", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_message_is_a_line(call: Callable[[Any], Any], bad: Any) -> None:
    with pytest.raises((ValueError, TypeError, AttributeError)) as caught:
        call(bad)
    message = str(caught.value)
    assert "\n" not in message
    assert "digits" not in message
    assert len(message) < LONGEST + 700  # names of everything that is known


def test_small_values_are_shown_whole() -> None:
    for value in (3, -1.5, "a  b", [1, 2, 3], {"a": None}, (1,), None, np.float64(2.0)):
        assert short(value) == repr(value)
    assert short(np.zeros((2, 2))) == "array([[0., 0.], [0., 0.]])"
    assert short(HUGE) == f"an integer of {HUGE.bit_length()} bits"
    assert len(short("x" * 10_000)) <= LONGEST + 3


def makes_an_array(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[:] = sums + np.ones(offer.size)
    return 0


def draws_from_numpy(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = np.random.random()  # noqa: NPY002
    return 0


def draws_from_python(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = random.random()
    return 0


def draws_inside(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    def inner() -> float:
        return np.random.random()  # noqa: NPY002

    offer[0] = inner()
    return 0


@njit
def rnd() -> float:
    return np.random.random()  # noqa: NPY002


HELPERS: Any = ModuleType("helpers")
HELPERS.np, HELPERS.rnd, HELPERS.random = np, rnd, njit(lambda n: 0.5)


def draws_from_a_module_of_a_module(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = HELPERS.np.random.random()
    return 0


def draws_by_a_helper(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = HELPERS.rnd()
    return 0


GENERATORS: Any = ModuleType("generators")
GENERATORS.new, GENERATORS.old, GENERATORS.plain = np.random.default_rng(), np.random.RandomState(), random.Random()
generator = GENERATORS.new


def draws_from_a_generator(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = generator.random()
    return 0


def draws_from_a_random_state(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = GENERATORS.old.random_sample()
    return 0


def draws_from_a_plain_generator(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = GENERATORS.plain.random()
    return 0


def ends_without_an_arm(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> None:
    offer[0] = 0.5


def ends_without_an_arm_at_times(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> Any:
    return arm if arm > 0 else None


def uses_an_unknown_name(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[0] = half  # type: ignore[name-defined] # noqa: F821
    return 0


def draws_nothing(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    """Uses functions of the same names as generators, and of this package."""
    offer[0] = np.floor(HELPERS.random(3)) + rules.uniform(memory, 0, 1)
    return 0


@pytest.mark.parametrize(
    ("rule", "limit"),
    [
        (draws_from_a_module_of_a_module, "draws from a global generator"),
        (makes_an_array, "makes an array"),
        (draws_from_numpy, "draws from a global generator"),
        (draws_from_python, "draws from a global generator"),
        (draws_from_a_generator, "draws from a global generator"),
        (draws_from_a_random_state, "draws from a global generator"),
        (draws_from_a_plain_generator, "draws from a global generator"),
        (ends_without_an_arm, "ends it without an arm; return an arm, or NO_ARM, on every path"),
        (ends_without_an_arm_at_times, "ends it without an arm; return an arm, or NO_ARM, on every path"),
        (uses_an_unknown_name, "uses half, which is not defined"),
    ],
)
def test_a_rule_that_cannot_be_compiled_is_told_its_line_and_the_limit(rule: Any, limit: str) -> None:
    line = rule.__code__.co_firstlineno + 1
    with pytest.raises(
        TypeError, match=rf"^{rule.__name__} can't be compiled: line {line} of test_messages.py {limit}[^\n]*$"
    ):
        compile_rule(rule)


def test_what_a_helper_draws_is_refused_and_what_only_has_such_a_name_is_not() -> None:
    for rule in (draws_inside, draws_by_a_helper):
        with pytest.raises(
            TypeError, match=rf"^{rule.__name__} can't be compiled: line \d+ of \w+.py draws from a global"
        ):
            compile_rule(rule)
    assert callable(compile_rule(draws_nothing))

    def choose(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
        return int(further_uniform(u, 0) * offer.size)

    def learn(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
        means[arm] = HELPERS.np.random.random()

    with pytest.raises(TypeError, match="draws from a global generator"):
        pa_env.CompiledAgent(choose, learn)


def test_a_rule_whose_variables_have_no_value_yet_is_told_which() -> None:
    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        return later

    with pytest.raises(
        TypeError,
        match=r"^rule can't be compiled: line \d+ of test_messages.py uses later, which has no value yet; define",
    ):
        compile_rule(rule)
    later = 0
    assert callable(compile_rule(rule))


@pytest.mark.parametrize("bad", [3, None, "rule", len, lambda memory, plays: 0, functools.partial(draws_nothing)])
def test_a_rule_has_its_arguments(bad: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^rule = .* must be a function rule\(memory, plays, sums, arm, reward, offer\) -> target$"
    ):
        compile_rule(bad)


def test_a_function_that_numba_has_compiled_is_taken() -> None:
    for rule in (njit(draws_nothing), compile_rule(draws_nothing)):
        game = Game(n_arms=2, horizon=3)
        game.begin([1])
        assert game.follow(compile_rule(rule), np.zeros(2), 3).rounds == 3


def test_a_rule_draws_by_its_key() -> None:
    @compile_rule
    def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
        offer[0] = uniform(memory, 0, plays.sum() + 1)
        return 0

    memory = np.zeros(2)
    write_key(memory, 0, 2**63 + 5)
    game = Game(n_arms=2, horizon=3)
    game.begin([1])
    offers = [float(game.follow(rule, memory, 1).offer[0]) for _ in range(3)]
    assert offers == [(splitmix(2**63 + 5, n) >> 11) * 2.0**-53 for n in (1, 2, 3)]
