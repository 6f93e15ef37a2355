"""How long `goalward inspect` takes on 1,000 episodes and 300,000 frames, and what it decodes.

    python benchmarks/inspect_speed.py

Writes LeRobot data sets (two cameras, version 3.0 and 2.1) into a temporary folder. Each video
file is a copy of one that was encoded once: inspecting reads the tables of every file and the
pixels of none, so copies cost what originals cost.
"""

import json
import shutil
import tempfile
import time
from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import goalward
from goalward.rollouts import inspection
from goalward.rollouts.video import reading as video

NUM_EPISODES, NUM_FRAMES, FPS = 1000, 300, 10
CAMERAS = ("observation.images.front", "observation.images.wrist")
EPISODES_PER_FILE = 100


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for version in ("v3.0", "v2.1"):
            root = Path(folder) / version
            write(root, version)
            seconds = []
            facts = inspection.inspect(goalward.read(root))
            for _ in range(5):
                started = time.perf_counter()
                inspection.inspect(goalward.read(root))
                seconds.append(time.perf_counter() - started)
            assert (facts.episodes, facts.frames) == (NUM_EPISODES, NUM_EPISODES * NUM_FRAMES)
            print(
                f"LeRobot {version}: {facts.episodes} episodes, {facts.frames} frames, "
                f"{len(facts.cameras)} cameras inspected in {min(seconds):.2f} s "
                f"(best of 5; median {sorted(seconds)[2]:.2f} s)"
            )


def write(root: Path, version: str) -> None:
    packed = version == "v3.0"
    per_file = EPISODES_PER_FILE if packed else 1
    features = {name: {"dtype": "video", "shape": [16, 16, 3]} for name in CAMERAS}
    features["observation.state"] = {"dtype": "float32", "shape": [8]}
    for name in ("next.success", "timestamp", "frame_index", "episode_index", "index"):
        features[name] = {"dtype": "int64", "shape": [1]}
    info = {
        "codebase_version": version,
        "fps": FPS,
        "total_episodes": NUM_EPISODES,
        "chunks_size": 1000,
        "features": features,
    }
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "info.json").write_text(json.dumps(info))
    original = root / "original.mp4"
    encode(original, per_file * NUM_FRAMES)
    rows = []
    for file_index in range(NUM_EPISODES // per_file):
        name = f"file-{file_index:03d}" if packed else f"episode_{file_index:06d}"
        path = root / "data" / "chunk-000" / f"{name}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = file_index * per_file
        pq.write_table(table(range(first, first + per_file)), path)
        for camera in CAMERAS:
            folder = f"videos/{camera}/chunk-000" if packed else f"videos/chunk-000/{camera}"
            (root / folder).mkdir(parents=True, exist_ok=True)
            shutil.copy(original, root / folder / f"{name}.mp4")
        rows += [entry(first + i, i, file_index, packed) for i in range(per_file)]
    if packed:
        path = root / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        (root / "meta" / "episodes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    original.unlink()


def entry(episode_index: int, position: int, file_index: int, packed: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "episode_index": episode_index,
        "tasks": ["stack the cubes"],
        "length": NUM_FRAMES,
    }
    if packed:
        row |= {"data/chunk_index": 0, "data/file_index": file_index}
        for camera in CAMERAS:
            row[f"videos/{camera}/chunk_index"] = 0
            row[f"videos/{camera}/file_index"] = file_index
            row[f"videos/{camera}/from_timestamp"] = position * NUM_FRAMES / FPS
    return row


def table(episode_indices: range) -> pa.Table:
    count = len(episode_indices) * NUM_FRAMES
    frame_index = np.tile(np.arange(NUM_FRAMES), len(episode_indices))
    episode_index = np.repeat(np.array(episode_indices), NUM_FRAMES)
    state = np.random.default_rng(0).normal(size=8 * count).astype(np.float32)
    return pa.table(
        {
            "observation.state": pa.FixedSizeListArray.from_arrays(pa.array(state), 8),
            "next.success": (frame_index == NUM_FRAMES - 1) & (episode_index % 2 == 0),
            "timestamp": (frame_index / FPS).astype(np.float32),
            "frame_index": frame_index,
            "episode_index": episode_index,
            "index": episode_index * NUM_FRAMES + frame_index,
        }
    )


def encode(path: Path, num_frames: int) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
        stream.width = stream.height = 16
        stream.pix_fmt = "yuv420p"
        for number in range(num_frames):
            picture = np.full((16, 16, 3), number % 256, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def refuse_to_decode(*_: object) -> None:
    raise AssertionError("inspecting decoded a frame")


if __name__ == "__main__":
    video.VideoFrames._decode = refuse_to_decode  # type: ignore[method-assign,assignment]
    main()
