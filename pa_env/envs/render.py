"""Pictures of a game: plain text for a terminal, pixels for an animation.

A :class:`Frame` is what there is to see after ``t`` rounds; a :class:`Viewer` takes it from a game. It is drawn by

========  =============  ====================================================================
function  render_mode    gives
========  =============  ====================================================================
`ansi`    "ansi"         plain text, at most 79 columns wide, without escape codes
`rgb`     "rgb_array"    uint8 pixels (540, 960, 3); needs Matplotlib, but no display
`human`   "human"        nothing: writes the text to stdout, in place where that is a terminal
========  =============  ====================================================================

Some of it the principal may not know: the agent's beliefs, the true means, hence the optimal incentives and
the regret. Each drawing marks these as hidden. A picture is for people; nothing should be learned from it.

>>> import numpy as np
>>> frame = Frame(
...     t=3, horizon=10, offer=np.array([0.0, 0.5]), arm=1, reward=1.0, utility=1.5, theta_hat=np.array([0.0, 1.0]),
...     plays=np.array([1, 2]), beliefs=np.array([0.4, 0.3]), optimal_incentives=np.array([0.0, 0.1]),
...     theta=np.array([0.2, 0.9]), mu=np.array([0.6, 0.2]), regret=0.25, agent="oracle", curve=np.empty((0, 2)),
... )
>>> print(*ansi(frame).splitlines()[1:3], sep="; ")
last round: arm 1, incentive 0.500, reward 1.000; utility 1.50   ~regret 0.25
"""

import functools
import math
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import logger
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from pa_env.checks import known
from pa_env.game import Game
from pa_env.kernel.layout import ArmRow, SummaryBlock, SummaryNumber, block_columns, overall_column

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

MODES = ("ansi", "rgb_array", "human")
ROWS = 20  # arms in a text frame: with the lines around them they fit a terminal of 30 lines
SIZE = (960, 540)  # pixels, width first
ANSWER, REGRET, PLAYS = (58, 103, 489, 286), (629, 103, 307, 162), (629, 356, 307, 135)  # x, y, width, height of axes
LEFT, RIGHT, TOP, BOTTOM = 53, 24, 33, 45  # pixels around axes, for labels and titles
HIDDEN = "hidden from the principal"
_drawing = threading.Lock()  # frames share the axes that they are drawn on

# Okabe & Ito's palette, told apart with any colour vision ("Color Universal Design", 2008).
ORANGE, SKY, GREEN, BLUE, VERMILLION = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"
INK, FAINT = "#222222", "#DDDDDD"
# One style for a mark in the picture and in its key.
OFFER: dict[str, Any] = {"facecolor": ORANGE}
BELIEF: dict[str, Any] = {"facecolor": "#D5ECF9", "edgecolor": SKY, "hatch": "////"}
TARGET: dict[str, Any] = {"color": INK, "linewidth": 2}
ESTIMATE: dict[str, Any] = {"color": BLUE, "marker": "D", "linestyle": ""}
TRUTH: dict[str, Any] = {**ESTIMATE, "markerfacecolor": "white"}
PLAYED: dict[str, Any] = {"color": INK, "marker": "v", "linestyle": "", "markersize": 8}
KEY = {
    "known to the principal": {"offer π": OFFER, "reward estimate": ESTIMATE, "arm played": PLAYED},
    HIDDEN: {"agent's belief": BELIEF, "height to reach: belief + π*": TARGET, "true mean reward": TRUTH},
}


@dataclass(frozen=True, slots=True, eq=False)  # arrays do not compare to one truth value
class Frame:
    """The visible state of a game after ``t`` rounds; arrays have one entry per arm.

    A greedy agent plays its highest bar, belief + offer. Drawn are its beliefs now, which the reward of the last
    round has moved, and the offer that it answered then.
    """

    t: int
    """Rounds played so far."""
    horizon: int
    offer: NDArray[np.float64]
    """The last offer; zeros before the first round."""
    arm: int | None
    """The last arm played, None before the first round."""
    reward: float | None
    """The principal's reward X of the last round."""
    utility: float
    """Sum of X - pi_A over the rounds so far."""
    theta_hat: NDArray[np.float64]
    """The principal's own estimates; means nothing where ``plays`` is 0, and is not shown there."""
    plays: NDArray[np.integer[Any]]
    beliefs: NDArray[np.float64]
    """The agent's muhat. Hidden from the principal, as is everything below."""
    optimal_incentives: NDArray[np.float64]
    """pi*_a, the smallest offer that makes the agent play arm a."""
    theta: NDArray[np.float64]
    mu: NDArray[np.float64]
    regret: float
    """Cumulative regret R_t."""
    agent: str
    """The agent's name, for the title."""
    curve: NDArray[np.float64]
    """Points (t, cumulative regret) recorded so far, (n, 2); n may be 0."""


