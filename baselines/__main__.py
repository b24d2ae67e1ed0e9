"""The command line: ``python -m baselines``, also installed as ``pa-bench``.

``pa-bench`` imports only those files and modules from the current folder that its arguments name. With ``-m``, Python
itself searches the current folder first while it imports this package.
"""

import os
import sys

if __name__ == "__main__" and sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(__file__)):
    del sys.path[0]  # `python -m` puts the current folder first, where any file could pose as a library

from pathlib import Path

from baselines.cli.console import app, command_line, tell_failures, told

import typer  # isort: skip  # after the message that says what brings it

from baselines.cli import studies as studies  # more commands

QUIET = typer.Option(False, "--quiet", "-q", help="Show no progress.")
AS_JSON = typer.Option(False, "--json", help="Print the results as JSON.")


def _config(context: typer.Context, path: Path | None) -> Path | None:
    """Take options that were not given from a TOML file."""
    if path is not None:
        import tomllib

        with told():
            given = tomllib.loads(path.read_text("utf-8"))
            from pa_env.checks import known

            options = {str(each.name): each for each in context.command.params}
            for name, value in given.items():
                known(f"option in {path}", name, options)
                if getattr(options[name], "multiple", False) and not isinstance(value, list):
                    given[name] = [value]
        context.default_map = given
    return path


@app.command()
def run(
    context: typer.Context,
    task: list[str] = typer.Option([], help="A task or a suite, default: the suite default; may be given again."),
    principal: list[str] = typer.Option(
        [], help="A principal, see above; may be given again. Default: each task's own."
    ),
    agent: str | None = typer.Option(None, help="The agent; with the next four options, in place of a task."),
    instance: str | None = typer.Option(None, help="A family of instances, or your own. Default: uniform."),
    arms: int | None = typer.Option(None, min=1, help="Number of arms. Default: the instance's own, or 5."),
    horizon: int | None = typer.Option(None, min=2, help="Rounds. Default: 1000."),
    dim: int | None = typer.Option(None, min=1, help="Dimensions, if rewards are linear."),
    seeds: int | None = typer.Option(None, min=1, help="Seeds 0, 1, ... of each; default: each task's own number."),
    final_only: bool = typer.Option(False, help="Score runs at the horizon alone: no curves, and smaller files."),
    engine: str = typer.Option("local", help="local (processes on this machine) or ray (a cluster)."),
    address: str | None = typer.Option(None, help="Of a Ray cluster; without it, Ray is started on this machine."),
    workers: int | None = typer.Option(None, min=1, help="Processes on this machine; default: one for each core."),
    timeout: float = typer.Option(600.0, help="Seconds for each block of seeds, which should take about one."),
    out: Path = typer.Option(Path("results/benchmark"), help="Folder of the results."),
    overwrite: bool = typer.Option(False, help="Replay results that were played by other code, instead of refusing."),
    config: Path | None = typer.Option(
        None,
        is_eager=True,
        callback=_config,
        help='TOML file with options that are not given here, as in task = ["tiny"].',
    ),
    trace: bool = typer.Option(False, help="Keep every round too, in the folder traces of the results."),
    quiet: bool = QUIET,
    json: bool = AS_JSON,
) -> None:
    """Play tasks x principals x seeds, keep the results, and print the table. Interrupted runs resume.

    A principal is a name with its parameters (elimination,constants=practical), a class of your own
    (path/to/file.py:Class or module:Class) or a trained policy (path/to/policy.npz). Agents and instances are names or
    your own likewise. Every name like k7-t3000-clustered-exploratory-c0.3 is a task.

    Example: python -m baselines run --task k5-t1e4-uniform --principal ipa --principal haggler.py:Haggler --seeds 10

    Example: python -m baselines run --agent own.py:Stubborn --instance misaligned --arms 4 --horizon 500
    """
    from dataclasses import replace

    from baselines.benchmark import report, sweep
    from baselines.tasks import tasks

    with told():
        custom = [value for value in (agent, instance, arms, horizon, dim) if value is not None]
        chosen = tasks(*task) if task else () if custom else tasks("default")
        if custom:
            chosen = (*chosen, sweep.own_task(agent, instance or "uniform", arms, horizon or 1000, dim))
        if final_only:
            chosen = tuple(replace(made, curve=False) for made in chosen)
        planned = sweep.plan(chosen, principal, seeds)
        player = sweep.Engine(engine, workers, timeout, address)
        failures = sweep.run(planned, out, _expanded(context), player, overwrite, quiet, trace)
        if len(failures) < len(planned.blocks):
            made = report.load(out)
            typer.echo(report.as_text(made.summary, "json"), nl=False) if json else report.show(made)
    tell_failures(failures)


