"""Frames per second of goalward against bare PyAV on the same files, in the same run.

    python benchmarks/decode.py [VIDEO ...]

Without arguments, h264 and AV1 videos of 224 and 480 x 640 pixels are made from the frames of
examples/libero_rollouts. "Bare PyAV" is the loop people write: open, decode, to_ndarray. Both
are run in turn, several times, and the best of each counts; every frame is compared once.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import av
import numpy as np
import numpy.typing as npt
from av.video.stream import VideoStream
from PIL import Image

import goalward
from goalward.rollouts.video.index import read_index
from goalward.rollouts.video.reading import VideoFrames

ROUNDS = 5
EXAMPLE = Path(__file__).parent.parent / "examples" / "libero_rollouts"


def bare(path: Path) -> Iterator[npt.NDArray[np.uint8]]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for frame in container.decode(stream):
            yield np.asarray(frame.to_ndarray(format="rgb24"), dtype=np.uint8)


def ours(path: Path) -> Iterator[npt.NDArray[np.uint8]]:
    return iter(VideoFrames(path, read_index(path).timestamps, fps=10.0))


def frames_per_second(decode: Callable[[Path], Iterator[object]], path: Path) -> float:
    started = time.perf_counter()
    count = sum(1 for _ in decode(path))
    return count / (time.perf_counter() - started)


def random_access_per_second(path: Path, num_frames: int = 100) -> float:
    timestamps = read_index(path).timestamps
    wanted = np.random.default_rng(0).permutation(len(timestamps))[:num_frames].tolist()
    frames = VideoFrames(path, timestamps, fps=10.0)
    started = time.perf_counter()
    for index in wanted:
        next(frames.at([index]))
    return num_frames / (time.perf_counter() - started)


def measure(path: Path, name: str) -> None:
    for a, b in zip(ours(path), bare(path), strict=True):
        assert np.array_equal(a, b), f"{name}: a frame differs"
    best_bare = best_ours = 0.0
    for _ in range(ROUNDS):
        best_bare = max(best_bare, frames_per_second(bare, path))
        best_ours = max(best_ours, frames_per_second(ours, path))
    one_at_a_time = random_access_per_second(path)
    print(
        f"{name:22} bare PyAV {best_bare:7.0f}  goalward {best_ours:7.0f} frames/s  "
        f"ratio {best_ours / best_bare:.2f}  one frame at a time {one_at_a_time:5.0f}"
    )


def make_videos(folder: Path, **h264_options: str) -> Iterator[tuple[Path, str]]:
    """The example's pictures as h264 and AV1, small and large, with what to call each."""
    episode = goalward.read(EXAMPLE)[1]
    pictures = [Image.fromarray(frame) for frame in episode.frames("front")]
    for codec, encoder, options in (
        ("h264", "libx264", {"crf": "23"} | h264_options),
        ("AV1", "libsvtav1", {"crf": "30", "preset": "10"}),
    ):
        for width, height in ((224, 224), (640, 480)):
            path = folder / f"{codec}_{width}.mp4"
            with av.open(str(path), "w") as container:
                stream = cast(VideoStream, container.add_stream(encoder, rate=10, options=options))
                stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
                stream.gop_size = 2  # as LeRobot encodes
                for picture in pictures:
                    frame = np.asarray(picture.resize((width, height)))
                    container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, "rgb24")))
                container.mux(stream.encode())
            yield path, f"{codec} {width} x {height}"


def main() -> None:
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            measure(Path(name), Path(name).name)
        return
    with tempfile.TemporaryDirectory() as folder:
        for path, name in make_videos(Path(folder)):
            measure(path, name)


if __name__ == "__main__":
    main()
