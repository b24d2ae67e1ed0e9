"""Training a principal: ``pa-bench train``.

Training goes in laps. A lap begins from seeds of its own, collects and learns from a fixed number of steps, is
evaluated, and leaves a checkpoint. So a run that was killed goes on from its last lap to the same policy as one that
was not, and two runs with one seed give the same policy. In the folder of a run:

| file | what it holds |
|---|---|
| ``run.json`` | what is trained, the score before and after each lap; written last, so it names nothing missing |
| ``lap-N.zip`` | the last checkpoint: model and optimiser, in Stable-Baselines3's format (a pickle) |
| ``best.npz``, ``best.zip`` | the best policy by evaluation (a policy file, where it can hold it), and its model |
| ``events.out.*`` | TensorBoard's |
| ``lock`` | held by the one process that trains here |

Evaluation plays the deterministic policy on held-out seeds, and the scripted principals on the same ones: the score is
the mean of the paired differences to the best of them. The first policy is the script but for its tests of lower
prices, with the parameters that serve the task and the objective best (:mod:`baselines.rl.start`); in the first lap
only PPO's critic learns.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.utils import set_random_seed

from baselines import rl
from baselines.files import only_writer, remove_half_written, whole_file, write_whole
from baselines.rl.algorithms import (
    ALGORITHMS,
    COPIES,
    LOG_NOISE,
    model_class,
    new_model,
    policy_of,
    steered,
    take_over,
    training_env,
)
from baselines.rl.evaluate import compare, interval, play_out, table
from baselines.rl.features import SetActorCritic
from baselines.rl.policy_file import digest, read, save
from baselines.rl.start import Search, find
from baselines.rl.vec_env import OBJECTIVES, GameVecEnv
from baselines.tasks import Task
from pa_env.checks import finite, known, seed_of, whole
from pa_env.layout import Floats

TRAINING_SEEDS, EVALUATION_SEEDS = 10**9, 5 * 10**8  # far from those of tuning and comparisons
EVALUATION_ROUNDS = 800_000  # in whole episodes: regret has heavy tails
RIVALS = ("zero", "profit-target", "bracket-ucb")  # the best scripted principals at short horizons
SCORE = {"utility": ("expected_utility", 1.0), "regret": ("regret", -1.0)}  # what is evaluated, and its sign
LAP = 2**18  # steps
SLOWEST = 0.1  # share of the learning rate that is left in the last lap
GENTLE = 0.3  # share of it for a policy that was trained already


class Run:
    """A training run in a folder.

    ``start``: a policy file to start from, of any task, instead of the script. ``log_noise``: log of the first standard
    deviation of actions; a policy that is good already wants less than the default.
    """

    def __init__(
        self,
        task: Task,
        out: Path,
        algo: str = "ppo",
        objective: str = "utility",
        steps: int = 4_000_000,
        seed: int = 0,
        lap: int = LAP,
        episodes: int | None = None,
        search: Search | None = None,
        start: Path | None = None,
        log_noise: float = LOG_NOISE,
    ) -> None:
        known("algo", algo, ALGORITHMS)
        known("objective", objective, OBJECTIVES)
        if task.dim is not None:
            raise ValueError(f"task = {task.name!r} has linear rewards: policies are trained on i.i.d. ones only")
        self.task, self.out, self.algo, self.objective = task, out, algo, objective
        self.seed = seed_of(seed) or 0
        if self.seed >= 2**32:
            raise ValueError(f"seed = {self.seed} must be below 2**32, as Stable-Baselines3 wants it")
        self.lap = whole("lap", lap, COPIES[algo])
        self.laps = math.ceil(whole("steps", steps, 1) / self.lap)
        self.score, self.sign = SCORE[objective]
        self.episodes = episodes or max(2, EVALUATION_ROUNDS // task.horizon)
        self.search = search or Search()
        self.start = None if start is None else read(start)
        self.log_noise = finite("log_noise", log_noise)
        self.record = self._record()

    def _record(self) -> dict[str, Any]:
        """What ``run.json`` says, or a new one."""
        about = {
            "task": self.task.name,
            "algo": self.algo,
            "objective": self.objective,
            "seed": self.seed,
            "steps": self.laps * self.lap,
            "lap": self.lap,
            "log_noise": self.log_noise,
            "start": None if self.start is None else self.start.metadata | {"weights": digest(self.start)},
        }
        path = self.out / "run.json"
        if not path.exists():
            return about | {"parameters": {}, "scores": [], "best": None}
        try:
            record: dict[str, Any] = json.loads(path.read_text())
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}): pass another folder") from error
        for key, value in about.items():
            if record.get(key) != value:
                raise ValueError(
                    f"out = {str(self.out)!r} holds a run with {key} = {record.get(key)!r}, not {value!r}:"
                    " pass another folder, or the same arguments to go on with it"
                )
        return record

    def train(self) -> None:
        """Train to the end, from the last checkpoint if there is one; no other process may do so at the same time."""
        if len(self.record["scores"]) <= self.laps:
            with only_writer(self.out, self.out / "lock"):
                remove_half_written(self.out)
                self.record = self._record()  # another process may have gone on in the meantime
                self._train()

    def _train(self) -> None:
        import torch
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        scores = self.record["scores"]
        torch.set_num_threads(1)  # sums come out the same on any machine, and the networks are too small for more
        if not scores:
            self.record["parameters"] = self._first_parameters()
        env = training_env(self.task, self.algo, self.objective, self.record["parameters"])
        model = self._checkpoint(env) if scores else self._first_model(env)
        model.set_logger(configure(str(self.out), ["tensorboard"]))
        rivals = self._rivals()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns) as progress:
            bar = progress.add_task(self.task.name, total=self.laps * self.lap, completed=model.num_timesteps)
            while len(scores) <= self.laps:
                if scores:
                    self._lap(model, env, _Progress(progress, bar))
                self._evaluate(model, rivals)
                self._keep(model)
                progress.update(bar, description=f"{self.task.name} {scores[-1]:+.3f}")

    def _first_parameters(self) -> dict[str, float]:
        """The script's, where training starts."""
        if self.start is not None:
            parameters: dict[str, float] = self.start.metadata["parameters"]
            return parameters
        return find(self.task, self.score, self.sign, self.seed, self.search)

    def _first_model(self, env: GameVecEnv) -> BaseAlgorithm:
        model = new_model(self.algo, env, self.seed, self.log_noise)
        if self.start is not None:
            take_over(model, self.start)
        return model

    def _checkpoint(self, env: GameVecEnv) -> BaseAlgorithm:
        path = self.out / f"lap-{len(self.record['scores']) - 1}.zip"
        model = model_class(self.algo).load(path, env=env, device="cpu")
        if isinstance(model, OffPolicyAlgorithm):
            model.load_replay_buffer(path.with_suffix(".pkl"))
        return model

    def _lap(self, model: BaseAlgorithm, env: GameVecEnv, callback: BaseCallback) -> None:
        """Collect and learn, from seeds of this lap's own."""
        number = len(self.record["scores"])
        set_random_seed(int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0]))
        env.seed(TRAINING_SEEDS + (self.seed * self.laps + number) * env.num_envs)
        model._last_obs = None  # begin anew
        if isinstance(model.policy, SetActorCritic):
            model.policy.learn_actions(number > 1)  # a critic that knows nothing would spoil a good start
        rate = model.learning_rate * (1.0 - (1.0 - SLOWEST) * (number - 1) / self.laps)  # type: ignore[operator]
        rate *= 1.0 if self.start is None else GENTLE
        model.lr_schedule = lambda _: rate
        model.learn(self.lap, callback=callback, reset_num_timesteps=False, log_interval=10**9)
        model.logger.dump(model.num_timesteps)

    def _rivals(self) -> dict[str, Floats]:
        """The scripted principals' scores, each episode's."""
        scores = compare({name: name for name in RIVALS}, self.task, self.episodes, EVALUATION_SEEDS)
        return {name: found[self.score] for name, found in scores.items()}

    def _evaluate(self, model: BaseAlgorithm, rivals: dict[str, Floats]) -> None:
        """Play the policy, and write down by how much it beats the best scripted principal."""
        envs = steered(self.task, self.episodes, self.record["parameters"])
        seeds = list(range(EVALUATION_SEEDS, EVALUATION_SEEDS + self.episodes))
        found = play_out(envs, model, seeds)[self.score]
        best = max(rivals.values(), key=lambda values: self.sign * values.mean())
        gain, half = interval(self.sign * (found - best))
        for name, value in ((self.score, found.mean()), ("gain", gain), ("gain_half_width", half)):
            model.logger.record(f"evaluation/{name}", float(value))
        model.logger.dump(model.num_timesteps)
        self.record["scores"].append(gain)

    def _keep(self, model: BaseAlgorithm) -> None:
        """Leave a checkpoint, and the best policy if this is it."""
        scores = self.record["scores"]
        checkpoint = self.out / f"lap-{len(scores) - 1}.zip"
        with whole_file(checkpoint) as file:
            model.save(file)
        if isinstance(model, OffPolicyAlgorithm):
            with whole_file(checkpoint.with_suffix(".pkl")) as file:
                model.save_replay_buffer(file)
        if len(scores) == 1 or scores[-1] > max(scores[:-1]):  # a tie is no progress
            self.record["best"] = len(scores) - 1
            with whole_file(self.out / "best.zip") as file:
                model.save(file)
            about = {key: self.record[key] for key in ("algo", "task", "objective", "seed", "parameters")}
            if (policy := policy_of(model, about)) is not None:
                save(self.out / "best.npz", policy)
        write_whole(self.out / "run.json", json.dumps(self.record, indent=1).encode())
        for path in self.out.glob("lap-*"):
            if path.stem != checkpoint.stem:
                path.unlink()


class _Progress(BaseCallback):
    def __init__(self, progress: Any, bar: Any) -> None:
        super().__init__()
        self.progress, self.bar = progress, bar

    def _on_step(self) -> bool:
        self.progress.update(self.bar, completed=self.num_timesteps)
        return True


def show(run: Run, episodes: int) -> None:
    """Train, then print the best policy beside the scripted principals of its task, on seeds never trained on."""
    from rich.console import Console

    run.train()
    best = run.out / "best.npz"
    console = Console()
    lap = run.record["best"]
    console.print(f"{f'best after {lap}' if lap else 'none beat the start'} of {run.laps} laps: {run.out}")
    if best.exists():
        trained = rl.load(best, n_arms=run.task.n_arms, horizon=run.task.horizon)
        console.print(table(trained, run.task, episodes))
    else:
        console.print(f"no policy file holds what {run.algo} learns: its best model is {run.out / 'best.zip'}")
