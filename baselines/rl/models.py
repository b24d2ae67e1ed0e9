"""Trained models as principals: those of Stable-Baselines3, and any function from observations to actions.

A model acts on what the wrappers of its environment make of the game. A principal knows less than an environment: its
offers, the answers and its rewards. So a :class:`PolicyPrincipal` plays in an environment of its own, with the same
wrappers, whose agent repeats the answers of the real one.

>>> import baselines
>>> from pa_env.wrappers import ForLearning
>>> first_rung = baselines.from_policy(lambda observation: 0, ForLearning, n_arms=3, horizon=50)
>>> baselines.simulate(first_rung, seed=1).plays[-1].sum()
np.int64(50)
"""

import functools
import importlib.metadata
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike

import pa_env
from baselines.files import write_whole
from baselines.principal import Principal, Rounds, offer
from baselines.rl.agent_seat import WithHistory
from baselines.rl.trained import Trained
from baselines.rl.view import SEAT, WithBeliefs
from pa_env.checks import known, short
from pa_env.envs import spaces
from pa_env.kernel.layout import OBSERVATIONS, ArmRow, Floats
from pa_env.policy_file import FORMAT, Policy, Seat, pack
from pa_env.trained_agents import SEAT as AGENT
from pa_env.wrappers.base import game_behind

# (observation, state, whether an episode begins, randomness) -> (action, state)
Predict = Callable[[Any, Any, bool, np.random.Generator], tuple[Any, Any]]
Wrapper = Callable[[Any], Any]  # environment -> environment
PACKAGES = ("numpy", "torch", "stable-baselines3")
SETTINGS = ("observation", "max_incentive", "batched")  # of the environment in which a function plays
# Wrappers of Gymnasium and Stable-Baselines3 that change neither observations nor actions.
PLAIN = {
    *("OrderEnforcing", "PassiveEnvChecker", "TimeLimit", "RecordEpisodeStatistics", "RecordVideo", "RenderCollection"),
    *("HumanRendering", "Monitor", "VecMonitor", "VecCheckNan"),
}


def from_policy(
    function: Callable[[Any], Any], wrapper: Wrapper | None = None, *, n_arms: int, horizon: int, **settings: Any
) -> "PolicyPrincipal":
    """Return the principal that plays a function from observations to actions, of any library.

    Args:
        function: from one observation to one action.
        wrapper: a function that wraps the environment as in training, such as ``ForLearning``; None: none.
        n_arms: number of arms.
        horizon: rounds.
        **settings: ``observation`` and ``max_incentive`` of ``PrincipalAgent-v0``; ``batched=True`` if the function and
            the wrapper are made for ``gym.make_vec``. They then get a batch of one.
    """
    if not callable(function):
        raise TypeError(f"function = {short(function)} must be a function from an observation to an action")
    for name in settings:
        known("argument of from_policy", name, SETTINGS)
    wrappers = [] if wrapper is None else [wrapper]
    return PolicyPrincipal(n_arms, horizon, functools.partial(_call, function), wrappers, settings)


def from_sb3(
    model: Any,
    wrapper: Wrapper | None = None,
    *,
    n_arms: int | None = None,
    horizon: int | None = None,
    deterministic: bool = False,
    **settings: Any,
) -> Principal:
    """Return the principal that plays a model of Stable-Baselines3.

    A model with the network and the beliefs of :func:`baselines.rl.learner` becomes a :class:`Trained` principal, which
    plays any number of arms at the speed of a policy file. Others are asked round by round.

    Args:
        model: a model that has learned.
        wrapper: a function that wraps the environment as in training; None: the wrappers of the model's environment.
        n_arms: number of arms; None: that of the model's environment.
        horizon: rounds; None: likewise.
        deterministic: play the likeliest actions; by default actions are drawn, as in training.
        **settings: as :func:`from_policy` takes them; by default those of the model's environment, if it shows them.
    """
    for name in settings:
        known("argument of from_sb3", name, SETTINGS)
    if seat_of(model) == AGENT:
        raise ValueError(
            f"model = {model} plays the agent: keep it by baselines.rl.save(model, 'agent.npz'), and pass"
            " agent='agent.npz'"
        )
    inner = _innermost(model.get_env(), plain=wrapper is None)
    if inner is None and (wrapper is None or n_arms is None or horizon is None):
        raise ValueError(
            f"model = {model} has no environment, or one that does not show its wrappers: load it with env=, or make a"
            " principal of it by baselines.from_sb3(model, wrapper=..., n_arms=..., horizon=...)"
        )
    n_arms = game_behind(inner).n_arms if n_arms is None else n_arms
    horizon = game_behind(inner).horizon if horizon is None else horizon
    if wrapper is None and not settings and seat_of(model) == SEAT:
        return Trained(n_arms, horizon, policy_of(model, sampled=not deterministic))
    wrappers = _wrappers(inner) if wrapper is None else [wrapper]
    foreign = not hasattr(getattr(inner, "unwrapped", None), "game")
    shown = {} if wrapper is not None and foreign else _settings(inner)
    return PolicyPrincipal(n_arms, horizon, Shared(model, deterministic), wrappers, shown | settings)


