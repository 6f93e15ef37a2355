"""Writes LeRobot data sets, version 3.0 and 2.1, small enough for tests."""

import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

# The AV1 encoder prints its configuration otherwise.
os.environ.setdefault("SVT_LOG", "0")

V30_DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
V30_VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
V21_DATA = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
V21_VIDEO = "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4"


@dataclass
class WrittenEpisode:
    """What goes into one episode: pictures by camera, state and further columns per frame."""

    pictures: dict[str, npt.NDArray[np.uint8]]
    state: npt.NDArray[np.float32]
    columns: dict[str, Sequence[Any]] = field(default_factory=dict)
    task: str = "stack the cubes"
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def num_frames(self) -> int:
        return len(self.state)


def make_episode(
    num_frames: int,
    success: bool | None = True,
    *,
    cameras: Sequence[str] = ("front",),
    seed: int = 0,
    size: int = 32,
    state_size: int = 3,
    **more: Any,
) -> WrittenEpisode:
    """Pictures that differ from frame to frame and from camera to camera."""
    rng = np.random.default_rng(seed)
    episode = WrittenEpisode(
        pictures={
            camera: distinct_pictures(num_frames, size, seed=seed * 31 + number)
            for number, camera in enumerate(cameras)
        },
        state=rng.normal(size=(num_frames, state_size)).astype(np.float32),
        **more,
    )
    if success is not None:
        reached = [success and frame == num_frames - 1 for frame in range(num_frames)]
        episode.columns.setdefault("next.success", reached)
    return episode


