"""Play the principal on a page in a browser: ``pa-bench play --web``.

The games run in this process and the page (``web.html``) shows them. The server listens on 127.0.0.1 alone, behind a
token in its address. A cookie tells visitors apart; each has one game at a time. Below the token:

======  ========  ==================================================================================
GET     ``/``     the page, and a cookie
GET     ``game``  the visitor's game as JSON: what the principal knows; at the end, everything
POST    ``play``  ``{"round": 1, "offer": [0, 0.4, 0]}`` plays the next round, and answers with the game
POST    ``new``   ``{}`` begins another game after the last round
======  ========  ==================================================================================

A request that is refused gets a status of 4xx and a sentence, and changes nothing.
"""

import json
import secrets
import sys
import threading
from collections.abc import Callable, Collection
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import typer

from baselines.cli.play import PrincipalSeat
from baselines.files import StoreError, refuse_links
from baselines.principal import Principal, Rounds, offer
from baselines.registry import resolve_agent
from baselines.simulation import simulate
from baselines.text import plain
from pa_env.checks import short
from pa_env.kernel.layout import NO_ARM, Floats

VISITORS = 1000  # at most, so that a script that forgets its cookies does not fill the memory
LONGEST = 2**16  # bytes of a request
PAGE = Path(__file__).with_name("web.html")
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "X-Content-Type-Options": "nosniff",
}


class RefusedError(Exception):
    """A request that is not served.

    Args:
        status: of the answer.
        reason: the sentence to show.
    """

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class WebGame:
    """A visitor's game.

    Args:
        seat: where the visitor sits.
    """

    def __init__(self, seat: PrincipalSeat) -> None:
        self.seat, self.game = seat, seat.env.unwrapped.game
        self.observation, _ = seat.env.reset(seed=seat.seed)
        self.rounds: list[dict[str, float]] = []
        self.offers: list[Floats] = []
        self.beliefs = [self.game.means[0].tolist()]
        self.reveal: dict[str, object] | None = None

    @property
    def over(self) -> bool:
        """True once all rounds have been played."""
        return len(self.rounds) == self.seat.horizon

    def play(self, request: object) -> None:
        """Play the round of a request, ``{"round": t, "offer": [...]}``."""
        if not isinstance(request, dict) or set(request) != {"round", "offer"}:
            raise RefusedError(HTTPStatus.BAD_REQUEST, 'the request must be {"round": number, "offer": [numbers]}')
        due = len(self.rounds) + 1
        if type(request["round"]) is not int or request["round"] != due or self.over:
            now = "the game is over" if self.over else f"round {due} is next"
            raise RefusedError(
                HTTPStatus.CONFLICT, f"round = {short(request['round'])} can't be played: {now} (another tab?)"
            )
        incentives = self._offer(request["offer"])
        self.observation, utility, _, _, info = self.seat.env.step(incentives)
        paid = float(incentives[info["arm"]])
        self.offers.append(incentives)
        self.beliefs.append(self.game.means[0].tolist())
        self.rounds.append({"arm": info["arm"], "reward": info["reward"], "paid": paid, "utility": utility})

    def _offer(self, given: object) -> Floats:
        """The incentives (n_arms,) of a request."""
        n_arms = self.seat.n_arms
        if not isinstance(given, list) or len(given) != n_arms or any(type(x) not in (int, float) for x in given):
            raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, f"offer = {short(given)} must be {n_arms} numbers")
        try:
            incentives = np.array(given, np.float64)
            self.game.check_offers(incentives[None])
        except (ValueError, OverflowError) as error:
            raise RefusedError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
        return incentives

    def state(self) -> dict[str, object]:
        """The facts on the page: those that the principal knows, and after the last round all."""
        seat = self.seat
        state: dict[str, object] = {
            "agent": plain(seat.agent),
            "about": seat.about,
            "horizon": seat.horizon,
            "most": self.game.max_incentive,
            "round": len(self.rounds) + 1,
            "arms": [facts._asdict() for facts in seat.known(self.observation)],
            "rounds": self.rounds,
        }
        if not self.over:
            return state
        if self.reveal is None:
            instance = self.game.instance()
            truth: dict[str, object] = {"theta": instance.theta.tolist(), "mu": instance.mu.tolist()}
            # The seed too: with it, anybody can play the same game elsewhere.
            truth |= {"seed": seat.seed, "beliefs": self.beliefs}
            self.reveal = truth | {"others": seat.curves(seat.horizon)}
        return state | {"reveal": self.reveal}


