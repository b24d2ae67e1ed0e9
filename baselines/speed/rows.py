"""The rows of the speed table: what is timed, against which yardstick, and the goal.

Nothing of ours is imported before a row is set up. So this file, run as a program, times the rows of another checkout
of the packages, which stands first on the path (``pa-bench speed --against``); what it lacks is left out.

Yardsticks:

- a NumPy uniform draw (``Generator.random(out=buffer)`` on a warm buffer of 100,000, per number) for held offers;
- Gymnasium's CartPole-v1 for the Gymnasium environments, scalar and vectorised;
- PettingZoo's rps_v2 for the AEC environment, driven by the same loop;
- Stable-Baselines3's DummyVecEnv for its native VecEnv;
- their compiled rounds alone for many short episodes of a principal;
- the built-in agent of the same kind for agents;
- a plain NumPy loop (:func:`numpy_loop`) for principals that make a new offer every round.
"""

import copy
import functools
import importlib.util
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from baselines import Principal
    from baselines.principal import Rounds
    from pa_env import CompiledAgent
    from pa_env.rules import Rule

Call = Callable[[], object]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
DRAWS = ROUNDS = 100_000
EPISODES, HORIZON = 10_000, 200  # of many episodes in one call
STEPWISE = 5_000  # rounds of a loop in Python


@dataclass(frozen=True)
class SpeedRow:
    """One comparison: ours and a yardstick, each of which plays so many rounds a call."""

    name: str
    setup: Callable[[], Call]  # makes what is timed
    rounds: float
    yardstick: Callable[[], Call] | None  # None: microseconds of ``per`` rounds, and no ratio
    yardstick_rounds: float
    unit: str  # of the ratio: "draws a round" (small is good) or "x faster"
    goal: float
    repeats: int = 500  # at most so many timings
    per: float = 1.0

    @property
    def faster(self) -> bool:
        """True if a large ratio is good."""
        return self.unit.startswith("x")

    def value(self, ours: float, yardstick: float) -> float:
        """The ratio, from seconds a round."""
        if self.yardstick is None:
            return 1e6 * ours * self.per
        return yardstick / ours if self.faster else ours / yardstick


def rows() -> Iterator[SpeedRow]:
    """Every row of the table that is a timing."""
    yield from environments()
    yield from agents()
    yield from simulations()
    yield from many_episodes()


def environments() -> Iterator[SpeedRow]:
    """Held offers, and the interfaces that play round by round."""
    for n_arms, agent, most in (
        (5, "empirical-mean", 2.2),
        (5, "exploratory", 3.5),
        (50, "empirical-mean", 2.5),
        (50, "exploratory", 4.0),
    ):
        name, ours = f"held offer, K = {n_arms}, {agent}", partial(held, n_arms, agent)
        yield SpeedRow(name, ours, ROUNDS, numpy_draws, DRAWS, "draws a round", most)
    for copies, least in ((64, 7.0), (1024, 2.0), (4096, 1.2)):
        ours, cartpole, rounds = partial(batched, copies), partial(batched_cartpole, copies), 250 * copies
        yield SpeedRow(f"batched, {copies} copies", ours, rounds, cartpole, rounds, "x CartPole-v1", least)
    steps = 20_000
    ours, cartpole = partial(scalar, "PrincipalAgent-v0", steps), partial(scalar, "CartPole-v1", steps)
    yield SpeedRow("gym.make", ours, steps, cartpole, steps, "x CartPole-v1", 3.0)
    if importlib.util.find_spec("stable_baselines3") is not None:
        name = "Stable-Baselines3 rollout, 256 copies"
        yield SpeedRow(name, native_rollout, 250 * 256, dummy_rollout, 25 * 256, "x DummyVecEnv", 5.0)
    turns = 10_000  # two a round
    yield SpeedRow("AEC env()", partial(aec, turns), turns / 2, partial(aec_rps, turns), turns / 2, "x rps_v2", 3.0)
    ours, one = partial(both_seats, 1024), partial(batched, 1024, 8, "oracle")
    yield SpeedRow("both seats, 1024 copies", ours, 8 * 1024, one, 8 * 1024, "of one seat", 2.0)


