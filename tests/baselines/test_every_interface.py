"""The same rounds through every interface: principals against agents in turn, bit for bit those of the simulation."""

import copy
import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from helpers import OwnAgent

import baselines
import pa_env
from baselines import Principal, hold
from baselines.principal import Rounds
from baselines.registry import PRINCIPALS, parameters
from pa_env import IID, Linear, make_agent, principal_agent_v0
from pa_env.kernel.layout import AgentBlock, block_columns
from pa_env.scripted_agents import AGENTS

from .helpers import NO_BOUND, sizes_of

K, T, SEED = 3, 70, 11
LONG = 1200  # several phases
MU, THETA = [0.35, 0.8, 0.55], [0.9, 0.2, 0.4]
INSTANCES = (
    IID(MU, THETA),
    IID(MU, THETA, "constant"),  # theta is no float32 number
    IID(MU, THETA, "gaussian"),
    Linear([[0.6, 0.0], [0.0, 0.8], [-0.5, 0.7]], s=[0.6, 0.8], nu=[1.0, 0.0], noise=0.3),
)


class Played(NamedTuple):
    arms: list[int]
    offers: bytes
    totals: dict[str, str]  # NaN is equal to NaN


def played(arms: list[int], offers: list[np.ndarray], totals: dict[str, float]) -> Played:
    return Played(arms, np.array(offers).tobytes(), {name: repr(total) for name, total in totals.items()})


def simulation(principal: Principal, seed: int = SEED, **game: Any) -> Played:
    run = baselines.simulate(principal, seed=seed, checkpoints=range(1, principal.horizon + 1), **game)
    arms = np.diff(run.plays, axis=0, prepend=0).argmax(axis=1).tolist()
    return played(arms, list(run.offers), {name: float(sums[-1]) for name, sums in run.scores.items()})


class Listening(gym.Wrapper[Any, Any, Any, Any]):
    """The environment, which keeps the rounds of each episode."""

    def __init__(self, principal: Principal, **game: Any) -> None:
        super().__init__(gym.make("PrincipalAgent-v0", horizon=principal.horizon, max_incentive=NO_BOUND, **game))
        self.arms: list[int] = []
        self.offers: list[np.ndarray] = []
        self.episodes: list[Played] = []
        principal.reset(seed=SEED)
        principal.attach(self.env.unwrapped.game)  # type: ignore[attr-defined]

    def step(self, action: Any) -> Any:
        result = self.env.step(action)
        self.arms.append(result[-1]["arm"])
        self.offers.append(np.array(action))
        if result[2]:
            totals = self.env.unwrapped.game.totals()  # type: ignore[attr-defined]
            self.episodes.append(played(self.arms, self.offers, totals))
            self.arms, self.offers = [], []
        return result


def gymnasium(principal: Principal, **game: Any) -> Played:
    """Rounds told by ``info``."""
    env = Listening(principal, **game)
    env.reset(seed=SEED)
    for _ in range(principal.horizon):
        *_, info = env.step(principal.offer())
        principal.observe(info["arm"], info["reward"])
    return env.episodes[0]


def predict(principal: Principal, episodes: int = 1, **game: Any) -> Played:
    """Rounds told by observations; returns those of the last episode."""
    env, state = Listening(principal, **game), None
    for episode in range(episodes):
        seen, _ = env.reset(seed=None if episode else SEED)
        for _ in range(principal.horizon):
            offer, state = principal.predict(seen, state)
            seen, *_ = env.step(offer)
    return env.episodes[-1]


def evaluate_policy(principal: Principal, **game: Any) -> Played:
    """Two episodes in Stable-Baselines3's own loop; the second must be Gymnasium's second."""
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    env = Listening(principal, **game)
    batch = DummyVecEnv([lambda: Monitor(env)])
    batch.seed(SEED)
    rewards, lengths = evaluate_policy(principal, batch, n_eval_episodes=2, return_episode_rewards=True)
    assert lengths == [principal.horizon] * 2
    utilities = [float(episode.totals["utility"]) for episode in env.episodes]
    assert rewards == pytest.approx(utilities, rel=1e-5, abs=0.01)
    assert env.episodes[1] == predict(principal, episodes=2, **game)
    return env.episodes[0]


