"""A store that cuts, changes, refuses or is not there: one sentence each, and nothing is lost."""

import errno
import os
import threading

import pytest
from rollout_files import hdf5, videos
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.stores import PlantedFiles, put

import goalward
from goalward.errors import GoalwardError
from goalward.executors.piece import answer_to
from goalward.stores import fetching, room
from goalward.stores.fetching import fetched
from goalward.stores.place import StoredPath
from goalward.stores.problems import StoreError


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSES_S", (0.0, 0.0))


@pytest.fixture
def demos(tmp_path):
    return hdf5.write_robomimic(tmp_path / "demo.hdf5")


def sentence(url, **options):
    with pytest.raises(GoalwardError) as caught:
        goalward.read(url, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_cut_answer_is_asked_for_again(demos):
    PlantedFiles.cut = {"demo.hdf5": 2}
    assert len(goalward.read(put(demos, "planted"))) == 2


def test_a_store_that_is_cut_in_the_middle_goes_on_where_it_was(demos, stores, monkeypatch):
    monkeypatch.setattr(fetching, "_BLOCK_BYTES", 4096)
    size = demos.stat().st_size
    assert size > 3 * 4096

    def cut_after_two(path):
        if PlantedFiles.asked.total() == 2:
            PlantedFiles.cut = {"demo.hdf5": 3}

    PlantedFiles.after_block = cut_after_two
    url = put(demos, "planted")
    assert sentence(url) == (
        f"{url}: the store gave 10,240 of 12,288 bytes and then no more; what is here stays, and "
        "the same command goes on"
    )
    assert not list(stores.rglob("demo.hdf5"))
    PlantedFiles.after_block, PlantedFiles.num_bytes = None, 0
    assert len(goalward.read(url)) == 2
    assert PlantedFiles.num_bytes == size - 2 * 4096


def test_an_object_that_changes_while_it_is_fetched_is_refused(demos, monkeypatch):
    monkeypatch.setattr(fetching, "_BLOCK_BYTES", 4096)

    def replace_once(path):
        PlantedFiles.after_block = None
        os.utime(path, (1, 1))

    PlantedFiles.after_block = replace_once
    url = put(demos, "planted")
    assert sentence(url) == f"{url}: changed in the store since it was listed; run it again"
    assert len(goalward.read(url)) == 2


def test_a_video_that_changes_after_it_was_read_is_no_damaged_episode(tmp_path):
    path = tmp_path / "videos" / "rollout_fold_success.mp4"
    path.parent.mkdir()
    videos.write_video(path, videos.pictures(5))
    rollouts = goalward.read(put(path.parent, "planted"))
    os.utime(path, (1, 1))
    with pytest.raises(StoreError, match="changed in the store since it was listed"):
        rollouts[0].cameras["video"].fingerprint()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError("Access Denied"), "the store refuses to show it to these credentials"),
        (type("NoCredentialsError", (Exception,), {})("Unable"), "there are no credentials"),
        (FileNotFoundError("bucket"), "the store has no such file or folder"),
        (type("GatedRepoError", (Exception,), {})("ask"), "the store refuses to show it"),
        (
            ConnectionError("no route"),
            "the store does not answer as it should (ConnectionError: no",
        ),
        (RuntimeError(""), "the store does not answer as it should (RuntimeError)"),
    ],
)
def test_what_a_store_answers_is_said_in_a_sentence(demos, error, words):
    PlantedFiles.refused = {"demo.hdf5": error}
    told = sentence(put(demos, "planted"))
    assert told.startswith(f"planted://{demos}: ")
    assert words in told


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("s3://bucket/rollouts", "files of s3:// need another package: pip install 'goalward[s3]'"),
        (
            "gs://bucket/rollouts",
            "files of gs:// need another package: pip install 'goalward[gcs]'",
        ),
        ("abfs://bucket/rollouts", "files of abfs:// need another package: it says: Install adlfs"),
        ("nowhere://bucket", "no such file or folder, and no store is known by nowhere://"),
        ("memory://bucket/none", "the store has no such file or folder"),
        ("memory://bucket/../up", "is not an address of a file or folder"),
    ],
)
def test_what_is_no_store(url, words):
    if url.startswith(("s3", "gs")) and _has({"s3": "s3fs", "gs": "gcsfs"}[url[:2]]):
        pytest.skip("its package is installed")
    assert sentence(url).startswith(f"{url}: {words}")


def _has(package):
    from importlib.util import find_spec

    return find_spec(package) is not None


