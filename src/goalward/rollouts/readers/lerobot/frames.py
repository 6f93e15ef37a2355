"""The pictures of a LeRobot data set: episodes inside video files, or images inside tables."""

# pyright: standard
# (pyarrow ships no type stubs)

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from goalward.errors import RolloutError
from goalward.rollouts.findings import Findings, counted, some_of
from goalward.rollouts.frames import EncodedFrames, FrameSource
from goalward.rollouts.readers.lerobot.episode_list import EpisodeEntry
from goalward.rollouts.readers.lerobot.info import Info
from goalward.rollouts.readers.lerobot.paths import VIDEO_TEMPLATES, is_inside, locate
from goalward.rollouts.readers.lerobot.tables import EpisodeTable
from goalward.rollouts.video.index import TURNED, VideoIndex, read_index
from goalward.rollouts.video.reading import VideoFrames


@dataclass
class Videos:
    """The video files of the data set, each indexed once, and what was odd about them."""

    root: Path
    info: Info
    findings: Findings
    contested: frozenset[tuple[str, int]] = frozenset()
    indices: dict[Path, VideoIndex | RolloutError] = field(default_factory=dict)
    longer: dict[str, list[str]] = field(default_factory=dict)

    def clip(
        self, entry: EpisodeEntry, camera: str, times_s: npt.NDArray[np.float64]
    ) -> FrameSource:
        """The frames of one episode at its times; RolloutError if one is not in the file."""
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
        wanted = start_s + times_s
        missing = _first_missing(index, wanted, 0.25 / self.info.fps)
        if missing is not None:
            raise RolloutError(
                f"{path}: frame {missing} of {len(wanted)} is not in the video, which holds "
                f"{index.num_intact} intact frames"
            )
        if end_s is not None:
            self._check_window(path, index, (start_s, end_s), wanted)
        if not self.info.packs_episodes and index.num_frames > len(wanted):
            self.longer.setdefault(camera, []).append(str(entry.episode_index))
        return VideoFrames(
            path, wanted, self.info.fps, height=index.height, width=index.width, codec=index.codec
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
                index = read_index(path)
                self._compare_with_declared(index, camera)
                self.indices[path] = index
            except RolloutError as error:
                self.indices[path] = error
        index = self.indices[path]
        if isinstance(index, RolloutError):
            raise index
        return index

    def _compare_with_declared(self, index: VideoIndex, camera: str) -> None:
        if index.is_turned:
            self.findings.notice(f"{camera}: {TURNED}")
        feature = self.info.features[camera]
        details = feature.get("info") or feature.get("video_info") or {}
        declared = details.get("video.codec") if isinstance(details, dict) else None
        if declared is not None and declared != index.codec:
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
                f"({some_of(episodes)}); frames are matched by time, what is left over is not used"
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


def _first_missing(
    index: VideoIndex, wanted: npt.NDArray[np.float64], tolerance_s: float
) -> int | None:
    """The first time at which the file shows no intact frame."""
    shown = index.timestamps[: index.num_intact]
    position = np.searchsorted(shown, wanted - tolerance_s)
    found = position < len(shown)
    found[found] = shown[position[found]] <= wanted[found] + tolerance_s
    return None if found.all() else int(np.flatnonzero(~found)[0])


def image_frames(path: Path, camera: str, table: EpisodeTable, info: Info) -> EncodedFrames:
    """Pictures stored in the cells of the frame table."""
    _check_images(path, camera, table.rows, info.root)
    shape = info.shape(camera)
    channels_first = len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3)
    height, width = (0, 0) if len(shape) != 3 else shape[1:] if channels_first else shape[:2]
    return EncodedFrames(
        load=lambda: _encoded_images(path, camera, table.rows, info.root),
        num_frames=table.num_frames,
        where=f"{path}, {camera}",
        height=height,
        width=width,
        codec="png",
    )


def _check_images(path: Path, camera: str, rows: npt.NDArray[np.int64], root: Path) -> None:
    """That every cell has its picture, by the file's statistics where they say so."""
    if _num_empty(path, camera) == 0:
        return
    for cell in _cells(path, camera, rows):
        if isinstance(cell, dict) and not isinstance(cell.get("bytes"), bytes):
            relative = cell.get("path")
            if isinstance(relative, str) and is_inside(relative) and (root / relative).is_file():
                continue
            raise RolloutError(f"{root / str(relative)}: the image is missing")
        if not isinstance(cell, dict | bytes):
            raise RolloutError(f"{path}: {camera} has empty cells")


@functools.lru_cache(maxsize=1024)
def _num_empty(path: Path, camera: str) -> int | None:
    """Cells of an image column without bytes, by the file's own statistics; None: not known."""
    try:
        metadata = pq.read_metadata(path)
        total = 0
        for group in range(metadata.num_row_groups):
            for position in range(metadata.num_columns):
                column = metadata.row_group(group).column(position)
                if column.path_in_schema in (camera, f"{camera}.bytes"):
                    if column.statistics is None or not column.statistics.has_null_count:
                        return None
                    total += column.statistics.null_count
        return total
    except (pa.ArrowException, OSError, ValueError) as error:
        raise RolloutError(f"{path}: not a readable parquet file ({error})") from error


def _encoded_images(
    path: Path, camera: str, rows: npt.NDArray[np.int64], root: Path
) -> list[bytes]:
    """The stored pictures in these rows."""
    return [_image_bytes(cell, path, root) for cell in _cells(path, camera, rows)]


def _cells(path: Path, camera: str, rows: npt.NDArray[np.int64]) -> list[object]:
    """The cells in these rows; only the row groups that hold them are read."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            counts = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            ends = np.cumsum(counts)
            groups = np.unique(np.searchsorted(ends, rows, side="right"))
            table = file.read_row_groups(groups.tolist(), columns=[camera])
            kept = np.flatnonzero(np.isin(np.repeat(np.arange(len(counts)), counts), groups))
            return table.column(camera).take(pa.array(np.searchsorted(kept, rows))).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError, MemoryError) as error:
        raise RolloutError(f"{path}: images of {camera} cannot be read ({error})") from error


def _image_bytes(cell: object, path: Path, root: Path) -> bytes:
    """A cell is a struct of the picture's bytes and, in older files, a path to it instead."""
    if isinstance(cell, bytes):
        return cell
    if isinstance(cell, dict):
        if isinstance(cell.get("bytes"), bytes):
            return cell["bytes"]
        relative = cell.get("path")
        if isinstance(relative, str) and is_inside(relative):
            try:
                return (root / relative).read_bytes()
            except OSError as error:
                raise RolloutError(f"{root / relative}: the image is missing ({error})") from error
    raise RolloutError(f"{path}: holds neither an image nor a path to one")
