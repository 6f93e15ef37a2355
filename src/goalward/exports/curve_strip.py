"""The strip under a video: the value over time, drawn once, and a cursor that is drawn per frame.

Plain pixels: a plotting library would take longer for one picture than a second of video does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image as PillowImage
from PIL import ImageDraw, ImageFont

from goalward.looks import EVENT_LOOKS, GRID_COLOUR, QUIET_COLOUR, TEXT_COLOUR, channels
from goalward.rollouts.frames import Image
from goalward.runs.curves import Curves
from goalward.values.events import Event

Colour = tuple[int, int, int]

# Pixels.
STRIP_HEIGHT = 184
_HEADER, _FOOTER = 30, 22
_LEFT, _RIGHT = 46, 14
_CURSOR_WIDTH = 2
# Drawn this much larger and then reduced: smooth lines.
_FINER = 3

_WHITE: Colour = (255, 255, 255)
_CURSOR: Colour = (200, 0, 40)


@dataclass(frozen=True, eq=False)
class CurveStrip:
    """A picture of a curve, and what is drawn anew for every frame."""

    static: Image
    curve: Curves
    ceiling: float
    events: Sequence[Event]

    def at(self, frame: int) -> Image:
        """The strip while this frame is shown, (STRIP_HEIGHT, width, 3)."""
        strip = self.static.copy()
        width, num_frames = strip.shape[1], len(self.curve.value)
        x = cursor_column(frame, num_frames, width)
        strip[_HEADER : STRIP_HEIGHT - _FOOTER, x : x + _CURSOR_WIDTH] = _CURSOR
        y = round(_row(float(self.curve.value[frame])))
        strip[y - 3 : y + 4, x - 2 : x + _CURSOR_WIDTH + 2] = _CURSOR
        header = PillowImage.new("RGB", (width, _HEADER), _WHITE)
        draw = ImageDraw.Draw(header)
        told = steps_words(float(self.curve.steps[frame]), self.ceiling)
        draw.text((_LEFT, 5), told, fill=TEXT_COLOUR, font=_font(17))
        right = f"frame {frame} of {num_frames - 1}"
        draw.text((width - _RIGHT, 10), right, fill=QUIET_COLOUR, font=_font(12), anchor="ra")
        for event in self.events:
            if event.start <= frame <= event.end:
                left = _LEFT + 14 + draw.textlength(told, font=_font(17))
                look = EVENT_LOOKS[event.kind]
                draw.text((left, 5), look.word, fill=look.colour, font=_font(17))
                break
        strip[:_HEADER] = np.asarray(header)
        return strip


def curve_strip(
    curve: Curves,
    events: Sequence[Event],
    *,
    colour: str,
    width: int,
    ceiling: float,
    caption: str,
) -> CurveStrip:
    """The value of one episode with a band of its spread either way, hindsight as a thin line,
    and its events marked."""
    values, ink = curve.value, channels(colour)
    fine = PillowImage.new("RGB", (width * _FINER, STRIP_HEIGHT * _FINER), _WHITE)
    draw = ImageDraw.Draw(fine)
    columns = _columns(len(values), width)
    for event in events:
        left, right = columns[event.start], columns[event.end]
        shade = channels(EVENT_LOOKS[event.kind].colour)
        if right > left:
            _box(draw, left, right, _mixed(shade, 0.16))
        _box(draw, columns[event.frame] - 0.5, columns[event.frame] + 0.5, _mixed(shade, 0.6))
    grid = channels(GRID_COLOUR)
    for value in (-1.0, 0.0, 1.0):
        _line(draw, [(_LEFT, _row(value)), (width - _RIGHT, _row(value))], grid, 1.0)
    if len(values) > 1:
        high = [_row(value) for value in np.minimum(values + curve.spread, 1.0)]
        low = [_row(value) for value in np.maximum(values - curve.spread, -1.0)]
        edge = [*zip(columns, high, strict=True), *reversed([*zip(columns, low, strict=True)])]
        band = PillowImage.new("L", fine.size, 0)
        ImageDraw.Draw(band).polygon([(x * _FINER, y * _FINER) for x, y in edge], fill=110)
        fine.paste(ink, mask=band)
        in_hindsight = [*zip(columns, map(_row, curve.hindsight.tolist()), strict=True)]
        _line(draw, in_hindsight, _mixed(ink, 0.6), 0.7)
        points = [*zip(columns, (_row(value) for value in values), strict=True)]
        _line(draw, points, ink, 2.0)
    picture = fine.reduce(_FINER)
    draw = ImageDraw.Draw(picture)
    for text, value in (("never", 1.0), ("goal", -1.0)):
        place = (_LEFT - 6, _row(value))
        draw.text(place, text, fill=QUIET_COLOUR, font=_font(12), anchor="rm")
    room = width - _LEFT - _RIGHT
    shown = _cut(draw, caption, room)
    draw.text((_LEFT, STRIP_HEIGHT - _FOOTER + 4), shown, fill=QUIET_COLOUR, font=_font(12))
    return CurveStrip(np.asarray(picture), curve, ceiling, tuple(events))


def cursor_column(frame: int, num_frames: int, width: int) -> int:
    """The left pixel of the cursor, in a strip that is `width` pixels wide.

    >>> [cursor_column(frame, 3, 512) for frame in range(3)]
    [45, 271, 497]
    """
    share = frame / max(num_frames - 1, 1)
    return round(_LEFT + share * (width - _RIGHT - _LEFT)) - _CURSOR_WIDTH // 2


def steps_words(steps: float, ceiling: float) -> str:
    """Beyond the ceiling, the longest episode, nothing was ever seen to be reached.

    >>> steps_words(1.2, 62), steps_words(80.0, 62)
    ('1 step to go', '62 or more steps to go')
    """
    if steps >= ceiling:
        return f"{ceiling:.0f} or more steps to go"
    number = f"{steps:.0f}"
    return f"{number} step{'' if number == '1' else 's'} to go"


def _columns(num_frames: int, width: int) -> list[float]:
    return np.linspace(_LEFT, width - _RIGHT, num_frames).tolist()


def _row(value: float) -> float:
    """Pixels from the top: 1 is never, -1 the goal."""
    top, bottom = _HEADER + 5, STRIP_HEIGHT - _FOOTER - 5
    return top + (bottom - top) * (1.0 - value) / 2.0


def _box(draw: ImageDraw.ImageDraw, left: float, right: float, colour: Colour) -> None:
    top, bottom = _HEADER * _FINER, (STRIP_HEIGHT - _FOOTER) * _FINER
    draw.rectangle((left * _FINER, top, right * _FINER, bottom), fill=colour)


def _line(
    draw: ImageDraw.ImageDraw, points: Sequence[tuple[float, float]], colour: Colour, width: float
) -> None:
    fine = [(x * _FINER, y * _FINER) for x, y in points]
    draw.line(fine, fill=colour, width=round(width * _FINER), joint="curve")


def _mixed(colour: Colour, share: float) -> Colour:
    """The colour on white paper, as strong as its share."""
    red, green, blue = (round(255 - share * (255 - part)) for part in colour)
    return red, green, blue


def _cut(draw: ImageDraw.ImageDraw, text: str, room: float) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in text[:400])
    while text and draw.textlength(text, font=_font(12)) > room:
        text = text[:-2].rstrip("…") + "…" if len(text) > 2 else ""
    return text


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