def test_a_folder_without_rollouts_is_told(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "log.txt").write_text("nothing")
    url = put(tmp_path / "logs", "planted")
    assert sentence(url) == f"{url}: holds 1 files, and none that rollouts are made of"


def test_a_full_disk_is_told_and_may_be_better_elsewhere(demos, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    url = put(demos, "planted")
    with monkeypatch.context() as patched:
        patched.setattr(fetching.os, "pwrite", full)
        assert f"{url}: no space left in " in sentence(url)
        assert "set GOALWARD_STORES to a folder with more room" in sentence(url)
        answer = answer_to(_Fetch(StoredPath.of(url)), None)
        assert answer.is_passing
    assert len(goalward.read(url)) == 2


class _Fetch:
    def __init__(self, path):
        self.path = path

    def do(self, station, /):
        fetched(self.path)


def test_a_store_that_is_cut_leaves_no_episode_out(tmp_path):
    """What is embedded stops with a sentence, and then goes on."""
    from rollout_files.small_encoder import small_encoder

    path = tmp_path / "videos"
    path.mkdir()
    for number in range(3):
        videos.write_video(path / f"{number}_success.mp4", videos.pictures(5, seed=number))
    rollouts = goalward.read(put(path, "planted"), labels="success")
    PlantedFiles.cut = {"2_success.mp4": 99}
    options = {"cache": tmp_path / "cache", "device": "cpu"}
    with pytest.raises(StoreError, match="2_success.mp4: the store gave"):
        goalward.embed(rollouts, small_encoder(), **options)
    PlantedFiles.cut = {}
    embedded = goalward.embed(rollouts, small_encoder(), **options)
    assert len(embedded) == 3
    assert not embedded.left_out


def test_a_video_that_is_wanted_for_decoding_and_does_not_come_leaves_no_episode_out(tmp_path):
    """Its fingerprint was noted by others, so that decoding is the first to want it."""
    from rollout_files.small_encoder import small_encoder

    path = tmp_path / "videos" / "0_success.mp4"
    path.parent.mkdir()
    videos.write_video(path, videos.pictures(5))
    rollouts = goalward.read(put(path.parent, "planted"), labels="success")
    rollouts[0].cameras["video"].note("0" * 32)
    PlantedFiles.cut = {"0_success.mp4": 99}
    with pytest.raises(StoreError, match="0_success.mp4: the store gave"):
        goalward.embed(rollouts, small_encoder(), cache=tmp_path / "cache", device="cpu")


# ---- room ---------------------------------------------------------------------------------------


def test_too_much_at_once_is_said_before_it_is_fetched(demos, monkeypatch):
    monkeypatch.setenv("GOALWARD_STORES_GB", "0.000001")
    told = sentence(put(demos, "planted"))
    assert "would have to be fetched at once, and files of stores may take 0.0 GB here" in told
    assert PlantedFiles.asked.total() == 0
    monkeypatch.setenv("GOALWARD_STORES_GB", "much")
    assert "GOALWARD_STORES_GB=much: write a number of gigabytes" in sentence(put(demos, "planted"))


def test_videos_make_room_for_others_and_come_again(tmp_path, stores, monkeypatch):
    episodes = [make_episode(6, seed=seed) for seed in range(5)]
    path = write_lerobot(tmp_path / "cubes", episodes, version="v2.1")
    sizes = [video.stat().st_size for video in path.rglob("*.mp4")]
    tables = sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) - sum(sizes)
    monkeypatch.setenv("GOALWARD_STORES_GB", f"{(tables + 2.2 * max(sizes)) / 1e9:.9f}")
    monkeypatch.setattr(room, "_IN_USE_S", 0.0)
    rollouts = goalward.read(put(path, "planted"))
    found = [next(iter(episode.cameras.values())).fingerprint() for episode in rollouts]
    whole = [p for p in (stores / "objects").rglob("*.mp4") if p.read_bytes()[4:8] == b"ftyp"]
    assert 1 <= len(whole) <= 2
    assert found == [next(iter(episode.cameras.values())).fingerprint() for episode in rollouts]
    here = goalward.read(path)
    assert found == [next(iter(episode.cameras.values())).fingerprint() for episode in here]


def test_many_who_want_one_file_fetch_it_once(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_BLOCK_BYTES", 1 << 16)
    path = tmp_path / "big.npz"
    path.write_bytes(os.urandom(1 << 20))
    stored = StoredPath.of(put(path, "planted"))
    contents = []
    threads = [
        threading.Thread(target=lambda: contents.append(fetched(stored).read_bytes()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert contents == [path.read_bytes()] * 8
    assert PlantedFiles.num_bytes == 1 << 20
