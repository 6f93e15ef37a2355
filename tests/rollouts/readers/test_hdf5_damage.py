"""HDF5 files and episodes that cannot be trusted: named and left out, or refused."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from rollout_files import hdf5
from rollout_files.left_out import reasons

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.readers import read
from goalward.rollouts.readers.hdf5 import storage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return hdf5.write_robomimic(tmp_path / "rollouts.hdf5")


def noticed(rollouts: Rollouts, text: str) -> bool:
    return any(text in warning for warning in rollouts.warnings)


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
            how = {"chunks": (5, 400_000_000), "maxshape": (5, None), "compression": "gzip"}
            _declare(demo, key, shape=(5, 3), dtype="f8", **how)
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
        ("huge chunk", "claims chunks of shape (5, 400000000)"),
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
