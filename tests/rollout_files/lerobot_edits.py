"""LeRobot data sets for tests, and changes to what was written of them."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rollout_files.lerobot import (
    V21_VIDEO,
    make_episode,
)

VERSIONS = ("v3.0", "v2.1")
CAMERA = "observation.images.front"


def four(**more):
    """Two successes and two time-outs of different lengths."""
    return [make_episode(5 + i, i % 2 == 0, seed=i, **more) for i in range(4)]


def edit_info(root: Path, **changes):
    path = root / "meta" / "info.json"
    content = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({k: v for k, v in content.items() if v is not None}))


def edit_table(path: Path, change):
    table = change(pq.read_table(path))
    pq.write_table(table, path)


def video_of(root: Path, version: str, episode_index: int = 0) -> Path:
    if version == "v3.0":
        return root / f"videos/{CAMERA}/chunk-000/file-000.mp4"
    return root / V21_VIDEO.format(video_key=CAMERA, episode_chunk=0, episode_index=episode_index)


def data_of(root: Path, version: str, episode_index: int = 0) -> Path:
    name = "file-000" if version == "v3.0" else f"episode_{episode_index:06d}"
    return root / f"data/chunk-000/{name}.parquet"


def edit_list(root: Path, change):
    edit_table(root / "meta/episodes/chunk-000/file-000.parquet", change)


def set_cell(name: str, row: int, value):
    def change(table: pa.Table) -> pa.Table:
        values = table.column(name).to_pylist()
        values[row] = value
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    return change
