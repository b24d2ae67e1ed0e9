"""Principals by their specs: names with parameters, classes of one's own, trained policies."""

import inspect
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pa_env
from baselines.benchmark import pool
from baselines.registry import PRINCIPALS, describe, make, resolve, resolve_agent, resolve_instance
from baselines.rl.trained import PPO, Trained
from baselines.scripted.paper.elimination import Elimination
from baselines.scripted.paper.linear import LinearElimination
from baselines.specs import parse
from pa_env.game import Game

from .helpers import sizes_of

OWN = """
from dataclasses import dataclass
import pa_env
from baselines import Principal, hold

@dataclass
class Settings:
    amount: "float"

class Haggler(Principal):
    def __init__(self, n_arms, horizon, amount=0.5):
        super().__init__(n_arms, horizon)
        self.settings = Settings(amount)
    def rounds(self):
        yield hold(0, self.settings.amount, rounds=self.horizon)

class Named(Haggler):
    name = "patient"

class Posing(Haggler):
    name = "oracle"

class Heir(Named):
    pass

class Stubborn:
    def __init__(self, arm=1):
        self.arm = arm
    def reset(self, n_arms, rng):
        self.means = [0.0] * n_arms
    def choose(self, incentives):
        return self.arm
    def learn(self, arm, reward):
        pass

stubborn = Stubborn()
fixed = pa_env.IID(mu=[0.1, 0.2], theta=[0.3, 0.4])

def drawn(rng, theta=0.5):
    return pa_env.IID(mu=rng.random(2), theta=[theta, theta])

class Drawn:
    def __init__(self, theta=0.5):
        self.theta = theta
    def __call__(self, rng):
        return drawn(rng, self.theta)

nobody = 3
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    return path


def principal_of(spec: Any, n_arms: int, horizon: int, instance: Any = "uniform") -> Any:
    game = Game(n_arms, horizon, instance=instance)
    game.begin(seeds=[0])
    return resolve(spec, game)


def test_a_name_with_parameters() -> None:
    made = principal_of("elimination,constants=practical,delta=1e-3", 4, 500)
    assert isinstance(made, Elimination)
    assert (made.n_arms, made.horizon, made.delta, made.factors) == (4, 500, 0.001, Elimination.practical)


def test_numbers_are_numbers() -> None:
    assert parse("x,a=3,b=0.5,c=practical,d=-1e3").parameters == {"a": 3, "b": 0.5, "c": "practical", "d": -1000.0}


@pytest.mark.parametrize(
    ("text", "flag"), [("true", True), ("True", True), ("false", False), ("False", False), ("", None)]
)
def test_flags_are_true_or_false(text: str, flag: bool | None) -> None:
    made = principal_of(f"elimination,unknown_initial_means={text}" if text else "elimination", 3, 100)
    assert isinstance(made, Elimination)
    assert made.unknown_initial_means is bool(flag)


@pytest.mark.parametrize("name", PRINCIPALS)
def test_values_that_are_none_are_named_with_their_parameter(name: str) -> None:
    values = ("10**400", "1" + "0" * 400, "-1" + "0" * 400, "1e400", "nan", "maybe", "", "0x10")
    arms = {"arms": np.eye(3)} if "arms" in inspect.signature(PRINCIPALS[name]).parameters else {}
    for parameter, taken in inspect.signature(PRINCIPALS[name]).parameters.items():
        if parameter in ("n_arms", "horizon", "arms"):
            continue
        for value in values if taken.annotation is bool else (*values, "True", "false"):
            with pytest.raises((ValueError, TypeError)) as raised:
                make(f"{name},{parameter}={value}", **sizes_of(name, 3, 100), **arms)
            shown = str(float(value)) if value in ("1e400", "nan") else value
            assert f"{parameter} = " in str(raised.value)
            assert shown.lower()[:150] in str(raised.value).lower()


def test_a_class_of_ones_own_in_a_file(own: Path) -> None:
    made = principal_of(f"{own}:Haggler,amount=0.25", 3, 10)
    assert made.offer().tolist() == [0.25, 0.0, 0.0]


def test_a_class_of_ones_own_in_a_module() -> None:
    made = principal_of("baselines.scripted.paper.elimination:Elimination,constants=practical", 3, 10)
    assert isinstance(made, Elimination)


def test_a_trained_policy_is_loaded_from_its_file(tmp_path: Path) -> None:
    path = shutil.copy(PPO.weights, tmp_path / "policy.npz")
    loaded = principal_of(str(path), 3, 100)
    assert isinstance(loaded, Trained)
    assert loaded.offer().tolist() == principal_of("ppo", 3, 100).offer().tolist()
    with pytest.raises(ValueError, match=r"parameter of principal .* = 'c0' is unknown"):
        principal_of(f"{path},c0=1", 3, 100)


def test_linear_principals_are_told_the_arms() -> None:
    arms = np.eye(3)
    instance = pa_env.Linear(arms, s=[0.5, 0.0, 0.0], nu=[0.0, 0.5, 0.0])
    for given in ("linear", LinearElimination):
        assert principal_of(given, 3, 100, instance).arms.tolist() == arms.tolist()
    principal_of("zero", 3, 100, instance)


def test_a_class_is_made_and_an_object_copied() -> None:
    assert (principal_of(Elimination, 3, 100).n_arms, principal_of(Elimination, 3, 100).horizon) == (3, 100)
    given = make("elimination", n_arms=3, horizon=100, delta=0.25)
    given.offer()  # in the middle of an episode
    copied = principal_of(given, 3, 100)
    assert copied is not given
    assert (copied.t, copied.delta) == (0, 0.25)
    for sizes, message in (
        ((4, 100), "n_arms = 3, but the game has 4"),
        ((3, 99), "horizon = 100, but the game has 99"),
    ):
        with pytest.raises(ValueError, match=message):
            principal_of(given, *sizes)
    with pytest.raises(TypeError, match=r"principal = 3 must be a name, a spec, a policy file, a baselines.Principal"):
        principal_of(3, 3, 100)


def test_what_is_described(own: Path) -> None:
    made = describe(f"{own}:Haggler,amount=1")
    assert made.label == "Haggler,amount=1"
    assert made.files == {"own.py": own}
    assert describe(f"{own}:Named").label == "patient"
    assert describe(f"{own}:Posing").label == f"{own}:Posing"  # ours has that name
    assert describe(f"{own}:Heir").label == "Heir"  # the name of its base is not its own
    assert describe("elimination,constants=practical") == ("elimination,constants=practical", None, {})
    assert describe("robust-epsilon-greedy").label == "robust-epsilon-greedy (a stand-in)"


def test_a_module_that_only_says_it_has_a_file_here(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``torch.classes`` does."""
    monkeypatch.chdir(own.parent)
    elsewhere = ModuleType("elsewhere")
    elsewhere.__file__ = "_classes.py"
    monkeypatch.setitem(sys.modules, "elsewhere", elsewhere)
    assert describe("own.py:Haggler").files == {"own.py": own}


