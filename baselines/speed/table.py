"""How fast the game is, as ratios to yardsticks timed in the same run: machines differ, ratios less so.

Each row times ours and its yardstick in turn, several times, and compares the best of each. Yardsticks:

- a NumPy uniform draw (``Generator.random(out=buffer)`` on a warm buffer of 100,000, per number) for held offers;
- Gymnasium's CartPole-v1 for the Gymnasium environments, scalar and vectorised;
- PettingZoo's rps_v2 for the AEC environment, driven by the same loop;
- Stable-Baselines3's DummyVecEnv for its native VecEnv;
- one long game of as many rounds for many short episodes of a principal, which must not cost much beside their rounds;
- the built-in agent of the same kind for agents;
- the plain NumPy loop of :mod:`baselines.speed.numpy_loop` for principals that make a new offer every round.
"""

import functools
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

import pa_env  # noqa: F401 - registers the environments
from baselines.principal import Principal
from baselines.registry import make
from baselines.rl.policy_file import read
from baselines.rl.trained import WEIGHTS, Trained
from baselines.simulation import simulate
from baselines.speed import numpy_loop
from baselines.speed.agents import agents
from baselines.speed.row import DRAWS, ROUNDS, Row, batched, best_of, held, numpy_draws
from pa_env import principal_agent_v0
from pa_env.game import Game

EPISODES, HORIZON = 10_000, 200  # of many episodes in one call


def scalar(env: gym.Env[Any, Any], steps: int) -> Callable[[], object]:
    """``steps`` steps of an environment, episodes begun anew on the way."""
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(8)]

    def run() -> None:
        for i in range(steps):
            _, _, terminated, truncated, _ = env.step(actions[i % 8])
            if terminated or truncated:
                env.reset()

    return run


def rollout(envs: Any, steps: int) -> Callable[[], object]:
    """``steps`` steps of a Stable-Baselines3 VecEnv with actions drawn beforehand."""
    envs.seed(0)
    envs.reset()
    envs.action_space.seed(0)
    actions = [np.stack([envs.action_space.sample() for _ in range(envs.num_envs)]) for _ in range(8)]

    def run() -> None:
        for i in range(steps):
            envs.step(actions[i % 8])

    return run


def turns(env: Any, steps: int) -> Callable[[], object]:
    """``steps`` turns of an AEC environment, as its users drive it."""
    actions = {player: env.action_space(player).sample() for player in env.possible_agents}

    def run() -> None:
        played = 0
        while played < steps:
            env.reset(seed=0)
            for player in env.agent_iter(steps - played):
                _, _, terminated, truncated, _ = env.last()
                env.step(None if terminated or truncated else actions[player])
                played += 1

    return run


def rows() -> Iterator[Row]:
    """Every comparison of the table."""
    for n_arms in (5, 50):
        for agent, most in (("empirical-mean", 2.5), ("exploratory", 4.0)):
            name = f"held offer, K = {n_arms}, {agent}"
            yield Row(name, held(n_arms, agent), ROUNDS, numpy_draws(), DRAWS, "draws a round", most)
    for copies, least in ((64, 5.0), (1024, 1.5), (4096, 1.0)):
        ours = gym.make_vec("PrincipalAgent-v0", num_envs=copies, horizon=200)
        cartpole = gym.make_vec("CartPole-v1", num_envs=copies, vectorization_mode="vector_entry_point")
        work = 250 * copies
        name = f"batched, {copies} copies"
        yield Row(name, batched(ours, 250), work, batched(cartpole, 250), work, "x CartPole-v1", least)
    steps = 20_000
    ours_scalar, cartpole_scalar = gym.make("PrincipalAgent-v0"), gym.make("CartPole-v1")
    yield Row(
        "gym.make", scalar(ours_scalar, steps), steps, scalar(cartpole_scalar, steps), steps, "x CartPole-v1", 2.0
    )
    try:
        from stable_baselines3.common.env_util import make_vec_env

        from baselines.rl.vec_env import GameVecEnv
    except ImportError:
        pass  # needs the extra [train]
    else:
        native = rollout(GameVecEnv.of("PrincipalAgent-v0", copies=256, horizon=200), 250)
        dummy = rollout(make_vec_env("PrincipalAgent-v0", 256, env_kwargs={"horizon": 200}), 25)
        name = "Stable-Baselines3 rollout, 256 copies"
        yield Row(name, native, 250 * 256, dummy, 25 * 256, "x DummyVecEnv", 5.0)
    from pettingzoo.classic.rps import rps  # imports pygame

    steps = 10_000
    aec, yardstick = principal_agent_v0.env(), rps.env(max_cycles=1000)
    yield Row("AEC env()", turns(aec, steps), steps, turns(yardstick, steps), steps, "x rps_v2", 1.0)


