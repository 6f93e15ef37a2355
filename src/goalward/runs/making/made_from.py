"""What every step of an evaluation is made from, as a digest: while it is the same, it is skipped.

A digest holds data and options, the digests of the steps before, and the code that makes it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goalward.code_version import code_digest
from goalward.config import EvaluationConfig
from goalward.metrics.familiarity import Familiarity
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import IndexArray
from goalward.run_folder import RunFolder
from goalward.runs.making.held_out import Fold
from goalward.runs.making.steps import data_digest, digest
from goalward.runs.making.values_of_run import networks_digest
from goalward.training.methods.efforts import numbers_of
from goalward.values.score_file import GivenScores

# Part of every digest: raise it when the same inputs would give other networks. By hand, as hours
# of training are not to be lost to a comment; what takes seconds goes by the code that makes it.
_NETWORKS = 1
_VALUES_ROOMS = ("rollouts", "targets", "training", "values")
_SCORES_ROOMS = (*_VALUES_ROOMS, "metrics", "runs")
_SUMMARY_ROOMS = (*_SCORES_ROOMS, "report")


def inputs_of_steps(
    config: EvaluationConfig,
    rollouts: Rollouts,
    folds: Sequence[Fold],
    *,
    asked: IndexArray,
    given: Sequence[GivenScores],
    truth: FrameTruth | None,
    familiarity: Familiarity | None,
) -> dict[str, str]:
    """Of each step a digest of all that it depends on, that of the steps before it included."""
    numbers = numbers_of(config)
    split = [(fold.name, fold.training.tolist(), fold.held_out.tolist()) for fold in folds]
    data = data_digest(rollouts)
    noted = numbers.noted(config.methods)
    networks = digest(_NETWORKS, data, split, config.methods, config.seeds, noted)
    if config.values_from:
        networks = digest(networks, networks_digest(RunFolder(Path(config.values_from))))
    if len(rollouts.tasks) > 1:
        # Version 0.1.0 knew one way to learn several tasks.
        networks = digest(networks, "per task" if config.per_task else "told the task")
    values = digest(code_digest(*_VALUES_ROOMS), networks, config.hindsight)
    chances = digest(code_digest(*_VALUES_ROOMS), networks, asked.tolist())
    if given:
        scored = [(one.name, digest(one.score.tolist())) for one in given]
        values, chances = digest(values, scored), digest(chances, scored)
    scorers = code_digest(*_SCORES_ROOMS)
    judged = digest(scorers, values, chances, config.standard_horizon, config.policy)
    judged = judged if truth is None else digest(judged, _facts(truth))
    judged = judged if familiarity is None else digest(judged, str(familiarity))
    told = digest(judged, code_digest(*_SUMMARY_ROOMS), _noticed(rollouts))
    rates = [episode.fps for episode in rollouts]
    return {
        "episodes": digest(code_digest("runs"), data, split, config.policy, rates),
        "networks": networks,
        "values": values,
        "chances": chances,
        "scores": judged,
        "summary": told,
    }


def _noticed(rollouts: Rollouts) -> tuple[Any, ...]:
    """What the summary tells of the data besides scores."""
    left_out = [(left.episode_id, left.reason) for left in rollouts.left_out]
    return rollouts.warnings, left_out


def _facts(truth: FrameTruth) -> tuple[Any, ...]:
    frames = list(zip(truth.episode_ids, truth.frame_indices.tolist(), strict=True))
    return frames, truth.steps.tolist(), truth.cap, truth.made_with
