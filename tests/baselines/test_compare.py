"""Principals side by side: the episodes of ``simulate``, paired; tables, figures, other processes, and bad input."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import OwnAgent
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

import baselines
from baselines import Comparison, Principal, compare, comparison, hold, simulate
from baselines.benchmark import blocks
from baselines.benchmark.statistics import mean_interval
from baselines.principal import Rounds
from baselines.scripted.ours.profit_target import ProfitTarget
from pa_env import IID
from pa_env.kernel.layout import SCORES

from .helpers import sizes_of

OWN = """
import pa_env
from baselines import Principal, hold

class Mine(Principal):
    def __init__(self, n_arms, horizon, amount=0.5):
        super().__init__(n_arms, horizon)
        self.amount = amount

    def rounds(self):
        yield hold(0, self.amount, rounds=self.horizon)


class Stubborn:
    name = "stubborn"

    def reset(self, n_arms, rng):
        self.means = [0.5] * n_arms

    def choose(self, incentives):
        return 1

    def learn(self, arm, reward):
        pass


def poor(rng):
    return pa_env.IID(mu=0.1 * rng.random(3), theta=0.1 * rng.random(3))
"""


class Payer(Principal):
    """Holds an incentive on arm 0."""

    def __init__(self, n_arms: int, horizon: int, amount: float = 0.5) -> None:
        super().__init__(n_arms, horizon)
        self.amount = amount

    def rounds(self) -> Rounds:
        yield hold(0, self.amount, rounds=self.horizon)


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(["zero", "profit-target", "oracle"], horizon=60, seeds=30)


@pytest.mark.parametrize("score", SCORES)
def test_the_episodes_are_those_of_simulate(found: Comparison, score: str) -> None:
    for name in ("zero", "profit-target", "oracle"):
        alone = simulate(name, horizon=60, seeds=range(30), checkpoints=found.checkpoints)
        assert_array_equal(found.samples[name][SCORES.index(score)], alone.scores[score])


def test_the_table_says_what_the_episodes_were(found: Comparison) -> None:
    final = found.samples["zero"][[SCORES.index(score) for score in found.scores], :, -1]
    row = found.table.loc["zero"]
    assert found.table.index.tolist() == ["oracle", "profit-target", "zero"]
    ends = zip(*mean_interval(final.T), strict=True)
    for sums, score, (low, high) in zip(final, found.scores, ends, strict=True):
        assert (row[score], row[f"{score}_low"], row[f"{score}_high"]) == pytest.approx((sums.mean(), low, high))
        spread = [row[f"{score}_{name}"] for name in ("median", "q05", "q95")]
        assert spread == pytest.approx(np.quantile(sums, (0.5, 0.05, 0.95)).tolist())


def test_differences_are_paired(found: Comparison) -> None:
    defined = [SCORES.index(score) for score in found.scores]
    paired = (found.samples["zero"] - found.samples["profit-target"])[defined, :, -1]
    low, high = mean_interval(paired.T)
    rows = found.difference("zero", "profit-target")
    assert rows.index.tolist() == list(found.scores)
    assert_array_equal(rows.to_numpy(), np.stack([paired.mean(axis=1), low, high], axis=1))
    assert found.difference("zero", "zero").to_numpy().tolist() == [[0.0] * 3] * len(found.scores)
    with pytest.raises(ValueError, match=r"'zer'.*zero"):
        found.difference("zer", "zero")


def test_curves_have_a_row_for_each_principal_and_checkpoint(found: Comparison) -> None:
    last = found.curves.groupby("principal").last()
    assert len(found.curves) == 3 * found.checkpoints.size
    assert (last["rounds"] == 60).all()
    for name in found.samples:
        assert last.loc[name, "mean"] == pytest.approx(found.table.loc[name, "regret"])


def test_it_shows_itself(found: Comparison) -> None:
    text = str(found)
    assert repr(found) == text
    assert max(map(len, text.splitlines())) <= 100
    assert [line.split("  ")[0] for line in text.splitlines()[3:6]] == ["oracle (privileged)", "profit-target", "zero"]
    assert " ".join(text.splitlines()[6:]) == found.verdict
    assert "30 episodes" in text
    assert "T = 60" in text
    assert found._repr_html_().count("<tr") == 4


def test_both_orders_are_told(found: Comparison) -> None:
    """And who is not separated from the best, on how many seeds, and what those could have shown."""
    most, least = found.verdict.split(" Least R_T: ")
    assert most.startswith("Most utility: profit-target, ")
    assert "not separated on 30 seeds: zero (" in most
    assert least.startswith("profit-target, ")
    against = compare(["zero", "ipa", "oracle"], agent="exp3", horizon=1200, seeds=12)
    assert against.verdict.endswith("R_T does not rank principals: exp3 does not act on the beliefs behind it.")
    assert against.table["utility"].is_monotonic_decreasing
    assert compare(["oracle"], horizon=10, seeds=2).verdict == "Only privileged principals played."
    long = compare(["zero", "ipa"], agent="oracle", horizon=1001, seeds=12)
    assert long.table["regret"].is_monotonic_increasing


def test_principals_that_earn_the_same_are_told_so() -> None:
    tied = compare({"zero": "zero", "mine": Payer(5, 20, 1e-11)}, horizon=20, seeds=10)
    assert tied.verdict.count("not separated on 10 seeds") == 2
    assert tied.verdict.count("(the same)") == 2


def test_one_seed_is_singular() -> None:
    text = " ".join(str(compare(["zero", "ipa"], horizon=10, seeds=1)).split())
    assert "1 episode of each" in text
    assert "1 common seed is too few" in text


def test_labels_are_escaped_and_shortened() -> None:
    odd = "a_b & <i>$c$</i>" + "x" * 60
    shown = compare({odd: "zero"}, horizon=10, seeds=3)
    assert max(map(len, str(shown).splitlines())) <= 100
    assert "<i>" not in shown._repr_html_()
    assert r"a\_b \& <i>\$c\$</i>" in shown.to_latex()
    assert shown.to_latex().count(r"\\") == 2
    assert len(shown.plot()._repr_png_()) > 1000  # type: ignore[attr-defined]


def test_figures(found: Comparison) -> None:
    axes = found.plot("regret").axes[0]
    assert axes.get_ylabel() == "regret $R_t$"
    assert {line.get_label() for line in axes.lines} == {"oracle", "profit-target", "zero"}
    assert found.plot().axes[0].get_ylabel() == "utility"
    own = Figure().subplots(1, 2)
    assert found.plot(minus="zero", log=True, ax=own[1]) is own[1].figure
    assert own[1].get_ylabel() == "utility minus that of zero"
    assert own[1].get_xscale() == "log"
    (line,) = (line for line in own[1].lines if line.get_label() == "profit-target")
    end = found.difference("profit-target", "zero").loc["utility", "mean"]
    assert line.get_ydata()[-1] == pytest.approx(end)  # type: ignore[index]
    assert not own[0].lines
    with pytest.raises(ValueError, match="minus = 'nobody' is unknown"):
        found.plot(minus="nobody")
    with pytest.raises(ValueError, match="score = 'profit'"):
        found.plot("profit")


def test_whatever_a_principal_is_given_as(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    dear = Payer(3, 20, amount=1.5)
    simulate(dear, horizon=20)  # in the middle of an episode it can be compared too
    own = compare(["zero", f"{file}:Mine,amount=1.5", Payer, dear], n_arms=3, horizon=20, seeds=5)
    labels = ["zero", "Mine,amount=1.5", "Payer", "Payer,amount=1.5"]
    assert list(own.samples) == labels
    assert_array_equal(own.samples[labels[1]], own.samples[labels[3]])
    assert (own.samples[labels[2]] != own.samples[labels[3]]).any()
    tuned = [ProfitTarget(3, 20, bonus=1.0), ProfitTarget(3, 20)]
    assert list(compare(tuned, seeds=2).samples) == ["profit-target,bonus=1.0", "profit-target"]


def test_whatever_the_setting_is_given_as() -> None:
    instance = IID(mu=[0.1, 0.9], theta=[0.9, 0.1])
    fixed = compare(["zero"], agent=OwnAgent(), instance=instance, horizon=10, seeds=[4, 7])
    assert fixed.seeds.tolist() == [4, 7]
    assert_array_equal(
        fixed.samples["zero"][SCORES.index("regret")],
        simulate("zero", instance, OwnAgent(), 10, seeds=[4, 7], checkpoints=fixed.checkpoints).regret,
    )
    drawn = compare(
        ["zero"], agent=OwnAgent, instance=lambda rng: IID(rng.random(5), rng.random(5)), horizon=10, seeds=2
    )
    assert "agent OwnAgent" in drawn.setting
    linear = compare(["linear,constants=practical", "c-ipa"], instance="unit-ball", horizon=50, seeds=3)
    assert_array_equal(
        linear.samples["c-ipa"][SCORES.index("regret")],
        simulate("c-ipa", "unit-ball", horizon=50, seeds=range(3), checkpoints=linear.checkpoints).regret,
    )
    assert compare(["zero"], "smoke", seeds=2).checkpoints[-1] == 50


def test_other_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(Principal):
        """As one that was defined in a notebook: no other process can import it."""

        def __init__(self, n_arms: int, horizon: int, amount: float = 0.5) -> None:
            super().__init__(n_arms, horizon)
            self.amount = amount

        def rounds(self) -> Rounds:
            yield hold(0, self.amount, rounds=self.horizon)

    game: dict[str, Any] = {"instance": lambda rng: IID(rng.random(5), rng.random(5)), "horizon": 30, "seeds": 20}
    monkeypatch.setattr(blocks, "ROUNDS", 240)  # eight seeds
    here = compare(["zero", Local, Local(5, 30, 0.7)], **game, workers=1)
    monkeypatch.setattr(comparison, "POOL_AFTER_S", -1.0)
    there = compare(["zero", Local, Local(5, 30, 0.7)], **game, workers=2)
    for label, sums in here.samples.items():
        assert_array_equal(sums, there.samples[label], err_msg=label)


def test_whose_mistake_it_was_is_said() -> None:
    class Late(Payer):
        def rounds(self) -> Rounds:
            yield hold(0, 0.5, rounds=5)
            yield hold(7, 0.5)

    with pytest.raises(ValueError, match="arm = 7") as caught:
        compare(["zero", Late], horizon=10, seeds=[3, 4])
    assert caught.value.__notes__ == ["Late was playing seeds 3 to 4"]


@pytest.mark.parametrize(
    ("principals", "setting", "message"),
    [
        ([], {}, r"principals = \[\] must have at least one"),
        ("zero", {}, "principals = 'zero' must be a list"),
        ([3], {}, "principal = 3 must be a name"),
        (["zero", "ipa", "zero"], {}, "principals has 'zero' twice"),
        (["zer"], {}, "zer can't play this game: .*'zero'"),
        (["nowhere.py:Mine"], {}, "there is no file"),
        (["linear"], {}, "linear can't play this game: .*needs linear rewards"),
        (["fixed"], {}, "fixed can't play this game: .*incentives"),
        ([Payer(3, 20)], {"n_arms": 4}, "Payer can't play this game: Payer has n_arms = 3, but the game has 4"),
        (["zero"], {"task": "smoke", "horizon": 30}, "task = 'smoke' is a whole setting: leave out horizon"),
        (["zero"], {"task": "tin"}, "task = 'tin'"),
        (["zero"], {"horizon": 1.5}, "horizon = 1.5"),
        (["zero"], {"agent": "nobody"}, "agent = 'nobody'"),
        (["zero"], {"instance": 5}, "instance = 5 must be"),
        (["zero"], {"seeds": 0}, "seeds = 0"),
        (["zero"], {"seeds": [1, 1]}, r"seeds = \[1, 1\] must be one or more different"),
        (["zero"], {"workers": 0}, "workers = 0"),
    ],
)
def test_mistakes_are_told_before_anything_is_played(
    principals: Any, setting: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "play", lambda *_: pytest.fail("played"))
    with pytest.raises((TypeError, ValueError), match=message):
        compare(principals, **setting)


@pytest.mark.parametrize("workers", [1, 2])
def test_agents_and_instances_come_from_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(comparison, "POOL_AFTER_S", 0.0)
    setting = {"agent": "own.py:Stubborn", "instance": "own.py:poor", "n_arms": 3, "horizon": 20, "seeds": 4}
    found = compare(["zero", "own.py:Mine"], **setting, workers=workers)  # type: ignore[arg-type]
    assert found.setting == "agent stubborn, instance poor, K = 3, T = 20"
    assert set(found.samples) == {"zero", "Mine"}
    assert (found.table["regret"] > 0).any()
    utilities = [found.samples[name][SCORES.index("utility")] for name in ("zero", "Mine")]
    assert_array_equal(*utilities)  # it plays arm 1 whatever is offered


def test_its_help_is_that_of_the_function() -> None:
    assert callable(baselines.compare)
    assert re.search("Args:\n +principals", baselines.compare.__doc__ or "")


def test_runs_as_tables_and_figures() -> None:
    many = simulate("zero", horizon=30, seeds=[2, 5], checkpoints=[10, 30])
    frame = many.to_frame()
    assert frame["seed"].tolist() == [2, 2, 5, 5]
    assert frame["rounds"].tolist() == [10, 30, 10, 30]
    assert_array_equal(frame["regret"], many.regret.ravel())
    assert_array_equal(frame[[f"plays_{a}" for a in range(5)]], many.plays.reshape(4, 5))
    assert "seed" not in simulate("zero", horizon=30).to_frame()
    (line,) = many.plot("misses").axes[0].lines
    assert_array_equal(line.get_ydata(), np.median(many.misses, axis=0))
    assert many.plot().axes[0].get_ylabel() == "utility"
    own = Figure().subplots(1, 2)
    assert many.plot("regret", log=True, ax=own[1]) is own[1].figure
    assert (own[1].get_ylabel(), own[1].get_xscale(), own[1].get_yscale()) == ("regret $R_t$", "log", "symlog")
    assert not own[0].lines
    with pytest.raises(ValueError, match="score = 'profit'"):
        many.plot("profit")
    for score in SCORES:
        if score == "regret_fixed":
            with pytest.raises(ValueError, match="'regret_fixed' is not defined for this agent"):
                many.plot(score)
        else:
            assert many.plot(score).axes[0].get_ylabel()


def test_scores_that_only_some_agents_have() -> None:
    greedy, typed = (compare(["zero"], agent=agent, horizon=20, seeds=3) for agent in ("oracle", "types"))
    assert "regret_fixed" not in greedy.table
    assert typed.table["regret_fixed"].notna().all()
    assert typed.plot("regret_fixed").axes[0].lines
    with pytest.raises(ValueError, match="score = 'regret_fixed'"):
        greedy.plot("regret_fixed")


@pytest.mark.parametrize("name", [name for name in baselines.principals() if name not in ("linear", "c-ipa", "fixed")])
def test_a_principal_shows_all_its_parameters(name: str) -> None:
    sizes = sizes_of(name, 4, 50)
    made = baselines.make(name, **sizes)
    parameters = ", ".join(f"{p.name}=[^ ]+" for p in baselines.registry.parameters(name))
    assert re.fullmatch(rf"\w+\(n_arms={sizes['n_arms']}, horizon={sizes['horizon']}(, {parameters})?\)", repr(made)), (
        repr(made)
    )
