"""What Python gives of files that were damaged, printed; for forks, in the folder of a try."""

import os
from pathlib import Path

import numpy as np

# The folder of a try as a store: fsspec's files of this machine.
STORE = "local://"
_NUM_FRAMES = 6


def opened() -> None:
    """All that `open_run` gives."""
    import goalward

    run = goalward.open_run("run")
    print(run.settings, run.episodes, run.events, run.results)
    for table in (run.values, run.chances):
        for name, column in vars(table).items():
            print(name, column.tolist() if isinstance(column, np.ndarray) else column)


def monitored() -> None:
    """What a monitor says of some frames."""
    import goalward

    monitor = goalward.Monitor.load("monitor")
    features = goalward.read_features("features.npz").features
    assert features is not None
    for frame in features[:_NUM_FRAMES]:
        print(monitor.step(features=frame))


def fetched() -> None:
    """Rollouts of a store, of which all is here already."""
    import goalward

    os.environ["GOALWARD_STORES"] = str(Path("stores").absolute())
    for episode in goalward.read(f"{STORE}{Path('data').absolute()}"):
        print(episode.id, episode.outcome, episode.goal_frame, episode.task, episode.fps)
        print(episode.proprioception.tolist())
        for name, frames in episode.cameras.items():
            print(name, frames.fingerprint(), [int(frame.sum()) for frame in frames])