def agents() -> Iterator[SpeedRow]:
    """Agents against each other, in rounds with an offer each."""
    for label, agent, yardstick, most in (
        ("empirical-mean, compiled by a user", averaging, "empirical-mean", 4.0),
        ("thompson, compiled by a user", sampling, "thompson", 4.0),
        ("logit", "logit", "thompson", 1.5),
        ("types", "types", "oracle", 1.2),
        ("hedge", "hedge", "empirical-mean", 1.5),
        ("holdout", "holdout", "empirical-mean", 1.5),
    ):
        ours, theirs = partial(answered, agent), partial(answered, yardstick)
        yield SpeedRow(f"agent: {label}", ours, 2000, theirs, 2000, f"of {yardstick}", most)
    yield SpeedRow("agent: in Python", python_agent, 1, numpy_draws, DRAWS, "draws a round", 2300.0)
    ours, built_in = partial(held, 5, averaging), partial(held, 5, "empirical-mean")
    yield SpeedRow("agent: compiled by a user, held", ours, ROUNDS, built_in, ROUNDS, "of empirical-mean", 4.0)


def simulations() -> Iterator[SpeedRow]:
    """Whole simulations, in draws a round; and principals that make a new offer every round, against the plain loop."""
    for name, agent, T, most in (
        ("elimination", "empirical-mean", 10**8, 3.0),
        ("exploratory", "exploratory", 2 * 10**7, 3.5),
        ("exploratory", "exploratory", 10**9, 4.5),
    ):
        label, ours = f"{name}, K = 5, T = {T:.0e}", partial(simulated, name, agent, T)
        yield SpeedRow(label, ours, T, numpy_draws, DRAWS, "draws a round", most, repeats=2)
    label, T = "linear, d = 3, K = 20, T = 1e+07", 10**7
    yield SpeedRow(label, linear, T, numpy_draws, DRAWS, "draws a round", 150.0, repeats=2)
    loop = partial(numpy_loop, 5, STEPWISE)
    ours = partial(simulated, stepwise, "empirical-mean", STEPWISE)
    yield SpeedRow("coroutine, an offer a round, K = 5", ours, STEPWISE, loop, STEPWISE, "x NumPy loop", 1.5)
    for n_arms, least in ((5, 50.0), (50, 20.0)):
        ours, theirs = partial(simulated, compiled, "empirical-mean", ROUNDS, n_arms), partial(numpy_loop, n_arms, 5000)
        yield SpeedRow(f"compiled rule, K = {n_arms}", ours, ROUNDS, theirs, STEPWISE, "x NumPy loop", least)
    for name in ("ipa", "profit-target", "bracket-ucb"):
        ours = partial(simulated, name, "empirical-mean", ROUNDS)
        yield SpeedRow(f"{name}, K = 5", ours, ROUNDS, loop, STEPWISE, "x NumPy loop", 50.0)
    ours = partial(simulated, "ipa", "empirical-mean", ROUNDS, 50)
    yield SpeedRow("ipa, K = 50", ours, ROUNDS, numpy_draws, DRAWS, "draws a round", 150.0)


def many_episodes() -> Iterator[SpeedRow]:
    """Many episodes of K = 5, T = 200 in one call, against their compiled rounds alone, or in microseconds."""
    rounds, some = EPISODES * HORIZON, EPISODES // 10
    for name, most in (("profit-target", 1.5), ("ipa", 2.0)):
        ours, alone = partial(episodes, name, EPISODES), partial(rounds_alone, name, some)
        label, unit = f"{EPISODES:,} episodes, {name}, T = {HORIZON}", "times their rounds alone"
        yield SpeedRow(label, ours, rounds, alone, some * HORIZON, unit, most, repeats=5)
    label, ours = f"{EPISODES:,} episodes, elimination, T = {HORIZON}", partial(episodes, "elimination", EPISODES)
    yield SpeedRow(label, ours, rounds, None, 1, "us each", 100.0, repeats=6, per=HORIZON)
    few = EPISODES // 50
    for name in ("particle", "ppo"):  # each with its own number of particles
        ours = partial(episodes, name, few)
        yield SpeedRow(f"{name}, K = 5", ours, few * HORIZON, None, 1, "us a round", 12.0, repeats=6)


