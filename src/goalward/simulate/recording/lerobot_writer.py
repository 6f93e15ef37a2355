"""The tables of a LeRobot data set, version 3.0, from the traces of a simulation."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.files import written_whole
from goalward.rollouts.video.writer import CODEC, CRF, KEY_FRAME_EVERY, PIXEL_FORMAT
from goalward.simulate.recording.data_set import (
    CHUNK_SIZE,
    DATA_TEMPLATE,
    VIDEO_TEMPLATE,
    SimulatedDataSet,
    video_place,
)
from goalward.simulate.recording.episode_jobs import WorldFacts
from goalward.simulate.recording.episode_video import PictureColours
from goalward.simulate.recording.lerobot_stats import (
    Stats,
    column_stats,
    episode_columns,
    picture_stats,
)
from goalward.simulate.recording.trace import Trace

# One number per frame; what the library itself calls these.
_SCALARS = {
    "next.success": "bool",
    "next.done": "bool",
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}


def video_key(camera: str) -> str:
    """
    >>> video_key("agentview")
    'observation.images.agentview'
    """
    return f"observation.images.{camera}"


@dataclass(frozen=True)
class LeRobotWriter:
    """Writes everything but the videos, which are there already. `size` is that of a picture."""

    data_set: SimulatedDataSet
    world: WorldFacts
    instruction: str
    fps: int
    size: int

    def write_tables(
        self, traces: Sequence[Trace], colours: Sequence[Mapping[str, PictureColours]]
    ) -> None:
        """Frames, episodes, tasks and statistics; `colours` are those of each episode by camera."""
        tables = self._frame_tables(traces)
        with (
            written_whole(self.data_set.frames_file) as temporary,
            pq.ParquetWriter(temporary, tables[0].schema, write_page_checksum=True) as writer,
        ):
            for table in tables:
                writer.write_table(table)
        rows = [
            row | episode_columns(self._stats([table], [seen]))
            for row, table, seen in zip(self._episode_rows(traces), tables, colours, strict=True)
        ]
        self._write_table(pa.Table.from_pylist(rows), "episodes_file")
        self._write_table(_task_table(self.instruction), "tasks_file")
        stats = self._stats(tables, colours)
        with written_whole(self.data_set.stats_file) as temporary:
            temporary.write_text(json.dumps(stats, indent=4) + "\n", encoding="utf-8")

    def _stats(
        self, tables: Sequence[pa.Table], colours: Sequence[Mapping[str, PictureColours]]
    ) -> dict[str, Stats]:
        """Of every feature, over the frames of these episodes."""
        by_camera = {
            camera: reduce(add, (seen[camera] for seen in colours)) for camera in self.world.cameras
        }
        return {
            **{name: column_stats(tables, name) for name in tables[0].column_names},
            **{video_key(camera): picture_stats(seen) for camera, seen in by_camera.items()},
        }

    def info(self, traces: Sequence[Trace]) -> str:
        """The text of meta/info.json."""
        content = {
            "codebase_version": "v3.0",
            "fps": self.fps,
            "features": self._features(),
            "total_episodes": len(traces),
            "total_frames": sum(trace.num_frames for trace in traces),
            "total_tasks": 1,
            "chunks_size": CHUNK_SIZE,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "data_path": DATA_TEMPLATE,
            "video_path": VIDEO_TEMPLATE,
            "robot_type": None,
            "splits": {"train": f"0:{len(traces)}"},
        }
        return json.dumps(content, indent=4) + "\n"

    def _write_table(self, table: pa.Table, file: str) -> None:
        with written_whole(getattr(self.data_set, file)) as temporary:
            pq.write_table(table, temporary, write_page_checksum=True)

    # ---------------------------------------------------------------- what is in the tables

    def _vectors(self) -> dict[str, Sequence[str]]:
        """Features of several numbers, and what the numbers are called."""
        vectors = {
            "observation.state": self.world.proprioception_names,
            "observation.environment_state": self.world.state_names,
            "action": [f"action_{number}" for number in range(self.world.action_size)],
        }
        return {name: names for name, names in vectors.items() if names}

    def _features(self) -> dict[str, Any]:
        features: dict[str, Any] = {
            video_key(camera): {
                "dtype": "video",
                "shape": [self.size, self.size, 3],
                "names": ["height", "width", "channels"],
                "info": {
                    "video.height": self.size,
                    "video.width": self.size,
                    "video.codec": CODEC,
                    "video.pix_fmt": PIXEL_FORMAT,
                    "video.fps": self.fps,
                    "video.channels": 3,
                    "video.g": KEY_FRAME_EVERY,
                    "video.crf": CRF,
                    "has_audio": False,
                    "is_depth_map": False,
                },
            }
            for camera in self.world.cameras
        }
        for name, numbers in self._vectors().items():
            features[name] = {"dtype": "float32", "shape": [len(numbers)], "names": list(numbers)}
        for name, dtype in _SCALARS.items():
            features[name] = {"dtype": dtype, "shape": [1], "names": None}
        return features

    def _frame_tables(self, traces: Sequence[Trace]) -> list[pa.Table]:
        """One row per frame, one table per episode."""
        tables: list[pa.Table] = []
        first = 0
        for episode_index, trace in enumerate(traces):
            tables.append(self._frame_table(trace, episode_index, first))
            first += trace.num_frames
        return tables

    def _frame_table(self, trace: Trace, episode_index: int, first: int) -> pa.Table:
        frame_index = np.arange(trace.num_frames)
        is_last = frame_index == trace.num_frames - 1
        vectors = {
            "observation.state": trace.proprioception,
            "observation.environment_state": trace.states,
            "action": trace.actions,
        }
        scalars = {
            "next.success": is_last & trace.success,
            "next.done": is_last,
            "timestamp": frame_index / self.fps,
            "frame_index": frame_index,
            "episode_index": np.full_like(frame_index, episode_index),
            "index": first + frame_index,
            "task_index": np.zeros_like(frame_index),
        }
        columns = {name: _vector_column(vectors[name]) for name in self._vectors()}
        columns |= {name: pa.array(scalars[name].astype(_SCALARS[name])) for name in _SCALARS}
        return pa.table(columns)

    def _episode_rows(self, traces: Sequence[Trace]) -> list[dict[str, Any]]:
        """One row per episode: where its frames and its pictures are."""
        rows: list[dict[str, Any]] = []
        first = 0
        for episode_index, trace in enumerate(traces):
            row: dict[str, Any] = {
                "episode_index": episode_index,
                "tasks": [self.instruction],
                "length": trace.num_frames,
                "data/chunk_index": 0,
                "data/file_index": 0,
                "dataset_from_index": first,
                "dataset_to_index": first + trace.num_frames,
            }
            first += trace.num_frames
            chunk_index, file_index = video_place(episode_index)
            for camera in self.world.cameras:
                video = f"videos/{video_key(camera)}"
                row[f"{video}/chunk_index"] = chunk_index
                row[f"{video}/file_index"] = file_index
                row[f"{video}/from_timestamp"] = 0.0
                row[f"{video}/to_timestamp"] = trace.num_frames / self.fps
            rows.append(row | {"meta/episodes/chunk_index": 0, "meta/episodes/file_index": 0})
        return rows


def _vector_column(values: npt.NDArray[np.float32]) -> pa.Array:
    """Vectors of one number are plain numbers, as in the library."""
    width = values.shape[1]
    flat = pa.array(np.ascontiguousarray(values, dtype=np.float32).reshape(-1))
    return flat if width == 1 else pa.FixedSizeListArray.from_arrays(flat, width)


def _task_table(instruction: str) -> pa.Table:
    """The library looks tasks up in a pandas frame whose index is the text."""
    table = pa.table({"task_index": pa.array([0], pa.int64()), "task": [instruction]})
    named = [("task_index", "int64", "int64"), ("task", "unicode", "object")]
    pandas = {
        "index_columns": ["task"],
        "column_indexes": [
            {
                "name": None,
                "field_name": None,
                "pandas_type": "unicode",
                "numpy_type": "object",
                "metadata": {"encoding": "UTF-8"},
            }
        ],
        "columns": [
            {
                "name": name,
                "field_name": name,
                "pandas_type": pandas_type,
                "numpy_type": numpy_type,
                "metadata": None,
            }
            for name, pandas_type, numpy_type in named
        ],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})
