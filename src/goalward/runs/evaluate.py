"""From rollouts to a run: read, embed, fit, predict, judge, write; nothing is done twice.

    rollouts -> features -> folds -> networks/ -> values.parquet -> scores.json -> summary, report

Every step notes what it was made from (`steps.py`), and is skipped while that is the same.
"""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import goalward
from goalward.config import PAPER_METHODS, EvaluationConfig
from goalward.embeddings.encoders import DEFAULT_ENCODER
from goalward.files import check_folder
from goalward.metrics.truth.frame_truth import FrameTruth, read_truth
from goalward.metrics.truth.known_frames import known_frames
from goalward.progress import training_bar
from goalward.rollouts.dataset import Rollouts
from goalward.run_folder import RunFolder
from goalward.runs.given import Given, data_of, name_of, truth_path_of
from goalward.runs.held_out import Fold, folds_of, held_out_episodes, held_out_values
from goalward.runs.results import judge
from goalward.runs.run import Run
from goalward.runs.settings import MadeBy, RunEpisode, RunSettings
from goalward.runs.steps import Steps, data_digest, digest
from goalward.runs.stored import open_run, write_episodes, write_results, write_run_settings
from goalward.training.presets import hyperparameters
from goalward.values.table import read_values

if TYPE_CHECKING:
    pass

_log = logging.getLogger("goalward.runs")

# Part of every digest: raise it when the same inputs would give other networks.
_NETWORKS = 1
# The same for values, which need no new training,
_VALUES = 2
# and for scores, tables, figures and summary, which need no new values.
_SCORES = 5
_STEP_WORDS = {
    "episodes": "list of episodes",
    "networks": "training",
    "values": "values of every frame",
    "scores": "scores",
    "summary": "tables, figures, summary",
}


def evaluate(
    rollouts: Rollouts | str | Path,
    out: str | Path,
    *,
    methods: str | Sequence[str] = PAPER_METHODS,
    seeds: int = 5,
    preset: str = "default",
    folds: int = 1,
    test_fraction: float = 0.25,
    split_seed: int = 0,
    standard_horizon: int | None = None,
    policy: str | None = None,
    truth: FrameTruth | str | Path | None = None,
    encoder: str = DEFAULT_ENCODER,
    embedding: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    device: str | None = None,
    force: bool = False,
    report: bool = True,
    progress: bool = True,
    command: str | None = None,
    **overrides: Any,
) -> Run:
    """Say how good a policy is from its rollouts: what `goalward evaluate` does, as a function.

    `rollouts` are a path (a data set, or a feature file), rollouts with features, or rollouts with
    cameras, which are then embedded by `encoder`. All results go into the folder `out`, the same
    files as the command writes. Stopped at any moment, the same call goes on where it was; called
    again with the same inputs it makes nothing anew, unless `force` is given.

    `methods`: the first one speaks for the policy, the others are compared with it. `folds` above
    1 hold each episode out once. `truth` is what `goalward truth` measured; by default that of the
    folder of the rollouts, if there is one. `reading` are options of `goalward.read`, `embedding`
    more options of `goalward.embed`; any field of `Hyperparameters` can be given by its name.
    `report` writes the pages to look at. What is noticed on the way goes to the logger `goalward`;
    `progress` shows bars on a terminal.

    >>> import tempfile
    >>> import numpy as np
    >>> ramp = np.linspace(0, 1, 12)[:, None]
    >>> rollouts = goalward.from_arrays([ramp, -ramp] * 4, success=[True, False] * 4)
    >>> run = evaluate(
    ...     rollouts, tempfile.mkdtemp(), methods="mc", seeds=1, report=False,
    ...     width=8, num_layers=2, num_steps=6, batch_size=16,
    ... )
    >>> run.scores.policy.success.count, run.values.num_frames
    (4, 96)
    """
    given = Given(dict(reading or {}), {"encoder": encoder, **(embedding or {})})
    config = EvaluationConfig(
        policy=policy or name_of(rollouts),
        methods=(methods,) if isinstance(methods, str) else tuple(dict.fromkeys(methods)),
        seeds=seeds,
        preset=preset,
        overrides=overrides,
        folds=folds,
        test_fraction=test_fraction,
        split_seed=split_seed,
        standard_horizon=standard_horizon,
    )
    folder = RunFolder(Path(out))
    truth_path = truth_path_of(rollouts, truth)
    known = truth if isinstance(truth, FrameTruth) else None
    known = read_truth(truth_path) if truth_path is not None else known
    recorded = given.read(rollouts, progress)
    check_evaluation(recorded, config, folder, device=device, truth=known)
    featured = given.embed(recorded, device, progress)
    settings = RunSettings(
        evaluation=config,
        data=data_of(rollouts, featured, truth_path),
        reading=given.reading_told(rollouts),
        embedding=given.embedding_told(recorded),
        made_by=MadeBy(
            command=command or f"goalward.evaluate(..., out={str(out)!r})",
            goalward=goalward.__version__,
            torch=version("torch"),
            python=sys.version.split()[0],
        ),
    )
    write_run_settings(folder, settings)
    work = _Work(
        folder, settings, featured, known, device, progress, Steps(folder.steps, force=force)
    )
    run = work.run()
    if not work.made:
        _log.info("nothing had to be made: data and options are as they were")
    if report:
        run.report(progress=progress)
    return run


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
    # torch takes seconds to import: not before the rollouts are read, and found wanting or not.
    from goalward.devices import chosen_device
    from goalward.training.methods import find_method

    for method in config.methods:
        find_method(method)
    hyperparameters(config.preset, **config.overrides)
    chosen_device(device)
    folds = _folds(rollouts, config)
    if truth is not None:
        known_frames(truth, rollouts, held_out_episodes(folds, len(rollouts)))
    check_folder(folder.path)


