"""Frames per second of making videos for browsers, beside those of decoding alone.

    python benchmarks/browser_video.py [VIDEO ...]

Without arguments, h264 and AV1 videos of 224 x 224 and 480 x 640 pixels are made from the frames
of examples/libero_rollouts. Each is decoded, and made into a video for browsers, in turn, several
times; the best of each counts. h264 is copied, and with every second frame left out coded anew.
Then eight of each are made by one thread and by two.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from decode import make_videos
from goalward.rollouts.video.browser import HowMade, write_browser_video
from goalward.rollouts.video.index import read_index
from goalward.rollouts.video.reading import VideoFrames

ROUNDS = 3
NUM_VIDEOS = 8


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure(path: Path, name: str, folder: Path) -> None:
    times = read_index(path).timestamps
    compare(VideoFrames(path, times, fps=10.0), f"{name:16} all frames   ", folder)
    # Not all of the frames in the file: these cannot be copied.
    compare(VideoFrames(path, times[::2], fps=10.0), f"{name:16} every second ", folder)
    source = VideoFrames(path, times[::2], 10.0)

    def write_all(workers: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            for number in range(NUM_VIDEOS):
                pool.submit(write_browser_video, source, folder / f"{number}.mp4", 10)

    alone, together = (seconds(partial(write_all, workers)) for workers in (1, 2))
    print(f"{name:16} coded anew by two threads {alone / together:.2f} times as fast as by one")


def compare(source: VideoFrames, title: str, folder: Path) -> None:
    made: list[HowMade] = []
    decoding = min(seconds(lambda: sum(1 for _ in source)) for _ in range(ROUNDS))
    writing = min(
        seconds(lambda: made.append(write_browser_video(source, folder / "out.mp4", 10)))
        for _ in range(ROUNDS)
    )
    print(
        f"{title} {made[0]:8} {source.num_frames / writing:8.0f} frames/s, "
        f"decoding alone {source.num_frames / decoding:6.0f}, ratio {decoding / writing:.2f}"
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = [(Path(path), Path(path).name) for path in sys.argv[1:]]
        for path, title in given or make_videos(folder, bf="0"):
            measure(path, title, folder)


if __name__ == "__main__":
    main()
