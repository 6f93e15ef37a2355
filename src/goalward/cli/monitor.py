"""`goalward monitor`: the value of every frame while an episode is under way, as lines of JSON."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from goalward.cli.console import say
from goalward.cli.read_arguments import CommaList
from goalward.errors import GoalwardError, argument

if TYPE_CHECKING:
    from goalward.monitor.messages import Message
    from goalward.monitor.monitor import Monitor


def monitor_command(
    folder: Path,
    /,
    *,
    rollouts: str | None = None,
    episodes: CommaList = None,
    video: CommaList = None,
    state: Path | None = None,
    stdin: Annotated[bool, Parameter(negative=())] = False,
    camera: CommaList = None,
    zmq: str | None = None,
    task: str | None = None,
    within: int | None = None,
    threads: int = 2,
) -> None:
    """Say the value of every frame as it comes, with an alarm.

    One line of JSON per frame: value (-1 at the goal, 1 never), steps to go (null: never), the
    chance of success within some steps and ever, and whether this is worse than in successful
    episodes (alarm). `goalward export RUN --to onnx` writes the folder. Runs without torch.

    A line of standard input, or a message, is a frame:
    {"images": {"front": "BASE64"}, "state": [0.1, 0.2], "time": 12.5}, its pictures JPEG or PNG.

    Examples:

    ```bash
    # recorded episodes, as if they happened now
    goalward monitor run/exports/onnx --rollouts demo --episodes 3
    goalward monitor run/exports/onnx --video a.mp4,b.mp4 --state state.npy
    # one line of JSON per frame from your own program
    goalward monitor run/exports/onnx --stdin < frames.jsonl
    goalward monitor run/exports/onnx --zmq tcp://robot:5555
    ```

    Parameters
    ----------
    folder
        What `goalward export --to onnx` wrote.
    rollouts
        A folder or file of rollouts, whose episodes are watched one after the other.
    episodes
        Only these of them, separated by commas.
    video
        One video per camera, separated by commas, in the order of the run's cameras.
    state
        Proprioception beside videos: a row per frame, .npy or .csv.
    stdin
        Read frames from standard input. An empty line begins an episode.
    camera
        Cameras of this machine, by number, separated by commas (needs OpenCV).
    zmq
        The address of a ZeroMQ publisher (needs pyzmq).
    task
        Which task, where the run has several.
    within
        Tell the chance of success within so many steps. Default: the run's standard horizon.
    threads
        How many cores a frame may use.
    """
    given = {
        "rollouts": rollouts,
        "video": video,
        "stdin": stdin or None,
        "camera": camera,
        "zmq": zmq,
    }
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise GoalwardError(f"give one of {', '.join(argument(name) for name in given)}")
    if state is not None and video is None:
        raise GoalwardError(f"{argument('state')} goes with {argument('video')}")
    if episodes is not None and rollouts is None:
        raise GoalwardError(f"{argument('episodes')} goes with {argument('rollouts')}")
    from goalward.monitor import sources
    from goalward.monitor.monitor import Monitor

    watching = Monitor.load(folder, task=task, within=within, threads=threads)
    for note in watching.settings.notes:
        say(f"note: {note}")
    if rollouts is not None:
        messages = sources.from_rollouts(watching.settings, rollouts, watching.task, episodes)
    elif video is not None:
        paths = [Path(path) for path in video]
        messages = sources.from_videos(watching.settings, paths, state)
    elif camera is not None:
        messages = sources.from_cameras(watching.settings, camera)
    elif zmq is not None:
        messages = sources.from_zmq(zmq)
    else:
        messages = sources.from_lines(sys.stdin)
    _watch(watching, messages)


def _watch(monitor: "Monitor", messages: "Iterator[Message]") -> None:
    """A line per frame; a doubt is said in words as well, once per episode."""
    said: set[str] = set()
    for message in messages:
        if message.reset:
            monitor.reset()
            said.clear()
        if not message.is_frame:
            continue
        try:
            reading = monitor.step(
                message.frames, message.state, features=message.features, time=message.time
            )
        except GoalwardError as error:
            raise GoalwardError(
                f"{message.where}: {error}" if message.where else str(error)
            ) from error
        print(json.dumps(reading.as_dict()), flush=True)
        for doubt in reading.doubts:
            # Seconds and counts change from frame to frame; names of cameras do not.
            kind = re.sub(r"[-+]?\d+\.\d+ s|\d+ times", "", doubt)
            if kind not in said:
                said.add(kind)
                say(f"doubt: frame {reading.frame}: {doubt}")