# -------------------------------------------------------------------------------------- what is timed


def numpy_draws() -> Call:
    """``DRAWS`` uniform numbers."""
    rng, buffer = np.random.default_rng(0), np.empty(DRAWS)
    return lambda: rng.random(out=buffer)


def held(n_arms: int, agent: "str | Callable[[], CompiledAgent]") -> Call:
    """``ROUNDS`` rounds of one held offer that is always accepted."""
    from pa_env.game import Game

    game = Game(n_arms=n_arms, agent=agent() if callable(agent) else agent, horizon=10**11, observe=False)
    game.begin(seeds=[0])
    offer = np.zeros(n_arms)
    offer[n_arms // 2] = 1.1
    return lambda: game.hold(offer, ROUNDS)


def batched(copies: int, steps: int = 250, agent: str = "empirical-mean") -> Call:
    """``steps`` steps of the batched game."""
    import pa_env  # noqa: F401 - registers the environments

    return vector_steps(gym.make_vec("PrincipalAgent-v0", num_envs=copies, horizon=HORIZON, agent=agent), steps)


def batched_cartpole(copies: int) -> Call:
    """250 steps of CartPole's own batch."""
    return vector_steps(gym.make_vec("CartPole-v1", num_envs=copies, vectorization_mode="vector_entry_point"), 250)


def vector_steps(env: gym.vector.VectorEnv[Any, Any, Any], steps: int) -> Call:
    """Steps of a vector environment with actions drawn beforehand."""
    env.reset(seed=0)
    env.action_space.seed(0)
    return repeated(env.step, [env.action_space.sample() for _ in range(8)], steps)


def repeated(step: Callable[[Any], object], actions: list[Any], steps: int) -> Call:
    """Steps with these actions, again and again."""

    def run() -> None:
        for i in range(steps):
            step(actions[i % len(actions)])

    return run


def scalar(name: str, steps: int) -> Call:
    """Steps of an environment, episodes begun anew on the way."""
    import pa_env  # noqa: F401 - registers the environments

    env = gym.make(name)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(8)]

    def run() -> None:
        for i in range(steps):
            _, _, terminated, truncated, _ = env.step(actions[i % 8])
            if terminated or truncated:
                env.reset()

    return run


def native_rollout() -> Call:
    """250 steps of our VecEnv."""
    from baselines.rl.vec_env import GameVecEnv

    return rollout(GameVecEnv.of("PrincipalAgent-v0", copies=256, horizon=HORIZON), 250)


def dummy_rollout() -> Call:
    """25 steps of DummyVecEnv."""
    from stable_baselines3.common.env_util import make_vec_env

    return rollout(make_vec_env("PrincipalAgent-v0", 256, env_kwargs={"horizon": HORIZON}), 25)


def rollout(envs: Any, steps: int) -> Call:
    """Steps of a Stable-Baselines3 VecEnv with actions drawn beforehand."""
    envs.seed(0)
    envs.reset()
    envs.action_space.seed(0)
    actions = [np.stack([envs.action_space.sample() for _ in range(envs.num_envs)]) for _ in range(8)]
    return repeated(envs.step, actions, steps)


def aec(turns: int) -> Call:
    """Turns of our AEC environment."""
    from pa_env import principal_agent_v0

    return aec_turns(principal_agent_v0.env(), turns)


def aec_rps(turns: int) -> Call:
    """Turns of rock, paper, scissors."""
    from pettingzoo.classic.rps import rps  # imports pygame

    return aec_turns(rps.env(max_cycles=1000), turns)


def aec_turns(env: Any, turns: int) -> Call:
    """Turns of an AEC environment, as its users drive it."""
    actions = {player: env.action_space(player).sample() for player in env.possible_agents}

    def run() -> None:
        played = 0
        while played < turns:
            env.reset(seed=0)
            for player in env.agent_iter(turns - played):
                _, _, terminated, truncated, _ = env.last()
                env.step(None if terminated or truncated else actions[player])
                played += 1

    return run


