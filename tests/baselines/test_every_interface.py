"""The same rounds through every interface: every principal against every agent, whatever drives them."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from helpers import OwnAgent

import baselines
import pa_env
from baselines import Principal
from baselines.registry import PRINCIPALS, parameters
from pa_env import IID, Linear, principal_agent_v0
from pa_env.kernel.layout import AgentBlock, block_columns
from pa_env.scripted_agents import AGENTS

K, T, SEED = 3, 70, 11
NO_BOUND = 1e6
IID_GAME = IID(mu=[0.35, 0.8, 0.55], theta=[0.9, 0.2, 0.4])
CONSTANT = IID(mu=[0.35, 0.8, 0.55], theta=[0.9, 0.2, 0.4], rewards="constant")  # theta is no float32 number
LINEAR_GAME = Linear([[0.6, 0.0], [0.0, 0.8], [-0.5, 0.7]], s=[0.6, 0.8], nu=[1.0, 0.0], noise=0.3)


class Played(NamedTuple):
    arms: list[int]
    offers: bytes
    totals: dict[str, str]  # NaN is equal to NaN


def played(arms: list[int], offers: list[np.ndarray], totals: dict[str, float]) -> Played:
    return Played(arms, np.array(offers).tobytes(), {name: repr(total) for name, total in totals.items()})


def simulation(principal: Principal, **game: Any) -> Played:
    run = baselines.simulate(principal, seed=SEED, checkpoints=range(1, T + 1), **game)
    arms = np.diff(run.plays, axis=0, prepend=0).argmax(axis=1).tolist()
    return played(arms, list(run.offers), {name: float(sums[-1]) for name, sums in run.scores.items()})


def gymnasium(principal: Principal, **game: Any) -> Played:
    """Rounds of an environment, told by ``info``."""
    env = gym.make("PrincipalAgent-v0", horizon=T, max_incentive=NO_BOUND, **game)
    env.reset(seed=SEED)
    principal.reset(seed=SEED)
    principal.attach(env.unwrapped.game)
    arms, offers = [], []
    for _ in range(T):
        offers.append(principal.offer())
        *_, info = env.step(offers[-1])
        principal.observe(info["arm"], info["reward"])
        arms.append(info["arm"])
    return played(arms, offers, env.unwrapped.game.totals())


def predict(principal: Principal, **game: Any) -> Played:
    """Rounds of an environment, told by observations."""
    env = gym.make("PrincipalAgent-v0", horizon=T, max_incentive=NO_BOUND, **game)
    seen, _ = env.reset(seed=SEED)
    principal.reset(seed=SEED)
    principal.attach(env.unwrapped.game)
    arms, offers, state = [], [], None
    for _ in range(T):
        offer, state = principal.predict(seen, state)
        seen, *_, info = env.step(offer)
        arms.append(info["arm"])
        offers.append(offer)
    return played(arms, offers, env.unwrapped.game.totals())


def aec(principal: Principal, **game: Any) -> Played:
    env = principal_agent_v0.env(horizon=T, max_incentive=NO_BOUND, **game)
    env.reset(seed=SEED)
    principal.reset(seed=SEED)
    principal.attach(env.game)
    arms, offers = [], []
    for _ in range(T):
        offers.append(principal.offer())
        env.step(offers[-1])
        env.step(env.infos["agent_0"]["scripted_arm"])
        info = env.infos["principal_0"]
        principal.observe(info["arm"], info["reward"])
        arms.append(info["arm"])
    return played(arms, offers, env.game.totals())


def batched(principal: Principal, **game: Any) -> Played:
    """The first of two copies, which one ``predict`` plays; copy i has the seed + i."""
    envs = gym.make_vec("PrincipalAgent-v0", num_envs=2, horizon=T, max_incentive=NO_BOUND, **game)
    seen, _ = envs.reset(seed=SEED)
    principal.reset(seed=SEED)
    arms, offers, state = [], [], None
    for _ in range(T):
        made, state = principal.predict(seen, state)
        seen, *_, info = envs.step(made)
        arms.append(int(info["arm"][0]))
        offers.append(made[0])
    return played(arms, offers, envs.unwrapped.game.totals())


def agents_seat(principal: Principal, **game: Any) -> Played:
    """The agent's environment, in which the arms of the simulation are played; its offers come in float32."""
    expected = simulation(principal, **game)
    env = gym.make("PrincipalAgentFollower-v0", principal=principal, horizon=T, max_incentive=NO_BOUND, **game)
    seen, _ = env.reset(seed=SEED)
    principal.attach(env.unwrapped.game)
    arms, offers = [], []
    for arm in expected.arms:
        offers.append(seen[block_columns(AgentBlock.OFFER, K)])
        seen, *_, info = env.step(arm)
        arms.append(info["arm"])
    exact = np.frombuffer(expected.offers).reshape(T, K)
    np.testing.assert_array_equal(np.array(offers), exact.astype(np.float32))
    return played(arms, list(exact), env.unwrapped.game.totals())


INTERFACES: tuple[Callable[..., Played], ...] = (gymnasium, predict, aec, batched, agents_seat)
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "epsilon-greedy": [{"variant": name} for name in ("as-published", "gross", "every-round")],
    "fixed": [{"incentives": [0.1, 0.0, 0.3]}],
}


def principals() -> list[tuple[str, dict[str, Any]]]:
    """Every name, with both kinds of constants where it has them."""
    found = []
    for name in baselines.principals():
        constants = "constants" in {parameter.name for parameter in parameters(name)}
        found += [(name, given) for given in VARIANTS.get(name, [{}, {"constants": "practical"}][: 1 + constants])]
    return found


def goes(name: str, agent: str, instance: Any) -> bool:
    """Principals that are told the arms, and agents of linear rewards, play linear games; types do not."""
    told = any(parameter.name == "arms" for parameter in parameters(name))
    needs_linear = told or (agent in AGENTS and AGENTS[agent].linear_only)
    if isinstance(instance, Linear):
        return not (agent in AGENTS and AGENTS[agent].iid_only)
    return not needs_linear


CASES = [
    pytest.param(name, given, agent, id=f"{name}{'-practical' * bool(given.get('constants'))}-{agent}")
    for (name, given), agent in itertools.product(principals(), (*pa_env.agents(), "own"))
]


@pytest.mark.filterwarnings("ignore:constants = 'practical'")
@pytest.mark.parametrize(("name", "given", "agent"), CASES)
def test_every_interface_plays_the_rounds_of_the_simulation(name: str, given: dict[str, Any], agent: str) -> None:
    for instance in (IID_GAME, CONSTANT, LINEAR_GAME):
        if not goes(name, agent, instance):
            continue
        told = {"arms": instance.arms} if isinstance(instance, Linear) and not goes(name, "oracle", IID_GAME) else {}
        principal = baselines.make(name, n_arms=K, horizon=T, **given, **told)
        game = {"instance": instance, "agent": OwnAgent() if agent == "own" else agent}
        expected = simulation(principal, **game)
        for interface in INTERFACES:
            if not (PRINCIPALS[name].privileged and interface in (batched, agents_seat)):  # it sees one game
                assert interface(principal, **game) == expected, (interface.__name__, instance)


def test_random_offers_differ_between_seeds() -> None:
    """Else the test above could not tell a principal's seed."""
    principal = baselines.make("epsilon-greedy", n_arms=K, horizon=T)
    runs = [baselines.simulate(principal, IID_GAME, seed=seed, checkpoints=[T - 1]).offers.tolist() for seed in (1, 2)]
    assert runs[0] != runs[1]
