"""The paper's lemmas (Liu & Ratliff, ICML 2025) as counts of violations over many random games.

The lemmas hold on an event of probability 1 - delta. With delta = 1/T the expected number of runs outside it is far
below one, so a single violation is one too many.
"""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import baselines
from baselines import Run, hold, simulate
from baselines.episodes import Episodes
from baselines.principal import Rounds
from baselines.scripted.paper.exploratory import LARGEST_PRACTICAL_C0, Exploratory
from baselines.scripted.paper.phased import Constants, Phased
from baselines.scripted.paper.search import Search, asymmetric_search
from pa_env import IID, make_agent
from pa_env.scripted_agents import ScriptedAgent

from .helpers import Entry, Floats, offered, watch

# -------------------------------------------------------------------------------------- the search


class Found(NamedTuple):
    """A search: its arm, first and last round, and the incentive b that it returned."""

    arm: int
    first: int
    last: int
    incentive: float


class Searcher(Phased):
    """Plays arm a ``warm_up[a]`` times, then searches for incentives of random arms to the end."""

    practical = Constants()
    warm_up: tuple[int, ...] = ()
    only: int | None = None

    def rounds(self) -> Rounds:
        """Search after search."""
        self.found: list[Found] = []
        for arm, plays in enumerate(self.warm_up):
            if plays:
                yield hold(arm, self.cap, rounds=plays)
        while True:
            arm = int(self.rng.integers(self.n_arms)) if self.only is None else self.only
            first = self.t
            incentive = yield from asymmetric_search(self, arm)
            self.found.append(Found(arm, first, self.t - 1, incentive))


SEARCHED = [
    (make_agent("empirical-mean"), "bernoulli"),
    (make_agent("empirical-mean", ties="random"), "bernoulli"),
    (make_agent("empirical-mean", ties="largest-incentive"), "bernoulli"),
    (make_agent("empirical-mean"), "beta"),
    (make_agent("empirical-mean"), "constant"),
    (make_agent("oracle"), "bernoulli"),
]


@functools.cache
def searches(agent: ScriptedAgent, rewards: str) -> list[tuple[Found, Entry, int]]:
    """Finished searches with the notes of their last round and the horizon: 2 to 6 arms, cold and warm."""
    finished = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n_arms, horizon = int(rng.integers(2, 7)), int(rng.integers(300, 3000))
        principal = Searcher(n_arms, horizon)
        principal.warm_up = tuple(rng.integers(0, (2, 30)[seed % 2], n_arms).tolist())
        notes = watch(principal)
        instance = IID(rng.random(n_arms), rng.random(n_arms), rewards)
        simulate(principal, instance, agent, seed=seed, checkpoints=[horizon])
        last = {note.t: note for note in notes}
        finished += [(found, last[found.last], horizon) for found in principal.found]
    return finished


@pytest.mark.parametrize(("agent", "rewards"), SEARCHED)
def test_a_search_ends_just_above_the_optimal_incentive(agent: ScriptedAgent, rewards: str) -> None:
    """b - pi*_a(t) in (0, 4/T + L/N_a(t) + 2/min N(t)], in every search, whatever the agent's luck."""
    violations, count, tightest = [], 0, math.inf
    for found, note, T in searches(agent, rewards):
        L = math.ceil(math.log2(T))
        above = found.incentive - (note.means.max() - note.means[found.arm])
        N = note.plays  # before the last round
        bound = 4 / T + L / N[found.arm] + 2 / N.min() if N.min() else math.inf
        count += 1
        tightest = min(tightest, bound)
        if not 0 < above <= bound:
            violations.append((found, above, bound))
    assert count > 300
    assert tightest < 0.2 or agent.is_oracle
    assert not violations


