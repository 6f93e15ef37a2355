"""From a LeRobot folder to the episodes in it."""

# pyright: standard
# (pyarrow ships no type stubs)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goalward.errors import RolloutError
from goalward.rollouts.episode import FloatArray
from goalward.rollouts.findings import Findings
from goalward.rollouts.frames import FrameSource
from goalward.rollouts.labels.evidence import Evidence, evidence_from_frames, evidence_from_value
from goalward.rollouts.labels.files import by_spelling, labels_by_episode, read_label_file
from goalward.rollouts.labels.outcome import (
    LABEL_FILES,
    REWARD_COLUMNS,
    SUCCESS_COLUMNS,
    SUCCESS_FIELDS,
    TERMINATED_COLUMNS,
)
from goalward.rollouts.readers.assembly import Found, FoundEpisode, ReadOptions, no_proprioception
from goalward.rollouts.readers.lerobot.episode_list import EpisodeEntry, read_episodes, read_tasks
from goalward.rollouts.readers.lerobot.images import image_frames
from goalward.rollouts.readers.lerobot.info import Info, read_info
from goalward.rollouts.readers.lerobot.paths import DATA_TEMPLATES, locate
from goalward.rollouts.readers.lerobot.tables import EpisodeTable, FrameTables
from goalward.rollouts.readers.lerobot.videos import Videos, overlapping
from goalward.rollouts.signals import Signal, signals_of

_PROPRIOCEPTION = ("observation.state", "state")
_ACTIONS = ("action", "actions")
_WORLD = "observation.environment_state"
_PICTURES = ("video", "image")


def recognises(path: Path) -> bool:
    """Also without its info.json: the videos of what is left are no episodes of their own."""
    names = ("info.json", "episodes", "episodes.jsonl")
    return any((path / "meta" / name).exists() for name in names)


def find(path: Path, options: ReadOptions, findings: Findings) -> Found:
    info = read_info(path)
    entries = read_episodes(path, info, findings)
    _notice_cameras_of_another_kind(info, entries, findings)
    find_episode = by_spelling({str(e.episode_index): str(e.episode_index) for e in entries})
    reader = _Reader(
        info=info,
        cameras=options.chosen_cameras(info.keys(*_PICTURES), str(path)),
        success=_success_columns(options.label.success_key),
        proprioception=_proprioception_columns(info, options),
        label_files={
            name: labels_by_episode(read_label_file(path / name, find_episode), path / name)
            for name in LABEL_FILES
            if (path / name).exists()
        },
        tasks=read_tasks(path, findings),
        success_key=options.label.success_key,
        videos=Videos(path, info, findings, options.match, overlapping(entries, info)),
    )
    episodes: list[FoundEpisode] = []
    groups = _by_data_file(path, info, entries, findings)
    for number, (data_file, entries) in enumerate(groups.items()):
        options.on_progress(number, len(groups))
        episodes += reader.episodes(data_file, entries, findings)
    reader.videos.report()
    episodes.sort(key=lambda episode: int(episode.episode_id))
    return Found(
        format=f"lerobot v{info.version}",
        path=path,
        episodes=episodes,
        looked_for=(
            f"frame columns {', '.join((*SUCCESS_COLUMNS, *REWARD_COLUMNS))} (0 and 1 only); "
            f"episode fields {', '.join(SUCCESS_FIELDS)}; files {', '.join(LABEL_FILES)}"
        ),
        holds=f"The data set holds {', '.join(info.features)}.",
    )


def _notice_cameras_of_another_kind(
    info: Info, entries: Sequence[EpisodeEntry], findings: Findings
) -> None:
    """A camera whose dtype is misspelt would otherwise vanish without a word."""
    in_videos = {camera for entry in entries[:1] for camera in entry.camera_numbers}
    for key, feature in info.features.items():
        shape, dtype = info.shape(key), feature.get("dtype")
        is_picture = len(shape) == 3 and 3 in (shape[0], shape[2])
        if dtype not in _PICTURES and (is_picture or key in in_videos):
            findings.notice(
                f"{info.path}: {key} looks like a camera, but its dtype is {dtype!r}, not "
                f"{' or '.join(_PICTURES)}: it is not used"
            )


