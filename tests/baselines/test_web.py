"""The page to play on: a whole game in a real browser, and requests that cheat by plain HTTP."""

import functools
import http.client
import json
import shutil
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import baselines
import pa_env.scripted_agents
from baselines.__main__ import app
from baselines.cli import play as table
from baselines.cli import web

HORIZON, SEED = 4, 2
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PRIVILEGED = ("reveal", "theta", "mu", "belief", "regret", "optimal", "seed")


class Client:
    """A visitor without a browser."""

    def __init__(self, address: str) -> None:
        self.parts, self.headers = urlsplit(address), {"Content-Type": "application/json"}

    def ask(self, name: str, body: Any = None, method: str = "", path: str = "", **headers: str) -> tuple[int, Any]:
        """Status and answer; a body is sent by POST, as JSON unless it is bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.parts.port, timeout=60)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        verb = method or ("GET" if body is None else "POST")
        connection.request(verb, path or self.parts.path + name, data, self.headers | headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if cookie := answer.getheader("Set-Cookie"):
            self.headers["Cookie"] = cookie.partition(";")[0]
        return answer.status, json.loads(content) if "json" in (answer.getheader("Content-Type") or "") else content

    def enter(self) -> "Client":
        assert self.ask("")[0] == 200
        return self

    def play(self, offers: list[list[float]]) -> dict[str, Any]:
        """A whole game."""
        for t, offer in enumerate(offers, 1):
            status, game = self.ask("play", {"round": t, "offer": offer})
            assert status == 200, game
        return game


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server whose games are kept in games.parquet."""
    seat: Any = functools.partial(table.take_seat, "principal", "empirical-mean", 3, HORIZON, "uniform")
    server, address = web.make_server(web.Tables(seat, SEED, tmp_path / "games.parquet"))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield address
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_game_is_that_of_simulate_and_beliefs_come_at_the_end(address: str) -> None:
    client = Client(address).enter()
    status, game = client.ask("game")
    assert (status, game["round"], game["about"]) == (200, 1, "The agent learns and never explores.")
    for t in range(1, HORIZON):
        status, game = client.ask("play", {"round": t, "offer": [0, 0, 0.75]})
        assert status == 200
        assert not any(word in json.dumps(game) for word in PRIVILEGED)
    assert "seed" not in client.ask("game")[1]
    game = client.ask("play", {"round": HORIZON, "offer": [0, 0, 0.75]})[1]
    run = baselines.simulate(baselines.make("fixed", n_arms=3, horizon=HORIZON, incentives=[0, 0, 0.75]), seed=SEED)
    assert sum(each["utility"] for each in game["rounds"]) == pytest.approx(run.utility[-1])
    assert game["reveal"]["seed"] == SEED
    others = game["reveal"]["others"]
    assert list(others) == ["oracle", "ppo", "particle", "profit-target", "zero"]
    for name, curve in others.items():
        alone = baselines.simulate(baselines.make(name, n_arms=3, horizon=HORIZON), seed=SEED)
        assert curve[-1] == alone.utility[-1]
        assert len(curve) == HORIZON
    assert len(game["reveal"]["beliefs"]) == HORIZON + 1
    assert client.ask("game")[1] == game


BAD_BODIES = [
    (b"{", 400),
    (b"[" * 50_000, 400),
    ([], 400),
    ({"round": 1}, 400),
    ({"round": 1, "offer": [0, 0, 0], "arm": 1}, 400),
    ({"round": 0, "offer": [0, 0, 0]}, 409),
    ({"round": 2, "offer": [0, 0, 0]}, 409),
    ({"round": True, "offer": [0, 0, 0]}, 409),
    ({"round": "1", "offer": [0, 0, 0]}, 409),
    ({"round": 1, "offer": [0, 0]}, 422),
    ({"round": 1, "offer": [0, 0, -0.1]}, 422),
    ({"round": 1, "offer": [0, 0, 4.1]}, 422),
    ({"round": 1, "offer": [0, 0, float("nan")]}, 422),
    ({"round": 1, "offer": [0, 0, 10**400]}, 422),
    ({"round": 1, "offer": [0, 0, "1"]}, 422),
    ({"round": 1, "offer": [0, 0, True]}, 422),
    ({"round": 1, "offer": "000"}, 422),
    (b" " * (web.LONGEST + 1), 413),
]


