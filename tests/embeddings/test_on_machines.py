"""Shares of the clips, and the workers of a cluster: all fill one cache, with the same bytes."""

import logging
import os
import pickle
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from rollout_files.lerobot import make_episode, write_lerobot
from rollout_files.small_encoder import picture_rollouts, small_encoder

import goalward
from goalward.embeddings import embed_pieces
from goalward.embeddings.cache import clip_work
from goalward.embeddings.cache.encoder_cache import EncoderCache
from goalward.embeddings.embed import embed, embed_shard
from goalward.embeddings.embed_pieces import NamedEncoder
from goalward.errors import GoalwardError
from goalward.executors.piece import PiecesFailed
from goalward.executors.shard import Shard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.frames import FrameSource, Image
from ray_cluster import lose_a_node, needs_ray, two_nodes

LENGTHS = [8, 9, 10, 9, 12, 7]
CAMERAS = ("front", "wrist")


@pytest.fixture
def data_set(tmp_path):
    episodes = [
        make_episode(length, seed=seed, cameras=CAMERAS) for seed, length in enumerate(LENGTHS)
    ]
    return write_lerobot(tmp_path / "rollouts", episodes, version="v2.1")


def entries(cache: Path) -> dict[str, bytes]:
    folder = EncoderCache.of(small_encoder(), cache).folder
    return {path.name: path.read_bytes() for path in folder.glob("??/*")}


# ---- shards -------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 20])
def test_all_shards_fill_the_cache_and_do_nothing_twice(data_set, tmp_path, count):
    rollouts = goalward.read(data_set)
    wanted = embed(rollouts, small_encoder(), cache=tmp_path / "whole", device="cpu")
    reports = [
        embed_shard(
            rollouts, Shard(number, count), small_encoder(), cache=tmp_path / "shares", device="cpu"
        )
        for number in range(1, count + 1)
    ]
    assert sum(report.num_encoded for report in reports) == 2 * sum(LENGTHS)
    assert sum(report.num_from_cache for report in reports) == 0
    assert entries(tmp_path / "shares") == entries(tmp_path / "whole")
    told = []
    found = embed(
        rollouts,
        small_encoder(),
        cache=tmp_path / "shares",
        device="cpu",
        on_finish=told.append,
    )
    assert told[0].num_encoded == 0
    assert np.array_equal(found.features, wanted.features)


def test_a_share_goes_on_where_it_was(data_set, tmp_path):
    rollouts = goalward.read(data_set)
    share = Shard(2, 3)
    first = embed_shard(rollouts, share, small_encoder(), cache=tmp_path / "cache", device="cpu")
    again = embed_shard(rollouts, share, small_encoder(), cache=tmp_path / "cache", device="cpu")
    assert first.num_encoded == again.num_from_cache > 0
    assert again.num_encoded == 0


def test_a_share_without_cameras_is_no_work(data_set):
    with pytest.raises(GoalwardError, match="shard='1/2': without cameras there is no work"):
        embed_shard(goalward.read(data_set), Shard(1, 2), small_encoder(), cameras=())


def test_workers_are_those_of_a_cluster(data_set):
    with pytest.raises(GoalwardError, match="num_workers=2: this process works with all cores"):
        embed(goalward.read(data_set), small_encoder(), num_workers=2)


@needs_ray
def test_frames_in_memory_do_not_travel():
    """Turned or thinned they are in memory all the same."""
    for options in ({}, {"every": 3}):
        with pytest.raises(GoalwardError, match="episode 0, camera front: its frames are in the"):
            embed(picture_rollouts([5, 6]), small_encoder(), on="ray", **options)


def test_another_machine_must_find_the_same_encoder(model_folder):
    folder = str(model_folder("clip"))
    wanted = NamedEncoder(folder, "global", "float", "0" * 16)
    with pytest.raises(GoalwardError, match="it is another one .*same folder on all machines"):
        wanted.find()


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
@pytest.mark.parametrize("as_images", [False, True])
def test_clips_of_files_travel_by_name(tmp_path, version, as_images):
    """Frames stay where they are: what travels is short, and gives the same pictures."""
    options = {"pictures_as": "image"} if as_images else {}
    episodes = [make_episode(40, seed=1, cameras=("front",))]
    path = write_lerobot(tmp_path / "rollouts", episodes, version=version, **options)
    source = goalward.read(path)[0].cameras["observation.images.front"]
    travelled = pickle.dumps(source)
    assert len(travelled) < 3000
    there = pickle.loads(travelled)  # noqa: S301 (written above)
    assert there.fingerprint() == source.fingerprint()
    assert all(np.array_equal(a, b) for a, b in zip(there, source, strict=True))


