"""Evo-RL's columns: value, advantage and indicator of every frame, in the data files themselves."""

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.errors import GoalwardError, RolloutError, argument
from goalward.exports.labelled import Labelled
from goalward.exports.lerobot_frames import FileFrames, LeRobotFrames
from goalward.exports.replacement import replace_together
from goalward.exports.written import Written, missing_note
from goalward.leftovers import sweep, writer_mark
from goalward.progress import OnProgress, unheard
from goalward.rollouts.readers.lerobot.info import read_json

_INTERVENTION = "complementary_info.is_intervention"
_MARK = "goalward_export.json"


@dataclass(frozen=True)
class Column:
    """A new feature of the data set; `empty` stands where a frame has no value."""

    name: str
    dtype: str
    empty: float

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.float32() if self.dtype == "float32" else pa.int64()

    @property
    def feature(self) -> dict[str, Any]:
        return {"dtype": self.dtype, "shape": [1], "names": None}


def columns_of(tag: str | None) -> tuple[Column, Column, Column]:
    """
    >>> [column.name for column in columns_of("r1")]
    ['complementary_info.value_r1', 'complementary_info.advantage_r1',
    'complementary_info.acp_indicator_r1']
    """
    ending = f"_{tag}" if tag else ""
    return (
        Column(f"complementary_info.value{ending}", "float32", np.nan),
        Column(f"complementary_info.advantage{ending}", "float32", np.nan),
        Column(f"complementary_info.acp_indicator{ending}", "int64", 0),
    )


