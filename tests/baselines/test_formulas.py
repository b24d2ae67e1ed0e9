"""Every offer of the phased principals against the paper's pseudocode, written out again as plain code.

Liu & Ratliff, "Principal-Agent Bandit Games with Self-Interested and Exploratory Learning Agents" (ICML 2025).
:class:`Pseudocode` knows nothing of the package: it offers for one round, is told the arm and the reward, and goes on.
The principal is told the same, and must offer the same. Where the pseudocode is silent or slips, the reading is written
beside the line.
"""

import inspect
import itertools
import math
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import baselines
from baselines import Principal
from baselines.principal import Hold
from baselines.registry import PRINCIPALS
from baselines.scripted.paper import (
    elimination,
    exploratory,
    linear,
    search,
    steiner,
)
from pa_env.kernel.layout import Stop

from .helpers import offered

TOLERANCE = 1e-9


@dataclass
class Question:
    """What is offered next: for ``rounds`` rounds, in order to have ``target`` played; ``kind`` says why."""

    incentives: list[float]
    target: int
    kind: str
    phase: int
    rounds: int = 1
    stop: tuple[float, float] | None = None


Play = Generator[Question, tuple[list[int], list[float]], Any]


@dataclass
class Pseudocode:
    """The four algorithms; counts N_a and reward sums are its own."""

    n_arms: int
    horizon: int
    delta: float | None = None
    c0: float = 1.0
    unknown_initial_means: bool = False
    s: float = 1.0  # on the confidence logarithms
    enlargement: float = 1.0
    repeats: float = 1.0
    practical: bool = False
    whole: bool = False  # ask about a whole "repeat ... until" at once
    seen: set[str] = field(default_factory=set)  # what happened on the way

    def __post_init__(self) -> None:
        self.N, self.S = [0] * self.n_arms, [0.0] * self.n_arms
        self.delta = 1 / self.horizon if self.delta is None else self.delta
        self.top = 2.0 if self.unknown_initial_means else 1.0  # largest mean of the agent
        self.m = 0
        self.starts: list[tuple[int, tuple[int, ...], int]] = []  # (first round, active arms, T_m) of each phase

    def n(self, arm: int) -> int:
        return max(1, self.N[arm])

    def theta_hat(self, arm: int) -> float:
        return self.S[arm] / self.N[arm] if self.N[arm] else 0.0

    def log(self, factor: float) -> float:
        return self.s * math.log(factor * self.horizon * self.n_arms / self.delta)

    def unsure(self, arm: int) -> float:
        """1/N_a: what an initial mean in [0, 1] may shift the agent's mean by (appendix on general initial means)."""
        return 1 / self.n(arm) if self.unknown_initial_means else 0.0

    def ask(
        self,
        amounts: dict[int, float],
        target: int,
        kind: str,
        rounds: int = 1,
        stop: tuple[float, float] | None = None,
    ) -> Play:
        vector = [amounts.get(b, 0.0) for b in range(self.n_arms)]
        plays, rewards = yield Question(vector, target, kind, self.m, rounds, stop)
        for b in range(self.n_arms):
            self.N[b] += plays[b]
            self.S[b] += rewards[b]
        return plays

    def begin(self, active: list[int], length: int) -> None:
        self.m += 1
        self.starts.append((sum(self.N), tuple(active), length))

    def survivors(self, active: list[int], failed: list[int]) -> list[int]:
        """All failures leave, not only the last; if every arm failed, A_m stays."""
        if set(failed) == set(active):
            self.seen.add("every arm failed")
            return active
        if failed:
            self.seen.add("an arm failed")
        return sorted(set(active) - set(failed))

    # ---------------------------------------------------------------------------------- searches

    def noisy_search(self, a: int) -> Play:
        """Noisy binary search with asymmetric check."""
        T, L = self.horizon, math.ceil(math.log2(self.top * self.horizon))
        check, y_upper, C1, C2 = False, self.top, 0, 0
        y_over, y_under = self.top, 0.0
        while True:
            if not check:
                y_mid = (y_over + y_under) / 2
                C1 += 1
                plays = yield from self.ask({a: y_mid}, a, "search")
                if plays[a]:
                    if C1 >= L:
                        self.seen.add("search: C1")
                        return y_mid + 1 / T
                    y_upper = y_over = y_mid
                else:
                    check, y_under = True, y_mid
            else:
                n_a, n_min = self.n(a), min(self.n(i) for i in range(self.n_arms))  # N(t): before this round
                if 0 in self.N:
                    self.seen.add("search: N = 0")
                plays = yield from self.ask({a: y_upper}, a, "check")
                if plays[a]:
                    C2 += 1
                    if C2 == L:
                        self.seen.add("search: C2")
                        return y_upper + 2 / T
                    check = False
                else:
                    self.seen.add("search: failed check")
                    return y_upper + 1 / T + 1 / n_a + 2 / n_min

    def plain_search(self, a: int) -> Play:
        """Binary search for an agent whose means stand still."""
        low, high = 0.0, self.top
        for _ in range(math.ceil(math.log2(self.top * self.horizon))):
            middle = (low + high) / 2
            plays = yield from self.ask({a: middle}, a, "search")
            if plays[a]:
                high = middle
            else:
                low = middle
        return high

    # ---------------------------------------------------------------------------------- what phases are made of

    def stabilise(self, bad: list[int], Z: float) -> Play:
        for a in bad:
            self.seen.add("bad arms")
            yield from self.ask({a: self.top + 1 / self.horizon}, a, "bad", math.ceil(Z))

    def joint(self, a: int, active: list[int], extra: float) -> dict[int, float]:
        """Incentives of a test: 1 + theta_hat on the active arms, more on arm a; an offer is never negative."""
        amounts = {b: self.top + self.theta_hat(b) - self.unsure(b) for b in active}
        amounts[a] = self.top + self.theta_hat(a) + self.unsure(a) + extra
        if min(amounts.values()) < 0:
            self.seen.add("clipped")
        return {b: amount if amount > 0 else 0.0 for b, amount in amounts.items()}

    def collect(self, active: list[int], bad: list[int], T_before: int, T_m: int) -> Play:
        """First half of a phase against a greedy agent: C_m, Z_m, the searches, the holds."""
        Z = math.sqrt(len(active) / max(1, len(bad)) * T_before)
        C = math.sqrt(self.log(4) / (2 * T_before))
        yield from self.stabilise(bad, Z)
        for a in active:
            b = yield from self.noisy_search(a)
            b_bar = b + self.enlargement * (4 * C + 1 / Z) + self.unsure(a)
            if b_bar < self.top + 1 / self.horizon:
                self.seen.add("below the cap")
            yield from self.ask({a: min(self.top + 1 / self.horizon, b_bar)}, a, "hold", T_m)

    def length(self, m: int, active: list[int]) -> int:
        return math.ceil(max(2 ** (2 * m + 5) * self.log(4), len(active) * math.log(self.horizon)))

    # ---------------------------------------------------------------------------------- the algorithms

    def elimination(self) -> Play:
        """Phased elimination, online."""
        active, T_before = list(range(self.n_arms)), 1
        while True:
            T_m = self.length(self.m + 1, active)
            self.begin(active, T_m)
            bad = [a for a in range(self.n_arms) if a not in active]
            yield from self.collect(active, bad, T_before, T_m)
            failed = []
            for a in active:
                plays = yield from self.ask(self.joint(a, active, 1.5 / 2**self.m), a, "test")
                if not plays[a]:
                    failed.append(a)
            active, T_before = self.survivors(active, failed), T_m

    def elimination_offline(self) -> Play:
        """Phased elimination with one-hot offers: search all, then compare."""
        active, T_before = list(range(self.n_arms)), 1
        while True:
            T_m = self.length(self.m + 1, active)
            self.begin(active, T_m)
            bad = [a for a in range(self.n_arms) if a not in active]
            yield from self.collect(active, bad, T_before, T_m)
            b, theta = {}, {}
            for a in active:
                b[a] = yield from self.noisy_search(a)
                theta[a] = [self.theta_hat(z) for z in range(self.n_arms)]
            L = math.ceil(math.log2(self.horizon))
            epsilon = 4 / self.horizon + (2 + L) / T_m + 2 * math.sqrt(len(bad) / (len(active) * T_before))
            failed = []
            for a in active:
                best = max(active, key=lambda z: theta[a][z] - b[z])
                gap = theta[a][best] - b[best] - (theta[a][a] - b[a])
                if gap > 1.5 / 2**self.m + epsilon + self.unsure(a) + self.unsure(best):
                    failed.append(a)
            active, T_before = self.survivors(active, failed), T_m

    def exploratory(self, oracle: bool = False) -> Play:
        """Phased elimination against exploring agents; ``oracle``: against those that know their means."""
        n_arms, T, delta = self.n_arms, self.horizon, self.delta
        amplification = math.log(4 * math.log2(T) / delta)
        log_iota = math.log(16 * n_arms * T * T * math.log2(T) * amplification / delta)
        n_searches = max(1, math.ceil(self.repeats * 2 * amplification))
        n_tests = math.floor(self.repeats * 8 * math.log(8 * n_arms * math.log2(T) / delta)) + 1
        active, T_before = list(range(n_arms)), 1
        while True:
            scale = 1.0 if self.practical else self.c0**3 * n_arms * log_iota**2
            T_m = max(1, math.ceil(32 * scale * 2 ** (2 * (self.m + 1)) * self.log(16)))
            self.begin(active, T_m)
            bad = [a for a in range(n_arms) if a not in active]
            if not oracle:
                ratio = len(active) / max(1, len(bad)) * T_before
                yield from self.stabilise(bad, 2 * self.log(16) ** (1 / 3) * ratio ** (2 / 3))
            share = max(1, len(bad)) / (T_before * len(active))
            epsilon = (self.log(16) * share) ** (1 / 3) + math.sqrt(self.log(16) / T_before)
            extra = 1 / T if oracle else self.enlargement * (share ** (2 / 3) + 1 / T_before + 4 * epsilon)
            cap = math.inf if oracle else self.top + 1 / T
            b_bar = {}
            for a in active:
                found = []
                for _ in range(n_searches):
                    found.append((yield from (self.plain_search(a) if oracle else self.noisy_search(a))))  # noqa: PERF401
                b_bar[a] = [min(cap, b + extra + self.unsure(a)) for b in sorted(found)]
                if b_bar[a][0] < self.top + 1 / T:
                    self.seen.add("below the cap")
            for a in active:
                got = 0
                for incentive in b_bar[a]:
                    c = Y = 0
                    while not self.whole:
                        plays = yield from self.ask({a: incentive}, a, "hold")
                        Y, c = Y + 1, c + (not plays[a])
                        if c > 2 * self.c0 * math.sqrt(Y * math.log(2 * T)) + math.sqrt(8 * log_iota / Y):
                            self.seen.add("withdrawn")
                            break
                        if 2 * T_m == Y:
                            break
                    if self.whole:
                        stop = (2 * self.c0 * math.sqrt(math.log(2 * T)), math.sqrt(8 * log_iota))
                        plays = yield from self.ask({a: incentive}, a, "hold", 2 * T_m, stop)
                        Y, c = sum(plays), sum(plays) - plays[a]
                    got += Y - c
                    if got >= T_m:
                        break
                else:
                    self.seen.add("no incentive was enough")
            failed = []
            for a in active:
                wide = 3 * math.sqrt(self.log(8) / (2 * T_m)) if oracle else 5 * math.sqrt(self.log(16) / (2 * T_m))
                plays = yield from self.ask(self.joint(a, active, wide), a, "test", n_tests)
                if plays[a] * 2 == n_tests:
                    self.seen.add("median tie")
                if plays[a] < n_tests / 2:  # the median of the multiset is 0; a tie, median 1/2, keeps the arm
                    failed.append(a)
            active, T_before = self.survivors(active, failed), T_m


