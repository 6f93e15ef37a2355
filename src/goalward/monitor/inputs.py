"""What a monitor is given, checked: the cameras, the sizes and the numbers that it learned from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError, RolloutError
from goalward.monitor.folder import MonitorCamera, MonitorSettings
from goalward.rollouts.findings import counted
from goalward.rollouts.frames import Image, matching_name


def checked_pictures(settings: MonitorSettings, frames: Any) -> list[Image]:
    """A picture for every camera, in the order of the settings."""
    cameras = settings.cameras
    if not cameras:
        if frames is not None and len(frames):
            raise GoalwardError(
                "this monitor was made of a run without cameras; it takes no frames"
            )
        return []
    names = ", ".join(camera.name for camera in cameras)
    if frames is None:
        raise GoalwardError(f"pictures are missing: this monitor sees {names}")
    if isinstance(frames, Mapping):
        given = _by_name(frames, [camera.name for camera in cameras])
    elif isinstance(frames, np.ndarray) and frames.ndim == 3:
        given = [frames]
    else:
        given = list(frames)
    if len(given) != len(cameras):
        raise GoalwardError(
            f"{counted(given, 'picture')}, but this monitor sees {counted(cameras, 'camera')}, in "
            f"this order: {names}"
        )
    return [_checked(one, camera) for one, camera in zip(given, cameras, strict=True)]


def _by_name(frames: Mapping[str, Any], wanted: Sequence[str]) -> list[Any]:
    """By full names or their last parts; a camera that nobody asked for is left alone."""
    found: list[Any] = []
    for name in wanted:
        if name in frames:
            found.append(frames[name])
            continue
        last = name.replace("/", ".").rsplit(".", 1)[-1]
        try:
            found.append(frames[matching_name(last, list(frames), "frames")])
        except RolloutError as error:
            raise GoalwardError(
                f"no picture of camera {name}; given: {', '.join(map(str, frames)) or 'none'}"
            ) from error
    return found


def _checked(picture: Any, camera: MonitorCamera) -> Image:
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
        raise GoalwardError(
            f"camera {camera.name}: a picture must be (height, width, 3) bytes (uint8) in RGB, got "
            f"{array.shape} {array.dtype}"
        )
    if array.shape[:2] != (camera.height, camera.width):
        raise GoalwardError(
            f"camera {camera.name}: pictures of {array.shape[1]} x {array.shape[0]}, but values "
            f"were learned from {camera.width} x {camera.height}; set the camera to that, or crop "
            "and resize its pictures as they were recorded"
        )
    return array


def checked_features(
    settings: MonitorSettings, features: npt.ArrayLike | None
) -> npt.NDArray[np.float32] | None:
    """The features of a run that was given them; None where a monitor makes its own."""
    if not settings.num_given:
        if features is not None:
            raise GoalwardError(
                "features were given, but this monitor makes its own from what is recorded"
            )
        return None
    if features is None:
        raise GoalwardError(
            "features are missing: this monitor was made of a run that was given "
            f"{settings.num_given} features per frame"
        )
    return _vector(features, settings.num_given, "features")


def checked_state(
    settings: MonitorSettings, state: npt.ArrayLike | None
) -> npt.NDArray[np.float32]:
    """Proprioception, none where values were learned without."""
    if not settings.num_state:
        return np.zeros(0, dtype=np.float32)
    if state is None:
        raise GoalwardError(
            f"the state is missing: the values were learned from {settings.num_state} numbers of "
            "proprioception per frame"
        )
    return _vector(state, settings.num_state, "state")


def _vector(given: npt.ArrayLike, size: int, name: str) -> npt.NDArray[np.float32]:
    try:
        array = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GoalwardError(f"{name}: is not made of numbers ({error})") from error
    if array.shape != (size,):
        raise GoalwardError(
            f"{name}: {array.size} numbers in shape {array.shape}, the values were learned from "
            f"{size}"
        )
    if not np.isfinite(array).all():
        raise GoalwardError(f"{name}: holds NaN or infinity")
    return array
