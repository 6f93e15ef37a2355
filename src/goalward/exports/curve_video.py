"""Episodes as videos that say how it goes: all cameras, the value curve under them, a cursor."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from PIL import Image as PillowImage

from goalward.exports.curve_strip import STRIP_HEIGHT, CurveStrip, curve_strip
from goalward.exports.frame_values import FrameValues, chosen_episodes, frames_of
from goalward.exports.written import episode_paths, errors_of_episode
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import Image
from goalward.rollouts.video.browser import DEFAULT_FPS
from goalward.rollouts.video.writer import VideoWriter
from goalward.values.events import run_events
from goalward.values.finished_run import FinishedRun, RunEpisode

SUFFIX = ".mp4"
# Pixels. All cameras get one height: as recorded if it is within these.
_LOWEST, _HIGHEST = 240, 480
_WIDEST, _TOO_WIDE = 1920, 4096
# The curve and the words over it need that much.
_NARROWEST = 480
_GAP = 4


def write_curve_videos(
    run: FinishedRun,
    rollouts: Rollouts | None,
    out: Path,
    *,
    method: str | None = None,
    episodes: Sequence[str] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Path]:
    """A video per episode into the folder `out`, or into the file `out` if it ends in .mp4.

    All cameras side by side; under them the value of the method with a band of one standard
    deviation over seeds, its events, and a cursor that moves with the video. Without rollouts, or
    where an episode has no camera, there is the curve alone. Frames are shown at the speed of the
    recording, 10 in a second where that is not known. Progress is in frames.
    """
    positions = chosen_episodes(run, episodes)
    values = FrameValues.of(run, method)
    events = run_events(run, values.method)
    recorded = {} if rollouts is None else {episode.id: episode for episode in rollouts}
    total = sum(run.episodes[position].num_frames for position in positions)
    paths = episode_paths(run, positions, out, SUFFIX)
    done = 0
    for position, path in zip(positions, paths, strict=True):
        episode = run.episodes[position]
        seen = recorded.get(episode.id)
        frames = frames_of(run, position)

        def strip_of_width(
            width: int, episode: RunEpisode = episode, frames: slice = frames
        ) -> CurveStrip:
            return curve_strip(
                values.value[frames],
                values.spread[frames],
                values.steps[frames],
                events[episode.id],
                width=width,
                ceiling=run.time_limit,
                caption=_caption(episode, values.method, len(run.values.seeds)),
            )

        fps = None if seen is None else seen.fps
        with (
            errors_of_episode(episode.id),
            VideoWriter(path, fps or DEFAULT_FPS, for_browser=True) as video,
        ):
            for picture in _pictures(seen, episode.num_frames, strip_of_width):
                video.add(picture)
                done += 1
                on_progress(done, total)
    return paths


def _caption(episode: RunEpisode, method: str, num_seeds: int) -> str:
    band = f" ± s.d. of {num_seeds} seeds" if num_seeds > 1 else ""
    outcome = episode.outcome.replace("_", "-")
    return f"{outcome}; {method}{band}; episode {episode.id}: {episode.task}"


def _pictures(
    episode: Episode | None, num_frames: int, strip_of_width: Callable[[int], CurveStrip]
) -> Iterator[Image]:
    """Cameras over curve, frame by frame; the same array every time."""
    sources = [] if episode is None else list(episode.cameras.values())
    if not sources:
        strip = strip_of_width(_NARROWEST)
        for frame in range(num_frames):
            yield strip.at(frame)
        return
    moments = zip(*sources, strict=True)
    # A source may know the size of its pictures only from the first of them.
    first = next(moments)
    sizes = common_sizes([picture.shape[:2] for picture in first])
    pictures_width = sum(width for _, width in sizes) + _GAP * (len(sizes) - 1)
    width = max(pictures_width + pictures_width % 2, _NARROWEST)
    strip = strip_of_width(width)
    canvas = np.full((sizes[0][0] + STRIP_HEIGHT, width, 3), 255, dtype=np.uint8)
    for frame, seen in enumerate(chain([first], moments)):
        left = (width - pictures_width) // 2
        for picture, size in zip(seen, sizes, strict=True):
            canvas[: size[0], left : left + size[1]] = resized(picture, *size)
            left += size[1] + _GAP
        canvas[-STRIP_HEIGHT:] = strip.at(frame)
        yield canvas


def common_sizes(shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """One height for all cameras, and each one's width at that height.

    Small pictures grow by a whole factor, so that their pixels stay pixels.

    >>> common_sizes([(128, 128), (128, 128)])
    [(256, 256), (256, 256)]
    >>> common_sizes([(480, 640), (720, 1280)])
    [(480, 640), (480, 853)]
    """
    tallest = max(height for height, _ in shapes)
    factor = -(-_LOWEST // tallest)
    aspects = [width / height for height, width in shapes]
    height = min(tallest * factor, _HIGHEST, max(int(_WIDEST / sum(aspects)), _LOWEST))
    # Where that is wider than players can show, lower after all.
    height = min(height, int(_TOO_WIDE / sum(aspects)))
    height = max(height - height % 2, 2)
    return [(height, max(round(height * aspect), 1)) for aspect in aspects]


def resized(picture: Image, height: int, width: int) -> Image:
    """The picture at this size: pixels repeated for a whole factor, Lanczos for any other."""
    old_height, old_width = picture.shape[:2]
    if (old_height, old_width) == (height, width):
        return picture
    down, across = height // old_height, width // old_width
    if down == across and (old_height * down, old_width * across) == (height, width):
        return picture.repeat(down, axis=0).repeat(across, axis=1)
    scaled = PillowImage.fromarray(picture).resize((width, height), PillowImage.Resampling.LANCZOS)
    return np.asarray(scaled)
