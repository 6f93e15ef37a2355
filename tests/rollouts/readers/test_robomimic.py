"""Reading robomimic and Isaac Lab files: literal expectations, and every way they can be wrong."""

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
from goalward.rollouts.readers.hdf5 import storage

EXCERPTS = Path(__file__).parents[3] / ".." / "shared" / "data" / "robomimic_excerpts"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return hdf5.write_robomimic(tmp_path / "rollouts.hdf5")


def reasons(rollouts: Rollouts) -> dict[str, str]:
    return {left.episode_id: left.reason for left in rollouts.left_out}


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
    with h5py.File(tmp_path / "a.hdf5", "w", libver="latest"):
        pass
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
    assert noticed(rollouts, "obs/first has shape (5, 3, 8, 8)")
    assert noticed(rollouts, "obs/alpha has shape (5, 8, 8, 4)")
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


# ---- outcomes ----------------------------------------------------------------------------------


def test_dones_alone_say_nothing(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(rewards=None, dones=np.array([0, 0, 0, 0, 1]))
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo})
    with pytest.raises(RolloutError, match=r"a\.hdf5: no outcome label found.*What dones mean"):
        read(path)
    rollouts = read(path, success_key="dones")
    assert rollouts.goal_frames.tolist() == [4]


@pytest.mark.parametrize(
    "rewards",
    [[0, 0.1, 0.4, 0.6, 0.9], [-0.9, -0.6, -0.4, -0.2, -0.1], [0, 0.5, 0.5, 0.5, 1]],
    ids=["shaped", "distance", "two parts"],
)
def test_rewards_that_are_not_sparse_are_not_evidence(tmp_path: Path, rewards: list[float]):
    demo = hdf5.robomimic_demo().replaced(rewards=np.array(rewards))
    demos = {"demo_0": demo, "demo_1": hdf5.robomimic_demo(goal=None)}
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", demos)
    with pytest.raises(RolloutError, match=r"a\.hdf5: no outcome label found"):
        read(path)
    assert noticed(read(path, labels="success"), "--success-key rewards")
    expected = "success" if max(rewards) > 0 else "time_out"
    assert read(path, success_key="rewards")[0].outcome == expected


def test_a_step_cost_and_a_scaled_reward_are_sparse(tmp_path: Path):
    demo = hdf5.robomimic_demo().replaced(rewards=np.array([[-1], [-1], [10], [10], [0]]))
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo}))
    assert rollouts.goal_frames.tolist() == [2]


def test_terminated_tells_a_failure_from_a_time_out(tmp_path: Path):
    fell = hdf5.robomimic_demo(goal=None).replaced(terminated=np.array([0, 0, 0, 0, 1], bool))
    demos = {"demo_0": fell, "demo_1": hdf5.robomimic_demo(goal=None)}
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", demos))
    assert rollouts.outcomes.tolist() == ["failure", "time_out"]


@pytest.mark.parametrize("stated", [True, 1, "success", b"true", np.array([1])])
def test_success_key_names_an_attribute(tmp_path: Path, stated: Any):
    demo = hdf5.robomimic_demo(goal=None)
    demo.attributes["solved"] = stated
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo})
    assert read(path, success_key="solved").outcomes.tolist() == ["success"]


def test_success_key_names_a_data_set(tmp_path: Path):
    demo = hdf5.robomimic_demo(goal=None).replaced(obs__solved=np.array([0, 1, 1, 1, 0]))
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_0": demo})
    assert read(path, success_key="obs/solved").goal_frames.tolist() == [1]
    with pytest.raises(RolloutError, match=r"a\.hdf5: no usable success key nothing"):
        read(path, success_key="nothing")
    with pytest.raises(RolloutError, match=r"a\.hdf5: .*obs/object has shape \(5, 10\)"):
        read(path, success_key="obs/object")


def test_a_label_file_may_use_the_number_of_the_demo(path: Path, tmp_path: Path):
    labels = tmp_path / "labels.csv"
    labels.write_text("episode_index,success\n0,false\n1,true\n")
    assert read(path, labels=labels).outcomes.tolist() == ["time_out", "success"]


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


