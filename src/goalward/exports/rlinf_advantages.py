"""`advantages_{tag}.parquet`: advantages as RLinf's RECAP reads them."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from goalward.exports.advantages import Advantages
from goalward.exports.labelled import Labelled
from goalward.exports.lerobot_frames import LeRobotFrames
from goalward.exports.replacement import replace_together
from goalward.exports.written import Written, missing_note, write_parquet
from goalward.files import written_whole

_MISSING = (
    "RLinf wants a row for each; theirs have NaN and are not positive. Train with the column "
    "`advantage` as it is: RLinf's own relabelling finds no positive frame in such a file"
)


def advantage_file(tag: str | None) -> str:
    """The name that RLinf looks for.

    >>> advantage_file("values"), advantage_file(None)
    ('advantages_values.parquet', 'advantages.parquet')
    """
    return f"advantages_{tag}.parquet" if tag else "advantages.parquet"


def advantage_table(labelled: Labelled, frames: LeRobotFrames, dataset_name: str) -> pa.Table:
    """A row per frame of the data set, with RLinf's columns in its order and types.

    RLinf stops at a frame that has no row, so frames without values have one: numbers NaN, no
    rewards, not positive.
    """
    whole = frames.by_index
    row = labelled.row_of(whole["position"])
    has_value = row >= 0
    found: Advantages = labelled.advantages
    raw = labelled.return_scale

    def numbers(column: np.ndarray, scale: float) -> np.ndarray:
        filled = np.full(len(row), np.nan)
        filled[has_value] = column[row[has_value]] / scale
        return filled

    num_valid = np.zeros(len(row), dtype=np.int64)
    num_valid[has_value] = found.num_valid_rewards[row[has_value]]
    positive = np.zeros(len(row), dtype=np.bool_)
    positive[has_value] = labelled.is_positive[row[has_value]]
    return pa.table(
        {
            "episode_index": whole["episode"],
            "frame_index": whole["frame"],
            "advantage_continuous": numbers(found.advantage, raw),
            "return": numbers(found.outcome, 1.0),
            "value_current": numbers(found.worth, raw),
            "value_next": numbers(found.worth_next, raw),
            "reward_sum": numbers(found.reward_sum, raw),
            "reward_sum_raw": numbers(found.reward_sum, 1.0),
            "num_valid_rewards": num_valid,
            "dataset_name": pa.array([dataset_name] * len(row), type=pa.string()),
            "advantage": positive,
        }
    )


def export_rlinf_advantages(
    frames: LeRobotFrames,
    labelled: Labelled,
    *,
    out: Path | None,
    tag: str | None,
) -> Written:
    """Into the file `out`, or into the data set's meta/ if that is None."""
    table = advantage_table(labelled, frames, frames.root.resolve().name)
    made_with = labelled.made_with
    path = frames.root / "meta" / advantage_file(tag) if out is None else out
    if out is None:
        replace_together(frames.root, {path: lambda new: write_parquet(table, new, made_with)})
    else:
        with written_whole(path) as temporary:
            write_parquet(table, temporary, made_with)
    place = "" if out is None else f"put it into the data set's meta/ as {advantage_file(tag)}; "
    used = f"data.advantage_tag={tag}" if tag else "no advantage_tag"
    return Written(
        path,
        f"{place}RLinf's cfg training reads it with {used}",
        (
            labelled.words,
            *missing_note(*frames.without_values, _MISSING),
        ),
    )