ALGORITHMS: dict[str, Callable[[Pseudocode], Play]] = {
    "elimination": Pseudocode.elimination,
    "elimination-offline": Pseudocode.elimination_offline,
    "exploratory": Pseudocode.exploratory,
    "exploratory-oracle": partial(Pseudocode.exploratory, oracle=True),
}
PRACTICAL = {  # as each class documents them
    "elimination": {"s": 1 / 64, "enlargement": 1 / 2},
    "elimination-offline": {"s": 1 / 64, "enlargement": 1 / 2},
    "exploratory": {"s": 1 / 64, "enlargement": 1 / 4, "repeats": 1 / 8, "practical": True},
    "exploratory-oracle": {"s": 1 / 64, "repeats": 1 / 8, "practical": True},
}


# -------------------------------------------------------------------------------------- agents to answer them

Answer = Callable[[Question], int]


class Learner:
    """Empirical means, ties to the lowest index; ``explores``: how often it plays any arm; ``initial``: its means."""

    def __init__(self, rng: np.random.Generator, n_arms: int, explores: float = 0.0, initial: float = 0.0) -> None:
        self.rng, self.explores, self.mu = rng, explores, rng.permutation(np.linspace(0.1, 0.9, n_arms)).tolist()
        self.sums, self.counts = [initial] * n_arms, [0] * n_arms

    def __call__(self, question: Question) -> int:
        values = [s / max(1, n) + pi for s, n, pi in zip(self.sums, self.counts, question.incentives, strict=True)]
        arm = values.index(max(values))
        if self.explores and self.rng.random() < self.explores:
            arm = int(self.rng.integers(len(values)))
        self.counts[arm] += 1
        self.sums[arm] += self.rng.random() < self.mu[arm]
        return arm