# ---- filter keys, folders ----------------------------------------------------------------------


def test_filter_key(tmp_path: Path):
    demos = {f"demo_{n}": hdf5.robomimic_demo(seed=n) for n in range(4)}
    masks = {"train": [b"demo_3", b"demo_1", b"demo_77"], "none": [b"demo_9"]}
    path = hdf5.write(tmp_path / "a.hdf5", demos, masks=masks)
    rollouts = read(path, filter_key="train")
    assert rollouts.ids == ("demo_1", "demo_3")
    assert noticed(rollouts, "filter key train names 1 episodes that are not in the file: demo_77")
    with pytest.raises(
        RolloutError, match=r"a\.hdf5: no filter key test; filter keys: none, train"
    ):
        read(path, filter_key="test")
    with pytest.raises(RolloutError, match=r"a\.hdf5: none of the 4 episodes .* filter key none"):
        read(path, filter_key="none")
    with pytest.raises(RolloutError, match="demo_77"):
        read(path, filter_key="train", strict=True)


def test_filter_key_of_a_file_without_any(path: Path):
    with pytest.raises(RolloutError, match=r"rollouts\.hdf5: no filter key a; filter keys: none"):
        read(path, filter_key="a")


def test_filter_key_that_is_not_a_list_of_names(path: Path):
    with h5py.File(path, "a") as file:
        file["mask/numbers"] = np.arange(3)
        file["mask/group/inside"] = np.arange(3)
        file["mask/text"] = np.array(["demo_0"], dtype=h5py.string_dtype())
    for key in ("numbers", "group"):
        with pytest.raises(RolloutError, match=rf"mask/{key}: is not a list of names"):
            read(path, filter_key=key)
    assert read(path, filter_key="text").ids == ("demo_0",)


def test_a_folder_of_files(tmp_path: Path):
    hdf5.write_robomimic(tmp_path / "lift.hdf5")
    hdf5.write_robomimic(tmp_path / "can.h5", {"demo_0": hdf5.robomimic_demo(7, 6, 5)})
    (tmp_path / "notes.txt").write_text("not a rollout")
    rollouts = read(tmp_path)
    assert rollouts.ids == ("can/demo_0", "lift/demo_0", "lift/demo_1")
    (tmp_path / "torn.hdf5").write_bytes((tmp_path / "lift.hdf5").read_bytes()[:5000])
    rollouts = read(tmp_path)
    assert len(rollouts) == 3
    assert noticed(rollouts, "torn.hdf5: cannot be read")
    with pytest.raises(RolloutError, match=r"torn\.hdf5"):
        read(tmp_path, strict=True)


def test_files_of_one_name_in_a_folder(tmp_path: Path):
    for name in ("a.h5", "a.hdf5"):
        hdf5.write_robomimic(tmp_path / name, {"demo_0": hdf5.robomimic_demo()})
    assert read(tmp_path).ids == ("a.h5/demo_0", "a.hdf5/demo_0")


def test_a_folder_with_libero_among_others(tmp_path: Path):
    hdf5.write_robomimic(tmp_path / "a.hdf5")
    hdf5.write_libero(tmp_path / "b.hdf5")
    with pytest.raises(RolloutError, match=r"b\.hdf5: the folder mixes LIBERO"):
        read(tmp_path)


# ---- episodes that cannot be trusted -----------------------------------------------------------

GOOD = {"demo_0": hdf5.robomimic_demo(), "demo_2": hdf5.robomimic_demo(6, None, 2)}


def _without_camera() -> hdf5.WrittenDemo:
    return hdf5.robomimic_demo().replaced(obs__agentview_image=None)


def _wrong_count() -> hdf5.WrittenDemo:
    demo = hdf5.robomimic_demo()
    return hdf5.WrittenDemo(demo.datasets, {"num_samples": 9})