@pytest.mark.parametrize(("agent", "rewards"), SEARCHED)
def test_a_search_takes_at_most_3l_minus_1_rounds(agent: ScriptedAgent, rewards: str) -> None:
    lengths = np.array(
        [(found.last - found.first + 1, math.ceil(math.log2(T))) for found, _, T in searches(agent, rewards)]
    )
    assert (lengths[:, 0] <= 3 * lengths[:, 1] - 1).all()
    assert (lengths[:, 0] > lengths[:, 1]).any()  # checks were made
    if agent.is_oracle:
        assert (lengths[:, 0] > 2 * lengths[:, 1]).any()  # the paper says 2L; nothing stops C1 on failures


@pytest.mark.parametrize("ties", ["lowest", "largest-incentive"])
def test_a_search_ends_strictly_above_an_optimal_incentive_that_it_meets(ties: str) -> None:
    """Optimal incentives on the grid of the search, ties to the target: where b might be pi* itself. T = 64."""
    for step in range(65):
        principal = Searcher(2, 64)
        principal.only = 0
        instance = IID([0.0, step / 64], [0.5, 0.5])
        simulate(principal, instance, make_agent("oracle", ties=ties), seed=0)
        assert principal.found
        for found in principal.found:
            assert 0 < found.incentive - step / 64 <= 4 / 64


@pytest.mark.parametrize("L", [1, 2, 5, 10, 20])
def test_the_longest_search(L: int) -> None:
    """pi* = 2^-(L-1) is met exactly by try L - 1; then every try fails and every check passes."""
    principal = Searcher(2, max(2, 2**L))
    principal.only = 0
    instance = IID([0.0, 2.0 ** -(L - 1)], [0.5, 0.5])
    agent = make_agent("oracle", ties="largest-incentive")
    Episodes(principal, {"horizon": 3 * L, "agent": agent, "instance": instance}).play([0], np.array([3 * L]))
    assert principal.found[0][1:3] == (0, 3 * L - 2)


# -------------------------------------------------------------------------------------- phases


def gaps(instance: IID) -> Floats:
    """Delta_a = max_b (theta_b + mu_b) - (theta_a + mu_a)."""
    joint: Floats = instance.theta + instance.mu
    return joint.max() - joint


def lost_arms(run: Run) -> Iterator[tuple[int, int]]:
    """(m, a): arm a was active in phase m, and no more in the next."""
    for before, after in zip(run.phases, run.phases[1:], strict=False):
        yield from ((before.number, arm) for arm in before.active if arm not in after.active)


class Game(NamedTuple):
    """A game played with a principal of the paper's."""

    principal: Phased
    instance: IID
    run: Run
    notes: list[Entry]

    def holds(self) -> Iterator[tuple[Entry, Entry]]:
        """Offers on one arm for many rounds, each with the request that came next."""
        for note, after in zip(self.notes, self.notes[1:], strict=False):
            request = note.request
            tests = (
                isinstance(self.principal, Exploratory) and request.stop is None and request.target in note.phase.active
            )
            if len(request.arms) == 1 and request.rounds > 1 and not tests:
                yield note, after


class Call(NamedTuple):
    """One search of a principal: its phase, arm, first round, the round after its last, and what it found."""

    phase: int
    arm: int
    first: int
    end: int
    incentive: float


def note_searches(principal: Any) -> None:
    """Keep every search that this principal finishes in ``principal.calls``."""
    search, principal.calls = principal.search, []

    def noted(arm: int) -> Search:
        first = principal.t
        found = yield from search(arm)
        principal.calls.append(Call(principal.phases[-1].number, arm, first, principal.t, found))
        return float(found)

    principal.search = noted


def play(name: str, agent: str | ScriptedAgent, seed: int, horizon: int, **parameters: Any) -> Game:
    """Five arms: at random, against each other, or one above all others, by turns."""
    principal = baselines.make(name, n_arms=5, horizon=horizon, **parameters)
    assert isinstance(principal, Phased)
    note_searches(principal)
    notes = watch(principal)
    rng = np.random.default_rng(seed)
    mu, theta = rng.random(5), rng.random(5)
    if seed % 3 == 1:
        mu, theta = np.sort(mu), np.sort(theta)[::-1]
    elif seed % 3 == 2:
        mu = 0.2 + 0.4 * mu
        theta = 0.8 - mu
        mu[0] += 0.1
        theta[0] += 0.1
    instance = IID(mu, theta, "beta" if seed % 10 == 9 else "bernoulli")
    return Game(principal, instance, simulate(principal, instance, agent, seed=seed, checkpoints=[horizon]), notes)


