"""Training a principal from scratch: ``pa-bench train``.

Stable-Baselines3's PPO plays many copies of one or several tasks at once, with the observations and prices of
:class:`baselines.rl.view.WithBeliefs` and the network of :class:`baselines.rl.networks.SetActorCritic`. The
learning rate (at the end) and the bonus for random actions fall to 0, so that the last policy is the one to keep.

A lap is a fixed number of rollouts. After each lap the policy plays evaluation episodes, and a checkpoint is written.
All random numbers of a lap come from the run's seed and the lap's number. So a run that was killed goes on from its
last lap to the same policy, and two runs with one seed give the same policy. In the folder of a run:

| file | what it holds |
|---|---|
| ``policy.npz`` | the policy after the last finished lap (:mod:`baselines.rl.policy_file`) |
| ``run.json`` | the settings, and the scores of each lap; written last, so it names nothing missing |
| ``lap-N.zip``, ``lap-N.pkl`` | the last checkpoint: Stable-Baselines3's model, and the games (pickles) |
| ``events.out.*`` | TensorBoard's |
| ``lock`` | held by the one process that trains here |
"""

import importlib.metadata
import json
import math
import pickle
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import set_random_seed

from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import Estimate, estimate
from baselines.files import only_writer, remove_half_written, whole_file, write_whole
from baselines.rl.networks import SetActorCritic
from baselines.rl.policy_file import FORMAT, Policy, save
from baselines.rl.vec_env import OBJECTIVES, GameVecEnv, games_of, play_out
from baselines.rl.view import FIELDS, OVERALL, WithBeliefs
from baselines.tasks import task
from pa_env.checks import known, seed_of, short, whole
from pa_env.kernel.layout import Floats

TRAINING_SEEDS, EVALUATION_SEEDS = 10**9, 5 * 10**8  # far from those of tuning and comparisons
WIDTH = 32  # of the network
RATE, ENTROPY = 1e-3, 0.006  # of learning, and the weight of the bonus for random actions: both at first
SCORE = {"utility": ("expected_utility", 1.0), "regret": ("regret", -1.0)}  # what is maximised, with its sign
EPOCHS, BATCHES = 4, 8  # passes over a rollout, and equal parts of it in each pass, at most


@dataclass(frozen=True)
class Settings:
    """What is trained, and for how long. A recipe is one of these."""

    tasks: tuple[str, ...]
    """Names of the tasks, with equally many arms."""
    objective: str = "utility"
    """What is maximised: utility, or regret for minus R_T."""
    steps: int = 12_000_000
    """Rounds to train on, rounded up to whole laps."""
    seed: int = 0
    """The same seed gives the same policy."""
    copies: int = 512
    """Games that are played at once, at most: each task has as many as the others."""
    rollout: int = 100
    """Rounds of each copy between two updates."""
    lap: int = 40
    """Rollouts between two checkpoints."""
    rounds: int = 400_000
    """Rounds of an evaluation, all tasks together; once with the likeliest actions and once with drawn ones."""

    def __post_init__(self) -> None:
        """Check all of them."""
        if len({task(name).n_arms for name in self.tasks}) != 1:
            raise ValueError(f"tasks = {self.tasks} must be at least one, and must have equally many arms")
        known("objective", self.objective, OBJECTIVES)
        if (seed_of(self.seed) or 0) >= 2**32:
            raise ValueError(f"seed = {self.seed} must be below 2**32, as Stable-Baselines3 wants it")
        for name in ("steps", "copies", "rollout", "lap", "rounds"):
            whole(name, getattr(self, name), 1)
        if self.copies < len(self.tasks):
            raise ValueError(f"copies = {self.copies} must be at least the number of tasks, {len(self.tasks)}")

    @property
    def each(self) -> int:
        """Copies of each task."""
        return self.copies // len(self.tasks)

    @property
    def rollout_steps(self) -> int:
        """Rounds between two updates, of all copies together."""
        return self.each * len(self.tasks) * self.rollout

    @property
    def lap_steps(self) -> int:
        """Rounds of a lap, of all copies together."""
        return self.rollout_steps * self.lap

    @property
    def laps(self) -> int:
        """How many laps there are."""
        return math.ceil(self.steps / self.lap_steps)


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
        if len(record["laps"]) < settings.laps:
            torch.set_num_threads(1)  # sums come out the same on any machine, and the network is too small for more
            model = old_model(out, len(record["laps"])) if record["laps"] else new_model(settings)
            model.set_logger(configure(str(out), ["tensorboard"]))
            left = settings.laps * settings.lap_steps - model.num_timesteps
            model.learn(left, Laps(settings, out, record), log_interval=settings.lap, reset_num_timesteps=False)
    return out / "policy.npz"


