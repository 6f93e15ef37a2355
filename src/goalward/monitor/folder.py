"""The folder of a monitor: networks as ONNX, and what they have to be given, with checksums.

| file | what |
|---|---|
| `monitor.json` | cameras, sizes, lags, tasks, the alarm, and the checksums of the other files |
| `encoder.onnx` | bytes of prepared pictures -> vectors; absent where a run saw no cameras |
| `heads.onnx` | what is seen of a frame -> hazards by every network; one file per task where |
| | tasks have networks of their own |
| `lens.npz` | the main directions of features, their mean, the codes of tasks |
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.checksums import (
    DamagedFile,
    carried_checksum,
    damage_explained,
    read_json_with_checksum,
    sha256_of,
    write_json_with_checksum,
)
from goalward.embeddings.models.preprocessing import Resize, ResizeAndCrop, resize_from
from goalward.errors import GoalwardError, argument
from goalward.files import written_whole
from goalward.monitor.band import Band

FloatArray = npt.NDArray[np.float32]
SETTINGS = "monitor.json"
ENCODER = "encoder.onnx"
LENS = "lens.npz"
_VERSION = 1
_REMEDY = "`goalward export RUN --to onnx` writes the folder again"


@dataclass(frozen=True)
class MonitorCamera:
    """A camera as it was recorded: pictures of another size were never learned from."""

    name: str
    height: int
    width: int


@dataclass(frozen=True)
class MonitorSettings:
    """What a monitor has to know besides its networks.

    `resize` are the arguments of `Resize` or, with a `shortest_edge`, of `ResizeAndCrop`. A frame
    is `num_given` features where a run was given features instead of cameras. `edges` are the bins
    of steps of the hazards, `fit_discount` the discount that values were learned with, `discount`
    the one that they are told on; `chance_step` is how far chances move, in log-odds, as those of
    the run were. `heads` names a file by task; the task "" stands for all. `reading` is how
    recorded frames were read, as with `flip`.
    """

    goalward: str
    policy: str
    method: str
    encoder: str
    cameras: tuple[MonitorCamera, ...]
    resize: Mapping[str, Any]
    num_state: int
    num_given: int
    n_obs_steps: int
    lags: tuple[int, ...]
    num_seeds: int
    edges: tuple[float, ...]
    fit_discount: float
    discount: float
    standard_horizon: int
    fps: float | None
    tasks: tuple[str, ...]
    heads: Mapping[str, str]
    band: Band | None
    chance_step: float = 0.0
    reading: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: tuple[str, ...] = ()

    @property
    def prepare(self) -> Resize | ResizeAndCrop:
        return resize_from(self.resize)


@dataclass(frozen=True, eq=False)
class LensArrays:
    """How features become what networks see; None or empty where they are seen as they are.

    `centre` is the mean of each feature, by which a camera that shows another one's picture is
    noticed.
    """

    centre: FloatArray
    mean: FloatArray | None = None
    components: FloatArray | None = None
    task_names: tuple[str, ...] = ()
    task_codes: FloatArray = field(default_factory=lambda: np.zeros((0, 0), np.float32))


def begin_folder(folder: Path) -> None:
    """Before the first file: nobody takes a folder that was begun for a whole one.

    An error if files of these names lie there that are no monitor's.
    """
    names = [folder / name for name in (SETTINGS, ENCODER, LENS)]
    there = [path for path in (*names, *sorted(folder.glob("heads*.onnx"))) if path.exists()]
    if there and not _is_ours(folder / SETTINGS):
        raise GoalwardError(
            f"{there[0]}: is there and belongs to no monitor of goalward; give another "
            f"{argument('out')}"
        )
    write_json_with_checksum(folder / SETTINGS, {"begun": True})


def _is_ours(path: Path) -> bool:
    """Whether it carries a checksum of ours, fitting or not."""
    return path.is_file() and path.stat().st_size > 0 and carried_checksum(path) is not None


def write_folder(
    folder: Path, settings: MonitorSettings, lens: LensArrays, files: Sequence[str]
) -> None:
    """The settings and the lens, beside the ONNX files that lie there already."""
    arrays: dict[str, Any] = {"centre": lens.centre}
    if lens.mean is not None and lens.components is not None:
        arrays |= {"mean": lens.mean, "components": lens.components}
    if lens.task_names:
        arrays |= {"task_names": np.array(lens.task_names), "task_codes": lens.task_codes}
    with written_whole(folder / LENS) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)
    content = {
        "version": _VERSION,
        "files": {name: sha256_of(folder / name) for name in (*files, LENS)},
        "settings": dataclasses.asdict(settings),
    }
    write_json_with_checksum(folder / SETTINGS, content)


def read_folder(folder: Path) -> tuple[MonitorSettings, LensArrays]:
    """What `write_folder` wrote; every file is as it was, or the error says which is not."""
    if not (folder / SETTINGS).is_file():
        raise GoalwardError(
            f"{folder}: is no folder of a monitor (it has no {SETTINGS}); {_REMEDY}"
        )
    with damage_explained(_REMEDY):
        content = read_json_with_checksum(folder / SETTINGS, always_carried=True)
        if content.get("begun"):
            raise GoalwardError(f"{folder}: is not finished, as its export was stopped; {_REMEDY}")
        if content.get("version") != _VERSION:
            raise GoalwardError(
                f"{folder}: was written by another version of goalward ({SETTINGS} has version "
                f"{content.get('version')}, this one reads {_VERSION}); {_REMEDY}"
            )
        try:
            for name, wanted in content["files"].items():
                _check_file(folder / name, wanted)
            return _settings(content["settings"]), _lens(folder / LENS)
        except (LookupError, TypeError, ValueError, OSError) as error:
            raise DamagedFile(folder / SETTINGS, f"it holds no monitor: {error}") from error


def _check_file(path: Path, wanted: str) -> None:
    if not path.is_file():
        raise DamagedFile(path, "it is missing")
    if sha256_of(path) != wanted:
        raise DamagedFile(path)


def _settings(stored: Mapping[str, Any]) -> MonitorSettings:
    content = dict(stored)
    band = content.pop("band")
    content["cameras"] = tuple(MonitorCamera(**camera) for camera in content["cameras"])
    for name in ("lags", "edges", "tasks", "notes"):
        content[name] = tuple(content[name])
    return MonitorSettings(**content, band=None if band is None else Band.from_dict(band))


def _lens(path: Path) -> LensArrays:
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    names = arrays.pop("task_names", np.zeros(0, dtype=str))
    return LensArrays(**arrays, task_names=tuple(str(name) for name in names))