GREEDY, EXPLORING, KNOWING = "empirical-mean", "exploratory", "exploratory-oracle"
C0 = 0.05  # larger ones leave the first phase only at longer horizons
T = 400_000


@pytest.fixture(scope="module", params=["elimination", "elimination-offline"])
def greedy_games(request: pytest.FixtureRequest) -> list[Game]:
    return [play(request.param, GREEDY, seed, T) for seed in range(60)]


@pytest.fixture(scope="module", params=["exploratory", "exploratory-oracle"])
def exploring_games(request: pytest.FixtureRequest) -> list[Game]:
    agent = EXPLORING if request.param == "exploratory" else KNOWING
    hows = ("uniform", "worst", "round-robin")
    return [
        play(request.param, make_agent(agent, c0=C0, exploration=hows[seed % 3]), seed, T, c0=C0) for seed in range(15)
    ]


def lost_the_best(game: Game) -> bool:
    best = int(gaps(game.instance).argmin())
    return any(best not in phase.active for phase in game.run.phases)


def test_the_target_of_a_hold_is_always_played(greedy_games: list[Game]) -> None:
    """Active arms at their enlarged incentive, and bad arms at 1 + 1/T."""
    violations, later, bad = 0, 0, 0
    for game in greedy_games:
        broken = False
        for note, _ in game.holds():
            broken |= note.outcome.plays[note.request.target] < note.request.rounds
            later += note.phase.number > 1 and note.request.amounts[0] < 1.0
            bad += note.request.target not in note.phase.active
        violations += broken
    assert violations <= len(greedy_games) / T
    assert later > 300
    assert bad > 300


def test_enlarged_incentives_are_not_too_large(greedy_games: list[Game]) -> None:
    """Phases m >= 2, active arms, at the beginning and the end of each hold."""
    violations, count = 0, 0
    for game in greedy_games:
        K, lengths, broken = 5, {phase.number: phase.length for phase in game.run.phases}, False
        for note, after in game.holds():
            arm, active = note.request.target, note.phase.active
            if note.phase.number == 1 or arm not in active:
                continue
            before = lengths[note.phase.number - 1]
            share = max(1, K - len(active)) / (before * len(active))
            bound = (
                7 * math.sqrt(math.log(4 * K * T * T) / (2 * before))
                + 4 / T
                + math.ceil(math.log2(T)) / before
                + 5 * math.sqrt(share)
            )
            for means in (note.means, after.means):
                broken |= note.request.amounts[0] > means.max() - game.instance.mu[arm] + bound
            count += 1
        violations += broken
    assert violations <= len(greedy_games) / T
    assert count > 300


def test_the_best_arm_stays_active(greedy_games: list[Game]) -> None:
    assert sum(map(lost_the_best, greedy_games)) <= len(greedy_games) / T
    assert sum(len(game.run.phases) >= 4 for game in greedy_games) > len(greedy_games) / 2


def test_an_arm_lost_in_phase_m_has_a_gap_of_2_to_minus_m(greedy_games: list[Game]) -> None:
    violations, count = 0, 0
    for game in greedy_games:
        lost = list(lost_arms(game.run))
        violations += any(gaps(game.instance)[arm] < 2.0**-m for m, arm in lost)
        count += len(lost)
    assert violations <= len(greedy_games) / T
    assert count > 100


