"""The extra to install when a library is missing."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires

NAME = "principal-agent-env"


def how_to_install(extra: str) -> str:
    """Return the sentence that says how to install an extra: the package is on no index."""
    return f"In a clone of the repository: pip install '.[{extra}]'"


def missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error for a module that is missing, with the smallest extra that installs it, if one does.

    >>> str(missing(ModuleNotFoundError(name="typer")))
    "typer is not installed. In a clone of the repository: pip install '.[bench]'"
    """
    module = (error.name or "").partition(".")[0]
    try:
        requirements = requires(NAME) or []
    except PackageNotFoundError:  # it is imported without being installed
        requirements = []
    of_extras = [match.groups() for each in requirements if (match := re.match(r"([\w.-]+).*extra == .(\w+)", each))]
    extras = [extra for name, extra in of_extras if name.startswith(module.replace("_", "-"))]
    if not module or not extras:
        return error
    sizes = [extra for _, extra in of_extras]
    extra = "bench" if "bench" in extras else min(extras, key=sizes.count)
    return ModuleNotFoundError(f"{module} is not installed. {how_to_install(extra)}", name=module)


@contextmanager
def extra_named() -> Iterator[None]:
    """Name the extra in the error for a module that is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing(error) from None
