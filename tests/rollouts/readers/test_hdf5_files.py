"""Filter keys inside HDF5 files, and folders of files."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from rollout_files import hdf5

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.readers import read


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return hdf5.write_robomimic(tmp_path / "rollouts.hdf5")


def noticed(rollouts: Rollouts, text: str) -> bool:
    return any(text in warning for warning in rollouts.warnings)


def test_filter_key(tmp_path: Path):
    demos = {f"demo_{n}": hdf5.robomimic_demo(seed=n) for n in range(4)}
    masks = {"train": [b"demo_3", b"demo_1", b"demo_77"], "none": [b"demo_9"]}
    path = hdf5.write(tmp_path / "a.hdf5", demos, masks=masks)
    rollouts = read(path, filter_key="train")
    assert rollouts.ids == ("demo_1", "demo_3")
    assert noticed(rollouts, "filter key train names 1 episodes that are not in the file: demo_77")
    with pytest.raises(RolloutError, match=r"a\.hdf5: no filter key test; .*: none, train"):
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


def test_a_folder_in_which_no_file_can_be_read(tmp_path: Path):
    for name in ("a.hdf5", "b.hdf5"):
        (tmp_path / name).write_bytes(b"torn")
    with pytest.raises(RolloutError, match=r"b\.hdf5: cannot be read"):
        read(tmp_path)


def test_a_file_of_a_folder_that_has_no_episodes(tmp_path: Path):
    for name, demos in (("a", {"demo_0": hdf5.robomimic_demo()}), ("b", {})):
        hdf5.write(tmp_path / f"{name}.hdf5", demos, masks={"train": [b"demo_0"]})
    rollouts = read(tmp_path)
    assert rollouts.ids == ("a/demo_0",)
    assert [w for w in rollouts.warnings if "no episodes" in w] == [
        f"{tmp_path / 'b.hdf5'}: holds no episodes"
    ]
    assert noticed(read(tmp_path, filter_key="train"), "b.hdf5: holds no episodes that filter key")
    with pytest.raises(RolloutError, match=r"b\.hdf5: no usable episode. It holds no episodes"):
        read(tmp_path / "b.hdf5")
