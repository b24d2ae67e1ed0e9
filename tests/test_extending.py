"""To add a thing one edits one file, or two: each kind is added to a copy of the packages, and used."""

from pathlib import Path

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


def add_to(packages: Path) -> None:
    """Make all these edits in a folder with both packages."""
    for files in ADDED.values():
        for name, edits in files.items():
            path = packages / name
            text = path.read_text() if path.exists() else ""
            for old, new in edits:
                assert text.count(old) == 1 if old else not text, (name, old)
                text = text.replace(old, new) if old else new
            path.write_text(text)


def test_one_of_each_takes_a_file_or_two() -> None:
    """They are used in tests/pa_env/test_compiling.py, where changed packages are compiled."""
    assert all(len(files) <= 2 for files in ADDED.values())
