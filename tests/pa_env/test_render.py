"""Pictures: every number in them is the frame's, hidden ones are marked, and nothing heavy or global is touched."""

import doctest
import io
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from pa_env.envs import render
from pa_env.envs.render import Frame, ansi, human, rgb

pytestmark = pytest.mark.filterwarnings("error")

ORANGE = (0xE6, 0x9F, 0x00)  # of the offers
BARS = (slice(108, 388), slice(60, 547))  # pixels inside the left panel's axes


def make(k: int = 5, t: int = 40, seed: int = 0, **changes: Any) -> Frame:
    """A frame with something to see in every field."""
    rng = np.random.default_rng(seed)
    beliefs = rng.random(k)
    plays = rng.multinomial(t, np.full(k, 1 / k))
    frame = Frame(
        t=t,
        horizon=1000,
        offer=rng.random(k),
        arm=k // 2,
        reward=0.625,
        utility=12.34,
        theta_hat=rng.random(k),
        plays=plays,
        beliefs=beliefs,
        optimal_incentives=beliefs.max() - beliefs,
        theta=rng.random(k),
        mu=rng.random(k),
        regret=-5.67,
        agent="empirical-mean",
        curve=np.array([[0.0, 0.0], [t / 2, 3.0], [t, -5.67]]),
    )
    return replace(frame, **changes)


def start(k: int) -> Frame:
    """The frame of a game not begun."""
    zeros = np.zeros(k)
    return make(
        k, 0, offer=zeros, arm=None, reward=None, utility=0.0, theta_hat=zeros, beliefs=zeros, regret=0.0,
        optimal_incentives=zeros, curve=np.empty((0, 2)),
    )  # fmt: skip


def changed(frame: Frame, name: str) -> Frame:
    """The frame with another value of one field."""
    other: dict[str, Any] = {"agent": "oracle", "curve": frame.curve * [1, 0.5]}
    return replace(frame, **{name: other[name] if name in other else getattr(frame, name) + 1})


def rows(text: str) -> dict[int, list[str]]:
    """Words of each arm's line, without bars and the mark of the played arm."""
    found = re.findall(r"^[> ] +(\d+)  (.*)$", text, re.MULTILINE)
    return {int(a): re.sub("[▏▎▍▌▋▊▉█]", " ", rest).split() for a, rest in found}


def coloured(image: NDArray[np.uint8], colour: tuple[int, int, int]) -> int:
    return int((image == colour).all(axis=-1).sum())


@pytest.fixture(scope="module")
def image() -> NDArray[np.uint8]:
    """The picture of ``make()``."""
    return rgb(make())


@pytest.mark.parametrize("k", range(1, 61))
def test_text_fits_80_columns(k: int) -> None:
    large: dict[str, Any] = {"t": 10**9, "horizon": 10**9, "utility": -1.5e9, "regret": -1.5e9, "agent": "x" * 200}
    numbers: dict[str, Any] = {
        "offer": np.full(k, 4.0),
        "plays": np.full(k, 10**9),
        "beliefs": np.linspace(-12345.678, 0, k),
    }
    for frame in (make(k), start(k), make(k, **large, **numbers)):
        lines = ansi(frame).splitlines()
        assert max(map(len, lines)) < 80  # in the last column, clearing the rest of a line would erase a letter
        assert len(lines) <= 30
        widths = {len(line) for line in lines if re.match(r"[> ] +\d+  ", line)}
        assert len(widths) == 1, "columns out of line"


def test_text_shows_the_frames_numbers() -> None:
    frame = make()
    text = ansi(frame)
    assert "round 40 / 1000" in text
    assert "utility 12.34" in text
    assert "~regret -5.67" in text
    assert "empirical-mean" in text
    assert f"last round: arm 2, incentive {frame.offer[2]:.3f}, reward 0.625" in text
    shown = rows(text)
    assert list(shown) == list(range(5))
    for a, words in shown.items():
        known = [f"{frame.offer[a]:.3f}", f"{frame.theta_hat[a]:.3f}", str(frame.plays[a])]
        hidden = [f"{x[a]:.3f}" for x in (frame.beliefs, frame.optimal_incentives, frame.theta, frame.mu)]
        assert words == known + hidden


def test_text_marks_the_played_arm_and_what_is_hidden() -> None:
    text = ansi(make(arm=3))
    assert [line.split()[1] for line in text.splitlines()[5:10] if line.startswith(">")] == ["3"]
    assert text.splitlines()[-1] == "> played   ~ hidden from the principal"
    header = text.splitlines()[4]
    assert re.findall(r"~(\S+)", header) == ["belief", "pi*", "theta", "mu"]
    assert "\x1b" not in text


def test_bars_are_as_long_as_what_they_show() -> None:
    frame = make(3, 5, offer=np.array([7.0, 1.0, 0.0]), plays=np.array([0, 2, 3]))
    lines = ansi(frame).splitlines()[5:8]
    assert [line.count("█") for line in lines] == [7 + 0, 1 + 2, 0 + 3]
    assert lines[0].split()[3] == "-", "no plays, no estimate"
    assert "▌" in ansi(make(1, offer=np.array([0.5 / 7])))


