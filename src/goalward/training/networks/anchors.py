"""What a stage builds on: the values or distributions of the networks trained before it."""

import numpy as np
import numpy.typing as npt

from goalward import spilled
from goalward.training.frames.inputs import FeatureRows
from goalward.training.frames.lens import Sight
from goalward.training.frames.training_frames import TrainingFrames
from goalward.training.methods.hyperparameters import Hyperparameters
from goalward.training.networks.nets import (
    Nets,
    frame_distributions,
    frame_values,
    nets_of,
    some_distributions,
)
from goalward.training.runs import NetRun


def anchor_values(
    frames: TrainingFrames,
    sight: Sight,
    runs: tuple[NetRun, ...],
    trained: list[Nets],
    numbers: Hyperparameters,
) -> dict[tuple[NetRun, ...], npt.NDArray[np.float32]]:
    """What the networks say that some runs build on: (frames,) values, -1 at goals, or
    (frames, bins) distributions.

    The mean over those of a run's anchors that never saw the episode, or over all where every
    one did. One anchor trained on everything: the paper's. Folds: no episode is judged by a
    network that learned its label.
    """
    values = _values_of_anchors(sight, runs, trained, numbers)
    anchors: dict[tuple[NetRun, ...], npt.NDArray[np.float32]] = {}
    for run in runs:
        if not run.anchors or run.anchors in anchors:
            continue
        unseen = np.stack([~frames.frames_of(anchor.episodes) for anchor in run.anchors])
        counted = np.where(unseen.any(axis=0), unseen, True)
        if run.stage.reads == "distribution":
            nets = nets_of(run.anchors[0], trained).select(run.anchors)
            rows = sight.of(run.anchors[0].stage.family).read_once
            anchors[run.anchors] = _mean_distribution(nets, rows, counted, numbers)
        else:
            stacked = np.stack([values[anchor] for anchor in run.anchors])
            mean = (stacked * counted).sum(axis=0) / counted.sum(axis=0)
            anchors[run.anchors] = np.where(frames.endings.at_goal, -1.0, mean).astype(np.float32)
    return anchors


def _mean_distribution(
    nets: Nets, rows: FeatureRows, counted: npt.NDArray[np.bool_], numbers: Hyperparameters
) -> npt.NDArray[np.float32]:
    """(frames, bins) over the networks that count, (networks, frames); in a file where large."""

    def mean(said: npt.NDArray[np.float32], first: int = 0) -> npt.NDArray[np.float32]:
        here = counted[:, first : first + said.shape[1]]
        return np.einsum("afb,af->fb", said, (here / here.sum(axis=0)).astype(np.float32))

    stage = nets.runs[0].stage
    num_bins = stage.output.size(numbers.of(stage.family))
    if 4 * counted.size * num_bins <= spilled.IN_MEMORY_BYTES:
        return mean(frame_distributions(nets, rows, numbers))
    found = spilled.empty_array((rows.num_frames, num_bins), np.float32)
    first = 0
    for said in some_distributions(nets, rows, numbers):
        found[first : first + said.shape[1]] = mean(said, first)
        first += said.shape[1]
    return found


def _values_of_anchors(
    sight: Sight, runs: tuple[NetRun, ...], trained: list[Nets], numbers: Hyperparameters
) -> dict[NetRun, npt.NDArray[np.float32]]:
    """Values (frames,) of every network that runs build on by its value.

    All networks of a group at once: alone or in company they would round differently, and values
    are to be those of version 0.1.0 bit for bit. Distributions are many numbers per frame, and are
    read for one seed at a time.
    """
    by_value = [run for run in runs if run.stage.reads == "value"]
    needed = list(dict.fromkeys(anchor for run in by_value for anchor in run.anchors))
    values: dict[NetRun, npt.NDArray[np.float32]] = {}
    for nets in trained:
        here = [run for run in needed if run in nets.runs]
        if here:
            rows = sight.of(here[0].stage.family).read_once
            found = frame_values(nets.select(here), rows, numbers)
            values |= dict(zip(here, found, strict=True))
    return values
