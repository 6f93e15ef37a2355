"""Reading LIBERO files."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from rollout_files import hdf5

from goalward.errors import RolloutError
from goalward.rollouts.readers import detect, read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return hdf5.write_libero(tmp_path / "turn_on_the_stove_demo.hdf5")


def test_demonstrations_have_no_label_of_their_own(path: Path):
    with pytest.raises(RolloutError, match=r"stove_demo\.hdf5: .*with labels='success'"):
        read(path)


def test_reads_a_file(path: Path):
    rollouts = read(path, labels="success", strict=True)
    assert detect(path).name == "libero"
    assert rollouts.ids == ("demo_0", "demo_1")
    assert rollouts.goal_frames.tolist() == [3, 4]
    assert rollouts.tasks == ("turn on the stove",)
    assert rollouts.camera_names == ("agentview_rgb", "eye_in_hand_rgb")
    assert rollouts[0].action_size == 7
    assert rollouts.sources[0].format == "libero"


def test_the_writers_rewards_and_dones_count_only_when_named(path: Path):
    assert read(path, success_key="rewards").goal_frames.tolist() == [3, 4]
    assert read(path, success_key="dones").goal_frames.tolist() == [3, 4]


def test_proprioception_is_position_orientation_gripper(path: Path):
    written = hdf5.libero_demo(4, 0).datasets
    expected = [written[f"obs/{key}"] for key in ("ee_pos", "ee_ori", "gripper_states")]
    rollouts = read(path, labels="success")
    assert rollouts.proprioception.shape == (9, 8)
    np.testing.assert_array_equal(
        rollouts[0].proprioception, np.concatenate(expected, axis=1).astype(np.float32)
    )


def test_ee_states_stand_in_for_position_and_orientation(tmp_path: Path):
    demo = hdf5.libero_demo().replaced(obs__ee_pos=None, obs__ee_ori=None)
    path = hdf5.write(tmp_path / "a.hdf5", {"demo_0": demo}, data_attributes=hdf5.LIBERO_DATA)
    rollouts = read(path, labels="success")
    assert rollouts.proprioception.shape == (5, 8)
    assert not any("proprioception" in warning for warning in rollouts.warnings)


@pytest.mark.parametrize(
    ("convention", "flip", "turned"),
    [
        ("opengl", None, True),
        ("opengl", False, False),
        ("opengl", True, True),
        ("opencv", None, False),
        ("opencv", True, True),
    ],
)
def test_images_stored_bottom_row_first(
    tmp_path: Path, convention: str, flip: bool | None, turned: bool
):
    path = hdf5.write_libero(tmp_path / "a.hdf5", 1, macros_image_convention=convention)
    written = hdf5.libero_demo(4, 0).datasets["obs/agentview_rgb"]
    rollouts = read(path, labels="success", flip=flip)
    expected = written[:, ::-1] if turned else written
    np.testing.assert_array_equal(list(rollouts[0].frames("agentview_rgb")), expected)
    np.testing.assert_array_equal(rollouts[0].frame("agentview_rgb", 2), expected[2])
    said = any("bottom row first" in warning for warning in rollouts.warnings)
    assert said == (convention == "opengl" and flip is None)


@pytest.mark.parametrize(
    ("problem_info", "task"),
    [
        (json.dumps({"language_instruction": '"open the drawer"'}), "open the drawer"),
        (json.dumps({"language_instruction": ["open", " ", "it"]}), "open it"),
        (json.dumps({"language_instruction": 3}), "close the top drawer"),
        ("not json", "close the top drawer"),
        ("[]", "close the top drawer"),
    ],
)
def test_task_from_the_file_or_its_name(tmp_path: Path, problem_info: str, task: str):
    name = "KITCHEN_SCENE10_close_the_top_drawer_demo.hdf5"
    path = hdf5.write_libero(tmp_path / name, problem_info=problem_info)
    assert read(path, labels="success").tasks == (task,)


def test_a_folder_is_several_tasks(tmp_path: Path):
    for number, words in enumerate(("open it", "close it")):
        info = json.dumps({"language_instruction": words})
        hdf5.write_libero(tmp_path / f"task_{number}.hdf5", 2, problem_info=info)
    rollouts = read(tmp_path, labels="success")
    assert detect(tmp_path).name == "libero"
    assert rollouts.ids == ("task_0/demo_0", "task_0/demo_1", "task_1/demo_0", "task_1/demo_1")
    assert rollouts.task_indices.tolist() == [0, 0, 1, 1]


def test_a_folder_with_one_file_keeps_short_ids(path: Path):
    assert read(path.parent, labels="success").ids == ("demo_0", "demo_1")


def test_a_folder_with_robomimic_among_it(tmp_path: Path):
    hdf5.write_libero(tmp_path / "a.hdf5")
    hdf5.write_robomimic(tmp_path / "b.hdf5")
    with pytest.raises(RolloutError, match=r"b\.hdf5: the folder mixes LIBERO"):
        read(tmp_path, labels="success")


def test_recognised_by_its_observations_when_attributes_are_lost(tmp_path: Path):
    path = hdf5.write(tmp_path / "a.hdf5", {"demo_0": hdf5.libero_demo()}, data_attributes={})
    assert detect(path).name == "libero"
    with pytest.raises(RolloutError, match=r"a\.hdf5: no outcome label found"):
        read(path)


def test_an_episode_with_a_torn_camera_is_left_out(path: Path):
    with h5py.File(path, "a") as file:
        del file["data/demo_0/obs/eye_in_hand_rgb"]
        file["data/demo_0/obs/eye_in_hand_rgb"] = hdf5.pictures(2, 0)
    rollouts = read(path, labels="success")
    assert rollouts.ids == ("demo_1",)
    assert "turn_on_the_stove_demo.hdf5: data/demo_0" in rollouts.left_out[0].reason
    chosen = read(path, labels="success", cameras=["agentview_rgb"])
    assert chosen.ids == ("demo_0", "demo_1")


def test_an_attribute_success_is_evidence(tmp_path: Path):
    demos = {"demo_0": hdf5.libero_demo(), "demo_1": hdf5.libero_demo(seed=1)}
    for number, demo in enumerate(demos.values()):
        demo.attributes["success"] = number == 1
    path = hdf5.write(tmp_path / "a.hdf5", demos, data_attributes=hdf5.LIBERO_DATA)
    assert read(path).outcomes.tolist() == ["time_out", "success"]