class Viewer:
    """The ``render()`` of every environment: draws the first copy of a game, and costs nothing until it is called.

    It remembers the regret at each frame for the curve.

    Args:
        game: the game to draw.
        mode: one of ``MODES``, or None: nothing is drawn.
    """

    def __init__(self, game: Game, mode: str | None) -> None:
        if mode is not None:
            known("render_mode", mode, MODES)
        self.game, self.mode = game, mode
        self._curve: list[tuple[int, float]] = []

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw a frame: text, an image (height, width, 3), or None after writing the text to the terminal."""
        if self.mode is None:
            logger.warn(
                "You are calling render method without specifying any render mode. Make the environment with"
                f" render_mode= one of {', '.join(MODES)}"
            )
            return None
        self.game.check_begun()
        frame = self._frame()
        if self.mode == "ansi":
            return ansi(frame)
        if self.mode == "rgb_array":
            return rgb(frame)
        human(frame)
        return None

    def _frame(self) -> Frame:
        game, k = self.game, self.game.n_arms
        t, totals = game.rounds_played, game.totals()
        if self._curve and self._curve[-1][0] >= t:
            self._curve = [point for point in self._curve if point[0] < t]  # a new episode, or a second look
        self._curve.append((t, totals["regret"]))
        summary = game.summary[0].astype(np.float64)
        means = game.means[0].copy()
        return Frame(
            t=t,
            horizon=game.horizon,
            offer=summary[block_columns(SummaryBlock.OFFER, k)],
            arm=int(game.arrays.state["arm"][0]) if t else None,
            reward=float(summary[overall_column(SummaryNumber.REWARD, k)]) if t else None,
            utility=totals["utility"],
            theta_hat=summary[block_columns(SummaryBlock.THETA_HAT, k)],
            plays=game.plays[0].copy(),
            beliefs=means,
            optimal_incentives=means.max() - means,
            theta=game.arrays.arms[0, ArmRow.THETA].copy(),
            mu=game.arrays.arms[0, ArmRow.MU].copy(),
            regret=totals["regret"],
            agent=getattr(game.agent, "name", type(game.agent).__name__),
            curve=np.array(self._curve, dtype=np.float64),
        )


def ansi(frame: Frame) -> str:
    """The frame as plain text: at most 79 columns, and at most ``ROWS`` arms, the most relevant ones."""
    k, share = len(frame.offer), frame.plays / max(1, frame.t)
    full = max(1.0, float(frame.offer.max()))
    lines = [
        f"{frame.agent:.30} agent, {k} arms, round {frame.t} / {frame.horizon}",
        _last_round(frame),
        f"utility {frame.utility:.2f}   ~regret {frame.regret:.2f}",
        "",
        f"  arm  {f'offer (0-{full:.3g})':<15} theta_hat  plays (share)"
        f" {'~belief':>7} {'~pi*':>7} {'~theta':>7} {'~mu':>7}",
    ]
    arms = _relevant(frame, ROWS)
    for a in arms:
        estimate = _number(frame.theta_hat[a]) if frame.plays[a] else "-"
        hidden = (frame.beliefs[a], frame.optimal_incentives[a], frame.theta[a], frame.mu[a])
        lines.append(
            f"{'>' if a == frame.arm else ' '}{a:>4}  {_bar(frame.offer[a] / full, 7)} {_number(frame.offer[a]):>7}"
            f" {estimate:>9}  {_bar(share[a], 5)} {_count(frame.plays[a]):>7}"
            + "".join(f" {_number(x):>7}" for x in hidden)
        )
    if len(arms) < k:
        lines.append(f"  ... {k - len(arms)} of {k} arms left out")
    return "\n".join([*lines, "", f"> played   ~ {HIDDEN}"])


def human(frame: Frame) -> None:
    """Write the text to stdout; in a terminal over the last frame, so that the game is seen to move."""
    text, out = ansi(frame), sys.stdout
    encoding = out.encoding or "utf-8"
    text = text.encode(encoding, "replace").decode(encoding)  # a console without block characters still shows numbers
    if out.isatty():  # cursor home, then clear what is left of each line and the lines below: erasing first flickers
        text = "\x1b[H" + text.replace("\n", "\x1b[K\n") + "\x1b[K\n\x1b[J"
    else:
        text += "\n"
    out.write(text)
    out.flush()


def rgb(frame: Frame) -> NDArray[np.uint8]:
    """The frame as pixels, (height, width, 3). The same frame gives the same bytes.

    What stays between frames (axes, titles, key) is drawn once and kept as pixels; a frame draws the rest over it.
    """
    try:
        from matplotlib.figure import Figure  # noqa: F401 - with it comes Pillow
        from PIL import ImageDraw
    except ImportError as error:
        raise DependencyNotInstalled(
            'Matplotlib is not installed; render_mode="rgb_array" needs it. In a clone of the repository: pip install'
            " '.[bench]'"
        ) from error

    with _drawing:
        image = _background(frame.agent).copy()
        for box, panel in ((ANSWER, _draw_answer(frame)), (REGRET, _draw_regret(frame)), (PLAYS, _draw_plays(frame))):
            image.paste(panel, (box[0] - LEFT, box[1] - TOP))
    header = ImageDraw.Draw(image)  # Pillow writes these words ten times as fast as Matplotlib
    sums = f"utility {frame.utility:,.2f}   |   regret {frame.regret:,.2f} (hidden)"
    header.text((19, 33), f"Round {frame.t:,} of {frame.horizon:,}", INK, _font("DejaVuSans-Bold", 19), anchor="ls")
    header.text((19, 57), f"{_last_round(frame)}   |   {sums}", INK, _font("DejaVuSans", 14), anchor="ls")
    return np.array(image)


@functools.cache
def _font(name: str, size: int) -> "FreeTypeFont":
    """One of the fonts that come with Matplotlib."""
    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/{name}.ttf", size)


def _canvas(width: int, height: int) -> "FigureCanvasAgg":
    """Return the canvas of an empty figure of this size; without pyplot, which would keep every figure alive."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    return FigureCanvasAgg(Figure(figsize=(width / 100, height / 100), dpi=100, facecolor="white"))


