"""The command line: ``python -m baselines``, also installed as ``pa-bench``.

``pa-bench`` imports nothing from the current folder but the principals that are named. With ``-m``, Python itself looks
there first while it imports this package.
"""

import os
import sys

if __name__ == "__main__" and sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]  # `python -m` puts the current folder first, where any file could pose as a library

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import typer
except ImportError:
    raise SystemExit("pa-bench needs the extra [bench]: pip install 'principal-agent-env[bench]'") from None

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def about() -> None:
    """Baselines and benchmarks for repeated principal-agent bandit games."""


@contextmanager
def _told() -> Iterator[None]:
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


def _command() -> str:
    """The command that is running, as it can be run again."""
    return shlex.join(["pa-bench", *sys.argv[1:]])


def _tell(failures: list[Path]) -> None:
    """Say which cells failed, and end with an error if any did."""
    if failures:
        typer.echo(f"{len(failures)} cells failed; why is in {failures[0].parent}, as in", err=True)
        typer.echo(failures[0].read_text("utf-8", errors="replace"), err=True)
        raise typer.Exit(1)


@app.command()
def run(
    task: list[str] = typer.Option(["default"], help="A task or a suite of tasks; may be given again."),
    principal: list[str] = typer.Option(
        [], help="A principal, see above; may be given again. Default: each task's own."
    ),
    seeds: int | None = typer.Option(None, min=1, help="Seeds 0, 1, ... of each; default: each task's own number."),
    engine: str = typer.Option("local", help="local (processes on this machine) or ray (a cluster)."),
    address: str | None = typer.Option(None, help="Of a Ray cluster; without it, Ray is started on this machine."),
    workers: int | None = typer.Option(None, min=1, help="Processes on this machine; default: one for each core."),
    out: Path = typer.Option(Path("results/benchmark"), help="Folder of the results."),
) -> None:
    """Play tasks x principals x seeds, keep the results, and print the table; killed, the same command goes on.

    A principal is a name with its parameters (elimination,constants=practical), a class of your own
    (path/to/file.py:Class or module:Class) or a trained policy (path/to/policy.npz).

    Example: python -m baselines run --task k5-t1e4-uniform --principal ipa --principal haggler.py:Haggler --seeds 10
    """
    from baselines.benchmark import report, sweep
    from baselines.tasks import tasks

    with _told():
        cells = sweep.plan(tasks(*task), principal, seeds)
        failures = sweep.run(cells, out, _command(), engine, workers, address)
        if len(failures) < len(cells):
            report.show(out)
    _tell(failures)


@app.command("list")
def list_tasks(suite: str = typer.Option("all", help="Only the tasks of this suite.")) -> None:
    """List the tasks, what each probes, and the suites that they form.

    Example: python -m baselines list --suite default
    """
    from rich.console import Console
    from rich.table import Column, Table

    from baselines.tasks import SUITES, tasks

    with _told():
        listed = tasks(suite)
    table = Table(Column("task", overflow="fold"), "probes", "principals", "seeds", title=f"suite {suite}")
    for task in listed:
        table.add_row(task.name, task.probes, str(len(task.principals)), str(task.seeds))
    console = Console()
    console.print(table)
    console.print("suites: " + ", ".join(f"{name} ({len(members)})" for name, members in SUITES.items()))


@app.command()
def report(
    directory: Path = typer.Argument(metavar="DIR", help="Folder that `run` wrote."),
    format: str | None = typer.Option(None, help="Print only the table, as csv, markdown or latex."),
) -> None:
    """Write tables, figures and one HTML page to DIR/report, and print the tables.

    Example: python -m baselines report results/benchmark
    """
    from baselines.benchmark import report as reporting

    with _told():
        if format is not None:
            typer.echo(reporting.render(directory, format), nl=False)
            return
        page = reporting.build(directory)
        reporting.show(directory)
    typer.echo(f"page: {page}")


@app.command()
def leaderboard(
    directory: Path = typer.Argument(metavar="DIR", help="Folder that `run` wrote."),
    out: Path = typer.Option(Path("LEADERBOARD.md"), help="Where it goes."),
) -> None:
    """Rank the principals of every task in a Markdown file.

    Example: python -m baselines leaderboard results/benchmark --out LEADERBOARD.md
    """
    from baselines.benchmark import leaderboard as board

    with _told():
        board.write(directory, out)
    typer.echo(f"leaderboard: {out}")


@app.command()
def play(
    seat: str = typer.Option("principal", help="Yours: principal or agent."),
    arms: int = typer.Option(3, min=2, help="Number of arms."),
    horizon: int = typer.Option(20, min=2, help="Rounds."),
    agent: str = typer.Option("empirical-mean", help="Who answers you in the principal's seat."),
    principal: str = typer.Option("profit-target", help="Who offers to you in the agent's seat."),
    seed: int = typer.Option(0, min=0, help="Another seed, another game."),
) -> None:
    """Play the game yourself in the terminal.

    Example: python -m baselines play --seat agent --principal elimination,constants=practical
    """
    from baselines import play as table

    with _told():
        table.play(seat, arms, horizon, agent, principal, seed)


