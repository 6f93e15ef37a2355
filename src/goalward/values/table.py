"""Values of every frame: per method, seed and episode, in memory and on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from goalward.columns import Column, names
from goalward.errors import GoalwardError
from goalward.parquet_files import read_parquet, write_parquet
from goalward.rollouts.findings import counted

if TYPE_CHECKING:
    from pandas import DataFrame

FloatArray = npt.NDArray[np.float32]
METHOD = Column("method", "text", "who says it: a method, or a program whose scores were given")
TASK = Column("task", "text", "what the episode attempts", empty="all are one task without a name")
EPISODE = Column("episode", "text", "its id, as in episodes.csv")
FRAME = Column("frame", "whole number", "its number in the episode, from 0")
_SEED = Column("seed", "whole number", "which training of the method")
_FACTS = (METHOD, _SEED, TASK, EPISODE, FRAME)
_NUMBERS = (
    Column("raw_value", "number", "what the networks put out, on the method's own scale"),
    Column("steps_to_goal", "number", "steps to success that this means; inf: never", "steps"),
)
# On the scale that all methods share; in a table of which somebody knew the outcomes.
_COMMON = (
    Column("value", "number", "k steps to go are 1 - 2 discount^k: -1 at the goal, 1 for never"),
    Column("hindsight_value", "number", "the same, knowing how the episode went on"),
)
_INTERPOLATED = Column(
    "interpolated",
    "true or false",
    "nobody looked at the frame, its numbers lie between those of its neighbours (`every`)",
)
# What a run's table has; the last one only where frames were left out.
VALUE_COLUMNS = (*_FACTS, *_NUMBERS, *_COMMON, _INTERPOLATED)
_COLUMNS = names((*_FACTS, *_NUMBERS))


@dataclass(frozen=True, eq=False)
class ValueTable:
    """What each method and seed says of every frame: its own number, and the steps to the goal.

    `raw_value` and `steps_to_goal` are (methods, seeds, frames); frames are those of all episodes
    one after the other, the last of each before `episode_ends`. Raw values of different methods are
    on different scales; steps are steps everywhere, and inf means never.

    `value` and `hindsight_value`, of the same shape, are on the scale that all methods share: what
    could be said at the frame, and what can be said knowing how its episode went on. Tables of
    `Fitted.predict` have neither; `values/hindsight.py` adds them, once. `interpolated` (frames,)
    is true for frames that nobody looked at (`goalward embed --every`), whose numbers lie between
    those of their neighbours; None where all were looked at.
    """

    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    episode_ids: tuple[str, ...]
    episode_tasks: tuple[str, ...]
    episode_ends: npt.NDArray[np.int64]
    raw_value: FloatArray
    steps_to_goal: FloatArray
    value: npt.NDArray[np.float64] | None = None
    hindsight_value: npt.NDArray[np.float64] | None = None
    interpolated: npt.NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        return (
            f"ValueTable({', '.join(self.methods)}; {counted(self.seeds, 'seed')}, "
            f"{counted(self.episode_ids)}, {self.num_frames} frames)"
        )

    @property
    def num_frames(self) -> int:
        return self.raw_value.shape[2]

    def raw_values(self, method: str) -> FloatArray:
        """Values of one method on its own scale, (seeds, frames)."""
        return self.raw_value[self._method(method)]

    def steps(self, method: str) -> FloatArray:
        """Steps to the goal, (seeds, frames), of one method."""
        return self.steps_to_goal[self._method(method)]

    def common_values(self, method: str) -> npt.NDArray[np.float64]:
        """Values of one method on the scale that all share, (seeds, frames)."""
        return self._on_common_scale(self.value)[self._method(method)]

    def hindsight_values(self, method: str) -> npt.NDArray[np.float64]:
        """The same knowing how each episode went on, (seeds, frames)."""
        return self._on_common_scale(self.hindsight_value)[self._method(method)]

    def _on_common_scale(self, numbers: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64]:
        if numbers is None:
            raise GoalwardError(
                "this table has raw values and steps alone, no value and no hindsight value: "
                "`goalward.values.hindsight.with_hindsight` adds them"
            )
        return numbers

    def mean(self, method: str) -> FloatArray:
        """The mean raw value over seeds, (frames,)."""
        return self.raw_values(method).mean(axis=0)

    def spread(self, method: str) -> FloatArray:
        """The standard deviation of raw values over seeds, (frames,); 0 where there is one seed."""
        if len(self.seeds) < 2:
            return np.zeros(self.num_frames, dtype=np.float32)
        return self.raw_values(method).std(axis=0, ddof=1)

    def frames_of(self, episode_id: str) -> slice:
        """Where an episode's frames lie on the last axis."""
        if episode_id not in self.episode_ids:
            raise GoalwardError(f"no episode {episode_id} among {len(self.episode_ids)}")
        position = self.episode_ids.index(episode_id)
        end = int(self.episode_ends[position])
        return slice(int(self.episode_ends[position - 1]) if position else 0, end)

    def _method(self, method: str) -> int:
        if method not in self.methods:
            raise GoalwardError(f"no method {method!r}; there are: {', '.join(self.methods)}")
        return self.methods.index(method)

    # ---- on disk -----------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """One row per method, seed and frame."""
        lengths = np.diff(self.episode_ends, prepend=0)
        starts = self.episode_ends - lengths
        num_methods, num_seeds, num_frames = self.raw_value.shape
        episode = np.tile(np.repeat(np.arange(len(lengths)), lengths), num_methods * num_seeds)
        frame = np.arange(num_frames) - np.repeat(starts, lengths)
        columns = (
            text_column(np.repeat(np.arange(num_methods), num_seeds * num_frames), self.methods),
            pa.array(np.tile(np.repeat(np.array(self.seeds), num_frames), num_methods)),
            text_column(episode, self.episode_tasks),
            text_column(episode, self.episode_ids),
            pa.array(np.tile(frame.astype(np.int32), num_methods * num_seeds)),
            pa.array(self.raw_value.ravel()),
            pa.array(self.steps_to_goal.ravel()),
        )
        found: dict[str, Any] = dict(zip(_COLUMNS, columns, strict=True))
        for name, numbers in zip(names(_COMMON), (self.value, self.hindsight_value), strict=True):
            if numbers is not None:
                found[name] = pa.array(numbers.ravel())
        if self.interpolated is not None:
            marks = np.tile(self.interpolated, num_methods * num_seeds)
            found[_INTERPOLATED.name] = pa.array(marks)
        return pa.table(found)

    def to_pandas(self) -> "DataFrame":
        """The same as a pandas table, if pandas is installed."""
        if find_spec("pandas") is None:
            raise GoalwardError("to_pandas needs the package pandas: pip install pandas")
        return self.to_arrow().to_pandas()

    def write(self, path: str | Path) -> None:
        """As parquet; `read_values` reads it back."""
        write_parquet(Path(path), self.to_arrow())


