"""Writes robomimic, Isaac Lab and LIBERO files, small enough for tests."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

ROBOMIMIC_DATA = {
    "env_args": json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {"control_freq": 20}})
}
LIBERO_DATA = {
    "problem_info": json.dumps({"language_instruction": "turn on the stove"}),
    "bddl_file_name": "turn_on_the_stove.bddl",
    "macros_image_convention": "opengl",
}


@dataclass
class WrittenDemo:
    """What goes into one episode: data sets by their path, and attributes."""

    datasets: dict[str, npt.NDArray[Any]]
    attributes: dict[str, Any] = field(default_factory=dict)

    def replaced(self, **datasets: npt.NDArray[Any] | None) -> "WrittenDemo":
        """With other data sets (None: without it); obs__key stands for obs/key."""
        named = {key.replace("__", "/"): value for key, value in datasets.items()}
        merged: dict[str, Any] = {**self.datasets, **named}
        return WrittenDemo({k: v for k, v in merged.items() if v is not None}, self.attributes)


def pictures(num_frames: int, seed: int, size: int = 8) -> npt.NDArray[np.uint8]:
    generator = np.random.default_rng(seed)
    return generator.integers(0, 256, (num_frames, size, size + 1, 3), dtype=np.uint8)


def numbers(num_frames: int, size: int, seed: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(num_frames, size))


def robomimic_demo(num_frames: int = 5, goal: int | None = 3, seed: int = 0) -> WrittenDemo:
    """A rollout as robomimic's own script records it: dones all 0, reward 1 from the goal on."""
    rewards = np.zeros(num_frames)
    if goal is not None:
        rewards[goal:] = 1
    return WrittenDemo(
        {
            "actions": numbers(num_frames, 7, seed),
            "rewards": rewards,
            "dones": np.zeros(num_frames, dtype=np.int64),
            "obs/agentview_image": pictures(num_frames, seed),
            "obs/object": numbers(num_frames, 10, seed + 1),
            "obs/robot0_eef_pos": numbers(num_frames, 3, seed + 2),
            "obs/robot0_eef_quat": numbers(num_frames, 4, seed + 3),
            "obs/robot0_gripper_qpos": numbers(num_frames, 2, seed + 4),
        },
        {"num_samples": num_frames},
    )


def isaac_lab_demo(num_frames: int = 5, success: bool = True, seed: int = 0) -> WrittenDemo:
    return WrittenDemo(
        {
            "actions": numbers(num_frames, 7, seed).astype(np.float32),
            "initial_state/robot/joint_position": numbers(1, 9, seed),
            "obs/table_cam": pictures(num_frames, seed),
            "obs/eef_pos": numbers(num_frames, 3, seed + 2).astype(np.float32),
            "obs/eef_quat": numbers(num_frames, 4, seed + 3).astype(np.float32),
            "obs/gripper_pos": numbers(num_frames, 2, seed + 4).astype(np.float32),
            "obs/datagen_info/subtask_term_signals/grasp": np.zeros(num_frames, dtype=bool),
        },
        {"num_samples": num_frames, "success": success},
    )


def libero_demo(num_frames: int = 5, seed: int = 0) -> WrittenDemo:
    at_end = np.zeros(num_frames, dtype=np.uint8)
    at_end[-1] = 1
    position, orientation = numbers(num_frames, 3, seed), numbers(num_frames, 3, seed + 1)
    return WrittenDemo(
        {
            "actions": numbers(num_frames, 7, seed),
            "rewards": at_end,
            "dones": at_end,
            "obs/agentview_rgb": pictures(num_frames, seed),
            "obs/eye_in_hand_rgb": pictures(num_frames, seed + 1),
            "obs/ee_pos": position,
            "obs/ee_ori": orientation,
            "obs/ee_states": np.concatenate([position, orientation], axis=1),
            "obs/gripper_states": numbers(num_frames, 2, seed + 2),
        },
        {"num_samples": num_frames},
    )


def write(
    path: Path,
    demos: Mapping[str, WrittenDemo],
    *,
    data_attributes: Mapping[str, Any] = ROBOMIMIC_DATA,
    masks: Mapping[str, list[bytes]] | None = None,
    library_version: str | None = None,
    **storage: Any,
) -> Path:
    """`storage` goes to h5py for every data set with rows: compression, chunks, checksums."""
    with h5py.File(path, "w", libver=library_version) as file:
        data = file.create_group("data")
        data.attrs.update(data_attributes)
        for name, demo in demos.items():
            group = data.create_group(name)
            group.attrs.update(demo.attributes)
            for key, values in demo.datasets.items():
                group.create_dataset(key, data=values, **storage)
        for key, names in (masks or {}).items():
            file[f"mask/{key}"] = np.array(names)
    return path


def write_robomimic(path: Path, demos: Mapping[str, WrittenDemo] | None = None) -> Path:
    """Without demos: a success in five frames and a time-out in six."""
    return write(path, demos or {"demo_0": robomimic_demo(), "demo_1": robomimic_demo(6, None, 1)})


def write_libero(path: Path, num_demos: int = 2, **data_attributes: Any) -> Path:
    demos = {f"demo_{number}": libero_demo(4 + number, number) for number in range(num_demos)}
    return write(path, demos, data_attributes={**LIBERO_DATA, **data_attributes})