@dataclass(frozen=True)
class _Annotator:
    """Writes data files with the new columns."""

    columns: tuple[Column, ...]
    labelled: Labelled

    def write(self, source: FileFrames, path: Path) -> None:
        """The same rows, row groups and other columns, and the new columns at the end.

        Frames without a value keep what an earlier export gave them, as Evo-RL does.
        """
        try:
            with pq.ParquetFile(source.path) as file:
                schema = self._schema(file.schema_arrow)
                row = self.labelled.row_of(source.position)
                start = 0
                with pq.ParquetWriter(path, schema, compression="snappy") as writer:
                    for group in range(file.num_row_groups):
                        table = file.read_row_group(group)
                        rows = row[start : start + len(table)]
                        start += len(table)
                        writer.write_table(self._annotated(table, rows).select(schema.names))
        except pa.ArrowException as error:
            raise RolloutError(f"{source.path}: cannot be copied ({error})") from error

    def _schema(self, schema: pa.Schema) -> pa.Schema:
        for column in self.columns:
            field = pa.field(column.name, column.arrow_type)
            position = schema.get_field_index(column.name)
            schema = schema.append(field) if position < 0 else schema.set(position, field)
        return schema

    def _annotated(self, table: pa.Table, row: npt.NDArray[np.int64]) -> pa.Table:
        found = self.labelled.advantages
        scale = self.labelled.return_scale
        has_value = row >= 0
        # Row -1, of a frame without a value, leads to some number that is not used.
        worth, advantage = found.worth[row] / scale, found.advantage[row] / scale
        numbers = (worth, advantage, self._indicator(table, row))
        for column, content in zip(self.columns, numbers, strict=True):
            filled = _present(table, column)
            filled[has_value] = content[has_value]
            array = pa.array(filled, type=column.arrow_type)
            position = table.schema.get_field_index(column.name)
            table = (
                table.append_column(column.name, array)
                if position < 0
                else table.set_column(position, column.name, array)
            )
        return table

    def _indicator(self, table: pa.Table, row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """1 for positive frames and, as in Evo-RL, for those in which a human took over."""
        indicator = self.labelled.is_positive[row]
        if _INTERVENTION in table.column_names:
            indicator = indicator | (_flat(table, _INTERVENTION) > 0.5)
        return indicator.astype(np.int64)


def _present(table: pa.Table, column: Column) -> npt.NDArray[Any]:
    dtype = np.dtype(column.dtype)
    if column.name in table.column_names:
        old = _flat(table, column.name)
        return np.where(np.isnan(old), column.empty, old).astype(dtype)
    return np.full(len(table), column.empty, dtype=dtype)


def _flat(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """A number per row, whether scalars or lists of one; an empty cell is NaN."""
    column = table[name].combine_chunks()
    if pa.types.is_nested(column.type):
        column = column.flatten()
    flat = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    if len(flat) != len(table):
        raise RolloutError(f"column {name} has not one number per frame")
    return flat


def _annotated_info(frames: LeRobotFrames, columns: tuple[Column, ...], path: Path) -> None:
    info = read_json(frames.info.path)
    info["features"] |= {column.name: column.feature for column in columns}
    path.write_text(json.dumps(info, indent=4, ensure_ascii=False) + "\n", encoding="utf-8")


def export_evo_rl(
    frames: LeRobotFrames,
    labelled: Labelled,
    *,
    out: Path | None,
    tag: str | None,
    on_progress: OnProgress = unheard,
) -> Written:
    """Into a copy of the data set without its videos, or into its own files if `out` is None."""
    if not frames.info.packs_episodes:
        raise GoalwardError(
            f"{frames.root}: is a LeRobot data set of version {frames.info.version}; Evo-RL reads "
            "3.0 (convert it with lerobot's convert_dataset_v21_to_v30)"
        )
    columns = columns_of(tag)
    annotator = _Annotator(columns, labelled)
    if out is None:
        writers: dict[Path, Callable[[Path], None]] = {
            file.path: lambda new, file=file: annotator.write(file, new) for file in frames.files
        }
        writers[frames.info.path] = lambda new: _annotated_info(frames, columns, new)
        replace_together(frames.root, writers, on_progress)
    else:
        _write_copy(out, frames, columns, annotator, on_progress)
    path = frames.root if out is None else out
    return Written(
        path,
        f"Evo-RL: lerobot-train --dataset.root={path} --acp.enable=true "
        f"--acp.indicator_field={columns[2].name}",
        (labelled.words, *missing_note(*frames.without_values, "value NaN, indicator 0")),
    )


def _write_copy(
    out: Path,
    frames: LeRobotFrames,
    columns: tuple[Column, ...],
    annotator: _Annotator,
    on_progress: OnProgress,
) -> None:
    """A folder that takes its name when it is whole; only an earlier export gives way to it."""
    if out.exists() and not (out / _MARK).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise GoalwardError(
            f"{out}: is there already and is no export; give another {argument('out')}"
        )
    if out.resolve() == frames.root.resolve():
        raise GoalwardError(
            f"{out}: is the data set itself; {argument('in_place', True)} changes it"
        )
    new = out
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for name in (out.name, f"{out.name}.old"):
            sweep(out.parent, name=name)
        new = Path(tempfile.mkdtemp(prefix=f".{out.name}.{writer_mark()}-", dir=out.parent))
        new.chmod(0o755)
        ignored = shutil.ignore_patterns("*.goalward*", "goalward_exports.json")
        shutil.copytree(frames.root / "meta", new / "meta", ignore=ignored)
        (new / "meta" / "info.json").unlink()
        _annotated_info(frames, columns, new / "meta" / "info.json")
        for so_far, file in enumerate(frames.files):
            on_progress(so_far, len(frames.files))
            path = new / file.path.relative_to(frames.root)
            path.parent.mkdir(parents=True, exist_ok=True)
            annotator.write(file, path)
        for folder in ("videos", "images"):
            if (frames.root / folder).is_dir():
                (new / folder).symlink_to((frames.root / folder).resolve())
        (new / _MARK).write_text(json.dumps(annotator.labelled.made_with) + "\n", encoding="utf-8")
        if out.exists():
            _swap(new, out)
        else:
            new.rename(out)
    except OSError as error:
        raise GoalwardError(f"{out}: cannot be written ({error.strerror or error})") from error
    finally:
        if new != out:
            shutil.rmtree(new, ignore_errors=True)


def _swap(new: Path, out: Path) -> None:
    """The old export leaves, the new one comes; a folder cannot be replaced in one go."""
    old = (
        Path(tempfile.mkdtemp(prefix=f".{out.name}.old.{writer_mark()}-", dir=out.parent))
        / out.name
    )
    out.rename(old)
    try:
        new.rename(out)
    except BaseException:
        old.rename(out)
        raise
    finally:
        shutil.rmtree(old.parent, ignore_errors=True)
