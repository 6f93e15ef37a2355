"""The alarm of a monitor beside simple rules on fresh episodes: `benchmarks/monitor.py alarm`."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import goalward
from goalward.monitor.band import band_of, conformal_rank
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome

LEVEL = 0.05
# Within so many frames something has to have got somewhere.
WHILE = 20
RULES = (
    *("the alarm", "the alarm without a ceiling", "one limit for values"),
    *("time since start", "no motion", "little way"),
)


def stand_in(num_episodes: int) -> tuple[Rollouts, dict[str, int]]:
    """A hand on its way to a goal that sometimes gets stuck for good; when is known exactly.

    Of the episodes, a third get stuck, after 5 to 25 steps; the clock runs out after 60. The
    others arrive after 25 to 50, with pauses that look as stuck hands do at first.
    """
    generator = np.random.default_rng(0)
    episodes: list[Episode] = []
    rows: list[np.ndarray] = []
    stuck_at: dict[str, int] = {}
    for number in range(num_episodes):
        pace, place = generator.uniform(0.02, 0.045), 0.0
        sticks = generator.random() < 1 / 3
        lost = int(generator.integers(5, 26)) if sticks else 1_000
        pause = int(generator.integers(5, 30))
        path = []
        for step in range(61):
            moves = step < lost and not pause <= step < pause + 4
            place += moves * pace * generator.uniform(0.5, 1.5)
            path.append((place, moves * pace, generator.normal(0, 0.02)))
            if place >= 1:
                break
        good = place >= 1
        seen = np.array(path) + generator.normal(0, 0.01, (len(path), 3))
        rows.append(seen.astype(np.float32))
        outcome = Outcome.SUCCESS if good else Outcome.TIME_OUT
        name = str(number)
        if sticks and not good:
            stuck_at[name] = lost
        episodes.append(Episode(name, len(path), outcome, len(path) - 1 if good else None))
    return Rollouts(episodes, features=np.concatenate(rows)), stuck_at


def rows_of(rollouts: Rollouts) -> list[np.ndarray]:
    """The numbers of every episode that motion is seen in: proprioception, or else features."""
    numbers = rollouts.proprioception if rollouts.proprioception.shape[1] else rollouts.features
    assert numbers is not None
    starts = np.append(0, rollouts.episode_ends[:-1])
    return [numbers[a:b] for a, b in zip(starts, rollouts.episode_ends, strict=True)]


def still_for(rows: np.ndarray, scale: np.ndarray, usual: float) -> np.ndarray:
    """For how many frames nothing has moved, at every frame."""
    moved = np.linalg.norm(np.diff(rows, axis=0, prepend=rows[:1]) / scale, axis=1)
    since = np.zeros(len(rows))
    for frame in range(1, len(rows)):
        since[frame] = since[frame - 1] + 1 if moved[frame] < 0.1 * usual else 0
    return since


def way_of(rows: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """How little way was made in the last frames, at every frame; more is less way."""
    before = rows[np.maximum(np.arange(len(rows)) - WHILE, 0)]
    way = np.linalg.norm((rows - before) / scale, axis=1)
    # At first nothing can have got far.
    return np.where(np.arange(len(rows)) < WHILE, -np.inf, -way)


def limit_of(scores: Sequence[np.ndarray]) -> float:
    """What the scores of a success exceed with a chance of at most the level, anywhere."""
    highest = np.sort([score.max() for score in scores])
    rank = conformal_rank(len(highest), LEVEL)
    return float(highest[-1 if rank is None else rank - 1])


def first_above(scores: np.ndarray, limit: float) -> int | None:
    above = np.flatnonzero(scores > limit)
    return int(above[0]) if len(above) else None


def alarms(
    learned: Rollouts, fresh: Rollouts, effort: str, place: Path, known: Path | None = None
) -> list[dict[str, Any]]:
    """The first alarm of every fresh episode by every rule; `known` is a run on those learned."""
    # Not above: it brings torch, which must not be there when frames are timed.
    from goalward.exports.onnx_monitor import successful_curves

    options: dict[str, Any] = {"report": False, "progress": False}
    if known is None:
        run = goalward.evaluate(learned, place / "run", effort=effort, **options)
    else:
        run = goalward.open_run(known)
    judged = goalward.evaluate(fresh, place / "fresh", values=run, **options)
    successes = successful_curves(run, run.method)
    band = band_of(successes, LEVEL, from_folds=True)
    assert band is not None
    motion = rows_of(learned)
    steps = [np.diff(rows, axis=0) for rows in motion]
    scale = np.concatenate(motion).std(axis=0) + 1e-9
    usual = float(np.median(np.linalg.norm(np.concatenate(steps) / scale, axis=1)))
    good = [i for i, one in enumerate(learned) if one.outcome is Outcome.SUCCESS]
    clock = limit_of([np.arange(learned[i].goal_frame + 1) for i in good])  # type: ignore
    stillness = limit_of([still_for(motion[i], scale, usual) for i in good])
    little = limit_of([way_of(motion[i][: learned[i].goal_frame + 1], scale) for i in good])  # type: ignore
    level = limit_of(successes)
    value = judged.curves().value
    found: list[dict[str, Any]] = []
    for position, (episode, rows) in enumerate(zip(fresh, rows_of(fresh), strict=True)):
        here = value[judged.frames_of(position)]
        last = episode.num_frames if episode.goal_frame is None else episode.goal_frame + 1
        first: dict[str, int | None] = {
            "the alarm": band.first_alarm(here[:last]),
            "the alarm without a ceiling": replace(band, ceiling=None).first_alarm(here[:last]),
            "one limit for values": first_above(here[:last], level),
            "time since start": first_above(np.arange(last), clock),
            "no motion": first_above(still_for(rows, scale, usual)[:last], stillness),
            "little way": first_above(way_of(rows, scale)[:last], little),
        }
        found.append({"id": episode.id, "good": episode.outcome is Outcome.SUCCESS, **first})
    return found


def judge_rest(rollouts: Rollouts, run: Path, lost_at: Mapping[str, int]) -> None:
    """The first episodes are those of a finished run, the others are fresh."""
    num_learned = len(goalward.open_run(run).episodes)
    learned, fresh = rollouts[:num_learned], rollouts[num_learned:]
    with tempfile.TemporaryDirectory() as place:
        tell(alarms(learned, fresh, "", Path(place), known=run), lost_at)


def judge(rollouts: Rollouts, num_parts: int, effort: str, lost_at: Mapping[str, int]) -> None:
    part_of = np.random.default_rng(1).permutation(len(rollouts)) % num_parts
    found: list[dict[str, Any]] = []
    for part in range(num_parts):
        with tempfile.TemporaryDirectory() as place:
            learned = rollouts.select(np.flatnonzero(part_of != part))
            fresh = rollouts.select(np.flatnonzero(part_of == part))
            found += alarms(learned, fresh, effort, Path(place))
        print(f"part {part + 1} of {num_parts}", file=sys.stderr, flush=True)
    tell(found, lost_at)


def tell(found: Sequence[dict[str, Any]], lost_at: Mapping[str, int]) -> None:
    good = [one for one in found if one["good"]]
    bad = [one for one in found if not one["good"]]
    print(f"{len(good)} fresh successes, {len(bad)} fresh time-outs; bound {100 * LEVEL:.0f} %\n")
    print("| rule | false alarms | time-outs noticed | at frame, median |")
    print("|---|---|---|---|")
    for rule in RULES:
        noticed = [one[rule] for one in bad if one[rule] is not None]
        false = sum(one[rule] is not None for one in good)
        middle = f"{np.median(noticed):.0f}" if noticed else ""
        cells = (_share(false, len(good)), _share(len(noticed), len(bad)), middle)
        print(f"| {rule} | " + " | ".join(cells) + " |", flush=True)
    lost = [one for one in bad if one["id"] in lost_at]
    if lost:
        tell_delays(lost, lost_at)


def tell_delays(lost: Sequence[dict[str, Any]], lost_at: Mapping[str, int]) -> None:
    """Beside the frame where the last known thing went wrong in a time-out.

    Who notes it may be later than what can be seen; what was said long before it was of something
    else, and is no delay.
    """
    frames = np.array([lost_at[one["id"]] for one in lost])
    print(f"\n{len(lost)} time-outs with a known event, the last at frame {np.median(frames):.0f}")
    print("in the median\n")
    heads = (f"more than {WHILE} frames before it", f"up to {WHILE} before or after", "later")
    print("| rule | " + " | ".join((*heads, "never", "frames after it")) + " |")
    print("|---|---|---|---|---|---|")
    for rule in RULES:
        said = np.array([np.inf if one[rule] is None else one[rule] for one in lost])
        delay = said - frames
        counts = (
            (delay < -WHILE).sum(),
            (np.abs(delay) <= WHILE).sum(),
            ((delay > WHILE) & np.isfinite(delay)).sum(),
            np.isinf(delay).sum(),
        )
        cells = (*map(str, counts), told_delay(delay[delay >= -WHILE]))
        print(f"| {rule} | " + " | ".join(cells) + " |", flush=True)


def told_delay(delay: np.ndarray) -> str:
    """Median and middle half; an alarm that never came is later than any."""
    if len(delay) == 0:
        return ""
    parts = np.quantile(delay, (0.25, 0.5, 0.75), method="inverted_cdf")
    low, middle, high = (f"{part:.0f}" if np.isfinite(part) else "never" for part in parts)
    return middle if middle == "never" else f"{middle} ({low} to {high})"


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / max(of, 1):.0f} %)"
