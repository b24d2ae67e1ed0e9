"""The command line: ``python -m baselines``, also installed as ``pa-bench``."""

from pathlib import Path

import typer

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
    from baselines import speed as table

    table.show(only, repeats)


@app.command()
def slopes(
    runs: int = typer.Option(10, min=2, help="Runs at each horizon."),
    out: Path = typer.Option(Path("results/slopes.png"), help="Where the figure goes."),
) -> None:
    """Fit how the regret of the paper's principals grows with the horizon, and draw it.

    Example: python -m baselines slopes --runs 20 --out slopes.png
    """
    from baselines import slopes as growth

    growth.show(runs, out)


@app.command()
def published(runs: int = typer.Option(30, min=2, help="Runs of each cell.")) -> None:
    """Run the published curves of IPA's authors again, and print ours beside theirs.

    Example: python -m baselines published --runs 30
    """
    from baselines import published as curves

    curves.show(runs)


@app.command()
def matchups(
    longest: int = typer.Option(6, min=3, max=8, help="Horizons go from 1e4 to this power of ten."),
    runs: int = typer.Option(5, min=1, help="Runs of each pairing."),
    processes: int = typer.Option(2, min=1, help="Processes that play them."),
) -> None:
    """Play every principal against every agent it can meet, and print who wins where.

    Example: python -m baselines matchups --longest 5
    """
    from baselines import matchups as table

    table.show(tuple(10**power for power in range(min(4, longest), longest + 1)), runs, processes)


@app.command()
def tune(
    principal: str = typer.Argument(help="profit-target or bracket-ucb."),
    task: str = typer.Option("all", help="short, long, all or tiny."),
    trials: int = typer.Option(50, min=1, help="Finished trials in all; a killed search goes on."),
    storage: Path = typer.Option(Path("results/tune.journal"), help="Where the search is kept."),
) -> None:
    """Search for a principal's parameters, on seeds kept apart from those that they are compared on.

    Example: python -m baselines tune profit-target --task short --trials 20
    """
    from baselines import tune as tuning

    tuning.show(principal, task, trials, storage)


def main() -> None:
    """Entry point of ``pa-bench``."""
    app()


if __name__ == "__main__":
    main()
