"""Rollouts of a simulated world, as case_studies/truth/record.py writes them."""

from pathlib import Path

import numpy as np

from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome


def recorded(path: Path, num_episodes: int | None = None) -> tuple[Rollouts, FrameTruth | None]:
    """The first episodes of a file, and the truth of their frames where it was measured."""
    with np.load(path, allow_pickle=False) as stored:
        arrays = dict(stored)
    rows = np.concatenate([arrays["proprioception"], arrays["state"]], axis=1).astype(np.float32)
    ends, success = arrays["episode_ends"][:num_episodes], arrays["success"][:num_episodes]
    lengths = np.diff(ends, prepend=0).tolist()
    episodes = [
        Episode(str(i), n, Outcome.SUCCESS if good else Outcome.TIME_OUT, n - 1 if good else None)
        for i, (n, good) in enumerate(zip(lengths, success.tolist(), strict=True))
    ]
    rollouts = Rollouts(episodes, features=rows[: ends[-1]])
    if "branches" not in arrays:
        return rollouts, None
    branches = {
        (str(episode), int(frame), int(branch)): None if steps < 0 else int(steps)
        for episode, frame, branch, steps in arrays["branches"]
    }
    return rollouts, FrameTruth.from_branches(branches, int(arrays["cap"]))


def last_events(path: Path) -> dict[str, int]:
    """Of each time-out, the frame of the last thing that went wrong, as its policy noted it."""
    with np.load(path, allow_pickle=False) as stored:
        if "event_frames" not in stored:
            raise SystemExit(f"{path}: holds no events; record it anew")
        noted, success = stored["event_frames"].tolist(), stored["success"]
    return {str(episode): frame for episode, frame in noted if not success[episode]}