def new_model(settings: Settings) -> PPO:
    """A learner before its first round."""
    played = [task(name) for name in settings.tasks]
    games = [WithBeliefs(games_of(each, settings.each)) for each in played]
    envs = GameVecEnv(games, settings.objective, scale=None, staggered=True)
    envs.seed(TRAINING_SEEDS + settings.seed * settings.copies)
    horizon = float(np.mean([made.horizon for made in played]))
    return PPO(
        *(SetActorCritic, envs),
        learning_rate=falling_rate,
        n_steps=settings.rollout,
        batch_size=max(2, settings.rollout_steps // math.gcd(settings.rollout_steps, BATCHES)),
        n_epochs=EPOCHS,
        gamma=1.0 - 0.1 / horizon,  # the last round counts nearly as much as the first,
        gae_lambda=max(0.9, 1.0 - 6.0 / horizon),  # and what is learned early pays for long
        seed=settings.seed,
        device="cpu",
        policy_kwargs={"width": WIDTH, "fields": FIELDS, "overall": OVERALL},
    )


def falling_rate(left: float) -> float:
    """The learning rate when this share of the steps is left."""
    return RATE * min(1.0, 2.5 * left)


def old_model(out: Path, lap: int) -> PPO:
    """The learner as it was after a lap, with its games."""
    with (out / f"lap-{lap}.pkl").open("rb") as file:
        envs = pickle.load(file)
    return PPO.load(out / f"lap-{lap}.zip", env=envs, device="cpu", force_reset=False)


class Laps(BaseCallback):
    """Evaluates the policy and leaves a checkpoint after each lap, and seeds the next one."""

    def __init__(self, settings: Settings, out: Path, record: dict[str, Any]) -> None:
        super().__init__()
        self.settings, self.out, self.record = settings, out, record

    def _on_step(self) -> bool:
        return True

    def _on_training_start(self) -> None:
        self.began, self.first = time.monotonic(), self.num_timesteps

    def _on_rollout_start(self) -> None:
        lap, rest = divmod(self.num_timesteps, self.settings.lap_steps)
        if rest == 0:
            if lap > len(self.record["laps"]):  # else it was just read from the disk
                self._finish(lap)
            set_random_seed(int(np.random.SeedSequence([self.settings.seed, lap]).generate_state(1)[0]))

    def _on_rollout_end(self) -> None:
        done = self.num_timesteps / (self.settings.laps * self.settings.lap_steps)
        self.model.ent_coef = ENTROPY * (1.0 - done)  # type: ignore[attr-defined] # PPO has it

    def _on_training_end(self) -> None:
        self._finish(self.settings.laps)

    def _finish(self, lap: int) -> None:
        """Evaluate and write everything; the record comes last."""
        found = evaluate(self.model, self.settings)
        scores = {
            name: {how: {score: estimate(own[score]) for score, _ in SCORE.values()} for how, own in both.items()}
            for name, both in found.items()
        }
        self.record["laps"].append(scores)
        with whole_file(self.out / f"lap-{lap}.zip") as file:
            self.model.save(file)
        write_whole(self.out / f"lap-{lap}.pkl", pickle.dumps(self.training_env))
        sampled = better_drawn(found, self.settings.objective)
        save(self.out / "policy.npz", policy_of(self.model, self.settings, sampled))
        write_whole(self.out / "run.json", json.dumps(self.record, indent=1).encode())
        for path in self.out.glob("lap-*"):
            if path.stem != f"lap-{lap}":
                path.unlink()
        speed = (self.num_timesteps - self.first) / (time.monotonic() - self.began)
        print(f"lap {lap} of {self.settings.laps}, {speed:,.0f} rounds a second", flush=True)
        for name, both in scores.items():
            for how, own in both.items():
                for score, mean in own.items():
                    self.logger.record(f"{name}/{how}_{score}", mean.value)
            print(f"  {name}: {'; '.join(f'{how}: {shown(own)}' for how, own in both.items())}", flush=True)


def shown(scores: dict[str, Estimate]) -> str:
    """Utility and R_T with 95% intervals."""
    return f"utility {plus_minus(scores['expected_utility'])}, R_T {plus_minus(scores['regret'])}"


def evaluate(model: Any, settings: Settings) -> dict[str, dict[str, dict[str, Floats]]]:
    """Scores of evaluation episodes by task, when the likeliest actions are played and when actions are drawn."""
    found = {}
    for name in settings.tasks:
        played = task(name)
        episodes = max(2, settings.rounds // (len(settings.tasks) * played.horizon))
        seeds = range(EVALUATION_SEEDS, EVALUATION_SEEDS + episodes)
        set_random_seed(settings.seed)  # the same model has the same scores
        found[name] = {
            how: play_out(WithBeliefs(games_of(played, episodes)), model, seeds, how == "likeliest")
            for how in ("likeliest", "drawn")
        }
    return found


def better_drawn(found: dict[str, dict[str, dict[str, Floats]]], objective: str) -> bool:
    """True if drawn actions do better than the likeliest, beyond a 95% interval.

    Episodes of all tasks count alike, in units of the square root of the horizon.
    """
    score, sign = SCORE[objective]
    gains = [
        sign * (both["drawn"][score] - both["likeliest"][score]) / math.sqrt(task(name).horizon)
        for name, both in found.items()
    ]
    return estimate(np.concatenate(gains)).low > 0


def policy_of(model: Any, settings: Settings, sampled: bool) -> Policy:
    """What a policy file holds of a model whose actions are to be drawn (``sampled``), or else the likeliest."""
    packages = ("numpy", "torch", "stable-baselines3")
    metadata = {
        "format": FORMAT,
        "tasks": list(settings.tasks),
        "objective": settings.objective,
        "seed": settings.seed,
        "steps": int(model.num_timesteps),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "width": WIDTH,
        "sampled": sampled,
    }
    layers = model.policy.mlp_extractor.actor.state_dict() | model.policy.action_net.state_dict()
    return Policy(metadata, {name: layer.numpy().astype(np.float32) for name, layer in layers.items()})


def read_record(settings: Settings, out: Path) -> dict[str, Any]:
    """What ``run.json`` says, or a new one; raises if the folder holds a run with other settings."""
    path, wanted = out / "run.json", json.loads(json.dumps(asdict(settings)))
    if not path.exists():
        return {"settings": wanted, "laps": []}
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