# ---- what the cache has -------------------------------------------------------------------------


class Alone:
    """Stands in for a cluster of one worker, in this process; says which clips it was asked for."""

    num_workers = 1

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.num_starts = 0

    def on(self, on, build, *_, **__):
        self.build = build
        return self

    def __enter__(self):
        self.num_starts += 1
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def results(self, pieces, on_failed, on_setbacks):
        station = self.build()
        for piece in pieces:
            self.asked += [str(clip) for clip in piece.clips]
            yield piece, piece.do(station)


@pytest.fixture
def alone(monkeypatch):
    alone = Alone()
    monkeypatch.setattr(embed_pieces, "executor_on", alone.on)
    return alone


def embedded(rollouts, cache, **options):
    reports = []
    found = embed(
        rollouts,
        small_encoder(),
        cache=cache,
        device="cpu",
        on_finish=reports.append,
        **options,
    )
    return found, reports[0]


def facts(report):
    return replace(report, seconds=0.0, cache=Path(), left_out=list(report.left_out))


@needs_ray
@pytest.mark.parametrize("num_tried", [1, 16])
def test_no_cluster_where_all_is_in_the_cache(data_set, tmp_path, alone, monkeypatch, num_tried):
    monkeypatch.setattr(clip_work, "_NUM_TRIED", num_tried)
    rollouts = goalward.read(data_set)
    told = []
    embedded(rollouts, tmp_path / "cache")
    here, of_here = embedded(rollouts, tmp_path / "cache")
    there, of_there = embedded(rollouts, tmp_path / "cache", on="ray", on_progress=told.append)
    share = embed_shard(
        rollouts, Shard(1, 2), small_encoder(), cache=tmp_path / "cache", device="cpu", on="ray"
    )
    assert alone.num_starts == 0
    assert np.array_equal(there.features, here.features)
    assert facts(of_there) == facts(of_here)
    assert of_there.num_from_cache == 2 * sum(LENGTHS)
    assert share.num_from_cache == 2 * sum(LENGTHS[::2])
    assert {now.stage for now in told} == {"reading"}
    assert told[-1].frames == told[-1].total_frames == 2 * sum(LENGTHS)


@needs_ray
def test_nor_where_the_rest_cannot_be_read(data_set, tmp_path, alone):
    rollouts = goalward.read(data_set)
    for number in (1, 2, 4, 5):
        next(data_set.rglob(f"*.front/episode_00000{number}.mp4")).unlink()
    here, of_here = embedded(rollouts, tmp_path / "cache")
    there, of_there = embedded(rollouts, tmp_path / "cache", on="ray")
    assert alone.num_starts == 0
    assert [left.episode_id for left in there.left_out] == ["1", "2", "4", "5"]
    assert there.left_out == here.left_out
    assert of_there.num_from_cache == of_here.num_encoded


@needs_ray
@pytest.mark.parametrize("num_tried", [1, 3, 16])
@pytest.mark.parametrize("damaged", [0, 5, 11])
def test_a_cluster_is_asked_only_for_what_is_not_known_to_be_there(
    data_set, tmp_path, alone, monkeypatch, num_tried, damaged
):
    """One entry is damaged: what was looked at before it is not looked at again."""
    monkeypatch.setattr(clip_work, "_NUM_TRIED", num_tried)
    rollouts = goalward.read(data_set)
    here, _ = embedded(rollouts, tmp_path / "cache")
    clips = [(episode, camera) for camera in rollouts.camera_names for episode in rollouts]
    episode, camera = clips[damaged]
    store = EncoderCache.of(small_encoder(), tmp_path / "cache")
    path = store.path(episode.cameras[camera].fingerprint())
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    told = []
    there, report = embedded(rollouts, tmp_path / "cache", on="ray", on_progress=told.append)
    assert alone.num_starts == 1
    assert f"episode {episode.id}, camera {camera}" in alone.asked
    assert len(alone.asked) == len(set(alone.asked))
    if num_tried == 16:
        assert alone.asked == [f"episode {episode.id}, camera {camera}"]
    assert path.read_bytes() == whole
    assert np.array_equal(there.features, here.features)
    assert (report.num_frames, report.num_rebuilt_clips) == (2 * sum(LENGTHS), 1)
    assert report.num_encoded + report.num_unchanged == episode.num_frames
    assert report.num_from_cache == 2 * sum(LENGTHS) - episode.num_frames
    frames = [now.frames for now in told if now.stage == "embedding"]
    assert frames == sorted(frames)
    assert frames[-1] == told[-1].total_frames == 2 * sum(LENGTHS)


