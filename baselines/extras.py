"""What to install when a library is missing."""

from importlib.metadata import PackageNotFoundError, requires

NAME = "principal-agent-env"


def missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error for a module that is missing, with the extra that installs it, if one does.

    >>> str(missing(ModuleNotFoundError(name="typer")))
    "typer is not installed: pip install 'principal-agent-env[bench]'"
    """
    module = (error.name or "").partition(".")[0]
    try:
        requirements = requires(NAME) or []
    except PackageNotFoundError:  # it is imported without being installed
        requirements = []
    named = [each for each in requirements if each.startswith(module.replace("_", "-")) and "extra == " in each]
    extras = [each.split("extra == ")[1].strip("'\"") for each in named]
    if not module or not extras:
        return error
    extra = "bench" if "bench" in extras else extras[0]
    return ModuleNotFoundError(f"{module} is not installed: pip install '{NAME}[{extra}]'", name=module)