def _expanded(context: typer.Context) -> str:
    """The command with what came from a config file written out, so that it is kept with the results."""
    import shlex

    words = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "DEFAULT_MAP":
            values = context.params[str(parameter.name)]
            for value in values if isinstance(values, list | tuple) else [values]:
                if value is not False and value is not None:
                    words += [parameter.opts[0], *([] if value is True else [str(value)])]
    return " ".join([command_line(), shlex.join(words)]).strip()


@app.command("list")
def list_names(
    suite: str = typer.Option("all", help="Only the tasks of this suite."),
    json: bool = AS_JSON,
) -> None:
    """List tasks, suites, principals, agents and families of instances, with parameters. In a pipe: one line each.

    Example: python -m baselines list --suite default
    """
    from baselines.cli.catalogue import show

    with told():
        show(suite, json)


@app.command()
def report(
    directory: Path = typer.Argument(metavar="DIR", help="Folder that `run` wrote."),
    format: str | None = typer.Option(None, help="Print only the table, as csv, json, markdown or latex."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only where the page is."),
    json: bool = typer.Option(False, "--json", help="The same as --format json."),
) -> None:
    """Write tables, figures and one HTML page to DIR/report, and print the tables.

    Example: python -m baselines report results/benchmark
    """
    from baselines.benchmark import report as reporting

    with told():
        if json or format is not None:
            typer.echo(reporting.render(directory, "json" if json else str(format)), nl=False)
            return
        made = reporting.load(directory)
        page = reporting.build(made)
        if not quiet:
            reporting.show(made)
    typer.echo(f"page: {page}")


@app.command()
def leaderboard(
    directory: Path = typer.Argument(metavar="DIR", help="Folder that `run` wrote."),
    out: Path = typer.Option(Path("LEADERBOARD.md"), help="File to write."),
) -> None:
    """Rank the principals of every task in a Markdown file.

    Example: python -m baselines leaderboard results/benchmark --out LEADERBOARD.md
    """
    from baselines.benchmark import leaderboard as board

    with told():
        board.write(directory, out)
    typer.echo(f"leaderboard: {out}")


@app.command()
def play(
    seat: str = typer.Option("principal", help="Which player you are: principal or agent."),
    arms: int | None = typer.Option(None, min=2, help="Number of arms. Default: the instance's own, or 3."),
    horizon: int = typer.Option(20, min=2, help="Rounds."),
    agent: str = typer.Option("empirical-mean", help="Your opponent if you are the principal: a name or your own."),
    instance: str = typer.Option("uniform", help="A family of instances, or your own."),
    principal: str = typer.Option("profit-target", help="Your opponent if you are the agent: a name or your own."),
    seed: int = typer.Option(0, min=0, help="Of the game."),
) -> None:
    """Play the game yourself in the terminal.

    Example: python -m baselines play --seat agent --principal elimination,constants=practical
    """
    from baselines.cli import play as table

    with told():
        table.play(seat, agent if seat == "principal" else principal, arms, horizon, instance, seed)


@app.command()
def compare(
    task: list[str] = typer.Option(["short"], help="A task or a suite of tasks; may be given again."),
    episodes: int = typer.Option(10_000, min=2, help="Episodes of each task."),
    workers: int | None = typer.Option(None, min=1, help="Processes; default: one for each core."),
    folder: Path = typer.Option(Path("results/compare"), help="Folder of the results, as that of `run`."),
    out: Path = typer.Option(Path("results/trained.md"), help="Where the tables go."),
    quiet: bool = QUIET,
    json: bool = AS_JSON,
) -> None:
    """Compare trained principals with every scripted one of their tasks, on paired episodes.

    Example: python -m baselines compare --task k5-t200-uniform --episodes 1000
    """
    from baselines.reproduce import trained as comparison
    from baselines.tasks import tasks

    with told():
        found = comparison.run(tasks(*task), episodes, folder, command_line(), workers, quiet)
        comparison.write(found, out, command_line())
        if json:
            typer.echo(comparison.as_json(found), nl=False)
            return
    typer.echo(f"tables: {out}")


def main() -> None:
    """Entry point of ``pa-bench``."""
    os.environ["PYTHONSAFEPATH"] = "1"  # for the processes that play, which would search the current folder first
    app()


if __name__ == "__main__":
    main()
