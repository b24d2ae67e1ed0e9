"""What all commands share: the application, and how errors are reported."""

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


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"principal-agent-env {version('principal-agent-env')}")
        raise typer.Exit


@app.callback()
def about(
    version: bool = typer.Option(False, "--version", is_eager=True, callback=_print_version, help="Show the version."),
) -> None:
    """Baselines and benchmarks for repeated principal-agent bandit games."""


@contextmanager
def plain_errors() -> Iterator[None]:
    """Report a user's mistake, or Ctrl-C, in one line without a traceback."""
    try:
        yield
    except BrokenPipeError:
        sys.stderr.close()  # the reader has closed the pipe
        raise typer.Exit(0) from None
    except (ValueError, TypeError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:
        typer.echo(f"Error: {error}; commands need the extras [bench], [train] or [ray]", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("Stopped. Files on disk are complete, and commands that resume continue from there.", err=True)
        raise typer.Exit(130) from None


def command_line() -> str:
    """The command that is running, as it can be run again."""
    return shlex.join(["pa-bench", *sys.argv[1:]])


def report_failures(failures: list[Path]) -> None:
    """Say which blocks failed, and end with an error if any did."""
    if failures:
        typer.echo(f"{len(failures)} blocks failed; the reasons are in {failures[0].parent}, for example:", err=True)
        typer.echo(failures[0].read_text("utf-8", errors="replace"), err=True)
        raise typer.Exit(1)
