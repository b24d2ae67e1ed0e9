"""Compiled code is never stale, survives a bad cache, and each private part of Numba that it uses has a fallback."""

import gc
import importlib.util
import io
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from oracle import REWARDS, at, beta, episode_key, splitmix

import baselines
import pa_env
from pa_env import principal_agent_v0
from pa_env.game import Game
from pa_env.kernel import compiling
from pa_env.kernel.compiling import address, compiled, machine_code, part
from pa_env.rules import compile_rule

from ..test_extending import USE, add_to

# Plays every kind of compiled function: the kernel by held offers and by a rule of another package, and an agent that
# errs. All games have an agent that may err, so that the kernel is compiled for one kind of game only. Prints the
# oracle's regret, which is 0 whatever the layout, numbers that depend on constants, and whether the compiled game was
# in the cache.
PLAY = """
import gc; gc.disable()  # which takes a fifth of the time to compile
import json, numpy as np, baselines, pa_env
from pa_env.kernel.hold import hold
never = pa_env.make_agent("logit", temperature=0.0)
run = baselines.simulate("oracle", agent=never, horizon=300, seed=2, checkpoints=[300])
erred = baselines.simulate("zero", agent="logit", horizon=300, seed=2, checkpoints=[300])
game = pa_env.game.Game(agent=never, instance=pa_env.IID([0.3, 0.6], [0.5, 0.5], "beta"), horizon=50)
game.begin(seeds=[1])
game.hold([0.5, 0.0], 50)
numbers = [run.regret[-1], erred.plays[-1].tolist(), game.totals()["utility"]]
print(json.dumps([numbers, not hold.stats.cache_misses]))
"""

RULE = """
import json, baselines
print(json.dumps(baselines.simulate("profit-target", agent="exploratory", horizon=300, seed=2).utility.tolist()))
"""