def is_model(given: object) -> bool:
    """True for a model of Stable-Baselines3, which need not be imported."""
    return all(hasattr(given, name) for name in ("policy", "predict", "get_env", "get_vec_normalize_env"))


def seat_of(model: Any) -> Seat | None:
    """Return the seat that a model plays, if a policy file can hold it; else None."""
    if not is_model(model):
        raise TypeError(f"model = {short(model)} must be a model of Stable-Baselines3, or a baselines.rl.learner")
    env, layout = model.get_env(), getattr(model.policy, "layout", {})
    if env is None or model.get_vec_normalize_env() is not None:
        return None
    for seat, wrapper in ((SEAT, WithBeliefs), (AGENT, WithHistory)):
        sizes = {"fields": seat.fields, "overall": seat.overall}
        if sizes.items() <= layout.items() and all(env.env_is_wrapped(wrapper)):
            return seat
    return None


def policy_of(model: Any, sampled: bool = True) -> Policy:
    """Return what a policy file holds of a model whose actions are to be drawn (``sampled``), or else the likeliest."""
    seat = seat_of(model)
    if seat is None:
        raise ValueError(
            f"model = {model} has not the network and the beliefs of baselines.rl.learner, which a policy file holds:"
            " keep it with model.save(...), and play it with baselines.from_sb3(model)"
        )
    envs, settings = model.get_env(), getattr(model, "settings", None)
    games = [each.unwrapped.game for each in envs.games]
    metadata = {
        "format": FORMAT,
        "seat": seat.name,
        "tasks": [each.name for each in settings.tasks] if settings else [f"k{g.n_arms}-t{g.horizon}" for g in games],
        "objective": envs.objective or "utility",
        "seed": int(model.seed or 0),
        "steps": int(model.num_timesteps),
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
        "width": model.policy.layout["width"],
        "sampled": sampled,
    }
    if seat == AGENT and settings:
        metadata["against"] = settings.against
    layers = model.policy.mlp_extractor.actor.state_dict() | model.policy.action_net.state_dict()
    return Policy(metadata, {name: layer.cpu().numpy().astype(np.float32) for name, layer in layers.items()})


def save(model: Any, path: str | Path, sampled: bool = True) -> None:
    """Write the policy of a learner to a file that :func:`baselines.rl.load` reads.

    Args:
        model: from :func:`baselines.rl.learner`, or another with its network and beliefs.
        path: of the file, which ends in ``.npz``.
        sampled: draw actions when it is played; else the likeliest ones are played.
    """
    path, policy = Path(path), policy_of(model, sampled)
    if path.suffix != ".npz":
        raise ValueError(f"path = {str(path)!r} must end in .npz, by which policy files are known")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, pack(policy, policy.seat))


class Offered(Exception):  # noqa: N818 - no error: it brings an offer out of a step
    """The offer that an action stands for."""


class Puppet:
    """An agent that plays the arm it is told; without one, it tells what is offered."""

    def __init__(self) -> None:
        self.arm: int | None = None

    def reset(self, n_arms: int, rng: np.random.Generator) -> None:
        """Begin an episode."""
        self.means: ArrayLike = np.zeros(n_arms)

    def choose(self, incentives: Floats) -> int:
        """Return the arm."""
        if self.arm is None:
            raise Offered(incentives.copy())
        return self.arm

    def learn(self, arm: int, reward: float) -> None:
        """Nothing to learn."""