def test_arms_left_out_are_the_least_relevant() -> None:
    offer, theta, plays = np.zeros(50), np.zeros(50), np.zeros(50, int)
    offer[44], theta[45], plays[46] = 1.0, 9.0, 40
    text = ansi(make(50, arm=43, offer=offer, theta=theta, plays=plays))
    assert {43, 44, 45, 46} <= set(rows(text))
    assert len(rows(text)) == render.ROWS
    assert f"... {50 - render.ROWS} of 50 arms left out" in text
    assert "left out" not in ansi(make(render.ROWS))


@pytest.mark.parametrize("name", [field.name for field in fields(Frame)])
def test_every_field_is_seen(name: str, image: NDArray[np.uint8]) -> None:
    frame = make()
    if name != "curve":
        assert ansi(changed(frame, name)) != ansi(frame)
    if name != "mu":  # the picture has the belief that comes of it
        assert not np.array_equal(rgb(changed(frame, name)), image)


@pytest.mark.parametrize("k", [1, 2, 12, 50])
def test_picture_is_pixels_and_the_same_every_time(k: int) -> None:
    frame = make(k)
    image = rgb(frame)
    assert image.shape == (540, 960, 3)
    assert image.dtype == np.uint8
    assert image.flags.owndata
    assert np.array_equal(image, rgb(frame))
    edge = np.concatenate([image[0], image[-1], image[:, 0], image[:, -1]])
    assert (edge == 255).all(), "something runs over the edge"


def test_a_frame_leaves_nothing_for_the_next_one(image: NDArray[np.uint8]) -> None:
    rgb(make(seed=1, arm=4, agent="oracle"))
    assert np.array_equal(rgb(make()), image)


@pytest.mark.parametrize("belief", [0.0, 0.5])
@pytest.mark.parametrize("offer", [0.0, 1.0, 2.5])
def test_an_offer_stands_on_the_belief(belief: float, offer: float) -> None:
    names = ("theta", "theta_hat", "optimal_incentives")  # at 0, out of the way
    plain: dict[str, Any] = dict.fromkeys(names, np.zeros(2))
    image = rgb(make(2, offer=np.array([offer, 3.9]), beliefs=np.array([belief, 0.0]), **plain))
    floor, unit = 540 * (1 - 0.28), 540 * 0.53 / 5  # the axis goes from 0 to 5
    column = int(960 * (0.06 + 0.51 * 0.8 / 2.2))  # right of the middle of arm 0, where no marker is
    (orange,) = np.nonzero((image[:, column] == ORANGE).all(axis=-1))
    assert len(orange) == pytest.approx(offer * unit, abs=3)
    if offer:
        assert orange.min() == pytest.approx(floor - (belief + offer) * unit, abs=3)


@pytest.mark.parametrize("k", [1, 5, 50])
def test_before_the_first_round(k: int) -> None:
    text = ansi(start(k))
    assert "no round played yet" in text
    assert not re.search(r"^> +\d", text, re.MULTILINE)
    assert {words[1] for words in rows(text).values()} == {"-"}
    assert coloured(rgb(start(k))[BARS], ORANGE) == 0


def test_odd_numbers_are_drawn() -> None:
    """Negative and infinite beliefs, and a name that looks like a formula."""
    for beliefs in (np.array([-1.5, -0.2, -3.0]), np.array([np.inf, 0.0, 1.0])):
        frame = make(3, beliefs=beliefs, optimal_incentives=np.array([np.nan, np.inf, 0.0]), agent="$\\frac$")
        assert rgb(frame).std() > 0
        assert "$\\frac$ agent" in ansi(frame)


def test_a_users_plot_style_changes_nothing(image: NDArray[np.uint8]) -> None:
    from matplotlib import style

    for kept in (render._panel, render._background):
        kept.cache_clear()
    with style.context("dark_background"):
        assert np.array_equal(rgb(make()), image)


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = """
import sys
import pa_env.envs.render as render, numpy as np
assert "matplotlib" not in sys.modules, "import"
x = np.zeros(2)
frame = render.Frame(0, 9, x, None, None, 0.0, x, x.astype(int), x, x, x, x, 0.0, "oracle", np.empty((0, 2)))
render.human(frame)
assert "matplotlib" not in sys.modules, "text"
render.rgb(frame)
assert "matplotlib.figure" in sys.modules
assert "matplotlib.pyplot" not in sys.modules, "pyplot"
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MPLBACKEND": "TkAgg"}
    environment.pop("DISPLAY", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_without_matplotlib_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(DependencyNotInstalled, match=re.escape("In a clone of the repository: pip install '.[bench]'")):
        rgb(make())


def test_human_prints(capsys: pytest.CaptureFixture[str]) -> None:
    human(make())
    assert capsys.readouterr().out == ansi(make()) + "\n"


def test_human_writes_in_place_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", terminal)
    human(make())
    written = terminal.getvalue()
    assert written.startswith("\x1b[H")
    assert written.endswith("\x1b[J")
    assert re.sub(r"\x1b\[[HKJ]", "", written) == ansi(make()) + "\n"


def test_human_in_a_console_without_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="ascii"))
    human(make())
    assert b"round 40 / 1000" in buffer.getvalue()


def test_the_documented_example_runs() -> None:
    outcome = doctest.testmod(render)
    assert outcome.attempted > 0
    assert outcome.failed == 0
