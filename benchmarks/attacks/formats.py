"""A small data set of every format, by the writers that tests have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attacks.small_files import write_small_features

_LENGTHS = (5, 7, 6, 8)


@dataclass(frozen=True)
class Format:
    """What writes a data set into a folder, what to point at there, and how it is read."""

    write: Callable[[Path], object]
    path: str = "data"
    reading: tuple[str, ...] = ()


def _lerobot(version: str, pictures_as: str) -> Callable[[Path], object]:
    def write(folder: Path) -> object:
        from rollout_files.lerobot import make_episode, write_lerobot

        episodes = [make_episode(n, i % 2 == 0, seed=i) for i, n in enumerate(_LENGTHS)]
        return write_lerobot(folder / "data", episodes, version=version, pictures_as=pictures_as)

    return write


def _robomimic(folder: Path) -> object:
    from rollout_files.hdf5 import robomimic_demo, write_robomimic

    demos = {
        f"demo_{i}": robomimic_demo(n, n - 2 if i % 2 == 0 else None, i)
        for i, n in enumerate(_LENGTHS)
    }
    return write_robomimic(folder / "data.hdf5", demos)


def _isaac_lab(folder: Path) -> object:
    from rollout_files.hdf5 import isaac_lab_demo, write

    demos = {f"demo_{i}": isaac_lab_demo(n, i % 2 == 0, i) for i, n in enumerate(_LENGTHS)}
    return write(folder / "data.hdf5", demos)


def _libero(folder: Path) -> object:
    from rollout_files.hdf5 import write_libero

    (folder / "labels.csv").write_text("episode_index,success\n0,true\n1,false\n2,true\n3,false\n")
    (folder / "data").mkdir()
    return write_libero(folder / "data" / "turn_on_the_stove_demo.hdf5", len(_LENGTHS))


def _named_videos(folder: Path) -> object:
    from rollout_files.videos import pictures, write_video

    for i, num_frames in enumerate(_LENGTHS):
        ending = "success" if i % 2 == 0 else "failure"
        write_video(folder / "data" / f"rollout_{i}_{ending}.mp4", pictures(num_frames, seed=i))
    return folder


def _listed_videos(folder: Path) -> object:
    from rollout_files.videos import pictures, write_video

    rows = ["path,success"]
    for i, num_frames in enumerate(_LENGTHS):
        write_video(folder / "data" / f"episode_{i}.mp4", pictures(num_frames, seed=i))
        rows.append(f"episode_{i}.mp4,{i % 2 == 0}")
    (folder / "data" / "labels.csv").write_text("\n".join(rows) + "\n")
    return folder


def _lerobot_eval(folder: Path) -> object:
    from rollout_files.videos import pictures, write_eval_info, write_video

    names = [f"videos/pusht_0/eval_episode_{i}.mp4" for i in range(len(_LENGTHS))]
    for i, num_frames in enumerate(_LENGTHS):
        write_video(folder / "data" / names[i], pictures(num_frames, seed=i))
    successes = [i % 2 == 0 for i in range(len(_LENGTHS))]
    write_eval_info(folder / "data" / "eval_info.json", {"pusht": (successes, names)})
    return folder


def rlds_episodes() -> list[Any]:
    from rollout_files.rlds import make_episode

    return [make_episode(n, i % 2 == 0, seed=i) for i, n in enumerate(_LENGTHS)]


def _rlds(folder: Path) -> object:
    from rollout_files.rlds import write_data_set

    return write_data_set(folder / "data", rlds_episodes(), num_shards=2)


def _features(folder: Path) -> object:
    return write_small_features(folder / "features.npz", num_episodes=6)


FORMATS: Mapping[str, Format] = {
    "LeRobot v3.0, video": Format(_lerobot("v3.0", "video")),
    "LeRobot v3.0, images": Format(_lerobot("v3.0", "image")),
    "LeRobot v2.1, video": Format(_lerobot("v2.1", "video")),
    "robomimic": Format(_robomimic, "data.hdf5"),
    "Isaac Lab": Format(_isaac_lab, "data.hdf5"),
    "LIBERO": Format(_libero, reading=("--labels", "labels.csv")),
    "videos, by name": Format(_named_videos),
    "videos, by list": Format(_listed_videos),
    "videos, lerobot-eval": Format(_lerobot_eval),
    "RLDS": Format(_rlds),
    "feature file": Format(_features, "features.npz"),
}


def random_bytes(draws: np.random.Generator, num_bytes: int) -> bytes:
    return draws.integers(0, 256, num_bytes, dtype=np.uint8).tobytes()