def test_an_arm_with_a_larger_gap_is_lost_by_phase_m(greedy_games: list[Game]) -> None:
    """Delta_a / 2 > 2^-m: not active in phase m + 1; offline Delta_a > 2^(1-m) + epsilon_m."""
    violations, count = 0, 0
    for game in greedy_games:
        offline, before, broken = game.principal.name == "elimination-offline", 1, False
        for phase, after in zip(game.run.phases, game.run.phases[1:], strict=False):
            n_active = len(phase.active)
            epsilon = (
                4 / T
                + (2 + math.ceil(math.log2(T))) / phase.length
                + 2 * math.sqrt((5 - n_active) / (n_active * before))
            )
            threshold = 2.0 ** (1 - phase.number) + (epsilon if offline else 0.0)
            large = np.flatnonzero(gaps(game.instance) > threshold)
            broken |= bool(np.isin(large, after.active).any())
            count += len(large)
            before = phase.length
        violations += broken
    assert violations <= len(greedy_games) / T
    assert count > 100


def test_the_best_arm_for_the_agents_beliefs_is_active(greedy_games: list[Game]) -> None:
    """lem:a_t_star_active: argmax theta_a - pi*_a(t), at the beginning of every request."""
    violations, later = 0, 0
    for game in greedy_games:
        best = [int((game.instance.theta + note.means).argmax()) for note in game.notes]
        violations += any(arm not in note.phase.active for arm, note in zip(best, game.notes, strict=True))
        later += sum(len(note.phase.active) < 5 for note in game.notes)
    assert violations <= len(greedy_games) / T
    assert later > 3000


# -------------------------------------------------------------------------------------- agents that explore


def test_every_active_arm_is_played_as_often_as_planned(exploring_games: list[Game]) -> None:
    """T_m times in phase m, before the tests begin."""
    violations, count = 0, 0
    for game in exploring_games:
        plays: dict[tuple[int, int], int] = {}
        for note, _ in game.holds():
            if note.request.target in note.phase.active:
                key = note.phase.number, note.request.target
                plays[key] = plays.get(key, 0) + int(note.outcome.plays[note.request.target])
        finished = {(phase.number, arm): phase.length for phase in game.run.phases[:-1] for arm in phase.active}
        violations += any(plays[key] < length for key, length in finished.items())
        count += len(finished)
    assert violations <= len(exploring_games) / T
    assert count > 100


def test_an_incentive_that_is_always_enough_is_held_to_the_end(exploring_games: list[Game]) -> None:
    """In phase 1 the first incentive is 1 + 1/T: it is held for 2 T_1 rounds, and no second one is needed."""
    if exploring_games[0].principal.name == "exploratory-oracle":
        pytest.skip("it holds what its searches found")
    violations = 0
    for game in exploring_games:
        first = [note for note, _ in game.holds() if note.phase.number == 1]
        as_planned = [(arm, 2 * game.run.phases[0].length) for arm in range(5)]
        violations += [(note.request.target, note.outcome.rounds) for note in first] != as_planned
    assert violations <= len(exploring_games) / T


def test_bad_arms_are_played_half_of_the_time_they_are_paid(exploring_games: list[Game]) -> None:
    violations, count = 0, 0
    for game in exploring_games:
        bad = [note for note, _ in game.holds() if note.request.target not in note.phase.active]
        violations += any(2 * note.outcome.plays[note.request.target] < note.request.rounds for note in bad)
        count += len(bad)
    assert violations <= len(exploring_games) / T
    assert count > 50 or exploring_games[0].principal.name == "exploratory-oracle"


def test_the_agent_explores_no_more_than_is_allowed_for(exploring_games: list[Game]) -> None:
    """lem:total_error_plays, phases m >= 2: misses of an arm that is paid enough at both ends of a hold."""
    violations, bad, active = 0, 0, 0
    for game in exploring_games:
        broken = False
        for note, after in game.holds():
            arm, rounds = note.request.target, note.outcome.rounds
            enough = all(note.request.amounts[0] > means.max() - means[arm] for means in (note.means, after.means))
            if note.phase.number == 1 or not enough:
                continue
            is_bad = arm not in note.phase.active
            log = math.log(8 * 5 * T * math.log2(T) * T) if is_bad else game.principal.log_iota  # type: ignore[attr-defined]
            bound = 2 * C0 * math.sqrt(rounds * math.log(2 * T)) + math.sqrt(8 * log / rounds)
            broken |= rounds - note.outcome.plays[arm] > bound
            bad, active = bad + is_bad, active + (not is_bad)
        violations += broken
    assert violations <= len(exploring_games) / T
    assert active > 25
    assert bad > 30 or exploring_games[0].principal.name == "exploratory-oracle"


