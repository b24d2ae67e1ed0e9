"""What the tests of the game share: agents and principals of our own, and every interface's rounds as bytes."""

import resource
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from pa_env import IID, CompiledAgent, Linear, make_agent
from pa_env.compiled_agents import further_uniform

INFO = ("arm", "reward", "utility", "expected_utility", "regret", "regret_oracle", "regret_bar", "optimal_incentives")
HORIZON = 23
MU, THETA = [0.35, 0.8, 0.55, 0.0], [0.9, 0.2, 0.4, 1.0]
VECTORS = [[0.6, 0.0], [0.0, 0.8], [0.6, 0.0], [-0.5, 0.7]]  # two of them the same

Act = Callable[[int, int, int], Any]  # (seed, episode, round) -> action


class OwnAgent:
    """A user's agent: it forgets slowly, and trembles."""

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        self.means, self.rng = np.full(n_arms, 0.5), rng

    def choose(self, incentives: np.ndarray) -> int:
        return int(np.argmax(self.means + incentives + 0.3 * self.rng.random(self.means.size)))

    def learn(self, arm: int, reward: float) -> None:
        self.means[arm] += 0.2 * (reward - self.means[arm])


def trembling_choice(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    """What :class:`OwnAgent` does, compiled."""
    best = 0
    for a in range(offer.size):
        if means[a] + offer[a] + memory[0] * further_uniform(u, a) > means[best] + offer[best]:
            best = a
    return best


def forgetful_learning(memory: Any, means: Any, counts: Any, arm: int, reward: float) -> None:
    memory[1] += reward
    means[arm] += 0.2 * (reward - means[arm])


def least_played(memory: Any, means: Any, counts: Any, offer: Any, t: int, u: float) -> int:
    """Which arm to explore."""
    found = 0
    for a in range(offer.size):
        if counts[a] < counts[found]:
            found = a
    return found


class OwnPrincipal:
    """A user's principal; a ``restless`` one draws a number whenever it is asked for an offer."""

    def __init__(self, restless: bool = False) -> None:
        self.restless = restless

    def reset(self, seed: int | None = None) -> None:
        self.rng = np.random.default_rng(seed)
        self.amounts = self.rng.random(4)

    def offer(self) -> np.ndarray:
        return self.rng.random(4) if self.restless else self.amounts

    def observe(self, arm: int, reward: float) -> None:
        self.amounts = np.clip(self.rng.random(4) + 0.1 * reward, 0.0, 1.0)
        self.amounts[arm] = 0.0


def own_instance(rng: np.random.Generator) -> IID:
    return IID(mu=rng.random(4), theta=rng.random(4), rewards="gaussian")


AGENTS: dict[str, Callable[[], Any]] = {
    "greedy": lambda: make_agent("empirical-mean", ties="random"),
    "hopeful": lambda: make_agent("empirical-mean", ties="largest-incentive", initial=0.5),
    "uniform": lambda: make_agent("exploratory", c0=0.7, ties="highest"),
    "worst": lambda: make_agent("exploratory", exploration="worst"),
    "round-robin": lambda: make_agent("exploratory", exploration="round-robin"),
    "fixed": lambda: make_agent("exploratory", exploration=2),
    "oracle": lambda: "oracle",
    "exploratory-oracle": lambda: "exploratory-oracle",
    "ols": lambda: "ols",
    "ucb": lambda: "ucb",
    "thompson": lambda: "thompson",
    "exp3": lambda: "exp3",
    "logit": lambda: "logit",
    "logit-knows": lambda: make_agent("logit", temperature=0.3, knows_means=True),
    "target": lambda: make_agent("exploratory", exploration="target", exponent=0.3),
    "function": lambda: make_agent("exploratory", exploration=least_played),
    "types": lambda: make_agent("types", types=3),
    "logit-types": lambda: make_agent(
        "types", types=[[0.1, 0.5, 0.2, 0.9], [0.8, 0.1, 0.3, 0.0]], order=[0, 1, 1], temperature=0.2
    ),
    "compiled": lambda: CompiledAgent(trembling_choice, forgetful_learning, memory=[0.3, 0.0]),
    "hedge": lambda: make_agent("hedge", rate=2.0),
    "hedge-bandit": lambda: make_agent("hedge", feedback="bandit"),
    "follow-the-leader": lambda: "follow-the-leader",
    "holdout": lambda: make_agent("holdout", margin=0.2, patience=3),
    "own": OwnAgent,
}
IID_AGENTS = ("types", "logit-types")
INSTANCES: dict[str, Any] = {
    "bernoulli": IID(MU, THETA),
    "beta": IID(MU, THETA, "beta"),
    "gaussian": IID(MU, THETA, "gaussian"),
    "constant": IID(MU, THETA, "constant"),
    "uniform": "uniform",
    "own": own_instance,
    "linear": Linear(VECTORS, s=[0.6, 0.8], nu=[1.0, 0.0], noise=0.3),
    "unit-ball": "unit-ball",
}
LINEAR = ("linear", "unit-ball")
CASES = [
    (agent, instance)
    for agent in AGENTS
    for instance in INSTANCES
    if instance in LINEAR or agent != "ols"
    if instance not in LINEAR or agent not in IID_AGENTS
]


def settings(agent: str = "greedy", instance: str = "bernoulli", **changes: Any) -> dict[str, Any]:
    """Keyword arguments of a small game with four arms, for any interface."""
    return {"n_arms": 4, "horizon": HORIZON, "agent": AGENTS[agent](), "instance": INSTANCES[instance]} | changes


def offer_at(seed: int, episode: int, t: int, k: int = 4) -> np.ndarray:
    """Nothing, one arm, all arms, or all on a grid that makes ties."""
    rng = np.random.default_rng([seed, episode, t])
    offers = [np.zeros(k), np.eye(k)[rng.integers(k)] * rng.random(), rng.random(k), rng.integers(0, 3, k) / 2]
    return offers[rng.integers(4)]


def arm_at(seed: int, episode: int, t: int) -> int:
    return int(np.random.default_rng([seed, episode, t]).integers(4))


def packed(observation: np.ndarray, *numbers: Any) -> bytes:
    return b"".join(np.asarray(value).tobytes() for value in (observation, *numbers))


def info_values(info: dict[str, Any]) -> Iterable[Any]:
    return (info[key] for key in INFO)


def spoil(*things: Any) -> None:
    """Overwrite every array in what an interface handed out."""
    for thing in things:
        if isinstance(thing, dict):
            spoil(*thing.values())
        elif isinstance(thing, np.ndarray) and thing.dtype == object:
            spoil(*thing)
        elif isinstance(thing, np.ndarray):
            thing.fill(1)


def resident() -> int:
    """The memory that this process holds now, in kilobytes; its peak may be that of an earlier test."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


def state_of(game: Any) -> list[bytes]:
    """All that a game consists of."""
    *plain, linear, exploring, agent = game.arrays._replace(scratch=np.zeros(0))
    optional = [exploring] if exploring is not None else []
    return [array.tobytes() for array in (*plain, *(linear or ()), *optional, *(agent or ())[:2])]


def ignore(*_: Any) -> None:
    """What is done to the things handed out, unless a test says otherwise."""


def scalar_rounds(
    env: Any, seed: int, act: Act, lengths: Sequence[int], afterwards: Callable[..., None] = ignore
) -> list[bytes]:
    """Episodes of these lengths (cut by a reset where shorter than the horizon) in the Gymnasium environment."""
    trace = []
    for episode, length in enumerate(lengths):
        observation, info = env.reset(seed=None if episode else seed)
        trace.append(packed(observation))
        afterwards(observation, info)
        for t in range(length):
            action = act(seed, episode, t)
            observation, reward, terminated, truncated, info = env.step(action)
            trace.append(packed(observation, reward, terminated, truncated, *info_values(info)))
            afterwards(observation, info, action)
    return trace


def aec_rounds(
    env: Any, seed: int, act: Act, lengths: Sequence[int], afterwards: Callable[..., None] = ignore
) -> list[bytes]:
    """The same episodes in the AEC environment, where the scripted arm is played."""
    trace = []
    for episode, length in enumerate(lengths):
        env.reset(seed=None if episode else seed)
        observation = env.observe("principal_0")
        trace.append(packed(observation))
        afterwards(observation, env.infos)
        for t in range(length):
            action = act(seed, episode, t)
            env.step(action)
            afterwards(action, env.observe("agent_0"))
            env.step(env.infos["agent_0"]["scripted_arm"])
            observation, reward, terminated, truncated, info = env.last()
            trace.append(packed(observation, reward, terminated, truncated, *info_values(info)))
            afterwards(observation, info, env.infos)
    return trace


def batched_rounds(
    envs: Any,
    seeds: Sequence[int],
    act: Act,
    lengths: Sequence[Sequence[int]],
    seed: Any = None,
    afterwards: Callable[..., None] = ignore,
) -> list[list[bytes]]:
    """For each copy the episodes of its lengths; shorter ones than the horizon are cut with a reset mask."""
    n, mode, horizon = envs.num_envs, envs.autoreset_mode, envs.game.horizon
    episode, t, waiting = [0] * n, [0] * n, [False] * n
    observations, info = envs.reset(seed=list(seeds) if seed is None else seed)
    traces = [[packed(observations[i])] for i in range(n)]
    afterwards(observations, info)

    def renew(i: int, observation: np.ndarray) -> None:
        traces[i].append(packed(observation))
        episode[i], t[i], waiting[i] = episode[i] + 1, 0, False

    while any(len(trace) < sum(plan) + len(plan) for trace, plan in zip(traces, lengths, strict=True)):
        actions = np.stack([act(seeds[i], episode[i], t[i]) for i in range(n)])
        if actions.dtype == np.float64:
            actions[waiting] = np.nan  # does not count: these copies begin anew
        observations, rewards, terminated, truncated, info = envs.step(actions)
        for i in range(n):
            assert info["_regret"][i] == (not waiting[i])
            if waiting[i]:
                assert rewards[i] == 0.0
                assert not terminated[i]
                renew(i, observations[i])
                continue
            ended = bool(terminated[i]) and mode == AutoresetMode.SAME_STEP
            observation = info["final_obs"][i] if ended else observations[i]
            values = [(info["final_info"] if ended else info)[key][i] for key in INFO]
            traces[i].append(packed(observation, rewards[i], terminated[i], truncated[i], *values))
            t[i] += 1
            if ended:
                renew(i, observations[i])
            waiting[i] = bool(terminated[i]) and mode == AutoresetMode.NEXT_STEP
        plan = [p[e] if e < len(p) else horizon for p, e in zip(lengths, episode, strict=True)]
        mask = np.array([t[i] == plan[i] and not waiting[i] for i in range(n)])
        afterwards(observations, rewards, terminated, truncated, info, actions)
        if mask.any():
            observations, info = envs.reset(options={"reset_mask": mask})
            for i in np.flatnonzero(mask):
                renew(i, observations[i])
            afterwards(observations, info)
    return traces
