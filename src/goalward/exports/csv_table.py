"""Values as a spreadsheet: one row per frame, and the events beside it."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from goalward.exports.frame_values import FrameValues, frames_of
from goalward.exports.written import Written
from goalward.files import written_whole
from goalward.values.events import run_events, write_events
from goalward.values.finished_run import FinishedRun

FILE = "frames.csv"
_FACTS = ("episode", "task", "frame", "outcome", "held_out")


def export_csv(
    run: FinishedRun,
    methods: Sequence[str],
    positions: Sequence[int],
    *,
    out: Path,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Written:
    """The file `out` with a row per frame, and `<name>_events.csv` beside it.

    Per method: the mean value over seeds on the common scale, its standard deviation over seeds,
    and the steps to go that the mean stands for; `inf` is never.
    """
    values = [FrameValues.of(run, method) for method in methods]
    names = [f"{method}_{what}" for method in methods for what in ("value", "sd", "steps_to_go")]
    with written_whole(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*_FACTS, *names])
        for done, position in enumerate(positions):
            on_progress(done, len(positions))
            episode, frames = run.episodes[position], frames_of(run, position)
            held_out = "true" if episode.held_out else "false"
            for number, frame in enumerate(range(frames.start, frames.stop)):
                facts = (episode.id, episode.task, number, episode.outcome.value, held_out)
                numbers = [
                    f"{column[frame]:.6g}"
                    for found in values
                    for column in (found.value, found.spread, found.steps)
                ]
                writer.writerow([*facts, *numbers])
    chosen = {run.episodes[position].id for position in positions}
    events = run_events(run, methods[0])
    beside = out.with_name(f"{out.stem}_events.csv")
    write_events(beside, {name: found for name, found in events.items() if name in chosen})
    return Written(out, f"pandas.read_csv({str(out)!r}); events of {methods[0]}: {beside}")