def successful_calls(game: Game) -> dict[tuple[int, int], list[Call]]:
    """For every phase and arm whose searches were all made: those in which the agent did not explore."""
    principal: Any = game.principal
    explored = {
        note.t
        for note in game.notes
        if len(note.request.arms) == note.request.rounds == 1
        and (note.means + offered(note.request, 5))[note.outcome.plays.argmax()]
        < (note.means + offered(note.request, 5)).max()
    }
    found: dict[tuple[int, int], list[Call]] = {}
    for call in principal.calls:
        found.setdefault((call.phase, call.arm), []).append(call)
    return {
        key: [call for call in calls if not explored & set(range(call.first, call.end))]
        for key, calls in found.items()
        if len(calls) == principal.searches
    }


def test_some_search_of_every_arm_meets_no_exploration(exploring_games: list[Game]) -> None:
    """lem:repeated_calls_search, phases m >= 2."""
    violations, count, misled = 0, 0, 0
    for game in exploring_games:
        later = {key: calls for key, calls in successful_calls(game).items() if key[0] > 1}
        violations += not all(later.values())
        count += len(later)
        misled += sum(len(calls) < game.principal.searches for calls in later.values())  # type: ignore[attr-defined]
    assert violations <= len(exploring_games) / T
    assert count > 40
    assert misled > 10


def test_enlarged_incentives_are_not_too_large_under_exploration(exploring_games: list[Game]) -> None:
    """lem:UB_bar_bma_explore: the first successful incentive, at the beginning and the end of each hold up to it."""
    if exploring_games[0].principal.name == "exploratory-oracle":
        pytest.skip("it does not enlarge incentives")
    violations, count = 0, 0
    for game in exploring_games:
        principal: Any = game.principal
        phases, broken = {phase.number: phase for phase in game.run.phases}, False
        calls = successful_calls(game)
        for note, after in game.holds():
            key = note.phase.number, note.request.target
            if key[0] == 1 or key not in calls or not calls[key]:
                continue
            before, n_active = phases[key[0] - 1].length, len(note.phase.active)
            margin = principal.margin(list(note.phase.active), before)
            incentive = min(principal.cap, min(call.incentive for call in calls[key]) + margin)
            if note.request.amounts[0] > incentive:
                continue  # after the first successful one
            share, log = max(1, 5 - n_active) / (before * n_active), math.log(16 * 5 * T * T)
            bound = 4 / T + (math.ceil(math.log2(T)) + 4) / before + 4 * share ** (2 / 3)
            bound += 5 * ((log * share) ** (1 / 3) + math.sqrt(log / before))
            for means in (note.means, after.means):
                broken |= incentive > means.max() - game.instance.mu[key[1]] + bound
            count += 1
        violations += broken
    assert violations <= len(exploring_games) / T
    assert count > 50


def test_successful_plain_searches_end_within_2_over_t_under_exploration(exploring_games: list[Game]) -> None:
    """lem:optimistic_incentive: b + 1/T - pi*_a in (0, 2/T], in every phase."""
    if exploring_games[0].principal.name == "exploratory":
        pytest.skip("its searches are not plain")
    count = 0
    for game in exploring_games:
        optimal = game.instance.mu.max() - game.instance.mu
        for calls in successful_calls(game).values():
            above = np.array([call.incentive + 1 / T - optimal[call.arm] for call in calls])
            assert ((above > 0) & (above <= 2 / T + 1e-12)).all()
            count += len(calls)
    assert count > 1000


