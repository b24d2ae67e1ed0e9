"""What a principal is: its requests, played whole or step by step, its copies and its seeds, and its registry."""

import copy
import inspect
import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers import OwnAgent

import baselines
from baselines import Principal, Run, follow, hold, offer, simulate
from baselines.principal import Outcome, Rounds
from baselines.registry import PRINCIPALS
from pa_env import IID
from pa_env.envs.scalar import FollowerEnv
from pa_env.kernel.layout import SCORES
from pa_env.rules import compile_rule

from .helpers import Floats, python, sizes_of, step_through

K, T, SEED = 4, 1200, 11
MU, THETA = [0.35, 0.8, 0.55, 0.0], [0.9, 0.2, 0.4, 1.0]


def totals_of(run: Run) -> dict[str, float]:
    values = {name: float(sums[-1]) for name, sums in run.scores.items()}
    return {name: math.nan if math.isnan(value) else value for name, value in values.items()}  # which equals itself


# -------------------------------------------------------------------------------------- requests of every kind


@compile_rule
def optimist(memory: Any, plays: Any, sums: Any, arm: int, reward: float, amounts: Any) -> int:
    """UCB on X; pays more after each refusal of the arm it wants, which it remembers with what it is told."""
    target, best = 0, -np.inf
    for b in range(amounts.size):
        amounts[b] = 0.0
        index = sums[b] / max(1, plays[b]) + np.sqrt(2.0 / max(1, plays[b]))
        if index > best:
            target, best = b, index
    if arm >= 0:
        memory[1] = max(0.0, memory[1] + (-0.01 if arm == int(memory[0]) else 0.05))
        memory[2] += reward
    else:
        memory[3] += 1.0
    memory[0] = target
    amounts[target] = memory[1]
    return target


class Restless(Principal):
    """Requests of every kind, more than once, some of them withdrawn."""

    name = "restless"

    def rounds(self) -> Rounds:
        """Notes every outcome, and what the rule remembers."""
        self.outcomes: list[Outcome] = []
        self.memory = np.array([-1.0, 0.3, 0.0, 0.0])
        for i in itertools.count():
            requests = (
                hold(i % K, 0.4, rounds=17),
                hold((i + 1) % K, 0.1, rounds=60, stop=(0.3, 2.0)),
                offer({0: 0.2, 2: 0.5}, rounds=9),
                follow(optimist, self.memory, rounds=83),
                follow(optimist, self.memory, rounds=1),
                offer({3: 1.1, 1: 0.4}, target=3),
                hold(2, float(self.rng.random()), rounds=5, stop=(0.0, 0.5)),
                offer({}, rounds=3),
            )
            for request in requests:
                self.outcomes.append((yield request))


def noted(principal: Restless) -> list[tuple[int, list[int], list[float]]]:
    return [(o.rounds, o.plays.tolist(), o.sums.tolist()) for o in principal.outcomes]


@pytest.mark.parametrize("agent", ["empirical-mean", "exploratory", "own"])
def test_requests_paid_out_step_by_step_and_whole(agent: str) -> None:
    settings = {"agent": OwnAgent() if agent == "own" else agent, "instance": IID(MU, THETA, "beta")}
    stepping, whole = Restless(K, T), Restless(K, T)
    infos, _, game = step_through(stepping, SEED, **settings)
    run = simulate(whole, seed=SEED, checkpoints=[T], **settings)
    assert totals_of(run) == game.totals()
    assert run.plays[-1].tolist() == np.bincount([info["arm"] for info in infos], minlength=K).tolist()
    assert noted(whole) == noted(stepping)
    assert whole.memory.tolist() == stepping.memory.tolist()
    fired = {outcome.rounds < full for i, full in ((1, 60), (6, 5)) for outcome in whole.outcomes[i::8]}
    assert fired == {True, False}
    # The rule, fourth and fifth of eight requests, is told of nobody in the first round of each.
    assert whole.memory[3] == sum(i % 8 in (3, 4) for i in range(len(whole.outcomes) + 1))


@pytest.mark.parametrize("every", [1, 7, 50, 401])
def test_checkpoints_do_not_cut_requests(every: int) -> None:
    """A request cut at a checkpoint goes on after it."""
    whole, cut = Restless(K, T), Restless(K, T)
    simulate(whole, IID(MU, THETA), seed=SEED, checkpoints=[T])
    run = simulate(cut, IID(MU, THETA), seed=SEED, checkpoints=[*range(every, T, every), T])
    assert noted(cut) == noted(whole)
    assert cut.memory.tolist() == whole.memory.tolist()
    assert len(run.plays) >= T // every


