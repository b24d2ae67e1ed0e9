"""What the tests of the baselines share: notes on a principal's requests, games step by step, other processes."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import baselines
import pa_env  # noqa: F401  (registers the environments)
from baselines import Principal
from baselines.principal import Hold, Outcome, Phase, Rounds
from baselines.registry import PRINCIPALS, PRIVILEGED
from pa_env.game import Game

Floats = NDArray[np.float64]
NO_BOUND = 1e6  # on incentives, for environments that must have one
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


class Entry(NamedTuple):
    """A request that was played to its end: when, in which phase, and what the agent believed before."""

    t: int
    phase: Phase
    request: Hold
    outcome: Outcome
    means: Floats
    plays: NDArray[np.int64]


def sizes_of(name: str, n_arms: int, horizon: int) -> dict[str, int]:
    """These numbers of arms and rounds, or smaller ones for a principal that plays no others."""
    only = PRINCIPALS[name].only_arms
    return {"n_arms": n_arms, "horizon": horizon} if only is None else {"n_arms": only, "horizon": 6}


def watch(principal: Principal) -> list[Entry]:
    """Note every request that this principal makes in its next simulation."""
    notes: list[Entry] = []
    games: list[Game] = []

    class Watched(type(principal)):  # type: ignore[misc]
        privileged = True

        def attach(self, game: Game) -> None:
            games.append(game)

        def rounds(self) -> Rounds:
            coroutine = super().rounds()
            request = next(coroutine)
            while True:
                assert isinstance(request, Hold)
                t, phase = self.t, (self.phases or [None])[-1]
                means, plays = games[-1].means[0].copy(), self.plays.copy()
                outcome = yield request
                notes.append(Entry(t, phase, request, outcome, means, plays))
                request = coroutine.send(outcome)

    PRIVILEGED.add(Watched)
    principal.__class__ = Watched
    return notes


def step_through(principal: Principal, seed: int, **settings: Any) -> tuple[list[dict[str, Any]], list[Floats], Game]:
    """Play a whole episode in the Gymnasium environment: every round's info and offer, and the game at its end."""
    env = gym.make("PrincipalAgent-v0", **({"max_incentive": NO_BOUND, "horizon": principal.horizon} | settings))
    game: Game = env.unwrapped.game  # type: ignore[attr-defined]
    env.reset(seed=seed)
    principal.reset(seed=seed)
    principal.attach(game)
    infos, offers, over = [], [], False
    while not over:
        offers.append(principal.offer())
        seen, _, over, _, info = env.step(offers[-1])
        principal.observe(info["arm"], float(seen[-2]))
        infos.append(info)
    return infos, offers, game


def offered(request: Hold, n_arms: int) -> Floats:
    """The offer (n_arms,) of a request."""
    vector = np.zeros(n_arms)
    vector[list(request.arms)] = request.amounts
    return vector


def drive(principal: Principal, choose: Callable[[Floats], int], theta: Any, rounds: int) -> list[Floats]:
    """Rounds against an agent given as a function of the offer, with rewards theta exactly; returns the offers."""
    offers = []
    for _ in range(rounds):
        offers.append(principal.offer())
        arm = choose(offers[-1])
        principal.observe(arm, float(theta[arm]))
    return offers


def greedy(mu: Any) -> Callable[[Floats], int]:
    """The agent with these means, as a function of the offer."""
    return lambda offer: int((np.asarray(mu) + offer).argmax())


def contents(directory: Path) -> dict[str, bytes]:
    """Every file under a folder."""
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


@contextmanager
def python(code: str) -> Iterator[subprocess.Popen[str]]:
    """A process of its own, which finds the packages where this one did, and does not outlive the test."""
    preamble = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's "&" ignores it
        f"sys.path.insert(0, {str(Path(baselines.__file__).parent.parent)!r})\n"
    )
    command = [sys.executable, "-W", "error", "-c", preamble + code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
