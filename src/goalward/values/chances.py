"""How likely success is within any number of steps of every frame: in memory and on disk."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from goalward.columns import Column, names
from goalward.errors import GoalwardError
from goalward.parquet_files import read_parquet, write_parquet
from goalward.rollouts.findings import counted
from goalward.values.table import EPISODE, FRAME, METHOD, TASK, text_column

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]

_NUM_POINTS = 24
# Of the longest clock: the furthest that a chance is told for. Beyond it all is *ever*.
_FURTHEST = 3
_FACTS = (METHOD, TASK, EPISODE, FRAME)
_WITHIN = "within_"
_EVER = "ever"
_AT_END = "at_end"
# A column `within_N` for every number of steps that is told.
CHANCE_COLUMNS = (
    *_FACTS,
    Column(f"{_WITHIN}N", "number", "chance of success within N steps of the frame, 0 to 1"),
    Column(_EVER, "number", "chance of success at all, however long it takes"),
    Column(
        _AT_END,
        "numbers",
        "in the last row of an episode, else empty: what every network says at all of these "
        "points, those of one network after those of another, the networks of the first seed first",
    ),
)
_METADATA_KEY = b"goalward"


def chance_points(longest: int, also: Iterable[int] = ()) -> IndexArray:
    """Numbers of steps to tell chances at: 0, then ever wider apart, up to three longest clocks.

    `also` are told as well, so that there nothing is read off between points. The last point
    stands for *ever*.

    >>> chance_points(longest=4, also=[5])
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12])
    >>> len(chance_points(longest=400)), chance_points(longest=400)[-3:]
    (24, array([ 630,  869, 1200]))
    """
    most = _FURTHEST * max(longest, 1)
    spaced = np.floor(np.geomspace(1, most, _NUM_POINTS - 1) + 0.5).astype(np.int64)
    # Where the geometric spacing falls below one step, every step.
    spaced = np.minimum(np.maximum(spaced, np.arange(1, _NUM_POINTS)), most)
    within = [steps for steps in also if 0 < steps < most]
    return np.unique(np.concatenate([[0], spaced, np.array(within, dtype=np.int64), [most]]))


def asked_of(num_steps: IndexArray) -> list[float]:
    """The numbers of steps that networks are asked for: the last point stands for ever."""
    return [*num_steps[:-1].astype(float).tolist(), np.inf]


@dataclass(frozen=True, eq=False)
class ChanceTable:
    """How likely each method holds success within so many steps of every frame.

    `within` (methods, frames, points) is P(K <= n), the mean over seeds and the networks of each,
    at every n of `num_steps` (points,), whole numbers that rise from 0. It lies in [0, 1] and
    never falls along the points; the last one stands for *ever*, however long it takes. Frames
    are those of all episodes one after the other, the last of each before `episode_ends`.

    `at_end` (methods, seeds, members, episodes, points) is what every single network says at the
    last frame of every episode; NaN where an episode was judged by fewer networks than others.

    `moved_by` (methods,) is how far the log-odds of a method were moved after its networks spoke
    (`goalward.values.landmarks`); empty: as networks say it.

    A method that says nothing but a value has no chance to give. For it P is the share of its
    seeds whose steps to the goal are no more than n: not a chance, but kept, so that what methods
    claim can be compared.

    >>> table = ChanceTable(
    ...     methods=("mc",), episode_ids=("7",), episode_tasks=("",), episode_ends=np.array([2]),
    ...     num_steps=np.array([0, 2, 6]),
    ...     within=np.array([[[0.0, 0.5, 0.75], [0.25, 0.75, 1.0]]], dtype=np.float32),
    ...     at_end=np.array([[[[[0.25, 0.75, 1.0]]]]], dtype=np.float32),
    ... )
    >>> table.within_steps("mc", 1).tolist(), table.within_steps("mc", [4, 99]).tolist()
    ([0.25, 0.5], [0.625, 1.0])
    """

    methods: tuple[str, ...]
    episode_ids: tuple[str, ...]
    episode_tasks: tuple[str, ...]
    episode_ends: IndexArray
    num_steps: IndexArray
    within: npt.NDArray[np.float32]
    at_end: npt.NDArray[np.float32]
    moved_by: tuple[float, ...] = ()

    def __repr__(self) -> str:
        return (
            f"ChanceTable({', '.join(self.methods)}; {counted(self.episode_ids)}, "
            f"{self.within.shape[1]} frames, up to {self.num_steps[-1]} steps)"
        )

    def __post_init__(self) -> None:
        points = len(self.num_steps)
        if points < 2 or self.num_steps[0] != 0 or (np.diff(self.num_steps) <= 0).any():
            raise ValueError(f"numbers of steps rise from 0, got {self.num_steps.tolist()}")
        episodes = len(self.episode_ids)
        frames = int(self.episode_ends[-1]) if episodes else 0
        if self.within.shape != (len(self.methods), frames, points):
            raise ValueError(f"{frames} frames, {points} points, chances of {self.within.shape}")
        if self.at_end.ndim != 5 or self.at_end.shape[3:] != (episodes, points):
            raise ValueError(f"{episodes} episodes, {points} points, ends of {self.at_end.shape}")
        for said in (self.within, self.at_end[~np.isnan(self.at_end).any(axis=-1)]):
            if not ((said >= 0) & (said <= 1)).all():
                raise ValueError("a chance lies between 0 and 1")
            if (np.diff(said, axis=-1) < 0).any():
                raise ValueError("a chance falls with more time")

    @property
    def num_frames(self) -> int:
        return self.within.shape[1]

    @property
    def clocks(self) -> IndexArray:
        """How many steps each episode took: one fewer than it has frames."""
        return np.diff(self.episode_ends, prepend=0) - 1

    def says_chances(self, method: str) -> bool:
        """Whether the networks of a method say chances, and are not just sure of a value each.

        A network that says nothing but a value says 0 or 1; the mean over such networks is the
        share that agrees.
        """
        said = self.at_end[self._method(method)]
        said = said[~np.isnan(said)]
        return bool(((said > 0) & (said < 1)).any())

    def within_steps(self, method: str, num_steps: npt.ArrayLike) -> FloatArray:
        """P(K <= num_steps) at every frame, (frames,); one number for all or one for each.

        Between the points of the table it is read off the straight line; more steps than the
        last, inf among them, are *ever*.
        """
        return self._read(self.within[self._method(method)], num_steps)

    def ever(self, method: str) -> FloatArray:
        """How likely success is at all, however long it takes, (frames,)."""
        return self.within[self._method(method), :, -1].astype(np.float64)

    def within_steps_at_end(self, method: str, num_steps: npt.ArrayLike) -> FloatArray:
        """P(K <= num_steps) at the last frame of every episode, by network.

        One number of steps, or one per episode; (seeds, members, episodes), NaN where there is no
        such network.
        """
        return self._read(self.at_end[self._method(method)], num_steps)

    def _read(self, said: npt.NDArray[np.float32], num_steps: npt.ArrayLike) -> FloatArray:
        asked = np.asarray(num_steps, dtype=np.float64)
        if not (asked >= 0).all():
            raise GoalwardError(f"num_steps must be 0 or more, got {num_steps}")
        points = self.num_steps.astype(np.float64)
        asked = np.broadcast_to(np.minimum(asked, points[-1]), said.shape[-2:-1])
        before = np.clip(np.searchsorted(points, asked, side="right") - 1, 0, len(points) - 2)
        share = (asked - points[before]) / (points[before + 1] - points[before])
        rows = np.arange(said.shape[-2])
        low, high = said[..., rows, before], said[..., rows, before + 1]
        return low.astype(np.float64) * (1 - share) + high * share

    def _method(self, method: str) -> int:
        if method not in self.methods:
            raise GoalwardError(f"no method {method!r}; there are: {', '.join(self.methods)}")
        return self.methods.index(method)

    # ---- on disk -----------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """One row per method and frame, a column `within_N` per number of steps, and `ever`.

        `at_end` is there in the last row of an episode alone: what every network says, all points
        of the first one before those of the second, the networks of the first seed first.
        """
        num_methods, num_frames, _ = self.within.shape
        lengths = np.diff(self.episode_ends, prepend=0)
        episode = np.tile(np.repeat(np.arange(len(lengths)), lengths), num_methods)
        frame = np.arange(num_frames) - np.repeat(self.episode_ends - lengths, lengths)
        method = np.repeat(np.arange(num_methods), num_frames)
        columns: dict[str, Any] = {
            METHOD.name: text_column(method, self.methods),
            TASK.name: text_column(episode, self.episode_tasks),
            EPISODE.name: text_column(episode, self.episode_ids),
            FRAME.name: pa.array(np.tile(frame.astype(np.int32), num_methods)),
        }
        for point, name in enumerate(_point_names(self.num_steps)):
            columns[name] = pa.array(self.within[:, :, point].ravel())
        columns[_AT_END] = self._ends_column()
        _, num_seeds, num_members, _, _ = self.at_end.shape
        told = {
            "seeds": num_seeds,
            "members": num_members,
            "furthest": int(self.num_steps[-1]),
            "moved_by": self.moved_by,
        }
        table = pa.table(columns)
        return table.replace_schema_metadata({_METADATA_KEY: json.dumps(told).encode()})

    def _ends_column(self) -> pa.Array:
        num_methods, num_seeds, num_members, num_episodes, num_points = self.at_end.shape
        size = num_seeds * num_members * num_points
        numbers = np.moveaxis(self.at_end, 3, 1).reshape(num_methods * num_episodes, size)
        is_last = np.zeros((num_methods, self.num_frames), dtype=np.bool_)
        is_last[:, self.episode_ends - 1] = True
        # A list of nothing where a row has none: its end is where the one before ended.
        offsets = np.concatenate([[0], np.cumsum(size * is_last.ravel())]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers.ravel()))

    def write(self, path: str | Path) -> None:
        """As parquet, whole or not at all; `read_chances` reads it back."""
        write_parquet(Path(path), self.to_arrow())


def _point_names(num_steps: IndexArray) -> list[str]:
    return [*(f"{_WITHIN}{steps}" for steps in num_steps[:-1]), _EVER]


def read_chances(path: str | Path) -> ChanceTable:
    """A table that `ChanceTable.write` wrote; what is not one is an error that names the file."""
    path = Path(path)
    try:
        table = read_parquet(path)
        told = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
        return _from_arrow(table, told)
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, IndexError) as error:
        raise GoalwardError(f"{path}: is no table of chances ({error})") from error


def _from_arrow(table: pa.Table, told: dict[str, Any]) -> ChanceTable:
    missing = {*names(_FACTS), _EVER, _AT_END} - set(table.column_names)
    if missing or table.num_rows == 0:
        raise ValueError(f"no {', '.join(sorted(missing)) or 'rows'}")
    points = [name for name in table.column_names if name.startswith(_WITHIN)]
    num_steps = np.array([*(int(name.removeprefix(_WITHIN)) for name in points), told["furthest"]])
    methods = table["method"].unique().to_pylist()
    num_frames = table.num_rows // len(methods)
    first = table.slice(0, num_frames)
    starts = np.flatnonzero(first["frame"].to_numpy() == 0)
    columns = [table[name].to_numpy() for name in (*points, _EVER)]
    within = np.stack(columns, axis=-1).reshape(len(methods), num_frames, len(num_steps))
    shape = (len(methods), len(starts), told["seeds"], told["members"], len(num_steps))
    ends = table[_AT_END].combine_chunks().flatten().to_numpy().reshape(shape)
    return ChanceTable(
        methods=tuple(methods),
        episode_ids=tuple(first["episode"].take(pa.array(starts)).to_pylist()),
        episode_tasks=tuple(first["task"].take(pa.array(starts)).to_pylist()),
        episode_ends=np.append(starts[1:], num_frames),
        num_steps=num_steps,
        within=within,
        at_end=np.moveaxis(ends, 1, 3),
        moved_by=tuple(float(step) for step in told.get("moved_by", ())),
    )
