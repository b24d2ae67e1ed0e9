"""The tree shows the architecture: imports point one way, and the text of each folder lists what is inside."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import baselines
import pa_env

FOLDERS = {name: Path(package.__file__).parent for name, package in (("pa_env", pa_env), ("baselines", baselines))}
# From the bottom up. A module belongs to the first layer that has a pattern of its name.
LAYERS = (
    ("pa_env.kernel.layout", "pa_env.kernel.sources", "pa_env.kernel.compiling"),
    ("pa_env.kernel*",),
    ("pa_env*",),
    (
        "baselines.principal",
        "baselines.files",
        "baselines.pictures",
        "baselines.specs",
        "baselines.text",
        "baselines.extras",
    ),
    ("baselines.scripted*", "baselines.exact"),
    ("baselines.rl.agent_seat", "baselines.rl.trained", "baselines.rl.view", "baselines.rl.models"),
    ("baselines.registry",),
    ("baselines.trace",),
    ("baselines.episodes",),
    ("baselines.tasks",),
    ("baselines.simulation",),
    ("baselines.benchmark*",),
    ("baselines.players", "baselines.comparison"),
    ("baselines.rl*", "baselines.reproduce*", "baselines.tuning", "baselines.cli.play", "baselines.cli.web"),
    ("baselines", "baselines.cli.catalogue"),
    ("baselines.speed*",),  # times the public package
    ("baselines.cli.commands", "baselines.__main__"),
)


def modules() -> dict[str, Path]:
    found = {}
    for name, folder in FOLDERS.items():
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join((name, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


MODULES = modules()


def imported(path: Path) -> set[str]:
    """Modules of ours that a file imports, inside functions too; those for type checkers alone do not count."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {
                f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in MODULES else node.module
                for alias in node.names
            }
    return {name for name in names if name in MODULES}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports."""
    return {name: imported(path) - {name} for name, path in MODULES.items()}


def layer(name: str) -> int:
    return next(i for i, group in enumerate(LAYERS) if any(fnmatch(name, pattern) for pattern in group))


@pytest.mark.parametrize("name", sorted(MODULES))
def test_nothing_imports_upward(name: str, graph: dict[str, set[str]]) -> None:
    above = {other for other in graph[name] if layer(other) > layer(name)}
    assert not above, f"{name} imports {above}"


def test_nothing_imports_in_a_circle(graph: dict[str, set[str]]) -> None:
    """Modules that import nothing of what is left are taken away until nothing is left."""
    left = {name: set(others) for name, others in graph.items()}
    while left:
        free = {name for name, others in left.items() if not others & left.keys()}
        assert free, f"a circle among {sorted(left)}"
        for name in free:
            del left[name]


def test_the_kernel_is_compiled_from_the_sources_that_its_digest_covers(graph: dict[str, set[str]]) -> None:
    for name in graph:
        if name.startswith("pa_env.kernel"):
            assert all(
                other in ("pa_env.kernel.layout", "pa_env.kernel.compiling") or other.startswith("pa_env.kernel")
                for other in graph[name]
            )


@pytest.mark.parametrize("folder", sorted(name for name, path in MODULES.items() if path.name == "__init__.py"))
def test_the_text_of_a_folder_lists_what_is_inside(folder: str) -> None:
    """In lines such as ``    game.py   the game`` and ``    envs/   the environments``, each module once."""
    init = MODULES[folder]
    text = ast.get_docstring(ast.parse(init.read_text()), clean=False) or ""
    names = re.findall(r"^    (\w+(?:\.py|/)) +\S", text, re.MULTILINE)
    inside = [f"{path.parent.name}/" for path in init.parent.glob("*/__init__.py")]
    inside += [path.name for path in init.parent.glob("*.py") if path != init]
    assert sorted(names) == sorted(inside), f"mend the list in the docstring of {init}"
