"""The principals by name, and :func:`resolve`, which makes a principal from whatever a user gives.

A principal is given as a spec (:mod:`baselines.specs`), as a subclass of ``Principal``, or as an object; agents and
instances likewise. ``make``, ``simulate``, ``compare``, the benchmark and the command line all come here.

>>> make("exploratory,c0=0.5", n_arms=5, horizon=1000).c0
0.5
>>> resolve_agent("exploratory,c0=0.5").c0
0.5
"""

import copy
import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard, TypeVar

from baselines.exact import BayesOptimal
from baselines.principal import Principal, Stepwise
from baselines.rl.models import from_sb3, is_model
from baselines.rl.trained import PPO, Trained, load
from baselines.scripted.ours.bracket_ucb import BracketUCB
from baselines.scripted.ours.explore_then_commit import ExploreThenCommit
from baselines.scripted.ours.free_fall import FreeFall
from baselines.scripted.ours.knows_beliefs import KnowsBeliefs
from baselines.scripted.ours.particle import Particle
from baselines.scripted.ours.profit_target import ProfitTarget
from baselines.scripted.paper.elimination import Elimination, EliminationOffline
from baselines.scripted.paper.exploratory import Exploratory, ExploratoryOracle
from baselines.scripted.paper.linear import LinearElimination
from baselines.scripted.peers.belgic import Belgic
from baselines.scripted.peers.c_ipa import CIPA
from baselines.scripted.peers.epsilon_greedy import EpsilonGreedy
from baselines.scripted.peers.ipa import IPA
from baselines.scripted.peers.price_grid import PriceGrid
from baselines.scripted.peers.robust_epsilon_greedy import RobustEpsilonGreedy
from baselines.scripted.simple import Fixed, Oracle, Zero
from baselines.specs import Spec, digest, import_member, is_policy, parse, source_files
from pa_env import IID, Linear
from pa_env.checks import known, short
from pa_env.envs import principal_driver
from pa_env.envs.principal_driver import OfferMaker, lacks
from pa_env.game import Game
from pa_env.instances import FAMILIES, InstanceLike
from pa_env.scripted_agents import SPECS, AgentLike, make_agent
from pa_env.scripted_agents import resolve as check_agent
from pa_env.trained_agents import load_agent

PRINCIPALS: dict[str, type[Principal]] = {
    each.name: each
    for each in (
        *(Elimination, EliminationOffline, Exploratory, ExploratoryOracle, LinearElimination),  # the paper's
        *(IPA, CIPA, EpsilonGreedy, RobustEpsilonGreedy, Belgic, PriceGrid),  # its peers'
        *(ExploreThenCommit, ProfitTarget, BracketUCB, Particle, FreeFall),  # ours
        *(Zero, Fixed, Oracle, KnowsBeliefs, BayesOptimal),
        PPO,
    )
}
PRIVILEGED = {each for each in PRINCIPALS.values() if each.privileged}  # the only classes that are shown the game
SIZES = ("n_arms", "horizon")  # parameters of every principal
OF_CLASSES = ("privileged", "stand_in", "longest", "only_arms")  # attributes of classes, which no object may set

T = TypeVar("T")
# A spec; an object or its class; or a model of Stable-Baselines3, which has no type here.
PrincipalLike = str | os.PathLike[str] | OfferMaker | type[OfferMaker] | Any
Factory = Callable[..., Any]  # a class of principals or other players, or a function that makes one


def principals() -> tuple[str, ...]:
    """Names of the principals."""
    return tuple(PRINCIPALS)


