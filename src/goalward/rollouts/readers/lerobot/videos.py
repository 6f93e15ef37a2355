"""The videos of a LeRobot data set: the frames of an episode inside a file of several."""

# pyright: standard
# (json gives untyped values; they are checked here at run time)

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.checksums import noted_checksums, sha256_of
from goalward.errors import RolloutError, argument
from goalward.rollouts.findings import Findings, counted, some_of
from goalward.rollouts.frames import FrameSource
from goalward.rollouts.readers.assembly import Match
from goalward.rollouts.readers.lerobot.episode_list import EpisodeEntry
from goalward.rollouts.readers.lerobot.info import Info
from goalward.rollouts.readers.lerobot.paths import VIDEO_TEMPLATES, locate
from goalward.rollouts.video.index import TURNED, VideoIndex, read_index, usual_codec_name
from goalward.rollouts.video.reading import VideoFrames
from goalward.stores.place import StoredPath

_CHECKSUMS_FILE = "simulation/checksums.txt"


@dataclass
class Videos:
    """The video files of the data set, each indexed once, and what was odd about them."""

    root: Path
    info: Info
    findings: Findings
    match: Match = "time"
    contested: frozenset[tuple[str, int]] = frozenset()
    indices: dict[Path, VideoIndex | RolloutError] = field(default_factory=dict)
    longer: dict[str, list[str]] = field(default_factory=dict)
    # Of a data set that `goalward simulate` made; a store has checksums of its own.
    checksums: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        is_here = not isinstance(self.root, StoredPath)
        self.checksums = noted_checksums(self.root / _CHECKSUMS_FILE) if is_here else {}

    def clip(
        self, entry: EpisodeEntry, camera: str, times_s: npt.NDArray[np.float64]
    ) -> FrameSource:
        """The frames of one episode, at its times or in order; RolloutError if one is missing."""
        numbers = entry.camera_numbers.get(camera, entry.numbers)
        path, as_declared = locate(
            self.root, self.info.video_path, VIDEO_TEMPLATES, numbers, video_key=camera
        )
        if not as_declared:
            self.findings.notice(
                f"{self.info.path}: video_path {self.info.video_path!r} does not match the "
                "folders; the files were found in the usual place"
            )
        index = self._index(path, camera)
        if self.info.packs_episodes and camera not in entry.window_s:
            raise RolloutError(f"{path}: the list of episodes does not say where it starts")
        if (camera, entry.episode_index) in self.contested:
            raise RolloutError(f"{path}: another episode claims the same part of the video")
        start_s, end_s = entry.window_s.get(camera, (0.0, None))
        tolerance_s = 0.25 / self.info.fps
        wanted, fps = start_s + times_s, self.info.fps
        if self.match == "index":
            wanted, fps = _in_order(path, index, start_s - tolerance_s, len(times_s), fps)
        missing = _first_missing(index, wanted, tolerance_s)
        if missing is not None:
            shown = _shown(index, start_s - tolerance_s, end_s)
            raise RolloutError(_no_frame(path, index, shown, wanted, missing))
        if end_s is not None:
            self._check_window(path, index, (start_s, end_s), wanted)
        if not self.info.packs_episodes and index.num_frames > len(wanted):
            self.longer.setdefault(camera, []).append(str(entry.episode_index))
        return VideoFrames(
            path,
            wanted,
            fps,
            height=index.height,
            width=index.width,
            codec=index.codec,
            file_size=index.file_size,
        )

    def _check_window(
        self,
        path: Path,
        index: VideoIndex,
        window_s: tuple[float, float],
        wanted: npt.NDArray[np.float64],
    ) -> None:
        """A part of the video with another number of frames holds those of another episode."""
        start_s, end_s = (edge - 0.25 / self.info.fps for edge in window_s)
        first, after = np.searchsorted(index.timestamps, (start_s, end_s))
        num_shown = int(after - first)
        if num_shown != len(wanted) or wanted[-1] > end_s:
            raise RolloutError(
                f"{path}: the episode's part of the video has {num_shown} frames in "
                f"{end_s - start_s:g} s, its table {len(wanted)} at {self.info.fps:g} a second"
            )

    def _index(self, path: Path, camera: str) -> VideoIndex:
        if path not in self.indices:
            try:
                self._check_unchanged(path)
                index = read_index(path)
                self._compare_with_declared(index, camera)
                self.indices[path] = index
            except RolloutError as error:
                self.indices[path] = error
        index = self.indices[path]
        if isinstance(index, RolloutError):
            raise index
        return index

    def _check_unchanged(self, path: Path) -> None:
        """A picture that a flipped bit changed is decoded like any other."""
        noted = self.checksums.get(path.relative_to(self.root).as_posix())
        if noted is not None and path.is_file() and sha256_of(path) != noted:
            raise RolloutError(
                f"{path}: was changed or damaged since it was made ({_CHECKSUMS_FILE} says another "
                "checksum)"
            )

    def _compare_with_declared(self, index: VideoIndex, camera: str) -> None:
        if index.is_turned:
            self.findings.notice(f"{camera}: {TURNED}")
        feature = self.info.features[camera]
        details = feature.get("info") or feature.get("video_info") or {}
        declared = details.get("video.codec") if isinstance(details, dict) else None
        if declared is not None and usual_codec_name(str(declared)) != index.codec:
            self.findings.notice(
                f"{camera}: info.json declares codec {declared}, the files hold {index.codec}"
            )
        shape, size = self.info.shape(camera), (index.height, index.width)
        if len(shape) == 3 and size not in (shape[:2], shape[1:]):
            self.findings.notice(
                f"{camera}: info.json declares shape {list(shape)}, "
                f"the files hold {size[0]} x {size[1]}"
            )

    def report(self) -> None:
        for camera, episodes in self.longer.items():
            self.findings.damage(
                f"{camera}: the video is longer than the table in {counted(episodes)} "
                f"({some_of(episodes)}); frames are matched by {self.match}, what is left over is "
                "not used"
            )


