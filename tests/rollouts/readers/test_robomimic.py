"""Reading robomimic and Isaac Lab files: literal expectations."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollout_files import hdf5

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.readers import detect, read

EXCERPTS = Path(__file__).parents[3] / ".." / "shared" / "data" / "robomimic_excerpts"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return hdf5.write_robomimic(tmp_path / "rollouts.hdf5")


def noticed(rollouts: Rollouts, text: str) -> bool:
    return any(text in warning for warning in rollouts.warnings)


# ---- what a file holds -------------------------------------------------------------------------


def test_reads_a_file(path: Path):
    rollouts = read(path, strict=True)
    assert detect(path).name == "robomimic"
    assert rollouts.ids == ("demo_0", "demo_1")
    assert rollouts.outcomes.tolist() == ["success", "time_out"]
    assert rollouts.goal_frames.tolist() == [3, -1]
    assert rollouts.lengths.tolist() == [5, 6]
    assert rollouts.tasks == ("Lift",)
    assert rollouts.camera_names == ("agentview_image",)
    assert [episode.fps for episode in rollouts] == [20.0, 20.0]
    assert [episode.action_size for episode in rollouts] == [7, 7]
    assert rollouts.sources[0].label_source == "rewards"
    source = rollouts[0].camera("agentview_image")
    assert (source.height, source.width, source.codec) == (8, 9, "raw")


def test_proprioception_is_position_quaternion_gripper(path: Path):
    written = hdf5.robomimic_demo().datasets
    keys = ("obs/robot0_eef_pos", "obs/robot0_eef_quat", "obs/robot0_gripper_qpos")
    expected = np.concatenate([written[key] for key in keys], axis=1).astype(np.float32)
    assert expected.shape == (5, 9)
    np.testing.assert_array_equal(read(path)[0].proprioception, expected)


def test_proprioception_by_name_keeps_the_order_given(path: Path):
    written = hdf5.robomimic_demo().datasets
    rollouts = read(path, proprioception=["robot0_gripper_qpos", "object"])
    np.testing.assert_array_equal(
        rollouts[0].proprioception[:, :2], written["obs/robot0_gripper_qpos"].astype(np.float32)
    )
    assert rollouts.proprioception.shape == (11, 12)
    assert read(path, proprioception=[]).proprioception.shape == (11, 0)


def test_unknown_proprioception_lists_what_is_there(path: Path):
    with pytest.raises(RolloutError, match=r"rollouts\.hdf5: no proprioception tcp; .*: object, "):
        read(path, proprioception=["tcp"])


def test_no_usual_proprioception_is_said(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(
        obs__robot0_eef_pos=None, obs__robot0_eef_quat=None, obs__robot0_gripper_qpos=None
    )
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo}))
    assert rollouts.proprioception.shape == (5, 0)
    assert noticed(rollouts, "no proprioception is read; low-dimensional keys in obs: object")


def test_part_of_the_usual_proprioception_is_said(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(obs__robot0_eef_quat=None)
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo}))
    assert rollouts.proprioception.shape == (5, 5)
    assert noticed(rollouts, "proprioception without robot0_eef_quat")


def test_demo_2_comes_before_demo_10(tmp_path: Path):
    demos = {f"demo_{n}": hdf5.robomimic_demo(seed=n) for n in (10, 2, 1)}
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", demos))
    assert rollouts.ids == ("demo_1", "demo_2", "demo_10")


@pytest.mark.parametrize("text", ["", "not json", "[" * 100_000, "[1]", '{"env_kwargs": 3}'])
def test_env_args_that_say_nothing(tmp_path: Path, text: str):
    demos = {"demo_0": hdf5.robomimic_demo()}
    # A long attribute only fits the newer file version.
    hdf5.write(
        tmp_path / "a.hdf5", demos, data_attributes={"env_args": text}, library_version="latest"
    )
    (episode,) = read(tmp_path / "a.hdf5")
    assert (episode.task, episode.fps) == ("", None)


@pytest.mark.parametrize("frequency", [0, -1, float("nan"), float("inf"), 10**400, True, "20"])
def test_impossible_control_frequency(tmp_path: Path, frequency: Any):
    text = json.dumps({"env_name": "Lift", "env_kwargs": {"control_freq": frequency}})
    demos = {"demo_0": hdf5.robomimic_demo()}
    path = hdf5.write(tmp_path / "a.hdf5", demos, data_attributes={"env_args": text})
    assert read(path)[0].fps is None


# ---- frames ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "packing",
    [{}, {"compression": "gzip"}, {"compression": "lzf", "chunks": True}, {"fletcher32": True}],
)
def test_frames_are_those_written(tmp_path: Path, packing: dict[str, Any]):
    demo = hdf5.robomimic_demo(num_frames=150, goal=149)  # more than two reads
    path = hdf5.write(tmp_path / "a.hdf5", {"demo_0": demo}, **packing)
    (episode,) = read(path)
    written = demo.datasets["obs/agentview_image"]
    frames = list(episode.frames("agentview_image"))
    np.testing.assert_array_equal(frames, written)
    assert frames[3].base is None  # a kept frame keeps nothing else in memory
    np.testing.assert_array_equal(
        list(episode.frames_at("agentview_image", [140, 2, 2])), written[[140, 2, 2]]
    )
    assert episode.camera("agentview_image").codec == packing.get("compression", "raw")
    with pytest.raises(RolloutError, match=r"a\.hdf5: data/demo_0/obs/.*no frame 150"):
        episode.frame("agentview_image", 150)


def test_frames_can_be_left_half_way(path: Path):
    frames = read(path)[0].frames("agentview_image")
    next(frames)
    frames.close()  # type: ignore[attr-defined]
    with h5py.File(path, "a"):  # nothing holds the file
        pass


def test_only_frames_with_three_channels_last_are_a_camera(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(
        obs__first=np.zeros((5, 3, 8, 8), np.uint8),
        obs__alpha=np.zeros((5, 8, 8, 4), np.uint8),
        obs__depth=np.zeros((5, 8, 8, 1), np.float32),
        obs__float=np.zeros((5, 8, 8, 3), np.float32),
    )
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo}))
    assert rollouts.camera_names == ("agentview_image",)
    assert noticed(rollouts, "obs/first is (5, 3, 8, 8) uint8, not")
    assert noticed(rollouts, "obs/alpha is (5, 8, 8, 4) uint8, not")
    assert noticed(rollouts, "obs/float is (5, 8, 8, 3) float32, not")
    assert not noticed(rollouts, "obs/depth")


def test_cameras_by_name(path: Path):
    assert read(path, cameras=[]).camera_names == ()
    with pytest.raises(RolloutError, match="no camera wrist; cameras: agentview_image"):
        read(path, cameras=["wrist"])


@pytest.mark.parametrize("change", ["gone", "other shape", "emptied"])
def test_a_file_that_changes_after_it_was_read(path: Path, change: str):
    (episode, _) = read(path)
    if change == "gone":
        path.unlink()
    elif change == "emptied":
        path.write_bytes(b"")
    else:
        hdf5.write_robomimic(path, {"demo_0": hdf5.robomimic_demo(4, 1)})
    for take in (
        lambda: list(episode.frames("agentview_image")),
        lambda: episode.frame("agentview_image", 0),
    ):
        with pytest.raises(RolloutError, match=r"rollouts\.hdf5"):
            take()


# ---- Isaac Lab ---------------------------------------------------------------------------------


def test_reads_isaac_lab(tmp_path: Path):
    demos = {"demo_0": hdf5.isaac_lab_demo(), "demo_1": hdf5.isaac_lab_demo(6, False, 1)}
    env_args = json.dumps({"env_name": "Isaac-Stack-Cube-Franka-v0", "type": 2})
    path = hdf5.write(
        tmp_path / "a.hdf5", demos, data_attributes={"env_args": env_args, "total": 11}
    )
    rollouts = read(path, strict=True)
    assert rollouts.outcomes.tolist() == ["success", "time_out"]
    assert rollouts.goal_frames.tolist() == [4, -1]
    assert rollouts.sources[0].label_source == "success"
    assert rollouts.proprioception.shape == (11, 9)
    np.testing.assert_array_equal(
        rollouts[0].proprioception[:, :3], demos["demo_0"].datasets["obs/eef_pos"]
    )
    assert rollouts.camera_names == ("table_cam",)
    assert rollouts.tasks == ("Isaac-Stack-Cube-Franka-v0",)


def write_environment(path: Path, name: str | None) -> None:
    """Two episodes in this environment; None: the file does not say which."""
    demos = {"demo_0": hdf5.robomimic_demo(), "demo_1": hdf5.robomimic_demo(6, None, 1)}
    about = {} if name is None else {"env_args": json.dumps({"env_name": name, "type": 1})}
    hdf5.write(path, demos, data_attributes=about)


def tasks_of(folder: Path) -> dict[str, str]:
    return {episode.id: episode.task for episode in read(folder)}


def test_a_folder_of_can_and_lift_is_two_tasks(tmp_path: Path):
    write_environment(tmp_path / "a.hdf5", "PickPlaceCan")
    write_environment(tmp_path / "b.hdf5", "Lift")
    write_environment(tmp_path / "c.hdf5", "Lift")
    assert tasks_of(tmp_path) == {
        **{"a/demo_0": "PickPlaceCan", "a/demo_1": "PickPlaceCan"},
        **{"b/demo_0": "Lift", "b/demo_1": "Lift", "c/demo_0": "Lift", "c/demo_1": "Lift"},
    }


def test_a_file_without_an_environment_goes_by_its_name_where_others_have_one(tmp_path: Path):
    write_environment(tmp_path / "ours.hdf5", None)
    write_environment(tmp_path / "b.hdf5", "Lift")
    assert set(tasks_of(tmp_path).items()) == {
        *(("ours/demo_0", "ours"), ("ours/demo_1", "ours")),
        *(("b/demo_0", "Lift"), ("b/demo_1", "Lift")),
    }


def test_files_of_which_none_names_an_environment_are_parts_of_one_task(tmp_path: Path):
    write_environment(tmp_path / "part_1.hdf5", None)
    write_environment(tmp_path / "part_2.hdf5", None)
    assert set(tasks_of(tmp_path).values()) == {""}


def test_nested_observations_are_found_by_their_last_name(tmp_path: Path):
    demo = hdf5.isaac_lab_demo()
    nested = {
        key.replace("obs/", "obs/policy/") if key.count("/") == 1 else key: values
        for key, values in demo.datasets.items()
    }
    demos = {"demo_0": hdf5.WrittenDemo(nested, demo.attributes)}
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", demos))
    assert rollouts.proprioception.shape == (5, 9)
    assert rollouts.camera_names == ("policy/table_cam",)
    assert len(list(rollouts[0].frames("table_cam"))) == 5


# ---- write, read back --------------------------------------------------------------------------


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    lengths=st.lists(st.integers(1, 70), min_size=1, max_size=4),
    goals=st.lists(st.none() | st.floats(0, 0.999), min_size=4, max_size=4),
    packing=st.sampled_from([{}, {"compression": "gzip"}, {"chunks": True}]),
    seed=st.integers(0, 1000),
)
def test_what_was_written_is_read_back(
    tmp_path: Path,
    lengths: list[int],
    goals: list[float | None],
    packing: dict[str, Any],
    seed: int,
):
    demos: dict[str, hdf5.WrittenDemo] = {}
    expected: list[int] = []
    for number, length in enumerate(lengths):
        part = goals[number]
        goal = None if part is None else int(part * length)
        demos[f"demo_{number}"] = hdf5.robomimic_demo(length, goal, seed + number)
        # A reward on every frame says that the goal was reached, not when: the last frame.
        expected.append(-1 if goal is None else (length - 1 if goal == 0 else goal))
    path = hdf5.write(tmp_path / "a.hdf5", demos, **packing)
    # Named: rewards that are 0 everywhere are no label otherwise.
    rollouts = read(path, strict=True, success_key="rewards")
    assert rollouts.goal_frames.tolist() == expected
    assert rollouts.lengths.tolist() == lengths
    for episode, demo in zip(rollouts, demos.values(), strict=True):
        written = demo.datasets
        np.testing.assert_array_equal(
            list(episode.frames("agentview_image")), written["obs/agentview_image"]
        )
        np.testing.assert_array_equal(
            episode.proprioception[:, :3], written["obs/robot0_eef_pos"].astype(np.float32)
        )


# ---- files nobody here wrote -------------------------------------------------------------------


@pytest.mark.skipif(not EXCERPTS.is_dir(), reason="the robomimic excerpts are not here")
@pytest.mark.parametrize(
    ("name", "outcomes", "goals", "frames"),
    [
        ("can_low_dim", ["time_out", "time_out"], [-1, -1], 300),
        ("lift_low_dim", ["success", "success"], [54, 53], 117),
        ("lift_image", ["success"], [42], 48),
    ],
)
def test_genuine_files(name: str, outcomes: list[str], goals: list[int], frames: int):
    path = EXCERPTS / f"{name}.hdf5"
    if "success" not in outcomes:
        with pytest.raises(RolloutError, match="rewards says the same of every frame"):
            read(path, strict=True)
    rollouts = read(path, strict=True, success_key="rewards")
    assert rollouts.outcomes.tolist() == outcomes
    assert rollouts.goal_frames.tolist() == goals
    assert rollouts.proprioception.shape == (frames, 9)
    for episode, camera, pictures in rollouts.clips():
        assert camera in ("agentview_image", "robot0_eye_in_hand_image")
        shapes = {picture.shape for picture in pictures}
        assert shapes == {(84, 84, 3)}
        assert episode.camera(camera).num_frames == 48