class Replay(Principal):
    """Offers what people offered.

    Args:
        n_arms: number of arms.
        horizon: rounds.
        offers: of each game, by its seed.
    """

    def __init__(self, n_arms: int, horizon: int, offers: dict[int, list[Floats]]) -> None:
        self.offers = offers
        super().__init__(n_arms, horizon)

    def rounds(self) -> Rounds:
        """The offers of the episode's seed. The only arm with an incentive is the target."""
        assert self.seed is not None
        for incentives in self.offers[self.seed]:
            amounts = {int(arm): float(incentives[arm]) for arm in np.nonzero(incentives)[0]}
            yield offer(amounts, target=next(iter(amounts)) if len(amounts) == 1 else NO_ARM)


class Tables:
    """All games, by visitor. One request at a time plays: games are fast, and compiled code is made once.

    Args:
        take_seat: makes a seat for a seed.
        seed: of the first game; the next has the next one, so that a seed names a game in the file that is kept.
        keep: a Parquet file for finished games in the format of :mod:`baselines.trace`, or None.
    """

    def __init__(self, take_seat: Callable[[int], PrincipalSeat], seed: int, keep: Path | None) -> None:
        if keep is not None:
            import pyarrow  # noqa: F401  (missing, it should be missed before the first game)

            refuse_links(keep)
            if keep.exists():
                raise StoreError(f"{keep} is there, and holds other games: name another file by --keep")
            if not keep.absolute().parent.is_dir():
                raise StoreError(f"the folder of {keep} is not there: make it, or name another file by --keep")
        self.take_seat, self.seed, self.keep = take_seat, seed, keep
        self.lock = threading.Lock()
        self.games: dict[str, WebGame] = {}
        self.finished: dict[int, list[Floats]] = {}  # offers by seed
        seat = take_seat(seed)
        seat.env.reset(seed=seed)
        seat.curves(1)  # compiles what the end of a game needs, which would take long there

    def game_of(self, visitor: str, begin: bool = False) -> WebGame:
        """The visitor's game, a new one if it has none; or, to ``begin`` anew, after the last round."""
        game = self.games.get(visitor)
        if game is not None and begin and not game.over:
            raise RefusedError(HTTPStatus.CONFLICT, "your game is not over: play its rounds first")
        if game is None or begin:
            if game is None and len(self.games) >= VISITORS:
                raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, f"there are {VISITORS} visitors already")
            game = self.games[visitor] = WebGame(self.take_seat(self.seed))
            self.seed += 1
        return game

    def play(self, visitor: str, request: object) -> WebGame:
        """Play a round of the visitor's game, and keep the game after the last one."""
        game = self.game_of(visitor)
        game.play(request)
        if game.over and self.keep is not None:
            self.finished[game.seat.seed] = game.offers
            seat = game.seat
            people = Replay(seat.n_arms, seat.horizon, self.finished)
            # Draws belong to seeds, so the rounds are those that were played. The file is written anew each time: it
            # is whole whenever the server ends.
            simulate(people, seat.instance, resolve_agent(seat.agent), seeds=list(self.finished), trace=self.keep)
        return game


