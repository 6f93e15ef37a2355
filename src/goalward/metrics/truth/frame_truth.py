"""What is true of some frames: steps to success in many futures that a simulator ran from each."""

# pyright: standard
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from goalward.errors import GoalwardError
from goalward.parquet_files import read_parquet, write_parquet
from goalward.rollouts.endings import BoolArray, FloatArray, IndexArray
from goalward.targets.liveness import liveness_value

_COLUMNS = ("episode_id", "frame_index", "branch", "steps", "cap")
_METADATA_KEY = b"goalward"


# Where `goalward truth` leaves its results in a data set's folder.
TRUTH_FILE = "truth.parquet"


@dataclass(frozen=True, eq=False)
class TrueNumbers:
    """A mean over the branches of each frame, (frames,), and its standard error.

    The error is NaN for a frame with a single branch: nobody can say.
    """

    mean: FloatArray
    """Over the futures of each frame."""
    standard_error: FloatArray
    """Of that mean."""


@dataclass(frozen=True, eq=False)
class FrameTruth:
    """Frames and the steps to success in each branch that was run from them.

    `steps` is (frames, branches): inf where `cap` steps were not enough, NaN where a frame has
    fewer branches than others. `made_with` says by which task, policy, seed and so on.

    >>> truth = FrameTruth(("7",), np.array([3]), np.array([[1.0, 2.0, np.inf, np.nan]]), cap=50)
    >>> truth.true_value(0.5).mean               # the mean of 0, 0.5 and 1
    array([0.5])
    >>> truth.success_within(1).mean, truth.more_time_success().mean
    (array([0.33333333]), array([0.66666667]))
    """

    episode_ids: tuple[str, ...]
    """The episode of each frame."""
    frame_indices: IndexArray
    """Which frame of it, from 0."""
    steps: FloatArray
    cap: int
    made_with: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.steps.ndim != 2 or len(self.steps) != len(self.episode_ids):
            raise ValueError(f"{len(self.episode_ids)} frames, but steps of {self.steps.shape}")
        if self.frame_indices.shape != (len(self.episode_ids),):
            raise ValueError(f"{len(self.episode_ids)} frames, {self.frame_indices.shape} indices")
        if self.num_frames and (self.num_branches == 0).any():
            raise ValueError("a frame has no branch")
        if (self.steps < 0).any() or (np.isfinite(self.steps) & (self.steps > self.cap)).any():
            raise ValueError(f"steps lie between 0 and the cap of {self.cap}")

    @property
    def num_frames(self) -> int:
        return len(self.episode_ids)

    @property
    def num_branches(self) -> IndexArray:
        """How many futures each frame rests on, (frames,)."""
        return (~np.isnan(self.steps)).sum(axis=1)

    def select(self, chosen: BoolArray | IndexArray) -> "FrameTruth":
        """Some of the frames."""
        positions = np.arange(self.num_frames)[chosen]
        return FrameTruth(
            tuple(self.episode_ids[i] for i in positions),
            self.frame_indices[positions],
            self.steps[positions],
            self.cap,
            self.made_with,
        )

    def true_value(self, discount: float) -> TrueNumbers:
        """E[1 - 2 discount^K] over branches, K = inf where the cap came first.

        A branch that would have succeeded after the cap makes this too high, by `cap_error` at
        most.
        """
        return self._over_branches(liveness_value(self.steps, discount))

    def cap_error(self, discount: float) -> FloatArray:
        """By how much the cap can have raised each true value at most: 2 g^cap per capped branch.

        >>> truth = FrameTruth(("7",), np.array([3]), np.array([[1.0, np.inf]]), cap=2)
        >>> truth.cap_error(0.5)
        array([0.25])
        """
        capped = self._over_branches(np.where(np.isnan(self.steps), np.nan, np.isinf(self.steps)))
        return 2 * discount**self.cap * capped.mean

    def success_within(self, num_steps: float) -> TrueNumbers:
        """P(K <= num_steps): the share of branches that are there by then."""
        if num_steps > self.cap:
            raise ValueError(f"branches were run for {self.cap} steps, not for {num_steps}")
        reached = (self.steps <= num_steps).astype(np.float64)
        return self._over_branches(np.where(np.isnan(self.steps), np.nan, reached))

    def more_time_success(self) -> TrueNumbers:
        """The share of branches that reach the goal at all, before the cap."""
        return self.success_within(self.cap)

    def _over_branches(self, numbers: FloatArray) -> TrueNumbers:
        count = self.num_branches
        mean = np.nansum(numbers, axis=1) / count
        squares = np.nansum((numbers - mean[:, None]) ** 2, axis=1)
        variance = np.full(len(mean), np.nan)
        np.divide(squares, count * (count - 1), out=variance, where=count > 1)
        return TrueNumbers(mean, np.sqrt(variance))

    # ---- on disk -----------------------------------------------------------------------------

    @classmethod
    def from_branches(
        cls,
        branches: Mapping[tuple[str, int, int], int | None],
        cap: int,
        made_with: Mapping[str, Any] | None = None,
    ) -> "FrameTruth":
        """From steps by (episode id, frame, branch), None where the cap came first.

        >>> truth = FrameTruth.from_branches({("7", 3, 0): 2, ("7", 3, 1): None}, cap=9)
        >>> truth.steps
        array([[ 2., inf]])
        """
        frames: dict[tuple[str, int], dict[int, int | None]] = {}
        for (episode_id, frame, branch), steps in branches.items():
            frames.setdefault((episode_id, frame), {})[branch] = steps
        width = max((branch + 1 for _, _, branch in branches), default=0)
        table = np.full((len(frames), width), np.nan)
        for row, found in enumerate(frames.values()):
            for branch, steps in found.items():
                table[row, branch] = np.inf if steps is None else steps
        return cls(
            tuple(episode_id for episode_id, _ in frames),
            np.array([frame for _, frame in frames], dtype=np.int64),
            table,
            cap,
            made_with,
        )

    def write(self, path: str | Path) -> None:
        """As parquet, a row per frame and branch; `read_truth` reads it back."""
        row, branch = np.nonzero(~np.isnan(self.steps))
        steps = self.steps[row, branch]
        is_capped = np.isinf(steps)
        table = pa.table(
            {
                "episode_id": pa.array([self.episode_ids[i] for i in row], pa.string()),
                "frame_index": pa.array(self.frame_indices[row], pa.int32()),
                "branch": pa.array(branch, pa.int32()),
                "steps": pa.array(np.where(is_capped, 0, steps), pa.int32(), mask=is_capped)
                if len(steps)
                else pa.array([], pa.int32()),
                "cap": pa.array(np.full(len(row), self.cap), pa.int32()),
            }
        )
        told = json.dumps({"cap": self.cap, **(self.made_with or {})}, sort_keys=True)
        table = table.replace_schema_metadata({_METADATA_KEY: told.encode()})
        write_parquet(Path(path), table)


