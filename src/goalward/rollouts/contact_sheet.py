"""A picture of a data set: a row per episode, frames spaced in time, coloured by outcome."""

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.frames import Image

# Readable by people who cannot tell red from green (after Okabe and Ito, and Tol).
OUTCOME_COLOURS = {
    Outcome.SUCCESS: (0, 158, 115),
    Outcome.TIME_OUT: (230, 159, 0),
    Outcome.FAILURE: (136, 34, 85),
}
_BACKGROUND = (250, 250, 250)
_TEXT = (30, 30, 30)
_LABEL_WIDTH = 190
_BAR_WIDTH = 8
_GAP = 4
_ROW_GAP = 14


@dataclass(frozen=True)
class ContactSheet:
    """The picture, and the frames that could not be decoded."""

    picture: PillowImage.Image
    episodes: tuple[str, ...]
    problems: tuple[str, ...]


def contact_sheet(
    rollouts: Rollouts,
    *,
    num_frames: int = 8,
    most_episodes: int = 24,
    thumbnail_height: int = 96,
    on_episode: Callable[[int, int], None] = lambda done, total: None,
) -> ContactSheet:
    """First and last frame and some between, per episode and camera.

    A data set with more episodes than fit shows some of each outcome, spread evenly. A frame
    that cannot be decoded becomes a crossed-out tile and is named in `problems`.
    """
    if not rollouts.camera_names:
        raise RolloutError("the data set has no camera that every episode has: nothing to draw")
    shown = _spread(rollouts, most_episodes)
    problems: list[str] = []
    rows: list[PillowImage.Image] = []
    for number, episode in enumerate(shown):
        on_episode(number, len(shown))
        rows.append(_row(episode, rollouts.camera_names, num_frames, thumbnail_height, problems))
    on_episode(len(shown), len(shown))
    header = _header(rollouts.camera_names, len(shown), len(rollouts))
    width = max(row.width for row in [header, *rows])
    height = header.height + sum(row.height + _ROW_GAP for row in rows)
    sheet = PillowImage.new("RGB", (width, height), _BACKGROUND)
    sheet.paste(header, (0, 0))
    top = header.height
    for row in rows:
        sheet.paste(row, (0, top))
        top += row.height + _ROW_GAP
    return ContactSheet(sheet, shown.ids, tuple(problems))


def _spread(rollouts: Rollouts, most: int) -> Rollouts:
    """At most this many episodes: each outcome in proportion, but never none of it."""
    if len(rollouts) <= most:
        return rollouts
    chosen: list[int] = []
    for outcome in Outcome:
        positions = np.flatnonzero(rollouts.outcomes == outcome)
        if len(positions):
            count = max(1, round(most * len(positions) / len(rollouts)))
            picks = np.linspace(0, len(positions) - 1, min(count, len(positions))).round()
            chosen += positions[picks.astype(int)].tolist()
    return rollouts.select(sorted(chosen))


def _header(cameras: tuple[str, ...], num_shown: int, num_episodes: int) -> PillowImage.Image:
    header = PillowImage.new("RGB", (760, 30), _BACKGROUND)
    draw = ImageDraw.Draw(header)
    which = (
        f"{num_episodes} episodes"
        if num_shown == num_episodes
        else (f"{num_shown} of {num_episodes} episodes")
    )
    names = ", ".join(name.rsplit(".", 1)[-1] for name in cameras)
    draw.text((10, 8), f"{which}; cameras from top: {names}", fill=_TEXT, font=_font(13))
    left = 520
    for outcome, colour in OUTCOME_COLOURS.items():
        draw.rectangle((left, 10, left + 10, 20), fill=colour)
        draw.text((left + 15, 8), outcome.replace("_", "-"), fill=_TEXT, font=_font(13))
        left += 80
    return header


def _row(
    episode: Episode,
    cameras: tuple[str, ...],
    num_frames: int,
    thumbnail_height: int,
    problems: list[str],
) -> PillowImage.Image:
    count = min(num_frames, episode.num_frames)
    indices = np.linspace(0, episode.num_frames - 1, count).round().astype(int).tolist()
    strips = [
        [_thumbnail(frame, thumbnail_height) for frame in _decode(episode, name, indices, problems)]
        for name in cameras
    ]
    columns = [max(strip[c].width for strip in strips) for c in range(count)]
    width = _LABEL_WIDTH + sum(columns) + _GAP * count
    height = len(strips) * (thumbnail_height + _GAP) + 16
    row = PillowImage.new("RGB", (width, height), _BACKGROUND)
    draw = ImageDraw.Draw(row)
    draw.rectangle((0, 0, _BAR_WIDTH, height), fill=OUTCOME_COLOURS[episode.outcome])
    _write_label(draw, episode)
    for number, strip in enumerate(strips):
        left = _LABEL_WIDTH
        for thumbnail, column in zip(strip, columns, strict=True):
            row.paste(thumbnail, (left, number * (thumbnail_height + _GAP)))
            left += column + _GAP
    left = _LABEL_WIDTH
    for index, column in zip(indices, columns, strict=True):
        text = f"{index} goal" if index == episode.goal_frame else str(index)
        draw.text((left, height - 15), text, fill=_TEXT, font=_font(11))
        left += column + _GAP
    return row


def _write_label(draw: ImageDraw.ImageDraw, episode: Episode) -> None:
    outcome = episode.outcome.replace("_", "-")
    if episode.goal_frame is not None:
        outcome += f" at frame {episode.goal_frame}"
    lines = [
        (_shortened(episode.id, 22), 14),
        (outcome, 12),
        (f"{episode.num_frames} frames", 12),
        *((line, 11) for line in _wrapped(episode.task, 27, most=3)),
    ]
    top = 2
    for text, size in lines:
        draw.text((_BAR_WIDTH + 8, top), text, fill=_TEXT, font=_font(size))
        top += size + 4


def _decode(
    episode: Episode, camera: str, indices: list[int], problems: list[str]
) -> list[Image | None]:
    try:
        return list(episode.frames_at(camera, indices))
    except RolloutError:
        pass
    frames: list[Image | None] = []
    for index in indices:
        try:
            frames.append(episode.frame(camera, index))
        except RolloutError as error:
            problems.append(f"episode {episode.id}, {camera}: {error}")
            frames.append(None)
    return frames


def _thumbnail(frame: Image | None, height: int) -> PillowImage.Image:
    if frame is None:
        tile = PillowImage.new("RGB", (height, height), (120, 120, 120))
        draw = ImageDraw.Draw(tile)
        draw.line((0, 0, height, height), fill=(200, 0, 0), width=3)
        draw.line((0, height, height, 0), fill=(200, 0, 0), width=3)
        return tile
    picture = PillowImage.fromarray(frame)
    width = max(1, min(4 * height, round(picture.width * height / picture.height)))
    return picture.resize((width, height), PillowImage.Resampling.BILINEAR)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most // 2 - 1] + ".." + text[-(most // 2 - 1) :]


def _wrapped(text: str, width: int, most: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=most, placeholder=" ..")
