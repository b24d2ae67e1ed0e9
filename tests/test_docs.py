"""The documentation: every name has its section, links lead somewhere, code blocks and notebooks run."""

import importlib.util
import inspect
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest

import baselines
import pa_env
from baselines.registry import PRINCIPALS
from pa_env import wrappers
from pa_env.kernel.layout import SCORES

from .code_blocks import blocks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).as_posix(): path.read_text() for path in DOCS.rglob("*.md") if "_build" not in path.parts
}
CODE = [(page, *each) for page, text in PAGES.items() for each in blocks(text)]
NAMES = {
    "agents.md": pa_env.agents(),
    "instances.md": pa_env.families(),
    "principals.md": baselines.principals(),
    "wrappers.md": wrappers.__all__,
    "scores.md": SCORES,
}
# The parts of Gymnasium's pages about environments.
PARTS = (
    *("Description", "Action space", "Observation space", "Rewards", "Starting state", "End of an episode"),
    *("Arguments", "Info", "Version history"),
)
FENCE = re.compile(r"^```.*?^```$", flags=re.DOTALL | re.MULTILINE)
# What a notebook needs beside the package.
NOTEBOOKS = {"paper": ("matplotlib", "pandas", "rich"), "train": ("stable_baselines3", "pandas", "rich")}


def sections(page: str) -> dict[str, str]:
    """The sections of a page that have a name of the package for a heading."""
    parts = re.split(r"^## (.+)$", PAGES[page], flags=re.MULTILINE)[1:]
    return {
        heading.strip("`"): text for heading, text in zip(parts[::2], parts[1::2], strict=True) if heading[0] == "`"
    }


@pytest.fixture(scope="module")
def declared() -> ModuleType:
    """The module that makes parts of pages from the code's declarations."""
    spec = importlib.util.spec_from_file_location("declared", DOCS / "declared.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", NAMES)
def test_every_name_has_its_section_and_no_other(page: str) -> None:
    found = sections(page)
    assert sorted(found) == sorted(NAMES[page])
    for name, text in found.items():  # with the part that comes from the code
        assert re.search(rf"^```{{declared}} \w+ {name}\n```$", text, flags=re.MULTILINE), name


def test_agents_have_a_guarantee_and_principals_fail_somewhere() -> None:
    for name, text in sections("agents.md").items():
        assert "**Guarantee.**" in text, name
        assert "**Where it is hard on the principal.**" in text, name
    for name, text in sections("principals.md").items():
        told = text + (inspect.getdoc(PRINCIPALS[name]) or "")
        assert re.search("Guarantee", told), name
        assert re.search(r"[Ww]here\s+it\s+fails|failures", told), name
        assert "Source" in text or "Ours" in text or "yardstick" in text, name


def test_every_environment_has_its_page(declared: ModuleType) -> None:
    registered = [name for name, spec in gym.registry.items() if str(spec.entry_point).startswith("pa_env")]
    assert sorted(declared.GYMNASIUM) == sorted(registered)
    titles = {text.split("\n")[0].strip("# "): text for page, text in PAGES.items() if page.startswith("environments/")}
    for name in (*registered, "principal_agent_v0 (PettingZoo)", "principal_agent_v0.vector_env"):
        assert tuple(re.findall(r"^## (.+)$", titles[name], flags=re.MULTILINE)) == PARTS, name


def test_declared_parts_are_made(declared: ModuleType) -> None:
    used = {tuple(each.split()) for text in PAGES.values() for each in re.findall(r"^```{declared} (.+)$", text, re.M)}
    made = {each: getattr(declared, each[0])(*each[1:]) for each in used}
    assert all(made.values())
    rows = made["observation", "PrincipalAgent-v0", "summary"].splitlines()
    assert rows[2] == "| 0 to K - 1 | 0 to 4 | 1 for the arm of the last round | [0, 1] |"
    assert rows[-1] == "| 6K + 1 | 31 | rounds played / horizon | [0, 1] |"
    assert "| `instance='unit-ball'` |" in made["arguments", "PrincipalAgentLinear-v0"]


def anchors(text: str) -> set[str]:
    """What a link may have after its #: headings as GitHub and MyST write them."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", PAGES[page])):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        found = (DOCS / page).parent / path if path else DOCS / page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found.read_text()), target


def test_examples_that_are_named_exist() -> None:
    named = {name for text in PAGES.values() for name in re.findall(r"\bexamples/\w+\.py", text)}
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(("page", "block", "shown"), CODE, ids=[f"{page}-{i}" for i, (page, _, _) in enumerate(CODE)])
def test_blocks_run(
    page: str,
    block: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # In this process, which has imported what takes long; from a file, which compiled functions are read from.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.py").write_text(block)
    runpy.run_path("block.py", run_name="__main__")
    if shown:
        assert capsys.readouterr().out == shown


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run_at_a_small_size(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in NOTEBOOKS[name]:
        pytest.importorskip(module, reason=f"the notebook needs {module}")
    cells = re.findall(r"^```{code-cell} python\n(.*?)^```", PAGES[f"notebooks/{name}.md"], re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SMALL_NOTEBOOKS", "1")
    monkeypatch.setenv("MPLBACKEND", "agg")
    (tmp_path / "cells.py").write_text("\n".join(cells))
    runpy.run_path("cells.py", run_name="__main__")
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_notebooks_are_notebooks() -> None:
    jupytext = pytest.importorskip("jupytext", reason="needs the extra [docs]")
    for name in NOTEBOOKS:
        cells = jupytext.read(DOCS / "notebooks" / f"{name}.md").cells
        assert {cell.cell_type for cell in cells} == {"code", "markdown"}


def test_versions_agree() -> None:
    cited = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.+)$", cited, flags=re.MULTILINE)[1] == pa_env.__version__
    assert f"version = {{{pa_env.__version__}}}" in PAGES["citing.md"]
    assert f"## {pa_env.__version__}" in (ROOT / "CHANGELOG.md").read_text()