def other(question: Question) -> int:
    return (question.target + 1) % len(question.incentives)


def obedient(rng: np.random.Generator, n_arms: int) -> Answer:
    return lambda question: question.target


def deaf(rng: np.random.Generator, n_arms: int) -> Answer:
    return other


def at_random(rng: np.random.Generator, n_arms: int) -> Answer:
    return lambda question: int(rng.integers(n_arms))


def picky(rng: np.random.Generator, n_arms: int) -> Answer:
    """Obeys, but wants 0.3 for arm 0 and .2 for the others, and fails arm 1 in the tests of phase 1, then every arm."""

    def answer(question: Question) -> int:
        wants = 0.2 if question.target else 0.3
        if question.kind == "test":
            return other(question) if question.target == 1 or question.phase > 1 else question.target
        return question.target if question.incentives[question.target] >= wants else other(question)

    return answer


def torn(rng: np.random.Generator, n_arms: int) -> Answer:
    """Obeys every second time."""
    turns = itertools.cycle((True, False))
    return lambda question: question.target if next(turns) else other(question)


AGENTS: dict[str, Callable[[np.random.Generator, int], Answer]] = {
    "obedient": obedient,
    "deaf": deaf,
    "random": at_random,
    "picky": picky,
    "torn": torn,
    "learner": Learner,
    "explorer": partial(Learner, explores=0.1),
    "hopeful": partial(Learner, initial=1.0),
}
Draw = Callable[[int], float]