@functools.cache  # tasks ask for them hundreds of times when they are imported
def parameters(name: str) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a principal besides ``n_arms`` and ``horizon``."""
    known("principal", name, PRINCIPALS)
    return tuple(parameter for parameter in _taken_by(PRINCIPALS[name]) if parameter.name not in SIZES)


def is_trained(spec: str) -> bool:
    """Return whether a spec names a trained principal."""
    place = parse(spec).place
    return is_policy(place) or (place in PRINCIPALS and issubclass(PRINCIPALS[place], Trained))


def make(given: PrincipalLike, *, n_arms: int, horizon: int, **parameters: object) -> Principal:
    """Make a principal.

    Args:
        given: one of :func:`principals`, any other spec, a policy file's path, a class, an object with ``reset``,
            ``offer`` and ``observe``, which is copied, or a model.
        n_arms: number of arms.
        horizon: rounds.
        **parameters: of its class.
    """
    given = as_text(given)
    if not isinstance(given, str | type):
        if parameters:
            raise TypeError(f"principal = {short(given)} is made already: leave out {', '.join(parameters)}")
        return _copy(given, n_arms, horizon)
    spec, factory = _source(given)
    _check_names(spec, [each for each in _taken_by(factory) if each.name not in SIZES], parameters)
    return _principal(spec, factory, {"n_arms": n_arms, "horizon": horizon} | parameters)


# For the agent's seat.
principal_driver.CONVERSIONS.append((lambda given: isinstance(given, str | type) or is_model(given), make))


def resolve(given: PrincipalLike, game: Game) -> Principal:
    """Make the principal that is given for a game that has begun.

    Args:
        given: a spec or a class, which is called with ``n_arms``, ``horizon`` and, if it takes them, the ``arms``
            (K, d) of linear rewards; an object with ``reset``, ``offer`` and ``observe``, which is copied; or a model.
        game: that it is to play.
    """
    given = as_text(given)
    if not isinstance(given, str | type):
        return _copy(given, game.n_arms, game.horizon)
    spec, factory = _source(given)
    arguments: dict[str, object] = {"n_arms": game.n_arms, "horizon": game.horizon}
    if any(parameter.name == "arms" for parameter in _taken_by(factory)):
        if not game.dim:
            raise ValueError(f"{spec} needs linear rewards: pass instance='unit-ball' or a pa_env.Linear")
        arguments["arms"] = game.features[0]
    return _principal(spec, factory, arguments)


def as_text(given: PrincipalLike) -> PrincipalLike:
    """Return a path as a string; whatever else is given stays as it is."""
    return os.fspath(given) if isinstance(given, os.PathLike) else given


def offers(given: object) -> bool:
    """Return whether an object, or objects of a class, can play: it has ``reset``, ``offer`` and ``observe``."""
    return not lacks(given)


def is_object(given: object) -> TypeGuard[OfferMaker]:
    """Return whether something is a principal already, and not its name or class."""
    return not isinstance(given, str | type) and offers(given)


def as_principal(given: OfferMaker, game: Game) -> Principal:
    """Return an object as a principal of a game, without a copy; a policy plays games of any size."""
    if _plays_any_size(given) and (given.n_arms, given.horizon) != (game.n_arms, game.horizon):
        return given.sized(game.n_arms, game.horizon)
    check_sizes(given, n_arms=game.n_arms, horizon=game.horizon)
    return given if isinstance(given, Principal) else Stepwise(game.n_arms, game.horizon, given)


def _plays_any_size(given: object) -> TypeGuard[Trained]:
    """Return whether an object is a policy of this package; a subclass of a user's may be made for one size."""
    return type(given) in (Trained, PPO)


def not_a_principal(given: object) -> TypeError:
    """Return the error for an object that can't play."""
    remedy = "; make a principal of a function by baselines.from_policy" if inspect.isroutine(given) else ""
    return TypeError(
        f"principal = {short(given)} must be a name, a spec, a policy file, a baselines.Principal or its class, another"
        f" object or class with reset, offer and observe, or a model; it lacks {', '.join(lacks(given))}{remedy}"
    )


def _copy(given: PrincipalLike, n_arms: int, horizon: int) -> Principal:
    """Return a copy of an object as a principal of this size."""
    if is_model(given):
        given = from_sb3(given)
    if not is_object(given):
        raise not_a_principal(given)
    if isinstance(given, Principal):
        check_class(given)
    if _plays_any_size(given):
        return given.sized(n_arms, horizon)
    check_sizes(given, n_arms=n_arms, horizon=horizon)
    return given.clone() if isinstance(given, Principal) else Stepwise(n_arms, horizon, copy.deepcopy(given))


