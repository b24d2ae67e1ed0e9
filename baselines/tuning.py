"""Search for the parameters of our own principals, one set for all sizes, with Optuna.

A task is a list of settings. Its loss is the mean over them of R_T / reference, where R_T is a mean over a few runs;
against agents that do not act on the beliefs behind R_T it is R_T^oracle, the least of which means the most utility. A
loss is noisy, and the best of many trials was also lucky. So the finalists, which are the best few and the shipped
defaults, play again on four times as many new seeds, and the best of these is the result.

Optuna keeps the search in an SQLite file. It can be killed at any time, and goes on when it is run again with the same
storage. With another space, other settings or another version of the package it begins anew, beside the old one. It
plays seeds from 10**6 on, and the finalists from 2 * 10**6 on; parameters are compared on the seeds below.

>>> from baselines.tuning import TASKS
>>> TASKS["short"][0]
Setting(n_arms=3, horizon=100, instance='uniform', agent='empirical-mean', runs=400, exploration=None)
"""

import hashlib
import inspect
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import pa_env
from baselines.benchmark.summaries import ignores_beliefs
from baselines.registry import PRINCIPALS, make
from baselines.simulation import simulate
from pa_env.checks import known, whole
from pa_env.kernel.layout import Floats
from pa_env.scripted_agents import ScriptedAgent, make_agent

if TYPE_CHECKING:
    import optuna

TUNING_SEEDS = 10**6
FINAL_SEEDS = 2 * 10**6
EVALUATION_SEEDS = 0
FINALISTS, FINAL_RUNS = 5, 4  # their number, and the factor of their runs


@dataclass(frozen=True)
class Setting:
    """A game to be played ``runs`` times."""

    n_arms: int
    horizon: int
    instance: str = "uniform"
    agent: str = "empirical-mean"
    runs: int = 20
    exploration: str | None = None  # how an exploring agent explores; None: its default

    @property
    def opponent(self) -> ScriptedAgent:
        """The agent."""
        return make_agent(self.agent, **({} if self.exploration is None else {"exploration": self.exploration}))

    @property
    def reference(self) -> float:
        """sqrt(KT), a bandit's rate, and the rounds that the agent is expected to explore: no principal saves those."""
        explored = 2 * self.opponent.c0 * math.sqrt(self.horizon * math.log(2 * self.horizon))
        return math.sqrt(self.n_arms * self.horizon) + explored


TASKS = {
    "short": (
        Setting(3, 100, runs=400),
        Setting(3, 100, "misaligned", runs=300),
        Setting(5, 200, runs=300),
        Setting(5, 1000, runs=150),
        Setting(5, 1000, "misaligned", runs=100),
    ),
    "long": (
        Setting(5, 10_000, runs=50),
        Setting(5, 10_000, "misaligned", runs=50),
        Setting(5, 10_000, "gap", runs=30),
        Setting(5, 10_000, "clustered", runs=30),
        Setting(20, 10_000, runs=25),
        Setting(20, 10_000, "misaligned", runs=25),
        Setting(5, 10_000, agent="exploratory", runs=25),
        Setting(5, 10_000, agent="exploratory", runs=25, exploration="worst"),
        Setting(5, 10_000, agent="oracle", runs=30),
        Setting(5, 100_000, runs=12),
        Setting(5, 100_000, agent="oracle", runs=12),
    ),
    "paid": tuple(
        Setting(n_arms, 1000, instance, "hedge", runs=200)
        for n_arms in (3, 5)
        for instance in ("uniform", "misaligned")
    ),
    "tiny": (Setting(2, 20, runs=2), Setting(3, 30, "misaligned", runs=2)),
}
TASKS["all"] = TASKS["short"] + TASKS["long"]

# Principal -> parameter -> lowest and highest value, searched on a logarithmic scale unless from 0.
BELIEFS = {
    "bonus": (0.2, 1.2),
    "fade": (0.1, 1.0),
    "growth": (0.0, 1.5),
    "caution": (0.03, 1.0),
    "drift": (0.5, 3.0),
    "suspicion": (0.02, 1.0),
    "forgetting": (0.0, 10.0),
}
PARTICLE = {
    "bonus": (0.3, 1.2),
    "decay": (0.3, 0.8),
    "fade": (0.1, 1.0),
    "ceiling": (1.0, 2.0),
    "patience": (0.01, 0.3),
}
SPACES = {
    "profit-target": BELIEFS,
    "bracket-ucb": BELIEFS | {"optimism": (1.0, 5.0)},
    "particle": PARTICLE,
    "free-fall": {"share": (0.01, 1.0), "amount": (0.1, 4.0), "bonus": (0.05, 1.0)},
}


def shipped(principal: str) -> dict[str, float]:
    """The defaults of the parameters that are searched."""
    signature = inspect.signature(PRINCIPALS[principal]).parameters
    return {name: float(signature[name].default) for name in SPACES[principal]}


