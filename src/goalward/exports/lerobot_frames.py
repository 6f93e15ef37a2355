"""Every frame of a LeRobot data set: in which file, under which index, and where in a run."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from goalward.errors import GoalwardError, RolloutError, argument
from goalward.rollouts.findings import Findings
from goalward.rollouts.readers import lerobot
from goalward.rollouts.readers.lerobot.episode_list import read_episodes
from goalward.rollouts.readers.lerobot.info import Info, read_info
from goalward.rollouts.readers.lerobot.paths import DATA_TEMPLATES, locate
from goalward.rollouts.readers.lerobot.tables import read_columns
from goalward.runs.run import Run

IntArray = npt.NDArray[np.int64]

_KEYS = ("index", "episode_index", "frame_index")


@dataclass(frozen=True, eq=False)
class FileFrames:
    """The rows of one data file in its order; `position` is that in the run, -1 for not in it."""

    path: Path
    index: IntArray
    episode: IntArray
    frame: IntArray
    position: IntArray


@dataclass(frozen=True, eq=False)
class LeRobotFrames:
    """All frames of a data set, file by file."""

    info: Info
    files: tuple[FileFrames, ...]

    @property
    def root(self) -> Path:
        return self.info.root

    @cached_property
    def by_index(self) -> dict[str, IntArray]:
        """index, episode, frame and position of all frames, in the order of `index`."""
        names = ("index", "episode", "frame", "position")
        whole = {name: np.concatenate([getattr(f, name) for f in self.files]) for name in names}
        order = np.argsort(whole["index"], kind="stable")
        return {name: column[order] for name, column in whole.items()}

    @property
    def has_episode_stats(self) -> bool:
        """Whether every list of episodes (version 3.0) has their statistics.

        LeRobot makes those of a part of the data set from them, or none in silence.
        """
        lists = sorted((self.root / "meta" / "episodes").glob("*/*.parquet"))
        names = [pq.read_schema(path).names for path in lists]
        return all(any(name.startswith("stats/") for name in here) for here in names)

    @property
    def without_values(self) -> tuple[int, int]:
        """How many episodes and frames of the data set the run has no values of."""
        missing = self.by_index["position"] < 0
        return len(np.unique(self.by_index["episode"][missing])), int(missing.sum())


def read_lerobot_frames(run: Run, positions: list[int], root: Path) -> LeRobotFrames:
    """The frames of the data set at `root`, which is that of the run.

    Those of other episodes than these have no values. A data set that is not LeRobot's, or is not
    the one of the run, is an error.
    """
    if not lerobot.recognises(root):
        hint = f" (nothing is there: say with {argument('data')} where it lies now)"
        raise GoalwardError(
            f"{root}: is no LeRobot data set{'' if root.exists() else hint}. lerobot-progress, "
            "rlinf-advantages and evo-rl are for LeRobot data sets; csv, mp4 and rerun are for any"
        )
    info = read_info(root)
    paths: dict[Path, int] = {}
    for entry in read_episodes(root, info, Findings()):
        path, _ = locate(root, info.data_path, DATA_TEMPLATES, entry.numbers)
        paths.setdefault(path, entry.episode_index)
    starts = _starts(run, positions, root)
    files = tuple(
        _file_frames(path, starts, None if info.packs_episodes else episode)
        for path, episode in paths.items()
        # Episodes whose file is missing were left out by the run as well, or it is noticed below.
        if path.is_file()
    )
    if not files:
        raise GoalwardError(f"{root}: has no data files")
    frames = LeRobotFrames(info, files)
    _check(frames, run, positions)
    return frames


def _starts(run: Run, positions: list[int], root: Path) -> dict[int, tuple[int, int]]:
    """episode_index -> where its frames begin in the run, and how many there are."""
    starts: dict[int, tuple[int, int]] = {}
    ends = run.values.episode_ends
    for position in positions:
        episode = run.episodes[position]
        if not episode.id.isascii() or not episode.id.isdigit():
            raise _other_data(root, run, episode.id)
        starts[int(episode.id)] = (int(ends[position]) - episode.num_frames, episode.num_frames)
    return starts


def _file_frames(
    path: Path, starts: dict[int, tuple[int, int]], only_episode: int | None
) -> FileFrames:
    table = read_columns(path, lambda names: [name for name in _KEYS if name in names])
    wanted = _KEYS if only_episode is None else ("index", "frame_index")
    for name in wanted:
        if name not in table.column_names or table[name].null_count:
            raise RolloutError(f"{path}: no usable column {name}")
    columns = {
        name: table[name].to_numpy().astype(np.int64).reshape(-1) for name in table.column_names
    }
    frame = columns["frame_index"]
    episode = (
        columns["episode_index"] if only_episode is None else np.full_like(frame, only_episode)
    )
    # The last entry is of no episode.
    known = np.array([*sorted(starts), np.iinfo(np.int64).max])
    begin, length = np.array([*(starts[number] for number in sorted(starts)), (0, 0)]).T
    place = np.searchsorted(known, episode)
    has_value = (known[place] == episode) & (frame >= 0) & (frame < length[place])
    position = np.where(has_value, begin[place] + frame, -1)
    return FileFrames(path, columns["index"], episode, frame, position)


def _check(frames: LeRobotFrames, run: Run, positions: list[int]) -> None:
    """Every frame of the run once, no index twice."""
    whole = frames.by_index
    twice = np.flatnonzero(np.diff(whole["index"]) == 0)
    if len(twice):
        raise RolloutError(
            f"{frames.root}: two frames have the index {int(whole['index'][twice[0]])}, so other "
            "tools cannot tell them apart"
        )
    counts = dict(zip(*np.unique(whole["episode"], return_counts=True), strict=True))
    for position in positions:
        episode = run.episodes[position]
        count = int(counts.get(int(episode.id), 0))
        if not count:
            raise _other_data(frames.root, run, episode.id)
        if count != episode.num_frames:
            raise RolloutError(
                f"{frames.root}: episode {episode.id} has {count} frames, in {run.folder.path} it "
                f"had {episode.num_frames}"
            )


def _other_data(root: Path, run: Run, episode_id: str) -> RolloutError:
    return RolloutError(
        f"{root}: has no episode {episode_id}, which {run.folder.path} has values of; these are "
        "not the rollouts of that run"
    )