def test_a_rule_cut_at_a_checkpoint_goes_on_though_the_hold_before_it_was_withdrawn() -> None:
    class Withdrawn(Principal):
        """A hold that is refused at once, then a rule."""

        def rounds(self) -> Rounds:
            """Notes how long both were played."""
            self.lengths = [(yield hold(3, 0.0, rounds=50, stop=(0.0, 0.5))).rounds]
            self.lengths.append((yield follow(optimist, np.zeros(4), rounds=40)).rounds)

    principal = Withdrawn(K, T)
    for checkpoints in ([T], [10, T]):
        simulate(principal, IID(MU, THETA), "oracle", seed=SEED, checkpoints=checkpoints)
        assert principal.lengths == [1, 40], checkpoints


@pytest.mark.parametrize(("stop", "rounds"), [((1.0, 0.0), 2), ((0.0, 8.0), 5), ((0.0, 1.0), 2), ((3.0, 2.0), 11)])
def test_an_offer_is_withdrawn_beyond_its_threshold_and_not_at_it(stop: tuple[float, float], rounds: int) -> None:
    """An agent that always refuses: Y misses after Y rounds. Y = sqrt(Y) at 1, Y = 8/sqrt(Y) at 4."""

    class Refused(Principal):
        """One hold."""

        def rounds(self) -> Rounds:
            """Notes its length."""
            self.length = (yield hold(3, 0.0, rounds=50, stop=stop)).rounds

    settings = {"instance": IID(MU, THETA), "agent": "oracle"}
    stepping, whole = Refused(K, 60), Refused(K, 60)
    step_through(stepping, SEED, **settings)
    simulate(whole, seed=SEED, **settings)
    assert (stepping.length, whole.length) == (rounds, rounds)


def test_nothing_is_offered_once_the_script_has_ended() -> None:
    class Brief(Principal):
        """Twenty rounds, then silence."""

        def rounds(self) -> Rounds:
            """One request."""
            yield hold(0, 2.0, rounds=20)

    principal = Brief(K, 50)
    infos, offers, _ = step_through(principal, SEED, instance=IID(MU, THETA), agent="oracle")
    assert [made.tolist() for made in offers] == [[2.0, 0.0, 0.0, 0.0]] * 20 + [[0.0] * K] * 30
    run = simulate(Brief(K, 200), IID(MU, THETA), "oracle", seed=SEED, checkpoints=[50, 200])
    assert run.plays.tolist() == [[20, 30, 0, 0], [20, 180, 0, 0]]
    assert [info["arm"] for info in infos] == [0] * 20 + [1] * 30


def test_an_offer_stands_until_it_is_answered() -> None:
    principal = baselines.make("elimination", n_arms=K, horizon=T)
    first = principal.offer()
    first[:] = 7.0  # ours to spoil
    assert principal.offer().tolist() == principal.offer().tolist() == [0.5, 0.0, 0.0, 0.0]
    principal.observe(0, 1.0)
    assert principal.offer().tolist() == [0.25, 0.0, 0.0, 0.0]
    assert principal.theta_hat.tolist() == [1.0, 0.0, 0.0, 0.0]


def test_a_principal_without_rounds_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r"Principal must define rounds\(\)"):
        Principal(n_arms=2, horizon=10).offer()


# -------------------------------------------------------------------------------------- copies and seeds

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_in_the_middle_of_an_episode_is_refused(how: str) -> None:
    principal = baselines.make("elimination", n_arms=K, horizon=T)
    COPIES[how](principal)
    principal.offer()
    with pytest.raises(TypeError, match=r"Elimination cannot be copied .* call reset\(\) first"):
        COPIES[how](principal)
    principal.observe(0, 1.0)
    assert principal.offer().tolist() == [0.25, 0.0, 0.0, 0.0]  # unharmed
    principal.reset()
    twin = COPIES[how](principal)
    twin.offer()
    twin.observe(2, 1.0)
    assert principal.t == 0
    assert principal.plays.sum() == 0
    assert principal.offer().tolist() == [0.5, 0.0, 0.0, 0.0]


def test_a_followers_seat_with_a_principal_refuses_to_be_copied_in_the_middle() -> None:
    principal = baselines.make("exploratory", n_arms=K, horizon=T)
    env = FollowerEnv(principal=principal, n_arms=K, horizon=T)
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(TypeError, match=r"Exploratory cannot be copied"):
        copy.deepcopy(env)


