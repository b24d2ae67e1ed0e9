"""The principals of a comparison by label, from any of the forms in which users give them."""

import inspect
from collections.abc import Iterable, Mapping, Sequence

from baselines.principal import Principal, arguments_of
from baselines.registry import SIZES, PrincipalLike, as_text, describe, is_object, not_a_principal, offers
from baselines.rl.models import from_sb3, is_model
from baselines.specs import is_user_code
from pa_env.checks import short


def principals_by_label(
    given: Sequence[PrincipalLike] | Mapping[str, PrincipalLike],
) -> dict[str, PrincipalLike]:
    """Return the principals of a comparison; two of the same label are an error."""
    if isinstance(given, str | type) or is_object(given) or not isinstance(given, Iterable):
        raise TypeError(f"principals = {short(given)} must be a list of principals, or a dictionary of them by label")
    named = list(given.items()) if isinstance(given, Mapping) else [(label_of(as_text(each)), each) for each in given]
    if not named:
        raise ValueError("principals = [] must have at least one principal")
    principals: dict[str, PrincipalLike] = {}
    for label, each in named:
        if str(label) in principals:
            raise ValueError(
                f"principals has {str(label)!r} twice: leave one out, or pass a dictionary of labels of your own"
            )
        principals[str(label)] = _at_rest(as_text(each))
    return principals


def _at_rest(given: PrincipalLike) -> PrincipalLike:
    """Return a principal that can be sent: an object in the middle of an episode can't."""
    if is_model(given):
        return from_sb3(given)
    if isinstance(given, Principal):
        return given.clone()
    if not isinstance(given, str) and not offers(given):
        raise not_a_principal(given)
    return given


def label_of(given: PrincipalLike) -> str:
    """Return a label: a name with its parameters, or a class and those parameters that are not defaults."""
    if isinstance(given, str):
        return describe(given).label if is_user_code(given) else given
    kind = given if isinstance(given, type) else type(given)
    if is_model(given):
        return kind.__name__
    name = str(getattr(kind, "name", "") or kind.__name__)
    if isinstance(given, Principal):
        others = [each for each in inspect.signature(kind).parameters.values() if each.name not in SIZES]
        has_defaults = all(each.default is not each.empty for each in others)
        usual = arguments_of(kind(given.n_arms, given.horizon)) if has_defaults else {}
        for each, value in arguments_of(given).items():
            if isinstance(value, bool | int | float | str) and value != usual.get(each):
                name += f",{each}={value}"
    return name
