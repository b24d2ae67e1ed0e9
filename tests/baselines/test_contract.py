"""One contract: simulate, compare and make take the same things; whatever offers and observes is a principal."""

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import baselines
from baselines import Principal, offer
from baselines.cli.commands import app
from baselines.principal import Rounds
from pa_env import CompiledAgent, principal_agent_v0

GAME: dict[str, Any] = {"n_arms": 3, "horizon": 50}


class Plain:
    """No subclass of Principal."""

    def reset(self, seed: int | None = None) -> None:
        self.seen: list[tuple[int, float]] = []

    def offer(self) -> list[float]:
        return [0.2, 0.0, 0.1 * len(self.seen) / 50]

    def observe(self, arm: int, reward: float) -> None:
        self.seen.append((arm, reward))


class Twin(Principal):
    def rounds(self) -> Rounds:
        for t in range(self.horizon):
            outcome = yield offer([0.2, 0.0, 0.1 * t / 50])
            assert outcome.sums.sum() <= outcome.plays.sum() == 1


class Forgetful(Principal):
    def __init__(self, n_arms: int, horizon: int) -> None:
        self.patience = 3


def test_a_plain_object_plays_what_a_principal_plays() -> None:
    plain = Plain()
    runs = [baselines.simulate(each, seeds=4, **GAME) for each in (plain, Plain, Twin, Twin(3, 50))]
    for run in runs[1:]:
        assert_array_equal(run.utility, runs[0].utility)
    assert len(plain.seen) == 50  # the object itself was played, and has seen the last round
    samples = baselines.compare([plain, Plain(), Twin][1:], seeds=range(4), **GAME).samples
    assert_array_equal(samples["Plain"], samples["Twin"])
    assert baselines.make(plain, **GAME).predict(np.zeros(20, np.float32))[0].tolist() == [0.2, 0.0, 0.0]


@pytest.mark.parametrize("given", [Plain, "zero", "elimination,constants=practical", "ppo"])
def test_the_agents_seat_takes_names_and_classes(given: Any) -> None:
    def offers(principal: Any) -> Any:
        env = gym.make("PrincipalAgentFollower-v0", principal=principal, **GAME)
        return np.array([env.reset(seed=1)[0], *(env.step(0)[0] for _ in range(5))])

    assert_array_equal(offers(given), offers(baselines.make(given, **GAME)))


def test_every_interface_takes_the_class_of_an_agent() -> None:
    class Third:
        def reset(self, n_arms: int, rng: np.random.Generator) -> None:
            self.means = [0.0] * n_arms

        def choose(self, incentives: Any) -> int:
            return 2

        def learn(self, arm: int, reward: float) -> None:
            pass

    env = gym.make("PrincipalAgent-v0", agent=Third, **GAME)
    env.reset(seed=0)
    assert env.step(np.zeros(3))[4]["arm"] == 2
    assert baselines.simulate("zero", agent=Third, **GAME).plays[-1].tolist() == [0, 0, 50]


def test_a_file_gets_no_progress_bar(capfd: pytest.CaptureFixture[str]) -> None:
    baselines.compare(["zero"], seeds=2, **GAME)
    assert capfd.readouterr().err == ""


def test_simulate_takes_a_task_and_a_number_of_seeds() -> None:
    run = baselines.simulate("zero", task="k3-t100-uniform", seeds=2)
    again = baselines.simulate("zero", "uniform", n_arms=3, horizon=100, seeds=[0, 1])
    assert_array_equal(run.utility, again.utility)
    with pytest.raises(ValueError, match="is a whole setting: leave out n_arms"):
        baselines.simulate("zero", task="k3-t100-uniform", n_arms=3)
    assert baselines.simulate("zero").checkpoints[-1] == baselines.compare(["zero"], seeds=1).checkpoints[-1] == 1000


def test_messages_name_the_class() -> None:
    with pytest.raises(AttributeError, match=r"Forgetful has no .*: its __init__ must call super\(\).__init__"):
        baselines.simulate(Forgetful, **GAME)
    unnamed = type("Unnamed", (Principal,), {"rounds": lambda self: (each for each in [3])})
    with pytest.raises(TypeError, match="Unnamed yielded 3: rounds"):
        baselines.simulate(unnamed, **GAME)
    with pytest.raises(ValueError, match=r"amounts = .* must be a vector"):
        offer([[0.1, 0.2]])


def test_a_run_shows_itself_in_five_lines() -> None:
    for run in (baselines.simulate("zero", **GAME), baselines.simulate("zero", seeds=2, **GAME)):
        assert len(repr(run).splitlines()) == 5


def test_a_task_and_parts_of_a_setting_on_the_command_line() -> None:
    result = CliRunner().invoke(app, ["run", "--task", "smoke", "--arms", "3", "--horizon", "50"])
    assert result.exit_code == 1
    assert "--task smoke is a whole setting: leave out --arms, --horizon, or the task" in result.output


@pytest.mark.parametrize(
    ("key", "right"), [("instances", "instance"), ("Instance", "instance"), ("reset_masks", "reset_mask")]
)
def test_keys_of_options_that_are_nearly_right(key: str, right: str) -> None:
    envs = gym.make_vec("PrincipalAgent-v0", num_envs=2, **GAME)
    with pytest.raises(ValueError, match=f"options has the key '{key}', which is unknown: did you mean '{right}'"):
        envs.reset(options={key: None})
    envs.reset(options={"other": 1})
    principal_agent_v0.env(**GAME).reset(seed=0, options={key: 1})  # PettingZoo's tests pass keys of their own


def test_render_without_a_mode_warns() -> None:
    env = gym.make("PrincipalAgent-v0", **GAME).unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert env.render() is None


def lowest(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    return 0


def nothing(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    pass


def test_a_compiled_agent_has_the_name_that_it_is_given() -> None:
    agent = pickle.loads(pickle.dumps(CompiledAgent(lowest, nothing, name="first-arm")))
    assert baselines.compare(["zero"], agent=agent, seeds=1, **GAME).setting.startswith("agent first-arm, ")
    assert baselines.compare(["zero"], agent=CompiledAgent(lowest, nothing), seeds=1, **GAME).agent == "CompiledAgent"