def aec(principal: Principal, **game: Any) -> Played:
    env = principal_agent_v0.env(horizon=principal.horizon, max_incentive=NO_BOUND, **game)
    env.reset(seed=SEED)
    principal.reset(seed=SEED)
    principal.attach(env.game)
    arms, offers = [], []
    for _ in range(principal.horizon):
        offers.append(principal.offer())
        env.step(offers[-1])
        env.step(env.infos["agent_0"]["scripted_arm"])
        info = env.infos["principal_0"]
        principal.observe(info["arm"], info["reward"])
        arms.append(info["arm"])
    return played(arms, offers, env.game.totals())


def batched(principal: Principal, **game: Any) -> Played:
    """Two copies, which one ``predict`` plays; copy i must be what its own seed, seed + i, gives."""
    envs = gym.make_vec("PrincipalAgent-v0", num_envs=2, horizon=principal.horizon, max_incentive=NO_BOUND, **game)
    seen, _ = envs.reset(seed=SEED)
    principal.reset(seed=SEED)
    arms, offers, state = [], [], None
    for _ in range(principal.horizon):
        both, state = principal.predict(seen, state)
        seen, *_, info = envs.step(both)
        arms.append(info["arm"])
        offers.append(both)
    copies = [
        played([int(of[i]) for of in arms], [of[i] for of in offers], envs.unwrapped.game.totals(i)) for i in range(2)
    ]
    assert copies[1] == simulation(principal, SEED + 1, **game)
    return copies[0]


def agents_seat(principal: Principal, **game: Any) -> Played:
    """The agent's environment, in which the arms of the simulation are played; its offers come in float32."""
    expected = simulation(principal, **game)
    settings = {"principal": principal, "horizon": principal.horizon, "max_incentive": NO_BOUND}
    env = gym.make("PrincipalAgentFollower-v0", **settings, **game)
    seen, _ = env.reset(seed=SEED)
    arms, offers = [], []
    for arm in expected.arms:
        offers.append(seen[block_columns(AgentBlock.OFFER, principal.n_arms)])
        seen, *_, info = env.step(arm)
        arms.append(info["arm"])
    exact = np.frombuffer(expected.offers).reshape(np.shape(offers))
    np.testing.assert_array_equal(np.array(offers), exact.astype(np.float32))
    return played(arms, list(exact), env.unwrapped.game.totals())


INTERFACES: tuple[Callable[..., Played], ...] = (gymnasium, predict, aec, batched, agents_seat)
if importlib.util.find_spec("stable_baselines3") is None:
    evaluate_policy = predict  # type: ignore[assignment]


def check(principal: Principal, interfaces: tuple[Callable[..., Played], ...] = INTERFACES, **game: Any) -> Played:
    """Compare every interface with the simulation, whose rounds are returned."""
    expected = simulation(principal, **game)
    for interface in interfaces:
        if not (type(principal).privileged and interface in (batched, agents_seat)):  # it sees one game
            assert interface(principal, **copy.deepcopy(game)) == expected, interface.__name__
    return expected


# -------------------------------------------------------------------------------------- every principal and agent

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "epsilon-greedy": [{"variant": name} for name in ("as-published", "gross", "every-round")],
    "fixed": [{"incentives": [0.1, 0.0, 0.3]}],
}


def principals() -> list[tuple[str, dict[str, Any]]]:
    """Every name, with both kinds of constants where it has them."""
    cases = []
    for name in PRINCIPALS:
        constants = "constants" in {parameter.name for parameter in parameters(name)}
        cases += [(name, given) for given in VARIANTS.get(name, [{}, {"constants": "practical"}][: 1 + constants])]
    return cases


def needs_arms(name: str) -> bool:
    return any(parameter.name == "arms" for parameter in parameters(name))


def goes(name: str, agent: str, instance: Any) -> bool:
    """Principals that are told the arms, and agents of linear rewards, play linear games; types do not."""
    if isinstance(instance, Linear):
        return not (agent in AGENTS and AGENTS[agent].iid_only)
    return not (needs_arms(name) or (agent in AGENTS and AGENTS[agent].linear_only))


AGENTS_EACH = 4  # of each principal: they take turns, as the instances do


def cases() -> list[Any]:
    """Every principal with agents that take turns, so that every agent meets several; the instances take turns too."""
    agents, turns = itertools.cycle((*pa_env.agents(), "own")), itertools.count()
    found = []
    for name, given in principals():
        chosen = 0
        while chosen < AGENTS_EACH:
            agent = next(agents)
            playable = [instance for instance in INSTANCES if goes(name, agent, instance)]
            if playable:
                chosen += 1
                instance = playable[next(turns) % len(playable)]
                found.append(pytest.param(name, given, agent, instance, id=f"{name}-{'-'.join(given)}-{agent}"))
    return found


