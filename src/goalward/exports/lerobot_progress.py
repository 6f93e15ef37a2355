"""`sarm_progress.parquet`: values as the progress that LeRobot's RA-BC and visualizer read."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from goalward.errors import GoalwardError, argument
from goalward.exports.lerobot_frames import LeRobotFrames
from goalward.exports.replacement import replace_together
from goalward.exports.written import Written, missing_note, write_parquet
from goalward.files import written_whole
from goalward.runs.curves import Curves
from goalward.runs.run import Run
from goalward.targets.liveness import discounted_goal

FILE = "sarm_progress.parquet"
SCALES = ("value", "steps")
# Whose `forward` takes `reduction="none"`, without which RA-BC cannot weigh frames (LeRobot, August
# 2026). Others, act and diffusion among them, stop with an error.
RABC_POLICIES = ("pi0", "pi05", "smolvla", "evo1", "molmoact2", "vla_jepa")
_POLICIES = f"RA-BC is for {', '.join(RABC_POLICIES[:-1])} and {RABC_POLICIES[-1]}"


def progress(curves: Curves, time_limit: int, scale: str) -> npt.NDArray[np.float32]:
    """0 (never) to 1 (at the goal).

    `value`: discount^k of the k steps to go, which tells frames near the goal apart
    best. `steps`: 1 - min(k, time limit) / time limit, in which each step of a steady approach
    counts the same.
    """
    if scale == "value":
        return discounted_goal(curves.value).astype(np.float32)
    if scale == "steps":
        limit = float(time_limit)
        return (1.0 - np.minimum(curves.steps, limit) / limit).astype(np.float32)
    raise GoalwardError(f"no scale {scale!r}; there are: {', '.join(SCALES)}")


def progress_table(run: Run, curves: Curves, frames: LeRobotFrames, scale: str) -> pa.Table:
    """A row per frame that has a value, in the order of the data set's index.

    Frames without one have no row: RA-BC gives them its fallback weight, 1, and the visualizer
    draws nothing, the same as for NaN.
    """
    whole = frames.by_index
    has_value = whole["position"] >= 0
    found = progress(curves, run.time_limit, scale)[whole["position"][has_value]]
    return pa.table(
        {
            "index": whole["index"][has_value],
            "episode_index": whole["episode"][has_value],
            "frame_index": whole["frame"][has_value],
            "progress_sparse": found,
        }
    )


def export_lerobot_progress(
    run: Run,
    curves: Curves,
    frames: LeRobotFrames,
    *,
    out: Path | None,
    scale: str = "value",
) -> Written:
    """Into the file `out`, or at the data set's root if that is None."""
    table = progress_table(run, curves, frames, scale)
    made_with = {"method": curves.method, "scale": scale, "run": run.folder.path.name}
    if out is None:
        path = frames.root / FILE
        replace_together(frames.root, {path: lambda new: write_parquet(table, new, made_with)})
        next_step = (
            f"lerobot-train --dataset.root={frames.root} --sample_weighting.type=rabc finds it "
            f"there (without --dataset.root it looks on the hub); {_POLICIES}; the visualizer "
            "finds it as soon as the data set is on the hub"
        )
    else:
        path = out
        with written_whole(path) as temporary:
            write_parquet(table, temporary, made_with)
        next_step = (
            "lerobot-train --sample_weighting.type=rabc "
            f"--sample_weighting.progress_path={path}; {_POLICIES}; for the visualizer it belongs "
            f"at the data set's root ({argument('in_place', True)})"
        )
    return Written(
        path,
        next_step,
        missing_note(*frames.without_values, "RA-BC gives them the weight 1"),
    )
