"""One contract: simulate, compare and make take the same things; whatever offers and observes is a principal."""

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import baselines
import pa_env
from baselines import Principal, offer
from baselines.cli.commands import app
from baselines.principal import Outcome, Rounds
from baselines.rl.trained import PPO
from pa_env import CompiledAgent, principal_agent_v0, scripted_agents

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


def test_the_agents_specs_in_an_environment(tmp_path: Path) -> None:
    file = tmp_path / "own_agent.py"
    file.write_text("import pa_env\nmine = pa_env.make_agent('exploratory', c0=0.3)\n")
    for spec in ("exploratory,c0=0.3", f"{file}:mine"):
        assert gym.make("PrincipalAgent-v0", agent=spec, **GAME).unwrapped.game.agent.c0 == 0.3


def test_a_spec_of_an_agent_needs_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted_agents, "SPECS", [])
    with pytest.raises(ValueError, match=r"agent = 'exploratory,c0=0\.3' is a spec: import baselines"):
        pa_env.game.Game(agent="exploratory,c0=0.3")


def test_a_policy_file_is_taken_as_a_path() -> None:
    path = PPO.weights
    run = baselines.simulate(path, **GAME)
    assert_array_equal(run.utility, baselines.simulate(str(path), **GAME).utility)
    samples = baselines.compare([path, "zero"], seeds=2, **GAME).samples
    assert_array_equal(samples[str(path)], baselines.compare({"mine": path}, seeds=2, **GAME).samples["mine"])
    assert baselines.make(path, **GAME).offer().size == 3
    env = gym.make("PrincipalAgentFollower-v0", principal=path, **GAME)
    assert env.reset(seed=0)[0].shape == env.observation_space.shape


class Negative(Principal):
    def rounds(self) -> Rounds:
        yield offer({1: -1.0})


class Odd(Plain):
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def offer(self) -> Any:
        return self.answer


class Blind:
    def reset(self, seed: int | None = None) -> None:
        pass

    def offer(self) -> list[float]:
        return [0.0] * 3


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "another horizon": (Twin(3, 20), GAME, "Twin has horizon = 20, but the game has 50"),
    "another number of arms": (Twin(2, 50), GAME, "Twin has n_arms = 2, but the game has 3"),
    "seeds twice": ("zero", {"seeds": [1, 1]}, r"seeds = \[1, 1\] must be one or more different seeds"),
    "no seeds": ("zero", {"seeds": ()}, r"seeds = \[\] must be one or more different seeds"),
    "horizon 0": ("zero", {"horizon": 0}, "horizon = 0 must be an integer at least 2 and at most 549755813887"),
    "a horizon too long": ("zero", {"horizon": 2**39}, "horizon = 549755813888 must be an integer at least 2 and at"),
    "a task of one round": ("zero", {"task": "k3-t1-uniform"}, "horizon = 1 must be an integer at least 2"),
    "a suite": ("zero", {"task": "short"}, "task = 'short' is a suite of 7 tasks: name one of them"),
    "a task for an instance": (
        *("zero", {"instance": "k5-t200-uniform"}),
        "instance = 'k5-t200-uniform' is a task: pass task='k5-t200-uniform'",
    ),
    "a negative incentive": (Negative, GAME, r"Negative: incentives\[1\] = -1.0 must be a finite number, at least 0"),
    "a negative offer": (Odd([0, -1, 0]), GAME, r"Odd: incentives\[1\] = -1.0 must be a finite number, at least 0"),
    "no offer": (Odd(None), GAME, r"Odd.offer\(\) = None must be numbers, one for each of 3 arms"),
    "a short offer": (Odd([0.0]), GAME, r"Odd.offer\(\) has shape \(1,\), but must have one number for each of 3"),
    "an object that does not observe": (Blind(), GAME, "principal = .*Blind.*; it lacks observe"),
    "a class that does not observe": (Blind, GAME, "principal = .*Blind.*; it lacks observe"),
    "a function": (lambda observation: 0, GAME, "make a principal of a function by baselines.from_policy"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_simulate_and_compare_refuse_the_same(case: str) -> None:
    principal, given, message = REFUSED[case]
    for play in (
        lambda: baselines.simulate(principal, **given),
        lambda: baselines.compare([principal], **({"seeds": 1} | given)),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            play()


def test_a_seed_and_seeds() -> None:
    with pytest.raises(ValueError, match="seed = 3 and seeds = 2: give one of them"):
        baselines.simulate("zero", seed=3, seeds=2)


def test_the_agents_seat_names_what_a_principal_lacks() -> None:
    for principal, message in (
        (Blind(), "it lacks observe"),
        (Odd(None), r"Odd.offer\(\) = None must be numbers"),
        (Odd([0, -1, 0]), r"Odd.offer\(\)\[1\] = -1.0 must be a finite number"),
        (lambda observation: None, "the principal's offer = None must be numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            gym.make("PrincipalAgentFollower-v0", principal=principal, **GAME).reset(seed=0)


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
    with pytest.raises(AttributeError, match=r"Forgetful is not set up: its __init__ must call super\(\).__init__"):
        baselines.simulate(Forgetful, **GAME)
    with pytest.raises(AttributeError, match="Forgetful is not set up"):
        baselines.make(Forgetful, **GAME)
    unnamed = type("Unnamed", (Principal,), {"rounds": lambda self: (each for each in [3])})
    with pytest.raises(TypeError, match="Unnamed yielded 3: rounds"):
        baselines.simulate(unnamed, **GAME)
    with pytest.raises(ValueError, match=r"amounts = .* must be a vector"):
        offer([[0.1, 0.2]])


def test_a_run_shows_itself_in_five_lines() -> None:
    for run in (baselines.simulate("zero", **GAME), baselines.simulate("zero", seeds=2, **GAME)):
        assert len(repr(run).splitlines()) == 5
    single = baselines.simulate("zero", pa_env.IID([0.2], [0.5]), horizon=50)
    single.scores["regret_oracle"] = np.array([-0.0])
    assert "regret_oracle 0\n  plays of the 1 arm: 100%" in repr(single)


def test_an_outcome_can_be_named() -> None:
    assert baselines.Outcome is Outcome


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


@pytest.mark.parametrize("name", ["PrincipalAgent-v0", "PrincipalAgentLinear-v0", "PrincipalAgentFollower-v0"])
def test_only_batched_environments_take_a_mask(name: str) -> None:
    env = gym.make(name, **GAME)
    for key in ("reset_mask", "reset_masks"):
        with pytest.raises(ValueError, match=f"options has the key '{key}': only batched environments take"):
            env.reset(options={key: None})
    with pytest.raises(ValueError, match="options has the key 'Instance', which is unknown: did you mean 'instance'"):
        env.reset(options={"Instance": None})
    env.reset(options={"other": 1})


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
    assert repr(agent) == "CompiledAgent(lowest, nothing, memory=0, name='first-arm')"
    assert baselines.compare(["zero"], agent=agent, seeds=1, **GAME).setting.startswith("agent first-arm, ")
    assert baselines.compare(["zero"], agent=CompiledAgent(lowest, nothing), seeds=1, **GAME).agent == "CompiledAgent"
