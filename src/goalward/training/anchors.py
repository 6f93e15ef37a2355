"""What a stage builds on: the values or distributions of the networks trained before it."""

import numpy as np
import numpy.typing as npt

from goalward.training.frames import TrainingFrames
from goalward.training.hyperparameters import Hyperparameters
from goalward.training.lens import Sight
from goalward.training.nets import Nets, frame_distributions, frame_values, nets_of
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
            rows = sight.of(run.anchors[0].stage.family).rows
            weight = (counted / counted.sum(axis=0)).astype(np.float32)
            said = frame_distributions(nets, rows, numbers)
            anchors[run.anchors] = np.einsum("afb,af->fb", said, weight)
        else:
            stacked = np.stack([values[anchor] for anchor in run.anchors])
            mean = (stacked * counted).sum(axis=0) / counted.sum(axis=0)
            anchors[run.anchors] = np.where(frames.endings.at_goal, -1.0, mean).astype(np.float32)
    return anchors


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
            rows = sight.of(here[0].stage.family).rows
            found = frame_values(nets.select(here), rows, numbers)
            values |= dict(zip(here, found, strict=True))
    return values