def _success_columns(success_key: str | None) -> list[str]:
    wanted = [*SUCCESS_COLUMNS, *REWARD_COLUMNS]
    return wanted if success_key is None or success_key in wanted else [*wanted, success_key]


def _proprioception_columns(info: Info, options: ReadOptions) -> list[str]:
    if options.proprioception is None:
        return [key for key in _PROPRIOCEPTION if key in info.features][:1]
    for key in options.proprioception:
        if key not in info.features:
            raise RolloutError(
                f"{info.path}: no feature {key}; there are {', '.join(info.features)}"
            )
    return list(options.proprioception)


def _by_data_file(
    root: Path, info: Info, entries: Sequence[EpisodeEntry], findings: Findings
) -> dict[Path, list[EpisodeEntry]]:
    groups: dict[Path, list[EpisodeEntry]] = {}
    for entry in entries:
        path, as_declared = locate(root, info.data_path, DATA_TEMPLATES, entry.numbers)
        groups.setdefault(path, []).append(entry)
        if not as_declared:
            findings.notice(
                f"{info.path}: data_path {info.data_path!r} does not match the folders; "
                "the files were found in the usual place"
            )
    return groups


@dataclass(frozen=True)
class _Reader:
    """What is looked at in every episode: which columns, which cameras, which label files."""

    info: Info
    cameras: Sequence[str]
    success: Sequence[str]
    proprioception: Sequence[str]
    label_files: Mapping[str, Mapping[str, Evidence]]
    tasks: Mapping[int, str]
    success_key: str | None
    videos: Videos

    def episodes(
        self, data_file: Path, entries: Sequence[EpisodeEntry], findings: Findings
    ) -> list[FoundEpisode]:
        """The episodes of one data file; those that cannot be trusted are left out."""
        try:
            tables = FrameTables(
                data_file,
                required=self.proprioception,
                optional=[
                    *(*self.success, *TERMINATED_COLUMNS, "timestamp", "task_index"),
                    *(*_PROPRIOCEPTION, _WORLD, *_ACTIONS),
                ],
                packs_episodes=self.info.packs_episodes,
            )
        except RolloutError as error:
            for entry in entries:
                findings.leave_out(str(entry.episode_index), str(error))
            return []
        self._compare_with_declared(tables.column_names, entries[0], findings)
        episodes: list[FoundEpisode] = []
        for entry in entries:
            try:
                table = tables.episode(entry.episode_index)
                episodes.append(self._found_episode(entry, table, data_file, findings))
            except RolloutError as error:
                findings.leave_out(str(entry.episode_index), str(error))
        return episodes

    def _compare_with_declared(
        self, column_names: Sequence[str], entry: EpisodeEntry, findings: Findings
    ) -> None:
        """A renamed feature would otherwise vanish without a word."""
        there = {*column_names, *entry.camera_numbers}
        in_tables = {k for k, f in self.info.features.items() if f.get("dtype") != "video"}
        for name in sorted(in_tables - there):
            findings.damage(f"{self.info.path}: declares {name}, which the tables do not have")
        for name in sorted(there - set(self.info.features)):
            findings.notice(f"{self.info.path}: does not declare {name}, which the files have")

    def _found_episode(
        self, entry: EpisodeEntry, table: EpisodeTable, data_file: Path, findings: Findings
    ) -> FoundEpisode:
        if table.num_frames == 0:
            raise RolloutError(f"{data_file}: holds no rows of the episode")
        if entry.length is not None and entry.length != table.num_frames:
            raise RolloutError(
                f"{data_file}: holds {table.num_frames} rows, "
                f"the list of episodes says {entry.length}"
            )
        return FoundEpisode(
            episode_id=str(entry.episode_index),
            num_frames=table.num_frames,
            proprioception=self._proprioception(table, data_file),
            cameras={name: self._frames(name, entry, table, data_file) for name in self.cameras},
            evidence=self._evidence(entry, table),
            task=self._task(entry, table, findings),
            fps=self.info.fps,
            action_size=next((self.info.size(key) for key in _ACTIONS if self.info.size(key)), 0),
            terminated=_is_terminated(table, data_file),
            signals=self._signals(table),
        )

    def _frames(
        self, camera: str, entry: EpisodeEntry, table: EpisodeTable, data_file: Path
    ) -> FrameSource:
        if self.info.features[camera].get("dtype") == "image":
            return image_frames(data_file, camera, table, self.info)
        return self.videos.clip(entry, camera, self._times(table, data_file))

    def _times(self, table: EpisodeTable, data_file: Path) -> npt.NDArray[np.float64]:
        """Seconds of every frame after the first: what the table says, else by the rate."""
        times = table.columns.get("timestamp")
        if times is None:
            return np.arange(table.num_frames) / self.info.fps
        if times.dtype.kind not in "iuf" or times.ndim != 1:
            raise RolloutError(f"{data_file}: timestamp does not hold numbers")
        seconds = times.astype(np.float64)
        if not np.isfinite(seconds).all() or (np.diff(seconds) <= 0).any():
            raise RolloutError(f"{data_file}: timestamp does not increase from frame to frame")
        return seconds

    def _task(self, entry: EpisodeEntry, table: EpisodeTable, findings: Findings) -> str:
        numbers = table.columns.get("task_index")
        if entry.task is None and numbers is not None and numbers.dtype.kind in "iu":
            number = int(numbers[0])
            if number not in self.tasks:
                meta = self.info.root / "meta"
                findings.notice(f"{meta}: no text of task {number}; its episodes have none")
            return self.tasks.get(number, "")
        return entry.task or ""

    def _proprioception(self, table: EpisodeTable, data_file: Path) -> FloatArray:
        parts: list[FloatArray] = []
        for name in self.proprioception:
            values = table.columns[name]
            if values.dtype.kind not in "biuf":
                raise RolloutError(f"{data_file}: column {name} does not hold numbers")
            with np.errstate(over="ignore"):  # too large becomes infinite and is found as such
                parts.append(values.reshape(table.num_frames, -1).astype(np.float32))
        return np.concatenate(parts, axis=1) if parts else no_proprioception(table.num_frames)

    def _signals(self, table: EpisodeTable) -> tuple[Signal, ...]:
        """What the robot, the world and the policy said, by the names that the data gives."""
        return tuple(
            signal
            for key in (*_PROPRIOCEPTION, _WORLD, *_ACTIONS)
            if key in table.columns
            for signal in signals_of(
                table.columns[key],
                self.info.names(key),
                key.removeprefix("observation."),
                is_action=key in _ACTIONS,
            )
        )

    def _evidence(self, entry: EpisodeEntry, table: EpisodeTable) -> dict[str, Evidence]:
        found: dict[str, Evidence | None] = {}
        for name in self.success:
            if name in table.columns:
                found[name] = evidence_from_frames(table.columns[name])
                if found[name] is None and name not in REWARD_COLUMNS:
                    self.videos.findings.notice(
                        f"{self.info.root}: column {name} has empty cells or values besides 0 and 1"
                    )
        fields = (*SUCCESS_FIELDS, *([self.success_key] if self.success_key else []))
        for name in fields:
            if entry.fields.get(name) is not None:
                found.setdefault(name, evidence_from_value(entry.fields[name]))
        for name, labels in self.label_files.items():
            found[name] = labels.get(str(entry.episode_index))
        return {name: evidence for name, evidence in found.items() if evidence is not None}


def _is_terminated(table: EpisodeTable, data_file: Path) -> bool:
    terminated = False
    for name in TERMINATED_COLUMNS:
        if name in table.columns:
            evidence = evidence_from_frames(table.columns[name])
            if evidence is None:
                raise RolloutError(f"{data_file}: {name} holds more than true and false")
            terminated = terminated or evidence.success
    return terminated