def test_a_principal_offers_in_the_followers_seat() -> None:
    principal = baselines.make("elimination", n_arms=K, horizon=T)
    env = FollowerEnv(principal=principal, n_arms=K, horizon=T)
    first = [env.reset(seed=1)[0][:K], *(env.step(0)[0][:K] for _ in range(3))]
    assert [made.tolist() for made in first] == [[pi, 0, 0, 0] for pi in (0.5, 0.25, 0.125, 0.0625)]


@pytest.mark.parametrize("seed", [0, 5])
def test_a_seed_gives_the_same_draws_and_no_seed_gives_others(seed: int) -> None:
    def draws(principal: Principal, seed: int | None = None) -> list[float]:
        principal.reset(seed=seed)
        return principal.rng.random(3).tolist()

    one, other = Restless(K, T), Restless(K, T)
    seeded = draws(one, seed)
    assert seeded == draws(one, seed) == draws(other, seed)
    assert seeded != draws(one, seed + 1)
    unseeded = [draws(one) for _ in range(3)]
    assert len({tuple(numbers) for numbers in (seeded, *unseeded)}) == 4
    assert unseeded == [draws(other) for _ in range(3)]  # a stream of the principal's own, not a clock


def test_simulations_repeat_whatever_was_played_before() -> None:
    principal = Restless(K, T)
    first = simulate(principal, IID(MU, THETA), seed=SEED)
    simulate(principal, IID(MU, THETA), seed=SEED + 1)
    principal.offer()
    again = simulate(principal, IID(MU, THETA), seed=SEED)
    for name in SCORES:
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()
    assert simulate(principal, IID(MU, THETA), seed=SEED + 1).utility[-1] != first.utility[-1]


def test_twins_of_one_prediction_do_not_share_draws() -> None:
    class Dice(Principal):
        """A random offer a round."""

        def rounds(self) -> Rounds:
            """Throw, and throw again."""
            while True:
                yield hold(0, float(self.rng.random()))

    offers, _ = Dice(K, T).predict(np.zeros((5, 6 * K + 2), np.float32))
    assert len(set(offers[:, 0].tolist())) == 5


# -------------------------------------------------------------------------------------- the registry

SETTINGS: dict[str, dict[str, Any]] = {"fixed": {"incentives": [0.1, 0.2, 0.3, 0.4]}}
LINEAR = ("linear", "c-ipa")


@pytest.mark.parametrize("name", PRINCIPALS)
def test_every_principal_of_the_registry_plays(name: str) -> None:
    made = PRINCIPALS[name]
    assert inspect.getdoc(made)
    instance, agent = ("unit-ball", "ols") if name in LINEAR else (IID(MU, THETA), "empirical-mean")
    principal: str | Principal = name
    sizes = sizes_of(name, K, 300)
    if sizes["n_arms"] != K:
        instance = "uniform"
    if name not in LINEAR:
        principal = baselines.make(name, **sizes, **SETTINGS.get(name, {}))
        assert isinstance(principal, made)
        assert {"n_arms": principal.n_arms, "horizon": principal.horizon} == sizes
    run = simulate(principal, instance, agent, horizon=sizes["horizon"], seed=SEED)
    assert run.plays[-1].sum() == sizes["horizon"]
    assert np.isfinite([getattr(run, total)[-1] for total in SCORES if total != "regret_fixed"]).all()


def test_principals_can_be_listed_before_and_after_one_is_made() -> None:
    """The folder of the same name must not take the function's place when it is imported."""
    with python("""
import baselines
names = baselines.principals()
baselines.make("zero", n_arms=2, horizon=9)
assert baselines.principals() == names
""") as process:
        assert process.communicate(timeout=60)[1] == ""


def offers_of(principal: Principal, rounds: int) -> list[Floats]:
    return [step[0] for step in ((principal.offer(), principal.observe(0, 1.0)) for _ in range(rounds))]


def test_parameters_reach_the_principal() -> None:
    paper = offers_of(baselines.make("elimination", n_arms=2, horizon=16), 6)
    longer = offers_of(baselines.make("elimination", n_arms=2, horizon=17), 6)
    doubled = offers_of(baselines.make("elimination", n_arms=2, horizon=16, unknown_initial_means=True), 6)
    assert [made[0] for made in paper] == [0.5, 0.25, 0.125, 0.0625, 1.0625, 1.0625]
    assert [made[0] for made in longer] == [0.5, 0.25, 0.125, 0.0625, 0.03125, 1 + 1 / 17]
    assert [made[0] for made in doubled] == [1.0, 0.5, 0.25, 0.125, 0.0625, 2.0625]
