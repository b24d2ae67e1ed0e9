"""Simulations: what a run reports, at any horizon, in memory that does not grow and with Ctrl-C at hand."""

import math
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import baselines
from baselines import Principal, hold, offer, simulate
from baselines.episodes import Episodes, Match, log_spaced
from baselines.principal import Rounds
from pa_env import IID, make_agent
from pa_env.checks import UNBOUNDED
from pa_env.game import Game

from .helpers import python, step_through

K, T, SEED = 4, 2000, 5
INSTANCE = IID([0.35, 0.8, 0.55, 0.0], [0.9, 0.2, 0.4, 1.0])
SUMS = ("regret", "regret_oracle", "regret_bar", "utility", "expected_utility", "overpayment")


# -------------------------------------------------------------------------------------- what a run reports


@pytest.mark.parametrize("horizon", [2, 3, 10, 9_999, 10**6, 10**10])
def test_default_checkpoints_run_from_the_first_round_to_the_horizon(horizon: int) -> None:
    marks = log_spaced(horizon)
    assert marks[0] == 1
    assert marks[-1] == horizon
    assert (np.diff(marks) > 0).all()
    assert marks.dtype == np.int64
    assert len(marks) <= 8 * math.log10(horizon) + 2
    assert (marks[1:] <= 2 * marks[:-1]).all()


def test_checkpoints_of_ones_own_are_sorted_and_given_back() -> None:
    run = simulate("zero", INSTANCE, horizon=T, seed=SEED, checkpoints=[700, 3, T, 3])
    assert run.checkpoints.tolist() == [3, 700, T]
    assert run.plays.sum(axis=1).tolist() == [3, 700, T]
    assert {getattr(run, name).shape for name in (*SUMS, "misses")} == {(3,)}
    assert run.plays.shape == (3, K)


@pytest.mark.parametrize("name", ["elimination", "exploratory", "oracle"])
def test_a_checkpoint_is_what_a_run_that_ends_there_reports(name: str) -> None:
    principal = baselines.make(name, n_arms=K, horizon=T)
    agent = make_agent("exploratory", c0=0.3)
    marks = [1, 17, 64, 1000, 1999, T]
    run = simulate(principal, INSTANCE, agent, seed=SEED, checkpoints=marks)
    for i, mark in enumerate(marks[1:], start=1):
        game: Any = {"n_arms": K, "horizon": mark, "agent": agent, "instance": INSTANCE}
        short = Episodes(principal, game).play([SEED], np.array([mark])).episode(0)
        for total in (*SUMS, "misses", "plays"):
            assert getattr(short, total)[-1].tobytes() == getattr(run, total)[i].tobytes(), total


@pytest.mark.parametrize("name", ["elimination", "exploratory"])
@pytest.mark.parametrize("rewards", ["bernoulli", "gaussian"])
def test_sums_are_the_infos_of_every_round_added_up(name: str, rewards: str) -> None:
    instance = IID(INSTANCE.mu, INSTANCE.theta, rewards)
    principal = baselines.make(name, n_arms=K, horizon=T, constants="practical")
    settings = {"instance": instance, "agent": make_agent("exploratory", c0=0.3)}
    infos, offers, _ = step_through(principal, SEED, **settings)
    marks = [1, 500, 1234, T]
    run = simulate(principal, seed=SEED, checkpoints=marks, **settings)
    paid = [made[info["arm"]] for made, info in zip(offers, infos, strict=True)]
    over = [max(0.0, pi - info["optimal_incentives"][info["arm"]]) for pi, info in zip(paid, infos, strict=True)]
    for i, mark in enumerate(marks):
        for total in SUMS[:-1]:
            expected = math.fsum(info[total] for info in infos[:mark])
            assert getattr(run, total)[i] == pytest.approx(expected, rel=1e-11, abs=1e-11), total
        assert run.overpayment[i] == pytest.approx(math.fsum(over[:mark]), rel=1e-11, abs=1e-11)
        assert run.plays[i].tolist() == np.bincount([info["arm"] for info in infos[:mark]], minlength=K).tolist()
    assert sum(paid) > 0


