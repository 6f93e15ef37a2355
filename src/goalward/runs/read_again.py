"""The rollouts behind a run, read a second time for their frames, and checked to be the same."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goalward.errors import GoalwardError, RolloutError
from goalward.progress import OnProgress
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.readers import read
from goalward.run_folder import RunFolder
from goalward.runs.settings import RunEpisode
from goalward.training.stored.feature_file import read_features


def read_again(
    path: Path,
    reading: Mapping[str, Any],
    episodes: Sequence[RunEpisode],
    folder: RunFolder,
    on_progress: OnProgress,
) -> Rollouts:
    """The episodes of a run in its order, read by the options that it noted."""
    if path.suffix == ".npz":
        rollouts = read_features(path)
    else:
        rollouts = read(path, **_options(reading, folder), on_progress=on_progress)
    position = {episode_id: i for i, episode_id in enumerate(rollouts.ids)}
    missing = [episode.id for episode in episodes if episode.id not in position]
    if missing:
        raise RolloutError(
            f"{path}: has no episode {missing[0]}, which {folder.path} has values of; "
            "these are not the rollouts of that run"
        )
    chosen = rollouts.select([position[episode.id] for episode in episodes])
    for ours, theirs in zip(episodes, chosen, strict=True):
        if ours.num_frames != theirs.num_frames:
            raise RolloutError(
                f"{path}: episode {ours.id} has {theirs.num_frames} frames, in "
                f"{folder.path} it had {ours.num_frames}"
            )
    return chosen


def _options(reading: Mapping[str, Any], folder: RunFolder) -> dict[str, Any]:
    known = inspect.signature(read).parameters
    unknown = [name for name in reading if name not in known]
    if unknown:
        raise GoalwardError(f"{folder.config}: no option {unknown[0]} to read rollouts by")
    # A horizon that was used once need not be confirmed again; earlier versions never asked.
    confirmed = {"early_failures": True} if "horizon" in reading else {}
    return {**reading, **confirmed}