def test_the_digest_follows_the_file_and_what_it_imports_from_beside(own: Path) -> None:
    """In processes of their own, as a module is imported once."""
    (own.parent / "package").mkdir()
    for name in ("beside.py", "package/__init__.py", "unused.py"):
        (own.parent / name).touch()
    own.write_text("import beside, package, numpy\n" + OWN)

    def digest() -> tuple[str, set[str]]:
        _, digest, files = pool.call(60, describe, f"{own}:Haggler")
        return digest, set(files)

    before, files = digest()
    assert files == {"own.py", "beside.py", "package/__init__.py"}
    assert digest() == (before, files)
    (own.parent / "unused.py").write_text("changed = True")
    assert digest() == (before, files)
    seen = {before}
    for name in files:
        (own.parent / name).write_text((own.parent / name).read_text() + "\n")
        seen.add(digest()[0])
    assert len(seen) == 1 + len(files)


def test_agents(own: Path) -> None:
    assert resolve_agent("exploratory,c0=0.3") == pa_env.make_agent("exploratory", c0=0.3)
    assert resolve_agent(f"{own}:Stubborn,arm=2").arm == 2  # type: ignore[union-attr]
    assert resolve_agent(f"{own}:stubborn").arm == 1  # type: ignore[union-attr]
    for spec, message in (
        ("exploratry", "agent = 'exploratry' is unknown"),
        (f"{own}:nobody", "agent = .*own.py:nobody': agent = 3 must be a name"),
        (f"{own}:Stubborn,leg=2", "parameter of agent .* = 'leg' is unknown"),
        (f"{own}:stubborn,arm=2", "stubborn is an object, and takes no parameters"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            resolve_agent(spec)


def test_instances(own: Path) -> None:
    assert resolve_instance("misaligned") == "misaligned"
    assert resolve_instance(f"{own}:fixed").n_arms == 2  # type: ignore[union-attr]
    rng = np.random.default_rng(0)
    assert resolve_instance(f"{own}:drawn,theta=0.25")(rng).theta.tolist() == [0.25, 0.25]  # type: ignore[operator,union-attr]
    assert resolve_instance(f"{own}:Drawn,theta=0.5")(rng).theta.tolist() == [0.5, 0.5]  # type: ignore[operator,union-attr]
    for spec, message in (
        ("unifrm", r"instance = 'unifrm' is unknown \(did you mean 'uniform'"),
        (f"{own}:nobody", "must be a pa_env.IID, a pa_env.Linear, or a function rng -> instance"),
        (f"{own}:drawn,mu=3", "parameter of instance .* = 'mu' is unknown"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            resolve_instance(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("eliminatoin", r"principal = 'eliminatoin' is unknown \(did you mean 'elimination'\?\)"),
        (
            "elimination,konstants=paper",
            r"parameter of principal 'elimination' = 'konstants' is unknown \(did you mean",
        ),
        ("elimination,delta", "'delta' must be a parameter and its value, as in name=value"),
        ("elimination,delta=-1", "delta = -1 must be a finite number above 0"),
        ("linear", "needs linear rewards: pass instance='unit-ball'"),
        ("no_such_module:Haggler", "No module named 'no_such_module'; install it, or name its file"),
        ("nowhere.py:Haggler", "there is no file nowhere.py"),
        ("nowhere.npz", "there is no file nowhere.npz"),
        ("{own}", "must name something in the file, as in .*own.py:Name"),
        ("{own}:Hagler", "has no class 'Hagler'"),
        ("{own}:nobody", "nobody must be a subclass of baselines.Principal"),
        ("{own}:Haggler,amount=true", r"amount = True must be no truth value"),
        ("elimination,unknown_initial_means=1", "unknown_initial_means = 1 must be true or false"),
        ("{own}:Haggler,amont=1", r"'amont' is unknown \(did you mean 'amount'\?\)"),
    ],
)
def test_bad_specs(spec: str, message: str, own: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        principal_of(spec.format(own=own), 3, 100)
