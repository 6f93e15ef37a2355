"""Writes rollout videos and what lies next to them, small enough for tests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt

Pictures = npt.NDArray[np.uint8]


def pictures(num_frames: int, *, seed: int = 0, size: int = 32) -> Pictures:
    """Noise: no two frames look alike, whatever the encoder throws away."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (num_frames, size, size, 3), dtype=np.uint8)


def write_video(
    path: Path,
    frames: Pictures | int,
    *,
    fps: int = 10,
    codec: str = "libx264",
    times: Sequence[int] | None = None,
) -> Path:
    """One video; `frames` may be just their number, `times` are in units of a frame."""
    frames = pictures(frames) if isinstance(frames, int) else frames
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=fps)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = number if times is None else times[number]
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def decoded(path: Path) -> list[Pictures]:
    """All frames as PyAV hands them out, without any of our code."""
    with av.open(str(path)) as container:
        frames = container.decode(video=0)
        return [np.asarray(frame.to_ndarray(format="rgb24"), dtype=np.uint8) for frame in frames]


def remux(
    path: Path, clips: Sequence[Path], *, container_options: dict[str, str] | None = None
) -> Path:
    """The clips one after the other in one file, their coded frames copied as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", options=container_options or {}) as target:
        stream: Any = None
        offset = 0
        for clip in clips:
            with av.open(str(clip)) as source:
                copied: Any = source.streams.video[0]
                # Opaque: a decoder without an encoder of the same name will do.
                stream = stream or target.add_stream_from_template(copied, opaque=True)
                end = offset
                for packet in source.demux(copied):
                    if packet.pts is None or packet.dts is None:
                        continue
                    packet.pts, packet.dts = packet.pts + offset, packet.dts + offset
                    end = max(end, packet.pts + packet.duration)
                    packet.stream = stream
                    target.mux(packet)
                offset = end
    return path


def write_eval_info(path: Path, tasks: dict[str, tuple[list[Any], list[str]]]) -> None:
    """lerobot-eval's report: successes and video paths by task group, all with task id 0."""
    per_task = [
        {
            "task_group": group,
            "task_id": 0,
            "metrics": {
                "sum_rewards": [0.0] * len(successes),
                "successes": successes,
                "video_paths": video_paths,
                "predicted_video_paths": [],
            },
        }
        for group, (successes, video_paths) in tasks.items()
    ]
    overall = {"pc_success": float("nan"), "video_paths": []}
    path.write_text(json.dumps({"per_task": per_task, "per_group": {}, "overall": overall}))


def write_old_eval_info(path: Path, successes: list[Any], video_paths: list[str]) -> None:
    """The layout of lerobot before it evaluated several tasks."""
    per_episode = [
        {"episode_ix": number, "sum_reward": 0.0, "max_reward": 0.0, "success": success, "seed": 7}
        for number, success in enumerate(successes)
    ]
    report = {"per_episode": per_episode, "aggregated": {}, "video_paths": video_paths}
    path.write_text(json.dumps(report))