def test_misses_are_rounds_in_which_another_arm_than_the_target_was_played() -> None:
    class Script(Principal):
        """The oracle agent plays arm 1 unless another is paid enough: pi* = (.45, 0, .25, .8)."""

        def rounds(self) -> Rounds:
            """Holds that work, holds that do not, and offers for nobody in particular."""
            yield hold(0, 0.5, rounds=10)
            yield hold(0, 0.4, rounds=7)  # 7 misses
            yield offer({2: 0.1, 3: 0.9}, rounds=20)  # no target
            yield offer({2: 0.1, 3: 0.9}, rounds=20, target=2)  # 20 misses
            yield hold(3, 0.0, rounds=100, stop=(0.0, 10.0))  # withdrawn once Y > 10 / sqrt(Y): 5 misses

    run = simulate(Script(K, 100), INSTANCE, "oracle", seed=SEED, checkpoints=[10, 13, 17, 30, 40, 57, 100])
    assert run.misses.tolist() == [0, 3, 7, 7, 10, 27, 32]
    assert run.misses.dtype == np.int64


def test_misses_of_a_rules_targets() -> None:
    """An agent that explores in each of these rounds never plays the arm that the oracle makes the best."""
    run = simulate("oracle", INSTANCE, make_agent("exploratory", c0=50.0), horizon=T, seed=SEED, checkpoints=[7, T])
    assert run.misses.tolist() == [7, T]


def test_phases_are_recorded() -> None:
    principal = baselines.make("elimination", n_arms=K, horizon=100_000, constants="practical")
    run = simulate(principal, INSTANCE, seed=SEED)
    assert [phase.number for phase in run.phases] == list(range(1, len(run.phases) + 1))
    assert len(run.phases) >= 4
    assert run.phases[0].start == 0
    assert run.phases[0].active == (0, 1, 2, 3)
    for phase, following in zip(run.phases, run.phases[1:], strict=False):
        assert following.start - phase.start >= len(phase.active) * phase.length
        assert set(following.active) <= set(phase.active)
    assert run.phases[-1].start < 100_000
    assert run.phases[-1].active == (0,)  # theta + mu = 1.25 against 1, 0.95, 1
    kept = list(run.phases)
    simulate(principal, INSTANCE, seed=SEED + 1)
    assert run.phases == kept  # a later run leaves them alone
    assert simulate("zero", INSTANCE, horizon=100).phases == []


@pytest.mark.parametrize(
    ("name", "parameters", "horizon"),
    [("elimination", {}, 20_000), ("exploratory", {"c0": 0.05}, 40_000)],
)
def test_when_the_papers_constants_leave_the_first_phase(name: str, parameters: dict[str, Any], horizon: int) -> None:
    """K = 5: at T about 2e4 and 4e4, as the documentation says."""
    agent = make_agent("exploratory", c0=0.05) if parameters else "empirical-mean"

    def phases(horizon: int) -> int:
        principal = baselines.make(name, n_arms=5, horizon=horizon, **parameters)
        return len(simulate(principal, "uniform", agent, seed=SEED).phases)

    assert phases(int(0.6 * horizon)) == 1
    assert phases(int(1.5 * horizon)) >= 2


@pytest.mark.parametrize("name", ["ipa", "bracket-ucb", "zero"])
@pytest.mark.parametrize("n_arms", [5, 2])
def test_a_principal_that_was_made_for_other_arms_is_refused(name: str, n_arms: int) -> None:
    given = baselines.make(name, n_arms=3, horizon=200)  # its rule's memory has this size
    with pytest.raises(ValueError, match=f"n_arms = 3, but the game has {n_arms}"):
        baselines.simulate(given, n_arms=n_arms, horizon=200)


def test_a_principal_by_name_is_made_for_the_game() -> None:
    run = simulate("elimination", "ipa-k50", "oracle", horizon=500, seed=SEED)
    assert run.plays.shape[1] == 50
    assert run.checkpoints[-1] == 500
    assert simulate("zero", seed=SEED).checkpoints[-1] == 1000
    again = simulate(baselines.make("elimination", n_arms=50, horizon=500), "ipa-k50", "oracle", seed=SEED)
    assert again.utility.tobytes() == run.utility.tobytes()


