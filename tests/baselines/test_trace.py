"""A trace has every round that was played: those of the environment step by step, in row groups, the same bytes."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import OwnAgent
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import baselines
from baselines import simulate, trace
from baselines.__main__ import app
from baselines.files import StoreError

HORIZON = 120


def read(path: Path) -> dict[str, Any]:
    table = pq.read_table(path)
    return {name: np.array(table[name].to_pylist()) for name in table.column_names}


@pytest.mark.parametrize("agent", ["exploratory", "own"])
@pytest.mark.parametrize(
    "name", ["elimination", "exploratory", "profit-target", "ipa", "epsilon-greedy", "oracle", "belgic"]
)
def test_its_rounds_are_those_of_the_environment(name: str, agent: str, tmp_path: Path) -> None:
    opponent: Any = OwnAgent() if agent == "own" else agent
    marks = [1, 60, HORIZON]
    run = simulate(name, agent=opponent, horizon=HORIZON, seed=3, checkpoints=marks, trace=tmp_path / "a.parquet")
    plain = simulate(name, agent=opponent, horizon=HORIZON, seed=3, checkpoints=marks)
    for score, sums in plain.scores.items():
        assert_array_equal(run.scores[score], sums, err_msg=score)
    for kept in ("misses", "plays", "offers", "optimal_incentives"):
        assert_array_equal(getattr(run, kept), getattr(plain, kept), err_msg=kept)
    rounds = read(tmp_path / "a.parquet")
    env: Any = gym.make("PrincipalAgent-v0", horizon=HORIZON, agent=opponent, max_incentive=1e30)
    env.reset(seed=3)
    principal = baselines.make(name, n_arms=5, horizon=HORIZON)
    principal.reset(seed=3)
    principal.attach(env.unwrapped.game)
    assert_array_equal(rounds["t"], np.arange(1, HORIZON + 1))
    assert set(rounds["seed"]) == {3}
    for t in range(HORIZON):
        offer = principal.offer()
        assert_array_equal(rounds["beliefs"][t], env.unwrapped.game.means[0], err_msg=str(t))
        _, _, _, _, info = env.step(offer)
        principal.observe(info["arm"], info["reward"])
        assert_array_equal(rounds["offer"][t], offer)
        assert_array_equal(rounds["optimal_incentives"][t], info["optimal_incentives"])
        assert (rounds["arm"][t], rounds["reward"][t]) == (info["arm"], info["reward"])
        assert rounds["regret"][t] == info["regret"]
    assert run.misses[-1] == ((rounds["target"] >= 0) & (rounds["target"] != rounds["arm"])).sum()


def test_agents_rewards_are_what_its_beliefs_are_made_of(tmp_path: Path) -> None:
    simulate("ipa", horizon=HORIZON, trace=tmp_path / "a.parquet")
    rounds = read(tmp_path / "a.parquet")
    for a in range(5):
        before = rounds["arm"][:-1] == a
        if before.any():
            assert rounds["beliefs"][-1, a] == rounds["agent_reward"][:-1][before].mean()


def test_many_episodes_in_row_groups_and_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "ROW_GROUP", 64)
    for name in ("a", "b"):
        simulate("elimination", horizon=50, seeds=[4, 9, 2], trace=tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    file = pq.ParquetFile(tmp_path / "a")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [64, 64, 22]
    rounds = read(tmp_path / "a")
    assert rounds["seed"].tolist() == [4] * 50 + [9] * 50 + [2] * 50
    simulate("elimination", horizon=50, seed=9, trace=tmp_path / "alone")
    alone = read(tmp_path / "alone")
    for name, values in alone.items():
        assert_array_equal(rounds[name][50:100], values, err_msg=name)


def test_privileged_columns_are_marked(tmp_path: Path) -> None:
    simulate("linear", "unit-ball", horizon=30, trace=tmp_path / "a.parquet")
    found = pq.read_schema(tmp_path / "a.parquet")
    marked = {field.name for field in found if (field.metadata or {}).get(b"privileged") == b"true"}
    assert marked == {"agent_reward", "regret", "beliefs", "optimal_incentives"}
    assert set(found.names) - marked == {"seed", "t", "offer", "target", "arm", "reward"}


def test_what_ends_early_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="incentives"):
        simulate(
            baselines.make("fixed", n_arms=2, horizon=9, incentives=[0, 1]),
            agent=Broken(),
            trace=tmp_path / "a.parquet",
        )
    with pytest.raises(StoreError, match="nowhere"):
        simulate("zero", horizon=10, trace=tmp_path / "nowhere" / "a.parquet")
    with pytest.raises(ValueError, match="largest seed of a trace = 9223372036854775808 must be"):
        simulate("zero", horizon=10, seed=2**63, trace=tmp_path / "a.parquet")
    assert not list(tmp_path.iterdir())


class Broken(OwnAgent):
    def choose(self, incentives: Any) -> int:
        raise ValueError("I do not like these incentives")


def test_a_sweep_keeps_every_round_of_its_blocks(tmp_path: Path) -> None:
    out, options = tmp_path / "out", ["--task", "smoke", "--principal", "zero", "--workers", "1"]

    def command(*more: str) -> Any:
        return CliRunner().invoke(app, ["run", *options, "--quiet", "--out", str(out), *more])

    assert command("--seeds", "2").exit_code == 0
    assert not list(out.glob("traces/*"))
    assert command("--seeds", "2", "--trace").exit_code == 0  # the block is there, and its rounds are not
    (path,) = out.glob("traces/*.parquet")
    rounds = pq.read_table(path).to_pandas()
    assert rounds.groupby("seed")["t"].agg(list).to_dict() == {seed: list(range(1, 51)) for seed in range(2)}
    block = pq.read_table(*out.glob("blocks/*.parquet")).to_pandas()
    final = block[block["rounds"] == 50].set_index("seed")["regret"]
    assert rounds.groupby("seed")["regret"].sum().to_dict() == pytest.approx(final.to_dict())
    assert command("--seeds", "3").exit_code == 0
    assert not path.exists()  # it would lack a seed
    assert command("--seeds", "2", "--trace").exit_code == 0
    assert set(pq.read_table(path)["seed"].to_pylist()) == {0, 1, 2}  # no seed that was there is lost
    assert set(pq.read_table(*out.glob("blocks/*.parquet"))["seed"].to_pylist()) == {0, 1, 2}
    refused = command("--trace", "--engine", "ray")
    assert refused.exit_code == 1
    assert "trace is for engine = 'local'" in refused.output
