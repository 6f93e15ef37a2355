"""The cache of embeddings in a store: the same files there, whoever made them."""

import threading
from pathlib import Path

import numpy as np
import pytest
from rollout_files import videos
from rollout_files.small_encoder import small_encoder
from rollout_files.stores import PlantedFiles, forget_all, put

import goalward
from goalward.embeddings import embed_pieces, outlook
from goalward.embeddings.cache.clip_work import ClipWork
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.cache.fingerprint_notes import FingerprintNotes
from goalward.embeddings.cache.upkeep import cache_uses
from goalward.embeddings.embed import embed_shard
from goalward.errors import GoalwardError
from goalward.executors.shard import Shard
from goalward.rollouts.twins import twins_between
from goalward.runs.making.values_of_run import _is_told
from goalward.stores import fetching, keeping, room
from goalward.stores.problems import StoreError
from ray_cluster import needs_ray


@pytest.fixture
def rollouts(tmp_path):
    path = tmp_path / "videos"
    path.mkdir()
    for number in range(4):
        videos.write_video(path / f"{number}_success.mp4", videos.pictures(5, seed=number))
    return goalward.read(put(path, "planted"), labels="success")


def embedded(rollouts, cache):
    reports = []
    found = goalward.embed(
        rollouts, small_encoder(), cache=cache, device="cpu", on_finish=reports.append
    )
    return found.features, reports[0]