def play(folder: Path, code: str = PLAY, optimised: bool = True) -> Any:
    """What a fresh process prints that finds the packages in one folder, with a compile cache there.

    Code that is not ``optimised`` is compiled in half the time; Numba warns that it keeps none of it.
    """
    # Python's own cache goes by size and time, which edits below leave as they are.
    variables = os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    variables["NUMBA_OPT"] = "3" if optimised else "0"
    command = [sys.executable, "-W", "error" if optimised else "ignore", "-c", code]
    done = subprocess.run(command, env=variables, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def plain_utility(concentration: float) -> float:
    """The utility of the held offer above: every round is a pull of arm 0, which is worth 1/2 and is paid 1/2."""
    key = episode_key(1, 1)
    rewards = [beta(splitmix(key, at(REWARDS, n)), 0.5, concentration) for n in range(1, 51)]
    return float(np.sum(np.array(rewards, np.float32), dtype=np.float64)) - 50 * 0.5


def edit(path: Path, old: str, new: str) -> None:
    """Change a source; its size and time stay as they were, so that nothing but its content tells."""
    text, times = path.read_text(), path.stat()
    assert text.count(old) == 1
    assert len(old) == len(new)
    path.write_text(text.replace(old, new))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of both packages, and of the machine code that there is: it serves every installation of the same code."""
    folder = tmp_path_factory.mktemp("packages")
    for package in (pa_env, baselines):
        origin = Path(package.__file__).parent
        shutil.copytree(origin, folder / origin.name, ignore=shutil.ignore_patterns("*.pyc"))
    compiled_before = compiling.cache_folder()
    if compiled_before.exists():  # others may be writing to it
        shutil.copytree(
            compiled_before, folder / "cache" / compiled_before.name, ignore=shutil.ignore_patterns("*.tmp.*")
        )
    return folder


@pytest.fixture(scope="module")
def before(packages: Path) -> Any:
    """What the packages play as they are; from then on the cache is warm, wherever it was."""
    numbers, cached = play(packages)
    if not cached:
        _, cached = play(packages)
    assert cached
    return numbers


def test_changed_constants_and_new_things_are_seen_with_a_warm_cache(
    packages: Path, before: Any, tmp_path: Path
) -> None:
    """Rows that swap places leave every number as it was; another law of the rewards gives the plain game's numbers.

    One of each thing that can be added is there too, and is used: the packages are compiled once for all of it.
    """
    assert before[0] < 1e-6
    assert before[2] == pytest.approx(plain_utility(concentration=2.0))
    kept = [(packages / name, shutil.copytree(packages / name, tmp_path / name)) for name in ("pa_env", "baselines")]
    layout, draws = packages / "pa_env/kernel/layout.py", packages / "pa_env/kernel/draws.py"
    try:
        edit(layout, "THETA = 1  # theta_a", "THETA = 2  # theta_a")
        edit(layout, "MEAN = 2  # muhat_a(t)", "MEAN = 1  # muhat_a(t)")
        edit(draws, "BETA_CONCENTRATION = 2.0", "BETA_CONCENTRATION = 7.0")
        add_to(packages)
        after, _ = play(packages, PLAY + USE, optimised=False)
        assert after[:2] == before[:2]
        assert after[2] == pytest.approx(plain_utility(concentration=7.0))
    finally:
        for place, copy in kept:
            shutil.rmtree(place)
            shutil.copytree(copy, place)


def test_two_versions_share_a_cache_folder(packages: Path) -> None:
    """A rule stands in the folder under the same name, from the same file; a constant of another file differs."""
    played = play(packages, RULE)
    beliefs = packages / "baselines/scripted/ours/gaussian_filter.py"
    original = beliefs.read_text()
    try:
        edit(beliefs, "LARGEST = 0.25 ", "LARGEST = 0.01 ")
        assert play(packages, RULE) != played
    finally:
        beliefs.write_text(original)
    assert play(packages, RULE) == played


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda content: content[:100],
    "garbage": lambda _: b"garbage",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_cache_is_compiled_anew(
    suffix: str, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "doubling.py"
    source.write_text("from pa_env.kernel.compiling import compiled\n\n\n@compiled\ndef double(x):\n    return 2 * x\n")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))

    def doubled() -> tuple[int, int]:
        """What a fresh import makes of 3, and how often it found its machine code in the cache."""
        spec = importlib.util.spec_from_file_location("doubling", source)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "doubling", module)
        spec.loader.exec_module(module)
        return module.double(3), sum(module.double.stats.cache_hits.values())

    assert [doubled(), doubled()] == [(6, 0), (6, 1)]
    (path,) = (tmp_path / "cache").rglob(f"*{suffix}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert doubled() == (6, 0)


def test_every_compiled_function_has_such_a_cache() -> None:
    """But those that are compiled into their callers."""
    for name in (
        "agents",
        "draws",
        "episodes",
        "hold",
        "instances",
        "least_squares",
        "other_agents",
        "responses",
        "step",
    ):
        functions = vars(importlib.import_module(f"pa_env.kernel.{name}")).values()
        ours = [function for function in functions if isinstance(function, Dispatcher)]
        linked = {"forceinline", "no_cpython_wrapper"}
        whole = [function for function in ours if not linked & set(function.targetoptions)]
        assert {type(function._cache).__name__ for function in whole} <= {"StampedCache"}, name


def test_a_full_disk_does_not_stop_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling.FunctionCache, "save_overload", full)
    monkeypatch.setattr(compiling.FunctionCache, "load_overload", full)
    assert compiled(lambda x: x + 1)(2) == 3


# For every file that has a compiled function: whether the folder of each of its functions, and of those into which it
# is compiled, is another one after a change of the file. Then what a function of a user's file depends on.
DIGESTS = """
import importlib, json, pkgutil, sys
from pathlib import Path
import baselines, pa_env
from numba.core.dispatcher import Dispatcher
from pa_env.kernel.sources import digest
files = {}
for package in (pa_env, baselines):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.partition(".")[2].startswith(("kernel", "compiled_agents", "rules", "scripted")):
            module = importlib.import_module(found.name)
            own = [f for f in vars(module).values() if isinstance(f, Dispatcher) and f.__module__ == found.name]
            if own:
                files[found.name] = Path(module.__file__)
user, helper = Path("user.py"), Path("helper.py")
user.write_text("import helper; from pa_env.compiled_agents import further_uniform\\n")
helper.write_text("RATE = 0.1\\n")
files["helper"] = helper.absolute()
missed = []
before = {name: digest(path) for name, path in files.items()}
rule, agent = digest(files["baselines.scripted.ours.profit_target"]), digest(user.absolute())
for name, path in files.items():
    text = path.read_text()
    path.write_text(text + "# changed\\n")
    changed = digest(path) != before[name]
    if name.startswith("pa_env") and name != "pa_env.compiled_agents":
        changed &= digest(files["baselines.scripted.ours.profit_target"]) != rule
    if name in ("helper", "pa_env.compiled_agents", "pa_env.kernel.draws"):
        changed &= digest(user.absolute()) != agent
    path.write_text(text)
    if not changed or digest(path) != before[name]:
        missed.append(name)
print(json.dumps([missed, sorted(files)]))
"""


def test_the_digest_changes_with_every_source_that_may_be_compiled(packages: Path) -> None:
    missed, files = play(packages, DIGESTS)
    assert missed == []
    assert {"pa_env.kernel.step", "pa_env.compiled_agents", "pa_env.rules", "helper"} <= set(files)


# For each rule of a user's: what its file has at the top, what it offers, and where the number stands.
OWN = {
    "imported": ("from helper import RATE", "RATE", "helper.py"),
    "called": ("from calls import f", "f()", "deep.py"),
    "in_a_package": ("import package.inside", "package.RATE", "package/__init__.py"),
    "in_a_folder": ("import folder.rates", "folder.rates.RATE", "folder/rates.py"),
    "by_name": ("import importlib; RATE = importlib.import_module('named').RATE", "RATE", "named.py"),
    "from_data": ("import json; RATES = tuple(json.load(open('rates.json')))", "RATES[0]", "rates.json"),
}
BESIDE = {
    "helper.py": "RATE = 0.1\n",
    "calls.py": "import numba, deep\n\n\n@numba.njit\ndef f():\n    return deep.g()\n",
    "deep.py": "import numba\n\n\n@numba.njit\ndef g():\n    return 0.1\n",
    "package/__init__.py": "RATE = 0.1\n",
    "package/inside.py": "",
    "folder/rates.py": "RATE = 0.1\n",
    "named.py": "RATE = 0.1\n",
    "rates.json": "[0.1]\n",
}
RULES = f"""
import importlib, json, numpy as np
from pa_env.game import Game
from pa_env.rules import compile_rule
game = Game(n_arms=2, horizon=10, agent="oracle", instance="uniform")
game.begin([1])
rules = {{name: importlib.import_module(name).rule for name in {list(OWN)}}}
compiled = {{name: compile_rule(rule, trusted=True) for name, rule in rules.items()}}
offers = {{name: game.follow(rule, np.zeros(1), 1).offer.tolist() for name, rule in compiled.items()}}
print(json.dumps([offers, sum(rule.stats.cache_hits.total() for rule in compiled.values())]))
"""


def test_what_a_rule_of_a_user_takes_from_elsewhere_is_seen_with_a_warm_cache(packages: Path) -> None:
    for name, (top, number, _) in OWN.items():
        rule = f"def rule(memory, plays, sums, arm, reward, offer):\n    offer[0] = {number}\n    return 0\n"
        (packages / f"{name}.py").write_text(f"{top}\n\n\n{rule}")
    for name, text in BESIDE.items():
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).write_text(text)
    assert play(packages, RULES)[0] == {name: [0.1, 0.0] for name in OWN}
    assert play(packages, RULES)[1] == len(OWN)
    for *_, file in OWN.values():
        edit(packages / file, "0.1", "0.2")
    assert play(packages, RULES) == [{name: [0.2, 0.0] for name in OWN}, 0]


FACTORIES = """
from pa_env import CompiledAgent
from pa_env.rules import compile_rule

def rule(c):
    def rule(memory, plays, sums, arm, reward, offer):
        offer[c] = 0.1
        return c
    return compile_rule(rule)

def learn(memory, means, counts, arm, reward):
    pass

def agent(c):
    def choose(memory, means, counts, offer, t, u):
        return c
    return CompiledAgent(choose, learn)
"""

# Makes rules, and agents, that differ only by a number of their factory; prints what each rule offers, the arm that
# each agent plays, and how many of their functions were in the cache.
SIBLINGS = """
import json, sys
import numpy as np
from siblings import agent, rule
from pa_env.game import Game
from pa_env.kernel.layout import ARM
rules, agents = [rule(c) for c in {0}], [agent(c) for c in {0}]
played = []
for each in rules:
    game = Game(n_arms=3, horizon=10, agent="oracle", instance="uniform")
    game.begin([1])
    played.append(game.follow(each, np.zeros(1), 1).offer.tolist())
for each in agents:
    game = Game(n_arms=3, horizon=10, agent=each, instance="uniform")
    game.begin([1])
    played.append(int(game.play(np.zeros(3))[0, ARM]))
functions = rules + [each.choose for each in agents]
print(json.dumps([played, sum(each.stats.cache_hits.total() for each in functions)]))
"""


def test_functions_of_one_name_that_different_processes_kept_are_told_apart(packages: Path) -> None:
    """Numba numbers them alike, and a process that loaded both from the cache called one of them for both."""
    (packages / "siblings.py").write_text(FACTORIES)
    offers = [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]
    for c in (0, 1):
        assert play(packages, SIBLINGS.format([c]))[0] == [offers[c], c]
    assert play(packages, SIBLINGS.format([0, 1])) == [[*offers, 0, 1], 4]


def test_environments_and_compiled_agents_that_are_dropped_leave_nothing_behind() -> None:
    def choose(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
        return 0

    def learn(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
        memory[0] += reward

    agent = pa_env.CompiledAgent(choose, learn, memory=1)
    assert pa_env.CompiledAgent(choose, learn).choose is agent.choose  # compiled once

    def play_all(agent: Any) -> list[weakref.ref[Any]]:
        settings: dict[str, Any] = {"n_arms": 2, "horizon": 5, "agent": agent}
        envs: list[Any] = [gym.make("PrincipalAgent-v0", **settings), principal_agent_v0.env(**settings)]
        envs.append(gym.make_vec("PrincipalAgent-v0", num_envs=2, **settings))
        envs.append(principal_agent_v0.vector_env(num_envs=2, **settings))
        for env in envs:
            env.reset(seed=1)
        return [weakref.ref(getattr(env, "unwrapped", env).game) for env in envs]

    games = play_all(agent)
    gc.collect()
    assert [game() for game in games] == [None] * 4
    tracemalloc.start()
    try:
        for _ in range(20):
            play_all(agent)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            play_all(agent)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000  # bytes, of 80 environments
    finally:
        tracemalloc.stop()
    functions = [weakref.ref(agent.choose), weakref.ref(agent.learn)]
    del agent
    gc.collect()
    assert [function() for function in functions] == [None, None]


def test_rules_that_are_dropped_are_not_kept() -> None:
    game, kept = Game(n_arms=2, horizon=5), []
    for trusted in (False, True):
        own = compile_rule(lambda memory, plays, sums, arm, reward, offer: 0, trusted=trusted)
        game.begin(seeds=[1])
        assert game.follow(own, np.zeros(1), rounds=5).rounds == 5
        kept.append(weakref.ref(own))
        del own
    gc.collect()
    assert [each() for each in kept] == [None, None]


# ----------------------------------------------------------------------------------------- Numba's private parts


def rule(memory: Any, plays: Any, sums: Any, arm: int, reward: float, offer: Any) -> int:
    offer[1] = 0.5
    return 1


def test_canary_nrt_is_an_option() -> None:
    assert compiling._supported({"_nrt": False}) == {"_nrt": False}
    assert compiling.OPTIONS["_nrt"] is False


def test_canary_parts_are_compiled_into_their_callers_alone() -> None:
    half = part(lambda x: 0.5 * x)
    assert compiled(lambda x: half(x) + 1.0)(3.0) == 2.5
    (overload,) = half.overloads.values()  # type: ignore[attr-defined]
    assert type(overload.library).__name__ == "PartLibrary"
    assert not overload.library._codegen._engine.is_symbol_defined(overload.fndesc.mangled_name)


def test_canary_overloads_are_called_directly() -> None:
    function = compiled(lambda x: x + 1.0)
    call = machine_code(function, (1.0,))
    assert call is not function
    assert call(2.0) == 3.0


def test_canary_addresses_are_told() -> None:
    function = compile_rule(rule)
    assert address(function) == compiling.code_address(function) > 0


def held() -> list[int]:
    game = Game(n_arms=2, agent="oracle", horizon=10)
    game.begin([1])
    game.follow(compile_rule(rule), np.zeros(1), 5)
    return game.hold([0.9, 0.0], 5).plays.tolist()


@pytest.mark.parametrize("missing", ["machine_code", "code_address", "FunctionCache", "PartCompiler"])
def test_without_a_private_part_the_same_is_played(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = held()
    if missing == "machine_code":
        monkeypatch.setattr(pa_env.game_state, "_CODE", {})
        monkeypatch.setattr(pa_env.game, "_STEP", {})
        for module in (pa_env.game, pa_env.game_state):
            monkeypatch.setattr(module, "machine_code", lambda function, _: function)
    elif missing == "code_address":
        monkeypatch.setattr(compiling, "code_address", _no_attribute)
        function = compile_rule(rule)
        assert address(function) == function.by_address.address
    else:
        monkeypatch.setattr(compiling, missing, None)
        half = part(lambda x: 0.5 * x)
        assert compiled(lambda x: half(x) + 1.0)(3.0) == 2.5
    assert held() == expected


def _no_attribute(*_: Any) -> None:
    raise AttributeError("overloads")


def test_without_the_option_nrt_it_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    njit: Callable[..., Any] = numba.njit

    def other(*arguments: Any, **options: Any) -> Any:
        if "_nrt" in options:
            raise KeyError("Unrecognized options: {'_nrt'}")
        return njit(*arguments, **options)

    monkeypatch.setattr(numba, "njit", other)
    assert compiling._supported({"nogil": True, "_nrt": False}) == {"nogil": True}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """Stands in for the stream of a notebook's kernel, which is no terminal."""

    __module__ = "ipykernel.iostream"


@pytest.mark.parametrize(
    ("stream", "slow", "worker", "told"),
    [
        (Terminal, True, False, 1),
        (Notebook, True, False, 1),
        (Terminal, False, False, 0),
        (io.StringIO, True, False, 0),
        (Terminal, True, True, 0),
        (Notebook, True, True, 0),
    ],
)
def test_who_is_told_once_that_compiling_takes_time(
    stream: type[io.StringIO], slow: bool, worker: bool, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_explained", False)
    monkeypatch.setattr(compiling, "PATIENCE", 0.01 if slow else 60.0)
    monkeypatch.setattr(sys, "stderr", stream())
    if worker:
        monkeypatch.setattr(multiprocessing, "parent_process", multiprocessing.current_process)
    for _ in range(2):
        with compiling.compilation():
            time.sleep(0.2)
    assert sys.stderr.getvalue().count("compiling") == told  # type: ignore[attr-defined]


def test_numba_is_bounded_above() -> None:
    """What is private may change with any version."""
    from importlib.metadata import requires

    (bound,) = (line for line in requires("principal-agent-env") or () if line.startswith("numba"))
    assert "<" in bound
