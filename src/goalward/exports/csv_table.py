"""Values as a spreadsheet: one row per frame, and the events beside it."""

import csv
from collections.abc import Sequence
from pathlib import Path

from goalward.exports.written import Written
from goalward.files import written_whole
from goalward.progress import OnProgress, unheard
from goalward.runs.run import Run
from goalward.values.events import write_events

FILE = "frames.csv"
_FACTS = ("episode", "task", "frame", "outcome", "held_out")


def export_csv(
    run: Run,
    methods: Sequence[str],
    positions: Sequence[int],
    *,
    out: Path,
    on_progress: OnProgress = unheard,
) -> Written:
    """The file `out` with a row per frame, and `<name>_events.csv` beside it.

    Per method: the mean value over seeds on the common scale, its standard deviation over seeds,
    and the steps to go that the mean stands for; `inf` is never.
    """
    curves = [run.curves(method) for method in methods]
    names = [f"{method}_{what}" for method in methods for what in ("value", "sd", "steps_to_go")]
    with written_whole(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*_FACTS, *names])
        for so_far, position in enumerate(positions):
            on_progress(so_far, len(positions))
            episode, frames = run.episodes[position], run.frames_of(position)
            held_out = "true" if episode.held_out else "false"
            for number, frame in enumerate(range(frames.start, frames.stop)):
                facts = (episode.id, episode.task, number, episode.outcome.value, held_out)
                numbers = [
                    f"{column[frame]:.6g}"
                    for one in curves
                    for column in (one.value, one.spread, one.steps)
                ]
                writer.writerow([*facts, *numbers])
    chosen = {run.episodes[position].id for position in positions}
    events = run.events_by(methods[0])
    beside = out.with_name(f"{out.stem}_events.csv")
    write_events(beside, {name: found for name, found in events.items() if name in chosen})
    return Written(out, f"pandas.read_csv({str(out)!r}); events of {methods[0]}: {beside}")
