"""What an evaluation left on disk, read back: its episodes, their values, and where the data is."""

import csv
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from goalward.config import EvaluationConfig, read_toml
from goalward.errors import GoalwardError, RolloutError
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome
from goalward.rollouts.readers import read
from goalward.run_folder import RunFolder
from goalward.training.feature_file import read_features
from goalward.training.presets import hyperparameters
from goalward.values.table import ValueTable, read_values


@dataclass(frozen=True)
class RunEpisode:
    """An episode as the run saw it; `held_out` if its values are by networks that never did."""

    id: str
    task: str
    outcome: Outcome
    num_frames: int
    goal_frame: int | None
    held_out: bool


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """An evaluation's folder: `episodes` and `values` go together, in the same order."""

    folder: RunFolder
    settings: Mapping[str, Any]
    config: EvaluationConfig
    episodes: tuple[RunEpisode, ...]
    values: ValueTable

    @property
    def method(self) -> str:
        """The method that speaks for the policy."""
        return self.values.methods[0]

    @property
    def time_limit(self) -> int:
        """The most steps that an episode took."""
        return max(max(episode.num_frames for episode in self.episodes) - 1, 1)

    @cached_property
    def discount(self) -> float:
        """The common scale of all methods: k steps to go are worth 1 - 2 discount^k."""
        numbers = hyperparameters(self.config.preset, **self.config.overrides)
        discount = numbers.for_horizon(self.time_limit).discount
        assert discount is not None
        return discount

    @property
    def data(self) -> Path:
        """Where the rollouts were when the run was made."""
        return Path(str(self.settings.get("data", {}).get("path", "")))

    def file_stem(self, position: int) -> str:
        """The name of a file about the episode at this position; no two have the same.

        Its id, where that is harmless on every disk; else its place in the run, which is why an
        id must not look like one.
        """
        episode_id = self.episodes[position].id
        is_harmless = re.fullmatch(r"[A-Za-z0-9_-]{1,100}", episode_id) is not None
        if is_harmless and not episode_id.startswith("at_"):
            return f"episode_{episode_id}"
        return f"episode_at_{position}"

    def read_rollouts(
        self,
        data: Path | None = None,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Rollouts:
        """The rollouts behind the run, for their frames; `data` says where they lie now.

        In the order of `episodes`. Rollouts that are not those of the run are an error.
        """
        path = self.data if data is None else data
        if path.suffix == ".npz":
            rollouts = read_features(path)
        else:
            rollouts = read(path, **self._reading, on_progress=on_progress)
        position = {episode_id: i for i, episode_id in enumerate(rollouts.ids)}
        missing = [episode.id for episode in self.episodes if episode.id not in position]
        if missing:
            raise RolloutError(
                f"{path}: has no episode {missing[0]}, which {self.folder.path} has values of; "
                "these are not the rollouts of that run"
            )
        chosen = rollouts.select([position[episode.id] for episode in self.episodes])
        for ours, theirs in zip(self.episodes, chosen, strict=True):
            if ours.num_frames != theirs.num_frames:
                raise RolloutError(
                    f"{path}: episode {ours.id} has {theirs.num_frames} frames, in "
                    f"{self.folder.path} it had {ours.num_frames}"
                )
        return chosen

    @property
    def _reading(self) -> dict[str, Any]:
        options = self.settings.get("reading", {})
        known = inspect.signature(read).parameters
        unknown = [name for name in options if name not in known]
        if unknown:
            raise GoalwardError(f"{self.folder.config}: no option {unknown[0]} to read rollouts by")
        return dict(options)


def read_run(path: str | Path) -> FinishedRun:
    """A folder that `goalward evaluate` wrote; one that it did not finish is an error."""
    folder = RunFolder(Path(path))
    if not folder.path.is_dir():
        raise GoalwardError(f"{folder.path}: no such folder")
    for file in (folder.config, folder.episodes, folder.values):
        if not file.is_file():
            raise GoalwardError(
                f"{folder.path}: has no {file.name}, so it is no folder of a finished "
                "`goalward evaluate`; give the folder that was its --out, or run it to the end"
            )
    settings = read_toml(folder.config)
    try:
        config = EvaluationConfig.from_dict(settings.get("evaluation", {}))
    except (GoalwardError, TypeError, AttributeError) as error:
        raise GoalwardError(f"{folder.config}: are no settings of a run ({error})") from error
    run = FinishedRun(
        folder=folder,
        settings=settings,
        config=config,
        episodes=_read_episodes(folder.episodes),
        values=_read_table(folder.values),
    )
    lengths = np.diff(run.values.episode_ends, prepend=0).tolist()
    episodes = [(episode.id, episode.num_frames) for episode in run.episodes]
    if not episodes or episodes != list(zip(run.values.episode_ids, lengths, strict=True)):
        raise GoalwardError(
            f"{folder.path}: {folder.episodes.name} and {folder.values.name} are not of the same "
            "episodes; run `goalward evaluate` again"
        )
    return run


def _read_table(path: Path) -> ValueTable:
    """Values whose every number of steps is one; what is not would spread to all results."""
    try:
        values = read_values(path)
        lengths = np.diff(values.episode_ends, prepend=0)
        if len(lengths) != len(values.episode_ids) or lengths.min() < 1:
            raise ValueError("episodes without a first frame")
        is_bad = ~(values.steps_to_goal >= 0)
    except (ValueError, TypeError, pa.ArrowException) as error:
        raise GoalwardError(f"{path}: is no whole table of values ({error})") from error
    if is_bad.any():
        method, seed, row = np.argwhere(is_bad)[0].tolist()
        position = int(np.searchsorted(values.episode_ends, row, side="right"))
        frame = row - int(values.episode_ends[position] - lengths[position])
        raise GoalwardError(
            f"{path}: {values.methods[method]}, seed {values.seeds[seed]}: episode "
            f"{values.episode_ids[position]}: {values.steps_to_goal[method, seed, row]} steps to "
            f"go in frame {frame}"
        )
    return values


def _read_episodes(path: Path) -> tuple[RunEpisode, ...]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            episodes = tuple(map(_read_episode, csv.DictReader(file)))
    except (OSError, ValueError, KeyError, TypeError, csv.Error, RolloutError) as error:
        raise GoalwardError(f"{path}: is no list of episodes ({error})") from error
    seen: set[str] = set()
    for episode in episodes:
        if episode.id in seen:
            raise GoalwardError(f"{path}: is no list of episodes (two are called {episode.id})")
        seen.add(episode.id)
    return episodes


def _read_episode(row: Mapping[str, str]) -> RunEpisode:
    episode = RunEpisode(
        id=row["episode"],
        task=row["task"],
        outcome=Outcome(row["outcome"]),
        num_frames=int(row["num_frames"]),
        goal_frame=int(row["goal_frame"]) if row["goal_frame"] else None,
        held_out=row["held_out"] == "true",
    )
    # An episode that could not have been recorded is an error there.
    Episode(episode.id, episode.num_frames, episode.outcome, goal_frame=episode.goal_frame)
    return episode
