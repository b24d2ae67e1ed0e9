"""Write a Minari dataset of a scripted principal's games, for offline reinforcement learning and off-policy evaluation.

Every round is kept in a Parquet file by ``simulate(..., trace=...)``; from it come the episodes of the environment
``PrincipalAgent-v0`` with ``observation="last"``: what the principal saw, offered and earned. It needs
``pip install minari``.

    MINARI_DATASETS_PATH=datasets python examples/minari_dataset.py --episodes 100
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import minari
import numpy as np
import pyarrow.parquet as pq
from minari.data_collector import EpisodeBuffer

import baselines
import pa_env

gym.register_envs(pa_env)

ARMS, HORIZON, PRINCIPAL = 5, 200, "profit-target"
WHOSE = {"author": "you", "author_email": "you@example.org", "code_permalink": "https://example.org/your-code"}


def episodes(path: Path) -> Iterator[EpisodeBuffer]:
    """The episodes of a trace, without the columns that are privileged."""
    columns = [field.name for field in pq.read_schema(path) if not (field.metadata or {}).get(b"privileged")]
    table = pq.read_table(path, columns=columns)
    for first in range(0, table.num_rows, HORIZON):
        played = {name: np.array(table[name].slice(first, HORIZON).to_pylist()) for name in columns}
        last = np.hstack([np.eye(ARMS)[played["arm"]], played["offer"], played["reward"][:, None]])
        observations = np.zeros((HORIZON + 1, 2 * ARMS + 2), np.float32)
        observations[1:, :-1], observations[1:, -1] = last, played["t"] / HORIZON
        paid = played["offer"][np.arange(HORIZON), played["arm"]]
        yield EpisodeBuffer(
            seed=int(played["seed"][0]),
            observations=list(observations),
            actions=list(played["offer"]),
            rewards=list(played["reward"] - paid),
            terminations=[*[False] * (HORIZON - 1), True],
            truncations=[False] * HORIZON,
        )


def main(count: int) -> None:
    """Play, write the dataset, load it again, and replay its first episode in the environment."""
    env = gym.make("PrincipalAgent-v0", n_arms=ARMS, horizon=HORIZON, observation="last")
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "rounds.parquet"
        baselines.simulate(PRINCIPAL, horizon=HORIZON, seeds=range(count), trace=trace)
        name = f"principal-agent/{PRINCIPAL}-v0"
        minari.create_dataset_from_buffers(
            name,
            list(episodes(trace)),
            env=env,
            algorithm_name=PRINCIPAL,
            description=f"{PRINCIPAL} against the empirical-mean agent, K = {ARMS}, T = {HORIZON}",
            data_format="arrow",
            eval_env=env,
            **WHOSE,
        )
    dataset = minari.load_dataset(name)
    first = next(dataset.iterate_episodes([0]))
    observation, _ = env.reset(seed=0)
    same = np.array_equal(observation, first.observations[0])
    for t, action in enumerate(first.actions):
        observation, reward, _, _, _ = env.step(action)
        same &= np.array_equal(observation, first.observations[t + 1]) and reward == first.rewards[t]
    print(f"{dataset.id}: {dataset.total_episodes} episodes, {dataset.total_steps} rounds; replayed the same: {same}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a Minari dataset.")
    parser.add_argument("--episodes", type=int, default=100, help="of the dataset")
    main(parser.parse_args().episodes)
