"""Training a player from scratch: :func:`baselines.rl.learner` in Python, ``pa-bench train`` in a folder.

A learner is Stable-Baselines3's PPO on many copies of one or several tasks, with the observations and prices of
:class:`baselines.rl.view.WithBeliefs` and the network of :class:`baselines.rl.networks.SetActorCritic`. Its learning
rate (at the end) and its bonus for random actions fall to 0, so that the last policy is the one to keep. An agent is
trained in the same way ``against`` a principal: it sees what :class:`baselines.rl.agent_seat.WithHistory` shows, plays
arms, and maximises its own payoff, the sum of R + pi.

:func:`train` keeps everything in a folder. A lap is a fixed number of rollouts. After each lap a checkpoint is written,
and the policy plays evaluation episodes. All random numbers of a lap come from the run's seed and the lap's
number. So a run that was killed goes on from its last lap to the same policy, and two runs with one seed give the same
policy. In the folder of a run:

| file | what it holds |
|---|---|
| ``policy.npz`` | the policy after the last lap that was evaluated (:mod:`pa_env.policy_file`) |
| ``curve.png`` | utility, or an agent's payoff, against rounds of training, beside scripts |
| ``run.json`` | the settings, and the scores of each lap; written last, so it names nothing missing |
| ``lap-N.zip``, ``lap-N.pkl`` | the last checkpoint: Stable-Baselines3's model, and the games (pickles) |
| ``events.out.*`` | TensorBoard's |
| ``lock`` | held by the one process that trains here |
"""

import functools
import inspect
import json
import math
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback, ConvertCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.type_aliases import RolloutBufferSamples
from stable_baselines3.common.utils import set_random_seed

from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import estimate
from baselines.comparison import draws_bars
from baselines.files import only_writer, remove_half_written, whole_file, write_whole
from baselines.registry import describe
from baselines.rl.agent_seat import PAYOFF
from baselines.rl.evaluate import Games, follower_games, games_of, payoffs, play_out
from baselines.rl.models import save
from baselines.rl.networks import SetActorCritic
from baselines.rl.vec_env import GameVecEnv
from baselines.rl.view import PARTICLES, PRIVILEGED, RUNGS, Field, WithBeliefs
from baselines.rl.view import SEAT as PRINCIPAL_SEAT
from baselines.simulation import simulate
from baselines.specs import is_user_code
from baselines.tasks import DEFAULT_AGENTS, Task, setting, task
from pa_env.checks import at_least, known, seed_of, short, whole
from pa_env.kernel.layout import Floats, Floats32
from pa_env.trained_agents import SEAT as AGENT_SEAT

TRAINING_SEEDS, EVALUATION_SEEDS = 10**9, 5 * 10**8  # far from those of tuning and comparisons
ROLLOUT, BATCHES, EPOCHS = 25, 8, 2  # rounds of each copy between two updates; equal parts of them, and passes
RATE, ENTROPY = 2e-3, 0.006  # of learning, and the weight of the bonus for random actions: both at first
LONGEST_LAP, LAPS = 80, 5  # rollouts by default, and the fewest laps of a short run
COUNTS = ("steps", "copies", "particles", "width", "lap", "rounds", "n_steps", "n_epochs", "batch_size")
AMOUNTS = ("scale", "learning_rate", "ent_coef", "gamma", "gae_lambda")
# What is maximised, with its sign.
SCORE = {"utility": ("expected_utility", 1.0), "regret": ("regret", -1.0), PAYOFF: (PAYOFF, 1.0)}
WAYS = ("likeliest", "drawn")  # in which a policy's actions are played
SCRIPTS = ("zero", "profit-target", "bracket-ucb")  # that a learning curve is shown beside
AGENTS = ("empirical-mean", "ucb")  # likewise, of an agent
REFERENCE_EPISODES = 500
NEXT_TO_NOTHING, STRETCH = 1e-3, 4  # an incentive, on average over copies and so many rollouts at least
TRAP = (
    "the likeliest actions of the policy offer next to nothing. docs/training.md, 'The trap of offering nothing', says"
    " why a learner gets there, and what helped"
)

