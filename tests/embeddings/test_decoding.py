"""Videos decoded by processes: the same as by threads, and what happens when one of them dies."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import psutil
import pytest

from embeddings.test_encoding import CountingRunner, no_decoder_is_left
from goalward.embeddings.decoding import decoders as module
from goalward.embeddings.decoding.clip import Clip, groups_of
from goalward.embeddings.decoding.decoders import Decoders
from goalward.embeddings.decoding.remote import RemoteDecoder, works_here
from goalward.embeddings.encoding import encode_clips
from goalward.embeddings.models.preprocessing import as_it_is
from goalward.rollouts.frames import ArrayFrames
from goalward.rollouts.video.reading import VideoFrames
from goalward.rollouts.video.writer import VideoWriter

pytestmark = pytest.mark.skipif(not works_here(), reason="needs Linux's memory without a name")

FPS = 10.0


class LookingRunner(CountingRunner):
    """The vector of a picture is what it looks like in 48 places; slower than decoding."""

    def submit(self, pixels):
        time.sleep(0.002)
        self.sizes.append(len(pixels))
        vectors = pixels[:, ::16, ::16].reshape(len(pixels), -1).astype(np.float32)
        return lambda: vectors


def video(folder: Path, seed: int, num_frames: int = 60, stands_from: int = 1000) -> VideoFrames:
    """A stripe that moves and, from some frame on, stands."""
    path = folder / f"{seed}.mp4"
    base = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    with VideoWriter(path, FPS) as writer:
        for index in range(num_frames):
            picture = base.repeat(16, axis=0).repeat(16, axis=1)
            writer.add(np.roll(picture, 3 * min(index, stands_from), axis=1))
    return VideoFrames(path, np.arange(num_frames) / FPS, FPS, 64, 64, "h264")


def clips_of(sources: Sequence[VideoFrames]) -> list[Clip[int]]:
    return [Clip(key, frames) for key, frames in enumerate(sources)]


def encoded(sources: Sequence[VideoFrames], **options) -> dict[int, Clip[int]]:
    runner = LookingRunner(batch_size=8)
    found = encode_clips(clips_of(sources), runner, num_decoders=2, **options)
    return {clip.key: clip for clip in found}


def processes() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error):
            if "decoder_process" in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_the_same_vectors_as_by_threads(tmp_path: Path):
    sources = [video(tmp_path, seed) for seed in range(4)]
    sources.append(video(tmp_path, 4, num_frames=400, stands_from=20))
    by_threads, by_processes = encoded(sources), encoded(sources, in_processes=True)
    assert by_processes.keys() == by_threads.keys() == set(range(5))
    for key, clip in by_processes.items():
        assert clip.error is None
        assert clip.shows == by_threads[key].shows
        assert np.array_equal(
            np.concatenate(clip.vectors), np.concatenate(by_threads[key].vectors)
        ), "pictures were overwritten before they were copied, or are another clip's"
    assert no_decoder_is_left()
    assert not processes()


def test_what_is_no_video_is_decoded_here(tmp_path: Path):
    frames = np.arange(5 * 64 * 64 * 3, dtype=np.uint8).reshape(5, 64, 64, 3)
    clips = [Clip(0, ArrayFrames(frames)), Clip(1, video(tmp_path, 1))]
    found = list(encode_clips(clips, LookingRunner(), num_decoders=1, in_processes=True))
    assert [len(clip.shows) for clip in sorted(found, key=lambda clip: clip.key)] == [5, 60]


def test_a_cut_video_is_told_as_by_threads(tmp_path: Path):
    whole, cut = video(tmp_path, 0), video(tmp_path, 1)
    cut.path.write_bytes(cut.path.read_bytes()[:-2000])
    by_threads, by_processes = encoded([cut, whole]), encoded([cut, whole], in_processes=True)
    assert by_threads[0].error is not None
    assert repr(by_processes[0].error) == repr(by_threads[0].error)
    assert by_processes[1].error is None


def test_a_process_that_dies_takes_its_clip_alone(tmp_path: Path):
    sources = [video(tmp_path, seed, num_frames=300) for seed in range(3)]
    decoder = RemoteDecoder()
    try:
        groups = decoder.groups(sources[0])
        next(groups)
        (process,) = processes()
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(Exception, match="the process that decoded it ended with exit code -9"):
            for _ in groups:
                pass
        found = []
        for group in decoder.groups(sources[1]):
            found += [picture.copy() for picture in group.pictures]
            assert decoder.process is not None
            decoder.process.give_back()
        wanted = [picture for group in groups_of(sources[1]) for picture in group.pictures]
        assert np.array_equal(found, wanted)
    finally:
        decoder.end()
    assert not processes()


def test_who_stops_half_way_leaves_nothing_behind(tmp_path: Path):
    sources = [video(tmp_path, seed, num_frames=200) for seed in range(4)]
    decoders = Decoders(clips_of(sources), as_it_is, 2, in_processes=True)
    next(iter(decoders))
    decoders.stop()
    assert no_decoder_is_left()
    assert not processes()


def test_where_no_process_can_be_started_threads_decode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("sys.executable", "/bin/false")
    found = encoded([video(tmp_path, 0), video(tmp_path, 1)], in_processes=True)
    assert [clip.error for clip in found.values()] == [None, None]
    assert "no process can be started to decode videos (exit code 1)" in caplog.text


def test_files_of_the_current_folder_are_no_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    source = video(tmp_path, 0)
    (tmp_path / "av.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [path for path in sys.path if path])
    found = encoded([source], in_processes=True)
    assert found[0].error is None
    assert "no process can be started" not in caplog.text


def test_elsewhere_threads_decode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "works_here", lambda: False)
    monkeypatch.setattr(module, "RemoteDecoder", None)
    found = encoded([video(tmp_path, 0)], in_processes=True)
    assert found[0].error is None
    assert len(found[0].shows) == 60