def simulated(principal: str | Principal, agent: str, horizon: int, **instance: Any) -> Callable[[], object]:
    """One run of a principal."""
    return lambda: simulate(principal, agent=agent, horizon=horizon, **instance)


def simulations() -> Iterator[Row]:
    """Whole simulations, in draws a round; and principals that make a new offer every round, against the plain loop."""
    draws = numpy_draws()
    for name, agent, horizon, most in (
        ("elimination", "empirical-mean", 10**8, 3.0),
        ("exploratory", "exploratory", 10**9, 4.5),
    ):
        label = f"{name}, K = 5, T = {horizon:.0e}"
        yield Row(label, simulated(name, agent, horizon), horizon, draws, DRAWS, "draws a round", most, repeats=2)
    ball = Game(instance="unit-ball", n_arms=20, dim=3)
    ball.begin(seeds=[0])
    linear = simulated("linear", "ols", 10**7, instance=ball.instance())
    yield Row("linear, d = 3, K = 20, T = 1e+07", linear, 10**7, draws, DRAWS, "draws a round", 150.0, repeats=2)
    rounds = 5_000
    stepwise = simulated(numpy_loop.Stepwise(5, rounds), "empirical-mean", rounds)
    loop = functools.partial(numpy_loop.play, 5, rounds)
    yield Row("coroutine, an offer a round, K = 5", stepwise, rounds, loop, rounds, "x NumPy loop", 1.5)
    for n_arms, least in ((5, 50.0), (50, 20.0)):
        ours = simulated(numpy_loop.Compiled(n_arms, ROUNDS), "empirical-mean", ROUNDS)
        loop = functools.partial(numpy_loop.play, n_arms, rounds)
        yield Row(f"compiled rule, K = {n_arms}", ours, ROUNDS, loop, rounds, "x NumPy loop", least)
    loop = functools.partial(numpy_loop.play, 5, rounds)
    for name in ("ipa", "profit-target", "bracket-ucb"):
        ours = simulated(make(name, n_arms=5, horizon=ROUNDS), "empirical-mean", ROUNDS)
        yield Row(f"{name}, K = 5", ours, ROUNDS, loop, rounds, "x NumPy loop", 50.0)
    ours = simulated(make("ipa", n_arms=50, horizon=ROUNDS), "empirical-mean", ROUNDS)
    yield Row("ipa, K = 50", ours, ROUNDS, draws, DRAWS, "draws a round", 150.0)


def many_episodes() -> Iterator[Row]:
    """Many episodes of K = 5, T = 200 in one call, against as many rounds of long games."""
    for name, most in (("profit-target", 1.5), ("ipa", 2.0)):
        short, long = (make(name, n_arms=5, horizon=horizon) for horizon in (HORIZON, EPISODES * HORIZON))
        ours = functools.partial(simulate, short, seeds=range(EPISODES))
        alone = functools.partial(simulate, long, checkpoints=[EPISODES * HORIZON])
        label, rounds = f"{EPISODES:,} episodes, {name}, T = {HORIZON}", EPISODES * HORIZON
        yield Row(label, ours, rounds, alone, rounds, "times a round of one long game", most, repeats=5)


def microseconds(principal: Principal, episodes: int) -> float:
    """Microseconds of one of many episodes of a principal against the empirical-mean agent, best of several."""
    seconds = []
    for _ in range(6):
        start = time.perf_counter()
        simulate(principal, seeds=range(episodes))
        seconds.append(time.perf_counter() - start)
    return 1e6 * min(seconds) / episodes


def elimination_microseconds() -> float:
    """Of an episode of a coroutine."""
    return microseconds(make("elimination", n_arms=5, horizon=HORIZON), EPISODES)


