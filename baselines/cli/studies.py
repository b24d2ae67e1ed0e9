"""Commands that reproduce a claim, search for parameters, or train a principal."""

from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from baselines.cli.console import app, command_line, tell_failures, told


@app.command()
def speed(
    only: str = typer.Option("", help="Run only the rows whose name contains this."),
    repeats: int = typer.Option(9, min=1, help="Timings of each side; the best counts."),
) -> None:
    """Time the game against yardsticks of this machine, interleaved, and print the ratios.

    Example: python -m baselines speed --only held
    """
    from baselines.speed import table as table

    with told():
        table.show(only, repeats)


SEEDS = typer.Option(None, min=2, help="Seeds of each cell; by default each cell's own number.")
QUICK = typer.Option(False, help="A small version, within a minute.")
WORKERS = typer.Option(None, min=1, help="Processes; default: one for each core.")
QUIET = typer.Option(False, "--quiet", "-q", help="Show no progress.")


def _out(name: str) -> Any:
    return typer.Option(Path(f"results/{name}"), help="Folder of the results; an interrupted run resumes.")


def _page(name: str) -> Any:
    return typer.Option(Path(f"results/{name}.md"), help="Where the page goes; its figures go beside it.")


def _study(name: str, played: str, written: str, about: str) -> None:
    """Add a command that plays the cells of an experiment and writes a page of them.

    Args:
        name: of the command.
        played: the module of the experiments with its cells.
        written: the one that writes its page.
        about: what the command does, in a sentence.
    """

    def study(
        seeds: int | None = SEEDS,
        quick: bool = QUICK,
        workers: int | None = WORKERS,
        out: Path = _out(name),
        page: Path = _page(name),
        quiet: bool = QUIET,
    ) -> None:
        from baselines.reproduce.cells import Player

        with told():
            cells, write = (import_module(f"baselines.reproduce.{module}") for module in (played, written))
            player = Player(out, command_line(), workers, quiet, quick, seeds)
            failures = player.play(list(cells.cells(player)))
            write.write(player, page)
        typer.echo(f"page: {page}")
        tell_failures(failures)

    study.__doc__ = f"{about}\n\nExample: python -m baselines {name} --page docs/{name}.md"
    app.command(name)(study)


_study(
    "theorems",
    "theorems",
    "theorems_page",
    "Measure how regret grows with T, K, d and c0, each theorem in the regret that it bounds.",
)
_study(
    "table1",
    "table_1",
    "table_1",
    "Play the paper's Table 1: every row against the agents it is for and not for, measured rates beside theorems'.",
)
_study(
    "ablations",
    "ablations",
    "ablations",
    "Leave out one part of the paper's principals at a time: what it costs, and which lemma it breaks how often.",
)


@app.command()
def published(
    runs: int | None = typer.Option(None, min=2, help="Runs of each cell; by default each cell's own number."),
) -> None:
    """Run the published curves of IPA's authors again, and print ours beside theirs.

    Example: python -m baselines published
    """
    from baselines.reproduce import published as curves

    with told():
        curves.show(runs)


@app.command("who-wins")
def who_wins(
    rewards: str = typer.Option("all", help="iid, linear or all: which tasks to play now."),
    seeds: int | None = SEEDS,
    quick: bool = QUICK,
    workers: int | None = WORKERS,
    out: Path = _out("who-wins"),
    page: Path = _page("who-wins"),
    quiet: bool = QUIET,
) -> None:
    """Play every principal against every agent that it can play at three horizons, and write who wins where.

    Example: python -m baselines who-wins --page docs/who-wins.md
    """
    from baselines.reproduce import who_wins as winners
    from baselines.reproduce import who_wins_page
    from baselines.reproduce.cells import Player

    with told():
        player = Player(out, command_line(), workers, quiet, quick, seeds)
        failures = player.play(list(winners.cells(player, rewards)))
        who_wins_page.write(player, rewards, page)
    typer.echo(f"page: {page}")
    tell_failures(failures)


