"""Messages of errors are a line: they show no whole array, and no integer of thousands of digits."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import baselines
import pa_env
from pa_env import principal_agent_v0
from pa_env.checks import LONGEST, short
from pa_env.rules import StopRule

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
