"""Tasks: names that say what they are, principals that can play them, suites made of them."""

import re
from dataclasses import replace
from itertools import product

import pytest

import baselines
import pa_env
from baselines.benchmark.blocks import Block, play
from baselines.registry import PRINCIPALS, resolve_agent
from baselines.specs import parse
from baselines.tasks import SUITES, TASKS, Task, setting, task, tasks
from pa_env.instances import FAMILIES
from pa_env.scripted_agents import ScriptedAgent

EVERY = list(TASKS.values())


@pytest.mark.parametrize("made", EVERY, ids=lambda made: made.name)
def test_a_task_is_what_its_name_says(made: object) -> None:
    made = task(made.name)  # type: ignore[attr-defined]
    if made.name != "smoke":
        pattern = (
            r"(?:d(\d+)-)?k(\d+)-t([\de]+)-(linear|ipa-k50|ipa-k5|[a-z]+)(?:-([a-z0-9-]*?[a-z0-9]))?(?:-c([\d.]+))?"
        )
        found = re.fullmatch(pattern, made.name)
        assert found is not None
        dim, n_arms, horizon, family, agent, c0 = found.groups()
        assert (made.dim or 0, made.n_arms, made.horizon) == (int(dim or 0), int(n_arms), int(float(horizon)))
        assert made.instance == ("unit-ball" if dim else family)
        opponent = resolve_agent(made.agent)
        assert isinstance(opponent, ScriptedAgent)
        assert opponent.name == (agent or ("ols" if dim else "empirical-mean"))
        assert opponent.c0 == (float(c0 or 1) if "c0" in opponent.declaration.parameters else 0)
    assert made.instance in FAMILIES
    assert re.fullmatch(r"[A-Z][^.]*\.", made.probes)
    assert made.seeds >= 2
    assert made.version >= 1
    assert made.checkpoints[-1] == made.horizon


def test_table_1_is_covered() -> None:
    """Liu & Ratliff (ICML 2025), Table 1: who knows her means or learns them, explores or not; i.i.d. and linear."""
    for agent in ("oracle", "empirical-mean", "exploratory-oracle", "exploratory"):
        for family in ("uniform", "misaligned", "gap", "clustered"):
            for n_arms in (3, 5, 20):
                for horizon in (10**4, 10**5, 10**6):
                    assert setting(agent, family, n_arms, horizon).name in SUITES["table-1"]
    assert {task.agent for task in tasks("table-1") if task.dim} >= {"oracle", "ols"}


def test_short_tasks_for_training() -> None:
    assert set(SUITES["short"]) == {
        *("k3-t100-uniform", "k3-t100-misaligned", "k5-t200-uniform", "k5-t200-misaligned"),
        *("k5-t1000-uniform", "k5-t1000-misaligned", "k5-t200-uniform-exploratory"),
    }


@pytest.mark.parametrize("horizon", [10**3, 10**4, 10**5])
def test_every_principal_but_fixed_meets_every_agent_that_it_can(horizon: int) -> None:
    pairs: dict[str, list[tuple[str, str]]] = {"uniform": [], "unit-ball": []}
    for made in tasks("who-wins"):
        if made.horizon == horizon:
            names = {parse(spec).place for spec in made.principals}
            pairs[made.instance] += product(names, [made.agent])
    everyone = {name for name in baselines.principals() if name != "fixed" and horizon <= PRINCIPALS[name].longest}
    # `ols` needs linear rewards; `empirical-mean` is the same agent there. The suite has the agents of the papers on
    # learning agents, not those that err or change.
    agents = set(pa_env.agents()) - {"logit", "types", "hedge", "follow-the-leader", "holdout"}
    iid = product(everyone - {"linear", "c-ipa"}, agents - {"ols"})
    linear = product(everyone, agents - {"empirical-mean"})
    assert sorted(pairs["uniform"]) == sorted(iid)
    assert sorted(pairs["unit-ball"]) == sorted(linear)


