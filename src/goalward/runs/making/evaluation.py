"""The steps of an evaluation, from features on: fit, predict, judge, write; none is done twice.

    folds -> networks/ -> values, chances -> scores.json -> summary

Every step notes what it was made from (`steps.py`), and is skipped while that is the same. What was
made from anything else is removed before work begins: stopped at any moment, a folder holds no
results of one evaluation beside those of another.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import goalward
from goalward.embeddings.learned_frames import write_learned_frames
from goalward.executors.choice import HERE, Workers
from goalward.metrics.evaluation_scores import steps_of_chances
from goalward.metrics.familiarity import Familiarity, learned_frames
from goalward.metrics.truth.frame_truth import FrameTruth
from goalward.progress import training_bar
from goalward.rollouts.dataset import Rollouts
from goalward.rollouts.endings import IndexArray
from goalward.run_folder import RunFolder
from goalward.runs.folder.stored import open_run, write_episodes, write_results, write_run_settings
from goalward.runs.making.held_out import (
    Fold,
    asked_folds,
    held_out_chances,
    held_out_episodes,
    held_out_values,
    hindsight_of,
    run_episodes,
)
from goalward.runs.making.made_from import inputs_of_steps
from goalward.runs.making.place import SETTINGS_STEP, settings_digest
from goalward.runs.making.removal import remove_networks, remove_stale
from goalward.runs.making.steps import Steps
from goalward.runs.making.values_of_run import copy_networks
from goalward.runs.results import common_discount, judge
from goalward.runs.run import Run
from goalward.runs.settings import RunSettings
from goalward.training.methods.efforts import with_effort
from goalward.values.calibrated_scores import with_scores, with_scores_chances
from goalward.values.chances import read_chances
from goalward.values.hindsight import HindsightChoice, with_hindsight
from goalward.values.landmarks import held_against_outcomes
from goalward.values.score_file import read_all_scores
from goalward.values.table import ValueTable, read_values

if TYPE_CHECKING:
    # torch takes seconds: only who trains or predicts pays.
    from goalward.values.fitted import Fitted

_log = logging.getLogger("goalward.runs")

STEP_WORDS = {
    "episodes": "list of episodes",
    "networks": "training",
    "values": "values of every frame",
    "chances": "chances of success",
    "scores": "scores",
    "summary": "tables, figures, summary",
}


class Making:
    """One evaluation in the making; `made` are the steps that were not there already.

    `others` are folders of evaluations with other options; networks of just these data and numbers
    are taken from there. `known` is how far episodes lie from those that networks of another run
    learned from, where such judge.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: RunSettings,
        rollouts: Rollouts,
        truth: FrameTruth | None,
        device: str | None,
        progress: bool,
        others: Sequence[RunFolder] = (),
        known: Familiarity | None = None,
        workers: Workers = HERE,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.rollouts = rollouts
        self.truth = truth
        self.device = device
        self.progress = progress
        self.others = others
        self.familiarity = known
        self.workers = workers
        self.steps = Steps(folder.steps)
        if self.steps.damage is not None:
            _log.warning("%s: all is made again", self.steps.damage)
        self.config = settings.evaluation
        self.folds = asked_folds(rollouts, self.config)
        if known is not None and known.copies:
            self.folds = tuple(_without(fold, rollouts.ids, known.copies) for fold in self.folds)
        self.given = read_all_scores(self.config.scores, rollouts.ids, rollouts.lengths.tolist())
        self.made: list[str] = []
        self._fitted: Fitted | None = None
        # Of this call: what was trained before it does not count.
        self.training_s = 0.0

    def run(self) -> Run:
        inputs = inputs_of_steps(
            self.config,
            self.rollouts,
            self.folds,
            asked=self._steps_of_chances,
            given=self.given,
            truth=self.truth,
            familiarity=self.familiarity,
        )
        remove_stale(self.folder, self.steps, inputs)
        write_run_settings(self.folder, self.settings)
        self.steps.finish(SETTINGS_STEP, settings_digest(self.settings), [self.folder.config])
        self.step("episodes", inputs, self._write_episodes)
        self._take_networks(inputs["networks"])
        self.step("networks", inputs, self._copy if self.config.values_from else self._fit)
        self.step("values", inputs, self._predict)
        self.step("chances", inputs, self._predict_chances)
        self.step("scores", inputs, self._judge)
        run = replace(open_run(self.folder.path), rollouts=self.rollouts)
        self.step("summary", inputs, lambda: goalward.write_summary(run))
        return run

    def step(self, name: str, inputs: dict[str, str], make: Callable[[], Sequence[Path]]) -> None:
        if self.steps.is_done(name, inputs[name]):
            _log.info("%s: there already", STEP_WORDS[name])
            return
        for file in self.steps.changed_files(name):
            what = "was changed or damaged since it was made" if file.exists() else "is gone"
            _log.warning("%s: %s; it is made again", file, what)
        _log.info("%s", STEP_WORDS[name])
        self.steps.begin(name, inputs[name])
        self.steps.finish(name, inputs[name], make())
        self.made.append(name)

    def _write_episodes(self) -> Sequence[Path]:
        episodes = run_episodes(self.rollouts, self.folds)
        return write_episodes(self.folder, episodes, self.config.policy)

    def _fit(self) -> Sequence[Path]:
        from goalward.values.fit import fit
        from goalward.values.stored_fit import stored_files
        from goalward.values.training_log import write_training_log

        started = time.monotonic()
        with training_bar(is_shown=self.progress) as update:
            fitted = fit(
                self.rollouts,
                self.config.methods,
                seeds=self.config.seeds,
                preset=self.config.preset,
                per_task=self.config.per_task,
                subsets={fold.name: fold.training for fold in self.folds},
                device=self.device,
                on=self.workers.on,
                num_workers=self.workers.num_workers,
                checkpoint=self.folder.networks,
                on_progress=update,
                **with_effort(self.config.effort, self.config.preset, self.config.overrides),
            )
        self.training_s = time.monotonic() - started
        self._fitted = fitted
        fitted.save(self.folder.networks)
        write_training_log(self.folder.training_log, fitted.log)
        features = self.rollouts.features
        assert features is not None
        learned = learned_frames(features, self.rollouts.episode_ends)
        write_learned_frames(learned, self.folder.learned_frames)
        beside = [self.folder.training_log, self.folder.learned_frames]
        return [*stored_files(self.folder.networks), *beside]

    def _copy(self) -> Sequence[Path]:
        return copy_networks(RunFolder(Path(self.config.values_from)), self.folder)

    def _take_networks(self, inputs: str) -> None:
        """Networks that were trained elsewhere on these data by these numbers are copied."""
        for other in self.others:
            steps = Steps(other.steps)
            if not self.steps.is_done("networks", inputs) and steps.is_done("networks", inputs):
                _log.info("networks are as in %s: taken from there", other.path)
                remove_networks(self.folder)
                self.steps.begin("networks", inputs)
                self.steps.finish("networks", inputs, steps.copy("networks", self.folder.path))

    def _predict(self) -> Sequence[Path]:
        values = held_out_values(self._networks, self.rollouts, self.folds, self.device)
        values = with_scores(values, self.given, self.rollouts.endings, self._discount)
        decay = self._hindsight(values).decay
        values = with_hindsight(values, self.rollouts.endings, self._discount, decay)
        values.write(self.folder.values)
        return [self.folder.values]

    def _predict_chances(self) -> Sequence[Path]:
        asked = self._steps_of_chances
        chances = held_out_chances(self._networks, self.rollouts, self.folds, asked, self.device)
        held_out = held_out_episodes(self.folds, len(self.rollouts))
        chances = held_against_outcomes(chances, self.rollouts.endings, held_out)
        chances = with_scores_chances(chances, read_values(self.folder.values))
        chances.write(self.folder.chances)
        return [self.folder.chances]

    @property
    def _learned_from(self) -> IndexArray | None:
        """Episodes that all networks learned from; None where there are none, or folds differ."""
        is_one = self.config.folds == 1 and not self.config.values_from
        return self.folds[0].training if is_one else None

    @property
    def _networks(self) -> "Fitted":
        """As they were just trained, else as they are stored."""
        if self._fitted is None:
            from goalward.values.fitted import load

            self._fitted = load(self.folder.networks)
        return self._fitted

    @property
    def _steps_of_chances(self) -> IndexArray:
        return steps_of_chances(self.rollouts.endings, self.config.standard_horizon)

    def _hindsight(self, values: ValueTable) -> HindsightChoice:
        return hindsight_of(values, self.rollouts, self.folds, self._discount, self.config)

    @property
    def _discount(self) -> float:
        return common_discount(self.config, max(int(self.rollouts.lengths.max()) - 1, 1))

    def _judge(self) -> Sequence[Path]:
        values = read_values(self.folder.values)
        results, events = judge(
            values,
            read_chances(self.folder.chances),
            self.rollouts,
            held_out_episodes(self.folds, len(self.rollouts)),
            self.config,
            hindsight=self._hindsight(values),
            training=self._learned_from,
            truth=self.truth,
        )
        results = replace(results, familiarity=self.familiarity)
        by_id = dict(zip(self.rollouts.ids, events, strict=True))
        return write_results(self.folder, results, by_id)


def _without(fold: Fold, ids: Sequence[str], copies: Sequence[str]) -> Fold:
    """The fold without episodes that its networks learned from elsewhere."""
    is_new = ~np.isin(np.array(ids)[fold.held_out], np.array(copies))
    return replace(fold, held_out=fold.held_out[is_new])
