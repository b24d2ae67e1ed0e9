"""Figures that notebooks show by themselves, without pyplot and its global state."""

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Every score as papers write it, of the first t rounds.
AXIS = {
    "regret": "regret $R_t$",
    "regret_oracle": "regret $R_t^{oracle}$",
    "regret_bar": r"regret $\overline{R}_t$",
    "utility": "utility",
    "expected_utility": "expected utility",
    "overpayment": "overpayment",
    "agent_regret": "the agent's own regret",
    "regret_response": "regret to the best response",
    "regret_fixed": "regret to the best fixed price",
    "misses": "misses of the target arm",
}


class Picture(Figure):
    """A figure that is shown where it is the last value of a notebook's cell."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, dpi=110, format="png")
        return file.getvalue()


def against_rounds(score: str, width: float = 5.5, height: float = 3.6) -> tuple[Picture, Axes]:
    """A figure (inches) with axes for the sums of a score after t rounds."""
    figure = Picture(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set(xlabel="rounds played $t$", ylabel=AXIS[score])
    axes.grid(visible=True, color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