def distinct_pictures(num_frames: int, size: int, seed: int) -> npt.NDArray[np.uint8]:
    """Blocks of random colour that survive video coding: no two frames look alike."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 255, size=(num_frames, 4, 4, 3), dtype=np.uint8)
    return np.kron(blocks, np.ones((1, size // 4, size // 4, 1), dtype=np.uint8))


def write_lerobot(
    root: Path,
    episodes: Sequence[WrittenEpisode],
    *,
    version: str = "v3.0",
    fps: int = 10,
    codec: str = "h264",
    pictures_as: str = "video",
    episodes_per_file: int = 1000,
    info: dict[str, Any] | None = None,
    video_options: dict[str, str] | None = None,
    key_frame_every: int = 2,
) -> Path:
    """Write a data set and return its folder. `info` overrides entries of info.json.

    Episodes whose state has no columns get neither state nor action.
    """
    packed = version.startswith("v3")
    cameras = [f"observation.images.{name}" for name in episodes[0].pictures]
    _write_info(root, episodes, cameras, version, fps, codec, pictures_as, info or {})
    tasks = list(dict.fromkeys(episode.task for episode in episodes))
    groups = [
        list(range(start, min(start + (episodes_per_file if packed else 1), len(episodes))))
        for start in range(0, len(episodes), episodes_per_file if packed else 1)
    ]
    rows: list[dict[str, Any]] = []
    first_row = 0
    for file_index, group in enumerate(groups):
        numbers = {
            "chunk_index": 0,
            "file_index": file_index,
            "episode_chunk": 0,
            "episode_index": group[0],
        }
        tables = []
        for index in group:
            task_index = tasks.index(episodes[index].task)
            tables.append(_table(episodes[index], index, task_index, first_row, fps, pictures_as))
            row = {
                "episode_index": index,
                "tasks": [episodes[index].task],
                "length": episodes[index].num_frames,
                **episodes[index].fields,
            }
            if packed:
                row |= {
                    "data/chunk_index": 0,
                    "data/file_index": file_index,
                    "dataset_from_index": first_row,
                    "dataset_to_index": first_row + episodes[index].num_frames,
                }
            rows.append(row)
            first_row += episodes[index].num_frames
        template = V30_DATA if packed else V21_DATA
        _write_tables(root / template.format(**numbers), tables)
        if pictures_as == "video":
            for key in cameras:
                template = V30_VIDEO if packed else V21_VIDEO
                path = root / template.format(video_key=key, **numbers)
                name = key.removeprefix("observation.images.")
                pictures = [p for i in group for p in episodes[i].pictures[name]]
                write_video(
                    path,
                    pictures,
                    fps,
                    codec,
                    key_frame_every=key_frame_every,
                    options=video_options,
                )
                _add_windows(rows[-len(group) :], key, file_index, fps, packed)
    _write_lists(root, tasks, rows, packed)
    return root


def _add_windows(
    rows: list[dict[str, Any]], key: str, file_index: int, fps: int, packed: bool
) -> None:
    if not packed:
        return
    start = 0
    for row in rows:
        row[f"videos/{key}/chunk_index"] = 0
        row[f"videos/{key}/file_index"] = file_index
        row[f"videos/{key}/from_timestamp"] = start / fps
        start += row["length"]
        row[f"videos/{key}/to_timestamp"] = start / fps


def _write_info(
    root: Path,
    episodes: Sequence[WrittenEpisode],
    cameras: Sequence[str],
    version: str,
    fps: int,
    codec: str,
    pictures_as: str,
    overrides: dict[str, Any],
) -> None:
    packed = version.startswith("v3")
    size = list(next(iter(episodes[0].pictures.values())).shape[1:]) if cameras else []
    features: dict[str, Any] = {
        key: {
            "dtype": pictures_as,
            "shape": size,
            "names": ["height", "width", "channels"],
            "info": {"video.codec": codec, "video.fps": fps},
        }
        for key in cameras
    }
    if episodes[0].state.shape[1]:
        features["observation.state"] = {"dtype": "float32", "shape": [episodes[0].state.shape[1]]}
        features["action"] = {"dtype": "float32", "shape": [2]}
    for name in {name for episode in episodes for name in episode.columns}:
        features[name] = {"dtype": "bool", "shape": [1]}
    for name in ("timestamp", "frame_index", "episode_index", "index", "task_index"):
        features[name] = {"dtype": "int64", "shape": [1]}
    content = {
        "codebase_version": version,
        "fps": fps,
        "total_episodes": len(episodes),
        "total_frames": sum(episode.num_frames for episode in episodes),
        "chunks_size": 1000,
        "data_path": V30_DATA if packed else V21_DATA,
        "video_path": V30_VIDEO if packed else V21_VIDEO,
        "features": features,
    } | overrides
    (root / "meta").mkdir(parents=True, exist_ok=True)
    (root / "meta" / "info.json").write_text(json.dumps(content))


def _write_lists(
    root: Path, tasks: Sequence[str], rows: list[dict[str, Any]], packed: bool
) -> None:
    if packed:
        path = root / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), path, write_page_checksum=True)
        pq.write_table(
            pa.table({"task_index": list(range(len(tasks))), "task": tasks}),
            root / "meta" / "tasks.parquet",
        )
    else:
        lines = [json.dumps(row) for row in rows]
        (root / "meta" / "episodes.jsonl").write_text("\n".join(lines) + "\n")
        (root / "meta" / "tasks.jsonl").write_text(
            "".join(json.dumps({"task_index": i, "task": t}) + "\n" for i, t in enumerate(tasks))
        )


def _table(
    episode: WrittenEpisode, index: int, task_index: int, first_row: int, fps: int, pictures_as: str
) -> pa.Table:
    n = episode.num_frames
    columns: dict[str, Any] = {
        **{name: pa.array(list(values)) for name, values in episode.columns.items()},
        "timestamp": pa.array(np.arange(n, dtype=np.float32) / fps),
        "frame_index": pa.array(np.arange(n)),
        "episode_index": pa.array(np.full(n, index)),
        "index": pa.array(np.arange(first_row, first_row + n)),
        "task_index": pa.array(np.full(n, task_index)),
    }
    if episode.state.shape[1]:
        flat = pa.array(episode.state.reshape(-1))
        columns["observation.state"] = pa.FixedSizeListArray.from_arrays(
            flat, episode.state.shape[1]
        )
        columns["action"] = pa.FixedSizeListArray.from_arrays(
            pa.array(np.zeros(2 * n, np.float32)), 2
        )
    if pictures_as == "image":
        for name, pictures in episode.pictures.items():
            cells = [{"bytes": as_png(p), "path": f"{i}.png"} for i, p in enumerate(pictures)]
            columns[f"observation.images.{name}"] = pa.array(cells)
    return pa.table(columns)


def _write_tables(path: Path, tables: Sequence[pa.Table]) -> None:
    """One row group per episode, as the library writes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pq.ParquetWriter(path, tables[0].schema, write_page_checksum=True) as writer:
        for table in tables:
            writer.write_table(table)


def as_png(picture: npt.NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "png")
    return buffer.getvalue()


def write_video(
    path: Path,
    pictures: Sequence[npt.NDArray[np.uint8]],
    fps: int = 10,
    codec: str = "h264",
    *,
    key_frame_every: int = 2,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
) -> Path:
    """An mp4 (or what the suffix says), encoded as LeRobot does: key frames close together."""
    path.parent.mkdir(parents=True, exist_ok=True)
    encoder = {"h264": "libx264", "av1": "libsvtav1"}.get(codec, codec)
    if options is None:
        options = {"crf": "20", "preset": "8"} if codec == "av1" else {"crf": "18"}
        if codec == "av1":
            options["svtav1-params"] = "lp=1"
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream = container.add_stream(encoder, rate=fps, options=options)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.gop_size = key_frame_every
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def decoded(path: Path) -> list[npt.NDArray[np.uint8]]:
    """Every frame by PyAV alone, the reference for bit-exact comparison."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