def overlapping(entries: Sequence[EpisodeEntry], info: Info) -> frozenset[tuple[str, int]]:
    """(camera, episode_index) of the episodes whose parts of a video file overlap."""
    windows: dict[tuple[str, object], list[tuple[float, float, int]]] = {}
    for entry in entries:
        for camera, (start_s, end_s) in entry.window_s.items():
            if end_s is not None:
                file = tuple(sorted(entry.camera_numbers[camera].items()))
                windows.setdefault((camera, file), []).append((start_s, end_s, entry.episode_index))
    found: set[tuple[str, int]] = set()
    for (camera, _), claims in windows.items():
        claims.sort()
        for earlier, later in itertools.pairwise(claims):
            if later[0] < earlier[1] - 0.25 / info.fps:
                found |= {(camera, earlier[2]), (camera, later[2])}
    return frozenset(found)


def _in_order(
    path: Path, index: VideoIndex, from_s: float, num_frames: int, fps: float
) -> tuple[npt.NDArray[np.float64], float]:
    """The times of the frames from here on, one by one, and a rate that tells them apart."""
    first = int(np.searchsorted(index.timestamps, from_s))
    times = index.timestamps[first : first + num_frames]
    if len(times) < num_frames:
        raise RolloutError(
            f"{path}: frame {len(times)} of {num_frames} is not in the video, which holds "
            f"{index.num_intact} intact frames"
        )
    spacing = np.diff(times)
    if (spacing <= 0).any():
        raise RolloutError(f"{path}: the times of the video's frames do not increase")
    return times, max(fps, 1 / float(spacing.min())) if len(spacing) else fps


def _shown(index: VideoIndex, from_s: float, end_s: float | None) -> npt.NDArray[np.float64]:
    """The times of the intact frames in a part of the video."""
    times = index.timestamps[: index.num_intact]
    return times[(times >= from_s) & (times < (np.inf if end_s is None else end_s))]


def _no_frame(
    path: Path,
    index: VideoIndex,
    shown: npt.NDArray[np.float64],
    wanted: npt.NDArray[np.float64],
    missing: int,
) -> str:
    """Why a frame of the table has no picture: the file is cut, or the two keep other times."""
    if len(shown) != len(wanted) or shown[-1] <= shown[0]:
        return (
            f"{path}: frame {missing} of {len(wanted)} is not in the video, which holds "
            f"{index.num_intact} intact frames"
        )
    return (
        f"{path}: the table has frame {missing} of {len(wanted)} at {wanted[missing]:.3f} s, where "
        f"the video shows none: both have {len(wanted)} frames, but the table's timestamps come at "
        f"{_rate(wanted):.1f} a second (a wall clock's?), the video's at {_rate(shown):.1f}; "
        f"{argument('match', 'index')} pairs them in order"
    )


def _rate(times_s: npt.NDArray[np.float64]) -> float:
    return (len(times_s) - 1) / float(times_s[-1] - times_s[0])


def _first_missing(
    index: VideoIndex, wanted: npt.NDArray[np.float64], tolerance_s: float
) -> int | None:
    """The first time at which the file shows no intact frame."""
    shown = index.timestamps[: index.num_intact]
    position = np.searchsorted(shown, wanted - tolerance_s)
    found = position < len(shown)
    found[found] = shown[position[found]] <= wanted[found] + tolerance_s
    return None if found.all() else int(np.flatnonzero(~found)[0])
