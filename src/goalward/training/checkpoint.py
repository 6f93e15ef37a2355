"""A training on disk, so that it can go on after a crash: tensors as safetensors, never pickle."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from goalward.errors import GoalwardError
from goalward.files import written_whole
from goalward.training.frames import Recording
from goalward.training.nets import Nets
from goalward.training.presets import Hyperparameters
from goalward.training.runs import Run

_PROGRESS = "progress.safetensors"
_FINGERPRINT_ROWS = 997


def nets_path(folder: Path, group: int) -> Path:
    return folder / f"nets-{group}.safetensors"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, str]) -> None:
    """Tensors and a few texts in one file, whole or not at all."""
    content = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with written_whole(path) as temporary:
        try:
            save_file(content, temporary, metadata=dict(facts))
        except SafetensorError as error:
            # A full disk is no OSError to safetensors.
            raise GoalwardError(f"{path}: cannot be written ({error})") from error


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What `write_tensors` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise GoalwardError(f"{path}: cannot be read ({error})") from error


def write_nets(path: Path, nets: Nets) -> None:
    """The networks of a group in one file; their runs go into it as JSON."""
    tensors = {f"weights/{name}": tensor for name, tensor in nets.weights.items()}
    tensors |= {"mean": nets.mean, "scale": nets.scale}
    runs = json.dumps(runs_as_json(nets.runs))
    write_tensors(path, tensors, {"fingerprint": nets.fingerprint, "runs": runs})


def read_nets(path: Path) -> Nets:
    tensors, facts = read_tensors(path)
    mean, scale = tensors.pop("mean"), tensors.pop("scale")
    weights = {name.removeprefix("weights/"): tensor for name, tensor in tensors.items()}
    runs = runs_from_json(json.loads(facts["runs"]))
    return Nets(runs, weights, mean, scale, facts["fingerprint"])


def runs_as_json(runs: tuple[Run, ...]) -> list[dict[str, Any]]:
    return [{**vars(run), "anchors": runs_as_json(run.anchors)} for run in runs]


def runs_from_json(content: list[dict[str, Any]]) -> tuple[Run, ...]:
    return tuple(
        Run(
            **{
                **entry,
                "episodes": tuple(entry["episodes"]),
                "held_out": tuple(entry["held_out"]),
                "anchors": runs_from_json(entry["anchors"]),
            }
        )
        for entry in content
    )


def fingerprint(
    recording: Recording, numbers: Hyperparameters, groups: list[tuple[Run, ...]]
) -> str:
    """A text that differs when a stored training is not this one: other data, runs or numbers.

    Of large features some rows spread over all episodes stand for the rest.
    """
    digest = hashlib.blake2b(digest_size=16)
    content = [numbers.as_dict(), [runs_as_json(group) for group in groups]]
    digest.update(json.dumps(content).encode())
    digest.update(repr((recording.features.shape, recording.episode_outcome)).encode())
    rows = np.linspace(0, recording.num_frames - 1, _FINGERPRINT_ROWS).astype(np.int64)
    for array in (recording.episode_ends, recording.at_goal, recording.features[np.unique(rows)]):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Checkpoint:
    """The folder of a training: one file per finished group, one for the group under way.

    Files of another training (their fingerprint differs) are not read, and are overwritten.
    """

    folder: Path
    fingerprint: str

    def finished(self, group: int) -> Nets | None:
        """The networks of a group, if they are trained already."""
        path = nets_path(self.folder, group)
        if not path.exists():
            return None
        nets = read_nets(path)
        return nets if nets.fingerprint == self.fingerprint else None

    def finish(self, group: int, nets: Nets) -> None:
        write_nets(nets_path(self.folder, group), nets)
        (self.folder / _PROGRESS).unlink(missing_ok=True)

    def progress(self, group: int) -> dict[str, Tensor] | None:
        """The state of a group that was interrupted."""
        path = self.folder / _PROGRESS
        if not path.exists():
            return None
        state, facts = read_tensors(path)
        wanted = {"fingerprint": self.fingerprint, "group": str(group)}
        return state if facts == wanted else None

    def save_progress(self, group: int, state: Mapping[str, Tensor]) -> None:
        facts = {"fingerprint": self.fingerprint, "group": str(group)}
        write_tensors(self.folder / _PROGRESS, state, facts)
