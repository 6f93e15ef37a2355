"""Does the value see what happened? Its setbacks against the slips and drops a simulator noted.

    python benchmarks/events.py DATA VALUES [--episodes odd] [--within 10] [--methods liveness td]
                                            [--setback 0.2] [--hindsight 0.98]

DATA is a data set of `goalward simulate`, VALUES the `values.parquet` of its episodes (in the
folder that `goalward evaluate DATA --out RUN` wrote, or of a case study). Each known event counts
as found if a setback is marked within so many frames of it, one setback for one event.

Columns: setbacks found; precision, the share of them with a known event of any kind; recall by
kind; delay of the mark in frames, median and middle half. After each share, in brackets, what
the same number of marks shifted at random within their episodes would reach. Stalls: the share of
misses that lie in one, and the share of all frames that do. Recoveries: how many setbacks have one,
in successes and in other episodes. No return: how many episodes without success have that point,
and, where `goalward truth` has run, how many true futures reach the goal from frames after it,
and from the other frames of such episodes; and how often successes would have had one if they
had been stopped half-way or later (at five places each).

Events are found in values, what could be said at each frame, as `goalward evaluate` finds them;
with `--hindsight`, the decay, in hindsight values.

The row `knowing` is the value that somebody has who reads the policy's mind (where the data set
has its traces): steps to go solved from how its phases follow one another. What the rules
find there, they would find in a very good value.
"""

import argparse
import csv
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

import goalward
from goalward.metrics.truth.frame_truth import TRUTH_FILE, FrameTruth, read_truth
from goalward.rollouts.endings import Endings
from goalward.simulate.recording.trace import Trace
from goalward.targets.liveness import liveness_value, steps_to_goal
from goalward.values.events import Event, EventKind, EventRules, find_events, table_events
from goalward.values.hindsight import hindsight_values
from goalward.values.table import ValueTable, read_values

# Letting go is what happens; the policies look and note it so many frames later.
NOTED_LATE = {"misplaced": 21, "short": 11}
NUM_SHIFTS = 200
Marks = dict[str, list[int]]
Steps = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Known:
    """Known events: kind -> episode -> frames."""

    frames: dict[str, Marks]

    def any_kind(self) -> Marks:
        merged: Marks = defaultdict(list)
        for marks in self.frames.values():
            for episode, frames in marks.items():
                merged[episode] += frames
        return merged


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("values", type=Path)
    parser.add_argument("--episodes", choices=("all", "even", "odd"), default="all")
    parser.add_argument("--within", type=int, default=10)
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--setback", type=float, default=EventRules().setback)
    parser.add_argument("--hindsight", type=float)
    options = parser.parse_args()
    size = options.setback
    rules = EventRules(setback=size, end_of_setback=size / 2, start_of_setback=size / 4)

    values = read_values(options.values)
    rollouts = goalward.read(options.data)
    if rollouts.ids != values.episode_ids or (rollouts.episode_ends != values.episode_ends).any():
        raise SystemExit(f"{options.values} has no values of the episodes in {options.data}")
    goals = [None if frame < 0 else int(frame) for frame in rollouts.goal_frames]
    ceiling = max(int(rollouts.lengths.max()) - 1, 1)
    chosen = [i for i in range(len(goals)) if options.episodes in ("all", ("even", "odd")[i % 2])]
    ids = [values.episode_ids[i] for i in chosen]
    length = {values.episode_ids[i]: int(rollouts.lengths[i]) for i in chosen}
    known = read_known(options.data, ids)
    succeeded = {values.episode_ids[i]: goals[i] is not None for i in chosen}
    truth_file = options.data / TRUTH_FILE
    truth = read_truth(truth_file) if truth_file.is_file() else None
    counts = {kind: sum(map(len, marks.values())) for kind, marks in known.frames.items()}
    print(f"{len(ids)} episodes ({options.episodes}); known: {counts}; within {options.within}")

    tables = dict.fromkeys(options.methods or values.methods, values)
    if (mind := knowing_values(options.data, values)) is not None:
        tables["knowing"] = mind

    def seen(steps: Steps, endings: Endings) -> Steps:
        if options.hindsight is None:
            return steps
        # The common scale of a run with usual settings.
        discount = 1 - 1.75 / ceiling
        value = liveness_value(np.asarray(steps, dtype=np.float64), discount)
        known = hindsight_values(value, endings, discount, options.hindsight)
        return steps_to_goal(known, discount)

    for method, table in tables.items():
        steps = seen(table.steps(method), rollouts.endings)
        found = table_events(table, method, goals, ceiling=ceiling, steps=steps, rules=rules)
        events = {values.episode_ids[i]: found[i] for i in chosen}
        print(f"\n{method}")
        print_setbacks(events, known, length, options.within)
        print_others(events, known, length, succeeded, truth)
        successes = [i for i in chosen if goals[i] is not None]
        print_false_alarms(table, method, successes, ceiling, rules, seen)