def bernoulli(rng: np.random.Generator, n_arms: int) -> Draw:
    theta = rng.random(n_arms)
    return lambda arm: float(rng.random() < theta[arm])


def losses(rng: np.random.Generator, n_arms: int) -> Draw:
    """Gaussian rewards around -2, which make 1 + theta_hat negative."""
    return lambda arm: float(rng.normal(-2.0))


# -------------------------------------------------------------------------------------- the comparison


def same_offer(made: list[float], question: Question, t: int) -> None:
    if made != question.incentives:
        apart = max(abs(x - y) for x, y in zip(made, question.incentives, strict=True))
        assert apart <= TOLERANCE, f"round {t}: offered {made}, the paper says {question}"


def tell(principal: Principal, plays: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
    """What a whole request brought."""
    if principal.held_stop is not None:  # the stop rule has fired, if there were fewer rounds than asked for
        principal.held_stop.entries[Stop.WITHDRAWN] = 1.0
    principal.take_in(int(plays.sum()), principal.plays + plays, principal.sums + rewards)


def same_phases(principal: Principal, paper: Pseudocode) -> None:
    assert [(p.start, p.active, p.length) for p in principal.phases] == paper.starts
    assert [p.number for p in principal.phases] == list(range(1, paper.m + 1))


@dataclass
class Replay:
    """A principal and the pseudocode that it must follow, both told the same."""

    name: str
    constants: str = "paper"
    agent: str = "learner"
    n_arms: int = 3
    seed: int = 1
    draw: Callable[[np.random.Generator, int], Draw] = bernoulli
    parameters: dict[str, Any] = field(default_factory=dict)
    whole: bool = False

    def __post_init__(self) -> None:
        self.principal = baselines.make(self.name, n_arms=self.n_arms, constants=self.constants, **self.parameters)
        factors = PRACTICAL[self.name] if self.constants == "practical" else {}
        self.paper = Pseudocode(n_arms=self.n_arms, whole=self.whole, **self.parameters, **factors)
        rng = np.random.default_rng(self.seed)
        self.reward, self.answer = self.draw(rng, self.n_arms), AGENTS[self.agent](rng, self.n_arms)

    def by_rounds(self, phases: int, most: int = 100_000) -> set[str]:
        """Play until so many phases are over, or ``most`` rounds; returns what was seen on the way."""
        paper, principal, play = self.paper, self.principal, ALGORITHMS[self.name](self.paper)
        question = next(play)
        left, plays, rewards = question.rounds, [0] * self.n_arms, [0.0] * self.n_arms
        for t in range(most):
            same_offer(principal.offer().tolist(), question, t)
            arm = self.answer(question)
            reward = self.reward(arm)
            principal.observe(arm, reward)
            plays[arm] += 1
            rewards[arm] += reward
            left -= 1
            if not left:
                question = play.send((plays, rewards))
                if paper.m > phases:
                    break
                left, plays, rewards = question.rounds, [0] * self.n_arms, [0.0] * self.n_arms
        same_phases(principal, paper)
        return paper.seen

    def by_requests(self, phases: int) -> set[str]:
        """The same a request at a time, for long horizons: held offers are answered by made-up sums."""
        paper, principal, play = self.paper, self.principal, ALGORITHMS[self.name](self.paper)
        question = next(play)
        while paper.m <= phases:
            request = principal.request()
            assert isinstance(request, Hold)
            same_offer(offered(request, self.n_arms).tolist(), question, principal.t)
            assert request.rounds == question.rounds, question
            assert request.stop == (pytest.approx(question.stop, abs=TOLERANCE) if question.stop else None)
            plays, rewards = np.zeros(self.n_arms, np.int64), np.zeros(self.n_arms)
            arm = self.answer(question)
            plays[arm] = question.rounds
            rewards[arm] = question.rounds * 0.25 * (1 + arm)
            tell(principal, plays, rewards)
            question = play.send((plays.tolist(), rewards.tolist()))
        same_phases(principal, paper)
        return paper.seen


# Horizons and confidences with short phases; a principal does not mind being played beyond its horizon.
PAPER = {"horizon": 5, "delta": 0.9}
EXPLORING = {"horizon": 9, "delta": 0.5, "c0": 0.05}
SHORT: dict[tuple[str, str], dict[str, Any]] = {
    ("elimination", "paper"): PAPER,
    ("elimination", "practical"): {"horizon": 500},
    ("elimination-offline", "paper"): PAPER,
    ("elimination-offline", "practical"): {"horizon": 500},
    ("exploratory", "paper"): EXPLORING,
    ("exploratory", "practical"): {"horizon": 100},
    ("exploratory-oracle", "paper"): EXPLORING,
    ("exploratory-oracle", "practical"): {"horizon": 100},
}
SEARCHES = {"search: C1", "search: C2", "search: failed check", "search: N = 0"}
FAILURES = {"an arm failed", "every arm failed"}
HOLDS = {"withdrawn", "no incentive was enough"}
# What the agents above must have brought about, or the comparison would not mean much.
EVENTS = {
    "elimination": SEARCHES | FAILURES | {"bad arms", "below the cap"},
    "elimination-offline": SEARCHES | {"an arm failed", "bad arms", "below the cap"},
    "exploratory": SEARCHES | FAILURES | HOLDS | {"bad arms"},
    "exploratory-oracle": FAILURES | HOLDS | {"below the cap"},
}


@pytest.mark.parametrize(("name", "constants"), SHORT)
def test_every_offer_of_three_phases_is_the_papers(name: str, constants: str) -> None:
    """Each agent meets known initial means with one kind of constants, and unknown ones with the other."""
    seen: set[str] = set()
    for i, agent in enumerate(AGENTS):
        parameters = SHORT[name, constants] | {"unknown_initial_means": bool(i % 2) == (constants == "paper")}
        replay = Replay(name, constants, agent, parameters=parameters)
        seen |= replay.by_rounds(phases=3)
        assert replay.paper.m == 4, agent
    assert seen >= EVENTS[name]
    assert "clipped" not in seen


@pytest.mark.parametrize("horizon", [10**4, 10**9])
@pytest.mark.parametrize(("name", "constants"), SHORT)
def test_every_request_at_long_horizons_is_the_papers(name: str, constants: str, horizon: int) -> None:
    """With the default delta = 1/T, through six phases."""
    for agent in ("obedient", "deaf", "picky", "random"):
        replay = Replay(name, constants, agent, parameters={"horizon": horizon}, whole=True)
        replay.by_requests(phases=6)


@given(
    name=st.sampled_from(list(ALGORITHMS)),
    constants=st.sampled_from(["paper", "practical"]),
    agent=st.sampled_from(list(AGENTS)),
    n_arms=st.integers(1, 6),
    horizon=st.integers(2, 5000),
    delta=st.none() | st.floats(1e-6, 0.999),
    c0=st.sampled_from([0.0, 0.01, 0.1, 1.0, 3.0]),
    unknown_initial_means=st.booleans(),
    seed=st.integers(0, 2**32),
)
@pytest.mark.filterwarnings("ignore:c0 = 3.0 with constants = 'practical'")
def test_any_game_begins_as_in_the_paper(
    name: str, constants: str, agent: str, n_arms: int, seed: int, c0: float, **parameters: Any
) -> None:
    if name.startswith("exploratory"):
        parameters["c0"] = c0
    Replay(name, constants, agent, n_arms, seed, parameters=parameters).by_rounds(phases=5, most=2000)


@pytest.mark.parametrize("name", ["exploratory", "exploratory-oracle"])
def test_without_exploration_a_phase_has_at_least_one_round(name: str) -> None:
    for agent in AGENTS:
        replay = Replay(name, "paper", agent, parameters=EXPLORING | {"c0": 0.0})
        replay.by_rounds(phases=4)
        assert [phase.length for phase in replay.principal.phases] == [1] * 5


@pytest.mark.parametrize("agent", ["torn", "learner"])
@pytest.mark.parametrize(("name", "constants"), [case for case in SHORT if case[0] != "elimination-offline"])
def test_offers_are_never_negative(name: str, constants: str, agent: str) -> None:
    """Gaussian rewards may make 1 + theta_hat negative: nothing is offered then."""
    replay = Replay(name, constants, agent, draw=losses, parameters=SHORT[name, constants])
    assert "clipped" in replay.by_rounds(phases=3)


@pytest.mark.parametrize(("agent", "event"), [("obedient", "search: C1"), ("picky", "bad arms")])
def test_the_enlargement_under_exploration_is_the_papers_where_the_cap_does_not_hide_it(agent: str, event: str) -> None:
    """4 epsilon_m falls below 1 when T_{m-1} is in the thousands."""
    replay = Replay("exploratory", "paper", agent, parameters=EXPLORING | {"c0": 0.2})
    assert replay.by_rounds(phases=2) >= {"below the cap", event}


# -------------------------------------------------------------------------------------- numbers worked out by hand


def obeyed(name: str, requests: int, **parameters: Any) -> list[Hold]:
    """The first requests of a principal whose every target is played, and pays 1 each time."""
    principal, asked = baselines.make(name, **parameters), []
    for _ in range(requests):
        request = principal.request()
        assert isinstance(request, Hold)
        asked.append(request)
        gained = np.zeros(principal.n_arms, np.int64)
        gained[request.target] = request.rounds
        tell(principal, gained, gained.astype(float))
    return asked


def test_two_phases_of_elimination_by_hand() -> None:
    """K = 2, T = 16, delta = 1/16: log(4TK/delta) = 7.6246, L = 4, T_1 = 975.95, T_2 = 3903.8 rounded up."""
    search = [0.5, 0.25, 0.125, 0.0625]  # then b = 0.0625 + 1/16
    # Phase 2: 4 C_2 = 4 sqrt(7.6246 / (2 * 976)) = 0.249994, 1/Z_2 = 1/sqrt(2 * 976) = 0.022634.
    held = 0.125 + 0.2499938 + 0.0226339
    expected = [
        *(([pi, 0.0], 1) for pi in search),
        ([1 + 1 / 16, 0.0], 976),
        *(([0.0, pi], 1) for pi in search),
        ([0.0, 1 + 1 / 16], 976),
        ([2.75, 2.0], 1),
        ([2.0, 2.75], 1),
        *(([pi, 0.0], 1) for pi in search),
        ([held, 0.0], 3904),
    ]
    made = [(offered(request, 2), request.rounds) for request in obeyed("elimination", 17, n_arms=2, horizon=16)]
    for (offer, rounds), (incentives, length) in zip(made, expected, strict=True):
        assert offer == pytest.approx(incentives, abs=2e-7)
        assert rounds == length


@pytest.mark.parametrize(
    ("name", "parameters", "length"),
    [
        ("elimination", {}, 2742),
        ("elimination-offline", {}, 2742),
        ("exploratory", {}, 20_172_436),
        ("exploratory-oracle", {}, 20_172_436),
        ("exploratory", {"c0": 0.05}, 2522),
        ("elimination", {"constants": "practical"}, 47),  # |A_m| log T = 46.05 is the larger one
        ("exploratory", {"constants": "practical"}, 46),
    ],
)
def test_first_phase_of_five_arms_and_ten_thousand_rounds_by_hand(
    name: str, parameters: dict[str, Any], length: int
) -> None:
    principal = baselines.make(name, n_arms=5, horizon=10_000, **parameters)
    principal.request()
    assert principal.phases[0] == (1, 0, (0, 1, 2, 3, 4), length)


@pytest.mark.parametrize("name", ["exploratory", "exploratory-oracle"])
def test_repeats_of_searches_and_tests_by_hand(name: str) -> None:
    """K = 5, T = 1e4: 2 log(4 log2 T / delta) = 26.37 searches of L = 14 rounds, 8 log(8 K log2 T / delta) = 123.9."""
    asked = obeyed(name, 5 * (27 * 14 + 2), n_arms=5, horizon=10_000)
    assert [request.rounds for request in asked] == [1] * (5 * 27 * 14) + [2 * 20_172_436] * 5 + [124] * 5


def test_the_largest_incentives() -> None:
    """1 + 1 + 3/4 in the first tests, 1/N more and from 2 on with unknown initial means, whose cap is 2 + 1/T."""
    known = obeyed("elimination", 11, n_arms=2, horizon=16)
    assert max(max(request.amounts) for request in known) == 2.75
    unknown = obeyed("elimination", 13, n_arms=2, horizon=16, unknown_initial_means=True)
    assert [request.amounts[0] for request in unknown if request.rounds > 1] == [2 + 1 / 16] * 2
    assert unknown[-1].amounts == pytest.approx((3.75 + 1 / (5 + 976), 3 - 1 / (5 + 976)), abs=1e-12)


def test_a_median_tie_keeps_the_arm() -> None:
    """124 tests an arm: 62 plays are a tie, 61 are a median of 0."""
    principal = baselines.make("exploratory", n_arms=5, horizon=10_000)
    played = {0: 62, 1: 61, 2: 124, 3: 0, 4: 63}
    while len(principal.phases) < 2:
        request = principal.request()
        assert isinstance(request, Hold)
        gained = np.zeros(5, np.int64)
        gained[request.target] = request.rounds if len(request.arms) == 1 else played[request.target]
        gained[(request.target + 1) % 5] += request.rounds - gained.sum()
        tell(principal, gained, 0.5 * gained)
    assert principal.phases[1].active == (0, 2, 4)


def offline_phase(rewards: Callable[[int, int], float], **parameters: Any) -> tuple[int, ...]:
    """Active arms after a phase of offline elimination, K = 2, T = 16; ``rewards(i, rounds)`` of the i-th request."""
    principal = baselines.make("elimination-offline", n_arms=2, horizon=16, **parameters)
    i = 0
    while len(principal.phases) < 2:
        request = principal.request()
        assert isinstance(request, Hold)
        gained = np.zeros(2, np.int64)
        gained[request.target] = request.rounds
        tell(principal, gained, np.where(gained > 0, rewards(i, request.rounds), 0.0))
        i += 1
    return principal.phases[1].active


@pytest.mark.parametrize(("excess", "active"), [(-1e-6, (0, 1)), (1e-6, (1,))])
@pytest.mark.parametrize("unknown", [False, True])
def test_the_threshold_of_offline_elimination_by_hand(unknown: bool, excess: float, active: tuple[int, ...]) -> None:
    """3/4 + epsilon_1 = 3/4 + 4/16 + (2 + 4)/976, and 1/N of both arms where their initial means are not known.

    Both arms are found at the same incentive, in ``tries`` rounds each time; arm 0 pays nothing.
    """
    tries = 5 if unknown else 4
    gap = 1 + 6 / 976 + (2 / (976 + 2 * tries) if unknown else 0.0) + excess
    held = 2 * tries + 1  # the request that holds arm 1: after a search and a hold of arm 0, and a search
    paid = gap * (976 + tries)  # theta_hat of arm 1 when arm 0 has been searched again
    assert offline_phase(lambda i, rounds: paid if i == held else 0.0, unknown_initial_means=unknown) == active


@pytest.mark.parametrize(("paid", "active"), [(1e9, (0, 1)), (-1e9, (0,))])
def test_offline_elimination_compares_estimates_as_they_were_after_each_arms_own_search(
    paid: float, active: tuple[int, ...]
) -> None:
    """What arm 1 pays in its second search counts when arm 1 is judged, and not when arm 0 is."""
    second = range(2 * (4 + 1) + 4, 2 * (4 + 1) + 8)
    assert offline_phase(lambda i, rounds: paid if i in second else 0.5 * rounds) == active


# -------------------------------------------------------------------------------------- what the docstrings say


@pytest.mark.parametrize(
    ("where", "number"),
    [
        (elimination, 1),
        (search.asymmetric_search, 3),
        (elimination, 4),
        (exploratory, 5),
        (exploratory, 6),
        (linear, 7),
        (steiner, 8),
    ],
)
def test_algorithms_are_cited_by_their_numbers_in_the_paper(where: Any, number: int) -> None:
    assert f"Algorithm {number}" in where.__doc__


@pytest.mark.parametrize("name", ["exploratory", "exploratory-oracle"])
def test_practical_constants_warn_where_exploration_is_too_strong_for_them(name: str) -> None:
    with pytest.warns(UserWarning, match=r"c0 = 2.5 .*use constants = 'paper', or c0 of at most 2"):
        baselines.make(name, n_arms=3, horizon=100, c0=2.5, constants="practical")
    baselines.make(name, n_arms=3, horizon=100, c0=2, constants="practical")  # warnings are errors here
    baselines.make(name, n_arms=3, horizon=100, c0=2.5)


@pytest.mark.parametrize("value", ["False", 1, 0.0, None])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_unknown_initial_means_is_a_boolean(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=rf"unknown_initial_means = {value!r} must be True or False"):
        baselines.make(name, n_arms=3, horizon=100, unknown_initial_means=value)
    assert baselines.make(name, n_arms=3, horizon=100, unknown_initial_means=np.True_).cap > 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", baselines.principals())
def test_the_docstring_of_a_principal_lists_its_parameters_one_by_one(name: str) -> None:
    made = PRINCIPALS[name]
    _, listed = inspect.cleandoc(vars(made)["__doc__"]).split("\nArgs:\n")
    assert re.findall(r"^    (\w+): ", listed, flags=re.MULTILINE) == list(inspect.signature(made).parameters)