def read_values(path: str | Path) -> ValueTable:
    """A table that `ValueTable.write` wrote."""
    path = Path(path)
    try:
        table = read_parquet(path)
    except (OSError, pa.ArrowException) as error:
        raise GoalwardError(f"{path}: cannot be read as parquet ({error})") from error
    missing = set(_COLUMNS) - set(table.column_names)
    if missing or table.num_rows == 0:
        raise GoalwardError(f"{path}: is no table of values (no {', '.join(sorted(missing))})")
    methods, seeds = _distinct(table, "method"), _distinct(table, "seed")
    shape = (len(methods), len(seeds), table.num_rows // (len(methods) * len(seeds)))
    first = table.slice(0, shape[2])
    starts = np.flatnonzero(first["frame"].to_numpy() == 0)
    is_thinned = _INTERPOLATED.name in table.column_names
    return ValueTable(
        methods=tuple(methods),
        seeds=tuple(seeds),
        episode_ids=tuple(first["episode"].take(pa.array(starts)).to_pylist()),
        episode_tasks=tuple(first["task"].take(pa.array(starts)).to_pylist()),
        episode_ends=np.append(starts[1:], shape[2]),
        raw_value=table["raw_value"].to_numpy().reshape(shape),
        steps_to_goal=table["steps_to_goal"].to_numpy().reshape(shape),
        **{
            name: table[name].to_numpy().reshape(shape)
            for name in names(_COMMON)
            if name in table.column_names
        },
        interpolated=first[_INTERPOLATED.name].to_numpy() if is_thinned else None,
    )


def text_column(index: npt.NDArray[np.int64], texts: Sequence[str]) -> pa.DictionaryArray:
    """The texts at these positions; each is stored once.

    Of a dictionary that holds a text twice pyarrow leaves the rest of the page as the memory was:
    the same table would give other files.
    """
    distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    number_of = np.array([distinct[text] for text in texts], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(number_of[index], list(distinct))


def _distinct(table: pa.Table, column: str) -> list:
    return table[column].unique().to_pylist()