UNTRUSTED = {
    "short camera": (
        hdf5.robomimic_demo().replaced(obs__agentview_image=hdf5.pictures(4, 0)),
        "obs/agentview_image has shape (4, 8, 9, 3), the episode 5 frames",
    ),
    "short proprioception": (
        hdf5.robomimic_demo().replaced(obs__robot0_eef_pos=np.zeros((4, 3))),
        "obs/robot0_eef_pos has shape (4, 3), the episode 5 frames",
    ),
    "num_samples": (_wrong_count(), "num_samples is 9, its actions have shape (5, 7)"),
    "no camera": (_without_camera(), "lacks obs/agentview_image, which other episodes have"),
    "wider proprioception": (
        hdf5.robomimic_demo().replaced(obs__robot0_eef_pos=np.zeros((5, 4))),
        "10 proprioceptive numbers per frame where others have 9",
    ),
    "text proprioception": (
        hdf5.robomimic_demo().replaced(obs__robot0_eef_pos=np.array([b"a"] * 5)),
        "unlike other episodes",
    ),
    "NaN reward": (
        hdf5.robomimic_demo().replaced(rewards=np.array([0, 0, np.nan, 1, 1])),
        "rewards holds NaN or infinity",
    ),
    "short rewards": (
        hdf5.robomimic_demo().replaced(rewards=np.zeros(3)),
        "rewards has shape (3,)",
    ),
    "NaN proprioception": (
        hdf5.robomimic_demo().replaced(obs__robot0_eef_pos=np.full((5, 3), np.nan)),
        "proprioception holds NaN or infinity at frame 0",
    ),
    "too large": (
        hdf5.robomimic_demo().replaced(obs__robot0_eef_pos=np.full((5, 3), 1e300)),
        "proprioception holds NaN or infinity at frame 0",
    ),
    "nothing": (hdf5.WrittenDemo({}, {}), "has neither actions nor observations"),
    "no frames": (
        hdf5.WrittenDemo({"actions": np.zeros((0, 7))}, {"num_samples": 0}),
        "lacks obs/",
    ),
    "no pixels": (
        hdf5.robomimic_demo().replaced(obs__agentview_image=np.zeros((5, 0, 9, 3), np.uint8)),
        "images of 9 x 0 pixels",
    ),
}


@pytest.mark.parametrize("case", UNTRUSTED)
def test_an_episode_that_cannot_be_trusted_is_left_out(tmp_path: Path, case: str):
    demo, reason = UNTRUSTED[case]
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {**GOOD, "demo_1": demo})
    rollouts = read(path)
    assert rollouts.ids == ("demo_0", "demo_2")
    assert list(reasons(rollouts)) == ["demo_1"]
    assert "a.hdf5" in reasons(rollouts)["demo_1"]
    assert reason in reasons(rollouts)["demo_1"]
    with pytest.raises(RolloutError, match=r"demo_1: .*a\.hdf5"):
        read(path, strict=True)


def test_a_camera_that_one_episode_has_does_not_cost_the_others(tmp_path: Path):
    extra = hdf5.robomimic_demo().replaced(obs__debug=hdf5.pictures(5, 9))
    rollouts = read(hdf5.write_robomimic(tmp_path / "a.hdf5", {**GOOD, "demo_1": extra}))
    assert len(rollouts) == 3
    assert rollouts.camera_names == ("agentview_image",)
    assert noticed(rollouts, "only 1 of 3 episodes have obs/debug")


def test_missing_episodes_are_noticed_by_the_total(tmp_path: Path):
    path = hdf5.write(tmp_path / "a.hdf5", GOOD, data_attributes={"total": 16})
    assert noticed(read(path), "says that it holds 16 frames, its episodes have 11")
    with pytest.raises(RolloutError, match=r"a\.hdf5: says that it holds 16"):
        read(path, strict=True)


def _declare(group: h5py.Group, key: str, **how: Any) -> None:
    del group[key]
    group.create_dataset(key, **how)