def check_sizes(given: OfferMaker, **sizes: int) -> None:
    """Raise unless an object, if it has sizes of its own, is for a game of these."""
    for name, size in sizes.items():
        if getattr(given, name, size) != size:
            raise ValueError(f"{type(given).__name__} has {name} = {getattr(given, name)}, but the game has {size}")


def _source(given: str | type) -> tuple[Spec, Factory]:
    """Return the spec of a principal, or one for a class, and what makes it."""
    if isinstance(given, str):
        spec = parse(given)
        return spec, _factory(spec)
    if not offers(given):
        raise not_a_principal(given)
    return Spec(given.__name__, "principal", given.__name__, "", {}), given


def _principal(spec: Spec, factory: Factory, arguments: dict[str, Any]) -> Principal:
    """Make a principal; a class that is no ``Principal`` gets only those arguments that it takes."""
    if isinstance(factory, type) and not issubclass(factory, Principal):
        taken = {parameter.name for parameter in _taken_by(factory)}
        given = {name: value for name, value in arguments.items() if name in taken}
        maker: Any = _call(spec, factory, given)
        return Stepwise(arguments["n_arms"], arguments["horizon"], maker)
    principal: Principal = _call(spec, factory, arguments)
    check_class(principal, factory)
    _ = principal.draws  # raises if its __init__ has not called that of Principal
    return principal


def resolve_agent(given: AgentLike) -> AgentLike:
    """Make the agent that is given: a spec, a class, or an object."""
    if is_model(given):
        raise TypeError(
            f"agent = {short(given)} is a model: keep it by baselines.rl.save(model, 'agent.npz'), and pass"
            " agent='agent.npz'"
        )
    if not isinstance(given, str):
        return check_agent(given)
    spec = parse(given, "agent")
    if spec.file is not None and not spec.member:
        _check_names(spec, [], spec.parameters)
        return load_agent(spec.place)
    if not spec.member:
        return make_agent(spec.place, **spec.parameters)
    try:
        return check_agent(_user_object(spec))
    except TypeError as error:
        raise TypeError(f"{spec}: {error}") from None


SPECS.append(resolve_agent)  # for environments


def resolve_instance(given: InstanceLike) -> InstanceLike:
    """Return the value of ``instance=`` that is given: a family's name, an instance, or ``rng -> instance``."""
    if not isinstance(given, str):
        return given
    spec = parse(given, "instance")
    if not spec.member:
        known("instance", given, FAMILIES)
        return given
    instance: InstanceLike = _user_object(spec)
    if not (isinstance(instance, IID | Linear) or callable(instance)):
        raise TypeError(f"{spec} must be a pa_env.IID, a pa_env.Linear, or a function rng -> instance")
    return instance


def check_class(principal: Principal, expected: object = None) -> None:
    """Raise if a principal makes itself privileged, or sets on the object what only its class may set.

    Args:
        principal: of a user, or of this package.
        expected: its class, which it must still have; None: any.
    """
    kind = type(principal)
    if isinstance(expected, type) and kind is not expected:
        raise TypeError(f"{expected.__name__} becomes a {kind.__name__}: the class of a principal must not change")
    for name in OF_CLASSES:
        if name in vars(principal):
            raise TypeError(f"{kind.__name__} sets {name} on the object: only a class may, so remove self.{name} = ...")
    if kind.privileged and not _may_see(kind):
        raise ValueError(
            f"{kind.__name__} says privileged = {short(kind.privileged)}, but only yardsticks of this package are shown"
            " the game: set it to False, or call attach(env.unwrapped.game) in a loop of your own"
        )


def attach(principal: Principal, game: Game, expected: type[Principal]) -> None:
    """Show the game to a principal if it is one of the privileged ones of this package, and of the expected class."""
    check_class(principal, expected)
    if _may_see(type(principal)):
        principal.attach(game)


def _may_see(kind: type[Principal]) -> bool:
    """Return whether a class is itself in PRIVILEGED: a user's metaclass can make a class equal to one that is."""
    return any(kind is each for each in PRIVILEGED)


class Description(NamedTuple):
    """Facts about what a spec names, known without playing it."""

    label: str
    """Its name in tables and figures."""
    digest: str | None
    """SHA-256 of its files; None for built-in code, which :mod:`baselines.benchmark.manifest` covers."""
    files: dict[str, Path]
    """Its files, by their paths relative to its folder; the file that defines it comes first."""


