"""Policies on disk: they come back as they were, damaged ones are refused, and nothing but NumPy plays them."""

import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import baselines
from baselines import rl
from baselines.rl.trained import Trained
from baselines.rl.view import FIELDS, OVERALL, RUNGS, SEAT, Field, WithBeliefs
from baselines.scripted.ours.particle_filter import LAYOUT, MARGIN, Draw, ParticleEntry
from pa_env.kernel.draws import draw, uniform
from pa_env.network import NETWORK, Network, decide, draw_action
from pa_env.policy_file import FORMAT, LARGEST, Policy, pack, read, shapes
from pa_env.rules import read_key

from ..helpers import python, step_through

WIDTH = 8


def network_in(memory: Any, n_arms: int) -> Network:
    """The network in the memory of a trained principal."""
    return NETWORK.arrays(memory[LAYOUT.size(memory, n_arms) :], n_arms)


def write(path: Path, policy: Policy) -> None:
    path.write_bytes(pack(policy, SEAT))


def random_policy(scale: float = 0.5, deep: bool = False, **changes: Any) -> Policy:
    rng = np.random.default_rng(0)
    metadata = {
        "format": FORMAT,
        "tasks": ["k3-t100-uniform"],
        "objective": "utility",
        "seed": 0,
        "steps": 1,
        "versions": {},
        "width": WIDTH,
        "sampled": True,
    }
    wanted = shapes(WIDTH, deep, SEAT).items()
    weights = {name: (scale * rng.standard_normal(shape)).astype(np.float32) for name, shape in wanted}
    return Policy(metadata | changes, weights)


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    policy, path = random_policy(deep=True), tmp_path / "policy.npz"
    write(path, policy)
    again = read(path, SEAT)
    assert again.metadata == policy.metadata
    assert all((again.weights[name] == array).all() for name, array in policy.weights.items())
    loaded, made = rl.load(path, n_arms=4, horizon=50), Trained(4, 50, policy)
    for seed in range(5):
        assert (
            baselines.simulate(loaded, seed=seed).utility.tolist()
            == baselines.simulate(made, seed=seed).utility.tolist()
        )
    assert [p.name for p in tmp_path.iterdir()] == ["policy.npz"]


