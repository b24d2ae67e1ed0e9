"""The command line: ``python -m baselines``, also installed as ``pa-bench``."""

import typer

from baselines import speed as speed_table

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def about() -> None:
    """Baselines and benchmarks for repeated principal-agent bandit games."""


@app.command()
def speed(
    only: str = typer.Option("", help="Run only the rows whose name contains this."),
    repeats: int = typer.Option(9, min=1, help="Timings of each side; the best counts."),
) -> None:
    """Time the game against yardsticks of this machine, interleaved, and print the ratios.

    Example: python -m baselines speed --only held
    """
    speed_table.show(only, repeats)


def main() -> None:
    """Entry point of ``pa-bench``."""
    app()


if __name__ == "__main__":
    main()
