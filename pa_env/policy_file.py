"""A trained policy on disk: one npz file of plain arrays, with a JSON string that says what they are.

Reading one runs nothing of its author's: arrays are read with ``allow_pickle=False``, and everything in them is checked
before it is used. The metadata hold ``format``, ``seat`` (the player; the principal if it is missing), ``tasks`` (those
that it was trained on), ``objective``, ``seed``, ``steps`` (rounds of training), ``versions``, ``width`` (of the
network) and ``sampled`` (whether actions are drawn, or the likeliest are played); that of an agent has ``against`` too,
the principal that it was trained against. The arrays are the layers of :class:`baselines.rl.networks.SetBody` and
``SetHead`` under their names there, in float32; ``mix`` only if the head is deep. What they see and do is in
:mod:`baselines.rl.view` for a principal, and in :mod:`pa_env.trained_agents` for an agent.
"""

import io
import json
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pa_env.checks import known, short

FORMAT = "principal-agent-env policy 3"
PRINCIPAL = "principal"  # the seat of files that name none
LARGEST = 1_000_000  # bytes
WIDEST = 1024
KEYS = {
    "format": str,
    "tasks": list,
    "objective": str,
    "seed": int,
    "steps": int,
    "versions": dict,
    "width": int,
    "sampled": bool,
}


class Seat(NamedTuple):
    """A player, and the sizes of what its policies see and do."""

    name: str  # principal or agent
    fields: int  # numbers that are seen for each arm
    overall: int  # and about no arm
    actions: int  # of each arm


@dataclass(frozen=True, eq=False)
class Policy:
    """Weights and what they are; see the module."""

    metadata: dict[str, Any]
    weights: dict[str, NDArray[np.float32]]

    @property
    def deep(self) -> bool:
        """True if the network has a deep head."""
        return "mix.weight" in self.weights

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the network's layers."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in self.weights))

    @property
    def seat(self) -> Seat:
        """Its player, and sizes."""
        (width, inputs), (_, pooled) = self.weights["arm_in.weight"].shape, self.weights["together.weight"].shape
        overall = pooled - 2 * width
        return Seat(self.metadata.get("seat", PRINCIPAL), inputs - overall, overall, len(self.weights["arm.bias"]))


def shapes(width: int, deep: bool, seat: Seat) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a policy, in the order of the network.

    Args:
        width: of its network.
        deep: whether the head is deep.
        seat: who plays it.
    """
    layers = {
        "arm_in": (width, seat.fields + seat.overall),
        "arm_out": (width, width),
        "together": (width, 2 * width + seat.overall),
        **({"mix": (width, 2 * width)} if deep else {}),
        "arm": (seat.actions, width if deep else 2 * width),
    }
    return {
        f"{name}.{part}": shape if part == "weight" else shape[:1]
        for name, shape in layers.items()
        for part in ("weight", "bias")
    }


def check(policy: Policy, seat: Seat) -> Policy:
    """Return the policy if it is one for this seat; else raise a ValueError that says what is wrong with it."""
    data = policy.metadata
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"format must be {FORMAT!r}: policies of other versions have to be trained anew")
    for key, kind in KEYS.items():
        if type(data.get(key)) is not kind:
            raise ValueError(f"metadata: {key} = {short(data.get(key))} must be of type {kind.__name__}")
    if (player := data.get("seat", PRINCIPAL)) != seat.name:
        keyword = "agent" if player == "agent" else "principal"
        raise ValueError(f"it is a policy of the {player:.20}: pass it as {keyword}=")
    if not data["tasks"] or not all(isinstance(name, str) for name in data["tasks"]):
        raise ValueError(f"metadata: tasks = {data['tasks']} must be names of tasks")
    if not 1 <= data["width"] <= WIDEST:
        raise ValueError(f"metadata: width = {data['width']} must be from 1 to {WIDEST}")
    wanted = shapes(data["width"], policy.deep, seat)
    if set(policy.weights) != set(wanted):
        raise ValueError(f"the arrays must be {', '.join(wanted)}, not {', '.join(policy.weights)}")
    for name, shape in wanted.items():
        array = policy.weights[name]
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != np.float32:
            raise ValueError(f"{name} must be an array of {shape} float32 numbers, not {array!r:.80}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite")
    return policy


def pack(policy: Policy, seat: Seat) -> bytes:
    """Return the bytes of the file of a policy for this seat."""
    check(policy, seat)
    buffer = io.BytesIO()
    np.savez(buffer, metadata=np.array(json.dumps(policy.metadata, sort_keys=True)), **policy.weights)  # type: ignore[arg-type]
    if buffer.tell() > LARGEST:
        raise ValueError(f"width = {policy.metadata['width']} makes a file above {LARGEST:,} bytes: pass a smaller one")
    return buffer.getvalue()


def read(path: Path, seat: Seat) -> Policy:
    """Return the policy in a file, or raise a ValueError; memory stays within a few times ``LARGEST``.

    Args:
        path: of the file.
        seat: whose policy it must be.
    """
    status = Path(path).stat()
    data = b""
    if regular := stat.S_ISREG(status.st_mode):  # a device may have no end, and a pipe would be waited for
        with Path(path).open("rb") as file:
            data = file.read(LARGEST + 1)
    try:
        if not regular:
            raise ValueError("not a regular file")  # noqa: TRY301 - one message for all of them
        if len(data) > LARGEST:
            raise ValueError(f"{status.st_size:,} bytes are more than {LARGEST:,}")  # noqa: TRY301
        return check(_unpack(data), seat)
    except Exception as error:  # zipfile and NumPy raise all sorts of them on damaged files
        what = f"not a trained policy of the {seat.name}, or is damaged"
        raise ValueError(f"path = {str(path)!r} is {what}: {error}") from error


def _unpack(data: bytes) -> Policy:
    """Return the metadata and weights in the bytes of a file; only names and sizes are checked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
    # What is not packed is read no further than the size that it declares; parts may lie over each other, though.
    if any(part.compress_type != zipfile.ZIP_STORED for part in parts):
        raise ValueError("its arrays are compressed")
    if sum(part.file_size for part in parts) > len(data):
        raise ValueError("its arrays are larger than the file")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        if "metadata" not in arrays.files:
            raise ValueError("it has no metadata")
        for name in arrays.files:
            known("array", name, ("metadata", *shapes(1, True, Seat("", 1, 1, 1))))
        metadata = json.loads(str(arrays["metadata"]))
        return Policy(metadata, {name: arrays[name] for name in arrays.files if name != "metadata"})