def _pixels(canvas: "FigureCanvasAgg") -> "Image":
    """Return what is drawn on a canvas."""
    from PIL import Image

    return Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba()).convert("RGB")


@functools.lru_cache(maxsize=8)
def _background(agent: str) -> "Image":
    """Draw what all frames of an agent have in common outside the panels."""
    canvas = _canvas(*SIZE)
    # parse_math=False: the name is the user's, and may hold a dollar.
    canvas.figure.text(0.98, 0.94, f"agent: {agent:.40}", fontsize=11, color=INK, ha="right", parse_math=False)
    for x, (title, entries) in zip((0.06, 0.30), KEY.items(), strict=True):
        _draw_key(canvas.figure, x, title, entries)
    canvas.draw()
    return _pixels(canvas)


class _Panel(NamedTuple):
    """Axes without data, and their pixels."""

    axes: "Axes"
    canvas: "FigureCanvasAgg"
    empty: Any

    def draw(self, artists: "list[Artist]") -> "Image":
        """Draw data of a frame, and take it off the axes again."""
        self.canvas.restore_region(self.empty)
        for artist in artists:
            artist.draw(self.canvas.get_renderer())
            artist.remove()
        return _pixels(self.canvas)


@functools.lru_cache(maxsize=32)
def _panel(
    box: tuple[int, int, int, int],
    title: str,
    xlabel: str,
    xlim: tuple[float, float],
    ylim: tuple[float, float],
    xticks: tuple[float, ...],
) -> _Panel:
    """Draw empty axes. Fixed places instead of a layout engine: faster, and nothing moves between frames."""
    width, height = box[2] + LEFT + RIGHT, box[3] + TOP + BOTTOM
    canvas = _canvas(width, height)
    axes = canvas.figure.add_axes((LEFT / width, BOTTOM / height, box[2] / width, box[3] / height))
    _style(axes, title, xlabel, xlim, ylim, xticks)
    canvas.draw()
    return _Panel(axes, canvas, canvas.copy_from_bbox(canvas.figure.bbox))