def test_requests_that_cheat_are_refused_and_move_nothing(address: str) -> None:
    client = Client(address).enter()
    before = client.ask("game")
    good = {"round": 1, "offer": [0, 0, 0]}
    for body, status in BAD_BODIES:
        answered, answer = client.ask("play", body)
        assert (answered, list(answer)) == (status, ["error"]), body
    assert client.ask("new", {})[0] == 409
    assert client.ask("play", good, **{"Content-Type": "text/plain"})[0] == 415
    assert client.ask("play", good, **{"Content-Length": "x"})[0] in (400, 411)
    assert client.ask("play", good, Cookie="")[0] == 403
    assert client.ask("play", good, Host="evil.example")[0] == 421
    for method in ("PUT", "DELETE", "NONSENSE"):
        assert client.ask("play", good, method)[0] == 405
    for path in ("/", "/play", "/x/play", "/../play", f"{client.parts.path}../play", f"{client.parts.path}web.py"):
        assert client.ask("", good, path=path)[0] == 404, path
        assert client.ask("", path=path)[0] == 404, path
    assert client.ask("game") == before


def test_replayed_rounds_and_two_tabs_are_refused(address: str) -> None:
    client = Client(address).enter()
    first = {"round": 1, "offer": [0.5, 0, 0]}
    status, after = client.ask("play", first)
    assert status == 200
    assert client.ask("play", first)[0] == 409
    assert client.ask("play", {"round": 1, "offer": [0, 0, 1]})[0] == 409
    assert client.ask("game")[1] == after
    answers: list[int] = []  # many tabs at once: one of them plays the round
    tabs = [
        threading.Thread(target=lambda: answers.append(client.ask("play", {"round": 2, "offer": [0, 0, 0]})[0]))
        for _ in range(6)
    ]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert sorted(answers) == [200, *[409] * 5]
    assert len(client.ask("game")[1]["rounds"]) == 2


