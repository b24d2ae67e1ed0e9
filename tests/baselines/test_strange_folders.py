"""Folders of results from strangers: names in them are only data, and nothing is written elsewhere."""

import html
import json
import os
import re
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from baselines import pictures
from baselines.__main__ import app
from baselines.benchmark.blocks import as_parquet, file_name, read_table
from baselines.text import in_markdown, plain

from .helpers import BROWSER, QUIET, contents
from .results import drawn_as, make_results

TASKS = {
    "k3-t100-uniform": "x/../../../../../ESCAPED",
    "k3-t120-uniform": '/tmp/ABSOLUTE/"><script>alert(4)</script><img src=x onerror=alert(4)>',
    "k3-t140-uniform": "name\x1b[2J\x1b]0;title\x07\r\u202eevil\n# heading",
    "k3-t160-uniform": "NAME\x1b[2J\x1b]0;title\x07\r\u202eevil\n# heading",
}
LABELS = {
    "zero": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "ipa": "![i](http://a.b/i.png) [l](javascript:alert(1)) **b** `c` [bold red]rich[/] | $x$ _i_ www.a.b &lt; \x9b2J",
}
NOTES = {
    "python": "<script>alert(2)</script> [l](http://a.b)\x1b[2J",
    "commands": ["pa-bench\n\n<script>alert(3)</script>"],
}


def disguise(folder: Path) -> Path:
    """Give the tasks and principals in a folder of results other names."""
    notes = json.loads((folder / "benchmark.json").read_text())
    notes |= NOTES | {"tasks": {TASKS[task]: entry for task, entry in notes["tasks"].items()}}
    for spec, label in LABELS.items():
        notes["principals"][spec]["label"] = label
    (folder / "benchmark.json").write_text(json.dumps(notes))
    for path in (folder / "blocks").iterdir():
        table = read_table(path)
        task, spec = TASKS[table["task"][0].as_py()], table["principal"][0].as_py()
        table = table.set_column(0, "task", pa.array([task] * table.num_rows))
        path.unlink()
        (folder / "blocks" / f"{file_name(task)}--{file_name(spec)}--0.parquet").write_bytes(as_parquet(table))
    return folder


class Outputs(NamedTuple):
    """What the commands made of a folder: files before and after in all folders above, and what was printed."""

    page: Path
    before: dict[str, bytes]
    after: dict[str, bytes]
    printed: list[str]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """The report and the leaderboard of a disguised folder, deep enough for what it tries."""
    top = tmp_path_factory.mktemp("strange")
    folder = disguise(make_results(top / "a" / "b" / "results", list(TASKS), list(LABELS), seeds=6))
    before = contents(top)
    commands = (["report", folder], ["report", folder, "--format", "markdown"])
    commands = (*commands, ["leaderboard", folder, "--out", folder / "report" / "board.md"])
    with drawn_as("png", "svg"):
        shown = [CliRunner().invoke(app, list(map(str, words))) for words in commands]
    assert all(each.exit_code == 0 for each in shown), shown
    return Outputs(folder / "report" / "index.html", before, contents(top), [each.stdout for each in shown[:2]])


def test_nothing_outside_the_report_changes(outputs: Outputs) -> None:
    new = sorted(set(outputs.after) - set(outputs.before))
    assert all(name.startswith("a/b/results/report/") for name in new)
    assert outputs.before.items() <= outputs.after.items()
    figures = [name.lower() for name in new if name.endswith("offers.png")]
    assert len(set(figures)) == len(TASKS)  # also where file names have no case


def test_names_are_shown_as_text(outputs: Outputs) -> None:
    terminal, table = outputs.printed
    files = {name.rpartition("/")[2]: data for name, data in outputs.after.items() if "/report/" in name}
    pages = [table, files["board.md"].decode(), files["table.md"].decode()]
    for text in (*pages, terminal):
        assert plain(text, keep="\n") == text
    assert "rich[/]" in terminal
    for text in pages:
        rendered = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
        assert not re.search(r"<(script|img|a)\b|<h1>#", rendered)
        assert "<strong>b" not in rendered
        for label in LABELS.values():
            assert plain(label) in html.unescape(re.sub(r"<[^>]*>", "", rendered))
    for name in ("index.html", *(name for name in files if name.endswith(".svg"))):
        assert not re.search(r"<script>alert|<img src=x|\x1b", files[name].decode())