def _draw_answer(frame: Frame) -> "Image":
    """Left: what the agent compares, belief + offer, and what the principal wants, theta."""
    arms, tried = np.arange(len(frame.offer)), frame.plays > 0
    stack, needed = frame.beliefs + frame.offer, frame.beliefs + frame.optimal_incentives
    low, high = _limits(np.concatenate([stack, needed, frame.theta, frame.theta_hat[tried]]), least=1.0)
    title = "The agent prefers the highest bar: belief now + last offer"
    panel = _panel(ANSWER, title, "arm", (-0.6, len(arms) - 0.4), (low, high), _ticks(len(arms), 12))
    ax, size = panel.axes, min(6.0, 3 + 30 / len(arms))
    return panel.draw(
        [
            *_mark_played(ax, frame),
            # Bars rise from the floor of the axis, not from 0: with negative beliefs too the highest is preferred.
            _bars(ax, np.full(len(arms), low), frame.beliefs, BELIEF),
            _bars(ax, frame.beliefs, stack, OFFER),
            ax.hlines(needed, arms - 0.45, arms + 0.45, **TARGET),
            # The truth is the larger one, so that it is seen behind a good estimate.
            *ax.plot(arms, frame.theta, markersize=1.4 * size, clip_on=False, **TRUTH),
            *ax.plot(arms[tried], frame.theta_hat[tried], markersize=size, clip_on=False, **ESTIMATE),
        ]
    )


def _draw_key(figure: "Figure", x: float, title: str, entries: dict[str, dict[str, Any]]) -> None:
    """A legend at fixed places, like the rest."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle

    figure.text(x, 0.155, title, fontsize=10, fontweight="bold", color=INK)
    for y, (label, style) in zip((0.115, 0.078, 0.041), entries.items(), strict=True):
        figure.text(x + 0.04, y, label, fontsize=10, color=INK)
        sample: Artist
        if "facecolor" in style:
            sample = Rectangle((x, y - 0.001), 0.028, 0.02, linewidth=0, **style)
        else:
            sample = Line2D((x, x + 0.014, x + 0.028), [y + 0.009] * 3, markevery=[1], **style)
        figure.add_artist(sample)


def _draw_regret(frame: Frame) -> "Image":
    """Right, above: the regret so far, on an axis as long as the game."""
    ylim = _limits(np.append(frame.curve[:, 1], frame.regret), least=1.0)
    ticks = (0.0, frame.horizon / 2, float(frame.horizon))
    panel = _panel(REGRET, f"Regret so far ({HIDDEN})", "round", (0, frame.horizon), ylim, ticks)
    return panel.draw(
        [
            panel.axes.axhline(0, color=INK, linewidth=0.8),
            *panel.axes.plot(frame.curve[:, 0], frame.curve[:, 1], color=VERMILLION, linewidth=1.8),
            *panel.axes.plot([frame.t], [frame.regret], "o", color=VERMILLION, markersize=6, clip_on=False),
        ]
    )


def _draw_plays(frame: Frame) -> "Image":
    """Right, below: how often each arm was played."""
    n_arms, high = len(frame.plays), _limits(frame.plays, least=4)[1]
    panel = _panel(PLAYS, "Plays so far", "arm", (-0.6, n_arms - 0.4), (0, high), _ticks(n_arms, 5))
    bars = _bars(panel.axes, np.zeros(n_arms), frame.plays, {"facecolor": GREEN})
    return panel.draw([*_mark_played(panel.axes, frame), bars])


def _mark_played(ax: "Axes", frame: Frame) -> "list[Artist]":
    """A triangle over the played arm's column, and the column shaded."""
    if frame.arm is None:
        return []
    shade = ax.axvspan(frame.arm - 0.5, frame.arm + 0.5, color=INK, alpha=0.08, linewidth=0)
    return [shade, *ax.plot([frame.arm], [ax.get_ylim()[1]], clip_on=False, **PLAYED)]


