"""From rollouts with features to scores: fit, predict, judge; nothing is done twice.

    features -> folds -> networks/ -> values.parquet -> scores.json -> tables, figures, summary

Every step notes what it was made from (`steps.py`), and is skipped while that is the same.
"""

import csv
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import goalward.values.fitted as fitted_values
from goalward.config import EvaluationConfig
from goalward.devices import chosen_device
from goalward.experiments.held_out import Fold, folds_of
from goalward.experiments.steps import Steps, data_digest, digest
from goalward.files import check_folder, written_whole
from goalward.metrics.evaluation_scores import EvaluationScores, score_values
from goalward.metrics.truth.card import TruthCard, truth_card
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.metrics.truth.known_frames import known_frames
from goalward.report.evaluation_files import write_evaluation
from goalward.rollouts.dataset import Rollouts
from goalward.run_folder import RunFolder
from goalward.training.fit import OnProgress
from goalward.training.methods import stages_of
from goalward.training.presets import Hyperparameters, hyperparameters
from goalward.values.table import ValueTable, read_values

# Part of every digest: raise it when the same inputs would give other files.
_RECIPE = 1
# The same for scores, tables, figures and summary, which need no new training.
_REPORT = 4

# Hears the name of a step and whether it was found done.
OnStep = Callable[[str, bool], None]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A finished evaluation: values of every frame, scores, and where it all lies."""

    folder: RunFolder
    values: ValueTable
    held_out: np.ndarray
    scores: EvaluationScores
    steps_made: tuple[str, ...]
    # Where the truth of some held-out frames was given.
    truth: TruthCard | None = None


def check_evaluation(
    rollouts: Rollouts,
    config: EvaluationConfig,
    folder: RunFolder,
    *,
    device: str | None = None,
    truth: FrameTruth | None = None,
) -> None:
    """Say now what would end an evaluation later; needs outcomes, not features.

    Embedding may take hours: a method that does not exist, episodes that cannot be split, a
    device or a folder that is not there should not wait for it.
    """
    for method in config.methods:
        stages_of(method)
    hyperparameters(config.preset, **config.overrides)
    chosen_device(device)
    folds = _folds(rollouts, config)
    if truth is not None:
        known_frames(truth, rollouts, held_out_episodes(folds, len(rollouts)))
    check_folder(folder.path)


def _folds(rollouts: Rollouts, config: EvaluationConfig) -> tuple[Fold, ...]:
    return folds_of(
        rollouts,
        num_folds=config.folds,
        test_fraction=config.test_fraction,
        seed=config.split_seed,
    )


def evaluate(
    rollouts: Rollouts,
    config: EvaluationConfig,
    folder: RunFolder,
    *,
    truth: FrameTruth | None = None,
    device: str | None = None,
    force: bool = False,
    on_step: OnStep | None = None,
    on_fit_progress: OnProgress | None = None,
) -> Evaluation:
    """Evaluate a policy from its rollouts with features; all results go into the folder.

    With the truth of some frames, every method is also compared with that, on those of the frames
    whose episodes are held out.

    Stopped at any moment, the same call goes on where it was. Called again with the same inputs
    it makes nothing anew.
    """
    steps = Steps(folder.steps, force=force)
    made: list[str] = []

    def step(name: str, inputs: str, make: Callable[[], Sequence[Any]]) -> None:
        is_done = steps.is_done(name, inputs)
        if on_step is not None:
            on_step(name, is_done)
        if not is_done:
            files = make()
            steps.finish(name, inputs, files)
            made.append(name)

    numbers = hyperparameters(config.preset, **config.overrides)
    folds = _folds(rollouts, config)
    split = [(fold.name, fold.training.tolist(), fold.held_out.tolist()) for fold in folds]
    fit_inputs = digest(
        _RECIPE, data_digest(rollouts), split, config.methods, config.seeds, numbers.as_dict()
    )
    judged = digest(_REPORT, fit_inputs, config.standard_horizon, config.policy)
    scored = judged if truth is None else digest(judged, _facts(truth))

    def fit_networks() -> Sequence[Any]:
        fitted = fitted_values.fit(
            rollouts,
            config.methods,
            seeds=config.seeds,
            preset=config.preset,
            subsets={fold.name: fold.training for fold in folds},
            device=device,
            checkpoint=folder.networks,
            on_progress=on_fit_progress,
            **config.overrides,
        )
        fitted.save(folder.networks)
        return [path for path in folder.networks.iterdir() if not path.name.startswith(".")]

    def predict_values() -> Sequence[Any]:
        table = held_out_values(fitted_values.load(folder.networks), rollouts, folds, device)
        table.write(folder.values)
        return [folder.values]

    def write_episodes() -> Sequence[Any]:
        _write_episode_lists(rollouts, folds, config.policy, folder)
        return [folder.episodes, folder.outcomes]

    step("episodes", judged, write_episodes)
    step("networks", fit_inputs, fit_networks)
    step("values", fit_inputs, predict_values)
    values = read_values(folder.values)
    held_out = held_out_episodes(folds, len(rollouts))
    judgement: list[tuple[EvaluationScores, TruthCard | None]] = []

    def judge() -> None:
        training = folds[0].training if len(folds) == 1 else None
        found = score_values(values, rollouts, held_out, training, config.standard_horizon)
        card = _against_truth(truth, values, rollouts, held_out, found, numbers)
        judgement.append((found, card))

    def judge_and_write() -> Sequence[Any]:
        judge()
        scores, card = judgement[0]
        return write_evaluation(folder, scores, rollouts, config, card)

    step("scores", scored, judge_and_write)
    if not judgement:
        judge()
    scores, card = judgement[0]
    return Evaluation(folder, values, held_out, scores, tuple(made), card)


def _facts(truth: FrameTruth) -> tuple[Any, ...]:
    frames = list(zip(truth.episode_ids, truth.frame_indices.tolist(), strict=True))
    return frames, truth.steps.tolist(), truth.cap, truth.made_with


def _against_truth(
    truth: FrameTruth | None,
    values: ValueTable,
    rollouts: Rollouts,
    held_out: np.ndarray,
    scores: EvaluationScores,
    numbers: Hyperparameters,
) -> TruthCard | None:
    if truth is None:
        return None
    known = known_frames(truth, rollouts, held_out)
    if known.num_frames == 0:
        warnings.warn(
            f"the truth of {truth.num_frames} frames is given, but none of their episodes is held "
            "out: --folds 2 would hold out all",
            stacklevel=2,
        )
        return None
    # The discount that methods with one learned with serves all as a common scale.
    discount = numbers.for_horizon(scores.time_limit).discount
    assert discount is not None
    return truth_card(values, known, discount=discount, standard_horizon=scores.standard_horizon)


def held_out_episodes(folds: Sequence[Fold], num_episodes: int) -> np.ndarray:
    """True for every episode that some fold holds out."""
    held_out = np.zeros(num_episodes, dtype=np.bool_)
    for fold in folds:
        held_out[fold.held_out] = True
    return held_out


def held_out_values(
    fitted: fitted_values.Fitted,
    rollouts: Rollouts,
    folds: Sequence[Fold],
    device: str | None,
) -> ValueTable:
    """Values of every frame by networks that never saw its episode.

    Episodes that are never held out are judged by the networks of the first fold, which learned
    from them.
    """
    judge = np.zeros(len(rollouts), dtype=np.int64)
    for index, fold in enumerate(folds):
        judge[fold.held_out] = index
    first = fitted.predict(rollouts, subset=folds[0].name, device=device)
    value, steps = first.value.copy(), first.steps_to_goal.copy()
    episode_of = np.repeat(np.arange(len(rollouts)), rollouts.lengths)
    for index, fold in enumerate(folds[1:], start=1):
        positions = np.flatnonzero(judge == index)
        part = fitted.predict(rollouts.select(positions), subset=fold.name, device=device)
        frames = np.isin(episode_of, positions)
        value[:, :, frames] = part.value
        steps[:, :, frames] = part.steps_to_goal
    return replace(first, value=value, steps_to_goal=steps)


def _write_episode_lists(
    rollouts: Rollouts, folds: Sequence[Fold], policy: str, folder: RunFolder
) -> None:
    fold_of = {int(i): fold.name for fold in folds for i in fold.held_out}
    episodes = [("episode", "task", "outcome", "num_frames", "goal_frame", "held_out", "fold")]
    # Tasks without a name are all one task, and need no column.
    has_tasks = any(episode.task for episode in rollouts)
    outcomes = [("policy", "episode", "outcome", "steps", *(("task",) if has_tasks else ()))]
    for position, episode in enumerate(rollouts):
        goal = "" if episode.goal_frame is None else str(episode.goal_frame)
        # Steps of a success count to its goal, those of the others to where they ended.
        steps = goal or str(episode.num_frames - 1)
        outcome, fold = str(episode.outcome), fold_of.get(position, "")
        held_out = "true" if fold else "false"
        length = str(episode.num_frames)
        episodes.append((episode.id, episode.task, outcome, length, goal, held_out, fold))
        task = (episode.task or "without a name",) if has_tasks else ()
        outcomes.append((policy, episode.id, outcome, steps, *task))
    for path, rows in ((folder.episodes, episodes), (folder.outcomes, outcomes)):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        with written_whole(path) as temporary:
            temporary.write_text(text.getvalue(), encoding="utf-8")