def test_every_agent_meets_principals_in_both_kinds_of_games() -> None:
    """Else the turns above would leave out something."""
    met = {(case.values[2], isinstance(case.values[3], Linear)) for case in cases()}
    for agent in (*pa_env.agents(), "own"):
        declared = AGENTS.get(agent)
        assert ((agent, True) in met) or (declared is not None and declared.iid_only), agent
        assert ((agent, False) in met) or (declared is not None and declared.linear_only), agent
    assert len({(case.values[0], repr(case.values[1])) for case in cases()}) == len(principals())


@pytest.mark.filterwarnings("ignore:constants = 'practical'")
@pytest.mark.parametrize(("name", "given", "agent", "instance"), cases())
def test_every_interface_plays_the_rounds_of_the_simulation(
    name: str, given: dict[str, Any], agent: str, instance: Any
) -> None:
    arms = {"arms": instance.arms} if needs_arms(name) else {}
    sizes = sizes_of(name, K, T)
    principal = baselines.make(name, **sizes, **given, **arms)
    if sizes["n_arms"] < K:  # it plays with the first arms alone
        of_arms = ("arms",) if isinstance(instance, Linear) else ("mu", "theta")
        instance = replace(instance, **{each: getattr(instance, each)[: sizes["n_arms"]] for each in of_arms})
    check(principal, instance=instance, agent=OwnAgent() if agent == "own" else agent)


# -------------------------------------------------------------------------------------- several phases

PRACTICAL = {"constants": "practical"}
LONG_GAMES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "elimination": ("elimination", PRACTICAL, "empirical-mean"),
    "elimination, initial means": (
        "elimination",
        PRACTICAL | {"unknown_initial_means": True},
        make_agent("empirical-mean", initial=(0.9, 0.1, 1.0), ties="random"),
    ),
    "elimination-offline": ("elimination-offline", PRACTICAL, "empirical-mean"),
    "exploratory": ("exploratory", PRACTICAL, "exploratory"),
    "exploratory, little": ("exploratory", {"c0": 0.05}, make_agent("exploratory", c0=0.05, exploration="worst")),
    "exploratory, own agent": ("exploratory", PRACTICAL, OwnAgent()),
    "exploratory-oracle": ("exploratory-oracle", PRACTICAL, "exploratory-oracle"),
    "oracle": ("oracle", {}, make_agent("exploratory", ties="random")),
    "oracle, own agent": ("oracle", {}, OwnAgent()),
    "epsilon-greedy": ("epsilon-greedy", {}, "empirical-mean"),  # random offers
}


@pytest.mark.parametrize("case", LONG_GAMES)
def test_long_games_and_a_second_episode(case: str) -> None:
    name, given, agent = LONG_GAMES[case]
    instance = INSTANCES[2 * (list(LONG_GAMES).index(case) % 2)]  # with ties between means, and without bounds
    principal = baselines.make(name, n_arms=K, horizon=LONG, **given)
    check(principal, (*INTERFACES, evaluate_policy), agent=agent, instance=instance)


def test_random_offers_differ_between_seeds() -> None:
    """Else the tests above could not tell a principal's seed."""
    principal = baselines.make("epsilon-greedy", n_arms=K, horizon=T)
    first, second = (simulation(principal, seed, instance=INSTANCES[0]).offers for seed in (1, 2))
    assert first != second


def test_a_principal_of_ones_own() -> None:
    """As in the documentation: one coroutine, and it plays everywhere."""

    class Haggler(Principal):
        """Halve the interval for arm 0, then hold the incentive found."""

        name: ClassVar[str] = "haggler"

        def rounds(self) -> Rounds:
            low, high = 0.0, 1.0
            while high - low > 1 / self.horizon:
                middle = (low + high) / 2
                outcome = yield hold(0, middle)
                low, high = (low, middle) if outcome.plays[0] else (middle, high)
            yield hold(0, high + 1 / self.horizon, rounds=self.horizon)

    rounds = check(Haggler(n_arms=K, horizon=LONG), agent="oracle", instance=INSTANCES[0])
    assert rounds.arms[11:] == [0] * (LONG - 11)  # 2^-11 < 1/1200
    assert float(rounds.totals["overpayment"]) < 2 + LONG * 2 / LONG
