"""What principals did, beside how they scored: which arms were played, what was offered and what was needed.

``rows`` and ``arms``: those of one task, as :func:`baselines.benchmark.results.read` gives them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pa_env.game import Game
from pa_env.kernel.layout import ArmRow

Arms = Mapping[str, NDArray[Any]]


def paid(rows: pd.DataFrame, arms: Arms) -> pd.DataFrame:
    """The incentive offered in the round of each checkpoint of a task, and pi* of its arm: means over seeds.

    Of several arms with an incentive it is the one with the most above pi*, which a greedy agent likes best. Runs that
    offer nothing then are left out; nan where all do. Columns: principal, rounds, offer, needed.
    """
    offers, needed = arms["offers"], arms["optimal_incentives"]
    places, chosen = np.arange(len(rows)), np.where(offers > 0, offers - needed, -np.inf).argmax(axis=1)
    some = offers.any(axis=1)
    found = rows[["principal", "rounds"]].assign(
        offer=np.where(some, offers[places, chosen], np.nan), needed=np.where(some, needed[places, chosen], np.nan)
    )
    return found.groupby(["principal", "rounds"]).mean().reset_index()


def shares(rows: pd.DataFrame, arms: Arms) -> pd.DataFrame:
    """Shares of all plays of a task, means over seeds: a row for each principal, a column for each rank of an arm.

    Arms are ranked in each run by theta + mu, best first, of the instance that its seed gives; its family must be ours.
    """
    last = (rows["rounds"] == rows["horizon"]).to_numpy()
    final, first = rows[last], rows.iloc[0]
    seeds, place = np.unique(final["seed"], return_inverse=True)
    sizes: Any = {"n_arms": int(first["n_arms"]), "dim": int(first["dim"]) or None, "copies": seeds.size}
    game = Game(instance=first["instance"], observe=False, **sizes)
    game.begin(seeds=seeds.tolist())
    ranked = np.argsort(-(game.arrays.arms[:, ArmRow.THETA] + game.arrays.arms[:, ArmRow.MU]), axis=1, kind="stable")
    plays = np.take_along_axis(arms["plays"][last], ranked[place], axis=1) / final["horizon"].to_numpy()[:, None]
    return pd.DataFrame(plays, index=final["principal"]).groupby(level=0, sort=False).mean()
