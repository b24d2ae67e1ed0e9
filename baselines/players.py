"""The principals and the setting of a comparison, from any of the forms in which users give them."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from baselines.benchmark.blocks import Objects, settings
from baselines.principal import Principal
from baselines.registry import PrincipalLike, describe, resolve_agent
from baselines.rl.models import from_sb3, is_model
from baselines.simulation import log_spaced
from baselines.specs import is_user_code
from baselines.tasks import Task
from baselines.tasks import task as task_of
from pa_env.checks import short, whole
from pa_env.game import Game
from pa_env.kernel.layout import Integers


class ComparisonTask(Task):
    """The task of a comparison: as given, or with the labels of objects in place of specs; more checkpoints."""

    @property
    def checkpoints(self) -> Integers:
        """Rounds after which a run is scored."""
        return log_spaced(self.horizon)


def principals_by_label(
    given: Sequence[PrincipalLike] | Mapping[str, PrincipalLike],
) -> dict[str, PrincipalLike]:
    """The principals of a comparison; two of the same label are an error."""
    if isinstance(given, str | Principal | type) or not isinstance(given, Iterable):
        raise TypeError(f"principals = {short(given)} must be a list of principals, or a dictionary of them by label")
    named = list(given.items()) if isinstance(given, Mapping) else [(label_of(each), each) for each in given]
    if not named:
        raise ValueError("principals = [] must have at least one principal")
    principals: dict[str, PrincipalLike] = {}
    for label, each in named:
        if str(label) in principals:
            raise ValueError(
                f"principals has {str(label)!r} twice: leave one out, or pass a dictionary of labels of your own"
            )
        principals[str(label)] = _at_rest(each)
    return principals


def _at_rest(given: PrincipalLike) -> PrincipalLike:
    """A principal that can be sent: an object in the middle of an episode can't."""
    if is_model(given):
        return from_sb3(given)
    if isinstance(given, Principal):
        return given.clone()
    if isinstance(given, str) or (isinstance(given, type) and issubclass(given, Principal)):
        return given
    raise TypeError(
        f"principals has {short(given)}: each must be a name, a spec, a model, or a baselines.Principal or its class"
    )


def label_of(given: PrincipalLike) -> str:
    """A name with parameters is its own label; the label of an object shows the parameters that are not defaults."""
    if isinstance(given, str):
        return describe(given).label if is_user_code(given) else given
    made = given if isinstance(given, type) else type(given)
    if is_model(given):
        return made.__name__
    name = str(getattr(made, "name", "") or made.__name__)
    if isinstance(given, Principal):
        kept = vars(given) | vars(given).get("parameters", {})
        taken = inspect.signature(made).parameters.values()
        default = made(given.n_arms, given.horizon) if all(_optional(each) for each in taken) else None
        usual = {} if default is None else vars(default) | vars(default).get("parameters", {})
        for each in taken:
            if each.name in kept and isinstance(kept[each.name], bool | int | float | str):
                name += "" if kept[each.name] == usual.get(each.name) else f",{each.name}={kept[each.name]}"
    return name


def _optional(parameter: inspect.Parameter) -> bool:
    return parameter.name in ("n_arms", "horizon") or parameter.default is not parameter.empty


def setting_of(
    task: str | Task | None, keywords: dict[str, Any], principals: Iterable[PrincipalLike]
) -> tuple[ComparisonTask, Objects]:
    """The setting of a comparison, and the objects that its labels stand for.

    Args:
        task: a task or its name; or None, and the keywords give the setting.
        keywords: agent, instance, n_arms and horizon, each None if it was not given.
        principals: of the comparison; objects have their own sizes.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if task is not None:
        if given:
            raise ValueError(f"task = {short(task)} is a whole setting: leave out {', '.join(given)}, or the task")
        return ComparisonTask(**vars(task_of(task) if isinstance(task, str) else task)), {}
    sizes = {"n_arms": None, "horizon": 1000}
    for each in principals:
        if isinstance(each, Principal):
            sizes = {"n_arms": each.n_arms, "horizon": each.horizon}
    values: dict[str, Any] = {"agent": "empirical-mean", "instance": "uniform", **sizes, **given}
    if not isinstance(values["agent"], str):
        values["agent"] = resolve_agent(values["agent"])
    objects: dict[tuple[str, str], Any] = {}
    for role in ("agent", "instance"):
        if not isinstance(values[role], str):
            value = values[role]
            values[role] = getattr(value, "name", "") or getattr(value, "__name__", type(value).__name__)
            objects[role, values[role]] = value
    setting = ComparisonTask("comparison", "", dim=None, principals=(), seeds=0, **values)
    game = Game(**settings(setting, objects))
    return replace(setting, n_arms=game.n_arms, dim=game.dim or None), objects


def seeds_of(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """The seeds 0, 1, ... of a number, or those given."""
    if not isinstance(seeds, Iterable):
        return tuple(range(whole("seeds", seeds, 1)))
    chosen = tuple(whole("seeds", seed, 0) for seed in seeds)
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"seeds = {short(seeds)} must be one or more different seeds")
    return chosen
