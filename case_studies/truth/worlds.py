"""The recorded worlds of `record.py` as rollouts with features, and their truth."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.episode import Episode, Outcome

# The paper's numbers for its three tasks; those of the others follow from the clock.
_PRESETS = {"square": "square", "cloth": "cloth"}
# Worlds whose episodes keep the frames of the second after success.
KEEPS_THE_GOAL = ("libero",)
_FROM_THE_CLOCK = ("discount", "td_discount", "td_normaliser", "mc_normaliser")


@dataclass(frozen=True, eq=False)
class RecordedWorld:
    """One task: episodes to learn from, test episodes, and the true steps of some test frames.

    `steps_on` (training episodes,) is what the clock hid: steps from the last frame of a time-out
    to success, -1 where the cap came first.
    """

    name: str
    train: Rollouts
    test: Rollouts
    truth: FrameTruth
    steps_on: npt.NDArray[np.int64]
    time_out: int
    horizon: int

    @property
    def preset(self) -> str:
        return _PRESETS.get(self.name.removesuffix("_fresh"), "libero")

    @property
    def numbers(self) -> dict[str, Any]:
        """What the preset leaves to the clock; the paper's own tasks leave nothing.

        `pick_fresh` and `pick-learned` are pick's task.
        """
        task = self.name.split("_")[0].removesuffix("-learned")
        is_paper = task in ("pick", "square", "cloth", "libero")
        return {} if is_paper else dict.fromkeys(_FROM_THE_CLOCK)

    @property
    def late(self) -> npt.NDArray[np.int64]:
        """Positions of test episodes that timed out."""
        return np.flatnonzero(~self.test.success)


def read_world(
    folder: Path,
    name: str,
    *,
    num_train: int | None = None,
    action: bool = False,
    at_goal: bool = True,
    planned: bool = False,
) -> RecordedWorld:
    """A world by name; `num_train` above what its first file holds takes those of the second too.

    Where a world keeps the second after success (`KEEPS_THE_GOAL`), those frames follow the goal
    frame, unless `at_goal` is false. With `planned` the truth names every frame that is to be
    measured, and says nothing of it: values can be asked for while branches run. A name that ends
    in `_fresh` has test episodes of its own and learns from those of the world.
    """
    base = name.removesuffix("_fresh")
    train = _arrays(folder / f"{base}_train.npz")
    if num_train is not None and num_train > len(train["success"]):
        train = _joined(train, _arrays(folder / f"{base}_more.npz"))
    test = _arrays(folder / f"{name}_test.npz")
    at_goal = at_goal and base in KEEPS_THE_GOAL
    count = len(train["success"]) if num_train is None else num_train
    return RecordedWorld(
        name=name,
        train=_rollouts(train, action, at_goal)[:count],
        test=_rollouts(test, action, at_goal),
        truth=_truth(_planned(test) if planned else test),
        steps_on=train["steps_on"][:count],
        time_out=int(train["time_out"]),
        horizon=int(train["horizon"]),
    )


def _arrays(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def _joined(first: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    names = ("proprioception", "state", "action", "success", "steps_on", "number")
    names += ("goal_proprioception", "goal_state")
    joined = {name: np.concatenate([first[name], more[name]]) for name in names}
    ends = np.concatenate([first["episode_ends"], first["episode_ends"][-1] + more["episode_ends"]])
    return first | joined | {"episode_ends": ends}


def _rollouts(arrays: dict[str, Any], action: bool, at_goal: bool) -> Rollouts:
    parts = [arrays["proprioception"], arrays["state"]] + ([arrays["action"]] if action else [])
    inputs = np.concatenate(parts, axis=1).astype(np.float32)
    lengths = np.diff(arrays["episode_ends"], prepend=0)
    by_episode = np.split(inputs, arrays["episode_ends"][:-1])
    goals = iter(_goal_frames(arrays, action) if at_goal else ())
    pieces = [
        np.concatenate([frames, next(goals)]) if success and at_goal else frames
        for frames, success in zip(by_episode, arrays["success"], strict=True)
    ]
    episodes = [
        Episode(
            id=str(position),
            num_frames=len(piece),
            outcome=Outcome.SUCCESS if success else Outcome.TIME_OUT,
            goal_frame=int(length) - 1 if success else None,
        )
        for position, (piece, length, success) in enumerate(
            zip(pieces, lengths, arrays["success"], strict=True)
        )
    ]
    return Rollouts(episodes, features=np.concatenate(pieces))


def _goal_frames(arrays: dict[str, Any], action: bool) -> npt.NDArray[np.float32]:
    """(successes, frames, inputs) of the second after success; its last action goes on."""
    parts = [arrays["goal_proprioception"], arrays["goal_state"]]
    if action:
        last = arrays["action"][arrays["episode_ends"][arrays["success"]] - 1]
        parts.append(np.repeat(last[:, None], parts[0].shape[1], axis=1))
    return np.concatenate(parts, axis=2).astype(np.float32)


def _planned(arrays: dict[str, Any]) -> dict[str, Any]:
    return arrays | {"branches": [(episode, frame, 0, -1) for episode, frame in arrays["planned"]]}


def _truth(arrays: dict[str, Any]) -> FrameTruth:
    branches = {
        (str(episode), int(frame), int(branch)): None if steps < 0 else int(steps)
        for episode, frame, branch, steps in arrays["branches"]
    }
    return FrameTruth.from_branches(branches, int(arrays["cap"]))