def both_seats(copies: int) -> Call:
    """8 rounds of both seats, with moves drawn beforehand."""
    from pa_env import principal_agent_v0

    envs = principal_agent_v0.vector_env(copies, horizon=HORIZON, agent="oracle")
    rng, most = np.random.default_rng(0), envs.game.max_incentive
    offers = [rng.random((copies, envs.game.n_arms)) * most for _ in range(8)]
    arms = [rng.integers(0, envs.game.n_arms, copies) for _ in range(8)]
    envs.reset(seed=0)

    def run() -> None:
        for offer, answer in zip(offers, arms, strict=True):
            envs.offer(offer)
            if envs.answer(answer)[2][0]:
                envs.reset()

    return run


def turn_about(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
    """A rule that pays each arm in turn, so that every round has another offer."""
    paid = int(memory[0]) % offer.size
    for a in range(offer.size):
        offer[a] = 0.3 if a == paid else 0.0
    memory[0] += 1.0
    return int(paid)


def answered(agent: "str | Callable[[], CompiledAgent]") -> Call:
    """2000 rounds against an agent, with another offer each round."""
    from pa_env.game import Game
    from pa_env.rules import compile_rule

    game = Game(agent=agent() if callable(agent) else agent, horizon=10**11, observe=False)
    rule, memory = compile_rule(turn_about), np.zeros(1)
    game.begin(seeds=[0])
    return lambda: game.follow(rule, memory, 2000)


def greedy_choice(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
    """``empirical-mean`` as a user would write it."""
    best = 0
    for a in range(offer.size):
        if means[a] + offer[a] > means[best] + offer[best]:
            best = a
    return best


def average(memory: Floats, means: Floats, counts: Integers, arm: int, reward: float) -> None:
    """Empirical means."""
    memory[arm] += reward
    means[arm] = memory[arm] / counts[arm]


def averaging() -> "CompiledAgent":
    """A user's agent that is greedy."""
    from pa_env import CompiledAgent

    return CompiledAgent(greedy_choice, average, np.zeros)


def sampling() -> "CompiledAgent":
    """A user's agent that samples."""
    from pa_env import CompiledAgent
    from pa_env.compiled_agents import further_normal

    def sampling_choice(memory: Floats, means: Floats, counts: Integers, offer: Floats, t: int, u: float) -> int:
        best, highest = 0, -np.inf
        for a in range(offer.size):
            index = means[a] + offer[a] + further_normal(u, a) / np.sqrt(counts[a] + 1.0)
            if index > highest:
                best, highest = a, index
        return best

    return CompiledAgent(sampling_choice, average, np.zeros)


class PythonAgent:
    """An agent of one's own, written in Python, that does next to nothing."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self.means = np.zeros(n_arms)

    def choose(self, incentives: Floats) -> int:
        """Always the same arm."""
        return 1

    def learn(self, arm: int, reward: float) -> None:
        """Learn nothing."""


def python_agent() -> Call:
    """One round against an agent in Python."""
    from pa_env.game import Game

    game, offer = Game(agent=PythonAgent(), horizon=10**11, observe=False), np.zeros((1, 5))
    game.begin(seeds=[0])
    return lambda: game.play(offer)


def simulated(principal: "str | Callable[..., Principal]", agent: str, horizon: int, n_arms: int = 5) -> Call:
    """One run of a principal: a name, or a function that makes one."""
    import baselines

    make = partial(baselines.make, principal) if isinstance(principal, str) else principal
    player = make(n_arms=n_arms, horizon=horizon)
    return lambda: baselines.simulate(player, agent=agent, horizon=horizon)


def linear() -> Call:
    """One run of ``linear`` with 20 arms in three dimensions."""
    import baselines
    from pa_env.game import Game

    ball = Game(instance="unit-ball", n_arms=20, dim=3)
    ball.begin(seeds=[0])
    instance = ball.instance()
    return lambda: baselines.simulate("linear", agent="ols", horizon=10**7, instance=instance)


def episodes(principal: str, count: int) -> Call:
    """Many short episodes."""
    import baselines

    player = baselines.make(principal, n_arms=5, horizon=HORIZON)
    return lambda: baselines.simulate(player, seeds=range(count))


def rounds_alone(principal: str, count: int) -> Call:
    """The compiled rounds of as many episodes, begun beforehand, of a principal that follows one rule."""
    import baselines
    from pa_env.game import Game

    player = baselines.make(principal, n_arms=5, horizon=HORIZON)
    player.reset(seed=0)
    request: Any = player.request()
    game = Game(n_arms=5, horizon=HORIZON, copies=count, observe=False)
    game.begin(seeds=range(count))
    begun = game.arrays

    def play() -> None:
        game.arrays = copy.deepcopy(begun)
        game.play_episodes(request.rule, request.memory[None], np.array([HORIZON]))

    return play


# ------------------------------------------------------- one principal, UCB that pays 1 + 1/T, written three times


def numpy_loop(n_arms: int, horizon: int) -> Call:
    """As one copies it from a notebook, against the empirical-mean agent with Bernoulli rewards, scored likewise."""

    def play() -> dict[str, float]:
        rng = np.random.default_rng(0)
        theta, mu = rng.random(n_arms), rng.random(n_arms)
        benchmark = (theta - (mu.max() - mu)).max()
        plays, rewards, agent_rewards = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
        total = {"utility": 0.0, "regret": 0.0, "regret_oracle": 0.0, "regret_bar": 0.0}
        for _ in range(horizon):
            counts = np.maximum(plays, 1)
            target = np.argmax(rewards / counts + np.sqrt(2 * np.log(horizon) / counts))
            incentives = np.zeros(n_arms)
            incentives[target] = 1 + 1 / horizon
            means = agent_rewards / counts
            arm = np.argmax(means + incentives)
            x, r = float(rng.random() < theta[arm]), float(rng.random() < mu[arm])
            expected = theta[arm] - incentives[arm]
            total["utility"] += x - incentives[arm]
            optimal = means.max() - means
            total["regret"] += (theta - optimal).max() - expected
            total["regret_oracle"] += benchmark - expected
            total["regret_bar"] += benchmark - theta[arm] + incentives.sum()
            plays[arm] += 1
            rewards[arm] += x
            agent_rewards[arm] += r
        return total

    return play


def stepwise(n_arms: int, horizon: int) -> "Principal":
    """As a coroutine, with a request a round."""
    from baselines import Principal, hold

    class Stepwise(Principal):
        name = "ucb, round by round"

        def rounds(self) -> "Rounds":
            while True:
                counts = np.maximum(self.plays, 1)
                index = self.sums / counts + np.sqrt(2 * math.log(self.horizon) / counts)
                yield hold(int(index.argmax()), 1 + 1 / self.horizon)

    return Stepwise(n_arms, horizon)


def compiled(n_arms: int, horizon: int) -> "Principal":
    """As a compiled rule, in one request for the whole game."""
    from baselines import Principal, follow

    class Compiled(Principal):
        name = "ucb, compiled"

        def rounds(self) -> "Rounds":
            yield follow(ucb_rule(), np.array([2 * math.log(self.horizon), 1 + 1 / self.horizon]), self.horizon)

    return Compiled(n_arms, horizon)


@functools.cache
def ucb_rule() -> "Rule":
    """UCB; memory: 2 log T, and the amount."""
    from pa_env.rules import compile_rule

    def rule(memory: Floats, plays: Integers, sums: Floats, arm: int, reward: float, offer: Floats) -> int:
        target, best = 0, -np.inf
        for b in range(plays.size):
            offer[b] = 0.0
            count = max(plays[b], 1)
            index = sums[b] / count + math.sqrt(memory[0] / count)
            if index > best:
                target, best = b, index
        offer[target] = memory[1]
        return target

    return compile_rule(rule, trusted=True)


# -------------------------------------------------------------------------------------- as a program


def seconds_of(call: Call) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def serve() -> None:
    """For each line that names a row: time one call of it and print the seconds, or nan if this checkout lacks it."""
    known = {row.name: row for row in rows()}
    current, call = "", None
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name != current:
            current = name
            try:
                call = known[name].setup()
                call()  # warms caches and compilers
            except Exception:  # whatever is elsewhere or otherwise there
                call = None
        print(math.nan if call is None else seconds_of(call), flush=True)


if __name__ == "__main__":
    serve()