def test_the_best_arm_stays_active_under_exploration(exploring_games: list[Game]) -> None:
    assert sum(map(lost_the_best, exploring_games)) <= len(exploring_games) / T
    assert sum(len(list(lost_arms(game.run))) for game in exploring_games) > 40


def test_an_arm_with_a_larger_gap_is_lost_under_exploration(exploring_games: list[Game]) -> None:
    """Delta_a > 9 sqrt(log(16KT/delta) / (2 T_m)), or 5 sqrt(...) for agents that know their means."""
    violations, count = 0, 0
    for game in exploring_games:
        width, broken = (9 if game.principal.name == "exploratory" else 5), False
        for phase, after in zip(game.run.phases, game.run.phases[1:], strict=False):
            threshold = width * math.sqrt(math.log(16 * 5 * T * T) / (2 * phase.length))
            large = np.flatnonzero(gaps(game.instance) > threshold)
            broken |= bool(np.isin(large, after.active).any())
            count += len(large)
        violations += broken
    assert violations <= len(exploring_games) / T
    assert count > 40


def test_the_median_tells_clear_winners_and_clear_losers(exploring_games: list[Game]) -> None:
    """Arms that lead, or trail, by more than the means can move during the tests."""
    violations, kept, lost = 0, 0, 0
    for game in exploring_games:
        following = {phase.number: phase.active for phase in game.run.phases}
        broken = False
        for note in game.notes:
            if len(note.request.arms) == 1 or note.phase.number + 1 not in following:
                continue
            values, arm = note.means + offered(note.request, 5), note.request.target
            lead = values[arm] - max(values[b] for b in note.phase.active if b != arm)
            if abs(lead) > 2 * note.request.rounds / note.plays[list(note.phase.active)].min():
                stays = arm in following[note.phase.number + 1]
                broken |= stays != (lead > 0)
                kept, lost = kept + (lead > 0), lost + (lead < 0)
        violations += broken
    assert violations <= len(exploring_games) / T
    assert min(kept, lost) > 20


def test_plain_searches_end_within_2_over_t_where_nothing_is_explored() -> None:
    """b + 1/T - pi*_a in (0, 2/T]."""
    for seed in range(9):
        game = play("exploratory-oracle", "oracle", seed, 20_000, c0=0.02)
        optimal = game.instance.mu.max() - game.instance.mu
        above = [note.request.amounts[0] - optimal[note.request.target] for note, _ in game.holds()]
        assert len(above) >= 5
        assert min(above) > 0
        assert max(above) <= 2 / 20_000 + 1e-12


# -------------------------------------------------------------------------------------- practical constants


def count_lost(name: str, agent: str | ScriptedAgent, runs: int, horizon: int, **parameters: Any) -> int:
    return sum(
        lost_the_best(play(name, agent, seed, horizon, constants="practical", **parameters)) for seed in range(runs)
    )


@pytest.mark.parametrize("name", ["elimination", "elimination-offline"])
def test_practical_constants_keep_the_best_arm(name: str) -> None:
    assert count_lost(name, GREEDY, runs=120, horizon=30_000) == 0


@pytest.mark.parametrize("c0", [0.5, 1.0])
def test_only_the_exploratory_principal_keeps_the_best_arm_of_an_agent_that_explores(c0: float) -> None:
    agent = make_agent(EXPLORING, c0=c0)
    assert count_lost("elimination", agent, runs=40, horizon=30_000) > 0
    assert count_lost("exploratory", agent, runs=40, horizon=30_000, c0=c0) == 0


@pytest.mark.filterwarnings("ignore:c0 = 4.0 with constants = 'practical'")
def test_practical_constants_keep_the_best_arm_up_to_the_c0_that_they_warn_of() -> None:
    lost = {
        c0: count_lost("exploratory", make_agent(EXPLORING, c0=c0), runs=40, horizon=100_000, c0=c0)
        for c0 in (LARGEST_PRACTICAL_C0, 4.0)
    }
    assert lost[LARGEST_PRACTICAL_C0] == 0
    assert lost[4.0] > 0
