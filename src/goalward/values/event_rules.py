"""When a movement of the value counts: rules on one curve of an episode and on those of its seeds.

Curves are predicted steps to go as shares of the ceiling: 0 at the goal, 1 at the ceiling and
beyond. The speaking curve is that of the mean over seeds; the curves of the seeds say how many see
the same. `docs/events.md` has the rules in words and what they find of known slips and drops.
"""

# pyright: standard
# (scipy ships no type stubs)

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import median_filter

Curve = npt.NDArray[np.float64]
# 0.5 - 0.4 is a little less than 0.1.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class EventRules:
    """When a movement of the value counts; all but `agreement` are shares of the ceiling.

    The ceiling is in steps, and a step is a frame: 0.2 is 50 steps, or 50 frames, of 250.
    """

    window: float = 0.035
    """Curves are smoothed by a running median over so many frames (3 at least)."""
    setback: float = 0.2
    """A setback loses so many steps or more."""
    end_of_setback: float = 0.1
    """A setback ends, at its worst frame, when so many steps have been regained."""
    start_of_setback: float = 0.05
    """It starts in the last frame that looked within so many steps of the best before it."""
    share_recovered: float = 0.75
    """A recovery regains this share of what the setback lost (a share of that)."""
    stall_frames: float = 0.2
    """A stall lasts so many frames or more,"""
    stall_progress: float = 0.05
    """in which the goal never comes nearer by so many steps."""
    reachable: float = 0.6
    """An episode looks reachable at so many steps to go or fewer,"""
    lost: float = 0.85
    """and lost at so many or more; between the two, it looks as it did before."""
    lost_frames: float = 0.1
    """After the point of no return so many frames follow or more."""
    agreement: float = 0.6
    """The share of seeds that must see an event in their own curves."""


class Rise(NamedTuple):
    """A setback: from frame `start` to the worst one, `end`, sharpest at `frame`."""

    start: int
    frame: int
    end: int


def smoothed(numbers: Curve, ceiling: float, window: float) -> Curve:
    """A running median along the last axis, over an odd number of frames; ends repeat themselves.

    >>> smoothed(np.array([[5.0, 5, 90, 4, 4]]), ceiling=100, window=0.03)
    array([[5., 5., 5., 4., 4.]])
    """
    num_frames = max(round(window * ceiling) // 2 * 2 + 1, 3)
    return median_filter(numbers, size=(1, num_frames), mode="nearest")


def rises(curve: Curve, ceiling: float, rules: EventRules) -> list[Rise]:
    """Where the curve loses `setback` or more, before it regains `end_of_setback`.

    Two losses with less regained between them are one: the noise of the value would otherwise cut
    a setback into pieces, or a slow one into none.

    >>> curve = np.array([0.5, 0.4, 0.3, 0.6, 0.58, 0.7, 0.5, 0.3])
    >>> rises(curve, 8, EventRules())
    [Rise(start=2, frame=3, end=5)]
    """
    found: list[tuple[int, int]] = []
    low = high = 0
    losing = False
    numbers: list[float] = curve.tolist()
    for frame, now in enumerate(numbers):
        if losing and now > numbers[high]:
            high = frame
        elif losing and numbers[high] - now >= rules.end_of_setback - _ROUNDING:
            found.append((low, high))
            losing, low = False, frame
        elif not losing and now <= numbers[low]:
            low = frame
        elif not losing and now - numbers[low] >= rules.setback - _ROUNDING:
            losing, high = True, frame
    if losing:
        found.append((low, high))
    sharpness = _sharpness(curve, max(round(rules.window * ceiling), 1))
    return [_located(curve, sharpness, low, high, rules) for low, high in found]


def _located(curve: Curve, sharpness: Curve, low: int, high: int, rules: EventRules) -> Rise:
    # Not the best frame of a long plateau, but where the plateau ends.
    frame = sharpest(sharpness, low + 1, high)
    near = curve[low:frame] <= curve[low] + rules.start_of_setback
    return Rise(start=low + int(np.flatnonzero(near)[-1]), frame=frame, end=high)


def _sharpness(curve: Curve, num_frames: int) -> Curve:
    """The mean over so many frames from each one on, less the mean over as many before it."""
    total = np.concatenate([[0.0], np.cumsum(curve)])
    frame = np.arange(len(curve))
    start, stop = np.maximum(frame - num_frames, 0), np.minimum(frame + num_frames, len(curve))
    before = (total[frame] - total[start]) / np.maximum(frame - start, 1)
    difference = (total[stop] - total[frame]) / (stop - frame) - before
    difference[0] = 0.0
    return difference


def sharpest(sharpness: Curve, first: int, last: int) -> int:
    """The frame of the sharpest rise among those from `first` to `last`."""
    return first + int(sharpness[first : last + 1].argmax())


def comeback(curve: Curve, seeds: Curve, rise: Rise, rules: EventRules) -> int | None:
    """The first frame after a setback that looks nearly as near as before it, if there is one.

    Seeds agree that have regained half of what was lost.
    """
    lost = curve[rise.end] - curve[rise.start]
    after = slice(rise.end + 1, None)
    regained = curve[after] <= curve[rise.end] - rules.share_recovered * lost
    seen = (seeds[:, after] <= seeds[:, [rise.end]] - lost / 2).mean(axis=0)
    frames = np.flatnonzero(regained & (seen >= rules.agreement))
    return rise.end + 1 + int(frames[0]) if len(frames) else None


def standstills(
    curve: Curve, setbacks: list[Rise], ceiling: float, rules: EventRules
) -> list[tuple[int, int]]:
    """(first, last) frames of stretches without progress, the longest first; none in a setback.

    Progress is counted in what the episode has come to since the last setback: the best so far
    only falls, and noise around it makes none.

    >>> curve = np.array([0.9, 0.6, 0.4, 0.4, 0.39, 0.41, 0.39, 0.2])
    >>> standstills(curve, [], 16, EventRules())
    [(2, 6)]
    """
    edges = [0, *(edge for rise in setbacks for edge in (rise.start, rise.end)), len(curve) - 1]
    found: list[tuple[int, int]] = []
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        best = np.minimum.accumulate(curve[first : last + 1])
        # From each frame on, the first that is nearer by enough.
        nearer = np.searchsorted(-best, rules.stall_progress - _ROUNDING - best)
        parts = [(0, len(best))]
        while parts:
            start, stop = parts.pop()
            lengths = np.minimum(nearer[start:stop], stop) - np.arange(start, stop)
            # One frame is no stretch, however short the longest episode.
            longest = max(rules.stall_frames * ceiling, 1)
            if len(lengths) == 0 or lengths.max() <= longest:
                continue
            # The last of equally long ones is at the level itself, not on the way to it.
            begin = stop - 1 - int(lengths[::-1].argmax())
            end = begin + int(lengths.max())
            found.append((first + begin, first + end - 1))
            parts += [(start, begin), (end, stop)]
    return found


def departure(curve: Curve, ceiling: float, rules: EventRules) -> Rise | None:
    """From the last frame that looked reachable to the first that looks lost, if it stays so."""
    near = np.flatnonzero(curve <= rules.reachable)
    if len(near) == 0:
        return None
    last = int(near[-1])
    far = np.flatnonzero(curve[last:] >= rules.lost)
    if len(far) == 0:
        return None
    first = last + int(far[0])
    rest = curve[first:]
    if len(rest) < rules.lost_frames * ceiling or np.median(rest) < rules.lost:
        return None
    sharpness = _sharpness(curve, max(round(rules.window * ceiling), 1))
    return Rise(start=last, frame=sharpest(sharpness, last + 1, first), end=first)
