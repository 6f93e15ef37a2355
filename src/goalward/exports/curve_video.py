"""Episodes as videos that say how it goes: all cameras, the value curve under them, a cursor."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from PIL import Image as PillowImage

from goalward.exports.curve_strip import STRIP_HEIGHT, CurveStrip, curve_strip
from goalward.exports.written import Written, episode_paths, errors_of_episode
from goalward.looks import looks_of
from goalward.progress import OnProgress, unheard
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode
from goalward.rollouts.frames import Image
from goalward.rollouts.video.browser import DEFAULT_FPS
from goalward.rollouts.video.writer import VideoWriter
from goalward.runs.run import Run
from goalward.runs.settings import RunEpisode

SUFFIX = ".mp4"
# Pixels. All cameras get one height: as recorded if it is within these.
_LOWEST, _HIGHEST = 240, 480
_WIDEST, _TOO_WIDE = 1920, 4096
# The curve and the words over it need that much.
_NARROWEST = 480
_GAP = 4


def export_curve_videos(
    run: Run,
    rollouts: Rollouts,
    method: str,
    positions: Sequence[int],
    *,
    out: Path,
    on_progress: OnProgress = unheard,
) -> Written:
    """A video per episode into the folder `out`, or into the file `out` if it ends in .mp4.

    All cameras side by side; under them the value of the method with a band of one standard
    deviation over seeds, hindsight as a thin line, its events, and a cursor that moves with the
    video. Where an episode has no camera, there is the curve alone. Frames are
    shown at the speed of the recording, 10 in a second where that is not known. `rollouts` are all
    of the run. Progress is in frames.
    """
    curves, events = run.curves(method), run.events_by(method)
    colour = looks_of(run.values.methods)[method].colour
    total = sum(run.episodes[position].num_frames for position in positions)
    paths = episode_paths(run, positions, out, SUFFIX)
    so_far = 0
    for position, path in zip(positions, paths, strict=True):
        episode, recorded = run.episodes[position], rollouts[position]
        draw_strip = partial(
            curve_strip,
            curves.part(run.frames_of(position)),
            events[episode.id],
            colour=colour,
            ceiling=run.time_limit,
            caption=_caption(episode, method, len(run.values.seeds)),
        )
        with (
            errors_of_episode(episode.id),
            VideoWriter(path, recorded.fps or DEFAULT_FPS, for_browser=True) as video,
        ):
            for picture in _pictures(recorded, draw_strip):
                video.add(picture)
                so_far += 1
                on_progress(so_far, total)
    others = " and the others" if len(paths) > 1 else ""
    return Written(out, f"any player shows {paths[0]}{others}")


def _caption(episode: RunEpisode, method: str, num_seeds: int) -> str:
    band = f" ± s.d. of {num_seeds} seeds" if num_seeds > 1 else ""
    outcome = episode.outcome.replace("_", "-")
    curve = f"{method}{band} (thin: in hindsight)"
    return f"{outcome}; {curve}; episode {episode.id}: {episode.task}"


def _pictures(episode: Episode, draw_strip: Callable[..., CurveStrip]) -> Iterator[Image]:
    """Cameras over curve, frame by frame; the same array every time."""
    sources = list(episode.cameras.values())
    if not sources:
        strip = draw_strip(width=_NARROWEST)
        for frame in range(episode.num_frames):
            yield strip.at(frame)
        return
    moments = zip(*sources, strict=True)
    # A source may know the size of its pictures only from the first of them.
    first = next(moments)
    sizes = common_sizes([picture.shape[:2] for picture in first])
    pictures_width = sum(width for _, width in sizes) + _GAP * (len(sizes) - 1)
    width = max(pictures_width + pictures_width % 2, _NARROWEST)
    strip = draw_strip(width=width)
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