@pytest.mark.parametrize("family", ["uniform", "misaligned", "gap", "ipa-k5"])
@pytest.mark.parametrize("agent", ["empirical-mean", "oracle"])
def test_the_oracle_has_no_regret(family: str, agent: str) -> None:
    """But for the 1e-9 a round that breaks ties; nobody else does as well."""
    run = simulate("oracle", family, agent, horizon=50_000, seed=SEED, checkpoints=[50_000])
    assert -1e-9 <= run.regret[-1] <= 50_000 * 1.001e-9
    assert run.misses[-1] == 0
    zero = simulate("zero", family, agent, horizon=50_000, seed=SEED, checkpoints=[50_000])
    assert zero.regret[-1] >= run.regret[-1] - 50_000 * 1.001e-9


# -------------------------------------------------------------------------------------- long horizons


def test_long_sums_do_not_drift() -> None:
    """By less than 1e-11 in a billion rounds; a fifth of them may drift by a fifth of that."""
    horizon, tolerance = 2 * 10**8, 2e-12
    principal = baselines.make("fixed", n_arms=2, horizon=horizon, incentives=[0.3, 0.0])
    run = simulate(principal, IID([0.5, 0.6], [0.7, 0.1], "constant"), "oracle", seed=SEED)
    assert run.plays[-1].tolist() == [horizon, 0]
    assert run.checkpoints[-1] == horizon
    assert {run.plays.dtype, run.checkpoints.dtype, run.misses.dtype} == {np.dtype(np.int64)}
    # pi* = .1 for arm 0, which is the best; the same number a billion times is the worst case for a running sum.
    assert run.expected_utility[-1] == pytest.approx((0.7 - 0.3) * horizon, rel=tolerance)
    assert run.regret[-1] == pytest.approx((0.3 - 0.1) * horizon, rel=tolerance)
    assert run.overpayment[-1] == pytest.approx((0.3 - 0.1) * horizon, rel=tolerance)


def test_counters_pass_two_billion() -> None:
    """A game set on to just below 2^31 rounds goes on beyond."""
    horizon, begun = 2**31 + 1000, 2**31 - 1000
    principal = baselines.make("fixed", n_arms=2, horizon=horizon, incentives=[0.3, 0.0])
    game = Game(2, horizon, "oracle", IID([0.5, 0.6], [0.7, 0.1]), max_incentive=UNBOUNDED, observe=False)
    game.begin(seeds=[SEED])
    principal.request()
    game.arrays.state["t"], game.plays[0, 0] = begun, begun
    principal.t, principal.plays = begun, game.plays[0].copy()
    Match(principal, game).play_to(horizon)
    assert (principal.t, game.rounds_played) == (horizon, horizon)
    assert principal.plays.tolist() == [horizon, 0]
    assert 1000 < principal.sums[0] < 1800


def test_memory_does_not_grow_with_the_horizon() -> None:
    """Kilobytes of resident memory at the peak, after 1e5 rounds and after 1e8."""
    with python("""
import resource, baselines
def peak(name, agent, horizon, **parameters):
    principal = baselines.make(name, n_arms=5, horizon=horizon, **parameters)
    baselines.simulate(principal, "uniform", agent, seed=1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for horizon in (10**5, 10**8):
    print(max(peak("zero", "oracle", horizon), peak("elimination", "empirical-mean", horizon, constants="practical")))
""") as process:
        output, errors = process.communicate(timeout=120)
    assert not errors
    small, large = map(int, output.split())
    assert large - small < 3_000


@pytest.mark.parametrize("name", ["zero", "elimination", "oracle"])
def test_ctrl_c_stops_a_simulation_of_ten_billion_rounds(name: str) -> None:
    with python(f"""
import baselines
baselines.simulate({name!r}, "uniform", horizon=1000)
print("ready", flush=True)
baselines.simulate({name!r}, "uniform", horizon=10**10)
""") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert time.monotonic() - begun < 2.0
    assert process.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert "Exception ignored" not in errors


@pytest.mark.parametrize(
    ("module", "use"),
    [
        ("matplotlib", lambda path: simulate("zero", horizon=10).plot()),
        ("pandas", lambda path: simulate("zero", horizon=10).to_frame()),
        ("pyarrow", lambda path: simulate("zero", horizon=10, trace=path / "rounds.parquet")),
    ],
)
def test_what_needs_an_extra_names_it(
    module: str, use: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("baselines.extras.requires", lambda _: [f"{module}>=1; extra == 'bench'"])
    for name in [each for each in sys.modules if each.startswith((f"{module}.", "baselines.pictures"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(f"{module} is not installed. In a clone of the")):
        use(tmp_path)