def test_principals_come_with_both_kinds_of_constants_and_know_c0() -> None:
    assert {"elimination", "elimination,constants=practical"} <= set(task("k5-t1e5-uniform").principals)
    told = task("k5-t1e6-uniform-exploratory-c0.05").principals
    assert {"exploratory,c0=0.05", "exploratory,c0=0.05,constants=practical", "ipa"} <= set(told)


@pytest.mark.parametrize(
    "made",
    [task("smoke"), task("k5-t200-uniform-exploratory"), setting("ols", "unit-ball", 5, 200)],
    ids=lambda made: made.name,
)
def test_every_principal_of_a_task_plays_it(made: Task) -> None:
    for spec in made.principals:
        assert play(Block(made, spec, range(1)))["rounds"].to_pylist()[-1] == made.horizon


def test_versions() -> None:
    """Raised by whoever changes a task; results of other versions are never mixed with new ones."""
    assert {made.version for made in EVERY if made.dim} == {2}
    assert {made.version for made in EVERY if not made.dim} == {1}


def test_suites_are_made_of_tasks_each_once() -> None:
    for names in SUITES.values():
        assert len(set(names)) == len(names) > 0
        assert set(names) <= set(TASKS)
    assert set(SUITES["all"]) == set(TASKS) - {"smoke"}
    assert {task.name for task in tasks("smoke", "smoke", "default", "k3-t100-uniform")} == {
        "smoke",
        *SUITES["default"],
    }
    assert not set(SUITES) & (set(TASKS) - {"smoke"})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("k7-t3000-clustered-exploratory-c0.3", setting("exploratory", "clustered", 7, 3000, c0=0.3)),
        ("k5-t10000-uniform", task("k5-t1e4-uniform")),
        ("d2-k4-t300-linear-oracle", setting("oracle", "unit-ball", 4, 300, dim=2)),
        ("k50-t700-ipa-k50-ucb", setting("ucb", "ipa-k50", 50, 700)),
        (
            "k3-t9-gap-exploratory,c0=0.5,exploration=worst",
            setting("exploratory,c0=0.5,exploration=worst", "gap", 3, 9),
        ),
    ],
)
def test_every_name_of_the_grammar_is_a_task(name: str, expected: Task) -> None:
    assert task(name) == expected == task(expected.name)
    assert play(Block(replace(expected, horizon=9), "zero", range(2))).num_rows == 2 * len(
        replace(expected, horizon=9).checkpoints
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("k5-t200-unifrom", r"task = 'k5-t200-unifrom' is unknown \(did you mean 'k5-t200-uniform'\?\)"),
        ("k5-t200-uniform-thomson", r"task = 'k5-t200-uniform-thomson': agent = 'thomson' is unknown \(did you mean"),
        ("k7-t200-ipa-k5", "task = 'k7-t200-ipa-k5': instance has 5 arms"),
        ("k5-t200-uniform-ols", "agent = 'ols' needs linear rewards"),
        ("k5-t200-uniform-oracle-c0.3", "parameter of agent 'oracle' = 'c0' is unknown"),
        ("k5-t200-uniform-exploratory-c0.x", "task = 'k5-t200-uniform-exploratory-c0.x': could not convert"),
        ("k0-t200-uniform", "n_arms = 0 must be an integer at least 1"),
        ("d6-k5-t200-linear", "5 arms cannot span dim = 6"),
        ("d3-k5-t200-uniform", "dim = 3 is for linear rewards"),
        ("k5-t200-uniform-c0.3", "is unknown"),
    ],
)
def test_names_that_are_no_tasks(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tasks(name)


def test_short_tasks_have_many_seeds_and_few_checkpoints() -> None:
    for made in tasks("default"):
        short = made.horizon <= 1000
        assert made.seeds >= (500 if short else 30)
        assert (len(made.checkpoints) <= 10) == short
