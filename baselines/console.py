"""What all commands share: the application, and how mistakes and failures are told."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

try:
    import typer
except ImportError:
    raise SystemExit("pa-bench needs the extra [bench]: pip install 'principal-agent-env[bench]'") from None

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"principal-agent-env {version('principal-agent-env')}")
        raise typer.Exit


@app.callback()
def about(
    version: bool = typer.Option(False, "--version", is_eager=True, callback=_version, help="Show the version."),
) -> None:
    """Baselines and benchmarks for repeated principal-agent bandit games."""


@contextmanager
def told() -> Iterator[None]:
    """Mistakes of the user are told in a line, without a traceback; so is Ctrl-C."""
    try:
        yield
    except BrokenPipeError:
        sys.stderr.close()  # the reader has closed the pipe
        raise typer.Exit(0) from None
    except (ValueError, TypeError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:
        typer.echo(f"Error: {error}; the extras [bench], [train] and [ray] bring what commands need", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("Stopped; what was kept on disk is whole, and commands that resume go on from there.", err=True)
        raise typer.Exit(130) from None


def command_line() -> str:
    """The command that is running, as it can be run again."""
    return shlex.join(["pa-bench", *sys.argv[1:]])


def tell_failures(failures: list[Path]) -> None:
    """Say which blocks failed, and end with an error if any did."""
    if failures:
        typer.echo(f"{len(failures)} blocks failed; why is in {failures[0].parent}, as in", err=True)
        typer.echo(failures[0].read_text("utf-8", errors="replace"), err=True)
        raise typer.Exit(1)
