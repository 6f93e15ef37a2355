"""`sarm_progress.parquet`: values as the progress that LeRobot's RA-BC and visualizer read."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from goalward.errors import GoalwardError
from goalward.exports.frame_values import FrameValues
from goalward.exports.lerobot_frames import LeRobotFrames
from goalward.exports.replacement import replace_together
from goalward.exports.written import Written, missing_note, write_parquet
from goalward.files import written_whole
from goalward.values.finished_run import FinishedRun

FILE = "sarm_progress.parquet"
SCALES = ("value", "steps")


def progress(values: FrameValues, run: FinishedRun, scale: str) -> npt.NDArray[np.float32]:
    """0 (never) to 1 (at the goal).

    `value`: (1 - V) / 2 = discount^k, which tells frames near the goal apart best. `steps`:
    1 - min(k, time limit) / time limit, in which each step of a steady approach counts the same.
    """
    if scale == "value":
        return ((1.0 - values.value) / 2.0).astype(np.float32)
    if scale == "steps":
        limit = float(run.time_limit)
        return (1.0 - np.minimum(values.steps, limit) / limit).astype(np.float32)
    raise GoalwardError(f"no scale {scale!r}; there are: {', '.join(SCALES)}")


def progress_table(
    run: FinishedRun, values: FrameValues, frames: LeRobotFrames, scale: str
) -> pa.Table:
    """A row per frame that has a value, in the order of the data set's index.

    Frames without one have no row: RA-BC gives them its fallback weight, 1, and the visualizer
    draws nothing, the same as for NaN.
    """
    whole = frames.by_index
    has_value = whole["position"] >= 0
    found = progress(values, run, scale)[whole["position"][has_value]]
    return pa.table(
        {
            "index": whole["index"][has_value],
            "episode_index": whole["episode"][has_value],
            "frame_index": whole["frame"][has_value],
            "progress_sparse": found,
        }
    )


def export_lerobot_progress(
    run: FinishedRun,
    values: FrameValues,
    frames: LeRobotFrames,
    *,
    out: Path | None,
    scale: str = "value",
) -> Written:
    """Into the file `out`, or at the data set's root if that is None."""
    table = progress_table(run, values, frames, scale)
    made_with = {"method": values.method, "scale": scale, "run": run.folder.path.name}
    if out is None:
        path = frames.root / FILE
        replace_together(frames.root, {path: lambda new: write_parquet(table, new, made_with)})
        next_step = (
            "LeRobot finds it by itself: lerobot-train --sample_weighting.type=rabc; "
            "the visualizer as soon as the data set is on the hub"
        )
    else:
        path = out
        with written_whole(path) as temporary:
            write_parquet(table, temporary, made_with)
        next_step = (
            "lerobot-train --sample_weighting.type=rabc "
            f"--sample_weighting.progress_path={path}; for the visualizer it belongs at the data "
            "set's root (--in-place)"
        )
    return Written(
        path,
        next_step,
        missing_note(*frames.without_values, "RA-BC gives them the weight 1"),
    )