Scores = dict[str, dict[str, dict[str, Floats]]]  # task -> way -> score -> (episodes,)


@dataclass(frozen=True)
class Settings:
    """What is trained, on what, and for how long. A recipe is one of these."""

    tasks: tuple[Task, ...]
    """Tasks, or their names. All tasks are played for about as many rounds, and each update learns from all of them."""
    objective: str = "utility"
    """Of a principal: utility, or regret, of which minus R_T is maximised. Of an agent: payoff, the sum of R + pi."""
    against: str = ""
    """The spec of a principal: an agent is trained against it. Empty: a principal is trained."""
    steps: int = 8_000_000
    """Rounds to train on, rounded up to laps of as many rollouts each."""
    seed: int = 0
    """The same seed gives the same policy."""
    copies: int = 512
    """Games that are played at once, shared out among the tasks."""
    particles: int = PARTICLES
    """Possible agents that are tracked in each copy."""
    width: int = 32
    """Of the network."""
    deep: bool = True
    """Give the actor one more layer."""
    privileged: bool = True
    """Show the critic of a principal, never the actor, both players' means and the agent's beliefs."""
    scale: float = 1.0
    """Rewards are multiplied by this, and divided by the square root of the horizon."""
    lap: int = 0
    """Rollouts between two checkpoints, at most; 0: 80, or a fifth of a run of fewer than 400. Each lap seeds the
    random numbers anew, so another ``lap`` gives another policy."""
    rounds: int = 200_000
    """Rounds of an evaluation, all tasks together; once with the likeliest actions and once with drawn ones."""
    ppo: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of Stable-Baselines3's PPO in place of those that :func:`constants` gives."""

    def __post_init__(self) -> None:
        """Check all of them; names become tasks."""
        named = (self.tasks,) if isinstance(self.tasks, str | Task) else self.tasks
        object.__setattr__(self, "tasks", tuple(each if isinstance(each, Task) else task(each) for each in named))
        if not self.tasks:
            raise ValueError("tasks = () must have at least one task")
        if self.against:
            self._check_agent()
        known("objective", self.objective, (PAYOFF,) if self.against else SCORE.keys() - {PAYOFF})
        if (seed_of(self.seed) or 0) >= 2**32:
            raise ValueError(f"seed = {short(self.seed)} must be below 2**32, as Stable-Baselines3 wants it")
        # A wrong argument of PPO would fail later in Stable-Baselines3, which would not name it.
        given = vars(self) | dict(self.ppo)
        for name in COUNTS:
            whole(name, given.get(name, 2), {"batch_size": 2, "lap": 0}.get(name, 1))
        for name in AMOUNTS:
            if name != "learning_rate" or not callable(given.get(name)):
                at_least(name, given.get(name, 0.0), 0.0)
        for name in ("deep", "privileged"):
            if not isinstance(given[name], bool):
                raise TypeError(f"{name} = {short(given[name])} must be True or False")
        if len({each.name for each in self.tasks}) < len(self.tasks):
            raise ValueError(f"tasks = {', '.join(each.name for each in self.tasks)} must have different names")
        if self.copies < len(self.tasks):
            raise ValueError(f"copies = {self.copies} must be at least the number of tasks, {len(self.tasks)}")
        if self.lap == 0:
            object.__setattr__(self, "lap", max(1, min(LONGEST_LAP, self.steps // (LAPS * self.rollout_steps))))

    def _check_agent(self) -> None:
        """Raise if an agent can't be trained like this. Its objective is payoff, and its critic sees what it sees."""
        for each in self.tasks:
            if each.agent not in DEFAULT_AGENTS:
                raise ValueError(
                    f"task = {short(each.name)}: a trained agent takes the place of {each.agent}, and learns as"
                    f" {DEFAULT_AGENTS[0]} does: name a task without an agent"
                )
        if isinstance(self.against, str):
            describe(self.against)  # a user's file is imported, as a resumed run needs it
        object.__setattr__(self, "privileged", False)
        if self.objective == "utility":
            object.__setattr__(self, "objective", PAYOFF)

    @property
    def scores(self) -> dict[str, str]:
        """The scores of an evaluation, with what they are called; the player's own comes first."""
        if self.against:
            return {PAYOFF: "payoff", "expected_utility": "utility of the principal"}
        return {"expected_utility": "utility", "regret": "R_T"}

    def games(self, task: Task, copies: int) -> Games:
        """Return copies of a task's game for the one who is trained."""
        if self.against:
            return follower_games(task, self.against, copies)
        return WithBeliefs(games_of(task, copies), self.particles, self.privileged)

    @property
    def rollout_steps(self) -> int:
        """Rounds between two updates, of all copies together."""
        return self.copies * int(self.ppo.get("n_steps", ROLLOUT))

    @property
    def laps(self) -> int:
        """Number of laps."""
        return math.ceil(self.steps / (self.rollout_steps * self.lap))

    @property
    def lap_steps(self) -> int:
        """Rounds of a lap."""
        return math.ceil(self.steps / (self.rollout_steps * self.laps)) * self.rollout_steps

    @property
    def record(self) -> dict[str, Any]:
        """The settings as ``run.json`` keeps them."""
        tasks, ppo = [each.name for each in self.tasks], {name: repr(value) for name, value in self.ppo.items()}
        specs = {
            spec: what for each in self.tasks for spec, what in ((each.agent, "agent"), (each.instance, "instance"))
        }
        own = {spec: describe(spec, what).digest for spec, what in specs.items() if is_user_code(spec)}
        return vars(self) | {"tasks": tasks, "ppo": ppo} | ({"files": own} if own else {})


class Rollouts:
    """A rollout of games with different numbers of arms: an update goes through the minibatches of all in turn.

    An update by one number of arms at a time would follow the games of that size alone.
    """

    def __init__(self) -> None:
        self.parts: list[RolloutBuffer] = []  # one for each number of arms

    def get(self, batch_size: int) -> Iterator[RolloutBufferSamples]:
        """Yield minibatches of at most so many rounds; those of each part are spread evenly."""
        batches = [list(part.get(batch_size)) for part in self.parts]
        turns = sorted(((i + 0.5) / len(each), n, i) for n, each in enumerate(batches) for i in range(len(each)))
        for _, n, i in turns:
            yield batches[n][i]

    @property
    def values(self) -> Floats32:
        """Of the critic, in all rounds."""
        return np.concatenate([part.values.ravel() for part in self.parts])

    @property
    def returns(self) -> Floats32:
        """That the critic learns."""
        return np.concatenate([part.returns.ravel() for part in self.parts])


class Learner(PPO):
    """Stable-Baselines3's PPO, with a bonus for random actions that falls to 0, and several numbers of arms.

    :func:`learner` makes one. It says once if its policy offers next to nothing.
    """

    settings: Settings
    envs: list[GameVecEnv]  # one for each number of arms
    references: Mapping[str, float]  # utilities of scripts
    offers: list[float]  # mean of what the likeliest actions offer at the end of each rollout
    trapped: bool  # True after the warning that they are next to nothing
    say: Callable[[str], None] = staticmethod(warnings.warn)
    randomness: Any  # states of torch's and NumPy's generators, from which Stable-Baselines3 draws

    def collect_rollouts(self, env: Any, callback: Any, rollout_buffer: Any, n_rollout_steps: int) -> bool:
        """Play a rollout of all games."""
        rollouts, self.env = Rollouts(), self.envs[0]
        self.rollout_buffer = rollouts  # type: ignore[assignment] # has what an update asks for
        for envs in self.envs:
            self._last_obs = envs.reset() if envs.observations is None else envs.observations
            self._last_episode_starts = envs.starts
            spaces = envs.observation_space, envs.action_space
            part = RolloutBuffer(n_rollout_steps, *spaces, self.device, self.gae_lambda, self.gamma, envs.num_envs)
            rollouts.parts.append(part)
            if not super().collect_rollouts(envs, callback, part, n_rollout_steps):
                return False
        if not self.settings.against:
            self.offers.append(float(np.mean([self.likeliest_offers(envs).mean() for envs in self.envs])))
        return True

    def likeliest_offers(self, envs: GameVecEnv) -> Floats32:
        """Return what the likeliest action offers in each copy."""
        seen: Any = envs.observations  # not None after a rollout
        n_arms = envs.action_space.n // RUNGS  # type: ignore[attr-defined] # Discrete
        arms, rungs = np.divmod(self.predict(seen, deterministic=True)[0], RUNGS)
        offers: Floats32 = seen[np.arange(len(seen)), (Field.PRICE + rungs) * n_arms + arms]
        return offers

    def train(self) -> None:
        """Update the policy by a rollout."""
        left = self._current_progress_remaining
        self.ent_coef = self.settings.ppo.get("ent_coef", ENTROPY) * left
        super().train()
        stretch = self.offers[-max(STRETCH, len(self.offers) // 8) :]
        if left <= 0.5 and len(stretch) >= STRETCH and np.mean(stretch) < NEXT_TO_NOTHING and not self.trapped:
            self.trapped = True
            self.say(f"{', '.join(each.name for each in self.settings.tasks)}, seed {self.settings.seed}: {TRAP}")

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "envs", "say"]

    @classmethod
    def load(cls, *arguments: Any, envs: list[GameVecEnv] | None = None, **options: Any) -> "Learner":
        """Load a learner, as Stable-Baselines3 does; it goes on with these games, or with others of its tasks."""
        model = super().load(*arguments, **options)
        model.envs = envs or environments(model.settings)
        model.env = model.envs[0]
        return model

    def learn(
        self, total_timesteps: int, callback: Any = None, *arguments: Any, progress_bar: bool = False, **options: Any
    ) -> "Learner":
        """Learn for so many rounds.

        Args:
            total_timesteps: rounds of all copies together.
            callback: of Stable-Baselines3.
            *arguments: of PPO's ``learn``.
            progress_bar: show a bar, with the utility so far beside that of scripts.
            **options: of PPO's ``learn``.
        """
        whole("total_timesteps", total_timesteps, 1)
        bars = [Bar(self.references or references(self.settings))] if progress_bar else []
        callback = ConvertCallback(callback) if callable(callback) else callback
        given = callback if isinstance(callback, list) else [callback] if callback is not None else []
        torch.set_rng_state(self.randomness[0])  # whatever else was drawn, or learned, in between
        np.random.set_state(self.randomness[1])  # noqa: NPY002 - Stable-Baselines3 draws from it
        try:
            with one_thread():
                super().learn(total_timesteps, [*given, *bars], *arguments, **options)
        finally:
            self.randomness = randomness()
            for bar in bars:
                bar.progress.stop()
        return self


def randomness() -> tuple[Any, Any]:
    """Return the states of the generators from which Stable-Baselines3 draws."""
    return torch.get_rng_state(), np.random.get_state()  # noqa: NPY002


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: then sums, and first weights, are the same on any machine. The network is small."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def settings_of(tasks: tuple[str | Task, ...], parts: Mapping[str, Any], options: Mapping[str, Any]) -> Settings:
    """Return the settings of tasks, or if there are none, of a game with these parts.

    Args:
        tasks: or their names.
        parts: agent and instance by their specs, n_arms, horizon; None: the default.
        options: fields of :class:`Settings`, and arguments of PPO.
    """
    parts = {name: value for name, value in parts.items() if value is not None}
    for name in ("agent", "instance"):
        if not isinstance(value := parts.get(name, ""), str):
            raise TypeError(f"{name} = {short(value)} must be a name or a spec: yours goes by 'file.py:Name'")
    if tasks and parts:
        raise ValueError(f"task = {short(tasks[0])} is a whole setting: leave out {', '.join(parts)}, or the task")
    names = {each.name for each in fields(Settings)} - {"tasks", "ppo"}
    ours = {"policy", "env", "device", "_init_setup_model"}  # are chosen here
    accepted = sorted(names | inspect.signature(PPO).parameters.keys() - ours)
    for name in options:
        known("option of a learner", name, accepted)
    ppo = {name: value for name, value in options.items() if name not in names}
    fixed: dict[str, Any] = {name: options[name] for name in options if name in names}
    return Settings(tasks or (game(**parts),), **fixed, ppo=ppo)  # type: ignore[arg-type] # names become tasks


def game(agent: str = DEFAULT_AGENTS[0], instance: str = "uniform", n_arms: int = 5, horizon: int = 200) -> Task:
    """Return the task of a game whose agent and instances are given by specs."""
    given = {agent: "agent", instance: "instance"}
    labels = {spec: describe(spec, what).label for spec, what in given.items() if is_user_code(spec)}
    return setting(agent, instance, n_arms, horizon, labels=labels)


def learner(settings: Settings) -> Learner:
    """Make a learner before its first round."""
    envs, given = environments(settings), constants(settings)
    # Stable-Baselines3 would warn of a minibatch that does not divide the rollout of its one environment.
    with one_thread():
        model = Learner(SetActorCritic, envs[0], **given | {"batch_size": envs[0].num_envs * given["n_steps"]})
    model.batch_size = given["batch_size"]
    model.settings, model.envs = settings, envs
    model.references, model.offers, model.trapped, model.randomness = {}, [], False, randomness()
    return model


def environments(settings: Settings) -> list[GameVecEnv]:
    """Return the copies of all tasks, with seeds of training; one environment for each number of arms."""
    tasks = settings.tasks
    shares = [len(part) for part in np.array_split(np.arange(settings.copies), len(tasks))]
    all_envs = []
    for n_arms in dict.fromkeys(each.n_arms for each in tasks):
        pairs = zip(tasks, shares, strict=True)
        games = [settings.games(each, copies) for each, copies in pairs if each.n_arms == n_arms]
        envs = GameVecEnv(games, settings.objective, scale=None, staggered=True)
        envs.scales = [settings.scale * scale for scale in envs.scales]
        envs.seed(TRAINING_SEEDS + settings.seed * settings.copies)
        all_envs.append(envs)
    return all_envs


def constants(settings: Settings) -> dict[str, Any]:
    """Return the arguments of PPO; a learning rate that is a number is the first one, and falls."""
    horizon = float(np.mean([each.horizon for each in settings.tasks]))
    seat, privileged = AGENT_SEAT if settings.against else PRINCIPAL_SEAT, len(PRIVILEGED) if settings.privileged else 0
    network = {"fields": seat.fields, "overall": seat.overall, "privileged": privileged}
    defaults: dict[str, Any] = {
        "learning_rate": RATE,
        "n_steps": ROLLOUT,
        "batch_size": max(2, settings.rollout_steps // math.gcd(settings.rollout_steps, BATCHES)),
        "n_epochs": EPOCHS,
        "gamma": 1.0 - 0.1 / horizon,  # the last round counts nearly as much as the first,
        "gae_lambda": max(0.9, 1.0 - 6.0 / horizon),  # and what is learned early pays for long
        "ent_coef": ENTROPY,
        "seed": settings.seed,
        "device": "cpu",
        "policy_kwargs": {},
    }
    chosen = defaults | dict(settings.ppo)
    chosen["policy_kwargs"] = chosen["policy_kwargs"] | network | {"width": settings.width, "deep": settings.deep}
    if not callable(chosen["learning_rate"]):
        chosen["learning_rate"] = functools.partial(falling_rate, chosen["learning_rate"])
    return chosen


def falling_rate(first: float, left: float) -> float:
    """Return the learning rate when this share of the rounds is left."""
    return first * min(1.0, 2.5 * left)


def train(settings: Settings, out: Path) -> Path:
    """Train to the end, from the last checkpoint if there is one; returns the policy file.

    Args:
        settings: what to train.
        out: folder of the run; no other process may train in it at the same time.
    """
    read_record(settings, out)  # raises before anything is written
    with only_writer(out, out / "lock"):
        remove_half_written(out)
        record = read_record(settings, out)
        if len(record["laps"]) >= settings.laps:
            return out / "policy.npz"
        try:
            if lap := len(record["rounds"]):
                envs = pickle.loads((out / f"lap-{lap}.pkl").read_bytes())
                model = Learner.load(out / f"lap-{lap}.zip", envs=envs, device="cpu")
                print(f"resumed after lap {lap} of {settings.laps} ({model.num_timesteps:,} rounds)", flush=True)
            else:
                model = learner(settings)
            model.say = functools.partial(print, flush=True)
            model.set_logger(configure(str(out), ["tensorboard"]))
            record["references"] = model.references = model.references or references(settings)
            laps = Laps(settings, out, record)
            laps.init_callback(model)
            if lap > len(record["laps"]):
                laps.evaluate(lap)
            interval = settings.lap_steps // settings.rollout_steps
            if left := settings.laps * settings.lap_steps - model.num_timesteps:
                model.learn(left, laps, log_interval=interval, reset_num_timesteps=False, progress_bar=True)
        except KeyboardInterrupt:
            lap = len(read_record(settings, out)["rounds"])
            kept = f"With the same arguments, training goes on after lap {lap} of {settings.laps}."
            raise KeyboardInterrupt(f"Stopped. {kept if lap else 'No lap is finished: nothing is kept.'}") from None
    return out / "policy.npz"


class Bar(BaseCallback):
    """Shows rounds, rounds a second, time left, and the utility of the last episodes beside that of scripts.

    Args:
        scripts: name -> utility.
    """

    def __init__(self, scripts: Mapping[str, float]) -> None:
        super().__init__()
        self.scripts = ", ".join(f"{name} {utility:.1f}" for name, utility in scripts.items())
        console, text = Console(stderr=True), TextColumn("{task.description}")
        columns = (BarColumn(20), TaskProgressColumn(), TimeRemainingColumn(), text)
        self.progress = Progress(*columns, console=console, disable=not draws_bars(console))

    def _on_training_start(self) -> None:
        self.first = self.num_timesteps
        self.shown = self.progress.add_task("", total=self.model._total_timesteps, completed=self.first)
        self.progress.start()

    def _on_step(self) -> bool:
        if self.n_calls % 10 == 0:
            speed = (self.num_timesteps - self.first) / (self.progress.tasks[0].elapsed or math.inf)
            text = f"{self.num_timesteps:,} rounds, {speed:,.0f}/s"
            if not math.isnan(utility := recent_utility(self.model)):
                text += f", utility {utility:.1f} ({self.scripts})"
            self.progress.update(self.shown, completed=self.num_timesteps, description=text)
        return True

    def _on_rollout_end(self) -> None:
        self.logger.record("rollout/utility", recent_utility(self.model))


class Laps(BaseCallback):
    """Leaves a checkpoint and evaluates the policy after each lap, and seeds the next one."""

    def __init__(self, settings: Settings, out: Path, record: dict[str, Any]) -> None:
        super().__init__()
        self.settings, self.out, self.record = settings, out, record

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        lap, rest = divmod(self.num_timesteps, self.settings.lap_steps)
        if rest == 0:
            if lap > len(self.record["rounds"]):  # else it was just read from the disk
                self._finish(lap)
            set_random_seed(int(np.random.SeedSequence([self.settings.seed, lap]).generate_state(1)[0]))

    def _on_rollout_end(self) -> None:
        whole_rollout = self.num_timesteps % self.settings.rollout_steps == 0
        if whole_rollout and not math.isnan(utility := recent_utility(self.model)):
            self.record["curve"].append((self.num_timesteps, utility))

    def _on_training_end(self) -> None:
        self._finish(self.settings.laps)

    def _finish(self, lap: int) -> None:
        """Leave a checkpoint, then evaluate: no training is lost if the evaluation is stopped."""
        self.record["rounds"].append(self.num_timesteps)
        with whole_file(self.out / f"lap-{lap}.zip") as file:
            self.model.save(file)
        write_whole(self.out / f"lap-{lap}.pkl", pickle.dumps(self.model.envs))  # type: ignore[attr-defined] # a Learner
        self._write_record()
        for path in self.out.glob("lap-*"):
            if path.stem != f"lap-{lap}":
                path.unlink()
        self.evaluate(lap)

    def evaluate(self, lap: int) -> None:
        """Evaluate the policy and write it, with the learning curve; the record comes last."""
        from baselines.pictures import learning_curve

        print(f"lap {lap} of {self.settings.laps}, {self.model.num_timesteps:,} rounds; evaluating", flush=True)
        played = evaluate(self.model, self.settings)
        scores = {
            name: {way: {score: estimate(sums[score]) for score in self.settings.scores} for way, sums in ways.items()}
            for name, ways in played.items()
        }
        self.record["laps"].append(scores)
        save(self.model, self.out / "policy.npz", sampled=better_drawn(played, self.settings))
        for name, ways in scores.items():
            for way, means in ways.items():
                line = ", ".join(f"{self.settings.scores[score]} {plus_minus(mean)}" for score, mean in means.items())
                print(f"  {name}: {way}: {line}", flush=True)
                for score, mean in means.items():
                    self.logger.record(f"{name}/{way}_{score}", mean.value)
        write_whole(self.out / "curve.png", learning_curve(self.record, next(iter(self.settings.scores))))
        self._write_record()

    def _write_record(self) -> None:
        write_whole(self.out / "run.json", json.dumps(self.record, indent=1).encode())


def recent_utility(model: Any) -> float:
    """Return the mean expected utility of the episodes that ended last, of all tasks alike; nan if one has none."""
    recent = [episodes for envs in model.envs for episodes in envs.recent]
    return float(np.mean([np.mean(episodes) if episodes else math.nan for episodes in recent]))


def references(settings: Settings) -> dict[str, float]:
    """Return the mean utility of ``zero`` and of the best of ``SCRIPTS``, over tasks; or the payoffs of ``AGENTS``."""
    seeds, tasks = range(EVALUATION_SEEDS, EVALUATION_SEEDS + REFERENCE_EPISODES), settings.tasks
    if settings.against:
        earned = {name: [payoffs(settings.against, name, each, seeds)[0] for each in tasks] for name in AGENTS}
        return {name: float(np.mean(sums)) for name, sums in earned.items()}
    earned = {name: [simulate(name, task=each, seeds=seeds).expected_utility for each in tasks] for name in SCRIPTS}
    utilities = {name: float(np.mean(sums)) for name, sums in earned.items()}
    best = max(SCRIPTS[1:], key=lambda name: utilities[name])
    return {name: utilities[name] for name in (SCRIPTS[0], best)}


def evaluate(model: Any, settings: Settings) -> Scores:
    """Play evaluation episodes of each task, with the likeliest actions and with drawn ones."""
    scores = {}
    for each in settings.tasks:
        episodes = max(2, settings.rounds // (len(settings.tasks) * each.horizon))
        seeds = range(EVALUATION_SEEDS, EVALUATION_SEEDS + episodes)
        set_random_seed(settings.seed)  # the same model has the same scores
        scores[each.name] = {
            way: play_out(settings.games(each, episodes), model, seeds, way == "likeliest") for way in WAYS
        }
    return scores


def better_drawn(scores: Scores, settings: Settings) -> bool:
    """True if drawn actions do better than the likeliest, beyond a 95% interval.

    Episodes of all tasks count alike, in units of the square root of the horizon.
    """
    score, sign = SCORE[settings.objective]
    gains = [
        sign * (scores[each.name]["drawn"][score] - scores[each.name]["likeliest"][score]) / math.sqrt(each.horizon)
        for each in settings.tasks
    ]
    return estimate(np.concatenate(gains)).low > 0


def read_record(settings: Settings, out: Path) -> dict[str, Any]:
    """Return what ``run.json`` says, or a new record; raise if the folder holds a run with other settings."""
    path, wanted = out / "run.json", json.loads(json.dumps(settings.record))
    if not path.exists():
        return {"settings": wanted, "laps": [], "rounds": [], "curve": [], "references": {}}
    try:
        record: dict[str, Any] = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}): pass another folder") from error
    for key, value in wanted.items():
        if (kept := record.get("settings", {}).get(key)) != value:
            raise ValueError(
                f"out = {str(out)!r} holds a run with {key} = {short(kept)}, not {short(value)}:"
                " pass another folder, or the same arguments to go on with it"
            )
    return record