class Handler(BaseHTTPRequestHandler):
    """Answers one connection; :func:`make_server` sets what it serves."""

    tables: ClassVar[Tables]
    token: ClassVar[str]
    port: ClassVar[int]
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "pa-bench", ""
    timeout = 30  # seconds that an idle connection is kept

    def do_GET(self) -> None:
        """The page, or the visitor's game."""
        self._serve({"": lambda _: PAGE.read_bytes(), "game": lambda _: self.tables.game_of(self._visitor()).state()})

    def do_POST(self) -> None:
        """A round, or a new game."""
        self._serve({"play": self._play, "new": self._begin})

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: addresses hold the token."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no request that we know; an unknown method is the client's mistake, too."""
        self.close_connection = True
        self._send(405 if code == 501 else code, {"error": plain(message or "bad request")})

    def _serve(self, pages: dict[str, Callable[[object], object]]) -> None:
        try:
            name = self._check_address(pages)
            body = self._body() if self.command == "POST" else None  # before the lock: a client may be slow
            with self.tables.lock:
                answer = pages[name](body)
        except RefusedError as refused:
            self.close_connection = True  # the rest of the request may not have been read
            self._send(refused.status, {"error": plain(str(refused))})
        except Exception as error:  # the agent is a user's code
            self.close_connection = True
            self._send(500, {"error": plain(f"the game failed: {error}")})
        else:
            self._send(200, answer)

    def _check_address(self, pages: Collection[str]) -> str:
        """Return the page's name. Refuses other names of this machine (DNS rebinding) and paths without the token."""
        if self.headers.get("Host") not in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            raise RefusedError(HTTPStatus.MISDIRECTED_REQUEST, "this server is 127.0.0.1 only")
        _, token, name = [*self.path.split("/", 2), "", ""][:3]
        if not secrets.compare_digest(token.encode(), self.token.encode()) or name not in pages:
            raise RefusedError(HTTPStatus.NOT_FOUND, "there is no such page: use the address that was printed")
        return name

    def _cookie(self) -> str | None:
        try:
            morsel = SimpleCookie(self.headers.get("Cookie", "")).get("visitor")
        except CookieError:
            return None
        return morsel.value if morsel and len(morsel.value) <= 64 else None

    def _visitor(self) -> str:
        """The visitor of the cookie."""
        visitor = self._cookie()
        if visitor is None:
            raise RefusedError(HTTPStatus.FORBIDDEN, "there is no cookie: open the page, and allow cookies")
        return visitor

    def _play(self, body: object) -> dict[str, object]:
        return self.tables.play(self._visitor(), body).state()

    def _begin(self, body: object) -> dict[str, object]:
        if body != {}:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the request must be {}")
        return self.tables.game_of(self._visitor(), begin=True).state()

    def _body(self) -> object:
        """The JSON of the request."""
        if self.headers.get_content_type() != "application/json":
            raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the request must be application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "the request must have a Content-Length")
        if len(length) > 9 or int(length) > LONGEST:
            raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request must have at most {LONGEST} bytes")
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError, TimeoutError):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the request must be JSON") from None

    def _send(self, status: int, answer: object) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8" if data is answer else "application/json")
        self.send_header("Content-Length", str(len(data)))
        if data is answer and self._cookie() is None:
            cookie = f"visitor={secrets.token_urlsafe(16)}; Path=/{self.token}/; HttpOnly; SameSite=Strict"
            self.send_header("Set-Cookie", cookie)
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


class Server(ThreadingHTTPServer):
    """A server that does not mind visitors who hang up."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong, unless the visitor has left in the middle of a request."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def make_server(tables: Tables) -> tuple[Server, str]:
    """Return a server that listens on a free port, and the address of its page."""

    class Visit(Handler):
        """A connection to this server."""

    server = Server(("127.0.0.1", 0), Visit)
    Visit.tables, Visit.token, Visit.port = tables, secrets.token_urlsafe(16), server.server_port
    return server, f"http://127.0.0.1:{Visit.port}/{Visit.token}/"


def serve(take_seat: Callable[[int], Any], seed: int, keep: Path | None) -> None:
    """Serve the page until Ctrl-C.

    Args:
        take_seat: makes a seat for a seed.
        seed: of the first game.
        keep: a file for finished games, or None.
    """
    typer.echo("Preparing the game ...")
    tables = Tables(take_seat, seed, keep)
    server, address = make_server(tables)
    typer.echo(f"Open {address} in a browser on this machine. Ctrl-C ends the server.")
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            count = len(tables.finished)
            typer.echo(f"\nStopped. {f'{count} games are in {keep}.' if count else 'No game was kept.'}")