def _ticks(n_arms: int, most: int) -> tuple[float, ...]:
    """At most so many arms, evenly spaced."""
    return tuple(range(0, n_arms, -(-n_arms // most)))


def _bars(ax: "Axes", bottom: NDArray[Any], top: NDArray[Any], style: dict[str, Any]) -> "Artist":
    """Bars as one path: an object for each, as of `Axes.bar`, adds half to the time of a frame of 50 arms."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    x = np.arange(len(top))
    corners = np.array([[x - 0.35, bottom], [x - 0.35, top], [x + 0.35, top], [x + 0.35, bottom]]).transpose(2, 0, 1)
    # Unlike add_patch, add_artist does not look for the ends of the data, which takes longer than drawing.
    return ax.add_artist(PathPatch(Path.make_compound_path_from_polys(corners), linewidth=0, **style))


def _style(
    ax: "Axes", title: str, xlabel: str, xlim: tuple[float, float], ylim: tuple[float, float], xticks: tuple[float, ...]
) -> None:
    """Every colour is given, so that a style the user has chosen for plots does not reach this picture."""
    from matplotlib.ticker import MaxNLocator

    ax.set(xlim=xlim, ylim=ylim, facecolor="white", xticks=xticks)
    ax.set_title(title, loc="left", fontsize=11, color=INK, y=1.0, pad=9)  # a given y spares a search for a free one
    ax.set_xlabel(xlabel, fontsize=10, color=INK)
    ax.xaxis.set_label_coords(0.5, -28 / ax.bbox.height)
    ax.grid(axis="y", color=FAINT, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=9, labelcolor=INK, color=INK)
    ax.yaxis.set_major_locator(MaxNLocator(int(ax.bbox.height / 45), integer=ylim[1] >= 4))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda x, _: _compact(x))
    for side, spine in ax.spines.items():
        spine.set(visible=side in ("left", "bottom"), color=INK)


def _compact(x: float) -> str:
    """A tick's label: 0.25, 750, 2.5k, 10M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= size:
            return f"{x / size:.4g}{letter}"
    return f"{x:.4g}"


def _limits(values: NDArray[Any], least: float) -> tuple[float, float]:
    """Ends of an axis that holds 0 and the values, moved in coarse steps so that it rarely jumps between frames."""
    finite = values[np.isfinite(values)]  # an agent of the user's may start from infinite beliefs
    return -_ceiling(-1.05 * finite.min(initial=0.0)), _ceiling(1.05 * finite.max(initial=least))


def _ceiling(x: float) -> float:
    """The smallest of 0, ..., 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, ... that is not below x."""
    if x <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(x))
    return power * next((s for s in (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8) if s * power >= x), 10)


def _relevant(frame: Frame, most: int) -> list[int]:
    """At most ``most`` arms in order: the played one, the best to pay for, then by offer and by plays."""
    arms = range(len(frame.offer))
    best = int(np.argmax(frame.theta - frame.optimal_incentives))
    ranked = sorted(arms, key=lambda a: (a != frame.arm, a != best, -frame.offer[a], -frame.plays[a], a))
    return sorted(ranked[:most])


def _number(x: float) -> str:
    """Three decimals, or as many as seven characters hold."""
    return next(text for text in (f"{x:.3f}", f"{x:.1f}", f"{x:.0e}") if len(text) <= 7)


def _count(n: int) -> str:
    """A count, rounded if it has more than seven digits."""
    return str(n) if n < 10**7 else _compact(n)


def _bar(share: float, width: int) -> str:
    """A bar of ``width`` characters, full at 1, in steps of an eighth of a character."""
    whole, eighths = divmod(round(min(max(share, 0.0), 1.0) * 8 * width), 8)
    return ("█" * whole + " ▏▎▍▌▋▊▉"[eighths])[:width].ljust(width)


def _last_round(frame: Frame) -> str:
    if frame.arm is None or frame.reward is None:
        return "no round played yet"
    return f"last round: arm {frame.arm}, incentive {frame.offer[frame.arm]:.3f}, reward {frame.reward:.3f}"