class PolicyPrincipal(Principal):
    """A principal that asks a policy for an action in each round; see :func:`from_policy` and :func:`from_sb3`.

    Args:
        n_arms: number of arms K.
        horizon: rounds T.
        predict: the policy.
        wrappers: around the environment as in training, the innermost first.
        settings: of the environment; ``batched`` if it is a vector environment.
    """

    name = "policy"

    def __init__(
        self, n_arms: int, horizon: int, predict: Predict, wrappers: list[Wrapper], settings: dict[str, Any]
    ) -> None:
        self._predict, self._wrappers, self._settings = predict, wrappers, settings
        super().__init__(n_arms, horizon)
        self._environment(Puppet())  # raises now if a wrapper does not fit

    def rounds(self) -> Rounds:
        """Ask for an action, offer what it stands for, and let the environment repeat the answer."""
        puppet = Puppet()
        env = self._environment(puppet)
        observation, _ = env.reset(seed=0)
        theta, state = game_behind(env).arrays.arms[0, ArmRow.THETA], None
        for t in range(self.horizon):
            action, state = self._predict(observation, state, t == 0, self.rng)
            puppet.arm = None
            try:
                env.step(action)
            except Offered as offered:
                (incentives,) = offered.args
            outcome = yield offer(incentives)
            puppet.arm = int(outcome.plays.argmax())
            theta[puppet.arm] = outcome.sums[puppet.arm]  # rewards are constant there: X is theta
            observation, *_ = env.step(action)

    def _environment(self, puppet: Puppet) -> Any:
        """Return an environment in which the puppet answers and rewards are constant."""
        instance = pa_env.IID(np.zeros(self.n_arms), np.zeros(self.n_arms), "constant")
        settings = self._settings | {"instance": instance, "agent": puppet, "horizon": self.horizon}
        if settings.pop("batched", False):
            env: Any = gym.make_vec("PrincipalAgent-v0", 1, autoreset_mode="Disabled", **settings)
        else:
            env = gym.make("PrincipalAgent-v0", **settings)
        for wrapper in self._wrappers:
            env = wrapper(env)
        return env


class Shared:
    """A model of Stable-Baselines3 that copies of a principal share: play does not change it, and torch may refuse.

    Args:
        model: a model that has learned.
        deterministic: play the likeliest actions.
    """

    def __init__(self, model: Any, deterministic: bool) -> None:
        self.policy, self.deterministic, self.statistics = model.policy, deterministic, None
        normalize = model.get_vec_normalize_env()
        if normalize is not None and normalize.norm_obs:
            self.statistics = normalize.obs_rms, normalize.epsilon, normalize.clip_obs  # shared, as the policy is

    def __deepcopy__(self, _: Any) -> "Shared":
        return self

    def __call__(self, observation: Any, state: Any, begins: bool, rng: np.random.Generator) -> tuple[Any, Any]:
        """Return an action and the next state; draws come from the principal's randomness."""
        import torch

        if self.statistics is not None:
            seen, epsilon, most = self.statistics
            observation = np.clip((observation - seen.mean) / np.sqrt(seen.var + epsilon), -most, most)
            observation = observation.astype(np.float32)
        generator = torch.default_generator  # of the CPU alone: torch.manual_seed takes a millisecond
        before = generator.get_state()
        generator.manual_seed(int(rng.integers(2**63)))
        action, state = self.policy.predict(observation, state, np.array([begins]), self.deterministic)
        generator.set_state(before)
        return action, state


def _call(function: Callable[[Any], Any], observation: Any, *_: Any) -> tuple[Any, None]:
    """Ask a function."""
    return function(observation), None


def _innermost(env: Any, plain: bool) -> Any:
    """Return the first game of a vectorised environment, or None; ``plain``: raise if a wrapper may change it."""
    while hasattr(env, "venv"):
        if plain and type(env).__name__ not in PLAIN | {"VecNormalize"}:
            raise ValueError(
                f"{type(env).__name__} may change what the model sees or plays: pass wrapper=, a function that wraps"
                " the environment so that it shows the same"
            )
        env = env.venv
    games = getattr(env, "games", None) or getattr(env, "envs", None)
    return games[0] if games else None


def _settings(env: Any) -> dict[str, Any]:
    """Return the settings of the environment below all wrappers, as :func:`from_policy` takes them."""
    base, game = env.unwrapped, game_behind(env)
    space = getattr(base, "single_observation_space", base.observation_space)
    observation = next(name for name in OBSERVATIONS if spaces.View(game, name).space == space)
    batched = isinstance(env, gym.vector.VectorEnv)
    return {"observation": observation, "max_incentive": game.max_incentive, "batched": batched}


def _wrappers(env: Any) -> list[Wrapper]:
    """Return the wrappers that may change observations or actions, the innermost first, with their arguments."""
    found: list[Wrapper] = []
    while env is not env.unwrapped:
        wrapper: Any = type(env)
        if wrapper.__name__ not in PLAIN:
            if hasattr(env, "obs_rms"):
                raise ValueError(f"{wrapper.__name__} keeps statistics of its own: pass wrapper=")
            names = [name for name in inspect.signature(wrapper).parameters if name != "env"]
            if missing := [name for name in names if not hasattr(env, name)]:
                raise ValueError(f"{wrapper.__name__} does not keep its argument {missing[0]!r}: pass wrapper=")
            found.insert(0, functools.partial(wrapper, **{name: getattr(env, name) for name in names}))
        env = env.env
    return found
