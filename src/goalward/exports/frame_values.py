"""The values of a run as exports need them: one scale, one number per frame, chosen episodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goalward.errors import GoalwardError
from goalward.exports.advantages import Advantages, WorthScale, episode_advantages
from goalward.rollouts.findings import some_of
from goalward.values.finished_run import FinishedRun, RunEpisode

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FrameValues:
    """One method's values on the common scale: k steps to go are worth 1 - 2 discount^k.

    `value` and `spread` are the mean and the standard deviation over seeds, a number per frame of
    the run, in the order of its episodes; `steps` are those of the mean value, inf for never. A
    seed that says never counts as the value 1, so that one such seed does not make the mean never.
    """

    method: str
    value: FloatArray
    spread: FloatArray
    steps: FloatArray

    @classmethod
    def of(cls, run: FinishedRun, method: str | None = None) -> "FrameValues":
        method = run.method if method is None else method
        by_seed = 1.0 - 2.0 * run.discount ** run.values.steps(method).astype(np.float64)
        value = by_seed.mean(axis=0)
        spread = by_seed.std(axis=0, ddof=1) if len(by_seed) > 1 else np.zeros_like(value)
        return cls(method, value, spread, steps_of(value, run.discount))


def steps_of(value: FloatArray, discount: float) -> FloatArray:
    """The steps to go that a value stands for.

    >>> steps_of(np.array([-1.0, 0.0, 1.0]), 0.5)
    array([ 0.,  1., inf])
    """
    with np.errstate(divide="ignore"):
        steps = np.log((1.0 - np.clip(value, -1.0, 1.0)) / 2.0) / np.log(discount)
    return np.abs(steps)


def chosen_episodes(run: FinishedRun, ids: Sequence[str] | None) -> list[int]:
    """Positions of the episodes with these ids; all of them if None is given."""
    if ids is None:
        return list(range(len(run.episodes)))
    position = {episode.id: number for number, episode in enumerate(run.episodes)}
    if ",".join(ids) in position:
        return [position[",".join(ids)]]  # one id that has commas in it
    unknown = [name for name in ids if name not in position]
    if unknown:
        raise GoalwardError(
            f"{run.folder.path}: no episode {unknown[0]}; there are {some_of(list(position))}"
        )
    if not ids:
        raise GoalwardError("no episode is chosen")
    return sorted({position[name] for name in ids})


def frames_of(run: FinishedRun, position: int) -> slice:
    """Where the frames of the episode at this position lie among all of the run."""
    ends = run.values.episode_ends
    return slice(int(ends[position - 1]) if position else 0, int(ends[position]))


def run_advantages(
    run: FinishedRun, values: FrameValues, positions: Sequence[int], *, unit: str, n: int | None
) -> Advantages:
    """The advantages of these episodes, one after the other.

    The ceiling of steps is the run's time limit: who needs longer than the longest episode took is
    counted as never.
    """
    scale = WorthScale.of(unit, discount=run.discount, ceiling=run.time_limit)
    parts: list[Advantages] = []
    for position in positions:
        episode = run.episodes[position]
        worth = scale.worth(values.steps[frames_of(run, position)])
        parts.append(
            episode_advantages(worth, episode.outcome, episode.goal_frame, scale=scale, n=n)
        )
    return Advantages.joined(parts)


def optimism_note(episodes: Sequence[RunEpisode]) -> str | None:
    """A warning where values are of episodes that the networks learned from."""
    seen = sum(not episode.held_out for episode in episodes)
    if not seen:
        return None
    return (
        f"{seen} of {len(episodes)} episodes were learned from, so their values are optimistic: "
        "they know how it ended. `goalward evaluate --folds 4` holds each episode out once"
    )
