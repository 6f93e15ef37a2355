"""Rollouts of every format, read from a store: the same to the bit as from disk."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from rollout_files import hdf5, rlds, videos
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.stores import PlantedFiles, put

import goalward
from goalward import RolloutError
from goalward.stores.place import StoredPath

CAMERAS = ("front", "wrist")


def lerobot(folder: Path, **options) -> Path:
    episodes = [
        make_episode(length, seed=seed, cameras=CAMERAS, success=seed % 2 == 0)
        for seed, length in enumerate([5, 6, 4])
    ]
    return write_lerobot(folder / "cubes", episodes, **options)


def robomimic_folder(folder: Path) -> Path:
    (folder / "demos").mkdir()
    for name in ("a", "b"):
        hdf5.write_robomimic(folder / "demos" / f"{name}.hdf5")
    return folder / "demos"


def libero_folder(folder: Path) -> Path:
    (folder / "kitchen").mkdir()
    return hdf5.write_libero(folder / "kitchen" / "fold_demo.hdf5").parent


def rlds_folder(folder: Path) -> Path:
    episodes = [rlds.make_episode(3, True), rlds.make_episode(4, False)]
    return rlds.write_data_set(folder / "toy" / "1.0.0", episodes).parents[0]


def video_folder(folder: Path, suffix: str = ".mp4") -> Path:
    for number, name in enumerate(("rollout_fold_success", "rollout_fold_failure")):
        path = folder / "videos" / f"{name}{suffix}"
        path.parent.mkdir(exist_ok=True)
        videos.write_video(path, videos.pictures(5 + number, seed=number))
    (folder / "videos" / "weights.safetensors").write_bytes(b"not for readers")
    return folder / "videos"


FORMATS = {
    "lerobot v3.0": lambda folder: lerobot(folder, version="v3.0"),
    "lerobot v2.1": lambda folder: lerobot(folder, version="v2.1"),
    "lerobot of pictures": lambda folder: lerobot(folder, pictures_as="image"),
    "robomimic": lambda folder: hdf5.write_robomimic(folder / "demo.hdf5"),
    "robomimic folder": robomimic_folder,
    "libero": libero_folder,
    "rlds": rlds_folder,
    "videos": video_folder,
    "matroska": lambda folder: video_folder(folder, ".mkv"),
    "one video": lambda folder: video_folder(folder) / "rollout_fold_success.mp4",
}


def told(rollouts):
    """Everything about rollouts but where they lie."""
    return [
        (
            *(e.id, e.num_frames, e.outcome, e.goal_frame, e.task, e.fps, e.action_size),
            e.proprioception.tobytes(),
            [(s.name, s.values.tobytes()) for s in e.signals],
            {name: source.fingerprint() for name, source in e.cameras.items()},
        )
        for e in rollouts
    ]


@pytest.mark.parametrize("kind", ["memory", "local", "planted"])
@pytest.mark.parametrize("written", FORMATS.values(), ids=FORMATS.keys())
def test_the_same_as_from_disk(tmp_path, written, kind):
    path = written(tmp_path)
    url = put(path, kind)
    stated = {"labels": "success"} if written is libero_folder else {}
    here, there = goalward.read(path, **stated), goalward.read(url, **stated)
    assert told(there) == told(here)
    for ours, theirs in zip(there, here, strict=True):
        for name, source in ours.cameras.items():
            assert np.array_equal(np.stack(list(source)), np.stack(list(theirs.cameras[name])))
    assert there.sources[0].format == here.sources[0].format
    assert there.sources[0].path == url
    assert [w.replace(str(path), "") for w in here.warnings] == [
        w.replace(there.sources[0].path, "") for w in there.warnings
    ]


def test_a_file_url_is_a_path(tmp_path, stores):
    path = lerobot(tmp_path, version="v3.0")
    assert goalward.read(f"file://{path}").sources[0].path == str(path)
    assert not stores.exists()


def test_features_and_labels_come_from_a_store_too(tmp_path):
    ramp = np.linspace(0, 1, 6)[:, None]
    features = goalward.from_arrays([ramp, -ramp], success=[True, False])
    goalward.write_features(tmp_path / "features.npz", features)
    there = goalward.read_features(f"planted://{tmp_path}/features.npz")
    assert np.array_equal(there.features, features.features)
    assert there.sources[0].path == f"planted://{tmp_path}/features.npz"
    videos_there = video_folder(tmp_path)
    (tmp_path / "labels.csv").write_text(
        "path,success\nrollout_fold_success.mp4,false\nrollout_fold_failure.mp4,true\n"
    )
    read = goalward.read(put(videos_there, "planted"), labels=f"planted://{tmp_path}/labels.csv")
    assert {e.id: str(e.outcome) for e in read} == {
        "rollout_fold_failure": "success",
        "rollout_fold_success": "time_out",
    }


def test_a_video_is_fetched_when_its_frames_are_wanted(tmp_path, stores):
    """Reading asks for indices alone, and a second time for nothing; a clip brings its file."""
    path = lerobot(tmp_path, version="v2.1")
    for video in path.rglob("*.mp4"):
        # As long as real ones: what is not an index is not asked for.
        with video.open("ab") as file:
            file.write((1 << 20).to_bytes(4, "big") + b"free" + bytes((1 << 20) - 8))
    url = put(path, "planted")
    rollouts = goalward.read(url)
    num_videos = len(list(path.rglob("*.mp4")))
    assert num_videos == 6
    assert PlantedFiles.num_bytes < 1 << 20
    asked = PlantedFiles.asked.total()
    again = goalward.read(url)
    assert PlantedFiles.asked.total() == asked
    assert told(again[:1]) == told(rollouts[:1])
    fetched = [p for p in stores.rglob("*.mp4") if p.stat().st_size > 1 << 20]
    assert sorted({p.name for p in fetched}) == ["episode_000000.mp4"]
    assert len(fetched) == 2


def test_clips_travel_as_what_they_are_in_the_store(tmp_path, monkeypatch):
    """Another machine has another folder for them, and fetches its own."""
    url = put(lerobot(tmp_path, version="v3.0"), "planted")
    source = goalward.read(url)[1].cameras["observation.images.wrist"]
    wanted = source.fingerprint()
    travelled = pickle.dumps(source)
    assert str(tmp_path / "fetched").encode() not in travelled
    monkeypatch.setenv("GOALWARD_STORES", str(tmp_path / "elsewhere"))
    arrived = pickle.loads(travelled)  # noqa: S301 (written above)
    assert isinstance(arrived.path, StoredPath)
    assert arrived.path.is_relative_to(tmp_path / "elsewhere")
    assert arrived.fingerprint() == wanted


def test_what_the_store_has_no_longer_is_gone(tmp_path):
    path = video_folder(tmp_path)
    url = put(path, "planted")
    assert len(goalward.read(url)) == 2
    (path / "rollout_fold_failure.mp4").unlink()
    assert len(goalward.read(url)) == 1


def test_what_changed_in_the_store_is_read_anew(tmp_path):
    path = video_folder(tmp_path)
    url = put(path, "planted")
    before = told(goalward.read(url))
    videos.write_video(path / "rollout_fold_failure.mp4", videos.pictures(9, seed=7))
    after = told(goalward.read(url))
    assert after == told(goalward.read(path))
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True]


def test_a_folder_above_data_sets_fetches_none_of_them(tmp_path):
    lerobot(tmp_path / "a", version="v3.0")
    lerobot(tmp_path / "b", version="v3.0")
    with pytest.raises(RolloutError) as caught:
        goalward.read(f"planted://{tmp_path}")
    assert str(caught.value) == (
        f"planted://{tmp_path}: is not a data set itself, but holds some; point at "
        f"planted://{tmp_path}/a/cubes, planted://{tmp_path}/b/cubes"
    )
    assert PlantedFiles.asked.total() == 0


def test_videos_of_a_lerobot_data_set_are_not_taken_one_by_one(tmp_path):
    path = lerobot(tmp_path, version="v3.0")
    with pytest.raises(RolloutError, match=f"planted://{path} is a LeRobot data set; point at it"):
        goalward.read(f"planted://{path}/videos")


def test_damage_is_named_by_its_address(tmp_path):
    path = video_folder(tmp_path)
    (path / "rollout_fold_failure.mp4").write_bytes(b"no video at all")
    there = goalward.read(put(path, "planted"))
    assert [left.reason for left in there.left_out] == [
        f"planted://{path}/rollout_fold_failure.mp4: does not start like a video"
    ]