def regrets(principal: str, setting: Setting, parameters: dict[str, float], first_seed: int, times: int = 1) -> Floats:
    """R_T or R_T^oracle of every run of a setting, ``times`` as many as it says."""
    scripted = make(principal, n_arms=setting.n_arms, horizon=setting.horizon, **parameters)
    seeds = range(first_seed, first_seed + times * setting.runs)
    run = simulate(scripted, setting.instance, setting.opponent, seeds=seeds, checkpoints=[setting.horizon])
    values: Floats = (run.regret_oracle if ignores_beliefs(setting.agent) else run.regret)[:, -1]
    return values


def loss(
    principal: str, task: str, parameters: dict[str, float], first_seed: int = TUNING_SEEDS, times: int = 1
) -> float:
    """Mean over the settings of R_T / reference."""
    ratios = [regrets(principal, s, parameters, first_seed, times).mean() / s.reference for s in TASKS[task]]
    return float(np.mean(ratios))


def study_name(principal: str, task: str) -> str:
    """Return a name that other searched parameters, settings or versions do not have, so that trials never mix."""
    searched = repr((SPACES[principal], TASKS[task], pa_env.__version__))
    return f"{principal} {task} {hashlib.sha256(searched.encode()).hexdigest()[:8]}"


def tune(principal: str, task: str, trials: int, storage: Path) -> "optuna.Study":
    """Bring the study kept in the file ``storage`` to ``trials`` finished trials; the first is the shipped defaults."""
    known("principal", principal, SPACES)
    known("task", task, TASKS)
    whole("trials", trials, 1)
    import optuna
    from optuna.trial import TrialState
    from rich.progress import Progress

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage.parent.mkdir(parents=True, exist_ok=True)
    if storage.exists() and storage.read_bytes()[:15] != b"SQLite format 3":
        raise ValueError(f"storage = {str(storage)!r} is there, and is no SQLite file: name another file")
    address, name = f"sqlite:///{storage.absolute()}", study_name(principal, task)
    study = optuna.create_study(study_name=name, storage=address, load_if_exists=True)
    study.sampler = optuna.samplers.TPESampler(seed=len(study.trials))  # one that goes on does not draw the same again
    if not study.get_trials(states=(TrialState.COMPLETE, TrialState.WAITING)):
        study.enqueue_trial(shipped(principal))

    def value(trial: "optuna.Trial") -> float:
        """The loss of parameters that the sampler suggests."""
        ranges = SPACES[principal].items()
        return loss(principal, task, {name: trial.suggest_float(name, *ends, log=ends[0] > 0) for name, ends in ranges})

    with Progress(transient=True) as progress:
        bar = progress.add_task(f"{principal} {task}", total=trials)
        while (done := len(finished(study))) < trials:
            progress.update(bar, completed=done)
            study.optimize(value, n_trials=1)
    return study


def finished(study: "optuna.Study") -> list[Any]:
    """Trials that came to an end."""
    from optuna.trial import TrialState

    return study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))


def finalists(study: "optuna.Study", principal: str) -> list[dict[str, float]]:
    """The parameters of the best trials, and the shipped ones."""
    ranked = sorted(finished(study), key=lambda trial: trial.value)
    best = [dict(trial.params) for trial in ranked[:FINALISTS]]
    return best if shipped(principal) in best else [*best, shipped(principal)]


def show(principal: str, task: str, trials: int, storage: Path) -> None:
    """Tune, then print the finalists, best first, and the best of them on seeds that nothing was chosen by."""
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    study = tune(principal, task, trials, storage)
    candidates = finalists(study, principal)
    rows = []
    with Progress(transient=True) as progress:
        bar = progress.add_task("finalists", total=len(candidates) + 1)
        for parameters in candidates:
            final = loss(principal, task, parameters, FINAL_SEEDS, FINAL_RUNS)
            rows.append((final, loss(principal, task, parameters), parameters))
            progress.advance(bar)
        rows.sort(key=lambda row: row[0])
        unseen = loss(principal, task, rows[0][2], EVALUATION_SEEDS, FINAL_RUNS)  # the winner's: nothing rests on it
        progress.advance(bar)
    names = ["shipped" if row[2] == shipped(principal) else f"finalist {i + 1}" for i, row in enumerate(rows)]
    table = Table("", *names, title=f"{principal}, task {task}, {len(finished(study))} trials", caption=str(storage))
    for name in SPACES[principal]:
        table.add_row(name, *(f"{row[2][name]:.4g}" for row in rows))
    table.add_row("loss on the tuning seeds", *(f"{row[1]:.4f}" for row in rows))
    table.add_row("loss on the final seeds", *(f"{row[0]:.4f}" for row in rows), style="bold")
    table.add_row("loss on the evaluation seeds", f"{unseen:.4f}")
    Console().print(table)