@needs_ray
def test_of_an_empty_cache_a_few_clips_are_read_here(data_set, tmp_path, alone, monkeypatch):
    """What others could read at the same time is theirs."""
    monkeypatch.setattr(clip_work, "_NUM_TRIED", 2)
    told = []
    _, report = embedded(
        goalward.read(data_set), tmp_path / "cache", on="ray", on_progress=told.append
    )
    assert len(alone.asked) == 2 * len(LENGTHS)
    assert report.num_encoded == report.num_frames == 2 * sum(LENGTHS)
    assert max(now.frames for now in told if now.stage == "reading") <= 2 * max(LENGTHS)


# ---- a cluster ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class DeadlyFrames:
    """Decoding them takes the process down, as a broken codec may."""

    stored: FrameSource
    num_frames: int
    height: int = 0
    width: int = 0
    codec: str = ""

    def __iter__(self) -> Iterator[Image]:
        os.kill(os.getpid(), signal.SIGKILL)
        return iter(())

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        return iter(self)

    def fingerprint(self) -> str:
        return "d" * 32


def with_a_deadly_clip(rollouts: Rollouts) -> Rollouts:
    episodes = list(rollouts)
    cameras = dict(episodes[2].cameras)
    name = rollouts.camera_names[0]
    cameras[name] = DeadlyFrames(cameras[name], episodes[2].num_frames)
    episodes[2] = replace(episodes[2], cameras=cameras)
    return Rollouts(episodes)


@pytest.fixture(scope="module")
def cluster():
    with two_nodes() as cluster:
        yield cluster


@pytest.mark.slow
@needs_ray
def test_a_clip_that_kills_its_workers_is_named_and_the_others_are_embedded(
    cluster, data_set, tmp_path
):
    rollouts = with_a_deadly_clip(goalward.read(data_set))
    failed_so_far = []
    with pytest.raises(PiecesFailed) as failed:
        embed(
            rollouts,
            small_encoder(),
            cache=tmp_path / "cache",
            device="cpu",
            on="ray",
            on_progress=lambda now: failed_so_far.append(now.setbacks.num_failed),
        )
    assert failed_so_far == sorted(failed_so_far)
    assert failed_so_far[-1] <= 1
    assert str(failed.value).startswith(f"episode 2, camera {rollouts.camera_names[0]}: its worker")
    assert str(failed.value).endswith(", 3 times (1 of 12 failed, the others are done)")
    assert len(entries(tmp_path / "cache")) == 2 * len(LENGTHS) - 1


@pytest.mark.slow
@needs_ray
def test_a_cluster_that_loses_a_node_gives_the_same_bytes(cluster, data_set, tmp_path, caplog):
    """The last test with two nodes. A damaged video among the clips leaves its episode out."""
    broken = next(data_set.rglob("*.front/episode_000004.mp4"))
    content = bytearray(broken.read_bytes())
    end = content.find(b"moov") - 40
    content[end - 260 : end] = b"\x55" * 260
    broken.write_bytes(content)
    rollouts = goalward.read(data_set)
    reports = []
    here = embed(
        rollouts, small_encoder(), cache=tmp_path / "here", device="cpu", on_finish=reports.append
    )
    frames_done = []

    def lose_one(now):
        if now.stage == "reading":
            return
        # The first is told before there is a worker.
        if len(frames_done) == 1:
            lose_a_node(cluster)
        frames_done.append(now.frames)

    there = embed(
        rollouts,
        small_encoder(),
        cache=tmp_path / "there",
        device="cpu",
        on="ray",
        on_progress=lose_one,
        on_finish=reports.append,
    )
    assert frames_done == sorted(frames_done)
    assert frames_done[-1] == 2 * sum(LENGTHS)
    assert np.array_equal(there.features, here.features)
    assert there.left_out == here.left_out
    assert [left.episode_id for left in there.left_out] == ["4"]
    assert entries(tmp_path / "there") == entries(tmp_path / "here")
    assert reports[1].num_encoded == reports[0].num_encoded
    assert not any(record.levelno > logging.WARNING for record in caplog.records)
