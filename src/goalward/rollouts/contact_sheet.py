"""A picture of a data set: a row per episode, frames spaced in time, coloured by outcome."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from goalward.errors import RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.findings import counted
from goalward.rollouts.frames import Image

# Readable by people who cannot tell red from green (after Okabe and Ito, and Tol).
OUTCOME_COLOURS = {
    Outcome.SUCCESS: (0, 158, 115),
    Outcome.TIME_OUT: (230, 159, 0),
    Outcome.FAILURE: (136, 34, 85),
}
_BACKGROUND = (250, 250, 250)
_TEXT = (30, 30, 30)
_NAME_WIDTH = 22
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
    which = (
        counted(rollouts)
        if len(shown) == len(rollouts)
        else (f"{len(shown)} of {counted(rollouts)}")
    )
    sheet = _stacked([_header(rollouts.camera_names, which), *rows])
    return ContactSheet(sheet, shown.ids, tuple(problems))


@dataclass(frozen=True)
class Strip:
    """Some frames of an episode, with words on the left and a word under some of the frames."""

    episode: Episode
    frames: tuple[int, ...]
    words: tuple[str, ...]
    notes: Mapping[int, str] = field(default_factory=dict[int, str])


def strip_sheet(
    strips: Sequence[Strip],
    cameras: tuple[str, ...],
    heading: str,
    *,
    thumbnail_height: int = 120,
    on_strip: Callable[[int, int], None] = lambda done, total: None,
) -> ContactSheet:
    """Frames that were chosen, a row per strip; what cannot be decoded is crossed out."""
    if not cameras:
        raise RolloutError("the data set has no camera that every episode has: nothing to draw")
    problems: list[str] = []
    rows: list[PillowImage.Image] = []
    for number, strip in enumerate(strips):
        on_strip(number, len(strips))
        rows.append(_strip(strip, cameras, thumbnail_height, problems))
    on_strip(len(strips), len(strips))
    header = _header(cameras, heading)
    ids = tuple(strip.episode.id for strip in strips)
    return ContactSheet(_stacked([header, *rows]), ids, tuple(problems))


def _stacked(rows: Sequence[PillowImage.Image]) -> PillowImage.Image:
    """The first row is the header, which has no gap after it."""
    width = max(row.width for row in rows)
    height = rows[0].height + sum(row.height + _ROW_GAP for row in rows[1:])
    sheet = PillowImage.new("RGB", (width, height), _BACKGROUND)
    sheet.paste(rows[0], (0, 0))
    top = rows[0].height
    for row in rows[1:]:
        sheet.paste(row, (0, top))
        top += row.height + _ROW_GAP
    return sheet


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


def _header(cameras: tuple[str, ...], which: str) -> PillowImage.Image:
    header = PillowImage.new("RGB", (760, 30), _BACKGROUND)
    draw = ImageDraw.Draw(header)
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
    """A whole episode: the first and the last frame and some between."""
    count = min(num_frames, episode.num_frames)
    indices = np.linspace(0, episode.num_frames - 1, count).round().astype(int).tolist()
    goal = {} if episode.goal_frame is None else {episode.goal_frame: "goal"}
    strip = Strip(episode, tuple(indices), tuple(_wrapped(episode.task, 27, most=3)), goal)
    return _strip(strip, cameras, thumbnail_height, problems)


def _strip(
    strip: Strip, cameras: tuple[str, ...], thumbnail_height: int, problems: list[str]
) -> PillowImage.Image:
    episode, indices = strip.episode, list(strip.frames)
    count = len(indices)
    strips = [
        [_thumbnail(frame, thumbnail_height) for frame in _decode(episode, name, indices, problems)]
        for name in cameras
    ]
    columns = [max(pictures[c].width for pictures in strips) for c in range(count)]
    width = _LABEL_WIDTH + sum(columns) + _GAP * count
    lines = _label_lines(strip)
    text_height = sum(size + 4 for _, size in lines) + 4
    height = max(len(strips) * (thumbnail_height + _GAP) + 16, text_height)
    row = PillowImage.new("RGB", (width, height), _BACKGROUND)
    draw = ImageDraw.Draw(row)
    draw.rectangle((0, 0, _BAR_WIDTH, height), fill=OUTCOME_COLOURS[episode.outcome])
    _write_label(draw, lines)
    for number, pictures in enumerate(strips):
        left = _LABEL_WIDTH
        for thumbnail, column in zip(pictures, columns, strict=True):
            row.paste(thumbnail, (left, number * (thumbnail_height + _GAP)))
            left += column + _GAP
    left = _LABEL_WIDTH
    for index, column in zip(indices, columns, strict=True):
        text = f"{index} {strip.notes.get(index, '')}".rstrip()
        bottom = len(strips) * (thumbnail_height + _GAP)
        draw.text((left, bottom), text, fill=_TEXT, font=_font(11))
        left += column + _GAP
    return row


def _label_lines(strip: Strip) -> list[tuple[str, int]]:
    """Lines with the size of their letters."""
    episode = strip.episode
    outcome = episode.outcome.replace("_", "-")
    if episode.goal_frame is not None:
        outcome += f" at frame {episode.goal_frame}"
    return [
        *((line, 14) for line in _name_lines(episode.id)),
        (outcome, 12),
        (f"{episode.num_frames} frames", 12),
        *((line, 11) for words in strip.words for line in _wrapped(words, 30, most=6)),
    ]


def _write_label(draw: ImageDraw.ImageDraw, lines: Sequence[tuple[str, int]]) -> None:
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


def _name_lines(name: str) -> list[str]:
    """A name in full, over as many lines as it takes: where names differ only they know.

    >>> _name_lines("rollout_of_monday_seed_1_success")
    ['rollout_of_monday_seed', '_1_success']
    """
    return [name[start : start + _NAME_WIDTH] for start in range(0, len(name), _NAME_WIDTH)]


def _wrapped(text: str, width: int, most: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=most, placeholder=" ..")
