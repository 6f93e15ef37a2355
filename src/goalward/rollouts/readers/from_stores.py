"""What is special about rollouts in a store: names in errors, and videos looked at early."""

import contextlib
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from goalward.errors import RolloutError
from goalward.rollouts.video.index import read_index
from goalward.stores.place import StoredPath, told_by_url
from goalward.stores.room import is_video

# Each waits for the store most of the time.
_NUM_AT_ONCE = 16


@contextlib.contextmanager
def named_by_url(path: Path) -> Generator[None]:
    """Inside, errors name files by their addresses, not by where they lie on this machine."""
    try:
        yield
    except RolloutError as error:
        if not isinstance(path, StoredPath):
            raise
        raise type(error)(told_by_url(str(error))) from error


def read_ahead(path: StoredPath) -> None:
    """Ask for the indices of all videos, many at a time: readers go from one to the next."""
    videos = [video for video in path.rglob("*") if is_video(video) and video.is_file()]
    with ThreadPoolExecutor(_NUM_AT_ONCE, thread_name_prefix="index") as threads:
        for future in [threads.submit(_look_at, video) for video in videos]:
            future.result()


def _look_at(video: Path) -> None:
    # What is wrong with a video is for its reader to say.
    with contextlib.suppress(RolloutError):
        read_index(video)