@app.command()
def speed(
    only: str = typer.Option("", help="Run only the rows whose name contains this."),
    repeats: int = typer.Option(9, min=1, help="Timings of each side; the best counts."),
) -> None:
    """Time the game against yardsticks of this machine, interleaved, and print the ratios.

    Example: python -m baselines speed --only held
    """
    from baselines.experiments import speed as table

    with _told():
        table.show(only, repeats)


@app.command()
def slopes(
    runs: int = typer.Option(10, min=2, help="Runs at each horizon."),
    out: Path = typer.Option(Path("results/slopes.png"), help="Where the figure goes."),
) -> None:
    """Fit how the regret of the paper's principals grows with the horizon, and draw it.

    Example: python -m baselines slopes --runs 20 --out slopes.png
    """
    from baselines.experiments import slopes as growth

    with _told():
        growth.show(runs, out)


@app.command()
def published(
    runs: int | None = typer.Option(None, min=2, help="Runs of each cell; by default each cell's own number."),
) -> None:
    """Run the published curves of IPA's authors again, and print ours beside theirs.

    Example: python -m baselines published
    """
    from baselines.experiments import published as curves

    with _told():
        curves.show(runs)


@app.command()
def matchups(
    seeds: int = typer.Option(5, min=1, help="Seeds of each pairing."),
    workers: int | None = typer.Option(None, min=1, help="Processes; default: one for each core."),
    out: Path = typer.Option(Path("results/who-wins"), help="Folder of the results."),
    table: Path = typer.Option(Path("results/who-wins.md"), help="Where the table goes."),
) -> None:
    """Play every principal against every agent it can meet at T = 1e4, 1e5, 1e6, and write who wins where.

    Example: python -m baselines matchups --seeds 5 --table docs/who-wins.md
    """
    from baselines.experiments import matchups as who_wins

    with _told():
        failures = who_wins.play(out, _command(), seeds, workers)
        who_wins.write(out, table)
    typer.echo(f"table: {table}")
    _tell(failures)


@app.command()
def types(
    runs: int = typer.Option(10, min=2, help="Runs of each cell; twice as many for the slope."),
) -> None:
    """Show what can be learned against types of agents: nothing if they are greedy, at T^(2/3) if they are smooth.

    Example: python -m baselines types --runs 10
    """
    from baselines.experiments import types as populations

    with _told():
        populations.show(runs)


@app.command("own-regret")
def own_regret(
    runs: int = typer.Option(500, min=2, help="Runs of each agent and horizon."),
) -> None:
    """Play the counterexample to the assumption that agents have no regret of their own.

    Example: python -m baselines own-regret --runs 500
    """
    from baselines.experiments import own_regret as counterexample

    with _told():
        counterexample.show(runs)


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
    from baselines.experiments import tune as tuning

    with _told():
        tuning.show(principal, task, trials, storage)


@app.command()
def train(
    task: str = typer.Option(help="What is trained for, e.g. k5-t200-uniform."),
    algo: str = typer.Option("ppo", help="ppo, sac or recurrent-ppo."),
    objective: str = typer.Option("utility", help="utility, or regret for R_T."),
    steps: int = typer.Option(8_000_000, min=1, help="Rounds to train on, rounded up to whole laps."),
    seed: int = typer.Option(0, min=0, help="The same seed gives the same policy."),
    out: Path = typer.Option(Path("results/train"), help="Folder of the run; a killed run goes on in it."),
    start: Path | None = typer.Option(None, help="Policy file to start from instead of the script."),
    log_noise: float = typer.Option(-2.5, help="Log of the first deviation of actions; a good start wants less."),
    episodes: int = typer.Option(1000, min=2, help="Episodes of the comparison at the end."),
) -> None:
    """Train a principal by reinforcement learning on top of a script, and compare it with the scripted ones.

    Example: python -m baselines train --task k5-t200-uniform --algo ppo --steps 8000000 --seed 0 --out results/ppo
    """
    with _told():
        from baselines import tasks
        from baselines.rl import training

        options = {"algo": algo, "objective": objective, "start": start, "log_noise": log_noise}
        training.show(training.Run(tasks.task(task), out, steps=steps, seed=seed, **options), episodes)  # type: ignore[arg-type]


@app.command()
def compare(
    task: list[str] = typer.Option(["short"], help="A task or a suite of tasks; may be given again."),
    episodes: int = typer.Option(10_000, min=2, help="Episodes of each task."),
    workers: int | None = typer.Option(None, min=1, help="Processes; default: one for each core."),
    folder: Path = typer.Option(Path("results/compare"), help="Where scores are kept."),
    out: Path = typer.Option(Path("results/trained.md"), help="Where the tables go."),
) -> None:
    """Compare trained principals with every scripted one of their tasks, on paired episodes.

    Example: python -m baselines compare --task k5-t200-uniform --episodes 1000
    """
    from baselines.rl import comparison
    from baselines.tasks import tasks

    with _told():
        comparison.write(tasks(*task), episodes, folder, workers, out, _command())
    typer.echo(f"tables: {out}")


def main() -> None:
    """Entry point of ``pa-bench``."""
    os.environ["PYTHONSAFEPATH"] = "1"  # for the processes that play: they would look in the current folder first
    app()


if __name__ == "__main__":
    main()
