"""Every principal beside the exact optimum of tiny games: the share of the possible gain that each of them earns.

The optimum is known (:func:`baselines.exact.solve`), and ``zero`` earns T/2, since the agent's choices then say nothing
of theta. So the share of the gain is (utility - T/2) / (optimum - T/2), measured as a paired difference to ``zero``.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from baselines import exact
from baselines.benchmark import tables
from baselines.benchmark.formatting import plus_minus
from baselines.benchmark.statistics import Estimate, estimate
from baselines.benchmark.summaries import privileged
from baselines.pictures import GRID, INK, new_figure, save
from baselines.registry import label
from baselines.reproduce.claim import Cell, CellScores, Claim, Evidence, Measurement, Study, mean_text
from baselines.rl.models import from_sb3
from baselines.simulation import simulate
from baselines.tasks import Task, setting
from pa_env.kernel.layout import Floats, Integers

HORIZONS, SEEDS = (4, 6, 8, 10), {8: 20_000}
USUAL_SEEDS = 10_000  # at the other horizons
QUICK_HORIZONS, QUICK_SEEDS = (4, 5), 200
OPTIMAL, LEAST_REGRET = "bayes-optimal", "bayes-optimal,objective=regret"
HABITS = (OPTIMAL, "particle", "profit-target", "bracket-ucb")  # whose offers are looked at
STEPS, QUICK_STEPS = 2_000_000, 4_000  # rounds of a learner's training
DEPTH = 4  # offers that the tree shows one after the other
COLOURS = ("#FFFFFF", "#CFE6F5", "#F7C58B")  # of a state where it offers nothing, a hair, more


class Sizes(NamedTuple):
    """What is played."""

    seeds: dict[int, int]  # by horizon
    steps: int

    @property
    def horizon(self) -> int:
        """Of the game that is looked at closely: 8 rounds, or the most of a quick study."""
        return max(self.seeds) if 8 not in self.seeds else 8


def sizes(study: Study) -> Sizes:
    """The sizes of a study; one of fewer seeds trains for as many fewer rounds."""
    if study.quick:
        return Sizes(dict.fromkeys(QUICK_HORIZONS, QUICK_SEEDS), QUICK_STEPS)
    steps = STEPS if study.seeds is None else STEPS * study.seeds // SEEDS[8]
    return Sizes({T: study.seeds or SEEDS.get(T, USUAL_SEEDS) for T in HORIZONS}, steps)


def game(horizon: int) -> Task:
    """The task with so many rounds."""
    return replace(setting("empirical-mean", "uniform", exact.N_ARMS, horizon), curve=False)


def optimum(horizon: int, objective: str) -> dict[str, float]:
    """The value of the optimal policy, and the number of states."""
    solution = exact.solve(horizon, objective)
    return {"value": solution.value, "states": solution.states}


def habits(name: str, horizon: int, episodes: int) -> dict[str, float]:
    """How a principal offers: in how many rounds, how much, and how much of what it pays in the first half."""
    run = simulate(name, task=game(horizon), seeds=episodes, checkpoints=range(1, horizon + 1))
    played: Integers = np.diff(run.plays, axis=1, prepend=0)  # (episodes, T, K)
    most, paid = run.offers.max(axis=2), (run.offers * played).sum(axis=2)
    offered = most > 2 * exact.HAIR
    return {
        "rounds": float(offered.mean()),
        "offer": float(most[offered].mean()) if offered.any() else 0.0,
        "paid": float(paid.sum(axis=1).mean()),
        "early": float(paid[:, : horizon // 2].sum() / max(paid.sum(), exact.HAIR)),
    }


def learned(horizon: int, steps: int, episodes: int) -> dict[str, Floats]:
    """Expected utility (episodes,) of PPO after so many rounds of training, with actions drawn, and the likeliest."""
    import torch

    from baselines.rl import learner

    torch.set_num_threads(1)
    model = learner(game(horizon)).learn(steps)
    found = {}
    for how, likeliest in (("drawn", False), ("likeliest", True)):
        run = simulate(from_sb3(model, deterministic=likeliest), "uniform", seeds=episodes)
        found[how] = run.expected_utility[:, -1]
    return found


def measurements(study: Study) -> dict[tuple[Any, ...], Measurement]:
    """The optima, the habits, and the learner."""
    played = sizes(study)
    T, episodes = played.horizon, played.seeds[played.horizon]
    found: dict[tuple[Any, ...], Measurement] = {
        ("utility", T): Measurement(f"optimum of utility, T = {T}", optimum, (T, "utility")) for T in played.seeds
    }
    found["regret", T] = Measurement(f"optimum of R_T, T = {T}", optimum, (T, "regret"))
    for name in HABITS:
        found["habits", name] = Measurement(f"habits of {name}, T = {T}, {episodes}", habits, (name, T, episodes))
    arguments = (T, played.steps, episodes)
    found["learned",] = Measurement(f"PPO, T = {T}, {played.steps} rounds, {episodes}", learned, arguments)
    return found


def plan(study: Study) -> Iterator[Cell | Measurement]:
    """Every principal at every horizon; the principal with the least R_T at one."""
    played = sizes(study)
    for T, seeds in played.seeds.items():
        for spec in game(T).principals:
            yield Cell(game(T), spec, seeds)
    yield Cell(game(played.horizon), LEAST_REGRET, played.seeds[played.horizon])
    yield from measurements(study).values()


def share(earned: Floats, zero: Floats, horizon: int, optimal: float) -> Estimate:
    """The share of the gain of episodes (n,) of a principal, by those of ``zero``."""
    return estimate(100 * (earned - zero)).over(optimal - horizon / 2)


def table(evidence: Evidence, optima: dict[int, float]) -> pd.DataFrame:
    """A row for each principal and for the learner, the largest share first."""
    played, scores = sizes(evidence.study), evidence.scores
    rows: dict[str, dict[str, Any]] = {}
    for T, seeds in played.seeds.items():
        zero = scores.score(game(T), "zero", "expected_utility")
        shares = {spec: scores.score(game(T), spec, "expected_utility") for spec in (*game(T).principals, LEAST_REGRET)}
        if played.horizon == T:
            found = evidence.values[measurements(evidence.study)["learned",].name]
            shares |= {f"PPO, {played.steps:,} rounds, {how}": np.array(values) for how, values in found.items()}
        for spec, earned in shares.items():
            n = min(len(earned), len(zero), seeds)
            if n:
                found_share = share(earned[:n], zero[:n], T, optima[T])
                row = rows.setdefault(spec, {"principal": _name(spec)})
                row[f"T = {T}"] = plus_minus(found_share, digits=0)
                if played.horizon == T:
                    row["order"] = -found_share.value
                    row[f"R_T, T = {T}"] = _regret(scores, T, spec)
    made = pd.DataFrame(rows.values()).sort_values("order", kind="stable").drop(columns="order").fillna("")
    return made[["principal", *(f"T = {T}" for T in played.seeds), f"R_T, T = {played.horizon}"]]


def _name(spec: str) -> str:
    """A principal's label, marked if it is told the agent's beliefs."""
    return spec if spec.startswith("PPO") else f"{label(spec)} (privileged)" if privileged(spec) else label(spec)


def _regret(scores: CellScores, horizon: int, spec: str) -> str:
    """Mean R_T of a cell, if it is one."""
    regrets = scores.score(game(horizon), spec) if not spec.startswith("PPO") else np.empty(0)
    return mean_text(regrets) if regrets.size else ""


def sentences(found: dict[str, dict[str, float]]) -> str:
    """Three facts about the offers of the optimal policy beside those of others."""
    texts = (
        "The optimal policy makes an offer of more than a hair in {rounds:.0%} of the rounds",
        "Such an offer is {offer:.2f} on average",
        "It pays {paid:.3f} in a game, {early:.0%} of it in the first half",
    )
    parts = []
    for text in texts:
        numbers = text[text.index("{") : text.rindex("}") + 1]
        others = ", ".join(f"`{name}` {numbers.format(**of)}" for name, of in found.items() if name != OPTIMAL)
        parts.append(f"{text.format(**found[OPTIMAL])} ({others}).")
    return " ".join(parts)


def draw(horizon: int, out: Path) -> None:
    """Draw the first offers of the optimal policy as a tree: a column for each round, a box for each state."""
    policy, leaves = exact.solve(horizon).policy, 0
    depth = min(DEPTH, horizon)
    places: dict[tuple[int, ...], tuple[int, float]] = {}  # row of the policy and height, by the path to a state
    figure, axes = new_figure(9.5, 8.0)

    def place(row: int, path: tuple[int, ...]) -> float:
        """Place a state in the middle of those that follow it."""
        nonlocal leaves
        after = [int(each) for each in policy[row, 2:]]
        heights = [place(each, (*path, k)) for k, each in enumerate(after) if each >= 0 and len(path) + 1 < depth]
        if not heights:
            leaves += 1
        height = float(np.mean(heights)) if heights else -float(leaves)
        places[path] = (row, height)
        return height

    place(0, ())
    for path, (row, height) in places.items():
        t = len(path)
        if path:
            before = places[path[:-1]][1]
            bend = t - 0.68
            axes.plot([t - 1, bend, bend, t], [before, before, height, height], color=INK, linewidth=0.8, zorder=1)
            arm, won = divmod(path[-1], 2)
            axes.text(bend + 0.02, height, f"arm {arm}, X = {won}", va="bottom", fontsize="x-small", color=INK)
        text, colour = _offer(policy[row, :2])
        box = {"boxstyle": "round", "facecolor": colour, "edgecolor": GRID if colour == COLOURS[0] else INK}
        axes.text(t, height, text, ha="center", va="center", fontsize="small", bbox=box, zorder=2)
    axes.set(xlim=(-0.4, depth - 0.6), ylim=(-leaves - 0.7, -0.3), yticks=[], xticks=range(depth))
    axes.set_xticklabels([f"round {t + 1}" for t in range(depth)])
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    save(figure, out)


def _offer(prices: Floats) -> tuple[str, str]:
    """An offer as text, and its colour."""
    arm = int(prices.argmax())
    if prices[arm] == 0:
        return "nothing", COLOURS[0]
    return (
        (f"a hair on {arm}", COLOURS[1])
        if prices[arm] < 2 * exact.HAIR
        else (f"{prices[arm]:.2f} on {arm}", COLOURS[2])
    )


def page(evidence: Evidence, file: Path) -> list[str]:
    """The optima, the table, the sentences and the tree."""
    found = {key: evidence.values[each.name] for key, each in measurements(evidence.study).items()}
    played, T = sizes(evidence.study), sizes(evidence.study).horizon
    optima = {each: found["utility", each]["value"] for each in played.seeds}
    picture = file.with_name(f"{file.stem}-tree.png")
    draw(T, picture)
    known = ", ".join(f"{value:.6f} at T = {each}" for each, value in optima.items())
    states = ", ".join(f"{found['utility', each]['states']:,}" for each in played.seeds)
    return [
        "K = 2 arms, Bernoulli rewards, uniform and independent theta and mu, and the empirical-mean agent. The most"
        " that a principal can earn that is not shown the agent's beliefs, by `baselines.exact.solve`:"
        f" {known} ({states} states). `zero` earns T/2. The least R_T that such a principal can have at T = {T} is"
        f" {found['regret', T]['value']:.4f}.",
        "The table has the share of the possible gain on `zero`: utility less that of `zero` on the same seeds, divided"
        " by the optimum less T/2, in percent ± half a 95% interval (no ± where all episodes are the same), of"
        f" {', '.join(f'{n:,} episodes at T = {each}' for each, n in played.seeds.items())}; and mean R_T with its"
        " interval. In expectation `bayes-optimal` has 100: what it has above or below is chance, which the others"
        " share in part. `knows-beliefs` is told what the agent believes, `oracle` theta too. `ppo` is the shipped"
        f" policy, trained on many games; PPO is `baselines.rl.learner('k2-t{T}-uniform')`, trained from scratch with"
        f" one seed, its actions drawn or the likeliest. Rows are sorted by T = {T}; empty cells were not measured.",
        tables.markdown(table(evidence, optima)),
        "## What the optimal policy does",
        f"T = {T}, {played.seeds[T]:,} episodes. A hair is {exact.HAIR:g}, which breaks a tie in the agent's beliefs."
        f" {sentences({name: found['habits', name] for name in HABITS})}",
        f"Its first {min(DEPTH, T)} offers as a tree; a branch is the arm that was played, counted from 0,"
        " and the principal's reward X. Answers that cannot happen are left out.",
        f"![The first offers of the optimal policy as a tree]({picture.name})",
    ]


CLAIM = Claim(
    "exact",
    "The exact optimum of tiny games",
    "Which share of the exact optimum's gain principals have, with two arms and few rounds.",
    plan,
    page,
)