def test_names_are_drawn_in_every_format() -> None:
    figure, _ = pictures.new_figure(6, 4, plain(TASKS["k3-t140-uniform"]))
    for place, name in enumerate((*TASKS.values(), *LABELS.values())):
        figure.text(0, place / 6, pictures.short_label(plain(name)))
    assert list(pictures.as_files(figure)) == ["png", "svg", "pdf"]


def test_a_page_with_hostile_names_runs_no_script(outputs: Outputs) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if BROWSER is None:
        pytest.skip("needs Chromium")
    noticed: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=[*QUIET])
        page = browser.new_page()
        page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (noticed.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: noticed.append(request.url))
        page.goto(outputs.page.as_uri())
        page.locator(".curves").first.scroll_into_view_if_needed()
        page.wait_for_selector(".curves .legend")
        assert page.get_by_role("heading", name="<script>alert(4)</script>").count() == 1
        assert page.locator("img[src=x]").count() == 0
        browser.close()
    assert [what for what in noticed if not what.startswith("data:image/")] == [outputs.page.as_uri()]


@pytest.mark.parametrize("link", ["report", "report/figures"])
def test_a_report_is_not_written_through_links(tmp_path: Path, link: str) -> None:
    folder = make_results(tmp_path / "results", ["k3-t100-uniform"], ["zero", "ipa"], seeds=2)
    (tmp_path / "elsewhere").mkdir()
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(tmp_path / "elsewhere")
    for command in (["report", folder], ["leaderboard", folder, "--out", folder / link / "board.md"]):
        shown = CliRunner().invoke(app, [*map(str, command)])
        assert shown.exit_code == 1
        assert "is a symbolic link" in shown.output
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("link", ["lock", "blocks", "failures", "traces"])
def test_a_run_does_not_write_through_links(tmp_path: Path, link: str) -> None:
    folder = make_results(tmp_path / "results", ["k3-t100-uniform"], ["zero"], seeds=1)
    (tmp_path / "mine").write_text("precious")
    for path in (folder / link).iterdir() if (folder / link).is_dir() else ():
        path.unlink()
    if (folder / link).is_dir():
        (folder / link).rmdir()
        (tmp_path / "elsewhere").mkdir()
    (folder / link).unlink(missing_ok=True)
    (folder / link).symlink_to(tmp_path / ("mine" if link == "lock" else "elsewhere"))
    shown = CliRunner().invoke(app, ["run", "--task", "smoke", "--seeds", "1", "--out", str(folder)])
    assert shown.exit_code == 1
    assert "is a symbolic link" in shown.output
    assert (tmp_path / "mine").read_text() == "precious"
    assert link == "lock" or not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("name", ["benchmark.json", "blocks/pipe.parquet"])
def test_a_pipe_in_place_of_a_file(tmp_path: Path, name: str) -> None:
    folder = make_results(tmp_path / "results", ["k3-t100-uniform"], ["zero"], seeds=1)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    shown = CliRunner().invoke(app, ["report", str(folder)])
    assert shown.exit_code == 1
    assert "not a regular file" in shown.output


def test_names_that_look_alike_are_refused(tmp_path: Path) -> None:
    folder = make_results(tmp_path / "results", ["k3-t100-uniform"], ["zero", "ipa"], seeds=1)
    notes = json.loads((folder / "benchmark.json").read_text())
    notes["principals"]["zero"]["label"] = "ipa"
    (folder / "benchmark.json").write_text(json.dumps(notes))
    shown = CliRunner().invoke(app, ["report", str(folder)])
    assert shown.exit_code == 1
    assert "two principals of the name ipa" in shown.output


def test_own_names_stay_readable() -> None:
    for name in (
        "elimination,constants=practical",
        "my_file.py:My_Class,c0=0.5",
        "k5-t1e4-uniform",
        "12.3 [11.9, 12.8]",
    ):
        assert in_markdown(name) == plain(name) == name