def read_known(data: Path, ids: Sequence[str]) -> Known:
    frames: dict[str, Marks] = defaultdict(lambda: defaultdict(list))
    with (data / "simulation" / "events.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["episode_index"] in ids:
                frame = int(row["frame_index"]) - NOTED_LATE.get(row["event"], 0)
                frames[row["event"]][row["episode_index"]].append(max(frame, 0))
    return Known(dict(sorted(frames.items())))


# ---- setbacks ----------------------------------------------------------------------------------


def pairs(marks: Sequence[int], known: Sequence[int], within: int) -> list[tuple[int, int]]:
    """(mark, known) that belong together, nearest first, each used once."""
    near = sorted(
        (abs(mark - frame), i, j)
        for i, mark in enumerate(marks)
        for j, frame in enumerate(known)
        if abs(mark - frame) <= within
    )
    found: dict[int, int] = {}
    for _, i, j in near:
        if i not in found and j not in found.values():
            found[i] = j
    return [(marks[i], known[j]) for i, j in found.items()]


def print_setbacks(
    events: dict[str, tuple[Event, ...]], known: Known, length: dict[str, int], within: int
) -> None:
    marks = {
        episode: [event.frame for event in found if event.kind is EventKind.SETBACK]
        for episode, found in events.items()
    }
    draws = np.random.default_rng(0)
    shifted = [
        {
            episode: [int(frame + draws.integers(length[episode])) % length[episode] for frame in m]
            for episode, m in marks.items()
        }
        for _ in range(NUM_SHIFTS)
    ]

    def matched(some: Marks, targets: Marks) -> list[tuple[int, int]]:
        return [p for e, m in some.items() for p in pairs(m, targets.get(e, []), within)]

    def share(targets: Marks, total: int) -> str:
        if total == 0:
            return "none"
        by_chance = np.mean([len(matched(some, targets)) for some in shifted]) / total
        return f"{len(matched(marks, targets)) / total:.2f} ({by_chance:.2f})"

    num_marks = sum(map(len, marks.values()))
    precision = (
        share(known.any_kind(), num_marks) if known.frames else "unknown: the policy notes nothing"
    )
    print(f"  setbacks {num_marks}, precision {precision}")
    for kind, targets in known.frames.items():
        delays = [mark - frame for mark, frame in matched(marks, targets)]
        total = sum(map(len, targets.values()))
        print(f"  recall {kind} {share(targets, total)}{told_delay(delays)}")


def told_delay(delays: Sequence[int]) -> str:
    if not delays:
        return ""
    low, middle, high = (f"{np.quantile(delays, q):+.0f}" for q in (0.25, 0.5, 0.75))
    return f", delay {middle} ({low} to {high})"


# ---- the other kinds ---------------------------------------------------------------------------


def print_others(
    events: dict[str, tuple[Event, ...]],
    known: Known,
    length: dict[str, int],
    succeeded: dict[str, bool],
    truth: FrameTruth | None,
) -> None:
    def of(kind: EventKind, episode: str) -> list[Event]:
        return [event for event in events[episode] if event.kind is kind]

    stalls = {episode: of(EventKind.STALL, episode) for episode in events}
    misses = [(e, frame) for e, frames in known.frames.get("miss", {}).items() for frame in frames]
    inside = [any(stall.start <= frame <= stall.end for stall in stalls[e]) for e, frame in misses]
    covered = sum(stall.end - stall.start + 1 for found in stalls.values() for stall in found)
    print(
        f"  stalls {sum(map(len, stalls.values()))}, {np.mean(inside or [0.0]):.2f} of misses in "
        f"one, {covered / sum(length.values()):.2f} of frames"
    )
    for name, outcome in (("successes", True), ("others", False)):
        chosen = [episode for episode in events if succeeded[episode] is outcome]
        setbacks = sum(len(of(EventKind.SETBACK, episode)) for episode in chosen)
        recoveries = sum(len(of(EventKind.RECOVERY, episode)) for episode in chosen)
        print(f"  recoveries in {name}: {recoveries} of {setbacks} setbacks")
    lost = {e: found[0].frame for e in events if (found := of(EventKind.NO_RETURN, e))}
    print(f"  no return: {len(lost)} of {sum(not s for s in succeeded.values())} without success")
    if truth is not None:
        after: list[float] = []
        before: list[float] = []
        for episode, frame, steps in zip(
            truth.episode_ids, truth.frame_indices, truth.steps, strict=True
        ):
            if episode in events and not succeeded[episode]:
                group = after if frame >= lost.get(episode, np.inf) else before
                group.append(float(np.isfinite(steps[~np.isnan(steps)]).mean()))
        for name, group in (("after it", after), ("elsewhere", before)):
            if group:
                print(f"  {name}: {np.mean(group):.2f} of futures succeed ({len(group)} frames)")


def print_false_alarms(
    table: ValueTable,
    method: str,
    successes: Sequence[int],
    ceiling: int,
    rules: EventRules,
    seen: Callable[[Steps, Endings], Steps],
) -> None:
    """Successes that would have looked lost, had they been stopped half-way or later."""
    steps, alarms = table.steps(method), 0
    shares = (0.5, 0.6, 0.7, 0.8, 0.9)
    for i in successes:
        frames = table.frames_of(table.episode_ids[i])
        for share in shares:
            stop = frames.start + max(int(share * (frames.stop - frames.start)), 1)
            # Nobody knows then that it will succeed.
            stopped = Endings(np.array([stop - frames.start]), np.array([-1]))
            curve = seen(steps[:, frames.start : stop], stopped)
            cut = find_events(curve, None, ceiling=ceiling, rules=rules)
            alarms += any(event.kind is EventKind.NO_RETURN for event in cut)
    total = len(shares) * len(successes)
    print(f"  no return in successes stopped before the goal: {alarms} of {total}")


# ---- a value that knows ------------------------------------------------------------------------


def knowing_values(data: Path, values: ValueTable) -> ValueTable | None:
    """Steps to go from the phase of the policy, as a Markov chain over (phase, steps in it).

    Counts of transitions over all episodes give the chance to go from each state to each other;
    the mean of discount^K then solves a linear system with 1 at the goal. A time-out's last
    state is left without a successor, as nobody saw one.
    """
    files = [
        data / "simulation" / "traces" / f"episode_{int(i):06d}.npz" for i in values.episode_ids
    ]
    if not all(file.is_file() for file in files):
        return None
    traces = [Trace.read(file) for file in files]
    names: dict[tuple[str, int, bool], int] = {}
    paths = [
        [names.setdefault(_state(memory, bool(held)), len(names)) for memory, held in both]
        for both in (zip(trace.memories, trace.held, strict=True) for trace in traces)
    ]
    counts = np.zeros((len(names), len(names) + 1))
    for path, trace in zip(paths, traces, strict=True):
        np.add.at(counts, (path[:-1], path[1:]), 1)
        if trace.success:
            counts[path[-2]] -= np.eye(len(names) + 1)[path[-1]]
            counts[path[-2], -1] += 1
    chance = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    longest = max(trace.num_frames for trace in traces)
    discount = 1 - 1.75 / longest
    worth = np.linalg.solve(
        np.eye(len(names)) - discount * chance[:, :-1], discount * chance[:, -1]
    )
    steps = np.log(np.maximum(worth, 1e-9)) / np.log(discount)
    flat: npt.NDArray[np.float32] = np.concatenate([steps[path] for path in paths])[None, None]
    flat = flat.astype(np.float32)
    return replace(values, methods=("knowing",), seeds=(0,), raw_value=-flat, steps_to_goal=flat)


def _state(memory: str, held: bool) -> tuple[str, int, bool]:
    mind = json.loads(memory)
    mind = mind.get("mind", mind)
    steps = mind.get("phase_steps", mind.get("steps_in_phase", 0))
    return mind["phase"], min(int(steps) // 3, 10), held


if __name__ == "__main__":
    main()