def entries(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.safetensors")}


def test_the_same_files_as_in_a_folder(rollouts, tmp_path, stores):
    wanted, _ = embedded(rollouts, tmp_path / "here")
    found, report = embedded(rollouts, f"planted://{tmp_path}/there")
    assert np.array_equal(found, wanted)
    assert report.num_encoded == 20
    assert entries(tmp_path / "there") == entries(tmp_path / "here")
    assert (tmp_path / "there" / "embeddings").is_dir()
    assert len(list((tmp_path / "there").rglob("encoder.json"))) == 1


def test_another_machine_finds_them(rollouts, tmp_path, stores, monkeypatch):
    """Without the videos: what their frames are is noted beside the embeddings."""
    monkeypatch.setenv("GOALWARD_CACHE", f"planted://{tmp_path}/there")
    wanted, _ = embedded(rollouts, None)
    forget_all(stores)
    rollouts = goalward.read(rollouts.sources[0].path, labels="success")
    PlantedFiles.reset()
    found, report = embedded(rollouts, None)
    assert (report.num_from_cache, report.num_encoded) == (20, 0)
    assert np.array_equal(found, wanted)
    assert not [name for name in PlantedFiles.asked if name.endswith(".mp4")]


@pytest.mark.parametrize("few", [0, 64])
def test_for_a_few_files_the_store_is_not_listed(rollouts, tmp_path, stores, monkeypatch, few):
    """A piece of work has sixteen clips, the store those of 100,000 episodes."""
    monkeypatch.setattr(keeping, "_FEW", few)
    listed = []
    find = PlantedFiles.find
    monkeypatch.setattr(
        PlantedFiles,
        "find",
        lambda self, path, **o: [listed.append(path), find(self, path, **o)][1],
    )
    cache = f"planted://{tmp_path}/there"
    wanted, report = embedded(rollouts, cache)
    assert report.num_encoded == 20
    forget_all(stores)
    listed.clear()
    found, report = embedded(rollouts, cache)
    assert np.array_equal(found, wanted)
    assert report.num_from_cache == 20
    assert any("embeddings" in path for path in listed) == (few == 0)


def test_what_machines_put_there_is_fetched_side_by_side(rollouts, tmp_path, stores, monkeypatch):
    """Who has others embed has nothing of it: one request after the other would take hours."""
    encode, threads = ClipWork.encode_missing, []

    def by_others(self, *told):
        encode(self, *told)
        forget_all(stores)
        PlantedFiles.reset()
        threads.clear()

    cat_file = PlantedFiles.cat_file

    def watched(self, path, *told, **options):
        threads.append(threading.current_thread().name)
        return cat_file(self, path, *told, **options)

    wanted, _ = embedded(rollouts, tmp_path / "here")
    monkeypatch.setattr(ClipWork, "encode_missing", by_others)
    monkeypatch.setattr(PlantedFiles, "cat_file", watched)
    found, _ = embedded(rollouts, f"planted://{tmp_path}/there")
    assert np.array_equal(found, wanted)
    fetched = [name for name in PlantedFiles.asked if name.endswith(".safetensors")]
    assert len(set(fetched)) == len(rollouts)
    # The first one, by which the shape is known, is read alone.
    assert sum(name.startswith("bring") for name in threads) >= len(rollouts) - 1


def test_a_plan_fetches_no_video_that_is_known_and_few_that_are_not(rollouts, tmp_path, stores):
    store = EncoderCache.of(small_encoder(), f"planted://{tmp_path}/there")
    clips = [episode.cameras["video"] for episode in rollouts]
    PlantedFiles.reset()
    assert outlook._look(store, clips[:1])[:2] == (5, 0)
    assert [name for name in PlantedFiles.asked if name.endswith(".mp4")] == ["0_success.mp4"]
    embedded(rollouts, f"planted://{tmp_path}/there")
    forget_all(stores)
    PlantedFiles.reset()
    assert outlook._look(store, clips)[:2] == (20, 20)
    assert not [name for name in PlantedFiles.asked if name.endswith(".mp4")]


@needs_ray
def test_who_asks_a_cluster_fetches_no_video(rollouts, tmp_path, stores, monkeypatch):
    """What nobody has noted is for the workers to see; what is noted needs none of them."""
    asked = []

    def nobody(on, desk, *_, most_workers, **__):
        asked.append(most_workers)
        raise GoalwardError("there is no cluster")

    monkeypatch.setattr(embed_pieces, "executor_on", nobody)
    cache = f"planted://{tmp_path}/there"
    options = {"cache": cache, "device": "cpu"}
    PlantedFiles.reset()
    with pytest.raises(GoalwardError, match="there is no cluster"):
        goalward.embed(rollouts, small_encoder(), on="ray", **options)
    assert not [name for name in PlantedFiles.asked if name.endswith(".mp4")]
    wanted = goalward.embed(rollouts[:3], small_encoder(), **options).features
    forget_all(stores)
    rollouts = goalward.read(rollouts.sources[0].path, labels="success")
    PlantedFiles.reset()
    found = goalward.embed(rollouts[:3], small_encoder(), on="ray", **options).features
    assert np.array_equal(found, wanted)
    with pytest.raises(GoalwardError, match="there is no cluster"):
        goalward.embed(rollouts, small_encoder(), on="ray", **options)
    assert asked == [4, 1]
    assert not [name for name in PlantedFiles.asked if name.endswith(".mp4")]


def test_copies_are_not_looked_for_in_videos_that_would_be_fetched_for_it(
    rollouts, tmp_path, stores
):
    """Whose networks judge is asked before embedding, which brings and notes them."""
    notes = FingerprintNotes.of(f"planted://{tmp_path}/there")
    PlantedFiles.reset()
    assert not _is_told(rollouts, notes)
    embedded(rollouts, f"planted://{tmp_path}/there")
    forget_all(stores)
    rollouts = goalward.read(rollouts.sources[0].path, labels="success")
    PlantedFiles.reset()
    assert _is_told(rollouts, notes)
    assert len(twins_between(rollouts, rollouts)) == 4
    assert not [name for name in PlantedFiles.asked if name.endswith(".mp4")]


def test_a_note_about_a_video_that_changed_is_not_read(rollouts, tmp_path, stores):
    cache = f"planted://{tmp_path}/there"
    before, _ = embedded(rollouts, cache)
    video = tmp_path / "videos" / "2_success.mp4"
    videos.write_video(video, videos.pictures(5, seed=9))
    forget_all(stores)
    after, report = embedded(goalward.read(rollouts.sources[0].path, labels="success"), cache)
    assert (report.num_from_cache, report.num_encoded) == (15, 5)
    pairs = zip(np.split(before, 4), np.split(after, 4), strict=True)
    same = [np.array_equal(a, b) for a, b in pairs]
    assert same == [True, True, False, True]


def test_shards_fill_it_and_fetch_no_videos_of_others(rollouts, tmp_path, stores):
    cache = f"planted://{tmp_path}/there"
    for number in (1, 2):
        forget_all(stores)
        PlantedFiles.reset()
        share = Shard(number, 2)
        report = embed_shard(rollouts, share, small_encoder(), cache=cache, device="cpu")
        assert report.num_encoded == 10
        fetched = {name for name in PlantedFiles.asked if name.endswith(".mp4")}
        assert fetched == {f"{clip}_success.mp4" for clip in (number - 1, number + 1)}
    _, report = embedded(rollouts, cache)
    assert (report.num_from_cache, report.num_encoded) == (20, 0)


def test_a_damaged_file_is_made_again(rollouts, tmp_path, stores):
    cache = f"planted://{tmp_path}/there"
    embedded(rollouts, cache)
    wanted = entries(tmp_path / "there")
    path = next((tmp_path / "there").rglob("*.safetensors"))
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    forget_all(stores)
    _, report = embedded(rollouts, cache)
    assert report.num_rebuilt_clips == 1
    assert entries(tmp_path / "there") == wanted


def test_a_store_that_takes_nothing_is_told(rollouts, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSES_S", (0.0, 0.0))

    def refuse(self, path, content, **_):
        raise PermissionError("Access Denied")

    cache = f"planted://{tmp_path}/there"
    with monkeypatch.context() as patched:
        patched.setattr(PlantedFiles, "pipe_file", refuse)
        with pytest.raises(StoreError, match="the store refuses"):
            embedded(rollouts, cache)
    _, report = embedded(rollouts, cache)
    assert report.num_encoded == 20


@pytest.mark.parametrize("url", ["hf://datasets/a/cache", "https://host/cache"])
def test_what_is_no_place_for_a_cache(url):
    with pytest.raises(GoalwardError, match=f"{url}: no place for a cache: "):
        EncoderCache.of(small_encoder(), url)


def test_upkeep_is_the_store_s_own(monkeypatch):
    monkeypatch.setenv("GOALWARD_CACHE", "s3://bucket/cache")
    with pytest.raises(GoalwardError, match="s3://bucket/cache: what a store keeps is listed"):
        cache_uses()


def test_results_are_not_written_to_a_store(tmp_path, monkeypatch):
    ramp = np.linspace(0, 1, 12)[:, None]
    features = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    words = "s3://bucket/run: results are written to folders of this machine; give a folder here"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GoalwardError, match=words):
        goalward.evaluate(features, "s3://bucket/run")
    with pytest.raises(GoalwardError, match=words.replace("run", "f.npz")):
        goalward.write_features("s3://bucket/f.npz", features)
    assert not list(tmp_path.glob("s3*"))


def test_videos_that_do_not_fit_together_are_fetched_once(tmp_path, monkeypatch):
    path = tmp_path / "videos"
    path.mkdir()
    for number in range(8):
        videos.write_video(path / f"{number}_success.mp4", videos.pictures(5, seed=number))
    sizes = [video.stat().st_size for video in path.iterdir()]
    wanted, _ = embedded(goalward.read(path, labels="success"), tmp_path / "here")
    monkeypatch.setenv("GOALWARD_STORES_GB", f"{3 * max(sizes) / 1e9:.9f}")
    monkeypatch.setattr(room, "_IN_USE_S", 0.0)
    rollouts = goalward.read(put(path, "planted"), labels="success")
    PlantedFiles.reset()
    reports, told = [], []
    found = goalward.embed(
        rollouts,
        small_encoder(),
        cache=tmp_path / "cache",
        device="cpu",
        on_progress=told.append,
        on_finish=reports.append,
    )
    assert np.array_equal(found.features, wanted)
    assert PlantedFiles.num_bytes == sum(sizes)
    assert (reports[0].num_frames, reports[0].num_encoded) == (40, 40)
    for stage in ("reading", "embedding"):
        frames = [now.frames for now in told if now.stage == stage]
        assert frames == sorted(frames)
        assert frames[-1] == 40
        assert {now.total_frames for now in told if now.stage == stage} == {40}