def _change(path: Path, kind: str, elsewhere: Path) -> None:
    with h5py.File(path, "a") as file:
        demo = file["data/demo_1"]
        assert isinstance(demo, h5py.Group)
        images, key = "obs/agentview_image", "obs/robot0_eef_pos"
        if kind == "external link":
            del demo[key]
            demo[key] = h5py.ExternalLink(str(elsewhere), "data/demo_0/obs/robot0_eef_pos")
        elif kind == "soft link":
            del demo[key]
            demo[key] = h5py.SoftLink("/data/demo_0/obs/robot0_eef_pos")
        elif kind == "linked episode":
            del file["data/demo_1"]
            file["data/demo_1"] = h5py.ExternalLink(str(elsewhere), "data/demo_0")
        elif kind == "raw bytes elsewhere":
            _declare(demo, images, shape=(5, 8, 9, 3), dtype="u1", external=str(elsewhere))
        elif kind == "virtual":
            layout = h5py.VirtualLayout((5, 3), "f8")
            layout[:] = h5py.VirtualSource(str(elsewhere), "x", (5, 3))
            del demo[key]
            demo.create_virtual_dataset(key, layout)
        elif kind == "never written":
            _declare(demo, images, shape=(5, 8, 9, 3), dtype="u1")
        elif kind == "partly written":
            _declare(demo, images, shape=(5, 8, 9, 3), dtype="u1", chunks=(1, 8, 9, 3))
            demo[images][:3] = 7  # type: ignore[index]
        elif kind == "huge":
            shape = (5, 100_000, 100_000, 3)
            _declare(demo, images, shape=shape, dtype="u1", chunks=(1, 100, 100, 3))
        elif kind == "huge chunk":
            how = {"chunks": (5, 40_000, 10_000), "compression": "gzip"}
            _declare(demo, key, shape=(5, 3, 1), maxshape=(5, None, None), dtype="f8", **how)
            demo[key][...] = 0 if False else demo[key].shape[0] * 0  # type: ignore[index]
        elif kind == "endless tree":
            demo["obs/again"] = demo["obs"]
            demo["obs/and_again"] = demo["obs"]
        elif kind == "not a group":
            del file["data/demo_1"]
            file["data/demo_1"] = np.zeros(3)
        elif kind == "odd count":
            demo.attrs["num_samples"] = "five"


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("external link", "robot0_eef_pos is a link to somewhere else"),
        ("soft link", "robot0_eef_pos is a link to somewhere else"),
        ("linked episode", "demo_1 is a link to somewhere else"),
        ("raw bytes elsewhere", "keeps its numbers in another file"),
        ("virtual", "keeps its numbers in another file"),
        ("never written", "was not written to the end"),
        ("partly written", "was not written to the end"),
        ("huge", "claims 150000000000 bytes in a file of"),
        ("endless tree", "too many entries"),
        ("not a group", "is not a group"),
        ("odd count", "num_samples is five"),
    ],
)
def test_what_leads_out_of_the_file_or_was_never_written(tmp_path: Path, kind: str, reason: str):
    elsewhere = hdf5.write_robomimic(tmp_path / "elsewhere.bin")
    path = hdf5.write_robomimic(
        tmp_path / "a.hdf5", {**GOOD, "demo_1": hdf5.robomimic_demo(seed=1)}
    )
    _change(path, kind, elsewhere)
    rollouts = read(path)
    assert rollouts.ids == ("demo_0", "demo_2")
    assert reason in reasons(rollouts)["demo_1"]
    assert "a.hdf5" in reasons(rollouts)["demo_1"]


def test_an_unknown_compression_is_named(path: Path, monkeypatch: pytest.MonkeyPatch):
    hdf5.write(path, GOOD, compression="lzf")
    monkeypatch.setattr(storage.h5z, "filter_avail", lambda code: False)
    with pytest.raises(RolloutError, match=r"rollouts\.hdf5: .*with lzf \(HDF5 filter 32000\)"):
        read(path)


