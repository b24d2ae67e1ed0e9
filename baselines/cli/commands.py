"""All commands of ``pa-bench``, in the order in which people need them.

A command imports what it needs when it runs, so that ``--help`` and errors come at once.
"""

import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from baselines.cli.catalogue import completion
from baselines.extras import how_to_install, missing
from baselines.text import plain

try:
    import typer
    from typer.core import TyperCommand
except ImportError:
    raise SystemExit(f"pa-bench needs the extra [bench]. {how_to_install('bench')}") from None

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
QUIET = typer.Option(False, "--quiet", "-q", help="Show no progress.")
AS_JSON = typer.Option(False, "--json", help="Print the results as JSON.")
TASKS, PRINCIPALS, AGENTS, INSTANCES = map(completion, ("task", "principal", "agent", "instance"))
RESULTS = Path("results/benchmark")
WORKERS = typer.Option(None, min=1, help="Processes on this machine; default: one for each core.")


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
        typer.echo(plain(f"Error: {error}", keep="\n"), err=True)
        raise typer.Exit(1) from None
    except ModuleNotFoundError as error:
        typer.echo(f"Error: {missing(error)}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt as stopped:
        kept = "Stopped. Files on disk are complete, and commands that resume continue from there."
        typer.echo(str(stopped) or kept, err=True)
        raise typer.Exit(130) from None


def report_failures(failures: list[Path]) -> None:
    """Say which blocks failed, and end with an error if any did."""
    if failures:
        typer.echo(f"{len(failures)} blocks failed; the reasons are in {failures[0].parent}, for example:", err=True)
        typer.echo(plain(failures[0].read_text("utf-8", errors="replace"), keep="\n"), err=True)
        raise typer.Exit(1)


def check_parts(task: list[str], **parts: object) -> list[str]:
    """Return the options for parts of a setting that were given; raise if a task was given too."""
    options = [f"--{name}" for name, value in parts.items() if value is not None]
    if task and options:
        raise ValueError(f"--task {task[0]} is a whole setting: leave out {', '.join(options)}, or the task")
    return options


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take options that were not given from a TOML file."""
    if path is not None:
        import tomllib

        from pa_env.checks import known

        with plain_errors():
            values = tomllib.loads(path.read_text("utf-8"))
            options = {str(each.name): each for each in context.command.params}
            for name, value in values.items():
                known(f"option in {path}", name, options)
                if getattr(options[name], "multiple", False) and not isinstance(value, list):
                    values[name] = [value]
        context.default_map = values
    return path


@app.command()
def run(
    context: typer.Context,
    task: list[str] = typer.Option(
        [],
        help="A task or a suite; may be given again. Default: the suite named default.",
        autocompletion=completion("suite", "task"),
    ),
    principal: list[str] = typer.Option(
        [], help="A principal, see above; may be given again. Default: each task's own.", autocompletion=PRINCIPALS
    ),
    agent: str | None = typer.Option(
        None, help="The agent; with the next four options, in place of a task.", autocompletion=AGENTS
    ),
    instance: str | None = typer.Option(
        None, help="A family of instances, or your own. Default: uniform.", autocompletion=INSTANCES
    ),
    arms: int | None = typer.Option(None, min=1, help="Number of arms. Default: the instance's own, or 5."),
    horizon: int | None = typer.Option(None, min=2, help="Rounds. Default: 1000."),
    dim: int | None = typer.Option(None, min=1, help="Dimensions, if rewards are linear."),
    seeds: int | None = typer.Option(None, min=1, help="Seeds 0, 1, ... of each; default: each task's own number."),
    final_only: bool = typer.Option(False, help="Score runs at the horizon alone: no curves, and smaller files."),
    engine: str = typer.Option("local", help="local (processes on this machine) or ray (a cluster)."),
    address: str | None = typer.Option(None, help="Of a Ray cluster; without it, Ray is started on this machine."),
    workers: int | None = WORKERS,
    timeout: float = typer.Option(600.0, help="Seconds that a block of seeds may take. Most take about one second."),
    out: Path = typer.Option(RESULTS, help="Folder of the results."),
    overwrite: bool = typer.Option(False, help="Replay results that were played by other code, instead of refusing."),
    config: Path | None = typer.Option(
        None,
        is_eager=True,
        callback=_read_config,
        help='TOML file with options that are not given here, as in task = ["smoke"].',
    ),
    isolated: bool = typer.Option(
        False,
        help="Play your own principals again, round by round, in a process that holds no game; blocks whose offers or"
        " scores differ fail. It takes about a millisecond a round.",
    ),
    trace: bool = typer.Option(False, help="Keep every round too, in the folder traces of the results."),
    quiet: bool = QUIET,
    json: bool = AS_JSON,
) -> None:
    """Play tasks x principals x seeds, keep the results, and print the table. Interrupted runs resume.

    Principals are names with their parameters (elimination,constants=practical), classes of your own, or policy files.

    A class of your own is path/to/file.py:Class or module:Class; a trained policy is path/to/policy.npz.

    Agents and instances are names, or your own likewise.

    Every name like k7-t3000-clustered-exploratory-c0.3 is a task.

    Example: pa-bench run --task k5-t1e4-uniform --principal ipa --principal haggler.py:Haggler --seeds 10

    Example: pa-bench run --agent own.py:Stubborn --instance misaligned --arms 4 --horizon 500
    """
    with plain_errors():
        from dataclasses import replace

        from baselines.benchmark import report, sweep
        from baselines.benchmark.plan import custom_task, make_plan
        from baselines.tasks import tasks

        custom = check_parts(task, agent=agent, instance=instance, arms=arms, horizon=horizon, dim=dim)
        chosen = tasks(*task) if task else () if custom else tasks("default")
        if custom:
            chosen = (custom_task(agent, instance or "uniform", arms, horizon or 1000, dim),)
        if final_only:
            chosen = tuple(replace(each, curve=False) for each in chosen)
        planned = make_plan(chosen, principal, seeds)
        player = sweep.Engine(engine, workers, timeout, address, isolated)
        failures = sweep.run(planned, out, _full_command(context), player, overwrite, quiet, trace)
        if len(failures) < len(planned.blocks):
            results = report.load(out)
            typer.echo(report.as_text(results.summary, "json"), nl=False) if json else report.show(results)
    report_failures(failures)


def _full_command(context: typer.Context) -> str:
    """Return the command that is running, as it can be run again: options of a config file are written out."""
    words = []
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "DEFAULT_MAP":
            values = context.params[str(parameter.name)]
            for value in values if isinstance(values, list | tuple) else [values]:
                if value is not False and value is not None:
                    words += [parameter.opts[0], *([] if value is True else [str(value)])]
    return shlex.join(["pa-bench", *sys.argv[1:], *words])


@app.command()
def report(
    directory: Path = typer.Argument(RESULTS, metavar="[DIR]", help="Folder that `run` wrote."),
    format: str | None = typer.Option(None, help="Print only the table, as csv, json, markdown or latex."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only where the page is."),
    json: bool = typer.Option(False, "--json", help="The same as --format json."),
) -> None:
    """Write tables, figures and one HTML page to DIR/report, and print the tables.

    Example: pa-bench report results/benchmark
    """
    with plain_errors():
        from baselines.benchmark import report as reporting

        if json or format is not None:
            typer.echo(reporting.render(directory, "json" if json else str(format)), nl=False)
            return
        results = reporting.load(directory)
        page = reporting.build(results)
        if not quiet:
            reporting.show(results)
    typer.echo(plain(f"page: {page}"))


@app.command("list")
def list_names(
    name: str | None = typer.Argument(
        None,
        help="List what has this name, with its parameters.",
        autocompletion=completion("suite", "task", "principal", "agent", "instance"),
    ),
    suite: str | None = typer.Option(None, help="List the tasks of this suite.", autocompletion=completion("suite")),
    everything: bool = typer.Option(False, "--all", help="List everything, tasks too, with parameters."),
    json: bool = AS_JSON,
) -> None:
    """List suites of tasks, principals, agents and families of instances. In a pipe: a line each, with parameters.

    Example: pa-bench list profit-target

    Example: pa-bench list --suite default
    """
    from baselines.cli.catalogue import show

    with plain_errors():
        show(name, suite, everything, json)


@app.command()
def play(
    seat: str = typer.Option("principal", help="Which player you are: principal or agent."),
    arms: int | None = typer.Option(None, min=2, help="Number of arms. Default: the instance's own, or 3."),
    horizon: int = typer.Option(20, min=2, help="Rounds."),
    agent: str = typer.Option(
        "empirical-mean", help="Your opponent if you are the principal: a name or your own.", autocompletion=AGENTS
    ),
    instance: str = typer.Option("uniform", help="A family of instances, or your own.", autocompletion=INSTANCES),
    principal: str = typer.Option(
        "profit-target", help="Your opponent if you are the agent: a name or your own.", autocompletion=PRINCIPALS
    ),
    seed: int = typer.Option(0, min=0, help="Of the game; on the page, of the first one."),
    web: bool = typer.Option(False, "--web", help="Play as the principal on a page in your browser."),
    keep: Path | None = typer.Option(None, help="With --web: a Parquet file for all rounds of finished games."),
) -> None:
    """Play the game yourself, in the terminal or in a browser.

    Example: pa-bench play --seat agent --principal elimination,constants=practical

    Example: pa-bench play --web --keep games.parquet
    """
    with plain_errors():
        from baselines.cli import play as table

        if web or keep:
            if not web or seat != "principal":
                raise ValueError("--keep needs --web, and --web needs --seat principal: change one of them")
            from functools import partial

            from baselines.cli.web import serve

            serve(partial(table.take_seat, seat, agent, arms, horizon, instance), seed, keep)
        else:
            table.play(
                table.take_seat(seat, agent if seat == "principal" else principal, arms, horizon, instance, seed)
            )


@app.command()
def train(
    task: list[str] = typer.Option(
        [], help="A task to train on, e.g. k5-t200-uniform; several may be given.", autocompletion=TASKS
    ),
    agent: str | None = typer.Option(
        None,
        help="The agent, in place of a task, as the next three options. Default: empirical-mean.",
        autocompletion=AGENTS,
    ),
    instance: str | None = typer.Option(
        None, help="A family of instances, or your own. Default: uniform.", autocompletion=INSTANCES
    ),
    arms: int | None = typer.Option(None, min=1, help="Number of arms. Default: 5."),
    horizon: int | None = typer.Option(None, min=2, help="Rounds of an episode. Default: 200."),
    seat: str = typer.Option("principal", help="Who is trained: principal or agent."),
    against: str | None = typer.Option(
        None,
        help="The principal that an agent is trained against. Default: profit-target.",
        autocompletion=PRINCIPALS,
    ),
    objective: str = typer.Option("utility", help="utility, or regret (minus R_T); for an agent its payoff, R + pi."),
    steps: int = typer.Option(8_000_000, min=1, help="Rounds to train on, rounded up to whole rollouts."),
    constant: list[str] = typer.Option(
        [], "--set", help="A constant, as in learning_rate=1e-3 or width=48: of PPO or baselines.rl.training.Settings."
    ),
    seed: int = typer.Option(0, min=0, help="The same seed gives the same policy."),
    out: Path = typer.Option(Path("results/train"), help="Folder of the run; an interrupted run resumes from it."),
    episodes: int = typer.Option(1000, min=2, help="Episodes of the comparison at the end."),
) -> None:
    """Train a principal or an agent from scratch by reinforcement learning, and compare it with the scripted ones.

    Example: pa-bench train --task k5-t200-uniform --steps 8000000 --seed 0 --out results/ppo

    Example: pa-bench train --seat agent --against profit-target --task k3-t200-uniform --steps 1000000
    """
    with plain_errors():
        from baselines import compare
        from baselines.rl import training
        from baselines.rl.evaluate import TRIAL_SEEDS, payoff_table
        from baselines.rl.view import SEAT
        from baselines.specs import parse
        from pa_env.checks import known
        from pa_env.policy_file import read
        from pa_env.trained_agents import SEAT as AGENT_SEAT
        from pa_env.trained_agents import load_agent

        known("seat", seat, ("principal", "agent"))
        options = parse(",".join(["train", *constant]), "--set").parameters
        if named := options.keys() & {"steps", "seed", "objective", "against"}:
            raise ValueError(f"--set {min(named)}=... has an option of its own: pass --{min(named)}")
        options |= {"objective": objective, "steps": steps, "seed": seed}
        if against and seat != "agent":
            raise ValueError(f"against = {against!r} is for training an agent: add --seat agent, or leave it out")
        options["against"] = (against or "profit-target") if seat == "agent" else ""
        check_parts(task, agent=agent, instance=instance, arms=arms, horizon=horizon)
        parts = {"agent": agent, "instance": instance, "n_arms": arms, "horizon": horizon}
        settings = training.settings_of(tuple(task), parts, options)
        policy = training.train(settings, out)
        file_seat = AGENT_SEAT if settings.against else SEAT
        trained = f"trained ({training.WAYS[read(policy, file_seat).metadata['sampled']]})"
        seeds = range(TRIAL_SEEDS, TRIAL_SEEDS + episodes)
        like_zero = []
        for each in settings.tasks:
            if settings.against:
                agents = {trained: load_agent(policy)} | {name: name for name in training.AGENTS}
                typer.echo(payoff_table(settings.against, agents, each, seeds))
            else:
                scripts = {spec: spec for spec in each.principals}
                comparison = compare({trained: str(policy)} | scripts, task=each, seeds=seeds)
                typer.echo(comparison)
                if "zero" in scripts and comparison.difference(trained, "zero").loc["utility"].abs().max() < 1e-6:
                    like_zero.append(each.name)
        if like_zero:
            where = "see 'The trap of offering nothing' in docs/training.md"
            typer.echo(f"The policy earns what zero earns in {', '.join(like_zero)}: {where}")
        typer.echo(f"learning curve: {out / 'curve.png'}")
        typer.echo(f"policy: {policy}")


@app.command()
def tune(
    principal: str = typer.Argument(help="profit-target, bracket-ucb, particle or free-fall."),
    task: str = typer.Option("all", help="short, long, all, paid or tiny."),
    trials: int = typer.Option(50, min=1, help="Finished trials in all; an interrupted search resumes."),
    storage: Path = typer.Option(Path("results/tune.sqlite3"), help="File of the search, an SQLite database."),
) -> None:
    """Search for a principal's parameters, on seeds that comparisons do not use.

    Example: pa-bench tune profit-target --task short --trials 20
    """
    with plain_errors():
        from baselines import tuning

        tuning.show(principal, task, trials, storage)


@app.command()
def speed(
    only: str = typer.Option("", help="Run only the rows whose name contains this."),
    repeats: int = typer.Option(9, min=1, help="Timings of each side; the best counts."),
    against: Path | None = typer.Option(None, help="Folder of another checkout of the package, timed in turn."),
) -> None:
    """Time the game against yardsticks of this machine, interleaved, and print ratios and rounds a second.

    Example: pa-bench speed --only held --against ../before
    """
    with plain_errors():
        from baselines.speed import table

        table.show(only, repeats, against)


@app.command()
def leaderboard(
    directory: Path = typer.Argument(RESULTS, metavar="[DIR]", help="Folder that `run` wrote."),
    out: Path = typer.Option(Path("LEADERBOARD.md"), help="File to write."),
    submit: bool = typer.Option(
        False,
        "--submit",
        help="Write nothing: check that committed code played the folder, play a sample of it again, and print the"
        " rows to add to docs/submissions.md. Runs the code of principals that do not come with the package.",
    ),
) -> None:
    """Rank the principals of every task in a Markdown file, or check a folder that is to enter a leaderboard.

    Example: pa-bench leaderboard results/benchmark --out LEADERBOARD.md

    Example: pa-bench leaderboard --submit results/mine
    """
    with plain_errors():
        if submit:
            from baselines.benchmark.submission import check_submission

            typer.echo(check_submission(directory))
            return
        from baselines.benchmark.standings import write_leaderboard

        write_leaderboard(directory, out)
    typer.echo(plain(f"leaderboard: {out}"))


class _WithClaims(TyperCommand):
    """Its help lists the claims, which are imported only then."""

    def format_help(self, *arguments: Any) -> None:
        from baselines.reproduce import CLAIMS

        lines = "\n\n".join(f"{claim.name}: {claim.about}" for claim in CLAIMS.values())
        self.help = f"{self.help}\n\n{lines}\n\nall: every page, one after the other."
        super().format_help(*arguments)


def claims_like(incomplete: str) -> list[str]:
    """Return what completes the name of a claim."""
    from baselines.reproduce import CLAIMS

    return [name for name in ("all", *CLAIMS) if name.startswith(incomplete)]


@app.command(cls=_WithClaims)
def reproduce(
    name: str = typer.Argument(help="A claim, see above, or all.", autocompletion=claims_like),
    quick: bool = typer.Option(False, help="A small version: all within about two minutes."),
    seeds: int | None = typer.Option(None, min=2, help="Seeds of everything; by default each claim's own numbers."),
    workers: int | None = WORKERS,
    out: Path | None = typer.Option(
        None,
        help="Folder of the results; an interrupted command resumes. Default: results/reproduce, or results/quick.",
    ),
    page: Path | None = typer.Option(
        None, help="File of the page, or with all the folder of the pages; figures go beside. Default: in --out."
    ),
    quiet: bool = QUIET,
) -> None:
    """Measure a claim of a paper, or of this package, and write its page.

    Example: pa-bench reproduce theorems --page docs/theorems.md
    """
    with plain_errors():
        from baselines.reproduce import CLAIMS
        from baselines.reproduce.claim import Study
        from pa_env.checks import known

        known("name", name, ("all", *CLAIMS))
        folder = out or Path("results/quick" if quick else "results/reproduce")
        failures = []
        for claim in CLAIMS.values() if name == "all" else (CLAIMS[name],):
            file = page if page and name != "all" else (page or folder) / f"{claim.name}.md"
            options = [*(["--quick"] if quick else []), *([] if seeds is None else ["--seeds", str(seeds)])]
            command = " ".join(["pa-bench", "reproduce", claim.name, *options, "--page", str(file)])
            evidence = claim.measure(Study(folder / claim.name, command, quick, seeds, workers, quiet))
            claim.write(evidence, file)
            failures += evidence.failures
            typer.echo(f"page: {file}")
    report_failures(failures)


@app.command()
def clean() -> None:
    """Remove the compiled game from the disk; the next use compiles it again.

    Example: pa-bench clean
    """
    from pa_env.kernel.compiling import cache_folder

    folder = cache_folder()
    shutil.rmtree(folder, ignore_errors=True)
    typer.echo(f"removed: {folder}")