@pytest.mark.parametrize(
    ("agent", "sampled", "deep"),
    [("empirical-mean", True, False), ("exploratory", False, False), ("oracle", True, True)],
)
def test_the_rule_sees_and_plays_what_the_network_was_trained_on(agent: str, sampled: bool, deep: bool) -> None:
    torch = pytest.importorskip("torch", reason="the extra [train] is not installed")
    from baselines.rl.networks import SetActorCritic

    policy, k, horizon = random_policy(deep=deep, sampled=sampled), 4, 100
    game = gym.make_vec("PrincipalAgent-v0", 1, n_arms=k, horizon=horizon, agent=agent, autoreset_mode="Disabled")
    envs = WithBeliefs(game, particles=16)
    spaces = envs.single_observation_space, envs.single_action_space
    network = SetActorCritic(*spaces, lambda _: 1e-3, width=WIDTH, fields=FIELDS, overall=OVERALL, deep=deep)
    for module in (network.mlp_extractor.actor, network.action_net):
        module.load_state_dict({name: torch.from_numpy(policy.weights[name]) for name in module.state_dict()})
    principal, (seen, _) = Trained(k, horizon, policy, particles=16), envs.reset(seed=0)
    principal.reset(seed=0)
    principal._rng = np.random.default_rng(0)  # so the particles begin as those of the environment
    rungs = set()
    for _ in range(horizon):
        with torch.no_grad():
            wanted = network.action_net(network.mlp_extractor.forward_actor(torch.from_numpy(seen))).numpy()[0]
        offer, memory = principal.offer(), principal.request().memory  # type: ignore[union-attr] # it follows a rule
        net = network_in(memory, k)
        np.testing.assert_allclose(net.seen, seen[0], rtol=1e-6)
        np.testing.assert_allclose(net.logits.ravel(), wanted, atol=1e-5)
        action = int(net.logits.argmax())
        if sampled:
            key = draw(np.uint64(read_key(memory, ParticleEntry.KEY)), principal.t)
            action = draw_action(net.logits.ravel(), uniform(np.uint64(key), Draw.ACTION * 16 + 1))
        rungs.add(action % RUNGS)
        assert np.flatnonzero(offer).tolist() in ([], [action // RUNGS])
        assert offer[action // RUNGS] == net.seen[(Field.PRICE + action % RUNGS) * k + action // RUNGS]
        seen, _, _, _, info = envs.step([action])
        principal.observe(int(info["arm"][0]), float(info["reward"][0]))
    assert len(rungs) > 1


@pytest.mark.parametrize("n_arms", [1, 2, 7])
def test_it_plays_any_number_of_arms_within_bounds(n_arms: int) -> None:
    for scale in (0.5, 50.0):
        principal = Trained(n_arms, 60, random_policy(scale))
        _, offers, _ = step_through(principal, 0, n_arms=n_arms, agent="exploratory")
        assert np.isfinite(offers).all()
        assert (np.array(offers) >= 0).all()
        assert (np.array(offers) <= 1 + MARGIN).all()


def test_step_by_step_and_simulated_games_are_the_same() -> None:
    principal = Trained(4, 80, random_policy())
    run = baselines.simulate(principal, seed=3)
    infos, _, _ = step_through(principal, 3, n_arms=4)
    assert sum(info["regret"] for info in infos) == pytest.approx(run.regret[-1], abs=1e-9)
    env = gym.make("PrincipalAgent-v0", n_arms=4, horizon=80)
    observation, _ = env.reset(seed=3)
    state, utility, over = None, 0.0, False
    while not over:
        offer, state = principal.predict(observation, state)
        observation, reward, over, _, _ = env.step(offer)
        utility += float(reward)
    assert utility == pytest.approx(run.utility[-1], abs=1e-9)


def test_actions_are_drawn_with_the_probabilities_of_the_network() -> None:
    logits = np.array([1.0, -2.0, 900.0, 901.0, 899.5])
    found = np.bincount([draw_action(logits, u) for u in (np.arange(10_000) + 0.5) / 10_000], minlength=5) / 10_000
    np.testing.assert_allclose(found, np.exp(logits - 901) / np.exp(logits - 901).sum(), atol=1e-3)


def test_a_seed_gives_one_game() -> None:
    principal = Trained(4, 80, random_policy(0.1))
    offers = []
    for seed in (0, 0, 1):
        principal.reset(seed=seed)
        offers.append(principal.offer().tolist())
    assert offers[0] == offers[1] != offers[2]


def test_relabelled_arms_are_as_likely() -> None:
    order, logits = np.array([2, 0, 1]), []
    view = np.random.default_rng(0).uniform(size=FIELDS * 3 + OVERALL)
    for chosen in (np.arange(3), order):
        principal = Trained(3, 60, random_policy())
        memory = principal.memory()
        net = network_in(memory, 3)
        net.seen[:] = view
        net.seen[: FIELDS * 3] = view[: FIELDS * 3].reshape(FIELDS, 3)[:, chosen].ravel()
        decide(net)
        logits.append(net.logits)
    assert np.ptp(logits[0]) > 1
    np.testing.assert_allclose(logits[1], logits[0][order], atol=1e-12)


def damaged(data: bytes, within: int, rng: np.random.Generator) -> bytes:
    """The data with one of their first bytes changed."""
    changed = bytearray(data)
    changed[rng.integers(min(within, len(data)))] ^= int(rng.integers(1, 256))
    return bytes(changed)


def with_a_damaged_part(whole: bytes, part: str, rng: np.random.Generator) -> bytes:
    """The archive with one of the files in it damaged at its beginning, and packed as if it were not."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, damaged(data, 128, rng) if name == part else data)
    return made.getvalue()


def test_damaged_files_are_refused_and_nothing_else_happens(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    write(path, random_policy())
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    files = [damaged(whole, len(whole), rng) for _ in range(300)]
    with zipfile.ZipFile(path) as archive:
        files += [with_a_damaged_part(whole, part, rng) for part in archive.namelist() for _ in range(50)]
    refused = 0
    for file in files:
        path.write_bytes(file)
        try:
            read(path, SEAT)
        except ValueError as error:
            assert str(path) in str(error)  # noqa: PT017 - some damage is harmless
            refused += 1
    assert refused > 0.9 * len(files)
    for size in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="not a trained policy of the principal, or is damaged"):
            read(path, SEAT)
    path.write_bytes(whole + bytes(LARGEST))
    with pytest.raises(ValueError, match=rf"{len(whole) + LARGEST:,} bytes are more than {LARGEST:,}"):
        read(path, SEAT)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "absent.npz", SEAT)


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_nothing_is_unpacked(packed: int, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    write(path, random_policy())
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "packed.npz", "w", packed) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    with pytest.raises(ValueError, match="its arrays are compressed"):
        read(tmp_path / "packed.npz", SEAT)


def overlapping(payload: bytes, parts: int) -> bytes:
    """An archive of which every part contains all that follow it, and so is nearly as large as the whole."""
    data, directory = payload, b""
    heads = []
    for i in reversed(range(parts)):
        name = f"{i:04}".encode()
        about = struct.pack("<5H3L2H", 20, 0, 0, 0, 33, zlib.crc32(data), len(data), len(data), len(name), 0)
        heads.append((about, name))
        data = b"PK\3\4" + about + name + data
    for i, (about, name) in enumerate(reversed(heads)):
        directory += b"PK\1\2" + struct.pack("<H", 20) + about + struct.pack("<3H2L", 0, 0, 0, 0, 34 * i) + name
    return data + directory + b"PK\5\6" + struct.pack("<4H2LH", 0, 0, parts, parts, len(directory), len(data), 0)


def test_parts_that_overlap_take_no_more_memory_than_the_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    path.write_bytes(overlapping(bytes(800_000), parts=200))  # 160 MB, if all were read
    with zipfile.ZipFile(path) as archive:
        assert archive.infolist()[199].file_size == 800_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="its arrays are larger than the file"):
            read(path, SEAT)
        assert tracemalloc.get_traced_memory()[1] < 5 * LARGEST
    finally:
        tracemalloc.stop()


def test_only_the_parts_of_a_policy_are_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    write(path, random_policy())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("arm.bios.npy", "anything")
    with pytest.raises(ValueError, match=r"array = 'arm.bios' is unknown \(did you mean 'arm.bias'\?\)"):
        read(path, SEAT)


def test_an_array_that_says_it_is_huge_is_refused(tmp_path: Path) -> None:
    metadata, array = io.BytesIO(), io.BytesIO()
    np.save(metadata, np.array(json.dumps(random_policy().metadata)))
    for size in (10**8, 10**12):
        header = {"descr": "<f4", "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(array, header)
        with zipfile.ZipFile(tmp_path / f"{size}.npz", "w") as archive:
            archive.writestr("metadata.npy", metadata.getvalue())
            archive.writestr("arm.bias.npy", array.getvalue() + bytes(100))
        with pytest.raises(ValueError, match="not a trained policy"):
            read(tmp_path / f"{size}.npz", SEAT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such things here")
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = {"pipe": tmp_path / "pipe.npz", "device": Path("/dev/zero"), "folder": tmp_path}[kind]
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(ValueError, match="not a regular file"):
        rl.load(path, n_arms=3, horizon=100)


def test_arrays_alone_are_no_policy(tmp_path: Path) -> None:
    np.savez(tmp_path / "arrays.npz", **random_policy().weights)
    with pytest.raises(ValueError, match="it has no metadata"):
        read(tmp_path / "arrays.npz", SEAT)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": "principal-agent-env policy 1"}, "other versions have to be trained anew"),
        ({"width": 9}, "must be"),
        ({"width": 10**9}, "width"),
        ({"width": True}, "width = True"),
        ({"tasks": "k3-t100-uniform"}, "tasks = 'k3-t100-uniform' must be of type list"),
        ({"tasks": []}, "tasks = .. must be names of tasks"),
        ({"sampled": 1}, "sampled = 1 must be of type bool"),
    ],
)
def test_wrong_metadata_are_named(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    policy = random_policy(**changes)
    with pytest.raises(ValueError, match=says):
        write(tmp_path / "policy.npz", policy)
    np.savez(tmp_path / "policy.npz", metadata=np.array(json.dumps(policy.metadata)), **policy.weights)
    with pytest.raises(ValueError, match=says):
        read(tmp_path / "policy.npz", SEAT)


class Intruder:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("intruder"),))


def test_a_pickle_in_a_file_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy = random_policy()
    weights: dict[str, Any] = policy.weights | {"arm.bias": np.array([Intruder()], object)}
    np.savez("policy.npz", metadata=np.array(json.dumps(policy.metadata)), **weights)
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Intruder()))
    for name in ("policy.npz", "plain.npz"):
        with pytest.raises(ValueError, match="not a trained policy"):
            rl.load(name, n_arms=3, horizon=100)
    assert not (tmp_path / "intruder").exists()


def test_playing_needs_no_torch(tmp_path: Path) -> None:
    write(tmp_path / "policy.npz", random_policy())
    code = (
        "sys.modules |= dict.fromkeys(('torch', 'stable_baselines3', 'sb3_contrib'))\n"
        "import baselines; from baselines import rl\n"
        f"principal = rl.load({str(tmp_path / 'policy.npz')!r}, n_arms=3, horizon=100)\n"
        "print(baselines.simulate(principal, seed=1).utility[-1])"
    )
    with python(code) as process:
        printed, problems = process.communicate()
    assert not problems
    expected = baselines.simulate(Trained(3, 100, random_policy()), seed=1).utility[-1]
    assert float(printed) == expected