# ---- the steps ----------------------------------------------------------------------------------


class _Work:
    """One evaluation in the making."""

    def __init__(
        self,
        folder: RunFolder,
        settings: RunSettings,
        rollouts: Rollouts,
        truth: FrameTruth | None,
        device: str | None,
        progress: bool,
        steps: Steps,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.rollouts = rollouts
        self.truth = truth
        self.device = device
        self.progress = progress
        self.steps = steps
        self.config = settings.evaluation
        self.folds = _folds(rollouts, self.config)
        self.made: list[str] = []

    def run(self) -> Run:
        config = self.config
        numbers = hyperparameters(config.preset, **config.overrides)
        split = [(fold.name, fold.training.tolist(), fold.held_out.tolist()) for fold in self.folds]
        data = data_digest(self.rollouts)
        networks = digest(_NETWORKS, data, split, config.methods, config.seeds, numbers.as_dict())
        values = digest(_VALUES, networks)
        judged = digest(_SCORES, values, config.standard_horizon, config.policy)
        judged = judged if self.truth is None else digest(judged, _facts(self.truth))
        told = digest(judged, goalward.__version__, self._noticed())
        self.step("episodes", digest(data, split, config.policy), self._write_episodes)
        self.step("networks", networks, self._fit)
        self.step("values", values, self._predict)
        self.step("scores", judged, self._judge)
        run = replace(open_run(self.folder.path), rollouts=self.rollouts)
        self.step("summary", told, lambda: goalward.write_summary(run))
        return run

    def step(self, name: str, inputs: str, make: Callable[[], Sequence[Path]]) -> None:
        if self.steps.is_done(name, inputs):
            _log.info("%s: there already", _STEP_WORDS[name])
            return
        _log.info("%s", _STEP_WORDS[name])
        self.steps.finish(name, inputs, make())
        self.made.append(name)

    def _noticed(self) -> tuple[Any, ...]:
        """What the summary tells of the data besides scores."""
        left_out = [(left.episode_id, left.reason) for left in self.rollouts.left_out]
        return self.rollouts.warnings, left_out

    def _write_episodes(self) -> Sequence[Path]:
        fold_of = {int(i): fold.name for fold in self.folds for i in fold.held_out}
        episodes = [
            RunEpisode(
                episode.id,
                episode.task,
                episode.outcome,
                episode.num_frames,
                episode.goal_frame,
                fold_of.get(position, ""),
            )
            for position, episode in enumerate(self.rollouts)
        ]
        return write_episodes(self.folder, episodes, self.config.policy)

    def _fit(self) -> Sequence[Path]:
        from goalward.values.fitted import fit
        from goalward.values.training_log import write_training_log

        with training_bar(is_shown=self.progress) as update:
            fitted = fit(
                self.rollouts,
                self.config.methods,
                seeds=self.config.seeds,
                preset=self.config.preset,
                subsets={fold.name: fold.training for fold in self.folds},
                device=self.device,
                checkpoint=self.folder.networks,
                on_progress=update,
                **self.config.overrides,
            )
        fitted.save(self.folder.networks)
        write_training_log(self.folder.training_log, fitted.log)
        stored = [path for path in self.folder.networks.iterdir() if path.name[0] != "."]
        return [*stored, self.folder.training_log]

    def _predict(self) -> Sequence[Path]:
        from goalward.values.fitted import load

        fitted = load(self.folder.networks)
        held_out_values(fitted, self.rollouts, self.folds, self.device).write(self.folder.values)
        return [self.folder.values]

    def _judge(self) -> Sequence[Path]:
        results, events = judge(
            read_values(self.folder.values),
            self.rollouts,
            held_out_episodes(self.folds, len(self.rollouts)),
            self.config,
            training=self.folds[0].training if len(self.folds) == 1 else None,
            truth=self.truth,
        )
        by_id = dict(zip(self.rollouts.ids, events, strict=True))
        return write_results(self.folder, results, by_id)


def _folds(rollouts: Rollouts, config: EvaluationConfig) -> tuple[Fold, ...]:
    return folds_of(
        rollouts,
        num_folds=config.folds,
        test_fraction=config.test_fraction,
        seed=config.split_seed,
    )


def _facts(truth: FrameTruth) -> tuple[Any, ...]:
    frames = list(zip(truth.episode_ids, truth.frame_indices.tolist(), strict=True))
    return frames, truth.steps.tolist(), truth.cap, truth.made_with