def test_control_characters_in_names_are_written_out(tmp_path: Path):
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", {"demo_\x1b[2J": hdf5.robomimic_demo()})
    rollouts = read(path)
    assert rollouts.ids == ("demo_\\x1b[2J",)
    assert len(list(rollouts[0].frames("agentview_image"))) == 5


@pytest.mark.parametrize(
    "content", [b"", b"version https://git-lfs", b"\x89HDF\r\n\x1a\n" + b"\0" * 99]
)
def test_a_file_that_is_not_hdf5(tmp_path: Path, content: bytes):
    (tmp_path / "a.hdf5").write_bytes(content)
    with pytest.raises(RolloutError, match=r"a\.hdf5: cannot be read"):
        read(tmp_path / "a.hdf5")


def test_hdf5_of_another_kind_is_not_claimed(tmp_path: Path):
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["observations/qpos"] = np.zeros(3)
    with pytest.raises(RolloutError, match=r"a\.hdf5: not a known format"):
        read(tmp_path / "a.hdf5")


def test_a_file_without_episodes(tmp_path: Path):
    path = hdf5.write(tmp_path / "a.hdf5", {})
    with pytest.raises(RolloutError, match=r"a\.hdf5: no usable episode"):
        read(path)


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
    rollouts = read(hdf5.write(tmp_path / "a.hdf5", demos, **packing), strict=True)
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


# ---- damaged files -----------------------------------------------------------------------------


def _damaged(content: bytes, generator: np.random.Generator) -> bytes:
    """A few bytes changed, or the end cut off, or a hole of zeros."""
    changed = bytearray(content)
    kind = generator.integers(0, 8)
    if kind == 0:
        return content[: generator.integers(0, len(content))]
    start = int(generator.integers(0, len(content)))
    if kind == 1:
        stop = min(len(content), start + int(generator.integers(1, 600)))
        changed[start:stop] = bytes(stop - start)
        return bytes(changed)
    for _ in range(generator.integers(1, 5)):
        changed[generator.integers(0, len(content))] ^= int(generator.integers(1, 256))
    return bytes(changed)


def _read_everything(path: Path) -> dict[str, tuple[Any, ...]] | None:
    """All that can be had from the file, None if it was refused as it should be."""
    everything: dict[str, tuple[Any, ...]] = {}
    try:
        rollouts = read(path)
    except RolloutError as error:
        assert path.name in str(error)
        return None
    for episode in rollouts:
        try:
            frames = np.array(list(episode.frames("agentview_image")))
        except RolloutError as error:
            assert path.name in str(error) or "no camera" in str(error)
            continue
        everything[episode.id] = (frames, episode.proprioception, episode.goal_frame)
    return everything


@pytest.mark.parametrize("seed", range(80))
def test_a_damaged_file_with_checksums_is_read_right_or_refused(tmp_path: Path, seed: int):
    path = tmp_path / "a.hdf5"
    hdf5.write(path, GOOD, library_version="latest", fletcher32=True, compression="gzip")
    intact = _read_everything(path)
    assert intact is not None
    path.write_bytes(_damaged(path.read_bytes(), np.random.default_rng(seed)))
    for name, content in (_read_everything(path) or {}).items():
        for found, expected in zip(content, intact[name], strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(80))
def test_a_damaged_file_without_checksums_is_never_a_crash(tmp_path: Path, seed: int):
    path = hdf5.write_robomimic(tmp_path / "a.hdf5", GOOD)
    path.write_bytes(_damaged(path.read_bytes(), np.random.default_rng(seed)))
    for frames, proprioception, _ in (_read_everything(path) or {}).values():
        assert len(frames) == len(proprioception)


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
    rollouts = read(EXCERPTS / f"{name}.hdf5", strict=True)
    assert rollouts.outcomes.tolist() == outcomes
    assert rollouts.goal_frames.tolist() == goals
    assert rollouts.proprioception.shape == (frames, 9)
    for episode, camera, pictures in rollouts.clips():
        assert camera in ("agentview_image", "robot0_eye_in_hand_image")
        shapes = {picture.shape for picture in pictures}
        assert shapes == {(84, 84, 3)}
        assert episode.camera(camera).num_frames == 48
