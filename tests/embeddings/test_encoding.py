"""From clips to vectors by a runner that counts: what is encoded, in which batches, what is not."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import psutil
import pytest
from rollout_files.small_encoder import small_encoder

from goalward import Episode, Outcome, RolloutError, Rollouts
from goalward.embeddings.decoding.clip import Clip
from goalward.embeddings.embed import embed
from goalward.embeddings.encoding import encode_clips
from goalward.embeddings.models.preprocessing import as_it_is
from goalward.rollouts.frames import ArrayFrames, Image


class CountingRunner:
    """The vector of a picture is its first pixel."""

    precision = "float32"

    def __init__(self, batch_size: int = 4) -> None:
        self.batch_size = batch_size
        self.prepare = as_it_is
        self.sizes: list[int] = []

    def new_batch(self, height: int, width: int) -> Image:
        return np.zeros((self.batch_size, height, width, 3), dtype=np.uint8)

    def submit(self, pixels: Image) -> Callable[[], np.ndarray]:
        self.sizes.append(len(pixels))
        vectors = pixels[:, 0, 0].astype(np.float32)
        return lambda: vectors


def clip_of(colours: Sequence[int], key: int = 0, size: int = 20) -> Clip[int]:
    """Each frame is of one colour."""
    frames = np.zeros((len(colours), size, size, 3), dtype=np.uint8)
    frames[:] = np.array(colours, dtype=np.uint8)[:, None, None, None]
    return Clip(key, ArrayFrames(frames))


def rows(clip: Clip[int]) -> list[float]:
    return np.concatenate(clip.vectors)[clip.shows][:, 0].tolist()


def no_decoder_is_left() -> bool:
    return not any(thread.name.startswith("decoder") for thread in threading.enumerate())


@pytest.mark.parametrize("num_decoders", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_every_clip_gets_its_own_vectors(num_decoders: int, batch_size: int):
    rng = np.random.default_rng(0)
    colours = {key: rng.permutation(256)[:length] for key, length in enumerate([5, 1, 40, 16, 3])}
    runner, counted = CountingRunner(batch_size), []
    clips = [clip_of(list(c), key) for key, c in colours.items()]
    finished = list(
        encode_clips(clips, runner, num_decoders=num_decoders, on_frames=counted.append)
    )
    assert sorted(clip.key for clip in finished) == [0, 1, 2, 3, 4]
    for clip in finished:
        assert clip.error is None
        assert rows(clip) == colours[clip.key].tolist()
    assert runner.sizes == [batch_size] * -(-65 // batch_size), "batches are full but for the last"
    assert sum(counted) == 65
    assert no_decoder_is_left()


def test_pictures_of_two_sizes_never_share_a_batch():
    clips = [clip_of([1, 2, 3], 0), clip_of([4, 5], 1, size=24), clip_of([6], 2)]
    runner = CountingRunner(4)
    finished = {clip.key: rows(clip) for clip in encode_clips(clips, runner, num_decoders=1)}
    assert finished == {0: [1, 2, 3], 1: [4, 5], 2: [6]}
    assert len(runner.sizes) == 3


def test_a_frame_like_the_one_before_is_not_encoded_again():
    clips = [clip_of([7, 7, 8, 8, 8, 7], 0), clip_of([7, 7], 1)]
    runner, counted = CountingRunner(1), []
    finished = list(encode_clips(clips, runner, num_decoders=1, on_frames=counted.append))
    assert [clip.shows for clip in finished] == [[0, 0, 1, 1, 1, 2], [0, 0]]
    assert [rows(clip) for clip in finished] == [[7, 7, 8, 8, 8, 7], [7, 7]]
    assert len(runner.sizes) == 3 + 1
    assert sum(counted) == 8, "frames that are not encoded are finished too"


def test_a_frame_that_differs_in_one_pixel_is_encoded():
    clip = clip_of([7, 7])
    assert isinstance(clip.frames, ArrayFrames)
    clip.frames.frames[1, 19, 18, 2] ^= 1
    runner = CountingRunner(1)
    (finished,) = encode_clips([clip], runner, num_decoders=1)
    assert finished.shows == [0, 1]
    assert len(runner.sizes) == 2


def test_the_report_counts_what_was_not_encoded(cache):
    still = np.repeat(np.random.default_rng(0).integers(0, 256, (3, 20, 20, 3), np.uint8), 4, 0)
    rollouts = Rollouts([Episode("0", 12, Outcome.TIME_OUT, cameras={"a": ArrayFrames(still)})])
    reports = []
    features = embed(rollouts, small_encoder(), device="cpu", on_finish=reports.append).features
    assert (reports[0].num_frames, reports[0].num_encoded, reports[0].num_unchanged) == (12, 3, 9)
    assert features is not None
    assert np.array_equal(features, np.repeat(features[::4], 4, axis=0))
    assert len(np.unique(features, axis=0)) == 3


# ---- what goes wrong -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class BreakingFrames(ArrayFrames):
    error: Exception

    def __iter__(self) -> Iterator[Image]:
        yield from self.frames[:2]
        raise self.error


def breaking_clip(key: int, error: Exception) -> Clip[int]:
    frames = clip_of([1, 2, 3]).frames
    assert isinstance(frames, ArrayFrames)
    return Clip(key, BreakingFrames(frames.frames, error=error))


@pytest.mark.parametrize("num_decoders", [1, 3])
def test_a_clip_that_breaks_stops_no_other(num_decoders: int):
    error = RolloutError("the third frame cannot be decoded")
    clips = [clip_of([1, 2, 3], 0), breaking_clip(1, error), clip_of([4, 5], 2)]
    finished = {c.key: c for c in encode_clips(clips, CountingRunner(), num_decoders=num_decoders)}
    assert finished[1].error is error
    assert (rows(finished[0]), rows(finished[2])) == ([1, 2, 3], [4, 5])


@pytest.mark.parametrize("worst", [np.nan, np.inf, 70_000.0])
def test_numbers_that_float16_cannot_hold_are_an_error_of_their_clip(worst: float):
    class Wild(CountingRunner):
        def submit(self, pixels: Image) -> Callable[[], np.ndarray]:
            vectors = super().submit(pixels)()
            vectors[vectors == 9] = worst
            return lambda: vectors

    clips = [clip_of([1, 2, 3], 0), clip_of([8, 9], 1), clip_of([4, 5], 2)]
    finished = {clip.key: clip for clip in encode_clips(clips, Wild(), num_decoders=1)}
    assert "NaN, infinity or numbers above 65,504" in str(finished[1].error)
    assert (finished[0].error, finished[2].error) == (None, None)
    assert rows(finished[0]) == [1, 2, 3]


def test_a_bug_in_a_thread_ends_the_work_and_all_threads():
    clips = [clip_of([1, 2, 3], 0), breaking_clip(1, ZeroDivisionError("a bug")), clip_of([4], 2)]
    with pytest.raises(ZeroDivisionError, match="a bug"):
        list(encode_clips(clips, CountingRunner(), num_decoders=2))
    assert no_decoder_is_left()


def test_stopping_early_ends_all_threads(monkeypatch: pytest.MonkeyPatch):
    # Room for the frames of a clip or two: the decoders wait when the end comes.
    monkeypatch.setattr("goalward.embeddings.decoding.decoders._WAITING_BYTES", 100_000)
    clips = (clip_of(list(range(100)), key) for key in range(50))
    encoded = encode_clips(clips, CountingRunner(), num_decoders=3)
    next(encoded)
    encoded.close()
    assert no_decoder_is_left()
    assert next(clips, None) is not None, "the rest was not even looked at"


# ---- memory --------------------------------------------------------------------------------------


@dataclass
class CountedFrames:
    """Large frames, drawn when asked for; how many were is known."""

    num_frames: int
    size: int
    num_drawn: int = 0
    height: int = 0
    width: int = 0
    codec: str = "drawn"

    def __iter__(self) -> Iterator[Image]:
        for index in range(self.num_frames):
            self.num_drawn += 1
            frame = np.zeros((self.size, self.size, 3), dtype=np.uint8)
            frame[0, 0] = index % 251
            yield frame

    def at(self, frame_indices: Sequence[int]) -> Iterator[Image]:
        raise AssertionError("clips are read in order, never by index")

    def fingerprint(self) -> str:
        return f"{id(self):032x}"


def test_decoders_wait_for_a_slow_encoder():
    frames = CountedFrames(num_frames=250, size=1000)
    goes_on = threading.Event()

    class Slow(CountingRunner):
        def submit(self, pixels: Image) -> Callable[[], np.ndarray]:
            goes_on.wait()
            return super().submit(pixels)

    drawn: list[int] = []

    def watch() -> None:
        # Until nothing has moved for a while.
        while len(drawn) < 3 or drawn[-1] != drawn[-3]:
            time.sleep(0.2)
            drawn.append(frames.num_drawn)
        goes_on.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    (finished,) = encode_clips([Clip(0, frames)], Slow(), num_decoders=1)
    watcher.join()
    assert len(finished.shows) == 250
    # 256 MiB of frames of 3 MB each, and a group on each side.
    assert drawn[-1] <= 90 + 2 * 16


def test_memory_stays_flat_over_thousands_of_frames(monkeypatch: pytest.MonkeyPatch):
    """Resized frames of 150 kB each: all 5,000 of them are 750 MB."""
    monkeypatch.setattr("goalward.embeddings.decoding.decoders._WAITING_BYTES", 30 << 20)
    monkeypatch.setattr("rollout_files.small_encoder.PICTURE_SIZE", 224)
    rollouts = Rollouts(
        [
            Episode(str(i), 200, Outcome.TIME_OUT, cameras={"a": CountedFrames(200, 224)})
            for i in range(25)
        ]
    )
    process = psutil.Process()
    before, most = process.memory_info().rss, 0

    def note(_: object) -> None:
        nonlocal most
        most = max(most, process.memory_info().rss)

    embedded = embed(rollouts, small_encoder(), device="cpu", on_progress=note)
    assert embedded.num_frames == 5000
    assert most - before < 200e6, f"{(most - before) / 1e6:.0f} MB"
