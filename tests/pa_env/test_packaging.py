"""The packages as users get them: light to import, compiled anywhere, typed, documented, with examples that run."""

import doctest
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import baselines
import pa_env

PACKAGE = Path(pa_env.__file__).parent
MODULES = ["pa_env", *(module.name for module in pkgutil.walk_packages(pa_env.__path__, "pa_env."))]
BASELINES = ["baselines", *(module.name for module in pkgutil.walk_packages(baselines.__path__, "baselines."))]
HEAVY = ("torch", "stable_baselines3", "matplotlib", "scipy", "ray", "pandas")
EXTRAS = ("pandas", "pyarrow", "matplotlib", "plotly", "rich", "torch", "stable_baselines3", "ray", "typer")


def run(code: str, place: Path, **environment: str) -> None:
    """Run code in a process of its own, in a folder where nothing but the package is found."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error", **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_nothing_heavy_is_imported(tmp_path: Path) -> None:
    """By no module of the package; Numba itself looks whether there is a SciPy."""
    code = f"""
import sys, gymnasium, numba, pettingzoo
theirs = set(sys.modules)
import {", ".join(MODULES)}
heavy = {{name.split(".")[0] for name in sys.modules.keys() - theirs}} & {set(HEAVY)}
assert not heavy, heavy
"""
    run(code, tmp_path)


def test_nothing_heavy_is_needed(tmp_path: Path) -> None:
    run(f"import sys; sys.modules.update(dict.fromkeys({HEAVY})); import {', '.join(MODULES)}", tmp_path)


def test_the_baselines_import_no_extra(tmp_path: Path) -> None:
    run(f"import sys, baselines; extras = sys.modules.keys() & {set(EXTRAS)}; assert not extras, extras", tmp_path)


def test_gymnasium_finds_the_package_by_itself(tmp_path: Path) -> None:
    code = """
import sys, gymnasium as gym
assert "pa_env" not in sys.modules
for name in ("PrincipalAgent-v0", "PrincipalAgentLinear-v0", "PrincipalAgentFollower-v0"):
    env = gym.make(f"pa_env:{name}", horizon=5)
    env.reset(seed=1)
    env.step(env.action_space.sample())
    assert gym.make_vec(f"pa_env:{name}", num_envs=3).num_envs == 3
"""
    run(code, tmp_path)


def test_pictures_cost_nothing_until_asked_for(tmp_path: Path) -> None:
    code = """
import sys, gymnasium as gym, numpy as np, pa_env
env = gym.make("PrincipalAgent-v0", render_mode="rgb_array")
env.reset(seed=1)
env.step(np.zeros(5))
assert "matplotlib" not in sys.modules
env.render()
assert "matplotlib" in sys.modules
"""
    run(code, tmp_path, PYTHONWARNINGS="default")


def test_compiles_where_no_cache_can_be_written(tmp_path: Path) -> None:
    """Root may write anywhere, but not below a file."""
    installed = tmp_path / "pa_env"
    shutil.copytree(PACKAGE, installed, ignore=shutil.ignore_patterns("__pycache__"))
    code = """
import pa_env
from pa_env.game import Game
from pa_env.kernel.compiling import cache_folder
from pa_env.rules import compile_rule
assert pa_env.__file__.startswith(PLACE), pa_env.__file__
game = Game(n_arms=3)
game.begin([1])
assert game.instance().mu.size == 3
rule = compile_rule(lambda memory, plays, sums, arm, reward, offer: arm + 1)
assert rule(*game.sums, *game.plays, *game.sums, 1, 0.0, *game.sums) == 2
assert not cache_folder().exists(), "this place has a cache after all"
"""
    nowhere = str(installed / "__init__.py" / "cache")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    homes = dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME"), nowhere)
    # Compiled without optimisation, which takes half the time.
    run(code.replace("PLACE", repr(str(tmp_path))), tmp_path, **homes, PYTHONPATH=path, NUMBA_OPT="0")


def test_version_and_types() -> None:
    assert isinstance(pa_env.__version__, str)
    assert all(part.isdigit() for part in pa_env.__version__.split(".")[:2])
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("name", [name for name in pa_env.__all__ if not name.startswith("__")])
def test_public_names_are_documented(name: str) -> None:
    text = getattr(pa_env, name).__doc__ or ""
    assert text.strip()
    assert not text.startswith(f"{name}("), "only the signature that dataclasses write"


def test_no_public_function_hides_a_module() -> None:
    """``help(pa_env.agents)`` and ``help(baselines.simulate)`` show the documentation of what users call."""
    modules = {*MODULES, *BASELINES}
    for package in (pa_env, baselines):
        assert not {f"{package.__name__}.{name}" for name in package.__all__} & modules
    assert "empirical-mean" in (pa_env.agents.__doc__ or "")
    assert "Args:" in (baselines.simulate.__doc__ or "")


def test_all_that_is_documented_is_there() -> None:
    assert {"IID", "Linear", "families", "agents", "make_agent", "__version__"} <= set(pa_env.__all__)
    assert {"empirical-mean", "exploratory", "oracle", "exploratory-oracle", "ols"} <= set(pa_env.agents())
    families = {"uniform", "misaligned", "gap", "clustered", "ipa-k5", "ipa-k50", "unit-ball", "minimax"}
    assert families <= set(pa_env.families())


@pytest.mark.parametrize("name", [*MODULES, *BASELINES])
def test_every_module_has_its_page_and_its_examples_run(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{error.name} is not installed")
    except SystemExit as error:  # the command line says by itself what it needs
        pytest.skip(str(error))
    assert (module.__doc__ or "").strip()
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "game",
        "envs.scalar",
        "envs.batched",
        "envs.both_seats",
        "instances",
        "principal_agent_v0",
        "rules",
        "scripted_agents",
        "wrappers",
    ],
)
def test_what_users_call_comes_with_an_example(name: str) -> None:
    examples = doctest.DocTestFinder().find(importlib.import_module(f"pa_env.{name}"))
    assert sum(len(example.examples) for example in examples) > 0
