"""The page in a real browser, offline: nothing is fetched, tables sort, curves hide, labels are only text."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from baselines.benchmark import report, tables

from .helpers import BROWSER, QUIET
from .results import PRINCIPALS, drawn_as, make_results

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
HEADINGS = ["principal", "seeds", *tables.HEADINGS.values()]
NASTY = "<b><img src=x onerror=alert(1)>&|$_{$"  # a folder's name
OWN = f"from baselines.scripted.simple import Zero\n\nclass Mine(Zero):\n    name = {NASTY!r}\n"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, list[str]]]:
    """The page of small results, and everything that it complained of, asked for or popped up."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "own.py").write_text(OWN)
    principals = [*PRINCIPALS, f"{folder / 'own.py'}:Mine"]
    results = make_results(folder / "results", ["k3-t100-uniform"], principals, seeds=10)
    with drawn_as("png"):
        path = report.build(report.load(results))
    noticed: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=[*QUIET])
        page = browser.new_page(viewport={"width": 1300, "height": 900})
        page.on("console", lambda message: noticed.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noticed.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (noticed.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: noticed.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        page.locator(".regret").scroll_into_view_if_needed()
        page.wait_for_selector(".regret .legend")
        page.wait_for_selector(".utility .legend")
        yield page, noticed
        browser.close()


def column(page: Any, heading: str) -> list[str]:
    """The cells under a heading, as they are shown."""
    place = HEADINGS.index(heading)
    return [row.locator("td").nth(place).inner_text() for row in page.locator("section tbody tr").all()]


def sort(page: Any, heading: str) -> list[str]:
    """Click a heading; the column under it then."""
    page.locator("section th button").nth(HEADINGS.index(heading)).click()
    return column(page, heading)


def numbers(texts: list[str]) -> list[float]:
    return [float(re.split(r"\s", text)[0].replace(",", "")) for text in texts]


def test_nothing_is_fetched_and_nothing_goes_wrong(opened: tuple[Any, list[str]]) -> None:
    page, noticed = opened
    page.locator("figure img").last.scroll_into_view_if_needed()
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 100)")
    assert [what for what in noticed if not what.startswith("data:image/png")] == []


def test_labels_are_only_text(opened: tuple[Any, list[str]]) -> None:
    page, noticed = opened
    assert any(NASTY in text for text in column(page, "principal"))
    assert NASTY in " ".join(page.locator(".legendtext").all_text_contents())
    assert page.locator("img[src=x]").count() == 0
    assert "dialog" not in noticed


def test_a_click_on_a_heading_sorts(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    assert numbers(column(page, "utility")) == sorted(numbers(column(page, "utility")), reverse=True)
    rising = numbers(sort(page, "utility"))
    assert rising == sorted(rising)
    assert len(set(rising)) > 2
    assert numbers(sort(page, "utility")) == rising[::-1]
    names = sort(page, "principal")
    assert names == sorted(names, key=str.lower)
    unknown = [text == "–" for text in sort(page, "slope")]
    assert unknown == sorted(unknown)
    assert any(unknown)


def test_a_click_in_the_legend_hides_a_curve(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    states = "document.querySelector('.regret').data.filter(t => t.name === 'zero').map(t => t.visible ?? true)"
    assert set(page.evaluate(states)) == {True}
    page.locator(".regret .legend .traces", has_text="zero").locator(".legendtoggle").click()
    page.wait_for_function(f"{states}.every(visible => visible === 'legendonly')")


def test_printing_draws_all_curves_which_open_on_logarithmic_axes(opened: tuple[Any, list[str]]) -> None:
    page = opened[0].context.browser.new_page(viewport={"width": 1300, "height": 200})
    page.goto(opened[0].url)
    assert not page.evaluate("document.querySelector('.regret').data")  # far below
    page.wait_for_function("window.Plotly")  # what draws is ready
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    kind = "document.querySelector('.regret').layout.yaxis.type"
    bands = "document.querySelector('.regret').data.filter(trace => trace.fill).flatMap(trace => trace.y)"
    assert page.evaluate(kind) == "log"
    assert page.evaluate("document.querySelector('.regret').layout.updatemenus[0].active") == 1
    assert min(page.evaluate(bands)) > 0
    page.get_by_text("linear axes", exact=True).click()
    page.wait_for_function(f"{kind} === 'linear'")
    page.get_by_text("logarithmic axes", exact=True).click()
    page.wait_for_function(f"{kind} === 'log'")
    assert min(page.evaluate(bands)) > 0
    page.close()


def test_all_principals_in_all_tasks_are_sorted_too(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    assert page.locator(".overview th").all_inner_texts() == ["principal", "k3-t100-uniform\nempirical-mean"]
    page.locator(".overview th button").nth(1).click()
    shown = numbers(page.locator(".overview td:nth-child(2)").all_inner_texts())
    assert len(shown) == len(PRINCIPALS) + 1
    assert shown == sorted(shown)
    assert page.locator(".overview .best").count() == 2


def test_no_table_is_cut(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    cut = "[...document.querySelectorAll('.wide')].filter(wide => wide.scrollWidth > wide.clientWidth).length"
    assert page.evaluate(cut) == 0


def test_verdicts_and_marks_are_told(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    rows = [row.locator("td").all_inner_texts() for row in page.locator(".verdicts tbody tr").all()]
    assert [row[1] for row in rows] == ["most utility", "least R_T"]
    names = " ".join(column(page, "principal"))
    for mark in ("most utility", "least R_T", "behind zero"):
        assert mark in names


def test_curves_are_there_without_a_script(opened: tuple[Any, list[str]]) -> None:
    """As in a screenshot that does not wait: pictures stand where plotly will draw."""
    context = opened[0].context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(opened[0].url)
    boxes = [image.bounding_box() for image in page.locator(".curves img").all()]
    assert len(boxes) == 2
    assert all(box["width"] > 300 and box["height"] > 200 for box in boxes)
    context.close()


def test_no_height_is_kept_for_curves_that_are_not_drawn(opened: tuple[Any, list[str]]) -> None:
    """On a phone a picture is much lower than a chart, and white would stand below it."""
    page = opened[0].context.browser.new_page(viewport={"width": 390, "height": 200})
    page.goto(opened[0].url)
    page.wait_for_function("window.Plotly")
    height = "document.querySelector('.regret').clientHeight"
    assert page.evaluate(f"{height} - document.querySelector('.regret img').clientHeight") < 20
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(height) == 900
    page.close()


def test_figures_are_dark_where_the_page_is(opened: tuple[Any, list[str]]) -> None:
    """Except the heat map, whose caption says what dark means."""
    page = opened[0].context.browser.new_page(color_scheme="dark")
    page.goto(opened[0].url)
    filters = "[...document.querySelectorAll('.curves, img.map')].map(each => getComputedStyle(each).filter)"
    heat_map, *others = page.evaluate(filters)
    assert heat_map.startswith("brightness")
    assert len(others) == 4
    assert all(each.startswith("invert") for each in others)
    page.close()


@pytest.mark.parametrize("width", [390, 1300])
def test_nothing_overflows(opened: tuple[Any, list[str]], width: int) -> None:
    page = opened[0].context.browser.new_page(viewport={"width": width, "height": 900})
    page.goto(opened[0].url)
    page.wait_for_function("window.Plotly")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_selector(".regret .legend")
    outside = """[...document.querySelectorAll('body *')].filter(
        each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.wide, defs')).length"""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(outside) == 0
    page.close()


def test_axes_change_at_the_press_of_a_button(opened: tuple[Any, list[str]]) -> None:
    page, _ = opened
    page.get_by_text("logarithmic axes", exact=True).click()
    page.wait_for_function("document.querySelector('.regret').layout.yaxis.type === 'log'")
    page.get_by_text("linear axes", exact=True).click()
    page.wait_for_function("document.querySelector('.regret').layout.yaxis.type === 'linear'")
