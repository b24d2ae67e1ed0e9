"""What principals did, beside how they scored: which arms were played, what was offered and what was needed."""

import numpy as np
import pandas as pd

from pa_env.game import Game


def paid(cells: pd.DataFrame) -> pd.DataFrame:
    """The incentive offered in the round of each checkpoint of a task, and pi* of its arm: means over seeds.

    Of several arms with an incentive it is the one with the most above pi*, which a greedy agent likes best. Runs that
    offer nothing then are left out; nan where all do. Columns: principal, rounds, offer, needed.
    """
    offers, needed = np.vstack(cells["offers"]), np.vstack(cells["optimal_incentives"])
    rows, arms = np.arange(len(cells)), np.where(offers > 0, offers - needed, -np.inf).argmax(axis=1)
    some = offers.any(axis=1)
    chosen = cells[["principal", "rounds"]].assign(
        offer=np.where(some, offers[rows, arms], np.nan), needed=np.where(some, needed[rows, arms], np.nan)
    )
    return chosen.groupby(["principal", "rounds"]).mean().reset_index()


def shares(cells: pd.DataFrame) -> pd.DataFrame:
    """Shares of all plays of a task, means over seeds: a row for each principal, a column for each rank of an arm.

    Arms are ranked in each run by theta + mu, best first, of the instance that its seed gives.
    """
    final = cells[cells["rounds"] == cells["horizon"]]
    ranked = {}
    for row in final.drop_duplicates("seed").itertuples():
        game = Game(row.n_arms, agent=row.agent, instance=row.instance, dim=row.dim or None, observe=False)
        game.begin(seeds=[row.seed])
        instance = game.instance()
        ranked[row.seed] = np.argsort(-(instance.theta + instance.mu), kind="stable")
    plays = [plays[ranked[seed]] / horizon for plays, seed, horizon in final[["plays", "seed", "horizon"]].to_numpy()]
    return pd.DataFrame(np.vstack(plays), index=final["principal"]).groupby(level=0, sort=False).mean()