@app.command()
def types(
    runs: int = typer.Option(10, min=2, help="Runs of each cell; twice as many for the slope."),
) -> None:
    """Measure regret against types of agents: linear if they are greedy, at most about T^(2/3) if they are smooth.

    Example: python -m baselines types --runs 10
    """
    from baselines.reproduce import types as populations

    with told():
        populations.show(runs)


@app.command("own-regret")
def own_regret(
    runs: int = typer.Option(500, min=2, help="Runs of each agent and horizon."),
) -> None:
    """Play the counterexample to the assumption that agents have no regret of their own.

    Example: python -m baselines own-regret --runs 500
    """
    from baselines.reproduce import own_regret as counterexample

    with told():
        counterexample.show(runs)


@app.command()
def tune(
    principal: str = typer.Argument(help="profit-target, bracket-ucb or particle."),
    task: str = typer.Option("all", help="short, long, all or tiny."),
    trials: int = typer.Option(50, min=1, help="Finished trials in all; an interrupted search resumes."),
    storage: Path = typer.Option(Path("results/tune.journal"), help="Where the search is kept."),
) -> None:
    """Search for a principal's parameters, on seeds that comparisons do not use.

    Example: python -m baselines tune profit-target --task short --trials 20
    """
    from baselines import tuning as tuning

    with told():
        tuning.show(principal, task, trials, storage)


@app.command()
def train(
    task: list[str] = typer.Option(help="A task to train on, e.g. k5-t200-uniform; several may be given."),
    objective: str = typer.Option("utility", help="utility, or regret for R_T."),
    steps: int = typer.Option(12_000_000, min=1, help="Rounds to train on, rounded up to whole laps of 20 rollouts."),
    seed: int = typer.Option(0, min=0, help="The same seed gives the same policy."),
    out: Path = typer.Option(Path("results/train"), help="Folder of the run; an interrupted run resumes from it."),
    episodes: int = typer.Option(1000, min=2, help="Episodes of the comparison at the end."),
) -> None:
    """Train a principal from scratch by reinforcement learning, and compare it with the scripted ones.

    Example: python -m baselines train --task k5-t200-uniform --steps 12000000 --seed 0 --out results/ppo
    """
    with told():
        from baselines import compare
        from baselines.rl.evaluate import TRIAL_SEEDS
        from baselines.rl.training import Settings
        from baselines.rl.training import train as trained
        from baselines.tasks import task as made

        policy = trained(Settings(tuple(task), objective, steps, seed), out)
        seeds = range(TRIAL_SEEDS, TRIAL_SEEDS + episodes)
        for name in task:
            scripts = {spec: spec for spec in made(name).principals}
            typer.echo(compare({"trained": str(policy)} | scripts, task=name, seeds=seeds))
        typer.echo(f"policy: {policy}")


@app.command()
def learners(
    steps: int = typer.Option(1_000_000, min=1, help="Rounds that each learner is trained on."),
    seeds: int = typer.Option(3, min=1, help="Seeds of each learner."),
    episodes: int = typer.Option(1000, min=2, help="Episodes of each evaluation."),
    out: Path = typer.Option(Path("results/learners"), help="Folder of the results; an interrupted run resumes."),
    table: Path = typer.Option(Path("results/learners.md"), help="Where the table goes."),
    quick: bool = typer.Option(False, help="Only check that it runs: 2000 rounds, 1 seed, 20 episodes."),
) -> None:
    """Train PPO, A2C, recurrent PPO, DQN, SAC and TD3 from scratch, and write what they and scripts earn.

    Example: python -m baselines learners --steps 1000000 --seeds 3
    """
    with told():
        from baselines.reproduce import learners as study

        steps, seeds, episodes = (2000, 1, 20) if quick else (steps, seeds, episodes)
        study.show(steps, seeds, episodes, out, table, command_line())
    typer.echo(f"table: {table}")