def describe(text: str, what: str = "principal") -> Description:
    """Describe what a spec names; users' code is imported."""
    spec = parse(text, what)
    if spec.member:
        member = import_member(spec)
        names = (vars(member).get("name"), getattr(member, "__name__", ""), type(member).__name__)  # not of a base
        name = next(name for name in names if isinstance(name, str) and name)
        files = source_files(spec)
        return Description(text if name in PRINCIPALS else ",".join([name, *text.split(",")[1:]]), digest(files), files)
    kind = PRINCIPALS.get(spec.place) if what == "principal" else None
    path = kind.weights if kind is not None and issubclass(kind, PPO) else spec.file
    if path is not None:
        return Description(text, digest({path.name: path}), {path.name: path})
    return Description(f"{text} (a stand-in)" if kind is not None and kind.stand_in else text, None, {})


def label(spec: str) -> str:
    """Return the name of a principal in tables and figures; a stand-in for a published algorithm is marked."""
    return spec if parse(spec).member else describe(spec).label


def _factory(spec: Spec) -> Factory:
    """Return the class or the function that makes the principal of a spec."""
    if spec.place.endswith(".zip"):
        raise ValueError(
            f"{spec}: loading a model of Stable-Baselines3 runs code that its author put into it, so no command does."
            f" If you trust it, in Python: model = stable_baselines3.PPO.load({spec.place!r}, env=envs);"
            " baselines.compare([model, 'zero'], ...)"
        )
    if is_policy(spec.place):
        return functools.partial(load, spec.existing_file() or spec.place)
    if not spec.member:
        known("principal", spec.place, PRINCIPALS)
        return PRINCIPALS[spec.place]
    kind = import_member(spec)
    if not (isinstance(kind, type) and offers(kind)):
        raise TypeError(
            f"{spec}: {spec.member} must be a subclass of baselines.Principal, or a class with reset, offer and observe"
        )
    if issubclass(kind, Principal) and kind.privileged:
        raise ValueError(f"{spec} is privileged: it is shown the game, and can't be compared with others")
    return kind


def _user_object(spec: Spec) -> Any:
    """Return users' agent or instance; a class is called with the parameters, a function gets them when called."""
    member = import_member(spec)
    if isinstance(member, type):
        return _call(spec, member, {})
    if not spec.parameters:
        return member
    if not inspect.isfunction(member):
        raise TypeError(f"{spec}: {spec.member} is an object, and takes no parameters")
    _check_values(spec, _taken_by(member))
    return functools.partial(member, **spec.parameters)


def _call(spec: Spec, factory: Callable[..., T], given: Mapping[str, object]) -> T:
    """Call a class with what is given and the parameters of its spec."""
    taken = [parameter for parameter in _taken_by(factory) if parameter.name not in given]
    _check_values(spec, taken)
    for parameter in taken:
        if parameter.default is parameter.empty and parameter.name not in spec.parameters:
            raise ValueError(f"{spec} has no default for {parameter.name}: pass an object made with {parameter.name}=")
    return factory(**given, **spec.parameters)


def _taken_by(factory: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters of a class or a function that have names."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each for each in inspect.signature(factory).parameters.values() if each.kind not in variadic]


def _check_names(spec: Spec, taken: list[inspect.Parameter], given: Mapping[str, object]) -> None:
    """Raise if a parameter that is given is not taken."""
    for name in given:
        known(f"parameter of {spec.what} {spec.text.split(',')[0]!r}", name, [parameter.name for parameter in taken])


def _check_values(spec: Spec, taken: list[inspect.Parameter]) -> None:
    """Raise unless the parameters of a spec are taken, and flags are flags: any other word would be true, True a 1."""
    _check_names(spec, taken, spec.parameters)
    flags = {each.name: each.annotation in (bool, "bool") or isinstance(each.default, bool) for each in taken}
    for name, value in spec.parameters.items():
        if flags[name] != isinstance(value, bool):
            kind = "true or false" if flags[name] else "no truth value (or its class must say that it is a bool)"
            raise TypeError(f"{spec}: {name} = {short(value)} must be {kind}")
