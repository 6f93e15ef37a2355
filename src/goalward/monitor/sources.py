"""Where the frames of a monitor come from: recordings, standard input, cameras, ZeroMQ."""

# pyright: basic
# (OpenCV and pyzmq are optional)

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from goalward.errors import GoalwardError, argument
from goalward.monitor.folder import MonitorSettings
from goalward.monitor.messages import Message, read_message
from goalward.rollouts.findings import counted


def from_videos(
    settings: MonitorSettings, paths: Sequence[Path], state: Path | None
) -> Iterator[Message]:
    """The frames of one episode, a video per camera in the order of the settings."""
    from goalward.rollouts.video.index import read_index
    from goalward.rollouts.video.reading import VideoFrames

    names = ", ".join(camera.name for camera in settings.cameras)
    if len(paths) != len(settings.cameras):
        raise GoalwardError(
            f"{counted(paths, 'video')}, but this monitor sees "
            f"{counted(settings.cameras, 'camera')}"
            + (f", in this order: {names}" if names else "")
        )
    sources = []
    for path in paths:
        index = read_index(path)
        sources.append(VideoFrames(path, index.timestamps, _rate(index.timestamps)))
    lengths = {source.num_frames for source in sources}
    if len(lengths) > 1:
        told = ", ".join(f"{source.path} {source.num_frames}" for source in sources)
        raise GoalwardError(f"videos of one episode have as many frames each, these: {told}")
    rows = _states(settings, state, lengths.pop())
    for number, pictures in enumerate(zip(*sources, strict=True)):
        yield Message(
            frames=list(pictures),
            state=None if rows is None else rows[number],
            time=float(sources[0].timestamps[number]),
            where=f"frame {number}",
        )


def from_rollouts(
    settings: MonitorSettings, path: str, task: str, chosen: Sequence[str] | None
) -> Iterator[Message]:
    """Recorded episodes, all or those of these ids, one after the other as if they happened now.

    Their frames are read as those learned from were; how they ended, nobody asks.
    """
    from goalward.rollouts.readers import read

    rollouts = read(path, **{**settings.reading, "labels": "time_out"})
    episodes = list(rollouts) if chosen is None else [rollouts.episode(name) for name in chosen]
    for episode in episodes:
        if len(settings.tasks) > 1 and episode.task != task:
            raise GoalwardError(
                f"{path}: the task of episode {episode.id} is {episode.task!r}, and {task!r} is "
                f"watched: give {argument('episodes')} of that task, or another {argument('task')}"
            )
        sources = {name: iter(episode.frames(name)) for name in episode.cameras}
        for number in range(episode.num_frames):
            yield Message(
                frames={name: next(frames) for name, frames in sources.items()},
                state=episode.proprioception[number],
                time=None if episode.fps is None else number / episode.fps,
                reset=number == 0,
                where=f"{path}: episode {episode.id}, frame {number}",
            )


def _rate(timestamps: np.ndarray) -> float:
    """Frames per second by the shortest time between two; any does where there is one frame."""
    return 1 / float(np.diff(timestamps).min()) if len(timestamps) > 1 else 1.0


def _states(settings: MonitorSettings, path: Path | None, num_frames: int) -> Any:
    """Proprioception beside videos: a row per frame in a .npy or .csv file."""
    if path is None:
        if settings.num_state:
            raise GoalwardError(
                f"the values were learned from {settings.num_state} numbers of proprioception "
                f"beside the pictures; give them with {argument('state', 'FILE.npy')}, a row per "
                "frame"
            )
        return None
    try:
        if path.suffix == ".csv":
            rows = np.loadtxt(path, delimiter=",", ndmin=2, dtype=np.float32)
        else:
            rows = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise GoalwardError(f"{path}: cannot be read as rows of numbers ({error})") from error
    if rows.ndim != 2 or len(rows) != num_frames:
        raise GoalwardError(
            f"{path}: has shape {rows.shape}, the videos have {num_frames} frames: a row for each"
        )
    return rows


def from_lines(lines: TextIO) -> Iterator[Message]:
    """A message per line; an empty line begins an episode."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield read_message(line, f"line {number}")
        else:
            yield Message(reset=True)


def from_cameras(settings: MonitorSettings, numbers: Sequence[str]) -> Iterator[Message]:
    """Cameras of this machine by OpenCV, at the rate that was learned from."""
    try:
        import cv2
    except ImportError as error:
        raise GoalwardError(
            f"{argument('camera')} needs OpenCV: pip install opencv-python-headless"
        ) from error
    if len(numbers) != len(settings.cameras):
        raise GoalwardError(
            f"{counted(numbers, 'camera')}, but this monitor sees {len(settings.cameras)}: "
            + ", ".join(camera.name for camera in settings.cameras)
        )
    if settings.num_state:
        raise GoalwardError(
            f"the values were learned from {settings.num_state} numbers of proprioception too, "
            f"which cameras do not show; hand both over with {argument('stdin', True)} or "
            f"{argument('zmq')}"
        )
    with ExitStack() as stack:
        opened = []
        for name, camera in zip(numbers, settings.cameras, strict=True):
            capture = cv2.VideoCapture(int(name) if name.isdecimal() else name)
            stack.callback(capture.release)
            if not capture.isOpened():
                raise GoalwardError(f"camera {name}: cannot be opened")
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, camera.width)
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, camera.height)
            opened.append((name, capture))
        pause = 0.0 if settings.fps is None else 1 / settings.fps
        due = time.monotonic()
        while True:
            pictures = []
            for name, capture in opened:
                is_there, picture = capture.read()
                if not is_there:
                    # A file given for a camera has an end; a camera was unplugged.
                    if name.isdecimal():
                        raise GoalwardError(f"camera {name}: gives no more pictures")
                    return
                pictures.append(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))
            now = time.monotonic()
            yield Message(frames=pictures, time=now)
            due = max(due + pause, now)
            time.sleep(max(due - time.monotonic(), 0.0))


def from_zmq(address: str) -> Iterator[Message]:
    """Messages of a publisher, as LeRobot's image server is one."""
    try:
        import zmq  # pyright: ignore[reportMissingImports] (an extra)
    except ImportError as error:
        raise GoalwardError(
            f"{argument('zmq')} needs pyzmq: pip install 'goalward[zmq]'"
        ) from error
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        try:
            socket.connect(address)
        except zmq.ZMQError as error:
            raise GoalwardError(f"{address}: cannot be connected to ({error})") from error
        number = 0
        while True:
            number += 1
            yield read_message(socket.recv(), f"{address}: message {number}")