def particle_microseconds() -> float:
    """Of a round with 64 particles."""
    return microseconds(make("particle", n_arms=5, horizon=HORIZON, particles=64), EPISODES // 50) / HORIZON


def trained_microseconds() -> float:
    """Of a round of a trained principal with 96 particles."""
    policy = read(WEIGHTS / "ppo.npz")
    return microseconds(Trained(5, HORIZON, policy, particles=96), EPISODES // 50) / HORIZON


def peak_megabytes() -> float:
    """Peak memory of a process that simulates ``elimination`` for 1e8 rounds, all libraries included.

    As Linux tells it of the program: what `getrusage` says would begin with the memory of the process that started it.
    """
    code = (
        "import re, baselines; baselines.simulate('elimination', horizon=10**8);"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) / 1024)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def page_faults() -> float:
    """Page faults of a step of 4096 copies whose results are dropped, where freed memory goes back to the system.

    glibc decides from what was freed before whether it does: here it always does, which is the worst case. Fetching
    pages anew would take longer than the step itself.
    """
    code = (
        "import resource, gymnasium as gym, pa_env\n"
        "envs = gym.make_vec('PrincipalAgent-v0', num_envs=4096)\n"
        "envs.reset(seed=0)\n"
        "offers = envs.action_space.sample()\n"
        "for step in range(200):\n"
        "    if step == 100:\n"
        "        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    envs.step(offers)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100)"
    )
    settings = os.environ | {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stdout)


def import_seconds() -> float:
    """Seconds that ``import pa_env`` takes in a fresh interpreter, best of several."""
    code = "import time; t = time.perf_counter(); import pa_env; print(time.perf_counter() - t)"
    runs = (subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5))
    return min(float(run.stdout) for run in runs)


def measured(only: str, repeats: int) -> Iterator[tuple[str, ...]]:
    """The cells of each row of the table whose name contains ``only``, as soon as it is measured."""
    from baselines.speed import cost

    for row in (*rows(), *agents(), *simulations(), *many_episodes()):
        if only in row.name:
            ours, yardstick = best_of(row, repeats)
            ratio = yardstick / ours if row.faster else ours / yardstick
            reached = ratio >= row.target if row.faster else ratio <= row.target
            bound = f"{'at least' if row.faster else 'at most'} {row.target:g}"
            times = f"{ours * 1e9:.1f}", f"{yardstick * 1e9:.1f}"
            yield row.name, *times, f"{ratio:.2f} {row.unit}", bound, "yes" if reached else "no"
    for name, value, unit, bound, target in (
        ("import pa_env", import_seconds, "s", "at most", 0.7),
        ("batched, 4096 copies, memory", page_faults, "page faults a step", "at most", 1.0),
        (f"{EPISODES:,} episodes, elimination, T = {HORIZON}", elimination_microseconds, "us each", "at most", 100.0),
        ("particle, 64 particles, K = 5", particle_microseconds, "us a round", "at most", 12.0),
        ("ppo, 96 particles, K = 5", trained_microseconds, "us a round", "at most", 25.0),
        ("peak memory, elimination, T = 1e+08", peak_megabytes, "MB", "at most", 300.0),
        ("default benchmark, CPU time in the game", cost.share_in_game, "of all", "at least", 0.5),
        ("benchmark, 2 processes to 1", cost.two_workers_to_one, "of the time", "at most", 0.55),
    ):
        if only in name:
            found = value()
            reached = found <= target if bound == "at most" else found >= target
            yield name, "", "", f"{found:.2f} {unit}", f"{bound} {target:g}", "yes" if reached else "no"


def show(only: str, repeats: int) -> None:
    """Print the table; elsewhere than on a terminal, also a line for each row while it is being made."""
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    found = measured(only, repeats)
    first = next(found, None)
    if first is None:
        raise ValueError(f"only = {only!r} matches no row: without it, all are shown")
    console = Console()
    headings = ("what", "ours, ns", "yardstick, ns", "ratio", "target", "reached")
    table = Table(*headings, title="Speed, best of interleaved timings")
    with Live(table, console=console):
        for cells in itertools.chain([first], found):
            table.add_row(*cells)
            if not console.is_terminal:
                print(*filter(None, cells), sep=", ", file=sys.stderr, flush=True)
