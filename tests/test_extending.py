"""To add a thing one edits one file, or two: each kind is added here to a copy of the packages, and used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import baselines
import pa_env

# Kind of thing -> file -> edits (what stands there, what takes its place); an edit of nothing makes a file.
ADDED: dict[str, dict[str, list[tuple[str, str]]]] = {
    "agent": {
        "pa_env/kernel/other_agents.py": [
            ("    EXP3 = 5\n", "    EXP3 = 5\n    CONTRARY = 60\n"),
            (
                "    if kind == Kind.EXP3:\n        arm =",
                "    if kind == Kind.CONTRARY:\n        arm = offers.shape[1] - 1\n"
                "    elif kind == Kind.EXP3:\n        arm =",
            ),
        ],
        "pa_env/scripted_agents.py": [
            ("AGENTS = {\n", 'AGENTS = {\n    "contrary": AgentDeclaration(Kind.CONTRARY, "plays the last arm"),\n')
        ],
    },
    "family": {
        "pa_env/kernel/instances.py": [
            ("    UNIT_BALL = 5\n", "    UNIT_BALL = 5\n    SHARED = 60\n"),
            (
                "        arms[i, ArmRow.THETA, a], ",
                "        v = u if family == Family.SHARED else v\n        arms[i, ArmRow.THETA, a], ",
            ),
        ],
        "pa_env/instances.py": [
            (
                "FAMILIES = {\n",
                'FAMILIES = {\n    "shared": FamilyDeclaration(Family.SHARED, "good for one, good for both"),\n',
            )
        ],
    },
    "principal": {
        "baselines/scripted/generous.py": [
            (
                "",
                '"""A principal that pays for arm 0."""\n\nfrom baselines.principal import '
                "Principal, Rounds, hold\n\n\n"
                'class Generous(Principal):\n    """Pay for arm 0."""\n\n    name = "generous"\n\n'
                "    def rounds(self) -> Rounds:\n        yield hold(0, 2.0, rounds=self.horizon)\n",
            )
        ],
        "baselines/registry.py": [
            (
                "from baselines.scripted.simple import",
                "from baselines.scripted.generous import Generous\nfrom baselines.scripted.simple import",
            ),
            ("        PPO,\n", "        PPO,\n        Generous,\n"),
        ],
    },
    "task": {
        "baselines/tasks.py": [
            (
                '    yield setting("exploratory", "uniform", 5, 200)\n',
                '    yield setting("exploratory", "uniform", 5, 200)\n    yield setting("contrary", "shared", 4, 60)\n',
            )
        ]
    },
    "wrapper": {
        "pa_env/wrappers/menus.py": [
            (
                "class _Target:\n",
                "class _First:\n"
                "    def space(self, game: Game) -> Space[Any]:\n        return Discrete(3)\n\n"
                "    def offers(self, game: Game, actions: Any) -> Floats:\n"
                '        levels = integers("action", actions, game.copies, 3)\n'
                "        return one_hot(game, np.zeros_like(levels), levels / 2.0)\n\n\nclass _Target:\n",
            ),
            ("def TargetArm(", "def FirstArm(env: Any) -> Any:\n    return wrap(env, _First())\n\n\ndef TargetArm("),
        ],
        "pa_env/wrappers/__init__.py": [("import BracketIncentive,", "import BracketIncentive, FirstArm,")],
    },
    "field of an observation": {
        "pa_env/kernel/layout.py": [
            ("    OFFER = 5  # last offer\n", "    OFFER = 5  # last offer\n    LAST_REWARD = 6\n")
        ],
        "pa_env/kernel/observations.py": [
            (
                "    paid = np.float32(offers[i, arm])\n",
                "    summary[i, SummaryBlock.LAST_REWARD * n_arms + arm] = x\n    paid = np.float32(offers[i, arm])\n",
            )
        ],
    },
    "score": {
        "pa_env/kernel/layout.py": [("    REGRET_FIXED = 8 ", "    PAID = 8\n    REGRET_FIXED = 9 ")],
        "pa_env/kernel/step.py": [
            ("    utility: float\n", "    paid: float\n    utility: float\n"),
            ("    return Sums(\n        totals", "    return Sums(\n        totals[i, 1, Score.PAID],\n        totals"),
            ("    return Sums(\n        sums", "    return Sums(\n        sums.paid + terms.paid,\n        sums"),
            (
                "    totals[i, 1, Score.AGENT_REGRET] = sums.agent\n",
                "    totals[i, 1, Score.AGENT_REGRET] = sums.agent\n    totals[i, 1, Score.PAID] = sums.paid\n",
            ),
        ],
    },
}
USE = """
import gc; gc.disable()  # which takes a fifth of the time to compile
import gymnasium as gym, numpy as np, baselines, pa_env
from baselines.benchmark.blocks import Block, play
from baselines.tasks import task
from pa_env.wrappers import FirstArm

certain = pa_env.make_agent("logit", temperature=1e-3)  # as "contrary" it is not greedy: one kind of game is compiled
run = baselines.simulate("generous", "shared", agent=certain, horizon=60)
assert run.plays[-1].tolist() == [60, 0, 0, 0, 0]
assert run.paid[-1] == 120.0, run.paid  # the score
env = gym.make("PrincipalAgent-v0", agent="contrary", instance="shared", n_arms=4, horizon=60)
assert (env.reset(seed=1), env.unwrapped.game.instance())[1].mu.tolist() == env.unwrapped.game.instance().theta.tolist()
observation, *_, info = FirstArm(env).step(2)
assert info["arm"] == 3  # the agent
assert observation.shape == (7 * 4 + 2,) == env.observation_space.shape  # the field
assert observation[6 * 4 + 3] == info["reward"]
made = task("k4-t60-shared-contrary")
assert "generous" in made.principals
assert play(Block(made, "generous", range(1)))["paid"].to_pylist()[-1] == 0.0  # that agent refuses
"""


def test_one_of_each(tmp_path: Path) -> None:
    for package in (pa_env, baselines):
        origin = Path(package.__file__).parent
        shutil.copytree(origin, tmp_path / origin.name, ignore=shutil.ignore_patterns("__pycache__"))
    for kind, files in ADDED.items():
        assert len(files) <= 2, kind
        for name, edits in files.items():
            path = tmp_path / name
            for old, new in edits:
                text = path.read_text() if old else ""
                assert not old or text.count(old) == 1, (kind, name, old)
                path.write_text(text.replace(old, new) if old else new)
    # Compiled without optimisation, which takes half the time.
    variables = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_OPT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", USE], env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