def read_truth(path: str | Path) -> FrameTruth:
    """A table that `FrameTruth.write` wrote."""
    path = Path(path)
    try:
        table = read_parquet(path)
        metadata = (table.schema.metadata or {}).get(_METADATA_KEY, b"{}")
        made_with = json.loads(metadata)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise GoalwardError(f"{path}: cannot be read as a table of true steps ({error})") from error
    missing = sorted(set(_COLUMNS) - set(table.column_names))
    if missing or table.num_rows == 0:
        raise GoalwardError(
            f"{path}: is no table of true steps (no {', '.join(missing) or 'rows'})"
        )
    caps = table["cap"].unique().to_pylist()
    if len(caps) > 1 or caps[0] is None:
        raise GoalwardError(f"{path}: its branches have different caps {caps}: they do not compare")
    if (table["branch"].to_numpy() < 0).any():
        raise GoalwardError(f"{path}: has a branch below 0")
    keys = zip(*(table[name].to_pylist() for name in _COLUMNS[:3]), strict=True)
    branches = dict(zip(keys, table["steps"].to_pylist(), strict=True))
    if len(branches) < table.num_rows:
        raise GoalwardError(f"{path}: holds the same branch twice")
    try:
        return FrameTruth.from_branches(branches, caps[0], made_with)
    except (TypeError, ValueError) as error:
        raise GoalwardError(f"{path}: is no table of true steps ({error})") from error
