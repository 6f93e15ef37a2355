"""Values as a spreadsheet: one row per frame, and the events beside it."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.exports.written import Written
from goalward.files import written_whole
from goalward.progress import OnProgress, unheard
from goalward.runs.run import Run
from goalward.values.events import write_events

FILE = "frames.csv"
_FACTS = ("episode", "task", "frame", "seconds", "outcome", "held_out")
_NUMBERS = ("value", "sd", "steps_to_go", "hindsight_value", "hindsight_steps_to_go", "chance")


def export_csv(
    run: Run,
    methods: Sequence[str],
    positions: Sequence[int],
    *,
    out: Path,
    on_progress: OnProgress = unheard,
) -> Written:
    """The file `out` with a row per frame, and `<name>_events.csv` beside it.

    `seconds` since the first frame are empty where the frame rate is unknown. Per method: the mean
    value over seeds, its standard deviation over seeds, and the steps to go that the mean stands
    for; then hindsight value and steps; then the chance of success within the standard horizon.
    Every value is on the common scale, -1 at the goal and 1 for never; `inf` steps are never. Where
    not every frame was embedded, `interpolated` says which were not.
    """
    columns = [column for method in methods for column in _columns(run, method)]
    names = [f"{method}_{what}" for method in methods for what in _NUMBERS]
    interpolated = run.values.interpolated
    marked = () if interpolated is None else ("interpolated",)
    with written_whole(out) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*_FACTS, *marked, *names])
        for so_far, position in enumerate(positions):
            on_progress(so_far, len(positions))
            episode, frames = run.episodes[position], run.frames_of(position)
            held_out = _word(episode.held_out)
            for number, frame in enumerate(range(frames.start, frames.stop)):
                seconds = "" if episode.fps is None else f"{number / episode.fps:.6g}"
                facts = (episode.id, episode.task, number, seconds, episode.outcome.value, held_out)
                numbers = [f"{column[frame]:.6g}" for column in columns]
                marks = () if interpolated is None else (_word(interpolated[frame]),)
                writer.writerow([*facts, *marks, *numbers])
    chosen = {run.episodes[position].id for position in positions}
    events = run.events_by(methods[0])
    beside = out.with_name(f"{out.stem}_events.csv")
    write_events(beside, {name: found for name, found in events.items() if name in chosen})
    return Written(out, f"pandas.read_csv({str(out)!r}); events of {methods[0]}: {beside}")


def _word(is_true: np.bool_ | bool) -> str:
    return "true" if is_true else "false"


def _columns(run: Run, method: str) -> tuple[npt.NDArray[np.float64], ...]:
    """Those of `_NUMBERS`."""
    one = run.curves(method)
    chance = run.chances.within_steps(method, run.scores.standard_horizon)
    return one.value, one.spread, one.steps, one.hindsight, one.hindsight_steps, chance
