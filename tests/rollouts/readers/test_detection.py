"""Which format lies at a path, and what is said where none does."""

from pathlib import Path

import pytest
from rollout_files import hdf5, rlds
from rollout_files.lerobot import make_episode, write_lerobot

import goalward
from goalward import RolloutError


def records(folder: Path) -> Path:
    return rlds.write_data_set(folder, [rlds.make_episode(3, True), rlds.make_episode(4, False)])


def test_a_folder_above_a_data_set_points_at_it(tmp_path: Path):
    records(tmp_path / "toy" / "1.0.0")
    assert len(goalward.read(tmp_path / "toy")) == 2
    with pytest.raises(RolloutError, match=r"point at \S+/toy \(rlds\)$"):
        goalward.read(tmp_path)
    (tmp_path / "robomimic").mkdir()
    hdf5.write_robomimic(tmp_path / "robomimic" / "a.hdf5")
    write_lerobot(tmp_path / "hub" / "lab" / "cubes", [make_episode(3)], pictures_as="image")
    with pytest.raises(RolloutError) as caught:
        goalward.read(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: is not a data set itself, but holds some; point at "
        f"{tmp_path}/robomimic (robomimic), {tmp_path}/toy (rlds), "
        f"{tmp_path}/hub/lab/cubes (lerobot)"
    )


def test_hidden_folders_and_those_far_below_are_not_looked_into(tmp_path: Path):
    records(tmp_path / ".cache" / "toy")
    records(tmp_path / "a" / "b" / "c" / "d" / "toy")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    with pytest.raises(RolloutError, match="not a known format of rollouts"):
        goalward.read(tmp_path)


def test_a_folder_that_cannot_be_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    records(tmp_path / "toy")
    (tmp_path / "private").mkdir()
    look = Path.iterdir

    def refuse(folder: Path):
        if folder.name == "private":
            raise PermissionError(13, "Permission denied", str(folder))
        return look(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(RolloutError, match="point at .*toy"):
        goalward.read(tmp_path)


def test_arrays_are_offered_where_no_format_fits(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("nothing")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(RolloutError, match=r"not a known format.*goalward\.from_arrays"):
            goalward.read(path)