def test_a_visitor_who_hangs_up_is_not_reported(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handled, handle = threading.Event(), web.Server.handle_error

    def noted(*arguments: Any) -> None:
        handle(*arguments)
        handled.set()

    monkeypatch.setattr(web.Server, "handle_error", noted)
    with socket.create_connection(("127.0.0.1", urlsplit(address).port or 0)) as visitor:
        visitor.sendall(b"GET / HT")
        visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # so that it is reset
    assert handled.wait(10)
    assert capsys.readouterr().err == ""
    assert Client(address).ask("")[0] == 200


def test_games_are_kept_as_traces(address: str, tmp_path: Path) -> None:
    one, two, three = (Client(address).enter() for _ in range(3))
    three.ask("game")  # begins the game of the first seed, and leaves
    last = one.play([[0, 0, 0.75], [0.25, 0, 0.5], [0, 0, 0], [0, 1, 0]])
    two.play([[0.0, 0, 0]] * HORIZON)
    assert one.ask("play", {"round": HORIZON + 1, "offer": [0, 0, 0]})[0] == 409
    kept = pq.read_table(tmp_path / "games.parquet").to_pydict()
    assert kept["seed"] == [SEED + 1] * HORIZON + [SEED + 2] * HORIZON
    assert kept["t"] == [1, 2, 3, 4] * 2
    assert kept["offer"][:4] == [[0, 0, 0.75], [0.25, 0, 0.5], [0, 0, 0], [0, 1, 0]]
    assert kept["target"][:4] == [2, -1, -1, 1]
    assert kept["arm"][:4] == [each["arm"] for each in last["rounds"]]
    assert kept["reward"][:4] == [each["reward"] for each in last["rounds"]]
    np.testing.assert_array_equal(kept["beliefs"][:4], last["reveal"]["beliefs"][:4])
    assert one.ask("new", {})[1]["round"] == 1
    assert one.play([[0.0, 0, 0]] * HORIZON)["reveal"]["seed"] == SEED + 3


def test_games_that_were_kept_before_stay(tmp_path: Path) -> None:
    (tmp_path / "games.parquet").write_bytes(b"kept")
    shown = CliRunner().invoke(app, ["play", "--web", "--keep", str(tmp_path / "games.parquet")])
    assert shown.exit_code == 1
    assert "name another file by --keep" in shown.output
    assert (tmp_path / "games.parquet").read_bytes() == b"kept"
    for options in (["--keep", "x.parquet"], ["--web", "--seat", "agent"]):
        assert "--web needs --seat principal" in CliRunner().invoke(app, ["play", *options]).output


@pytest.mark.parametrize("agent", ["exploratory", "holdout", "logit,temperature=0.2"])
def test_an_agent_is_described_in_its_own_words(agent: str) -> None:
    seat = table.take_seat("principal", agent, 3, HORIZON, "uniform", SEED)
    about = f"The agent {pa_env.scripted_agents.AGENTS[agent.split(',')[0]].about}."
    assert web.WebGame(seat).state()["about"] == about
    assert about in seat.help


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_offering_nothing_plays_a_round(address: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        page.locator("#offer-2").fill("0.75")
        page.locator("#clear").click()
        page.wait_for_selector('progress[value="1"]', state="attached")
        assert "paid 0.00" in page.locator("#said").inner_text()
        for t in range(2, HORIZON + 1):
            page.locator("#clear").click()
            page.wait_for_selector(f'progress[value="{t}"]', state="attached")
        run = baselines.simulate(baselines.make("zero", n_arms=3, horizon=HORIZON), seed=SEED)
        assert page.locator("#who tr.you td").last.inner_text() == f"{run.utility[-1]:.2f}".replace("-", "−")
        assert page.locator("#seed").inner_text() == str(SEED)
        browser.close()


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1100, "light")])
def test_a_whole_game_by_keyboard(address: str, width: int, scheme: Any) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    noticed: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.on("pageerror", lambda error: noticed.append(str(error)))
        page.on("request", lambda each: None if each.url.startswith((address, "data:")) else noticed.append(each.url))
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        assert page.locator("#round").inner_text() == f"1 of {HORIZON}"
        assert "The agent learns and never explores." in page.locator("#intro").inner_text()
        for _ in range(5):  # the sliders and fields of arms 0 and 1, then the slider of arm 2
            page.keyboard.press("Tab")
        for _ in range(75):
            page.keyboard.press("ArrowRight")
        assert page.locator("#offer-2").input_value() == "0.75"
        for t in range(1, HORIZON):
            page.keyboard.press("Enter")
            page.wait_for_selector(f'progress[value="{t}"]', state="attached")
            assert not page.locator("#end").is_visible()
        assert "The agent played arm" in page.locator("#said").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.locator("#offer-2").fill("9")
        page.keyboard.press("Enter")
        page.wait_for_selector("#said.bad")
        assert "at most max_incentive = 4" in page.locator("#said").inner_text()
        page.locator("#offer-2").fill("0.75")
        page.keyboard.press("Enter")
        page.wait_for_selector("#end:not([hidden])")
        run = baselines.simulate(baselines.make("fixed", n_arms=3, horizon=HORIZON, incentives=[0, 0, 0.75]), seed=SEED)
        assert page.locator("#who tr.you td").last.inner_text() == f"{run.utility[-1]:.2f}".replace("-", "−")
        assert page.locator("#who tr").count() == 6
        assert page.locator("#truth tr").count() == 3
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.keyboard.press("Enter")  # "Play another game" has the focus
        page.wait_for_selector('progress[value="0"]', state="attached")
        browser.close()
    assert noticed == []
